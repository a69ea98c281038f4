/* SPDX-License-Identifier: Apache-2.0 */
/* default.c: what is not said, filled in; and the patch that says it.
 *
 * Two kinds: constants of fields.def, laid into every struct of the Stack by its table; and what
 * follows from other fields, below. The patch adds only to objects that the document has and that
 * are not in a list: an absent rollout stays absent, a chart stays as it was written, and both
 * still have their defaults here. What is in a list is left alone because a client that applies a
 * document by merge patch replaces lists whole: it would take the defaults out with each apply. */
#include "stack/model/default.h"

#include "base/duration.h"
#include "base/path.h"
#include "kube/names.h"
#include "stack/model/fields.h"
#include "text/json_write.h"

/* Environments in which security and observability are on unless the author says otherwise. */
static const struct str guarded_envs[] = { STR_INIT("prod"), STR_INIT("staging") };

#define ENV_LABEL "herd.suse.com/env"

struct defaulting {
    struct arena *arena;
    struct strbuf patch; /* operations, without the brackets */
};

static struct json_writer patch_op(struct defaulting *d, const struct path *at)
{
    if (d->patch.len)
        strbuf_char(&d->patch, ',');

    struct json_writer w = json_writer(&d->patch);

    json_open_object(&w);
    json_field_str(&w, "op", STR("add"));
    json_field_str(&w, "path", path_pointer(at, d->arena));
    json_put_key(&w, STR("value"));
    return w;
}

static void patch_str(struct defaulting *d, const struct path *up, struct str field,
                      struct str value)
{
    struct path at = path_field(up, field);
    struct json_writer w = patch_op(d, &at);

    json_put_str(&w, value);
    json_close_object(&w);
}

/* --- constants --- */

static struct str_list default_names(struct arena *arena, struct str text)
{
    struct str_list names = str_list_new(arena, 1);
    struct str name;

    while (str_split(&text, ',', &name))
        str_list_push(&names, name);
    return names;
}

static int64_t default_int(struct str text)
{
    bool negative = text.at[0] == '-';
    uint64_t number = 0;

    str_to_u64(str_slice(text, negative, text.len), &number);
    return negative ? -(int64_t)number : (int64_t)number;
}

static void put_default(struct arena *arena, const struct field *field, void *into)
{
    switch (field->kind) {
    case FIELD_BOOL:
        *(bool *)into = str_eq(field->default_, STR("true"));
        return;
    case FIELD_INT:
        *(int64_t *)into = default_int(field->default_);
        return;
    case FIELD_WORD:
        *(unsigned *)into = field_word_value(field->words, field->default_);
        return;
    case FIELD_STRINGS:
        *(struct str_list *)into = default_names(arena, field->default_);
        return;
    case FIELD_STRING:
    case FIELD_DURATION:
    case FIELD_RATIO:
    case FIELD_AMOUNT:
        *(struct str *)into = field->default_;
        return;
    case FIELD_LABELS:
    case FIELD_OBJECT:
    case FIELD_STRUCT:
    case FIELD_STRUCTS:
    case FIELD_COUNT:
    case FIELD_COUNT64:
    case FIELD_COUNTS:
    case FIELD_TIME:
    case FIELD_MICRO_TIME:
    case FIELD_CONDITIONS:
    case FIELD_TRUTH:
        return; /* have no constants; fields_test.c checks the table */
    }
}

/* The field's value, which is a default, as JSON. */
static void write_default(struct json_writer *w, const struct field *field)
{
    struct str text = field->default_;
    struct str name;

    switch (field->kind) {
    case FIELD_BOOL:
    case FIELD_INT:
    case FIELD_RATIO:
        json_put_raw(w, text);
        return;
    case FIELD_STRINGS:
        json_open_array(w);
        while (str_split(&text, ',', &name))
            json_put_str(w, name);
        json_close_array(w);
        return;
    default:
        json_put_str(w, text);
        return;
    }
}

static bool has_constants(const struct field_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->rows[i].default_.len || (table->rows[i].of && has_constants(table->rows[i].of)))
            return true;
    return false;
}

static void default_struct(struct defaulting *d, const struct field_table *table, void *into,
                           const struct path *at, bool in_document);

/* Elements are copied before they are changed: the decoded Stack stays as it is. */
static void default_structs(struct defaulting *d, const struct field *field,
                            struct field_list *list, const struct path *at)
{
    size_t size = field->of->size;

    if (list->count == 0 || !has_constants(field->of))
        return;

    char *items = arena_bytes(d->arena, arena_array_bytes(list->count, size));

    memcpy(items, list->items, size * list->count);
    list->items = items;
    for (uint32_t i = 0; i < list->count; i++) {
        struct path element = path_index(at, i);

        default_struct(d, field->of, items + size * i, &element, false);
    }
}

/* `in_document`: what is added to the object goes into the patch. */
static void default_struct(struct defaulting *d, const struct field_table *table, void *into,
                           const struct path *at, bool in_document)
{
    uint64_t *given = into;

    if (*given & FIELD_BROKEN)
        return;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->rows[i];
        bool is_given = *given >> i & 1;
        struct path field_path = path_field(at, field->json);
        void *place = field_at(into, field);

        if (field->kind == FIELD_STRUCT) {
            default_struct(d, field->of, place, &field_path, in_document && is_given);
        } else if (field->kind == FIELD_STRUCTS) {
            default_structs(d, field, place, &field_path);
        } else if (field->default_.len && !is_given) {
            put_default(d->arena, field, place);
            if (!in_document)
                continue;

            struct json_writer w = patch_op(d, &field_path);

            write_default(&w, field);
            json_close_object(&w);
            *given |= 1ULL << i;
        }
    }
}

void object_default(struct arena *arena, const struct field_table *table, void *spec)
{
    struct defaulting d = { .arena = arena };

    default_struct(&d, table, spec, NULL, false);
}

static struct str patch_text(struct defaulting *d)
{
    if (!d->patch.len)
        return STR("");
    return str_fmt(d->arena, "[%.*s]", STR_ARG(strbuf_str(&d->patch)));
}

struct str object_default_patch(struct arena *arena, const struct field_table *table, void *spec)
{
    struct defaulting d = { .arena = arena, .patch = { .arena = arena } };
    struct path at = path_field(NULL, STR("spec"));

    default_struct(&d, table, spec, &at, true);
    return patch_text(&d);
}

/* --- what follows from other fields --- */

static void default_charts(struct charts *charts)
{
    for (uint32_t i = 0; i < charts->count; i++) {
        struct chart *chart = &charts->items[i];

        if (!STACK_GIVEN(chart, ROW_chart_namespace_))
            chart->namespace_ = chart->name;
        if (!STACK_GIVEN(chart, ROW_chart_release_name))
            chart->release_name = chart->name;
    }
}

bool env_is_guarded(struct str env)
{
    for (uint32_t i = 0; i < sizeof(guarded_envs) / sizeof(guarded_envs[0]); i++)
        if (str_eq(env, guarded_envs[i]))
            return true;
    return false;
}

static void default_toggle(struct defaulting *d, struct stack_spec *spec, uint32_t row,
                           enum toggle *toggle, const struct path *at)
{
    if (STACK_GIVEN(spec, row))
        return;
    *toggle = env_is_guarded(spec->env) ? TOGGLE_ENABLED : TOGGLE_DISABLED;
    spec->given |= 1ULL << row;
    patch_str(d, at, fields_of_stack_spec.rows[row].json,
              field_word_name(&words_of_toggle, *toggle));
}

/* Every constant of a table as one object, nested ones too; and `given` says so. */
static void spell_out(struct json_writer *w, const struct field_table *table, void *into)
{
    uint64_t *given = into;

    json_open_object(w);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->rows[i];

        if (field->kind == FIELD_STRUCT ? !has_constants(field->of) : !field->default_.len)
            continue;
        json_put_key(w, field->json);
        if (field->kind == FIELD_STRUCT)
            spell_out(w, field->of, field_at(into, field));
        else
            write_default(w, field);
        *given |= 1ULL << i;
    }
    json_close_object(w);
}

/* Where the toggle is on, the document shows what that means. */
static void default_profile(struct defaulting *d, struct stack_spec *spec, uint32_t row,
                            enum toggle toggle, const struct path *spec_at)
{
    const struct field *field = &fields_of_stack_spec.rows[row];
    struct path at = path_field(spec_at, field->json);

    if (toggle != TOGGLE_ENABLED || STACK_GIVEN(spec, row))
        return;

    struct json_writer w = patch_op(d, &at);

    spell_out(&w, field->of, field_at(spec, field));
    json_close_object(&w);
    spec->given |= 1ULL << row;
}

/* metadata.labels with one more, as a document of its own. */
static struct json labels_with(struct arena *arena, struct json labels, struct str env)
{
    struct strbuf text = strbuf_new(arena, 64);
    struct json_writer w = json_writer(&text);
    struct json_iter it = json_iter(labels);
    struct json read = labels;
    struct error err;

    json_open_object(&w);
    while (json_next(&it)) {
        json_put_key(&w, it.key);
        json_put_raw(&w, json_raw(it.value));
    }
    json_field_str(&w, ENV_LABEL, env);
    json_close_object(&w);
    /* Copied from what was read before, so it can only fail on its size; then nothing is added. */
    if (json_read(arena, strbuf_str(&text), &json_limits_default, &read, &err) != 0)
        return labels;
    return read;
}

static void default_label(struct defaulting *d, struct stack *stack)
{
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path labels = path_field(&metadata, STR("labels"));
    struct path label = path_field(&labels, STR(ENV_LABEL));
    bool has_labels = json_is(stack->meta.labels, JSON_OBJECT);

    /* Nothing that the API server would reject in its own words: without a name there is no
     * metadata that takes a label, and an env that is no label value is for validate to tell. */
    if (stack->spec.env.len == 0 || kube_not_label_value(stack->spec.env) ||
        (!stack->meta.name.len && !stack->meta.generate_name.len) ||
        !json_is(json_get(stack->meta.labels, STR(ENV_LABEL)), JSON_ABSENT))
        return;

    struct json_writer w = patch_op(d, has_labels ? &label : &labels);

    if (has_labels) {
        json_put_str(&w, stack->spec.env);
    } else {
        json_open_object(&w);
        json_field_str(&w, ENV_LABEL, stack->spec.env);
        json_close_object(&w);
    }
    json_close_object(&w);
    stack->meta.labels = labels_with(d->arena, stack->meta.labels, stack->spec.env);
}

const struct stack *stack_default(struct arena *arena, const struct stack *stack,
                                  struct str *ret_patch)
{
    struct stack *defaulted = arena_new(arena, struct stack);
    struct defaulting d = { .arena = arena, .patch = { .arena = arena } };
    struct path at = path_field(NULL, STR("spec"));
    struct stack_spec *spec = &defaulted->spec;

    *defaulted = *stack;
    if (ret_patch)
        *ret_patch = STR("");
    if (spec->given & FIELD_BROKEN)
        return defaulted;
    default_struct(&d, &fields_of_stack_spec, spec, &at, true);
    default_charts(&spec->charts);
    default_toggle(&d, spec, ROW_stack_spec_security, &spec->security, &at);
    default_toggle(&d, spec, ROW_stack_spec_observability, &spec->observability, &at);
    default_profile(&d, spec, ROW_stack_spec_security_profile, spec->security, &at);
    default_profile(&d, spec, ROW_stack_spec_observability_profile, spec->observability, &at);
    /* Only who changes the spec is asked for it (author.h). */
    if (stack->spec_is_stored)
        d.patch = (struct strbuf){ .arena = arena };
    default_label(&d, defaulted);
    if (ret_patch)
        *ret_patch = patch_text(&d);
    return defaulted;
}

int64_t chart_timeout_ms(const struct chart *chart)
{
    int64_t ms = 0;

    return duration_parse(chart->timeout, &ms) ? ms : 0;
}
