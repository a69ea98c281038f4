/* estate_builder.c: clusters and Stacks for tests. */
#include "support/estate_builder.h"

#include "stack/claims.h"
#include "stack/decode.h"
#include "stack/default.h"
#include "support/stack_builder.h"

static bool claimants(void *context, struct arena *arena, struct str release,
                      const struct str_list *cluster_ids, struct fact_claimants *ret_claimants)
{
    struct estate_builder *estate = context;

    (void)release;
    (void)cluster_ids;
    *ret_claimants = fact_claimants_new(arena, estate->stored.count);
    for (uint32_t i = 0; i < estate->stored.count; i++)
        fact_claimants_push(ret_claimants, estate->stored.items[i]);
    return !estate->cut;
}

void an_estate(struct arena *arena, struct estate_builder *estate)
{
    *estate = (struct estate_builder){
        .arena = arena,
        .facts = { .clusters_known = true,
                   .clusters = fact_clusters_new(arena, 0),
                   .stacks = { .claimants = claimants, .context = estate },
                   .names_all_stacks = true },
        .stored = fact_claimants_new(arena, 0),
    };
}

void with_cluster(struct estate_builder *estate, const char *id, const char *labels)
{
    struct strbuf json = strbuf_new(estate->arena, 64);
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
    fact_clusters_push(&estate->facts.clusters,
                       (struct fact_cluster){ .id = str_dup(estate->arena, str_of(id)),
                                              .display_name = str_dup(estate->arena, str_of(id)),
                                              .labels = test_json(estate->arena, strbuf_str(&json)),
                                              .ready = true });
}

void with_stored(struct estate_builder *estate, const char *key, struct json document)
{
    struct problems ignored = problems_new(estate->arena);
    const struct stack *stack = stack_default(
        estate->arena, stack_decode(estate->arena, document, &ignored), NULL);
    struct claims claims = claims_of(estate->arena, stack);
    struct strbuf packed = strbuf_new(estate->arena, 64);
    struct str name = str_of(key);
    struct str namespace_;

    str_split(&name, '/', &namespace_);
    claims_pack(&claims, &packed);
    fact_claimants_push(&estate->stored,
                        (struct fact_claimant){ str_dup(estate->arena, namespace_),
                                                str_dup(estate->arena, name),
                                                strbuf_str(&packed) });
}
