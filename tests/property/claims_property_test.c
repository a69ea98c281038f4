/* SPDX-License-Identifier: Apache-2.0 */
/* claims_property_test.c: laws of what Stacks claim, of where policies see their charts, and of what a
 * preview says that changes, against asking every cluster that could be.
 *
 * Labels a and b may be absent, one of three named values, or one that nobody names: those are all
 * clusters that selectors over a and b can tell apart.
 *
 * HERD_CASES sets how many cases each law gets; a failure prints its HERD_SEED. */
#include "support/deployed.h"
#include "support/rows.h"
#include "support/observed_builder.h"

#include "base/rng.h"
#include "stack/targets/claims.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/policy/policy_places.h"
#include "stack/policy/policy_set.h"
#include "stack/preview/preview_parts.h"
#include "stack/model/release.h"
#include "support/stack_builder.h"

#include <inttypes.h>
#include <stdlib.h>

enum { VALUES = 5, CLUSTERS = VALUES * VALUES, CHARTS = 2 };

static const char *const values[VALUES] = { NULL, "1", "2", "3", "other" };

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void for_each_case(void (*law)(struct arena *arena, struct rng *rng, const char *seed))
{
    uint64_t only = number_from("HERD_SEED", 0);
    uint64_t cases = only ? 1 : number_from("HERD_CASES", 3000);

    for (uint64_t i = 1; i <= cases; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        uint64_t seed = only ? only : i;
        struct rng rng = rng_from_seed(seed);

        law(arena, &rng, str_fmt(arena, "HERD_SEED=%" PRIu64, seed).at);
    }
}

/* --- everything that can be --- */

static struct fact_cluster cluster_at(struct arena *arena, int i)
{
    const char *a = values[i % VALUES], *b = values[i / VALUES];
    struct str labels = str_fmt(arena, "{%s%s%s%s%s%s%s}", a ? "\"a\":\"" : "", a ? a : "",
                                a ? "\"" : "", a && b ? "," : "", b ? "\"b\":\"" : "", b ? b : "",
                                b ? "\"" : "");

    return (struct fact_cluster){ .id = str_fmt(arena, "c-%d", i),
                                  .labels = test_json(arena, labels) };
}

/* --- generated Stacks --- */

static void put_requirement(struct strbuf *out, struct rng *rng)
{
    static const char *const operators[] = { "In", "NotIn", "Exists", "DoesNotExist" };
    uint64_t op = rng_below(rng, 4);

    strbuf_fmt(out, "{\"key\":\"%s\",\"operator\":\"%s\"", rng_below(rng, 2) ? "a" : "b",
               operators[op]);
    if (op < 2) {
        strbuf_fmt(out, ",\"values\":[\"%s\"", values[1 + rng_below(rng, 3)]);
        if (rng_below(rng, 2))
            strbuf_fmt(out, ",\"%s\"", values[1 + rng_below(rng, 3)]);
        strbuf_char(out, ']');
    }
    strbuf_char(out, '}');
}

/* "selector":{...} or "clusterIds":[...] */
static void put_place(struct strbuf *out, struct rng *rng, uint32_t selectors_in_ten)
{
    uint64_t count = 1 + rng_below(rng, 3);
    bool by_selector = rng_below(rng, 10) < selectors_in_ten;

    strbuf_put(out, by_selector ? STR("\"selector\":{\"matchExpressions\":[")
                                : STR("\"clusterIds\":["));
    for (uint64_t i = 0; i < count; i++) {
        if (i)
            strbuf_char(out, ',');
        if (by_selector)
            put_requirement(out, rng);
        else
            strbuf_fmt(out, "\"c-%u\"", (unsigned)rng_below(rng, CLUSTERS + 3));
    }
    strbuf_put(out, by_selector ? STR("]}") : STR("]"));
}

static const struct stack *generate_with(struct arena *arena, struct rng *rng,
                                         uint32_t selectors_in_ten, uint32_t skips_in_five)
{
    struct stack_builder b = a_stack(arena);
    struct strbuf targets = strbuf_new(arena, 64), overrides = strbuf_new(arena, 64);
    struct problems problems = problems_new(arena);

    strbuf_char(&targets, '{');
    put_place(&targets, rng, selectors_in_ten);
    strbuf_char(&targets, '}');
    with_targets(&b, strbuf_str(&targets).at);
    with_chart(&b, "x", "");
    with_chart(&b, "y", "");
    strbuf_lit(&overrides, "\"overrides\":[");
    for (uint64_t i = 0, count = rng_below(rng, 4); i < count; i++) {
        strbuf_put(&overrides, i ? STR(",{") : STR("{"));
        put_place(&overrides, rng, selectors_in_ten);
        strbuf_fmt(&overrides, ",\"charts\":[{\"name\":\"%s\",\"skip\":%s%s%s}]}",
                   rng_below(rng, 3) ? "x" : "y", rng_below(rng, 5) < skips_in_five ? "true" : "false",
                   rng_below(rng, 3) ? "" : ",\"version\":\"2.0.0\"",
                   rng_below(rng, 3) ? "" : ",\"values\":{\"inline\":{\"a\":1}}");
    }
    strbuf_char(&overrides, ']');
    with_spec(&b, strbuf_str(&overrides).at);
    return stack_default(arena, stack_decode(arena, stack_json(&b), &problems), NULL);
}

static const struct stack *generate(struct arena *arena, struct rng *rng, uint32_t selectors_in_ten)
{
    return generate_with(arena, rng, selectors_in_ten, 4);
}

/* --- laws --- */

/* What the controller would put there. */
static struct str digest_on(struct arena *arena, const struct stack *stack, uint32_t chart,
                            const struct fact_cluster *cluster)
{
    const struct stack_targets *targets = &stack->spec.targets;
    struct selector selector = label_selector_compile(arena, &targets->selector);
    const struct template_facts facts = { cluster->id, cluster->id, cluster->labels };
    struct wanted_release wanted;

    if (targets->cluster_ids.count ? !str_list_has(&targets->cluster_ids, cluster->id)
                                   : !selector_matches(NULL, &selector, cluster->labels))
        return STR("");
    wanted = scene_wanted(arena, stack, NULL, chart, &facts);
    assert_true(wanted.skip || wanted.desired);
    return wanted.skip ? STR("") : wanted.desired->digest;
}

static bool is_deployed(struct arena *arena, const struct stack *stack, uint32_t chart,
                        const struct fact_cluster *cluster)
{
    return digest_on(arena, stack, chart, cluster).len > 0;
}

static void claimed_is_what_is_deployed(struct arena *arena, struct rng *rng, const char *seed)
{
    const struct stack *stack = generate(arena, rng, 5);
    struct claims claims = claims_of(arena, stack);

    rows_expect_int(seed, claims.releases.count, CHARTS);
    for (int i = 0; i < CLUSTERS; i++) {
        struct fact_cluster cluster = cluster_at(arena, i);

        for (uint32_t k = 0; k < CHARTS; k++)
            rows_expect_int(seed, claims_on(NULL, &claims, k, &cluster),
                            is_deployed(arena, stack, k, &cluster));
    }
}

/* Exactly: no warning in vain, and none that is missing. */
static void selectors_meet_if_some_cluster_could(struct arena *arena, struct rng *rng,
                                                 const char *seed)
{
    struct claims a = claims_of(arena, generate(arena, rng, 9));
    struct claims b = claims_of(arena, generate(arena, rng, 9));
    bool by_selectors = a.targets.by_selector && b.targets.by_selector;

    for (uint32_t k = 0; k < CHARTS; k++) {
        bool some = false;

        for (int i = 0; i < CLUSTERS && by_selectors; i++) {
            struct fact_cluster cluster = cluster_at(arena, i);

            cluster.id = STR("c-new"); /* whose id no override names */
            some = some || (claims_on(NULL, &a, k, &cluster) && claims_on(NULL, &b, k, &cluster));
        }
        rows_expect_int(seed, claims_can_meet(arena, &a, k, &b, k), some);
        rows_expect_int(seed, claims_can_meet(arena, &b, k, &a, k), some);
    }
}

static void packed_says_the_same(struct arena *arena, struct rng *rng, const char *seed)
{
    struct claims claims = claims_of(arena, generate(arena, rng, 5));
    struct strbuf packed = strbuf_new(arena, 64), again = strbuf_new(arena, 64);

    claims.deleting = rng_below(rng, 2);
    claims_pack(&claims, &packed);

    struct claims read = claims_read(arena, strbuf_str(&packed));

    claims_pack(&read, &again);
    rows_expect_str(seed, strbuf_str(&again), strbuf_str(&packed));
    rows_expect_int(seed, read.deleting, claims.deleting);
    rows_expect_int(seed, read.targets.by_selector, claims.targets.by_selector);
    for (uint32_t k = 0; k < CHARTS; k++) {
        rows_expect_int(seed, claims_find(&read, claims.releases.items[k]), k);
        for (int i = 0; i < CLUSTERS; i++) {
            struct fact_cluster cluster = cluster_at(arena, i);

            rows_expect_int(seed, claims_on(NULL, &read, k, &cluster), claims_on(NULL, &claims, k, &cluster));
        }
    }
}

/* Whatever the bytes are, reading ends within them. */
static void other_bytes_are_read_as_far_as_they_go(struct arena *arena, struct rng *rng,
                                                   const char *seed)
{
    struct claims claims = claims_of(arena, generate(arena, rng, 5));
    struct strbuf packed = strbuf_new(arena, 64);

    (void)seed;
    claims_pack(&claims, &packed);
    for (size_t i = 0; i < packed.len; i++)
        if (rng_below(rng, 8) == 0)
            packed.at[i] = (char)rng_below(rng, 256);

    /* A copy of just these bytes, so that a read behind them is noticed. */
    size_t len = rng_below(rng, packed.len + 1);
    char *bytes = malloc(len ? len : 1);

    memcpy(bytes, packed.at, len);
    claims = claims_read(arena, str_make(bytes, len));
    for (int i = 0; i < CLUSTERS; i++) {
        struct fact_cluster cluster = cluster_at(arena, i);

        for (uint32_t k = 0; k < claims.releases.count; k++)
            claims_on(NULL, &claims, k, &cluster);
    }
    free(bytes);
}

/* What the preview says of a chart on a cluster that stays; PREVIEW_KIND_COUNT: nothing. */
static enum preview_kind said_on(const struct preview *p, struct str chart, struct str cluster,
                                 const char *seed)
{
    enum preview_kind said = PREVIEW_KIND_COUNT;

    for (uint32_t i = 0; i < p->kept.count; i++) {
        const struct preview_change *change = &p->kept.items[i];

        for (uint32_t k = 0; k < change->charts.count; k++)
            for (uint32_t m = 0; m < change->clusters.count; m++)
                if (str_starts(change->charts.items[k], chart) &&
                    str_eq(p->clusters.items[change->clusters.items[m]].cluster.id, cluster)) {
                    rows_expect(seed, said == PREVIEW_KIND_COUNT, "told once");
                    said = change->kind;
                }
    }
    return said;
}

/* Nothing that the controller would do is missing, and none is told that it would not; but that
 * values are written in other words and come to the same is not seen. */
static void a_preview_is_what_is_done(struct arena *arena, struct rng *rng, const char *seed)
{
    const struct stack *old = generate_with(arena, rng, 8, 1);
    const struct stack *new = rng_below(rng, 2) ? generate_with(arena, rng, 8, 1) : old;
    struct facts facts = { .clusters_known = true,
                           .clusters = fact_clusters_new(arena, CLUSTERS) };

    for (int i = 0; i < CLUSTERS; i++)
        fact_clusters_push(&facts.clusters, cluster_at(arena, i));

    struct stack stored = *old;

    stored.status_json = test_json(arena, deployed_status(arena, old, &facts));

    struct preview p = preview_of(arena, new, resolved_targets_of(arena, new, &facts), &stored, &facts, true);

    for (uint32_t i = 0; i < p.clusters.count; i++)
        for (uint32_t k = 0; k < CHARTS && p.clusters.items[i].before && p.clusters.items[i].after;
             k++) {
            const struct fact_cluster *cluster = &p.clusters.items[i].cluster;
            struct str before = digest_on(arena, old, k, cluster);
            struct str after = digest_on(arena, new, k, cluster);
            enum preview_kind said = said_on(&p, new->spec.charts.items[k].name, cluster->id, seed);

            if (!before.len || !after.len)
                rows_expect_int(seed, said, before.len  ? PREVIEW_UNINSTALL
                                            : after.len ? PREVIEW_INSTALL
                                                        : PREVIEW_KIND_COUNT);
            else if (!str_eq(before, after))
                rows_expect_int(seed, said, PREVIEW_UPGRADE);
            else
                rows_expect(seed, said == PREVIEW_KIND_COUNT || (said == PREVIEW_UPGRADE && new != old),
                            "the same");
        }
}

static struct facts all_clusters(struct arena *arena, bool known)
{
    struct facts facts = { .clusters_known = known, .clusters = fact_clusters_new(arena, CLUSTERS) };

    for (int i = 0; i < CLUSTERS && known; i++)
        fact_clusters_push(&facts.clusters, cluster_at(arena, i));
    return facts;
}

/* Each cluster that is chosen is in one place, which skips what is not deployed there. */
static void places_skip_what_is_not_deployed(struct arena *arena, struct rng *rng, const char *seed)
{
    const struct stack *stack = generate(arena, rng, 5);
    struct facts facts = all_clusters(arena, true);
    struct resolved_targets *chosen = resolved_targets_of(arena, stack, &facts);
    struct policy_places places = policy_places_of(arena, stack, chosen);

    for (uint32_t i = 0; i < chosen->clusters.count && chosen->claims.skips.count; i++) {
        const struct fact_cluster *cluster = &chosen->clusters.items[i];
        uint32_t seen = 0;

        for (uint32_t p = 0; p < places.count; p++) {
            if (!str_list_has(&places.items[p].clusters, cluster->id))
                continue;
            seen++;
            for (uint32_t k = 0; k < CHARTS; k++)
                rows_expect_int(seed, !places.items[p].skips[k], is_deployed(arena, stack, k, cluster));
        }
        rows_expect_int(seed, seen, 1);
    }
}

static struct policy_set *policy_for_clusters(struct arena *arena, struct rng *rng)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct problems problems = problems_new(arena);
    struct strbuf out = strbuf_new(arena, 256);

    strbuf_lit(&out, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
                     "\"match\":{\"clusterSelector\":{\"matchExpressions\":[");
    put_requirement(&out, rng);
    strbuf_lit(&out, "]}},\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"presence\":\"Required\"}]}}");
    assert_true(policy_set_add(builder, test_json(arena, strbuf_str(&out)), &problems));
    return policy_set_finish(builder);
}

/* Not to know clusters never spares a Stack a policy. */
static void what_is_not_known_counts(struct arena *arena, struct rng *rng, const char *seed)
{
    AUTO(policy_set_unref) struct policy_set *set = policy_for_clusters(arena, rng);
    const struct stack *stack = generate(arena, rng, 5);
    struct facts known = all_clusters(arena, true), unknown = all_clusters(arena, false);
    bool matches = *policy_set_matching(set, stack, resolved_targets_of(arena, stack, &known), arena);

    rows_expect(seed, !matches || *policy_set_matching(set, stack, resolved_targets_of(arena, stack, &unknown), arena),
                "it counts as matching");
}

static void what_policies_see(void **state)
{
    (void)state;
    for_each_case(places_skip_what_is_not_deployed);
    for_each_case(what_is_not_known_counts);
}

static void what_is_previewed(void **state)
{
    (void)state;
    for_each_case(a_preview_is_what_is_done);
}

static void what_is_claimed(void **state)
{
    (void)state;
    for_each_case(claimed_is_what_is_deployed);
}

static void what_can_meet(void **state)
{
    (void)state;
    for_each_case(selectors_meet_if_some_cluster_could);
}

static void what_is_packed(void **state)
{
    (void)state;
    for_each_case(packed_says_the_same);
}

static void what_others_wrote(void **state)
{
    (void)state;
    for_each_case(other_bytes_are_read_as_far_as_they_go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_claimed),
        cmocka_unit_test(what_can_meet),
        cmocka_unit_test(what_is_packed),
        cmocka_unit_test(what_others_wrote),
        cmocka_unit_test(what_policies_see),
        cmocka_unit_test(what_is_previewed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
