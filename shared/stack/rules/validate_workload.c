/* SPDX-License-Identifier: Apache-2.0 */
/* validate_workload.c: whether its pods can start.
 *
 * A workload runs on the cluster of the API server that stores it, which Rancher calls local: what
 * GPUs that has is known where it has a ClusterInventory, and then the rules are those of Stacks.
 * The fields are those of the kind (workload_field), so a new kind needs nothing here. */
#include "stack/rules/validate_workload.h"

#include "kube/image.h"
#include "kube/names.h"
#include "stack/gpu/gpu_workload.h"
#include "stack/rules/gpu_survey.h"
#include "text/quantity.h"

struct validating {
    const struct workload_object *object;
    const struct problems *read;
    const struct path *spec;
    struct findings *findings;
};

/* Whether the reader could make something of what stands there. */
static bool is_read(const struct validating *v, const struct path *at)
{
    struct str field = path_render(at, v->findings->arena);

    for (uint32_t i = 0; i < v->read->list.count; i++) {
        struct str wrong = v->read->list.items[i].field;

        if (str_starts(wrong, field) || str_starts(field, wrong))
            return false;
    }
    return true;
}

/* --- the image --- */

static void validate_image(const struct validating *v)
{
    struct str text = v->object->workload.image;
    struct path at = workload_field(v->object->kind, "image", v->spec);
    struct image_reference image;
    const char *wrong;

    if (!text.len || !is_read(v, &at))
        return;
    wrong = image_reference_read(text, &image);
    if (wrong)
        finding_add(v->findings, RULE_WORKLOAD_IMAGE, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": %s", STR_ARG(finding_shown(v->findings, text)), wrong);
    else if (!image.digest.len && (!image.tag.len || str_eq(image.tag, STR("latest"))))
        finding_add(v->findings, RULE_WORKLOAD_IMAGE_TAG, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": %s", STR_ARG(finding_shown(v->findings, text)),
                    image.tag.len ? "the tag latest names another image from time to time"
                                  : "without a tag it is latest, which names another image "
                                    "from time to time");
}

/* --- resources --- */

static bool read_quantity(struct json value, struct quantity *ret_quantity)
{
    struct str text = json_is(value, JSON_NUMBER) ? json_raw(value) : json_str(value);
    struct error ignored;

    return quantity_parse(text, ret_quantity, &ignored) == 0 && ret_quantity->milli >= 0;
}

/* k8s.io/kubernetes/pkg/apis/core/validation: what a container may ask for. */
static const char *not_resource(struct str name)
{
    static const struct str standard[] = { STR_INIT("cpu"), STR_INIT("memory"),
                                           STR_INIT("ephemeral-storage") };

    if (str_find_char(name, '/', 0) >= 0)
        return kube_not_label_key(name);
    for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
        if (str_eq(name, standard[i]))
            return NULL;
    return str_starts(name, STR("hugepages-")) ? NULL
                                               : "must be a standard resource for containers";
}

/* Pods may use more of it than they request; not so of devices and huge pages. */
static bool is_overcommitted(struct str resource)
{
    if (str_find_char(resource, '/', 0) >= 0)
        return str_starts(resource, STR("kubernetes.io/"));
    return !str_starts(resource, STR("hugepages-"));
}

static void validate_limit(const struct validating *v, const struct json_iter *request,
                           struct json limits, const struct path *at)
{
    const struct workload *workload = &v->object->workload;
    struct json limit = json_get(limits, request->key);
    bool is_overcommit = is_overcommitted(request->key);
    struct quantity asked, most;

    if (!is_overcommit && json_is(limit, JSON_ABSENT) &&
        !(workload->gpus && str_eq(request->key, workload->gpu_resource)))
        finding_add(v->findings, RULE_WORKLOAD_RESOURCES, CAUSE_VALUE_INVALID, at,
                    STR("write the same under limits"), "%.*s: has no limit",
                    STR_ARG(finding_shown(v->findings, json_raw(request->value))));
    if (gpu_of_resource(request->key) || !read_quantity(request->value, &asked) ||
        !read_quantity(limit, &most) || asked.milli == most.milli ||
        (is_overcommit && asked.milli < most.milli))
        return;
    finding_add(v->findings, RULE_WORKLOAD_RESOURCES, CAUSE_VALUE_INVALID, at, STR(""),
                "%.*s: must be %s the limit, %.*s",
                STR_ARG(finding_shown(v->findings, json_raw(request->value))),
                is_overcommit ? "no more than" : "equal to",
                STR_ARG(finding_shown(v->findings, json_raw(limit))));
}

static void validate_amount(const struct validating *v, const struct json_iter *amount,
                            const struct path *at)
{
    const char *wrong = not_resource(amount->key);
    struct quantity ignored;

    if (gpu_of_resource(amount->key))
        return; /* gpu.quantity, gpu.requests-limits */
    if (wrong)
        finding_add(v->findings, RULE_WORKLOAD_RESOURCES, CAUSE_VALUE_INVALID, at,
                    STR("write cpu, memory or ephemeral-storage, or the full name of what a "
                        "device plugin offers"),
                    "\"%.*s\": %s", STR_ARG(finding_shown(v->findings, amount->key)), wrong);
    else if (!read_quantity(amount->value, &ignored))
        finding_add(v->findings, RULE_WORKLOAD_RESOURCES, CAUSE_VALUE_INVALID, at, STR(""),
                    "%.*s: must be a quantity, 0 or more",
                    STR_ARG(finding_shown(v->findings, json_raw(amount->value))));
}

/* `limits`: of these requests; NULL of limits themselves. */
static void validate_list(const struct validating *v, struct json list, const struct json *limits,
                          const struct path *up)
{
    struct json_iter it = json_iter(list);

    if (!json_is(list, JSON_OBJECT)) {
        finding_add(v->findings, RULE_WORKLOAD_RESOURCES, CAUSE_TYPE_INVALID, up, STR(""),
                    "must be an object, not %s", json_kind_name(json_kind(list)));
        return;
    }
    while (json_next(&it)) {
        struct path at = path_member(up, it.key);

        validate_amount(v, &it, &at);
        if (limits)
            validate_limit(v, &it, *limits, &at);
    }
}

static void validate_resources(const struct validating *v)
{
    struct json resources = v->object->workload.resources;
    struct json limits = json_get(resources, STR("limits"));
    struct path at = workload_field(v->object->kind, "resources", v->spec);
    struct json_iter it = json_iter(resources);

    while (json_is(resources, JSON_OBJECT) && is_read(v, &at) && json_next(&it)) {
        struct path member = path_field(&at, it.key);
        bool is_requests = str_eq(it.key, STR("requests"));

        if (is_requests || str_eq(it.key, STR("limits")))
            validate_list(v, it.value, is_requests ? &limits : NULL, &member);
        else
            finding_add(v->findings, RULE_WORKLOAD_RESOURCES, CAUSE_VALUE_NOT_SUPPORTED, &member,
                        STR(""), "supported fields: \"requests\", \"limits\"");
    }
}

/* --- settings --- */

/* What no ConfigMap takes, its field's form denies (forms.def). */
static void validate_config(const struct validating *v)
{
    struct path config = workload_field(v->object->kind, "config", v->spec);
    struct json_iter it = json_iter(v->object->workload.config);

    while (json_is(v->object->workload.config, JSON_OBJECT) && json_next(&it)) {
        struct path at = path_key(&config, it.key);
        const char *wrong = kube_not_env_name(it.key);

        if (wrong && !kube_not_data_key(it.key))
            finding_add(v->findings, RULE_WORKLOAD_ENV_NAME, CAUSE_VALUE_INVALID, &at, STR(""),
                        "\"%.*s\": %s", STR_ARG(finding_shown(v->findings, it.key)), wrong);
    }
}

/* --- GPUs --- */

/* NULL: nobody keeps its inventory. */
static const struct fact_cluster *own_cluster(const struct facts *facts)
{
    for (uint32_t i = 0; facts->clusters_known && i < facts->clusters.count; i++)
        if (str_eq(facts->clusters.items[i].id, LOCAL_CLUSTER) &&
            facts->clusters.items[i].inventory)
            return &facts->clusters.items[i];
    return NULL;
}

/* Of a vendor of which no node offers anything; validate_fit_workload tells of the others. */
static void validate_offered(const struct validating *v, const struct gpu_asks *asks,
                             const struct inventory *inventory, const struct path *at)
{
    for (uint32_t i = 0; i < asks->count; i++) {
        struct str resource = asks->items[i].resource;
        uint32_t vendor = gpu_of_resource(resource);

        if (vendor && !(gpu_offered(inventory) & vendor))
            finding_add(v->findings, RULE_GPU_NOT_OFFERED, CAUSE_VALUE_INVALID, at,
                        STR("add nodes with such GPUs and a GPU operator, or ask for none"),
                        "\"%.*s\": no node of this cluster has %s GPUs",
                        STR_ARG(finding_shown(v->findings, resource)),
                        gpu_vendor_name((enum gpu_vendor)__builtin_ctz(vendor)));
    }
}

static void validate_gpus(const struct validating *v, const struct facts *facts)
{
    const struct workload_object *object = v->object;
    struct gpu_asks asks = gpu_workload_asks(v->findings->arena, &object->workload);
    const struct fact_cluster *cluster = own_cluster(facts);
    struct path resources = workload_field(object->kind, "resources", v->spec);
    struct path at = object->workload.gpus ? workload_gpu_field(object->kind, v->spec) : resources;
    struct gpu_requests requests = { 0 };

    gpu_requests_add(&requests, object->workload.resources, &resources, v->findings);
    if (!asks.count || !cluster || !is_read(v, &at))
        return;
    if (gpu_inventory(cluster))
        validate_offered(v, &asks, gpu_inventory(cluster), &at);
    validate_fit_workload(&asks, path_render(&at, v->findings->arena), object->meta.namespace_,
                          cluster, facts, v->findings);
}

void validate_workload(const struct workload_object *object, const struct problems *read,
                       const struct facts *facts, struct findings *findings)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct validating v = { object, read, &spec, findings };

    validate_image(&v);
    validate_resources(&v);
    validate_config(&v);
    validate_gpus(&v, facts);
}
