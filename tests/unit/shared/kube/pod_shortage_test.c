/* SPDX-License-Identifier: Apache-2.0 */
/* pod_shortage_test.c: who lacks pods, what Events say of that, and when they are listed. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "kube/pod_shortage.h"

#define SET(spec, status) \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"generation\":2},\"spec\":{" spec "},\"status\":{" status "}}"
#define SEEN "\"observedGeneration\":2,"
#define JOB(spec, status) "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"spec\":{" spec "},\"status\":{" status "}}"
#define STARTED "\"startTime\":\"2026-01-01T00:00:00Z\""

static const struct {
    const char *row, *object;
    bool lacks;
} objects[] = {
    { "a StatefulSet with fewer pods than it wants", SET("\"replicas\":3", SEEN "\"replicas\":2"), true },
    { "one that has all of them, ready or not", SET("\"replicas\":3", SEEN "\"replicas\":3,\"readyReplicas\":0"), false },
    { "one whose controller has not seen what it wants", SET("\"replicas\":3", "\"observedGeneration\":1,\"replicas\":2"), false },
    { "one that its controller has not seen at all", SET("\"replicas\":3", ""), false },
    { "one that wants none", SET("\"replicas\":0", SEEN "\"replicas\":0"), false },
    { "a Job without pods", JOB("\"parallelism\":2,\"completions\":2", STARTED), true },
    { "one whose pods run or have succeeded", JOB("\"parallelism\":2,\"completions\":2", STARTED ",\"active\":1,\"succeeded\":1"), false },
    { "one that is complete", JOB("\"parallelism\":2,\"completions\":2", STARTED ",\"succeeded\":2"), false },
    { "one that has not started", JOB("\"parallelism\":2", ""), false },
    { "a Deployment, whose status says why",
      "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"replicas\":3},\"status\":{}}", false },
    { "another API's StatefulSet", "{\"apiVersion\":\"x.io/v1\",\"kind\":\"StatefulSet\",\"spec\":{\"replicas\":3}}", false },
};

static void a_shortage_is_in_the_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_int(objects[i].row, kube_lacks_pods(test_json(arena, str_of(objects[i].object))), objects[i].lacks);
    }
}

#define EVENT(reason, second, message) \
    "{\"reason\":\"" reason "\",\"lastTimestamp\":\"2026-01-01T00:00:" second "Z\",\"message\":\"" message "\"}"

static const struct {
    const char *row, *items, *cause;
} lists[] = {
    { "no Event", "", "" },
    { "the latest failure counts, in whatever order they come",
      EVENT("FailedCreate", "02", "second") "," EVENT("FailedCreate", "01", "first"), "second" },
    { "a pod that could be made since ends it", EVENT("FailedCreate", "01", "q") "," EVENT("SuccessfulCreate", "02", "m"), "" },
    { "one that was made before does not", EVENT("SuccessfulCreate", "01", "m") "," EVENT("FailedCreate", "02", "q"), "q" },
    { "nor one of the same second", EVENT("FailedCreate", "01", "q") "," EVENT("SuccessfulCreate", "01", "m"), "q" },
    { "other Events do not count", EVENT("FailedCreate", "01", "q") "," EVENT("SuccessfulDelete", "02", "m"), "q" },
    { "several that became one", EVENT("FailedCreate", "01", "(combined from similar events): q"), "q" },
    { "times of events.k8s.io",
      EVENT("FailedCreate", "01", "q")
      ",{\"reason\":\"SuccessfulCreate\",\"lastTimestamp\":null,\"eventTime\":\"2026-01-01T00:00:05.000000Z\"}", "" },
    { "what a terminal would obey is shown", EVENT("FailedCreate", "01", "a\\u001b[2Jb"), "a\\x1b[2Jb" },
};

static void events_tell_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str body = str_fmt(arena, "{\"kind\":\"EventList\",\"items\":[%s]}", lists[i].items);

        rows_expect_str(lists[i].row, kube_shortage_cause(arena, body), str_of(lists[i].cause));
    }
}

static void what_is_no_list_tells_nothing(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    rows_expect_str("no JSON", kube_shortage_cause(arena, STR("{")), STR(""));
    rows_expect_str("no list", kube_shortage_cause(arena, STR("[]")), STR(""));
}

static void one_object_is_asked_about(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_resource jobs = KUBE_RESOURCE_INIT("batch", "v1", "jobs", "Job", true);
    struct kube_request request = kube_shortage_request(arena, &jobs, STR("n"), STR("a"));

    (void)state;
    rows_expect_str("the list", kube_request_path(arena, &request),
                    STR("/api/v1/namespaces/n/events?fieldSelector=involvedObject.kind%3DJob%2CinvolvedObject.name%3Da&limit=100"));
}

/* One owner is looked at at these times. */
enum { LOOKS_MAX = 6 };
static const struct {
    const char *row;
    struct {
        int64_t at_ms;
        bool lacks, due;
        int64_t again_ms;
    } looks[LOOKS_MAX];
} turns[] = {
    { "whoever lacks nothing is not asked about", { { 10, false, false, -1 }, { 90000, false, false, -1 } } },
    { "first after the grace, then after each pause",
      { { 10, false, false, -1 }, { 20, true, false, 5000 }, { 2020, true, false, 3000 }, { 5020, true, true, 30000 },
        { 20020, true, false, 15000 }, { 35020, true, true, 30000 } } },
    { "at once of one that lacked pods before", { { 10, true, true, 30000 }, { 20, true, false, 29990 } } },
    { "what came in time is not asked about", { { 10, false, false, -1 }, { 20, true, false, 5000 }, { 2020, false, false, -1 } } },
    { "what comes and goes is asked about no more often",
      { { 10, true, true, 30000 }, { 1010, false, false, -1 }, { 2010, true, false, 28000 } } },
    { "later it is a new shortage", { { 10, true, true, 30000 }, { 31010, false, false, -1 }, { 32010, true, false, 5000 } } },
};

static void events_are_listed_at_intervals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        struct pod_shortages *shortages = pod_shortages_create();

        for (size_t k = 0; k < LOOKS_MAX && turns[i].looks[k].at_ms; k++) {
            int64_t again_ms = 0;

            rows_expect_int(turns[i].row,
                            pod_shortages_step(shortages, STR("n/a"), turns[i].looks[k].lacks, turns[i].looks[k].at_ms, &again_ms),
                            turns[i].looks[k].due);
            rows_expect_int(turns[i].row, again_ms, turns[i].looks[k].again_ms);
        }
        pod_shortages_free(shortages);
    }
}

static void a_cause_lasts_as_long_as_the_shortage(void **state)
{
    struct pod_shortages *shortages = pod_shortages_create();
    int64_t again_ms;

    (void)state;
    pod_shortages_set(shortages, STR("n/a"), STR("q"));
    rows_expect_str("nobody asked", pod_shortages_cause(shortages, STR("n/a")), STR(""));
    pod_shortages_step(shortages, STR("n/a"), true, 0, &again_ms);
    pod_shortages_set(shortages, STR("n/a"), STR("q"));
    pod_shortages_set(shortages, STR("n/a"), STR("r"));
    rows_expect_str("the last answer", pod_shortages_cause(shortages, STR("n/a")), STR("r"));
    rows_expect_str("of that owner", pod_shortages_cause(shortages, STR("n/b")), STR(""));
    pod_shortages_step(shortages, STR("n/a"), false, 10, &again_ms);
    rows_expect_str("all pods are there", pod_shortages_cause(shortages, STR("n/a")), STR(""));
    pod_shortages_free(shortages);
    pod_shortages_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shortage_is_in_the_status),   cmocka_unit_test(events_tell_why),
        cmocka_unit_test(what_is_no_list_tells_nothing), cmocka_unit_test(one_object_is_asked_about),
        cmocka_unit_test(events_are_listed_at_intervals), cmocka_unit_test(a_cause_lasts_as_long_as_the_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
