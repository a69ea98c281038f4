/* SPDX-License-Identifier: Apache-2.0 */
/* garbage_collector.c: an index from owner to dependents, and a list of tasks. Each task starts
 * from what is stored, so one too many does no harm. */
#include "lab/apiserver/garbage_collector.h"

#include "base/map.h"
#include "base/memory.h"
#include "lab/apiserver/object.h"

enum task_kind {
    TASK_OWNER_GONE, /* text: cluster, uid */
    TASK_CHECK,      /* text: the dependent: are its owners there? */
    TASK_WAITING,    /* text: the owner, which waits with a finalizer */
};

struct task {
    struct task *next;
    enum task_kind kind;
    char *text; /* parts with '\n' between */
};

struct garbage_collector {
    struct api *api;
    pthread_mutex_t lock;
    struct dict *owners; /* "cluster\nuid" -> struct dict of places */
    struct task *tasks;
};

/* Where an object is: "cluster\ngroup\nplural\nnamespace\nname". */
struct place {
    struct str cluster, group, plural, namespace_, name;
};

static struct str place_text(struct arena *arena, const struct place *p)
{
    return str_fmt(arena, "%.*s\n%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(p->cluster), STR_ARG(p->group),
                   STR_ARG(p->plural), STR_ARG(p->namespace_), STR_ARG(p->name));
}

static struct place place_of(struct str text)
{
    struct place p = { 0 };

    str_split(&text, '\n', &p.cluster);
    str_split(&text, '\n', &p.group);
    str_split(&text, '\n', &p.plural);
    str_split(&text, '\n', &p.namespace_);
    p.name = text;
    return p;
}

static struct str owner_key(struct arena *arena, struct str cluster, struct str uid)
{
    return str_fmt(arena, "%.*s\n%.*s", STR_ARG(cluster), STR_ARG(uid));
}

/* ---- noting: under the lock, in an arena that nobody abandons ---- */

static void push(struct garbage_collector *c, enum task_kind kind, struct str text)
{
    struct task *task = mem_new(struct task);

    *task = (struct task){ c->tasks, kind, mem_copy(text.at, text.len) };
    c->tasks = task;
}

static void index_owner(struct garbage_collector *c, struct str owner, struct str dependent,
                        bool there)
{
    struct dict *places = dict_get(c->owners, owner);

    if (!places && there) {
        places = dict_create();
        dict_set(c->owners, owner, places);
    }
    if (there)
        dict_set(places, dependent, c);
    else if (places)
        dict_remove(places, dependent);
    if (places && dict_count(places) == 0) {
        dict_remove(c->owners, owner);
        dict_free(places);
    }
}

static bool waits(struct json meta)
{
    struct json_iter it = json_iter(json_get(meta, STR("finalizers")));

    while (json_next(&it))
        if (str_eq(json_str(it.value), STR(GARBAGE_COLLECTOR_FOREGROUND)) ||
            str_eq(json_str(it.value), STR(GARBAGE_COLLECTOR_ORPHAN)))
            return true;
    return false;
}

static bool note(struct garbage_collector *c, struct arena *arena, const struct place *place,
                 enum change_type type, struct json meta)
{
    struct str here = place_text(arena, place);
    struct json_iter it = json_iter(json_get(meta, STR("ownerReferences")));
    struct str own = owner_key(arena, place->cluster, json_str(json_get(meta, STR("uid"))));
    bool there = type != CHANGE_DELETED;
    bool owned = json_count(json_get(meta, STR("ownerReferences"))) > 0, work;

    pthread_mutex_lock(&c->lock);
    while (json_next(&it))
        index_owner(c, owner_key(arena, place->cluster, json_str(json_get(it.value, STR("uid")))),
                    here, there);
    if (type == CHANGE_ADDED && owned)
        push(c, TASK_CHECK, here);
    if (!there && dict_get(c->owners, own))
        push(c, TASK_OWNER_GONE, own);
    if (there && json_str(json_get(meta, STR("deletionTimestamp"))).len && waits(meta))
        push(c, TASK_WAITING, here);
    /* An owner may wait for a dependent that is gone now. */
    work = c->tasks != NULL;
    pthread_mutex_unlock(&c->lock);
    return work;
}

bool garbage_collector_note(struct garbage_collector *c, const struct request *rq,
                            enum change_type type, struct str object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct place place = { rq->cluster, rq->kind->group, rq->kind->plural,
                           rq->kind->namespaced ? rq->namespace_ : STR(""), STR("") };
    struct json json, meta;
    struct error err;

    if (!c || (type != CHANGE_DELETED && str_find(object, STR("\"ownerReferences\""), 0) < 0 &&
               str_find(object, STR("\"deletionTimestamp\""), 0) < 0))
        return false;
    if (json_read(arena, object, &json_limits_default, &json, &err) != 0)
        return false;
    meta = json_get(json, STR("metadata"));
    place.name = json_str(json_get(meta, STR("name")));
    return note(c, arena, &place, type, meta);
}

/* ---- acting ---- */

/* A request on one object; false if its kind is not served any more. */
static bool begin(struct garbage_collector *c, struct arena *arena, const struct place *place,
                  struct request *ret_rq)
{
    struct kube_resource resource = { place->group, STR(""), place->plural, STR(""), true };
    struct error err;

    if (request_begin(c->api, arena, place->cluster, &resource, ret_rq, &err) != 0)
        return false;
    ret_rq->namespace_ = place->namespace_;
    ret_rq->name = place->name;
    return true;
}

static bool load(struct request *rq, struct value **ret_object)
{
    uint64_t version;

    return request_load(rq, rq->kind, rq->namespace_, rq->name, ret_object, &version) == 0;
}

static const struct value *reference(const struct value *object, struct str uid)
{
    for (struct value *m = value_first(meta_get(object, "ownerReferences")); m; m = value_next(m))
        if (str_eq(value_text(value_get(m, STR("uid"))), uid))
            return m;
    return NULL;
}

static int forget_owner(struct request *rq, void *context, const struct value *now,
                        struct value **ret_object)
{
    struct str *uid = context;
    struct value *kept = value_array(rq->arena);

    *ret_object = value_clone(rq->arena, now);
    for (struct value *m = value_first(meta_get(now, "ownerReferences")); m; m = value_next(m))
        if (!str_eq(value_text(value_get(m, STR("uid"))), *uid))
            value_append(kept, value_clone(rq->arena, m));
    if (value_count(kept))
        meta_set(rq->arena, *ret_object, "ownerReferences", kept);
    else
        meta_remove(*ret_object, "ownerReferences");
    return 0;
}

static int drop_finalizer(struct request *rq, void *context, const struct value *now,
                          struct value **ret_object)
{
    const char *finalizer = context;
    struct value *list;

    *ret_object = value_clone(rq->arena, now);
    list = meta_get(*ret_object, "finalizers");
    for (uint32_t i = value_count(list); i-- > 0;)
        if (str_eq(value_text(value_at(list, i)), str_of(finalizer)))
            value_remove_at(list, i);
    return 0;
}

static void update(struct request *rq,
                   int (*make)(struct request *rq, void *context, const struct value *now,
                               struct value **ret_object),
                   void *context)
{
    struct edit edit = { make, context };
    struct str object;

    rq->verb = VERB_PATCH;
    do_update(rq, &edit, &object);
}

static void delete_it(struct request *rq, const struct value *object, struct str propagation)
{
    struct delete_options options = { .uid = meta_text(object, "uid"), .propagation = propagation };
    struct str deleted;
    bool gone;

    rq->verb = VERB_DELETE;
    do_delete(rq, &options, &deleted, &gone);
}

/* One owner less: gone with the last one, unless it is to stay as an orphan. */
static void lose_owner(struct garbage_collector *c, struct arena *arena, const struct place *place,
                       struct str uid, bool orphan)
{
    struct request rq;
    struct value *object;

    if (!begin(c, arena, place, &rq) || !load(&rq, &object) || !reference(object, uid))
        return;
    if (orphan || value_count(meta_get(object, "ownerReferences")) > 1)
        update(&rq, forget_owner, &uid);
    else
        delete_it(&rq, object, STR("Background"));
}

static struct str_list dependents(struct garbage_collector *c, struct arena *arena,
                                  struct str owner)
{
    struct str_list list = str_list_new(arena, 8);
    struct dict *places;
    size_t cursor = 0;
    struct str key;
    void *value;

    pthread_mutex_lock(&c->lock);
    places = dict_get(c->owners, owner);
    while (places && dict_next(places, &cursor, &key, &value))
        str_list_push(&list, str_dup(arena, key));
    pthread_mutex_unlock(&c->lock);
    return list;
}

static void owner_gone(struct garbage_collector *c, struct arena *arena, struct str owner)
{
    struct str_list list = dependents(c, arena, owner);
    struct str uid = owner, cluster;

    str_split(&uid, '\n', &cluster);
    for (uint32_t i = 0; i < list.count; i++) {
        struct place place = place_of(list.items[i]);

        lose_owner(c, arena, &place, uid, false);
    }
}

/* Is the object that a reference names there, under the same uid? Unknown kinds are left alone, as
 * the garbage collector of a cluster leaves what it cannot look up. */
static bool is_absent(struct request *rq, const struct value *reference)
{
    struct str version = value_text(value_get(reference, STR("apiVersion")));
    ptrdiff_t slash = str_find_char(version, '/', 0);
    struct str group = slash < 0 ? STR("") : str_slice(version, 0, (size_t)slash);
    struct str name = value_text(value_get(reference, STR("kind")));
    const struct kind *kind = catalog_find_kind(rq->catalog, group, STR(""), name);
    struct request one = *rq;
    struct value *owner;

    if (!kind)
        return false;
    one.kind = kind;
    one.name = value_text(value_get(reference, STR("name")));
    if (load(&one, &owner))
        return !str_eq(meta_text(owner, "uid"), value_text(value_get(reference, STR("uid"))));
    return one.failure.code == 404;
}

static void check_owners(struct garbage_collector *c, struct arena *arena, struct str text)
{
    struct place place = place_of(text);
    struct request rq;
    struct value *object;

    if (!begin(c, arena, &place, &rq) || !load(&rq, &object))
        return;
    for (struct value *m = value_first(meta_get(object, "ownerReferences")); m; m = value_next(m))
        if (is_absent(&rq, m))
            lose_owner(c, arena, &place, value_text(value_get(m, STR("uid"))), false);
}

/* True: a dependent of the owner is there that it must wait for. */
static bool press(struct garbage_collector *c, struct arena *arena, const struct place *place,
                  struct str uid)
{
    const struct value *link;
    struct request rq;
    struct value *object;

    if (!begin(c, arena, place, &rq) || !load(&rq, &object))
        return false;
    link = reference(object, uid);
    if (!link)
        return false;
    if (!meta_is_going(object) && value_count(meta_get(object, "ownerReferences")) > 1) {
        update(&rq, forget_owner, &uid);
        return false;
    }
    if (!meta_is_going(object))
        delete_it(&rq, object, STR("Foreground"));
    return value_is_true(value_get(link, STR("blockOwnerDeletion")));
}

static bool has_finalizer(const struct value *object, const char *finalizer)
{
    for (struct value *m = value_first(meta_get(object, "finalizers")); m; m = value_next(m))
        if (str_eq(value_text(m), str_of(finalizer)))
            return true;
    return false;
}

/* True once the owner waits for nothing of ours. */
static bool tend_waiting(struct garbage_collector *c, struct arena *arena, struct str text)
{
    struct place place = place_of(text);
    struct request rq;
    struct value *object;
    struct str_list list;
    bool blocked = false, orphans;
    struct str uid;

    if (!begin(c, arena, &place, &rq) || !load(&rq, &object) || !meta_is_going(object))
        return true;
    orphans = has_finalizer(object, GARBAGE_COLLECTOR_ORPHAN);
    if (!orphans && !has_finalizer(object, GARBAGE_COLLECTOR_FOREGROUND))
        return true;
    uid = meta_text(object, "uid");
    list = dependents(c, arena, owner_key(arena, place.cluster, uid));
    for (uint32_t i = 0; i < list.count; i++) {
        struct place dependent = place_of(list.items[i]);

        if (orphans)
            lose_owner(c, arena, &dependent, uid, true);
        else
            blocked = press(c, arena, &dependent, uid) || blocked;
    }
    if (blocked)
        return false;
    update(&rq, drop_finalizer,
           (void *)(uintptr_t)(orphans ? GARBAGE_COLLECTOR_ORPHAN : GARBAGE_COLLECTOR_FOREGROUND));
    return true;
}

static bool perform(struct garbage_collector *c, const struct task *task)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str text = str_of(task->text);

    switch (task->kind) {
    case TASK_OWNER_GONE:
        owner_gone(c, arena, text);
        return true;
    case TASK_CHECK:
        check_owners(c, arena, text);
        return true;
    case TASK_WAITING:
        return tend_waiting(c, arena, text);
    }
    return true;
}

void garbage_collector_run(struct garbage_collector *c)
{
    struct task *tasks;

    pthread_mutex_lock(&c->lock);
    tasks = TAKE(c->tasks);
    pthread_mutex_unlock(&c->lock);
    while (tasks) {
        struct task *task = tasks;

        tasks = task->next;
        if (perform(c, task)) {
            mem_free(task->text);
            mem_free(task);
            continue;
        }
        pthread_mutex_lock(&c->lock);
        task->next = c->tasks;
        c->tasks = task;
        pthread_mutex_unlock(&c->lock);
    }
}

/* ---- life ---- */

static void note_stored(void *context, const struct store_key *key, struct str object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct garbage_collector *c = context;
    struct place place = { key->cluster, key->group, key->plural, key->namespace_, key->name };
    struct json json;
    struct error err;

    if (json_read(arena, object, &json_limits_default, &json, &err) == 0)
        note(c, arena, &place, CHANGE_ADDED, json_get(json, STR("metadata")));
}

struct garbage_collector *garbage_collector_create(struct api *api)
{
    struct garbage_collector *c = mem_new(struct garbage_collector);
    struct error err;

    c->api = api;
    pthread_mutex_init(&c->lock, NULL);
    c->owners = dict_create();
    if (store_find(api->store, STR("\"ownerReferences\""), note_stored, c, &err) != 0 ||
        store_find(api->store, STR("\"" GARBAGE_COLLECTOR_FOREGROUND "\""), note_stored, c, &err) !=
            0 ||
        store_find(api->store, STR("\"" GARBAGE_COLLECTOR_ORPHAN "\""), note_stored, c, &err) != 0)
        log_error(api->log, "dependents not read: they stay when their owners go",
                  LOG_Z("error", err.text));
    return c;
}

void garbage_collector_free(struct garbage_collector *c)
{
    size_t cursor = 0;
    struct str key;
    void *places;

    if (!c)
        return;
    while (dict_next(c->owners, &cursor, &key, &places))
        dict_free(places);
    dict_free(c->owners);
    while (c->tasks) {
        struct task *task = c->tasks;

        c->tasks = task->next;
        mem_free(task->text);
        mem_free(task);
    }
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}
