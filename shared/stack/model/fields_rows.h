/* SPDX-License-Identifier: Apache-2.0 */
/* fields_rows.h: the rows of a .def of fields as data. Included once for each .def, by a .c file
 * that names it before (fields.def says what a row is):
 *
 *     #define FIELDS_DEF "stack/model/widget_fields.def"
 *     #include "stack/model/fields_rows.h"
 *
 * It defines fields_of_TABLE and words_of_WORDS for each table and list of words of that file. */
#include "stack/model/fields.h"

#include <stddef.h>

/* A row may name a table below its own, or one of another .def. */
#define TABLE(table, type, help, hint) extern const struct field_table fields_of_##table;
#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)
#define TABLE_END(table)
#define WORDS(words) extern const struct field_words words_of_##words;
#define WORD(words, text, value)
#define WORDS_END(words)
#include FIELDS_DEF
#undef TABLE
#undef FIELD
#undef TABLE_END
#undef WORDS
#undef WORD
#undef WORDS_END

#define FIELDS_ROWS(of) (uint32_t)(sizeof(of) / sizeof((of)[0]))

/* The words. */
#define TABLE(table, type, help, hint)
#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)
#define TABLE_END(table)
#define WORDS(words) static const struct field_word words##_rows[] = {
#define WORD(words, text, value) { STR_INIT(text), value },
#define WORDS_END(words)                                                                           \
    }                                                                                              \
    ;                                                                                              \
    const struct field_words words_of_##words = { words##_rows, FIELDS_ROWS(words##_rows) };
#include FIELDS_DEF
#undef TABLE
#undef FIELD
#undef TABLE_END
#undef WORDS
#undef WORD
#undef WORDS_END

#define NONE NULL, NULL, NULL
#define FIELDS(table) &fields_of_##table, NULL, NULL
#define WORDS_OF(words) NULL, &words_of_##words, NULL
#define FORM_OF(form) NULL, NULL, &form_of_##form
#define REQUIRED FIELD_REQUIRED
#define KEYED FIELD_KEYED
#define UNPRUNED FIELD_UNPRUNED

#define WORDS(words)
#define WORD(words, text, value)
#define WORDS_END(words)
/* `given` comes first, so that a reader without types finds it. */
#define TABLE(table, type, help, hint)                                                             \
    _Static_assert(offsetof(type, given) == 0, #table);                                            \
    typedef type table##_type;                                                                     \
    static const struct field table##_rows[] = {
#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)                      \
    { STR_INIT(json),                                                                              \
      FIELD_##kind,                                                                                \
      flags,                                                                                       \
      offsetof(table##_type, member),                                                              \
      of,                                                                                          \
      STR_INIT(default_),                                                                          \
      min,                                                                                         \
      max,                                                                                         \
      help,                                                                                        \
      NULL },
#define TABLE_END(table)                                                                           \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert(FIELDS_ROWS(table##_rows) < 63, #table);
#include FIELDS_DEF
#undef TABLE
#undef FIELD
#undef TABLE_END

#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)
#define TABLE_END(table)
#define TABLE(table, type, help, hint)                                                             \
    const struct field_table fields_of_##table = {                                                 \
        #table, help, hint, table##_rows, FIELDS_ROWS(table##_rows), sizeof(type), false           \
    };
#include FIELDS_DEF
#undef TABLE
#undef FIELD
#undef TABLE_END
