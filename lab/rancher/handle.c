/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c: one request on Rancher's port: who asks, which road it takes, what goes wrong on it.
 *
 * The roads fail differently (rancher v2.14 pkg/api/steve/proxy, pkg/clusterrouter, pkg/dialer):
 *   steve below /k8s/clusters/<id>/v1   no login or no right: empty 401; no tunnel: 500 after 14 s
 *   plain below /k8s/clusters/<id>/api  login filter E4, unknown cluster E5 404, not provisioned E5
 *                                       503, tunnel down: 500 after 20 to 40 s */
#include "lab/rancher/inside.h"
#include "lab/neuvector/neuvector.h"
#include "lab/rancher/route.h"
#include "lab/suse_observability/suse_observability.h"

enum { STEVE_DIAL_MS = 14000, PLAIN_WAIT_MS = 30000 };

static void count(struct simulation *simulation, enum request_count which)
{
    atomic_fetch_add(&simulation->counts[which], 1);
}

/* True if a fault answered. */
static bool met_fault(struct simulation *simulation, struct http_exchange *exchange,
                      const struct route *route)
{
    const struct fault_place place = { .cluster = route->cluster };
    struct fault_rule rule;

    if (faults_strike(simulation, FAULT_SLOW, &place, &rule))
        simulation_sleep(simulation, rule.ms);
    if (faults_strike(simulation, FAULT_HTML, &place, &rule)) {
        http_answer(exchange, 200, "text/html; charset=utf-8",
                    STR("<!DOCTYPE html><html><head><title>Rancher</title></head>"
                        "<body><div id=\"app\">Log in</div></body></html>"));
        return true;
    }
    if (faults_strike(simulation, FAULT_SERVER_ERROR, &place, &rule)) {
        reply_text(exchange, 500, STR("http: proxy error: EOF"));
        return true;
    }
    if (faults_strike(simulation, FAULT_TOO_MANY, &place, &rule)) {
        http_answer_header(exchange, "Retry-After", STR("1"));
        reply_text(exchange, 429, STR("Too many requests, please try again later.\n"));
        return true;
    }
    return false;
}

static void steve_down(struct simulation *simulation, struct http_exchange *exchange,
                       struct str cluster)
{
    simulation_sleep(simulation, STEVE_DIAL_MS);
    reply_text(exchange, 500,
               str_fmt(http_view(exchange)->arena,
                       "lost connection to cluster: failed to find Session for client "
                       "stv-cluster-%.*s",
                       STR_ARG(cluster)));
}

static void go_steve(struct simulation *simulation, struct http_exchange *exchange,
                     const struct route *route, const struct token *caller)
{
    const struct fault_place place = { .cluster = route->cluster };
    bool local = str_eq(route->cluster, LOCAL_CLUSTER);
    struct cluster_state state = { false, false };
    struct fault_rule rule;
    bool known = clusters_find(simulation, route->cluster, &state);

    count(simulation, COUNT_STEVE);
    if (!caller && (local && !route->proxied)) {
        reply_e4(exchange);
    } else if (!caller || !known ||
               (caller->cluster.len && !str_eq(caller->cluster, route->cluster)) ||
               faults_strike(simulation, FAULT_FORBIDDEN, &place, &rule)) {
        /* The gate asks "may this user get that Cluster?", and says no to both questions alike. */
        http_answer(exchange, 401, NULL, STR(""));
    } else if (!local && (!state.connected || !state.provisioned)) {
        steve_down(simulation, exchange, route->cluster);
    } else if (!local && faults_strike(simulation, FAULT_AGENT_BOOTING, &place, &rule)) {
        reply_text(exchange, 500, STR("dial tcp 127.0.0.1:6080: connect: connection refused"));
    } else if (!met_fault(simulation, exchange, route)) {
        steve_handle(simulation, exchange, route->cluster, route->rest);
    }
}

/* A bearer value that Rancher does not know goes through to the local kube-apiserver, which does
 * not know it either. */
static void local_unauthorized(struct http_exchange *exchange)
{
    if (http_header(exchange, "Authorization").len)
        reply_e3(exchange, 401, "Unauthorized", STR("Unauthorized"));
    else
        reply_text(exchange, 401, STR("not authorized"));
}

static void pass_on(struct simulation *simulation, struct http_exchange *exchange,
                    const struct route *route, const struct token *caller)
{
    struct arena *arena = http_view(exchange)->arena;
    struct api_caller who = { .user = caller->user, .groups = str_list_new(arena, 2) };

    str_list_push(&who.groups, STR("system:authenticated"));
    if (caller->admin)
        str_list_push(&who.groups, STR("system:masters"));

    struct remote *remote = downstream_of(simulation->downstream, route->cluster);

    if (!remote && neuvector_handle(simulation, exchange, route->cluster, route->rest))
        return;
    if (remote)
        remote_forward(remote, exchange, route->rest, &who);
    else if (!monitoring_handle(simulation, exchange, route->cluster, route->rest) &&
             !jaeger_handle(simulation, exchange, route->cluster, route->rest))
        api_handle(simulation->api, exchange, route->cluster, route->rest, &who);
}

static void go_plain(struct simulation *simulation, struct http_exchange *exchange,
                     const struct route *route, const struct token *caller)
{
    const struct fault_place place = { .cluster = route->cluster };
    bool local = str_eq(route->cluster, LOCAL_CLUSTER);
    struct cluster_state state = { false, false };
    struct fault_rule rule;

    count(simulation, COUNT_PLAIN);
    if (!caller) {
        if (local)
            local_unauthorized(exchange);
        else
            reply_e4(exchange);
    } else if (caller->cluster.len && !str_eq(caller->cluster, route->cluster)) {
        reply_e4(exchange);
    } else if (!clusters_find(simulation, route->cluster, &state)) {
        reply_e5(exchange, 404, "NotFound",
                 str_fmt(http_view(exchange)->arena,
                         "clusters.management.cattle.io \"%.*s\" not found",
                         STR_ARG(route->cluster)));
    } else if (faults_strike(simulation, FAULT_FORBIDDEN, &place, &rule)) {
        if (local && str_find(route->rest, STR("/management.cattle.io/"), 0) >= 0)
            http_answer(exchange, 403, NULL, STR(""));
        else
            reply_e5(exchange, 403, "Forbidden", STR("cluster access denied"));
    } else if (!local && !state.provisioned) {
        reply_e5(exchange, 503, "ClusterUnavailable", STR("cluster not provisioned"));
    } else if (!local && !state.connected) {
        simulation_sleep(simulation, PLAIN_WAIT_MS);
        reply_text(exchange, 500, STR("cluster agent disconnected"));
    } else if (!met_fault(simulation, exchange, route)) {
        pass_on(simulation, exchange, route, caller);
    }
}

static void go_norman(struct simulation *simulation, struct http_exchange *exchange,
                      struct route *route, const struct token *caller)
{
    bool open = str_eq(route->rest, STR("settings/cacerts"));

    count(simulation, COUNT_NORMAN);
    route->cluster = LOCAL_CLUSTER;
    if (!caller && !open)
        reply_e4(exchange);
    else if (open || !met_fault(simulation, exchange, route))
        norman_handle(simulation, exchange, route->rest, caller);
}

void simulation_handle(struct simulation *simulation, struct http_exchange *exchange)
{
    struct route route = route_of(http_view(exchange)->path);
    struct token token;
    bool open = route.kind == ROUTE_PING || route.kind == ROUTE_CACERTS;
    const struct token *caller =
        !open && tokens_authenticate(simulation, exchange, &token) ? &token : NULL;

    switch (route.kind) {
    case ROUTE_PING:
        reply_text(exchange, 200, STR("pong"));
        return;
    case ROUTE_CACERTS:
        http_answer(exchange, 200, "text/plain", str_of(simulation->ca_pem));
        return;
    case ROUTE_NORMAN:
        go_norman(simulation, exchange, &route, caller);
        return;
    case ROUTE_STEVE:
        go_steve(simulation, exchange, &route, caller);
        return;
    case ROUTE_PLAIN:
        go_plain(simulation, exchange, &route, caller);
        return;
    case ROUTE_COUNTERS:
        if (caller)
            counters_handle(simulation, exchange);
        else
            reply_e4(exchange);
        return;
    case ROUTE_EXPORTER:
        if (caller)
            monitoring_export(simulation, exchange, route.cluster);
        else
            reply_e4(exchange);
        return;
    case ROUTE_SUSE_OBSERVABILITY:
        suse_observability_handle(simulation, exchange);
        return;
    case ROUTE_UNKNOWN:
        break;
    }
    reply_text(exchange, 404, STR("404 page not found\n"));
}
