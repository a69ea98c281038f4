/* SPDX-License-Identifier: Apache-2.0 */
/* selector_text.c: selectors as a query string carries them.
 *
 *   list  := item { "," item }        item  := "!" key | key [ relation ]
 *   relation := ("=" | "==" | "!=") value | ("in" | "notin") "(" value { "," value } ")"
 *
 * White space may stand between tokens. Source: k8s.io/apimachinery/pkg/labels/selector.go. */
#include "kube/names.h"
#include "kube/selector.h"

struct reader {
    struct arena *arena;
    struct str text;
    size_t at;
    struct error *err;
};

static void skip_space(struct reader *r)
{
    while (r->at < r->text.len && strchr(" \t\r\n", r->text.at[r->at]) && r->text.at[r->at])
        r->at++;
}

static bool take(struct reader *r, struct str token)
{
    skip_space(r);
    if (!str_starts(str_slice(r->text, r->at, r->text.len), token))
        return false;
    r->at += token.len;
    return true;
}

/* Up to the next space or sign. */
static struct str take_word(struct reader *r)
{
    skip_space(r);

    size_t from = r->at;

    while (r->at < r->text.len && !strchr(" \t\r\n,()=!<>", r->text.at[r->at]))
        r->at++;
    return str_slice(r->text, from, r->at);
}

static int reject(struct reader *r, const char *why)
{
    return error_set(r->err, ERROR_BAD_REQUEST,
                     "label selector \"%.*s\", character %zu: %s; write it like "
                     "\"env=prod,tier in (a,b),!old\"",
                     STR_ARG(str_shown(r->arena, r->text, 200)), r->at + 1, why);
}

static int take_key(struct reader *r, struct str *ret_key)
{
    struct str key = take_word(r);
    const char *wrong = kube_not_label_key(key);

    if (wrong)
        return reject(r, str_z(r->arena, str_fmt(r->arena, "the key \"%.*s\" %s",
                                                 STR_ARG(str_shown(r->arena, key, 100)), wrong)));
    *ret_key = key;
    return 0;
}

static int take_value(struct reader *r, struct str_list *values)
{
    struct str value = take_word(r);
    const char *wrong = kube_not_label_value(value);

    if (wrong)
        return reject(r, str_z(r->arena, str_fmt(r->arena, "the value \"%.*s\" %s",
                                                 STR_ARG(str_shown(r->arena, value, 100)), wrong)));
    str_list_push(values, value);
    return 0;
}

static int take_set(struct reader *r, struct str_list *values)
{
    if (!take(r, STR("(")))
        return reject(r, "expected '(' and a list of values");
    do {
        if (take_value(r, values) < 0)
            return -1;
    } while (take(r, STR(",")));
    if (!take(r, STR(")")))
        return reject(r, "expected ',' or ')'");
    return 0;
}

static int take_relation(struct reader *r, struct str key, struct selector *selector)
{
    struct str_list values = str_list_new(r->arena, 0);
    enum selector_operator op = SELECTOR_IN;

    if (take(r, STR("!="))) {
        op = SELECTOR_NOT_IN;
        if (take_value(r, &values) < 0)
            return -1;
    } else if (take(r, STR("==")) || take(r, STR("="))) {
        if (take_value(r, &values) < 0)
            return -1;
    } else {
        size_t before = r->at;
        struct str word = take_word(r);

        if (word.len == 0) {
            op = SELECTOR_EXISTS;
        } else if (str_eq(word, STR("in")) || str_eq(word, STR("notin"))) {
            op = word.len == 2 ? SELECTOR_IN : SELECTOR_NOT_IN;
            if (take_set(r, &values) < 0)
                return -1;
        } else {
            r->at = before;
            return reject(r, "expected '=', '!=', 'in', 'notin' or ','");
        }
    }
    selector_add(selector, key, op, values);
    return 0;
}

static int take_item(struct reader *r, struct selector *selector)
{
    bool negated = take(r, STR("!"));
    struct str key;

    if (take_key(r, &key) < 0)
        return -1;
    if (!negated)
        return take_relation(r, key, selector);
    selector_add(selector, key, SELECTOR_DOES_NOT_EXIST, str_list_new(r->arena, 0));
    return 0;
}

int selector_parse(struct arena *arena, struct str text, struct selector *ret_selector,
                   struct error *err)
{
    struct reader r = { arena, text, 0, err };
    struct selector selector = selector_new(arena);

    if (str_trim(text).len > 0) {
        do {
            if (take_item(&r, &selector) < 0)
                return -1;
        } while (take(&r, STR(",")));
        skip_space(&r);
        if (r.at < text.len)
            return reject(&r, "expected ',' or the end");
    }
    *ret_selector = selector;
    return 0;
}

static void put_requirement(struct strbuf *out, const struct selector_requirement *requirement)
{
    if (requirement->op == SELECTOR_DOES_NOT_EXIST)
        strbuf_char(out, '!');
    strbuf_put(out, requirement->key);
    if (requirement->op == SELECTOR_EXISTS || requirement->op == SELECTOR_DOES_NOT_EXIST)
        return;
    if (requirement->values.count == 1) {
        strbuf_put(out, requirement->op == SELECTOR_IN ? STR("=") : STR("!="));
        strbuf_put(out, requirement->values.items[0]);
        return;
    }
    strbuf_put(out, requirement->op == SELECTOR_IN ? STR(" in (") : STR(" notin ("));
    for (uint32_t v = 0; v < requirement->values.count; v++) {
        if (v)
            strbuf_char(out, ',');
        strbuf_put(out, requirement->values.items[v]);
    }
    strbuf_char(out, ')');
}

struct str selector_text(struct arena *arena, const struct selector *selector)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < selector->all.count; i++) {
        if (i)
            strbuf_char(&out, ',');
        put_requirement(&out, &selector->all.items[i]);
    }
    return strbuf_str(&out);
}
