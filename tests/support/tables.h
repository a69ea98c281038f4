/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h: the .def tables of all programs as arrays, for the tests that walk them. */
#ifndef HERD_TESTS_SUPPORT_TABLES_H
#define HERD_TESTS_SUPPORT_TABLES_H

#include "base/flag.h"
#include "base/metric.h"

/* The flags of one program. */
struct flag_table {
    const char *program; /* "herd-webhook serve" */
    const struct flag_row *rows;
    uint32_t count;
};
extern const struct flag_table flag_tables[];
extern const uint32_t flag_table_count;

/* Its buckets are only known by name. */
struct metric_entry {
    struct metric_row row;
    const char *buckets;
};
struct metric_table {
    const char *program;
    const char *prefix; /* of every name: "herd_webhook_" */
    const struct metric_entry *rows;
    uint32_t count;
};
extern const struct metric_table metric_tables[];
extern const uint32_t metric_table_count;

struct limit_entry {
    const char *folder; /* whose limits.def it is in */
    const char *name;
    int64_t value;
    const char *unit;
    const char *source;
};
extern const struct limit_entry limit_entries[];
extern const uint32_t limit_entry_count;

/* A row of any other table, by what all of them have. */
struct table_entry {
    const char *table;
    const char *name; /* unique within the table */
    const char *help; /* NULL: this table has none */
    bool sentence;    /* help ends with a period */
};
extern const struct table_entry table_entries[];
extern const uint32_t table_entry_count;

#endif
