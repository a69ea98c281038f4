/* SPDX-License-Identifier: Apache-2.0 */
/* object.h: stored objects as trees: reading and changing their metadata. */
#ifndef HERD_LAB_APISERVER_OBJECT_H
#define HERD_LAB_APISERVER_OBJECT_H

#include "base/rng.h"
#include "lab/apiserver/finding.h"
#include "lab/apiserver/kind.h"

/* metadata.<key> as text; "" if absent. */
struct str meta_text(const struct value *object, const char *key);
struct value *meta_get(const struct value *object, const char *key);
/* Set or, with "", remove. metadata is made if it is not there. */
void meta_set_text(struct arena *arena, struct value *object, const char *key, struct str text);
void meta_set(struct arena *arena, struct value *object, const char *key, struct value *member);
void meta_remove(struct value *object, const char *key);
int64_t meta_generation(const struct value *object);
uint64_t meta_version(const struct value *object); /* 0 if absent or not a number */
bool meta_is_going(const struct value *object);    /* deletionTimestamp is set */
uint32_t meta_finalizer_count(const struct value *object);

/* The object's JSON before and behind the digits of metadata.resourceVersion, which comes first in
 * metadata, so that the store can put its version in without parsing. */
void object_split(struct arena *arena, const struct value *object, struct str *ret_head,
                  struct str *ret_tail);

/* The JSON of a stored object with another resourceVersion. */
struct str object_with_version(struct arena *arena, struct str object, uint64_t version);

/* A random UUID (version 4), and five characters behind a generateName. */
struct str object_uid(struct arena *arena, struct rng rng);
struct str object_generate_name(struct arena *arena, struct rng rng, struct str base);

/* metav1.ObjectMeta's rules (k8s.io/apimachinery/pkg/api/validation/objectmeta.go). */
void meta_validate(const struct kind *kind, const struct value *object, struct findings *found);
void meta_validate_update(struct arena *arena, const struct value *old, const struct value *object,
                          struct findings *found);

/* [prefix/]name, as labels have for a key. */
void meta_validate_key(struct str key, const struct path *at, struct findings *found);
/* The name of another object. */
void meta_validate_name(const struct value *name, const struct path *at, struct findings *found);

/* Rules and defaults of built-in kinds that their types do not express. `old` NULL: a creation. */
void builtin_default(struct arena *arena, const struct kind *kind, struct value *object);
void builtin_validate(struct arena *arena, const struct kind *kind, const struct value *old,
                      const struct value *object, struct findings *found);

/* The texts of a list, and a list of texts. */
struct str_list object_texts(struct arena *arena, const struct value *list);
struct value *object_list_of(struct arena *arena, const struct str_list *texts);

#endif
