/* SPDX-License-Identifier: Apache-2.0 */
/* facts_test.c: what the webhook knows of clusters, against a scripted API server: unknown until it
 * was read, followed as it changes, kept in trouble, whole for whoever holds it. */
#include "facts_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#define LABELS(json) ",\"labels\":" json
#define NAMED(name) "\"displayName\":\"" name "\""
#define GONE                                                                                       \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"Expired\","     \
    "\"message\":\"too old\",\"code\":410}"

static void nothing_is_known_where_nothing_is_watched(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err;
    AUTO(fact_source_free) struct fact_source *source = fact_source_create(NULL, NULL, &err);
    const struct facts *facts = fact_source_take(source, arena);

    (void)state;
    rows_expect_str("clusters", clusters_of(arena, facts, ""), STR("unknown"));
}

static void unknown_until_it_was_read(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_hang(f.api, "GET", clusters_url);
    start(&f);
    wait_for_requests(&f, clusters_url, 1);
    rows_expect_str("an answer that does not come tells nothing",
                    known(&f, clusters_of, ""), STR("unknown"));
    tear_down(&f);

    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 403, "{}");
    start(&f);
    wait_for_requests(&f, clusters_url, 2);
    rows_expect_str("nor does a rejection", known(&f, clusters_of, ""), STR("unknown"));
    tear_down(&f);
}

static void an_empty_list_is_knowledge(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 200, LIST("5", ""));
    scripted_api_say_watch(f.api, "", false);
    start(&f);
    wait_for(&f, "there are none, and that is known", clusters_of, "", "");
    tear_down(&f);
}

static void clusters_appear_change_and_vanish(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 200,
                     LIST("5", CLUSTER("c-1", "1", NAMED("one"), LABELS("{\"gpu\":\"true\"}"), "True") ","
                               CLUSTER("c-2", "2", NAMED("two"), "", "False") ","
                               CLUSTER("c-3", "3", "", LABELS("[1]"), "Unknown") ","
                               CLUSTER("local", "4", "\"internal\":true", "", "True")));
    scripted_api_say_watch(
        f.api,
        EVENT("ADDED", CLUSTER("c-4", "6", NAMED("f\\u00fcnf \\\"4\\\""), LABELS("{\"a\":\"\"}"), "True"))
            EVENT("MODIFIED", CLUSTER("c-2", "7", NAMED("zwei"), LABELS("{\"b\":\"c\"}"), "True"))
                EVENT("DELETED", CLUSTER("c-1", "8", NAMED("one"), "", "True")),
        false);
    start(&f);
    wait_for(&f, "what the watch told", clusters_of, "",
             "c-2(zwei,ready,{\"b\":\"c\"}) c-3(,not ready,-) "
             "c-4(f\xc3\xbcnf \"4\",ready,{\"a\":\"\"}) local(,ready,Rancher's own,-)");
    tear_down(&f);
}

static void what_was_known_stays_in_trouble(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 200,
                     LIST("5", CLUSTER("c-1", "1", NAMED("one"), "", "True")));
    scripted_api_say(f.api, "GET", clusters_url, 500, "broken");
    scripted_api_say_watch(f.api, EVENT("ERROR", GONE), true);
    start(&f);
    wait_for(&f, "read", clusters_of, "", "c-1(one,ready,-)");
    /* Asked a third time, it has seen the second answer. */
    wait_for_requests(&f, clusters_url, 3);
    wait_for(&f, "kept", clusters_of, "", "c-1(one,ready,-)");
    tear_down(&f);
}

/* --- many readers --- */

enum { READERS = 8, CLUSTERS = 200 };

struct reader {
    struct fixture *f;
    atomic_bool *end;
    pthread_t thread;
    uint64_t odd; /* snapshots that were not whole */
};

/* A snapshot is one of three: nothing, all old or (some of) them new. */
static bool is_whole(const struct facts *facts)
{
    if (!facts->clusters_known)
        return facts->clusters.count == 0;
    if (facts->clusters.count != CLUSTERS)
        return false;
    for (uint32_t i = 0; i < facts->clusters.count; i++) {
        const struct fact_cluster *cluster = &facts->clusters.items[i];
        struct str name = cluster->display_name;
        struct str label = json_str(json_get(cluster->labels, STR("is")));

        if (!str_starts(cluster->id, STR("c-")) || !str_eq(name, label))
            return false;
    }
    return true;
}

static void *read_again_and_again(void *context)
{
    struct reader *reader = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);

    do {
        reader->odd += !is_whole(fact_source_take(reader->f->source, arena));
        arena_reset(arena);
    } while (!atomic_load(reader->end));
    return NULL;
}

static struct str clusters_called(struct arena *arena, const char *name, bool events, int version)
{
    struct strbuf out = strbuf_new(arena, 64 * 1024);

    for (int i = 0; i < CLUSTERS; i++)
        strbuf_fmt(&out,
                   "%s{\"metadata\":{\"name\":\"c-%d\",\"uid\":\"u%d\",\"resourceVersion\":\"%d\","
                   "\"labels\":{\"is\":\"%s\"}},\"spec\":{\"displayName\":\"%s\"}}%s",
                   events ? "{\"type\":\"MODIFIED\",\"object\":" : i ? "," : "", i, i, version + i,
                   name, name, events ? "}\n" : "");
    return strbuf_str(&out);
}

static bool all_are(struct fixture *f, struct arena *arena, const char *name)
{
    const struct facts *facts = fact_source_take(f->source, arena);

    for (uint32_t i = 0; i < facts->clusters.count; i++)
        if (!str_eq(facts->clusters.items[i].display_name, str_of(name)))
            return false;
    return facts->clusters_known;
}

static void a_snapshot_stays_whole_while_it_is_replaced(void **state)
{
    struct fixture f;
    struct reader readers[READERS];
    atomic_bool enough = false;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 200,
                     str_fmt(f.arena, LIST("5", "%.*s"),
                             STR_ARG(clusters_called(f.arena, "old", false, 10)))
                         .at);

    struct str news = str_fmt(f.arena, "%.*s%.*s",
                              STR_ARG(clusters_called(f.arena, "mid", true, 1000)),
                              STR_ARG(clusters_called(f.arena, "new", true, 2000)));

    scripted_api_say_watch(f.api, news.at, false);
    start(&f);

    AUTO(arena_free) struct arena *held_by = arena_create(0);
    const struct facts *held = fact_source_take(f.source, held_by);
    bool held_knows = held->clusters_known;

    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){ .f = &f, .end = &enough };
        assert_int_equal(
            pthread_create(&readers[i].thread, NULL, read_again_and_again, &readers[i]), 0);
    }
    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        if (all_are(&f, arena, "new"))
            break;
        usleep(1000);
    }
    rows_expect("the last state comes", all_are(&f, f.arena, "new"), "all new");
    atomic_store(&enough, true);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        rows_expect_int("every snapshot is whole", (int64_t)readers[i].odd, 0);
    }
    rows_expect("one that is held stays as it was",
                is_whole(held) && held->clusters_known == held_knows, "unchanged");
    tear_down(&f);
    rows_expect("even behind its source's end", is_whole(held), "unchanged");
}

/* --- out of room --- */

struct taking {
    struct fact_source *source;
    struct arena *arena;
    const struct facts *facts;
};

static void take(void *context)
{
    struct taking *taking = context;

    taking->facts = fact_source_take(taking->source, taking->arena);
}

/* A reference that is lost would be a leak that LeakSanitizer tells. */
static void taking_can_be_abandoned_anywhere(void **state)
{
    struct error err;
    AUTO(fact_source_free) struct fact_source *source = fact_source_create(NULL, NULL, &err);
    size_t nth = 1;
    bool done = false;

    (void)state;
    for (; !done; nth++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct taking taking = { .source = source, .arena = arena };

        arena_fail_at(arena, nth);
        done = arena_run(arena, take, &taking) == 0;
        rows_expect("facts, or none", done == (taking.facts != NULL), "one of both");
        assert_true(nth < 10);
    }
    rows_expect("it was abandoned at least once", nth > 2, "points");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_where_nothing_is_watched),
        cmocka_unit_test(unknown_until_it_was_read),
        cmocka_unit_test(an_empty_list_is_knowledge),
        cmocka_unit_test(clusters_appear_change_and_vanish),
        cmocka_unit_test(what_was_known_stays_in_trouble),
        cmocka_unit_test(a_snapshot_stays_whole_while_it_is_replaced),
        cmocka_unit_test(taking_can_be_abandoned_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
