/* known_stacks.c: a table of shared snapshots behind a lock that is held for one look-up. */
#include "webhook/known_stacks.h"

#include "base/memory.h"
#include "kube/names.h"

#include <pthread.h>
#include <stdatomic.h>

struct known_stacks_table {
    atomic_uint references;
    pthread_mutex_t lock;
    struct kube_cache *stacks;
};

struct known_stacks_table *known_stacks_create(void)
{
    struct known_stacks_table *table = mem_new(struct known_stacks_table);

    atomic_init(&table->references, 1);
    pthread_mutex_init(&table->lock, NULL);
    table->stacks = kube_cache_create();
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
    kube_cache_free(table->stacks);
    pthread_mutex_destroy(&table->lock);
    mem_free(table);
}

/* What is no name of a Stack leads nowhere; so a ',' only stands between names. */
void known_stacks_keep(struct json object, struct strbuf *kept)
{
    struct json_iter it = json_iter(json_walk(object, "spec", "dependsOn", NULL));

    while (json_next(&it)) {
        struct str name = json_str(json_get(it.value, STR("name")));

        if (kube_not_dns1123_subdomain(name))
            continue;
        if (kept->len)
            strbuf_char(kept, ',');
        strbuf_put(kept, name);
    }
}

void known_stacks_put(struct known_stacks_table *table, struct kube_object *before,
                      struct kube_object *after)
{
    struct kube_object *replaced;

    pthread_mutex_lock(&table->lock);
    replaced = after ? kube_cache_put(table->stacks, kube_object_ref(after))
                     : kube_cache_remove(table->stacks, kube_object_key(before));
    pthread_mutex_unlock(&table->lock);
    kube_object_unref(replaced);
}

static void release(void *held)
{
    struct kube_object **object = held;

    kube_object_unref(*object);
}

static bool get(void *context, struct arena *arena, struct str namespace_, struct str name,
                struct str_list *ret_depends_on)
{
    struct known_stacks_table *table = context;
    struct str key = str_fmt(arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
    struct kube_object **held = arena_new(arena, struct kube_object *);
    struct str part;

    /* Nothing is allocated while the lock is held, and what is held is let go with the arena. */
    arena_defer(arena, release, held);
    pthread_mutex_lock(&table->lock);
    *held = kube_object_ref(kube_cache_get(table->stacks, key));
    pthread_mutex_unlock(&table->lock);
    if (!*held)
        return false;

    struct str rest = kube_object_kept(*held);

    *ret_depends_on = str_list_new(arena, 0);
    while (rest.len && str_split(&rest, ',', &part))
        str_list_push(ret_depends_on, part);
    return true;
}

struct fact_stacks known_stacks_facts(struct known_stacks_table *table)
{
    return (struct fact_stacks){ get, table };
}
