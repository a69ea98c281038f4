/* SPDX-License-Identifier: Apache-2.0 */
/* wish.h: what one Stack wants to know of one cluster's monitoring, and what it was told last. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_WISH_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_WISH_H

#include "controller/backends/observability/known.h"
#include "controller/backends/observability/server_monitors.h"

struct wish;

struct wish *wish_create(void);
void wish_free(struct wish *wish);
AUTO_DEFINE(wish_free, struct wish *)

/* What the Stack wants by its present spec, of those of the cluster's releases that are its own. Of
 * a cluster that is no target any more it wants no dashboard. What was told of a release that it
 * wanted before stands. True if other objects are to be there now. */
bool wish_renew(struct wish *wish, const struct stack *stack,
                const struct observed_cluster *cluster, int64_t now_ms);
/* The Stack wants nothing any more; what was made for it is to be removed. True if it did. */
bool wish_end(struct wish *wish, const struct stack *stack);
bool wish_is_over(const struct wish *wish);
/* A round begins that removes what is not wanted any more, and is over. */
void wish_note_begin(struct wish *wish);
void wish_note_end(struct wish *wish);
/* Whether it is over, and a round that may remove what was made for it is to be waited for: one
 * that does not get its answers is tried again, but does not keep the Stack for ever. */
bool wish_holds(const struct wish *wish);
/* Nothing is to be added or removed. */
bool wish_is_paused(const struct wish *wish);
/* How often. */
int64_t wish_interval_ms(const struct wish *wish);
/* Add the namespaces of its releases that are not in the list. */
void wish_add_namespaces(const struct wish *wish, struct str_list *namespaces);

/* Add the objects that it wants, those that it wants no more, and itself, named `key`. Without a
 * Prometheus, which is NULL then, only what traces need. */
void wish_add_upkeep(const struct wish *wish, struct str key,
                     const struct wire_prometheus *prometheus, struct upkeep *upkeep);
/* The same of the monitors that it wants in SUSE Observability, where the cluster is called so. */
void wish_add_monitors(const struct wish *wish, struct str key, struct str cluster,
                       struct monitors_wanted *wanted);
/* How many of the dashboards that it wants are among those named so. */
uint32_t wish_count_dashboards(const struct wish *wish, const struct str_list *in_place);
/* Whether its pods may be traced; then its figures of traces are filled in. */
bool wish_count_traces(const struct wish *wish, const struct traces_found *traces,
                       struct observed_monitoring *monitoring);
/* Whether it wants, or wanted, the dashboard that is named so. */
bool wish_knows_dashboard(const struct wish *wish, struct str name);

/* A round is over, of the Stack named `key`: `samples` NULL if there are none to be had. True if
 * another answer than before comes of it. */
bool wish_settle(struct wish *wish, struct str key, const struct known *known,
                 const struct sample_index *samples, int64_t now_ms);
/* Why alert rules that it wants are not loaded; "" = they are, or that is not known. */
struct str wish_rules_trouble(const struct wish *wish);
/* Whether, in the round that was settled last, rules were not loaded any more: somebody may have
 * deleted them. */
bool wish_lost_rules(const struct wish *wish);
/* Fill in the metrics of the Stack's releases; texts are in the arena. */
void wish_tell(const struct wish *wish, struct arena *arena, struct observed_releases *releases);

#endif
