/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.h: the words that status, conditions and Events give as reasons (reasons.def). */
#ifndef HERD_STACK_REASONS_H
#define HERD_STACK_REASONS_H

#include "base/str.h"

enum reason {
#define REASON_ROW(id, name, news, where, sentence, remedy) REASON_##id,
#include "stack/model/reasons.def"
#undef REASON_ROW
    REASON_COUNT
};

/* These two are explained in reasons.def. */
enum reason_news { NEWS_QUIET, NEWS_PROGRESS, NEWS_NORMAL, NEWS_WARNING };
enum reason_where { WHERE_RELEASE, WHERE_STACK, WHERE_CONDITION, WHERE_EVENT };

struct reason_row {
    struct str name;
    enum reason_news news;
    enum reason_where where;
    const char *sentence;
    const char *remedy; /* "" = nothing has to be done */
};
extern const struct reason_row reason_rows[REASON_COUNT];

/* The word itself: REASON(DEPLOYED) is "Deployed". */
#define REASON(id) (reason_rows[REASON_##id].name)

/* Its row; NULL: it is none of these, but e.g. that of a rejected request. */
const struct reason_row *reason_find(struct str name);

#endif
