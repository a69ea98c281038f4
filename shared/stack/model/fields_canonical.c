/* SPDX-License-Identifier: Apache-2.0 */
/* fields_canonical.c: each row is written, and taken back if it says nothing. */
#include "stack/model/fields_canonical.h"

#include "kube/condition.h"
#include "text/json_canonical.h"
#include "text/json_write.h"
#include "text/time.h"

#include <stdlib.h>

/* Tables have fewer rows: fields.c asserts it. */
enum { ROWS_MAX = 64 };

static int by_name(const void *a, const void *b)
{
    const struct field *const *left = a;
    const struct field *const *right = b;

    return str_cmp((*left)->json, (*right)->json);
}

/* --- the values; false: it says nothing --- */

static bool put_text(const struct field *field, struct str text, struct strbuf *out)
{
    json_quote(out, text);
    return !str_eq(text, field->default_);
}

static bool put_bool(const struct field *field, bool truth, struct strbuf *out)
{
    struct str text = truth ? STR("true") : STR("false");

    strbuf_put(out, text);
    return field->default_.len ? !str_eq(text, field->default_) : truth;
}

static bool put_truth(enum condition_status truth, struct strbuf *out)
{
    if (truth != CONDITION_UNKNOWN)
        strbuf_put(out, truth == CONDITION_TRUE ? STR("true") : STR("false"));
    return truth != CONDITION_UNKNOWN;
}

static bool put_int(const struct field *field, int64_t number, struct strbuf *out)
{
    size_t from = out->len;

    strbuf_i64(out, number);
    if (!field->default_.len)
        return number != 0;
    return !str_eq(str_make(out->at + from, out->len - from), field->default_);
}

static bool put_ratio(const struct field *field, struct str text, struct strbuf *out)
{
    struct strbuf usual = strbuf_new(out->arena, 16);
    size_t from = out->len;

    json_canonical_number(text, out);
    json_canonical_number(field->default_, &usual);
    return text.len && !str_eq(str_make(out->at + from, out->len - from), strbuf_str(&usual));
}

static bool put_word(const struct field *field, unsigned value, struct strbuf *out)
{
    return put_text(field, field_word_name(field->words, value), out) && value;
}

static bool put_strings(const struct field *field, const struct str_list *list, struct strbuf *out)
{
    struct str usual = field->default_.len ? field->default_ : (struct str){ NULL, 0 };
    struct str name = STR("");
    bool same = true;

    strbuf_char(out, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        if (i)
            strbuf_char(out, ',');
        json_quote(out, list->items[i]);
        same = same && str_split(&usual, ',', &name) && str_eq(name, list->items[i]);
    }
    strbuf_char(out, ']');
    return !same || str_split(&usual, ',', &name);
}

static bool put_json(struct json json, struct strbuf *out)
{
    if (json_is(json, JSON_ABSENT))
        strbuf_lit(out, "{}");
    else
        json_canonical(json, out);
    return json_count(json) > 0;
}

static bool put_structs(const struct field *field, const struct field_list *list,
                        struct strbuf *out)
{
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        if (i)
            strbuf_char(out, ',');
        fields_canonical(field->of, (const char *)list->items + (size_t)field->of->size * i, out);
    }
    strbuf_char(out, ']');
    return list->count > 0;
}

static bool put_count(int64_t count, struct strbuf *out)
{
    if (count >= 0)
        strbuf_i64(out, count);
    return count > 0;
}

static bool put_counts(const struct named_counts *list, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    if (!list->arena)
        return false;
    json_open_object(&w);
    for (uint32_t i = 0; i < list->count; i++) {
        json_put_key(&w, list->items[i].name);
        json_put_int(&w, list->items[i].count);
    }
    json_close_object(&w);
    return list->count > 0;
}

static bool put_time(const struct field *field, int64_t at_ms, struct strbuf *out)
{
    if (at_ms || field->flags & FIELD_ALWAYS)
        json_quote(out, field->kind == FIELD_TIME ? time_rfc3339(out->arena, at_ms)
                                                  : time_rfc3339_micro(out->arena, at_ms));
    return at_ms != 0;
}

static bool put_conditions(const struct kube_conditions *conditions, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    kube_conditions_write(conditions, &w);
    return conditions->count > 0;
}

static bool put_field(const struct field *field, const void *at, struct strbuf *out)
{
    switch (field->kind) {
    case FIELD_STRING:
    case FIELD_DURATION:
    case FIELD_AMOUNT:
        return put_text(field, *(const struct str *)at, out);
    case FIELD_BOOL:
        return put_bool(field, *(const bool *)at, out);
    case FIELD_INT:
        return put_int(field, *(const int64_t *)at, out);
    case FIELD_RATIO:
        return put_ratio(field, *(const struct str *)at, out);
    case FIELD_WORD:
        return put_word(field, *(const unsigned *)at, out);
    case FIELD_STRINGS:
        return put_strings(field, at, out);
    case FIELD_LABELS:
    case FIELD_OBJECT:
        return put_json(*(const struct json *)at, out);
    case FIELD_STRUCT:
        return fields_canonical(field->of, at, out);
    case FIELD_STRUCTS:
        return put_structs(field, at, out);
    case FIELD_COUNT:
        return put_count(*(const uint32_t *)at, out);
    case FIELD_COUNT64:
        return put_count(*(const int64_t *)at, out);
    case FIELD_COUNTS:
        return put_counts(at, out);
    case FIELD_TIME:
    case FIELD_MICRO_TIME:
        return put_time(field, *(const int64_t *)at, out);
    case FIELD_CONDITIONS:
        return put_conditions(at, out);
    case FIELD_TRUTH:
        return put_truth(*(const enum condition_status *)at, out);
    }
    return false;
}

/* False: it says nothing, and unless it is to be there in any case it is taken back. */
static bool put_member(const struct field *field, const void *of, struct strbuf *out)
{
    size_t before = out->len;
    size_t value;
    bool says;

    if (out->at[before - 1] != '{')
        strbuf_char(out, ',');
    json_quote(out, field->json);
    strbuf_char(out, ':');
    value = out->len;
    says = put_field(field, field_in(of, field), out);
    if (!says && !(field->flags & FIELD_ALWAYS && out->len > value))
        out->len = before;
    return says;
}

bool fields_canonical(const struct field_table *table, const void *of, struct strbuf *out)
{
    const struct field *rows[ROWS_MAX];
    bool says = false;

    for (uint32_t i = 0; i < table->count; i++)
        rows[i] = &table->rows[i];
    if (!table->status)
        qsort(rows, table->count, sizeof(rows[0]), by_name);
    strbuf_char(out, '{');
    for (uint32_t i = 0; i < table->count; i++)
        if (!(rows[i]->flags & FIELD_UNUSED))
            says = put_member(rows[i], of, out) || says;
    strbuf_char(out, '}');
    return says;
}
