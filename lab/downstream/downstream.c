/* SPDX-License-Identifier: Apache-2.0 */
/* downstream.c: reads which clusters are real, and lives as long as the simulation. */
#include "lab/downstream/downstream.h"

#include "base/memory.h"
#include "io/file.h"

#include <pthread.h>

enum { CLUSTERS_MAX = 64 };

struct downstream {
    struct loop *loop;
    pthread_t thread;
    bool runs;
    struct remote *remotes[CLUSTERS_MAX];
    uint32_t count;
    struct charts *charts;
    struct helm *helm;
};

static void *run(void *context)
{
    loop_run(context);
    return NULL;
}

static int add_remote(struct downstream *downstream, const struct downstream_options *options,
                      struct str part, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    ptrdiff_t equals = str_find_char(part, '=', 0);

    if (equals <= 0 || (size_t)equals + 1 >= part.len)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--downstream-kubeconfig: '%.*s' is not of the form ID=FILE",
                         STR_ARG(part));

    struct str cluster = str_slice(part, 0, (size_t)equals);
    const char *file = str_z(arena, str_slice(part, (size_t)equals + 1, part.len));

    if (downstream_of(downstream, cluster))
        return error_set(err, ERROR_BAD_REQUEST, "--downstream-kubeconfig: '%.*s' is a duplicate",
                         STR_ARG(cluster));
    if (downstream->count == CLUSTERS_MAX)
        return error_set(err, ERROR_BAD_REQUEST, "--downstream-kubeconfig: more than %d clusters",
                         CLUSTERS_MAX);
    if (!file_exists(file))
        return error_set(err, ERROR_BAD_REQUEST,
                         "--downstream-kubeconfig: cluster %.*s: there is no file %s",
                         STR_ARG(cluster), file);

    struct remote *remote = remote_create(
        &(struct remote_options){
            .loop = downstream->loop,
            .cluster = cluster,
            .kubeconfig = file,
            .log = options->log,
            .seed = options->seed,
            .changed = options->changed,
            .context = options->context,
        },
        err);

    if (!remote)
        return error_wrap(err, "--downstream-kubeconfig");
    downstream->remotes[downstream->count++] = remote;
    return 0;
}

/* All that belongs to the loop's thread is made before that thread starts. */
int downstream_create(const struct downstream_options *options, struct downstream **ret_downstream,
                      struct error *err)
{
    AUTO(downstream_free) struct downstream *downstream = NULL;
    struct str rest = options->kubeconfigs;
    struct str part;

    if (!rest.len) {
        *ret_downstream = NULL;
        return 0;
    }
    downstream = mem_new(struct downstream);
    downstream->loop = loop_create();
    while (rest.len && str_split(&rest, ',', &part))
        if (add_remote(downstream, options, part, err) != 0)
            return -1;
    downstream->charts = charts_create(downstream->loop, err);
    if (!downstream->charts)
        return -1;
    downstream->helm = helm_create(&(struct helm_options){ .loop = downstream->loop,
                                                           .program = options->helm,
                                                           .folder = options->folder,
                                                           .log = options->log,
                                                           .ended = options->helm_ended,
                                                           .context = options->context },
                                   err);
    if (!downstream->helm)
        return -1;

    int failure = pthread_create(&downstream->thread, NULL, run, downstream->loop);

    if (failure)
        return error_set(err, ERROR_INTERNAL, "cannot start a thread: %s", strerror(failure));
    downstream->runs = true;
    *ret_downstream = TAKE(downstream);
    return 0;
}

void downstream_free(struct downstream *downstream)
{
    if (!downstream)
        return;
    if (downstream->runs) {
        loop_stop(downstream->loop);
        pthread_join(downstream->thread, NULL);
    }
    helm_free(downstream->helm);
    charts_free(downstream->charts);
    for (uint32_t i = 0; i < downstream->count; i++)
        remote_free(downstream->remotes[i]);
    loop_free(downstream->loop);
    mem_free(downstream);
}

uint32_t downstream_count(const struct downstream *downstream)
{
    return downstream ? downstream->count : 0;
}

struct remote *downstream_at(const struct downstream *downstream, uint32_t index)
{
    return downstream->remotes[index];
}

struct remote *downstream_of(const struct downstream *downstream, struct str cluster)
{
    for (uint32_t i = 0; i < downstream_count(downstream); i++)
        if (str_eq(remote_cluster(downstream->remotes[i]), cluster))
            return downstream->remotes[i];
    return NULL;
}

struct charts *downstream_charts(const struct downstream *downstream)
{
    return downstream->charts;
}

struct helm *downstream_helm(const struct downstream *downstream)
{
    return downstream->helm;
}
