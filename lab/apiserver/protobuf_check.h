/* protobuf_check.h: is a body in Kubernetes' protobuf encoding whole, and does it fit its type?
 *
 * protobuf_read looks for what it needs and takes the absence of a field for "not said". Of a body
 * that was cut off that would be wrong, and dangerous: a deletion without its preconditions
 * deletes. So, as json_read scans before anybody looks, this walks all of the body first. Pure;
 * nothing is allocated. */
#ifndef HERD_LAB_APISERVER_PROTOBUF_CHECK_H
#define HERD_LAB_APISERVER_PROTOBUF_CHECK_H

#include "lab/apiserver/schema.h"
#include "text/json.h"

/* 0; or -1 with the place in the text: ERROR_SYNTAX and ERROR_TOO_LARGE blame the bytes,
 * ERROR_MEDIA_TYPE says that the type (NULL: none) has no rows in protobuf.def or that the envelope
 * holds something else. The bounds are JSON's: bytes, depth of messages, fields for nodes, bytes of
 * one string. */
int protobuf_check(const struct schema *type, struct str body, const struct json_limits *limits,
                   struct error *err);

#endif
