/* SPDX-License-Identifier: Apache-2.0 */
/* known_policies.c: from the objects that the informer keeps to a compiled set. */
#include "webhook/known_policies.h"

#include "base/memory.h"

struct known_policies {
    struct log *log;
    struct policy_set *set; /* NULL: to be made */
};

struct known_policies *known_policies_create(struct log *log)
{
    struct known_policies *known = mem_new(struct known_policies);

    known->log = log;
    return known;
}

void known_policies_free(struct known_policies *known)
{
    if (!known)
        return;
    policy_set_unref(known->set);
    mem_free(known);
}

void known_policies_changed(struct known_policies *known)
{
    policy_set_unref(known->set);
    known->set = NULL;
}

static void tell(struct known_policies *known, const struct kube_object *object, bool taken,
                 const struct problems *problems)
{
    const struct problem *first = problems->list.count ? &problems->list.items[0] : NULL;

    log_warn(known->log,
             taken ? "a StackPolicy has a rule that can never work"
                   : "a StackPolicy is not in order and is not put to Stacks",
             LOG_STR("policy", kube_object_name(object)),
             LOG_STR("field", first ? first->field : STR("")),
             LOG_STR("error", first ? first->message : STR("there are too many StackPolicies")));
}

static void add(struct known_policies *known, struct policy_set_builder *builder,
                const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct json json;
    struct error err;
    /* Our own bytes, written by policy_keep: they read back. */
    bool taken =
        json_read(arena, kube_object_kept(object), &json_limits_default, &json, &err) == 0 &&
        policy_set_add(builder, json, &problems);

    if (!taken || problems.list.count)
        tell(known, object, taken, &problems);
}

struct policy_set *known_policies_take(struct known_policies *known, const struct kube_cache *cache)
{
    struct kube_object *object;
    size_t cursor = 0;

    if (!known->set) {
        struct policy_set_builder *builder = policy_set_begin();

        while (kube_cache_next(cache, &cursor, &object))
            add(known, builder, object);
        known->set = policy_set_finish(builder);
    }
    return policy_set_ref(known->set);
}
