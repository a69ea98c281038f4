/* SPDX-License-Identifier: Apache-2.0 */
/* rbac.c: whose binding gives which role, and what its rules allow. */
#include "lab/apiserver/rbac.h"

#include "base/map.h"
#include "lab/apiserver/finding.h"

struct subject {
    struct str kind, name, namespace_;
};

LIST_DEFINE(subjects, struct subject)

struct binding {
    struct str namespace_, name; /* namespace "": a ClusterRoleBinding */
    struct str role_kind, role_name;
    struct subjects subjects;
};

LIST_DEFINE(bindings, struct binding)

struct role {
    struct rbac_rules rules;
};

struct rbac_policy {
    struct arena *arena;
    struct map *roles; /* "namespace/name" -> struct role; ClusterRoles have no namespace */
    struct bindings bindings;
};

struct rbac_policy *rbac_policy_new(struct arena *arena)
{
    struct rbac_policy *policy = arena_new(arena, struct rbac_policy);

    policy->arena = arena;
    policy->roles = map_new(arena, 64);
    policy->bindings = bindings_new(arena, 32);
    return policy;
}

static struct str_list texts(struct arena *arena, struct json list)
{
    struct str_list result = str_list_new(arena, json_count(list));
    struct json_iter it = json_iter(list);

    while (json_next(&it))
        str_list_push(&result, str_dup(arena, json_str(it.value)));
    return result;
}

struct rbac_rules rbac_rules_read(struct arena *arena, struct json rules)
{
    struct rbac_rules result = rbac_rules_new(arena, json_count(rules));
    struct json_iter it = json_iter(rules);

    while (json_next(&it))
        rbac_rules_push(&result,
                        (struct rbac_rule){
                            .verbs = texts(arena, json_get(it.value, STR("verbs"))),
                            .groups = texts(arena, json_get(it.value, STR("apiGroups"))),
                            .resources = texts(arena, json_get(it.value, STR("resources"))),
                            .names = texts(arena, json_get(it.value, STR("resourceNames"))),
                            .paths = texts(arena, json_get(it.value, STR("nonResourceURLs"))),
                        });
    return result;
}

static struct str role_key(struct arena *arena, struct str namespace_, struct str name)
{
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
}

static void add_role(struct rbac_policy *p, struct str namespace_, struct str name,
                     struct json object)
{
    struct role *role = arena_new(p->arena, struct role);

    role->rules = rbac_rules_read(p->arena, json_get(object, STR("rules")));
    map_put(p->roles, role_key(p->arena, namespace_, name), role);
}

static struct str member(struct rbac_policy *p, struct json of, struct str name)
{
    return str_dup(p->arena, json_str(json_get(of, name)));
}

static void add_binding(struct rbac_policy *p, struct str namespace_, struct str name,
                        struct json object)
{
    struct json role = json_get(object, STR("roleRef"));
    struct json list = json_get(object, STR("subjects"));
    struct json_iter it = json_iter(list);
    struct binding binding = {
        .namespace_ = str_dup(p->arena, namespace_),
        .name = str_dup(p->arena, name),
        .role_kind = member(p, role, STR("kind")),
        .role_name = member(p, role, STR("name")),
        .subjects = subjects_new(p->arena, json_count(list)),
    };

    while (json_next(&it))
        subjects_push(&binding.subjects, (struct subject){ member(p, it.value, STR("kind")),
                                                           member(p, it.value, STR("name")),
                                                           member(p, it.value, STR("namespace")) });
    bindings_push(&p->bindings, binding);
}

void rbac_policy_add(struct rbac_policy *p, struct json object)
{
    struct str kind = json_str(json_get(object, STR("kind")));
    struct str name = json_str(json_walk(object, "metadata", "name", NULL));
    struct str namespace_ = json_str(json_walk(object, "metadata", "namespace", NULL));

    if (str_eq(kind, STR("ClusterRole")) || str_eq(kind, STR("Role")))
        add_role(p, namespace_, name, object);
    else if (str_eq(kind, STR("ClusterRoleBinding")) || str_eq(kind, STR("RoleBinding")))
        add_binding(p, namespace_, name, object);
}

static bool has(const struct str_list *list, struct str one)
{
    return str_list_has(list, STR("*")) || str_list_has(list, one);
}

/* "pods/log" is named as such, or by a star for all resources or for all that have it. */
static bool names_resource(const struct str_list *list, struct str resource, struct str sub)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct str row = list->items[i];
        ptrdiff_t slash = str_find_char(row, '/', 0);
        struct str first = slash < 0 ? row : str_slice(row, 0, (size_t)slash);
        struct str second = slash < 0 ? STR("") : str_slice(row, (size_t)slash + 1, row.len);

        if (str_eq(row, STR("*")) ||
            (str_eq(second, sub) &&
             (str_eq(first, resource) || (sub.len && str_eq(first, STR("*"))))))
            return true;
    }
    return false;
}

static bool names_path(const struct str_list *list, struct str path)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct str row = list->items[i];

        if (str_eq(row, path) ||
            (str_ends(row, STR("*")) && str_starts(path, str_slice(row, 0, row.len - 1))))
            return true;
    }
    return false;
}

bool rbac_rule_allows(const struct rbac_rule *rule, const struct access *access)
{
    if (!has(&rule->verbs, access->verb))
        return false;
    if (access->path.len)
        return names_path(&rule->paths, access->path);
    return has(&rule->groups, access->group) &&
           names_resource(&rule->resources, access->resource, access->sub_resource) &&
           (rule->names.count == 0 || str_list_has(&rule->names, access->name));
}

/* A ServiceAccount's user name is system:serviceaccount:<namespace>:<name>. */
static bool is_account(struct str user, struct str namespace_, struct str name)
{
    struct str rest = user, prefix = STR("system:serviceaccount:");

    if (namespace_.len == 0 || !str_starts(rest, prefix) ||
        rest.len != prefix.len + namespace_.len + 1 + name.len)
        return false;
    rest = str_slice(rest, prefix.len, rest.len);
    return str_starts(rest, namespace_) && rest.at[namespace_.len] == ':' && str_ends(rest, name);
}

static bool is_subject(const struct subject *subject, const struct binding *binding,
                       const struct rbac_user *user)
{
    if (str_eq(subject->kind, STR("User")))
        return str_eq(subject->name, user->name);
    if (str_eq(subject->kind, STR("Group")))
        return str_list_has(&user->groups, subject->name);
    return str_eq(subject->kind, STR("ServiceAccount")) &&
           is_account(user->name,
                      subject->namespace_.len ? subject->namespace_ : binding->namespace_,
                      subject->name);
}

/* The subject that makes the binding the user's; NULL: it is somebody else's. */
static const struct subject *find_subject(const struct binding *binding,
                                          const struct rbac_user *user)
{
    for (uint32_t i = 0; i < binding->subjects.count; i++)
        if (is_subject(&binding->subjects.items[i], binding, user))
            return &binding->subjects.items[i];
    return NULL;
}

bool rbac_role(const struct rbac_policy *policy, struct str namespace_, struct str name,
               struct rbac_rules *ret_rules)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    const struct role *role = map_get(policy->roles, role_key(scratch, namespace_, name));

    if (role)
        *ret_rules = role->rules;
    return role != NULL;
}

static bool role_of(const struct rbac_policy *policy, const struct binding *binding,
                    struct rbac_rules *ret_rules)
{
    bool whole = str_eq(binding->role_kind, STR("ClusterRole"));

    return rbac_role(policy, whole ? STR("") : binding->namespace_, binding->role_name, ret_rules);
}

static struct str explain(struct arena *arena, const struct binding *binding,
                          const struct subject *subject)
{
    struct strbuf text = strbuf_new(arena, 128);

    strbuf_lit(&text, "RBAC: allowed by ");
    strbuf_put(&text, binding->namespace_.len ? STR("RoleBinding ") : STR("ClusterRoleBinding "));
    finding_quote(&text, binding->namespace_.len
                             ? role_key(arena, binding->name, binding->namespace_)
                             : binding->name);
    strbuf_fmt(&text, " of %.*s ", STR_ARG(binding->role_kind));
    finding_quote(&text, binding->role_name);
    strbuf_fmt(&text, " to %.*s ", STR_ARG(subject->kind));
    finding_quote(
        &text, str_eq(subject->kind, STR("ServiceAccount"))
                   ? role_key(arena, subject->name,
                              subject->namespace_.len ? subject->namespace_ : binding->namespace_)
                   : subject->name);
    return strbuf_str(&text);
}

/* As an aggregate error: each once, in brackets when there are several. */
static struct str explain_absent(struct arena *arena, const struct str_list *absent)
{
    struct strbuf text = strbuf_new(arena, 64);

    if (absent->count == 0)
        return STR("");
    strbuf_lit(&text, "RBAC: ");
    if (absent->count > 1)
        strbuf_char(&text, '[');
    for (uint32_t i = 0; i < absent->count; i++) {
        if (i)
            strbuf_lit(&text, ", ");
        strbuf_put(&text, absent->items[i]);
    }
    if (absent->count > 1)
        strbuf_char(&text, ']');
    return strbuf_str(&text);
}

static void note_absent(struct arena *arena, const struct binding *binding, struct str_list *absent)
{
    struct strbuf text = strbuf_new(arena, 64);

    strbuf_put(&text,
               str_eq(binding->role_kind, STR("ClusterRole")) ? STR("clusterrole") : STR("role"));
    strbuf_lit(&text, ".rbac.authorization.k8s.io ");
    finding_quote(&text, binding->role_name);
    strbuf_lit(&text, " not found");
    if (!str_list_has(absent, strbuf_str(&text)))
        str_list_push(absent, strbuf_str(&text));
}

/* Bindings of the whole cluster come before those of the namespace. */
static bool counts(const struct binding *binding, struct str namespace_, bool of_namespace)
{
    if (!of_namespace)
        return binding->namespace_.len == 0;
    return binding->namespace_.len && str_eq(binding->namespace_, namespace_);
}

bool rbac_allows(const struct rbac_policy *policy, struct arena *arena,
                 const struct rbac_user *user, const struct access *access, struct str *ret_why)
{
    struct str_list absent = str_list_new(arena, 0);

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < policy->bindings.count; i++) {
            const struct binding *binding = &policy->bindings.items[i];
            const struct subject *subject;
            struct rbac_rules rules;

            if (!counts(binding, access->namespace_, pass == 1))
                continue;
            subject = find_subject(binding, user);
            if (!subject)
                continue;
            if (!role_of(policy, binding, &rules)) {
                note_absent(arena, binding, &absent);
                continue;
            }
            for (uint32_t k = 0; k < rules.count; k++)
                if (rbac_rule_allows(&rules.items[k], access)) {
                    *ret_why = explain(arena, binding, subject);
                    return true;
                }
        }
    *ret_why = explain_absent(arena, &absent);
    return false;
}

struct rbac_rules rbac_rules_of(const struct rbac_policy *policy, struct arena *arena,
                                const struct rbac_user *user, struct str namespace_)
{
    struct rbac_rules result = rbac_rules_new(arena, 16);

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < policy->bindings.count; i++) {
            const struct binding *binding = &policy->bindings.items[i];
            struct rbac_rules rules;

            if (!counts(binding, namespace_, pass == 1) || !find_subject(binding, user) ||
                !role_of(policy, binding, &rules))
                continue;
            for (uint32_t k = 0; k < rules.count; k++)
                rbac_rules_push(&result, rules.items[k]);
        }
    return result;
}
