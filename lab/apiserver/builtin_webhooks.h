/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_webhooks.h: what one webhook of a configuration must look like.
 * Source: k8s.io/kubernetes/pkg/apis/admissionregistration/validation. */
#ifndef HERD_LAB_APISERVER_BUILTIN_WEBHOOKS_H
#define HERD_LAB_APISERVER_BUILTIN_WEBHOOKS_H

#include "lab/apiserver/finding.h"

/* A word that must be one of `words`, which are separated by ' '; NULL passes. */
void webhook_validate_word(const struct value *value, const struct path *at, const char *words,
                           struct findings *found);
/* Operations, groups, versions and resources that go to a webhook or policy. */
void webhook_validate_rule(const struct value *rule, const struct path *at, struct findings *found);
/* All but its matchConditions; `at` is the webhook's place. */
void webhook_validate(const struct value *hook, const struct path *at, struct findings *found);

#endif
