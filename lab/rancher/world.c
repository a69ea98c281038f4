/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: releases and Apps of a cluster, read and written. The release Secrets are the truth; a
 * hint in memory only says where to begin to look. */
#include "lab/rancher/inside.h"

/* The thread's own writes come back to it through api_on_change, and need no second look. */
static _Thread_local int own_writes;

enum {
    REVISION_GAP_MAX = 16, /* revisions that may be missing below the hint */
    APP_AGAIN_MS = 1000,
};

bool world_is_own_write(void)
{
    return own_writes > 0;
}

static struct str hint_key(struct arena *arena, struct str cluster, struct str namespace_,
                           struct str release)
{
    return str_fmt(arena, "%.*s/%.*s/%.*s", STR_ARG(cluster), STR_ARG(namespace_),
                   STR_ARG(release));
}

void world_hint(struct simulation *simulation, struct str cluster, struct str namespace_,
                struct str release, int64_t revision, bool is_there)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = hint_key(arena, cluster, namespace_, release);

    pthread_mutex_lock(&simulation->hints_lock);

    int64_t known = (int64_t)(intptr_t)dict_get(simulation->hints, key);

    if (is_there && revision > known)
        dict_set(simulation->hints, key, (void *)(intptr_t)revision);
    else if (!is_there && revision == known && revision > 1)
        dict_set(simulation->hints, key, (void *)(intptr_t)(revision - 1));
    else if (!is_there && revision == known)
        dict_remove(simulation->hints, key);
    pthread_mutex_unlock(&simulation->hints_lock);
}

static int64_t hint_of(struct simulation *simulation, struct str key)
{
    pthread_mutex_lock(&simulation->hints_lock);

    int64_t hint = (int64_t)(intptr_t)dict_get(simulation->hints, key);

    pthread_mutex_unlock(&simulation->hints_lock);
    return hint;
}

/* 1 and the revision, 0 if there is none, -1 if nobody can say. */
static int read_revision(struct simulation *simulation, struct arena *arena, struct str cluster,
                         struct str namespace_, struct str release, int64_t number,
                         struct revision *ret_revision, struct error *err)
{
    struct error why = { 0 };
    struct str secret = STR("");
    struct json root;

    if (world_get(simulation, arena, cluster, &res_secrets, namespace_,
                  release_secret_name(arena, release, number), &secret, &why) != 0 ||
        json_read(arena, secret, &json_limits_default, &root, &why) != 0) {
        *err = why;
        return why.code == ERROR_NOT_FOUND ? 0 : -1;
    }

    struct json meta = json_get(root, STR("metadata"));

    *ret_revision = (struct revision){
        .number = number,
        .status = release_status_from(json_str(json_walk(meta, "labels", "status", NULL))),
        .operation = json_str(json_walk(meta, "annotations", RELEASE_OPERATION_ANNOTATION, NULL)),
        .secret = secret,
    };
    return 1;
}

/* -1: the cluster cannot be read at present. */
static int read_history(struct simulation *simulation, struct arena *arena, struct str cluster,
                        struct str namespace_, struct str release, struct revisions *history,
                        struct error *err)
{
    struct str key = hint_key(arena, cluster, namespace_, release);
    int64_t hint = hint_of(simulation, key);
    int gap = 0;

    for (int64_t number = hint; number > 0 && gap <= REVISION_GAP_MAX; number--) {
        struct revision revision;
        int found =
            read_revision(simulation, arena, cluster, namespace_, release, number, &revision, err);

        if (found < 0)
            return -1;
        /* Helm keeps the newest few: behind them, a gap is the end. */
        if (found) {
            revisions_push(history, revision);
            gap = 0;
        } else if (history->count && ++gap > 1) {
            break;
        } else if (!history->count) {
            gap++;
        }
    }
    if (hint && !history->count) {
        pthread_mutex_lock(&simulation->hints_lock);
        if ((int64_t)(intptr_t)dict_get(simulation->hints, key) == hint)
            dict_remove(simulation->hints, key);
        pthread_mutex_unlock(&simulation->hints_lock);
    }
    return 0;
}

struct revisions world_history(struct simulation *simulation, struct arena *arena,
                               struct str cluster, struct str namespace_, struct str release)
{
    struct revisions history = revisions_new(arena, 4);
    struct error ignored = { 0 };

    read_history(simulation, arena, cluster, namespace_, release, &history, &ignored);
    return history;
}

int world_store_release(struct simulation *simulation, struct arena *arena, struct str cluster,
                        const struct release *release, bool is_new, struct error *err)
{
    struct str stored = STR("");
    int64_t now_ms = simulation_now(simulation);
    int result;

    own_writes++;
    if (is_new)
        result = world_create(simulation, arena, cluster, &res_secrets, release->namespace_,
                              release_secret(arena, release, now_ms), &stored, err);
    else
        result = world_merge(simulation, arena, cluster, &res_secrets, release->namespace_,
                             release_secret_name(arena, release->name, release->revision), STR(""),
                             release_secret_patch(arena, release, now_ms), &stored, err);
    own_writes--;
    if (result == 0)
        world_hint(simulation, cluster, release->namespace_, release->name, release->revision,
                   true);
    return result;
}

void world_remove_release(struct simulation *simulation, struct arena *arena, struct str cluster,
                          struct str namespace_, struct str release, int64_t revision)
{
    struct error err = { 0 };

    own_writes++;
    world_delete(simulation, arena, cluster, &res_secrets, namespace_,
                 release_secret_name(arena, release, revision), &err);
    own_writes--;
    world_hint(simulation, cluster, namespace_, release, revision, false);
}

static bool app_is_current(struct json app, const struct release *release)
{
    int64_t version = 0;

    return json_int64(json_walk(app, "spec", "version", NULL), &version) &&
           version == release->revision &&
           str_eq(json_str(json_walk(app, "status", "summary", "state", NULL)),
                  release_status_name(release->status)) &&
           str_eq(json_str(json_walk(app, "spec", "info", "description", NULL)),
                  release->description);
}

static struct json app_read(struct arena *arena, struct str object)
{
    struct error ignored;
    struct json app = { NULL, 0 };

    (void)json_read(arena, object, &json_limits_default, &app, &ignored);
    return app;
}

static int64_t generation_of(struct json app)
{
    int64_t generation = 1;

    json_int64(json_walk(app, "metadata", "generation", NULL), &generation);
    return generation;
}

static int write_app(struct simulation *simulation, struct arena *arena, struct str cluster,
                     const struct release *release, struct error *err)
{
    struct json app = { NULL, 0 };
    struct str stored = STR("");
    struct error why = { 0 };

    if (world_get(simulation, arena, cluster, &res_apps, release->namespace_, release->name,
                  &stored, &why) == 0) {
        app = app_read(arena, stored);
        if (app_is_current(app, release))
            return 0;
        if (world_update(simulation, arena, cluster, &res_apps, release->namespace_, release->name,
                         release_app(arena, release, app), &stored, err) != 0)
            return -1;
    } else if (world_create(simulation, arena, cluster, &res_apps, release->namespace_,
                            release_app(arena, release, app), &stored, err) != 0) {
        return -1;
    }
    return world_merge(
        simulation, arena, cluster, &res_apps, release->namespace_, release->name, STR("status"),
        release_app_status(arena, release, generation_of(app_read(arena, stored))), &stored, err);
}

/* Of what is there now: 0, or -1 and it is to be tried again. */
static int sync_app(struct simulation *simulation, struct arena *arena, struct str cluster,
                    struct str namespace_, struct str name, struct error *err)
{
    struct revisions history = revisions_new(arena, 4);
    struct release release;

    if (read_history(simulation, arena, cluster, namespace_, name, &history, err) != 0)
        return -1;
    if (history.count)
        return release_read(arena, history.items[0].secret, &release, err) != 0
                   ? -1
                   : write_app(simulation, arena, cluster, &release, err);
    if (world_delete(simulation, arena, cluster, &res_apps, namespace_, name, err) != 0 &&
        err->code != ERROR_NOT_FOUND)
        return -1;
    return 0;
}

void world_sync_app(struct simulation *simulation, struct arena *arena, struct str cluster,
                    struct str namespace_, struct str name)
{
    struct error err = { 0 };

    if (sync_app(simulation, arena, cluster, namespace_, name, &err) == 0)
        return;
    log_warn(simulation->log, "App not written", LOG_STR("cluster", cluster),
             LOG_STR("namespace", namespace_), LOG_STR("release", name), LOG_Z("error", err.text));
    if (downstream_of(simulation->downstream, cluster) && err.code != ERROR_INVALID)
        simulation_put(simulation,
                       &(struct agenda_entry){ AGENDA_RELEASE, cluster, namespace_, name },
                       simulation_now(simulation) + APP_AGAIN_MS);
}

int world_ensure(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str object,
                 struct error *err)
{
    struct error why = { 0 };
    struct str stored;

    if (world_create(simulation, arena, cluster, resource, namespace_, object, &stored, &why) ==
            0 ||
        why.code == ERROR_ALREADY_EXISTS)
        return 0;
    *err = why;
    return -1;
}

/* ---- the walk at start ----------------------------------------------------------------------- */

struct scan {
    struct simulation *simulation;
    struct arena *arena;
    struct str cluster;
};

static void scan_put(struct scan *scan, enum agenda_kind kind, struct str namespace_,
                     struct str name)
{
    simulation_put(scan->simulation,
                   &(struct agenda_entry){ kind, scan->cluster, namespace_, name },
                   simulation_now(scan->simulation));
}

static bool scan_meta(struct scan *scan, struct str object, struct str *ret_namespace,
                      struct str *ret_name)
{
    struct error ignored;
    struct json root;

    if (json_read(scan->arena, object, &json_limits_default, &root, &ignored) != 0)
        return false;
    *ret_namespace = json_str(json_walk(root, "metadata", "namespace", NULL));
    *ret_name = json_str(json_walk(root, "metadata", "name", NULL));
    return true;
}

static bool scan_secret(void *context, struct str object)
{
    struct scan *scan = context;
    struct str namespace_, name, release;
    int64_t revision;

    if (scan_meta(scan, object, &namespace_, &name) &&
        release_secret_name_read(name, &release, &revision)) {
        world_hint(scan->simulation, scan->cluster, namespace_, release, revision, true);
        scan_put(scan, AGENDA_RELEASE, namespace_, release);
    }
    return true;
}

static bool scan_app(void *context, struct str object)
{
    struct scan *scan = context;
    struct str namespace_, name;

    if (scan_meta(scan, object, &namespace_, &name))
        scan_put(scan, AGENDA_RELEASE, namespace_, name);
    return true;
}

static bool scan_operation(void *context, struct str object)
{
    struct scan *scan = context;
    struct str namespace_, name;

    if (scan_meta(scan, object, &namespace_, &name))
        scan_put(scan, AGENDA_TASK, namespace_, name);
    return true;
}

static bool scan_repo(void *context, struct str object)
{
    struct scan *scan = context;
    struct str namespace_, name;

    if (scan_meta(scan, object, &namespace_, &name))
        scan_put(scan, AGENDA_REPO, STR(""), name);
    return true;
}

void world_scan(struct simulation *simulation, struct arena *arena, struct str cluster)
{
    static const struct {
        const struct kube_resource *resource;
        bool (*each)(void *context, struct str object);
    } walks[] = {
        { &res_secrets, scan_secret },
        { &res_apps, scan_app },
        { &res_operations, scan_operation },
        { &res_repos, scan_repo },
    };
    struct scan scan = { .simulation = simulation, .arena = arena, .cluster = cluster };

    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
        struct error err = { 0 };

        if (world_list(simulation, arena, cluster, walks[i].resource, STR(""), walks[i].each, &scan,
                       &err) != 0)
            log_warn(simulation->log, "cluster not read at start", LOG_STR("cluster", cluster),
                     LOG_STR("kind", walks[i].resource->kind), LOG_Z("error", err.text));
    }
}
