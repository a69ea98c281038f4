/* status_check.h: does a status that somebody hands us have the form that its table says? For
 * files: what an API server gives has passed the schema that is made of the same rows. Pure. */
#ifndef HERD_STACK_STATUS_CHECK_H
#define HERD_STACK_STATUS_CHECK_H

#include "base/path.h"
#include "stack/crd.h"

/* `at`: e.g. status.resources[0].allocatable; `what`: "must be an integer, not a string". */
typedef void status_wrong(void *context, const struct path *at, struct str what);

/* Tells of each field that is not in the table, and of each value of another type. */
void status_check(struct arena *arena, const struct status_row *rows, struct json status,
                  status_wrong *wrong, void *context);

#endif
