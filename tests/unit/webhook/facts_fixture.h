/* SPDX-License-Identifier: Apache-2.0 */
/* facts_fixture.h: what the webhook knows, against a scripted API server. For the tests of this folder only. */
#ifndef HERD_TESTS_UNIT_WEBHOOK_FACTS_FIXTURE_H
#define HERD_TESTS_UNIT_WEBHOOK_FACTS_FIXTURE_H

#include "support/rows.h"

#include "support/loopback.h"
#include "support/scripted_api.h"
#include "webhook/facts.h"

#include <stdlib.h>
#include <unistd.h>

#define CLUSTER(id, version, spec, labels, ready)                                                  \
    "{\"metadata\":{\"name\":\"" id "\",\"uid\":\"u-" id "\",\"resourceVersion\":\"" version       \
    "\"" labels "},\"spec\":{" spec "},\"status\":{\"conditions\":[{\"type\":\"Connected\","       \
    "\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"
#define LIST(version, items)                                                                       \
    "{\"kind\":\"ClusterList\",\"apiVersion\":\"management.cattle.io/v3\",\"metadata\":{"          \
    "\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define EVENT(type, item) "{\"type\":\"" type "\",\"object\":" item "}\n"

static const char clusters_url[] = "/apis/management.cattle.io/v3/clusters?";

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct fact_source *source;
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0), .api = scripted_api_create() };
}

static void start(struct fixture *f)
{
    struct kube_config config = scripted_api_config(f->api);
    struct error err;

    f->source = fact_source_create(&config, NULL, &err);
    if (!f->source)
        fail_msg("%s", err.text);
}

static void tear_down(struct fixture *f)
{
    fact_source_free(f->source);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

/* What is known, in words: of one Stack, or of all that there is. */
typedef struct str facts_words(struct arena *arena, const struct facts *facts, const char *of);

static int by_id(const void *a, const void *b)
{
    return str_cmp(((const struct fact_cluster *)a)->id, ((const struct fact_cluster *)b)->id);
}

/* "c-1(Name,ready,{labels}) c-2(...)" by id, or "unknown". */
static struct str clusters_of(struct arena *arena, const struct facts *facts, const char *of)
{
    struct strbuf out = strbuf_new(arena, 256);
    uint32_t count = facts->clusters.count;
    struct fact_cluster *sorted = arena_array(arena, struct fact_cluster, count + 1);

    (void)of;
    if (!facts->clusters_known)
        return count ? STR("unknown, but some are listed") : STR("unknown");
    if (count)
        memcpy(sorted, facts->clusters.items, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_id);
    for (uint32_t i = 0; i < count; i++)
        strbuf_fmt(&out, "%s%.*s(%.*s,%s%s,%.*s)", i ? " " : "", STR_ARG(sorted[i].id),
                   STR_ARG(sorted[i].display_name), sorted[i].ready ? "ready" : "not ready",
                   sorted[i].internal ? ",Rancher's own" : "",
                   STR_ARG(json_is(sorted[i].labels, JSON_OBJECT) ? json_raw(sorted[i].labels)
                                                                  : STR("-")));
    return strbuf_str(&out);
}

static struct str known(struct fixture *f, facts_words *words, const char *of)
{
    return words(f->arena, fact_source_take(f->source, f->arena), of);
}

/* Look until it is `want`; the test fails with the last look if it does not come. */
static void wait_for(struct fixture *f, const char *row, facts_words *words, const char *of, const char *want)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str got = STR("");

    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        arena_reset(arena);
        got = words(arena, fact_source_take(f->source, arena), of);
        if (str_eq(got, str_of(want)))
            return;
        usleep(1000);
    }
    rows_expect_str(row, got, str_of(want));
}

/* Until `url` was asked so often; then what came of all but the last has been taken. */
static void wait_for_requests(struct fixture *f, const char *url, uint32_t count)
{
    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        if (scripted_api_count(f->api, "GET", url) >= count)
            return;
        usleep(1000);
    }
    fail_msg("%s was not asked %u times", url, count);
}

#endif
