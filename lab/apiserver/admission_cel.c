/* SPDX-License-Identifier: Apache-2.0 */
/* admission_cel.c: what expressions on a request may read, and conditions. */
#include "lab/apiserver/admission_cel.h"

#include "lab/apiserver/object.h"
#include "lab/limits.h"

/* Fields of the types below; of "": another type's name. */
static const struct field_row {
    const char *owner, *field;
    const struct cel_type *type; /* NULL: the struct `named`, or a list of it */
    const char *named;
    bool list;
} fields[] = {
    { "kubernetes.GroupVersionKind", "group", &cel_type_string, NULL, false },
    { "kubernetes.GroupVersionKind", "version", &cel_type_string, NULL, false },
    { "kubernetes.GroupVersionKind", "kind", &cel_type_string, NULL, false },
    { "kubernetes.GroupVersionResource", "group", &cel_type_string, NULL, false },
    { "kubernetes.GroupVersionResource", "version", &cel_type_string, NULL, false },
    { "kubernetes.GroupVersionResource", "resource", &cel_type_string, NULL, false },
    { "kubernetes.UserInfo", "username", &cel_type_string, NULL, false },
    { "kubernetes.UserInfo", "uid", &cel_type_string, NULL, false },
    { "kubernetes.UserInfo", "groups", &cel_type_string, NULL, true },
    { "kubernetes.UserInfo", "extra", NULL, "map(list)", false },
    { "kubernetes.AdmissionRequest", "kind", NULL, "kubernetes.GroupVersionKind", false },
    { "kubernetes.AdmissionRequest", "resource", NULL, "kubernetes.GroupVersionResource", false },
    { "kubernetes.AdmissionRequest", "subResource", &cel_type_string, NULL, false },
    { "kubernetes.AdmissionRequest", "requestKind", NULL, "kubernetes.GroupVersionKind", false },
    { "kubernetes.AdmissionRequest", "requestResource", NULL, "kubernetes.GroupVersionResource",
      false },
    { "kubernetes.AdmissionRequest", "requestSubResource", &cel_type_string, NULL, false },
    { "kubernetes.AdmissionRequest", "name", &cel_type_string, NULL, false },
    { "kubernetes.AdmissionRequest", "namespace", &cel_type_string, NULL, false },
    { "kubernetes.AdmissionRequest", "operation", &cel_type_string, NULL, false },
    { "kubernetes.AdmissionRequest", "userInfo", NULL, "kubernetes.UserInfo", false },
    { "kubernetes.AdmissionRequest", "dryRun", &cel_type_bool, NULL, false },
    { "kubernetes.AdmissionRequest", "options", &cel_type_dyn, NULL, false },
    { "kubernetes.NamespaceSpec", "finalizers", &cel_type_string, NULL, true },
    { "kubernetes.NamespaceCondition", "status", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceCondition", "type", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceCondition", "lastTransitionTime", &cel_type_timestamp, NULL, false },
    { "kubernetes.NamespaceCondition", "message", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceCondition", "reason", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceStatus", "conditions", NULL, "kubernetes.NamespaceCondition", true },
    { "kubernetes.NamespaceStatus", "phase", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceMetadata", "name", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceMetadata", "generateName", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceMetadata", "namespace", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceMetadata", "labels", NULL, "map", false },
    { "kubernetes.NamespaceMetadata", "annotations", NULL, "map", false },
    { "kubernetes.NamespaceMetadata", "UID", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceMetadata", "creationTimestamp", &cel_type_timestamp, NULL, false },
    { "kubernetes.NamespaceMetadata", "deletionGracePeriodSeconds", &cel_type_int, NULL, false },
    { "kubernetes.NamespaceMetadata", "deletionTimestamp", &cel_type_timestamp, NULL, false },
    { "kubernetes.NamespaceMetadata", "generation", &cel_type_int, NULL, false },
    { "kubernetes.NamespaceMetadata", "resourceVersion", &cel_type_string, NULL, false },
    { "kubernetes.NamespaceMetadata", "finalizers", &cel_type_string, NULL, true },
    { "kubernetes.Namespace", "metadata", NULL, "kubernetes.NamespaceMetadata", false },
    { "kubernetes.Namespace", "spec", NULL, "kubernetes.NamespaceSpec", false },
    { "kubernetes.Namespace", "status", NULL, "kubernetes.NamespaceStatus", false },
};

static const struct cel_type *named(struct arena *arena, const char *name)
{
    struct cel_type *type;

    if (strcmp(name, "map") == 0)
        return cel_type_map(arena, &cel_type_string, &cel_type_string);
    if (strcmp(name, "map(list)") == 0)
        return cel_type_map(arena, &cel_type_string, cel_type_list(arena, &cel_type_string));
    type = cel_type_struct(arena, str_of(name));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const struct cel_type *of;

        if (strcmp(fields[i].owner, name) != 0)
            continue;
        of = fields[i].type ? fields[i].type : named(arena, fields[i].named);
        cel_type_add_field(arena, type, str_of(fields[i].field),
                           fields[i].list ? cel_type_list(arena, of) : of);
    }
    return type;
}

struct cel_env admission_env(struct arena *arena, bool has_params, const struct cel_type *variables)
{
    struct cel_variable *all = arena_array(arena, struct cel_variable, ADMISSION_VALUES);

    all[ADMISSION_OBJECT] = (struct cel_variable){ STR("object"), &cel_type_dyn };
    all[ADMISSION_OLD_OBJECT] = (struct cel_variable){ STR("oldObject"), &cel_type_dyn };
    all[ADMISSION_NAMESPACE] =
        (struct cel_variable){ STR("namespaceObject"), named(arena, "kubernetes.Namespace") };
    all[ADMISSION_REQUEST] =
        (struct cel_variable){ STR("request"), named(arena, "kubernetes.AdmissionRequest") };
    /* A name that no expression can write: it is not there. */
    all[ADMISSION_PARAMS] =
        (struct cel_variable){ has_params ? STR("params") : STR("#params"), &cel_type_dyn };
    all[ADMISSION_VARIABLES] =
        (struct cel_variable){ variables ? STR("variables") : STR("#variables"),
                               variables ? variables : &cel_type_dyn };
    return (struct cel_env){ all, ADMISSION_VALUES };
}

/* "bool", or "[string null_type]" of several. */
static struct str kinds_text(struct arena *arena, unsigned kinds)
{
    static const struct {
        enum cel_kind kind;
        const char *name;
    } names[] = { { CEL_BOOL, "bool" }, { CEL_STRING, "string" }, { CEL_NULL, "null_type" } };
    struct strbuf out = strbuf_new(arena, 32);
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (kinds & (1u << names[i].kind))
            strbuf_fmt(&out, "%s%s", count++ ? " " : "", names[i].name);
    return count == 1 ? str_fmt(arena, "must evaluate to %.*s", STR_ARG(strbuf_str(&out)))
                      : str_fmt(arena, "must evaluate to one of [%.*s]", STR_ARG(strbuf_str(&out)));
}

struct cel_program *admission_compile(struct arena *arena, const struct cel_env *env,
                                      struct str expression, unsigned kinds, struct str *ret_why)
{
    struct cel_program *program = cel_compile(arena, env, expression, ret_why);
    const struct cel_type *type = program ? cel_program_type(program) : NULL;

    if (!type || kinds == 0 || (kinds & (1u << type->kind)))
        return program;
    *ret_why =
        str_fmt(arena, "%.*s but got %.*s", STR_ARG(kinds_text(arena, kinds)),
                STR_ARG(type->kind == CEL_NULL ? cel_type_name(type) : cel_type_text(arena, type)));
    return NULL;
}

static int namespace_value(const struct admission_facts *facts, const struct value **ret_namespace)
{
    struct request *rq = facts->rq;
    const struct kind *kind = catalog_find(rq->catalog, STR(""), STR("v1"), STR("namespaces"));
    struct value *namespace_;
    uint64_t version;

    *ret_namespace = NULL;
    if (!rq->kind->namespaced)
        return 0;
    if (request_load(rq, kind, STR(""), rq->namespace_, &namespace_, &version) != 0)
        return -1;
    *ret_namespace = namespace_;
    return 0;
}

int admission_values(const struct admission_facts *facts,
                     struct cel_value ret_values[ADMISSION_VALUES])
{
    struct arena *arena = facts->rq->arena;
    const struct value *namespace_;
    struct value *review;
    struct error err;

    for (int i = 0; i < ADMISSION_VALUES; i++)
        ret_values[i] = cel_null();
    if (namespace_value(facts, &namespace_) != 0)
        return -1;
    if (value_read(arena, review_write(facts, STR("")), &json_limits_default, &review, &err) != 0)
        return fail_internal(&facts->rq->failure, str_dup(arena, str_of(err.text)));
    ret_values[ADMISSION_OBJECT] = cel_from_json(arena, facts->object, &cel_type_dyn);
    ret_values[ADMISSION_OLD_OBJECT] = cel_from_json(arena, facts->old, &cel_type_dyn);
    if (namespace_)
        ret_values[ADMISSION_NAMESPACE] =
            cel_from_json(arena, namespace_, named(arena, "kubernetes.Namespace"));
    ret_values[ADMISSION_REQUEST] = cel_from_json(arena, value_get(review, STR("request")),
                                                  named(arena, "kubernetes.AdmissionRequest"));
    return 0;
}

int admission_evaluate(struct arena *arena, const struct cel_program *program,
                       const struct cel_value *values, uint64_t *budget,
                       struct cel_value *ret_value)
{
    uint64_t cost = 0;

    *ret_value = cel_evaluate(program, arena, values, LIMIT_CEL_CALL_COST, &cost);
    if (cost > *budget)
        return -1;
    *budget -= cost;
    return 0;
}

int admission_run(struct arena *arena, const struct cel_env *env, struct str expression,
                  unsigned kinds, const struct cel_value *values, uint64_t *budget,
                  struct cel_value *ret_value)
{
    struct str why;
    struct cel_program *program = admission_compile(arena, env, expression, kinds, &why);

    if (!program) {
        *ret_value = cel_errorf(arena, "compilation error: %.*s", STR_ARG(why));
        return 0;
    }
    if (admission_evaluate(arena, program, values, budget, ret_value) != 0)
        return -1;
    if (cel_is_error(ret_value))
        *ret_value = cel_errorf(arena, "expression '%.*s' resulted in error: %.*s",
                                STR_ARG(expression), STR_ARG(ret_value->text));
    return 0;
}

/* One error as it is, several as an aggregate has them. */
static struct str joined(struct arena *arena, const struct str_list *errors)
{
    struct strbuf out = strbuf_new(arena, 128);

    if (errors->count == 1)
        return errors->items[0];
    for (uint32_t i = 0; i < errors->count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? ", " : "[", STR_ARG(errors->items[i]));
    strbuf_char(&out, ']');
    return strbuf_str(&out);
}

int admission_conditions(struct arena *arena, const struct cel_env *env,
                         const struct cel_value *values, struct json conditions, bool *ret_hold,
                         struct str *ret_why)
{
    struct json_iter it = json_iter(conditions);
    struct str_list errors = str_list_new(arena, 1);
    uint64_t budget = LIMIT_CEL_CONDITIONS_COST;

    *ret_hold = false;
    while (json_next(&it)) {
        struct str expression = str_trim(json_str(json_get(it.value, STR("expression"))));
        struct cel_value value;

        if (admission_run(arena, env, expression, ADMISSION_BOOL, values, &budget, &value) != 0) {
            *ret_why = STR(ADMISSION_BUDGET);
            return -1;
        }
        if (cel_is_error(&value))
            str_list_push(&errors, value.text);
        else if (!value.truth)
            return 0;
    }
    *ret_hold = errors.count == 0;
    *ret_why = errors.count ? joined(arena, &errors) : STR("");
    return errors.count ? -1 : 0;
}

void admission_check_conditions(const struct cel_env *env, const struct value *conditions,
                                const struct path *at, struct findings *found)
{
    struct map *names = map_new(found->arena, 4);
    uint32_t index = 0;

    for (const struct value *m = value_first(conditions); m; m = value_next(m), index++) {
        struct path one = path_index(at, index);
        struct path expression = path_field(&one, STR("expression"));
        struct path name = path_field(&one, STR("name"));
        struct str text = str_trim(value_text(value_get(m, STR("expression")))), why;
        struct str called = value_text(value_get(m, STR("name")));

        if (text.len == 0)
            finding_required(found, &expression, STR(""));
        else if (!admission_compile(found->arena, env, text, ADMISSION_BOOL, &why))
            finding_invalid(found, &expression, value_str(found->arena, text), why);
        if (called.len == 0) {
            finding_required(found, &name, STR(""));
            continue;
        }
        meta_validate_key(called, &name, found);
        if (!map_put(names, called, names))
            finding_duplicate(found, &name, value_get(m, STR("name")));
    }
}
