/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h: the tables of fields as data: what a generic reader of Herd's kinds needs to know. */
#ifndef HERD_STACK_FIELDS_H
#define HERD_STACK_FIELDS_H

#include "stack/model/counts.h"
#include "stack/model/limits.h"
#include "stack/model/policy.h"
#include "stack/model/stack.h"

/* What a field is in JSON, and what it is read into. */
enum field_kind {
    FIELD_STRING,   /* struct str */
    FIELD_DURATION, /* a string that is a Go duration; struct str, as written */
    FIELD_BOOL,     /* bool */
    FIELD_INT,      /* int64_t */
    FIELD_RATIO,    /* a number from min to max; struct str, as written */
    FIELD_AMOUNT,   /* a whole number, or a string that is a number, quantity or duration;
                       struct str, as written */
    FIELD_WORD,     /* one word of a list; an enum whose 0 is "unset" */
    FIELD_STRINGS,  /* struct str_list */
    FIELD_LABELS,   /* an object of strings; struct json */
    FIELD_OBJECT,   /* an object of anything; struct json */
    FIELD_STRUCT,   /* the struct itself */
    FIELD_STRUCTS,  /* a LIST_DEFINE of structs */
    /* Of a status only: */
    FIELD_COUNT,      /* a whole number, 0 or more; uint32_t */
    FIELD_COUNT64,    /* the same; int64_t, below 0 = absent */
    FIELD_COUNTS,     /* an object of such numbers; struct named_counts, without arena = absent */
    FIELD_TIME,       /* RFC 3339; int64_t, ms since 1970, 0 = absent */
    FIELD_MICRO_TIME, /* the same, written with microseconds */
    FIELD_CONDITIONS, /* struct kube_conditions */
    FIELD_TRUTH,      /* a boolean; enum condition_status, UNKNOWN = absent */
};

enum field_flag {
    FIELD_REQUIRED = 1,
    FIELD_KEYED = 2,    /* elements are told apart by their first field */
    FIELD_UNPRUNED = 4, /* the API server keeps members that no row names, for us to reject */
    /* Of a status only: */
    FIELD_ALWAYS = 8,  /* written even if it says nothing: "", 0, false, [] or {} */
    FIELD_OPEN = 16,   /* the schema does not list its words: another release may have more */
    FIELD_UNUSED = 32, /* nobody reads or writes it yet: it has no member */
};

struct field_word {
    struct str name;
    unsigned value;
};

struct field_words {
    const struct field_word *words;
    uint32_t count;
};

/* What a text has to be, as a row of forms.def. */
struct field_form {
    const char *(*wrong)(struct str text); /* NULL = nothing; else why it is not, as a sentence */
    struct str remedy;
};

#define FORM(name, wrong, remedy) extern const struct field_form form_of_##name;
#include "stack/model/forms.def"
#undef FORM

struct field_table;

struct field {
    struct str json;
    enum field_kind kind;
    uint8_t flags;
    uint16_t offset;                 /* in the struct */
    const struct field_table *of;    /* of STRUCT and STRUCTS */
    const struct field_words *words; /* of WORD */
    const struct field_form *form;   /* of texts, elements of STRINGS, keys of LABELS; NULL = any */
    struct str default_;             /* "" = none */
    int64_t min, max;
    const char *help;
    const char *pattern; /* for the schema alone; NULL = none */
};

struct field_table {
    const char *name;
    const char *help;
    const char *hint; /* remedy for an unknown field; "" = the usual one */
    const struct field *rows;
    uint32_t count;
    uint32_t size; /* of the struct */
    bool status;   /* only the controller writes it: the struct has no `given`, nothing is missing,
                      and rows stand in the order in which they are written */
};

#define TABLE(table, type, help, hint) extern const struct field_table fields_of_##table;
#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)
#define TABLE_END(table)
#define WORDS(words) extern const struct field_words words_of_##words;
#define WORD(words, text, value)
#define WORDS_END(words)
#include "stack/model/fields_all.def"
#undef TABLE
#undef FIELD
#undef TABLE_END
#undef WORDS
#undef WORD
#undef WORDS_END

/* ROW_chart_timeout: the bit of `given`. */
#define TABLE(table, type, help, hint)                                                             \
    enum table##_row                                                                               \
    {
#define FIELD(table, member, json, kind, of, flags, default_, min, max, help)                      \
    ROW_##table##_##member,
#define TABLE_END(table)                                                                           \
    ROW_##table##_COUNT                                                                            \
    }                                                                                              \
    ;
#define WORDS(words)
#define WORD(words, text, value)
#define WORDS_END(words)
#include "stack/model/fields_all.def"
#undef TABLE
#undef FIELD
#undef TABLE_END
#undef WORDS
#undef WORD
#undef WORDS_END

/* The bit of `given` that says: this is no object at all, so nothing of it was read. */
#define FIELD_BROKEN (1ULL << 63)

/* Elements of a string: cluster ids, names, label values. */
#define FIELD_ELEMENT_BYTES_MAX 253

/* Any LIST_DEFINE, seen without its type. */
struct field_list {
    void *items;
    uint32_t count;
    uint32_t capacity;
    struct arena *arena;
};

static inline void *field_at(void *of, const struct field *field)
{
    return (char *)of + field->offset;
}

static inline const void *field_in(const void *of, const struct field *field)
{
    return (const char *)of + field->offset;
}

/* The row named `json` (case counts), or NULL. */
const struct field *field_find(const struct field_table *table, struct str json);
/* The row whose name is nearest to `json`, or NULL if none is near. */
const struct field *field_nearest(const struct field_table *table, struct str json);

/* 0 (unset) for what is none of the words; "" for an unset value. */
unsigned field_word_value(const struct field_words *words, struct str name);
struct str field_word_name(const struct field_words *words, unsigned value);
/* "" if none is near. */
struct str field_word_nearest(const struct field_words *words, struct str name);
/* "enabled, disabled". */
struct str field_words_shown(struct arena *arena, const struct field_words *words);
/* "supported values: "a", "b"", as Kubernetes writes it. */
struct str field_words_supported(struct arena *arena, const struct field_words *words);

/* "a string", "an object", "a list of strings", ...: what a message asks for. */
const char *field_kind_name(enum field_kind kind);

#endif
