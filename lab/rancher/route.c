/* SPDX-License-Identifier: Apache-2.0 */
/* route.c: prefixes, longest first. */
#include "lab/rancher/route.h"

/* True if `path` is `prefix` or goes on with '/'; then the part behind that is in *ret_rest. */
static bool under(struct str path, struct str prefix, struct str *ret_rest)
{
    if (!str_starts(path, prefix))
        return false;
    if (path.len == prefix.len) {
        *ret_rest = STR("");
        return true;
    }
    if (path.at[prefix.len] != '/')
        return false;
    *ret_rest = str_slice(path, prefix.len + 1, path.len);
    return true;
}

/* What a kube-apiserver itself would serve. */
static bool is_plain(struct str path)
{
    static const struct str roots[] = {
        STR_INIT("/api"),     STR_INIT("/apis"),   STR_INIT("/version"), STR_INIT("/openapi"),
        STR_INIT("/healthz"), STR_INIT("/readyz"), STR_INIT("/livez"),
    };
    struct str rest;

    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        if (under(path, roots[i], &rest))
            return true;
    return false;
}

/* A path below a cluster: "/v1/..." is steve, all else the kube-apiserver's. */
static struct route cluster_route(struct str cluster, struct str path, bool proxied)
{
    struct str rest;

    if (under(path, STR("/v1"), &rest))
        return (struct route){ ROUTE_STEVE, cluster, proxied, rest };
    if (is_plain(path))
        return (struct route){ ROUTE_PLAIN, cluster, proxied, path };
    return (struct route){ ROUTE_UNKNOWN, cluster, proxied, path };
}

struct route route_of(struct str path)
{
    struct str rest;

    if (str_eq(path, STR("/ping")))
        return (struct route){ .kind = ROUTE_PING };
    if (str_eq(path, STR("/cacerts")))
        return (struct route){ .kind = ROUTE_CACERTS };
    if (str_eq(path, STR("/lab/counters")))
        return (struct route){ .kind = ROUTE_COUNTERS };
    if (under(path, STR("/lab/exporter"), &rest))
        return (struct route){ .kind = ROUTE_EXPORTER, .cluster = rest };
    if (under(path, STR("/api/server"), &rest) || under(path, STR("/api/stackpack"), &rest) ||
        under(path, STR("/api/monitors"), &rest) || under(path, STR("/api/import"), &rest) ||
        under(path, STR("/prometheus"), &rest))
        return (struct route){ .kind = ROUTE_SUSE_OBSERVABILITY };
    if (under(path, STR("/v3"), &rest))
        return (struct route){ .kind = ROUTE_NORMAN, .rest = rest };
    if (under(path, STR("/k8s/clusters"), &rest) || under(path, STR("/k8s/proxy"), &rest)) {
        struct str cluster = STR("");
        struct str left = rest;

        str_split(&left, '/', &cluster);
        return cluster_route(cluster, str_slice(rest, cluster.len, rest.len), true);
    }
    return cluster_route(STR("local"), path, false);
}

bool steve_path_of(struct str rest, bool namespaced, struct steve_path *ret_path)
{
    struct steve_path path = { STR_INIT(""), STR_INIT(""), STR_INIT(""), STR_INIT("") };
    struct str *parts[] = { &path.type, &path.namespace_, &path.name, &path.link };
    struct str part;

    for (uint32_t i = 0; rest.len && str_split(&rest, '/', &part); i++) {
        if (i == 1 && !namespaced)
            i++;
        if (i >= 4)
            return false;
        *parts[i] = part;
    }
    *ret_path = path;
    return true;
}
