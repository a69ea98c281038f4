/* SPDX-License-Identifier: Apache-2.0 */
/* managers.c: entries of managedFields, and how an update moves ownership. */
#include "lab/apiserver/managers.h"

#include "lab/apiserver/object.h"

#include <stdlib.h>

enum { UPDATERS_MAX = 10 };

static struct str text(const struct value *entry, const char *key)
{
    return value_text(value_get(entry, str_of(key)));
}

bool managers_read(struct arena *arena, const struct value *managed_fields,
                   struct managers *ret_managers)
{
    struct managers managers = managers_new(arena, 4);

    for (struct value *m = value_first(managed_fields); m; m = value_next(m)) {
        struct str operation = text(m, "operation");
        struct value *set = value_get(m, STR("fieldsV1"));
        bool applies = str_eq(operation, STR("Apply"));

        if ((!applies && !str_eq(operation, STR("Update"))) ||
            !str_eq(text(m, "fieldsType"), STR("FieldsV1")) ||
            (set && value_kind(set) != JSON_OBJECT))
            return false;
        managers_push(&managers, (struct manager){ { text(m, "manager"), text(m, "subresource"),
                                                     text(m, "apiVersion"), text(m, "time") },
                                                   applies,
                                                   set ? set : value_object(arena) });
    }
    *ret_managers = managers;
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const struct manager *x = a, *y = b;
    int order = (int)y->applies - (int)x->applies;

    if (order == 0)
        order = str_cmp(x->by.time, y->by.time);
    if (order == 0)
        order = str_cmp(x->by.manager, y->by.manager);
    if (order == 0)
        order = str_cmp(x->by.api_version, y->by.api_version);
    return order ? order : str_cmp(x->by.sub_resource, y->by.sub_resource);
}

static struct value *entry_of(struct arena *arena, const struct manager *manager)
{
    struct value *entry = value_object(arena);

    value_set(arena, entry, STR("apiVersion"), value_str(arena, manager->by.api_version));
    value_set(arena, entry, STR("fieldsType"), value_str(arena, STR("FieldsV1")));
    value_set(arena, entry, STR("fieldsV1"), value_clone(arena, manager->set));
    value_set(arena, entry, STR("manager"), value_str(arena, manager->by.manager));
    value_set(arena, entry, STR("operation"),
              value_str(arena, manager->applies ? STR("Apply") : STR("Update")));
    if (manager->by.sub_resource.len)
        value_set(arena, entry, STR("subresource"), value_str(arena, manager->by.sub_resource));
    if (manager->by.time.len)
        value_set(arena, entry, STR("time"), value_str(arena, manager->by.time));
    return entry;
}

void managers_put(struct arena *arena, const struct managers *managers, struct value *object)
{
    struct managers sorted = managers_new(arena, managers->count);
    struct value *entries = value_array(arena);

    for (uint32_t i = 0; i < managers->count; i++)
        if (value_count(managers->items[i].set))
            managers_push(&sorted, managers->items[i]);
    if (sorted.count > 1)
        qsort(sorted.items, sorted.count, sizeof(*sorted.items), by_rank);
    for (uint32_t i = 0; i < sorted.count; i++)
        value_append(entries, entry_of(arena, &sorted.items[i]));
    if (value_count(entries))
        meta_set(arena, object, "managedFields", entries);
    else
        meta_remove(object, "managedFields");
}

static bool is_writers(const struct manager *manager, const struct field_writer *writer)
{
    return !manager->applies && str_eq(manager->by.manager, writer->manager) &&
           str_eq(manager->by.api_version, writer->api_version) &&
           str_eq(manager->by.sub_resource, writer->sub_resource);
}

static struct managers base_of(struct arena *arena, const struct value *old,
                               const struct value *object, const struct field_writer *writer)
{
    const struct value *given = meta_get(object, "managedFields");
    bool is_list = value_kind(given) == JSON_ARRAY && writer->sub_resource.len == 0;
    struct managers managers = managers_new(arena, 4);

    /* Asked to forget. */
    if (is_list && (value_count(given) == 0 ||
                    (value_count(given) == 1 && value_count(value_first(given)) == 0)))
        return managers;
    if ((!is_list || !managers_read(arena, given, &managers)) &&
        !managers_read(arena, meta_get(old, "managedFields"), &managers))
        return managers_new(arena, 4);
    return managers;
}

static int by_age(const void *a, const void *b)
{
    const struct manager *x = *(const struct manager *const *)a;
    const struct manager *y = *(const struct manager *const *)b;
    int order = str_cmp(x->by.time, y->by.time);

    return order ? order : str_cmp(x->by.manager, y->by.manager);
}

/* The first of a version that is too old is the bucket into which the next ones go. */
static void move(struct arena *arena, struct manager *bucket, struct manager *from)
{
    bucket->by.manager = STR("ancient-changes");
    bucket->by.sub_resource = STR("");
    bucket->by.time = from->by.time;
    bucket->set = fields_union(arena, bucket->set, from->set);
    from->set = value_object(arena);
}

/* No more than UPDATERS_MAX that updated: the oldest become one for each version. Source:
 * managedfields/internal/capmanagers.go. */
static void cap(struct arena *arena, struct managers *managers)
{
    struct manager **updaters = arena_array(arena, struct manager *, managers->count);
    uint32_t count = 0, left;

    for (uint32_t i = 0; i < managers->count; i++)
        if (!managers->items[i].applies && value_count(managers->items[i].set))
            updaters[count++] = &managers->items[i];
    if (count > 1)
        qsort(updaters, count, sizeof(*updaters), by_age);
    left = count;
    for (uint32_t i = 1; i < count && left > UPDATERS_MAX; i++)
        for (uint32_t k = 0; k < i; k++)
            if (value_count(updaters[k]->set) &&
                str_eq(updaters[k]->by.api_version, updaters[i]->by.api_version)) {
                move(arena, updaters[k], updaters[i]);
                left--;
                break;
            }
}

void managers_update(struct arena *arena, const struct kind *kind, const struct value *old,
                     struct value *object, const struct field_writer *writer)
{
    struct managers managers = base_of(arena, old, object, writer);

    /* Where nobody is kept track of, tracking begins with the first who applies. */
    if (old && managers.count == 0) {
        meta_remove(object, "managedFields");
        return;
    }

    struct value *gained = fields_changed(arena, kind, old, object);
    struct value *both = old ? fields_changed(arena, kind, object, old) : value_object(arena);
    /* What differs when looked at from the old side and not from the new one is gone. */
    struct value *lost = fields_minus(arena, both, gained);
    bool found = false;

    for (uint32_t i = 0; i < managers.count; i++) {
        struct manager *m = &managers.items[i];
        struct value *kept = fields_minus(arena, m->set, lost);

        if (!found && is_writers(m, writer)) {
            found = true;
            kept = fields_union(arena, kept, gained);
            if (value_count(gained))
                m->by.time = writer->time;
        } else {
            kept = fields_minus(arena, kept, gained);
        }
        m->set = kept;
    }
    if (!found)
        managers_push(&managers, (struct manager){ *writer, false, gained });
    cap(arena, &managers);
    managers_put(arena, &managers, object);
}
