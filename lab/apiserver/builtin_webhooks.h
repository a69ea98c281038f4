/* builtin_webhooks.h: what one webhook of a configuration must look like.
 * Source: k8s.io/kubernetes/pkg/apis/admissionregistration/validation. */
#ifndef HERD_LAB_APISERVER_BUILTIN_WEBHOOKS_H
#define HERD_LAB_APISERVER_BUILTIN_WEBHOOKS_H

#include "lab/apiserver/finding.h"

/* All but its matchConditions; `at` is the webhook's place. */
void webhook_validate(const struct value *hook, const struct path *at, struct findings *found);

#endif
