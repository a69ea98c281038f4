/* SPDX-License-Identifier: Apache-2.0 */
/* pods_live.c: pods.h on the management cluster: reads, writes, and when to look again. A change of
 * an object or of one of its pods puts it on the agenda; while nothing changes, nothing runs. */
#include "lab/rancher/inside.h"
#include "lab/rancher/pods.h"
#include "lab/rancher/workload.h"

#include "text/time.h"

/* In life, from a pod's creation until its containers run, and until those of a Job are done. */
enum { POD_STAGE_MS = 2000 };

static const struct kube_resource *const makers[] = {
    [PODS_DEPLOYMENT] = &res_deployments,
    [PODS_STATEFUL_SET] = &res_stateful_sets,
    [PODS_JOB] = &res_jobs,
};
enum { MAKERS = sizeof(makers) / sizeof(makers[0]) };

static void look_at(struct simulation *simulation, enum agenda_kind kind, struct str namespace_,
                    struct str name, int64_t life_ms)
{
    simulation_put(simulation, &(struct agenda_entry){ kind, LOCAL_CLUSTER, namespace_, name },
                   simulation_now(simulation) + simulation_scaled(simulation, life_ms));
}

/* "a-b-c" gives "a-b"; "" if there is no '-'. */
static struct str stem(struct str name)
{
    while (name.len && name.at[name.len - 1] != '-')
        name.len--;
    return name.len ? str_slice(name, 0, name.len - 1) : name;
}

/* What pods need: those of the namespace that have not started are looked at; soon, because such
 * objects come together. */
static bool is_needed(const struct kube_resource *resource)
{
    return is_kind(resource, &res_secrets) || is_kind(resource, &res_configmaps);
}

void pods_live_changed(struct simulation *simulation, const struct kube_resource *resource,
                       struct str namespace_, struct str name)
{
    for (int i = 0; i < MAKERS; i++)
        if (is_kind(resource, makers[i]))
            look_at(simulation, AGENDA_DEPLOYMENT + i, namespace_, name, 0);
    if (is_needed(resource))
        look_at(simulation, AGENDA_POD, namespace_, STR(""), POD_STAGE_MS / 4);
    if (!is_kind(resource, &res_pods))
        return;
    /* Its name says whose it may be, also when it is gone. */
    look_at(simulation, AGENDA_STATEFUL_SET, namespace_, stem(name), 0);
    look_at(simulation, AGENDA_JOB, namespace_, stem(name), 0);
    look_at(simulation, AGENDA_DEPLOYMENT, namespace_, stem(stem(name)), 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct value *load(struct simulation *simulation, struct arena *arena,
                          const struct kube_resource *resource, const struct agenda_entry *entry)
{
    struct value *object = NULL;
    struct error ignored = { 0 };
    struct str text;

    if (entry->name.len == 0 ||
        api_get(simulation->api, arena, LOCAL_CLUSTER, resource, entry->namespace_, entry->name,
                &text, &ignored) != 0 ||
        value_read(arena, text, &json_limits_default, &object, &ignored) != 0)
        return NULL;
    return value_walk(object, "metadata", "deletionTimestamp", NULL) ? NULL : object;
}

struct gathering {
    struct arena *arena;
    const struct value *owner; /* NULL: all */
    struct value *found;
};

static bool gather(void *context, struct str text)
{
    struct gathering *g = context;
    struct value *object;
    struct error ignored;

    if (value_read(g->arena, text, &json_limits_default, &object, &ignored) == 0 &&
        (!g->owner || pods_controls(g->owner, object)))
        value_append(g->found, object);
    return true;
}

static struct value *list(struct simulation *simulation, struct arena *arena,
                          const struct kube_resource *resource, struct str namespace_,
                          const struct value *owner)
{
    struct gathering g = { arena, owner, value_array(arena) };
    struct error ignored = { 0 };

    api_list(simulation->api, arena, LOCAL_CLUSTER, resource, namespace_, gather, &g, &ignored);
    return g.found;
}

static struct str name_of(const struct value *object)
{
    return value_text(value_walk(object, "metadata", "name", NULL));
}

void pods_live_scan(struct simulation *simulation)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    for (int i = 0; i <= MAKERS; i++) {
        const struct kube_resource *resource = i < MAKERS ? makers[i] : &res_pods;
        struct value *all = list(simulation, arena, resource, STR(""), NULL);

        for (struct value *m = value_first(all); m; m = value_next(m))
            look_at(simulation, AGENDA_DEPLOYMENT + i,
                    value_text(value_walk(m, "metadata", "namespace", NULL)), name_of(m), 0);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_status(struct simulation *simulation, struct arena *arena,
                         const struct kube_resource *resource, const struct agenda_entry *entry,
                         struct str status)
{
    struct error err = { 0 };
    struct str stored;

    if (status.len &&
        api_merge_object(simulation->api, arena, LOCAL_CLUSTER, resource, entry->namespace_,
                         entry->name, STR("status"), status, &stored, &err) != 0 &&
        err.code != ERROR_NOT_FOUND)
        log_warn(simulation->log, "status not written", LOG_STR("kind", resource->kind),
                 LOG_STR("name", entry->name), LOG_Z("error", err.text));
}

static void create_pod(struct simulation *simulation, struct arena *arena,
                       const struct agenda_entry *of, struct str pod)
{
    struct error err = { 0 };
    struct value *object;
    struct str stored;

    if (api_create_object(simulation->api, arena, LOCAL_CLUSTER, &res_pods, of->namespace_, pod,
                          &stored, &err) != 0 ||
        value_read(arena, stored, &json_limits_default, &object, &err) != 0) {
        log_warn(simulation->log, "pod not made", LOG_STR("namespace", of->namespace_),
                 LOG_STR("of", of->name), LOG_Z("error", err.text));
        return;
    }
    look_at(simulation, AGENDA_POD, of->namespace_, name_of(object), POD_STAGE_MS);
}

static void run_maker(struct simulation *simulation, struct arena *arena,
                      const struct agenda_entry *entry, enum pods_maker maker)
{
    struct pods_seen seen = { .maker = maker,
                              .object = load(simulation, arena, makers[maker], entry) };
    struct pods_step step;
    struct error ignored;

    /* The Deployment of a simulated release has the pods that the release makes. */
    if (!seen.object ||
        value_walk(seen.object, "metadata", "annotations", WORKLOAD_GPU_ANNOTATION, NULL))
        return;
    seen.pods = list(simulation, arena, &res_pods, entry->namespace_, seen.object);
    seen.node = name_of(value_first(list(simulation, arena, &res_nodes, STR(""), NULL)));
    seen.now = time_rfc3339(arena, simulation_now(simulation));
    step = pods_next(arena, &seen);
    for (uint32_t i = 0; i < step.removes.count; i++)
        api_delete_object(simulation->api, arena, LOCAL_CLUSTER, &res_pods, entry->namespace_,
                          step.removes.items[i], &ignored);
    for (uint32_t i = 0; i < step.creates.count; i++)
        create_pod(simulation, arena, entry, step.creates.items[i]);
    write_status(simulation, arena, makers[maker], entry, step.status);
}

static bool is_ours(const struct value *pod)
{
    const struct value *owner = value_first(value_walk(pod, "metadata", "ownerReferences", NULL));
    struct str kind = value_text(value_get(owner, STR("kind")));

    for (int i = 0; i < MAKERS; i++)
        if (str_eq(kind, makers[i]->kind))
            return true;
    return false;
}

static bool is_pending(const struct value *pod)
{
    return str_eq(value_text(value_walk(pod, "status", "phase", NULL)), STR("Pending"));
}

static void look_at_pending(struct simulation *simulation, struct arena *arena,
                            struct str namespace_)
{
    struct value *pods = list(simulation, arena, &res_pods, namespace_, NULL);

    for (struct value *m = value_first(pods); m; m = value_next(m))
        if (is_pending(m))
            look_at(simulation, AGENDA_POD, namespace_, name_of(m), 0);
}

static void add_found(struct simulation *simulation, struct arena *arena,
                      const struct kube_resource *resource, const struct agenda_entry *of,
                      const struct str_list *names, struct value *found)
{
    for (uint32_t i = 0; i < names->count; i++) {
        struct agenda_entry entry = { AGENDA_POD, LOCAL_CLUSTER, of->namespace_, names->items[i] };
        struct value *object = load(simulation, arena, resource, &entry);

        if (object)
            value_append(found, object);
    }
}

/* Of what the pod needs, what there is. */
static struct value *find_needs(struct simulation *simulation, struct arena *arena,
                                const struct agenda_entry *entry, const struct value *pod)
{
    struct pods_needs needs = pods_needs_of(arena, pod);
    struct value *found = value_array(arena);

    add_found(simulation, arena, &res_secrets, entry, &needs.secrets, found);
    add_found(simulation, arena, &res_configmaps, entry, &needs.config_maps, found);
    return found;
}

void pods_live_run(struct simulation *simulation, struct arena *arena,
                   const struct agenda_entry *entry)
{
    const struct value *pod;
    struct str status;

    if (entry->kind != AGENDA_POD) {
        run_maker(simulation, arena, entry, (enum pods_maker)(entry->kind - AGENDA_DEPLOYMENT));
        return;
    }
    if (!entry->name.len) {
        look_at_pending(simulation, arena, entry->namespace_);
        return;
    }
    pod = load(simulation, arena, &res_pods, entry);
    if (!pod || !is_ours(pod))
        return;
    status = pods_run(arena, pod, find_needs(simulation, arena, entry, pod),
                      time_rfc3339(arena, simulation_now(simulation)));
    write_status(simulation, arena, &res_pods, entry, status);
    /* A second stage, if it has one: what is to be restarted stays as it is. */
    if (status.len && is_pending(pod) &&
        !str_eq(value_text(value_walk(pod, "spec", "restartPolicy", NULL)), STR("Always")))
        look_at(simulation, AGENDA_POD, entry->namespace_, entry->name, POD_STAGE_MS);
}
