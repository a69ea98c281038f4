/* SPDX-License-Identifier: Apache-2.0 */
/* fields_decode.c: one reader for all structs, driven by the rows of their tables.
 *
 * It goes through the members that the document has, not through the rows, so what nobody knows is
 * met on the way and what is missing is found by `given`. null stands for absent, as the API server
 * treats it. A list keeps its indexes: an element that cannot be read leaves an empty one. */
#include "stack/model/fields_decode.h"

#include "base/duration.h"
#include "kube/condition.h"
#include "text/time.h"

#include <inttypes.h>

static const char *kind_with_article(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_ABSENT] = "nothing",   [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean",
        [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string", [JSON_ARRAY] = "a list",
        [JSON_OBJECT] = "an object",
    };

    return names[kind];
}

/* What is to be done about a boolean or a number where text is asked for. */
static struct str as_text(enum field_kind kind)
{
    return kind == FIELD_DURATION ? STR("write it with its unit, like 30s or 15m")
                                  : STR("write it in quotes");
}

/* What makes of the value that stands there one of the kind that is wanted; "" = who knows. */
static struct str as_kind(const struct findings *found, enum field_kind kind, struct json value,
                          enum json_kind want)
{
    enum json_kind got = json_kind(value);

    if (want == JSON_STRING && (got == JSON_BOOL || got == JSON_NUMBER))
        return as_text(kind);
    if (want == JSON_ARRAY && got == JSON_STRING)
        return str_fmt(found->arena, "write a list: [%.*s]",
                       STR_ARG(finding_shown(found, json_str(value))));
    if (want == JSON_ARRAY && got == JSON_OBJECT)
        return STR("write a list: begin each of its elements with '- '");
    if (want == JSON_OBJECT && got == JSON_STRING)
        return STR("write its fields below it, without quotes or '|'");
    return STR("");
}

static bool is_kind(struct findings *found, const struct field *field, struct json value,
                    enum json_kind want, const struct path *at)
{
    enum json_kind got = json_kind(value);

    if (got == want)
        return true;
    finding_add(found, RULE_SHAPE_TYPE, CAUSE_TYPE_INVALID, at,
                as_kind(found, field->kind, value, want), "must be %s, not %s",
                field_kind_name(field->kind), kind_with_article(got));
    return false;
}

static void check_form(struct findings *found, const struct field *field, struct str text,
                       const struct path *at)
{
    const char *wrong = field->form ? field->form->wrong(text) : NULL;

    if (wrong)
        finding_add(found, RULE_WORKLOAD_FORM, CAUSE_VALUE_INVALID, at, field->form->remedy,
                    "\"%.*s\": %s", STR_ARG(finding_shown(found, text)), wrong);
}

static void decode_string(struct findings *found, const struct field *field, struct json value,
                          struct str *into, const struct path *at)
{
    if (!is_kind(found, field, value, JSON_STRING, at))
        return;

    struct str text = json_str(value);

    if (text.len < (size_t)field->min && text.len == 0)
        finding_add(found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, at,
                    field->flags & FIELD_REQUIRED ? STR("") : STR("set it, or remove the line"),
                    "must not be empty");
    else if (field->max && text.len > (size_t)field->max)
        finding_add(found, RULE_SHAPE_BOUNDS, CAUSE_TOO_LONG, at, STR("shorten it"),
                    "must have at most %" PRId64 " bytes, not %zu", field->max, text.len);
    else {
        *into = text;
        check_form(found, field, text, at);
    }
}

static void decode_duration(struct findings *found, const struct field *field, struct json value,
                            struct str *into, const struct path *at)
{
    int64_t ms = 0;

    if (!is_kind(found, field, value, JSON_STRING, at))
        return;
    *into = json_str(value);
    if (!duration_parse(*into, &ms)) {
        finding_add(found, RULE_SHAPE_DURATION, CAUSE_VALUE_INVALID, at, STR(""),
                    "\"%.*s\": must be a Go duration such as 90s, 15m or 1h30m",
                    STR_ARG(finding_shown(found, *into)));
    } else if (ms < field->min) {
        struct str least = duration_text(found->arena, field->min);

        finding_add(found, RULE_SHAPE_DURATION, CAUSE_VALUE_INVALID, at, STR("choose a longer one"),
                    field->min <= 1 ? "\"%.*s\": must be positive"
                                    : "\"%.*s\": must be at least %.*s",
                    STR_ARG(finding_shown(found, *into)), STR_ARG(least));
    } else if (ms > field->max) {
        struct str most = duration_text(found->arena, field->max);

        finding_add(found, RULE_SHAPE_DURATION, CAUSE_VALUE_INVALID, at,
                    STR("choose a shorter one"), "\"%.*s\": must be at most %.*s",
                    STR_ARG(finding_shown(found, *into)), STR_ARG(most));
    }
}

static void decode_bool(struct findings *found, const struct field *field, struct json value,
                        bool *into, const struct path *at)
{
    if (json_is(value, JSON_STRING)) {
        finding_add(found, RULE_SHAPE_TYPE, CAUSE_TYPE_INVALID, at,
                    STR("write true or false without quotes"), "must be a boolean, not a string");
        return;
    }
    if (is_kind(found, field, value, JSON_BOOL, at))
        *into = json_bool(value);
}

static void decode_int(struct findings *found, const struct field *field, struct json value,
                       int64_t *into, const struct path *at)
{
    int64_t number;

    if (!is_kind(found, field, value, JSON_NUMBER, at))
        return;
    if (!json_int64(value, &number)) {
        finding_add(found, RULE_SHAPE_TYPE, CAUSE_TYPE_INVALID, at, STR("write a whole number"),
                    "%.*s: must be a whole number", STR_ARG(finding_shown(found, json_raw(value))));
        return;
    }
    if (number < field->min || number > field->max)
        finding_add(found, RULE_SHAPE_BOUNDS, CAUSE_VALUE_INVALID, at, STR(""),
                    "%" PRId64 ": must be %" PRId64 " to %" PRId64, number, field->min, field->max);
    else
        *into = number;
}

static void decode_ratio(struct findings *found, const struct field *field, struct json value,
                         struct str *into, const struct path *at)
{
    if (!is_kind(found, field, value, JSON_NUMBER, at))
        return;

    double ratio = json_double(value);

    if (ratio < (double)field->min || ratio > (double)field->max)
        finding_add(found, RULE_SHAPE_BOUNDS, CAUSE_VALUE_INVALID, at, STR(""),
                    "%.*s: must be %" PRId64 " to %" PRId64,
                    STR_ARG(finding_shown(found, json_raw(value))), field->min, field->max);
    else
        *into = json_raw(value);
}

/* What an amount means is for whoever compares it. */
static void decode_amount(struct findings *found, const struct field *field, struct json value,
                          struct str *into, const struct path *at)
{
    int64_t number;

    if (!json_is(value, JSON_NUMBER)) {
        decode_string(found, field, value, into, at);
        return;
    }
    if (json_int64(value, &number)) {
        *into = json_raw(value);
        check_form(found, field, *into, at);
    } else {
        finding_add(found, RULE_SHAPE_TYPE, CAUSE_TYPE_INVALID, at,
                    STR("write it in quotes, or as a whole number"), "%.*s: must be a whole number",
                    STR_ARG(finding_shown(found, json_raw(value))));
    }
}

static void decode_word(struct findings *found, const struct field *field, struct json value,
                        unsigned *into, const struct path *at)
{
    if (json_is(value, JSON_BOOL)) {
        /* enabled: true is what people write who know other tools. */
        struct str words = field_words_shown(found->arena, field->words);

        finding_add(found, RULE_SHAPE_TYPE, CAUSE_TYPE_INVALID, at,
                    str_fmt(found->arena, "write %.*s", STR_ARG(words)),
                    "must be a string, not a boolean");
        return;
    }
    if (!is_kind(found, field, value, JSON_STRING, at))
        return;

    struct str text = json_str(value);
    struct str zero = field_word_name(field->words, 0);

    *into = field_word_value(field->words, text);
    if (*into == 0 && !(field->flags & FIELD_OPEN) && !(zero.len && str_eq(text, zero)))
        finding_add(found, RULE_SHAPE_ENUM, CAUSE_VALUE_NOT_SUPPORTED, at, STR(""),
                    "\"%.*s\": %.*s%.*s", STR_ARG(finding_shown(found, text)),
                    STR_ARG(field_words_supported(found->arena, field->words)),
                    STR_ARG(finding_did_you_mean(found, field_word_nearest(field->words, text))));
}

/* How many elements of a list or members of a map are read: at most what the row allows. */
static uint32_t bounded_count(struct findings *found, const struct field *field, struct json value,
                              const struct path *at)
{
    uint32_t count = json_count(value);

    if (field->max && count > field->max) {
        finding_add(found, RULE_SHAPE_BOUNDS, CAUSE_TOO_MANY, at, STR("remove some"),
                    "%u: must have at most %" PRId64 " items", count, field->max);
        return (uint32_t)field->max;
    }
    if (count < (uint32_t)field->min)
        finding_add(found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, at, STR("add one"),
                    "must have at least %" PRId64 " %s", field->min,
                    field->min == 1 ? "item" : "items");
    return count;
}

static struct str decode_element(struct findings *found, const struct field_form *form,
                                 struct json value, const struct path *at)
{
    const struct field element = { .json = STR_INIT(""),
                                   .kind = FIELD_STRING,
                                   .form = form,
                                   .min = 1,
                                   .max = FIELD_ELEMENT_BYTES_MAX,
                                   .flags = FIELD_REQUIRED };
    struct str text = STR("");

    decode_string(found, &element, value, &text, at);
    return text;
}

static void decode_strings(struct findings *found, const struct field *field, struct json value,
                           struct str_list *into, const struct path *at)
{
    if (!is_kind(found, field, value, JSON_ARRAY, at))
        return;

    uint32_t count = bounded_count(found, field, value, at);
    struct json_iter it = json_iter(value);

    *into = str_list_new(found->arena, count);
    while (into->count < count && json_next(&it)) {
        struct path element_at = path_index(at, it.position);

        str_list_push(into, decode_element(found, field->form, it.value, &element_at));
    }
}

static void decode_labels(struct findings *found, const struct field *field, struct json value,
                          struct json *into, const struct path *at)
{
    static const struct field label = { .json = STR_INIT(""), .kind = FIELD_STRING };

    if (!is_kind(found, field, value, JSON_OBJECT, at))
        return;
    *into = value;
    bounded_count(found, field, value, at);

    struct json_iter it = json_iter(value);

    while (json_next(&it)) {
        struct path label_at = path_key(at, it.key);

        if (is_kind(found, &label, it.value, JSON_STRING, &label_at))
            check_form(found, field, it.key, &label_at);
    }
}

static void decode_structs(struct findings *found, const struct field *field, struct json value,
                           struct field_list *into, const struct path *at)
{
    if (!is_kind(found, field, value, JSON_ARRAY, at))
        return;

    uint32_t count = bounded_count(found, field, value, at);
    size_t size = field->of->size;
    struct json_iter it = json_iter(value);

    *into = (struct field_list){ count ? arena_alloc(found->arena, arena_array_bytes(count, size))
                                       : NULL,
                                 0, count, found->arena };
    while (into->count < count && json_next(&it)) {
        struct path element_at = path_index(at, it.position);

        fields_decode(found, field->of, it.value, (char *)into->items + size * into->count,
                      &element_at);
        into->count++;
    }
}

/* --- kinds of a status --- */

static bool decode_count(struct findings *found, struct json value, int64_t *into,
                         const struct path *at)
{
    static const struct field count = { .json = STR_INIT(""), .kind = FIELD_COUNT };
    int64_t number;

    if (!is_kind(found, &count, value, JSON_NUMBER, at))
        return false;
    if (json_int64(value, &number) && number >= 0) {
        *into = number;
        return true;
    }
    finding_add(found, RULE_SHAPE_BOUNDS, CAUSE_VALUE_INVALID, at, STR(""),
                "%.*s: must be a whole number, 0 or more",
                STR_ARG(finding_shown(found, json_raw(value))));
    return false;
}

static void decode_count32(struct findings *found, struct json value, uint32_t *into,
                           const struct path *at)
{
    int64_t number;

    if (decode_count(found, value, &number, at))
        *into = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static void decode_counts(struct findings *found, const struct field *field, struct json value,
                          struct named_counts *into, const struct path *at)
{
    struct json_iter it = json_iter(value);

    if (!is_kind(found, field, value, JSON_OBJECT, at))
        return;
    while (json_next(&it)) {
        struct path count_at = path_key(at, it.key);
        struct named_count *one = named_counts_push(into, (struct named_count){ it.key, 0 });

        decode_count(found, it.value, &one->count, &count_at);
    }
}

static void decode_time(struct findings *found, const struct field *field, struct json value,
                        int64_t *into, const struct path *at)
{
    struct error ignored;

    if (is_kind(found, field, value, JSON_STRING, at) &&
        time_parse_rfc3339(json_str(value), into, &ignored) < 0)
        finding_add(found, RULE_SHAPE_TYPE, CAUSE_VALUE_INVALID, at, STR(""),
                    "\"%.*s\": must be an RFC 3339 time, like 2026-01-31T12:00:00Z",
                    STR_ARG(finding_shown(found, json_str(value))));
}

/* How they are read, Kubernetes says; the rows are for whoever wants to know what is wrong. */
static void decode_conditions(struct findings *found, const struct field *field, struct json value,
                              struct kube_conditions *into, const struct path *at)
{
    struct field_list checked;

    decode_structs(found, field, value, &checked, at);
    *into = kube_conditions_read(found->arena, value);
}

static void decode_field(struct findings *found, const struct field *field, struct json value,
                         void *into, const struct path *at)
{
    switch (field->kind) {
    case FIELD_STRING:
        decode_string(found, field, value, into, at);
        return;
    case FIELD_DURATION:
        decode_duration(found, field, value, into, at);
        return;
    case FIELD_BOOL:
        decode_bool(found, field, value, into, at);
        return;
    case FIELD_INT:
        decode_int(found, field, value, into, at);
        return;
    case FIELD_RATIO:
        decode_ratio(found, field, value, into, at);
        return;
    case FIELD_AMOUNT:
        decode_amount(found, field, value, into, at);
        return;
    case FIELD_WORD:
        decode_word(found, field, value, into, at);
        return;
    case FIELD_STRINGS:
        decode_strings(found, field, value, into, at);
        return;
    case FIELD_LABELS:
        decode_labels(found, field, value, into, at);
        return;
    case FIELD_OBJECT:
        if (is_kind(found, field, value, JSON_OBJECT, at))
            *(struct json *)into = value;
        return;
    case FIELD_STRUCT:
        fields_decode(found, field->of, value, into, at);
        return;
    case FIELD_STRUCTS:
        decode_structs(found, field, value, into, at);
        return;
    case FIELD_COUNT:
        decode_count32(found, value, into, at);
        return;
    case FIELD_COUNT64:
        decode_count(found, value, into, at);
        return;
    case FIELD_COUNTS:
        decode_counts(found, field, value, into, at);
        return;
    case FIELD_TIME:
    case FIELD_MICRO_TIME:
        decode_time(found, field, value, into, at);
        return;
    case FIELD_CONDITIONS:
        decode_conditions(found, field, value, into, at);
        return;
    case FIELD_TRUTH:
        if (is_kind(found, field, value, JSON_BOOL, at))
            *(enum condition_status *)into = json_bool(value) ? CONDITION_TRUE : CONDITION_FALSE;
        return;
    }
}

/* Lists of a status can be added to, given or not. */
static void prepare_lists(const struct field_table *table, struct arena *arena, void *into)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->rows[i];

        if (field->kind == FIELD_STRINGS || field->kind == FIELD_STRUCTS ||
            field->kind == FIELD_COUNTS || field->kind == FIELD_CONDITIONS)
            ((struct field_list *)field_at(into, field))->arena = arena;
        else if (field->kind == FIELD_STRUCT)
            prepare_lists(field->of, arena, field_at(into, field));
    }
}

/* A field of that name one level further down. */
static const struct field *parent_of(const struct field_table *table, struct str name)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == FIELD_STRUCT && field_find(table->rows[i].of, name))
            return &table->rows[i];
    return NULL;
}

static void blame_unknown(struct findings *found, const struct field_table *table, struct str name,
                          const struct path *up)
{
    struct path at = path_field(up, finding_shown(found, name));
    /* Of a hundred thousand names only those that are listed are compared with the fields. */
    bool listed = finding_is_listed(found, RULE_SHAPE_UNKNOWN_FIELD);
    const struct field *parent = listed ? parent_of(table, name) : NULL;
    const struct field *nearest = listed && !parent ? field_nearest(table, name) : NULL;
    struct str remedy = parent ? str_fmt(found->arena, "put it under %.*s", STR_ARG(parent->json))
                        : nearest ? FINDING_CORRECT_NAME
                                  : str_of(table->hint);

    finding_add(found, RULE_SHAPE_UNKNOWN_FIELD, CAUSE_VALUE_NOT_SUPPORTED, &at, remedy,
                "unknown field%.*s",
                STR_ARG(finding_did_you_mean(found, nearest ? nearest->json : STR(""))));
}

static void blame_missing(struct findings *found, const struct field_table *table, uint64_t given,
                          const struct path *up)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->rows[i];

        if (!(field->flags & FIELD_REQUIRED) || (given >> i & 1))
            continue;

        struct path at = path_field(up, field->json);

        finding_add(found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, &at, STR(""), "%s", "");
    }
}

void fields_decode(struct findings *found, const struct field_table *table, struct json object,
                   void *into, const struct path *at)
{
    static const struct field whole = { .json = STR_INIT(""), .kind = FIELD_STRUCT };
    uint64_t of_status = 0;
    uint64_t *given = table->status ? &of_status : into; /* first member: fields.c asserts it */

    if (table->status)
        prepare_lists(table, found->arena, into);
    if (!is_kind(found, &whole, object, JSON_OBJECT, at)) {
        *given |= FIELD_BROKEN;
        return;
    }

    struct json_iter it = json_iter(object);

    while (json_next(&it)) {
        const struct field *field = field_find(table, it.key);

        if (!field) {
            blame_unknown(found, table, it.key, at);
            continue;
        }
        if (json_is(it.value, JSON_NULL) || field->flags & FIELD_UNUSED)
            continue;

        struct path field_path = path_field(at, field->json);

        *given |= 1ULL << (field - table->rows);
        decode_field(found, field, it.value, field_at(into, field), &field_path);
    }
    if (!table->status)
        blame_missing(found, table, *given, at);
}

void fields_read(struct arena *arena, const struct field_table *table, struct json object,
                 void *into)
{
    struct problems ignored = problems_new(arena);
    struct findings found = findings_new(&ignored);

    fields_decode(&found, table, object, into, NULL);
}
