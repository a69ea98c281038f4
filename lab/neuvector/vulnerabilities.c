/* SPDX-License-Identifier: Apache-2.0 */
/* vulnerabilities.c: the rows whose image fits. */
#include "lab/neuvector/vulnerabilities.h"

static const struct vulnerability rows[] = {
#define VULNERABILITY(image, name, severity, score, package, version, fixed)                       \
    { STR_INIT(image),   STR_INIT(name),    STR_INIT(severity), STR_INIT(score),                   \
      STR_INIT(package), STR_INIT(version), STR_INIT(fixed) },
#include "lab/neuvector/vulnerabilities.def"
#undef VULNERABILITY
};

struct str row_word(struct str text, const char *key)
{
    struct str one, name;

    while (str_split(&text, ' ', &one))
        if (str_split(&one, '=', &name) && str_eq(name, str_of(key)))
            return one;
    return STR("");
}

static struct vulnerability row_of(struct str text)
{
    struct str score = row_word(text, "score");

    return (struct vulnerability){
        .image = row_word(text, "image"),
        .name = row_word(text, "name"),
        .severity = row_word(text, "severity"),
        .score = score.len ? score : STR("0"),
        .package = row_word(text, "package"),
        .version = row_word(text, "version"),
        .fixed = row_word(text, "fixed"),
    };
}

struct vulnerabilities vulnerabilities_of(struct arena *arena, struct str image, struct json added)
{
    struct vulnerabilities list = vulnerabilities_new(arena, 4);
    struct json_iter it = json_iter(added);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_starts(image, rows[i].image))
            vulnerabilities_push(&list, rows[i]);
    while (json_next(&it)) {
        struct vulnerability row = row_of(json_str(it.value));

        if (row.image.len && str_starts(image, row.image))
            vulnerabilities_push(&list, row);
    }
    return list;
}

uint32_t vulnerabilities_count(const struct vulnerabilities *list, struct str severity)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < list->count; i++)
        count += str_eq(list->items[i].severity, severity);
    return count;
}
