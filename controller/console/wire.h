/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: what the console reads of requests for objects, and of the API server's answers. Pure. */
#ifndef HERD_CONTROLLER_CONSOLE_WIRE_H
#define HERD_CONTROLLER_CONSOLE_WIRE_H

#include "base/error.h"

/* Of a read: labelSelector ("" if absent) for a list; `pretty` is passed over. -1:
 * ERROR_BAD_REQUEST, another one, which would be missed. */
int wire_read_parameters(struct arena *arena, struct str query, bool is_list,
                         struct str *ret_label_selector, struct error *err);

/* application/json, with or without parameters. */
bool wire_is_json(struct str content_type);
/* Whether a query has dryRun. */
bool wire_is_dry_run(struct arena *arena, struct str query);
/* -1: ERROR_BAD_REQUEST: the body is no JSON object, and where it is wrong. */
int wire_check(struct arena *arena, struct str body, struct error *err);
/* Whether an object, which wire_check took, has no metadata.resourceVersion. */
bool wire_lacks_version(struct arena *arena, struct str body);
/* `body` with the resourceVersion of `live`. -1: one of both has no metadata. */
int wire_fill_version(struct arena *arena, struct str body, struct str live, struct str *ret_body,
                      struct error *err);

/* What an answer to a write says that there is now. */
struct wire_written {
    struct str name, uid;
    struct str resource_version; /* "": the object is gone */
    bool is_being_deleted;       /* it may be gone by now */
};
/* False: it is neither an object nor the Status of a deletion. */
bool wire_read_written(struct arena *arena, struct str answer, struct wire_written *ret_written);

#endif
