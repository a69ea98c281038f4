/* SPDX-License-Identifier: Apache-2.0 */
/* plan_health_test.c: what runs of a release, and what follows for the Stack and its rollout. */
#include "support/rows.h"

#include "support/observed_builder.h"

struct health_row {
    const char *row;
    const char *charts, *members, *next_members;
    const char *words;
    const char *actions, *states;
    const char *ready;   /* status and reason of the condition Ready */
    const char *message; /* part of its message */
};

static void check(const struct health_row *r)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, r->charts, r->members ? r->members : "");

    s.next_members = r->next_members ? r->next_members : s.members;
    scene_play(&s, r->words);

    const struct kube_condition *ready = kube_condition_find(&s.status.conditions, STR("Ready"));

    rows_expect_str(r->row, scene_actions(&s), str_of(r->actions));
    rows_expect_str(r->row, scene_states(&s), str_of(r->states));
    rows_expect_str(r->row, str_fmt(arena, "%s %.*s", condition_status_name(ready->status), STR_ARG(ready->reason)),
                    str_of(r->ready));
    if (str_find(ready->message, str_of(r->message), 0) < 0)
        fail_msg("%s\n  Ready says: %.*s\n  want: ... %s ...", r->row, STR_ARG(ready->message), r->message);
}

#define GONE "missing Deployment web: it does not exist"
#define GONE_AGAIN(revision, next) \
    "+11s; app db@a deployed " revision " " GONE "; plan; op db@a ours running; plan; op db@a ours succeeded; app db@a deployed " next "; plan; plan; "
#define CRASHES "unready Deployment web: 0 of 1 replica is available"
#define NEXT "\"overrides\":[{\"clusterIds\":[\"a\",\"b\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"n\":2}}}]}]"
#define WAVES(pause, failures) "\"rollout\":{" failures "\"waves\":[{\"name\":\"canary\",\"pause\":\"" pause "\",\"selector\":" \
                               "{\"matchLabels\":{\"id\":\"a\"}}}]}"

static void workloads_are_part_of_ready(void **state)
{
    static const struct health_row rows[] = {
        { "all are ready", "db", NULL, NULL, "cluster a; app db@a deployed 1; plan", "", "db@a=Deployed/Deployed",
          "True DeploymentSucceeded", "1 release is deployed" },
        { "one is not", "db", NULL, NULL, "cluster a; app db@a deployed 1 " CRASHES "; plan; +11s; plan", "", "db@a=NotReady/WorkloadsNotReady",
          "False WorkloadsNotReady", "db on a: Deployment web: 0 of 1 replica is available" },
        { "one never will be by itself", "db", NULL, NULL,
          "cluster a; app db@a deployed 1 broken Deployment web: the progress deadline is exceeded; plan", "",
          "db@a=Failed/WorkloadsNotReady", "False WorkloadsNotReady", "the progress deadline is exceeded" },
        { "it is again", "db", NULL, NULL,
          "cluster a; app db@a deployed 1 broken it is over; plan; app db@a deployed 1; plan", "", "db@a=Deployed/Deployed",
          "True DeploymentSucceeded", "" },
        { "a change is rolled out all the same", "db", NULL, NEXT,
          "cluster a; app db@a deployed 1 " CRASHES "; plan; change; app db@a deployed 1 old " CRASHES "; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "False Upgrading", "" },
        { "also where it failed", "db", NULL, NEXT,
          "cluster a; app db@a deployed 1 broken no; plan; change; app db@a deployed 1 old broken no; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "False Upgrading", "" },
        { "who needs it waits", "db api<db", NULL, NULL, "cluster a; app db@a deployed 1 " CRASHES "; plan; +11s; plan", "",
          "api@a=Waiting/WaitingForDependency db@a=NotReady/WorkloadsNotReady", "False WorkloadsNotReady", "Deployment web" },
        { "what somebody else changed is no better", "db", "\"drift\":\"Detect\"", NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign " CRASHES "; plan", "", "db@a=NotReady/WorkloadsNotReady",
          "False WorkloadsNotReady", "Deployment web" },
        { "what was deleted is reported", "db", NULL, NULL, "cluster a; app db@a deployed 1 " GONE "; plan; +11s; plan", "",
          "db@a=NotReady/WorkloadsNotReady", "False WorkloadsNotReady", "db on a: Deployment web: it does not exist" },
        { "and brought back where drift is corrected", "db", "\"drift\":\"Correct\"", NULL,
          "cluster a; app db@a deployed 1 " GONE "; plan; +11s; plan", "upgrade:db@a", "db@a=Deploying/Upgrading", "False Upgrading", "" },
        { "that is a correction, and the second one waits", "db", "\"drift\":\"Correct\"", NULL,
          "cluster a; app db@a deployed 1; plan; " GONE_AGAIN("1", "2") "+11s; app db@a deployed 2 " GONE "; plan", "", "db@a=Waiting/Drifted",
          "False Drifted", "Deployment web: it does not exist; it is corrected at" },
        { "so it ends where it does not help", "db", "\"drift\":\"Correct\"", NULL,
          "cluster a; app db@a deployed 1; plan; " GONE_AGAIN("1", "2") "+15s; " GONE_AGAIN("2", "3") "+30s; " GONE_AGAIN("3", "4") "+1m; "
          GONE_AGAIN("4", "5") "+2m; " GONE_AGAIN("5", "6") "app db@a deployed 6 " GONE "; +10m; plan", "", "db@a=Failed/DriftPersists",
          "False DriftPersists", "Deployment web: it does not exist, after 5 corrections within an hour" },
        { "what is not ready is not upgraded for that; its pods are read", "db", "\"drift\":\"Correct\"", NULL,
          "cluster a; app db@a deployed 1; plan; +11s; app db@a deployed 1 crashing Deployment web: no; plan", "read-health:db@a", "db@a=NotReady/WorkloadsNotReady",
          "False WorkloadsNotReady", "Deployment web" },
        { "it goes with the Stack", "db", NULL, NULL,
          "cluster a; app db@a deployed 1 " CRASHES "; plan; delete; plan", "uninstall:db@a", "db@a=Uninstalling/Uninstalling",
          "False Uninstalling", "" },
        { "of a cluster that is out of sight nothing is known", "db", NULL, NULL,
          "cluster a; app db@a deployed 1 " CRASHES "; plan; cluster a disconnected; plan", "", "db@a=Unknown/ClusterUnreachable",
          "Unknown ClusterUnreachable", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

#define OK_A "app db@a deployed 1; "
#define BAD_A "app db@a deployed 1 " CRASHES "; "

static void waves_wait_for_workloads(void **state)
{
    static const struct health_row rows[] = {
        { "what was deployed just now has five seconds", "db", WAVES("0s", ""), NULL,
          "cluster a; cluster b; plan; " BAD_A "plan; +4s; plan", "", "db@a=Deploying/WorkloadsStarting db@b=Waiting/WaitingForWave",
          "False WorkloadsStarting", "Deployment web" },
        { "unless it will never be ready by itself", "db", WAVES("0s", ""), NULL,
          "cluster a; cluster b; plan; app db@a deployed 1 broken no; plan", "", "db@a=Failed/WorkloadsNotReady db@b=Waiting/WaitingForWave",
          "False WorkloadsNotReady", "no" },
        { "the next wave waits while one is not ready", "db", WAVES("0s", ""), NULL,
          "cluster a; cluster b; plan; " BAD_A "plan; +11s; plan", "", "db@a=NotReady/WorkloadsNotReady db@b=Waiting/WaitingForWave",
          "False WorkloadsNotReady", "Deployment web" },
        { "and starts when it is", "db", WAVES("0s", ""), NULL, "cluster a; cluster b; plan; " BAD_A "plan; +11s; plan; " OK_A "plan",
          "upgrade:db@b", "db@a=Deployed/Deployed db@b=Deploying/Installing", "False Installing", "" },
        { "maxFailures lets it go on without", "db", WAVES("0s", "\"maxFailures\":1,"), NULL,
          "cluster a; cluster b; plan; " BAD_A "plan; +11s; plan", "upgrade:db@b",
          "db@a=NotReady/WorkloadsNotReady db@b=Deploying/Installing", "False WorkloadsNotReady", "" },
        { "while a wave pauses, one that is not ready is a failure", "db", WAVES("10m", "\"maxFailures\":0,"), NULL,
          "cluster a; cluster b; plan; " OK_A "plan; +5m; " BAD_A "plan", "",
          "db@a=NotReady/WorkloadsNotReady db@b=Waiting/RolloutStopped", "False WorkloadsNotReady", "" },
        { "that ends when it is ready; and the pause begins anew", "db", WAVES("10m", "\"maxFailures\":0,"), NULL,
          "cluster a; cluster b; plan; " OK_A "plan; +9m; " BAD_A "plan; " OK_A "plan; +9m; plan", "",
          "db@a=Deployed/Deployed db@b=Waiting/WaitingForWave", "False WaitingForWave", "it pauses until" },
        { "until it is over", "db", WAVES("10m", "\"maxFailures\":0,"), NULL,
          "cluster a; cluster b; plan; " OK_A "plan; +9m; " BAD_A "plan; " OK_A "plan; +10m; plan", "upgrade:db@b",
          "db@a=Deployed/Deployed db@b=Deploying/Installing", "False Installing", "" },
        { "after the pause it is no failure any more", "db", WAVES("10m", "\"maxFailures\":0,"), NULL,
          "cluster a; cluster b; plan; " OK_A "plan; +10m; plan; app db@b deployed 1; plan; " BAD_A "plan", "",
          "db@a=NotReady/WorkloadsNotReady db@b=Deployed/Deployed", "False WorkloadsNotReady", "" },
        { "where all was rolled out nothing waits for approval", "db",
          "\"rollout\":{\"waves\":[{\"name\":\"all\",\"approval\":\"Manual\",\"selector\":{\"matchLabels\":{\"id\":\"a\"}}}]}", NULL,
          "cluster a; plan; approve all; plan; " OK_A "plan; +11s; annotate approve -; " BAD_A "plan", "",
          "db@a=NotReady/WorkloadsNotReady", "False WorkloadsNotReady", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

#define GATED(pause) "\"security\":\"enabled\",\"rollout\":{\"waves\":[{\"name\":\"canary\",\"pause\":\"" pause \
                     "\",\"scans\":\"Required\",\"selector\":{\"matchLabels\":{\"id\":\"a\"}}}]}"
#define SCANNED(how) "cluster a; cluster b; plan; " OK_A "scan db@a " how "; plan"

static void waves_wait_for_scans(void **state)
{
    static const struct health_row rows[] = {
        { "nobody has asked yet", "db", GATED("0s"), NULL, SCANNED("unasked"), "", "db@a=Deployed/Deployed db@b=Waiting/WaitingForScans",
          "False WaitingForScans", "waiting for the scans of wave canary: NeuVector has not been asked about db on a since it was deployed" },
        { "what was read before is about the images of before", "db", GATED("0s"), NULL, SCANNED("early"), "",
          "db@a=Deployed/Deployed db@b=Waiting/WaitingForScans", "False WaitingForScans", "has not been asked about db on a" },
        { "a scan runs", "db", GATED("0s"), NULL, SCANNED("queued"), "", "db@a=Deployed/Deployed db@b=Waiting/WaitingForScans",
          "False WaitingForScans", "db on a: image docker.io/x:1 is being scanned" },
        { "all are within the thresholds", "db", GATED("0s"), NULL, SCANNED("passed"), "upgrade:db@b",
          "db@a=Deployed/Deployed db@b=Deploying/Installing", "False Installing", "" },
        { "one is not, which only somebody can change", "db", GATED("0s"), NULL, SCANNED("critical"), "",
          "db@a=Deployed/Deployed db@b=Waiting/RolloutStopped", "False RolloutStopped",
          "the rollout stopped after wave canary: db on a has 2 critical vulnerabilities (allowed: 0); the worst is CVE-2099-0001" },
        { "resuming forgives failures, not vulnerabilities", "db", GATED("0s"), NULL, SCANNED("critical") "; annotate resume 1; plan", "",
          "db@a=Deployed/Deployed db@b=Waiting/RolloutStopped", "False RolloutStopped", "" },
        { "a wave that does not ask for scans does not wait", "db", WAVES("0s", ""), NULL, SCANNED("critical"), "upgrade:db@b",
          "db@a=Deployed/Deployed db@b=Deploying/Installing", "False Installing", "" },
        { "a fixed version counts once it was read itself", "db", GATED("0s"), GATED("0s") "," NEXT,
          SCANNED("critical") "; change; plan; app db@a deployed 2; scan db@a early; plan", "",
          "db@a=Deployed/Deployed db@b=Waiting/WaitingForScans", "False WaitingForScans", "" },
        { "and then later waves get it", "db", GATED("0s"), GATED("0s") "," NEXT,
          SCANNED("critical") "; change; plan; app db@a deployed 2; scan db@a passed; plan", "upgrade:db@b",
          "db@a=Deployed/Deployed db@b=Deploying/Installing", "False Installing", "" },
        { "what has begun goes on", "db", GATED("0s"), NULL, SCANNED("passed") "; scan db@a critical; plan", "",
          "db@a=Deployed/Deployed db@b=Deploying/Installing", "False Installing", "" },
        { "a release without workloads has nothing to scan", "db", GATED("0s"), NULL, "cluster a; cluster b; plan; " OK_A "plan",
          "upgrade:db@b", "db@a=Deployed/Deployed db@b=Deploying/Installing", "False Installing", "" },
        { "scans do not shorten the pause", "db", GATED("10m"), NULL, SCANNED("passed"), "",
          "db@a=Deployed/Deployed db@b=Waiting/WaitingForWave", "False WaitingForWave", "it pauses until" },
        { "nor does the pause replace them, and it runs meanwhile", "db", GATED("10m"), NULL,
          SCANNED("queued") "; +10m; plan; scan db@a passed; plan", "upgrade:db@b", "db@a=Deployed/Deployed db@b=Deploying/Installing",
          "False Installing", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

/* Nothing but somebody's help ends these; a wait that ends by itself is no trouble. */
static void scans_that_nobody_will_do_stall_the_rollout(void **state)
{
    static const struct {
        const char *row, *words, *stalled;
    } rows[] = {
        { "the cluster has no NeuVector", SCANNED("unasked") "; scanner a NeuVectorNotFound; plan", "True/NeuVectorNotFound" },
        { "nobody may ask for the scan of an image", SCANNED("queued") "; scanner a NeuVectorPermissionDenied; plan",
          "True/NeuVectorPermissionDenied" },
        { "no scanner", SCANNED("queued") "; scanner a NeuVectorNoScanner; plan", "True/NeuVectorNoScanner" },
        { "the credentials are wrong", SCANNED("early") "; scanner a NeuVectorCredentialsRejected; plan",
          "True/NeuVectorCredentialsRejected" },
        { "it does not answer at present", SCANNED("unasked") "; scanner a NeuVectorUnreachable; plan", "False/NotStalled" },
        { "a scan runs", SCANNED("queued"), "False/NotStalled" },
        { "it was repaired", SCANNED("unasked") "; scanner a NeuVectorNotFound; plan; scanner a -; scan db@a passed; plan",
          "False/NotStalled" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db", GATED("0s"));
        const struct kube_condition *stalled;

        scene_play(&s, rows[i].words);
        stalled = kube_condition_find(&s.status.conditions, STR("Stalled"));
        rows_expect_str(rows[i].row, scene_condition(&s, "Stalled"), str_of(rows[i].stalled));
        if (stalled->status == CONDITION_TRUE)
            rows_expect_str("what to do", stalled->message,
                            STR("waiting for the scans of wave canary: the scanner cannot tell; repair it; to go on "
                                "without them, set the wave's scans to Ignored"));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(workloads_are_part_of_ready),
        cmocka_unit_test(waves_wait_for_workloads),
        cmocka_unit_test(waves_wait_for_scans),
        cmocka_unit_test(scans_that_nobody_will_do_stall_the_rollout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
