/* SPDX-License-Identifier: Apache-2.0 */
/* informer_keep.h: what an informer keeps of an object when nobody says. Internal to runtime/. */
#ifndef HERD_RUNTIME_INFORMER_KEEP_H
#define HERD_RUNTIME_INFORMER_KEEP_H

#include "text/json.h"

/* The object without metadata.managedFields and the last-applied annotation, which are half of many
 * objects and of use to nobody who reads. Always true. */
bool informer_keep_default(struct json object, struct strbuf *kept);

#endif
