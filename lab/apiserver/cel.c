/* cel.c: the part of CEL that match conditions of admission webhooks use in practice: || && ! ( )
 * == != in, literals, lists, has(), startsWith() endsWith() contains(), size() and paths below
 * request, object and oldObject. All else is "cannot tell", never a guess. Source: the language
 * definition of cel-spec; kubernetes.io "Match conditions". */
#include "lab/apiserver/cel.h"

#include <ctype.h>

enum kind { CEL_NOTHING, CEL_BOOL, CEL_TEXT, CEL_NUMBER, CEL_NULL, CEL_JSON, CEL_LIST };

struct cel {
    enum kind kind; /* CEL_NOTHING: an error or not understood; || and && may absorb it */
    bool truth;
    struct str text;
    int64_t number;
    struct json json;
    struct cel *items; /* of a literal list */
    uint32_t count;
};

enum { LIST_MAX = 64, DEPTH_MAX = 32 };

struct parser {
    struct arena *arena;
    struct str text;
    size_t at;
    struct json request;
    bool broken; /* not in the grammar */
    struct str why; /* the first error that is none of the grammar, "" = none */
    int depth;
};

static struct cel nothing(void)
{
    return (struct cel){ .kind = CEL_NOTHING };
}

static struct cel truth(bool is)
{
    return (struct cel){ .kind = CEL_BOOL, .truth = is };
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.len && isspace((unsigned char)p->text.at[p->at]))
        p->at++;
}

static bool take(struct parser *p, const char *what)
{
    skip_space(p);
    if (!str_starts(str_slice(p->text, p->at, p->text.len), str_of(what)))
        return false;
    p->at += strlen(what);
    return true;
}

static struct str take_word(struct parser *p)
{
    size_t from;

    skip_space(p);
    from = p->at;
    while (p->at < p->text.len &&
           (isalnum((unsigned char)p->text.at[p->at]) || p->text.at[p->at] == '_'))
        p->at++;
    return str_slice(p->text, from, p->at);
}

static struct cel broken(struct parser *p)
{
    p->broken = true;
    return nothing();
}

static struct cel of_json(struct json json)
{
    struct cel value = { .kind = CEL_JSON, .json = json };

    switch (json_kind(json)) {
    case JSON_ABSENT:
        return nothing();
    case JSON_NULL:
        value.kind = CEL_NULL;
        break;
    case JSON_BOOL:
        return truth(json_bool(json));
    case JSON_STRING:
        value.kind = CEL_TEXT;
        value.text = json_str(json);
        break;
    case JSON_NUMBER:
        if (json_int64(json, &value.number))
            value.kind = CEL_NUMBER;
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return value;
}

static struct cel parse_or(struct parser *p);

static struct cel parse_quoted(struct parser *p, char quote)
{
    struct strbuf text = strbuf_new(p->arena, 32);

    while (p->at < p->text.len && p->text.at[p->at] != quote) {
        if (p->text.at[p->at] == '\\')
            return broken(p);
        strbuf_char(&text, p->text.at[p->at++]);
    }
    if (p->at >= p->text.len)
        return broken(p);
    p->at++;
    return (struct cel){ .kind = CEL_TEXT, .text = strbuf_str(&text) };
}

static struct cel parse_list(struct parser *p)
{
    struct cel list = { .kind = CEL_LIST, .items = arena_array(p->arena, struct cel, LIST_MAX) };

    if (take(p, "]"))
        return list;
    do {
        if (list.count == LIST_MAX)
            return broken(p);
        list.items[list.count++] = parse_or(p);
    } while (take(p, ","));
    return take(p, "]") ? list : broken(p);
}

/* has(object.spec.x): the path must be a plain one. */
static struct cel parse_has(struct parser *p)
{
    struct str why = p->why;
    struct cel value = parse_or(p);

    p->why = why;

    if (!take(p, ")"))
        return broken(p);
    return truth(value.kind != CEL_NOTHING);
}

static struct cel parse_size(struct parser *p)
{
    struct cel value = parse_or(p);
    struct cel size = { .kind = CEL_NUMBER };

    if (!take(p, ")"))
        return broken(p);
    if (value.kind == CEL_TEXT)
        size.number = (int64_t)value.text.len;
    else if (value.kind == CEL_LIST)
        size.number = value.count;
    else if (value.kind == CEL_JSON)
        size.number = json_count(value.json);
    else
        return nothing();
    return size;
}

static struct cel parse_root(struct parser *p)
{
    struct str word = take_word(p);
    uint64_t number;

    if (str_eq(word, STR("true")) || str_eq(word, STR("false")))
        return truth(word.len == 4);
    if (str_eq(word, STR("null")))
        return (struct cel){ .kind = CEL_NULL };
    if (str_eq(word, STR("request")))
        return of_json(p->request);
    if (str_eq(word, STR("object")) || str_eq(word, STR("oldObject"))) {
        struct json object = json_get(p->request, word);

        /* On a creation there is no old object, and CEL sees null. */
        return json_is(object, JSON_ABSENT) ? (struct cel){ .kind = CEL_NULL } : of_json(object);
    }
    if (str_eq(word, STR("has")) && take(p, "("))
        return parse_has(p);
    if (str_eq(word, STR("size")) && take(p, "("))
        return parse_size(p);
    if (word.len && str_to_u64(word, &number) && number <= INT64_MAX)
        return (struct cel){ .kind = CEL_NUMBER, .number = (int64_t)number };
    return broken(p);
}

static struct cel parse_primary(struct parser *p)
{
    struct cel value;

    if (take(p, "(")) {
        value = parse_or(p);
        return take(p, ")") ? value : broken(p);
    }
    if (take(p, "["))
        return parse_list(p);
    if (take(p, "'"))
        return parse_quoted(p, '\'');
    if (take(p, "\""))
        return parse_quoted(p, '"');
    return parse_root(p);
}

static struct cel call(struct parser *p, const struct cel *on, struct str name)
{
    struct cel argument = parse_or(p);
    bool known = str_eq(name, STR("startsWith")) || str_eq(name, STR("endsWith")) ||
                 str_eq(name, STR("contains"));

    if (!known || !take(p, ")"))
        return broken(p);
    if (on->kind != CEL_TEXT || argument.kind != CEL_TEXT)
        return nothing();
    if (str_eq(name, STR("startsWith")))
        return truth(str_starts(on->text, argument.text));
    if (str_eq(name, STR("endsWith")))
        return truth(str_ends(on->text, argument.text));
    return truth(str_find(on->text, argument.text, 0) >= 0);
}

static struct cel member(struct parser *p, const struct cel *of, struct str name)
{
    struct cel value = of->kind == CEL_JSON ? of_json(json_get(of->json, name)) : nothing();

    if (value.kind == CEL_NOTHING && p->why.len == 0)
        p->why = str_fmt(p->arena, "no such key: %.*s", STR_ARG(name));
    return value;
}

static struct cel parse_path(struct parser *p)
{
    struct cel value = parse_primary(p);

    while (!p->broken) {
        if (take(p, ".")) {
            struct str name = take_word(p);

            if (name.len == 0)
                return broken(p);
            value = take(p, "(") ? call(p, &value, name) : member(p, &value, name);
        } else if (take(p, "[")) {
            struct cel key = parse_or(p);

            if (!take(p, "]"))
                return broken(p);
            value = key.kind == CEL_TEXT ? member(p, &value, key.text) : nothing();
        } else {
            break;
        }
    }
    return value;
}

static bool equal(const struct cel *a, const struct cel *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_BOOL:
        return a->truth == b->truth;
    case CEL_TEXT:
        return str_eq(a->text, b->text);
    case CEL_NUMBER:
        return a->number == b->number;
    case CEL_NULL:
        return true;
    case CEL_JSON:
        return json_equal(a->json, b->json);
    case CEL_LIST:
    case CEL_NOTHING:
        return false;
    }
    return false;
}

static struct cel is_in(const struct cel *element, const struct cel *list)
{
    struct json_iter it;

    if (element->kind == CEL_NOTHING)
        return nothing();
    if (list->kind == CEL_LIST) {
        for (uint32_t i = 0; i < list->count; i++)
            if (equal(element, &list->items[i]))
                return truth(true);
        return truth(false);
    }
    if (list->kind != CEL_JSON)
        return nothing();
    if (json_is(list->json, JSON_OBJECT))
        return truth(element->kind == CEL_TEXT &&
                     !json_is(json_get(list->json, element->text), JSON_ABSENT));
    it = json_iter(list->json);
    while (json_next(&it)) {
        struct cel one = of_json(it.value);

        if (equal(element, &one))
            return truth(true);
    }
    return truth(false);
}

static struct cel parse_compared(struct parser *p)
{
    struct cel left = parse_path(p);
    struct cel right;
    bool unequal;

    if (take(p, "in ") || take(p, "in[")) {
        if (p->text.at[p->at - 1] == '[')
            p->at--;
        right = parse_path(p);
        return is_in(&left, &right);
    }
    unequal = take(p, "!=");
    if (!unequal && !take(p, "=="))
        return left;
    right = parse_path(p);
    if (left.kind == CEL_NOTHING || right.kind == CEL_NOTHING)
        return nothing();
    return truth(equal(&left, &right) != unequal);
}

static struct cel parse_not(struct parser *p)
{
    struct cel value;

    skip_space(p);
    if (p->at + 1 < p->text.len && p->text.at[p->at] == '!' && p->text.at[p->at + 1] != '=') {
        p->at++;
        value = parse_not(p);
        return value.kind == CEL_BOOL ? truth(!value.truth) : nothing();
    }
    return parse_compared(p);
}

/* One side may decide alone, whatever became of the other. */
static struct cel parse_and(struct parser *p)
{
    struct cel left = parse_not(p);

    while (take(p, "&&")) {
        struct cel right = parse_not(p);

        if ((left.kind == CEL_BOOL && !left.truth) || (right.kind == CEL_BOOL && !right.truth))
            left = truth(false);
        else if (left.kind != CEL_BOOL || right.kind != CEL_BOOL)
            left = nothing();
    }
    return left;
}

static struct cel parse_or(struct parser *p)
{
    struct cel left;

    if (++p->depth > DEPTH_MAX)
        return broken(p);
    left = parse_and(p);
    while (take(p, "||")) {
        struct cel right = parse_and(p);

        if ((left.kind == CEL_BOOL && left.truth) || (right.kind == CEL_BOOL && right.truth))
            left = truth(true);
        else if (left.kind != CEL_BOOL || right.kind != CEL_BOOL)
            left = nothing();
    }
    p->depth--;
    return left;
}

enum cel_answer cel_holds(struct arena *arena, struct str expression, struct json request,
                          struct str *ret_why)
{
    struct parser p = { .arena = arena, .text = expression, .request = request, .why = STR("") };
    struct cel value = parse_or(&p);

    skip_space(&p);
    *ret_why = STR("");
    if (p.broken || p.at != expression.len)
        *ret_why = STR("herd-lab does not evaluate it; it knows " CEL_KNOWN);
    else if (value.kind != CEL_BOOL)
        *ret_why = p.why.len ? p.why : STR("no such overload");
    else
        return value.truth ? CEL_TRUE : CEL_FALSE;
    return CEL_UNKNOWN;
}

/* All of an expression is read whatever its values are, so an empty request will do. */
bool cel_understands(struct arena *arena, struct str expression)
{
    struct parser p = { .arena = arena, .text = expression, .why = STR("") };
    struct error err;

    if (json_read(arena, STR("{}"), &json_limits_default, &p.request, &err) != 0)
        return false;
    parse_or(&p);
    skip_space(&p);
    return !p.broken && p.at == expression.len;
}
