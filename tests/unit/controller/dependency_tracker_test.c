/* SPDX-License-Identifier: Apache-2.0 */
/* dependency_tracker_test.c: tracked_objects open with their first holder and close with their last. */
#include "support/rows.h"

#include "controller/dependency_tracker.h"
#include "base/multimap.h"

struct heard {
    struct strbuf text;
};

static void opened(void *context, enum tracked_kind kind, struct str name)
{
    struct heard *heard = context;

    strbuf_fmt(&heard->text, "+%d:%.*s ", kind, STR_ARG(name));
}

static void closed(void *context, enum tracked_kind kind, struct str name)
{
    struct heard *heard = context;

    strbuf_fmt(&heard->text, "-%d:%.*s ", kind, STR_ARG(name));
}

static void told(void *context, struct str holder)
{
    struct heard *heard = context;

    strbuf_fmt(&heard->text, "%.*s ", STR_ARG(holder));
}

static void set(struct dependency_tracker *tracker, struct arena *arena, const char *holder,
                const char *clusters)
{
    struct tracked_objects tracked_objects = tracked_objects_new(arena, 4);
    struct str rest = str_of(clusters);
    struct str one;

    while (rest.len && str_split(&rest, ' ', &one))
        tracked_objects_push(&tracked_objects, (struct tracked){ TRACKED_CLUSTER, one });
    dependency_tracker_set(tracker, str_of(holder), &tracked_objects);
}

static void expect(struct heard *heard, const char *row, const char *want)
{
    rows_expect_str(row, strbuf_str(&heard->text), str_of(want));
    heard->text.len = 0;
}

static void dependency_tracker_open_and_close(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct heard heard = { strbuf_new(arena, 64) };
    AUTO(dependency_tracker_free) struct dependency_tracker *tracker = dependency_tracker_create(
        &(struct dependency_tracker_options){ .opened = opened, .closed = closed, .context = &heard });

    (void)state;
    set(tracker, arena, "a", "x y x");
    expect(&heard, "the first holder opens, once", "+0:x +0:y ");
    set(tracker, arena, "b", "y z");
    expect(&heard, "what is open stays open", "+0:z ");
    set(tracker, arena, "a", "x w");
    expect(&heard, "what is new opens; what another holds stays", "+0:w ");
    dependency_tracker_visit(tracker, TRACKED_CLUSTER, STR("y"), told, &heard);
    expect(&heard, "only holders are told", "b ");
    dependency_tracker_visit(tracker, TRACKED_STACK, STR("y"), told, &heard);
    expect(&heard, "another kind is another tracked", "");
    set(tracker, arena, "b", "");
    expect(&heard, "the last holder closes", "-0:y -0:z ");
    set(tracker, arena, "a", "w v");
    expect(&heard, "new before old", "+0:v -0:x ");
    dependency_tracker_forget(tracker, STR("a"));
    dependency_tracker_forget(tracker, STR("a"));
    dependency_tracker_forget(tracker, STR("b"));
    expect(&heard, "who is forgotten holds nothing", "-0:w -0:v ");
    rows_expect_int("no tracked is left", (int64_t)dependency_tracker_count(tracker), 0);
    rows_expect_int("no holder is left", (int64_t)dependency_tracker_holders(tracker), 0);
}

static void multimap_sets(void **state)
{
    AUTO(multimap_free) struct multimap *map = multimap_create();
    struct str value;

    (void)state;
    rows_expect("new", multimap_add(map, STR("k"), STR("a")), "not new");
    rows_expect("a second time", !multimap_add(map, STR("k"), STR("a")), "new");
    multimap_add(map, STR("k"), STR("b"));
    multimap_remove(map, STR("k"), STR("a"));
    rows_expect("first", multimap_at(map, STR("k"), 0, &value), "none");
    rows_expect_str("what is left", value, STR("b"));
    rows_expect("no second", !multimap_at(map, STR("k"), 1, &value), "one");
    multimap_remove(map, STR("k"), STR("c"));
    multimap_remove(map, STR("k"), STR("b"));
    rows_expect_int("a key without values is none", (int64_t)multimap_count(map), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependency_tracker_open_and_close),
        cmocka_unit_test(multimap_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
