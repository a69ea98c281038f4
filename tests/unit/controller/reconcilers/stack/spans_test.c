/* SPDX-License-Identifier: Apache-2.0 */
/* spans_test.c: which operations and rollouts end between two statuses, and how they are told. */
#include "support/rows.h"

#include "controller/reconcilers/stack/spans.h"
#include "support/stack_builder.h"

#define TRACE "11111111111111111111111111111111"
#define PARENT "2222222222222222"

enum { NOW_MS = 1700000060000, BEGUN_MS = 1700000000000, ASKED_MS = 1700000030000 };

/* A release of the chart "db". */
struct side {
    enum deployment_state state; /* REMOVED: it is not listed */
    int64_t requested_ms;
    uint32_t attempts, revision;
    const char *reason;
};

static const struct row {
    const char *name;
    struct side was, is;
    const char *told; /* NAME[!] STATUS SECONDS */
} rows[] = {
    { "an installation", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_DEPLOYED, 0, 0, 1, "" }, "install Deployed 30" },
    { "an upgrade", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 1, "" },
      { DEPLOYMENT_NOT_READY, 0, 0, 2, "" }, "upgrade! NotReady 30" },
    { "one that failed", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_FAILED, 0, 1, 0, "" }, "install! Failed 30" },
    { "one that failed and is tried again", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_DEPLOYING, NOW_MS, 1, 0, "" }, "install! Deploying 30" },
    { "one that came to an end out of sight", { DEPLOYMENT_UNKNOWN, ASKED_MS, 0, 1, "" },
      { DEPLOYMENT_DEPLOYED, 0, 0, 2, "" }, "upgrade Deployed 30" },
    { "what is installed starts", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_DEPLOYING, 0, 0, 1, "WorkloadsStarting" }, "install Deploying 30" },
    { "it goes on to start", { DEPLOYMENT_DEPLOYING, 0, 0, 1, "WorkloadsStarting" },
      { DEPLOYMENT_DEPLOYING, 0, 0, 1, "WorkloadsStarting" }, "" },
    { "it has started", { DEPLOYMENT_DEPLOYING, 0, 0, 1, "WorkloadsStarting" },
      { DEPLOYMENT_DEPLOYED, 0, 0, 1, "" }, "workloads Deployed 15" },
    { "it does not start", { DEPLOYMENT_DEPLOYING, 0, 0, 1, "WorkloadsStarting" },
      { DEPLOYMENT_NOT_READY, 0, 0, 1, "" }, "workloads! NotReady 15" },
    { "one that goes on", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" }, "" },
    { "one that goes on out of sight", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_UNKNOWN, ASKED_MS, 0, 0, "" }, "" },
    { "one that begins", { DEPLOYMENT_PENDING, 0, 0, 0, "" },
      { DEPLOYMENT_DEPLOYING, NOW_MS, 0, 0, "" }, "" },
    { "a repository", { DEPLOYMENT_WAITING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_WAITING, 0, 0, 0, "" }, "" },
    { "a removal", { DEPLOYMENT_UNINSTALLING, ASKED_MS, 0, 1, "" },
      { DEPLOYMENT_REMOVED, 0, 0, 0, "" }, "uninstall Removed 30" },
    { "an installation that nobody wants any more", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" },
      { DEPLOYMENT_REMOVED, 0, 0, 0, "" }, "" },
    { "a lock that is removed", { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 1, "RemovingLock" },
      { DEPLOYMENT_PENDING, 0, 0, 1, "" }, "unlock Pending 30" },
};

static const struct stack *traced_stack(struct arena *arena, const char *flags)
{
    struct stack_builder builder = a_stack(arena);
    struct str json;
    struct strbuf out = strbuf_new(arena, 1024);
    ptrdiff_t at;

    with_chart(&builder, "db", "");
    json = stack_text(&builder);
    at = str_find(json, STR("\"metadata\":{"), 0);
    assert_true(at >= 0);
    at += (ptrdiff_t)strlen("\"metadata\":{");
    strbuf_fmt(&out,
               "%.*s\"uid\":\"u\",\"generation\":3,\"annotations\":{"
               "\"herd.suse.com/traceparent\":\"00-" TRACE "-" PARENT "-%s\"},%.*s",
               (int)at, json.at, flags, STR_ARG(str_slice(json, (size_t)at, json.len)));
    return validate_json(arena, test_json(arena, strbuf_str(&out))).stack;
}

static struct stack_status a_status(struct arena *arena, enum stack_phase phase,
                                    const struct side *side)
{
    struct stack_status status = { .phase = phase,
                                   .observed_generation = 3,
                                   .deployments = release_states_new(arena, 1) };

    if (side && side->state != DEPLOYMENT_REMOVED)
        release_states_push(&status.deployments,
                            (struct release_state){ .chart_name = STR("db"),
                                                    .cluster_id = STR("c1"),
                                                    .namespace_ = STR("n"),
                                                    .release_name = STR("r"),
                                                    .state = side->state,
                                                    .reason = str_of(side->reason),
                                                    .message = STR("why"),
                                                    .version = STR("1.2.3"),
                                                    .requested_ms = side->requested_ms,
                                                    .last_updated_ms = NOW_MS - 15000,
                                                    .revision = side->revision,
                                                    .installed = side->revision > 0,
                                                    .attempts = side->attempts,
                                                    .last_known = DEPLOYMENT_DEPLOYING });
    return status;
}

static struct str attribute(const struct otlp_span *span, const char *key)
{
    for (uint32_t i = 0; i < span->attribute_count; i++)
        if (strcmp(span->attributes[i].key, key) == 0)
            return span->attributes[i].text;
    return STR("");
}

static struct str told(struct arena *arena, const struct otlp_spans *spans)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < spans->count; i++) {
        const struct otlp_span *span = &spans->items[i];
        struct str status = attribute(span, "herd.status");
        struct str phase = attribute(span, "herd.phase");

        strbuf_fmt(&out, "%s%s%s %.*s%.*s %d", i ? "; " : "", span->name, span->failed ? "!" : "",
                   STR_ARG(status), STR_ARG(phase),
                   (int)((span->end_us - span->start_us) / 1000000));
        rows_expect_str("the trace", span->context.trace_id, STR(TRACE));
    }
    return strbuf_str(&out);
}

static void operations_are_told_when_they_are_over(void **state)
{
    const struct plan plan = { .kept = true };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct stack *stack = traced_stack(arena, "01");
        struct stack_status before = a_status(arena, PHASE_DEPLOYING, &rows[i].was);
        struct stack_status after = a_status(arena, PHASE_DEPLOYING, &rows[i].is);
        struct otlp_spans spans = stack_spans(arena, stack, &before, &after, &plan, NOW_MS);
        struct otlp_spans again = stack_spans(arena, stack, &before, &after, &plan, NOW_MS + 5000);

        rows_expect_str(rows[i].name, told(arena, &spans), str_of(rows[i].told));
        if (spans.count)
            rows_expect_str("told twice, it is one", again.items[0].context.span_id,
                            spans.items[0].context.span_id);
    }
}

static void what_is_left_behind_is_not_uninstalled(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct side was = { DEPLOYMENT_UNINSTALLING, ASKED_MS, 0, 1, "" };
    struct plan plan = { .gone = str_list_new(arena, 1) };
    struct stack_status before = a_status(arena, PHASE_DEPLOYING, &was);
    struct stack_status after = a_status(arena, PHASE_DEPLOYING, NULL);
    struct otlp_spans spans;

    (void)state;
    str_list_push(&plan.gone, STR("c1"));
    spans = stack_spans(arena, traced_stack(arena, "01"), &before, &after, &plan, NOW_MS);
    rows_expect_int("nothing is told", spans.count, 0);
}

static const struct ending {
    const char *name;
    const char *flags;
    int64_t seen; /* generation before */
    int64_t started_ms;
    enum stack_phase before, after;
    bool torn_down;
    const char *told;
} rollouts[] = {
    { "a rollout that ends", "01", 3, BEGUN_MS, PHASE_DEPLOYING, PHASE_DEPLOYED, false,
      "rollout Deployed 60" },
    { "one that fails", "01", 3, BEGUN_MS, PHASE_DEPLOYING, PHASE_FAILED, false,
      "rollout! Failed 60" },
    { "one that goes on", "01", 3, BEGUN_MS, PHASE_DEPLOYING, PHASE_DEPLOYING, false, "" },
    { "a change that needs nothing", "01", 2, 0, PHASE_DEPLOYED, PHASE_DEPLOYED, false,
      "rollout Deployed 0" },
    { "one that follows upon another before that ended", "01", 2, BEGUN_MS, PHASE_DEPLOYING,
      PHASE_DEPLOYED, false, "rollout Deployed 0" },
    { "what comes after the end", "01", 3, 0, PHASE_FAILED, PHASE_DEPLOYED, false, "" },
    { "a deletion", "01", 3, BEGUN_MS, PHASE_DELETING, PHASE_DELETING, true, "teardown Deleting 60" },
    { "a trace that nobody samples", "00", 3, BEGUN_MS, PHASE_DEPLOYING, PHASE_DEPLOYED, false, "" },
};

static void rollouts_are_told_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rollouts) / sizeof(rollouts[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct ending *row = &rollouts[i];
        const struct plan plan = { .torn_down = row->torn_down };
        struct stack_status before = a_status(arena, row->before, NULL);
        struct stack_status after = a_status(arena, row->after, NULL);
        struct otlp_spans spans;

        before.observed_generation = row->seen;
        before.started_ms = row->started_ms;
        spans = stack_spans(arena, traced_stack(arena, row->flags), &before, &after, &plan, NOW_MS);
        rows_expect_str(row->name, told(arena, &spans), str_of(row->told));
        if (spans.count)
            rows_expect_str("it is part of the change", spans.items[0].parent_id, STR(PARENT));
    }
}

static void operations_are_parts_of_the_rollout(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct plan plan = { .kept = true };
    const struct side was = { DEPLOYMENT_DEPLOYING, ASKED_MS, 0, 0, "" };
    const struct side is = { DEPLOYMENT_DEPLOYED, 0, 0, 1, "" };
    struct stack_status before = a_status(arena, PHASE_DEPLOYING, &was);
    struct stack_status after = a_status(arena, PHASE_DEPLOYED, &is);
    struct otlp_spans spans;

    (void)state;
    before.started_ms = BEGUN_MS;
    spans = stack_spans(arena, traced_stack(arena, "01"), &before, &after, &plan, NOW_MS);
    rows_expect_str("both end", told(arena, &spans),
                    STR("install Deployed 30; rollout Deployed 60"));
    rows_expect_str("one in the other", spans.items[0].parent_id, spans.items[1].context.span_id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_told_when_they_are_over),
        cmocka_unit_test(what_is_left_behind_is_not_uninstalled),
        cmocka_unit_test(rollouts_are_told_once),
        cmocka_unit_test(operations_are_parts_of_the_rollout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
