/* events_test.c: Events between two statuses, and what is kept of a Stack. */
#include "support/rows.h"

#include "controller/reconcile/events.h"
#include "controller/reconcile/kept_stack.h"
#include "controller/reconcile/notes.h"
#include "support/stack_builder.h"

static struct release_state release(const char *chart, const char *cluster,
                                    enum deployment_state state, const char *reason,
                                    const char *message)
{
    return (struct release_state){ .chart_name = str_of(chart), .cluster_id = str_of(cluster),
                                   .namespace_ = STR("n"), .release_name = str_of(chart),
                                   .state = state, .reason = str_of(reason),
                                   .message = str_of(message), .version = STR("1.2.3") };
}

static struct stack_status a_status(struct arena *arena, enum stack_phase phase)
{
    return (struct stack_status){ .phase = phase, .observed_generation = 1, .ready = 1,
                                  .releases = 2, .deployments = release_states_new(arena, 8) };
}

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

    struct verdict verdict = judge_json(arena, stack_json(&builder));
    struct stack_status before = a_status(arena, PHASE_DEPLOYING);
    struct stack_status after = a_status(arena, PHASE_DEPLOYING);

    (void)state;
    for (int i = 0; i < 5; i++) {
        const char *name = str_fmt(arena, "c%d", i).at;

        release_states_push(&before.deployments,
                            release("db", name, DEPLOYMENT_PENDING, "", ""));
        release_states_push(&after.deployments,
                            release("db", name, DEPLOYMENT_DEPLOYING, "Installing", "x"));
    }

    struct kube_events events =
        stack_events(arena, verdict.stack, STR("7"), &before, &after);

    rows_expect_str("many clusters are one Event", text_of(arena, &events),
                    STR("Installing(db 1.2.3 on c0, c1, c2 and 2 more clusters)"));
    events = stack_events(arena, verdict.stack, STR("7"), &after, &after);
    rows_expect_str("nothing changed, nothing is told", text_of(arena, &events), STR(""));

    before = after;
    after = a_status(arena, PHASE_FAILED);
    after.message = STR("db on c0: no");
    release_states_push(&after.deployments,
                        release("db", "c0", DEPLOYMENT_FAILED, "UpgradeFailed", "no"));
    after.deployments_omitted = 4;
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after);
    rows_expect_str("failures warn, and so does the phase", text_of(arena, &events),
                    STR("!UpgradeFailed(db 1.2.3 on c0: no)!Failed(db on c0: no)"));

    before = a_status(arena, PHASE_DEPLOYING);
    after = a_status(arena, PHASE_DEPLOYING);
    release_states_push(&after.deployments, release("app", "c0", DEPLOYMENT_WAITING,
                                                    "WaitingForDependency", "waiting for db"));
    release_states_push(&after.deployments, release("web", "c1", DEPLOYMENT_WAITING,
                                                    "WaitingForDependency", "waiting for db"));
    release_states_push(&after.deployments,
                        release("db", "c1", DEPLOYMENT_PENDING, "RepoDownloading", "x"));
    release_states_push(&after.deployments,
                        release("db", "c0", DEPLOYMENT_WAITING, "RepoDownloading", "x"));
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after);
    rows_expect_str("who waits for one thing is one Event; what passes by itself is none",
                    text_of(arena, &events),
                    STR("WaitingForDependency(app, web on c0, c1: waiting for db)"));

    after = a_status(arena, PHASE_DEPLOYING);
    release_states_push(&after.deployments,
                        release("db", "c0", DEPLOYMENT_WAITING, "WaitingForOperation", "o1 runs"));
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after);
    rows_expect_str("what somebody else does to a release is not told as ours",
                    text_of(arena, &events), STR("WaitingForOperation(db on c0: o1 runs)"));

    before = a_status(arena, PHASE_DELETING);
    release_states_push(&before.deployments,
                        release("db", "c0", DEPLOYMENT_UNINSTALLING, "", ""));
    after = a_status(arena, PHASE_DELETING);
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after);
    rows_expect_str("what is gone is told", text_of(arena, &events),
                    STR("Uninstalled(db on c0)"));
}

static void hold(struct stack_status *status, const char *reason, const char *message)
{
    kube_condition_set(&status->conditions,
                       (struct kube_condition){ .type = STR("Ready"), .status = CONDITION_FALSE,
                                                .reason = str_of(reason),
                                                .message = str_of(message) }, 1000);
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
        { "values that are being read are no news", DEPLOYMENT_WAITING, "ValuesUnread", "soon", "" },
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

        struct verdict verdict = judge_json(arena, stack_json(&builder));
        struct kube_events events = stack_events(arena, verdict.stack, STR("7"), &before, &after);

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

    struct verdict verdict = judge_json(arena, stack_json(&builder));

    before.conditions = kube_conditions_new(arena, 1);
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "WaitingForStack", "waiting for Stack base to be Ready");

    struct kube_events events = stack_events(arena, verdict.stack, STR("7"), &before, &after);

    rows_expect_str("that it waits for another", text_of(arena, &events),
                    STR("WaitingForStack(waiting for Stack base to be Ready)"));
    rows_expect("it is a milestone", events.items[0].milestone, "not");
    events = stack_events(arena, verdict.stack, STR("7"), &after, &after);
    rows_expect_str("once", text_of(arena, &events), STR(""));
    before = after;
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "StackCycle", "a -> b -> a");
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after);
    rows_expect_str("that it waits for ever", text_of(arena, &events), STR("!StackCycle(a -> b -> a)"));
    before = after;
    after.conditions = kube_conditions_new(arena, 1);
    hold(&after, "DeletionPaused", "set spec.paused to false");
    events = stack_events(arena, verdict.stack, STR("7"), &before, &after);
    rows_expect_str("that a pause keeps what is to go", text_of(arena, &events),
                    STR("!DeletionPaused(set spec.paused to false)"));
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
    static const struct str pairs[] = { STR_INIT("env"), STR_INIT("prod") };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf kept = strbuf_new(arena, 64);
        struct str text =
            str_fmt(arena,
                    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"generation\":3,"
                    "\"labels\":{\"x\":\"y\",\"herd.suse.com/env\":\"prod\"},\"managedFields\":[{}]},"
                    "\"spec\":{\"targets\":%s},\"status\":{\"phase\":\"Pending\"}}",
                    rows[i].targets);

        keep_stack(NULL, test_json(arena, text), &kept);
        rows_expect_int(rows[i].name,
                        kept_targets_pick(arena, kept_stack_targets(strbuf_str(&kept)), STR("c-1"),
                                          rows[i].internal, pairs, 2),
                        rows[i].picked);
        rows_expect_str(
            "the object", kept_stack_object(arena, strbuf_str(&kept)),
            str_fmt(arena,
                    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
                    "\"a\",\"namespace\":\"n\",\"generation\":3,\"labels\":{\"x\":\"y\","
                    "\"herd.suse.com/env\":\"prod\"},\"annotations\":{}},\"spec\":{\"targets\":%s},\"status\":{\"phase\":"
                    "\"Pending\"}}",
                    rows[i].targets));
    }
}

static void notes_wait_for_a_status(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(notes_free) struct notes *notes = notes_create();
    struct note note = { STR("u1"), STR("c0"), STR("db"), STR("Conflict"), STR("no"), false };
    struct stack_status status = a_status(arena, PHASE_DEPLOYING);
    uint64_t number;

    (void)state;
    release_states_push(&status.deployments, release("db", "c0", DEPLOYMENT_DEPLOYING, "", ""));
    status.deployments.items[0].requested_ms = 5;
    notes_add(notes, STR("n/a"), &note);
    notes_apply(notes, arena, STR("n/a"), STR("u2"), 9, &status);
    rows_expect_int("a namesake is another Stack", status.deployments.items[0].attempts, 0);
    number = notes_apply(notes, arena, STR("n/a"), STR("u1"), 9, &status);
    rows_expect_int("a refusal is an attempt", status.deployments.items[0].attempts, 1);
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
        { "what somebody must mend warns, though it only waits", DEPLOYMENT_WAITING,
          "ConfigMapNotFound", "!ConfigMapNotFound(db 1.2.3 on c0: x)" },
        { "waiting does not", DEPLOYMENT_WAITING, "WaitingForDependency",
          "WaitingForDependency(db 1.2.3 on c0: x)" },
        { "what lasts for a moment is not told", DEPLOYMENT_WAITING, "RepoDownloading", "" },
        { "a refusal has somebody else's reason, and warns", DEPLOYMENT_FAILED, "Forbidden",
          "!Forbidden(db 1.2.3 on c0: x)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder builder = a_stack(arena);

        with_chart(&builder, "db", "");

        struct verdict verdict = judge_json(arena, stack_json(&builder));
        struct stack_status before = a_status(arena, PHASE_DEPLOYING);
        struct stack_status after = a_status(arena, PHASE_DEPLOYING);

        release_states_push(&before.deployments,
                            release("db", "c0", DEPLOYMENT_PENDING, "", ""));
        release_states_push(&after.deployments,
                            release("db", "c0", rows[i].state, rows[i].reason, "x"));

        struct kube_events events =
            stack_events(arena, verdict.stack, STR("7"), &before, &after);

        rows_expect_str(rows[i].name, text_of(arena, &events), str_of(rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_say_what_changed),
        cmocka_unit_test(what_somebody_must_mend_warns),
        cmocka_unit_test(what_holds_the_stack_is_told),
        cmocka_unit_test(kept_stacks),
        cmocka_unit_test(notes_wait_for_a_status),
        cmocka_unit_test(reasons_have_their_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
