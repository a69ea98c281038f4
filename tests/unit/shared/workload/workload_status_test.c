/* SPDX-License-Identifier: Apache-2.0 */
/* workload_status_test.c: which phase and which conditions follow from what is known of the children. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "workload/workload_events.h"

static const struct workload_phases phases = { { STR_INIT("Pending"), STR_INIT("Creating"), STR_INIT("Running"),
    STR_INIT("Updating"), STR_INIT("Succeeded"), STR_INIT("Failed"), STR_INIT("Terminating") } };

#define READY "{\"replicas\":2,\"readyReplicas\":2}"
static const struct kube_condition valid = { .status = CONDITION_TRUE };
static const struct kube_condition invalid = { .status = CONDITION_FALSE, .reason = STR_INIT("InvalidSpec"),
                                               .message = STR_INIT("spec.image: Required value") };
static const struct kube_condition conflict = { .status = CONDITION_FALSE, .reason = STR_INIT("ChildConflict"),
                                                .message = STR_INIT("Service a is there") };

static const struct {
    const char *row;
    const char *was;
    bool deleted;
    const struct kube_condition *accepted, *applied;
    enum workload_resource controller;
    bool there;
    enum object_state state;
    const char *message, *cause, *status;
    const char *pod_cause;
    const char *phase, *ready, *reason, *says;
} rows[] = {
    { "nothing was made yet", "", false, &valid, NULL, WORKLOAD_DEPLOYMENTS, false, OBJECT_CURRENT, "", "", "{}", "",
      "Pending", "False", "Pending", "its objects are being made" },
    { "its pods start", "Pending", false, &valid, &valid, WORKLOAD_DEPLOYMENTS, true, OBJECT_IN_PROGRESS,
      "1 of 2 replicas is ready", "", "{\"replicas\":2,\"readyReplicas\":1}", "", "Creating", "False", "PodsNotReady",
      "1 of 2 replicas is ready" },
    { "all are ready", "Creating", false, &valid, &valid, WORKLOAD_DEPLOYMENTS, true, OBJECT_CURRENT, "", "", READY, "",
      "Running", "True", "ReconciliationSucceeded", "" },
    { "something changes again", "Running", false, &valid, &valid, WORKLOAD_DEPLOYMENTS, true, OBJECT_IN_PROGRESS, "m", "",
      READY, "", "Updating", "False", "PodsNotReady", "m" },
    { "a pod says why", "Running", false, &valid, &valid, WORKLOAD_DEPLOYMENTS, true, OBJECT_IN_PROGRESS, "m", "", READY,
      "ImagePullBackOff: no such image", "Updating", "False", "PodsNotReady", "Pod p: ImagePullBackOff: no such image" },
    { "a quota is told before the pods", "Running", false, &valid, &valid, WORKLOAD_DEPLOYMENTS, true, OBJECT_IN_PROGRESS, "m",
      "exceeded quota", READY, "ImagePullBackOff", "Updating", "False", "PodsNotReady", "Deployment a: exceeded quota" },
    { "its deadline has passed", "Updating", false, &valid, &valid, WORKLOAD_DEPLOYMENTS, true, OBJECT_FAILED,
      "the progress deadline is exceeded", "", READY, "", "Failed", "False", "PodsFailed",
      "the progress deadline is exceeded" },
    { "an object of it is somebody else's", "", false, &valid, &conflict, WORKLOAD_DEPLOYMENTS, false, OBJECT_CURRENT, "", "",
      "{}", "", "Failed", "False", "ChildConflict", "Service a is there" },
    { "it was never valid", "", false, &invalid, NULL, WORKLOAD_DEPLOYMENTS, false, OBJECT_CURRENT, "", "", "{}", "", "Failed",
      "False", "InvalidSpec", "spec.image: Required value" },
    { "it is not valid any more, and what runs stays", "Running", false, &invalid, &valid, WORKLOAD_DEPLOYMENTS, true,
      OBJECT_CURRENT, "", "", READY, "", "Running", "False", "InvalidSpec", "spec.image: Required value" },
    { "it is not valid any more, and the Job of before stays complete", "Succeeded", false, &invalid, &valid, WORKLOAD_JOBS, true,
      OBJECT_CURRENT, "", "", "{\"succeeded\":1,\"completionTime\":\"2026-01-01T00:00:00Z\"}", "", "Succeeded", "False",
      "InvalidSpec", "spec.image: Required value" },
    { "it is being deleted", "Running", true, &valid, &valid, WORKLOAD_DEPLOYMENTS, true, OBJECT_CURRENT, "", "", READY, "",
      "Terminating", "False", "Terminating", "it is being deleted" },
    { "a Job runs", "", false, &valid, &valid, WORKLOAD_JOBS, true, OBJECT_CURRENT, "", "", "{\"active\":1,\"ready\":1}", "",
      "Running", "True", "ReconciliationSucceeded", "" },
    { "a Job's pod cannot start", "", false, &valid, &valid, WORKLOAD_JOBS, true, OBJECT_CURRENT, "", "", "{\"active\":1,\"ready\":0}",
      "ImagePullBackOff", "Creating", "False", "PodsNotReady", "Pod p: ImagePullBackOff" },
    { "a Job that has started has no pods yet", "", false, &valid, &valid, WORKLOAD_JOBS, true, OBJECT_CURRENT, "", "",
      "{\"startTime\":\"2026-01-01T00:00:00Z\",\"ready\":0}", "", "Creating", "False", "PodsNotReady",
      "0 of 1 pods are ready or have succeeded; if that lasts, `kubectl describe job a-3c12fe54` shows why" },
    { "a Job's pod has succeeded, and the Job is not complete yet", "Running", false, &valid, &valid, WORKLOAD_JOBS, true,
      OBJECT_CURRENT, "", "", "{\"succeeded\":1,\"ready\":0}", "", "Running", "True", "ReconciliationSucceeded", "" },
    { "a StatefulSet makes no pods, as for a quota", "", false, &valid, &valid, WORKLOAD_STATEFUL_SETS, true, OBJECT_IN_PROGRESS,
      "0 of 2 replicas are created", "", "{\"replicas\":0}", "", "Creating", "False", "PodsNotReady",
      "0 of 2 replicas are created; if that lasts, `kubectl describe statefulset a` shows why" },
    { "a pod whose Secret is missing", "", false, &valid, &valid, WORKLOAD_STATEFUL_SETS, true, OBJECT_IN_PROGRESS,
      "0 of 2 replicas are ready", "", "{\"replicas\":2}", "CreateContainerConfigError: secret \"hugging-face\" not found", "Creating",
      "False", "PodsNotReady", "Pod p: CreateContainerConfigError: secret \"hugging-face\" not found" },
    { "a Job is complete", "Running", false, &valid, &valid, WORKLOAD_JOBS, true, OBJECT_CURRENT, "", "",
      "{\"completionTime\":\"2026-01-01T00:00:00Z\"}", "", "Succeeded", "True", "ReconciliationSucceeded", "" },
    { "a Job has failed", "Running", false, &valid, &valid, WORKLOAD_JOBS, true, OBJECT_FAILED, "BackoffLimitExceeded", "",
      "{}", "", "Failed", "False", "PodsFailed", "BackoffLimitExceeded" },
};

static void a_phase_follows_from_the_children(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children children = seen_children_new(arena, 2);
        struct kube_conditions conditions = kube_conditions_new(arena, 2);
        struct workload workload = { .name = STR("a"), .app = STR("x"), .label_value = STR("a"), .replicas = 1,
                                     .controller = rows[i].controller };
        struct strbuf out = strbuf_new(arena, 256);
        struct json_writer w = json_writer(&out);
        const struct kube_condition *ready;
        struct kind_observation seen = {
            .object = test_json(arena, str_fmt(arena, "{\"metadata\":{\"generation\":3},\"status\":{\"phase\":\"%s\"}}", rows[i].was)),
            .children = &children, .deleted = rows[i].deleted, .accepted = rows[i].accepted, .applied = rows[i].applied };

        if (rows[i].there)
            seen_children_push(&children,
                               (struct seen_child){ &workload_child_resources[rows[i].controller],
                                                    workload_controller_name(arena, &workload),
                                                    { .state = rows[i].state,
                                                      .message = str_of(rows[i].message),
                                                      .cause = str_of(rows[i].cause),
                                                      .replicas = 2,
                                                      .status = test_json(arena, str_of(rows[i].status)) } });
        if (*rows[i].pod_cause)
            seen_children_push(&children,
                               (struct seen_child){ &workload_child_resources[WORKLOAD_PODS],
                                                    STR("p"),
                                                    { .state = OBJECT_IN_PROGRESS,
                                                      .cause = str_of(rows[i].pod_cause),
                                                      .replicas = -1,
                                                      .status = test_json(arena, STR("{}")) } });
        json_open_object(&w);
        workload_summarize(arena, &seen, &workload, &phases, &w, &conditions);
        json_close_object(&w);
        ready = kube_condition_find(&conditions, STR("Ready"));
        rows_expect(rows[i].row, workload_reason_find(ready->reason) != NULL, "a table of reasons has its reason");
        rows_expect_str(rows[i].row, json_str(json_get(test_json(arena, strbuf_str(&out)), STR("phase"))), str_of(rows[i].phase));
        rows_expect_str(rows[i].row, str_of(condition_status_name(ready->status)), str_of(rows[i].ready));
        rows_expect_str(rows[i].row, ready->reason, str_of(rows[i].reason));
        rows_expect_str(rows[i].row, ready->message, str_of(rows[i].says));
        rows_expect_int(rows[i].row, ready->observed_generation, 3);
    }
}

/* The spec wants a Deployment and is not valid; what runs is the StatefulSet of the last valid one. */
static void what_runs_counts_while_the_spec_is_not_valid(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct seen_children children = seen_children_new(arena, 1);
    struct kube_conditions conditions = kube_conditions_new(arena, 2);
    struct workload workload = { .name = STR("a"), .app = STR("x"), .label_value = STR("a"), .controller = WORKLOAD_DEPLOYMENTS };
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);
    struct kind_observation seen = { .object = test_json(arena, STR("{\"status\":{\"phase\":\"Running\"}}")),
                                     .children = &children, .accepted = &invalid, .applied = &valid };
    struct workload_status status;

    (void)state;
    seen_children_push(&children, (struct seen_child){ &workload_child_resources[WORKLOAD_STATEFUL_SETS], STR("a"),
                                                       { .state = OBJECT_CURRENT, .status = test_json(arena, STR(READY)) } });
    json_open_object(&w);
    status = workload_summarize(arena, &seen, &workload, &phases, &w, &conditions);
    json_close_object(&w);
    rows_expect_int("it runs", status.phase, WORKLOAD_RUNNING);
    rows_expect_int("its pods", status.replicas, 2);
    rows_expect_int("and those that are ready", status.ready, 2);
}

/* --- what the volumes that there are allow --- */

static const struct {
    const char *row;
    enum workload_resource child;
    const char *has, *has_class;     /* of the child; "" = none */
    enum workload_resource controller;
    const char *wants, *wants_class;
    const char *field;               /* of the finding; "" = there is none */
} volumes[] = {
    { "as it was made", WORKLOAD_STATEFUL_SETS, "1Gi", "fast", WORKLOAD_STATEFUL_SETS, "1Gi", "fast", "" },
    { "more is for the claims", WORKLOAD_STATEFUL_SETS, "1Gi", "", WORKLOAD_STATEFUL_SETS, "2Gi", "", "" },
    { "volumes that come later", WORKLOAD_STATEFUL_SETS, "", "", WORKLOAD_STATEFUL_SETS, "1Gi", "", "spec.storage.enabled" },
    { "volumes that are not wanted any more, and were never made", WORKLOAD_STATEFUL_SETS, "1Gi", "", WORKLOAD_STATEFUL_SETS, "", "",
      "spec.storage.enabled" },
    { "another class", WORKLOAD_STATEFUL_SETS, "1Gi", "", WORKLOAD_STATEFUL_SETS, "1Gi", "fast", "spec.storage.storageClass" },
    { "a Deployment replaces the StatefulSet", WORKLOAD_STATEFUL_SETS, "1Gi", "", WORKLOAD_DEPLOYMENTS, "", "", "" },
    { "a claim with more", WORKLOAD_CLAIMS, "2Gi", "", WORKLOAD_STATEFUL_SETS, "1Gi", "", "spec.storage.size" },
    { "a claim that grows", WORKLOAD_CLAIMS, "1Gi", "standard", WORKLOAD_STATEFUL_SETS, "2Gi", "", "" },
    { "a claim that would be deleted", WORKLOAD_CLAIMS, "1Gi", "", WORKLOAD_DEPLOYMENTS, "", "", "spec.storage.enabled" },
};

static void volumes_stay_as_they_were_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(volumes) / sizeof(volumes[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children children = seen_children_new(arena, 1);
        struct kind_observation seen = { .children = &children };
        struct problems problems = problems_new(arena);
        struct workload workload = { .name = STR("a"), .controller = volumes[i].controller, .volume_size = str_of(volumes[i].wants),
                                     .storage_class = str_of(volumes[i].wants_class) };

        seen_children_push(&children, (struct seen_child){ &workload_child_resources[volumes[i].child], STR("a"),
                                                           { .storage = str_of(volumes[i].has),
                                                             .storage_class = str_of(volumes[i].has_class) } });
        workload_check_volumes(arena, &workload, &seen, &problems);
        rows_expect_str(volumes[i].row, problems.list.count ? problems.list.items[0].field : STR(""), str_of(volumes[i].field));
    }
}

static const struct {
    const char *name;
    bool valid;
} names[] = {
    { "a", true }, { "my-abi", true }, { "a23456789-123456789-123456789-123456789-123456789-1", true },
    { "a23456789-123456789-123456789-123456789-123456789-123", false }, { "1abc", false }, { "a.b", false }, { "", false },
};

static void names_fit_all_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct problems problems = problems_new(arena);

        workload_check_name(arena, str_of(names[i].name), &problems);
        rows_expect_int(names[i].name, problems.list.count, names[i].valid ? 0 : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_follows_from_the_children),
        cmocka_unit_test(volumes_stay_as_they_were_made),
        cmocka_unit_test(what_runs_counts_while_the_spec_is_not_valid),
        cmocka_unit_test(names_fit_all_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
