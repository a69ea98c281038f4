/* SPDX-License-Identifier: Apache-2.0 */
/* children.c: a pass for each owner, of steps; a step is at most two requests, and one more before
 * the APPLY if it hands fields over:
 *
 *     in the cache, as it was left      -> nothing
 *     in the cache, and ours            -> APPLY
 *     not in the cache                  -> GET --absent, or ours--> APPLY
 *                                            '--- else ----------> not ours
 *     ours, and not desired             -> DELETE, of this very object (its uid)
 *
 * The GET keeps us from taking over what somebody else made: an apply would. */
#include "runtime/children.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/multimap.h"
#include "kube/meta.h"
#include "runtime/expectations.h"
#include "runtime/informer.h"
#include "text/digest.h"
#include "text/json_write.h"

#include <assert.h>
#include <stdlib.h>

enum { REQUESTS_DEFAULT = 8 };

struct kind {
    struct children *children;
    struct informer *informer;
    struct expectations *written;
    struct multimap *of_owner; /* -> keys of objects: owner_index_key. Those that we made are there
                                  before the cache has them, and may have become somebody else's */
    bool watched;              /* followed only */
    struct dict *applied; /* key -> digests of what was desired and of what came of it, at 64 */
};

/* What is done about one child. */
struct step {
    struct pass *pass;
    struct kind *kind;
    const struct kube_resource *resource;
    struct str namespace_, name;
    struct str body;     /* of the apply; "" = delete */
    struct str digest;   /* of the body */
    struct str handover; /* body of the apply that comes first (struct kube_child); "" = none */
    struct str uid;      /* of what is to be deleted */
    bool look_first;
    bool needed; /* by those behind it */
    bool sent;   /* or needs no request */
    bool ended;
    struct kube_call *call;
    struct child_result *result;
};
LIST_DEFINE(steps, struct step)

/* One owner. */
struct pass {
    struct children *children;
    struct pass *older, *newer;
    struct arena *arena;
    struct kube_owner owner;
    struct steps steps;
    struct child_results results; /* one for each step */
    uint32_t open;                /* steps that did not end */
    children_done *done;
    void *context;
};

struct children {
    struct children_options options;
    struct kind *kinds; /* of options.resources */
    struct pass *oldest, *newest;
    uint32_t under_way; /* requests */
    struct loop *loop;
};

/* --- what there is --- */

static bool is_missing(const struct kind *kind)
{
    return informer_trouble(kind->informer)->code == ERROR_NOT_FOUND;
}

bool children_synced(const struct children *children)
{
    for (uint32_t i = 0; i < children->options.resource_count; i++)
        if (!informer_synced(children->kinds[i].informer) && !is_missing(&children->kinds[i]))
            return false;
    return true;
}

struct str children_trouble(const struct children *children)
{
    for (uint32_t i = 0; i < children->options.resource_count; i++) {
        const struct error *trouble = informer_trouble(children->kinds[i].informer);

        if (trouble->code != ERROR_NONE && trouble->code != ERROR_NOT_FOUND)
            return str_of(trouble->text);
    }
    return STR("");
}

static bool keep(void *context, struct json object, struct strbuf *kept)
{
    const struct children_options *options = &((const struct kind *)context)->children->options;

    kube_child_keep(object, &options->owner, options->label, options->field_manager, kept);
    return true;
}

static void tell_owner(const struct kind *kind, const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct children_options *options = &kind->children->options;
    struct kept_child kept = kube_child_kept(kube_object_kept(object));
    struct str namespace_ = options->owner.namespaced ? kube_object_namespace(object) : STR("");

    if (kept.owner_name.len)
        options->changed(options->context, kube_key(arena, namespace_, kept.owner_name));
}

/* Whose it is: the uid of who controls a child; of what is followed only, as the label says. */
static struct str owner_index_key(const struct kind *kind, struct arena *arena,
                                  const struct kube_object *object)
{
    struct kept_child kept = kube_child_kept(kube_object_kept(object));

    return kind->watched ? kube_key(arena, kube_object_namespace(object), kept.owner_name)
                         : kept.owner_uid;
}

static void index_object(const struct kind *kind, const struct kube_object *before,
                         const struct kube_object *after)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (before)
        multimap_remove(kind->of_owner, owner_index_key(kind, arena, before),
                        kube_object_key(before));
    if (after)
        (void)multimap_add(kind->of_owner, owner_index_key(kind, arena, after),
                           kube_object_key(after));
}

static void on_change(void *context, struct kube_object *before, struct kube_object *after)
{
    struct kind *kind = context;
    struct str key = kube_object_key(after ? after : before);
    struct str version = after ? kube_object_resource_version(after) : STR("");

    index_object(kind, before, after);
    if (!after)
        mem_free(dict_remove(kind->applied, key));
    if (expectations_observe(kind->written, key, version) != OBSERVED_NEWS ||
        (before && after && str_eq(kube_object_kept(before), kube_object_kept(after))))
        return;
    /* The owner that it had, and the one that it has: a queue takes a key once. */
    if (before)
        tell_owner(kind, before);
    if (after)
        tell_owner(kind, after);
}

static void on_synced(void *context)
{
    const struct children_options *options = &((struct kind *)context)->children->options;

    options->synced(options->context);
}

/* That a kind is missing is an answer, too; so is that it came, or cannot be read any more. */
static void on_trouble(void *context, const struct error *error)
{
    if (!error || error->code == ERROR_NOT_FOUND)
        on_synced(context);
}

/* That a child's kind is in the table is up to its render. */
static struct kind *kind_of(const struct children *children, const struct kube_resource *resource)
{
    uint32_t i = 0;

    while (i < children->options.resource_count &&
           (!str_eq(children->options.resources[i]->plural, resource->plural) ||
            !str_eq(children->options.resources[i]->group, resource->group)))
        i++;
    assert(i < children->options.resource_count);
    return &children->kinds[i];
}

/* --- what is remembered of an apply --- */

/* The child as it is, as far as it is known; "" if there is none. */
static struct str live_kept(const struct kind *kind, struct str key)
{
    const struct kube_object *cached = kube_cache_get(informer_cache(kind->informer), key);
    struct str kept = expectations_kept(kind->written, key, loop_now_ms(kind->children->loop));

    return kept.len || !cached ? kept : kube_object_kept(cached);
}

static bool is_as_it_was_left(const struct kind *kind, struct str key, struct str digest,
                              const struct kept_child *live)
{
    const char *applied = dict_get(kind->applied, key);

    return applied && str_eq(str_make(applied, digest.len), digest) &&
           str_eq(str_of(applied + digest.len), live->digest);
}

static void remember(struct step *step, struct str answer)
{
    struct pass *pass = step->pass;
    struct kind *kind = step->kind;
    struct str key = kube_key(pass->arena, step->namespace_, step->name);
    struct strbuf kept = strbuf_new(pass->arena, 256);
    struct error ignored;
    struct json object;

    if (json_read(pass->arena, str_dup(pass->arena, answer), &json_limits_default, &object,
                  &ignored) < 0)
        return;
    keep(kind, object, &kept);

    struct kept_child made = kube_child_kept(strbuf_str(&kept));
    struct str both = str_fmt(pass->arena, "%.*s%.*s", STR_ARG(step->digest), STR_ARG(made.digest));

    mem_free(dict_set(kind->applied, key, mem_copy(both.at, both.len)));
    if (!kind->watched)
        (void)multimap_add(kind->of_owner, made.owner_uid, key);
    expectations_set(kind->written, key,
                     json_str(json_walk(object, "metadata", "resourceVersion", NULL)),
                     kube_cache_get(informer_cache(kind->informer), key), strbuf_str(&kept),
                     loop_now_ms(pass->children->loop));
}

/* --- the end of a step, and of a pass --- */

static void pump(struct children *children);

static void unlink_pass(struct pass *pass)
{
    struct children *children = pass->children;

    *(pass->older ? &pass->older->newer : &children->oldest) = pass->newer;
    *(pass->newer ? &pass->newer->older : &children->newest) = pass->older;
}

static void end_pass(struct pass *pass)
{
    unlink_pass(pass);
    pass->done(pass->context, &pass->results);
    arena_free(pass->arena);
}

static void settle(struct step *step, enum child_outcome outcome)
{
    step->sent = step->ended = true;
    step->result->outcome = outcome;
}

/* Pods would run with what somebody else wrote. */
static void hold_back_if_needed(const struct step *failed)
{
    struct pass *pass = failed->pass;

    if (!failed->needed || failed->result->outcome == CHILD_APPLIED)
        return;
    for (uint32_t i = 0; i < pass->steps.count; i++) {
        struct step *step = &pass->steps.items[i];

        if (step <= failed || step->sent || !step->result->desired)
            continue;
        settle(step, CHILD_HELD_BACK);
        pass->open -= pass->open > 0;
    }
}

static void end_step(struct step *step, enum child_outcome outcome, const struct error *error)
{
    struct pass *pass = step->pass;
    struct children *children = pass->children;

    step->call = NULL;
    step->ended = true;
    step->result->outcome = outcome;
    if (error)
        step->result->error = *error;
    hold_back_if_needed(step);
    children->under_way--;
    if (--pass->open == 0)
        end_pass(pass);
    pump(children);
}

/* --- requests --- */

static void send(struct step *step, struct kube_request request, kube_done *done)
{
    request.resource = *step->resource;
    request.namespace_ = step->namespace_;
    request.name = step->name;
    step->call = kube_client_call(step->pass->children->options.client, &request, done, step);
}

static void on_applied(void *context, const struct kube_answer *answer)
{
    struct step *step = context;

    if (answer->error.code == ERROR_NONE) {
        remember(step, answer->body);
        end_step(step, CHILD_APPLIED, NULL);
    } else {
        end_step(step, CHILD_FAILED, &answer->error);
    }
}

static void send_body(struct step *step)
{
    const struct children_options *options = &step->pass->children->options;

    send(step,
         (struct kube_request){ .verb = KUBE_PATCH,
                                .patch_type = KUBE_PATCH_APPLY,
                                .field_manager = options->field_manager,
                                .force = options->force,
                                .body = step->body },
         on_applied);
}

static void on_handed_over(void *context, const struct kube_answer *answer)
{
    /* Conflict: another manager owns the fields already. */
    if (answer->error.code == ERROR_NONE || answer->error.code == ERROR_CONFLICT)
        send_body(context);
    else
        end_step(context, CHILD_FAILED, &answer->error);
}

static void send_apply(struct step *step)
{
    struct pass *pass = step->pass;

    if (!step->handover.len) {
        send_body(step);
        return;
    }
    send(step,
         (struct kube_request){ .verb = KUBE_PATCH,
                                .patch_type = KUBE_PATCH_APPLY,
                                .field_manager =
                                    str_fmt(pass->arena, "%.*s-handover",
                                            STR_ARG(pass->children->options.field_manager)),
                                .body = step->handover },
         on_handed_over);
}

static bool is_ours(struct step *step, struct str body)
{
    struct strbuf kept = strbuf_new(step->pass->arena, 256);
    struct error ignored;
    struct json object;

    if (json_read(step->pass->arena, str_dup(step->pass->arena, body), &json_limits_default,
                  &object, &ignored) < 0)
        return false;
    keep(step->kind, object, &kept);
    return str_eq(kube_child_kept(strbuf_str(&kept)).owner_uid, step->pass->owner.uid);
}

static void on_looked(void *context, const struct kube_answer *answer)
{
    struct step *step = context;

    if (answer->error.code == ERROR_NOT_FOUND ||
        (answer->error.code == ERROR_NONE && is_ours(step, answer->body)))
        send_apply(step);
    else if (answer->error.code == ERROR_NONE)
        end_step(step, CHILD_NOT_OURS, NULL);
    else
        end_step(step, CHILD_FAILED, &answer->error);
}

static void on_deleted(void *context, const struct kube_answer *answer)
{
    /* Conflict: that one is gone, and another has its name. */
    if (answer->error.code == ERROR_NONE || answer->error.code == ERROR_NOT_FOUND ||
        answer->error.code == ERROR_CONFLICT)
        end_step(context, CHILD_PRUNED, NULL);
    else
        end_step(context, CHILD_FAILED, &answer->error);
}

static void send_delete(struct step *step)
{
    struct str body = kube_delete_body(step->pass->arena, step->uid, STR(""));

    send(step, (struct kube_request){ .verb = KUBE_DELETE, .body = body }, on_deleted);
}

static void send_step(struct step *step)
{
    step->sent = true;
    step->pass->children->under_way++;
    if (!step->body.len)
        send_delete(step);
    else if (step->look_first)
        send(step, (struct kube_request){ .verb = KUBE_GET }, on_looked);
    else
        send_apply(step);
}

static struct step *next_step(const struct children *children)
{
    for (struct pass *pass = children->oldest; pass; pass = pass->newer)
        for (uint32_t i = 0; i < pass->steps.count; i++) {
            if (!pass->steps.items[i].sent)
                return &pass->steps.items[i];
            if (pass->steps.items[i].needed && !pass->steps.items[i].ended)
                break;
        }
    return NULL;
}

static void pump(struct children *children)
{
    struct step *step;

    while (children->under_way < children->options.requests_max && (step = next_step(children)))
        send_step(step);
}

/* --- a pass --- */

static int handover_body(const struct pass *pass, const struct kube_child *child,
                         struct str *ret_body, struct error *err)
{
    struct kube_child fields = *child;

    if (!child->handover.len)
        return 0;
    fields.object = child->handover;
    fields.partial = true;
    return kube_child_body(pass->arena, &pass->owner, STR(""), &fields, ret_body, err);
}

static void plan_apply(struct pass *pass, struct step *step, const struct kube_child *child)
{
    struct str key = kube_key(pass->arena, step->namespace_, step->name);
    struct str kept = live_kept(step->kind, key);
    struct kept_child live = kube_child_kept(kept);

    if (is_missing(step->kind)) {
        settle(step, CHILD_KIND_MISSING);
        return;
    }
    if (kube_child_body(pass->arena, &pass->owner, pass->children->options.label, child,
                        &step->body, &step->result->error) < 0 ||
        handover_body(pass, child, &step->handover, &step->result->error) < 0) {
        settle(step, CHILD_FAILED);
        return;
    }
    step->digest = digest_sha256_hex(pass->arena, step->body);
    step->look_first = kept.len == 0;
    if (kept.len && !child->partial && !str_eq(live.owner_uid, pass->owner.uid))
        settle(step, CHILD_NOT_OURS);
    else if (kept.len && is_as_it_was_left(step->kind, key, step->digest, &live))
        settle(step, CHILD_APPLIED);
}

static struct step *add_step(struct pass *pass, struct kind *kind,
                             const struct kube_resource *resource, struct str namespace_,
                             struct str name, bool desired)
{
    struct child_result *result = child_results_push(
        &pass->results,
        (struct child_result){ .kind = resource->kind, .name = name, .desired = desired });

    return steps_push(&pass->steps, (struct step){ .pass = pass,
                                                   .kind = kind,
                                                   .resource = resource,
                                                   .namespace_ = namespace_,
                                                   .name = name,
                                                   .result = result });
}

static void add_desired(struct pass *pass, const struct kube_child *child)
{
    struct arena *arena = pass->arena;
    struct kind *kind = kind_of(pass->children, child->resource);
    struct str namespace_ = child->namespace_.len ? child->namespace_ : pass->owner.namespace_;
    struct step *step;

    namespace_ = child->resource->namespaced ? str_dup(arena, namespace_) : STR("");
    /* It went since it was seen. */
    if (child->partial && !live_kept(kind, kube_key(arena, namespace_, child->name)).len)
        return;
    step = add_step(pass, kind, child->resource, namespace_, str_dup(arena, child->name), true);
    step->needed = child->needed;
    plan_apply(pass, step, child);
}

static bool is_desired(const struct pass *pass, const struct kind *kind, struct str key)
{
    struct str namespace_, name;

    kube_key_split(key, &namespace_, &name);
    for (uint32_t i = 0; i < pass->steps.count; i++) {
        const struct step *step = &pass->steps.items[i];

        if (step->kind == kind && str_eq(step->name, name) && str_eq(step->namespace_, namespace_))
            return true;
    }
    return false;
}

static void add_pruned(struct pass *pass, uint32_t of)
{
    struct kind *kind = &pass->children->kinds[of];
    struct str key;

    for (uint32_t i = 0; multimap_at(kind->of_owner, pass->owner.uid, i, &key); i++) {
        const struct kube_object *object = kube_cache_get(informer_cache(kind->informer), key);
        struct step *step;

        if (is_missing(kind) || is_desired(pass, kind, key))
            continue;
        /* What we made is deleted once it is seen, and the owner is told when it is. */
        if (!object)
            (void)expectations_put_off(kind->written, key, loop_now_ms(pass->children->loop));
        if (!object ||
            !str_eq(kube_child_kept(kube_object_kept(object)).owner_uid, pass->owner.uid))
            continue;
        step = add_step(pass, kind, pass->children->options.resources[of],
                        str_dup(pass->arena, kube_object_namespace(object)),
                        str_dup(pass->arena, kube_object_name(object)), false);
        step->uid = str_dup(pass->arena, kube_object_uid(object));
    }
}

/* How many of the kinds are rendered; the others are watched only. */
static uint32_t rendered_count(const struct children *children)
{
    return children->options.resource_count - children->options.watched_count;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct seen_child *)a)->name, ((const struct seen_child *)b)->name);
}

struct seen_children children_seen(const struct children *children, struct arena *arena,
                                   const struct kube_owner *owner)
{
    struct seen_children seen = seen_children_new(arena, 8);
    struct str label = kube_key(arena, owner->namespace_, kube_owner_label(arena, owner->name));

    for (uint32_t i = 0; i < children->options.resource_count; i++) {
        const struct kind *kind = &children->kinds[i];
        struct str of = kind->watched ? label : owner->uid;
        uint32_t first = seen.count;
        struct str key;

        for (uint32_t k = 0; multimap_at(kind->of_owner, of, k, &key); k++) {
            /* What was just applied is not as it was before, though the cache may not know yet. */
            struct kept_child kept = kube_child_kept(live_kept(kind, key));
            struct str namespace_, name;

            if (!kind->watched && !str_eq(kept.owner_uid, owner->uid))
                continue;
            kube_key_split(key, &namespace_, &name);
            seen_children_push(&seen, (struct seen_child){ children->options.resources[i],
                                                           str_dup(arena, name),
                                                           kube_child_health(arena, &kept) });
        }
        qsort(seen.items + first, seen.count - first, sizeof(*seen.items), by_name);
    }
    return seen;
}

static struct kube_owner copy_owner(struct arena *arena, const struct kube_owner *owner)
{
    return (struct kube_owner){ owner->resource, str_dup(arena, owner->namespace_),
                                str_dup(arena, owner->name), str_dup(arena, owner->uid) };
}

static struct pass *pass_new(struct children *children, const struct kube_owner *owner)
{
    struct arena *arena = arena_create(0);
    struct pass *pass = arena_new(arena, struct pass);

    *pass = (struct pass){ .children = children,
                           .arena = arena,
                           .owner = copy_owner(arena, owner),
                           .steps = steps_new(arena, 8),
                           .results = child_results_new(arena, 8) };
    pass->older = children->newest;
    *(pass->older ? &pass->older->newer : &children->oldest) = pass;
    children->newest = pass;
    return pass;
}

void children_apply(struct children *children, const struct kube_owner *owner,
                    const struct kube_children *desired, children_done *done, void *context)
{
    struct pass *pass = pass_new(children, owner);

    pass->done = done;
    pass->context = context;
    for (uint32_t i = 0; i < desired->count; i++)
        add_desired(pass, &desired->items[i]);
    for (uint32_t i = 0; i < rendered_count(children); i++)
        add_pruned(pass, i);
    /* The lists do not move any more. */
    for (uint32_t i = 0; i < pass->steps.count; i++)
        pass->steps.items[i].result = &pass->results.items[i];
    for (uint32_t i = 0; i < pass->steps.count; i++)
        if (pass->steps.items[i].ended)
            hold_back_if_needed(&pass->steps.items[i]);
    for (uint32_t i = 0; i < pass->steps.count; i++)
        pass->open += !pass->steps.items[i].sent;
    if (pass->open == 0)
        end_pass(pass);
    else
        pump(children);
}

/* --- the object --- */

static void kind_open(struct children *children, uint32_t i)
{
    const struct children_options *options = &children->options;
    struct kind *kind = &children->kinds[i];

    kind->children = children;
    kind->written = expectations_create();
    kind->applied = dict_create();
    kind->of_owner = multimap_create();
    kind->watched = i >= rendered_count(children);
    kind->informer = informer_create(&(struct informer_options){
        .client = options->client,
        .resource = *options->resources[i],
        .namespace_ = options->resources[i]->namespaced ? options->namespace_ : STR(""),
        .label_selector = options->label,
        .seed = options->seed + i,
        .keep = keep,
        .on_change = on_change,
        .on_synced = on_synced,
        .on_trouble = on_trouble,
        .context = kind,
        .page_limit = options->page_limit,
    });
}

static void kind_close(struct kind *kind)
{
    struct str key;
    void *applied;

    informer_free(kind->informer);
    expectations_free(kind->written);
    for (size_t cursor = 0; dict_next(kind->applied, &cursor, &key, &applied);)
        mem_free(applied);
    dict_free(kind->applied);
    multimap_free(kind->of_owner);
}

struct children *children_create(const struct children_options *options)
{
    struct children *children = mem_new(struct children);

    children->options = *options;
    if (!children->options.requests_max)
        children->options.requests_max = REQUESTS_DEFAULT;
    children->loop = kube_client_loop(options->client);
    children->kinds = mem_alloc(sizeof(*children->kinds) * options->resource_count);
    for (uint32_t i = 0; i < options->resource_count; i++)
        kind_open(children, i);
    return children;
}

void children_free(struct children *children)
{
    if (!children)
        return;
    while (children->oldest) {
        struct pass *pass = children->oldest;

        for (uint32_t i = 0; i < pass->steps.count; i++)
            if (pass->steps.items[i].call)
                kube_call_cancel(pass->steps.items[i].call);
        unlink_pass(pass);
        arena_free(pass->arena);
    }
    for (uint32_t i = 0; i < children->options.resource_count; i++)
        kind_close(&children->kinds[i]);
    mem_free(children->kinds);
    mem_free(children);
}
