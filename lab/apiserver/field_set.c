/* field_set.c: sets of fields, and how an update moves ownership. */
#include "lab/apiserver/field_set.h"

#include "lab/apiserver/object.h"

struct walk {
    struct arena *arena;
    bool custom;
};

static struct value *changed(struct walk *w, const struct schema *s, const struct value *old,
                             const struct value *now, bool is_meta);

static const struct schema *member_schema(const struct schema *s, struct str key)
{
    const struct schema *of = schema_property(s, key);

    return of ? of : s ? s->additional : NULL;
}

/* metadata that the server sets belongs to nobody. */
static bool is_owned(struct str key)
{
    static const char *const names[] = { "name",       "generateName",      "namespace",
                                         "uid",        "resourceVersion",   "generation",
                                         "selfLink",   "creationTimestamp", "deletionTimestamp",
                                         "managedFields", "deletionGracePeriodSeconds" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_eq(key, str_of(names[i])))
            return str_eq(key, STR("generateName"));
    return true;
}

static struct value *changed_object(struct walk *w, const struct schema *s,
                                    const struct value *old, const struct value *now, bool is_meta)
{
    struct value *set = value_object(w->arena);
    bool marks_itself = w->custom || (s && s->additional);

    if (!old && !is_meta && marks_itself)
        value_set(w->arena, set, STR("."), value_object(w->arena));
    for (struct value *m = value_first(now); m; m = value_next(m)) {
        struct str key = value_key(m);
        struct value *of;

        if (is_meta && !is_owned(key))
            continue;
        of = changed(w, member_schema(s, key), value_get(old, key), m, false);
        if (of)
            value_set(w->arena, set, str_fmt(w->arena, "f:%.*s", STR_ARG(key)), of);
    }
    return value_count(set) ? set : NULL;
}

/* "k:{...}" or "v:..." */
static struct str element_id(struct walk *w, const struct schema *s, const struct value *element)
{
    struct strbuf id = strbuf_new(w->arena, 32);
    bool first = true;

    if (s->list == SCHEMA_LIST_SET) {
        strbuf_lit(&id, "v:");
        value_write(element, true, &id);
        return strbuf_str(&id);
    }
    strbuf_lit(&id, "k:{");
    for (uint32_t i = 0; i < s->list_keys.count; i++) {
        const struct value *key = value_get(element, s->list_keys.items[i]);

        if (!key)
            continue;
        if (!first)
            strbuf_char(&id, ',');
        first = false;
        finding_quote(&id, s->list_keys.items[i]);
        strbuf_char(&id, ':');
        value_write(key, true, &id);
    }
    strbuf_char(&id, '}');
    return strbuf_str(&id);
}

static struct value *element_of(struct walk *w, const struct schema *s, const struct value *list,
                                struct str id)
{
    for (struct value *m = value_first(list); m; m = value_next(m))
        if (str_eq(element_id(w, s, m), id))
            return m;
    return NULL;
}

static struct value *changed_list(struct walk *w, const struct schema *s, const struct value *old,
                                  const struct value *now)
{
    struct value *set = value_object(w->arena);

    if (!old)
        value_set(w->arena, set, STR("."), value_object(w->arena));
    for (struct value *m = value_first(now); m; m = value_next(m)) {
        struct str id = element_id(w, s, m);
        const struct value *before = element_of(w, s, old, id);
        struct value *of;

        if (before && value_equal(before, m))
            continue;
        of = s->list == SCHEMA_LIST_SET ? value_object(w->arena)
                                        : changed(w, s->items, before, m, false);
        if (of && !before && s->list == SCHEMA_LIST_MAP && !value_get(of, STR(".")))
            value_set(w->arena, of, STR("."), value_object(w->arena));
        if (of)
            value_set(w->arena, set, id, of);
    }
    return value_count(set) ? set : NULL;
}

static struct value *changed(struct walk *w, const struct schema *s, const struct value *old,
                             const struct value *now, bool is_meta)
{
    if (old && value_equal(old, now))
        return NULL;
    if (value_kind(now) == JSON_OBJECT && value_count(now) && !(s && s->atomic_map))
        return changed_object(w, s, value_kind(old) == JSON_OBJECT ? old : NULL, now, is_meta);
    if (value_kind(now) == JSON_ARRAY && s && s->list != SCHEMA_LIST_ATOMIC && value_count(now))
        return changed_list(w, s, value_kind(old) == JSON_ARRAY ? old : NULL, now);
    return value_object(w->arena);
}

struct value *fields_changed(struct arena *arena, const struct kind *kind, const struct value *old,
                             const struct value *object)
{
    struct walk w = { arena, kind_has(kind, KIND_CUSTOM) };
    struct value *set = value_object(arena);

    for (struct value *m = value_first(object); m; m = value_next(m)) {
        struct str key = value_key(m);
        bool is_meta = str_eq(key, STR("metadata"));
        struct value *of;

        if (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")))
            continue;
        of = changed(&w, schema_property(kind->schema, key), value_get(old, key), m, is_meta);
        if (of)
            value_set(arena, set, str_fmt(arena, "f:%.*s", STR_ARG(key)), of);
    }
    return set;
}

struct value *fields_union(struct arena *arena, const struct value *a, const struct value *b)
{
    struct value *set = value_object(arena);

    for (struct value *m = value_first(a); m; m = value_next(m)) {
        const struct value *other = value_get(b, value_key(m));

        value_set(arena, set, value_key(m),
                  other ? fields_union(arena, m, other) : value_clone(arena, m));
    }
    for (struct value *m = value_first(b); m; m = value_next(m))
        if (!value_get(a, value_key(m)))
            value_set(arena, set, value_key(m), value_clone(arena, m));
    return set;
}

struct value *fields_minus(struct arena *arena, const struct value *a, const struct value *b)
{
    struct value *set = value_object(arena);

    for (struct value *m = value_first(a); m; m = value_next(m)) {
        const struct value *other = value_get(b, value_key(m));
        struct value *left;

        if (!other) {
            value_set(arena, set, value_key(m), value_clone(arena, m));
            continue;
        }
        if (value_count(other) == 0 || value_count(m) == 0)
            continue;
        left = fields_minus(arena, m, other);
        if (value_count(left))
            value_set(arena, set, value_key(m), left);
    }
    return set;
}

static bool is_writers(const struct value *entry, const struct field_writer *writer)
{
    return str_eq(value_text(value_get(entry, STR("manager"))), writer->manager) &&
           str_eq(value_text(value_get(entry, STR("operation"))), STR("Update")) &&
           str_eq(value_text(value_get(entry, STR("apiVersion"))), writer->api_version) &&
           str_eq(value_text(value_get(entry, STR("subresource"))), writer->sub_resource);
}

static struct value *new_entry(struct arena *arena, const struct field_writer *writer,
                               struct value *set)
{
    struct value *entry = value_object(arena);

    value_set(arena, entry, STR("apiVersion"), value_str(arena, writer->api_version));
    value_set(arena, entry, STR("fieldsType"), value_str(arena, STR("FieldsV1")));
    value_set(arena, entry, STR("fieldsV1"), set);
    value_set(arena, entry, STR("manager"), value_str(arena, writer->manager));
    value_set(arena, entry, STR("operation"), value_str(arena, STR("Update")));
    if (writer->sub_resource.len)
        value_set(arena, entry, STR("subresource"), value_str(arena, writer->sub_resource));
    value_set(arena, entry, STR("time"), value_str(arena, writer->time));
    return entry;
}

void fields_update(struct arena *arena, const struct kind *kind, const struct value *old,
                   struct value *object, const struct field_writer *writer)
{
    struct value *gained = fields_changed(arena, kind, old, object);
    struct value *both = old ? fields_changed(arena, kind, object, old) : value_object(arena);
    /* What differs when looked at from the old side and not from the new one is gone. */
    struct value *lost = fields_minus(arena, both, gained);
    struct value *entries = value_array(arena);
    struct value *own = NULL;

    for (struct value *m = value_first(meta_get(old, "managedFields")); m; m = value_next(m)) {
        const struct value *had = value_get(m, STR("fieldsV1"));
        struct value *has = fields_minus(arena, had, lost);
        bool mine = !own && is_writers(m, writer);
        struct value *entry = value_clone(arena, m);

        if (mine)
            has = own = fields_union(arena, has, gained);
        else
            has = fields_minus(arena, has, gained);
        if (value_count(has) == 0)
            continue;
        if (mine && !value_equal(had, has))
            value_set(arena, entry, STR("time"), value_str(arena, writer->time));
        value_set(arena, entry, STR("fieldsV1"), has);
        value_append(entries, entry);
    }
    if (!own && value_count(gained))
        value_append(entries, new_entry(arena, writer, gained));
    if (value_count(entries))
        meta_set(arena, object, "managedFields", entries);
    else
        meta_remove(object, "managedFields");
}
