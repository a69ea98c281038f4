/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: a ring of pointers to snapshots. The number of a change is its place in the ring. */
#include "controller/console/history.h"

#include "base/memory.h"
#include "text/time.h"

#include <stdatomic.h>

struct held_change {
    struct change change; /* first: a change is its held_change */
    atomic_uint refs;
    char bytes[];
};

struct history {
    struct str epoch;
    char *epoch_bytes;
    struct change **ring; /* the change `id` is at id % count_max */
    uint32_t count_max;
    size_t bytes, bytes_max;
    uint64_t first, newest; /* held: first .. newest; none while first > newest */
};

static const char *const type_names[] = {
    [CHANGE_ADDED] = "ADDED",
    [CHANGE_MODIFIED] = "MODIFIED",
    [CHANGE_DELETED] = "DELETED",
};

const char *change_type_name(enum change_type type)
{
    return type_names[type];
}

bool change_type_from(struct str name, enum change_type *ret_type)
{
    for (enum change_type type = CHANGE_ADDED; type <= CHANGE_DELETED; type++)
        if (str_eq(name, str_of(type_names[type]))) {
            *ret_type = type;
            return true;
        }
    return false;
}

struct change *change_ref(struct change *change)
{
    struct held_change *held = (struct held_change *)change;

    atomic_fetch_add_explicit(&held->refs, 1, memory_order_relaxed);
    return change;
}

void change_unref(struct change *change)
{
    struct held_change *held = (struct held_change *)change;

    if (held && atomic_fetch_sub_explicit(&held->refs, 1, memory_order_acq_rel) == 1)
        mem_free(held);
}

/* --- frames --- */

struct str history_id(const struct history *history, struct arena *arena, uint64_t id)
{
    return str_fmt(arena, "%.*s-%llu", STR_ARG(history->epoch), (unsigned long long)id);
}

static void put_id(const struct history *history, uint64_t id, struct strbuf *out)
{
    strbuf_lit(out, "id: ");
    strbuf_put(out, history->epoch);
    strbuf_char(out, '-');
    strbuf_u64(out, id);
    strbuf_char(out, '\n');
}

/* Enough to ask for it. */
static void put_named(struct arena *arena, const struct change *facts, struct json_writer *w)
{
    json_open_object(w);
    json_field_str(w, "apiVersion", kube_api_version(arena, facts->resource));
    json_field_str(w, "kind", facts->resource->kind);
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    if (facts->namespace_.len)
        json_field_str(w, "namespace", facts->namespace_);
    json_field_str(w, "name", facts->name);
    json_field_str(w, "uid", facts->uid);
    json_field_str(w, "resourceVersion", facts->resource_version);
    json_close_object(w);
    json_close_object(w);
}

static void put_frame(const struct history *history, struct arena *arena,
                      const struct change *facts, struct str object, size_t object_bytes_max,
                      struct strbuf *out)
{
    struct json_writer w = json_writer(out);
    size_t from;

    put_id(history, facts->id, out);
    strbuf_lit(out, "data: ");
    from = out->len;
    json_open_object(&w);
    json_field_str(&w, "type", str_of(change_type_name(facts->type)));
    json_put_key(&w, STR("object"));
    if (object.len <= object_bytes_max) {
        json_put_raw(&w, object);
    } else {
        put_named(arena, facts, &w);
        json_field_bool(&w, "objectOmitted", true);
    }
    json_close_object(&w);
    /* Between JSON's tokens a line end is a space; within them there is none. */
    for (size_t i = from; i < out->len; i++)
        if (out->at[i] == '\n' || out->at[i] == '\r')
            out->at[i] = ' ';
    strbuf_lit(out, "\n\n");
}

void history_put_reset(const struct history *history, uint64_t id, struct strbuf *out)
{
    strbuf_lit(out, "event: reset\n");
    put_id(history, id, out);
    strbuf_lit(out,
               "data: {\"reason\":\"Expired\",\"message\":\"changes before this one were missed; "
               "list the objects again\"}\n\n");
}

void history_put_heartbeat(const struct history *history, uint64_t id, struct strbuf *out)
{
    strbuf_lit(out, ": heartbeat\n");
    put_id(history, id, out);
    strbuf_char(out, '\n');
}

void change_write(const struct history *history, struct arena *arena, const struct change *change,
                  struct json_writer *w)
{
    json_open_object(w);
    json_field_str(w, "id", history_id(history, arena, change->id));
    json_field_str(w, "type", str_of(change_type_name(change->type)));
    json_field_str(w, "time", time_rfc3339_micro(arena, change->at_ms));
    json_field_str(w, "apiVersion", kube_api_version(arena, change->resource));
    json_field_str(w, "kind", change->resource->kind);
    if (change->namespace_.len)
        json_field_str(w, "namespace", change->namespace_);
    json_field_str(w, "name", change->name);
    json_field_str(w, "uid", change->uid);
    json_field_str(w, "resourceVersion", change->resource_version);
    json_close_object(w);
}

/* --- the ring --- */

static struct str place(char **at, struct str s)
{
    struct str placed = str_make(*at, s.len);

    if (s.len)
        memcpy(*at, s.at, s.len);
    *at += s.len;
    return placed;
}

static size_t bytes_of(const struct change *change)
{
    return sizeof(struct held_change) + change->namespace_.len + change->name.len +
           change->uid.len + change->resource_version.len + change->frame.len;
}

/* One allocation; `facts` with its frame. */
static struct change *hold(const struct change *facts)
{
    struct held_change *held = mem_alloc(bytes_of(facts));
    char *at = held->bytes;

    held->change = *facts;
    held->change.namespace_ = place(&at, facts->namespace_);
    held->change.name = place(&at, facts->name);
    held->change.uid = place(&at, facts->uid);
    held->change.resource_version = place(&at, facts->resource_version);
    held->change.frame = place(&at, facts->frame);
    atomic_init(&held->refs, 1);
    return &held->change;
}

static struct change **place_of(const struct history *history, uint64_t id)
{
    return &history->ring[id % history->count_max];
}

static void drop_first(struct history *history)
{
    struct change **first = place_of(history, history->first++);

    history->bytes -= bytes_of(*first);
    change_unref(TAKE(*first));
}

void history_add(struct history *history, const struct change *facts, struct str object,
                 size_t object_bytes_max)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf frame = strbuf_new(arena, object.len + 128);
    struct change whole = *facts;
    struct change *held;

    whole.id = history->newest + 1;
    put_frame(history, arena, &whole, object, object_bytes_max, &frame);
    whole.frame = strbuf_str(&frame);
    held = hold(&whole);
    while (history->first <= history->newest &&
           (whole.id - history->first >= history->count_max ||
            history->bytes + bytes_of(held) > history->bytes_max))
        drop_first(history);
    *place_of(history, whole.id) = held;
    history->bytes += bytes_of(held);
    history->newest = whole.id;
}

struct change *history_next(const struct history *history, uint64_t after)
{
    uint64_t id = after + 1 < history->first ? history->first : after + 1;

    return id <= history->newest ? *place_of(history, id) : NULL;
}

bool history_has_lost(const struct history *history, uint64_t after)
{
    return after + 1 < history->first;
}

uint64_t history_newest(const struct history *history)
{
    return history->newest;
}

bool history_resume(const struct history *history, struct str last_event_id, uint64_t *ret_after)
{
    ptrdiff_t dash = str_find_char(last_event_id, '-', 0);
    uint64_t after;

    *ret_after = history->newest;
    if (last_event_id.len == 0)
        return true;
    if (dash < 0 || !str_eq(str_slice(last_event_id, 0, (size_t)dash), history->epoch) ||
        !str_to_u64(str_slice(last_event_id, (size_t)dash + 1, last_event_id.len), &after) ||
        after > history->newest || history_has_lost(history, after))
        return false;
    *ret_after = after;
    return true;
}

struct history *history_create(struct str epoch, uint32_t count_max, size_t bytes_max)
{
    struct history *history = mem_new(struct history);

    history->epoch_bytes = mem_copy(epoch.at, epoch.len);
    history->epoch = str_make(history->epoch_bytes, epoch.len);
    history->count_max = count_max;
    history->bytes_max = bytes_max;
    history->ring = mem_alloc(sizeof(struct change *) * count_max);
    history->first = 1;
    return history;
}

void history_free(struct history *history)
{
    if (!history)
        return;
    while (history->first <= history->newest)
        drop_first(history);
    mem_free(history->ring);
    mem_free(history->epoch_bytes);
    mem_free(history);
}
