/* reasons.h: the words that status, conditions and Events give as reasons (reasons.def). */
#ifndef HERD_STACK_REASONS_H
#define HERD_STACK_REASONS_H

#include "base/str.h"

enum reason {
#define REASON_ROW(id, name, event, sentence) REASON_##id,
#include "stack/reasons.def"
#undef REASON_ROW
    REASON_COUNT
};

enum reason_event { REASON_QUIET, REASON_NORMAL, REASON_WARNING };

struct reason_row {
    struct str name;
    enum reason_event event;
    const char *sentence;
};
extern const struct reason_row reason_rows[REASON_COUNT];

/* The word itself: REASON(DEPLOYED) is "Deployed". */
#define REASON(id) (reason_rows[REASON_##id].name)

/* Its row; NULL: it is none of these, but e.g. that of a refused request. */
const struct reason_row *reason_find(struct str name);

#endif
