/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.c: rows to JSON. */
#include "lab/apiserver/bootstrap.h"

#include "text/json_write.h"

#define READ "get,list,watch"
#define WRITE "create,delete,deletecollection,patch,update"

static const struct role_row {
    const char *name, *to, *from;
} roles[] = {
#define ROLE(name, to, from) { name, to, from },
#define RULE(role, verbs, groups, resources)
#define PATHS(role, verbs, paths)
#define BINDING(role, groups)
#include "lab/apiserver/bootstrap.def"
#undef ROLE
#undef RULE
#undef PATHS
#undef BINDING
};

static const struct rule_row {
    const char *role, *verbs, *groups, *resources, *paths;
} rules[] = {
#define ROLE(name, to, from)
#define RULE(role, verbs, groups, resources) { role, verbs, groups, resources, "" },
#define PATHS(role, verbs, paths) { role, verbs, "", "", paths },
#define BINDING(role, groups)
#include "lab/apiserver/bootstrap.def"
#undef ROLE
#undef RULE
#undef PATHS
#undef BINDING
};

static const struct binding_row {
    const char *role, *groups;
} bindings[] = {
#define ROLE(name, to, from)
#define RULE(role, verbs, groups, resources)
#define PATHS(role, verbs, paths)
#define BINDING(role, groups) { role, groups },
#include "lab/apiserver/bootstrap.def"
#undef ROLE
#undef RULE
#undef PATHS
#undef BINDING
};

#define COUNT(table) (uint32_t)(sizeof(table) / sizeof((table)[0]))
#define GROUP "rbac.authorization.k8s.io"

uint32_t bootstrap_count(void)
{
    return COUNT(roles) + COUNT(bindings);
}

static void put_words(struct json_writer *w, const char *key, const char *words)
{
    struct str rest = str_of(words);
    struct str word;

    if (rest.len == 0)
        return;
    json_put_key(w, str_of(key));
    json_open_array(w);
    while (rest.len && str_split(&rest, ',', &word))
        json_put_str(w, str_eq(word, STR("core")) ? STR("") : word);
    json_close_array(w);
}

static void begin(struct arena *arena, struct json_writer *w, const char *kind, const char *name,
                  const char *aggregate_to)
{
    json_open_object(w);
    json_field_str(w, "apiVersion", STR(GROUP "/v1"));
    json_field_str(w, "kind", str_of(kind));
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    json_field_str(w, "name", str_of(name));
    json_field_raw(w, "annotations",
                   STR("{\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"}"));
    json_put_key(w, STR("labels"));
    json_open_object(w);
    json_field_str(w, "kubernetes.io/bootstrapping", STR("rbac-defaults"));
    if (*aggregate_to) {
        json_put_key(w, str_fmt(arena, GROUP "/aggregate-to-%s", aggregate_to));
        json_put_str(w, STR("true"));
    }
    json_close_object(w);
    json_close_object(w);
}

static void put_role(struct arena *arena, struct json_writer *w, const struct role_row *role)
{
    begin(arena, w, "ClusterRole", role->name, role->to);
    if (*role->from)
        json_field_raw(w, "aggregationRule",
                       str_fmt(arena,
                               "{\"clusterRoleSelectors\":[{\"matchLabels\":{\"" GROUP
                               "/aggregate-to-%s\":\"true\"}}]}",
                               role->from));
    json_put_key(w, STR("rules"));
    json_open_array(w);
    for (uint32_t i = 0; i < COUNT(rules); i++) {
        if (strcmp(rules[i].role, role->name) != 0)
            continue;
        json_open_object(w);
        put_words(w, "apiGroups", rules[i].groups);
        put_words(w, "nonResourceURLs", rules[i].paths);
        put_words(w, "resources", rules[i].resources);
        put_words(w, "verbs", rules[i].verbs);
        json_close_object(w);
    }
    json_close_array(w);
    json_close_object(w);
}

static void put_binding(struct arena *arena, struct json_writer *w, const struct binding_row *row)
{
    struct str rest = str_of(row->groups);
    struct str group;

    begin(arena, w, "ClusterRoleBinding", row->role, "");
    json_field_raw(w, "roleRef",
                   str_fmt(arena,
                           "{\"apiGroup\":\"" GROUP "\",\"kind\":\"ClusterRole\",\"name\":\"%s\"}",
                           row->role));
    json_put_key(w, STR("subjects"));
    json_open_array(w);
    while (rest.len && str_split(&rest, ',', &group)) {
        json_open_object(w);
        json_field_str(w, "apiGroup", STR(GROUP));
        json_field_str(w, "kind", STR("Group"));
        json_field_str(w, "name", group);
        json_close_object(w);
    }
    json_close_array(w);
    json_close_object(w);
}

void bootstrap_object(struct arena *arena, uint32_t index, struct str *ret_plural,
                      struct str *ret_name, struct str *ret_object)
{
    struct strbuf out = strbuf_new(arena, 1024);
    struct json_writer w = json_writer(&out);
    bool is_role = index < COUNT(roles);

    if (is_role)
        put_role(arena, &w, &roles[index]);
    else
        put_binding(arena, &w, &bindings[index - COUNT(roles)]);
    *ret_plural = is_role ? STR("clusterroles") : STR("clusterrolebindings");
    *ret_name = str_of(is_role ? roles[index].name : bindings[index - COUNT(roles)].role);
    *ret_object = strbuf_str(&out);
}
