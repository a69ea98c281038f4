/* SPDX-License-Identifier: Apache-2.0 */
/* schema_rules.c: rules in CEL as a definition brings them: their form, and their programs. */
#include "lab/apiserver/schema_cel.h"

struct rules {
    struct arena *arena;
    struct findings *found;
};

/* What one level of the schema is to its rules. */
struct level {
    const struct schema *typed; /* the level itself, also where allOf has the rules */
    bool is_root;
    const struct path *uncorrelatable; /* where old values were lost; NULL = nowhere */
};

static bool has_newline(struct str text)
{
    return str_find_char(text, '\n', 0) >= 0 || str_find_char(text, '\r', 0) >= 0;
}

static struct str text_of(struct rules *r, struct json json, const char *key)
{
    return str_dup(r->arena, json_str(json_get(json, str_of(key))));
}

static void required(struct rules *r, const struct path *at, const char *member, const char *detail)
{
    struct path here = path_field(at, str_of(member));

    finding_required(r->found, &here, str_of(detail));
}

static void invalid(struct rules *r, const struct path *at, const char *member, struct str value,
                    const char *detail)
{
    struct path here = path_field(at, str_of(member));

    finding_invalid(r->found, &here, value_str(r->arena, value), str_of(detail));
}

static void check_message(struct rules *r, const struct schema_rule *rule, const struct path *at)
{
    struct str trimmed = str_trim(rule->message);

    if (str_trim(rule->rule).len == 0)
        required(r, at, "rule", "rule is not specified");
    else if (rule->message.len && trimmed.len == 0)
        invalid(r, at, "message", rule->message, "must be non-empty if specified");
    else if (has_newline(trimmed))
        invalid(r, at, "message", rule->message, "must not contain line breaks");
    else if (has_newline(str_trim(rule->rule)) && trimmed.len == 0)
        required(r, at, "message", "message must be specified if rule contains line breaks");
    if (rule->message_expression.len && str_trim(rule->message_expression).len == 0)
        required(r, at, "messageExpression", "messageExpression must be non-empty if specified");
}

static void check_reason(struct rules *r, const struct schema_rule *rule, const struct path *at)
{
    static const char *const known[] = { "FieldValueDuplicate", "FieldValueForbidden",
                                         "FieldValueInvalid", "FieldValueRequired" };
    struct str_list supported = str_list_new(r->arena, 4);
    struct path here = path_field(at, STR("reason"));

    for (size_t i = 0; i < 4; i++)
        str_list_push(&supported, str_of(known[i]));
    if (rule->reason.len && !str_list_has(&supported, rule->reason))
        finding_not_supported(r->found, &here, value_str(r->arena, rule->reason), &supported);
}

static void check_field_path(struct rules *r, struct schema_rule *rule, struct str path,
                             const struct schema *schema, const struct path *at)
{
    if (path.len && str_trim(path).len == 0)
        invalid(r, at, "fieldPath", path, "must be non-empty if specified");
    if (has_newline(path))
        invalid(r, at, "fieldPath", path, "must not contain line breaks");
    if (path.len && !schema_field_path(r->arena, schema, path, &rule->field_path))
        invalid(r, at, "fieldPath", path, "must be a valid path");
}

static struct schema_rule read_rule(struct rules *r, struct json json, const struct level *level,
                                    const struct path *at)
{
    struct schema_rule rule = {
        .rule = text_of(r, json, "rule"),
        .message = text_of(r, json, "message"),
        .message_expression = text_of(r, json, "messageExpression"),
        .reason = text_of(r, json, "reason"),
        .optional_old = json_bool(json_get(json, STR("optionalOldSelf"))),
    };

    check_message(r, &rule, at);
    check_reason(r, &rule, at);
    check_field_path(r, &rule, text_of(r, json, "fieldPath"), level->typed, at);
    return rule;
}

static struct cel_program *compile(struct rules *r, const struct schema_rules *rules,
                                   const struct schema_rule *rule, struct str expression,
                                   struct str *ret_why)
{
    struct cel_variable *variables = arena_array(r->arena, struct cel_variable, 2);
    struct cel_env env = { variables, 2 };

    variables[0] = (struct cel_variable){ STR("self"), rules->self };
    variables[1] = (struct cel_variable){
        STR("oldSelf"), rule->optional_old ? cel_type_optional(r->arena, rules->self) : rules->self
    };
    return cel_compile(r->arena, &env, expression, ret_why);
}

/* The whole rule is shown, as the server itself has it: with all fields, by their names in Go. */
static struct str shown(struct rules *r, struct json json)
{
    static const char *const members[][2] = {
        { "Rule", "rule" },
        { "Message", "message" },
        { "MessageExpression", "messageExpression" },
        { "Reason", "reason" },
        { "FieldPath", "fieldPath" },
        { "OptionalOldSelf", "optionalOldSelf" },
    };
    struct value *all = value_object(r->arena);

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct value *member = value_of(r->arena, json_get(json, str_of(members[i][1])));
        bool may_be_null = i == 3 || i == 5;

        if (!member)
            member = may_be_null ? value_null(r->arena) : value_str(r->arena, STR(""));
        value_set(r->arena, all, str_of(members[i][0]), member);
    }
    return value_json(r->arena, all);
}

static void make_message(struct rules *r, const struct schema_rules *rules,
                         struct schema_rule *rule, struct json json, const struct path *at)
{
    struct path here = path_field(at, STR("messageExpression"));
    struct str why = STR("");

    if (rule->message_expression.len == 0)
        return;
    rule->message_program = compile(r, rules, rule, rule->message_expression, &why);
    if (rule->message_program && cel_program_type(rule->message_program)->kind != CEL_STRING)
        why = STR("messageExpression must evaluate to a string");
    else if (why.len)
        why = str_fmt(r->arena, "messageExpression %.*s", STR_ARG(why));
    if (why.len)
        finding_invalid_shown(r->found, &here, shown(r, json), why);
}

static void make_program(struct rules *r, const struct schema_rules *rules,
                         struct schema_rule *rule, struct json json, const struct level *level,
                         const struct path *at)
{
    struct path here = path_field(at, STR("rule"));
    struct path optional = path_field(at, STR("optionalOldSelf"));
    struct json wants_optional = json_get(json, STR("optionalOldSelf"));
    struct str why = STR("");

    rule->program = compile(r, rules, rule, rule->rule, &why);
    if (rule->program && cel_program_type(rule->program)->kind != CEL_BOOL)
        why = STR("cel expression must evaluate to a bool");
    if (why.len) {
        finding_invalid_shown(r->found, &here, shown(r, json), why);
        return;
    }
    rule->reads_old = cel_program_reads(rule->program, STR("oldSelf"));
    make_message(r, rules, rule, json, at);
    if (rule->reads_old && level->uncorrelatable)
        finding_invalid(r->found, &here, value_str(r->arena, rule->rule),
                        str_fmt(r->arena,
                                "oldSelf cannot be used on the uncorrelatable portion of the "
                                "schema within %.*s",
                                STR_ARG(path_render(level->uncorrelatable, r->arena))));
    else if (!rule->reads_old && !json_is(wants_optional, JSON_ABSENT))
        finding_invalid(r->found, &optional, value_bool(r->arena, rule->optional_old),
                        STR("may not be set if oldSelf is not used in rule"));
}

static void compile_level(struct rules *r, struct json json, struct schema *schema,
                          const struct level *level, const struct path *at)
{
    struct json list = json_get(json, STR("x-kubernetes-validations"));
    struct path here = path_field(at, STR("x-kubernetes-validations"));
    struct schema_rules *rules;
    uint32_t before = r->found->count;
    struct json_iter it = json_iter(list);

    if (json_count(list) == 0)
        return;
    rules = arena_new(r->arena, struct schema_rules);
    rules->list = schema_rule_list_new(r->arena, json_count(list));
    rules->self = schema_cel_type(r->arena, level->typed, level->is_root);
    while (json_next(&it)) {
        struct path one = path_index(&here, it.position);

        schema_rule_list_push(&rules->list, read_rule(r, it.value, level, &one));
    }
    schema->rules = rules;
    schema->rules_within = true;
    if (r->found->count > before)
        return;
    if (!rules->self) {
        finding_internal(r->found, &here,
                         STR("internal error: failed to construct type information for "
                             "x-kubernetes-validations rules: unable to convert structural schema "
                             "to CEL declarations"));
        return;
    }
    it = json_iter(list);
    while (json_next(&it)) {
        struct path one = path_index(&here, it.position);

        make_program(r, rules, &rules->list.items[it.position], it.value, level, &one);
    }
}

static void walk(struct rules *r, struct json json, struct schema *schema,
                 const struct level *level, const struct path *at);

/* The part of `schema`, which is that of the level or one of allOf, and what is typed there. */
static void walk_part(struct rules *r, struct json json, struct schema *up,
                      const struct schema *part, const struct schema *typed,
                      const struct path *uncorrelatable, const struct path *at)
{
    struct level level = { typed, typed && typed->embedded, uncorrelatable };

    if (!part || !typed || !json_is(json, JSON_OBJECT))
        return;
    /* Schemas are constant but while they are compiled. */
    walk(r, json, (struct schema *)(uintptr_t)part, &level, at);
    up->rules_within = up->rules_within || part->rules_within;
}

static void walk_properties(struct rules *r, struct json json, struct schema *schema,
                            const struct level *level, const struct path *at)
{
    struct path field = path_field(at, STR("properties"));
    struct json_iter it = json_iter(json_get(json, STR("properties")));

    while (json_next(&it)) {
        struct path here = path_key(&field, it.key);

        walk_part(r, it.value, schema, schema_property(schema, it.key),
                  schema_property(level->typed, it.key), level->uncorrelatable, &here);
    }
}

static void walk(struct rules *r, struct json json, struct schema *schema,
                 const struct level *level, const struct path *at)
{
    struct path items = path_field(at, STR("items"));
    struct path additional = path_field(at, STR("additionalProperties"));
    struct path all = path_field(at, STR("allOf"));
    struct json_iter it = json_iter(json_get(json, STR("allOf")));

    compile_level(r, json, schema, level, at);
    walk_properties(r, json, schema, level, at);
    walk_part(r, json_get(json, STR("additionalProperties")), schema, schema->additional,
              level->typed->additional, level->uncorrelatable, &additional);
    /* Elements are the same as before only if they have keys. */
    walk_part(r, json_get(json, STR("items")), schema, schema->items, level->typed->items,
              level->uncorrelatable || level->typed->list == SCHEMA_LIST_MAP ? level->uncorrelatable
                                                                             : at,
              &items);
    while (json_next(&it)) {
        struct path one = path_index(&all, it.position);
        struct schema *part = (struct schema *)(uintptr_t)schema->all_of.items[it.position];

        walk(r, it.value, part, level, &one);
        schema->rules_within = schema->rules_within || part->rules_within;
    }
}

void schema_cel_compile(struct arena *arena, struct json json, struct schema *schema,
                        const struct path *at, struct findings *found)
{
    struct rules r = { .arena = arena, .found = found };
    struct level root = { schema, true, NULL };

    walk(&r, json, schema, &root, at);
}
