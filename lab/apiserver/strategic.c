/* SPDX-License-Identifier: Apache-2.0 */
/* strategic.c: directives are $patch (replace, delete, merge), $retainKeys, $setElementOrder/<list>
 * and $deleteFromPrimitiveList/<list>. */
#include "lab/apiserver/strategic.h"

static struct value *merge(struct arena *arena, const struct schema *schema,
                           const struct value *document, const struct value *patch);

static bool is_directive(struct str key)
{
    return str_starts(key, STR("$"));
}

/* A patch's own value without its directives: what a new member becomes. */
static struct value *plain(struct arena *arena, const struct value *patch)
{
    struct value *result;

    if (value_kind(patch) == JSON_ARRAY) {
        result = value_array(arena);
        for (struct value *m = value_first(patch); m; m = value_next(m))
            if (!str_eq(value_text(value_get(m, STR("$patch"))), STR("delete")))
                value_append(result, plain(arena, m));
        return result;
    }
    if (value_kind(patch) != JSON_OBJECT)
        return value_clone(arena, patch);
    result = value_object(arena);
    for (struct value *m = value_first(patch); m; m = value_next(m))
        if (!is_directive(value_key(m)) && value_kind(m) != JSON_NULL)
            value_set(arena, result, value_key(m), plain(arena, m));
    return result;
}

static struct value *element_by(const struct value *list, struct str key, const struct value *id)
{
    for (struct value *m = value_first(list); m; m = value_next(m))
        if (value_equal(value_get(m, key), id))
            return m;
    return NULL;
}

static bool has_element(const struct value *list, const struct value *element)
{
    for (struct value *m = value_first(list); m; m = value_next(m))
        if (value_equal(m, element))
            return true;
    return false;
}

static bool has_replace(const struct value *patch)
{
    for (struct value *m = value_first(patch); m; m = value_next(m))
        if (str_eq(value_text(value_get(m, STR("$patch"))), STR("replace")))
            return true;
    return false;
}

/* Elements of the document, merged with their namesakes of the patch; then the patch's new ones. */
static struct value *merge_by_key(struct arena *arena, const struct schema *schema,
                                  const struct value *document, const struct value *patch)
{
    struct value *result = value_array(arena);
    struct str key = schema->merge_key;

    for (struct value *m = value_first(document); m; m = value_next(m)) {
        const struct value *over = element_by(patch, key, value_get(m, key));

        if (!over)
            value_append(result, value_clone(arena, m));
        else if (!str_eq(value_text(value_get(over, STR("$patch"))), STR("delete")))
            value_append(result, merge(arena, schema->items, m, over));
    }
    for (struct value *m = value_first(patch); m; m = value_next(m)) {
        struct str directive = value_text(value_get(m, STR("$patch")));

        if (value_get(m, key) && !element_by(document, key, value_get(m, key)) &&
            !str_eq(directive, STR("delete")))
            value_append(result, plain(arena, m));
    }
    return result;
}

static struct value *merge_set(struct arena *arena, const struct value *document,
                               const struct value *patch)
{
    struct value *result = value_array(arena);

    for (struct value *m = value_first(document); m; m = value_next(m))
        value_append(result, value_clone(arena, m));
    for (struct value *m = value_first(patch); m; m = value_next(m))
        if (!has_element(result, m))
            value_append(result, value_clone(arena, m));
    return result;
}

/* Elements named in `order` first and in its order; the others keep their place behind. */
static struct value *in_order(struct arena *arena, const struct schema *schema,
                              const struct value *list, const struct value *order)
{
    struct value *result = value_array(arena);
    bool by_key = schema && schema->merge_key.len && !str_eq(schema->merge_key, STR("+"));

    for (struct value *o = value_first(order); o; o = value_next(o))
        for (struct value *m = value_first(list); m; m = value_next(m))
            if (by_key
                    ? value_equal(value_get(m, schema->merge_key), value_get(o, schema->merge_key))
                    : value_equal(m, o))
                value_append(result, value_clone(arena, m));
    for (struct value *m = value_first(list); m; m = value_next(m)) {
        bool named =
            by_key ? element_by(order, schema->merge_key, value_get(m, schema->merge_key)) != NULL
                   : has_element(order, m);

        if (!named)
            value_append(result, value_clone(arena, m));
    }
    return result;
}

static void apply_list_directive(struct arena *arena, const struct schema *schema,
                                 struct value *result, const struct value *directive)
{
    struct str key = value_key(directive);
    ptrdiff_t slash = str_find_char(key, '/', 0);
    struct str list = str_slice(key, (size_t)(slash + 1), key.len);
    struct value *now = value_get(result, list);
    struct value *kept;

    if (slash < 0 || value_kind(now) != JSON_ARRAY)
        return;
    if (str_starts(key, STR("$setElementOrder/"))) {
        value_set(arena, result, list,
                  in_order(arena, schema_property(schema, list), now, directive));
        return;
    }
    kept = value_array(arena);
    for (struct value *m = value_first(now); m; m = value_next(m))
        if (!has_element(directive, m))
            value_append(kept, value_clone(arena, m));
    value_set(arena, result, list, kept);
}

static void retain_keys(struct value *result, const struct value *names, struct arena *arena)
{
    struct str_list gone = str_list_new(arena, 0);

    for (struct value *m = value_first(result); m; m = value_next(m)) {
        bool kept = false;

        for (struct value *n = value_first(names); n; n = value_next(n))
            kept = kept || str_eq(value_text(n), value_key(m));
        if (!kept)
            str_list_push(&gone, value_key(m));
    }
    for (uint32_t i = 0; i < gone.count; i++)
        value_remove(result, gone.items[i]);
}

static struct value *merge_member(struct arena *arena, const struct schema *of,
                                  const struct value *now, const struct value *over)
{
    if (value_kind(over) == JSON_OBJECT && value_kind(now) == JSON_OBJECT)
        return merge(arena, of, now, over);
    if (value_kind(over) == JSON_ARRAY && value_kind(now) == JSON_ARRAY && of &&
        of->merge_key.len && !has_replace(over))
        return str_eq(of->merge_key, STR("+")) ? merge_set(arena, now, over)
                                               : merge_by_key(arena, of, now, over);
    return plain(arena, over);
}

static struct value *merge(struct arena *arena, const struct schema *schema,
                           const struct value *document, const struct value *patch)
{
    struct value *result = value_clone(arena, document);

    if (str_eq(value_text(value_get(patch, STR("$patch"))), STR("replace")))
        return plain(arena, patch);
    for (struct value *m = value_first(patch); m; m = value_next(m)) {
        struct str key = value_key(m);
        const struct schema *of = schema_property(schema, key);

        if (is_directive(key))
            continue;
        if (!of && schema)
            of = schema->additional;
        if (value_kind(m) == JSON_NULL ||
            str_eq(value_text(value_get(m, STR("$patch"))), STR("delete")))
            value_remove(result, key);
        else
            value_set(arena, result, key, merge_member(arena, of, value_get(result, key), m));
    }
    for (struct value *m = value_first(patch); m; m = value_next(m)) {
        if (str_starts(value_key(m), STR("$deleteFromPrimitiveList/")) ||
            str_starts(value_key(m), STR("$setElementOrder/")))
            apply_list_directive(arena, schema, result, m);
        else if (str_eq(value_key(m), STR("$retainKeys")))
            retain_keys(result, m, arena);
    }
    return result;
}

int strategic_merge(struct arena *arena, const struct schema *schema, const struct value *document,
                    const struct value *patch, struct value **ret_result, struct error *err)
{
    if (value_kind(patch) != JSON_OBJECT)
        return error_set(err, ERROR_BAD_REQUEST,
                         "a strategic merge patch must be an object with the members to change");
    *ret_result = merge(arena, schema, document, patch);
    return 0;
}
