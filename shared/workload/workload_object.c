/* SPDX-License-Identifier: Apache-2.0 */
/* workload_object.c: what the kind reads, and beside it the spec by the kind's table. */
#include "workload/workload_object.h"

#include "kube/names.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/rules.h"

/* What a kind itself finds has no name of its own. */
static void name_rules(struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++)
        if (!problems->list.items[i].rule.len)
            problems->list.items[i].rule = str_of(rule_of(RULE_WORKLOAD_INVALID)->name);
}

static bool is_about_name(const struct problem *problem)
{
    return str_eq(problem->rule, str_of(rule_of(RULE_WORKLOAD_NAME)->name));
}

/* The API server appends five characters: k8s.io/apiserver/pkg/storage/names/generate.go. */
static void check_made_name(struct arena *arena, const struct kube_meta *meta,
                            struct problems *problems)
{
    uint32_t count = problems->list.count;

    if (!meta->generate_name.len || kube_not_generate_name(meta->generate_name))
        return;
    workload_check_name(arena, str_fmt(arena, "%.*sxxxxx", STR_ARG(meta->generate_name)), problems);
    for (uint32_t i = count; i < problems->list.count; i++)
        problems->list.items[i].field = STR("metadata.generateName");
}

/* A name that is missing, or none anywhere in Kubernetes, is shape.metadata's. */
static void add_read(struct arena *arena, const struct kube_meta *meta, const struct problems *read,
                     struct problems *problems)
{
    bool is_name = !kube_not_dns1123_subdomain(meta->name);

    for (uint32_t i = 0; i < read->list.count; i++)
        if (is_name || !is_about_name(&read->list.items[i]))
            problems_add(problems, read->list.items[i]);
    if (!meta->name.len)
        check_made_name(arena, meta, problems);
}

const struct workload_object *workload_object_read(struct arena *arena,
                                                   const struct workload_kind *kind,
                                                   struct json object, struct problems *problems,
                                                   struct str *ret_patch)
{
    struct workload_object *read = arena_new(arena, struct workload_object);
    const struct seen_children no_children = { 0 };
    const struct kind_observation seen = { .object = object, .children = &no_children };
    struct problems found = problems_new(arena), ignored = problems_new(arena);
    void *spec = arena_alloc(arena, kind->spec->size);
    struct str patch;

    read->kind = kind;
    kube_meta_read(object, &read->meta);
    kind->read(kind, arena, &seen, &read->workload, &found);
    workload_check_repeated(arena, &read->workload, &found);
    name_rules(&found);
    add_read(arena, &read->meta, &found, problems);
    object_decode(arena, object, &kind->kind.resource, kind->spec, spec, &ignored);
    patch = object_default_patch(arena, kind->spec, spec);
    if (ret_patch)
        *ret_patch = patch;
    read->spec = (struct spec_form){ json_get(object, STR("spec")), kind->spec, spec };
    return read;
}

struct path workload_field(const struct workload_kind *kind, const char *begin,
                           const struct path *spec)
{
    for (uint32_t i = 0; i < kind->spec->count; i++)
        if (str_starts(kind->spec->rows[i].json, str_of(begin)))
            return path_field(spec, kind->spec->rows[i].json);
    return *spec;
}

struct path workload_gpu_field(const struct workload_kind *kind, const struct path *spec)
{
    return workload_field(kind, kind->gpus ? kind->gpus : "gpu", spec);
}

int64_t workload_replicas_most(const struct workload *workload)
{
    return workload->replicas > workload->replicas_max ? workload->replicas
                                                       : workload->replicas_max;
}

const struct workload_kind *workload_kind_find(const struct kube_resource *resource)
{
    for (int i = 0; i < WORKLOAD_KIND_COUNT; i++) {
        const struct kube_resource *one = &workload_kinds[i]->kind.resource;

        if (str_eq(one->group, resource->group) && str_eq(one->plural, resource->plural) &&
            str_eq(one->version, resource->version))
            return workload_kinds[i];
    }
    return NULL;
}
