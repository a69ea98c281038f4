/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf.h: Kubernetes' protobuf encoding of built-in kinds, as far as clients send it. Answers
 * are always JSON, which every client accepts beside it. */
#ifndef HERD_LAB_APISERVER_PROTOBUF_H
#define HERD_LAB_APISERVER_PROTOBUF_H

#include "lab/apiserver/schema.h"

/* A body that begins with "k8s\0". `type` is a named type of types.def. -1: ERROR_SYNTAX for a body
 * that is damaged or cut off, ERROR_MEDIA_TYPE for what has no row in protobuf.def. */
int protobuf_read(struct arena *arena, const struct map *types, const struct schema *type,
                  struct str body, struct value **ret_value, struct error *err);

#endif
