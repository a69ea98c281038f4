/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_v2.h: /openapi/v2: one document with all kinds, as JSON and as gnostic's protobuf. */
#ifndef HERD_LAB_APISERVER_OPENAPI_V2_H
#define HERD_LAB_APISERVER_OPENAPI_V2_H

#include "text/json.h"

struct builtin;
struct kind;
struct request;

/* The whole document, as JSON. */
struct str openapi_v2_document(struct request *rq);
/* A document of that form in protobuf. Pure. */
struct str openapi_v2_protobuf(struct arena *arena, struct json document);

/* What both versions of OpenAPI say of a kind (openapi.c). */
struct str openapi_group_path(struct request *rq, const struct kind *kind);
struct str openapi_schema_name(struct request *rq, const struct kind *kind);
struct str openapi_gvk(struct request *rq, const struct kind *kind);
/* Is a named type that of a kind? */
bool openapi_is_kind(const struct builtin *builtin, struct str type);

#endif
