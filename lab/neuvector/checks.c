/* SPDX-License-Identifier: Apache-2.0 */
/* checks.c: the rows whose image fits. */
#include "lab/neuvector/checks.h"

#include "lab/neuvector/vulnerabilities.h"

static const struct lab_check rows[] = {
#define CHECK(image, test, level, description, remediation)                                        \
    { STR_INIT(image), STR_INIT(test), STR_INIT(level), STR_INIT(description),                     \
      STR_INIT(remediation) },
#include "lab/neuvector/checks.def"
#undef CHECK
};

static struct lab_check row_of(struct str text)
{
    return (struct lab_check){
        .image = row_word(text, "image"),
        .test = row_word(text, "test"),
        .level = row_word(text, "level"),
        .description = row_word(text, "description"),
        .remediation = row_word(text, "remediation"),
    };
}

struct lab_checks lab_checks_of(struct arena *arena, struct str image, struct json added)
{
    struct lab_checks list = lab_checks_new(arena, 4);
    struct json_iter it = json_iter(added);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_starts(image, rows[i].image))
            lab_checks_push(&list, rows[i]);
    while (json_next(&it)) {
        struct lab_check row = row_of(json_str(it.value));

        if (row.image.len && str_starts(image, row.image))
            lab_checks_push(&list, row);
    }
    return list;
}
