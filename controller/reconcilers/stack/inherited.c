/* SPDX-License-Identifier: Apache-2.0 */
/* inherited.c: a table from cluster and release to a Stack, read once. */
#include "controller/reconcilers/stack/inherited.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "stack/model/status.h"

struct inherited {
    struct arena *arena; /* of the table; NULL before the first begin */
    struct map *asked;   /* cluster, release -> struct str, the Stack */
    int64_t until_ms;
};

struct inherited *inherited_create(void)
{
    return mem_new(struct inherited);
}

void inherited_free(struct inherited *inherited)
{
    if (!inherited)
        return;
    arena_free(inherited->arena);
    mem_free(inherited);
}

static struct str key_of(struct arena *arena, struct str cluster_id, struct str release)
{
    return str_fmt(arena, "%.*s\n%.*s", STR_ARG(cluster_id), STR_ARG(release));
}

static void add_stack(struct inherited *inherited, const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;

    if (kept_stack_read(arena, kube_object_kept(object), &root, &ignored) < 0)
        return;

    struct stack_status status = stack_status_read(arena, json_get(root, STR("status")));

    for (uint32_t i = 0; i < status.deployments.count; i++) {
        const struct release_state *r = &status.deployments.items[i];
        struct str *stack;

        if (!r->requested_ms)
            continue;
        stack = arena_new(inherited->arena, struct str);
        *stack = str_dup(inherited->arena, kube_object_key(object));
        map_put(inherited->asked,
                key_of(inherited->arena, r->cluster_id,
                       kube_key(arena, r->namespace_, r->release_name)),
                stack);
    }
}

void inherited_begin(struct inherited *inherited, const struct kube_cache *stacks, int64_t until_ms)
{
    struct kube_object *object;

    arena_free(inherited->arena);
    inherited->arena = arena_create(0);
    inherited->asked = map_new(inherited->arena, 0);
    inherited->until_ms = until_ms;
    for (size_t cursor = 0; kube_cache_next(stacks, &cursor, &object);)
        add_stack(inherited, object);
}

struct str inherited_by(const struct inherited *inherited, struct arena *arena,
                        struct str cluster_id, struct str release, int64_t now_ms)
{
    const struct str *stack = NULL;

    if (inherited->asked && now_ms < inherited->until_ms)
        stack = map_get(inherited->asked, key_of(arena, cluster_id, release));
    return stack ? *stack : STR("");
}
