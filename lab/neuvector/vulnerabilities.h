/* SPDX-License-Identifier: Apache-2.0 */
/* vulnerabilities.h: what a scan finds in an image: rows of a table, and those that are added while
 * the lab runs. Pure. */
#ifndef HERD_LAB_NEUVECTOR_VULNERABILITIES_H
#define HERD_LAB_NEUVECTOR_VULNERABILITIES_H

#include "base/list.h"
#include "text/json.h"

struct vulnerability {
    struct str image; /* what the reference begins with */
    struct str name, severity, score, package, version, fixed;
};
LIST_DEFINE(vulnerabilities, struct vulnerability)

/* Of the image; `added` is the data of the ConfigMap, or absent. */
struct vulnerabilities vulnerabilities_of(struct arena *arena, struct str image, struct json added);
/* Of a row that was added: the value behind "key=" in words with blanks between; "" if there is
 * none. */
struct str row_word(struct str text, const char *key);
uint32_t vulnerabilities_count(const struct vulnerabilities *list, struct str severity);

#endif
