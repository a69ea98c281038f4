/* estate.c: the estate as a whole: its life, its thread, and what it hears of changes. */
#include "lab/estate/estate.h"

#include "base/memory.h"
#include "io/file.h"
#include "lab/estate/downstream/remote.h"
#include "lab/estate/rancher/inside.h"

#include <time.h>

enum { ESTATE_FILE_MAX = 1024 * 1024, SLEEP_SLICE_MS = 50, PREPARE_AGAIN_MS = 500 };

/* ---- workers --------------------------------------------------------------------------------- */

static struct worker *worker_of(const struct estate *estate, struct str cluster)
{
    struct remote *remote = downstream_of(estate->downstream, cluster);

    for (uint32_t i = 1; remote && i < estate->worker_count; i++)
        if (estate->workers[i].remote == remote)
            return &estate->workers[i];
    return &estate->workers[0];
}

void estate_put(struct estate *estate, const struct agenda_entry *entry, int64_t due_ms)
{
    agenda_put(worker_of(estate, entry->cluster)->agenda, entry, due_ms);
}

size_t estate_agenda_count(const struct estate *estate)
{
    size_t count = 0;

    for (uint32_t i = 0; i < estate->worker_count; i++)
        count += agenda_count(estate->workers[i].agenda);
    return count;
}

void estate_sleep(struct estate *estate, int64_t life_ms)
{
    int64_t left_ms = estate_scaled(estate, life_ms);

    while (left_ms > 0 && !atomic_load(&estate->stopping)) {
        int64_t slice_ms = left_ms < SLEEP_SLICE_MS ? left_ms : SLEEP_SLICE_MS;
        struct timespec time = { slice_ms / 1000, slice_ms % 1000 * 1000000 };

        nanosleep(&time, NULL);
        left_ms -= slice_ms;
    }
}

/* ---- what changes ---------------------------------------------------------------------------- */

static bool is_kind(const struct kube_resource *a, const struct kube_resource *b)
{
    return str_eq(a->plural, b->plural) && str_eq(a->group, b->group);
}

static void secret_changed(struct estate *estate, struct str cluster, struct str namespace_,
                           struct str name, bool is_there)
{
    struct str release;
    int64_t revision;

    if (!release_secret_name_read(name, &release, &revision))
        return;
    world_hint(estate, cluster, namespace_, release, revision, is_there);
    estate_put(estate,
               &(struct agenda_entry){ AGENDA_RELEASE, cluster, namespace_, release },
               estate_now(estate));
}

static bool is_there(struct estate *estate, struct str cluster, struct str namespace_,
                     struct str secret)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { 0 };
    struct str object;

    return api_get(estate->api, arena, cluster, &res_secrets, namespace_, secret, &object,
                   &ignored) == 0;
}

static void cluster_changed(struct estate *estate, struct str id)
{
    clusters_refresh(estate, id);
    estate_put(estate, &(struct agenda_entry){ AGENDA_CLUSTER, id, STR(""), STR("") },
               estate_now(estate));
}

/* From the changing thread: what requests must see at once is done here, the rest is put on the
 * agenda. */
static void changed(void *context, struct str cluster, const struct kube_resource *resource,
                    struct str namespace_, struct str name)
{
    struct estate *estate = context;

    if (is_kind(resource, &res_secrets)) {
        if (!world_is_own_write())
            secret_changed(estate, cluster, namespace_, name,
                           is_there(estate, cluster, namespace_, name));
    } else if (is_kind(resource, &res_repos)) {
        repos_schedule(estate, cluster, name);
    } else if (str_eq(cluster, LOCAL_CLUSTER) && is_kind(resource, &res_clusters)) {
        cluster_changed(estate, name);
    } else if (is_kind(resource, &res_nodes)) {
        estate_put(estate,
                   &(struct agenda_entry){ AGENDA_CLUSTER, cluster, STR(""), STR("") },
                   estate_now(estate));
    } else if (faults_are_of(cluster, resource, namespace_, name)) {
        faults_load(estate);
        clusters_look_again(estate);
    }
}

/* The same of a real cluster, by its watches. */
static void really_changed(void *context, struct str cluster,
                           const struct kube_resource *resource, struct str namespace_,
                           struct str name, bool is_there)
{
    struct estate *estate = context;

    if (is_kind(resource, &res_secrets))
        secret_changed(estate, cluster, namespace_, name, is_there);
    else if (is_kind(resource, &res_repos) && is_there)
        repos_schedule(estate, cluster, name);
    else if (is_kind(resource, &res_nodes))
        estate_put(estate, &(struct agenda_entry){ AGENDA_CLUSTER, cluster, STR(""), STR("") },
                   estate_now(estate));
}

static void helm_ended(void *context, struct str cluster, struct str namespace_,
                       struct str operation)
{
    struct estate *estate = context;

    estate_put(estate, &(struct agenda_entry){ AGENDA_TASK, cluster, namespace_, operation },
               estate_now(estate));
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void work_on(struct estate *estate, struct arena *arena, const struct agenda_entry *entry)
{
    switch (entry->kind) {
    case AGENDA_TASK:
        engine_run(estate, arena, entry->cluster, entry->namespace_, entry->name, NULL);
        return;
    case AGENDA_RELEASE: {
        pthread_mutex_t *lock = engine_lock(estate, entry->cluster, entry->namespace_, entry->name);

        pthread_mutex_lock(lock);
        world_sync_app(estate, arena, entry->cluster, entry->namespace_, entry->name);
        pthread_mutex_unlock(lock);
        return;
    }
    case AGENDA_REPO:
        repos_reconcile(estate, arena, entry->cluster, entry->name);
        return;
    case AGENDA_CLUSTER:
        clusters_reconcile(estate, arena, entry->cluster);
        return;
    }
}

/* A real cluster may not be there yet when the lab starts. */
static void prepare(struct worker *worker, struct arena *arena)
{
    struct estate *estate = worker->estate;
    struct str cluster = remote_cluster(worker->remote);
    struct error err = { 0 };

    if (clusters_real_prepare(estate, arena, cluster, &err) == 0) {
        worker->prepared = true;
        log_info(estate->log, "cluster is real", LOG_STR("cluster", cluster),
                 LOG_Z("kubeconfig", remote_kubeconfig(worker->remote)));
        return;
    }
    log_warn(estate->log, "real cluster not ready yet", LOG_STR("cluster", cluster),
             LOG_Z("error", err.text));
    estate_put(estate, &(struct agenda_entry){ AGENDA_CLUSTER, cluster, STR(""), STR("") },
               estate_now(estate) + PREPARE_AGAIN_MS);
}

static void *run(void *context)
{
    struct worker *worker = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct agenda_entry entry;

    while (agenda_take(worker->agenda, arena, &entry)) {
        if (worker->remote && !worker->prepared && entry.kind == AGENDA_CLUSTER)
            prepare(worker, arena);
        if (!worker->remote || worker->prepared)
            work_on(worker->estate, arena, &entry);
        arena_reset(arena);
    }
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct estate *estate_new(const struct estate_options *options)
{
    struct estate *estate = mem_new(struct estate);

    estate->api = options->api;
    estate->clock = options->clock;
    estate->log = options->log;
    estate->scale = options->time_scale > 0 ? options->time_scale : 0;
    estate->ca_pem = mem_copy(options->ca_pem.at ? options->ca_pem.at : "", options->ca_pem.len);
    estate->arena = arena_create(0);
    estate->faults_arena = arena_create(0);
    estate->faults = fault_rules_new(estate->faults_arena, 1);
    estate->estate_faults = str_list_new(estate->arena, 4);
    /* Names of operations come from it: a second run must not begin with those of the first. */
    estate->rng = rng_from_seed(options->seed ^ (uint64_t)clock_wall_ms(options->clock));
    estate->clusters = dict_create();
    estate->hints = dict_create();
    pthread_mutex_init(&estate->faults_lock, NULL);
    pthread_mutex_init(&estate->hints_lock, NULL);
    pthread_rwlock_init(&estate->clusters_lock, NULL);
    for (int i = 0; i < RELEASE_LOCKS; i++)
        pthread_mutex_init(&estate->release_locks[i], NULL);
    return estate;
}

/* One for the simulated clusters, and one for each real one. */
static int make_workers(struct estate *estate, const struct estate_options *options,
                        struct error *err)
{
    const struct downstream_options downstream = {
        .kubeconfigs = options->downstream_kubeconfigs,
        .helm = options->helm,
        .folder = options->helm_folder,
        .log = options->log,
        .seed = options->seed,
        .changed = really_changed,
        .helm_ended = helm_ended,
        .context = estate,
    };

    if (downstream_create(&downstream, &estate->downstream, err) != 0)
        return -1;

    uint32_t count = downstream_count(estate->downstream) + 1;

    estate->workers = mem_alloc(sizeof(struct worker) * count);
    for (uint32_t i = 0; i < count; i++) {
        estate->workers[i] = (struct worker){
            .estate = estate,
            .remote = i ? downstream_at(estate->downstream, i - 1) : NULL,
            .agenda = agenda_create(options->clock),
        };
        estate->worker_count++;
    }
    return 0;
}

/* Each real cluster is one that the estate has, and its thread begins with it. */
static int begin_real(struct estate *estate, struct error *err)
{
    for (uint32_t i = 1; i < estate->worker_count; i++) {
        struct str id = remote_cluster(estate->workers[i].remote);
        struct cluster_state state;

        if (str_eq(id, LOCAL_CLUSTER) || !clusters_find(estate, id, &state))
            return error_set(err, ERROR_BAD_REQUEST,
                             "--downstream-kubeconfig: the estate has no downstream cluster %.*s; "
                             "name one of its clusters, or describe it in the file of --estate",
                             STR_ARG(id));
        estate_put(estate, &(struct agenda_entry){ AGENDA_CLUSTER, id, STR(""), STR("") },
                   estate_now(estate));
    }
    return 0;
}

static int read_description(struct estate *estate, const char *file,
                            struct description *ret_description, struct error *err)
{
    struct str yaml = describe_builtin;

    if (file && *file && file_read(estate->arena, file, ESTATE_FILE_MAX, &yaml, err) != 0)
        return -1;
    if (describe_read(estate->arena, yaml, ret_description, err) != 0)
        return error_wrap(err, "estate file %s: %s", file && *file ? file : "(built in)",
                          err->field);
    for (uint32_t i = 0; i < ret_description->faults.count; i++) {
        struct fault_rule rule;

        if (fault_rule_read(STR(""), ret_description->faults.items[i], &rule, err) != 0)
            return error_wrap(err, "estate file %s: faults[%u]", file, i);
    }
    estate->estate_faults = ret_description->faults;
    return 0;
}

struct estate *estate_create(const struct estate_options *options, struct error *err)
{
    AUTO(estate_free) struct estate *estate = estate_new(options);
    struct description description;

    if (read_description(estate, options->estate_file, &description, err) != 0)
        return NULL;
    if (make_workers(estate, options, err) != 0)
        return NULL;
    /* The management cluster must be there before anything can be read from it. */
    if (api_add_cluster(estate->api, LOCAL_CLUSTER, err) != 0)
        return NULL;
    faults_load(estate);
    if (clusters_seed(estate, &description, err) != 0 ||
        begin_real(estate, err) != 0 || tokens_seed(estate, options->seed, err) != 0)
        return NULL;
    api_on_change(estate->api, changed, estate);
    api_on_check(estate->api, faults_check, estate);
    return TAKE(estate);
}

int estate_start(struct estate *estate, struct error *err)
{
    for (uint32_t i = 0; i < estate->worker_count; i++) {
        struct worker *worker = &estate->workers[i];
        int failure = pthread_create(&worker->thread, NULL, run, worker);

        if (failure)
            return error_set(err, ERROR_INTERNAL, "cannot start the estate's thread: %s",
                             strerror(failure));
        worker->runs = true;
    }
    return 0;
}

void estate_stop(struct estate *estate)
{
    atomic_store(&estate->stopping, true);
    for (uint32_t i = 0; i < estate->worker_count; i++)
        agenda_close(estate->workers[i].agenda);
    for (uint32_t i = 0; i < estate->worker_count; i++) {
        if (estate->workers[i].runs)
            pthread_join(estate->workers[i].thread, NULL);
        estate->workers[i].runs = false;
    }
}

void estate_free(struct estate *estate)
{
    size_t cursor = 0;
    struct str key;
    void *state;

    if (!estate)
        return;
    estate_stop(estate);
    while (dict_next(estate->clusters, &cursor, &key, &state))
        mem_free(state);
    dict_free(estate->clusters);
    dict_free(estate->hints);
    downstream_free(estate->downstream);
    for (uint32_t i = 0; i < estate->worker_count; i++)
        agenda_free(estate->workers[i].agenda);
    mem_free(estate->workers);
    arena_free(estate->faults_arena);
    arena_free(estate->arena);
    mem_free(estate->ca_pem);
    pthread_mutex_destroy(&estate->faults_lock);
    pthread_mutex_destroy(&estate->hints_lock);
    pthread_rwlock_destroy(&estate->clusters_lock);
    for (int i = 0; i < RELEASE_LOCKS; i++)
        pthread_mutex_destroy(&estate->release_locks[i]);
    mem_free(estate);
}

struct str estate_token(const struct estate *estate)
{
    return str_of(estate->token);
}
