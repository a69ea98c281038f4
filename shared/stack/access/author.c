/* SPDX-License-Identifier: Apache-2.0 */
/* author.c: from a request's userInfo to two annotations, and back. */
#include "stack/access/author.h"

#include "base/path.h"
#include "stack/model/limits.h"
#include "text/json_write.h"
#include "text/patch.h"

struct author author_of(struct arena *arena, const struct kube_meta *meta)
{
    struct author author = { kube_annotation(meta, STR(STACK_LAST_APPLIED_BY)),
                             str_list_new(arena, 4) };
    struct str rest = kube_annotation(meta, STR(STACK_LAST_APPLIED_BY_GROUPS));
    struct str group;

    while (str_split(&rest, ',', &group))
        if (group.len)
            str_list_push(&author.groups, group);
    return author;
}

bool author_is_missing(const struct kube_meta *meta)
{
    return !kube_annotation(meta, STR(STACK_LAST_APPLIED_BY)).len && !meta->deletion_timestamp.len;
}

/* --- whether it is another one --- */

static struct str recorded(struct json object, const char *key)
{
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    return kube_annotation(&meta, str_of(key));
}

/* Whoever asks for a foreign release must be somebody who may have it. */
static bool adopts_more(struct json object, struct json old_object)
{
    struct str adopted = recorded(object, STACK_ADOPT);

    return adopted.len && !str_eq(adopted, recorded(old_object, STACK_ADOPT));
}

/* The spec as the API server will store it is the stored one. */
static bool is_stored(struct arena *arena, struct json object, struct json old_object,
                      struct str patch)
{
    struct json spec = json_get(object, STR("spec"));
    struct json stored = json_get(old_object, STR("spec"));
    struct error ignored = { .code = ERROR_NONE };
    struct value *patched;

    if (json_equal(spec, stored))
        return true;
    if (!patch.len || patch_apply(arena, value_of(arena, object), patch, &patched, &ignored) < 0)
        return false;
    return value_equal(value_get(patched, STR("spec")), value_of(arena, stored));
}

bool author_changes_spec(struct arena *arena, const struct admission_request *request,
                         struct json old_object, const struct verdict *verdict)
{
    return !json_is(old_object, JSON_OBJECT) ||
           !is_stored(arena, request->object, old_object, verdict->patch);
}

bool author_changes(struct arena *arena, const struct admission_request *request,
                    struct json old_object, const struct verdict *verdict)
{
    return adopts_more(request->object, old_object) ||
           author_changes_spec(arena, request, old_object, verdict);
}

/* --- what the annotations must say --- */

/* "" = there must be none. */
struct row {
    const char *key;
    struct str is, wanted;
};

static struct str joined(struct arena *arena, struct json groups)
{
    struct strbuf text = strbuf_new(arena, 256);
    struct json_iter it = json_iter(groups);
    bool first = true;

    while (json_next(&it)) {
        struct str group = json_str(it.value);

        if (str_find_char(group, ',', 0) >= 0 || text.len + group.len >= LIMIT_AUTHOR_GROUPS)
            return STR("");
        strbuf_put(&text, first ? STR("") : STR(","));
        strbuf_put(&text, group);
        first = false;
    }
    return strbuf_str(&text);
}

static struct json_writer begin_operation(struct strbuf *out, bool add, struct str pointer)
{
    if (out->len)
        strbuf_char(out, ',');

    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "op", add ? STR("add") : STR("remove"));
    json_field_str(&w, "path", pointer);
    return w;
}

/* There are no annotations: all at once. */
static void add_all(struct strbuf *out, const struct row *rows, size_t count, struct str pointer)
{
    struct json_writer w = begin_operation(out, true, pointer);

    json_put_key(&w, STR("value"));
    json_open_object(&w);
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].wanted.len)
            continue;
        json_put_key(&w, str_of(rows[i].key));
        json_put_str(&w, rows[i].wanted);
    }
    json_close_object(&w);
    json_close_object(&w);
}

static void put_one(struct strbuf *out, const struct row *row, struct str pointer)
{
    struct json_writer w = begin_operation(out, row->wanted.len > 0, pointer);

    if (row->wanted.len)
        json_field_str(&w, "value", row->wanted);
    json_close_object(&w);
}

static struct str operations(struct arena *arena, const struct kube_meta *meta,
                             const struct row *rows, size_t count)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path annotations = path_field(&metadata, STR("annotations"));
    bool differs = false;

    for (size_t i = 0; i < count; i++) {
        struct path at = path_key(&annotations, str_of(rows[i].key));

        if (str_eq(rows[i].is, rows[i].wanted))
            continue;
        differs = true;
        if (json_is(meta->annotations, JSON_OBJECT))
            put_one(&out, &rows[i], path_pointer(&at, arena));
    }
    if (differs && !out.len)
        add_all(&out, rows, count, path_pointer(&annotations, arena));
    return strbuf_str(&out);
}

static struct row row_of(const struct kube_meta *meta, const char *key, struct str wanted)
{
    return (struct row){ key, kube_annotation(meta, str_of(key)), wanted };
}

void author_write(struct arena *arena, const struct admission_request *request,
                  struct json old_object, bool changes, const struct str *traceparent,
                  struct verdict *verdict)
{
    const struct kube_meta *meta = &verdict->stack->meta;
    struct str patch = verdict->patch;

    /* Without metadata there is nothing to write into: the API server rejects that by itself. */
    if (!verdict->allowed || !json_is(json_get(request->object, STR("metadata")), JSON_OBJECT))
        return;

    const struct row rows[] = {
        row_of(meta, STACK_LAST_APPLIED_BY,
               changes ? request->username : recorded(old_object, STACK_LAST_APPLIED_BY)),
        row_of(meta, STACK_LAST_APPLIED_BY_GROUPS,
               changes ? joined(arena, request->groups)
                       : recorded(old_object, STACK_LAST_APPLIED_BY_GROUPS)),
        row_of(meta, STACK_TRACEPARENT,
               traceparent ? *traceparent : recorded(request->object, STACK_TRACEPARENT)),
    };
    struct str added = operations(arena, meta, rows, sizeof(rows) / sizeof(rows[0]));
    struct str begun = str_slice(patch, 0, patch.len ? patch.len - 1 : 0); /* no ']' */

    if (added.len)
        verdict->patch = patch.len ? str_fmt(arena, "%.*s,%.*s]", STR_ARG(begun), STR_ARG(added))
                                   : str_fmt(arena, "[%.*s]", STR_ARG(added));
}
