/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h: what compliance checks say of the containers of an image: rows of a table, and those
 * that are added while the lab runs. Pure. */
#ifndef HERD_LAB_NEUVECTOR_CHECKS_H
#define HERD_LAB_NEUVECTOR_CHECKS_H

#include "base/list.h"
#include "text/json.h"

struct lab_check {
    struct str image; /* what the reference begins with */
    struct str test, level, description, remediation;
};
LIST_DEFINE(lab_checks, struct lab_check)

/* Of the image; `added` is the data of the ConfigMap, or absent. */
struct lab_checks lab_checks_of(struct arena *arena, struct str image, struct json added);

#endif
