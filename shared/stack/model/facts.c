/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c: small questions about what is known. */
#include "stack/model/facts.h"

struct str facts_nearest_cluster(const struct facts *facts, struct str id)
{
    struct str_nearest nearest = { .name = id };

    for (uint32_t i = 0; i < facts->clusters.count; i++) {
        if (str_eq(id, facts->clusters.items[i].display_name))
            return facts->clusters.items[i].id;
        str_nearest_try(&nearest, facts->clusters.items[i].id);
    }
    return nearest.found;
}

bool facts_may_name(const struct facts *facts, struct str own_namespace, struct str namespace_)
{
    return facts->names_all_stacks || str_eq(own_namespace, namespace_);
}
