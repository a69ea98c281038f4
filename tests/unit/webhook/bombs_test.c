/* SPDX-License-Identifier: Apache-2.0 */
/* bombs_test.c: reviews that ask for much, beside 1,000 clusters and Stacks that ask for much, too: each is rejected or
 * answered within the memory that the server gives it and within the work of 50 ms.
 *
 * Time is not looked at: each block of code that runs is counted (work_test.c). How many, and how much of the memory, is
 * printed. */
#include "support/rows.h"

#include "support/any_review.h"
#include "support/facts_builder.h"
#include "support/review_builder.h"
#include "support/stack_builder.h"

#include "io/limits.h"
#include "webhook/known_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void __sanitizer_cov_trace_pc(void);

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

/* What is linear in the bytes, such as reading them, and what 50 ms allow for all else: a release program runs about a
 * block in a nanosecond. */
enum { BLOCKS_PER_BYTE = 10, BLOCKS_MAX = 50000000 };

#define SPEC(spec)                                                                                 \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\",\"namespace\":\"a\"},\"spec\":{" spec
#define TARGETS "\"targets\":{\"clusterIds\":[\"c-1\"]},"
#define CHART "{\"name\":\"c%u\",\"repo\":\"https://x.io\",\"version\":\"1.2.3\""

#define CHARTS "\"charts\":[{\"name\":\"c0\",\"repo\":\"https://x.io\",\"version\":\"1.2.3\"}],"
#define GPUS "{\"limits\":{\"nvidia.com/gpu\":1}}"

#define MATCHES_ALL "\"targets\":{\"selector\":{\"matchLabels\":{\"all\":\"yes\"}}},"
#define SKIP(selector) "{\"selector\":{" selector "},\"charts\":[{\"name\":\"c0\",\"skip\":true}]}"
/* With what the ways in which a cluster can avoid all of them are many. */
#define AVOIDED(key) "\"matchExpressions\":[{\"key\":\"" key "%u\",\"operator\":\"In\",\"values\":[\"v0001\",\"v0002\"]},"      \
                     "{\"key\":\"" key "\",\"operator\":\"NotIn\",\"values\":[%v]}]"

/* `head`, `count` times `unit` (where "%u" is the count so far), `tail`: an object. */
static const struct bomb {
    const char *row, *head, *unit;
    uint32_t count;
    const char *tail;
    bool allowed; /* it is worth a warning */
} bombs[] = {
    { "a selector of 64 x 256 values", SPEC(CHARTS "\"targets\":{\"selector\":{"), "", 0, "%s}}}}", false },
    { "10 overrides of as many", SPEC(CHARTS MATCHES_ALL "\"overrides\":["), SKIP("%s") ",", 9, SKIP("%s") "]}}", false },
    { "40 overrides of as many", SPEC(CHARTS MATCHES_ALL "\"overrides\":["), SKIP("%s") ",", 39, SKIP("%s") "]}}", false },
    { "10 waves of as many", SPEC(CHARTS MATCHES_ALL "\"rollout\":{\"waves\":["), "{\"name\":\"w%u\",\"selector\":{%s}},", 9,
      "{\"name\":\"w\",\"selector\":{%s}}]}}}", false },
    { "99 overrides that all clusters match", SPEC(CHARTS MATCHES_ALL "\"overrides\":["),
      SKIP("\"matchExpressions\":[{\"key\":\"site\",\"operator\":\"NotIn\",\"values\":[%v]}]") ",", 98,
      SKIP("\"matchExpressions\":[{\"key\":\"site\",\"operator\":\"NotIn\",\"values\":[%v]}]") "]}}", true },
    { "overrides to avoid, and others' too", SPEC(MATCHES_ALL "\"charts\":[%c" CHART "}],\"overrides\":["), SKIP(AVOIDED("own")) ",", 30,
      SKIP(AVOIDED("own")) "]}}", true },
    { "1,000 GPU operators, skipped", SPEC(MATCHES_ALL "\"charts\":[%o" CHART "}],\"overrides\":["),
      "{\"selector\":{" AVOIDED("own") "},\"charts\":[%k{\"name\":\"c0\",\"skip\":true}]},", 10, SKIP(AVOIDED("own")) "]}}", false },
    { "nesting beyond what is read", SPEC("\"charts\":"), "[", 100000, "", false },
    { "nesting up to what is read", SPEC("\"x\":"), "{\"a\":", 120, "", false },
    { "100,000 members of the spec", SPEC(TARGETS "\"x\":1"), ",\"k%u\":1", 90000, "}}", false },
    { "100,000 labels", "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"labels\":{\"x\":\"y\"",
      ",\"k%u\":\"v\"", 90000, "}},\"spec\":{}}", false },
    { "1,000 charts that all wait for all", SPEC(TARGETS "\"charts\":["), CHART ",\"dependsOn\":[%d]},", 1000,
      CHART "}]}}", false },
    { "30,000 charts", SPEC(TARGETS "\"charts\":["), CHART "},", 30000, CHART "}]}}", false },
    { "150,000 elements that are no charts", SPEC(TARGETS "\"charts\":["), "1,", 150000, "1]}}", false },
    { "150,000 cluster ids", SPEC("\"targets\":{\"clusterIds\":["), "\"c-%u\",", 150000, "\"c-1\"]}}}", false },
    { "128 overrides of what 5,000 pods ask for", SPEC("\"targets\":{\"clusterIds\":[\"c-m-gpu01\"]},\"charts\":[") CHART ",\"values\":{\"inline\":{%p"
      "\"x\":" GPUS "}}}],\"overrides\":[", "{\"clusterIds\":[\"c-m-gpu01\"],\"charts\":[{\"name\":\"c0\",\"values\":{\"inline\":{\"replicas\":%u}}}]},", 127,
      "{\"clusterIds\":[\"c-m-gpu01\"],\"charts\":[{\"name\":\"c0\",\"values\":{\"inline\":{\"replicas\":2}}}]}]}}", false },
    { "5,000 kinds of GPUs", SPEC("\"targets\":{\"clusterIds\":[\"c-m-gpu01\"]},\"charts\":[") CHART ",\"values\":{\"inline\":{\"limits\":{",
      "\"nvidia.com/mig-%ug.1gb\":1,", 5000, "\"nvidia.com/gpu\":1}}}}]}}", false },
    { "a number of 1 MiB", SPEC(TARGETS "\"charts\":["), "", 0, "0.%1]}}", false },
    { "a string of 1 MiB", SPEC(TARGETS "\"env\":"), "", 0, "\"%2\"}}", false },
    { "a string of 7 MiB", SPEC(TARGETS "\"env\":"), "", 0, "\"%7\"}}", false },
    { "a name for a pattern without end", SPEC(TARGETS "\"charts\":[{\"name\":\"a\",\"repo\":\"https://x.io\",\"version\":"), "", 0,
      "\"%0!\"}]}}", false },
};

static void put_values(struct strbuf *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        strbuf_fmt(out, "%s\"v%04u\"", i ? "," : "", i);
}

/* Every cluster has the last of the values. */
static void put_expressions(struct strbuf *out)
{
    strbuf_lit(out, "\"matchExpressions\":[");
    for (uint32_t i = 0; i < 64; i++) {
        strbuf_fmt(out, "%s{\"key\":\"k\",\"operator\":\"In\",\"values\":[", i ? "," : "");
        put_values(out, 256);
        strbuf_lit(out, "]}");
    }
    strbuf_char(out, ']');
}

/* What a sign stands for: so many letters or digits, names of 999 charts, 5,000 members, expressions, values, or charts
 * and what an override says of them. */
static void put_sign(struct strbuf *out, char sign, uint32_t number)
{
    size_t count = sign == '0' ? 1000 : sign == '7' ? 6800000 : 1048000;

    switch (sign) {
    case 'u':
        strbuf_u64(out, number);
        return;
    case 'd':
        for (uint32_t i = 0; i < 150; i++)
            strbuf_fmt(out, "%s\"c%u\"", i ? "," : "", (number + i * 7 + 1) % 1000);
        return;
    case 's':
        put_expressions(out);
        return;
    case 'v':
        put_values(out, 40);
        return;
    case 'c':
        for (uint32_t i = 1; i < 100; i++)
            strbuf_fmt(out, "{\"name\":\"c%u\",\"repo\":\"https://x.io\",\"version\":\"1.2.3\"},", i);
        return;
    case 'o':
        for (uint32_t i = 1; i < 1000; i++)
            strbuf_fmt(out, "{\"name\":\"g%u\",\"chart\":\"gpu-operator\",\"repo\":\"https://x.io\",\"version\":\"1.2.3\"},", i);
        return;
    case 'k':
        for (uint32_t i = 1; i < 1000; i++)
            strbuf_fmt(out, "{\"name\":\"g%u\",\"skip\":true},", i);
        return;
    case 'p':
        for (uint32_t i = 0; i < 5000; i++)
            strbuf_fmt(out, "\"k%05u\":" GPUS ",", i);
        return;
    default:
        memset(strbuf_reserve(out, count), sign == '1' ? '1' : 'a', count);
        out->len += count;
    }
}

static void put_text(struct strbuf *out, const char *text, uint32_t number)
{
    for (; *text; text++)
        if (*text == '%')
            put_sign(out, *++text, number);
        else
            strbuf_char(out, *text);
}

static struct str object_of(struct arena *arena, const struct bomb *bomb)
{
    struct strbuf out = strbuf_new(arena, 8 << 20);

    put_text(&out, bomb->head, 0);
    for (uint32_t i = 0; i < bomb->count; i++)
        put_text(&out, bomb->unit, i);
    put_text(&out, bomb->tail, bomb->count);
    return strbuf_str(&out);
}

static void check(const struct review_world *world, const struct bomb *bomb, enum review_route route)
{
    AUTO(arena_free) struct arena *texts = arena_create(0);
    struct str body = a_review(texts, "u", "CREATE", object_of(texts, bomb), STR("null"));
    size_t budget = LIMIT_REVIEW_ARENA + 4 * body.len;
    AUTO(arena_free) struct arena *arena = arena_create(budget);
    uint64_t before = blocks;
    struct review_attempt attempt = review_attempt(world, arena, route, body);
    uint64_t took = blocks - before;

    printf("%-40s %-8s %8zu bytes %10" PRIu64 " blocks %3zu %% of its memory: %s %.*s\n", bomb->row,
           route == REVIEW_MUTATE ? "mutate" : "validate", body.len, took, arena_used(arena) * 100 / budget,
           attempt.result == 0 ? attempt.outcome.allowed ? "allowed" : "rejected by" : "an error",
           STR_ARG(attempt.result == 0 ? attempt.outcome.rules : STR("")));
    rows_expect_int(bomb->row, attempt.result, 0);
    rows_expect(bomb->row, attempt.outcome.allowed == bomb->allowed, bomb->allowed ? "allowed" : "not allowed");
    rows_expect(bomb->row, attempt.outcome.answer.len < (1 << 20), "an answer that can be sent");
    rows_expect(bomb->row, took < BLOCKS_MAX + (uint64_t)BLOCKS_PER_BYTE * body.len, "the work of 50 ms");
}

/* 1,000 clusters, and 64 Stacks that claim the same releases, to be avoided in many ways. */
static void begin(struct review_world *world, struct facts_builder *builder, struct arena *arena)
{
    static const struct bomb other = { NULL, SPEC(MATCHES_ALL "\"charts\":[%c" CHART "}],\"overrides\":["), SKIP(AVOIDED("other")) ",", 30,
                                       SKIP(AVOIDED("other")) "]}}", true };

    review_world_begin(world, arena);
    some_facts(arena, builder);
    for (int i = 0; i < 1000; i++)
        with_cluster(builder, str_fmt(arena, "c-m-%d", i).at,
                     "all=yes,env=prod,site=s,k=v0255,a=x,b=x,c=x,d=x,e=x,f=x,g=x,h=x,i=x");
    for (int i = 0; i < 64; i++)
        with_stored(builder, str_fmt(arena, "b/other-%d", i).at, test_json(arena, object_of(arena, &other)));
    for (uint32_t i = 0; i < builder->facts.clusters.count; i++)
        fact_clusters_push(&world->facts.clusters, builder->facts.clusters.items[i]);
    world->facts.stacks.claimants = builder->facts.stacks.claimants;
    world->facts.stacks.context = builder;
}

/* What the webhook keeps of a Stack that was stored. */
static void known_stacks_take_no_more(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
        AUTO(arena_free) struct arena *texts = arena_create(0);
        struct strbuf kept = strbuf_new(arena, 0);
        struct str text = object_of(texts, &bombs[i]);
        struct json object;
        struct error err;
        uint64_t before;

        if (json_read(texts, text, &json_limits_default, &object, &err) < 0)
            continue; /* no API server stores that */
        before = blocks;
        known_stacks_keep(object, &kept);
        printf("%-40s %10" PRIu64 " blocks\n", bombs[i].row, blocks - before);
        rows_expect(bombs[i].row, blocks - before < BLOCKS_MAX + (uint64_t)BLOCKS_PER_BYTE * text.len, "the work of 50 ms");
    }
}

static void bombs_get_an_answer_within_the_budget(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;
    struct review_world world;

    (void)state;
    begin(&world, &builder, arena);
    for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
        check(&world, &bombs[i], REVIEW_MUTATE);
        check(&world, &bombs[i], REVIEW_VALIDATE);
    }
    review_world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bombs_get_an_answer_within_the_budget),
        cmocka_unit_test(known_stacks_take_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
