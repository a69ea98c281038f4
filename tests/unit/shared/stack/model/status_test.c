/* SPDX-License-Identifier: Apache-2.0 */
/* status_test.c: phase and conditions of a plan, and what is kept when there is no room for all. */
#include "support/rows.h"

#include "stack/crd/crd.h"
#include "stack/model/limits.h"
#include "support/observed_builder.h"
#include "support/stack_builder.h"

static void says_phase_and_conditions(void **state)
{
    static const struct {
        const char *row, *members, *words;
        const char *accepted, *ready, *reconciling, *stalled;
    } rows[] = {
        { "deployed", "", "cluster a; app db@a deployed 1; plan", "True/Valid",
          "True/DeploymentSucceeded", "False/Settled", "False/NotStalled" },
        { "going on", "", "cluster a; plan", "True/Valid", "False/Installing", "True/Installing",
          "False/NotStalled" },
        { "rejected", "", "cluster a; problem; plan", "False/Invalid", "False/Invalid",
          "False/Stalled", "True/Invalid" },
        { "failed for good", "\"onFailure\":\"Stop\"",
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan", "True/Valid",
          "False/InstallFailed", "False/Stalled", "True/InstallFailed" },
        { "failed and tried again", "",
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan", "True/Valid",
          "False/InstallFailed", "True/InstallFailed", "False/NotStalled" },
        { "out of sight", "", "cluster a; app db@a deployed 1; plan; cluster a disconnected; plan",
          "True/Valid", "Unknown/ClusterUnreachable", "True/ClusterUnreachable",
          "False/NotStalled" },
        { "targets unknown keep what was known", "",
          "cluster a; app db@a deployed 1; plan; clusters unknown; plan", "True/Valid",
          "True/DeploymentSucceeded", "False/Settled", "False/NotStalled" },
        { "deleted while somebody's operation runs", "",
          "cluster a; app db@a deployed 1; plan; stranger db@a o1 running; delete; plan; +54m; plan",
          "True/Valid", "False/WaitingForOperation", "True/WaitingForOperation", "False/NotStalled" },
        { "and when that never ends", "",
          "cluster a; app db@a deployed 1; plan; stranger db@a o1 running; delete; plan; +56m; plan; "
          "+9h; plan", "True/Valid", "False/OperationStuck", "False/Stalled", "True/OperationStuck" },
        { "until it does", "",
          "cluster a; app db@a deployed 1; plan; stranger db@a o1 running; delete; plan; +9h; plan; "
          "stranger db@a o1 succeeded; plan", "True/Valid", "False/Uninstalling",
          "True/Uninstalling", "False/NotStalled" },
        { "deleted while an uninstall never ends", "",
          "cluster a; app db@a deployed 1; plan; delete; plan; uninstall db@a o1 running; +16m; plan",
          "True/Valid", "False/OperationStuck", "False/Stalled", "True/OperationStuck" },
        { "deleted while an install never ends", "",
          "cluster a; plan; op db@a o1 running; delete; plan; +40m; plan", "True/Valid",
          "False/OperationStuck", "False/Stalled", "True/OperationStuck" },
        { "stuck, but not deleted, it goes on when Rancher ends it", "",
          "cluster a; plan; op db@a o1 running; plan; +40m; plan", "True/Valid",
          "False/OperationStuck", "True/OperationStuck", "False/NotStalled" },
        { "paused and deployed", "\"paused\":true", "cluster a; app db@a deployed 1; plan",
          "True/Valid", "True/DeploymentSucceeded", "False/Settled", "False/NotStalled" },
        { "paused and deleted", "\"paused\":true", "cluster a; app db@a deployed 1; plan; delete; plan",
          "True/Valid", "False/DeletionPaused", "False/Stalled", "True/DeletionPaused" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db", rows[i].members);

        scene_play(&s, rows[i].words);
        rows_expect_str(rows[i].row, scene_condition(&s, "Accepted"), str_of(rows[i].accepted));
        rows_expect_str(rows[i].row, scene_condition(&s, "Ready"), str_of(rows[i].ready));
        rows_expect_str(rows[i].row, scene_condition(&s, "Reconciling"),
                        str_of(rows[i].reconciling));
        rows_expect_str(rows[i].row, scene_condition(&s, "Stalled"), str_of(rows[i].stalled));
    }
    (void)state;
}

static void reports_nothing_that_was_not_observed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "\"security\":\"enabled\",\"observability\":\"disabled\"");

    scene_play(&s, "cluster a; app db@a deployed 1; plan");
    rows_expect_str("scans of what runs nothing are Unknown", scene_condition(&s, "SecurityScanned"),
                    STR("Unknown/NothingToScan"));
    rows_expect_str("what is disabled has no condition",
                    scene_condition(&s, "ObservabilityConfigured"), STR(""));
    (void)state;
}

static void explains_each_condition_that_it_gives(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "\"security\":\"enabled\",\"observability\":\"enabled\"");
    struct strbuf crd = strbuf_new(arena, 4096);

    crd_write(&crds[0], &crd);

    ptrdiff_t at = str_find(strbuf_str(&crd), STR("description: \"Accepted, "), 0);
    struct str rest = at < 0 ? STR("") : str_slice(strbuf_str(&crd), (size_t)at, crd.len);
    struct str line = str_slice(rest, 0, (size_t)str_find_char(rest, '\n', 0));

    scene_play(&s, "cluster a; app db@a deployed 1; plan; app db@a deployed 2 rolledback; plan");
    rows_expect("it drifted", scene_condition(&s, "Drifted").len > 0, "a condition");
    for (uint32_t i = 0; i < s.status.conditions.count; i++)
        rows_expect(s.status.conditions.items[i].type.at,
                    str_find(line, s.status.conditions.items[i].type, 0) >= 0,
                    "`kubectl explain stack.status.conditions` names it");
    (void)state;
}

static void counts_nothing_before_the_targets_are_known(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "");

    scene_play(&s, "clusters unknown; plan");
    rows_expect("an unknown count is absent", str_find(s.written, STR("\"clusters\""), 0) < 0,
                "no clusters");
    rows_expect("and so is what is ready", str_find(s.written, STR("\"ready\""), 0) < 0,
                "no ready");
    scene_play(&s, "clusters known; cluster a; app db@a deployed 1; plan; clusters unknown; plan");
    rows_expect("what was known once stands", str_find(s.written, STR("\"ready\":\"1/1\""), 0) >= 0,
                "ready 1/1");
    (void)state;
}

static void keeps_times_until_there_is_news(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "");
    int64_t began;
    struct str first;

    scene_play(&s, "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan");
    began = scene_state(&s, "db@a")->last_updated_ms;
    first = s.written;
    scene_play(&s, "+1s; plan");
    rows_expect_str("a failure that stands writes nothing", s.written, first);
    rows_expect_int("its time stands", scene_state(&s, "db@a")->last_updated_ms, began);
    rows_expect("it says when to look again", s.plan.wake_after_ms > 0, "wake_after_ms > 0");
    scene_play(&s, "+2m; plan");
    rows_expect("a new try is news", scene_state(&s, "db@a")->last_updated_ms > began, "newer");
    (void)state;
}

static void writes_nothing_when_it_starts_anew(void **state)
{
    static const char *const words[] = { "clusters unknown; plan", "cluster a not_synced; plan",
                                         "+1h; cluster a not_synced; plan" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db api<db", "");
        struct str first;

        scene_play(&s, "cluster a; app db@a deployed 1; app api@a deployed 1; plan");
        first = s.written;
        scene_play(&s, words[i]);
        rows_expect_str(words[i], s.written, first);
        rows_expect_str(words[i], scene_actions(&s), STR(""));
    }
    (void)state;
}

static struct stack_status a_large_status(struct arena *arena, uint32_t count)
{
    struct stack_status status = {
        .phase = PHASE_DEPLOYING,
        .message = STR("going on"),
        .counted = true,
        .ready = 1,
        .releases = count,
        .target_clusters = str_list_new(arena, 0),
        .deployments = release_states_new(arena, count),
        .conditions = kube_conditions_new(arena, 0),
    };

    for (uint32_t i = 0; i < count; i++)
        release_states_push(&status.deployments, (struct release_state){
            .chart_name = STR("qdrant"),
            .cluster_id = str_fmt(arena, "c-m-%05u", i),
            .namespace_ = STR("qdrant"),
            .release_name = STR("qdrant"),
            .state = i % 100 == 99 ? DEPLOYMENT_DEPLOYING : DEPLOYMENT_DEPLOYED,
            .reason = STR("Deployed"),
            .digest = STR("sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
            .requested_ms = i % 100 == 99 ? 1700000000000 : 0,
            .last_updated_ms = 1700000000000,
        });
    return status;
}

static void keeps_what_matters_within_its_budget(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_status status = a_large_status(arena, 3000);
    struct str text = stack_status_write(arena, &status);
    struct stack_status back;
    struct json json;
    struct error err = { 0 };
    uint32_t requested = 0;

    assert_int_equal(json_read(arena, text, &json_limits_default, &json, &err), 0);
    back = stack_status_read(arena, json);
    for (uint32_t i = 0; i < back.deployments.count; i++)
        requested += back.deployments.items[i].requested_ms != 0;
    rows_expect("it is within its budget", text.len <= LIMIT_STATUS_BYTES, "256 KiB");
    rows_expect("the budget is used", text.len > LIMIT_STATUS_BYTES / 2, "more than half");
    rows_expect_int("every request under way is kept", requested, 30);
    rows_expect_int("what is left out is counted",
                    back.deployments.count + back.deployments_omitted, 3000);
    rows_expect_str("ready is a string", json_str(json_get(json, STR("ready"))), STR("1/3000"));
    rows_expect_int("the worst comes first", back.deployments.items[0].state,
                    DEPLOYMENT_DEPLOYING);
    rows_expect_str("the summary counts all",
                    json_raw(json_get(json_get(json, STR("summary")), STR("Deployed"))),
                    STR("2970"));
    (void)state;
}

static void reads_what_others_wrote(void **state)
{
    static const char *const texts[] = {
        "null", "[]", "{\"deployments\":3,\"conditions\":{},\"targetClusters\":\"a\"}",
        "{\"deployments\":[1,null,{\"attempts\":-1,\"revision\":1e9,\"status\":\"?\"}],"
        "\"ready\":\"x/y\",\"phase\":7}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json json;
        struct error err = { 0 };
        struct stack_status status;

        assert_int_equal(json_read(arena, str_of(texts[i]), &json_limits_default, &json, &err), 0);
        status = stack_status_read(arena, json);
        rows_expect_int(texts[i], status.phase, PHASE_PENDING);
        rows_expect_int(texts[i], status.ready + status.releases, 0);
        if (status.deployments.count)
            rows_expect_int(texts[i], status.deployments.items[0].attempts, 0);
    }
    (void)state;
}

static void counts_what_it_does_not_list(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_status status = a_large_status(arena, 3000);
    struct str written = stack_status_write(arena, &status);
    uint32_t counts[DEPLOYMENT_REMOVED];
    struct error err = { 0 };
    struct json json;

    assert_int_equal(json_read(arena, written, &json_limits_default, &json, &err), 0);
    status = stack_status_read(arena, json);
    rows_expect("some are left out", status.deployments.count < 3000, "none");
    stack_status_summary(&status, counts);
    rows_expect_int("deployed", counts[DEPLOYMENT_DEPLOYED], 2970);
    rows_expect_int("deploying", counts[DEPLOYMENT_DEPLOYING], 30);
    written = stack_status_write(arena, &status);
    rows_expect("and it is written again",
                str_find(written, STR("\"summary\":{\"Deploying\":30,\"Deployed\":2970}"), 0) > 0,
                "another summary");
    (void)state;
}

/* The status of a Stack that no controller has seen is what the definition says, or absent. */
static void the_default_of_a_status_is_none(void **state)
{
    static const struct {
        const char *says, *members, *words;
    } rows[] = {
        { "it is installed", "", "cluster a; plan" },
        { "a release that is there is found", "", "cluster a; app db@a deployed 1; plan" },
        { "deleted before it was seen, its clusters are asked", "",
          "cluster a; app db@a deployed 1; delete; plan" },
        { "also where they are not known", "", "cluster a; clusters unknown; delete; plan" },
        { "a cluster out of sight may hold it", "", "cluster a; cluster a disconnected; delete; plan" },
        { "paused it is looked at", "\"paused\":true", "cluster a; plan" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        static const char *const blank[2] = { "{}", "{\"observedGeneration\":-1}" };
        struct scene scenes[2];

        for (int k = 0; k < 2; k++) {
            scenes[k] = a_scene(arena, "db", rows[i].members);
            scenes[k].written = str_of(blank[k]);
            scenes[k].before = stack_status_read(arena, test_json(arena, scenes[k].written));
            rows_expect(rows[i].says, stack_status_is_blank(&scenes[k].before), "it is blank");
            scene_play(&scenes[k], rows[i].words);
        }
        rows_expect_str(rows[i].says, scene_actions(&scenes[1]), scene_actions(&scenes[0]));
        rows_expect_str(rows[i].says, scenes[1].written, scenes[0].written);
        rows_expect(rows[i].says, str_find(scenes[1].written, STR("Generation\":-1"), 0) < 0,
                    "it is written over");
    }
}

/* What people and kstatus read of a Stack that does not get on. */
static void says_when_it_needs_help(void **state)
{
#define FAIL(n) "op db@a o" #n " failed no; log db@a o" #n " no; plan; +10m; plan; "
#define STOP "\"rollout\":{\"maxFailures\":0,\"maxConcurrentClusters\":1}"
    static const struct {
        const char *row, *members, *words, *phase, *ready, *reconciling, *stalled;
    } rows[] = {
        { "one failure is tried again", "", "cluster a; plan; op db@a o1 failed no; log db@a o1 no; plan",
          "Deploying", "False/InstallFailed", "True/InstallFailed", "False/NotStalled" },
        { "three of them are stalled, and nothing else is done", "",
          "cluster a; plan; " FAIL(1) FAIL(2) "op db@a o3 failed no; log db@a o3 no; plan",
          "Failed", "False/InstallFailed", "False/Stalled", "True/InstallFailed" },
        { "also while the fourth try runs", "", "cluster a; plan; " FAIL(1) FAIL(2) FAIL(3) "plan",
          "Failed", "False/Installing", "False/Stalled", "True/InstallFailed" },
        { "with something else to do it goes on", "",
          "cluster a; cluster b; plan; op db@b o7 running; " FAIL(1) FAIL(2)
          "op db@a o3 failed no; log db@a o3 no; plan",
          "Deploying", "False/InstallFailed", "True/InstallFailed", "True/InstallFailed" },
        { "a stopped rollout needs somebody", STOP,
          "cluster a; plan; op db@a o1 failed no; log db@a o1 no; plan; cluster b; plan",
          "Deploying", "False/InstallFailed", "True/InstallFailed", "True/RolloutStopped" },
        { "values that are missing may come", "", "cluster a; values db ConfigMapNotFound; plan; +299s; plan",
          "Pending", "False/ConfigMapNotFound", "True/ConfigMapNotFound", "False/NotStalled" },
        { "for five minutes", "", "cluster a; values db ConfigMapNotFound; plan; +300s; plan",
          "Pending", "False/ConfigMapNotFound", "True/ConfigMapNotFound", "True/ConfigMapNotFound" },
        { "a rejected token is told", "", "cluster a; rancher TokenRejected; plan", "Failed",
          "False/TokenRejected", "False/Stalled", "True/TokenRejected" },
        { "and its end, too", "", "cluster a; rancher TokenRejected; plan; rancher; plan", "Deploying",
          "False/Installing", "True/Installing", "False/NotStalled" },
        { "a removal that must be confirmed", "", "cluster a; app db@a deployed 1; plan; "
          "cluster a untargeted; plan; +5m; plan", "Deploying", "False/WaitingForConfirmation",
          "True/WaitingForConfirmation", "True/WaitingForConfirmation" },
        { "a Stack that is paused is told to be", "\"paused\":true", "cluster a; app db@a deployed 1; plan",
          "Deployed", "True/DeploymentSucceeded", "False/Settled", "False/NotStalled" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db", rows[i].members);

        scene_play(&s, rows[i].words);
        rows_expect_str(rows[i].row, str_of(stack_phase_name(s.status.phase)), str_of(rows[i].phase));
        rows_expect_str(rows[i].row, scene_condition(&s, "Ready"), str_of(rows[i].ready));
        rows_expect_str(rows[i].row, scene_condition(&s, "Reconciling"), str_of(rows[i].reconciling));
        rows_expect_str(rows[i].row, scene_condition(&s, "Stalled"), str_of(rows[i].stalled));
    }
}

static void a_stopped_rollout_tells_what_failed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", STOP);
    const struct kube_condition *stalled;

    (void)state;
    scene_play(&s, "cluster a; plan; op db@a o1 failed no; log db@a o1 boom; plan; cluster b; plan");
    stalled = kube_condition_find(&s.status.conditions, STR("Stalled"));
    rows_expect("the release and Helm's words", str_starts(stalled->message, STR("db on a: install")) &&
                str_find(stalled->message, STR("boom"), 0) > 0, stalled->message.at);
    rows_expect("and that the rollout stopped", str_find(stalled->message,
                STR("the rollout stopped: 1 cluster failed"), 0) > 0, stalled->message.at);
}

/* Releases that run, whatever is being done to them. */
static void ready_counts_what_runs(void **state)
{
    static const struct {
        const char *row, *words;
        uint32_t ready;
    } rows[] = {
        { "none is there", "cluster a; plan", 0 },
        { "all are", "cluster a; app db@a deployed 1; app api@a deployed 1; plan", 2 },
        { "an upgrade of healthy ones takes none away",
          "cluster a; app db@a deployed 1; app api@a deployed 1; plan; change; plan", 2 },
        { "nor does Helm at work on it", "cluster a; app db@a deployed 1; app api@a deployed 1; plan; change; "
          "plan; op db@a o1 running; app db@a pending 2 old; plan", 2 },
        { "a first install is not there yet", "cluster a; plan; op db@a o1 running; app db@a pending 1; plan", 0 },
        { "one that failed is not known to run", "cluster a; app db@a failed 2; app api@a deployed 1; plan", 1 },
        { "until what takes its place runs, who goes does", "cluster a; app db@a deployed 1; app old@a deployed 1; plan", 2 },
        { "somebody else's is none of ours", "cluster a; app db@a deployed 1 other; plan", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db api", "");

        s.next_members = "\"overrides\":[{\"clusterIds\":[\"a\"],\"charts\":[{\"name\":\"db\",\"version\":"
                         "\"1.2.3\",\"values\":{\"inline\":{\"n\":2}}}]}]";
        scene_play(&s, rows[i].words);
        rows_expect_int(rows[i].row, s.status.ready, rows[i].ready);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_when_it_needs_help),
        cmocka_unit_test(a_stopped_rollout_tells_what_failed),
        cmocka_unit_test(ready_counts_what_runs),
        cmocka_unit_test(says_phase_and_conditions),
        cmocka_unit_test(reports_nothing_that_was_not_observed),
        cmocka_unit_test(explains_each_condition_that_it_gives),
        cmocka_unit_test(counts_nothing_before_the_targets_are_known),
        cmocka_unit_test(keeps_times_until_there_is_news),
        cmocka_unit_test(writes_nothing_when_it_starts_anew),
        cmocka_unit_test(keeps_what_matters_within_its_budget),
        cmocka_unit_test(reads_what_others_wrote),
        cmocka_unit_test(counts_what_it_does_not_list),
        cmocka_unit_test(the_default_of_a_status_is_none),
    };

    return cmocka_run_group_tests_name("shared/stack/model/status", tests, NULL, NULL);
}
