/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c: sets of fields before and after, and whose they are. */
#include "lab/apiserver/apply.h"

#include "lab/apiserver/apply_merge.h"
#include "lab/apiserver/object.h"

#include <stdlib.h>

#define STATUS_FIELD STR("f:status")

static bool writes_status(const struct apply *apply)
{
    return str_eq(apply->by.sub_resource, STR("status"));
}

/* The fields that this path can write at all. */
static struct value *writable(struct arena *arena, const struct apply *apply, struct value *set)
{
    struct value *status = value_get(set, STATUS_FIELD);
    struct value *only;

    if (!kind_has(apply->kind, KIND_STATUS))
        return set;
    if (!writes_status(apply)) {
        value_remove(set, STATUS_FIELD);
        return set;
    }
    only = value_object(arena);
    if (status)
        value_set(arena, only, STATUS_FIELD, value_clone(arena, status));
    return only;
}

static void take_status(struct arena *arena, struct value *to, const struct value *from)
{
    const struct value *status = value_get(from, STR("status"));

    if (status)
        value_set(arena, to, STR("status"), value_clone(arena, status));
    else
        value_remove(to, STR("status"));
}

static struct value *keep_other_part(struct arena *arena, const struct apply *apply,
                                     const struct value *live, struct value *object)
{
    struct value *result = object;

    if (!kind_has(apply->kind, KIND_STATUS))
        return object;
    if (writes_status(apply)) {
        result = value_clone(arena, live);
        take_status(arena, result, object);
    } else {
        take_status(arena, result, live);
    }
    return result;
}

static bool is_own(const struct manager *manager, const struct apply *apply)
{
    return manager->applies && str_eq(manager->by.manager, apply->by.manager) &&
           str_eq(manager->by.sub_resource, apply->by.sub_resource);
}

/* Who wrote before anybody kept books is one manager of all there is. */
static struct managers managers_of(struct arena *arena, const struct apply *apply,
                                   const struct value *live)
{
    struct managers managers = managers_new(arena, 4);

    if (!live)
        return managers;
    if (!managers_read(arena, meta_get(live, "managedFields"), &managers))
        managers = managers_new(arena, 4);
    if (managers.count == 0) {
        struct manager first = { apply->by, false, fields_changed(arena, apply->kind, NULL, live) };

        first.by.manager = STR("before-first-apply");
        first.by.sub_resource = STR("");
        managers_push(&managers, first);
    }
    return managers;
}

static struct value *owned_by_any(struct arena *arena, const struct apply *apply,
                                  const struct managers *managers, const struct value *own)
{
    struct value *owned = value_clone(arena, own);

    for (uint32_t i = 0; i < managers->count; i++)
        if (!is_own(&managers->items[i], apply))
            owned = fields_union(arena, owned, managers->items[i].set);
    return owned;
}

static struct str shown(struct arena *arena, const struct manager *manager)
{
    struct strbuf out = strbuf_new(arena, 64);

    finding_quote(&out, manager->by.manager);
    if (manager->by.sub_resource.len) {
        strbuf_lit(&out, " with subresource ");
        finding_quote(&out, manager->by.sub_resource);
    }
    if (!manager->applies)
        strbuf_fmt(&out, " using %.*s", STR_ARG(manager->by.api_version));
    return strbuf_str(&out);
}

static void add_conflicts(struct arena *arena, const struct manager *manager,
                          const struct value *set, struct apply_conflicts *conflicts)
{
    struct str_list paths = fields_paths(arena, set);
    struct str who = shown(arena, manager);

    for (uint32_t i = 0; i < paths.count; i++)
        apply_conflicts_push(conflicts, (struct apply_conflict){ who, paths.items[i] });
}

static int by_manager(const void *a, const void *b)
{
    const struct apply_conflict *x = a, *y = b;
    int order = str_cmp(x->manager, y->manager);

    return order ? order : str_cmp(x->path, y->path);
}

/* Others lose what the change took or removed; what it would take from them goes to `conflicts`. */
static void take_from_others(struct arena *arena, const struct apply *apply,
                             struct managers *managers, const struct value *gained,
                             const struct value *lost, struct apply_conflicts *conflicts)
{
    for (uint32_t i = 0; i < managers->count; i++) {
        struct manager *m = &managers->items[i];
        struct value *taken;

        if (is_own(m, apply))
            continue;
        taken = fields_common(arena, m->set, gained);
        add_conflicts(arena, m, taken, conflicts);
        m->set = fields_minus(arena, fields_minus(arena, m->set, taken), lost);
    }
}

/* The time is that of the last apply that changed the object; of one that
 * never did there is none. */
static void set_own(struct managers *managers, const struct apply *apply, struct value *set,
                    bool changed)
{
    struct field_writer by = apply->by;

    for (uint32_t i = 0; i < managers->count; i++) {
        struct manager *m = &managers->items[i];

        if (!is_own(m, apply))
            continue;
        if (!changed)
            by.time = m->by.time;
        m->by = by;
        m->set = set;
        return;
    }
    if (!changed)
        by.time = STR("");
    managers_push(managers, (struct manager){ by, true, set });
}

static const struct value *own_last(const struct managers *managers, const struct apply *apply)
{
    for (uint32_t i = 0; i < managers->count; i++)
        if (is_own(&managers->items[i], apply))
            return managers->items[i].set;
    return NULL;
}

int apply_object(struct arena *arena, const struct apply *apply, const struct value *live,
                 const struct value *config, struct value **ret_object,
                 struct apply_conflicts *ret_conflicts)
{
    struct managers managers = managers_of(arena, apply, live);
    struct value *set = writable(arena, apply, fields_of(arena, apply->kind, config));
    const struct value *last = own_last(&managers, apply);
    const struct value *before = live ? live : value_object(arena);
    struct value *after = apply_merge(arena, apply->kind->schema, before, config);
    struct apply_conflicts conflicts = apply_conflicts_new(arena, 0);
    struct value *gained, *lost;

    if (last)
        after = apply_prune(arena, apply->kind->schema, after, last,
                            owned_by_any(arena, apply, &managers, set));
    after = keep_other_part(arena, apply, before, after);
    gained = fields_changed(arena, apply->kind, before, after);
    lost = fields_minus(arena, fields_changed(arena, apply->kind, after, before), gained);
    take_from_others(arena, apply, &managers, gained, lost, &conflicts);
    if (conflicts.count && !apply->force) {
        qsort(conflicts.items, conflicts.count, sizeof(*conflicts.items), by_manager);
        *ret_conflicts = conflicts;
        return -1;
    }
    set_own(&managers, apply, set, value_count(gained) || value_count(lost));
    managers_put(arena, &managers, after);
    *ret_object = after;
    return 0;
}

struct str apply_conflict_message(struct arena *arena, const struct apply_conflicts *conflicts)
{
    struct strbuf out = strbuf_new(arena, 128);

    if (conflicts->count == 1)
        return str_fmt(arena, "Apply failed with 1 conflict: conflict with %.*s: %.*s",
                       STR_ARG(conflicts->items[0].manager), STR_ARG(conflicts->items[0].path));
    strbuf_fmt(&out, "Apply failed with %u conflicts:", (unsigned)conflicts->count);
    for (uint32_t i = 0; i < conflicts->count; i++) {
        const struct apply_conflict *c = &conflicts->items[i];

        if (i == 0 || !str_eq(c->manager, conflicts->items[i - 1].manager))
            strbuf_fmt(&out, "%sconflicts with %.*s:", i ? "\n" : " ", STR_ARG(c->manager));
        strbuf_fmt(&out, "\n- %.*s", STR_ARG(c->path));
    }
    return strbuf_str(&out);
}

static void find_faults(struct arena *arena, const struct schema *s, const struct value *value,
                        struct str at, struct str_list *faults)
{
    if (value_kind(value) == JSON_OBJECT)
        for (struct value *m = value_first(value); m; m = value_next(m)) {
            const struct schema *of = schema_property(s, value_key(m));

            find_faults(arena,
                        of  ? of
                        : s ? s->additional
                            : NULL,
                        m, str_fmt(arena, "%.*s.%.*s", STR_ARG(at), STR_ARG(value_key(m))), faults);
        }
    if (value_kind(value) != JSON_ARRAY || !s || s->list == SCHEMA_LIST_ATOMIC)
        return;

    struct str_list seen = str_list_new(arena, value_count(value));
    uint32_t index = 0;

    for (struct value *m = value_first(value); m; m = value_next(m), index++) {
        struct str id = fields_element(arena, s, m);

        if (s->list == SCHEMA_LIST_MAP && str_eq(id, STR("k:{}")))
            str_list_push(faults,
                          str_fmt(arena,
                                  "%.*s: element %u: associative list with keys has an element "
                                  "that omits key field \"%.*s\"",
                                  STR_ARG(at), (unsigned)index, STR_ARG(s->list_keys.items[0])));
        else if (str_list_has(&seen, id))
            str_list_push(faults, str_fmt(arena, "%.*s: duplicate entries for key %.*s",
                                          STR_ARG(at), STR_ARG(fields_key_shown(arena, id))));
        str_list_push(&seen, id);
        find_faults(arena, s->items, m,
                    str_fmt(arena, "%.*s%.*s", STR_ARG(at), STR_ARG(fields_key_shown(arena, id))),
                    faults);
    }
}

struct str_list apply_faults(struct arena *arena, const struct kind *kind,
                             const struct value *config)
{
    struct str_list faults = str_list_new(arena, 0);

    find_faults(arena, kind->schema, config, STR(""), &faults);
    return faults;
}

struct str_list apply_unchanged(struct arena *arena, const struct kind *kind,
                                const struct value *past, const struct value *live)
{
    struct value *set = fields_of(arena, kind, past);

    set = fields_minus(arena, set, fields_changed(arena, kind, past, live));
    return fields_paths(arena, fields_minus(arena, set, fields_changed(arena, kind, live, past)));
}
