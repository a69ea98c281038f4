/* SPDX-License-Identifier: Apache-2.0 */
/* facts_builder.h: what a review may know, in a few words: clusters and the Stacks that there are.
 *
 *     with_cluster(&builder, "c-1", "env=prod,gpu=true");
 *     with_stored(&builder, "team-a/shop", stack_json(&b));
 *
 * Its claimants are all Stacks, in the order in which they came: what a review makes of them is its
 * own matter. */
#ifndef HERD_TESTS_SUPPORT_FACTS_BUILDER_H
#define HERD_TESTS_SUPPORT_FACTS_BUILDER_H

#include "stack/model/facts.h"

struct facts_builder {
    struct arena *arena;
    struct facts facts;
    struct fact_claimants stored;
    bool cut; /* say that there are more */
};

/* Clusters and Stacks are known, and there are none. Stays where it is: the facts point to it. */
void some_facts(struct arena *arena, struct facts_builder *builder);
/* `labels`: "key=value,..." */
void with_cluster(struct facts_builder *builder, const char *id, const char *labels);
/* `key`: namespace/name. The document's own name does not count. */
void with_stored(struct facts_builder *builder, const char *key, struct json document);

#endif
