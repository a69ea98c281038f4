/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c: label and field selectors of lists and watches. */
#include "lab/apiserver/request.h"

struct field_term {
    struct str name, value;
    bool unequal;
    const struct jsonpath *path; /* NULL: metadata.name or metadata.namespace */
};

LIST_DEFINE(field_term_list, struct field_term)

struct field_terms {
    struct field_term_list list;
};

static int bad_field(struct request *rq, struct str name)
{
    return fail_bad_request(
        &rq->failure, kind_has(rq->kind, KIND_CUSTOM)
                          ? str_fmt(rq->arena, "field label not supported: %.*s", STR_ARG(name))
                          : str_fmt(rq->arena,
                                    "\"%.*s\" is not a known field selector: only "
                                    "\"metadata.name\", \"metadata.namespace\"",
                                    STR_ARG(name)));
}

static int find_path(struct request *rq, struct field_term *term)
{
    if (str_eq(term->name, STR("metadata.name")) || str_eq(term->name, STR("metadata.namespace")))
        return 0;
    for (uint32_t i = 0; i < rq->kind->selectable.count; i++)
        if (str_eq(rq->kind->selectable.items[i].name, term->name)) {
            term->path = rq->kind->selectable.items[i].path;
            return 0;
        }
    return bad_field(rq, term->name);
}

/* "a=b", "a==b" or "a!=b" */
static int parse_term(struct request *rq, struct str text, struct field_term *ret_term)
{
    struct field_term term = { 0 };
    ptrdiff_t at = str_find_char(text, '=', 0);

    if (at <= 0)
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena, "invalid field selector: '%.*s' has no '='",
                                        STR_ARG(str_shown(rq->arena, text, 200))));
    term.unequal = text.at[at - 1] == '!';
    term.name = str_trim(str_slice(text, 0, (size_t)(term.unequal ? at - 1 : at)));
    if ((size_t)at + 1 < text.len && text.at[at + 1] == '=')
        at++;
    term.value = str_trim(str_slice(text, (size_t)at + 1, text.len));
    *ret_term = term;
    return find_path(rq, ret_term);
}

int selection_read(struct request *rq, struct str label_selector, struct str field_selector,
                   struct selection *ret_selection)
{
    struct selection s = { .labels = selector_new(rq->arena) };
    struct str rest = field_selector;
    struct str part;
    struct error err;

    s.fields = arena_new(rq->arena, struct field_terms);
    s.fields->list = field_term_list_new(rq->arena, 0);
    if (label_selector.len && selector_parse(rq->arena, label_selector, &s.labels, &err) != 0)
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena, "unable to parse requirement: %s", err.text));
    while (rest.len && str_split(&rest, ',', &part)) {
        struct field_term term = { .unequal = false };

        if (part.len == 0)
            continue;
        if (parse_term(rq, part, &term) != 0)
            return -1;
        field_term_list_push(&s.fields->list, term);
    }
    s.selects = s.labels.all.count || s.fields->list.count;
    *ret_selection = s;
    return 0;
}

static struct str field_of(struct request *rq, const struct field_term *term, struct json object)
{
    struct json_list found = json_list_new(rq->arena, 1);

    if (!term->path)
        return json_str(json_walk(object, "metadata",
                                  str_ends(term->name, STR(".name")) ? "name" : "namespace", NULL));
    jsonpath_find(term->path, object, &found);
    if (found.count == 0)
        return STR("");
    return json_is(found.items[0], JSON_STRING) ? json_str(found.items[0])
                                                : json_raw(found.items[0]);
}

bool selection_holds(struct request *rq, const struct selection *s, struct str object)
{
    struct json json;
    struct error err;

    if (!s->selects)
        return true;
    if (object.len == 0 || json_read(rq->arena, object, &json_limits_default, &json, &err) != 0)
        return false;
    if (!selector_matches(NULL, &s->labels, json_walk(json, "metadata", "labels", NULL)))
        return false;
    for (uint32_t i = 0; i < s->fields->list.count; i++) {
        const struct field_term *term = &s->fields->list.items[i];

        if (str_eq(field_of(rq, term, json), term->value) == term->unequal)
            return false;
    }
    return true;
}

struct str selection_name(const struct selection *s)
{
    for (uint32_t i = 0; i < s->fields->list.count; i++) {
        const struct field_term *term = &s->fields->list.items[i];

        if (!term->unequal && str_eq(term->name, STR("metadata.name")))
            return term->value;
    }
    return STR("");
}
