/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c: finding GPU requests in values that nobody but the chart understands. */
#include "stack/gpu/gpu.h"

#include "base/map.h"
#include "kube/names.h"
#include "stack/model/template.h"
#include "text/quantity.h"

struct gpu_name {
    struct str name;
    enum gpu_vendor vendor;
};

#define GPU_VENDOR(id, name)
#define GPU_RESOURCE(vendor, name)
#define GPU_MEASURE(name)
#define GPU_PROVIDER(vendor, chart)
#define GPU_LABEL(key)

static const char *const vendor_names[] = {
#undef GPU_VENDOR
#define GPU_VENDOR(id, name) name,
#include "stack/gpu/gpu_providers.def"
#undef GPU_VENDOR
#define GPU_VENDOR(id, name)
};

static const struct gpu_name resources[] = {
#undef GPU_RESOURCE
#define GPU_RESOURCE(vendor, name) { STR_INIT(name), GPU_##vendor },
#include "stack/gpu/gpu_providers.def"
#undef GPU_RESOURCE
#define GPU_RESOURCE(vendor, name)
};

static const struct str measures[] = {
#undef GPU_MEASURE
#define GPU_MEASURE(name) STR_INIT(name),
#include "stack/gpu/gpu_providers.def"
#undef GPU_MEASURE
#define GPU_MEASURE(name)
};

static const struct gpu_name providers[] = {
#undef GPU_PROVIDER
#define GPU_PROVIDER(vendor, chart) { STR_INIT(chart), GPU_##vendor },
#include "stack/gpu/gpu_providers.def"
#undef GPU_PROVIDER
#define GPU_PROVIDER(vendor, chart)
};

static const struct str labels[] = {
#undef GPU_LABEL
#define GPU_LABEL(key) STR_INIT(key),
#include "stack/gpu/gpu_providers.def"
#undef GPU_LABEL
};

#define COUNT(of) (uint32_t)(sizeof(of) / sizeof((of)[0]))

const char *gpu_vendor_name(enum gpu_vendor vendor)
{
    return vendor_names[vendor];
}

/* A name in the table that ends so stands for all that begin with it. */
static bool is_prefix(struct str name)
{
    char last = name.at[name.len - 1];

    return last == '-' || last == '.' || last == '/';
}

uint32_t gpu_of_resource(struct str resource)
{
    for (uint32_t i = 0; i < COUNT(resources); i++) {
        struct str name = resources[i].name;

        if (is_prefix(name) ? str_starts(resource, name) && !kube_not_label_key(resource)
                            : str_eq(resource, name))
            return 1U << resources[i].vendor;
    }
    return 0;
}

bool gpu_is_counted(struct str resource)
{
    for (uint32_t i = 0; i < COUNT(measures); i++)
        if (str_eq(measures[i], resource))
            return false;
    return gpu_of_resource(resource) != 0;
}

uint32_t gpu_of_chart(const struct chart *chart)
{
    uint32_t vendors = 0;

    for (uint32_t i = 0; i < COUNT(providers); i++)
        if (str_eq(providers[i].name, chart_in_repo(chart)) ||
            str_eq(providers[i].name, chart->name))
            vendors |= 1U << providers[i].vendor;
    return vendors;
}

static bool is_gpu_label(struct str key)
{
    for (uint32_t i = 0; i < COUNT(labels); i++)
        if (str_eq(labels[i], key))
            return true;
    return false;
}

bool gpu_is_demanded(const struct label_selector *selector)
{
    struct json_iter it = json_iter(selector->match_labels);

    while (json_next(&it))
        if (is_gpu_label(it.key) && str_eq(json_str(it.value), STR("true")))
            return true;
    for (uint32_t i = 0; i < selector->match_expressions.count; i++) {
        const struct match_expression *one = &selector->match_expressions.items[i];
        bool only_true = str_eq(one->op, STR("In")) && one->values.count == 1 &&
                         str_eq(one->values.items[0], STR("true"));

        if (is_gpu_label(one->key) && (only_true || str_eq(one->op, STR("Exists"))))
            return true;
    }
    return false;
}

/* --- the walk through values --- */

struct walk {
    struct findings *findings;
    struct gpu_requests found;
};

static void keep_first(struct str *field, struct str another)
{
    if (!field->len || str_cmp(another, *field) < 0)
        *field = another;
}

static void note_request(struct walk *w, struct str resource, uint32_t vendors, struct str field)
{
    struct arena *arena = w->findings->arena;
    struct str *place;

    if (!w->found.fields)
        w->found.fields = map_new(arena, 4);
    place = map_get(w->found.fields, resource);
    if (!place) {
        place = arena_new(arena, struct str);
        *place = STR("");
        map_put(w->found.fields, resource, place);
    }
    keep_first(place, field);
    w->found.vendors |= vendors;
    for (int vendor = 0; vendor < GPU_VENDOR_COUNT; vendor++)
        if (vendors >> vendor & 1)
            keep_first(&w->found.field_of[vendor], field);
}

/* The text of a quantity, which may be a number or a string. */
static struct str quantity_text(struct json value)
{
    return json_is(value, JSON_NUMBER) ? json_raw(value) : json_str(value);
}

/* A quantity that does not fit is capped, and then neither whole nor told from another one. */
static bool is_too_large(struct json value)
{
    struct quantity quantity;
    struct error err;

    return quantity_parse(quantity_text(value), &quantity, &err) == 0 &&
           quantity.milli == INT64_MAX;
}

static bool read_quantity(struct json value, struct quantity *ret_quantity)
{
    struct error err;

    return quantity_parse(quantity_text(value), ret_quantity, &err) == 0 &&
           quantity_is_whole(*ret_quantity) && ret_quantity->milli > 0;
}

static void check_map(struct walk *w, struct json map, const struct path *at)
{
    struct json_iter it = json_iter(map);

    while (json_next(&it)) {
        uint32_t vendor = gpu_of_resource(it.key);
        struct path here = path_member(at, it.key);
        struct quantity quantity;

        if (!vendor || json_is(it.value, JSON_NULL))
            continue; /* null deletes what a reference said */
        note_request(w, it.key, vendor, path_render(&here, w->findings->arena));
        if (is_too_large(it.value))
            finding_add(w->findings, RULE_GPU_QUANTITY, CAUSE_VALUE_INVALID, &here,
                        STR("ask for as many as one machine has"),
                        "%.*s: must be a quantity that Kubernetes can represent",
                        STR_ARG(finding_shown(w->findings, json_raw(it.value))));
        else if (!template_is_one(quantity_text(it.value)) && !read_quantity(it.value, &quantity))
            finding_add(w->findings, RULE_GPU_QUANTITY, CAUSE_VALUE_INVALID, &here, STR(""),
                        "%.*s: must be a positive whole number of GPUs",
                        STR_ARG(finding_shown(w->findings, json_raw(it.value))));
    }
}

/* Kubernetes: requests of an extended resource need limits, and equal ones.
 * k8s.io/kubernetes/pkg/apis/core/validation/validation.go, ValidateResourceRequirements. */
static void check_pair(struct walk *w, struct json requests, struct json limits,
                       const struct path *at)
{
    struct path requests_at = path_field(at, STR("requests"));
    struct json_iter it = json_iter(requests);

    while (json_next(&it)) {
        struct json limit = json_get(limits, it.key);
        struct path here = path_member(&requests_at, it.key);
        struct quantity asked;
        struct quantity most;

        if (!gpu_of_resource(it.key) || !read_quantity(it.value, &asked))
            continue;
        if (json_is(limit, JSON_ABSENT) || json_is(limit, JSON_NULL))
            finding_add(w->findings, RULE_GPU_LIMITS_MISSING, CAUSE_VALUE_REQUIRED, &here, STR(""),
                        "%.*s limit must be set, because GPUs cannot be overcommitted",
                        STR_ARG(finding_shown(w->findings, it.key)));
        else if (read_quantity(limit, &most) && most.milli != asked.milli)
            finding_add(
                w->findings, RULE_GPU_REQUESTS_LIMITS, CAUSE_VALUE_INVALID, &here, STR(""),
                "%.*s: must be equal to %.*s limit of %.*s, because GPUs cannot be overcommitted",
                STR_ARG(finding_shown(w->findings, quantity_text(it.value))),
                STR_ARG(finding_shown(w->findings, it.key)),
                STR_ARG(finding_shown(w->findings, quantity_text(limit))));
    }
}

/* As deep as the reader lets JSON be (LIMIT_JSON_DEPTH). */
static void walk_value(struct walk *w, struct json value, const struct path *at)
{
    bool object = json_is(value, JSON_OBJECT);
    struct json requests = { NULL, 0 };
    struct json limits = { NULL, 0 };
    struct json_iter it = json_iter(value);

    while (json_next(&it)) {
        enum json_kind kind = json_kind(it.value);

        if (kind != JSON_OBJECT && kind != JSON_ARRAY)
            continue;

        struct path here = object ? path_member(at, it.key) : path_index(at, it.position);

        if (kind == JSON_OBJECT && str_eq(it.key, STR("requests")))
            requests = it.value;
        else if (kind == JSON_OBJECT && str_eq(it.key, STR("limits")))
            limits = it.value;
        else {
            walk_value(w, it.value, &here);
            continue;
        }
        check_map(w, it.value, &here);
        walk_value(w, it.value, &here);
    }
    if (w->found.vendors && requests.index)
        check_pair(w, requests, limits, at);
}

void gpu_requests_add(struct gpu_requests *requests, struct json values, const struct path *at,
                      struct findings *findings)
{
    struct walk w = { .findings = findings };

    walk_value(&w, values, at);
    if (!w.found.fields)
        return;
    for (int vendor = 0; vendor < GPU_VENDOR_COUNT; vendor++)
        if (!requests->field_of[vendor].len)
            requests->field_of[vendor] = w.found.field_of[vendor];
    for (uint32_t i = 0; requests->fields && i < map_count(w.found.fields); i++)
        if (!map_get(requests->fields, map_key(w.found.fields, i)))
            map_put(requests->fields, map_key(w.found.fields, i), map_value(w.found.fields, i));
    if (!requests->fields)
        requests->fields = w.found.fields;
    requests->vendors |= w.found.vendors;
}

struct str gpu_requests_field(const struct gpu_requests *requests, struct str resource)
{
    const struct str *field = requests->fields ? map_get(requests->fields, resource) : NULL;

    return field ? *field : STR("");
}
