/* SPDX-License-Identifier: Apache-2.0 */
/* definition.c: rules of k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation. */
#include "lab/apiserver/definition.h"

#include "base/memory.h"
#include "kube/names.h"
#include "lab/apiserver/columns.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/schema_cel.h"

static void default_text(struct arena *arena, struct value *object, const char *key,
                         struct str text)
{
    if (object && value_text(value_get(object, str_of(key))).len == 0)
        value_set(arena, object, str_of(key), value_str(arena, text));
}

static struct str lower(struct arena *arena, struct str text)
{
    struct strbuf out = strbuf_new(arena, text.len);

    for (size_t i = 0; i < text.len; i++)
        strbuf_char(&out,
                    (char)(text.at[i] >= 'A' && text.at[i] <= 'Z' ? text.at[i] + 32 : text.at[i]));
    return strbuf_str(&out);
}

void definition_default(struct arena *arena, struct value *crd)
{
    struct value *spec = value_get(crd, STR("spec"));
    struct value *names = value_get(spec, STR("names"));
    struct value *conversion;
    struct str kind = value_text(value_get(names, STR("kind")));

    if (value_kind(spec) != JSON_OBJECT || value_kind(names) != JSON_OBJECT)
        return;
    default_text(arena, names, "singular", lower(arena, kind));
    default_text(arena, names, "listKind", str_fmt(arena, "%.*sList", STR_ARG(kind)));
    conversion = value_object_at(arena, spec, STR("conversion"));
    default_text(arena, conversion, "strategy", STR("None"));
    if (value_kind(value_get(spec, STR("preserveUnknownFields"))) != JSON_ABSENT &&
        !value_is_true(value_get(spec, STR("preserveUnknownFields"))))
        value_remove(spec, STR("preserveUnknownFields"));
}

static struct value *condition(struct arena *arena, const struct value *old, const char *type,
                               const char *reason, const char *message, struct str now)
{
    struct value *c = value_object(arena);

    for (struct value *m = value_first(old); m; m = value_next(m))
        if (str_eq(value_text(value_get(m, STR("type"))), str_of(type)) &&
            str_eq(value_text(value_get(m, STR("status"))), STR("True")))
            return value_clone(arena, m);
    value_set(arena, c, STR("lastTransitionTime"), value_str(arena, now));
    value_set(arena, c, STR("message"), value_str(arena, str_of(message)));
    value_set(arena, c, STR("reason"), value_str(arena, str_of(reason)));
    value_set(arena, c, STR("status"), value_str(arena, STR("True")));
    value_set(arena, c, STR("type"), value_str(arena, str_of(type)));
    return c;
}

void definition_establish(struct arena *arena, struct value *crd, struct str now)
{
    struct value *spec = value_get(crd, STR("spec"));
    struct value *status = value_object(arena);
    struct value *old = value_walk(crd, "status", "conditions", NULL);
    struct value *stored = value_walk(crd, "status", "storedVersions", NULL);
    struct value *conditions = value_array(arena);

    value_append(conditions,
                 condition(arena, old, "NamesAccepted", "NoConflicts", "no conflicts found", now));
    value_append(conditions, condition(arena, old, "Established", "InitialNamesAccepted",
                                       "the initial names have been accepted", now));
    stored = stored ? value_clone(arena, stored) : value_array(arena);
    for (struct value *v = value_first(value_get(spec, STR("versions"))); v; v = value_next(v)) {
        bool known = false;

        for (struct value *s = value_first(stored); s; s = value_next(s))
            known = known || value_equal(s, value_get(v, STR("name")));
        if (value_is_true(value_get(v, STR("storage"))) && !known)
            value_append(stored, value_clone(arena, value_get(v, STR("name"))));
    }
    value_set(arena, status, STR("acceptedNames"),
              value_clone(arena, value_get(spec, STR("names"))));
    value_set(arena, status, STR("conditions"), conditions);
    value_set(arena, status, STR("storedVersions"), stored);
    value_set(arena, crd, STR("status"), status);
}

/* What one compilation carries along. */
struct build {
    struct definition *definition;
    struct arena *arena;
    struct json crd, spec, names;
    struct findings *found;
    const struct schema *meta;
    struct str storage_version;
    bool one_schema; /* of all versions: the server has it apart from them, at spec.validation */
};

static struct str text(struct build *b, struct json object, const char *key)
{
    return str_dup(b->arena, json_str(json_get(object, str_of(key))));
}

static struct str_list strings(struct build *b, struct json array)
{
    struct str_list list = str_list_new(b->arena, 2);
    struct json_iter it = json_iter(array);

    while (json_next(&it))
        str_list_push(&list, str_dup(b->arena, json_str(it.value)));
    return list;
}

static void require(struct build *b, struct json object, const char *key, const struct path *up)
{
    struct path at = path_field(up, str_of(key));

    if (json_str(json_get(object, str_of(key))).len == 0)
        finding_required(b->found, &at, STR(""));
}

static void check_names(struct build *b)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path names = path_field(&spec, STR("names"));
    struct path scope = path_field(&spec, STR("scope"));
    struct path meta = path_field(NULL, STR("metadata"));
    struct path name = path_field(&meta, STR("name"));
    struct str group = json_str(json_get(b->spec, STR("group")));
    struct str plural = json_str(json_get(b->names, STR("plural")));
    struct str is = json_str(json_walk(b->crd, "metadata", "name", NULL));
    struct str scoped = json_str(json_get(b->spec, STR("scope")));
    struct str_list scopes = str_list_new(b->arena, 2);

    require(b, b->spec, "group", &spec);
    require(b, b->names, "plural", &names);
    require(b, b->names, "kind", &names);
    if (plural.len && kube_not_dns1123_label(plural)) {
        struct path at = path_field(&names, STR("plural"));

        finding_invalid(b->found, &at, value_str(b->arena, plural), STR("must be a DNS label"));
    }
    if (group.len && str_find_char(group, '.', 0) < 0) {
        struct path at = path_field(&spec, STR("group"));

        finding_invalid(b->found, &at, value_str(b->arena, group),
                        STR("should be a domain with at least one dot"));
    }
    if (!str_eq(is, str_fmt(b->arena, "%.*s.%.*s", STR_ARG(plural), STR_ARG(group))))
        finding_invalid(b->found, &name, value_str(b->arena, is),
                        STR("must be spec.names.plural+\".\"+spec.group"));
    str_list_push(&scopes, STR("Cluster"));
    str_list_push(&scopes, STR("Namespaced"));
    if (!str_list_has(&scopes, scoped))
        finding_not_supported(b->found, &scope, value_str(b->arena, scoped), &scopes);
}

static const struct jsonpath *path_of(struct build *b, struct json object, const struct path *up)
{
    struct path at = path_field(up, STR("jsonPath"));
    struct error err;
    struct str path = json_str(json_get(object, STR("jsonPath")));
    struct jsonpath *compiled = jsonpath_compile(b->arena, str_dup(b->arena, path), &err);

    if (path.len == 0)
        finding_required(b->found, &at, STR(""));
    else if (!compiled)
        finding_invalid(b->found, &at, value_str(b->arena, path), str_of(err.text));
    return compiled ? compiled : jsonpath_compile(b->arena, STR(".metadata.name"), &err);
}

/* A column that does not say what it shows, says where that stands. */
static void describe(struct build *b, struct column *column, struct str path)
{
    if (column->description.len == 0)
        column->description =
            str_fmt(b->arena, "Custom resource definition column (in JSONPath format): %.*s",
                    STR_ARG(path));
}

static struct column age_column(struct build *b)
{
    struct str path = STR(".metadata.creationTimestamp");
    struct column column = { .name = STR("Age"), .type = STR("date"), .format = STR("") };
    struct error err;

    column.path = jsonpath_compile(b->arena, path, &err);
    describe(b, &column, path);
    return column;
}

static void build_columns(struct build *b, struct kind *kind, struct json version,
                          const struct path *at)
{
    struct json list = json_get(version, STR("additionalPrinterColumns"));
    struct path field = path_field(at, STR("additionalPrinterColumns"));
    struct json_iter it = json_iter(list);

    kind->columns = columns_new(b->arena, 8);
    while (json_next(&it)) {
        struct path here = path_index(&field, it.position);
        struct column column = { .name = text(b, it.value, "name"),
                                 .type = text(b, it.value, "type"),
                                 .format = text(b, it.value, "format"),
                                 .description = text(b, it.value, "description") };

        require(b, it.value, "name", &here);
        require(b, it.value, "type", &here);
        json_int64(json_get(it.value, STR("priority")), &column.priority);
        column.path = path_of(b, it.value, &here);
        describe(b, &column, text(b, it.value, "jsonPath"));
        columns_push(&kind->columns, column);
    }
    if (kind->columns.count == 0)
        columns_push(&kind->columns, age_column(b));
}

static void build_selectable(struct build *b, struct kind *kind, struct json version,
                             const struct path *at)
{
    struct path field = path_field(at, STR("selectableFields"));
    struct json_iter it = json_iter(json_get(version, STR("selectableFields")));

    kind->selectable = selectables_new(b->arena, 2);
    while (json_next(&it)) {
        struct path here = path_index(&field, it.position);
        struct str path = text(b, it.value, "jsonPath");

        selectables_push(
            &kind->selectable,
            (struct selectable){ str_starts(path, STR(".")) ? str_slice(path, 1, path.len) : path,
                                 path_of(b, it.value, &here) });
    }
}

/* The object's own metadata is typed, whatever the definition says about it. */
static const struct schema *build_schema(struct build *b, struct json version,
                                         const struct path *at)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path validation = path_field(&spec, STR("validation"));
    struct path schema = path_field(at, STR("schema"));
    struct path own = path_field(&schema, STR("openAPIV3Schema"));
    struct path root = path_field(b->one_schema ? &validation : &schema, STR("openAPIV3Schema"));
    struct json json = json_walk(version, "schema", "openAPIV3Schema", NULL);
    uint32_t before = b->found->count;
    struct schema *s;

    if (!json_is(json, JSON_OBJECT)) {
        finding_required(b->found, &own, STR(""));
        return schema_new(b->arena, SCHEMA_OBJECT);
    }
    s = schema_compile(b->arena, &b->definition->regexes, json, &root, b->found);
    /* Rules are looked at only where the schema itself is sound. */
    if (b->found->count == before)
        schema_cel_compile(b->arena, json, s, &root, b->found);
    if (b->one_schema && at->index)
        b->found->count = before;
    if (!s->properties)
        s->properties = map_new(b->arena, 4);
    map_put(s->properties, STR("metadata"), (void *)(uintptr_t)b->meta);
    return s;
}

static struct str scale_path(struct build *b, struct json scale, const char *key, const char *root,
                             const struct path *at)
{
    struct str path = str_dup(b->arena, json_str(json_get(scale, str_of(key))));
    struct path here = path_field(at, str_of(key));

    if (path.len == 0)
        finding_required(b->found, &here, STR(""));
    else if (!str_starts(path, str_of(root)))
        finding_invalid(
            b->found, &here, value_str(b->arena, path),
            str_fmt(b->arena, "should be a json path under %.*s", (int)strlen(root) - 1, root));
    return path;
}

static void build_scale(struct build *b, struct kind *kind, struct json scale,
                        const struct path *at)
{
    struct path sub = path_field(at, STR("subresources"));
    struct path here = path_field(&sub, STR("scale"));

    if (!json_is(scale, JSON_OBJECT))
        return;
    kind->traits |= KIND_SCALE;
    kind->scale.spec = scale_path(b, scale, "specReplicasPath", ".spec.", &here);
    kind->scale.status = scale_path(b, scale, "statusReplicasPath", ".status.", &here);
    kind->scale.selector = str_dup(b->arena, json_str(json_get(scale, STR("labelSelectorPath"))));
}

static void build_version(struct build *b, struct json version, const struct path *at)
{
    struct kind *kind = arena_new(b->arena, struct kind);
    struct str deprecation = text(b, version, "deprecationWarning");

    kind->group = b->definition->group;
    kind->version = text(b, version, "name");
    kind->plural = b->definition->plural;
    kind->singular = text(b, b->names, "singular");
    kind->kind = text(b, b->names, "kind");
    kind->list_kind = text(b, b->names, "listKind");
    if (kind->singular.len == 0)
        kind->singular = lower(b->arena, kind->kind);
    if (kind->list_kind.len == 0)
        kind->list_kind = str_fmt(b->arena, "%.*sList", STR_ARG(kind->kind));
    kind->storage_version = b->storage_version;
    kind->short_names = strings(b, json_get(b->names, STR("shortNames")));
    kind->categories = strings(b, json_get(b->names, STR("categories")));
    kind->namespaced = str_eq(json_str(json_get(b->spec, STR("scope"))), STR("Namespaced"));
    kind->traits = KIND_CUSTOM | KIND_GENERATION;
    if (json_is(json_walk(version, "subresources", "status", NULL), JSON_OBJECT))
        kind->traits |= KIND_STATUS;
    build_scale(b, kind, json_walk(version, "subresources", "scale", NULL), at);
    if (json_bool(json_get(version, STR("deprecated"))))
        kind->deprecation = deprecation.len ? deprecation
                                            : str_fmt(b->arena, "%.*s/%.*s %.*s is deprecated",
                                                      STR_ARG(kind->group), STR_ARG(kind->version),
                                                      STR_ARG(kind->kind));
    build_columns(b, kind, version, at);
    build_selectable(b, kind, version, at);
    kind->schema = build_schema(b, version, at);
    if (json_bool(json_get(version, STR("served"))))
        kinds_push(&b->definition->kinds, kind);
}

static void build_versions(struct build *b)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path list = path_field(&spec, STR("versions"));
    struct json versions = json_get(b->spec, STR("versions"));
    struct json_iter it = json_iter(versions);
    struct json schema = { 0 };
    uint32_t stored = 0;

    b->one_schema = true;
    while (json_next(&it)) {
        if (json_bool(json_get(it.value, STR("storage")))) {
            b->storage_version = text(b, it.value, "name");
            stored++;
        }
        if (it.position == 0)
            schema = json_get(it.value, STR("schema"));
        b->one_schema = b->one_schema && json_equal(schema, json_get(it.value, STR("schema")));
    }
    if (json_count(versions) == 0)
        finding_required(b->found, &list, STR("must have at least one version"));
    else if (stored != 1)
        finding_invalid(b->found, &list, value_of(b->arena, versions),
                        STR("must have exactly one version marked as storage version"));
    it = json_iter(versions);
    while (json_next(&it)) {
        struct path here = path_index(&list, it.position);

        build_version(b, it.value, &here);
    }
}

struct definition *definition_compile(struct str crd, const struct schema *meta,
                                      struct findings *found)
{
    struct definition *d = mem_new(struct definition);
    struct build b = { .definition = d, .found = found, .meta = meta };
    struct error err;

    d->uses = 1;
    d->arena = b.arena = arena_create(0);
    d->kinds = kinds_new(d->arena, 2);
    /* The schema's views look into these bytes as long as the definition lives. */
    if (json_read(d->arena, str_dup(d->arena, crd), &json_limits_default, &b.crd, &err) != 0) {
        finding_invalid(found, NULL, NULL, str_dup(found->arena, str_of(err.text)));
        return d;
    }
    b.spec = json_get(b.crd, STR("spec"));
    b.names = json_get(b.spec, STR("names"));
    d->group = text(&b, b.spec, "group");
    d->plural = text(&b, b.names, "plural");
    check_names(&b);
    build_versions(&b);
    return d;
}

void definition_unref(struct definition *d)
{
    if (!d || __atomic_sub_fetch(&d->uses, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    regex_set_free(&d->regexes);
    arena_free(d->arena);
    mem_free(d);
}
