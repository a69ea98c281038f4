/* SPDX-License-Identifier: Apache-2.0 */
/* dependency_tracker.c: tracked_objects and holders point at each other; marks make one change
 * linear in what a holder held and wants. */
#include "controller/dependency_tracker.h"

#include "base/map.h"
#include "base/memory.h"

struct holder {
    char *key;
    size_t key_len;
    struct held_object **tracked_objects;
    uint32_t count;
};

struct held_object {
    enum tracked_kind kind;
    uint32_t count;
    uint32_t capacity;
    uint64_t mark; /* of the dependency_tracker_set at work: held before, or wanted now */
    struct holder **holders;
    size_t name_len;
    char name[];
};

struct dependency_tracker {
    struct dependency_tracker_options options;
    struct dict *holders;
    struct dict *tracked_objects[TRACKED_KIND_COUNT];
    size_t tracked_count;
    uint64_t mark;
};

struct dependency_tracker *
dependency_tracker_create(const struct dependency_tracker_options *options)
{
    struct dependency_tracker *tracker = mem_new(struct dependency_tracker);

    tracker->options = *options;
    tracker->holders = dict_create();
    for (int kind = 0; kind < TRACKED_KIND_COUNT; kind++)
        tracker->tracked_objects[kind] = dict_create();
    return tracker;
}

static void holder_free(struct holder *holder)
{
    mem_free(holder->tracked_objects);
    mem_free(holder->key);
    mem_free(holder);
}

static void tracked_free(struct held_object *tracked)
{
    mem_free(tracked->holders);
    mem_free(tracked);
}

void dependency_tracker_free(struct dependency_tracker *tracker)
{
    struct str key;
    void *value;

    if (!tracker)
        return;
    for (size_t cursor = 0; dict_next(tracker->holders, &cursor, &key, &value);)
        holder_free(value);
    dict_free(tracker->holders);
    for (int kind = 0; kind < TRACKED_KIND_COUNT; kind++) {
        for (size_t cursor = 0; dict_next(tracker->tracked_objects[kind], &cursor, &key, &value);)
            tracked_free(value);
        dict_free(tracker->tracked_objects[kind]);
    }
    mem_free(tracker);
}

static struct held_object *tracked_at(struct dependency_tracker *tracker, enum tracked_kind kind,
                                      struct str name)
{
    struct held_object *tracked = dict_get(tracker->tracked_objects[kind], name);

    if (tracked)
        return tracked;
    tracked = mem_alloc(sizeof(*tracked) + name.len + 1);
    tracked->kind = kind;
    tracked->name_len = name.len;
    if (name.len)
        memcpy(tracked->name, name.at, name.len);
    dict_set(tracker->tracked_objects[kind], name, tracked);
    tracker->tracked_count++;
    return tracked;
}

static struct str tracked_name(const struct held_object *tracked)
{
    return str_make(tracked->name, tracked->name_len);
}

static void tracked_add(struct dependency_tracker *tracker, struct held_object *tracked,
                        struct holder *holder)
{
    if (tracked->count == tracked->capacity) {
        tracked->capacity = tracked->capacity ? tracked->capacity * 2 : 1;
        tracked->holders =
            mem_resize(tracked->holders, sizeof(*tracked->holders) * tracked->capacity);
    }
    tracked->holders[tracked->count++] = holder;
    if (tracked->count == 1 && tracker->options.opened)
        tracker->options.opened(tracker->options.context, tracked->kind, tracked_name(tracked));
}

static void tracked_drop(struct dependency_tracker *tracker, struct held_object *tracked,
                         const struct holder *holder)
{
    for (uint32_t i = 0; i < tracked->count; i++)
        if (tracked->holders[i] == holder) {
            tracked->holders[i] = tracked->holders[--tracked->count];
            break;
        }
    if (tracked->count)
        return;
    if (tracker->options.closed)
        tracker->options.closed(tracker->options.context, tracked->kind, tracked_name(tracked));
    dict_remove(tracker->tracked_objects[tracked->kind], tracked_name(tracked));
    tracker->tracked_count--;
    tracked_free(tracked);
}

static struct holder *holder_at(struct dependency_tracker *tracker, struct str key)
{
    struct holder *holder = dict_get(tracker->holders, key);

    if (holder)
        return holder;
    holder = mem_new(struct holder);
    holder->key = mem_copy(key.at, key.len);
    holder->key_len = key.len;
    dict_set(tracker->holders, key, holder);
    return holder;
}

void dependency_tracker_set(struct dependency_tracker *tracker, struct str key,
                            const struct tracked_objects *wanted)
{
    struct holder *holder = holder_at(tracker, key);
    struct held_object **before = holder->tracked_objects;
    uint32_t before_count = holder->count;
    uint64_t was_held = ++tracker->mark;
    uint64_t is_wanted = ++tracker->mark;

    for (uint32_t i = 0; i < before_count; i++)
        before[i]->mark = was_held;
    holder->tracked_objects =
        wanted->count ? mem_alloc(sizeof(*holder->tracked_objects) * wanted->count) : NULL;
    holder->count = 0;
    for (uint32_t i = 0; i < wanted->count; i++) {
        struct held_object *tracked =
            tracked_at(tracker, wanted->items[i].kind, wanted->items[i].name);

        if (tracked->mark == is_wanted)
            continue;
        if (tracked->mark != was_held)
            tracked_add(tracker, tracked, holder);
        tracked->mark = is_wanted;
        holder->tracked_objects[holder->count++] = tracked;
    }
    for (uint32_t i = 0; i < before_count; i++)
        if (before[i]->mark == was_held)
            tracked_drop(tracker, before[i], holder);
    mem_free(before);
}

void dependency_tracker_forget(struct dependency_tracker *tracker, struct str key)
{
    struct holder *holder = dict_remove(tracker->holders, key);

    if (!holder)
        return;
    for (uint32_t i = 0; i < holder->count; i++)
        tracked_drop(tracker, holder->tracked_objects[i], holder);
    holder_free(holder);
}

void dependency_tracker_visit(const struct dependency_tracker *tracker, enum tracked_kind kind,
                              struct str name, void (*told)(void *context, struct str holder),
                              void *context)
{
    const struct held_object *tracked = dict_get(tracker->tracked_objects[kind], name);

    for (uint32_t i = 0; tracked && i < tracked->count; i++)
        told(context, str_make(tracked->holders[i]->key, tracked->holders[i]->key_len));
}

size_t dependency_tracker_holders(const struct dependency_tracker *tracker)
{
    return dict_count(tracker->holders);
}

size_t dependency_tracker_count(const struct dependency_tracker *tracker)
{
    return tracker->tracked_count;
}
