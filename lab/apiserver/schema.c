/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c: compile OpenAPI v3 schemas of CustomResourceDefinitions, and check that they are
 * structural (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/validation.go). */
#include "lab/apiserver/schema.h"

#include "base/memory.h"

static const char *const type_names[] = {
    [SCHEMA_ANY] = "",
    [SCHEMA_OBJECT] = "object",
    [SCHEMA_ARRAY] = "array",
    [SCHEMA_STRING] = "string",
    [SCHEMA_INTEGER] = "integer",
    [SCHEMA_NUMBER] = "number",
    [SCHEMA_BOOLEAN] = "boolean",
};

/* What one compilation carries along. */
struct compile {
    struct arena *arena;
    struct regex_set *regexes;
    struct findings *found;
};

const char *schema_type_name(enum schema_type type)
{
    return type_names[type];
}

void regex_set_add(struct regex_set *set, struct regex *regex)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 8;
        set->items = mem_resize(set->items, sizeof(*set->items) * set->capacity);
    }
    set->items[set->count++] = regex;
}

void regex_set_free(struct regex_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        regex_free(set->items[i]);
    mem_free(set->items);
    *set = (struct regex_set){ 0 };
}

struct schema *schema_new(struct arena *arena, enum schema_type type)
{
    struct schema *s = arena_new(arena, struct schema);

    s->type = type;
    s->min_length = s->max_length = s->min_items = s->max_items = SCHEMA_UNSET;
    s->min_properties = s->max_properties = SCHEMA_UNSET;
    s->required = str_list_new(arena, 0);
    s->list_keys = str_list_new(arena, 0);
    s->all_of = s->any_of = s->one_of = schema_list_of_new(arena, 0);
    return s;
}

const struct schema *schema_property(const struct schema *schema, struct str name)
{
    return schema && schema->properties ? map_get(schema->properties, name) : NULL;
}

static struct str text_of(struct compile *c, struct json json, const char *key)
{
    return str_dup(c->arena, json_str(json_get(json, str_of(key))));
}

static bool flag_of(struct json json, const char *key)
{
    return json_bool(json_get(json, str_of(key)));
}

static void count_of(struct json json, const char *key, int64_t *ret_count)
{
    int64_t number;

    if (json_int64(json_get(json, str_of(key)), &number))
        *ret_count = number;
}

static bool number_of(struct json json, const char *key, double *ret_number)
{
    struct json number = json_get(json, str_of(key));

    if (!json_is(number, JSON_NUMBER))
        return false;
    *ret_number = json_double(number);
    return true;
}

static void strings_of(struct compile *c, struct json array, struct str_list *ret_strings)
{
    struct json_iter it = json_iter(array);

    while (json_next(&it))
        str_list_push(ret_strings, str_dup(c->arena, json_str(it.value)));
}

static struct schema *compile(struct compile *c, struct json json, const struct path *at,
                              bool structural);

static void compile_several(struct compile *c, struct json array, const struct path *at,
                            const char *key, struct schema_list_of *ret_schemas)
{
    struct json_iter it = json_iter(array);
    struct path field = path_field(at, str_of(key));

    while (json_next(&it)) {
        struct path here = path_index(&field, it.position);

        schema_list_of_push(ret_schemas, compile(c, it.value, &here, false));
    }
}

static void compile_pattern(struct compile *c, struct schema *s, const struct path *at)
{
    struct path here = path_field(at, STR("pattern"));
    struct error err;
    bool anchored = str_starts(s->pattern, STR("^")) && str_ends(s->pattern, STR("$")) &&
                    str_find_char(s->pattern, '|', 0) < 0;
    struct regex *regex =
        anchored ? regex_create(s->pattern, &err) : regex_create_search(s->pattern, &err);

    if (!regex) {
        finding_invalid(
            c->found, &here, value_str(c->arena, s->pattern),
            str_fmt(c->arena, "must be a valid regular expression, but isn't: %s", err.text));
        return;
    }
    regex_set_add(c->regexes, regex);
    s->regex = regex;
}

static void compile_bounds(struct schema *s, struct json json)
{
    count_of(json, "minLength", &s->min_length);
    count_of(json, "maxLength", &s->max_length);
    count_of(json, "minItems", &s->min_items);
    count_of(json, "maxItems", &s->max_items);
    count_of(json, "minProperties", &s->min_properties);
    count_of(json, "maxProperties", &s->max_properties);
    s->has_minimum = number_of(json, "minimum", &s->minimum);
    s->has_maximum = number_of(json, "maximum", &s->maximum);
    s->has_multiple_of = number_of(json, "multipleOf", &s->multiple_of);
    s->exclusive_minimum = flag_of(json, "exclusiveMinimum");
    s->exclusive_maximum = flag_of(json, "exclusiveMaximum");
}

static void compile_list(struct compile *c, struct schema *s, struct json json,
                         const struct path *at)
{
    struct str list = text_of(c, json, "x-kubernetes-list-type");

    strings_of(c, json_get(json, STR("x-kubernetes-list-map-keys")), &s->list_keys);
    if (str_eq(list, STR("map"))) {
        struct path keys = path_field(at, STR("x-kubernetes-list-map-keys"));

        s->list = SCHEMA_LIST_MAP;
        if (s->list_keys.count == 0)
            finding_required(c->found, &keys,
                             STR("must not be empty if x-kubernetes-list-type is map"));
    } else if (str_eq(list, STR("set"))) {
        s->list = SCHEMA_LIST_SET;
    } else if (list.len && !str_eq(list, STR("atomic"))) {
        struct path here = path_field(at, STR("x-kubernetes-list-type"));
        struct str_list known = str_list_new(c->arena, 3);

        str_list_push(&known, STR("atomic"));
        str_list_push(&known, STR("map"));
        str_list_push(&known, STR("set"));
        finding_not_supported(c->found, &here, value_str(c->arena, list), &known);
    }
    s->atomic_map = str_eq(text_of(c, json, "x-kubernetes-map-type"), STR("atomic"));
}

static void compile_properties(struct compile *c, struct schema *s, struct json json,
                               const struct path *at, bool structural)
{
    struct json properties = json_get(json, STR("properties"));
    struct json additional = json_get(json, STR("additionalProperties"));
    struct json items = json_get(json, STR("items"));

    if (json_is(properties, JSON_OBJECT)) {
        struct path field = path_field(at, STR("properties"));
        struct json_iter it = json_iter(properties);

        s->properties = map_new(c->arena, json_count(properties));
        while (json_next(&it)) {
            struct path here = path_key(&field, it.key);

            map_put(s->properties, str_dup(c->arena, it.key),
                    compile(c, it.value, &here, structural));
        }
    }
    if (json_is(additional, JSON_OBJECT)) {
        struct path here = path_field(at, STR("additionalProperties"));

        s->additional = compile(c, additional, &here, structural);
        if (s->properties && map_count(s->properties))
            finding_forbidden(c->found, &here,
                              STR("additionalProperties and properties are "
                                  "mutual exclusive"));
    } else if (json_bool(additional)) {
        s->additional = schema_new(c->arena, SCHEMA_ANY);
        s->preserve_unknown = true;
    }
    if (json_is(items, JSON_OBJECT)) {
        struct path here = path_field(at, STR("items"));

        s->items = compile(c, items, &here, structural);
    }
}

static void check_type(struct compile *c, struct schema *s, struct str type, const struct path *at)
{
    struct path here = path_field(at, STR("type"));

    for (uint32_t i = SCHEMA_OBJECT; i <= SCHEMA_BOOLEAN; i++)
        if (str_eq(type, str_of(type_names[i])))
            s->type = (enum schema_type)i;
    if (type.len && s->type == SCHEMA_ANY) {
        struct str_list known = str_list_new(c->arena, 6);

        for (uint32_t i = SCHEMA_OBJECT; i <= SCHEMA_BOOLEAN; i++)
            str_list_push(&known, str_of(type_names[i]));
        finding_not_supported(c->found, &here, value_str(c->arena, type), &known);
    }
}

static void check_structural(struct compile *c, const struct schema *s, struct json json,
                             const struct path *at)
{
    struct path type = path_field(at, STR("type"));

    if (s->type == SCHEMA_ANY && !s->int_or_string && !s->preserve_unknown) {
        bool is_item = at->kind == PATH_FIELD && str_eq(at->name, STR("items"));

        finding_required(c->found, &type,
                         is_item                ? STR("must not be empty for specified array items")
                         : at->kind == PATH_KEY ? STR("must not be empty for specified object "
                                                      "fields")
                                                : STR("must not be empty at the root"));
    }
    if (s->type == SCHEMA_ARRAY && !s->items) {
        struct path here = path_field(at, STR("items"));

        finding_required(c->found, &here, STR("must be specified"));
    }
    if (flag_of(json, "uniqueItems")) {
        struct path here = path_field(at, STR("uniqueItems"));

        finding_forbidden(c->found, &here,
                          STR("uniqueItems cannot be set to true since the "
                              "runtime complexity becomes quadratic"));
    }
    if (json_is(json_get(json, STR("$ref")), JSON_STRING)) {
        struct path here = path_field(at, STR("$ref"));

        finding_forbidden(c->found, &here, STR("$ref is not supported"));
    }
}

static struct schema *compile(struct compile *c, struct json json, const struct path *at,
                              bool structural)
{
    struct schema *s = schema_new(c->arena, SCHEMA_ANY);
    struct json not_ = json_get(json, STR("not"));
    struct json default_ = json_get(json, STR("default"));

    check_type(c, s, text_of(c, json, "type"), at);
    s->nullable = flag_of(json, "nullable");
    s->preserve_unknown = flag_of(json, "x-kubernetes-preserve-unknown-fields");
    s->int_or_string = flag_of(json, "x-kubernetes-int-or-string");
    s->embedded = flag_of(json, "x-kubernetes-embedded-resource");
    s->format = text_of(c, json, "format");
    s->description = text_of(c, json, "description");
    s->pattern = text_of(c, json, "pattern");
    if (s->pattern.len)
        compile_pattern(c, s, at);
    if (json_is(json_get(json, STR("enum")), JSON_ARRAY))
        s->enum_ = value_of(c->arena, json_get(json, STR("enum")));
    if (!json_is(default_, JSON_ABSENT))
        s->default_ = value_of(c->arena, default_);
    strings_of(c, json_get(json, STR("required")), &s->required);
    compile_bounds(s, json);
    compile_list(c, s, json, at);
    compile_properties(c, s, json, at, structural);
    compile_several(c, json_get(json, STR("allOf")), at, "allOf", &s->all_of);
    compile_several(c, json_get(json, STR("anyOf")), at, "anyOf", &s->any_of);
    compile_several(c, json_get(json, STR("oneOf")), at, "oneOf", &s->one_of);
    if (json_is(not_, JSON_OBJECT)) {
        struct path here = path_field(at, STR("not"));

        s->not_ = compile(c, not_, &here, false);
    }
    if (structural)
        check_structural(c, s, json, at);
    return s;
}

struct schema *schema_compile(struct arena *arena, struct regex_set *regexes, struct json json,
                              const struct path *at, struct findings *found)
{
    struct compile c = { arena, regexes, found };
    struct schema *s = compile(&c, json, at, true);

    if (s->type != SCHEMA_OBJECT && s->type != SCHEMA_ANY) {
        struct path here = path_field(at, STR("type"));

        finding_invalid(found, &here, value_str(arena, str_of(type_names[s->type])),
                        STR("must be object at the root"));
    }
    return s;
}
