/* SPDX-License-Identifier: Apache-2.0 */
/* status_rows.h: the tables of a status as data. A .c file includes a .def of STATUS rows behind
 * this, where their structs are known; status_fields.def says what a row is. */
#ifndef HERD_STACK_STATUS_ROWS_H
#define HERD_STACK_STATUS_ROWS_H

#include "stack/model/fields.h"

#include <stddef.h>

/* metav1.Condition, with the bounds that Kubernetes has for it. */
extern const struct field_table fields_of_condition;

#define NONE NULL, NULL, NULL
#define FIELDS(table) &fields_of_##table, NULL, NULL
#define WORDS_OF(words) NULL, &words_of_##words, NULL
#define ALWAYS FIELD_ALWAYS
#define OPEN FIELD_OPEN

#define STATUS_TABLE(table, type, help)                                                            \
    typedef type table##_type;                                                                     \
    static const char table##_help[] = help;                                                       \
    static const struct field table##_rows[] = {
#define STATUS(table, member, json, kind, of, flags, help)                                         \
    { STR_INIT(json), FIELD_##kind, flags, offsetof(table##_type, member), of, STR_INIT(""), 0, 0, \
      help,           NULL },
#define STATUS_UNUSED(table, json, kind, of, help)                                                 \
    { STR_INIT(json), FIELD_##kind, FIELD_UNUSED, 0, of, STR_INIT(""), 0, 0, help, NULL },
#define STATUS_END(table)                                                                          \
    }                                                                                              \
    ;                                                                                              \
    const struct field_table fields_of_##table = {                                                 \
        .name = #table,                                                                            \
        .help = table##_help,                                                                      \
        .hint = "remove it; docs/fields.md lists the fields",                                      \
        .rows = table##_rows,                                                                      \
        .count = (uint32_t)(sizeof(table##_rows) / sizeof(table##_rows[0])),                       \
        .size = sizeof(table##_type),                                                              \
        .status = true,                                                                            \
    };

#endif
