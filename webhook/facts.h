/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h: what the webhook knows of the world, kept up to date by a thread of its own.
 *
 * A review keeps the snapshot of the moment until its arena goes; a new one may replace it
 * meanwhile. */
#ifndef HERD_WEBHOOK_FACTS_H
#define HERD_WEBHOOK_FACTS_H

#include "io/log.h"
#include "runtime/kubeconfig.h"
#include "stack/model/facts.h"

struct fact_source;

/* `config` NULL: nothing is watched and nothing is known. */
struct fact_source *fact_source_create(const struct kube_config *config, struct log *log,
                                       struct error *err);
void fact_source_free(struct fact_source *source);
AUTO_DEFINE(fact_source_free, struct fact_source *)

/* The facts of the moment, for as long as the arena is not reset. Any thread. */
const struct facts *fact_source_take(struct fact_source *source, struct arena *arena);

#endif
