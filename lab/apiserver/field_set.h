/* field_set.h: which manager set which fields: metadata.managedFields.
 *
 * A set of fields is a tree of JSON objects in the FieldsV1 form: "f:name" a member, "k:{...}" an
 * element of a list map, "v:..." an element of a set, "." the container itself, {} a leaf.
 * Source: sigs.k8s.io/structured-merge-diff, fieldpath/serialize.go; merge/update.go. Server-side
 * apply, when it joins, uses the same sets. */
#ifndef HERD_LAB_APISERVER_FIELD_SET_H
#define HERD_LAB_APISERVER_FIELD_SET_H

#include "lab/apiserver/kind.h"

struct field_writer {
    struct str manager;
    struct str sub_resource;
    struct str api_version;
    struct str time; /* RFC 3339 */
};

/* Bring object.metadata.managedFields up to date for a change from `old` (NULL: a creation). */
void fields_update(struct arena *arena, const struct kind *kind, const struct value *old,
                   struct value *object, const struct field_writer *writer);

/* The set of leaves in `object` that `old` does not have or has otherwise. */
struct value *fields_changed(struct arena *arena, const struct kind *kind,
                             const struct value *old, const struct value *object);
struct value *fields_union(struct arena *arena, const struct value *a, const struct value *b);
struct value *fields_minus(struct arena *arena, const struct value *a, const struct value *b);

#endif
