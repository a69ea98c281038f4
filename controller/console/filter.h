/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h: which changes a reader of /events or /watch asks for, by the query. Pure. */
#ifndef HERD_CONTROLLER_CONSOLE_FILTER_H
#define HERD_CONTROLLER_CONSOLE_FILTER_H

#include "controller/console/history.h"
#include "controller/console/kinds.h"

struct console_filter {
    const struct console_kind *kind; /* NULL: any */
    struct str namespace_, name;     /* "": any */
    bool has_type;
    enum change_type type;
    uint32_t limit; /* the newest so many */
};

/* Of `query`, raw: kind, namespace, name, type and, if `limit_max` is not 0, limit. -1:
 * ERROR_BAD_REQUEST that names the parameter; what is not known is rejected, too. */
int console_filter_read(struct arena *arena, const struct console_kinds *kinds, struct str query,
                        uint32_t limit_max, struct console_filter *ret_filter, struct error *err);
bool console_filter_takes(const struct console_filter *filter, const struct change *change);

#endif
