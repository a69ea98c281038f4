/* SPDX-License-Identifier: Apache-2.0 */
/* scraping.c: each endpoint of each monitor against each pod. */
#include "lab/rancher/scraping.h"

#include "kube/selector.h"
#include "lab/rancher/inside.h"
#include "text/regex.h"

LIST_DEFINE(json_list, struct json)

struct scraping {
    struct arena *arena;
    struct json_list service_monitors;
    struct json_list pod_monitors;
    struct json_list services;
};

struct listing {
    struct arena *arena;
    struct json_list *to;
    struct json selector; /* of what is taken; absent = nothing, {} = all */
};

static bool selects(struct arena *arena, struct json selector_json, struct json labels)
{
    struct selector selector;
    struct error ignored;

    return json_is(selector_json, JSON_OBJECT) &&
           selector_read(arena, selector_json, &selector, &ignored) == 0 &&
           selector_matches(NULL, &selector, labels);
}

static bool list_one(void *context, struct str object)
{
    struct listing *listing = context;
    struct error ignored;
    struct json json;

    if (json_read(listing->arena, str_dup(listing->arena, object), &json_limits_default, &json,
                  &ignored) == 0 &&
        selects(listing->arena, listing->selector, json_walk(json, "metadata", "labels", NULL)))
        json_list_push(listing->to, json);
    return true;
}

static struct json_list list(struct simulation *simulation, struct arena *arena, struct str cluster,
                             const struct kube_resource *resource, struct json selector)
{
    struct json_list found = json_list_new(arena, 8);
    struct listing listing = { arena, &found, selector };
    struct error ignored = { 0 };

    api_list(simulation->api, arena, cluster, resource, STR(""), list_one, &listing, &ignored);
    return found;
}

struct scraping *scraping_read(struct simulation *simulation, struct arena *arena,
                               struct str cluster, struct json spec)
{
    struct scraping *scraping = arena_new(arena, struct scraping);
    struct json all = { NULL, 0 };
    struct error ignored;

    (void)json_read(arena, STR("{}"), &json_limits_default, &all, &ignored);
    *scraping = (struct scraping){
        .arena = arena,
        .service_monitors = list(simulation, arena, cluster, &res_service_monitors,
                                 json_get(spec, STR("serviceMonitorSelector"))),
        .pod_monitors = list(simulation, arena, cluster, &res_pod_monitors,
                             json_get(spec, STR("podMonitorSelector"))),
        .services = list(simulation, arena, cluster, &res_services, all),
    };
    return scraping;
}

struct target {
    struct arena *arena;
    struct str namespace_, pod, service;
    struct prom_labels labels;
};

static struct str source_of(const struct target *target, struct str label)
{
    if (str_eq(label, STR("__meta_kubernetes_namespace")))
        return target->namespace_;
    if (str_eq(label, STR("__meta_kubernetes_pod_name")))
        return target->pod;
    return str_eq(label, STR("__meta_kubernetes_service_name")) ? target->service : STR("");
}

static bool keeps(const struct target *target, struct json relabeling)
{
    struct str separator = json_str(json_get(relabeling, STR("separator")));
    struct strbuf text = strbuf_new(target->arena, 64);
    struct error ignored = { 0 };
    AUTO(regex_free)
    struct regex *regex = regex_create(json_str(json_get(relabeling, STR("regex"))), &ignored);

    for (struct json_iter it = json_iter(json_get(relabeling, STR("sourceLabels")));
         json_next(&it);) {
        if (it.position)
            strbuf_put(&text, separator);
        strbuf_put(&text, source_of(target, json_str(it.value)));
    }
    return regex && regex_match(regex, strbuf_str(&text)) == REGEX_YES;
}

/* False: it is dropped. */
static bool relabel(struct target *target, struct json relabelings)
{
    for (struct json_iter it = json_iter(relabelings); json_next(&it);) {
        struct str action = json_str(json_get(it.value, STR("action")));

        if (str_eq(action, STR("keep")) && !keeps(target, it.value))
            return false;
        if (str_eq(action, STR("replace")))
            prom_labels_push(&target->labels, (struct prom_label){
                                                  json_str(json_get(it.value, STR("targetLabel"))),
                                                  json_str(json_get(it.value, STR("replacement"))),
                                              });
    }
    return true;
}

static bool is_in(struct json monitor, struct str namespace_)
{
    struct json names = json_walk(monitor, "spec", "namespaceSelector", "matchNames", NULL);

    for (struct json_iter it = json_iter(names); json_next(&it);)
        if (str_eq(json_str(it.value), namespace_))
            return true;
    return !json_count(names) &&
           str_eq(json_str(json_walk(monitor, "metadata", "namespace", NULL)), namespace_);
}

static bool has_port(struct json ports, struct json endpoint)
{
    int64_t number = 0, here = 0;

    json_int64(json_get(endpoint, STR("targetPort")), &number);
    for (struct json_iter it = json_iter(ports); json_next(&it);) {
        json_int64(json_get(it.value, STR("containerPort")), &here);
        if (number ? number == here
                   : str_eq(json_str(json_get(it.value, STR("name"))),
                            json_str(json_get(endpoint, STR("port")))))
            return true;
    }
    return false;
}

static bool container_has_port(struct json pod, struct json endpoint)
{
    for (struct json_iter it = json_iter(json_walk(pod, "spec", "containers", NULL));
         json_next(&it);)
        if (has_port(json_get(it.value, STR("ports")), endpoint))
            return true;
    return false;
}

/* A Service selects by equality, and what selects nothing has no endpoints. */
static bool leads_to(struct json service, struct json pod)
{
    struct json labels = json_walk(pod, "metadata", "labels", NULL);
    struct json wanted = json_walk(service, "spec", "selector", NULL);

    for (struct json_iter it = json_iter(wanted); json_next(&it);)
        if (!str_eq(json_str(json_get(labels, it.key)), json_str(it.value)))
            return false;
    return json_count(wanted) > 0 &&
           str_eq(json_str(json_walk(service, "metadata", "namespace", NULL)),
                  json_str(json_walk(pod, "metadata", "namespace", NULL)));
}

static struct target target_of(const struct scraping *s, struct json pod)
{
    return (struct target){ s->arena, json_str(json_walk(pod, "metadata", "namespace", NULL)),
                            json_str(json_walk(pod, "metadata", "name", NULL)), STR(""),
                            prom_labels_new(s->arena, 2) };
}

void scraping_targets(const struct scraping *s, struct json pod,
                      void (*found)(void *context, const struct prom_labels *labels), void *context)
{
    struct target target = target_of(s, pod);

    for (uint32_t i = 0; i < s->pod_monitors.count; i++) {
        struct json monitor = s->pod_monitors.items[i];
        struct json_iter it = json_iter(json_walk(monitor, "spec", "podMetricsEndpoints", NULL));

        while (is_in(monitor, target.namespace_) && json_next(&it)) {
            target = target_of(s, pod);
            if (container_has_port(pod, it.value) &&
                relabel(&target, json_get(it.value, STR("relabelings"))))
                found(context, &target.labels);
        }
    }
    for (uint32_t i = 0; i < s->service_monitors.count * s->services.count; i++) {
        struct json monitor = s->service_monitors.items[i / s->services.count];
        struct json service = s->services.items[i % s->services.count];
        struct json_iter it = json_iter(json_walk(monitor, "spec", "endpoints", NULL));

        while (is_in(monitor, target.namespace_) && leads_to(service, pod) && json_next(&it)) {
            target = target_of(s, pod);
            target.service = json_str(json_walk(service, "metadata", "name", NULL));
            if (has_port(json_walk(service, "spec", "ports", NULL), it.value) &&
                relabel(&target, json_get(it.value, STR("relabelings"))))
                found(context, &target.labels);
        }
    }
}
