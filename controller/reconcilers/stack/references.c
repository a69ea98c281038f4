/* SPDX-License-Identifier: Apache-2.0 */
/* references.c: an informer for each object. Of each just `data` is kept. */
#include "controller/reconcilers/stack/references.h"

#include "base/map.h"
#include "base/memory.h"
#include "runtime/informer.h"
#include "text/base64.h"

struct reference {
    struct references *owner;
    enum tracked_kind kind;
    char *name; /* namespace/name */
    size_t name_len;
    struct informer *informer;
};

struct references {
    struct references_options options;
    struct dict *held[TRACKED_KIND_COUNT]; /* only of the two kinds */
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

static void free_all(struct dict *held)
{
    struct str name;
    void *value;

    for (size_t cursor = 0; dict_next(held, &cursor, &name, &value);)
        reference_free(value);
    dict_free(held);
}

void references_free(struct references *references)
{
    if (!references)
        return;
    free_all(references->held[TRACKED_CONFIG_MAP]);
    free_all(references->held[TRACKED_SECRET]);
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

static void synced(void *context)
{
    tell(context);
}

static void troubled(void *context, const struct error *error)
{
    struct reference *reference = context;

    /* Once it was read its content stays, so only who still waits for it needs to know. */
    if (error && !informer_synced(reference->informer))
        tell(reference);
}

void references_open(struct references *references, enum tracked_kind kind, struct str name)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct reference *reference = mem_new(struct reference);
    struct informer_options options = {
        .client = references->options.api,
        .resource = kind == TRACKED_SECRET ? secrets : config_maps,
        .seed = references->options.seed ^ str_hash(name),
        .secret = kind == TRACKED_SECRET,
        .keep = keep_data,
        .on_change = data_changed,
        .on_synced = synced,
        .on_trouble = troubled,
        .context = reference,
    };
    struct str object;

    reference->owner = references;
    reference->kind = kind;
    reference->name = mem_copy(name.at, name.len);
    reference->name_len = name.len;
    kube_key_split(name, &options.namespace_, &object);
    options.field_selector = str_fmt(arena, "metadata.name=%.*s", STR_ARG(object));
    reference_free(dict_set(references->held[kind], name, reference));
    reference->informer = informer_create(&options);
}

void references_close(struct references *references, enum tracked_kind kind, struct str name)
{
    reference_free(dict_remove(references->held[kind], name));
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
