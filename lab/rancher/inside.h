/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h: what the parts of the simulation share. Internal to lab/simulation.
 *
 * Locks, in the order they may be taken: release_locks[i], clusters_lock, faults_lock. None is held
 * while a client is waited for. */
#ifndef HERD_LAB_RANCHER_INSIDE_H
#define HERD_LAB_RANCHER_INSIDE_H

#include "base/map.h"
#include "lab/downstream/downstream.h"
#include "lab/neuvector/sessions.h"
#include "lab/rancher/simulation.h"
#include "lab/rancher/action.h"
#include "lab/rancher/agenda.h"
#include "lab/rancher/catalogue.h"
#include "lab/rancher/faults_live.h"
#include "lab/rancher/objects.h"
#include "lab/rancher/resources.h"
#include "lab/rancher/step.h"
#include "lab/rancher/world.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RELEASE_LOCKS = 64, TOKEN_TEXT_MAX = 128 };

enum request_count {
    COUNT_PLAIN,
    COUNT_STEVE,
    COUNT_NORMAN,
    COUNT_POSTS,     /* actions asked for */
    COUNT_ACCEPTED,  /* ... and answered, or to be answered, with 201 */
    COUNT_NEUVECTOR, /* of NeuVector, and of these: */
    COUNT_NEUVECTOR_LOGINS,
    COUNT_NEUVECTOR_REJECTED, /* logins and requests with wrong credentials */
    COUNT_NEUVECTOR_SCANS,
    COUNT_NEUVECTOR_COMPLIANCE,
    COUNT_SUSE_OBSERVABILITY, /* of its server, and of these: */
    COUNT_SUSE_OBSERVABILITY_REJECTED,
    COUNT_COUNT
};

/* What requests need to know of a cluster without a read. */
struct cluster_state {
    bool connected;
    bool provisioned;
};

/* One thread and what it has to do. A real cluster that does not answer holds up nobody else. */
struct worker {
    struct simulation *simulation;
    struct remote *remote; /* NULL: of the simulated clusters */
    struct agenda *agenda;
    pthread_t thread;
    bool runs;
    bool prepared; /* the real cluster has what Rancher puts there, and is followed */
};

struct simulation {
    struct api *api;
    const struct clock *clock;
    struct log *log;
    double scale;
    bool runs_workloads;
    char *ca_pem;

    struct downstream *downstream; /* NULL: all clusters are simulated */
    struct worker *workers; /* the first for all simulated clusters, then one for each real one */
    uint32_t worker_count;
    atomic_bool stopping;

    pthread_mutex_t faults_lock; /* faults, rng */
    struct arena *faults_arena;
    struct fault_rules faults;
    struct str_list simulation_faults; /* of the simulation file, in `arena` */
    struct rng rng;

    pthread_rwlock_t clusters_lock;
    struct dict *clusters; /* id -> struct cluster_state */

    pthread_mutex_t hints_lock;
    struct dict *hints; /* "cluster/namespace/release" -> newest revision ever seen */

    pthread_mutex_t release_locks[RELEASE_LOCKS];
    struct sessions *sessions; /* of NeuVector */
    char token[TOKEN_TEXT_MAX];
    atomic_llong counts[COUNT_COUNT];
    struct arena *arena; /* of what lives as long as the simulation */
};

static inline bool is_kind(const struct kube_resource *a, const struct kube_resource *b)
{
    return str_eq(a->plural, b->plural) && str_eq(a->group, b->group);
}

static inline int64_t simulation_now(const struct simulation *simulation)
{
    return clock_wall_ms(simulation->clock);
}

/* Sleep for what takes `life_ms` in life. Ends early when the simulation stops. */
void simulation_sleep(struct simulation *simulation, int64_t life_ms);
static inline int64_t simulation_scaled(const struct simulation *simulation, int64_t life_ms)
{
    return (int64_t)((double)life_ms * simulation->scale);
}

uint64_t simulation_chance(struct simulation *simulation);
/* On the agenda of whoever works on the entry's cluster. */
void simulation_put(struct simulation *simulation, const struct agenda_entry *entry,
                    int64_t due_ms);
size_t simulation_agenda_count(const struct simulation *simulation);

/* ---- clusters.c */

/* Make what `yaml` describes, once; later starts leave alone what people changed. */
int clusters_seed(struct simulation *simulation, const struct description *description,
                  struct error *err);
/* Bring one cluster's API, nodes, status and state up to what its Cluster object says. */
void clusters_reconcile(struct simulation *simulation, struct arena *arena, struct str id);
/* Re-read what requests need; from api_on_change. */
void clusters_refresh(struct simulation *simulation, struct str id);
/* All clusters, after faults changed. */
void clusters_look_again(struct simulation *simulation);
bool clusters_find(struct simulation *simulation, struct str id, struct cluster_state *ret_state);
/* Ids, in the arena. */
struct str_list clusters_ids(struct simulation *simulation, struct arena *arena);

/* ---- monitoring.c: rancher-monitoring of a simulated cluster */

/* Its kinds, its namespaces, and a Prometheus that is Available. */
int monitoring_make(struct simulation *simulation, struct arena *arena, struct str id,
                    struct error *err);
/* Answer what the proxy leads to Prometheus; false: the path leads elsewhere. */
bool monitoring_handle(struct simulation *simulation, struct http_exchange *exchange,
                       struct str cluster, struct str path);

/* Of "/api/v1/namespaces/NS/services/http:NAME:PORT/proxy/...". */
bool monitoring_proxied(struct str path, struct str *ret_namespace, struct str *ret_service,
                        struct str *ret_rest);
/* What there is of the pods of a cluster, whether a Prometheus scrapes them or not. */
struct prom_series_list;
void monitoring_series(struct simulation *simulation, struct arena *arena, struct str cluster,
                       struct prom_series_list *ret_series);
/* What the cluster's GPU exporter has, for a real Prometheus to scrape; with ?release=, what a pod
 * of that release has: nothing. */
void monitoring_export(struct simulation *simulation, struct http_exchange *exchange,
                       struct str cluster);

/* ---- jaeger.c: answer what the proxy leads to a Jaeger; false: the path leads elsewhere */

bool jaeger_handle(struct simulation *simulation, struct http_exchange *exchange,
                   struct str cluster, struct str path);

/* ---- pods_live.c: what makes pods and runs them on the management cluster; see pods.h */

/* From api_on_change, of any kind of that cluster: puts on the agenda what may have to act. */
void pods_live_changed(struct simulation *simulation, const struct kube_resource *resource,
                       struct str namespace_, struct str name);
/* Once, at start: put all that there is on the agenda. */
void pods_live_scan(struct simulation *simulation);
/* Bring pods and status of the entry's object one step further, or a pod itself. */
void pods_live_run(struct simulation *simulation, struct arena *arena,
                   const struct agenda_entry *entry);

/* ---- forward.c */

/* GET from a server on this machine, "127.0.0.1:9090"; -1 if it gives no answer. */
int forward_get(struct arena *arena, struct str address, struct str path, int *ret_status,
                struct str *ret_body, struct error *err);

/* ---- clusters_real.c */

/* What Rancher's agent puts into a cluster; then it is followed, and all of it looked through. */
int clusters_real_prepare(struct simulation *simulation, struct arena *arena, struct str cluster,
                          struct error *err);
/* Nodes, amounts and version as the cluster has them. */
int clusters_real_describe(struct simulation *simulation, struct arena *arena,
                           struct described_cluster *described, struct error *err);

/* ---- engine.c */

/* Perform all steps of a task that are due, and put the next on the agenda. `task` may be NULL: it
 * is then read from its Operation. */
void engine_run(struct simulation *simulation, struct arena *arena, struct str cluster,
                struct str namespace_, struct str operation, const struct task *known);
/* Store a new task: all that it will do survives a kill once this returns 0. */
int engine_accept(struct simulation *simulation, struct arena *arena, const struct task *task,
                  struct error *err);
/* What the helm container of an Operation has printed. False: its pod is not there. */
bool engine_log(struct simulation *simulation, struct arena *arena, struct str cluster,
                struct json operation, struct str *ret_log);
pthread_mutex_t *engine_lock(struct simulation *simulation, struct str cluster,
                             struct str namespace_, struct str release);

/* ---- repos_real.c: charts of repositories that real clusters use */

struct real_chart {
    struct catalogue_chart row; /* name, version, app version; the rest is nothing */
    struct str metadata;        /* Chart.yaml as JSON, with the annotations asked for */
    struct str values;          /* values.yaml as JSON */
    struct str tarball;         /* with them, too */
};

/* Download a repository's index. -1 with Rancher's words. */
int repos_real_index(struct simulation *simulation, struct arena *arena, struct json repo,
                     struct str *ret_index, struct error *err);
/* That which a ClusterRepo keeps in its ConfigMap. */
int repos_real_kept_index(struct simulation *simulation, struct arena *arena, struct str cluster,
                          struct json repo, struct str *ret_index, struct error *err);
/* Look a chart up there and download it. -1 with Rancher's words. */
int repos_real_chart(struct simulation *simulation, struct arena *arena, struct str cluster,
                     struct json repo, const struct action_chart *wanted,
                     struct real_chart *ret_chart, struct error *err);

/* ---- repos.c */

/* What charts a ClusterRepo has, by the index that its cluster downloaded last. NULL: it has no
 * host in this world. */
const struct catalogue_repo *repos_catalogue(struct simulation *simulation, struct arena *arena,
                                             struct str cluster, struct json repo);
void repos_reconcile(struct simulation *simulation, struct arena *arena, struct str cluster,
                     struct str name);
void repos_schedule(struct simulation *simulation, struct str cluster, struct str name);

/* ---- tokens.c */

struct token {
    struct str name;
    struct str user;
    struct str cluster; /* "" = all */
    bool admin;
};

int tokens_seed(struct simulation *simulation, uint64_t seed, struct error *err);
/* From Authorization, or the cookie R_SESS. False: nobody that Rancher knows. */
bool tokens_authenticate(struct simulation *simulation, struct http_exchange *exchange,
                         struct token *ret_token);
void tokens_handle(struct simulation *simulation, struct http_exchange *exchange, struct str name,
                   const struct token *caller);

/* ---- reply.c: the error shapes E1 to E6, and delays */

void reply_json(struct http_exchange *exchange, int status, struct str json);
void reply_e1(struct http_exchange *exchange, int status, const char *code, struct str message);
void reply_e2(struct http_exchange *exchange, int status, const char *code, struct str message);
void reply_e3(struct http_exchange *exchange, int status, const char *reason, struct str message);
void reply_e4(struct http_exchange *exchange);
void reply_e5(struct http_exchange *exchange, int status, const char *code, struct str message);
void reply_text(struct http_exchange *exchange, int status, struct str text);
/* As E1, with the code that a store's error has. */
void reply_store_error(struct http_exchange *exchange, const struct error *err);

/* ---- norman.c, steve.c, post.c */

void norman_handle(struct simulation *simulation, struct http_exchange *exchange, struct str rest,
                   const struct token *caller);
void steve_handle(struct simulation *simulation, struct http_exchange *exchange, struct str cluster,
                  struct str rest);
void post_action(struct simulation *simulation, struct http_exchange *exchange, struct str cluster,
                 struct str namespace_, struct str name, struct str action);
void counters_handle(struct simulation *simulation, struct http_exchange *exchange);

#endif
