/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.h: YAML as Kubernetes reads it: YAML 1.2's JSON schema with YAML 1.1's spelling of null,
 * booleans and numbers as in sigs.k8s.io/yaml; every document becomes JSON bytes plus positions.
 *
 * Bounds (limits.def): text, depth, anchors, nodes after aliases. Duplicate keys, keys that are not
 * scalars, unknown tags and aliases that contain themselves are errors. Built on libyaml's events;
 * bytes are scanned first, because libyaml is quadratic in nesting and anchors. */
#ifndef HERD_TEXT_YAML_H
#define HERD_TEXT_YAML_H

#include "base/list.h"
#include "text/json.h"

/* The value that begins at byte `offset` of the JSON stands at line:column (from 1) of the YAML. */
struct yaml_position {
    size_t offset;
    uint32_t line;
    uint32_t column;
};

struct yaml_document {
    struct str json;                 /* "null" for an empty document */
    struct yaml_position *positions; /* ascending by offset: keys and values */
    uint32_t position_count;
};

LIST_DEFINE(yaml_documents, struct yaml_document)

/* All documents of a stream. Input that begins with '{' or '[' is read the same way: JSON is YAML.
 * -1: ERROR_SYNTAX or ERROR_TOO_LARGE with "line L, column C: ...". */
int yaml_read(struct arena *arena, struct str text, struct yaml_documents *ret_documents,
              struct error *err);

/* Strict JSON alone, within bounds of one's own: for what programs wrote. -1 as json_read. */
int yaml_read_json(struct arena *arena, struct str text, const struct json_limits *limits,
                   struct yaml_document *ret_document, struct error *err);

/* The documents of a stream one by one, as text, so that what is wrong with one says nothing of
 * the others, and each has the bounds of one. Begin with { text, 1 }. A text that ret_text gets
 * holds one document at most; ret_line is where it begins. False at the end. */
struct yaml_stream {
    struct str rest;
    uint32_t line;
};
bool yaml_split(struct yaml_stream *stream, struct str *ret_text, uint32_t *ret_line);

/* What the error of yaml_read says: where (no offset), and what is wrong there. False if it is
 * about no place. `ret_what` borrows from `err`. */
bool yaml_error_place(const struct error *err, struct yaml_position *ret_at, struct str *ret_what);

/* Where the value that begins at or before `offset` stands; {0,0,0} if nothing does. */
struct yaml_position yaml_position_of(const struct yaml_document *document, size_t offset);
/* Where the key stands whose value begins at `offset`. */
struct yaml_position yaml_key_position_of(const struct yaml_document *document, size_t offset);

/* Block-style YAML of a JSON value, for people to read and edit. */
void yaml_write(struct json value, struct strbuf *out);

#endif
