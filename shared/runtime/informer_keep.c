/* SPDX-License-Identifier: Apache-2.0 */
/* informer_keep.c: members are copied as they stand; only what is dropped is looked into. */
#include "runtime/informer_keep.h"

#include "text/json_write.h"

static void put_member(struct json_writer *w, const struct json_iter *it)
{
    json_put_key(w, it->key);
    json_put_raw(w, json_raw(it->value));
}

static void put_annotations(struct json_writer *w, struct json annotations)
{
    static const struct str last_applied =
        STR_INIT("kubectl.kubernetes.io/last-applied-configuration");

    json_put_key(w, STR("annotations"));
    json_open_object(w);
    for (struct json_iter it = json_iter(annotations); json_next(&it);)
        if (!str_eq(it.key, last_applied))
            put_member(w, &it);
    json_close_object(w);
}

static void put_metadata(struct json_writer *w, struct json metadata)
{
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    for (struct json_iter it = json_iter(metadata); json_next(&it);) {
        if (str_eq(it.key, STR("managedFields")))
            continue;
        if (str_eq(it.key, STR("annotations")) && json_is(it.value, JSON_OBJECT))
            put_annotations(w, it.value);
        else
            put_member(w, &it);
    }
    json_close_object(w);
}

bool informer_keep_default(struct json object, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);

    json_open_object(&w);
    for (struct json_iter it = json_iter(object); json_next(&it);) {
        if (str_eq(it.key, STR("metadata")) && json_is(it.value, JSON_OBJECT))
            put_metadata(&w, it.value);
        else
            put_member(&w, &it);
    }
    json_close_object(&w);
    return true;
}
