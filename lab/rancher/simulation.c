/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.c: the simulation as a whole: its life, its thread, and what it hears of changes. */
#include "lab/rancher/simulation.h"

#include "base/memory.h"
#include "io/file.h"
#include "lab/downstream/remote.h"
#include "lab/rancher/inside.h"

#include <time.h>

enum { SIMULATION_FILE_MAX = 1024 * 1024, SLEEP_SLICE_MS = 50, PREPARE_AGAIN_MS = 500 };

/* ---- workers --------------------------------------------------------------------------------- */

static struct worker *worker_of(const struct simulation *simulation, struct str cluster)
{
    struct remote *remote = downstream_of(simulation->downstream, cluster);

    for (uint32_t i = 1; remote && i < simulation->worker_count; i++)
        if (simulation->workers[i].remote == remote)
            return &simulation->workers[i];
    return &simulation->workers[0];
}

void simulation_put(struct simulation *simulation, const struct agenda_entry *entry, int64_t due_ms)
{
    agenda_put(worker_of(simulation, entry->cluster)->agenda, entry, due_ms);
}

size_t simulation_agenda_count(const struct simulation *simulation)
{
    size_t count = 0;

    for (uint32_t i = 0; i < simulation->worker_count; i++)
        count += agenda_count(simulation->workers[i].agenda);
    return count;
}

void simulation_sleep(struct simulation *simulation, int64_t life_ms)
{
    int64_t left_ms = simulation_scaled(simulation, life_ms);

    while (left_ms > 0 && !atomic_load(&simulation->stopping)) {
        int64_t slice_ms = left_ms < SLEEP_SLICE_MS ? left_ms : SLEEP_SLICE_MS;
        struct timespec time = { slice_ms / 1000, slice_ms % 1000 * 1000000 };

        nanosleep(&time, NULL);
        left_ms -= slice_ms;
    }
}

/* ---- what changes ---------------------------------------------------------------------------- */

static void secret_changed(struct simulation *simulation, struct str cluster, struct str namespace_,
                           struct str name, bool is_there)
{
    struct str release;
    int64_t revision;

    if (!release_secret_name_read(name, &release, &revision))
        return;
    world_hint(simulation, cluster, namespace_, release, revision, is_there);
    simulation_put(simulation,
                   &(struct agenda_entry){ AGENDA_RELEASE, cluster, namespace_, release },
                   simulation_now(simulation));
}

static bool is_there(struct simulation *simulation, struct str cluster, struct str namespace_,
                     struct str secret)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { 0 };
    struct str object;

    return api_get(simulation->api, arena, cluster, &res_secrets, namespace_, secret, &object,
                   &ignored) == 0;
}

static void cluster_changed(struct simulation *simulation, struct str id)
{
    clusters_refresh(simulation, id);
    simulation_put(simulation, &(struct agenda_entry){ AGENDA_CLUSTER, id, STR(""), STR("") },
                   simulation_now(simulation));
}

/* From the changing thread: what requests must see at once is done here, the rest is put on the
 * agenda. */
static void changed(void *context, struct str cluster, const struct kube_resource *resource,
                    struct str namespace_, struct str name)
{
    struct simulation *simulation = context;

    if (simulation->runs_workloads && str_eq(cluster, LOCAL_CLUSTER))
        pods_live_changed(simulation, resource, namespace_, name);
    if (is_kind(resource, &res_secrets)) {
        if (!world_is_own_write())
            secret_changed(simulation, cluster, namespace_, name,
                           is_there(simulation, cluster, namespace_, name));
    } else if (is_kind(resource, &res_repos)) {
        repos_schedule(simulation, cluster, name);
    } else if (str_eq(cluster, LOCAL_CLUSTER) && is_kind(resource, &res_clusters)) {
        cluster_changed(simulation, name);
    } else if (is_kind(resource, &res_nodes)) {
        simulation_put(simulation,
                       &(struct agenda_entry){ AGENDA_CLUSTER, cluster, STR(""), STR("") },
                       simulation_now(simulation));
    } else if (faults_are_of(cluster, resource, namespace_, name)) {
        faults_load(simulation);
        clusters_look_again(simulation);
    }
}

/* The same of a real cluster, by its watches. */
static void really_changed(void *context, struct str cluster, const struct kube_resource *resource,
                           struct str namespace_, struct str name, bool is_there)
{
    struct simulation *simulation = context;

    if (is_kind(resource, &res_secrets))
        secret_changed(simulation, cluster, namespace_, name, is_there);
    else if (is_kind(resource, &res_repos) && is_there)
        repos_schedule(simulation, cluster, name);
    else if (is_kind(resource, &res_nodes))
        simulation_put(simulation,
                       &(struct agenda_entry){ AGENDA_CLUSTER, cluster, STR(""), STR("") },
                       simulation_now(simulation));
}

static void helm_ended(void *context, struct str cluster, struct str namespace_,
                       struct str operation)
{
    struct simulation *simulation = context;

    simulation_put(simulation,
                   &(struct agenda_entry){ AGENDA_TASK, cluster, namespace_, operation },
                   simulation_now(simulation));
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void work_on(struct simulation *simulation, struct arena *arena,
                    const struct agenda_entry *entry)
{
    switch (entry->kind) {
    case AGENDA_TASK:
        engine_run(simulation, arena, entry->cluster, entry->namespace_, entry->name, NULL);
        return;
    case AGENDA_RELEASE: {
        pthread_mutex_t *lock =
            engine_lock(simulation, entry->cluster, entry->namespace_, entry->name);

        pthread_mutex_lock(lock);
        world_sync_app(simulation, arena, entry->cluster, entry->namespace_, entry->name);
        pthread_mutex_unlock(lock);
        return;
    }
    case AGENDA_REPO:
        repos_reconcile(simulation, arena, entry->cluster, entry->name);
        return;
    case AGENDA_CLUSTER:
        clusters_reconcile(simulation, arena, entry->cluster);
        return;
    case AGENDA_DEPLOYMENT:
    case AGENDA_STATEFUL_SET:
    case AGENDA_JOB:
    case AGENDA_POD:
        pods_live_run(simulation, arena, entry);
        return;
    }
}

/* A real cluster may not be there yet when the lab starts. */
static void prepare(struct worker *worker, struct arena *arena)
{
    struct simulation *simulation = worker->simulation;
    struct str cluster = remote_cluster(worker->remote);
    struct error err = { 0 };

    if (clusters_real_prepare(simulation, arena, cluster, &err) == 0) {
        worker->prepared = true;
        log_info(simulation->log, "cluster is real", LOG_STR("cluster", cluster),
                 LOG_Z("kubeconfig", remote_kubeconfig(worker->remote)));
        return;
    }
    log_warn(simulation->log, "real cluster not ready yet", LOG_STR("cluster", cluster),
             LOG_Z("error", err.text));
    simulation_put(simulation, &(struct agenda_entry){ AGENDA_CLUSTER, cluster, STR(""), STR("") },
                   simulation_now(simulation) + PREPARE_AGAIN_MS);
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
            work_on(worker->simulation, arena, &entry);
        arena_reset(arena);
    }
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct simulation *simulation_new(const struct simulation_options *options)
{
    struct simulation *simulation = mem_new(struct simulation);

    simulation->api = options->api;
    simulation->clock = options->clock;
    simulation->log = options->log;
    simulation->runs_workloads = options->runs_workloads;
    simulation->scale = options->time_scale > 0 ? options->time_scale : 0;
    simulation->ca_pem =
        mem_copy(options->ca_pem.at ? options->ca_pem.at : "", options->ca_pem.len);
    simulation->arena = arena_create(0);
    simulation->faults_arena = arena_create(0);
    simulation->faults = fault_rules_new(simulation->faults_arena, 1);
    simulation->simulation_faults = str_list_new(simulation->arena, 4);
    /* Names of operations come from it: a second run must not begin with those of the first. */
    simulation->rng = rng_from_seed(options->seed ^ (uint64_t)clock_wall_ms(options->clock));
    simulation->clusters = dict_create();
    simulation->hints = dict_create();
    simulation->sessions = sessions_create();
    pthread_mutex_init(&simulation->faults_lock, NULL);
    pthread_mutex_init(&simulation->hints_lock, NULL);
    pthread_rwlock_init(&simulation->clusters_lock, NULL);
    for (int i = 0; i < RELEASE_LOCKS; i++)
        pthread_mutex_init(&simulation->release_locks[i], NULL);
    return simulation;
}

/* One for the simulated clusters, and one for each real one. */
static int make_workers(struct simulation *simulation, const struct simulation_options *options,
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
        .context = simulation,
    };

    if (downstream_create(&downstream, &simulation->downstream, err) != 0)
        return -1;

    uint32_t count = downstream_count(simulation->downstream) + 1;

    simulation->workers = mem_alloc(sizeof(struct worker) * count);
    for (uint32_t i = 0; i < count; i++) {
        simulation->workers[i] = (struct worker){
            .simulation = simulation,
            .remote = i ? downstream_at(simulation->downstream, i - 1) : NULL,
            .agenda = agenda_create(options->clock),
        };
        simulation->worker_count++;
    }
    return 0;
}

/* Each real cluster is one that the simulation has, and its thread begins with it. */
static int begin_real(struct simulation *simulation, struct error *err)
{
    for (uint32_t i = 1; i < simulation->worker_count; i++) {
        struct str id = remote_cluster(simulation->workers[i].remote);
        struct cluster_state state;

        if (str_eq(id, LOCAL_CLUSTER) || !clusters_find(simulation, id, &state))
            return error_set(
                err, ERROR_BAD_REQUEST,
                "--downstream-kubeconfig: the simulation has no downstream cluster %.*s; "
                "name one of its clusters, or describe it in the file of --simulation",
                STR_ARG(id));
        simulation_put(simulation, &(struct agenda_entry){ AGENDA_CLUSTER, id, STR(""), STR("") },
                       simulation_now(simulation));
    }
    return 0;
}

static int read_description(struct simulation *simulation, const char *file,
                            struct description *ret_description, struct error *err)
{
    struct str yaml = describe_builtin;

    if (file && *file && file_read(simulation->arena, file, SIMULATION_FILE_MAX, &yaml, err) != 0)
        return -1;
    if (describe_read(simulation->arena, yaml, ret_description, err) != 0)
        return error_wrap(err, "simulation file %s: %s", file && *file ? file : "(built in)",
                          err->field);
    for (uint32_t i = 0; i < ret_description->faults.count; i++) {
        struct fault_rule rule;

        if (fault_rule_read(STR(""), ret_description->faults.items[i], &rule, err) != 0)
            return error_wrap(err, "simulation file %s: faults[%u]", file, i);
    }
    simulation->simulation_faults = ret_description->faults;
    return 0;
}

struct simulation *simulation_create(const struct simulation_options *options, struct error *err)
{
    AUTO(simulation_free) struct simulation *simulation = simulation_new(options);
    struct description description;

    if (read_description(simulation, options->simulation_file, &description, err) != 0)
        return NULL;
    if (make_workers(simulation, options, err) != 0)
        return NULL;
    /* The management cluster must be there before anything can be read from it. */
    if (api_add_cluster(simulation->api, LOCAL_CLUSTER, err) != 0)
        return NULL;
    faults_load(simulation);
    if (clusters_seed(simulation, &description, err) != 0 || begin_real(simulation, err) != 0 ||
        tokens_seed(simulation, options->seed, err) != 0)
        return NULL;
    api_on_change(simulation->api, changed, simulation);
    api_on_check(simulation->api, faults_check, simulation);
    if (simulation->runs_workloads)
        pods_live_scan(simulation);
    return TAKE(simulation);
}

int simulation_start(struct simulation *simulation, struct error *err)
{
    for (uint32_t i = 0; i < simulation->worker_count; i++) {
        struct worker *worker = &simulation->workers[i];
        int failure = pthread_create(&worker->thread, NULL, run, worker);

        if (failure)
            return error_set(err, ERROR_INTERNAL, "cannot start the simulation's thread: %s",
                             strerror(failure));
        worker->runs = true;
    }
    return 0;
}

void simulation_stop(struct simulation *simulation)
{
    atomic_store(&simulation->stopping, true);
    for (uint32_t i = 0; i < simulation->worker_count; i++)
        agenda_close(simulation->workers[i].agenda);
    for (uint32_t i = 0; i < simulation->worker_count; i++) {
        if (simulation->workers[i].runs)
            pthread_join(simulation->workers[i].thread, NULL);
        simulation->workers[i].runs = false;
    }
}

void simulation_free(struct simulation *simulation)
{
    size_t cursor = 0;
    struct str key;
    void *state;

    if (!simulation)
        return;
    simulation_stop(simulation);
    while (dict_next(simulation->clusters, &cursor, &key, &state))
        mem_free(state);
    dict_free(simulation->clusters);
    dict_free(simulation->hints);
    downstream_free(simulation->downstream);
    sessions_free(simulation->sessions);
    for (uint32_t i = 0; i < simulation->worker_count; i++)
        agenda_free(simulation->workers[i].agenda);
    mem_free(simulation->workers);
    arena_free(simulation->faults_arena);
    arena_free(simulation->arena);
    mem_free(simulation->ca_pem);
    pthread_mutex_destroy(&simulation->faults_lock);
    pthread_mutex_destroy(&simulation->hints_lock);
    pthread_rwlock_destroy(&simulation->clusters_lock);
    for (int i = 0; i < RELEASE_LOCKS; i++)
        pthread_mutex_destroy(&simulation->release_locks[i]);
    mem_free(simulation);
}

struct str simulation_token(const struct simulation *simulation)
{
    return str_of(simulation->token);
}
