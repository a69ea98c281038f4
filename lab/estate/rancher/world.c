/* world.c: releases and Apps of a cluster, read and written. The release Secrets are the truth; a
 * hint in memory only says where to begin to look. */
#include "lab/estate/rancher/inside.h"

/* The thread's own writes come back to it through api_on_change, and need no second look. */
static _Thread_local int own_writes;

enum { REVISION_GAP_MAX = 16 }; /* revisions that may be missing below the hint */

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

void world_hint(struct estate *estate, struct str cluster, struct str namespace_,
                struct str release, int64_t revision, bool is_there)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = hint_key(arena, cluster, namespace_, release);

    pthread_mutex_lock(&estate->hints_lock);

    int64_t known = (int64_t)(intptr_t)dict_get(estate->hints, key);

    if (is_there && revision > known)
        dict_set(estate->hints, key, (void *)(intptr_t)revision);
    else if (!is_there && revision == known && revision > 1)
        dict_set(estate->hints, key, (void *)(intptr_t)(revision - 1));
    else if (!is_there && revision == known)
        dict_remove(estate->hints, key);
    pthread_mutex_unlock(&estate->hints_lock);
}

static int64_t hint_of(struct estate *estate, struct str key)
{
    pthread_mutex_lock(&estate->hints_lock);

    int64_t hint = (int64_t)(intptr_t)dict_get(estate->hints, key);

    pthread_mutex_unlock(&estate->hints_lock);
    return hint;
}

static bool read_revision(struct estate *estate, struct arena *arena, struct str cluster,
                          struct str namespace_, struct str release, int64_t number,
                          struct revision *ret_revision)
{
    struct error err = { 0 };
    struct str secret = STR("");
    struct json root;

    if (api_get(estate->api, arena, cluster, &res_secrets, namespace_,
                release_secret_name(arena, release, number), &secret, &err) != 0 ||
        json_read(arena, secret, &json_limits_default, &root, &err) != 0)
        return false;

    struct json meta = json_get(root, STR("metadata"));

    *ret_revision = (struct revision){
        .number = number,
        .status = release_status_from(json_str(json_walk(meta, "labels", "status", NULL))),
        .operation = json_str(json_walk(meta, "annotations", RELEASE_OPERATION_ANNOTATION, NULL)),
        .secret = secret,
    };
    return true;
}

struct revisions world_history(struct estate *estate, struct arena *arena, struct str cluster,
                               struct str namespace_, struct str release)
{
    struct revisions history = revisions_new(arena, 4);
    struct str key = hint_key(arena, cluster, namespace_, release);
    int64_t hint = hint_of(estate, key);
    int gap = 0;

    for (int64_t number = hint; number > 0 && gap <= REVISION_GAP_MAX; number--) {
        struct revision revision;

        /* Helm keeps the newest few: behind them, a gap is the end. */
        if (read_revision(estate, arena, cluster, namespace_, release, number, &revision)) {
            revisions_push(&history, revision);
            gap = 0;
        } else if (history.count && ++gap > 1) {
            break;
        } else if (!history.count) {
            gap++;
        }
    }
    if (hint && !history.count) {
        pthread_mutex_lock(&estate->hints_lock);
        dict_remove(estate->hints, key);
        pthread_mutex_unlock(&estate->hints_lock);
    }
    return history;
}

int world_store_release(struct estate *estate, struct arena *arena, struct str cluster,
                        const struct release *release, bool is_new, struct error *err)
{
    struct str stored = STR("");
    int64_t now_ms = estate_now(estate);
    int result;

    own_writes++;
    if (is_new)
        result = api_create_object(estate->api, arena, cluster, &res_secrets, release->namespace_,
                                   release_secret(arena, release, now_ms), &stored, err);
    else
        result = api_merge_object(estate->api, arena, cluster, &res_secrets, release->namespace_,
                                  release_secret_name(arena, release->name, release->revision),
                                  STR(""), release_secret_patch(arena, release, now_ms), &stored,
                                  err);
    own_writes--;
    if (result == 0)
        world_hint(estate, cluster, release->namespace_, release->name, release->revision, true);
    return result;
}

void world_remove_release(struct estate *estate, struct arena *arena, struct str cluster,
                          struct str namespace_, struct str release, int64_t revision)
{
    struct error err = { 0 };

    own_writes++;
    api_delete_object(estate->api, arena, cluster, &res_secrets, namespace_,
                      release_secret_name(arena, release, revision), &err);
    own_writes--;
    world_hint(estate, cluster, namespace_, release, revision, false);
}

static bool app_is_current(struct str app, struct arena *arena, const struct release *release)
{
    struct error ignored;
    struct json root;
    int64_t version = 0;

    return json_read(arena, app, &json_limits_default, &root, &ignored) == 0 &&
           json_int64(json_walk(root, "spec", "version", NULL), &version) &&
           version == release->revision &&
           str_eq(json_str(json_walk(root, "status", "summary", "state", NULL)),
                  release_status_name(release->status)) &&
           str_eq(json_str(json_walk(root, "spec", "info", "description", NULL)),
                  release->description);
}

static int64_t generation_of(struct arena *arena, struct str object)
{
    struct error ignored;
    struct json root;
    int64_t generation = 1;

    if (json_read(arena, object, &json_limits_default, &root, &ignored) == 0)
        json_int64(json_walk(root, "metadata", "generation", NULL), &generation);
    return generation;
}

static int write_app(struct estate *estate, struct arena *arena, struct str cluster,
                     const struct release *release, struct error *err)
{
    struct str app = release_app(arena, release);
    struct str stored = STR("");

    if (api_get(estate->api, arena, cluster, &res_apps, release->namespace_, release->name,
                &stored, err) == 0) {
        if (app_is_current(stored, arena, release))
            return 0;
        if (api_update_object(estate->api, arena, cluster, &res_apps, release->namespace_,
                              release->name, STR(""), app, &stored, err) != 0)
            return -1;
    } else if (api_create_object(estate->api, arena, cluster, &res_apps, release->namespace_, app,
                                 &stored, err) != 0) {
        return -1;
    }
    return api_merge_object(estate->api, arena, cluster, &res_apps, release->namespace_,
                            release->name, STR("status"),
                            release_app_status(arena, release, generation_of(arena, stored)),
                            &stored, err);
}

void world_sync_app(struct estate *estate, struct arena *arena, struct str cluster,
                    struct str namespace_, struct str name)
{
    struct revisions history = world_history(estate, arena, cluster, namespace_, name);
    struct release release;
    struct error err = { 0 };

    if (!history.count) {
        api_delete_object(estate->api, arena, cluster, &res_apps, namespace_, name, &err);
        return;
    }
    if (release_read(arena, history.items[0].secret, &release, &err) != 0 ||
        write_app(estate, arena, cluster, &release, &err) != 0)
        log_warn(estate->log, "App not written", LOG_STR("cluster", cluster),
                 LOG_STR("namespace", namespace_), LOG_STR("release", name),
                 LOG_Z("error", err.text));
}

int world_ensure(struct estate *estate, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str object,
                 struct error *err)
{
    struct error why = { 0 };
    struct str stored;

    if (api_create_object(estate->api, arena, cluster, resource, namespace_, object, &stored,
                          &why) == 0 ||
        why.code == ERROR_ALREADY_EXISTS)
        return 0;
    *err = why;
    return -1;
}

/* ---- the walk at start ----------------------------------------------------------------------- */

struct scan {
    struct estate *estate;
    struct arena *arena;
    struct str cluster;
};

static void scan_put(struct scan *scan, enum agenda_kind kind, struct str namespace_,
                     struct str name)
{
    agenda_put(scan->estate->agenda,
               &(struct agenda_entry){ kind, scan->cluster, namespace_, name },
               estate_now(scan->estate));
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
        world_hint(scan->estate, scan->cluster, namespace_, release, revision, true);
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

void world_scan(struct estate *estate, struct arena *arena, struct str cluster)
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
    struct scan scan = { .estate = estate, .arena = arena, .cluster = cluster };

    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
        struct error err = { 0 };

        if (api_list(estate->api, arena, cluster, walks[i].resource, STR(""), walks[i].each, &scan,
                     &err) != 0)
            log_warn(estate->log, "cluster not read at start", LOG_STR("cluster", cluster),
                     LOG_STR("kind", walks[i].resource->kind), LOG_Z("error", err.text));
    }
}
