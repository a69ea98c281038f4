/* SPDX-License-Identifier: Apache-2.0 */
/* promql.c: read and evaluated in one walk over the text. */
#include "lab/rancher/promql.h"

#include "text/regex.h"

#include <stdlib.h>

struct reader {
    struct arena *arena;
    struct str query;
    size_t at;
    struct error *err;
};

struct matcher {
    struct str label;
    struct str text;
    bool negated;
    struct regex *regex; /* NULL: the text itself */
};
LIST_DEFINE(matchers, struct matcher)

static int wrong(struct reader *r, const char *expected)
{
    return error_set(r->err, ERROR_INVALID, "1:%zu: the lab's Prometheus expects %s", r->at + 1,
                     expected);
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->query.len && (r->query.at[r->at] == ' ' || r->query.at[r->at] == '\n'))
        r->at++;
}

static bool take(struct reader *r, struct str token)
{
    skip_blanks(r);
    if (!str_starts(str_slice(r->query, r->at, r->query.len), token))
        return false;
    r->at += token.len;
    return true;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '.';
}

static struct str take_name(struct reader *r)
{
    size_t from;

    skip_blanks(r);
    from = r->at;
    while (r->at < r->query.len && is_name_char(r->query.at[r->at]))
        r->at++;
    return str_slice(r->query, from, r->at);
}

/* Between quotes; escapes are left as they are, which regular expressions read alike. */
static int take_text(struct reader *r, struct str *ret_text)
{
    size_t from;

    if (!take(r, STR("\"")))
        return wrong(r, "a quoted text");
    from = r->at;
    while (r->at < r->query.len && r->query.at[r->at] != '"')
        r->at++;
    *ret_text = str_slice(r->query, from, r->at);
    return take(r, STR("\"")) ? 0 : wrong(r, "the end of a text");
}

static int read_matcher(struct reader *r, struct matchers *matchers)
{
    struct matcher matcher = { .label = take_name(r) };
    bool regex;

    if (!matcher.label.len)
        return wrong(r, "the name of a label");
    regex = take(r, STR("=~"));
    matcher.negated = !regex && (take(r, STR("!~")) ? (regex = true) : take(r, STR("!=")));
    if (!regex && !matcher.negated && !take(r, STR("=")))
        return wrong(r, "=, !=, =~ or !~");
    if (take_text(r, &matcher.text) < 0)
        return -1;
    if (regex && !(matcher.regex = regex_create(matcher.text, r->err)))
        return -1;
    matchers_push(matchers, matcher);
    return 0;
}

static int read_matchers(struct reader *r, struct matchers *matchers)
{
    if (!take(r, STR("{")) || take(r, STR("}")))
        return 0;
    do {
        if (read_matcher(r, matchers) < 0)
            return -1;
    } while (take(r, STR(",")));
    return take(r, STR("}")) ? 0 : wrong(r, ", or }");
}

static struct str value_of(const struct prom_series *series, struct str label)
{
    for (uint32_t i = 0; i < series->labels.count; i++)
        if (str_eq(series->labels.items[i].name, label))
            return series->labels.items[i].value;
    return STR("");
}

static bool matches(const struct prom_series *series, const struct matchers *matchers)
{
    for (uint32_t i = 0; i < matchers->count; i++) {
        const struct matcher *m = &matchers->items[i];
        struct str value = value_of(series, m->label);
        bool same = m->regex ? regex_match(m->regex, value) == REGEX_YES : str_eq(value, m->text);

        if (same == m->negated)
            return false;
    }
    return true;
}

static bool same_labels(const struct prom_series *a, const struct prom_series *b)
{
    if (a->labels.count != b->labels.count)
        return false;
    for (uint32_t i = 0; i < a->labels.count; i++)
        if (!str_eq(value_of(b, a->labels.items[i].name), a->labels.items[i].value))
            return false;
    return true;
}

static bool is_among(const struct prom_series *one, const struct prom_series_list *list,
                     uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (same_labels(one, &list->items[i]))
            return true;
    return false;
}

struct term {
    double factor;
    struct str name;
    bool unnamed; /* what comes of it has no name */
    struct matchers matchers;
    enum { FOLD_NONE, FOLD_MIN, FOLD_COUNT } fold;
    struct str_list by; /* labels that stay */
};

static int read_factor(struct reader *r, struct term *term)
{
    struct reader before;
    struct str number;

    skip_blanks(r);
    before = *r;
    number = take_name(r);
    if (number.len && number.at[0] >= '0' && number.at[0] <= '9') {
        term->factor = strtod(str_z(r->arena, number), NULL);
        term->unnamed = true;
        return take(r, STR("*")) ? 0 : wrong(r, "*");
    }
    r->at = before.at;
    return 0;
}

/* Behind "by (". What is folded may be of all names. */
static int read_fold(struct reader *r, struct term *term)
{
    term->unnamed = true;
    do {
        struct str label = take_name(r);

        if (!label.len)
            return wrong(r, "the name of a label");
        str_list_push(&term->by, label);
    } while (take(r, STR(",")));
    if (!take(r, STR(")")) || !take(r, STR("(")))
        return wrong(r, ") (");
    term->name = take_name(r);
    if (read_matchers(r, &term->matchers) < 0)
        return -1;
    return take(r, STR(")")) ? 0 : wrong(r, ")");
}

static int read_term(struct reader *r, struct term *term)
{
    bool averaged;

    if (read_factor(r, term) < 0)
        return -1;
    term->fold = take(r, STR("min by ("))     ? FOLD_MIN
                 : take(r, STR("count by (")) ? FOLD_COUNT
                                              : FOLD_NONE;
    if (term->fold != FOLD_NONE)
        return read_fold(r, term);
    averaged = take(r, STR("avg_over_time("));
    term->name = take_name(r);
    if (!term->name.len)
        return wrong(r, "the name of a metric, or avg_over_time(");
    if (read_matchers(r, &term->matchers) < 0)
        return -1;
    term->unnamed = term->unnamed || averaged;
    if (!averaged)
        return 0;
    if (!take(r, STR("[")) || !take_name(r).len || !take(r, STR("]")) || !take(r, STR(")")))
        return wrong(r, "[duration])");
    return 0;
}

/* What is left of it, with the value that stands for it alone. */
static struct prom_series folded(const struct term *term, struct prom_series one)
{
    struct prom_labels labels = prom_labels_new(term->by.arena, term->by.count);

    for (uint32_t i = 0; i < term->by.count; i++)
        prom_labels_push(
            &labels, (struct prom_label){ term->by.items[i], value_of(&one, term->by.items[i]) });
    one.labels = labels;
    one.value = term->fold == FOLD_COUNT ? 1 : one.value;
    return one;
}

/* True: it went into what stands from `left` on. */
static bool fold_in(const struct term *term, const struct prom_series *one, uint32_t left,
                    struct prom_series_list *vector)
{
    for (uint32_t i = left; i < vector->count; i++) {
        struct prom_series *whole = &vector->items[i];

        if (!same_labels(one, whole))
            continue;
        whole->value = term->fold == FOLD_COUNT    ? whole->value + 1
                       : one->value < whole->value ? one->value
                                                   : whole->value;
        return true;
    }
    return false;
}

static void apply(const struct term *term, const struct prom_series_list *all,
                  struct prom_series_list *vector)
{
    uint32_t left = vector->count;

    for (uint32_t i = 0; i < all->count; i++) {
        struct prom_series one = all->items[i];

        if ((term->name.len && !str_eq(one.name, term->name)) || !matches(&one, &term->matchers))
            continue;
        if (term->fold != FOLD_NONE)
            one = folded(term, one);
        if (is_among(&one, vector, left) ||
            (term->fold != FOLD_NONE && fold_in(term, &one, left, vector)))
            continue;
        one.value *= term->factor;
        one.name = term->unnamed ? STR("") : one.name;
        prom_series_list_push(vector, one);
    }
}

static int evaluate_term(struct reader *r, const struct prom_series_list *all,
                         struct prom_series_list *vector)
{
    struct term term = { .factor = 1,
                         .matchers = matchers_new(r->arena, 4),
                         .by = str_list_new(r->arena, 4) };
    int result = read_term(r, &term);

    if (result == 0)
        apply(&term, all, vector);
    for (uint32_t i = 0; i < term.matchers.count; i++)
        regex_free(term.matchers.items[i].regex);
    return result;
}

int promql_evaluate(struct arena *arena, struct str query, const struct prom_series_list *all,
                    struct prom_series_list *ret_vector, struct error *err)
{
    struct reader r = { .arena = arena, .query = query, .err = err };

    *ret_vector = prom_series_list_new(arena, 64);
    do {
        if (evaluate_term(&r, all, ret_vector) < 0)
            return -1;
    } while (take(&r, STR("or ")));
    skip_blanks(&r);
    return r.at == query.len ? 0 : wrong(&r, "or, or the end");
}
