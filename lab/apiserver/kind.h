/* SPDX-License-Identifier: Apache-2.0 */
/* kind.h: a kind as it is served in one version, whether built in or by definition. */
#ifndef HERD_LAB_APISERVER_KIND_H
#define HERD_LAB_APISERVER_KIND_H

#include "lab/apiserver/jsonpath.h"
#include "lab/apiserver/schema.h"

enum kind_trait {
    KIND_PLAIN = 0,
    KIND_STATUS = 1,     /* status subresource */
    KIND_GENERATION = 2, /* metadata.generation counts */
    KIND_QUESTION = 4,   /* answered, never stored */
    KIND_LABEL_NAME = 8,
    KIND_PATH_NAME = 16,
    KIND_CUSTOM = 32, /* by CustomResourceDefinition */
    KIND_SCALE = 64,  /* scale subresource */
    KIND_TOKEN = 128, /* token subresource */
};

struct kind;
struct cells;

/* A column of a Table. Its cell comes from a JSON path, or from a function for what a path cannot
 * say. */
struct column {
    struct str name, type, format, description;
    int64_t priority;
    const struct jsonpath *path;
    struct str otherwise; /* in JSON, where nothing stands at the path; "" is null */
    void (*cell)(struct cells *cells, struct json object);
};

LIST_DEFINE(columns, struct column)

struct selectable {
    struct str name; /* as a field selector names it: "spec.env" */
    const struct jsonpath *path;
};

LIST_DEFINE(selectables, struct selectable)

struct kind {
    struct str group, version, plural, singular, kind, list_kind;
    struct str storage_version; /* stored objects say this one */
    struct str_list short_names, categories;
    bool namespaced;
    unsigned traits;
    const struct schema *schema; /* never NULL */
    struct columns columns;      /* after the name; none: name and age */
    struct selectables selectable;
    struct {
        struct str spec, status, selector; /* paths, as ".spec.replicas"; selector may be "" */
    } scale;                               /* of KIND_SCALE */
    struct str deprecation;                /* a Warning for each request; "" = none */
};

LIST_DEFINE(kinds, const struct kind *)

static inline bool kind_has(const struct kind *kind, unsigned trait)
{
    return (kind->traits & trait) != 0;
}

/* "v1", "apps/v1" */
struct str kind_api_version(struct arena *arena, const struct kind *kind);
struct str kind_storage_api_version(struct arena *arena, const struct kind *kind);

/* The built-in kinds, and the schema that all metadata has. Everything lives in the arena. */
struct builtin {
    struct kinds kinds;
    struct map *types; /* types.def by name -> struct schema */
    const struct schema *meta;
};
struct builtin *builtin_new(struct arena *arena);

#endif
