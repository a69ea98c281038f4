/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.h: the words of controller/reasons.def. */
#ifndef HERD_CONTROLLER_REASONS_H
#define HERD_CONTROLLER_REASONS_H

#include "base/str.h"

enum controller_reason {
#define CONTROLLER_REASON(id, name, event, about, sentence, remedy) CONTROLLER_REASON_##id,
#include "controller/reasons.def"
#undef CONTROLLER_REASON
    CONTROLLER_REASON_COUNT
};

struct str controller_reason_name(enum controller_reason reason);

#endif
