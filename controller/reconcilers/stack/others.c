/* SPDX-License-Identifier: Apache-2.0 */
/* others.c: owners of releases, users of repositories, Stacks that wait for one another. */
#include "controller/reconcilers/stack/others.h"

#include "base/map.h"
#include "base/set.h"
#include "controller/limits.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "stack/targets/claims.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/status.h"
#include "stack/rules/validate.h"

/* One of them. */
struct other {
    const struct stack *stack; /* defaulted; NULL: it is not there */
    struct claims claims;
};

struct others others_of(const struct others_sources *sources, struct arena *arena, struct str key,
                        const struct stack *stack)
{
    return (struct others){ sources, arena, key, stack, map_new(arena, 0) };
}

static const struct other *read_other(struct others *others, struct str key)
{
    struct arena *arena = others->arena;
    const struct kube_object *object = kube_cache_get(others->sources->stacks, key);
    struct problems ignored = problems_new(arena);
    struct error err = { .code = ERROR_NONE };
    struct other *other = map_get(others->read, key);
    struct json root;

    if (other)
        return other;
    other = arena_new(arena, struct other);
    map_put(others->read, str_dup(arena, key), other);
    if (!object || kept_stack_read(arena, kube_object_kept(object), &root, &err) < 0)
        return other;
    other->stack = stack_default(arena, stack_decode(arena, root, &ignored), NULL);
    other->claims = claims_of(arena, other->stack);
    return other;
}

/* --- owners --- */

static bool wants(const struct other *other, const struct observed_cluster *cluster,
                  struct str release)
{
    struct fact_cluster place = { .id = cluster->id, .labels = cluster->labels };
    int64_t at = claims_find(&other->claims, release);

    return at >= 0 && claims_on(NULL, &other->claims, (uint32_t)at, &place);
}

/* A Stack that adopts a release of this one. */
static struct str find_adopter(struct others *others, const struct observed_cluster *cluster,
                               const struct observed_release *release, struct str release_key)
{
    struct str adopter;

    /* There nobody may. */
    if (cluster->local || stack_is_protected_namespace(release->namespace_))
        return STR("");
    for (uint32_t i = 0; multimap_at(others->sources->adopters, release_key, i, &adopter); i++) {
        const struct other *other =
            str_eq(adopter, others->key) ? NULL : read_other(others, adopter);

        if (other && other->stack && !other->stack->meta.deletion_timestamp.len &&
            stack_adopts(&other->stack->meta, cluster->id, release->namespace_, release->name) &&
            wants(other, cluster, release_key))
            return str_dup(others->arena, adopter);
    }
    return STR("");
}

static void observe_owner(struct others *others, const struct observed_cluster *cluster,
                          struct observed_release *release)
{
    bool marked = release->marked_uid.len > 0;
    struct str owner = marked ? release->marked_uid : release->stack_uid;
    struct str key = kube_key(others->arena, release->namespace_, release->name);
    const struct other *other;

    if (str_eq(owner, others->stack->meta.uid)) {
        release->adopter = find_adopter(others, cluster, release, key);
        return;
    }
    other = read_other(others, marked ? release->marked_stack : release->stack);
    release->owner_wants = other->stack && str_eq(other->stack->meta.uid, owner) &&
                           !other->stack->meta.deletion_timestamp.len && wants(other, cluster, key);
}

void others_observe_owners(struct others *others, struct observed_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->releases.count; i++) {
        struct observed_release *release = &cluster->releases.items[i];
        bool ours = observed_release_is_of(release, others->stack->meta.uid);

        /* Most are ours, and nobody adopts anything. */
        if (ours ? multimap_count(others->sources->adopters) > 0
                 : release->marked_uid.len || release->stack_uid.len)
            observe_owner(others, cluster, release);
    }
}

/* --- users of repositories --- */

/* One that is being deleted is none: of two that go together, the last one is to find nobody. */
static bool is_wanted_by(const struct others *others, struct arena *arena,
                         const struct kube_object *other, const struct listed_cluster *cluster,
                         struct str url)
{
    struct error ignored = { .code = ERROR_NONE };
    struct str kept = kube_object_kept(other);
    struct json root;
    struct kube_meta meta;

    if (str_eq(kube_object_key(other), others->key) ||
        !kept_targets_pick(arena, kept_stack_targets(kept), cluster->id, cluster->internal,
                           cluster->label_list, cluster->label_count) ||
        kept_stack_read(arena, kept, &root, &ignored) < 0)
        return false;
    kube_meta_read(root, &meta);

    struct json_iter it = json_iter(json_walk(root, "spec", "charts", NULL));

    while (!meta.deletion_timestamp.len && json_next(&it))
        if (str_eq(release_repo_url(json_str(json_get(it.value, STR("repo")))), url))
            return true;
    return false;
}

/* Asked seldom: where nothing that Helm made comes from the repository any more. It looks at all
 * Stacks, so nothing of them stays in the arena of the pass. */
static bool is_wanted(const struct others *others, const struct listed_cluster *cluster,
                      struct str url)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_object *other;

    for (size_t cursor = 0; kube_cache_next(others->sources->stacks, &cursor, &other);) {
        if (is_wanted_by(others, arena, other, cluster, url))
            return true;
        arena_reset(arena);
    }
    return false;
}

void others_leave_wanted_repos(struct others *others, const struct listed_cluster *cluster,
                               struct observed_leftovers *leftovers)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < leftovers->count; i++)
        if (!is_wanted(others, cluster, leftovers->items[i].url))
            leftovers->items[kept++] = leftovers->items[i];
    leftovers->count = kept;
}

/* --- Stacks that wait for one another --- */

static struct observed_stack observe_stack(struct others *others, struct str name)
{
    struct str key = kube_key(others->arena, others->stack->meta.namespace_, name);
    const struct stack *stack = read_other(others, key)->stack;
    struct observed_stack seen = { .name = name,
                                   .exists = stack != NULL,
                                   .depends_on = str_list_new(others->arena, 0) };

    if (!stack)
        return seen;

    struct stack_status status = stack_status_read(others->arena, stack->status_json);
    const struct kube_condition *ready = kube_condition_find(&status.conditions, STR("Ready"));

    seen.deleting = stack->meta.deletion_timestamp.len > 0;
    seen.current = status.observed_generation == stack->meta.generation;
    seen.ready = ready && ready->status == CONDITION_TRUE && !seen.deleting &&
                 ready->observed_generation == stack->meta.generation;
    seen.targets = status.target_clusters;
    seen.pending = status.pending_clusters;
    seen.held = status.held_clusters;
    for (uint32_t i = 0; !seen.ready && i < stack->spec.depends_on.count; i++)
        str_list_push(&seen.depends_on, stack->spec.depends_on.items[i].name);
    return seen;
}

void others_observe_awaited(struct others *others, struct observed_stacks *ret_stacks)
{
    const struct name_refs *wanted = &others->stack->spec.depends_on;
    struct str own_name = others->stack->meta.name;
    struct set seen = set_new(others->arena, wanted->count + 1);

    *ret_stacks = observed_stacks_new(others->arena, wanted->count);
    set_add(seen, own_name);
    for (uint32_t i = 0; i < wanted->count; i++)
        if (set_add(seen, wanted->items[i].name) || str_eq(wanted->items[i].name, own_name))
            observed_stacks_push(ret_stacks, observe_stack(others, wanted->items[i].name));
    for (uint32_t i = 0; i < ret_stacks->count; i++) {
        struct str_list further = ret_stacks->items[i].depends_on;

        for (uint32_t k = 0; k < further.count && ret_stacks->count < LIMIT_STACKS_AWAITED; k++)
            if (further.items[k].len && set_add(seen, further.items[k])) {
                struct observed_stack stack = observe_stack(others, further.items[k]);

                stack.distant = true;
                observed_stacks_push(ret_stacks, stack);
            }
    }
}

void others_observe_dependents(struct others *others, struct observed_stacks *ret_dependents)
{
    bool deleting = others->stack->meta.deletion_timestamp.len > 0;
    struct str key;

    *ret_dependents = observed_stacks_new(others->arena, 0);
    for (uint32_t i = 0; deleting && multimap_at(others->sources->dependents, others->key, i, &key);
         i++) {
        struct str namespace_;
        struct str name;
        struct observed_stack dependent;

        kube_key_split(str_dup(others->arena, key), &namespace_, &name);
        dependent = observe_stack(others, name);
        if (dependent.exists)
            observed_stacks_push(ret_dependents, dependent);
    }
}
