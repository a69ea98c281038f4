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

/* Where the value that begins at or before `offset` stands; {0,0,0} if nothing does. */
struct yaml_position yaml_position_of(const struct yaml_document *document, size_t offset);

/* Block-style YAML of a JSON value, for people to read and edit. */
void yaml_write(struct json value, struct strbuf *out);

#endif
