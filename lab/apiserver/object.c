/* SPDX-License-Identifier: Apache-2.0 */
/* object.c: metadata read and written in a tree. */
#include "lab/apiserver/object.h"

#include "text/json_write.h"

#define META STR("metadata")

struct value *meta_get(const struct value *object, const char *key)
{
    return value_get(value_get(object, META), str_of(key));
}

struct str meta_text(const struct value *object, const char *key)
{
    return value_text(meta_get(object, key));
}

void meta_set(struct arena *arena, struct value *object, const char *key, struct value *member)
{
    struct value *meta = value_object_at(arena, object, META);

    if (meta)
        value_set(arena, meta, str_of(key), member);
}

void meta_set_text(struct arena *arena, struct value *object, const char *key, struct str text)
{
    if (text.len)
        meta_set(arena, object, key, value_str(arena, text));
    else
        meta_remove(object, key);
}

void meta_remove(struct value *object, const char *key)
{
    struct value *meta = value_get(object, META);

    if (meta)
        value_remove(meta, str_of(key));
}

int64_t meta_generation(const struct value *object)
{
    int64_t generation = 0;

    value_int64(meta_get(object, "generation"), &generation);
    return generation;
}

uint64_t meta_version(const struct value *object)
{
    uint64_t version = 0;

    str_to_u64(meta_text(object, "resourceVersion"), &version);
    return version;
}

bool meta_is_going(const struct value *object)
{
    return meta_text(object, "deletionTimestamp").len > 0;
}

uint32_t meta_finalizer_count(const struct value *object)
{
    return value_count(meta_get(object, "finalizers"));
}

void object_split(struct arena *arena, const struct value *object, struct str *ret_head,
                  struct str *ret_tail)
{
    struct strbuf head = strbuf_new(arena, 128);
    struct strbuf tail = strbuf_new(arena, 1024);

    strbuf_lit(&head, "{\"apiVersion\":");
    json_quote(&head, value_text(value_get(object, STR("apiVersion"))));
    strbuf_lit(&head, ",\"kind\":");
    json_quote(&head, value_text(value_get(object, STR("kind"))));
    strbuf_lit(&head, ",\"metadata\":{\"resourceVersion\":\"");
    strbuf_char(&tail, '"');
    for (struct value *m = value_first(value_get(object, META)); m; m = value_next(m)) {
        if (str_eq(value_key(m), STR("resourceVersion")))
            continue;
        strbuf_char(&tail, ',');
        json_quote(&tail, value_key(m));
        strbuf_char(&tail, ':');
        value_write(m, false, &tail);
    }
    strbuf_char(&tail, '}');
    for (struct value *m = value_first(object); m; m = value_next(m)) {
        struct str key = value_key(m);

        if (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")) || str_eq(key, META))
            continue;
        strbuf_char(&tail, ',');
        json_quote(&tail, key);
        strbuf_char(&tail, ':');
        value_write(m, false, &tail);
    }
    strbuf_char(&tail, '}');
    *ret_head = strbuf_str(&head);
    *ret_tail = strbuf_str(&tail);
}

struct str object_with_version(struct arena *arena, struct str object, uint64_t version)
{
    struct str mark = STR("\"resourceVersion\":\"");
    ptrdiff_t at = str_find(object, mark, 0);
    ptrdiff_t end = at < 0 ? -1 : str_find_char(object, '"', (size_t)at + mark.len);
    struct strbuf out = strbuf_new(arena, object.len + 24);

    if (end < 0)
        return object;
    strbuf_put(&out, str_slice(object, 0, (size_t)at + mark.len));
    strbuf_u64(&out, version);
    strbuf_put(&out, str_slice(object, (size_t)end, object.len));
    return strbuf_str(&out);
}

struct str object_uid(struct arena *arena, struct rng rng)
{
    uint64_t a = rng_next(&rng), b = rng_next(&rng);

    return str_fmt(arena, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                   (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
                   (unsigned long long)(b & 0xffffffffffffULL));
}

struct str object_generate_name(struct arena *arena, struct rng rng, struct str base)
{
    /* k8s.io/apimachinery/pkg/util/rand: no vowels, nothing that looks like another. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    char text[6] = "";

    for (int i = 0; i < 5; i++)
        text[i] = letters[rng_below(&rng, sizeof(letters) - 1)];
    return str_fmt(arena, "%.*s%s", STR_ARG(str_slice(base, 0, 58)), text);
}

struct str_list object_texts(struct arena *arena, const struct value *list)
{
    struct str_list result = str_list_new(arena, 4);

    for (struct value *m = value_first(list); m; m = value_next(m))
        str_list_push(&result, value_text(m));
    return result;
}

struct value *object_list_of(struct arena *arena, const struct str_list *texts)
{
    struct value *result = value_array(arena);

    for (uint32_t i = 0; i < texts->count; i++)
        value_append(result, value_str(arena, texts->items[i]));
    return result;
}
