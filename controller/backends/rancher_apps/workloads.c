/* SPDX-License-Identifier: Apache-2.0 */
/* workloads.c: see workloads.h. */
#include "controller/backends/rancher_apps/workloads.h"

#include "controller/limits.h"
#include "kube/names.h"

enum { MESSAGE_BYTES_MAX = 256 };

const struct kube_resource workload_resources[WORKLOAD_KINDS] = {
    [WORKLOAD_DEPLOYMENT] = KUBE_RESOURCE_INIT("apps", "v1", "deployments", "Deployment", true),
    [WORKLOAD_STATEFUL_SET] = KUBE_RESOURCE_INIT("apps", "v1", "statefulsets", "StatefulSet", true),
    [WORKLOAD_DAEMON_SET] = KUBE_RESOURCE_INIT("apps", "v1", "daemonsets", "DaemonSet", true),
};

/* --- what is kept: a digit, the release, a newline, the message --- */

bool keep_workload(void *context, struct json workload, struct strbuf *kept)
{
    struct json annotations = json_walk(workload, "metadata", "annotations", NULL);
    struct str name = json_str(json_get(annotations, STR("meta.helm.sh/release-name")));
    struct str namespace_ = json_str(json_get(annotations, STR("meta.helm.sh/release-namespace")));
    struct object_status status = object_status_of(kept->arena, workload);

    (void)context;
    strbuf_fmt(kept, "%d", status.state);
    if (name.len)
        strbuf_put(kept, kube_key(kept->arena, namespace_, name));
    strbuf_char(kept, '\n');
    strbuf_put(kept, str_shown(kept->arena, status.message, MESSAGE_BYTES_MAX));
    return true;
}

struct kept_workload kept_workload(struct str kept)
{
    struct kept_workload workload = { .release = STR("") };
    struct str line;

    if (!kept.len)
        return workload;
    workload.status.state = (enum object_state)(kept.at[0] - '0');
    kept = str_slice(kept, 1, kept.len);
    str_split(&kept, '\n', &line);
    workload.release = line;
    workload.status.message = kept;
    return workload;
}

/* --- what an App is made of --- */

static bool is_kind(struct json resource, const struct kube_resource *of)
{
    return str_eq(json_str(json_get(resource, STR("kind"))), of->kind) &&
           str_starts(json_str(json_get(resource, STR("apiVersion"))), STR("apps/"));
}

/* Whoever may edit an App may write any text there: only names of objects are taken. */
static void put_workload(struct strbuf *text, struct json resource, const struct kube_resource *of)
{
    struct str namespace_ = json_str(json_get(resource, STR("namespace")));
    struct str name = json_str(json_get(resource, STR("name")));

    if (!kube_not_dns1123_label(namespace_) && !kube_not_dns1123_subdomain(name))
        strbuf_fmt(text, "%.*s/%.*s/%.*s ", STR_ARG(of->kind), STR_ARG(namespace_), STR_ARG(name));
}

struct str workloads_of_app(struct arena *arena, struct json resources)
{
    struct strbuf text = strbuf_new(arena, 64);
    uint32_t count = 0;

    for (struct json_iter it = json_iter(resources); json_next(&it);)
        for (int kind = 0; kind < WORKLOAD_KINDS; kind++)
            if (is_kind(it.value, &workload_resources[kind]) && count++ < LIMIT_RELEASE_WORKLOADS)
                put_workload(&text, it.value, &workload_resources[kind]);
    return strbuf_str(&text);
}

/* Of one that is not known, which is a matter of moments, its namespace has to do. */
static bool is_owned(struct str kept, struct str key, struct str release)
{
    struct str namespace_, name, own, ignored;

    if (!str_eq(kept, WORKLOAD_UNKNOWN))
        return str_eq(kept_workload(kept).release, release);
    kube_key_split(key, &namespace_, &name);
    kube_key_split(release, &own, &ignored);
    return str_eq(namespace_, own);
}

struct str workloads_owned(struct arena *arena, struct str workloads, struct str release,
                           find_workload *find, const void *context)
{
    struct strbuf text = strbuf_new(arena, workloads.len);
    struct str rest = workloads;
    struct str key;

    while (str_split(&rest, ' ', &key) && key.len) {
        struct str name = key;
        struct str kind;

        if (str_split(&name, '/', &kind) && is_owned(find(context, kind, name), name, release))
            strbuf_fmt(&text, "%.*s ", STR_ARG(key));
    }
    return strbuf_str(&text);
}

bool workloads_have(struct str workloads, enum workload_kind kind)
{
    struct str wanted = workload_resources[kind].kind;
    struct str one;

    while (str_split(&workloads, ' ', &one))
        if (str_starts(one, wanted) && one.len > wanted.len && one.at[wanted.len] == '/')
            return true;
    return false;
}

struct observed_health workloads_health(struct arena *arena, struct str workloads,
                                        find_workload *find, const void *context)
{
    struct observed_health health = { .message = STR("") };
    struct str rest = workloads;
    struct str key;
    uint32_t more = 0;

    while (str_split(&rest, ' ', &key) && key.len) {
        struct str kind;
        struct str name = key;
        struct str namespace_;

        if (!str_split(&name, '/', &kind))
            continue;

        struct str kept = find(context, kind, name);
        struct object_status status = kept_workload(kept).status;

        if (kept.len && status.state == OBJECT_CURRENT)
            continue;
        health.missing = health.missing || !kept.len;
        health.failed = health.failed || (kept.len && status.state == OBJECT_FAILED);
        if (health.message.len) {
            more++;
            continue;
        }
        kube_key_split(name, &namespace_, &name);
        health.message = str_fmt(arena, "%.*s %.*s: %.*s", STR_ARG(kind), STR_ARG(name),
                                 STR_ARG(kept.len ? status.message : STR("it does not exist")));
    }
    if (more)
        health.message = str_fmt(arena, "%.*s (and %u more)", STR_ARG(health.message), more);
    return health;
}
