/* SPDX-License-Identifier: Apache-2.0 */
/* mirror.c: one lock over tables of references and a ring; nothing is rendered under it but the
 * frame of a change, once for all who watch. */
#include "controller/console/mirror.h"

#include "base/memory.h"
#include "controller/limits.h"
#include "io/wait.h"
#include "runtime/informer.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct followed {
    struct mirror *mirror;
    const struct console_kind *kind;
    struct informer *informer;
    struct kube_cache *objects; /* under the lock, as the two below */
    bool synced;
    struct error trouble;
};

struct mirror {
    struct kube_client *client;
    struct log *log;
    const struct console_kinds *kinds;
    struct followed followed[CONSOLE_KINDS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct history *history; /* under the lock */
    bool ended;
};

/* --- on the loop --- */

static void add_change(struct followed *followed, struct kube_object *before,
                       struct kube_object *after)
{
    struct mirror *mirror = followed->mirror;
    const struct kube_object *object = after ? after : before;
    const struct change facts = {
        .type = !before ? CHANGE_ADDED
                : after ? CHANGE_MODIFIED
                        : CHANGE_DELETED,
        .resource = &followed->kind->resource,
        .namespace_ = kube_object_namespace(object),
        .name = kube_object_name(object),
        .uid = kube_object_uid(object),
        .resource_version = kube_object_resource_version(object),
        .at_ms = kube_client_wall_ms(mirror->client),
    };

    history_add(mirror->history, &facts, kube_object_kept(object), LIMIT_CONSOLE_EVENT_OBJECT);
}

/* What is there when this process starts is no change. */
static void on_change(void *context, struct kube_object *before, struct kube_object *after)
{
    struct followed *followed = context;
    struct mirror *mirror = followed->mirror;
    struct kube_object *held;

    pthread_mutex_lock(&mirror->lock);
    if (after)
        held = kube_cache_put(followed->objects, kube_object_ref(after));
    else
        held = kube_cache_remove(followed->objects, kube_object_key(before));
    if (followed->synced)
        add_change(followed, before, after);
    pthread_cond_broadcast(&mirror->changed);
    pthread_mutex_unlock(&mirror->lock);
    kube_object_unref(held);
}

static void on_synced(void *context)
{
    struct followed *followed = context;

    pthread_mutex_lock(&followed->mirror->lock);
    followed->synced = true;
    pthread_mutex_unlock(&followed->mirror->lock);
}

static void on_trouble(void *context, const struct error *error)
{
    struct followed *followed = context;

    pthread_mutex_lock(&followed->mirror->lock);
    followed->trouble = error ? *error : (struct error){ .code = ERROR_NONE };
    pthread_mutex_unlock(&followed->mirror->lock);
    if (error && error->code != ERROR_NOT_FOUND)
        log_warn(followed->mirror->log, "objects cannot be followed for the console",
                 LOG_STR("kind", followed->kind->resource.kind), LOG_Z("error", error->text));
}

/* --- on any thread --- */

static struct followed *followed_of(struct mirror *mirror, const struct console_kind *kind)
{
    return &mirror->followed[kind - mirror->kinds->items];
}

bool mirror_is_synced(struct mirror *mirror, const struct console_kind *kind,
                      struct error *ret_trouble)
{
    const struct followed *followed = followed_of(mirror, kind);
    bool synced;

    pthread_mutex_lock(&mirror->lock);
    synced = followed->synced;
    *ret_trouble = followed->trouble;
    pthread_mutex_unlock(&mirror->lock);
    return synced;
}

struct kube_object *mirror_get(struct mirror *mirror, const struct console_kind *kind,
                               struct str key)
{
    struct kube_object *object;

    pthread_mutex_lock(&mirror->lock);
    object = kube_object_ref(kube_cache_get(followed_of(mirror, kind)->objects, key));
    pthread_mutex_unlock(&mirror->lock);
    return object;
}

static int by_key(const void *a, const void *b)
{
    const struct kube_object *const *one = a;
    const struct kube_object *const *other = b;

    return str_cmp(kube_object_key(*one), kube_object_key(*other));
}

struct kube_object **mirror_list(struct mirror *mirror, const struct console_kind *kind,
                                 struct str namespace_, struct arena *arena, uint32_t *ret_count)
{
    const struct kube_cache *objects = followed_of(mirror, kind)->objects;
    struct kube_object **list, *object;
    uint32_t count = 0;

    pthread_mutex_lock(&mirror->lock);
    list = arena_array(arena, struct kube_object *, kube_cache_count(objects) + 1);
    for (size_t cursor = 0; kube_cache_next(objects, &cursor, &object);)
        if (!namespace_.len || str_eq(namespace_, kube_object_namespace(object)))
            list[count++] = kube_object_ref(object);
    pthread_mutex_unlock(&mirror->lock);
    qsort(list, count, sizeof(*list), by_key);
    *ret_count = count;
    return list;
}

/* Versions of one object are numbers that grow (KEP-5504); where they are not, only the same one
 * shows it. */
static bool is_at_least(struct str version, struct str wanted)
{
    uint64_t have, want;

    if (str_to_u64(version, &have) && str_to_u64(wanted, &want))
        return have >= want;
    return str_eq(version, wanted);
}

static bool shows(const struct kube_object *object, const struct wire_written *written)
{
    bool same = object && str_eq(kube_object_uid(object), written->uid);

    if (!same)
        return !written->resource_version.len || written->is_being_deleted;
    return written->resource_version.len &&
           is_at_least(kube_object_resource_version(object), written->resource_version);
}

void mirror_await(struct mirror *mirror, const struct console_kind *kind, struct str key,
                  const struct wire_written *written)
{
    const struct followed *followed = followed_of(mirror, kind);
    struct timespec until = wait_until(LIMIT_CONSOLE_WRITE_SHOWS);

    pthread_mutex_lock(&mirror->lock);
    while (!mirror->ended && followed->synced &&
           !shows(kube_cache_get(followed->objects, key), written))
        if (pthread_cond_timedwait(&mirror->changed, &mirror->lock, &until) != 0)
            break;
    pthread_mutex_unlock(&mirror->lock);
}

/* Under the lock. */
static enum mirror_found find(struct mirror *mirror, uint64_t *after, struct change **ret_change)
{
    struct change *change;

    if (mirror->ended)
        return MIRROR_ENDED;
    if (history_has_lost(mirror->history, *after)) {
        *after = history_newest(mirror->history);
        return MIRROR_MISSED;
    }
    change = history_next(mirror->history, *after);
    if (!change)
        return MIRROR_NOTHING;
    *after = change->id;
    *ret_change = change_ref(change);
    return MIRROR_CHANGE;
}

enum mirror_found mirror_next(struct mirror *mirror, uint64_t *after, int64_t wait_ms,
                              struct change **ret_change)
{
    struct timespec until = wait_until(wait_ms > 0 ? wait_ms : 0);
    enum mirror_found found;

    pthread_mutex_lock(&mirror->lock);
    while ((found = find(mirror, after, ret_change)) == MIRROR_NOTHING && wait_ms > 0)
        if (pthread_cond_timedwait(&mirror->changed, &mirror->lock, &until) != 0) {
            found = find(mirror, after, ret_change);
            break;
        }
    pthread_mutex_unlock(&mirror->lock);
    return found;
}

bool mirror_has_lost(struct mirror *mirror, uint64_t after)
{
    bool lost;

    pthread_mutex_lock(&mirror->lock);
    lost = history_has_lost(mirror->history, after);
    pthread_mutex_unlock(&mirror->lock);
    return lost;
}

struct change **mirror_changes(struct mirror *mirror, struct arena *arena, uint32_t *ret_count,
                               uint64_t *ret_newest)
{
    struct change **changes = arena_array(arena, struct change *, LIMIT_CONSOLE_EVENTS);
    struct change *change;
    uint32_t count = 0;

    pthread_mutex_lock(&mirror->lock);
    *ret_newest = history_newest(mirror->history);
    for (uint64_t after = 0; (change = history_next(mirror->history, after)); after = change->id)
        changes[count++] = change_ref(change);
    pthread_mutex_unlock(&mirror->lock);
    *ret_count = count;
    return changes;
}

bool mirror_resume(struct mirror *mirror, struct str last_event_id, uint64_t *ret_after)
{
    bool resumed;

    pthread_mutex_lock(&mirror->lock);
    resumed = history_resume(mirror->history, last_event_id, ret_after);
    pthread_mutex_unlock(&mirror->lock);
    return resumed;
}

const struct history *mirror_history(const struct mirror *mirror)
{
    return mirror->history;
}

void mirror_end(struct mirror *mirror)
{
    pthread_mutex_lock(&mirror->lock);
    mirror->ended = true;
    pthread_cond_broadcast(&mirror->changed);
    pthread_mutex_unlock(&mirror->lock);
}

/* --- life --- */

static void follow(struct mirror *mirror, uint32_t i, const struct mirror_options *options)
{
    struct followed *followed = &mirror->followed[i];

    followed->mirror = mirror;
    followed->kind = &options->kinds->items[i];
    followed->objects = kube_cache_create();
    followed->informer = informer_create(&(struct informer_options){
        .client = options->client,
        .resource = followed->kind->resource,
        .namespace_ = followed->kind->resource.namespaced ? options->namespace_ : STR(""),
        .on_change = on_change,
        .on_synced = on_synced,
        .on_trouble = on_trouble,
        .context = followed,
        .seed = options->seed + i,
    });
}

struct mirror *mirror_create(const struct mirror_options *options)
{
    struct mirror *mirror = mem_new(struct mirror);

    mirror->client = options->client;
    mirror->log = options->log;
    mirror->kinds = options->kinds;
    wait_init(&mirror->lock, &mirror->changed);
    mirror->history =
        history_create(options->epoch, LIMIT_CONSOLE_EVENTS, LIMIT_CONSOLE_EVENTS_BYTES);
    for (uint32_t i = 0; i < options->kinds->count; i++)
        follow(mirror, i, options);
    return mirror;
}

void mirror_free(struct mirror *mirror)
{
    if (!mirror)
        return;
    for (uint32_t i = 0; i < mirror->kinds->count; i++) {
        informer_free(mirror->followed[i].informer);
        kube_cache_free(mirror->followed[i].objects);
    }
    history_free(mirror->history);
    pthread_cond_destroy(&mirror->changed);
    pthread_mutex_destroy(&mirror->lock);
    mem_free(mirror);
}
