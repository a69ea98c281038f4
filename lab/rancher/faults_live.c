/* SPDX-License-Identifier: Apache-2.0 */
/* faults_live.c: a ConfigMap with a wrong rule is rejected while the simulation runs; one that was
 * stored before by another release of the lab is read without that rule, which is logged. */
#include "lab/rancher/inside.h"

static const struct str faults_namespace = STR_INIT("default");
static const struct str faults_name = STR_INIT("herd-lab-faults");

bool faults_are_of(struct str cluster, const struct kube_resource *resource, struct str namespace_,
                   struct str name)
{
    return str_eq(cluster, LOCAL_CLUSTER) && str_eq(resource->group, res_configmaps.group) &&
           str_eq(resource->plural, res_configmaps.plural) &&
           str_eq(namespace_, faults_namespace) && str_eq(name, faults_name);
}

void faults_check(void *context, struct str cluster, const struct kube_resource *resource,
                  const struct value *object, struct findings *found)
{
    const struct value *metadata = value_get(object, STR("metadata"));
    struct path data = path_field(NULL, STR("data"));

    (void)context;
    if (!faults_are_of(cluster, resource, value_text(value_get(metadata, STR("namespace"))),
                       value_text(value_get(metadata, STR("name")))))
        return;
    for (const struct value *m = value_first(value_get(object, STR("data"))); m;
         m = value_next(m)) {
        struct path at = path_key(&data, value_key(m));
        struct fault_rule rule;
        struct error err = { 0 };

        if (fault_rule_read(value_key(m), value_text(m), &rule, &err) != 0)
            finding_invalid(found, &at, m, str_dup(found->arena, str_of(err.text)));
    }
}

static void take_rule(struct simulation *simulation, struct fault_rules *rules, struct str key,
                      struct str text)
{
    struct fault_rule rule;
    struct error err = { 0 };

    if (fault_rule_read(str_dup(rules->arena, key), str_dup(rules->arena, text), &rule, &err) == 0)
        fault_rules_push(rules, rule);
    else
        log_warn(simulation->log, "fault rule left out", LOG_STR("key", key),
                 LOG_Z("error", err.text));
}

/* A rule whose text did not change keeps its counts. */
static void keep_counts(struct fault_rules *now, const struct fault_rules *before)
{
    for (uint32_t i = 0; i < now->count; i++)
        for (uint32_t k = 0; k < before->count; k++) {
            struct fault_rule *a = &now->items[i];
            const struct fault_rule *b = &before->items[k];

            if (a->id == b->id && str_eq(a->key, b->key) && str_eq(a->cluster, b->cluster) &&
                str_eq(a->release, b->release) && str_eq(a->chart, b->chart) && a->left >= 0 &&
                a->left == b->left + b->hits) {
                a->left = b->left;
                a->hits = b->hits;
            }
        }
}

void faults_load(struct simulation *simulation)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct arena *arena = arena_create(0);
    struct fault_rules rules = fault_rules_new(arena, 8);
    struct str object = STR("");
    struct error err = { 0 };
    struct json root;

    for (uint32_t i = 0; i < simulation->simulation_faults.count; i++)
        take_rule(simulation, &rules, str_fmt(arena, "simulation file, faults[%u]", i),
                  simulation->simulation_faults.items[i]);
    if (api_get(simulation->api, scratch, LOCAL_CLUSTER, &res_configmaps, faults_namespace,
                faults_name, &object, &err) == 0 &&
        json_read(scratch, object, &json_limits_default, &root, &err) == 0) {
        struct json_iter it = json_iter(json_get(root, STR("data")));

        while (json_next(&it))
            take_rule(simulation, &rules, it.key, json_str(it.value));
    }

    pthread_mutex_lock(&simulation->faults_lock);
    keep_counts(&rules, &simulation->faults);
    arena_free(simulation->faults_arena);
    simulation->faults_arena = arena;
    simulation->faults = rules;
    pthread_mutex_unlock(&simulation->faults_lock);
}

bool faults_strike(struct simulation *simulation, enum fault_id id, const struct fault_place *place,
                   struct fault_rule *ret_rule)
{
    pthread_mutex_lock(&simulation->faults_lock);

    struct fault_rule *rule = fault_meet(&simulation->faults, id, place, &simulation->rng);

    if (rule)
        *ret_rule = *rule;
    pthread_mutex_unlock(&simulation->faults_lock);
    return rule != NULL;
}

bool faults_strike_stage(struct simulation *simulation, enum fault_stage stage,
                         const struct fault_place *place, struct fault_rule *ret_rule)
{
    pthread_mutex_lock(&simulation->faults_lock);

    struct fault_rule *rule = fault_meet_stage(&simulation->faults, stage, place, &simulation->rng);

    if (rule)
        *ret_rule = *rule;
    pthread_mutex_unlock(&simulation->faults_lock);
    return rule != NULL;
}

bool faults_stand(struct simulation *simulation, enum fault_id id, struct str cluster)
{
    pthread_mutex_lock(&simulation->faults_lock);

    bool stands = fault_stands(&simulation->faults, id, cluster);

    pthread_mutex_unlock(&simulation->faults_lock);
    return stands;
}

uint64_t simulation_chance(struct simulation *simulation)
{
    pthread_mutex_lock(&simulation->faults_lock);

    uint64_t chance = rng_next(&simulation->rng);

    pthread_mutex_unlock(&simulation->faults_lock);
    return chance;
}
