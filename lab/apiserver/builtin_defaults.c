/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_defaults.c: down a path, and what is not at its end is put there. */
#include "lab/apiserver/builtin_defaults.h"

static const struct default_row {
    const char *plural, *path, *value;
} rows[] = {
#define DEFAULT(plural, path, value) { plural, path, value },
#include "lab/apiserver/defaults.def"
#undef DEFAULT
};

static void fill(struct arena *arena, struct value *at, struct str path, const char *json)
{
    struct str member = path;
    struct value *value;
    struct error err;

    str_split(&path, '.', &member);
    if (str_eq(member, STR("*"))) {
        for (struct value *m = value_first(at); m; m = value_next(m))
            fill(arena, m, path, json);
        return;
    }
    if (value_kind(at) != JSON_OBJECT)
        return;
    if (path.len)
        fill(arena, value_get(at, member), path, json);
    else if (!value_get(at, member) &&
             value_read(arena, str_of(json), &json_limits_default, &value, &err) == 0)
        value_set(arena, at, member, value);
}

void defaults_fill(struct arena *arena, const struct kind *kind, struct value *object)
{
    if (kind_has(kind, KIND_CUSTOM))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(kind->plural, str_of(rows[i].plural)))
            fill(arena, object, str_of(rows[i].path), rows[i].value);
}
