/* SPDX-License-Identifier: Apache-2.0 */
/* references.c: an informer for each object. Of each just `data` is kept.
 *
 * A few objects of one kind and namespace (LIMIT_REFERENCE_WATCHES) each have a watch of their own.
 * Of more, one watch of the namespace tells when they change; it carries metadata alone, so nothing
 * that no Stack names is sent here. What an object then goes through:
 *
 *   opened      its informer lists it by name, and from then on only when told
 *   synced      is it as the namespace's watch has it? Else that was older, or this list was: once
 *               more
 *   a change    to another version than the one held: listed again, and the Stacks are told
 *   closed      as long as enough others are left the watch stays; else each gets its own again
 *
 * Where the namespace may not be watched, as with a grant by resourceNames, each has its own watch
 * until that changes: the namespace's informer goes on trying. The list that begins such a change
 * (informer_set_interval) is later than what the other watch told before. */
#include "controller/reconcilers/stack/references.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/limits.h"
#include "runtime/informer.h"
#include "text/base64.h"

/* What is referenced of one kind in one namespace. It goes with its last member. */
struct group {
    struct dict *members;      /* namespace/name -> struct reference */
    struct informer *metadata; /* of the whole namespace; NULL: each member is watched */
    bool rejected;             /* that may not be watched */
};

struct reference {
    struct references *owner;
    struct group *group;
    enum tracked_kind kind;
    char *name; /* namespace/name */
    size_t name_len;
    struct informer *informer;
};

struct references {
    struct references_options options;
    struct dict *held[TRACKED_KIND_COUNT];   /* only of the two kinds */
    struct dict *groups[TRACKED_KIND_COUNT]; /* namespace -> struct group */
};

static const struct kube_resource config_maps =
    KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true);
static const struct kube_resource secrets = KUBE_RESOURCE_INIT("", "v1", "secrets", "Secret", true);

struct references *references_create(const struct references_options *options)
{
    struct references *references = mem_new(struct references);

    references->options = *options;
    references->held[TRACKED_CONFIG_MAP] = dict_create();
    references->held[TRACKED_SECRET] = dict_create();
    references->groups[TRACKED_CONFIG_MAP] = dict_create();
    references->groups[TRACKED_SECRET] = dict_create();
    return references;
}

static void reference_free(struct reference *reference)
{
    if (!reference)
        return;
    informer_free(reference->informer);
    mem_free(reference->name);
    mem_free(reference);
}

static void group_free(struct group *group)
{
    informer_free(group->metadata);
    dict_free(group->members);
    mem_free(group);
}

static void free_all(struct dict *held, struct dict *groups)
{
    struct str name;
    void *value;

    for (size_t cursor = 0; dict_next(groups, &cursor, &name, &value);)
        group_free(value);
    for (size_t cursor = 0; dict_next(held, &cursor, &name, &value);)
        reference_free(value);
    dict_free(groups);
    dict_free(held);
}

void references_free(struct references *references)
{
    if (!references)
        return;
    for (enum tracked_kind kind = TRACKED_CONFIG_MAP; kind <= TRACKED_SECRET; kind++)
        free_all(references->held[kind], references->groups[kind]);
    mem_free(references);
}

static bool keep_data(void *context, struct json object, struct strbuf *kept)
{
    struct json data = json_get(object, STR("data"));

    (void)context;
    strbuf_put(kept, json_is(data, JSON_OBJECT) ? json_raw(data) : STR("{}"));
    return true;
}

static void tell(struct reference *reference)
{
    const struct references_options *options = &reference->owner->options;

    options->changed(options->context, reference->kind,
                     str_make(reference->name, reference->name_len));
}

/* Of a Secret its version alone is news, too: it stands in digests (stack/release.h). */
static void data_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    const struct reference *reference = context;

    if (!before || !after || reference->kind == TRACKED_SECRET ||
        !str_eq(kube_object_kept(before), kube_object_kept(after)))
        tell(context);
}

/* Once both were listed: it is read again unless it is as the namespace's watch has it. */
static void compare(struct reference *reference)
{
    const struct informer *metadata = reference->group->metadata;
    struct str name = str_make(reference->name, reference->name_len);
    const struct kube_object *held = kube_cache_get(informer_cache(reference->informer), name);
    const struct kube_object *seen;

    if (!metadata || !informer_synced(metadata) || !informer_synced(reference->informer))
        return;
    seen = kube_cache_get(informer_cache(metadata), name);
    if (!held != !seen ||
        (held && (!str_eq(kube_object_uid(held), kube_object_uid(seen)) ||
                  !str_eq(kube_object_resource_version(held), kube_object_resource_version(seen)))))
        informer_retry(reference->informer);
}

static void synced(void *context)
{
    tell(context);
    compare(context);
}

static void troubled(void *context, const struct error *error)
{
    struct reference *reference = context;

    /* Once it was read its content stays, so only who still waits for it needs to know. */
    if (error && !informer_synced(reference->informer))
        tell(reference);
}

/* --- many of one namespace --- */

static bool keep_nothing(void *context, struct json object, struct strbuf *kept)
{
    (void)context, (void)object, (void)kept;
    return true;
}

static void metadata_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    const struct group *group = context;
    struct reference *reference = dict_get(group->members, kube_object_key(after ? after : before));

    if (reference)
        compare(reference);
}

static void compare_all(void *context)
{
    const struct group *group = context;
    struct str name;
    void *reference;

    for (size_t cursor = 0; dict_next(group->members, &cursor, &name, &reference);)
        compare(reference);
}

static int64_t interval_of(const struct group *group)
{
    return group->metadata && !group->rejected ? LIMIT_REFERENCE_LOOK : 0;
}

static void adjust_all(const struct group *group)
{
    struct str name;
    void *value;

    for (size_t cursor = 0; dict_next(group->members, &cursor, &name, &value);) {
        const struct reference *reference = value;

        informer_set_interval(reference->informer, interval_of(group));
    }
}

/* What passes by itself, as an API server that is away, holds up their own watches just as well. */
static void metadata_troubled(void *context, const struct error *error)
{
    struct group *group = context;
    enum error_course course = error ? error_course(error->code) : COURSE_RETRY;

    if (error && course != COURSE_WAIT && course != COURSE_TERMINAL)
        return;
    group->rejected = error != NULL;
    adjust_all(group);
}

static struct kube_resource resource_of(enum tracked_kind kind)
{
    return kind == TRACKED_SECRET ? secrets : config_maps;
}

static struct informer *follow_namespace(struct references *references, struct group *group,
                                         enum tracked_kind kind, struct str namespace_)
{
    return informer_create(&(struct informer_options){
        .client = references->options.api,
        .resource = resource_of(kind),
        .namespace_ = namespace_,
        .seed = references->options.seed ^ str_hash(namespace_) ^ kind,
        .secret = kind == TRACKED_SECRET, /* an annotation may hold what was applied */
        .metadata_only = true,
        .keep = keep_nothing,
        .on_change = metadata_changed,
        .on_synced = compare_all,
        .on_trouble = metadata_troubled,
        .context = group,
    });
}

/* The group of a new member. */
static struct group *join(struct references *references, struct reference *reference,
                          struct str namespace_)
{
    enum tracked_kind kind = reference->kind;
    struct group *group = dict_get(references->groups[kind], namespace_);

    if (!group) {
        group = mem_new(struct group);
        group->members = dict_create();
        dict_set(references->groups[kind], namespace_, group);
    }
    if (!group->metadata && dict_count(group->members) >= LIMIT_REFERENCE_WATCHES) {
        group->metadata = follow_namespace(references, group, kind, namespace_);
        adjust_all(group);
    }
    dict_set(group->members, str_make(reference->name, reference->name_len), reference);
    return group;
}

/* Half as many as began it, so that one that comes and goes does not begin and end it. */
static void leave(struct references *references, const struct reference *reference)
{
    struct group *group = reference->group;
    struct str name = str_make(reference->name, reference->name_len);
    struct str namespace_, object;

    kube_key_split(name, &namespace_, &object);
    dict_remove(group->members, name);
    if (dict_count(group->members) == 0) {
        dict_remove(references->groups[reference->kind], namespace_);
        group_free(group);
    } else if (group->metadata && dict_count(group->members) <= LIMIT_REFERENCE_WATCHES / 2) {
        informer_free(TAKE(group->metadata));
        group->rejected = false;
        adjust_all(group);
    }
}

void references_open(struct references *references, enum tracked_kind kind, struct str name)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct reference *reference = mem_new(struct reference);
    struct informer_options options = {
        .client = references->options.api,
        .resource = resource_of(kind),
        .seed = references->options.seed ^ str_hash(name),
        .secret = kind == TRACKED_SECRET,
        .keep = keep_data,
        .on_change = data_changed,
        .on_synced = synced,
        .on_trouble = troubled,
        .context = reference,
    };
    struct str object;

    references_close(references, kind, name);
    reference->owner = references;
    reference->kind = kind;
    reference->name = mem_copy(name.at, name.len);
    reference->name_len = name.len;
    kube_key_split(name, &options.namespace_, &object);
    options.field_selector = str_fmt(arena, "metadata.name=%.*s", STR_ARG(object));
    reference->group = join(references, reference, options.namespace_);
    options.interval_ms = interval_of(reference->group);
    dict_set(references->held[kind], name, reference);
    reference->informer = informer_create(&options);
}

void references_close(struct references *references, enum tracked_kind kind, struct str name)
{
    struct reference *reference = dict_remove(references->held[kind], name);

    if (reference)
        leave(references, reference);
    reference_free(reference);
}

static struct str keys_of(struct arena *arena, struct json data)
{
    struct strbuf out = strbuf_new(arena, 64);
    struct json_iter it = json_iter(data);

    while (json_next(&it))
        strbuf_fmt(&out, "%s%.*s", it.position ? ", " : "", STR_ARG(it.key));
    return str_shown(arena, strbuf_str(&out), 200);
}

static struct reference_found found(enum reference_state state, struct str text)
{
    return (struct reference_found){ state, text, STR("") };
}

/* What stands under the key of an object that is there. */
static struct reference_found read_key(struct arena *arena, enum tracked_kind kind,
                                       const struct kube_object *object, struct str key)
{
    struct error err = { .code = ERROR_NONE };
    struct reference_found read = found(REFERENCE_READ, STR(""));
    struct json data;

    if (json_read(arena, str_dup(arena, kube_object_kept(object)), &json_limits_default, &data,
                  &err) < 0)
        return found(REFERENCE_BROKEN, STR(""));

    struct json value = json_get(data, key);

    /* The names of a Secret's keys may tell as much as their values. */
    if (!json_is(value, JSON_STRING))
        return found(REFERENCE_NO_KEY, kind == TRACKED_SECRET ? STR("") : keys_of(arena, data));
    read.text = json_str(value);
    if (kind == TRACKED_SECRET && base64_decode(arena, json_str(value), &read.text, &err) < 0)
        return found(REFERENCE_BROKEN, STR(""));
    read.version = str_fmt(arena, "%.*s/%.*s", STR_ARG(kube_object_uid(object)),
                           STR_ARG(kube_object_resource_version(object)));
    return read;
}

struct reference_found references_read(const struct references *references, struct arena *arena,
                                       enum tracked_kind kind, struct str name, struct str key)
{
    const struct reference *reference = dict_get(references->held[kind], name);
    const struct kube_object *object;

    if (kind == TRACKED_SECRET)
        arena_keep_secret(arena);
    if (!reference)
        return found(REFERENCE_NOT_SYNCED, STR(""));
    if (!informer_synced(reference->informer)) {
        const struct error *trouble = informer_trouble(reference->informer);

        return found(REFERENCE_NOT_SYNCED,
                     trouble->code != ERROR_NONE ? str_dup(arena, str_of(trouble->text)) : STR(""));
    }
    object = kube_cache_get(informer_cache(reference->informer), name);
    return object ? read_key(arena, kind, object, key) : found(REFERENCE_ABSENT, STR(""));
}

size_t references_count(const struct references *references)
{
    return dict_count(references->held[TRACKED_CONFIG_MAP]) +
           dict_count(references->held[TRACKED_SECRET]);
}
