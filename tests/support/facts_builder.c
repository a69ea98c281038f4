/* SPDX-License-Identifier: Apache-2.0 */
/* facts_builder.c: clusters and Stacks for tests. */
#include "support/facts_builder.h"

#include "stack/targets/claims.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "support/stack_builder.h"

static bool claimants(void *context, struct arena *arena, struct str release,
                      const struct str_list *cluster_ids, struct fact_claimants *ret_claimants)
{
    struct facts_builder *builder = context;

    (void)release;
    (void)cluster_ids;
    *ret_claimants = fact_claimants_new(arena, builder->stored.count);
    for (uint32_t i = 0; i < builder->stored.count; i++)
        fact_claimants_push(ret_claimants, builder->stored.items[i]);
    return !builder->cut;
}

void some_facts(struct arena *arena, struct facts_builder *builder)
{
    *builder = (struct facts_builder){
        .arena = arena,
        .facts = { .clusters_known = true,
                   .clusters = fact_clusters_new(arena, 0),
                   .stacks = { .claimants = claimants, .context = builder },
                   .names_all_stacks = true },
        .stored = fact_claimants_new(arena, 0),
    };
}

void with_cluster(struct facts_builder *builder, const char *id, const char *labels)
{
    struct strbuf json = strbuf_new(builder->arena, 64);
    struct str rest = str_of(labels);
    struct str pair;

    while (rest.len && str_split(&rest, ',', &pair)) {
        struct str value = pair;
        struct str key;

        str_split(&value, '=', &key);
        strbuf_fmt(&json, "%s\"%.*s\":\"%.*s\"", json.len ? "," : "{", STR_ARG(key),
                   STR_ARG(value));
    }
    strbuf_put(&json, json.len ? STR("}") : STR("{}"));
    fact_clusters_push(&builder->facts.clusters,
                       (struct fact_cluster){ .id = str_dup(builder->arena, str_of(id)),
                                              .display_name = str_dup(builder->arena, str_of(id)),
                                              .labels = test_json(builder->arena, strbuf_str(&json)),
                                              .ready = true });
}

void with_stored(struct facts_builder *builder, const char *key, struct json document)
{
    struct problems ignored = problems_new(builder->arena);
    const struct stack *stack = stack_default(
        builder->arena, stack_decode(builder->arena, document, &ignored), NULL);
    struct claims claims = claims_of(builder->arena, stack);
    struct strbuf packed = strbuf_new(builder->arena, 64);
    struct str name = str_of(key);
    struct str namespace_;

    str_split(&name, '/', &namespace_);
    claims_pack(&claims, &packed);
    fact_claimants_push(&builder->stored,
                        (struct fact_claimant){ str_dup(builder->arena, namespace_),
                                                str_dup(builder->arena, name),
                                                strbuf_str(&packed) });
}
