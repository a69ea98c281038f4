/* preview_parts.h: from two Stacks to what changes where. Internal to the preview. */
#ifndef HERD_STACK_PREVIEW_PARTS_H
#define HERD_STACK_PREVIEW_PARTS_H

#include "stack/chosen.h"
#include "stack/facts.h"
#include "stack/stack.h"

/* One that the Stack chooses now, or chose before. */
struct preview_cluster {
    struct fact_cluster cluster;
    bool before;
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
    const struct chosen *chosen;
    const struct stack *old; /* NULL: it is new */
    const struct facts *facts;
    struct preview_clusters clusters; /* sorted by id */
    struct preview_changes kept;      /* on clusters that it keeps; of a new one, on all */
    bool *chart_changes;              /* of spec.charts[i]: it is installed or upgraded somewhere */
    bool too_much; /* it would take more than LIMIT_PREVIEW_STEPS: no chart was compared */
    bool blind; /* it goes by a selector, and the clusters are not known */
};

/* `chosen`: where `stack` goes. */
struct preview preview_of(struct arena *arena, const struct stack *stack,
                          const struct chosen *chosen, const struct stack *old,
                          const struct facts *facts);

#endif
