/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c: kinds.def and types.def as served kinds with schemas. */
#include "lab/apiserver/columns.h"
#include "lab/apiserver/kind.h"

#include <ctype.h>

/* A package has no type; the types behind it are its. */
static const struct type_row {
    const char *package;
    const char *name;
    const char *help;
} type_rows[] = {
#define PACKAGE(name) { name, NULL, NULL },
#define TYPE(name, help) { NULL, #name, help },
#define ATOMIC(name)
#define FIELD(type, name, form, merge, help)
#include "lab/apiserver/types.def"
#undef PACKAGE
#undef TYPE
#undef ATOMIC
#undef FIELD
};

static const struct field_row {
    const char *type;
    const char *name;
    const char *form;
    const char *merge;
    const char *help;
} field_rows[] = {
#define PACKAGE(name)
#define TYPE(name, help)
#define ATOMIC(name)
#define FIELD(type, name, form, merge, help) { #type, #name, form, merge, help },
#include "lab/apiserver/types.def"
#undef PACKAGE
#undef TYPE
#undef ATOMIC
#undef FIELD
};

static const char *const atomic_types[] = {
#define PACKAGE(name)
#define TYPE(name, help)
#define ATOMIC(name) #name,
#define FIELD(type, name, form, merge, help)
#include "lab/apiserver/types.def"
#undef PACKAGE
#undef TYPE
#undef ATOMIC
#undef FIELD
};

enum { CLUSTER, NAMESPACED };
#define PLAIN KIND_PLAIN
#define STATUS KIND_STATUS
#define GENERATION KIND_GENERATION
#define QUESTION KIND_QUESTION
#define LABEL_NAME KIND_LABEL_NAME
#define PATH_NAME KIND_PATH_NAME
#define SCALE KIND_SCALE
#define TOKEN KIND_TOKEN

static const struct kind_row {
    const char *group, *version, *plural, *singular, *kind, *short_names, *categories;
    bool namespaced;
    unsigned traits;
    const char *type;
} kind_rows[] = {
#define KIND(group, version, plural, singular, kind, short_names, categories, scope, traits, type) \
    { group, version, plural, singular, kind, short_names, categories, scope, traits, type },
#include "lab/apiserver/kinds.def"
#undef KIND
};

/* Forms that are no types of their own. */
static const struct scalar {
    const char *form;
    enum schema_type type;
    const char *format;
    bool int_or_string, micro;
} scalars[] = {
    { "string", SCHEMA_STRING, "", false, false },
    { "integer", SCHEMA_INTEGER, "int32", false, false },
    { "long", SCHEMA_INTEGER, "int64", false, false },
    { "number", SCHEMA_NUMBER, "", false, false },
    { "boolean", SCHEMA_BOOLEAN, "", false, false },
    { "time", SCHEMA_STRING, "date-time", false, false },
    { "microtime", SCHEMA_STRING, "date-time", false, true },
    { "bytes", SCHEMA_STRING, "byte", false, false },
    { "quantity", SCHEMA_ANY, "", true, false },
    { "intstr", SCHEMA_ANY, "int-or-string", true, false },
};

struct str kind_api_version(struct arena *arena, const struct kind *kind)
{
    if (kind->group.len == 0)
        return kind->version;
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(kind->group), STR_ARG(kind->version));
}

struct str kind_storage_api_version(struct arena *arena, const struct kind *kind)
{
    if (kind->group.len == 0)
        return kind->storage_version;
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(kind->group), STR_ARG(kind->storage_version));
}

static struct schema *of_form(struct arena *arena, struct map *types, struct str form)
{
    struct schema *s;

    if (str_starts(form, STR("[]"))) {
        s = schema_new(arena, SCHEMA_ARRAY);
        s->items = of_form(arena, types, str_slice(form, 2, form.len));
        return s;
    }
    if (str_starts(form, STR("{}"))) {
        s = schema_new(arena, SCHEMA_OBJECT);
        s->additional = of_form(arena, types, str_slice(form, 2, form.len));
        return s;
    }
    s = map_get(types, form);
    if (s)
        return s;
    s = schema_new(arena, SCHEMA_ANY);
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
        if (str_eq(form, str_of(scalars[i].form))) {
            s->type = scalars[i].type;
            s->format = str_of(scalars[i].format);
            s->int_or_string = scalars[i].int_or_string;
            s->micro = scalars[i].micro;
            return s;
        }
    s->preserve_unknown = true; /* "any" */
    return s;
}

static struct str_list words(struct arena *arena, const char *text)
{
    struct str_list list = str_list_new(arena, 2);
    struct str rest = str_of(text);
    struct str part;

    while (rest.len && str_split(&rest, ',', &part))
        str_list_push(&list, part);
    return list;
}

/* A copy that carries the field's own description; a named type stays a reference by its name. */
static struct schema *described(struct arena *arena, const struct schema *of, const char *help,
                                const char *merge)
{
    struct schema *s = arena_new(arena, struct schema);
    struct str rest = str_of(merge);

    *s = *of;
    s->description = str_of(help);
    s->described = true;
    s->merge_key = str_of(merge);
    str_split(&rest, ',', &s->merge_key);
    if (s->type == SCHEMA_ARRAY && s->merge_key.len) {
        s->list = str_eq(s->merge_key, STR("+")) ? SCHEMA_LIST_SET : SCHEMA_LIST_MAP;
        if (s->list == SCHEMA_LIST_MAP) {
            s->list_keys = words(arena, merge);
        }
    }
    return s;
}

/* Types may name each other in any order, and themselves: all exist before the first field, and a
 * field's copy is made when the table of properties is already in place. */
static struct map *build_types(struct arena *arena)
{
    struct map *types = map_new(arena, 128);
    struct str package = STR("");

    for (size_t i = 0; i < sizeof(type_rows) / sizeof(type_rows[0]); i++) {
        struct schema *s;

        if (type_rows[i].package) {
            package = str_of(type_rows[i].package);
            continue;
        }
        s = schema_new(arena, SCHEMA_OBJECT);
        s->package = package;
        s->name = str_of(type_rows[i].name);
        s->description = str_of(type_rows[i].help);
        s->properties = map_new(arena, 16);
        map_put(types, s->name, s);
    }
    for (size_t i = 0; i < sizeof(atomic_types) / sizeof(atomic_types[0]); i++) {
        struct schema *s = map_get(types, str_of(atomic_types[i]));

        s->atomic_map = true;
    }
    for (size_t i = 0; i < sizeof(field_rows) / sizeof(field_rows[0]); i++) {
        const struct field_row *row = &field_rows[i];
        struct schema *owner = map_get(types, str_of(row->type));
        struct str form = str_of(row->form);
        bool required = str_starts(form, STR("!"));
        const struct schema *of = of_form(arena, types, str_slice(form, required, form.len));

        if (required)
            str_list_push(&owner->required, str_of(row->name));
        map_put(owner->properties, str_of(row->name), described(arena, of, row->help, row->merge));
    }
    return types;
}

/* The members of JSONSchemaProps whose names C cannot spell. */
static void add_extensions(struct arena *arena, struct map *types)
{
    static const struct field_row rows[] = {
        { "", "$ref", "string", "", "Not supported." },
        { "", "$schema", "string", "", "Not supported." },
        { "", "x-kubernetes-preserve-unknown-fields", "boolean", "", "Keep unknown members." },
        { "", "x-kubernetes-embedded-resource", "boolean", "", "The value is an object." },
        { "", "x-kubernetes-int-or-string", "boolean", "", "A number or a text." },
        { "", "x-kubernetes-list-type", "string", "", "atomic, set or map." },
        { "", "x-kubernetes-list-map-keys", "[]string", "", "Keys of a list of type map." },
        { "", "x-kubernetes-map-type", "string", "", "granular or atomic." },
        { "", "x-kubernetes-validations", "[]any", "", "Rules in CEL." },
    };
    struct schema *props = map_get(types, STR("JSONSchemaProps"));

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        map_put(props->properties, str_of(rows[i].name),
                described(arena, of_form(arena, types, str_of(rows[i].form)), rows[i].help, ""));
}

/* Kinds carry apiVersion, kind and metadata beside what types.def lists. */
static const struct schema *root_of(struct arena *arena, struct map *types, const char *name)
{
    struct schema *s = map_get(types, str_of(name));

    if (!map_get(s->properties, STR("metadata"))) {
        map_put(s->properties, STR("metadata"),
                described(arena, map_get(types, STR("ObjectMeta")), SCHEMA_METADATA_HELP, ""));
        map_put(
            s->properties, STR("apiVersion"),
            described(arena, of_form(arena, types, STR("string")), SCHEMA_API_VERSION_HELP, ""));
        map_put(s->properties, STR("kind"),
                described(arena, of_form(arena, types, STR("string")), SCHEMA_KIND_HELP, ""));
    }
    return s;
}

struct builtin *builtin_new(struct arena *arena)
{
    struct builtin *b = arena_new(arena, struct builtin);

    b->kinds = kinds_new(arena, 32);
    b->types = build_types(arena);
    add_extensions(arena, b->types);
    for (size_t i = 0; i < sizeof(kind_rows) / sizeof(kind_rows[0]); i++) {
        const struct kind_row *row = &kind_rows[i];
        struct kind *k = arena_new(arena, struct kind);

        *k = (struct kind){
            .group = str_of(row->group),
            .version = str_of(row->version),
            .plural = str_of(row->plural),
            .singular = str_of(row->singular),
            .kind = str_of(row->kind),
            .list_kind = str_fmt(arena, "%sList", row->kind),
            .storage_version = str_of(row->version),
            .short_names = words(arena, row->short_names),
            .categories = words(arena, row->categories),
            .namespaced = row->namespaced,
            .traits = row->traits,
            .scale = { STR(".spec.replicas"), STR(".status.replicas"), STR(".spec.selector") },
            .schema = root_of(arena, b->types, row->type),
        };
        columns_builtin(arena, k);
        selectables_builtin(arena, k);
        kinds_push(&b->kinds, k);
    }
    b->meta = map_get(b->types, STR("ObjectMeta"));
    return b;
}
