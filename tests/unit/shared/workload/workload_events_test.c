/* SPDX-License-Identifier: Apache-2.0 */
/* workload_events_test.c: which Events follow from two statuses of a workload. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "workload/application.h"
#include "workload/workload_events.h"

#define CONDITION(type, status, reason, message)                                                   \
    "{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define STATUS(phase, conditions) "{\"phase\":\"" phase "\",\"conditions\":[" conditions "]}"
#define VALID CONDITION("Accepted", "True", "Accepted", "")
#define INVALID(message) CONDITION("Accepted", "False", "InvalidSpec", message)
#define APPLIED CONDITION("Applied", "True", "Applied", "1 of 1 objects applied")
#define READY CONDITION("Ready", "True", "ReconciliationSucceeded", "")
#define NOT_READY(message) CONDITION("Ready", "False", "PodsNotReady", message)
#define TAKEN "0 of 1 objects applied; Deployment a is there"
#define CONFLICT CONDITION("Applied", "False", "ChildConflict", TAKEN)
#define SCALING(status, reason, message)                                                           \
    CONDITION("ScalingActive", status, reason, message) "," CONDITION("ScalingLimited", status, reason, message)
#define RUNNING STATUS("Running", VALID "," APPLIED "," READY)

static const struct {
    const char *row, *before, *after, *want;
} rows[] = {
    { "that it is sound from the beginning is no news", "{}", STATUS("Pending", VALID "," APPLIED "," NOT_READY("no pods")), "" },
    { "nothing changed", RUNNING, RUNNING, "" },
    { "a phase comes with the words of Ready", "{}", STATUS("Creating", VALID "," APPLIED "," NOT_READY("0 of 2 are ready")),
      "Creating(0 of 2 are ready)" },
    { "how many pods are ready within a phase is no news", STATUS("Creating", VALID "," APPLIED "," NOT_READY("0 of 2 are ready")),
      STATUS("Creating", VALID "," APPLIED "," NOT_READY("1 of 2 are ready")), "" },
    { "where the status has no words, the table has", STATUS("Creating", VALID "," APPLIED "," NOT_READY("1 of 2 are ready")),
      RUNNING, "Running(All pods are ready, or the Job runs.)" },
    { "a conflict is told once, though the phase follows from it", "{}",
      STATUS("Failed", VALID "," CONFLICT "," CONDITION("Ready", "False", "ChildConflict", TAKEN)), "!ChildConflict(" TAKEN ")" },
    { "the end of a conflict is told, and the next phase",
      STATUS("Failed", VALID "," CONFLICT "," CONDITION("Ready", "False", "ChildConflict", TAKEN)),
      STATUS("Creating", VALID "," APPLIED "," NOT_READY("0 of 1 are ready")),
      "Applied(1 of 1 objects applied)Creating(0 of 1 are ready)" },
    { "a kind that is missing is the end of a conflict, and no trouble by itself", STATUS("Running", VALID "," CONFLICT "," READY),
      STATUS("Running", VALID "," CONDITION("Applied", "True", "KindMissing", "m") "," READY), "KindMissing(m)" },
    { "from the beginning it is none", "{}", STATUS("Pending", VALID "," CONDITION("Applied", "True", "KindMissing", "m")), "" },
    { "a spec that is not valid any more is told once", RUNNING,
      STATUS("Running", INVALID("a") "," APPLIED "," CONDITION("Ready", "False", "InvalidSpec", "a")),
      "!InvalidSpec(a)" },
    { "another fault of it is told", STATUS("Running", INVALID("a") "," APPLIED), STATUS("Running", INVALID("b") "," APPLIED),
      "!InvalidSpec(b)" },
    { "the same fault is not", STATUS("Running", INVALID("a") "," APPLIED), STATUS("Running", INVALID("a") "," APPLIED), "" },
    { "it is valid again", STATUS("Running", INVALID("a") "," APPLIED "," CONDITION("Ready", "False", "InvalidSpec", "a")), RUNNING,
      "Accepted(The object is valid.)ReconciliationSucceeded(It runs as the spec says, or is complete.)" },
    { "what was ready and is not, where the phase does not say it", RUNNING, STATUS("Running", VALID "," APPLIED "," NOT_READY("Pod p: gone")),
      "PodsNotReady(Pod p: gone)" },
    { "pods have failed", RUNNING, STATUS("Failed", VALID "," APPLIED "," CONDITION("Ready", "False", "PodsFailed", "m")), "!Failed(m)" },
    { "an SLA that cannot be computed is told once for both conditions", STATUS("Running", SCALING("True", "Computed", "a")),
      STATUS("Running", SCALING("False", "MetricsLost", "b")), "!MetricsLost(b)" },
    { "it can be computed, and is limited", STATUS("Running", SCALING("False", "MetricsLost", "b")),
      STATUS("Running", SCALING("True", "LimitedByGPUBudget", "c")), "!LimitedByGPUBudget(c)" },
    { "it is limited no more", STATUS("Running", SCALING("True", "LimitedByGPUBudget", "c")),
      STATUS("Running", SCALING("True", "Computed", "a")), "Computed(a)" },
    { "decisions that are all sound are no news", STATUS("Running", SCALING("True", "Computed", "a")),
      STATUS("Running", SCALING("True", "Stabilizing", "d")), "" },
};

static struct str text_of(struct arena *arena, const struct kube_events *events)
{
    struct strbuf out = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < events->count; i++)
        strbuf_fmt(&out, "%s%.*s(%.*s)", events->items[i].warning ? "!" : "", STR_ARG(events->items[i].reason),
                   STR_ARG(events->items[i].message));
    return strbuf_str(&out);
}

static struct kube_events events_of(struct arena *arena, const char *before, const char *after)
{
    struct json object =
        test_json(arena, str_fmt(arena, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\"},\"status\":%s}", before));

    return workload_events(arena, &application_kind, object, test_json(arena, str_of(after)), STR("7"));
}

static void events_follow_from_two_statuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct kube_events events = events_of(arena, rows[i].before, rows[i].after);

        rows_expect_str(rows[i].row, text_of(arena, &events), str_of(rows[i].want));
    }
}

static void an_event_is_about_its_object(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_events events = events_of(arena, STATUS("Running", VALID), STATUS("Failed", INVALID("m")));

    (void)state;
    rows_expect_int("the condition and the phase", events.count, 2);
    for (uint32_t i = 0; i < events.count; i++) {
        const struct kube_event *event = &events.items[i];

        rows_expect_str("object", str_fmt(arena, "%.*s %.*s/%.*s %.*s %.*s", STR_ARG(event->resource.kind), STR_ARG(event->namespace_),
                                          STR_ARG(event->name), STR_ARG(event->uid), STR_ARG(event->resource_version)),
                        STR("Application n/a u 7"));
    }
    rows_expect("budgets", events.items[0].kind == EVENT_OUTCOME && events.items[1].kind == EVENT_MILESTONE, "phases have their own");
}

static void each_phase_has_a_reason(void **state)
{
    (void)state;
    for (int kind = 0; kind < WORKLOAD_KIND_COUNT; kind++)
        for (enum workload_phase phase = WORKLOAD_PENDING; phase < WORKLOAD_PHASES; phase++) {
            struct str word = workload_kinds[kind]->phases.words[phase];

            rows_expect(word.at, workload_reason_find(word) != NULL, "it is in workload_reasons.def");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_follow_from_two_statuses),
        cmocka_unit_test(an_event_is_about_its_object),
        cmocka_unit_test(each_phase_has_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
