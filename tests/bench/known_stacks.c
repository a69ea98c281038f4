/* SPDX-License-Identifier: Apache-2.0 */
/* known_stacks.c: bench-stacks: what knowing the Stacks that there are costs the webhook.
 *
 *   bench-stacks [STACKS]     10,000 if not said
 *
 * For three scenarios of Stacks of 3 charts, with 20 clusters and with 1,000: the bytes that one
 * Stack takes (its snapshot, its place in the tables), the time to keep one that changed, and the
 * time of a validation without knowing them, what knowing them adds, and what the preview adds. */
#include "base/memory.h"
#include "runtime/cache.h"
#include "stack/preview/preview.h"
#include "stack/rules/validate.h"
#include "webhook/known_stacks.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VALIDATIONS = 400, ROUNDS = 5 };

static const struct scenario {
    const char *says;
    bool shared;  /* all have the same releases */
    bool by_ids;  /* each names one cluster of its own, else it chooses by a label of its own */
} scenarios[] = {
    { "releases of their own, by selector", false, false },
    { "the same releases, one cluster each", true, true },
    { "the same releases, selectors apart", true, false },
};

static struct json read_json(struct arena *arena, struct str text)
{
    struct json json;
    struct error err = { 0 };

    if (json_read(arena, text, &json_limits_default, &json, &err) < 0) {
        fprintf(stderr, "bench-stacks: %s\n", err.text);
        exit(1);
    }
    return json;
}

static struct json stack_number(struct arena *arena, const struct scenario *scenario, int number)
{
    struct str target = scenario->by_ids ? str_fmt(arena, "{\"clusterIds\":[\"c-%d\"]}", number)
                                       : str_fmt(arena, "{\"selector\":{\"matchLabels\":{\"env\":"
                                                        "\"prod\",\"site\":\"s-%d\"}}}", number);
    struct str tail = scenario->shared ? STR("") : str_fmt(arena, "-%d", number);
    struct strbuf charts = strbuf_new(arena, 512);
    static const char *const names[] = { "gpu-operator", "qdrant", "ollama" };

    for (int i = 0; i < 3; i++)
        strbuf_fmt(&charts,
                   "%s{\"name\":\"%s\",\"repo\":\"https://charts.example.org/stable\",\"version\":"
                   "\"1.2.3\",\"namespace\":\"%s%.*s\",\"releaseName\":\"%s\",\"values\":{\"inline\":"
                   "{\"replicaCount\":3,\"persistence\":{\"enabled\":true,\"size\":\"50Gi\"}}}%s%s%s}",
                   i ? "," : "", names[i], names[i], STR_ARG(tail), names[i],
                   i ? ",\"dependsOn\":[\"" : "", i ? names[i - 1] : "", i ? "\"]" : "");
    return read_json(arena,
                     str_fmt(arena,
                             "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":"
                             "{\"name\":\"stack-%d\",\"namespace\":\"team-%d\"},\"spec\":{\"env\":"
                             "\"prod\",\"targets\":%.*s,\"charts\":[%.*s]}}",
                             number, number % 100, STR_ARG(target), STR_ARG(strbuf_str(&charts))));
}

/* CPU time of this thread. */
static double microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* --- the scenario --- */

static struct kube_object *snapshot(const struct scenario *scenario, int number)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 256);

    known_stacks_keep(stack_number(arena, scenario, number), &kept);
    return kube_object_create(str_fmt(arena, "team-%d", number % 100),
                              str_fmt(arena, "stack-%d", number),
                              STR("0d5ea1cc-0f5f-4d5c-8d0c-6b2f8b1f2a11"), STR("123456789"),
                              strbuf_str(&kept));
}

static size_t heap(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* `cache` is what the informer has beside the table. */
static void fill(const struct scenario *scenario, int count, struct known_stacks_table *table,
                 struct kube_cache *cache)
{
    size_t before = heap();
    double began = microseconds();

    for (int i = 0; i < count; i++) {
        struct kube_object *one = snapshot(scenario, i);

        kube_cache_put(cache, one);
        known_stacks_put(table, NULL, one);
    }
    printf("%-38s %8.1f %8.1f %8.1f", scenario->says, (double)(heap() - before) / count,
           (double)(kube_cache_bytes(cache) + known_stacks_bytes(table)) / count,
           (microseconds() - began) / count);
}

static void add_clusters(struct arena *arena, struct facts *facts, int count)
{
    facts->clusters_known = true;
    facts->clusters = fact_clusters_new(arena, (uint32_t)count);
    for (int i = 0; i < count; i++)
        fact_clusters_push(
            &facts->clusters,
            (struct fact_cluster){
                .id = str_fmt(arena, "c-%d", i),
                .display_name = str_fmt(arena, "cluster-%d", i),
                .labels = read_json(arena, str_fmt(arena, "{\"env\":\"prod\",\"site\":\"s-%d\","
                                                          "\"region\":\"eu\",\"gpu\":\"true\"}", i)),
                .ready = true });
}

/* --- the validations --- */

static int compare_times(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* CPU of one validation, the median of some rounds. */
static double validate_time(const struct facts *facts, const struct scenario *scenario, bool preview)
{
    AUTO(arena_free) struct arena *documents = arena_create(0);
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rule_severities severities = rule_severities_default();
    struct json objects[20];
    double rounds[ROUNDS];

    for (int i = 0; i < 20; i++)
        objects[i] = stack_number(documents, scenario, i);
    for (int round = 0; round < ROUNDS; round++) {
        double began = microseconds();

        for (int i = 0; i < VALIDATIONS; i++) {
            struct verdict verdict = stack_admit(arena, objects[i % 20], (struct json){ NULL, 0 },
                                                 facts, &severities);

            if (preview)
                stack_preview(arena, verdict.stack, verdict.chosen, (struct json){ NULL, 0 }, facts,
                              false);
            arena_reset(arena);
        }
        rounds[round] = (microseconds() - began) / VALIDATIONS;
    }
    qsort(rounds, ROUNDS, sizeof(*rounds), compare_times);
    return rounds[ROUNDS / 2];
}

static void validate(const struct scenario *scenario, struct known_stacks_table *table, int clusters)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = { 0 };

    add_clusters(arena, &facts, clusters);

    double without = validate_time(&facts, scenario, false);
    double shown = validate_time(&facts, scenario, true);

    facts.stacks = known_stacks_facts(table);
    printf("  %6.1f + %6.1f + %5.1f", without, validate_time(&facts, scenario, false) - without,
           shown - without);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000;

    printf("%d Stacks of 3 charts\n", count);
    printf("%-38s %8s %8s %8s  %-23s  %s\n", "", "heap B", "told B", "us to",
           "20 clusters: us of a", "1,000 clusters: us of a");
    printf("%-38s %8s %8s %8s  %-23s  %s\n", "", "each", "each", "keep",
           "review + it + preview", "review + it + preview");
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        AUTO(known_stacks_unref) struct known_stacks_table *table = known_stacks_create();
        AUTO(kube_cache_free) struct kube_cache *cache = kube_cache_create();

        fill(&scenarios[i], count, table, cache);
        validate(&scenarios[i], table, 20);
        validate(&scenarios[i], table, 1000);
        printf("\n");
    }
    return 0;
}
