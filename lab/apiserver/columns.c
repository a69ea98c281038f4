/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c: the rows of columns.def, for one kind. */
#include "lab/apiserver/column_cells.h"

static const struct row {
    const char *plural;
    const char *name, *type;
    int64_t priority;
    const char *path, *otherwise; /* or */
    void (*cell)(struct cells *c, struct json object);
} rows[] = {
#define AT(plural, name, type, priority, path, otherwise)                                          \
    { plural, name, type, priority, path, otherwise, NULL },
#define CELL(plural, name, type, priority, cell) { plural, name, type, priority, NULL, "", cell },
#define AGED(plural)
#include "lab/apiserver/columns.def"
#undef AT
#undef CELL
#undef AGED
};

static bool has_own_age(const struct kind *kind)
{
    static const char *const plurals[] = {
#define AT(plural, name, type, priority, path, otherwise)
#define CELL(plural, name, type, priority, cell)
#define AGED(plural) plural,
#include "lab/apiserver/columns.def"
#undef AT
#undef CELL
#undef AGED
    };

    for (size_t i = 0; i < sizeof(plurals) / sizeof(plurals[0]); i++)
        if (str_eq(kind->plural, str_of(plurals[i])))
            return true;
    return false;
}

static const struct jsonpath *path_of(struct arena *arena, const char *text)
{
    struct error err;

    return text ? jsonpath_compile(arena, str_of(text), &err) : NULL;
}

void columns_builtin(struct arena *arena, struct kind *kind)
{
    kind->columns = columns_new(arena, 8);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(kind->plural, str_of(rows[i].plural)))
            columns_push(&kind->columns, (struct column){ .name = str_of(rows[i].name),
                                                          .type = str_of(rows[i].type),
                                                          .format = STR(""),
                                                          .description = STR(""),
                                                          .priority = rows[i].priority,
                                                          .path = path_of(arena, rows[i].path),
                                                          .otherwise = str_of(rows[i].otherwise),
                                                          .cell = rows[i].cell });
    if (!has_own_age(kind))
        columns_push(&kind->columns, (struct column){ .name = STR("Age"),
                                                      .type = STR("string"),
                                                      .format = STR(""),
                                                      .description = STR(""),
                                                      .cell = cell_age });
}
