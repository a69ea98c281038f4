/* SPDX-License-Identifier: Apache-2.0 */
/* events_test.c: Events between two statuses, and what is kept of a Stack. */
#include "support/rows.h"

#include "controller/reconcilers/stack/events.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "controller/reconcilers/stack/notes.h"
#include "support/stack_builder.h"

static struct release_state release(const char *chart, const char *cluster,
                                    enum deployment_state state, const char *reason,
                                    const char *message)
{
    return (struct release_state){ .chart_name = str_of(chart),
                                   .cluster_id = str_of(cluster),
                                   .namespace_ = STR("n"),
                                   .release_name = str_of(chart),
                                   .state = state,
                                   .reason = str_of(reason),
                                   .message = str_of(message),
                                   .version = STR("1.2.3") };
}

static struct stack_status a_status(struct arena *arena, enum stack_phase phase)
{
    return (struct stack_status){ .phase = phase,
                                  .observed_generation = 1,
                                  .ready = 1,
                                  .releases = 2,
                                  .deployments = release_states_new(arena, 8) };
}

/* Of a plan that has nothing to add to its status. */
static const struct plan kept_plan = { .kept = true };

static struct str text_of(struct arena *arena, const struct kube_events *events)
{
    struct strbuf out = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < events->count; i++)
        strbuf_fmt(&out, "%s%.*s(%.*s)", events->items[i].warning ? "!" : "",
                   STR_ARG(events->items[i].reason), STR_ARG(events->items[i].message));
    return strbuf_str(&out);
}

static void events_say_what_changed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder builder = a_stack(arena);

    with_chart(&builder, "db", "");

    struct verdict verdict = validate_json(arena, stack_json(&builder));
    struct stack_status before = a_status(arena, PHASE_DEPLOYING);
    struct stack_status after = a_status(arena, PHASE_DEPLOYING);

    (void)state;
    for (int i = 0; i < 5; i++) {
        const char *name = str_fmt(arena, "c%d", i).at;

        release_states_push(&before.deployments,
                            release("db", name, DEPLOYMENT_DEPLOYING, "Installing", "x"));
        release_states_push(&after.deployments,
                            release("db", name, DEPLOYMENT_DEPLOYED, "Deployed", ""));
    }

    struct kube_events events =
        stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);

    rows_expect_str("many clusters are one Event", text_of(arena, &events),
                    STR("Installed(db 1.2.3 on c0, c1, c2 and 2 more)"));
    events = stack_events(arena, verdict.stack, STR("7"), &after, &after, &kept_plan);
    rows_expect_str("nothing changed, nothing is told", text_of(arena, &events), STR(""));

    before = after;
    after = a_status(arena, PHASE_FAILED);
    after.message = STR("db on c0: no");
    release_states_push(&after.deployments,
                        release("db", "c0", DEPLOYMENT_FAILED, "UpgradeFailed", "no"));
    after.deployments_omitted = 4;
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("failures warn, and so does the phase", text_of(arena, &events),
                    STR("!UpgradeFailed(db 1.2.3 on c0: no)!Failed(db on c0: no)"));

    before = a_status(arena, PHASE_DEPLOYING);
    after = a_status(arena, PHASE_DEPLOYING);
    release_states_push(&after.deployments, release("app", "c0", DEPLOYMENT_WAITING,
                                                    "WaitingForWave", "waiting for db"));
    release_states_push(&after.deployments, release("web", "c1", DEPLOYMENT_WAITING,
                                                    "WaitingForWave", "waiting for db"));
    release_states_push(&after.deployments,
                        release("db", "c1", DEPLOYMENT_PENDING, "RepoDownloading", "x"));
    release_states_push(&after.deployments,
                        release("db", "c0", DEPLOYMENT_WAITING, "RepoDownloading", "x"));
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("who waits for one thing is one Event; what passes by itself is none",
                    text_of(arena, &events),
                    STR("WaitingForWave(app, web on c0, c1: waiting for db)"));

    after = a_status(arena, PHASE_DEPLOYING);
    release_states_push(&after.deployments,
                        release("db", "c0", DEPLOYMENT_WAITING, "WaitingForOperation", "o1 runs"));
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("what somebody else does to a release is not told as ours",
                    text_of(arena, &events), STR("WaitingForOperation(db on c0: o1 runs)"));

    before = a_status(arena, PHASE_DELETING);
    release_states_push(&before.deployments, release("db", "c0", DEPLOYMENT_UNINSTALLING, "", ""));
    after = a_status(arena, PHASE_DELETING);
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("what is gone is told", text_of(arena, &events), STR("Uninstalled(db on c0)"));
}

/* Before and after by release; what differs is told. */
struct turn {
    const char *chart, *cluster, *version;
    enum deployment_state was, is;
    bool installed; /* before, as after */
    const char *was_reason, *reason, *message;
};

static void push_turn(struct stack_status *status, const struct turn *turn, bool after)
{
    struct release_state of =
        release(turn->chart, turn->cluster, after ? turn->is : turn->was,
                after ? turn->reason : turn->was_reason, after ? turn->message : "");

    of.version = str_of(turn->version);
    of.digest = STR("sha256:1");
    of.installed = turn->installed || (after && turn->is == DEPLOYMENT_DEPLOYED);
    of.revision = turn->installed ? 2 : 0;
    of.last_known = of.state == DEPLOYMENT_UNKNOWN ? DEPLOYMENT_DEPLOYED : DEPLOYMENT_UNKNOWN;
    release_states_push(&status->deployments, of);
}

static void turns_of_releases_are_told(void **state)
{
    static const struct {
        const char *row;
        struct turn turns[3];
        const char *events;
    } rows[] = {
        { "a first install that is done is told, with version and clusters",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYING, DEPLOYMENT_DEPLOYED, false, "Installing",
              "Deployed", "" },
            { "db", "c1", "1.2.3", DEPLOYMENT_DEPLOYING, DEPLOYMENT_DEPLOYED, false, "Installing",
              "Deployed", "" } },
          "Installed(db 1.2.3 on c0, c1)" },
        { "an upgrade is not called an install",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYING, DEPLOYMENT_DEPLOYED, true, "Upgrading",
              "Deployed", "" } },
          "Upgraded(db 1.2.3 on c0)" },
        { "versions are told apart",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYING, DEPLOYMENT_DEPLOYED, false, "Installing",
              "Deployed", "" },
            { "db", "c1", "1.3.0", DEPLOYMENT_DEPLOYING, DEPLOYMENT_DEPLOYED, false, "Installing",
              "Deployed", "" } },
          "Installed(db 1.2.3 on c0)Installed(db 1.3.0 on c1)" },
        { "failures with different messages are told apart",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYING, DEPLOYMENT_FAILED, false, "Installing",
              "InstallFailed", "no memory" },
            { "db", "c1", "1.2.3", DEPLOYMENT_DEPLOYING, DEPLOYMENT_FAILED, false, "Installing",
              "InstallFailed", "no disk" } },
          "!InstallFailed(db 1.2.3 on c0: no memory)!InstallFailed(db 1.2.3 on c1: no disk)" },
        { "a second try is told by what comes of it",
          { { "db", "c0", "1.2.3", DEPLOYMENT_FAILED, DEPLOYMENT_DEPLOYING, false, "InstallFailed",
              "Upgrading", "try 2" } },
          "" },
        { "what the status shows while it lasts is not told",
          { { "db", "c0", "1.2.3", DEPLOYMENT_PENDING, DEPLOYMENT_DEPLOYING, false, "",
              "Installing", "installing version 1.2.3" },
            { "web", "c0", "1.2.3", DEPLOYMENT_PENDING, DEPLOYMENT_WAITING, false, "",
              "WaitingForDependency", "waiting for db on c0" },
            { "old", "c0", "1.2.3", DEPLOYMENT_DEPLOYED, DEPLOYMENT_UNINSTALLING, true, "Deployed",
              "Uninstalling", "" } },
          "" },
        { "a release that drifts warns",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYED, DEPLOYMENT_DEPLOYED, true, "Deployed",
              "Drifted", "revision 3 was made by somebody else" } },
          "!Drifted(db 1.2.3 on c0: revision 3 was made by somebody else)" },
        { "a drift that is undone at once was one, too",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYED, DEPLOYMENT_DEPLOYING, true, "Deployed",
              "Upgrading", "upgrading to version 1.2.3" } },
          "!Drifted(db 1.2.3 on c0: changed by somebody else; it is being corrected)" },
        { "and so was one whose correction waited for its turn or for an answer",
          { { "db", "c0", "1.2.3", DEPLOYMENT_WAITING, DEPLOYMENT_DEPLOYING, true,
              "AccessNotSynced", "Upgrading", "upgrading to version 1.2.3" } },
          "!Drifted(db 1.2.3 on c0: changed by somebody else; it is being corrected)" },
        { "a release that somebody set right is no upgrade of ours",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYED, DEPLOYMENT_DEPLOYED, true, "Drifted",
              "Deployed", "" } },
          "Deployed(db 1.2.3 on c0)" },
        { "a cluster that is connected again is one Event for all of its charts",
          { { "db", "c0", "1.2.3", DEPLOYMENT_UNKNOWN, DEPLOYMENT_DEPLOYED, true,
              "ClusterUnreachable", "Deployed", "" },
            { "web", "c0", "2.0.0", DEPLOYMENT_UNKNOWN, DEPLOYMENT_DEPLOYED, true,
              "ClusterUnreachable", "Deployed", "" } },
          "ClusterBack(db, web on c0)" },
        { "a cluster that was only not read yet was never away",
          { { "db", "c0", "1.2.3", DEPLOYMENT_UNKNOWN, DEPLOYMENT_DEPLOYED, true,
              "ClusterNotSynced", "Deployed", "" } },
          "" },
        { "a cluster that cannot be reached is one Event for all of its charts",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYED, DEPLOYMENT_UNKNOWN, true, "Deployed",
              "ClusterUnreachable", "no connection; last known Deployed" },
            { "web", "c0", "2.0.0", DEPLOYMENT_FAILED, DEPLOYMENT_UNKNOWN, true, "UpgradeFailed",
              "ClusterUnreachable", "no connection; last known Failed: no memory" } },
          "!ClusterUnreachable(db, web on c0: no connection)" },
        { "waiting for different things is one Event, which says whose message it has",
          { { "app", "c0", "1.0.0", DEPLOYMENT_PENDING, DEPLOYMENT_WAITING, false, "",
              "WaitingForWave", "waiting for db on c0" },
            { "app", "c1", "1.0.0", DEPLOYMENT_PENDING, DEPLOYMENT_WAITING, false, "",
              "WaitingForWave", "waiting for db on c1" },
            { "web", "c1", "1.0.0", DEPLOYMENT_PENDING, DEPLOYMENT_WAITING, false, "",
              "WaitingForWave", "waiting for app on c1" } },
          "WaitingForWave(app, web on c0, c1; app on c0: waiting for db on c0)" },
        { "a release that is adopted is told before anything is done to it",
          { { "db", "c0", "1.2.3", DEPLOYMENT_FAILED, DEPLOYMENT_PENDING, false, "ReleaseConflict",
              "Adopting", "taking over revision 3" } },
          "Adopting(db 1.2.3 on c0: taking over revision 3)" },
        { "a lock that is taken away is no upgrade",
          { { "db", "c0", "1.2.3", DEPLOYMENT_DEPLOYING, DEPLOYMENT_DEPLOYING, true,
              "ReleasePending", "RemovingLock", "removing revision 3" } },
          "RemovingLock(db 1.2.3 on c0: removing revision 3)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder builder = a_stack(arena);
        struct stack_status before = a_status(arena, PHASE_DEPLOYING);
        struct stack_status after = a_status(arena, PHASE_DEPLOYING);

        with_chart(&builder, "db", "");
        for (size_t k = 0; k < 3 && rows[i].turns[k].chart; k++) {
            push_turn(&before, &rows[i].turns[k], false);
            push_turn(&after, &rows[i].turns[k], true);
        }

        struct verdict verdict = validate_json(arena, stack_json(&builder));
        struct kube_events events =
            stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);

        rows_expect_str(rows[i].row, text_of(arena, &events), str_of(rows[i].events));
    }
}

enum { CHARTS = 300, CLUSTERS = 100, TURNS = 40 };

/* Every chart on every cluster waits; of chart `done` all releases are in state `at`. */
static struct stack_status many(struct arena *arena, uint32_t charts, uint32_t clusters,
                                const char *waits, uint32_t done, enum deployment_state at)
{
    struct stack_status status = a_status(arena, PHASE_DEPLOYING);

    for (uint32_t i = 0; i < charts * clusters; i++) {
        const char *chart = str_fmt(arena, "chart-%u", i % charts).at;
        const char *cluster = str_fmt(arena, "c-%u", i / charts).at;
        const char *message = str_fmt(arena, "waiting for chart-0 on %s", cluster).at;

        if (i % charts == done)
            release_states_push(&status.deployments,
                                release(chart, cluster, at,
                                        at == DEPLOYMENT_FAILED ? "InstallFailed" : "", message));
        else
            release_states_push(&status.deployments,
                                release(chart, cluster, DEPLOYMENT_WAITING, waits, message));
    }
    return status;
}

static uint32_t sent_of(struct kube_event_log *log, struct arena *arena,
                        const struct kube_events *events, const char *reason)
{
    uint32_t sent = 0;
    struct str name, body;

    for (uint32_t i = 0; i < events->count; i++)
        if (kube_event_step(log, &events->items[i], 1000, arena, &name, &body) != EVENT_DROP)
            sent += str_eq(events->items[i].reason, str_of(reason));
    return sent;
}

static void waiting_silences_no_outcome(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_event_log *log = kube_event_log_create(STR("herd"), STR("herd-1"));
    struct stack_builder builder = a_stack(arena);

    (void)state;
    with_chart(&builder, "db", "");

    struct verdict verdict = validate_json(arena, stack_json(&builder));
    struct stack_status before, after = many(arena, 20, 5, "", 0, DEPLOYMENT_DEPLOYING);

    /* What they wait for changes again and again. */
    for (int i = 0; i < TURNS; i++) {
        struct kube_events events;

        before = after;
        after = many(arena, 20, 5, i % 2 ? "WaitingForWave" : "WaitingForRollout", 0,
                     DEPLOYMENT_DEPLOYING);
        after.deployments.items[1].message = str_fmt(arena, "waiting, turn %d", i);
        events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
        (void)sent_of(log, arena, &events, "");
    }
    rows_expect("the waiting was too much", kube_event_dropped(log) > 0, "some was dropped");

    struct stack_status done = many(arena, 20, 5, "WaitingForWave", 0, DEPLOYMENT_DEPLOYED);
    struct stack_status failed = many(arena, 20, 5, "WaitingForWave", 0, DEPLOYMENT_FAILED);
    struct kube_events events =
        stack_events(arena, verdict.stack, STR("7"), &after, &done, &kept_plan);

    rows_expect_int("an install is told all the same", sent_of(log, arena, &events, "Installed"),
                    1);
    events = stack_events(arena, verdict.stack, STR("7"), &after, &failed, &kept_plan);
    rows_expect("so is a failure", sent_of(log, arena, &events, "InstallFailed") > 0, "it is");
    kube_event_log_free(log);
}

static void many_releases_are_few_events(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder builder = a_stack(arena);
    struct stack_status none = a_status(arena, PHASE_DEPLOYING);

    (void)state;
    with_chart(&builder, "db", "");

    struct verdict verdict = validate_json(arena, stack_json(&builder));
    struct stack_status all =
        many(arena, CHARTS, CLUSTERS, "WaitingForWave", 0, DEPLOYMENT_FAILED);
    struct kube_events events =
        stack_events(arena, verdict.stack, STR("7"), &none, &all, &kept_plan);

    rows_expect_int("a few failures, the rest of them, and who waits", events.count, 4 + 1 + 1);
    rows_expect_str("the rest name whose message it is", events.items[5].message,
                    STR("chart-0 1.2.3 on c-4, c-5, c-6 and 93 more; chart-0 on c-4: "
                        "waiting for chart-0 on c-4"));
    rows_expect_str("who waits", events.items[1].message,
                    STR("chart-1, chart-2, chart-3 and 296 more on c-0, c-1, c-2 and 97 "
                        "more; chart-1 on c-0: waiting for chart-0 on c-0"));
}

/* A Stack that leaves clusters with its releases on them. */
static void clusters_that_are_left_are_told(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder builder = a_stack(arena);
    struct stack_status before = a_status(arena, PHASE_DELETING);
    struct stack_status after = a_status(arena, PHASE_DELETING);
    struct plan plan = { .kept = true,
                         .gone = str_list_new(arena, 1),
                         .abandoned = str_list_new(arena, 2) };

    (void)state;
    with_chart(&builder, "db", "");
    release_states_push(&before.deployments,
                        release("db", "c0", DEPLOYMENT_UNINSTALLING, "Uninstalling", ""));
    release_states_push(&before.deployments,
                        release("web", "c0", DEPLOYMENT_WAITING, "WaitingForDependents", ""));
    release_states_push(&before.deployments,
                        release("db", "c2", DEPLOYMENT_UNINSTALLING, "Uninstalling", ""));
    str_list_push(&plan.abandoned, STR("c0"));
    str_list_push(&plan.abandoned, STR("c1"));
    str_list_push(&plan.gone, STR("c2"));

    struct verdict verdict = validate_json(arena, stack_json(&builder));
    struct kube_events events =
        stack_events(arena, verdict.stack, STR("7"), &before, &after, &plan);

    rows_expect_str("nothing is called uninstalled", text_of(arena, &events),
                    STR("!ClusterGone(c2 (db): Rancher has no such cluster any more; skipped, with "
                        "the releases of this Stack that were there)"
                        "!ClusterAbandoned(c0 (db, web), c1: left out by the annotation "
                        "herd.suse.com/abandon-clusters; the releases of this Stack there were not "
                        "removed, and have to be removed by hand)"));
}

static void what_stays_is_not_uninstalled(void **state)
{
    static const struct {
        const char *row;
        const char *reason;
        enum deployment_state was;
        const char *was_reason;
        enum deletion_policy policy;
        const char *events;
    } rows[] = {
        { "what was being removed is", "Deleting", DEPLOYMENT_UNINSTALLING, "Uninstalling",
          DELETION_DELETE, "Uninstalled(db on c0)" },
        { "also if that failed before", "Deleting", DEPLOYMENT_FAILED, "UninstallFailed",
          DELETION_DELETE, "Uninstalled(db on c0)" },
        { "what nobody removed is not", "Deleting", DEPLOYMENT_DEPLOYED, "Deployed",
          DELETION_DELETE, "" },
        { "nor what stays, though its removal had begun", "Orphaned", DEPLOYMENT_UNINSTALLING,
          "Uninstalling", DELETION_ORPHAN, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder builder = a_stack(arena);
        struct stack_status before = a_status(arena, PHASE_DELETING);
        struct stack_status after = a_status(arena, PHASE_DELETING);
        struct plan plan = { .torn_down = true, .reason = str_of(rows[i].reason) };

        with_chart(&builder, "db", "");
        release_states_push(&before.deployments,
                            release("db", "c0", rows[i].was, rows[i].was_reason, ""));

        struct stack stack = *validate_json(arena, stack_json(&builder)).stack;

        stack.spec.deletion_policy = rows[i].policy;
        stack.meta.finalizers = test_json(arena, STR("[\"" STACK_FINALIZER "\"]"));

        struct kube_events events = stack_events(arena, &stack, STR("7"), &before, &after, &plan);

        rows_expect_str(rows[i].row, text_of(arena, &events), str_of(rows[i].events));
        stack.meta.finalizers = test_json(arena, STR("[]"));
        events = stack_events(arena, &stack, STR("7"), &before, &after, &plan);
        rows_expect_str("nor what somebody let go by taking the finalizer away",
                        text_of(arena, &events), STR(""));
    }
}

/* What a status had no room to list was not seen to change. */
static void what_was_not_listed_is_no_news(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder builder = a_stack(arena);
    struct stack_status before = a_status(arena, PHASE_DEPLOYING);
    struct stack_status after = a_status(arena, PHASE_DEPLOYING);

    (void)state;
    with_chart(&builder, "db", "");
    before.deployments_omitted = 3;
    before.omitted[DEPLOYMENT_WAITING] = 1;
    before.omitted[DEPLOYMENT_DEPLOYED] = 1;
    before.omitted[DEPLOYMENT_PENDING] = 1;
    release_states_push(&after.deployments, release("a", "c0", DEPLOYMENT_WAITING,
                                                    "WaitingForWave", "waiting for db"));
    release_states_push(&after.deployments,
                        release("b", "c0", DEPLOYMENT_DEPLOYED, "Deployed", ""));
    release_states_push(&after.deployments,
                        release("c", "c0", DEPLOYMENT_FAILED, "InstallFailed", "x"));

    struct verdict verdict = validate_json(arena, stack_json(&builder));
    struct kube_events events =
        stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);

    rows_expect_str("only what nothing unlisted was before", text_of(arena, &events),
                    STR("!InstallFailed(c 1.2.3 on c0: x)"));

    /* Nobody sees which of them drifted, but that some did. */
    before = after;
    before.omitted[DEPLOYMENT_DEPLOYED] = 1;
    after.conditions = kube_conditions_new(arena, 1);
    kube_condition_set(&after.conditions,
                       (struct kube_condition){ .type = STR("Drifted"),
                                                .status = CONDITION_TRUE,
                                                .reason = STR("Drifted"),
                                                .message = STR("2 releases were changed") },
                       1000);
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("drift of what is not listed", text_of(arena, &events),
                    STR("!Drifted(2 releases were changed)"));
    before.conditions = after.conditions;
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("is told once", text_of(arena, &events), STR(""));
}

struct said {
    const char *type;
    enum condition_status status;
    const char *reason, *message;
};

static struct stack_status with_said(struct arena *arena, const struct said *said)
{
    struct stack_status status = a_status(arena, PHASE_DEPLOYED);

    status.conditions = kube_conditions_new(arena, 1);
    if (said->type)
        kube_condition_set(&status.conditions,
                           (struct kube_condition){ .type = str_of(said->type),
                                                    .status = said->status,
                                                    .reason = str_of(said->reason),
                                                    .message = str_of(said->message) },
                           1000);
    return status;
}

static void what_scans_and_metrics_come_to_is_told(void **state)
{
#define EXCEEDED(words)                                                                            \
    {                                                                                              \
        "SecurityScanned", CONDITION_FALSE, "ThresholdsExceeded", words                            \
    }
#define COMPLETED                                                                                  \
    {                                                                                              \
        "SecurityScanned", CONDITION_TRUE, "NeuVectorScanCompleted", "all"                         \
    }
#define MISSING(words)                                                                             \
    {                                                                                              \
        "ObservabilityConfigured", CONDITION_FALSE, "MetricsMissing", words                        \
    }
    static const struct {
        const char *row;
        struct said was, is;
        const char *events;
    } rows[] = {
        { "a vulnerability becomes known", COMPLETED, EXCEEDED("db has x"),
          "!ThresholdsExceeded(db has x)" },
        { "it is told once", EXCEEDED("db has x"), EXCEEDED("db has x"), "" },
        { "another one is news", EXCEEDED("db has x"), EXCEEDED("db has y"),
          "!ThresholdsExceeded(db has y)" },
        { "it is gone", EXCEEDED("db has x"), COMPLETED, "NeuVectorScanCompleted(all)" },
        { "the first scans are done", { 0 }, COMPLETED, "NeuVectorScanCompleted(all)" },
        { "that a scan runs is no news",
          COMPLETED,
          { "SecurityScanned", CONDITION_UNKNOWN, "ScanRunning", "db" },
          "" },
        { "what is told of clusters is not told of scans, too",
          COMPLETED,
          { "SecurityScanned", CONDITION_UNKNOWN, "ClusterUnreachable", "c0" },
          "" },
        { "metrics go missing",
          { "ObservabilityConfigured", CONDITION_TRUE, "PrometheusActive", "" },
          MISSING("db"),
          "!MetricsMissing(db)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder builder = a_stack(arena);

        with_chart(&builder, "db", "");

        struct verdict verdict = validate_json(arena, stack_json(&builder));
        struct stack_status before = with_said(arena, &rows[i].was);
        struct stack_status after = with_said(arena, &rows[i].is);
        struct kube_events events =
            stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);

        rows_expect_str(rows[i].row, text_of(arena, &events), str_of(rows[i].events));
    }
}

static void hold(struct stack_status *status, const char *reason, const char *message)
{
    kube_condition_set(&status->conditions,
                       (struct kube_condition){ .type = STR("Ready"),
                                                .status = CONDITION_FALSE,
                                                .reason = str_of(reason),
                                                .message = str_of(message) },
                       1000);
}

static void what_somebody_must_mend_warns(void **state)
{
    static const struct {
        const char *row;
        enum deployment_state at;
        const char *reason, *message, *events;
    } rows[] = {
        { "values that are not there", DEPLOYMENT_WAITING, "ConfigMapNotFound", "it is not there",
          "!ConfigMapNotFound(db 1.2.3 on c0: it is not there)" },
        { "a Secret that is not there", DEPLOYMENT_WAITING, "SecretNotFound", "it is not there",
          "!SecretNotFound(db 1.2.3 on c0: it is not there)" },
        { "values that are none", DEPLOYMENT_WAITING, "ValuesInvalid", "no map",
          "!ValuesInvalid(db 1.2.3 on c0: no map)" },
        { "values that may not be read", DEPLOYMENT_WAITING, "ValuesUnreadable", "forbidden",
          "!ValuesUnreadable(db 1.2.3 on c0: forbidden)" },
        { "values that are being read are no news", DEPLOYMENT_WAITING, "ValuesNotSynced", "soon",
          "" },
        { "a rollout that stopped", DEPLOYMENT_WAITING, "RolloutStopped", "1 cluster failed",
          "!RolloutStopped(db 1.2.3 on c0: 1 cluster failed)" },
        { "a turn that comes", DEPLOYMENT_WAITING, "WaitingForWave", "for wave one",
          "WaitingForWave(db 1.2.3 on c0: for wave one)" },
        { "an operation that hangs", DEPLOYMENT_DEPLOYING, "OperationStuck", "its pod waits",
          "!OperationStuck(db 1.2.3 on c0: its pod waits)" },
        { "an operation that does not begin", DEPLOYMENT_UNINSTALLING, "OperationNotStarted",
          "its pod waits", "!OperationNotStarted(db on c0: its pod waits)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder builder = a_stack(arena);
        struct stack_status before = a_status(arena, PHASE_PENDING);
        struct stack_status after = a_status(arena, PHASE_PENDING);

        with_chart(&builder, "db", "");
        release_states_push(&after.deployments,
                            release("db", "c0", rows[i].at, rows[i].reason, rows[i].message));

        struct verdict verdict = validate_json(arena, stack_json(&builder));
        struct kube_events events =
            stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);

        rows_expect_str(rows[i].row, text_of(arena, &events), str_of(rows[i].events));
    }
}

static void what_holds_the_stack_is_told(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder builder = a_stack(arena);
    struct stack_status before = a_status(arena, PHASE_PENDING);
    struct stack_status after = a_status(arena, PHASE_PENDING);

    (void)state;
    with_chart(&builder, "db", "");

    struct verdict verdict = validate_json(arena, stack_json(&builder));

    before.conditions = kube_conditions_new(arena, 1);
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "WaitingForStack", "waiting for Stack base to be Ready");

    struct kube_events events =
        stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);

    rows_expect_str("that it waits for another", text_of(arena, &events),
                    STR("WaitingForStack(waiting for Stack base to be Ready)"));
    rows_expect_int("it is a milestone", events.items[0].kind, EVENT_MILESTONE);
    events = stack_events(arena, verdict.stack, STR("7"), &after, &after, &kept_plan);
    rows_expect_str("once", text_of(arena, &events), STR(""));
    before = after;
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "StackCycle", "a -> b -> a");
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("that it waits for ever", text_of(arena, &events),
                    STR("!StackCycle(a -> b -> a)"));
    before = after;
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "DeletionPaused", "set spec.paused to false");
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("that a pause keeps what is to go", text_of(arena, &events),
                    STR("!DeletionPaused(set spec.paused to false)"));

    struct plan paused = { .reason = STR("Paused") };

    before = after;
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "DeploymentSucceeded", "the Stack is paused");
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &paused);
    rows_expect_str("that it is paused, though all is deployed", text_of(arena, &events),
                    STR("Paused(the Stack is paused)"));
    before = after;
    after = a_status(arena, PHASE_DELETING);
    after.message = STR("cluster c0 cannot be reached");
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "ClusterUnreachable", "cluster c0 cannot be reached");
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("that a cluster keeps it from being deleted", text_of(arena, &events),
                    STR("!ClusterUnreachable(cluster c0 cannot be reached)"));
    before = after;
    after = a_status(arena, PHASE_FAILED);
    after.message = STR("a -> b -> a");
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "StackCycle", "a -> b -> a");
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);
    rows_expect_str("the phase does not repeat it", text_of(arena, &events),
                    STR("!StackCycle(a -> b -> a)"));
}

static void kept_stacks(void **state)
{
    static const struct {
        const char *name;
        const char *targets;
        bool internal;
        bool picked;
    } rows[] = {
        { "by id", "{\"clusterIds\":[\"c-1\"]}", false, true },
        { "by label", "{\"selector\":{\"matchLabels\":{\"env\":\"prod\"}}}", false, true },
        { "by another label", "{\"selector\":{\"matchLabels\":{\"env\":\"dev\"}}}", false, false },
        { "an empty selector picks nothing", "{\"selector\":{}}", false, false },
        { "labels never pick Rancher's own cluster",
          "{\"selector\":{\"matchLabels\":{\"env\":\"prod\"}}}", true, false },
        { "no targets", "{}", false, false },
    };
    static const struct label labels[] = { { STR_INIT("env"), STR_INIT("prod") } };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf kept = strbuf_new(arena, 64);
        struct error err = { 0 };
        struct json back;
        struct str text = str_fmt(
            arena,
            "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"generation\":3,"
            "\"labels\":{\"x\":\"y\",\"herd.suse.com/env\":\"prod\"},\"managedFields\":[{}]},"
            "\"spec\":{\"targets\":%s},\"status\":{\"phase\":\"Pending\"}}",
            rows[i].targets);

        keep_stack(NULL, test_json(arena, text), &kept);
        rows_expect_int(rows[i].name,
                        kept_targets_pick(arena, kept_stack_targets(strbuf_str(&kept)), STR("c-1"),
                                          rows[i].internal, labels, 1),
                        rows[i].picked);
        assert_int_equal(kept_stack_read(arena, strbuf_str(&kept), &back, &err), 0);
        text =
            str_fmt(arena,
                    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{"
                    "\"name\":\"a\",\"namespace\":\"n\",\"generation\":3,\"labels\":{\"x\":\"y\","
                    "\"herd.suse.com/env\":\"prod\"},\"annotations\":{}},"
                    "\"spec\":{\"targets\":%s},\"status\":{\"phase\":\"Pending\"}}",
                    rows[i].targets);
        rows_expect("the object", json_equal(back, test_json(arena, text)), "as it was");
    }
}

static void notes_wait_for_a_status(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(notes_free) struct notes *notes = notes_create();
    struct note note = { .uid = STR("u1"),
                         .cluster_id = STR("c0"),
                         .chart_name = STR("db"),
                         .reason = STR("Conflict"),
                         .message = STR("no") };
    struct stack_status status = a_status(arena, PHASE_DEPLOYING);
    uint64_t number;

    (void)state;
    release_states_push(&status.deployments, release("db", "c0", DEPLOYMENT_DEPLOYING, "", ""));
    status.deployments.items[0].requested_ms = 5;
    notes_add(notes, STR("n/a"), &note);
    notes_apply(notes, arena, STR("n/a"), STR("u2"), 9, &status);
    rows_expect_int("a namesake is another Stack", status.deployments.items[0].attempts, 0);
    number = notes_apply(notes, arena, STR("n/a"), STR("u1"), 9, &status);
    rows_expect_int("a rejection is an attempt", status.deployments.items[0].attempts, 1);
    rows_expect_int("and nothing is under way", status.deployments.items[0].requested_ms, 0);
    notes_add(notes, STR("n/a"), &note);
    notes_drop(notes, STR("n/a"), number);
    notes_apply(notes, arena, STR("n/a"), STR("u1"), 9, &status);
    rows_expect_int("what came later stays", status.deployments.items[0].attempts, 2);
    notes_forget(notes, STR("n/a"));
    notes_apply(notes, arena, STR("n/a"), STR("u1"), 9, &status);
    rows_expect_int("what is forgotten does not", status.deployments.items[0].attempts, 2);
}

static void reasons_have_their_type(void **state)
{
    static const struct {
        const char *name;
        enum deployment_state state;
        const char *reason;
        const char *want;
    } rows[] = {
        { "what somebody must fix warns, though it only waits", DEPLOYMENT_WAITING,
          "ConfigMapNotFound", "!ConfigMapNotFound(db 1.2.3 on c0: x)" },
        { "waiting does not", DEPLOYMENT_WAITING, "WaitingForWave",
          "WaitingForWave(db 1.2.3 on c0: x)" },
        { "what lasts for a moment is not told", DEPLOYMENT_WAITING, "RepoDownloading", "" },
        { "a rejection has somebody else's reason, and warns", DEPLOYMENT_FAILED, "Forbidden",
          "!Forbidden(db 1.2.3 on c0: x)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder builder = a_stack(arena);

        with_chart(&builder, "db", "");

        struct verdict verdict = validate_json(arena, stack_json(&builder));
        struct stack_status before = a_status(arena, PHASE_DEPLOYING);
        struct stack_status after = a_status(arena, PHASE_DEPLOYING);

        release_states_push(&before.deployments, release("db", "c0", DEPLOYMENT_PENDING, "", ""));
        release_states_push(&after.deployments,
                            release("db", "c0", rows[i].state, rows[i].reason, "x"));

        struct kube_events events =
            stack_events(arena, verdict.stack, STR("7"), &before, &after, &kept_plan);

        rows_expect_str(rows[i].name, text_of(arena, &events), str_of(rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_scans_and_metrics_come_to_is_told),
        cmocka_unit_test(events_say_what_changed),
        cmocka_unit_test(turns_of_releases_are_told),
        cmocka_unit_test(waiting_silences_no_outcome),
        cmocka_unit_test(many_releases_are_few_events),
        cmocka_unit_test(clusters_that_are_left_are_told),
        cmocka_unit_test(what_stays_is_not_uninstalled),
        cmocka_unit_test(what_was_not_listed_is_no_news),
        cmocka_unit_test(what_somebody_must_mend_warns),
        cmocka_unit_test(what_holds_the_stack_is_told),
        cmocka_unit_test(kept_stacks),
        cmocka_unit_test(notes_wait_for_a_status),
        cmocka_unit_test(reasons_have_their_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
