/* SPDX-License-Identifier: Apache-2.0 */
/* meta.c: metadata, read in one pass over its members. */
#include "kube/meta.h"

struct meta_field {
    struct str key;
    size_t offset; /* in struct kube_meta */
};

static const struct meta_field string_fields[] = {
    { STR_INIT("name"), offsetof(struct kube_meta, name) },
    { STR_INIT("generateName"), offsetof(struct kube_meta, generate_name) },
    { STR_INIT("namespace"), offsetof(struct kube_meta, namespace_) },
    { STR_INIT("uid"), offsetof(struct kube_meta, uid) },
    { STR_INIT("resourceVersion"), offsetof(struct kube_meta, resource_version) },
    { STR_INIT("creationTimestamp"), offsetof(struct kube_meta, creation_timestamp) },
    { STR_INIT("deletionTimestamp"), offsetof(struct kube_meta, deletion_timestamp) },
};

static const struct {
    struct meta_field field;
    enum json_kind kind;
} value_fields[] = {
    { { STR_INIT("labels"), offsetof(struct kube_meta, labels) }, JSON_OBJECT },
    { { STR_INIT("annotations"), offsetof(struct kube_meta, annotations) }, JSON_OBJECT },
    { { STR_INIT("finalizers"), offsetof(struct kube_meta, finalizers) }, JSON_ARRAY },
    { { STR_INIT("ownerReferences"), offsetof(struct kube_meta, owner_references) }, JSON_ARRAY },
};

static void read_member(struct str key, struct json value, struct kube_meta *meta)
{
    enum json_kind kind = json_kind(value);

    if (kind == JSON_STRING) {
        for (size_t i = 0; i < sizeof(string_fields) / sizeof(string_fields[0]); i++)
            if (str_eq(key, string_fields[i].key)) {
                struct str text = json_str(value);

                memcpy((char *)meta + string_fields[i].offset, &text, sizeof(text));
                return;
            }
        return;
    }
    if (kind == JSON_NUMBER) {
        if (str_eq(key, STR("generation")))
            (void)json_int64(value, &meta->generation);
        return;
    }
    for (size_t i = 0; i < sizeof(value_fields) / sizeof(value_fields[0]); i++)
        if (kind == value_fields[i].kind && str_eq(key, value_fields[i].field.key))
            memcpy((char *)meta + value_fields[i].field.offset, &value, sizeof(value));
}

void kube_meta_read(struct json object, struct kube_meta *ret_meta)
{
    struct kube_meta meta = { .generation = 0 };
    struct json_iter it = json_iter(json_get(object, STR("metadata")));

    while (json_next(&it))
        read_member(it.key, it.value, &meta);
    *ret_meta = meta;
}

struct str kube_label(const struct kube_meta *meta, struct str key)
{
    return json_str(json_get(meta->labels, key));
}

struct str kube_annotation(const struct kube_meta *meta, struct str key)
{
    return json_str(json_get(meta->annotations, key));
}

bool kube_has_finalizer(const struct kube_meta *meta, struct str finalizer)
{
    struct json_iter it = json_iter(meta->finalizers);

    while (json_next(&it))
        if (json_is(it.value, JSON_STRING) && str_eq(json_str(it.value), finalizer))
            return true;
    return false;
}
