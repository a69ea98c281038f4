/* SPDX-License-Identifier: Apache-2.0 */
/* known_stacks.c: a table of shared snapshots and an index of what they claim, behind a lock that
 * is held for one look-up.
 *
 * A Stack is filed under each release that it claims: once if it chooses clusters by a selector,
 * else once for each cluster id. So whoever goes by ids meets only those who name the same ids, or
 * who choose by a selector. */
#include "webhook/known_stacks.h"

#include "base/memory.h"
#include "kube/names.h"
#include "stack/model/limits.h"
#include "stack/targets/claims.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/gpu/gpu_demand.h"
#include "webhook/claim_index.h"

#include <pthread.h>
#include <stdatomic.h>

struct known_stacks_table {
    atomic_uint references;
    pthread_mutex_t lock;
    struct kube_cache *stacks;
    struct claim_index *index; /* of the same snapshots */
};

struct known_stacks_table *known_stacks_create(void)
{
    struct known_stacks_table *table = mem_new(struct known_stacks_table);

    atomic_init(&table->references, 1);
    pthread_mutex_init(&table->lock, NULL);
    table->stacks = kube_cache_create();
    table->index = claim_index_create();
    return table;
}

struct known_stacks_table *known_stacks_ref(struct known_stacks_table *table)
{
    atomic_fetch_add(&table->references, 1);
    return table;
}

void known_stacks_unref(struct known_stacks_table *table)
{
    if (!table || atomic_fetch_sub(&table->references, 1) != 1)
        return;
    claim_index_free(table->index);
    kube_cache_free(table->stacks);
    pthread_mutex_destroy(&table->lock);
    mem_free(table);
}

size_t known_stacks_bytes(const struct known_stacks_table *table)
{
    /* The snapshots themselves are the informer's, which counts them. */
    return claim_index_bytes(table->index) + kube_cache_bytes(table->stacks) -
           kube_cache_object_bytes(table->stacks);
}

/* --- what is kept --- */

/* What is no name of a Stack leads nowhere; so a ',' only stands between names. */
static void keep_depends_on(struct json object, struct strbuf *kept)
{
    bool first = true;

    struct json_iter it = json_iter(json_walk(object, "spec", "dependsOn", NULL));

    while (json_next(&it)) {
        struct str name = json_str(json_get(it.value, STR("name")));

        if (kube_not_dns1123_subdomain(name))
            continue;
        strbuf_char(kept, first ? ' ' : ',');
        strbuf_put(kept, name);
        first = false;
    }
}

void known_stacks_keep(struct json object, struct strbuf *kept)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems ignored = problems_new(arena);
    const struct stack *stack = stack_default(arena, stack_decode(arena, object, &ignored), NULL);
    struct claims claims = claims_of(arena, stack);

    strbuf_fmt(kept, "%u", gpu_provided_by(arena, stack, &claims));
    keep_depends_on(object, kept);
    strbuf_char(kept, '\n');
    claims_pack(&claims, kept);
}

static struct str kept_line(const struct kube_object *object)
{
    struct str kept = kube_object_kept(object);
    ptrdiff_t end = str_find_char(kept, '\n', 0);

    return str_slice(kept, 0, end < 0 ? kept.len : (size_t)end);
}

static struct str kept_claims(const struct kube_object *object)
{
    struct str kept = kube_object_kept(object);

    return str_slice(kept, kept_line(object).len + 1, kept.len);
}

/* --- what it is filed under --- */

static uint32_t folded(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t hash_of_any(struct str release)
{
    return folded(str_hash(release));
}

static uint32_t hash_of_one(struct str release, struct str cluster_id)
{
    return folded((str_hash(release) ^ str_hash(cluster_id)) * 0x9e3779b97f4a7c15ULL);
}

static struct u32_list hashes_of(struct arena *arena, const struct kube_object *object)
{
    struct claims claims = claims_read(arena, kept_claims(object));
    struct u32_list hashes = u32_list_new(arena, claims.releases.count);

    for (uint32_t i = 0; i < claims.releases.count; i++) {
        struct str release = claims.releases.items[i];

        if (claims.targets.by_selector)
            u32_list_push(&hashes, hash_of_any(release));
        for (uint32_t k = 0; k < claims.targets.ids.count; k++)
            u32_list_push(&hashes, hash_of_one(release, claims.targets.ids.items[k]));
    }
    return hashes;
}

void known_stacks_put(struct known_stacks_table *table, struct kube_object *before,
                      struct kube_object *after)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = kube_object_key(after ? after : before);
    /* Only this thread writes, so it may look without the lock. */
    struct kube_object *replaced = kube_cache_get(table->stacks, key);
    struct u32_list old = u32_list_new(arena, 0), new = old;

    if (replaced)
        old = hashes_of(arena, replaced);
    if (after)
        new = hashes_of(arena, after);
    pthread_mutex_lock(&table->lock);
    for (uint32_t i = 0; i < old.count; i++)
        claim_index_remove(table->index, old.items[i], replaced);
    for (uint32_t i = 0; i < new.count; i++)
        claim_index_add(table->index, new.items[i], after);
    if (after)
        kube_cache_put(table->stacks, kube_object_ref(after));
    else
        kube_cache_remove(table->stacks, key);
    pthread_mutex_unlock(&table->lock);
    kube_object_unref(replaced);
}

/* --- to ask --- */

/* Snapshots that are held until the arena goes. Nothing is allocated while the lock is held, so
 * what may be abandoned for want of room comes before any is taken. */
struct held {
    struct kube_object **objects;
    uint32_t count;
};

static void release_held(void *context)
{
    struct held *held = context;

    for (uint32_t i = 0; i < held->count; i++)
        kube_object_unref(held->objects[i]);
}

static struct held *hold(struct arena *arena, uint32_t room)
{
    struct held *held = arena_new(arena, struct held);

    held->objects = arena_array(arena, struct kube_object *, room);
    arena_defer(arena, release_held, held);
    return held;
}

static bool get(void *context, struct arena *arena, struct str namespace_, struct str name,
                struct fact_stack *ret_stack)
{
    struct known_stacks_table *table = context;
    struct str key = str_fmt(arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
    struct held *held = hold(arena, 1);
    struct str part;

    pthread_mutex_lock(&table->lock);
    held->objects[0] = kube_object_ref(kube_cache_get(table->stacks, key));
    held->count = held->objects[0] != NULL;
    pthread_mutex_unlock(&table->lock);
    if (!held->count)
        return false;

    struct str rest = kept_line(held->objects[0]);
    uint64_t provides = 0;

    str_split(&rest, ' ', &part);
    str_to_u64(part, &provides);
    *ret_stack = (struct fact_stack){ true, str_list_new(arena, 0), (uint32_t)provides };
    while (rest.len && str_split(&rest, ',', &part))
        str_list_push(&ret_stack->depends_on, part);
    return true;
}

/* How many there are; those that there is room for, held. */
static uint32_t collect(struct known_stacks_table *table, const struct u32_list *hashes,
                        struct held *held, uint32_t room)
{
    uint32_t count = 0;

    pthread_mutex_lock(&table->lock);
    for (uint32_t i = 0; i < hashes->count; i++)
        count = claim_index_collect(table->index, hashes->items[i], held->objects, count, room);
    for (held->count = 0; held->count < count && held->count < room; held->count++)
        kube_object_ref(held->objects[held->count]);
    pthread_mutex_unlock(&table->lock);
    return count;
}

static bool claimants(void *context, struct arena *arena, struct str release,
                      const struct str_list *cluster_ids, struct fact_claimants *ret_claimants)
{
    struct u32_list hashes = u32_list_new(arena, cluster_ids->count + 1);
    struct held none = { 0 };

    u32_list_push(&hashes, hash_of_any(release));
    for (uint32_t i = 0; i < cluster_ids->count; i++)
        u32_list_push(&hashes, hash_of_one(release, cluster_ids->items[i]));

    uint32_t count = collect(context, &hashes, &none, 0);
    uint32_t room = count < LIMIT_CLAIMANTS ? count : LIMIT_CLAIMANTS;

    *ret_claimants = fact_claimants_new(arena, room);
    if (count == 0)
        return true;

    struct held *held = hold(arena, room);

    count = collect(context, &hashes, held, room);
    for (uint32_t i = 0; i < held->count; i++)
        fact_claimants_push(ret_claimants,
                            (struct fact_claimant){ kube_object_namespace(held->objects[i]),
                                                    kube_object_name(held->objects[i]),
                                                    kept_claims(held->objects[i]) });
    return count <= room;
}

struct fact_stacks known_stacks_facts(struct known_stacks_table *table)
{
    return (struct fact_stacks){ get, claimants, table };
}
