/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_roles.c: defaults and rules of rbac.authorization.k8s.io/v1. */
#include "lab/apiserver/builtin_roles.h"

#define GROUP "rbac.authorization.k8s.io"

static bool is(const struct kind *kind, const char *plural)
{
    return !kind_has(kind, KIND_CUSTOM) && str_eq(kind->group, STR(GROUP)) &&
           str_eq(kind->plural, str_of(plural));
}

static bool is_binding(const struct kind *kind)
{
    return is(kind, "rolebindings") || is(kind, "clusterrolebindings");
}

static struct str text_of(const struct value *of, const char *key)
{
    return value_text(value_get(of, str_of(key)));
}

void roles_default(struct arena *arena, const struct kind *kind, struct value *object)
{
    struct value *subject, *role;

    if (!is_binding(kind))
        return;
    role = value_object_at(arena, object, STR("roleRef"));
    if (role && text_of(role, "apiGroup").len == 0)
        value_set(arena, role, STR("apiGroup"), value_str(arena, STR(GROUP)));
    for (subject = value_first(value_get(object, STR("subjects"))); subject;
         subject = value_next(subject))
        if (text_of(subject, "apiGroup").len == 0 &&
            (str_eq(text_of(subject, "kind"), STR("User")) ||
             str_eq(text_of(subject, "kind"), STR("Group"))))
            value_set(arena, subject, STR("apiGroup"), value_str(arena, STR(GROUP)));
}

/* A list of texts as the API server shows one of its own types: ["a","b"]. */
static void invalid_raw(struct findings *found, const struct path *at, struct str shown,
                        const char *why)
{
    findings_push(found, (struct finding){ FINDING_INVALID, path_render(at, found->arena),
                                           str_fmt(found->arena, "Invalid value: %.*s: %s",
                                                   STR_ARG(shown), why) });
}

static void check_rule(struct arena *arena, const struct value *rule, bool namespaced,
                       const struct path *at, struct findings *found)
{
    const struct value *paths = value_get(rule, STR("nonResourceURLs"));
    struct path verbs = path_field(at, STR("verbs")), urls = path_field(at, STR("nonResourceURLs"));
    struct path groups = path_field(at, STR("apiGroups"));
    struct path resources = path_field(at, STR("resources"));

    if (value_count(value_get(rule, STR("verbs"))) == 0)
        finding_required(found, &verbs, STR("verbs must contain at least one value"));
    if (value_count(paths)) {
        if (namespaced)
            invalid_raw(found, &urls, value_json(arena, paths),
                        "namespaced rules cannot apply to non-resource URLs");
        if (value_count(value_get(rule, STR("apiGroups"))) ||
            value_count(value_get(rule, STR("resources"))) ||
            value_count(value_get(rule, STR("resourceNames"))))
            invalid_raw(found, &urls, value_json(arena, paths),
                        "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (value_count(value_get(rule, STR("apiGroups"))) == 0)
        finding_required(found, &groups, STR("resource rules must supply at least one api group"));
    if (value_count(value_get(rule, STR("resources"))) == 0)
        finding_required(found, &resources,
                         STR("resource rules must supply at least one resource"));
}

static void check_role(struct arena *arena, const struct kind *kind, const struct value *object,
                       struct findings *found)
{
    const struct value *rule = value_first(value_get(object, STR("rules")));
    const struct value *aggregation = value_get(object, STR("aggregationRule"));
    struct path list = path_field(NULL, STR("rules"));
    struct path up = path_field(NULL, STR("aggregationRule"));
    struct path selectors = path_field(&up, STR("clusterRoleSelectors"));

    for (uint32_t index = 0; rule; rule = value_next(rule), index++) {
        struct path at = path_index(&list, index);

        check_rule(arena, rule, kind->namespaced, &at, found);
    }
    if (value_kind(aggregation) == JSON_OBJECT &&
        value_count(value_get(aggregation, STR("clusterRoleSelectors"))) == 0)
        finding_required(found, &selectors,
                         STR("at least one clusterRoleSelector required if "
                             "aggregationRule is non-nil"));
}

static void not_supported(struct arena *arena, const struct value *of, const char *key,
                          const struct path *up, const char *const *supported, uint32_t count,
                          struct findings *found)
{
    struct path at = path_field(up, str_of(key));
    struct str_list list = str_list_new(arena, count);

    for (uint32_t i = 0; i < count; i++)
        str_list_push(&list, str_of(supported[i]));
    if (!str_list_has(&list, text_of(of, key)))
        finding_not_supported(found, &at, value_str(arena, text_of(of, key)), &list);
}

static void check_subject(struct arena *arena, const struct value *subject, bool namespaced,
                          const struct path *at, struct findings *found)
{
    static const char *const kinds[] = { "ServiceAccount", "User", "Group" };
    static const char *const groups[] = { GROUP }, *const none[] = { "" };
    struct path name = path_field(at, STR("name")), namespace_ = path_field(at, STR("namespace"));
    bool is_account = str_eq(text_of(subject, "kind"), STR("ServiceAccount"));
    bool is_person = str_eq(text_of(subject, "kind"), STR("User")) ||
                     str_eq(text_of(subject, "kind"), STR("Group"));

    if (text_of(subject, "name").len == 0)
        finding_required(found, &name, STR(""));
    if (!is_account && !is_person)
        not_supported(arena, subject, "kind", at, kinds, 3, found);
    else
        not_supported(arena, subject, "apiGroup", at, is_account ? none : groups, 1, found);
    if (is_account && !namespaced && text_of(subject, "namespace").len == 0)
        finding_required(found, &namespace_, STR(""));
}

static void check_binding(struct arena *arena, const struct kind *kind, const struct value *old,
                          const struct value *object, struct findings *found)
{
    static const char *const kinds[] = { "Role", "ClusterRole" }, *const groups[] = { GROUP };
    const struct value *subject = value_first(value_get(object, STR("subjects")));
    const struct value *role = value_get(object, STR("roleRef"));
    const struct value *was = value_get(old, STR("roleRef"));
    struct path at = path_field(NULL, STR("roleRef")), list = path_field(NULL, STR("subjects"));
    struct path name = path_field(&at, STR("name"));
    uint32_t from = kind->namespaced ? 0 : 1;

    not_supported(arena, role, "apiGroup", &at, groups, 1, found);
    not_supported(arena, role, "kind", &at, kinds + from, 2 - from, found);
    if (text_of(role, "name").len == 0)
        finding_required(found, &name, STR(""));
    for (uint32_t index = 0; subject; subject = value_next(subject), index++) {
        struct path one = path_index(&list, index);

        check_subject(arena, subject, kind->namespaced, &one, found);
    }
    if (was && !value_equal(was, role))
        invalid_raw(found, &at,
                    str_fmt(arena, "{\"APIGroup\":\"%.*s\",\"Kind\":\"%.*s\",\"Name\":\"%.*s\"}",
                            STR_ARG(text_of(role, "apiGroup")), STR_ARG(text_of(role, "kind")),
                            STR_ARG(text_of(role, "name"))),
                    "cannot change roleRef");
}

void roles_validate(struct arena *arena, const struct kind *kind, const struct value *old,
                    const struct value *object, struct findings *found)
{
    if (is(kind, "roles") || is(kind, "clusterroles"))
        check_role(arena, kind, object, found);
    else if (is_binding(kind))
        check_binding(arena, kind, old, object, found);
}
