/* SPDX-License-Identifier: Apache-2.0 */
/* field_set.h: sets of fields, as metadata.managedFields holds them.
 *
 * A set is a tree of JSON objects in the FieldsV1 form: "f:name" a member of an object, "k:{...}"
 * an element of a list map, "v:..." an element of a set; "." says that the field itself is in the
 * set beside some of what is in it, {} that it is and nothing below is. All functions are pure and
 * exact: a field and what is below it are different members. Source:
 * sigs.k8s.io/structured-merge-diff v4, fieldpath/set.go and serialize.go. */
#ifndef HERD_LAB_APISERVER_FIELD_SET_H
#define HERD_LAB_APISERVER_FIELD_SET_H

#include "lab/apiserver/kind.h"

struct value *fields_union(struct arena *arena, const struct value *a, const struct value *b);
struct value *fields_minus(struct arena *arena, const struct value *a, const struct value *b);
struct value *fields_common(struct arena *arena, const struct value *a, const struct value *b);
/* Is the field itself in the set, of which `node` is what stands at the field? */
bool fields_has_self(const struct value *node);
/* Each member as kubectl prints it: .spec.charts[name="web"].version */
struct str_list fields_paths(struct arena *arena, const struct value *set);
/* One step of such a path, from its name in a set: ".version", [name="web"], [="a"]. */
struct str fields_key_shown(struct arena *arena, struct str key);

/* The fields of an object that somebody applies: what is said in it, but what the server sets. */
struct value *fields_of(struct arena *arena, const struct kind *kind, const struct value *object);
/* The fields of `object` that `old` (NULL: nothing) does not have, or has otherwise. */
struct value *fields_changed(struct arena *arena, const struct kind *kind, const struct value *old,
                             const struct value *object);
/* The name of a list's element in a set: "k:{...}", "v:..."; the list is no atomic one. */
struct str fields_element(struct arena *arena, const struct schema *list,
                          const struct value *element);

#endif
