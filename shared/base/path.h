/* SPDX-License-Identifier: Apache-2.0 */
/* path.h: the place of a field, as a chain of links on the caller's stack.
 *
 *     struct path spec = path_field(NULL, STR("spec"));
 *     struct path charts = path_field(&spec, STR("charts"));
 *     struct path third = path_index(&charts, 2);          renders as spec.charts[2]
 *
 * Links cost nothing until something is wrong and the path is rendered. Each
 * borrows the one above. */
#ifndef HERD_BASE_PATH_H
#define HERD_BASE_PATH_H

#include "base/str.h"

enum path_kind { PATH_FIELD, PATH_INDEX, PATH_KEY, PATH_MEMBER };

struct path {
    const struct path *up; /* NULL at the top */
    struct str name;       /* of a field or key */
    uint32_t index;
    enum path_kind kind;
};

static inline struct path path_field(const struct path *up, struct str name)
{
    return (struct path){ up, name, 0, PATH_FIELD };
}

static inline struct path path_index(const struct path *up, uint32_t index)
{
    return (struct path){ up, { "", 0 }, index, PATH_INDEX };
}

/* A key of a free map, such as a label: renders as spec.targets.selector.matchLabels[env]. */
static inline struct path path_key(const struct path *up, struct str key)
{
    return (struct path){ up, key, 0, PATH_KEY };
}

/* A member of a free map: as a field, or as a key where its name would read as more than one. */
static inline struct path path_member(const struct path *up, struct str name)
{
    return (struct path){ up, name, 0, PATH_MEMBER };
}

/* As Kubernetes writes field paths (k8s.io/apimachinery field.Path.String). NULL renders as "". */
struct str path_render(const struct path *path, struct arena *arena);

/* The same place as an RFC 6901 JSON Pointer: /spec/charts/2. */
struct str path_pointer(const struct path *path, struct arena *arena);

#endif
