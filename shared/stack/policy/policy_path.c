/* SPDX-License-Identifier: Apache-2.0 */
/* policy_path.c: a path's text to steps, along the tables of fields.
 *
 * Each step leads from one kind of place to the next; what may follow is known from the place. */
#include "stack/policy/policy_path_steps.h"

struct compiling {
    struct arena *arena;
    unsigned kind; /* policy_kind.h */
    struct policy_path *path;
    struct str rest;
    enum policy_place place;
    const struct field_table *table; /* in PLACE_STRUCT */
    const struct field *field;       /* that led here; NULL at the top */
    struct error *err;
};

/* --- words of the text --- */

struct token {
    struct str text;
    bool in_brackets;
};

static bool is_name_char(char c)
{
    return c != '.' && c != '[' && c != ']';
}

static struct str shown(const struct compiling *c, struct str foreign)
{
    return str_shown(c->arena, foreign, 80);
}

/* 1 and a token; 0 at the end; -1 on what is no path. */
static int next_token(struct compiling *c, bool first, struct token *ret_token)
{
    size_t end = 0;

    if (c->rest.len == 0)
        return 0;
    if (c->rest.at[0] == '[') {
        ptrdiff_t close = str_find_char(c->rest, ']', 0);

        if (close < 2)
            return error_set(c->err, ERROR_SYNTAX,
                             "'[' must be followed by a key or '*', and by ']'");
        *ret_token = (struct token){ str_slice(c->rest, 1, (size_t)close), true };
        c->rest = str_slice(c->rest, (size_t)close + 1, c->rest.len);
        return 1;
    }
    if (!first && c->rest.at[0] != '.')
        return error_set(c->err, ERROR_SYNTAX, "write '.' or '[' before '%.*s'",
                         STR_ARG(shown(c, c->rest)));
    c->rest = str_slice(c->rest, first ? 0 : 1, c->rest.len);
    while (end < c->rest.len && is_name_char(c->rest.at[end]))
        end++;
    if (end == 0)
        return error_set(c->err, ERROR_SYNTAX, "the name of a field is missing");
    *ret_token = (struct token){ str_slice(c->rest, 0, end), false };
    c->rest = str_slice(c->rest, end, c->rest.len);
    return 1;
}

/* --- steps --- */

static int add_step(struct compiling *c, struct policy_step step, enum policy_place place)
{
    policy_steps_push(&c->path->steps, step);
    c->place = place;
    return 0;
}

static enum policy_place place_of(enum field_kind kind)
{
    switch (kind) {
    case FIELD_STRUCT:
        return PLACE_STRUCT;
    case FIELD_STRUCTS:
    case FIELD_STRINGS:
        return PLACE_LIST;
    case FIELD_LABELS:
        return PLACE_MAP;
    case FIELD_OBJECT:
        return PLACE_VALUES;
    default:
        return PLACE_SCALAR;
    }
}

static int step_field(struct compiling *c, const struct token *token)
{
    const struct field *field = field_find(c->table, token->text);
    const struct field *nearest;

    if (!field || token->in_brackets) {
        nearest = field_nearest(c->table, token->text);
        if (nearest)
            return error_set(c->err, ERROR_SYNTAX,
                             "unknown field \"%.*s\" (did you mean \"%.*s\"?)",
                             STR_ARG(shown(c, token->text)), STR_ARG(nearest->json));
        return error_set(c->err, ERROR_SYNTAX, "unknown field \"%.*s\"",
                         STR_ARG(shown(c, token->text)));
    }

    struct policy_step step = { .kind = STEP_FIELD,
                                .field = field,
                                .row = (uint32_t)(field - c->table->rows) };

    c->field = field;
    c->table = field->of;
    return add_step(c, step, place_of(field->kind));
}

static int step_each(struct compiling *c, const struct token *token)
{
    bool each = token->in_brackets && str_eq(token->text, STR("*"));

    if (!each)
        return error_set(c->err, ERROR_SYNTAX, "'%.*s' is a list; write %.*s[*] for its elements",
                         STR_ARG(c->field->json), STR_ARG(c->field->json));
    if (c->table == &fields_of_chart || c->table == &fields_of_chart_override)
        c->path->has_charts = true;
    return add_step(c, (struct policy_step){ .kind = STEP_EACH },
                    c->field->kind == FIELD_STRUCTS ? PLACE_STRUCT : PLACE_SCALAR);
}

static int step_key(struct compiling *c, const struct token *token)
{
    return add_step(c, (struct policy_step){ .kind = STEP_MEMBER, .name = token->text },
                    PLACE_SCALAR);
}

static int step_values(struct compiling *c, const struct token *token)
{
    bool all = str_eq(token->text, STR("*"));

    if (!token->in_brackets && str_eq(token->text, STR("**"))) {
        if (c->path->deep || c->rest.len == 0)
            return error_set(
                c->err, ERROR_SYNTAX,
                "'**' may occur once in a path, and the name of a member must follow it");
        c->path->deep = true;
        return add_step(c, (struct policy_step){ .kind = STEP_DEEP }, PLACE_VALUES);
    }
    if (all)
        return add_step(c,
                        (struct policy_step){ .kind = token->in_brackets ? STEP_EACH : STEP_ANY },
                        PLACE_VALUES);
    return add_step(c, (struct policy_step){ .kind = STEP_MEMBER, .name = token->text },
                    PLACE_VALUES);
}

static int step_on(struct compiling *c, const struct token *token)
{
    switch (c->place) {
    case PLACE_STRUCT:
        return step_field(c, token);
    case PLACE_LIST:
        return step_each(c, token);
    case PLACE_MAP:
        return step_key(c, token);
    case PLACE_VALUES:
        return step_values(c, token);
    case PLACE_SCALAR:
        break;
    }
    return error_set(c->err, ERROR_SYNTAX, "\"%.*s\" follows a field that has no members",
                     STR_ARG(shown(c, token->text)));
}

/* --- where a path begins --- */

static const struct policy_meta_field meta_fields[] = {
    { STR_INIT("name"), offsetof(struct kube_meta, name), PLACE_SCALAR },
    { STR_INIT("namespace"), offsetof(struct kube_meta, namespace_), PLACE_SCALAR },
    { STR_INIT("labels"), offsetof(struct kube_meta, labels), PLACE_MAP },
    { STR_INIT("annotations"), offsetof(struct kube_meta, annotations), PLACE_MAP },
};

static int begin_metadata(struct compiling *c)
{
    struct token token = { STR(""), false };

    if (next_token(c, false, &token) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(meta_fields) / sizeof(meta_fields[0]); i++) {
        if (!str_eq(meta_fields[i].name, token.text))
            continue;
        c->path->meta = &meta_fields[i];
        c->place = meta_fields[i].place;
        return 0;
    }
    return error_set(c->err, ERROR_SYNTAX,
                     "supported fields of metadata: name, namespace, labels[KEY], "
                     "annotations[KEY]");
}

static int begin_computed(struct compiling *c)
{
    static const char *const names[] = {
        [COMPUTED_GPUS] = "gpus", [COMPUTED_IMAGE] = "image", [COMPUTED_REPLICAS] = "replicas"
    };
    unsigned last = c->kind == POLICY_KIND_STACK ? COMPUTED_GPUS : COMPUTED_REPLICAS;
    struct token token = { STR(""), false };

    if (next_token(c, false, &token) < 0)
        return -1;
    for (unsigned i = COMPUTED_GPUS; i <= last && !token.in_brackets; i++) {
        if (!str_eq(token.text, str_of(names[i])))
            continue;
        c->path->computed = (enum policy_computed)i;
        c->place = PLACE_SCALAR;
        return 0;
    }
    return error_set(c->err, ERROR_SYNTAX, "supported fields of computed: %s",
                     last == COMPUTED_GPUS ? "gpus" : "gpus, image, replicas");
}

static int begin(struct compiling *c)
{
    struct token token = { STR(""), false };

    if (next_token(c, true, &token) < 0)
        return -1;
    if (str_eq(token.text, STR("metadata")) && !token.in_brackets)
        return begin_metadata(c);
    if (str_eq(token.text, STR("computed")) && !token.in_brackets)
        return begin_computed(c);
    c->place = PLACE_STRUCT;
    c->table = policy_kind_fields(c->kind);
    if (str_eq(token.text, STR("spec")) && !token.in_brackets)
        return 0;
    return error_set(c->err, ERROR_SYNTAX, "it must begin with spec., metadata. or computed.");
}

/* --- where it ends --- */

static enum policy_path_end end_of(const struct compiling *c)
{
    switch (c->place) {
    case PLACE_STRUCT:
        return POLICY_END_STRUCT;
    case PLACE_LIST:
    case PLACE_MAP:
        return POLICY_END_COUNT;
    case PLACE_VALUES:
        return c->path->steps.items[c->path->steps.count - 1].kind == STEP_FIELD ? POLICY_END_COUNT
                                                                                 : POLICY_END_ANY;
    case PLACE_SCALAR:
        break;
    }
    if (c->path->computed)
        return c->path->computed == COMPUTED_IMAGE ? POLICY_END_TEXT : POLICY_END_NUMBER;
    if (!c->field)
        return POLICY_END_TEXT;
    switch (c->field->kind) {
    case FIELD_INT:
    case FIELD_RATIO:
        return POLICY_END_NUMBER;
    case FIELD_DURATION:
        return POLICY_END_DURATION;
    default:
        return POLICY_END_TEXT;
    }
}

static const struct field_words *words_at_end(const struct compiling *c)
{
    static const struct field_word booleans[] = { { STR_INIT("true"), true },
                                                  { STR_INIT("false"), false } };
    static const struct field_words boolean = { booleans, 2 };

    if (!c->field || c->place != PLACE_SCALAR)
        return NULL;
    return c->field->kind == FIELD_BOOL ? &boolean : c->field->words;
}

/* Where an override says the same of a chart. */
static const struct {
    struct str of_chart, of_override;
} laid_over[] = {
    { STR_INIT("spec.charts[*].version"), STR_INIT("spec.overrides[*].charts[*].version") },
    { STR_INIT("spec.charts[*].values"), STR_INIT("spec.overrides[*].charts[*].values") },
};

static const struct policy_path *compile_override(struct arena *arena, struct str text)
{
    struct error err = { 0 };

    for (size_t i = 0; i < sizeof(laid_over) / sizeof(laid_over[0]); i++) {
        if (!str_starts(text, laid_over[i].of_chart))
            continue;

        struct str rest = str_slice(text, laid_over[i].of_chart.len, text.len);

        return policy_path_compile(
            arena, POLICY_KIND_STACK,
            str_fmt(arena, "%.*s%.*s", STR_ARG(laid_over[i].of_override), STR_ARG(rest)), &err);
    }
    return NULL;
}

const struct policy_path *policy_path_compile(struct arena *arena, unsigned kind, struct str text,
                                              struct error *err)
{
    struct policy_path *path = arena_new(arena, struct policy_path);
    struct compiling c = { .arena = arena, .kind = kind, .path = path, .rest = text, .err = err };
    struct token token = { .in_brackets = false };
    int more;

    path->steps = policy_steps_new(arena, 8);
    if (begin(&c) < 0)
        return NULL;
    while ((more = next_token(&c, false, &token)) > 0)
        if (step_on(&c, &token) < 0)
            return NULL;
    if (more < 0)
        return NULL;
    path->end = end_of(&c);
    path->words = words_at_end(&c);
    path->also = kind == POLICY_KIND_STACK ? compile_override(arena, text) : NULL;
    return path;
}

enum policy_path_end policy_path_end(const struct policy_path *path)
{
    return path->end;
}

const struct field_words *policy_path_words(const struct policy_path *path)
{
    return path->words;
}

bool policy_path_has_charts(const struct policy_path *path)
{
    return path->has_charts;
}

bool policy_path_is_deep(const struct policy_path *path)
{
    return path->deep;
}
