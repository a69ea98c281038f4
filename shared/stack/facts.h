/* facts.h: what validation may know of the world beside the Stack itself. A value; unknown is
 * absent, and nothing is ever concluded from absence. */
#ifndef HERD_STACK_FACTS_H
#define HERD_STACK_FACTS_H

#include "base/list.h"
#include "text/json.h"

struct fact_cluster {
    struct str id;
    struct str display_name;
    struct json labels;
    bool ready;
    bool internal; /* Rancher's own: no selector picks it */
};
LIST_DEFINE(fact_clusters, struct fact_cluster)

/* What is known of the Stacks that there are. Asked for by name: few Stacks name others. */
struct fact_stacks {
    /* True if the Stack exists; then what its dependsOn names, in the arena. NULL: nothing may be
     * said of Stacks. */
    bool (*get)(void *context, struct arena *arena, struct str namespace_, struct str name,
                struct str_list *ret_depends_on);
    void *context;
};

struct policy_set;

struct facts {
    bool clusters_known; /* false: nothing may be said of clusters */
    struct fact_clusters clusters;
    struct fact_stacks stacks;
    const struct policy_set *policies; /* put to Stacks; NULL = none */
    bool policies_pending; /* there may be some that were not read yet: nobody may be let pass */
    bool plain_http_allowed; /* chart repositories over http:// (configuration) */
};

/* The id that was perhaps meant: by id, or by the name that people see in Rancher and write by
 * mistake; "" if none is near. */
struct str facts_nearest_cluster(const struct facts *facts, struct str id);

#endif
