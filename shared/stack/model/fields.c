/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c: the rows of the tables of fields. */
#include "stack/model/fields.h"

#include "stack/model/limits.h"

#define FIELDS_DEF "stack/model/fields_all.def"
#include "stack/model/fields_rows.h"

const struct field *field_find(const struct field_table *table, struct str json)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (str_eq(table->rows[i].json, json))
            return &table->rows[i];
    return NULL;
}

const struct field *field_nearest(const struct field_table *table, struct str json)
{
    struct str_nearest nearest = { .name = json };
    const struct field *field = NULL;

    for (uint32_t i = 0; i < table->count; i++)
        if (str_nearest_try(&nearest, table->rows[i].json))
            field = &table->rows[i];
    return field;
}

unsigned field_word_value(const struct field_words *words, struct str name)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (str_eq(words->words[i].name, name))
            return words->words[i].value;
    return 0;
}

struct str field_word_name(const struct field_words *words, unsigned value)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (words->words[i].value == value)
            return words->words[i].name;
    return STR("");
}

struct str field_word_nearest(const struct field_words *words, struct str name)
{
    struct str_nearest nearest = { .name = name };

    for (uint32_t i = 0; i < words->count; i++)
        str_nearest_try(&nearest, words->words[i].name);
    return nearest.found;
}

struct str field_words_shown(struct arena *arena, const struct field_words *words)
{
    struct strbuf buf = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < words->count; i++) {
        if (i)
            strbuf_put(&buf, i + 1 == words->count ? STR(" or ") : STR(", "));
        strbuf_put(&buf, words->words[i].name);
    }
    return strbuf_str(&buf);
}

struct str field_words_supported(struct arena *arena, const struct field_words *words)
{
    struct strbuf buf = strbuf_new(arena, 64);

    strbuf_lit(&buf, "supported values: ");
    for (uint32_t i = 0; i < words->count; i++)
        strbuf_fmt(&buf, "%s\"%.*s\"", i ? ", " : "", STR_ARG(words->words[i].name));
    return strbuf_str(&buf);
}

const char *field_kind_name(enum field_kind kind)
{
    static const char *const names[] = {
        [FIELD_STRING] = "a string",
        [FIELD_DURATION] = "a string",
        [FIELD_BOOL] = "a boolean",
        [FIELD_INT] = "an integer",
        [FIELD_RATIO] = "a number",
        [FIELD_WORD] = "a string",
        [FIELD_AMOUNT] = "a number or string",
        [FIELD_STRINGS] = "a list of strings",
        [FIELD_LABELS] = "an object of strings",
        [FIELD_OBJECT] = "an object",
        [FIELD_STRUCT] = "an object",
        [FIELD_STRUCTS] = "a list of objects",
        [FIELD_COUNT] = "an integer",
        [FIELD_COUNT64] = "an integer",
        [FIELD_COUNTS] = "an object of integers",
        [FIELD_TIME] = "a string",
        [FIELD_MICRO_TIME] = "a string",
        [FIELD_CONDITIONS] = "a list of objects",
        [FIELD_TRUTH] = "a boolean",
    };

    return names[kind];
}
