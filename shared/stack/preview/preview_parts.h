/* SPDX-License-Identifier: Apache-2.0 */
/* preview_parts.h: from a Stack, and what clusters have of it, to what changes where. Internal to
 * the preview.
 *
 * What clusters have says the stored Stack's status, and nothing else: a release that was never
 * asked for is installed, not upgraded or removed; one that is there is removed, although the spec
 * before did not have it any more. Only what a status does not tell (values, repository) is taken
 * from the spec before. What the status leaves out is not guessed: `unlisted` says so. */
#ifndef HERD_STACK_PREVIEW_PARTS_H
#define HERD_STACK_PREVIEW_PARTS_H

#include "stack/targets/resolved_targets.h"
#include "stack/model/facts.h"
#include "stack/model/stack.h"
#include "stack/model/status.h"

/* One that the Stack chooses now, or that its status knows. */
struct preview_cluster {
    struct fact_cluster cluster; /* of one that Rancher does not have, the id alone */
    bool before;                 /* by the status a target, or one that holds something; */
    bool holds;                  /* something is there, or may be */
    bool after;
};
LIST_DEFINE(preview_clusters, struct preview_cluster)

/* What goes comes first: it is what one would regret. A chart whose release is another one now goes
 * and comes anew: it moves. */
enum preview_kind {
    PREVIEW_UNINSTALL,
    PREVIEW_MOVE,
    PREVIEW_UPGRADE,
    PREVIEW_INSTALL,
    PREVIEW_KIND_COUNT
};

/* What happens alike on the same clusters. */
struct preview_change {
    enum preview_kind kind;
    struct str_list charts;   /* "qdrant 0.7.4 -> 0.8.0 (values)" */
    struct u32_list clusters; /* indexes of preview.clusters; empty where none is known */
};
LIST_DEFINE(preview_changes, struct preview_change)

struct preview {
    struct arena *arena;
    const struct stack *stack;
    const struct resolved_targets *chosen;
    const struct stack *old; /* NULL: it is new */
    const struct facts *facts;
    struct stack_status status;
    bool untouched; /* it is new, or no controller has seen it: nothing is anywhere */
    struct preview_clusters clusters; /* sorted by id */
    struct preview_changes kept;      /* on clusters that it keeps; untouched, on all */
    bool *chart_changes;              /* of spec.charts[i]: it is installed or upgraded somewhere */
    bool full;        /* what is installed and upgraded is told, too, not only what goes */
    uint32_t had;     /* releases that are there, or may be */
    uint32_t removed; /* of them those that go, and nothing of the same edit comes in their place */
    bool unlisted;    /* the status leaves out what matters here */
    bool behind;      /* the status is about an earlier spec than the one before */
    bool too_much;    /* it would take more than LIMIT_PREVIEW_STEPS: no chart was compared */
    bool blind; /* it goes by a selector, and the clusters are not known: it keeps those it has */
};

/* `chosen`: where `stack` goes. `old` has the status that is stored. Unless `full`, `kept` has only
 * what goes, and `chart_changes` says nothing. */
struct preview preview_of(struct arena *arena, const struct stack *stack,
                          const struct resolved_targets *chosen, const struct stack *old,
                          const struct facts *facts, bool full);

#endif
