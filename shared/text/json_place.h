/* SPDX-License-Identifier: Apache-2.0 */
/* json_place.h: from a rendered field path (base/path.h) back to the value that it names.
 *
 * A path is text for people: a key may hold the dots and brackets that paths are written with. So
 * it is read against the value: at each object the longest of its keys that fits is the one
 * meant. */
#ifndef HERD_TEXT_JSON_PLACE_H
#define HERD_TEXT_JSON_PLACE_H

#include "text/json.h"

struct json_place {
    struct json value; /* the field's, or that of the nearest one around it */
    bool whole;        /* all of the path was found */
    bool member;       /* of an object, so it has a key */
};

/* `root` is what the path begins in: "spec.charts[2].repo" in an object that has spec. */
struct json_place json_place_of(struct json root, struct str path);

#endif
