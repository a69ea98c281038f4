/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.c: the names in reasons.def. */
#include "controller/reasons.h"

struct str controller_reason_name(enum controller_reason reason)
{
    static const struct str names[] = {
#define CONTROLLER_REASON(id, name, event, about, sentence, remedy) STR_INIT(name),
#include "controller/reasons.def"
#undef CONTROLLER_REASON
    };

    return names[reason];
}
