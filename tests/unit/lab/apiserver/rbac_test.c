/* SPDX-License-Identifier: Apache-2.0 */
/* rbac_test.c: rules, bindings and what may be given away. */
#include "support/rows.h"

#include "lab/apiserver/rbac.h"

static void expect_text(const char *sentence, struct str got, const char *want)
{
    rows_expect_str(sentence, got, str_of(want));
}

static const char *const objects[] = {
    "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"reader\"},\"rules\":[{\"verbs\":[\"get\",\"list\"],"
    "\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"pods/log\"]},{\"verbs\":[\"get\"],\"nonResourceURLs\":["
    "\"/metrics\",\"/debug/*\"]}]}",
    "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"scaler\"},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":["
    "\"*\"],\"resources\":[\"*/scale\"]}]}",
    "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"all\"},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":["
    "\"*\"],\"resources\":[\"*\"]}]}",
    "{\"kind\":\"Role\",\"metadata\":{\"name\":\"one\",\"namespace\":\"a\"},\"rules\":[{\"verbs\":[\"update\"],"
    "\"apiGroups\":[\"apps\"],\"resources\":[\"deployments\"],\"resourceNames\":[\"web\"]}]}",
    "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"readers\"},\"roleRef\":{\"kind\":"
    "\"ClusterRole\",\"name\":\"reader\"},\"subjects\":[{\"kind\":\"Group\",\"name\":\"dev\"}]}",
    "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"scalers\"},\"roleRef\":{\"kind\":"
    "\"ClusterRole\",\"name\":\"scaler\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"namespace\":\"b\","
    "\"name\":\"bot\"}]}",
    "{\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"web\",\"namespace\":\"a\"},\"roleRef\":{\"kind\":\"Role\","
    "\"name\":\"one\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"ann\"},{\"kind\":\"ServiceAccount\","
    "\"name\":\"bot\"}]}",
    "{\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"all\",\"namespace\":\"a\"},\"roleRef\":{\"kind\":"
    "\"ClusterRole\",\"name\":\"all\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"boss\"}]}",
    "{\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"broken\",\"namespace\":\"a\"},\"roleRef\":{\"kind\":"
    "\"Role\",\"name\":\"gone\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"lost\"}]}",
    "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"broken\"},\"roleRef\":{\"kind\":"
    "\"ClusterRole\",\"name\":\"gone\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"lost\"}]}",
};

static struct rbac_policy *policy_new(struct arena *arena)
{
    struct rbac_policy *policy = rbac_policy_new(arena);

    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        struct json object;
        struct error err;

        if (json_read(arena, str_of(objects[i]), &json_limits_default, &object, &err) != 0)
            fail_msg("%s", err.text);
        rbac_policy_add(policy, object);
    }
    return policy;
}

#define BOT "system:serviceaccount:b:bot"

static const struct row {
    const char *sentence, *user, *group;
    const char *verb, *api_group, *resource, *sub, *name, *namespace_, *path;
    bool allowed;
    const char *why;
} rows[] = {
    { "nobody in particular may nothing", "x", "", "get", "", "pods", "", "p", "a", "", false, "" },
    { "a group's right holds in each namespace", "x", "dev", "get", "", "pods", "", "p", "a", "", true,
      "RBAC: allowed by ClusterRoleBinding \"readers\" of ClusterRole \"reader\" to Group \"dev\"" },
    { "another verb is another right", "x", "dev", "delete", "", "pods", "", "p", "a", "", false, "" },
    { "another API group, too", "x", "dev", "get", "apps", "pods", "", "p", "a", "", false, "" },
    { "a subresource is named by itself", "x", "dev", "get", "", "pods", "log", "p", "a", "", true, NULL },
    { "what is not named is not meant", "x", "dev", "get", "", "pods", "exec", "p", "a", "", false, "" },
    { "a path", "x", "dev", "get", "", "", "", "", "", "/metrics", true, NULL },
    { "is not what stands below it", "x", "dev", "get", "", "", "", "", "", "/metrics/x", false, "" },
    { "unless a star says so", "x", "dev", "get", "", "", "", "", "", "/debug/x/y", true, NULL },
    { "a star for resources is none for paths", "boss", "", "get", "", "", "", "", "a", "/x", false, "" },
    { "a ServiceAccount by its user name", BOT, "", "patch", "apps", "deployments", "scale", "w", "a",
      "", true,
      "RBAC: allowed by ClusterRoleBinding \"scalers\" of ClusterRole \"scaler\" to ServiceAccount "
      "\"bot/b\"" },
    { "a star before a subresource is for that alone", BOT, "", "patch", "apps", "deployments", "", "w",
      "a", "", false, "" },
    { "the same name in another namespace is another one", "system:serviceaccount:c:bot", "", "patch",
      "apps", "deployments", "scale", "w", "a", "", false, "" },
    { "a RoleBinding's account without namespace is of its own", "system:serviceaccount:a:bot", "",
      "update", "apps", "deployments", "", "web", "a", "", true,
      "RBAC: allowed by RoleBinding \"web/a\" of Role \"one\" to ServiceAccount \"bot/a\"" },
    { "one object by its name", "ann", "", "update", "apps", "deployments", "", "web", "a", "", true,
      "RBAC: allowed by RoleBinding \"web/a\" of Role \"one\" to User \"ann\"" },
    { "no other object", "ann", "", "update", "apps", "deployments", "", "db", "a", "", false, "" },
    { "and none without a name", "ann", "", "update", "apps", "deployments", "", "", "a", "", false,
      "" },
    { "a Role ends with its namespace", "ann", "", "update", "apps", "deployments", "", "web", "b", "",
      false, "" },
    { "a ClusterRole bound in a namespace holds there", "boss", "", "delete", "x", "y", "z", "", "a", "",
      true, NULL },
    { "and nowhere else", "boss", "", "delete", "x", "y", "z", "", "", "", false, "" },
    { "roles that are gone are named, those of the cluster first", "lost", "", "get", "", "pods", "", "",
      "a", "", false,
      "RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, "
      "role.rbac.authorization.k8s.io \"gone\" not found]" },
    { "a group's name is no user's", "dev", "", "get", "", "pods", "", "", "a", "", false, "" },
};

static struct rbac_user user_of(struct arena *arena, const char *name, const char *group)
{
    struct rbac_user user = { str_of(name), str_list_new(arena, 1) };

    if (*group)
        str_list_push(&user.groups, str_of(group));
    return user;
}

static void test_access(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct rbac_policy *policy = policy_new(arena);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct rbac_user user = user_of(arena, row->user, row->group);
        struct access access = { .verb = str_of(row->verb),
                                 .group = str_of(row->api_group),
                                 .resource = str_of(row->resource),
                                 .sub_resource = str_of(row->sub),
                                 .name = str_of(row->name),
                                 .namespace_ = str_of(row->namespace_),
                                 .path = str_of(row->path) };
        struct str why;

        rows_expect_int(row->sentence, rbac_allows(policy, arena, &user, &access, &why),
                        row->allowed);
        if (row->why)
            expect_text(row->sentence, why, row->why);
    }
}

static const struct give_row {
    const char *sentence, *held, *wanted;
    const char *missing; /* lines, "" = nothing */
} gives[] = {
    { "nothing is missing of nothing", "[]", "[]", "" },
    { "who has nothing gives nothing", "[]",
      "[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"pods/log\"]}]",
      "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}\n"
      "{APIGroups:[\"\"], Resources:[\"pods/log\"], Verbs:[\"get\" \"list\"]}" },
    { "only what is not held is missing",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"*\"]}]",
      "[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]",
      "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}" },
    { "each name is a right of its own",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"resourceNames\":[\"a\"]}]",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"resourceNames\":[\"a\","
      "\"b\"]}]",
      "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}" },
    { "a right on one object is none on all",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"resourceNames\":[\"a\"]}]",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]",
      "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}" },
    { "a star covers all, and only a star covers a star",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}]",
      "[{\"verbs\":[\"*\"],\"apiGroups\":[\"x\"],\"resources\":[\"y\"]}]",
      "{APIGroups:[\"x\"], Resources:[\"y\"], Verbs:[\"*\"]}" },
    { "a star before a slash covers that subresource",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"*/scale\"]}]",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"a/scale\",\"b\"]}]",
      "{APIGroups:[\"\"], Resources:[\"b\"], Verbs:[\"get\"]}" },
    { "paths", "[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/a/*\"]}]",
      "[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/a/b\",\"/c\"]}]",
      "{NonResourceURLs:[\"/c\"], Verbs:[\"get\"]}" },
    { "rights of several rules add up",
      "[{\"verbs\":[\"get\"],\"apiGroups\":[\"a\"],\"resources\":[\"x\"]},{\"verbs\":[\"list\"],\"apiGroups\":"
      "[\"a\"],\"resources\":[\"x\"]}]",
      "[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"a\"],\"resources\":[\"x\"]}]", "" },
};

static struct rbac_rules rules_of(struct arena *arena, const char *text)
{
    struct json json;
    struct error err;

    if (json_read(arena, str_of(text), &json_limits_default, &json, &err) != 0)
        fail_msg("%s", err.text);
    return rbac_rules_read(arena, json);
}

static void test_missing(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(gives) / sizeof(gives[0]); i++) {
        struct rbac_rules held = rules_of(arena, gives[i].held);
        struct rbac_rules wanted = rules_of(arena, gives[i].wanted);
        struct str_list missing = rbac_missing(arena, &held, &wanted);
        struct strbuf text = strbuf_new(arena, 128);

        for (uint32_t k = 0; k < missing.count; k++) {
            if (k)
                strbuf_char(&text, '\n');
            strbuf_put(&text, missing.items[k]);
        }
        expect_text(gives[i].sentence, strbuf_str(&text), gives[i].missing);
    }
}

/* More rights than are looked at one by one: the rest counts as everything. */
static void test_bound(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rbac_rules held = rules_of(arena, "[{\"verbs\":[\"get\"],\"apiGroups\":[\"*\"],\"resources\":"
                                             "[\"*\"]}]");
    struct rbac_rules wanted = rbac_rules_new(arena, 1);
    struct rbac_rule rule = { .verbs = str_list_new(arena, 1),
                              .groups = str_list_new(arena, 1),
                              .resources = str_list_new(arena, 1),
                              .names = str_list_new(arena, 1),
                              .paths = str_list_new(arena, 1) };

    (void)state;
    str_list_push(&rule.verbs, STR("get"));
    str_list_push(&rule.groups, STR(""));
    for (int i = 0; i < 5000; i++)
        str_list_push(&rule.resources, str_fmt(arena, "r%d", i));
    rbac_rules_push(&wanted, rule);
    assert_int_equal(rbac_missing(arena, &held, &wanted).count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
