/* SPDX-License-Identifier: Apache-2.0 */
/* template.c: strings, part by part. */
#include "stack/model/template.h"

#include "kube/names.h"

static const struct str opening = STR_INIT("${cluster.");
static const struct str label_opening = STR_INIT("labels.");

/* What stands between "${cluster." and "}". */
static enum template_kind kind_of(struct str inner, struct str *ret_key)
{
    if (str_eq(inner, STR("id")))
        return TEMPLATE_ID;
    if (str_eq(inner, STR("name")))
        return TEMPLATE_NAME;
    if (!str_starts(inner, label_opening))
        return TEMPLATE_UNKNOWN;
    *ret_key = str_slice(inner, label_opening.len, inner.len);
    return kube_not_label_key(*ret_key) ? TEMPLATE_UNKNOWN : TEMPLATE_LABEL;
}

static struct template_part placeholder_at(struct str text, size_t begin)
{
    struct template_part part = { .kind = TEMPLATE_UNKNOWN };
    ptrdiff_t close = str_find_char(text, '}', begin);

    part.text = str_slice(text, begin, close < 0 ? text.len : (size_t)close + 1);
    if (close >= 0)
        part.kind = kind_of(str_slice(text, begin + opening.len, (size_t)close), &part.key);
    return part;
}

static struct template_part text_part(struct str text)
{
    return (struct template_part){ .kind = TEMPLATE_TEXT, .text = text };
}

bool template_next(struct template_iter *it, struct template_part *ret_part)
{
    ptrdiff_t found;
    size_t end;

    if (it->at >= it->text.len)
        return false;
    if (it->escaped) {
        it->escaped = false;
        *ret_part = text_part(str_slice(it->text, it->at, it->at + opening.len));
        it->at += opening.len;
        return true;
    }
    found = str_find(it->text, opening, it->at);
    end = found < 0 ? it->text.len : (size_t)found;
    if (end == it->at) {
        *ret_part = placeholder_at(it->text, end);
        it->at += ret_part->text.len;
        return true;
    }
    it->escaped = found >= 0 && it->text.at[end - 1] == '$';
    *ret_part = text_part(str_slice(it->text, it->at, end - (it->escaped ? 1 : 0)));
    it->at = end;
    return true;
}

bool template_is_one(struct str text)
{
    return str_find(text, opening, 0) >= 0;
}

/* --- use --- */

void template_use_add(struct arena *arena, struct template_use *use, struct str text)
{
    struct template_iter it = { .text = text };
    struct template_part part;

    while (template_next(&it, &part)) {
        use->id = use->id || part.kind == TEMPLATE_ID;
        use->name = use->name || part.kind == TEMPLATE_NAME;
        if (part.kind != TEMPLATE_LABEL)
            continue;
        if (!use->labels)
            use->labels = map_new(arena, 4);
        map_put(use->labels, part.key, use);
    }
}

static uint32_t label_count(const struct template_use *use)
{
    return use->labels ? map_count(use->labels) : 0;
}

struct str template_missing_label(const struct template_use *use,
                                  const struct template_facts *facts)
{
    for (uint32_t i = 0; i < label_count(use); i++)
        if (!json_is(json_get(facts->labels, map_key(use->labels, i)), JSON_STRING))
            return map_key(use->labels, i);
    return STR("");
}

static void put_fact(struct strbuf *out, bool used, struct str fact)
{
    if (used)
        strbuf_fmt(out, "%zu:%.*s", fact.len, STR_ARG(fact));
    strbuf_char(out, ';');
}

void template_put_facts(const struct template_use *use, const struct template_facts *facts,
                        struct strbuf *out)
{
    put_fact(out, use->id, facts->id);
    put_fact(out, use->name, facts->name);
    for (uint32_t i = 0; i < label_count(use); i++)
        put_fact(out, true, json_str(json_get(facts->labels, map_key(use->labels, i))));
}

/* --- expanding --- */

static struct str fact_of(const struct template_part *part, const struct template_use *use,
                          const struct template_facts *facts)
{
    struct json label;

    switch (part->kind) {
    case TEMPLATE_ID:
        return use->id ? facts->id : part->text;
    case TEMPLATE_NAME:
        return use->name ? facts->name : part->text;
    case TEMPLATE_LABEL:
        label = json_get(facts->labels, part->key);
        return use->labels && map_get(use->labels, part->key) && json_is(label, JSON_STRING)
                   ? json_str(label)
                   : part->text;
    case TEMPLATE_TEXT:
    case TEMPLATE_UNKNOWN:
        break;
    }
    return part->text;
}

bool template_expand(struct str text, const struct template_use *use,
                     const struct template_facts *facts, size_t bytes_max, struct strbuf *out)
{
    struct template_iter it = { .text = text };
    struct template_part part;
    size_t begin = out->len;

    while (template_next(&it, &part)) {
        struct str fact = fact_of(&part, use, facts);

        if (fact.len > bytes_max - (out->len - begin))
            return false;
        strbuf_put(out, fact);
    }
    return true;
}

struct str template_quote(struct arena *arena, struct str text)
{
    struct strbuf out = strbuf_new(arena, text.len + 16);
    ptrdiff_t found;
    size_t at = 0;

    while ((found = str_find(text, opening, at)) >= 0) {
        strbuf_put(&out, str_slice(text, at, (size_t)found));
        strbuf_char(&out, '$');
        strbuf_put(&out, opening);
        at = (size_t)found + opening.len;
    }
    strbuf_put(&out, str_slice(text, at, text.len));
    return strbuf_str(&out);
}

/* --- what stands for nothing --- */

static void find_in_string(struct str text, const struct path *at, template_found *found,
                           void *context)
{
    struct template_iter it = { .text = text };
    struct template_part part;

    while (template_next(&it, &part))
        if (part.kind == TEMPLATE_UNKNOWN)
            found(context, at, part.text);
}

/* As deep as the reader lets JSON be (LIMIT_JSON_DEPTH). */
void template_find_unknown(struct json value, const struct path *at, template_found *found,
                           void *context)
{
    bool object = json_is(value, JSON_OBJECT);
    struct json_iter it = json_iter(value);

    if (json_is(value, JSON_STRING))
        find_in_string(json_str(value), at, found, context);
    while (json_next(&it)) {
        struct path here = object ? path_member(at, it.key) : path_index(at, it.position);

        template_find_unknown(it.value, &here, found, context);
    }
}
