/* SPDX-License-Identifier: Apache-2.0 */
/* rules_test.c: which rules Stacks want, which are changed for that, and whose are left alone. */
#include "support/rows.h"
#include "support/observed_builder.h"
#include "support/stack_builder.h"

#include "controller/backends/neuvector/rules_registry.h"

#define NAMESPACES(names)                                                                                                                  \
    "{\"name\":\"namespace\",\"op\":\"containsAny\",\"value\":\"" names "\",\"path\":"                                                     \
    "\"namespace\"}"
#define COUNT(name, most) "{\"name\":\"" name "\",\"op\":\">=\",\"value\":\"" most "\"}"
#define CRITICAL(most) COUNT("cveCriticalCount", most)
#define HIGH(most) COUNT("cveHighCountNoCritical", most)
#define RULE(id, comment, more, criteria)                                                                                                  \
    "{\"id\":" id ",\"comment\":\"" comment "\",\"cfg_type\":\"user_created\",\"rule_type\":\"deny\"," more "\"criteria\":[" criteria "]}"
#define MONITORS "\"rule_mode\":\"monitor\",\"disable\":false,\"critical\":false,"

/* "METHOD path; ..." of the changes. */
static struct str changes_of(struct arena *arena, enum rules_kind kind, const char *rules, const struct rules_wish *wish,
                             struct rules_comparison *comparison)
{
    struct rules_wishes wishes = rules_wishes_new(arena, 1);
    struct error err = { .code = ERROR_NONE };
    struct strbuf out = strbuf_new(arena, 256);

    rules_wishes_push(&wishes, *wish)->due[kind] = true;
    if (rules_compare(arena, kind, test_json(arena, str_fmt(arena, "{\"rules\":[%s]}", rules)), &wishes, comparison, &err) < 0)
        return str_of(err.text);
    for (uint32_t i = 0; i < comparison->changes.count; i++)
        strbuf_fmt(&out, "%s%s %.*s", i ? "; " : "", comparison->changes.items[i].method, STR_ARG(comparison->changes.items[i].path));
    return strbuf_str(&out);
}

static void admission_rules_become_as_they_are_wanted(void **state)
{
    static const struct {
        const char *row;
        enum admission_mode mode;
        const char *namespaces;
        int64_t critical, high;
        const char *rules, *want;
        bool marked; /* the Stack has some, then */
    } rows[] = {
        { "a rule for each threshold", ADMISSION_MODE_MONITOR, "a,b", 0, 5, "", "POST /v1/admission/rule; POST /v1/admission/rule", true },
        { "no limit, no rule", ADMISSION_MODE_MONITOR, "a", 0, -1, "", "POST /v1/admission/rule", true },
        { "no limit at all", ADMISSION_MODE_PROTECT, "a", -1, -1, "", "", false },
        { "nothing runs there", ADMISSION_MODE_PROTECT, "", 0, -1, "", "", false },
        { "switched off", ADMISSION_MODE_DISABLED, "a", 0, -1, "", "", false },
        { "as it should be", ADMISSION_MODE_MONITOR, "a,b", 0, -1, RULE("1001", "herd:u1", MONITORS, NAMESPACES("a,b") "," CRITICAL("1")),
          "", true },
        { "its criteria in another order", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, CRITICAL("1") "," NAMESPACES("a")), "", true },
        { "of a release without modes of rules", ADMISSION_MODE_PROTECT, "a", 0, -1,
          RULE("1001", "herd:u1", "", CRITICAL("1") "," NAMESPACES("a")), "", true },
        { "somebody changed the number", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("9")), "PATCH /v1/admission/rule", true },
        { "or disabled it", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", "\"disable\":true,", NAMESPACES("a") "," CRITICAL("1")), "PATCH /v1/admission/rule", true },
        { "or lets it allow", ADMISSION_MODE_MONITOR, "a", 0, -1,
          "{\"id\":1001,\"comment\":\"herd:u1\",\"cfg_type\":\"user_created\",\"rule_type\":"
          "\"exception\",\"criteria\":[" NAMESPACES("a") "," CRITICAL("1") "]}",
          "PATCH /v1/admission/rule", true },
        { "or adds a criterion", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1") "," HIGH("1")), "PATCH /v1/admission/rule", true },
        { "another mode is wanted now", ADMISSION_MODE_PROTECT, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")), "PATCH /v1/admission/rule", true },
        { "a threshold that is none any more", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")) "," RULE("1002", "herd:u1", MONITORS,
                                                                                        NAMESPACES("a") "," HIGH("3")),
          "DELETE /v1/admission/rule/1002", true },
        { "twice the same", ADMISSION_MODE_MONITOR, "a", 0, -1,
          RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")) "," RULE("1002", "herd:u1", MONITORS,
                                                                                        NAMESPACES("a") "," CRITICAL("1")),
          "DELETE /v1/admission/rule/1002", true },
        { "wanted no more", ADMISSION_MODE_DISABLED, "a", 0, -1, RULE("1001", "herd:u1", MONITORS, NAMESPACES("a") "," CRITICAL("1")),
          "DELETE /v1/admission/rule/1001", true },
        { "those of others stay", ADMISSION_MODE_DISABLED, "a", 0, -1,
          RULE("1001", "herd:u2", MONITORS, NAMESPACES("a") "," CRITICAL("1")) "," RULE(
              "1002", "", MONITORS, NAMESPACES("a") "," CRITICAL("1")) "," RULE("1003", "herd:u1 and more", MONITORS, NAMESPACES("a")),
          "", false },
        { "that of a custom resource is not Herd's, whatever it says", ADMISSION_MODE_DISABLED, "a", 0, -1,
          "{\"id\":110001,\"comment\":\"herd:u1\",\"cfg_type\":\"ground\",\"rule_type\":\"deny\","
          "\"criteria\":[]}",
          "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct rules_wish wish = { .uid = STR("u1"),
                                         .admission = rows[i].mode,
                                         .namespaces = str_of(rows[i].namespaces),
                                         .critical = rows[i].critical,
                                         .high = rows[i].high };
        struct rules_comparison comparison;

        rows_expect_str(rows[i].row, changes_of(arena, RULES_ADMISSION, rows[i].rules, &wish, &comparison), str_of(rows[i].want));
        rows_expect(rows[i].row, set_has(comparison.marked, STR("u1")) == rows[i].marked, "marked");
    }
}

static void a_rule_denies_one_more_than_is_allowed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct rules_wish wish = { .uid = STR("u1"), .admission = ADMISSION_MODE_PROTECT, .namespaces = STR("a,b"), .high = 2 };
    struct rules_comparison comparison;

    (void)state;
    changes_of(arena, RULES_ADMISSION, RULE("1001", "herd:u1", MONITORS, CRITICAL("7")), &wish, &comparison);
    rows_expect_str("corrected", comparison.changes.items[0].body,
                    STR("{\"config\":{\"id\":1001,\"category\":\"Kubernetes\",\"cfg_type\":\"user_created\","
                        "\"rule_type\":\"deny\","
                        "\"rule_mode\":\"protect\",\"comment\":\"herd:u1\",\"disable\":false,\"criteria\":["
                        "{\"name\":\"namespace\",\"op\":\"containsAny\",\"value\":\"a,b\"},"
                        "{\"name\":\"cveCriticalCount\",\"op\":\">=\",\"value\":\"1\"}],"
                        "\"containers\":[\"containers\",\"init_containers\"]}}"));
    rows_expect("and the high ones alone",
                str_find(comparison.changes.items[1].body, STR("{\"name\":\"cveHighCountNoCritical\",\"op\":\">=\",\"value\":\"3\"}"), 0) >=
                    0,
                comparison.changes.items[1].body.at);
    rows_expect_str("whose they are", comparison.changes.items[1].uid, STR("u1"));
}

#define RESPONSE(id, group, event, type, value, does)                                                                                      \
    "{\"id\":" id ",\"event\":\"" event "\",\"comment\":\"herd:u1\",\"group\":\"" group "\",\"conditions\":[{\"type\":\"" type             \
    "\",\"value\":\"" value "\"}]," does ",\"cfg_type\":\"user_created\"}"
#define NOTIFIES "\"actions\":[\"webhook\"],\"webhooks\":[\"soc\"],\"disable\":false"
#define QUARANTINES "\"actions\":[\"quarantine\"],\"webhooks\":[],\"disable\":false"
#define DISABLED "\"actions\":[\"quarantine\"],\"webhooks\":[],\"disable\":true"
#define INSERT "PATCH /v1/response/rule"

/* NeuVector knows the group of Deployment/db/a; those of b it does not know at present. */
static void response_rules_become_as_they_are_wanted(void **state)
{
    static const struct {
        const char *row, *webhook;
        bool quarantine;
        const char *workloads;
        int64_t critical, high;
        const char *rules, *want;
        bool marked, disabled;
    } rows[] = {
        { "nothing is asked for", "", false, "Deployment/db/a ", 0, 0, "", "", false, false },
        { "a webhook for each level of events, and each threshold", "soc", false, "Deployment/db/a ", 0, 5, "",
          INSERT "; " INSERT "; " INSERT "; " INSERT "; " INSERT, true, false },
        { "quarantine for critical events and thresholds", "", true, "Deployment/db/a ", 0, -1, "", INSERT "; " INSERT, true, false },
        { "no limit, events only", "", true, "Deployment/db/a ", -1, -1, "", INSERT, true, false },
        { "no workload, no rule", "soc", true, "", 0, 0, "", "", false, false },
        { "a group that NeuVector does not know", "soc", true, "StatefulSet/db/b ", 0, 0, "", "", false, false },
        { "as it should be", "", true, "Deployment/db/a ", -1, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", QUARANTINES), "", true, false },
        { "while nothing of a workload runs, its rules stay", "", true, "Deployment/db/a StatefulSet/db/b ", -1, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", QUARANTINES) "," RESPONSE("9", "nv.b.db", "security-event",
                                                                                                    "level", "Critical", QUARANTINES),
          "", true, false },
        { "a workload that is no more", "", true, "Deployment/db/a ", -1, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", QUARANTINES) "," RESPONSE("9", "nv.b.db", "security-event",
                                                                                                    "level", "Critical", QUARANTINES),
          "DELETE /v1/response/rule/9", true, false },
        { "quarantine is wanted no more", "soc", false, "Deployment/db/a ", -1, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical",
                   QUARANTINES) "," RESPONSE("9", "nv.a.db", "security-event", "level", "Error",
                                             NOTIFIES) "," RESPONSE("10", "nv.a.db", "security-event", "level", "Warning", NOTIFIES),
          "PATCH /v1/response/rule/8", true, false },
        { "another webhook", "noc", false, "Deployment/db/a ", -1, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", NOTIFIES), "PATCH /v1/response/rule/8; " INSERT "; " INSERT, true,
          false },
        { "somebody changed the number", "", true, "Deployment/db/a ", 0, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", QUARANTINES) "," RESPONSE("9", "nv.a.db", "cve-report",
                                                                                                    "cve-critical", "7", QUARANTINES),
          "PATCH /v1/response/rule/9", true, false },
        { "or disabled it, which stays", "", true, "Deployment/db/a ", -1, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", DISABLED), "", true, true },
        { "twice the same", "", true, "Deployment/db/a ", -1, -1,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", QUARANTINES) "," RESPONSE("9", "nv.a.db", "security-event",
                                                                                                    "level", "Critical", QUARANTINES),
          "DELETE /v1/response/rule/9", true, false },
        { "wanted no more, disabled or not", "", false, "Deployment/db/a ", 0, 0,
          RESPONSE("8", "nv.a.db", "security-event", "level", "Critical", DISABLED), "DELETE /v1/response/rule/8", true, false },
        { "those of others stay", "", false, "", 0, 0,
          "{\"id\":1,\"event\":\"security-event\",\"comment\":\"\",\"actions\":[\"webhook\"],"
          "\"disable\":true,\"cfg_type\":"
          "\"user_created\"},{\"id\":110000,\"comment\":\"herd:u1\",\"cfg_type\":\"ground\"},{"
          "\"id\":100001,\"comment\":"
          "\"herd:u1\",\"cfg_type\":\"federal\"}",
          "", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rules_wish wish = { .uid = STR("u1"),
                                   .quarantine = rows[i].quarantine,
                                   .workloads = str_of(rows[i].workloads),
                                   .critical = rows[i].critical,
                                   .high = rows[i].high,
                                   .webhooks = str_list_new(arena, 1),
                                   .groups = str_list_new(arena, 1) };
        struct rules_comparison comparison;

        if (*rows[i].webhook)
            str_list_push(&wish.webhooks, str_of(rows[i].webhook));
        if (str_starts(wish.workloads, STR("Deployment/db/a ")))
            str_list_push(&wish.groups, STR("nv.a.db"));
        rows_expect_str(rows[i].row, changes_of(arena, RULES_RESPONSE, rows[i].rules, &wish, &comparison), str_of(rows[i].want));
        rows_expect(rows[i].row, set_has(comparison.marked, STR("u1")) == rows[i].marked, "marked");
        rows_expect(rows[i].row, set_has(comparison.disabled, STR("u1")) == rows[i].disabled, "disabled");
    }
}

static void a_response_rule_says_what_it_does_and_nothing_of_being_enabled(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rules_wish wish = { .uid = STR("u1"),
                               .quarantine = true,
                               .workloads = STR("Deployment/db/a "),
                               .critical = 2,
                               .high = -1,
                               .webhooks = str_list_new(arena, 1),
                               .groups = str_list_new(arena, 1) };
    struct rules_comparison comparison;
    struct error err = { .code = ERROR_NONE };

    (void)state;
    str_list_push(&wish.webhooks, STR("soc"));
    str_list_push(&wish.groups, STR("nv.a.db"));
    changes_of(arena, RULES_RESPONSE, "", &wish, &comparison);
    rows_expect_str("an event", comparison.changes.items[0].body,
                    STR("{\"insert\":{\"rules\":[{\"id\":0,\"event\":\"security-event\",\"group\":\"nv.a.db\","
                        "\"comment\":"
                        "\"herd:u1\",\"conditions\":[{\"type\":\"level\",\"value\":\"Critical\"}],\"actions\":["
                        "\"webhook\","
                        "\"quarantine\"],\"webhooks\":[\"soc\"],\"cfg_type\":\"user_created\"}]}}"));
    rows_expect("one that is no attack is only told",
                str_find(comparison.changes.items[2].body, STR("\"Warning\"}],\"actions\":[\"webhook\"]"), 0) >= 0,
                comparison.changes.items[2].body.at);
    changes_of(arena, RULES_RESPONSE, RESPONSE("9", "nv.a.db", "cve-report", "cve-critical", "7", DISABLED), &wish, &comparison);
    rows_expect_str("corrected, one more than is allowed", comparison.changes.items[0].body,
                    STR("{\"config\":{\"id\":9,\"event\":\"cve-report\",\"group\":\"nv.a.db\","
                        "\"comment\":\"herd:u1\","
                        "\"conditions\":[{\"type\":\"cve-critical\",\"value\":\"3\"}],\"actions\":["
                        "\"webhook\",\"quarantine\"],"
                        "\"webhooks\":[\"soc\"],\"cfg_type\":\"user_created\"}}"));
    rows_expect_int("what is no list",
                    rules_compare(arena, RULES_RESPONSE, test_json(arena, STR("{}")), &(struct rules_wishes){ 0 }, &comparison, &err), -1);
    rows_expect_str("is said to be none", str_of(err.text), STR("the response has no list of response rules"));
}

static void count_news(void *context, struct str key)
{
    uint32_t *count = context;

    *count += str_eq(key, STR("team/shop"));
}

/* A look that read both lists; `marked` has the uid of the Stack that has rules. */
static struct rules_result looked(struct arena *arena, struct str marked)
{
    struct rules_result result = { .own_troubles = map_new(arena, 1) };

    for (int i = 0; i < RULES_KINDS; i++) {
        result.compared[i] = true;
        result.marked[i] = set_new(arena, 1);
        if (marked.len)
            set_add(result.marked[i], marked);
    }
    return result;
}

static void settle(struct rules_registry *registry, struct arena *arena, struct str marked, uint32_t *news)
{
    const struct rules_result result = looked(arena, marked);
    const struct rules_wishes wishes = rules_registry_wishes(registry, arena);

    rules_registry_settle(registry, &wishes, &result, count_news, news);
}

#define ASKS                                                                                                                               \
    "\"security\":\"enabled\",\"securityProfile\":{\"admission\":\"Monitor\",\"response\":{"                                               \
    "\"webhooks\":[\"soc\"]}}"

/* What a process before has made is not known: a list has to show that none is there. */
static void what_may_be_left_is_remembered_until_a_list_shows_none(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(rules_registry_free) struct rules_registry *registry = rules_registry_create();
    AUTO(rules_registry_free) struct rules_registry *restarted = rules_registry_create();
    struct scene s = a_scene(arena, "db", ASKS);
    struct stack stack;
    struct observed_cluster *cluster;
    struct rules_wishes wishes;
    const struct str key = STR("team/shop");
    uint32_t news = 0;

    (void)state;
    scene_play(&s, "cluster a; app db@a deployed 1");
    cluster = &s.observed.clusters.items[0];
    cluster->releases.items[0].manifest_workloads = STR("Deployment/db/web ");
    stack = *s.stack;
    rows_expect("it wants some", rules_registry_renew(registry, key, &stack, cluster), "something new");
    rows_expect("and says so once", !rules_registry_renew(registry, key, &stack, cluster), "nothing new");
    wishes = rules_registry_wishes(registry, arena);
    rows_expect_str("in the namespaces of its releases", wishes.items[0].namespaces, STR("db"));
    rows_expect_str("for their workloads", wishes.items[0].workloads, STR("Deployment/db/web "));
    rows_expect_str("with its webhooks", wishes.items[0].webhooks.items[0], STR("soc"));
    settle(registry, arena, STR(""), &news);
    rows_expect("it wants them still",
                rules_registry_wants(registry, key, RULES_ADMISSION) && rules_registry_wants(registry, key, RULES_RESPONSE) &&
                    !rules_registry_leaves(registry, key),
                "wanted");
    stack.meta.deletion_timestamp = STR("2026-11-23T10:00:00Z");
    rows_expect("deleted it wants none", rules_registry_renew(registry, key, &stack, cluster), "something new");
    rows_expect("some may be left", rules_registry_leaves(registry, key), "left");
    settle(registry, arena, STR(""), &news);
    rows_expect_int("told", news, 1);
    rows_expect("after a restart, too", rules_registry_renew(restarted, key, &stack, cluster) && rules_registry_leaves(restarted, key),
                "left");
    settle(restarted, arena, stack.meta.uid, &news);
    rows_expect("while a list shows one", rules_registry_leaves(restarted, key), "left");
    settle(restarted, arena, STR(""), &news);
    rows_expect("until none does", !rules_registry_leaves(restarted, key) && !rules_registry_wishes(restarted, arena).count, "clear");
    rows_expect_int("told again", news, 2);
}

/* Lists are read for what is wanted or may be left: no Stack costs a list for wanting nothing. */
static void a_list_tells_of_stacks_that_come_later(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(rules_registry_free) struct rules_registry *registry = rules_registry_create();
    struct scene s = a_scene(arena, "db", "\"security\":\"enabled\"");
    struct stack stack;
    const struct observed_cluster *cluster;
    uint32_t news = 0;

    (void)state;
    scene_play(&s, "cluster a; app db@a deployed 1");
    cluster = &s.observed.clusters.items[0];
    stack = *s.stack;
    rows_expect("nothing is known", rules_registry_renew(registry, STR("team/shop"), &stack, cluster), "to be read");
    settle(registry, arena, STR("left"), &news);
    stack.meta.uid = STR("other");
    rows_expect("no mark of that one",
                !rules_registry_renew(registry, STR("team/other"), &stack, cluster) && !rules_registry_wishes(registry, arena).count,
                "nothing to read");
    stack.meta.uid = STR("left");
    rows_expect("a process before left that", rules_registry_renew(registry, STR("team/left"), &stack, cluster), "to be read");
    rows_expect_int("and no other", rules_registry_wishes(registry, arena).count, 1);
}

static void a_rejected_rule_is_the_trouble_of_its_stack_alone(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(rules_registry_free) struct rules_registry *registry = rules_registry_create();
    struct scene s = a_scene(arena, "db", ASKS);
    struct stack other;
    struct observed_cluster *cluster;
    struct rules_wishes wishes;
    struct rules_result result = looked(arena, STR(""));
    struct rules_trouble trouble = { STR("NeuVectorRuleRejected"), STR("Webhook soc is not defined") };
    uint32_t news = 0;

    (void)state;
    scene_play(&s, "cluster a; app db@a deployed 1");
    cluster = &s.observed.clusters.items[0];
    cluster->releases.items[0].manifest_workloads = STR("Deployment/db/web ");
    other = *s.stack;
    other.meta.uid = STR("other");
    rules_registry_renew(registry, STR("team/shop"), s.stack, cluster);
    rules_registry_renew(registry, STR("team/other"), &other, cluster);
    map_put(result.own_troubles, s.stack->meta.uid, &trouble);
    for (int i = 0; i < 2; i++) {
        wishes = rules_registry_wishes(registry, arena);
        rules_registry_settle(registry, &wishes, &result, count_news, &news);
    }
    rows_expect_str("told", rules_registry_trouble(registry, STR("team/shop")).message, trouble.message);
    rows_expect_str("to nobody else", rules_registry_trouble(registry, STR("team/other")).reason, STR(""));
    result = looked(arena, STR(""));
    rules_registry_settle(registry, &wishes, &result, count_news, &news);
    rows_expect_str("until it is accepted", rules_registry_trouble(registry, STR("team/shop")).reason, STR(""));
    rows_expect_int("each once", news, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(admission_rules_become_as_they_are_wanted),
        cmocka_unit_test(a_rule_denies_one_more_than_is_allowed),
        cmocka_unit_test(response_rules_become_as_they_are_wanted),
        cmocka_unit_test(a_response_rule_says_what_it_does_and_nothing_of_being_enabled),
        cmocka_unit_test(what_may_be_left_is_remembered_until_a_list_shows_none),
        cmocka_unit_test(a_list_tells_of_stacks_that_come_later),
        cmocka_unit_test(a_rejected_rule_is_the_trouble_of_its_stack_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
