/* estate.c: the estate as a whole: its life, its thread, and what it hears of changes. */
#include "lab/estate/estate.h"

#include "base/memory.h"
#include "io/file.h"
#include "lab/estate/rancher/inside.h"

#include <time.h>

enum { ESTATE_FILE_MAX = 1024 * 1024, SLEEP_SLICE_MS = 50 };

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
                           struct str name)
{
    struct str release;
    int64_t revision;
    struct error err = { 0 };
    struct str secret;

    if (!release_secret_name_read(name, &release, &revision))
        return;

    AUTO(arena_free) struct arena *arena = arena_create(0);
    bool is_there = api_get(estate->api, arena, cluster, &res_secrets, namespace_, name, &secret,
                            &err) == 0;

    world_hint(estate, cluster, namespace_, release, revision, is_there);
    agenda_put(estate->agenda,
               &(struct agenda_entry){ AGENDA_RELEASE, cluster, namespace_, release },
               estate_now(estate));
}

static void cluster_changed(struct estate *estate, struct str id)
{
    clusters_refresh(estate, id);
    agenda_put(estate->agenda, &(struct agenda_entry){ AGENDA_CLUSTER, id, STR(""), STR("") },
               estate_now(estate));
}

/* From the changing thread: what requests must see at once is done here, the rest is put on the
 * agenda. */
static void changed(void *context, struct str cluster, const struct kube_resource *resource,
                    struct str namespace_, struct str name)
{
    struct estate *estate = context;
    bool local = str_eq(cluster, LOCAL_CLUSTER);

    if (is_kind(resource, &res_secrets)) {
        if (!world_is_own_write())
            secret_changed(estate, cluster, namespace_, name);
    } else if (is_kind(resource, &res_repos)) {
        repos_schedule(estate, cluster, name);
    } else if (local && is_kind(resource, &res_clusters)) {
        cluster_changed(estate, name);
    } else if (is_kind(resource, &res_nodes)) {
        agenda_put(estate->agenda,
                   &(struct agenda_entry){ AGENDA_CLUSTER, cluster, STR(""), STR("") },
                   estate_now(estate));
    } else if (local && is_kind(resource, &res_configmaps) &&
               str_eq(namespace_, STR("default")) && str_eq(name, STR("herd-lab-faults"))) {
        faults_load(estate);
        clusters_look_again(estate);
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

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

static void *run(void *context)
{
    struct estate *estate = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct agenda_entry entry;

    while (agenda_take(estate->agenda, arena, &entry)) {
        work_on(estate, arena, &entry);
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
    estate->agenda = agenda_create(options->clock);
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
    /* The management cluster must be there before anything can be read from it. */
    if (api_add_cluster(estate->api, LOCAL_CLUSTER, err) != 0)
        return NULL;
    faults_load(estate);
    if (clusters_seed(estate, &description, err) != 0 ||
        tokens_seed(estate, options->seed, err) != 0)
        return NULL;
    api_on_change(estate->api, changed, estate);
    return TAKE(estate);
}

int estate_start(struct estate *estate, struct error *err)
{
    int failure = pthread_create(&estate->thread, NULL, run, estate);

    if (failure)
        return error_set(err, ERROR_INTERNAL, "cannot start the estate's thread: %s",
                         strerror(failure));
    estate->thread_runs = true;
    return 0;
}

void estate_stop(struct estate *estate)
{
    atomic_store(&estate->stopping, true);
    agenda_close(estate->agenda);
    if (estate->thread_runs)
        pthread_join(estate->thread, NULL);
    estate->thread_runs = false;
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
    agenda_free(estate->agenda);
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
