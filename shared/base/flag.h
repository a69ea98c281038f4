/* SPDX-License-Identifier: Apache-2.0 */
/* flag.h: command-line flags and environment variables from one table.
 *
 * A program declares its flags as rows (flags.def) and gets parser, --help, startup log and docs
 * from them. Order of precedence: command line, environment, default. */
#ifndef HERD_BASE_FLAG_H
#define HERD_BASE_FLAG_H

#include "base/error.h"
#include "base/list.h"

enum flag_type {
    FLAG_STRING,
    FLAG_BOOL,     /* --name, --name=true|false */
    FLAG_INT,      /* min and max inclusive */
    FLAG_DURATION, /* Go's form: 1h30m, 250ms; min and max in ms */
    FLAG_CHOICE,   /* default_text names the default, choices all of them: "json|text" */
};

struct flag_row {
    const char *name; /* kebab-case, without dashes */
    enum flag_type type;
    const char *default_text;
    const char *unit; /* for help: "address:port", "file", "ms"; "" if none */
    int64_t min;
    int64_t max;             /* min == max: no bounds */
    const char *environment; /* variable that sets it; NULL if none */
    const char *choices;     /* of FLAG_CHOICE; NULL else */
    bool secret;             /* never logged or shown */
    const char *help;        /* one sentence */
    char letter;             /* -o beside --output; 0 if none */
};

/* What FLAG is while a flags.def is included: the ids of the rows in an enum, and the rows by id.
 * The letter may be left out of a row. */
#define FLAG_AS_ID(id, ...) FLAG_##id,
#define FLAG_AS_ROW(id, word, kind, ...)                                                           \
    [FLAG_##id] = { .name = word, .type = FLAG_##kind, __VA_ARGS__ },

/* A value; which member counts follows from the row's type. Strings are borrowed from argv or the
 * environment. */
struct flag_value {
    struct str text;
    int64_t number;   /* int, duration in ms, bool 0 or 1 */
    bool given;       /* on the command line or by the environment */
    const char *from; /* whom to blame for it: "--port", "environment variable PORT" */
};

struct flag_values {
    const struct flag_row *rows;
    uint32_t count;
    struct flag_value *values; /* values[i] belongs to rows[i] */
    struct str_list rest;      /* what is not a flag, in order */
    bool help;                 /* --help or -h was given */
};

/* 0; or -1 with what is wrong and how to fix it: unknown flag (with the nearest), no value, not a
 * number, out of bounds. `environment` is looked up by `getenv_of(name)`, which may be NULL. */
int flags_parse(const struct flag_row *rows, uint32_t count, int argc, char **argv,
                const char *(*getenv_of)(const char *name), struct arena *arena,
                struct flag_values *ret_values, struct error *err);

/* The help page's list of flags. */
void flags_help(const struct flag_row *rows, uint32_t count, struct strbuf *out);

#endif
