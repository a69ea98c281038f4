/* SPDX-License-Identifier: Apache-2.0 */
/* access.h: asks the API server what a user may do, for reviews that wait for it.
 *
 * A thread of its own sends the SubjectAccessReviews; the thread of the review waits until all are
 * answered, or until LIMIT_ACCESS_TIME has passed since the review asked first. A yes is remembered
 * for LIMIT_ACCESS_YES_TIME, a no for LIMIT_ACCESS_NO_TIME, so the two routes of one review, and a
 * pipeline that applies many Stacks, ask once. Answers that come late are remembered, too.
 *
 * While the API server answers nothing at all, reviews are told so at once for as long as one of
 * them has waited: those that came after it do not wait in turn. */
#ifndef HERD_WEBHOOK_ACCESS_H
#define HERD_WEBHOOK_ACCESS_H

#include "base/metric.h"
#include "runtime/kubeconfig.h"
#include "stack/model/facts.h"

struct access_source;

/* `metrics` are borrowed. */
struct access_source *access_source_create(const struct kube_config *config,
                                           struct metrics *metrics, struct error *err);
/* Nobody waits any more. */
void access_source_free(struct access_source *source);
AUTO_DEFINE(access_source_free, struct access_source *)

/* For the facts of one review, whose time begins when it asks first. NULL gives nobody to ask. */
struct fact_access access_source_take(struct access_source *source, struct arena *arena);

#endif
