/* SPDX-License-Identifier: Apache-2.0 */
/* managers.h: which manager set which fields: metadata.managedFields, kept on each write.
 * Source: k8s.io/apimachinery/pkg/util/managedfields; structured-merge-diff v4, merge/update.go. */
#ifndef HERD_LAB_APISERVER_MANAGERS_H
#define HERD_LAB_APISERVER_MANAGERS_H

#include "lab/apiserver/field_set.h"

struct field_writer {
    struct str manager;
    struct str sub_resource;
    struct str api_version;
    struct str time; /* RFC 3339 */
};

/* One entry of managedFields; everything is borrowed from the object it was read from. */
struct manager {
    struct field_writer by;
    bool applies; /* operation Apply */
    struct value *set;
};

LIST_DEFINE(managers, struct manager)

/* False: what stands there is not a list of FieldsV1 entries. */
bool managers_read(struct arena *arena, const struct value *managed_fields,
                   struct managers *ret_managers);
/* As metadata.managedFields of the object: appliers first, then by time and name; none with an
 * empty set. */
void managers_put(struct arena *arena, const struct managers *managers, struct value *object);

/* An update from `old` (NULL: a creation) to `object`: what it changed is the writer's, what it
 * removed is nobody's. It begins with the entries that `object` brings along, so that clients may
 * edit them ([] or [{}] forgets all), unless it has none or writes a subresource: then old's. An
 * object without any stays so until somebody applies it. Of more than ten that updated, the oldest
 * become one, "ancient-changes". */
void managers_update(struct arena *arena, const struct kind *kind, const struct value *old,
                     struct value *object, const struct field_writer *writer);

#endif
