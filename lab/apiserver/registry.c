/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c: copy on write, under one mutex; catalogs are counted. */
#include "lab/apiserver/registry.h"

#include "base/memory.h"
#include "text/digest.h"

#include <pthread.h>

struct catalog {
    const struct builtin *builtin;
    struct definition **definitions;
    uint32_t count;
    uint32_t kind_count;
    uint64_t generation;
    unsigned uses;
};

struct registry {
    pthread_mutex_t lock;
    const struct builtin *builtin;
    struct dict *clusters; /* name -> struct catalog */
    struct dict *shared; /* digest of a definition's text -> struct definition, a reference each */
    uint64_t generation;
};

static struct catalog *catalog_new(struct registry *r, uint32_t count)
{
    struct catalog *c = mem_new(struct catalog);

    c->builtin = r->builtin;
    c->definitions = mem_alloc(sizeof(struct definition *) * count);
    c->kind_count = r->builtin->kinds.count;
    c->generation = ++r->generation;
    c->uses = 1;
    return c;
}

static void catalog_add(struct catalog *c, struct definition *d)
{
    c->definitions[c->count++] = d;
    c->kind_count += d->kinds.count;
}

static struct definition *definition_ref(struct definition *d)
{
    __atomic_add_fetch(&d->uses, 1, __ATOMIC_RELAXED);
    return d;
}

void catalog_unref(struct catalog *c)
{
    if (!c || __atomic_sub_fetch(&c->uses, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        definition_unref(c->definitions[i]);
    mem_free(c->definitions);
    mem_free(c);
}

struct registry *registry_create(const struct builtin *builtin)
{
    struct registry *r = mem_new(struct registry);

    pthread_mutex_init(&r->lock, NULL);
    r->builtin = builtin;
    r->clusters = dict_create();
    r->shared = dict_create();
    return r;
}

void registry_free(struct registry *r)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    if (!r)
        return;
    while (dict_next(r->clusters, &cursor, &key, &value))
        catalog_unref(value);
    cursor = 0;
    while (dict_next(r->shared, &cursor, &key, &value))
        definition_unref(value);
    dict_free(r->clusters);
    dict_free(r->shared);
    pthread_mutex_destroy(&r->lock);
    mem_free(r);
}

bool registry_add_cluster(struct registry *r, struct str cluster)
{
    bool is_new;

    pthread_mutex_lock(&r->lock);
    is_new = !dict_get(r->clusters, cluster);
    if (is_new)
        dict_set(r->clusters, cluster, catalog_new(r, 0));
    pthread_mutex_unlock(&r->lock);
    return is_new;
}

/* The cluster's catalog without the definition of that name, and with `added` unless it is NULL. */
static void replace(struct registry *r, struct str cluster, struct str group, struct str plural,
                    struct definition *added)
{
    struct catalog *old, *now;

    pthread_mutex_lock(&r->lock);
    old = dict_get(r->clusters, cluster);
    now = catalog_new(r, (old ? old->count : 0) + 1);
    for (uint32_t i = 0; old && i < old->count; i++)
        if (!str_eq(old->definitions[i]->group, group) ||
            !str_eq(old->definitions[i]->plural, plural))
            catalog_add(now, definition_ref(old->definitions[i]));
    if (added)
        catalog_add(now, added);
    dict_set(r->clusters, cluster, now);
    pthread_mutex_unlock(&r->lock);
    catalog_unref(old);
}

void registry_put(struct registry *r, struct str cluster, struct definition *definition)
{
    replace(r, cluster, definition->group, definition->plural, definition);
}

void registry_remove(struct registry *r, struct str cluster, struct str group, struct str plural)
{
    replace(r, cluster, group, plural, NULL);
}

struct definition *registry_shared(struct registry *r, struct str text)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct definition *d;

    pthread_mutex_lock(&r->lock);
    d = dict_get(r->shared, digest_sha256_hex(arena, text));
    if (d)
        definition_ref(d);
    pthread_mutex_unlock(&r->lock);
    return d;
}

void registry_share(struct registry *r, struct str text, struct definition *definition)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct definition *old;

    pthread_mutex_lock(&r->lock);
    old = dict_set(r->shared, digest_sha256_hex(arena, text), definition_ref(definition));
    pthread_mutex_unlock(&r->lock);
    definition_unref(old);
}

struct catalog *registry_catalog(struct registry *r, struct str cluster)
{
    struct catalog *c;

    pthread_mutex_lock(&r->lock);
    c = dict_get(r->clusters, cluster);
    if (c)
        __atomic_add_fetch(&c->uses, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&r->lock);
    return c;
}

uint32_t catalog_count(const struct catalog *c)
{
    return c->kind_count;
}

const struct kind *catalog_at(const struct catalog *c, uint32_t index)
{
    if (index < c->builtin->kinds.count)
        return c->builtin->kinds.items[index];
    index -= c->builtin->kinds.count;
    for (uint32_t i = 0; i < c->count; i++) {
        if (index < c->definitions[i]->kinds.count)
            return c->definitions[i]->kinds.items[index];
        index -= c->definitions[i]->kinds.count;
    }
    return NULL;
}

static const struct kind *find(const struct catalog *c, struct str group, struct str version,
                               struct str plural, struct str kind)
{
    for (uint32_t i = 0; i < c->kind_count; i++) {
        const struct kind *k = catalog_at(c, i);

        if (str_eq(k->group, group) && (version.len == 0 || str_eq(k->version, version)) &&
            (plural.len ? str_eq(k->plural, plural) : str_eq(k->kind, kind)))
            return k;
    }
    return NULL;
}

const struct kind *catalog_find(const struct catalog *c, struct str group, struct str version,
                                struct str plural)
{
    return find(c, group, version, plural, STR(""));
}

const struct kind *catalog_find_kind(const struct catalog *c, struct str group, struct str version,
                                     struct str kind)
{
    return find(c, group, version, STR(""), kind);
}

uint64_t catalog_generation(const struct catalog *c)
{
    return c->generation;
}
