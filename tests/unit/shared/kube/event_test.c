/* SPDX-License-Identifier: Apache-2.0 */
/* event_test.c: Events counted and rationed; conditions and waits, which are as small. */
#include "support/rows.h"

#include "base/limits.h"
#include "kube/backoff.h"
#include "kube/condition.h"
#include "kube/event.h"
#include "kube/limits.h"

static const struct kube_event broken = {
    .resource = KUBE_RESOURCE_INIT("x.io", "v1", "things", "Thing", true),
    .name = STR_INIT("t"), .uid = STR_INIT("u"), .warning = true,
    .reason = STR_INIT("Broken"), .message = STR_INIT("it broke"),
};

static void equal_events_become_a_count(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_event_log *log = kube_event_log_create(STR("herd"), STR("herd-1"));
    struct kube_event other = broken;
    struct str first, name, body;
    enum { T0 = 1000000, HOUR = 3600000 };

    assert_int_equal(kube_event_step(log, &broken, T0, arena, &first, &body), EVENT_CREATE);
    rows_expect("a cluster-scoped object's Event is in default",
                str_find(body, STR("\"namespace\":\"default\""), 0) > 0, body.at);
    assert_int_equal(kube_event_step(log, &broken, T0 + 1000, arena, &name, &body), EVENT_PATCH);
    rows_expect_str("the same name", name, first);
    rows_expect_str("counted", body,
                    STR("{\"count\":2,\"lastTimestamp\":\"1970-01-01T00:16:41Z\","
                        "\"message\":\"it broke\"}"));
    other.message = STR("it broke again");
    assert_int_equal(kube_event_step(log, &other, T0 + 2000, arena, &name, &body), EVENT_CREATE);
    assert_false(str_eq(name, first));
    kube_event_forget(log, first);
    assert_int_equal(kube_event_step(log, &broken, T0 + 3000, arena, &name, &body), EVENT_CREATE);
    assert_int_equal(kube_event_step(log, &broken, T0 + HOUR, arena, &name, &body), EVENT_CREATE);
    kube_event_log_free(log);
    (void)state;
}

static void an_annotation_is_that_of_the_last_time(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_event_log *log = kube_event_log_create(STR("herd"), STR("herd-1"));
    struct kube_event traced = broken;
    struct str name, body;

    traced.annotation_key = STR("x.io/trace");
    traced.annotation = STR("a");
    assert_int_equal(kube_event_step(log, &traced, 1000, arena, &name, &body), EVENT_CREATE);
    rows_expect("the first time",
                str_find(body,
                         STR("\"namespace\":\"default\",\"annotations\":{\"x.io/trace\":\"a\"}}"),
                         0) > 0,
                body.at);
    traced.annotation = STR("b");
    assert_int_equal(kube_event_step(log, &traced, 2000, arena, &name, &body), EVENT_PATCH);
    rows_expect_str("the second time", body,
                    STR("{\"count\":2,\"lastTimestamp\":\"1970-01-01T00:00:02Z\",\"message\":"
                        "\"it broke\",\"metadata\":{\"annotations\":{\"x.io/trace\":\"b\"}}}"));
    kube_event_log_free(log);
    (void)state;
}

static void one_object_may_not_drown_the_others(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_event_log *log = kube_event_log_create(STR("herd"), STR("herd-1"));
    struct kube_event other = broken;
    struct str name, body;
    int sent = 0;

    for (int i = 0; i < 100; i++)
        sent += kube_event_step(log, &broken, 1000 + i, arena, &name, &body) != EVENT_DROP;
    rows_expect_int("a burst", sent, LIMIT_EVENTS_PER_OBJECT);
    other.uid = STR("u2");
    rows_expect_int("another object", kube_event_step(log, &other, 1200, arena, &name, &body),
                    EVENT_CREATE);
    rows_expect_int("later", kube_event_step(log, &broken, 302000, arena, &name, &body),
                    EVENT_PATCH);
    rows_expect_int("one in five minutes",
                    kube_event_step(log, &broken, 302001, arena, &name, &body), EVENT_DROP);

    rows_expect_int("what was dropped is counted", (int)kube_event_dropped(log),
                    100 - LIMIT_EVENTS_PER_OBJECT + 1);
    other = broken;
    other.kind = EVENT_MILESTONE;
    other.reason = STR("Failed");
    sent = 0;
    for (int i = 0; i < 100; i++)
        sent += kube_event_step(log, &other, 302002 + i, arena, &name, &body) != EVENT_DROP;
    rows_expect_int("how it ended is told all the same, and bounded, too", sent,
                    LIMIT_EVENTS_PER_OBJECT);
    other = broken;

    /* Many objects: what was used longest ago is forgotten, and nothing grows. */
    for (int i = 0; i < 10000; i++) {
        other.uid = str_fmt(arena, "many-%d", i);
        assert_int_equal(kube_event_step(log, &other, 400000 + i, arena, &name, &body),
                         EVENT_CREATE);
    }
    kube_event_log_free(log);
    (void)state;
}

/* What of each bucket is left when the others are empty. */
static void chatter_does_not_starve_a_warning(void **state)
{
    static const struct {
        const char *row;
        bool warning;
        enum kube_event_kind kind;
    } rows[] = {
        { "what is waited for", false, EVENT_PROGRESS },
        { "what happened", false, EVENT_OUTCOME },
        { "Warnings", true, EVENT_OUTCOME },
        { "how it goes on as a whole", false, EVENT_MILESTONE },
        { "that it failed as a whole", true, EVENT_MILESTONE },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_event_log *log = kube_event_log_create(STR("herd"), STR("herd-1"));
    struct kube_event event = broken;
    struct str name, body;

    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        int sent = 0;

        event.warning = rows[r].warning;
        event.kind = rows[r].kind;
        for (int i = 0; i < 100; i++) {
            event.message = str_fmt(arena, "news %d", i);
            sent += kube_event_step(log, &event, 1000, arena, &name, &body) != EVENT_DROP;
        }
        rows_expect_int(rows[r].row, sent, LIMIT_EVENTS_PER_OBJECT);
    }
    kube_event_log_free(log);
}

static void a_condition_keeps_its_time_while_its_status_stands(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_conditions list = kube_conditions_new(arena, 0);
    struct kube_condition ready = { .type = STR("Ready"), .reason = STR("A"),
                                    .status = CONDITION_FALSE, .observed_generation = 2 };
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);
    struct json root;
    struct error err;

    kube_condition_set(&list, ready, 1000);
    ready.reason = STR("B");
    kube_condition_set(&list, ready, 2000);
    rows_expect_int("same status", kube_condition_find(&list, STR("Ready"))->last_transition_ms,
                    1000);
    ready.status = CONDITION_TRUE;
    kube_condition_set(&list, ready, 3000);
    rows_expect_int("one of a type", list.count, 1);
    kube_conditions_write(&list, &w);
    rows_expect_str("written", strbuf_str(&out),
                    STR("[{\"type\":\"Ready\",\"status\":\"True\",\"observedGeneration\":2,"
                        "\"lastTransitionTime\":\"1970-01-01T00:00:03Z\",\"reason\":\"B\","
                        "\"message\":\"\"}]"));
    assert_int_equal(json_read(arena, strbuf_str(&out), &json_limits_default, &root, &err), 0);

    struct kube_conditions back = kube_conditions_read(arena, root);

    rows_expect_int("read back", back.count, 1);
    rows_expect_int("time", back.items[0].last_transition_ms, 3000);
    rows_expect_int("status", back.items[0].status, CONDITION_TRUE);
    (void)state;
}

static void waits_double_and_listen(void **state)
{
    struct rng rng = rng_from_seed(1);
    struct backoff backoff = backoff_new(1000, 60000);
    int64_t whole = 1000;

    for (int i = 0; i < 200; i++) {
        int64_t wait = backoff_next(&backoff, -1, &rng);

        assert_true(wait > whole / 2 - 1 && wait <= whole);
        whole = whole * 2 > 60000 ? 60000 : whole * 2;
    }
    backoff_reset(&backoff);
    rows_expect_int("the peer's wish", backoff_next(&backoff, 90000, &rng), 90000);
    rows_expect_int("an absurd one", backoff_next(&backoff, INT64_MAX, &rng),
                    LIMIT_RETRY_AFTER_MAX);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_events_become_a_count),
        cmocka_unit_test(an_annotation_is_that_of_the_last_time),
        cmocka_unit_test(one_object_may_not_drown_the_others),
        cmocka_unit_test(chatter_does_not_starve_a_warning),
        cmocka_unit_test(a_condition_keeps_its_time_while_its_status_stands),
        cmocka_unit_test(waits_double_and_listen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
