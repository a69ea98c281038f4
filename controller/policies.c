/* SPDX-License-Identifier: Apache-2.0 */
/* policies.c: an informer, and a set that is made anew a moment after it changed.
 *
 * While a policy depends on clusters and Rancher's list was not read yet, nothing is validated:
 * what counts as broken at admission because nobody knows is no result to report or to act on. */
#include "controller/policies.h"

#include "base/map.h"
#include "base/memory.h"
#include "runtime/informer.h"
#include "text/json_write.h"

enum { GATHER_MS = 500 };

/* What became of a policy when it was read. */
struct taken {
    enum policy_state state;
    size_t len;
    char message[];
};

struct policies {
    struct policies_options options;
    struct informer *informer;
    struct loop_timer *settle;
    struct policy_set *set;
    struct dict *taken; /* policy -> struct taken, by `set` */
    bool absent;        /* the API server has no such kind */

    const struct clusters *clusters;
    struct arena *arena;       /* of `facts` */
    struct facts facts;        /* clusters, once they are known */
    uint64_t clusters_digest;  /* of these */
    bool clusters_stale;       /* one came, changed or went since */
    struct loop_timer *survey; /* looks whether there are others */
};

static bool needs_clusters(const struct policies *policies)
{
    return policies->set && policy_set_needs_clusters(policies->set);
}

struct policy_set *policies_set(const struct policies *policies)
{
    return !needs_clusters(policies) || policies->facts.clusters_known ? policies->set : NULL;
}

/* --- clusters --- */

/* The same in whatever order they come. */
static uint64_t digest_of(const struct clusters *clusters)
{
    const struct listed_cluster *cluster;
    uint64_t digest = 0;

    for (size_t cursor = 0; clusters_next(clusters, &cursor, &cluster);)
        digest += (str_hash(cluster->id) ^ str_hash(cluster->labels)) * 0x9e3779b97f4a7c15ULL;
    return digest;
}

static void take_clusters(struct policies *policies)
{
    const struct listed_cluster *cluster;
    struct fact_cluster one;

    policies->clusters_stale = false;
    arena_reset(policies->arena);
    policies->facts =
        (struct facts){ .clusters_known = true, .clusters = fact_clusters_new(policies->arena, 0) };
    for (size_t cursor = 0; clusters_next(policies->clusters, &cursor, &cluster);)
        if (clusters_fact(policies->arena, cluster, &one))
            fact_clusters_push(&policies->facts.clusters, one);
}

const struct facts *policies_facts(struct policies *policies)
{
    static const struct facts none;

    if (!needs_clusters(policies))
        return &none;
    /* Whoever asks plans with the clusters of this moment; that they changed is still announced. */
    if (policies->facts.clusters_known && policies->clusters_stale)
        take_clusters(policies);
    return &policies->facts;
}

static void on_survey(void *context)
{
    struct policies *policies = context;
    uint64_t digest = digest_of(policies->clusters);

    if (!clusters_is_listed(policies->clusters) ||
        (policies->facts.clusters_known && digest == policies->clusters_digest))
        return;
    policies->clusters_digest = digest;
    /* They are taken when a policy asks. */
    arena_reset(policies->arena);
    policies->facts = (struct facts){ .clusters_known = true };
    policies->clusters_stale = true;
    if (needs_clusters(policies))
        policies->options.changed(policies->options.context);
}

void policies_use_clusters(struct policies *policies, const struct clusters *clusters)
{
    policies->clusters = clusters;
}

void policies_clusters_changed(struct policies *policies)
{
    policies->clusters_stale = true;
    if (!loop_timer_is_set(policies->survey))
        loop_timer_set(policies->survey, GATHER_MS);
}

/* --- policies --- */

/* How long the policy is, a newline, the policy, and {"generation","status"}. */
static bool keep_policy(void *context, struct json object, struct strbuf *kept)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf policy = strbuf_new(arena, 1024);
    struct json_writer w;
    struct json status = json_get(object, STR("status"));
    int64_t generation = 0;

    (void)context;
    json_int64(json_walk(object, "metadata", "generation", NULL), &generation);
    policy_keep(object, &policy);
    strbuf_fmt(kept, "%zu\n", policy.len);
    strbuf_put(kept, strbuf_str(&policy));
    w = json_writer(kept);
    json_open_object(&w);
    json_field_int(&w, "generation", generation);
    if (!json_is(status, JSON_ABSENT))
        json_field_raw(&w, "status", json_raw(status));
    json_close_object(&w);
    return true;
}

struct kept_policy {
    struct str policy;
    struct str rest;
};

static struct kept_policy kept_policy(const struct kube_object *object)
{
    struct str rest = kube_object_kept(object);
    struct str number;
    uint64_t len = 0;

    str_split(&rest, '\n', &number);
    str_to_u64(number, &len);
    return (struct kept_policy){ str_slice(rest, 0, len), str_slice(rest, len, rest.len) };
}

static void forget_taken(struct policies *policies)
{
    size_t cursor = 0;
    struct str name;
    void *taken;

    while (dict_next(policies->taken, &cursor, &name, &taken))
        mem_free(taken);
    dict_free(policies->taken);
    policies->taken = dict_create();
}

static void remember_taken(struct policies *policies, struct str policy,
                           const struct policy_status *status)
{
    struct taken *taken = mem_alloc(sizeof(*taken) + status->message.len);

    *taken = (struct taken){ status->state, status->message.len };
    memcpy(taken->message, status->message.at, status->message.len);
    mem_free(dict_set(policies->taken, policy, taken));
    policies->options.one_changed(policies->options.context, policy);
}

static void add_policy(struct policies *policies, struct policy_set_builder *builder,
                       const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct error ignored = { .code = ERROR_NONE };
    struct json json;
    bool added =
        json_read(arena, kept_policy(object).policy, &json_limits_default, &json, &ignored) == 0 &&
        policy_set_add(builder, json, &problems);
    struct policy_status status = policy_status_of(arena, added, &problems);

    remember_taken(policies, kube_object_name(object), &status);
    if (added)
        return;
    log_warn(policies->options.log, "a StackPolicy is not valid; Stacks are not validated by it",
             LOG_STR("policy", kube_object_name(object)),
             LOG_STR("error", problems.list.count ? problems.list.items[0].message
                                                  : STR("there are too many StackPolicies")));
}

static void on_settle(void *context)
{
    struct policies *policies = context;
    struct policy_set_builder *builder = policy_set_begin();
    struct kube_object *object;
    size_t cursor = 0;

    forget_taken(policies);
    while (kube_cache_next(informer_cache(policies->informer), &cursor, &object))
        add_policy(policies, builder, object);
    policy_set_unref(policies->set);
    policies->set = policy_set_finish(builder);
    log_info(policies->options.log, "policies read",
             LOG_INT("policies", policy_set_count(policies->set)));
    policies->options.changed(policies->options.context);
}

void policies_settle(struct policies *policies)
{
    if (!policies->set || !loop_timer_is_set(policies->settle))
        return;
    loop_timer_clear(policies->settle);
    on_settle(policies);
}

static void settle_soon(struct policies *policies)
{
    if (!loop_timer_is_set(policies->settle))
        loop_timer_set(policies->settle, policies->set ? GATHER_MS : 0);
}

static void on_policy(void *context, struct kube_object *before, struct kube_object *after)
{
    struct policies *policies = context;

    if (after)
        policies->options.one_changed(policies->options.context, kube_object_name(after));
    if (before && after && str_eq(kept_policy(before).policy, kept_policy(after).policy))
        return;
    if (policies->informer && informer_synced(policies->informer))
        settle_soon(policies);
}

static void on_synced(void *context)
{
    settle_soon(context);
}

static void on_trouble(void *context, const struct error *error)
{
    struct policies *policies = context;
    bool was_absent = policies->absent;

    policies->absent = error && error->code == ERROR_NOT_FOUND;
    if (policies->absent && !was_absent)
        settle_soon(policies);
    else if (error && !policies->absent)
        log_warn(policies->options.log, "policies cannot be followed", LOG_Z("error", error->text));
    else if (!error)
        log_info(policies->options.log, "policies can be followed again", LOG_INT("synced", 1));
}

bool policies_status(const struct policies *policies, struct arena *arena, struct str policy,
                     struct policy_status *ret_status, struct json *ret_stored)
{
    const struct kube_object *object = kube_cache_get(informer_cache(policies->informer), policy);
    const struct taken *taken = dict_get(policies->taken, policy);
    struct json rest = { NULL, 0 };
    struct error ignored;

    if (!object || !taken)
        return false;
    (void)json_read(arena, str_dup(arena, kept_policy(object).rest), &json_limits_default, &rest,
                    &ignored); /* our own bytes */
    *ret_stored = json_get(rest, STR("status"));
    ret_status->state = taken->state;
    ret_status->message = str_dup(arena, str_make(taken->message, taken->len));
    json_int64(json_get(rest, STR("generation")), &ret_status->generation);
    return true;
}

struct policies *policies_create(const struct policies_options *options)
{
    struct policies *policies = mem_new(struct policies);

    policies->options = *options;
    policies->taken = dict_create();
    policies->arena = arena_create(0);
    policies->settle = loop_timer_create(options->loop, on_settle, policies);
    policies->survey = loop_timer_create(options->loop, on_survey, policies);
    policies->informer = informer_create(&(struct informer_options){
        .client = options->api,
        .resource = policy_resource,
        .seed = options->seed,
        .keep = keep_policy,
        .on_change = on_policy,
        .on_synced = on_synced,
        .on_trouble = on_trouble,
        .context = policies,
    });
    return policies;
}

void policies_free(struct policies *policies)
{
    if (!policies)
        return;
    informer_free(policies->informer);
    loop_timer_free(policies->settle);
    loop_timer_free(policies->survey);
    forget_taken(policies);
    dict_free(policies->taken);
    arena_free(policies->arena);
    policy_set_unref(policies->set);
    mem_free(policies);
}
