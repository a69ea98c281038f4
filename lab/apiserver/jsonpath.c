/* SPDX-License-Identifier: Apache-2.0 */
/* jsonpath.c: a path is a list of steps; each maps the values found so far to the next ones. */
#include "lab/apiserver/jsonpath.h"

enum step_kind { STEP_FIELD, STEP_INDEX, STEP_ALL, STEP_FILTER };

struct step {
    enum step_kind kind;
    struct str name;  /* of a field; of a filter, the member compared */
    struct str value; /* of a filter */
    bool unequal;     /* of a filter */
    int64_t index;
};

LIST_DEFINE(steps, struct step)

struct jsonpath {
    struct steps steps;
};

struct parser {
    struct arena *arena;
    struct str text;
    size_t at;
};

static bool at_end(const struct parser *p)
{
    return p->at >= p->text.len;
}

static bool take(struct parser *p, struct str what)
{
    if (!str_starts(str_slice(p->text, p->at, p->text.len), what))
        return false;
    p->at += what.len;
    return true;
}

/* Up to the first of `stops`; a backslash takes the next character as it is. */
static struct str word(struct parser *p, const char *stops)
{
    struct strbuf out = strbuf_new(p->arena, 16);

    while (!at_end(p) && !strchr(stops, p->text.at[p->at])) {
        if (p->text.at[p->at] == '\\' && p->at + 1 < p->text.len)
            p->at++;
        strbuf_char(&out, p->text.at[p->at++]);
    }
    return strbuf_str(&out);
}

static bool quoted(struct parser *p, struct str *ret_text)
{
    char quote[2] = { at_end(p) ? '\0' : p->text.at[p->at], '\0' };

    if (quote[0] != '\'' && quote[0] != '"')
        return false;
    p->at++;
    *ret_text = word(p, quote);
    return take(p, str_of(quote));
}

/* Behind "?(": @.type=="Ready")] */
static bool filter(struct parser *p, struct step *ret_step)
{
    ret_step->kind = STEP_FILTER;
    if (!take(p, STR("@.")))
        return false;
    ret_step->name = str_trim(word(p, "=!)"));
    if (take(p, STR("!=")))
        ret_step->unequal = true;
    else if (!take(p, STR("==")))
        return false;
    while (take(p, STR(" ")))
        continue;
    if (!quoted(p, &ret_step->value))
        ret_step->value = str_trim(word(p, ")"));
    return take(p, STR(")]"));
}

static bool bracket(struct parser *p, struct step *ret_step)
{
    struct str text;
    bool negative;
    uint64_t number;

    if (take(p, STR("*]"))) {
        ret_step->kind = STEP_ALL;
        return true;
    }
    if (take(p, STR("?(")))
        return filter(p, ret_step);
    if (quoted(p, &text)) {
        ret_step->kind = STEP_FIELD;
        ret_step->name = text;
        return take(p, STR("]"));
    }
    negative = take(p, STR("-"));
    if (!str_to_u64(word(p, "]"), &number) || number > 1000000)
        return false;
    ret_step->kind = STEP_INDEX;
    ret_step->index = negative ? -(int64_t)number : (int64_t)number;
    return take(p, STR("]"));
}

struct jsonpath *jsonpath_compile(struct arena *arena, struct str text, struct error *err)
{
    struct parser p = { arena, str_trim(text), 0 };
    struct jsonpath *path = arena_new(arena, struct jsonpath);

    path->steps = steps_new(arena, 4);
    if (take(&p, STR("{")) && str_ends(p.text, STR("}")))
        p.text.len--;
    take(&p, STR("$"));
    while (!at_end(&p)) {
        struct step step = { .kind = STEP_FIELD };

        if (take(&p, STR("["))) {
            if (!bracket(&p, &step)) {
                error_set(err, ERROR_INVALID, "unsupported JSON path \"%.*s\"", STR_ARG(text));
                return NULL;
            }
        } else if (take(&p, STR("."))) {
            if (at_end(&p))
                break;
            if (take(&p, STR("*")))
                step.kind = STEP_ALL;
            else
                step.name = word(&p, ".[");
        } else {
            error_set(err, ERROR_INVALID, "a JSON path begins with '.', \"%.*s\" does not",
                      STR_ARG(text));
            return NULL;
        }
        if (step.kind != STEP_FIELD || step.name.len)
            steps_push(&path->steps, step);
    }
    return path;
}

static bool passes(const struct step *step, struct json element)
{
    struct json member = element;
    struct str rest = step->name;
    struct str part;

    while (str_split(&rest, '.', &part))
        member = json_get(member, part);

    struct str text = json_is(member, JSON_STRING) ? json_str(member) : json_raw(member);

    return str_eq(text, step->value) != step->unequal;
}

static void apply(const struct step *step, struct json value, struct json_list *next)
{
    struct json_iter it = json_iter(value);
    int64_t index = step->index;

    switch (step->kind) {
    case STEP_FIELD:
        if (!json_is(json_get(value, step->name), JSON_ABSENT))
            json_list_push(next, json_get(value, step->name));
        return;
    case STEP_INDEX:
        if (index < 0)
            index += json_count(value);
        while (json_is(value, JSON_ARRAY) && json_next(&it))
            if (it.position == index)
                json_list_push(next, it.value);
        return;
    case STEP_ALL:
        while (json_next(&it))
            json_list_push(next, it.value);
        return;
    case STEP_FILTER:
        while (json_next(&it))
            if (passes(step, it.value))
                json_list_push(next, it.value);
        return;
    }
}

void jsonpath_find(const struct jsonpath *path, struct json root, struct json_list *ret_found)
{
    struct json_list now = json_list_new(ret_found->arena, 1);

    json_list_push(&now, root);
    for (uint32_t i = 0; i < path->steps.count; i++) {
        struct json_list next = json_list_new(ret_found->arena, 4);

        for (uint32_t k = 0; k < now.count; k++)
            apply(&path->steps.items[i], now.items[k], &next);
        now = next;
    }
    *ret_found = now;
}
