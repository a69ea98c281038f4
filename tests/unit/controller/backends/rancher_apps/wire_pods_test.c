/* SPDX-License-Identifier: Apache-2.0 */
/* wire_pods_test.c: what a release's pods say about why they are not ready. */
#include "support/rows.h"

#include "controller/backends/rancher_apps/answers.h"

#define POD(name, labels, status)                                                                  \
    "{\"metadata\":{\"name\":\"" name "\",\"labels\":{" labels "}},\"status\":{" status "}}"
#define OF(release) "\"app.kubernetes.io/instance\":\"" release "\""
#define WAITING(reason, message)                                                                   \
    "\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"running\":{}}},{\"state\":{"          \
    "\"waiting\":{\"reason\":\"" reason "\",\"message\":\"" message "\"}}}]"
#define NO_NODE(message)                                                                           \
    "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","         \
    "\"reason\":\"Unschedulable\",\"message\":\"" message "\"}]"
#define RUNS                                                                                       \
    "\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}],"          \
    "\"containerStatuses\":[{\"state\":{\"running\":{}}}]"

static const struct {
    const char *name, *pods, *cause;
} rows[] = {
    { "no pods say nothing", "", "" },
    { "pods that run say nothing", POD("web-0", OF("web"), RUNS), "" },
    { "an image that cannot be pulled", POD("web-0", OF("web"), WAITING("ImagePullBackOff", "no x")),
      "pod web-0: ImagePullBackOff: no x" },
    { "a container that is only beginning says nothing",
      POD("web-0", OF("web"), WAITING("ContainerCreating", "")), "" },
    { "a node that is not there, without the words on preemption",
      POD("web-0", OF("web"),
          NO_NODE("0/1 nodes are available: 1 Insufficient nvidia.com/gpu. no new claims to "
                  "deallocate, preemption: 0/1 nodes are available.")),
      "pod web-0: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu" },
    { "pods of one cause are told once",
      POD("web-0", OF("web"), NO_NODE("none.")) "," POD("web-1", OF("web"), NO_NODE("none.")),
      "2 pods such as web-0: none" },
    { "three causes, and how many more pods",
      POD("web-0", OF("web"), NO_NODE("a")) "," POD("web-1", OF("web"), NO_NODE("b")) ","
      POD("web-2", OF("web"), NO_NODE("c")) "," POD("web-3", OF("web"), NO_NODE("d")) ","
      POD("web-4", OF("web"), NO_NODE("b")),
      "pod web-0: a; 2 pods such as web-1: b; pod web-2: c; and 1 more" },
    { "another release of the namespace is not blamed",
      POD("web-db-0", OF("web-db"), NO_NODE("a")) "," POD("db-0", OF("db"), NO_NODE("a")), "" },
    { "where no label says whose it is, the name does",
      POD("web-0", "", NO_NODE("a")) "," POD("website-0", "", NO_NODE("b")), "pod web-0: a" },
    { "a container that ended badly",
      POD("web-0", OF("web"),
          "\"initContainerStatuses\":[{\"state\":{\"terminated\":{\"exitCode\":3,\"reason\":"
          "\"Error\"}}}]"),
      "pod web-0: Error: exit code 3" },
    { "bytes that no terminal should see are not shown",
      POD("web-0", OF("web"), NO_NODE("a\\u001b[31m")), "pod web-0: a\\x1b[31m" },
    { "what is no pod says nothing", "null,7,\"a\",{\"metadata\":{\"name\":7}}", "" },
};

static void causes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena *arena = arena_create(0);
        const struct request_outcome outcome = {
            .result = REQUEST_DONE,
            .text = str_fmt(arena, "{\"items\":[%s]}", rows[i].pods),
        };
        struct kept_answer answer = answer_pods(arena, STR("web"), &outcome);

        rows_expect_int(rows[i].name, answer.state, VERSION_FOUND);
        rows_expect_str(rows[i].name, answer.text, str_of(rows[i].cause));
        arena_free(arena);
    }
}

static void one_request_is_enough(void **state)
{
    struct arena *arena = arena_create(0);
    struct request_outcome outcome = { .result = REQUEST_REJECTED };
    struct kept_answer answer = answer_pods(arena, STR("web"), &outcome);

    (void)state;
    rows_expect_int("a rejection is not asked again", answer.state, VERSION_MISSING);
    rows_expect_str("and says nothing", answer.text, STR(""));
    outcome = (struct request_outcome){ .result = REQUEST_DONE, .text = STR_INIT("<html>") };
    answer = answer_pods(arena, STR("web"), &outcome);
    rows_expect_int("nor is garbage", answer.state, VERSION_MISSING);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes),
        cmocka_unit_test(one_request_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
