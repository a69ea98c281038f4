/* SPDX-License-Identifier: Apache-2.0 */
/* event.c: which Events are worth a request.
 *
 * Two tables, both bounded: what was sent (to count repetitions), and a token bucket for each
 * object and kind of Event (so that one object in trouble does not drown the others, nor chatter a
 * Warning). What was used longest ago goes first. */
#include "kube/event.h"

#include "base/map.h"
#include "base/memory.h"
#include "kube/limits.h"
#include "text/json_write.h"
#include "text/time.h"

/* client-go keeps 4096 of each (tools/record/events_cache.go). A server drops an Event an hour
 * after its last write, so one that is nearly that old is not patched but made anew. */
enum {
    REMEMBERED_MAX = 4096,
    REFILL_MS = 5 * 60 * 1000,
    REPEAT_WITHIN_MS = 50 * 60 * 1000,
    MESSAGE_BYTES = 1024,
    REASON_BYTES = 128,
    NAME_BYTES = 253,
};

/* A remembered thing: in a table by key, and in a chain by last use. */
struct memo {
    struct memo *newer, *older;
    char *key;
    size_t key_len;
    int64_t count;    /* of an event: repetitions; of a bucket: tokens */
    int64_t first_ms; /* of an event: its first time; of a bucket: when it was last filled */
    int64_t last_ms;
    char *name; /* of an event: the Event object's */
    size_t name_len;
};

struct memory {
    struct dict *table;
    struct memo *newest, *oldest;
};

struct kube_event_log {
    char *component;
    char *instance;
    struct memory events;
    struct memory buckets;
    uint64_t salt; /* tells names of this process from those of others */
    uint64_t made;
    uint64_t dropped;
};

struct kube_event_log *kube_event_log_create(struct str component, struct str instance)
{
    struct kube_event_log *log = mem_new(struct kube_event_log);

    log->component = mem_copy(component.at, component.len);
    log->instance = mem_copy(instance.at, instance.len);
    log->events.table = dict_create();
    log->buckets.table = dict_create();
    log->salt = str_hash(instance);
    return log;
}

static void unchain(struct memory *memory, struct memo *memo)
{
    if (memo->newer)
        memo->newer->older = memo->older;
    else
        memory->newest = memo->older;
    if (memo->older)
        memo->older->newer = memo->newer;
    else
        memory->oldest = memo->newer;
}

static void chain_newest(struct memory *memory, struct memo *memo)
{
    memo->newer = NULL;
    memo->older = memory->newest;
    if (memory->newest)
        memory->newest->newer = memo;
    else
        memory->oldest = memo;
    memory->newest = memo;
}

static void forget(struct memory *memory, struct memo *memo)
{
    unchain(memory, memo);
    dict_remove(memory->table, str_make(memo->key, memo->key_len));
    mem_free(memo->key);
    mem_free(memo->name);
    mem_free(memo);
}

static void memory_free(struct memory *memory)
{
    while (memory->newest)
        forget(memory, memory->newest);
    dict_free(memory->table);
}

void kube_event_log_free(struct kube_event_log *log)
{
    if (!log)
        return;
    memory_free(&log->events);
    memory_free(&log->buckets);
    mem_free(log->component);
    mem_free(log->instance);
    mem_free(log);
}

static struct memo *recall(struct memory *memory, struct str key, bool *ret_new)
{
    struct memo *memo = dict_get(memory->table, key);

    *ret_new = !memo;
    if (memo) {
        unchain(memory, memo);
    } else {
        if (dict_count(memory->table) >= REMEMBERED_MAX)
            forget(memory, memory->oldest);
        memo = mem_new(struct memo);
        memo->key = mem_copy(key.at, key.len);
        memo->key_len = key.len;
        dict_set(memory->table, key, memo);
    }
    chain_newest(memory, memo);
    return memo;
}

/* One token of the bucket that the object has for such Events, if there is one. */
static bool may_send(struct kube_event_log *log, struct arena *arena,
                     const struct kube_event *event, struct str object, int64_t now_ms)
{
    bool is_new;
    struct str key =
        str_fmt(arena, "%.*s%s%d", STR_ARG(object), event->warning ? "W" : "N", (int)event->kind);
    struct memo *bucket = recall(&log->buckets, key, &is_new);

    if (is_new || now_ms < bucket->first_ms) {
        bucket->count = is_new ? LIMIT_EVENTS_PER_OBJECT : bucket->count;
        bucket->first_ms = now_ms;
    }

    int64_t refill = (now_ms - bucket->first_ms) / REFILL_MS;

    bucket->first_ms += refill * REFILL_MS;
    bucket->count += refill;
    if (bucket->count > LIMIT_EVENTS_PER_OBJECT)
        bucket->count = LIMIT_EVENTS_PER_OBJECT;
    if (bucket->count == 0)
        return false;
    bucket->count--;
    return true;
}

/* Parts that may hold any byte, told apart by their lengths. */
static void put_part(struct strbuf *out, struct str part)
{
    strbuf_u64(out, part.len);
    strbuf_char(out, ':');
    strbuf_put(out, part);
}

static struct str object_key(struct arena *arena, const struct kube_event *event)
{
    struct strbuf out = strbuf_new(arena, 128);

    put_part(&out, event->resource.group);
    put_part(&out, event->resource.kind);
    put_part(&out, event->namespace_);
    put_part(&out, event->name);
    put_part(&out, event->uid);
    return strbuf_str(&out);
}

static struct str event_key(struct arena *arena, const struct kube_event *event, struct str object,
                            struct str message)
{
    struct strbuf out = strbuf_new(arena, 256);

    strbuf_put(&out, object);
    strbuf_char(&out, event->warning ? 'W' : 'N');
    put_part(&out, event->reason);
    put_part(&out, message);
    return strbuf_str(&out);
}

/* <object>.<hex>: a DNS subdomain that nobody else makes. */
static struct str make_name(struct kube_event_log *log, struct arena *arena, struct str object,
                            int64_t now_ms)
{
    uint64_t unique = log->salt ^ ((uint64_t)now_ms << 16) ^ log->made++;
    struct str stem = str_slice(object, 0, NAME_BYTES - 17);

    while (stem.len && (stem.at[stem.len - 1] == '-' || stem.at[stem.len - 1] == '.'))
        stem.len--;
    return str_fmt(arena, "%.*s.%016llx", STR_ARG(stem), (unsigned long long)unique);
}

static void write_annotation(const struct kube_event *event, struct json_writer *w)
{
    if (!event->annotation.len)
        return;
    json_put_key(w, STR("annotations"));
    json_open_object(w);
    json_put_key(w, event->annotation_key);
    json_put_str(w, event->annotation);
    json_close_object(w);
}

static void write_involved(const struct kube_event *event, struct json_writer *w)
{
    json_put_key(w, STR("involvedObject"));
    json_open_object(w);
    json_field_str(w, "apiVersion", kube_api_version(w->out->arena, &event->resource));
    json_field_str(w, "kind", event->resource.kind);
    if (event->namespace_.len)
        json_field_str(w, "namespace", event->namespace_);
    json_field_str(w, "name", event->name);
    if (event->uid.len)
        json_field_str(w, "uid", event->uid);
    if (event->resource_version.len)
        json_field_str(w, "resourceVersion", event->resource_version);
    json_close_object(w);
}

static struct str write_event(const struct kube_event_log *log, const struct kube_event *event,
                              struct str name, struct str message, int64_t now_ms,
                              struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 768);
    struct json_writer w = json_writer(&out);
    struct str now = time_rfc3339(arena, now_ms);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_str(&w, "kind", STR("Event"));
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "name", name);
    json_field_str(&w, "namespace", event->namespace_.len ? event->namespace_ : STR("default"));
    write_annotation(event, &w);
    json_close_object(&w);
    write_involved(event, &w);
    json_field_str(&w, "type", event->warning ? STR("Warning") : STR("Normal"));
    json_field_str(&w, "reason", str_shown(arena, event->reason, REASON_BYTES - 3));
    json_field_str(&w, "message", message);
    json_put_key(&w, STR("source"));
    json_open_object(&w);
    json_field_str(&w, "component", str_of(log->component));
    json_close_object(&w);
    json_field_str(&w, "firstTimestamp", now);
    json_field_str(&w, "lastTimestamp", now);
    json_field_int(&w, "count", 1);
    json_field_raw(&w, "eventTime", STR("null"));
    json_field_str(&w, "reportingComponent", str_of(log->component));
    json_field_str(&w, "reportingInstance", str_slice(str_of(log->instance), 0, REASON_BYTES));
    json_close_object(&w);
    return strbuf_str(&out);
}

static struct str write_repetition(const struct memo *memo, const struct kube_event *event,
                                   struct str message, int64_t now_ms, struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_int(&w, "count", memo->count);
    json_field_str(&w, "lastTimestamp", time_rfc3339(arena, now_ms));
    json_field_str(&w, "message", message);
    if (event->annotation.len) {
        json_put_key(&w, STR("metadata"));
        json_open_object(&w);
        write_annotation(event, &w);
        json_close_object(&w);
    }
    json_close_object(&w);
    return strbuf_str(&out);
}

enum kube_event_effect kube_event_step(struct kube_event_log *log, const struct kube_event *event,
                                       int64_t now_wall_ms, struct arena *arena,
                                       struct str *ret_name, struct str *ret_body)
{
    struct str message = str_shown(arena, event->message, MESSAGE_BYTES - 3);
    struct str object = object_key(arena, event);
    bool is_new;

    if (!may_send(log, arena, event, object, now_wall_ms)) {
        log->dropped++;
        return EVENT_DROP;
    }

    struct memo *memo = recall(&log->events, event_key(arena, event, object, message), &is_new);
    int64_t age_ms = now_wall_ms - memo->last_ms;

    if (!is_new && memo->name && age_ms >= 0 && age_ms < REPEAT_WITHIN_MS) {
        memo->count++;
        memo->last_ms = now_wall_ms;
        *ret_name = str_dup(arena, str_make(memo->name, memo->name_len));
        *ret_body = write_repetition(memo, event, message, now_wall_ms, arena);
        return EVENT_PATCH;
    }

    struct str name = make_name(log, arena, event->name, now_wall_ms);

    mem_free(memo->name);
    memo->name = mem_copy(name.at, name.len);
    memo->name_len = name.len;
    memo->count = 1;
    memo->first_ms = memo->last_ms = now_wall_ms;
    *ret_name = name;
    *ret_body = write_event(log, event, name, message, now_wall_ms, arena);
    return EVENT_CREATE;
}

uint64_t kube_event_dropped(const struct kube_event_log *log)
{
    return log->dropped;
}

void kube_event_forget(struct kube_event_log *log, struct str name)
{
    struct memo *memo = log->events.newest;

    while (memo && !str_eq(str_make(memo->name, memo->name_len), name))
        memo = memo->older;
    if (memo)
        forget(&log->events, memo);
}
