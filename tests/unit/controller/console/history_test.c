/* SPDX-License-Identifier: Apache-2.0 */
/* history_test.c: the ring, ids across processes, and the frames of server-sent events. */
#include "support/rows.h"

#include "controller/console/history.h"

static const struct kube_resource stacks = KUBE_RESOURCE_INIT("herd.suse.com", "v1", "stacks", "Stack", true);

static void add(struct history *history, const char *name, const char *object, size_t object_bytes_max)
{
    const struct change facts = { .type = CHANGE_MODIFIED,
                                  .resource = &stacks,
                                  .namespace_ = STR("a"),
                                  .name = str_of(name),
                                  .uid = STR("u"),
                                  .resource_version = STR("7"),
                                  .at_ms = 1705314600000 };

    history_add(history, &facts, str_of(object), object_bytes_max);
}

static void an_event_is_one_frame(void **state)
{
    AUTO(history_free) struct history *history = history_create(STR("abc"), 8, 1 << 20);

    add(history, "s", "{\"x\":\n 1}", 100);
    rows_expect_str("with its object on one line", history_next(history, 0)->frame,
                    STR("id: abc-1\ndata: {\"type\":\"MODIFIED\",\"object\":{\"x\":  1}}\n\n"));
    add(history, "s", "{\"x\":1}", 3);
    rows_expect_str("of a large object its metadata", history_next(history, 1)->frame,
                    STR("id: abc-2\ndata: "
                        "{\"type\":\"MODIFIED\",\"object\":{\"apiVersion\":\"herd.suse.com/v1\","
                        "\"kind\":\"Stack\",\"metadata\":{\"namespace\":\"a\",\"name\":\"s\",\"uid\":\"u\","
                        "\"resourceVersion\":\"7\"}},\"objectOmitted\":true}\n\n"));
    (void)state;
}

static void what_is_sent_of_no_change(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(history_free) struct history *history = history_create(STR("abc"), 8, 1 << 20);
    struct strbuf out = strbuf_new(arena, 0);
    struct strbuf reset = strbuf_new(arena, 0);

    history_put_heartbeat(history, 3, &out);
    rows_expect_str("a heartbeat is a comment and where the client is", strbuf_str(&out), STR(": heartbeat\nid: abc-3\n\n"));
    history_put_reset(history, 4, &reset);
    rows_expect("a reset has a name and an id", str_starts(strbuf_str(&reset), STR("event: reset\nid: abc-4\ndata: {")),
                strbuf_str(&reset).at);
    (void)state;
}

static void the_ring_is_bounded_in_changes_and_in_bytes(void **state)
{
    AUTO(history_free) struct history *few = history_create(STR("e"), 3, 1 << 20);
    AUTO(history_free) struct history *small = history_create(STR("e"), 100, 1200);
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str large = str_fmt(arena, "\"%01500d\"", 0);

    for (int i = 0; i < 5; i++)
        add(few, "s", "{}", 100);
    rows_expect_int("the third of five is the oldest of three", (int64_t)history_next(few, 0)->id, 3);
    rows_expect("who saw the second has lost nothing", !history_has_lost(few, 2), "lost");
    rows_expect("who saw the first has", history_has_lost(few, 1), "not lost");
    rows_expect("nothing is behind the newest", !history_next(few, 5), "found");

    for (int i = 0; i < 50; i++)
        add(small, "s", "{}", 100);
    rows_expect("bytes are bounded, too", history_has_lost(small, 40) && !history_has_lost(small, 48), "not bounded");
    add(small, "s", large.at, 10000);
    rows_expect("and the newest is held, however large", history_next(small, 0)->id == 51, "not held");
    (void)state;
}

static const struct {
    const char *row, *last_event_id;
    bool resumes;
    uint64_t after;
} resumes[] = {
    { "a new client begins behind the newest", "", true, 5 },
    { "one that was here goes on", "e1-3", true, 3 },
    { "one that missed nothing", "e1-5", true, 5 },
    { "the last before the oldest that is held", "e1-2", true, 2 },
    { "one that was away too long", "e1-1", false, 5 },
    { "one of another process", "e2-3", false, 5 },
    { "an epoch that begins as ours", "e-3", false, 5 },
    { "an id that we did not give yet", "e1-6", false, 5 },
    { "no number", "e1-x", false, 5 },
    { "no epoch", "3", false, 5 },
};

static void a_client_resumes_where_it_was(void **state)
{
    AUTO(history_free) struct history *history = history_create(STR("e1"), 3, 1 << 20);

    for (int i = 0; i < 5; i++)
        add(history, "s", "{}", 100);
    for (size_t i = 0; i < sizeof(resumes) / sizeof(resumes[0]); i++) {
        uint64_t after = 0;

        rows_expect_int(resumes[i].row, history_resume(history, str_of(resumes[i].last_event_id), &after), resumes[i].resumes);
        rows_expect_int(resumes[i].row, (int64_t)after, (int64_t)resumes[i].after);
    }
    (void)state;
}

static void a_snapshot_outlives_the_ring(void **state)
{
    struct history *history = history_create(STR("e"), 1, 1 << 20);
    struct change *change;

    add(history, "first", "{}", 100);
    change = change_ref(history_next(history, 0));
    add(history, "second", "{}", 100);
    history_free(history);
    rows_expect_str("it is as it was", change->name, STR("first"));
    change_unref(change);
    (void)state;
}

static void a_change_without_its_object(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(history_free) struct history *history = history_create(STR("e"), 3, 1 << 20);
    struct strbuf out = strbuf_new(arena, 0);
    struct json_writer w = json_writer(&out);

    add(history, "s", "{}", 100);
    change_write(history, arena, history_next(history, 0), &w);
    rows_expect_str("says what, when and which", strbuf_str(&out),
                    STR("{\"id\":\"e-1\",\"type\":\"MODIFIED\",\"time\":\"2024-01-15T10:30:00.000000Z\","
                        "\"apiVersion\":\"herd.suse.com/"
                        "v1\",\"kind\":\"Stack\",\"namespace\":\"a\",\"name\":\"s\","
                        "\"uid\":\"u\",\"resourceVersion\":\"7\"}"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_one_frame),
        cmocka_unit_test(what_is_sent_of_no_change),
        cmocka_unit_test(the_ring_is_bounded_in_changes_and_in_bytes),
        cmocka_unit_test(a_client_resumes_where_it_was),
        cmocka_unit_test(a_snapshot_outlives_the_ring),
        cmocka_unit_test(a_change_without_its_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
