/* SPDX-License-Identifier: Apache-2.0 */
/* admission_test.c: which rules Stacks want, which are changed for that, and whose are left alone. */
#include "support/rows.h"
#include "support/observed_builder.h"
#include "support/stack_builder.h"

#include "controller/backends/neuvector/admission_registry.h"

#define NAMESPACES(names) "{\"name\":\"namespace\",\"op\":\"containsAny\",\"value\":\"" names "\",\"path\":\"namespace\"}"
#define COUNT(name, most) "{\"name\":\"" name "\",\"op\":\">=\",\"value\":\"" most "\"}"
#define CRITICAL(most) COUNT("cveCriticalCount", most)
#define HIGH(most) COUNT("cveHighCountNoCritical", most)
#define RULE(id, comment, more, criteria)                                                                  \
    "{\"id\":" id ",\"comment\":\"" comment "\",\"cfg_type\":\"user_created\",\"rule_type\":\"deny\"," more     \
    "\"criteria\":[" criteria "]}"
#define MONITORS "\"rule_mode\":\"monitor\",\"disable\":false,\"critical\":false,"

/* "METHOD path; ..." of the changes. */
static struct str changes_of(struct arena *arena, const char *rules, const struct admission_wish *wish, struct set marked,
                             struct admission_changes *changes)
{
    struct admission_wishes wishes = admission_wishes_new(arena, 1);
    struct error err = { .code = ERROR_NONE };
    struct strbuf out = strbuf_new(arena, 256);

    admission_wishes_push(&wishes, *wish);
    *changes = admission_changes_new(arena, 4);
    if (admission_compare(arena, test_json(arena, str_fmt(arena, "{\"rules\":[%s]}", rules)), &wishes, changes, marked,
                          &err) < 0)
        return str_of(err.text);
    for (uint32_t i = 0; i < changes->count; i++)
        strbuf_fmt(&out, "%s%s %.*s", i ? "; " : "", changes->items[i].method, STR_ARG(changes->items[i].path));
    return strbuf_str(&out);
}

static void rules_become_as_they_are_wanted(void **state)
{
    static const struct {
        const char *row;
        enum admission_mode mode;
        const char *namespaces;
        int64_t critical, high;
        const char *rules, *want;
        bool marked; /* the Stack has some, then */
    } rows[] = {
        { "a rule for each threshold", ADMISSION_MODE_MONITOR, "a,b", 0, 5, "",
          "POST /v1/admission/rule; POST /v1/admission/rule", true },
        { "no limit, no rule", ADMISSION_MODE_MONITOR, "a", 0, -1, "", "POST /v1/admission/rule", true },
        { "no limit at all", ADMISSION_MODE_PROTECT, "a", -1, -1, "", "", false },
        { "nothing runs there", ADMISSION_MODE_PROTECT, "", 0, -1, "", "", false },
        { "switched off", ADMISSION_MODE_DISABLED, "a", 0, -1, "", "", false },
        { "as it should be", ADMISSION_MODE_MONITOR, "a,b", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a,b") "," CRITICAL("1")), "", true },
        { "its criteria in another order", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, CRITICAL("1") "," NAMESPACES("a")), "", true },
        { "of a release without modes of rules", ADMISSION_MODE_PROTECT, "a", 0, -1,
          RULE("1001", "herd:u1", "", CRITICAL("1") "," NAMESPACES("a")), "", true },
        { "somebody changed the number", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("9")), "PATCH /v1/admission/rule", true },
        { "or disabled it", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", "\"disable\":true,", NAMESPACES("a") "," CRITICAL("1")), "PATCH /v1/admission/rule", true },
        { "or lets it allow", ADMISSION_MODE_MONITOR, "a", 0, -1,
          "{\"id\":1001,\"comment\":\"herd:u1\",\"cfg_type\":\"user_created\",\"rule_type\":\"exception\",\"criteria\":["
          NAMESPACES("a") "," CRITICAL("1") "]}", "PATCH /v1/admission/rule", true },
        { "or adds a criterion", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1") "," HIGH("1")), "PATCH /v1/admission/rule", true },
        { "another mode is wanted now", ADMISSION_MODE_PROTECT, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")), "PATCH /v1/admission/rule", true },
        { "a threshold that is none any more", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")) ","
          RULE("1002", "herd:u1", MONITORS, NAMESPACES("a") "," HIGH("3")), "DELETE /v1/admission/rule/1002", true },
        { "twice the same", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")) ","
          RULE("1002", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")), "DELETE /v1/admission/rule/1002", true },
        { "wanted no more", ADMISSION_MODE_DISABLED, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")), "DELETE /v1/admission/rule/1001", true },
        { "those of others stay", ADMISSION_MODE_DISABLED, "a", 0, -1,
          RULE("1001", "herd:u2", MONITORS, NAMESPACES("a") "," CRITICAL("1")) ","
          RULE("1002", "", MONITORS, NAMESPACES("a") "," CRITICAL("1")) ","
          RULE("1003", "herd:u1 and more", MONITORS, NAMESPACES("a")), "", false },
        { "that of a custom resource is not Herd's, whatever it says", ADMISSION_MODE_DISABLED, "a", 0, -1,
          "{\"id\":110001,\"comment\":\"herd:u1\",\"cfg_type\":\"ground\",\"rule_type\":\"deny\",\"criteria\":[]}", "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct admission_wish wish = { STR("u1"), rows[i].mode, str_of(rows[i].namespaces), rows[i].critical, rows[i].high };
        struct set marked = set_new(arena, 1);
        struct admission_changes changes;

        rows_expect_str(rows[i].row, changes_of(arena, rows[i].rules, &wish, marked, &changes), str_of(rows[i].want));
        rows_expect(rows[i].row, set_has(marked, STR("u1")) == rows[i].marked, "marked");
    }
}

static void a_rule_denies_one_more_than_is_allowed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct admission_wish wish = { STR("u1"), ADMISSION_MODE_PROTECT, STR("a,b"), 0, 2 };
    struct admission_changes changes;

    (void)state;
    changes_of(arena, RULE("1001", "herd:u1", MONITORS, CRITICAL("7")), &wish, set_new(arena, 1), &changes);
    rows_expect_str("corrected", changes.items[0].body,
                    STR("{\"config\":{\"id\":1001,\"category\":\"Kubernetes\",\"cfg_type\":\"user_created\",\"rule_type\":\"deny\","
                        "\"rule_mode\":\"protect\",\"comment\":\"herd:u1\",\"disable\":false,\"criteria\":["
                        "{\"name\":\"namespace\",\"op\":\"containsAny\",\"value\":\"a,b\"},"
                        "{\"name\":\"cveCriticalCount\",\"op\":\">=\",\"value\":\"1\"}],"
                        "\"containers\":[\"containers\",\"init_containers\"]}}"));
    rows_expect("and the high ones alone",
                str_find(changes.items[1].body, STR("{\"name\":\"cveHighCountNoCritical\",\"op\":\">=\",\"value\":\"3\"}"), 0) >= 0,
                changes.items[1].body.at);
    rows_expect_str("what is no list", changes_of(arena, "", &wish, set_new(arena, 1), &changes),
                    STR("POST /v1/admission/rule; POST /v1/admission/rule"));
}

static void count_cleared(void *context, struct str key)
{
    uint32_t *count = context;

    rows_expect_str("of that Stack", key, STR("team/shop"));
    (*count)++;
}

/* What a process before has made is not known: a list has to show that none is there. */
static void what_may_be_left_is_remembered_until_a_list_shows_none(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(admission_registry_free) struct admission_registry *registry = admission_registry_create();
    struct scene s = a_scene(arena, "db", "\"security\":\"enabled\",\"securityProfile\":{\"admission\":\"Monitor\"}");
    struct stack stack = *s.stack;
    struct observed_cluster *cluster;
    struct admission_wishes wishes;
    struct set marked = set_new(arena, 1);
    const struct str key = STR("team/shop");
    uint32_t cleared = 0;

    (void)state;
    scene_play(&s, "cluster a; app db@a deployed 1");
    cluster = &s.observed.clusters.items[0];
    stack = *s.stack;
    rows_expect("it wants some", admission_registry_renew(registry, key, &stack, cluster), "something new");
    rows_expect("and says so once", !admission_registry_renew(registry, key, &stack, cluster), "nothing new");
    wishes = admission_registry_wishes(registry, arena);
    rows_expect_str("in the namespaces of its releases", wishes.items[0].namespaces, STR("db"));
    admission_registry_settle(registry, &wishes, marked, count_cleared, &cleared);
    rows_expect("it wants them still", admission_registry_wants(registry, key) && !admission_registry_leaves(registry, key),
                "wanted");
    stack.meta.deletion_timestamp = STR("2026-11-23T10:00:00Z");
    rows_expect("deleted it wants none", admission_registry_renew(registry, key, &stack, cluster), "something new");
    rows_expect("some may be left", admission_registry_leaves(registry, key), "left");
    admission_registry_settle(registry, &wishes, marked, count_cleared, &cleared);
    wishes = admission_registry_wishes(registry, arena);
    set_add(marked, stack.meta.uid);
    rows_expect_int("told", cleared, 1);
    admission_registry_forget(registry, key);
    rows_expect("after a restart, too", admission_registry_renew(registry, key, &stack, cluster) &&
                                            admission_registry_leaves(registry, key), "left");
    wishes = admission_registry_wishes(registry, arena);
    admission_registry_settle(registry, &wishes, marked, count_cleared, &cleared);
    rows_expect("while the list shows one", admission_registry_leaves(registry, key), "left");
    admission_registry_settle(registry, &wishes, set_new(arena, 1), count_cleared, &cleared);
    rows_expect("until it shows none", !admission_registry_leaves(registry, key) &&
                                           !admission_registry_wishes(registry, arena).count, "clear");
    rows_expect_int("told again", cleared, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_become_as_they_are_wanted),
        cmocka_unit_test(a_rule_denies_one_more_than_is_allowed),
        cmocka_unit_test(what_may_be_left_is_remembered_until_a_list_shows_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
