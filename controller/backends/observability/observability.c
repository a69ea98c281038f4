/* SPDX-License-Identifier: Apache-2.0 */
/* observability.c: the clusters that are open, who wants to know what of them, and when they are
 * asked. */
#include "controller/backends/observability/observability.h"

#include "base/memory.h"
#include "base/rng.h"
#include "controller/backends/observability/round.h"
#include "controller/backends/observability/server_wire.h"
#include "controller/backends/observability/wishes.h"
#include "controller/limits.h"
#include "kube/backoff.h"
#include "stack/model/reasons.h"

enum {
    LOOK_ROUNDS = 4,    /* back ends are looked for in one round of so many */
    FAILURES_BORNE = 1, /* in a row */
    LOOK_SOON_MS = 1000,
};

struct observability {
    struct observer observer;
    struct dict *clusters; /* id -> struct watched */
    struct rounds *rounds;
    struct suse_server *server; /* NULL: none is configured */
    struct rng rng;
};

struct watched {
    struct observability *owner;
    struct connection *connection;
    const struct observer_events *events;
    struct loop_timer *timer;
    struct dict *wishes;   /* key of a Stack -> struct wish */
    struct known *known;   /* NULL: it was not asked yet */
    struct known *nothing; /* what a first round begins with */
    struct round *round;   /* under way, or NULL */
    uint64_t round_count;
    uint32_t failures;  /* rounds in a row that did not get all answers */
    bool look;          /* in the next round, objects are to be changed */
    struct arena *told; /* of what Stacks know of the server's view of the cluster: */
    bool told_asked;
    uint64_t told_generation;
    struct str told_message;
    struct arena *named;
    struct str server_name; /* what the cluster is called there, if it has monitors there */
};

/* --- rounds --- */

static int64_t now_of(const struct watched *watched)
{
    return loop_now_ms(connection_loop(watched->connection));
}

/* Up to half as much again, so that clusters are not asked together. */
static void wait_for_next(struct watched *watched)
{
    struct rng *rng = &watched->owner->rng;
    int64_t interval_ms = wishes_interval_ms(watched->wishes);

    if (watched->failures > FAILURES_BORNE)
        interval_ms = backoff_after(interval_ms, LIMIT_METRICS_INTERVAL_MAX,
                                    watched->failures - FAILURES_BORNE, rng);
    loop_timer_set(watched->timer,
                   interval_ms + (int64_t)rng_below(rng, (uint64_t)interval_ms / 2 + 1));
}

/* Where there is no Prometheus, the agent's server is asked for what the pods deliver. */
static bool uses_server(const struct watched *watched)
{
    return watched->known && watched->known->found && watched->known->backends == MONITORING_SUSE;
}

static struct suse_view view_of(const struct watched *watched)
{
    struct str name = watched->known->suse_name;

    if (!watched->owner->server || server_can_name(name))
        return suse_server_view(watched->owner->server, name);
    return (struct suse_view){
        .asked = true,
        .reason = REASON(SUSE_OBSERVABILITY_CLUSTER_UNKNOWN),
        .message = STR_INIT("the Deployments of its agent of SUSE Observability do not say in "
                            "STS_CLUSTER_NAME what the cluster is called there, in at most 63 "
                            "letters, digits, dots and dashes: set stackstate.cluster.name"),
    };
}

static bool note_view(struct watched *watched, const struct suse_view *view)
{
    if (view->asked == watched->told_asked && view->generation == watched->told_generation &&
        str_eq(view->message, watched->told_message))
        return false;
    arena_reset(watched->told);
    watched->told_asked = view->asked;
    watched->told_generation = view->generation;
    watched->told_message = str_dup(watched->told, view->message);
    return true;
}

/* Whoever gets another answer by now. Of what was not asked yet, what they know stands. */
static void tell(struct watched *watched, bool all, const struct sample_index *samples)
{
    bool asked = true;
    struct str key;
    void *wish;

    if (uses_server(watched)) {
        const struct suse_view view = view_of(watched);

        samples = view.samples;
        asked = view.asked;
        all = note_view(watched, &view) || all;
        if (watched->owner->server && dict_count(watched->wishes))
            suse_server_look(watched->owner->server,
                             asked ? wishes_interval_ms(watched->wishes) : 0);
    }
    for (size_t cursor = 0; dict_next(watched->wishes, &cursor, &key, &wish);)
        if ((asked && wish_settle(wish, key, watched->known, samples, now_of(watched))) || all)
            watched->events->stack_changed(watched->events->context, key);
}

/* The next pass finds that it need not wait any longer. */
static void let_go(void *context, struct str stack)
{
    const struct watched *watched = context;

    watched->events->stack_changed(watched->events->context, stack);
}

static void drop_monitors(const struct watched *watched, struct str key)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (watched->owner->server && watched->server_name.len)
        suse_server_drop(watched->owner->server,
                         suse_monitors_prefix(arena, watched->server_name, key));
}

/* Monitors are on the server under the cluster's name there: they go if that changes, and when a
 * Prometheus takes over; not while the agent is away. */
static void note_server_name(struct watched *watched)
{
    bool uses = uses_server(watched);
    struct str now = uses ? watched->known->suse_name : STR("");
    bool leaves =
        uses || (watched->known->found && watched->known->backends & MONITORING_PROMETHEUS);
    struct str key;
    void *wish;

    if (!leaves || str_eq(now, watched->server_name))
        return;
    for (size_t cursor = 0; dict_next(watched->wishes, &cursor, &key, &wish);)
        drop_monitors(watched, key);
    arena_reset(watched->named);
    watched->server_name = str_dup(watched->named, now);
    for (size_t cursor = 0; dict_next(watched->wishes, &cursor, &key, &wish);)
        if (wish_is_over(wish) && !wish_is_paused(wish))
            drop_monitors(watched, key);
}

static void look_soon(struct watched *watched)
{
    watched->look = true;
    loop_timer_set(watched->timer, LOOK_SOON_MS);
}

static void take(struct watched *watched, struct known *known, const struct sample_index *samples)
{
    bool changed = !watched->known || !known_equal(watched->known, known);

    known_free(watched->known);
    watched->known = known;
    note_server_name(watched);
    tell(watched, changed, samples);
    if (!watched->look && !known->traces_trouble.text.len &&
        (known->kept_up || !(known->backends & MONITORING_PROMETHEUS)))
        wishes_drop_removed(watched->wishes, known, let_go, watched);
}

/* A first failure may be of the moment: what is known stands. */
static void on_round(void *context, struct known *known, const struct sample_index *samples)
{
    struct watched *watched = context;
    bool soon = watched->look || known->amiss;

    watched->round = NULL;
    watched->failures = known->trouble.text.len ? watched->failures + 1 : 0;
    watched->look = watched->look || known->trouble.text.len || known_is_in_doubt(known);
    wishes_note_end(watched->wishes, let_go, watched);
    if (watched->known && watched->failures && watched->failures <= FAILURES_BORNE)
        known_free(known);
    else
        take(watched, known, samples);
    /* Rules that were loaded are not: the next round looks whether they are there. */
    if (soon || wishes_any(watched->wishes, wish_lost_rules) ||
        wishes_any(watched->wishes, wish_holds))
        look_soon(watched);
    else
        wait_for_next(watched);
}

static void add_upkeep(void *context, const struct wire_prometheus *prometheus,
                       struct upkeep *upkeep)
{
    const struct watched *watched = context;

    wishes_add_upkeep(watched->wishes, prometheus, upkeep);
}

/* Without a Prometheus there is nothing else to ask. */
static bool is_to_look(struct watched *watched, const struct known *before)
{
    bool is_turn = watched->round_count++ % LOOK_ROUNDS == 0;
    bool looks =
        is_turn || watched->look || !before->found || !(before->backends & MONITORING_PROMETHEUS);

    watched->look = false;
    return looks;
}

static void begin_round(void *context)
{
    struct watched *watched = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list namespaces = wishes_namespaces(watched->wishes, arena);
    const struct known *before = watched->known ? watched->known : watched->nothing;
    struct request_backoff *backoff = connection_backoff(watched->connection);

    if (!dict_count(watched->wishes))
        return;
    if (request_backoff_ends_ms(backoff, now_of(watched)) >= 0 ||
        !connection_is_read(watched->connection)) {
        if (wishes_any(watched->wishes, wish_holds))
            look_soon(watched);
        else
            wait_for_next(watched);
        return;
    }

    const struct round_options options = {
        .connection = watched->connection,
        .before = before,
        .looks = is_to_look(watched, before),
        .namespaces = &namespaces,
        .add_upkeep = add_upkeep,
        .done = on_round,
        .context = watched,
    };

    if (options.looks)
        wishes_note_begin(watched->wishes);
    watched->round = round_begin(watched->owner->rounds, &options);
}

/* --- the observer --- */

static void open_cluster(void *context, struct connection *connection,
                         const struct observer_events *events)
{
    struct observability *observability = context;
    struct watched *watched = mem_new(struct watched);

    watched->owner = observability;
    watched->connection = connection;
    watched->events = events;
    watched->timer = loop_timer_create(connection_loop(connection), begin_round, watched);
    watched->wishes = dict_create();
    watched->nothing = known_create();
    watched->told = arena_create(0);
    watched->named = arena_create(0);
    dict_set(observability->clusters, connection_id(connection), watched);
}

static void drop_wish(struct watched *watched, struct str key)
{
    struct wish *wish = dict_remove(watched->wishes, key);

    if (wish)
        drop_monitors(watched, key);
    wish_free(wish);
}

static void watched_free(struct watched *watched)
{
    wishes_free(watched->wishes);
    round_abandon(watched->round);
    loop_timer_free(watched->timer);
    known_free(watched->known);
    known_free(watched->nothing);
    arena_free(watched->told);
    arena_free(watched->named);
    mem_free(watched);
}

static void close_cluster(void *context, struct str cluster_id)
{
    struct observability *observability = context;
    struct str id;
    void *watched;

    if (cluster_id.len) {
        watched = dict_remove(observability->clusters, cluster_id);
        if (watched)
            watched_free(watched);
        return;
    }
    for (size_t cursor = 0; dict_next(observability->clusters, &cursor, &id, &watched);) {
        dict_remove(observability->clusters, id);
        watched_free(watched);
    }
}

/* Without delay: the Stack waits for it. One that goes when Herd has just started may have left
 * something that nobody here knows of. */
static void end_wish(struct watched *watched, struct str key, const struct stack *stack)
{
    struct wish *wish = dict_get(watched->wishes, key);

    if (!wish && !watched->known && stack->spec.observability == TOGGLE_ENABLED) {
        wish = wish_create();
        dict_set(watched->wishes, key, wish);
    }
    if (!wish || !wish_end(wish, stack))
        return;
    if (!wish_is_paused(wish))
        drop_monitors(watched, key);
    watched->look = true;
    if (!watched->round)
        loop_timer_set(watched->timer, 0);
}

static bool has_release_of(const struct observed_cluster *cluster, struct str uid)
{
    for (uint32_t i = 0; i < cluster->releases.count; i++)
        if (observed_release_is_of(&cluster->releases.items[i], uid))
            return true;
    return false;
}

/* Until the last of its releases is gone, it has something to be monitored. */
static bool wants_any(const struct stack *stack, const struct observed_cluster *cluster)
{
    return stack->spec.observability == TOGGLE_ENABLED && !stack->meta.deletion_timestamp.len &&
           (cluster->targeted || has_release_of(cluster, stack->meta.uid));
}

static bool is_under_way(const struct wish *wish)
{
    return !wish_is_over(wish);
}

/* The first round comes soon, though not that of all clusters at once when Herd starts. */
static struct wish *wish_for(struct watched *watched, struct str key)
{
    struct wish *wish = dict_get(watched->wishes, key);
    bool soon = !wishes_any(watched->wishes, is_under_way) && !watched->round;

    if (!wish) {
        wish = wish_create();
        dict_set(watched->wishes, key, wish);
    }
    if (soon)
        loop_timer_set(watched->timer,
                       (int64_t)rng_below(&watched->owner->rng, LIMIT_METRICS_INTERVAL_MIN));
    return wish;
}

/* The operator is there, so somebody means to trace. */
static const struct str nothing_takes_traces = STR_INIT(
    "the OpenTelemetry operator is there, but no Service that takes traces: set "
    "otel.telemetryGateway.enabled of the chart suse-observability-agent, install an OpenTelemetry "
    "collector or Jaeger whose Service has port 4318, or set "
    "spec.observabilityProfile.tracing.enabled to false");

static void add_traces(struct observed_monitoring *monitoring, const struct known *known,
                       const struct wish *wish, struct arena *arena)
{
    if (!wish_count_traces(wish, &known->traces, monitoring))
        return;
    monitoring->untraced = str_dup(arena, monitoring->untraced);
    if (known->traces.lacks_endpoint)
        monitoring->traces_trouble = nothing_takes_traces;
    if (known->traces_trouble.again)
        monitoring->traces_unknown = str_dup(arena, known->traces_trouble.text);
}

static struct observed_monitoring monitoring_of(const struct watched *watched,
                                                const struct wish *wish, struct arena *arena,
                                                struct str key)
{
    const struct known *known = watched->known;
    struct suse_view view = { .asked = known != NULL };
    struct observed_monitoring monitoring;

    if (uses_server(watched))
        view = view_of(watched);
    monitoring = (struct observed_monitoring){ .asked = view.asked };
    if (!view.asked)
        return monitoring;
    monitoring.found = known->found;
    monitoring.backends = known->backends;
    monitoring.trouble = str_dup(arena, known_trouble_of(known, wish, key));
    if (!monitoring.trouble.len) {
        monitoring.trouble = str_dup(arena, view.message);
        monitoring.trouble_reason = view.reason;
    }
    if (!monitoring.trouble.len && view.monitors_trouble.len) {
        monitoring.trouble =
            str_fmt(arena, "SUSE Observability: %.*s", STR_ARG(view.monitors_trouble));
        monitoring.trouble_reason = REASON(SUSE_OBSERVABILITY_MONITORS_REJECTED);
    }
    monitoring.rules_trouble = str_dup(arena, wish_rules_trouble(wish));
    monitoring.counts_alerts = known->counts_alerts;
    monitoring.counts_dashboards = known->counts_dashboards;
    monitoring.dashboards = wish_count_dashboards(wish, &known->dashboards);
    add_traces(&monitoring, known, wish, arena);
    if (uses_server(watched) && !view.reason.len && watched->owner->server) {
        monitoring.counts_alerts = suse_server_monitors(
            watched->owner->server, suse_monitors_prefix(arena, known->suse_name, key),
            &monitoring.alerts);
        return monitoring;
    }
    for (uint32_t i = 0; i < known->rules.stacks.count; i++)
        monitoring.alerts += str_eq(known->rules.stacks.items[i], key);
    return monitoring;
}

static void fill_in_removal(const struct watched *watched, struct arena *arena, struct str key,
                            struct observed_cluster *to)
{
    const struct wish *wish = dict_get(watched->wishes, key);

    if (to->left_reason.len || !wish || !wish_holds(wish))
        return;
    to->left_reason = REASON(REMOVING_MONITORING);
    to->left_message =
        str_fmt(arena, "deleting what monitors the Stack on cluster %.*s", STR_ARG(to->id));
}

static void observe(void *context, struct str cluster_id, struct arena *arena, struct str key,
                    const struct stack *stack, int64_t now_ms, struct observed_cluster *ret_cluster)
{
    struct observability *observability = context;
    struct watched *watched = dict_get(observability->clusters, cluster_id);

    if (!watched)
        return;
    if (!wants_any(stack, ret_cluster)) {
        end_wish(watched, key, stack);
        fill_in_removal(watched, arena, key, ret_cluster);
        return;
    }

    struct wish *wish = wish_for(watched, key);

    if (wish_renew(wish, stack, ret_cluster, now_ms))
        watched->look = true;
    wish_tell(wish, arena, &ret_cluster->releases);
    ret_cluster->monitoring = monitoring_of(watched, wish, arena, key);
}

static void forget(void *context, struct str key)
{
    struct observability *observability = context;
    struct str id;
    void *watched;

    for (size_t cursor = 0; dict_next(observability->clusters, &cursor, &id, &watched);)
        drop_wish(watched, key);
}

/* --- the server --- */

static void add_wants(void *context, struct suse_wants *wants)
{
    const struct observability *observability = context;
    struct str key;
    void *one, *wish;

    for (size_t cursor = 0; dict_next(observability->clusters, &cursor, &key, &one);) {
        const struct watched *watched = one;
        int64_t interval_ms = wishes_interval_ms(watched->wishes);

        if (!uses_server(watched) || !dict_count(watched->wishes) ||
            !server_can_name(watched->known->suse_name))
            continue;
        if (!str_list_has(&wants->clusters, watched->known->suse_name))
            str_list_push(&wants->clusters, watched->known->suse_name);
        if (interval_ms < wants->interval_ms)
            wants->interval_ms = interval_ms;
        for (size_t at = 0; dict_next(watched->wishes, &at, &key, &wish);) {
            wish_add_namespaces(wish, &wants->namespaces);
            wish_add_monitors(wish, key, watched->known->suse_name, &wants->monitors);
        }
    }
}

static void on_server_answered(void *context)
{
    const struct observability *observability = context;
    struct str id;
    void *watched;

    for (size_t cursor = 0; dict_next(observability->clusters, &cursor, &id, &watched);)
        if (uses_server(watched))
            tell(watched, false, NULL);
}

void observability_use(struct observability *observability, struct suse_server *server)
{
    observability->server = server;
    suse_server_follow(server, &(struct suse_server_events){ .add_wants = add_wants,
                                                             .answered = on_server_answered,
                                                             .context = observability });
}

struct observability *observability_create(uint64_t seed)
{
    struct observability *observability = mem_new(struct observability);

    observability->clusters = dict_create();
    observability->rounds = rounds_create();
    observability->rng = rng_from_seed(seed);
    observability->observer = (struct observer){ .open = open_cluster,
                                                 .close = close_cluster,
                                                 .observe = observe,
                                                 .forget = forget,
                                                 .context = observability };
    return observability;
}

void observability_free(struct observability *observability)
{
    if (!observability)
        return;
    close_cluster(observability, STR(""));
    dict_free(observability->clusters);
    rounds_free(observability->rounds);
    mem_free(observability);
}

const struct observer *observability_observer(const struct observability *observability)
{
    return &observability->observer;
}
