/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_node.h: a YAML document between libyaml's events and JSON. Internal to text/. */
#ifndef HERD_TEXT_YAML_NODE_H
#define HERD_TEXT_YAML_NODE_H

#include "text/yaml.h"

enum yaml_node_kind {
    YAML_NULL,
    YAML_BOOL,
    YAML_NUMBER,
    YAML_REAL, /* a number that goyaml reads as floating point */
    YAML_STRING,
    YAML_MERGE,  /* the key "<<", plain */
    YAML_UNREAL, /* infinite or not a number: JSON has no word for it */
    YAML_SEQUENCE,
    YAML_MAPPING,
    YAML_ALIAS,
};

struct yaml_node {
    enum yaml_node_kind kind;
    bool open; /* its end has not come yet */
    bool flow; /* of a collection: it stands in brackets */
    uint32_t line, column;
    struct str text;          /* of a scalar: what JSON writes; of a string: without quotes */
    struct yaml_node *target; /* of an alias */
    struct yaml_node *first;  /* elements; of a mapping: key, value, key, value */
    struct yaml_node *last;
    struct yaml_node *next;
    uint32_t count; /* elements or members */
};

/* What a plain scalar is: one of the first seven kinds, and its JSON text. */
enum yaml_node_kind yaml_resolve(struct arena *arena, struct str plain, struct str *ret_text);

/* "line L, column C: ...". Always -1. */
__attribute__((format(printf, 5, 6))) int yaml_fail(struct error *err, enum error_code code,
                                                    uint32_t line, uint32_t column,
                                                    const char *format, ...);

/* Turn a whole document into JSON and positions. */
int yaml_emit(struct arena *arena, const struct yaml_node *root, struct yaml_document *ret_document,
              struct error *err);

#endif
