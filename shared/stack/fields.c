/* fields.c: the rows of the tables of fields. */
#include "stack/fields.h"

#include "base/limits.h"
#include "stack/crd.h"

#include <stddef.h>

#define ROWS(of) (uint32_t)(sizeof(of) / sizeof((of)[0]))

/* The words. */
#define TABLE(table, type, help, hint)
#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)
#define TABLE_END(table)
#define WORDS(words) static const struct field_word words##_rows[] = {
#define WORD(words, text, value) { STR_INIT(text), value },
#define WORDS_END(words)                                                                           \
    }                                                                                              \
    ;                                                                                              \
    const struct field_words words_of_##words = { words##_rows, ROWS(words##_rows) };
#include "stack/fields_all.def"
#undef TABLE
#undef FIELD
#undef TABLE_END
#undef WORDS
#undef WORD
#undef WORDS_END

#define NONE NULL, NULL
#define FIELDS(table) &fields_of_##table, NULL
#define WORDS_OF(words) NULL, &words_of_##words
#define REQUIRED FIELD_REQUIRED
#define KEYED FIELD_KEYED

#define WORDS(words)
#define WORD(words, text, value)
#define WORDS_END(words)
/* `given` comes first, so that a reader without types finds it. */
#define TABLE(table, type, help, hint)                                                             \
    _Static_assert(offsetof(type, given) == 0, #table);                                            \
    typedef type table##_type;                                                                     \
    static const struct field table##_rows[] = {
#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)                      \
    { STR_INIT(json), FIELD_##kind, flags, offsetof(table##_type, member), of,                     \
      STR_INIT(default_), min, max, help },
#define TABLE_END(table)                                                                           \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert(ROWS(table##_rows) < 63, #table);
#include "stack/fields_all.def"
#undef TABLE
#undef FIELD
#undef TABLE_END

#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)
#define TABLE_END(table)
#define TABLE(table, type, help, hint)                                                             \
    const struct field_table fields_of_##table = { #table,       help,                             \
                                                   hint,         table##_rows,                     \
                                                   ROWS(table##_rows), sizeof(type) };
#include "stack/fields_all.def"
#undef TABLE
#undef FIELD
#undef TABLE_END

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

const char *field_kind_name(enum field_kind kind)
{
    static const char *const names[] = {
        [FIELD_STRING] = "a string",          [FIELD_DURATION] = "a string",
        [FIELD_BOOL] = "a boolean",           [FIELD_INT] = "an integer",
        [FIELD_RATIO] = "a number",           [FIELD_WORD] = "a string",
        [FIELD_AMOUNT] = "a number or string",
        [FIELD_STRINGS] = "a list of strings", [FIELD_LABELS] = "an object of strings",
        [FIELD_OBJECT] = "an object",         [FIELD_STRUCT] = "an object",
        [FIELD_STRUCTS] = "a list of objects",
    };

    return names[kind];
}

/* One table and, behind it, those of its fields. `at` is the path that people write. */
static void doc_table(struct strbuf *out, const struct field_table *table, struct str at)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *row = &table->rows[i];
        struct str path = str_fmt(out->arena, "%.*s.%.*s%s", STR_ARG(at), STR_ARG(row->json),
                                  row->kind == FIELD_STRINGS || row->kind == FIELD_STRUCTS ? "[]"
                                                                                           : "");

        const char *kind = strchr(field_kind_name(row->kind), ' ') + 1; /* without "a", "an" */

        strbuf_fmt(out, "| `%.*s` | %s | ", STR_ARG(path), kind);
        if (row->flags & FIELD_REQUIRED)
            strbuf_lit(out, "required");
        else if (row->default_.len)
            strbuf_fmt(out, "`%.*s`", STR_ARG(row->default_));
        strbuf_fmt(out, " | %s", row->help);
        if (row->words) {
            struct str words = field_words_shown(out->arena, row->words);

            strbuf_fmt(out, " One of %.*s.", STR_ARG(words));
        }
        strbuf_lit(out, " |\n");
        if (row->of)
            doc_table(out, row->of, path);
    }
}

void fields_doc_write(struct strbuf *out)
{
    strbuf_lit(out, "# Fields\n\n"
                    "Made from the tables of fields in `shared/stack` by `make crds`; a test "
                    "compares them.\n"
                    "An empty default means: nothing, or what `shared/stack/default.h` says "
                    "follows from other fields.\n");
    for (const struct crd *crd = crds; crd->kind; crd++) {
        if (!crd->spec)
            continue;
        strbuf_fmt(out,
                   "\n## %s\n\n%s\n\n"
                   "| field | type | default | meaning |\n|---|---|---|---|\n",
                   crd->kind, crd->help);
        doc_table(out, crd->spec, STR("spec"));
    }
}
