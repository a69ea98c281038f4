/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep_test.c: which objects are applied and removed, given those that are there. */
#include "support/rows.h"

#include "controller/backends/observability/upkeep.h"
#include "stack/observability/monitoring_objects.h"

#define RULE(name, stack, groups)                                                                  \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"" name                                       \
    "\",\"annotations\":{\"" MONITORING_STACK "\":\"" stack "\"}},"                                \
    "\"spec\":{\"groups\":" groups "}}"
#define LIST(items) "{\"items\":[" items "]}"

static struct upkeep one_rule(struct arena *arena)
{
    struct upkeep upkeep = upkeep_new(arena);

    upkeep_objects_push(&upkeep.rules,
                        (struct upkeep_object){ STR("shop"), STR("herd-web"),
                                                STR(RULE("herd-web", "team/shop", "[1]")),
                                                STR("team/shop") });
    set_add(upkeep.stacks, STR("team/shop"));
    return upkeep;
}

static struct str told(struct arena *arena, const struct upkeep_changes *changes)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < changes->count; i++)
        strbuf_fmt(&out, "%s %.*s/%.*s;", kube_verb_name(changes->items[i].request.verb),
                   STR_ARG(changes->items[i].request.namespace_),
                   STR_ARG(changes->items[i].request.name));
    return strbuf_str(&out);
}

static void rules_are_set_right(void **state)
{
    static const struct {
        const char *row, *stored, *want;
    } rows[] = {
        { "none is there", LIST(""), "create shop/herd-web;" },
        { "it is there", LIST(RULE("herd-web", "team/shop", "[1]")), "" },
        { "it was changed", LIST(RULE("herd-web", "team/shop", "[]")), "patch shop/herd-web;" },
        { "the Stack has one too many",
          LIST(RULE("herd-web", "team/shop", "[1]") "," RULE("herd-db", "team/shop", "[1]")),
          "delete shop/herd-db;" },
        { "that of a Stack that did not say what it wants stays",
          LIST(RULE("herd-web", "team/shop", "[1]") "," RULE("herd-db", "team/other", "[1]")), "" },
        { "one that names no Stack stays",
          LIST(RULE("herd-web", "team/shop", "[1]") "," RULE("herd-db", "", "[1]")), "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct upkeep upkeep = one_rule(arena);
        struct upkeep_changes changes = upkeep_changes_new(arena, 2);
        struct error err = { 0 };

        rows_expect_int(rows[i].row,
                        upkeep_rules(arena, &upkeep, str_of(rows[i].stored), &changes, &err), 0);
        rows_expect_str(rows[i].row, told(arena, &changes), str_of(rows[i].want));
    }
}

#define MAP(name, text)                                                                            \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\"},\"data\":{\"a\":\"" text "\"}}"

static void dashboards_stay_while_somebody_wants_them(void **state)
{
    static const struct {
        const char *row, *stored, *want, *in_place;
    } rows[] = {
        { "none is there", LIST(""), "create d/one;", "" },
        { "it is there", LIST(MAP("one", "x")), "", "one" },
        { "one that nobody wants any more", LIST(MAP("one", "x") "," MAP("two", "x")),
          "delete d/two;", "one" },
        { "one that a paused Stack has", LIST(MAP("one", "x") "," MAP("four", "x")), "", "one" },
        { "one that nobody ever wanted", LIST(MAP("one", "y") "," MAP("three", "x")),
          "patch d/one;", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct upkeep upkeep = upkeep_new(arena);
        struct upkeep_changes changes = upkeep_changes_new(arena, 2);
        struct str_list in_place = str_list_new(arena, 2);
        struct error err = { 0 };

        upkeep_objects_push(
            &upkeep.dashboards,
            (struct upkeep_object){ STR("d"), STR("one"), STR(MAP("one", "x")), STR("") });
        str_list_push(&upkeep.dropped, STR("one")); /* by another Stack */
        str_list_push(&upkeep.dropped, STR("two"));
        str_list_push(&upkeep.dropped, STR("four"));
        str_list_push(&upkeep.kept, STR("four"));
        rows_expect_int(
            rows[i].row,
            upkeep_dashboards(arena, &upkeep, str_of(rows[i].stored), &changes, &in_place, &err),
            0);
        rows_expect_str(rows[i].row, told(arena, &changes), str_of(rows[i].want));
        rows_expect_str(rows[i].row, in_place.count ? in_place.items[0] : STR(""),
                        str_of(rows[i].in_place));
    }
}

/* A list has only what carries Herd's label: no request may change what it does not show. */
static void nothing_of_others_is_changed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct upkeep upkeep = one_rule(arena);
    struct upkeep_changes changes = upkeep_changes_new(arena, 2);
    struct error err = { 0 };

    (void)state;
    upkeep_rules(arena, &upkeep,
                 STR(LIST("{\"metadata\":{\"namespace\":\"shop\",\"name\":\"herd-db\","
                          "\"uid\":\"u\",\"resourceVersion\":\"7\","
                          "\"annotations\":{\"" MONITORING_STACK "\":\"team/shop\"}}}")),
                 &changes, &err);
    rows_expect_int("two changes", changes.count, 2);
    rows_expect_str(
        "what was listed and nothing else is removed", changes.items[0].request.body,
        STR("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"propagationPolicy\":"
            "\"Background\",\"preconditions\":{\"uid\":\"u\",\"resourceVersion\":\"7\"}}"));
    rows_expect_str("whose the one is that is removed", changes.items[0].stack, STR("team/shop"));
    rows_expect_str("whose the one is that is created", changes.items[1].stack, STR("team/shop"));
    rows_expect_str("a name that is taken is refused",
                    kube_request_path(arena, &changes.items[1].request),
                    STR("/apis/monitoring.coreos.com/v1/namespaces/shop/"
                        "prometheusrules?fieldManager=herd-controller"));
}

static void what_is_listed_is_herds(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    rows_expect_str("rules", upkeep_rules_path(arena),
                    STR("/apis/monitoring.coreos.com/v1/"
                        "prometheusrules?labelSelector=app.kubernetes.io%2Fmanaged-by%3DHerd"));
    rows_expect_str(
        "dashboards", upkeep_dashboards_path(arena, STR("d")),
        STR("/api/v1/namespaces/d/configmaps?labelSelector=app.kubernetes.io%2Fmanaged-by%3DHerd"));
}

static void a_long_list_is_read(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct upkeep upkeep = one_rule(arena);
    struct upkeep_changes changes = upkeep_changes_new(arena, 2);
    struct strbuf body = strbuf_new(arena, 1024 * 1024);
    struct error err = { 0 };

    (void)state;
    strbuf_lit(&body, "{\"items\":[");
    for (int i = 0; i < 40000; i++)
        strbuf_fmt(&body, "%s{\"metadata\":{\"name\":\"r-%d\"},\"spec\":{\"groups\":[1]}}",
                   i ? "," : "", i);
    strbuf_lit(&body, "]}");
    rows_expect_int("it is read", upkeep_rules(arena, &upkeep, strbuf_str(&body), &changes, &err),
                    0);
    rows_expect_int("what it lacks is created", changes.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_set_right),
        cmocka_unit_test(dashboards_stay_while_somebody_wants_them),
        cmocka_unit_test(nothing_of_others_is_changed),
        cmocka_unit_test(what_is_listed_is_herds),
        cmocka_unit_test(a_long_list_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
