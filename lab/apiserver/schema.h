/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h: structural schemas: what an object may look like.
 *
 * One form for both sources: OpenAPI v3 of CustomResourceDefinitions, and types.def for the
 * built-in kinds. A schema lives in the arena of whoever compiled it; its regular expressions are
 * objects that a `struct regex_set` frees. Source:
 * k8s.io/apiextensions-apiserver/pkg/apiserver/schema. */
#ifndef HERD_LAB_APISERVER_SCHEMA_H
#define HERD_LAB_APISERVER_SCHEMA_H

#include "base/map.h"
#include "lab/apiserver/finding.h"
#include "text/json_write.h"
#include "text/regex.h"

/* How every API server describes what all objects have, whatever a definition says of it.
 * Source: k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder. */
#define SCHEMA_CONVENTIONS                                                                         \
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
#define SCHEMA_API_VERSION_HELP                                                                    \
    "APIVersion defines the versioned schema of this representation of an object. Servers "        \
    "should convert recognized schemas to the latest internal value, and may reject "              \
    "unrecognized values. More info: " SCHEMA_CONVENTIONS "#resources"
#define SCHEMA_KIND_HELP                                                                           \
    "Kind is a string value representing the REST resource this object represents. Servers may "   \
    "infer this from the endpoint the client submits requests to. Cannot be updated. In "          \
    "CamelCase. More info: " SCHEMA_CONVENTIONS "#types-kinds"
#define SCHEMA_METADATA_HELP                                                                       \
    "Standard object's metadata. More info: " SCHEMA_CONVENTIONS "#metadata"

enum schema_type {
    SCHEMA_ANY, /* no type given */
    SCHEMA_OBJECT,
    SCHEMA_ARRAY,
    SCHEMA_STRING,
    SCHEMA_INTEGER,
    SCHEMA_NUMBER,
    SCHEMA_BOOLEAN,
};

enum schema_list { SCHEMA_LIST_ATOMIC, SCHEMA_LIST_SET, SCHEMA_LIST_MAP };

enum { SCHEMA_UNSET = -1 }; /* of the count bounds */

struct schema;
struct schema_rules;
LIST_DEFINE(schema_list_of, const struct schema *)

struct schema {
    enum schema_type type;
    bool nullable, preserve_unknown, int_or_string, embedded, atomic_map;
    bool micro;         /* a time that is written with microseconds */
    bool described;     /* the description is that of a field, not of its type */
    struct str name;    /* of a built-in type, e.g. "PodSpec"; "" = anonymous */
    struct str package; /* of that type, e.g. "io.k8s.api.core.v1" */
    struct str format;  /* "int32", "date-time", ... */
    struct str description;
    struct str pattern;
    const struct regex *regex;
    const struct value *default_; /* NULL = none */
    struct value *enum_;          /* array; NULL = none */
    int64_t min_length, max_length, min_items, max_items, min_properties, max_properties;
    bool has_minimum, has_maximum, exclusive_minimum, exclusive_maximum, has_multiple_of;
    double minimum, maximum, multiple_of;
    struct map *properties;          /* name -> struct schema; NULL = none */
    const struct schema *additional; /* of the values of a map; NULL = not a map */
    const struct schema *items;
    struct str_list required;
    struct schema_list_of all_of, any_of, one_of;
    const struct schema *not_;
    enum schema_list list;
    struct str_list list_keys;        /* of SCHEMA_LIST_MAP */
    struct str merge_key;             /* strategic merge: "" = replace, "+" = merge as a set */
    bool retain_keys;                 /* strategic merge may name which keys stay */
    const struct schema_rules *rules; /* in CEL, at this level (schema_cel.h); NULL = none */
    bool rules_within;                /* at this level or below */
};

/* The regular expressions that schemas hold. */
struct regex_set {
    struct regex **items;
    uint32_t count, capacity;
};
void regex_set_add(struct regex_set *set, struct regex *regex);
void regex_set_free(struct regex_set *set);

struct schema *schema_new(struct arena *arena, enum schema_type type);
const struct schema *schema_property(const struct schema *schema, struct str name);
const char *schema_type_name(enum schema_type type);

/* Compile a JSONSchemaProps but for its rules in CEL (schema_cel.h). What is not structural goes to
 * `found` at its place under `at`. Never NULL. */
struct schema *schema_compile(struct arena *arena, struct regex_set *regexes, struct json json,
                              const struct path *at, struct findings *found);

/* Check a value against a schema; `at` NULL is the root. */
void schema_validate(const struct schema *schema, const struct value *value, const struct path *at,
                     struct findings *found);
/* x-kubernetes-list-type: doubles in sets and maps. */
void schema_validate_lists(const struct schema *schema, const struct value *value,
                           const struct path *at, struct findings *found);

/* Fill in defaults, also within defaults. A member that is null and not nullable counts as absent:
 * it becomes its default, or goes. */
void schema_default(struct arena *arena, const struct schema *schema, struct value *value);
/* Remove what the schema does not know and name each field removed. `is_root`: apiVersion, kind and
 * metadata are known. */
void schema_prune(struct arena *arena, const struct schema *schema, struct value *value,
                  bool is_root, struct str_list *unknown);
/* For built-in kinds: what does not fit, in the Go decoder's words; false if there is such. */
bool schema_decodes(struct arena *arena, const struct schema *schema, const struct value *value,
                    struct str kind, struct str *ret_why);

/* As OpenAPI v3, for /openapi/v3; named types below become references. */

void schema_write(const struct schema *schema, bool is_root, struct json_writer *w);
/* As OpenAPI v2, for /openapi/v2; `is_kind`: apiVersion, kind and metadata are
 * among its members. */
void schema_write_v2(const struct schema *schema, bool is_kind, struct json_writer *w);
/* What both have: a member of strings, if there are any, and what Kubernetes adds to a schema. */
void schema_write_strings(struct json_writer *w, struct str key, const struct str_list *strings);
void schema_write_extensions(const struct schema *schema, struct json_writer *w);
/* "io.k8s.api.core.v1.PodSpec": the key of a named built-in type, and that of all metadata. */
struct str schema_key(struct arena *arena, const struct schema *schema);
#define SCHEMA_META_KEY "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

/* Whether it is one of apiVersion, kind and metadata, which every object has. */
bool schema_is_common(struct str property);

#endif
