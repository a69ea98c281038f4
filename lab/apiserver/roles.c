/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c: the policy of each cluster, read once and shared by all requests until a role or
 * binding changes. A counter decides: it grows after each such commit, and a policy says of which
 * count it is, so one that was read while somebody wrote is never taken for current. */
#include "lab/apiserver/roles.h"

#include "base/memory.h"
#include "lab/apiserver/bootstrap.h"

#define GROUP "rbac.authorization.k8s.io"

struct snapshot {
    struct arena *arena;
    struct rbac_policy *policy;
    uint64_t count;
    unsigned uses;
};

struct entry {
    uint64_t count;
    struct snapshot *snapshot; /* a reference, NULL: none was needed yet */
};

struct roles {
    pthread_mutex_t lock;
    struct dict *clusters; /* name -> struct entry */
};

struct roles *roles_create(void)
{
    struct roles *roles = mem_new(struct roles);

    pthread_mutex_init(&roles->lock, NULL);
    roles->clusters = dict_create();
    return roles;
}

static void release(struct snapshot *s)
{
    if (!s || __atomic_sub_fetch(&s->uses, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    arena_free(s->arena);
    mem_free(s);
}

void roles_free(struct roles *roles)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    if (!roles)
        return;
    while (dict_next(roles->clusters, &cursor, &key, &value)) {
        struct entry *entry = value;

        release(entry->snapshot);
        mem_free(entry);
    }
    dict_free(roles->clusters);
    pthread_mutex_destroy(&roles->lock);
    mem_free(roles);
}

/* Under the lock. */
static struct entry *entry_of(struct roles *roles, struct str cluster)
{
    struct entry *entry = dict_get(roles->clusters, cluster);

    if (!entry) {
        entry = mem_new(struct entry);
        dict_set(roles->clusters, cluster, entry);
    }
    return entry;
}

static int read_policy(struct request *rq, struct snapshot *s)
{
    static const char *const plurals[] = { "clusterroles", "roles", "clusterrolebindings",
                                           "rolebindings" };
    AUTO(arena_free) struct arena *scratch = arena_create(0);

    for (size_t i = 0; i < sizeof(plurals) / sizeof(plurals[0]); i++) {
        struct collection of = { rq->cluster, STR(GROUP), str_of(plurals[i]), STR("") };
        struct store_page page;
        struct error err;
        struct json object;

        if (store_list(rq->api->store, scratch, &of, NULL, 0, 0, &page, &err) != STORE_DONE)
            return request_store_failed(rq, &err);
        for (uint32_t k = 0; k < page.rows.count; k++) {
            if (json_read(scratch, page.rows.items[k].object, &json_limits_default, &object,
                          &err) != 0)
                return fail_internal(&rq->failure, str_dup(rq->arena, str_of(err.text)));
            rbac_policy_add(s->policy, object);
        }
    }
    return 0;
}

static void release_held(void *held)
{
    release(*(struct snapshot **)held);
}

/* The snapshot of now, or NULL and the count that a new one will be of. */
static struct snapshot *current(struct roles *roles, struct str cluster, uint64_t *ret_count)
{
    struct snapshot *s = NULL;
    struct entry *entry;

    pthread_mutex_lock(&roles->lock);
    entry = entry_of(roles, cluster);
    *ret_count = entry->count;
    if (entry->snapshot && entry->snapshot->count == entry->count) {
        s = entry->snapshot;
        __atomic_add_fetch(&s->uses, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&roles->lock);
    return s;
}

static void keep(struct roles *roles, struct str cluster, struct snapshot *s)
{
    struct snapshot *old = NULL;
    struct entry *entry;

    pthread_mutex_lock(&roles->lock);
    entry = entry_of(roles, cluster);
    if (entry->count == s->count) {
        old = entry->snapshot;
        entry->snapshot = s;
        __atomic_add_fetch(&s->uses, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&roles->lock);
    release(old);
}

const struct rbac_policy *roles_policy(struct request *rq)
{
    struct roles *roles = rq->api->roles;
    struct snapshot **held = arena_new(rq->arena, struct snapshot *);
    uint64_t count;
    struct snapshot *s = current(roles, rq->cluster, &count);

    if (!s) {
        s = mem_new(struct snapshot);
        s->arena = arena_create(0);
        s->policy = rbac_policy_new(s->arena);
        s->count = count;
        s->uses = 1;
        if (read_policy(rq, s) != 0) {
            release(s);
            return NULL;
        }
        keep(roles, rq->cluster, s);
    }
    *held = s;
    arena_defer(rq->arena, release_held, held);
    return s->policy;
}

bool roles_allow(struct request *rq, const struct api_caller *caller, const struct access *access,
                 struct str *ret_why)
{
    const struct rbac_user user = { caller->user, caller->groups };
    const struct rbac_policy *policy;

    *ret_why = STR("");
    if (str_list_has(&caller->groups, STR("system:masters")))
        return true;
    policy = roles_policy(rq);
    return policy && rbac_allows(policy, rq->arena, &user, access, ret_why);
}

void roles_note(struct request *rq)
{
    struct roles *roles = rq->api->roles;

    if (kind_has(rq->kind, KIND_CUSTOM) || !str_eq(rq->kind->group, STR(GROUP)))
        return;
    pthread_mutex_lock(&roles->lock);
    entry_of(roles, rq->cluster)->count++;
    pthread_mutex_unlock(&roles->lock);
    if (!rq->aggregates && str_eq(rq->kind->plural, STR("clusterroles")))
        roles_aggregate(rq->api, rq->cluster);
}

static int make(struct api *api, struct str cluster, uint32_t index, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_resource resource = { .group = STR(GROUP), .version = STR("v1") };
    struct str object, made;
    struct store_key key;
    struct store_row row;
    struct request rq;
    struct value *value;

    bootstrap_object(arena, index, &resource.plural, &key.name, &object);
    key = (struct store_key){ cluster, resource.group, resource.plural, STR(""), key.name };
    if (store_get(api->store, arena, &key, &row, err) == STORE_DONE)
        return 0;
    if (value_read(arena, object, &json_limits_default, &value, err) != 0 ||
        request_begin(api, arena, cluster, &resource, &rq, err) != 0)
        return -1;
    rq.verb = VERB_CREATE;
    rq.aggregates = true; /* once for all, when all are there */
    if (do_create(&rq, value, &made) != 0 && !str_eq(rq.failure.reason, STR("AlreadyExists")))
        return failure_to_error(&rq.failure, err);
    return 0;
}

int roles_bootstrap(struct api *api, struct str cluster, struct error *err)
{
    for (uint32_t i = 0; i < bootstrap_count(); i++)
        if (make(api, cluster, i, err) != 0)
            return -1;
    roles_aggregate(api, cluster);
    return 0;
}
