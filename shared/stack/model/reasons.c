/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.c: the rows of reasons.def. */
#include "stack/model/reasons.h"

const struct reason_row reason_rows[REASON_COUNT] = {
#define REASON_ROW(id, name, news, where, sentence, remedy)                                        \
    [REASON_##id] = { STR_INIT(name), NEWS_##news, WHERE_##where, sentence, remedy },
#include "stack/model/reasons.def"
#undef REASON_ROW
};

const struct reason_row *reason_find(struct str name)
{
    for (int i = 0; i < REASON_COUNT; i++)
        if (str_eq(reason_rows[i].name, name))
            return &reason_rows[i];
    return NULL;
}
