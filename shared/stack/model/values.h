/* SPDX-License-Identifier: Apache-2.0 */
/* values.h: the values of a chart: what ConfigMaps, Secrets and the Stack itself give, merged.
 *
 * Values are written in layers: the chart's own, then what each override that applies says of the
 * chart. A layer gives its ConfigMaps, its Secrets and its inline values, in this order; later ones
 * are laid over earlier ones by Helm's rule (maps merge, lists and scalars replace, null deletes).
 * Placeholders (template.h) are replaced after that, so an override takes the place of one that a
 * cluster has no fact for. Secrets have no placeholders: their text is taken as it is.
 *
 * Pure: what is in ConfigMaps and Secrets was read before. All in arenas. */
#ifndef HERD_STACK_VALUES_H
#define HERD_STACK_VALUES_H

#include "stack/model/stack.h"
#include "stack/model/template.h"
#include "text/value.h"

enum reference_state {
    REFERENCE_NOT_SYNCED, /* not yet, or it cannot be read: `text` says why, if that is known */
    REFERENCE_ABSENT,     /* the object does not exist */
    REFERENCE_NO_KEY,     /* it lacks the key: `text` lists those that a ConfigMap has */
    REFERENCE_BROKEN,     /* its text is not base64, or not text */
    REFERENCE_READ,       /* `text` is the value of the key */
};

/* One data key of a ConfigMap or Secret of the Stack's namespace, as it was read. */
struct observed_reference {
    bool secret;
    struct str name;
    struct str key;
    bool optional; /* whoever names it does without it */
    enum reference_state state;
    struct str text;
    struct str version; /* of READ: "uid/resourceVersion" */
};
LIST_DEFINE(observed_references, struct observed_reference)

/* The data key that a reference names. */
struct str values_key(const struct name_ref *ref);
/* The object that it names for a cluster: `name` with the id in place of ${cluster.id}. */
struct str values_object(struct arena *arena, struct str name, struct str cluster_id);
/* Whether each cluster has objects of its own. */
bool values_are_per_cluster(const struct chart_values *values);

/* Observed references, found by name. */
struct values_references;
/* `namespace_` is for messages; `observed` NULL: what ConfigMaps and Secrets hold is not seen, and
 * counts as nothing. */
struct values_references *values_references_new(struct arena *arena, struct str namespace_,
                                                const struct observed_references *observed);

/* What one layer gives, for a digest: what its Secrets give is not in it. */
struct values_part {
    struct value *config;       /* its ConfigMaps, merged, if a layer has Secrets; never NULL */
    struct value *inline_;      /* or NULL */
    struct str secret_versions; /* "NAME/KEY=UID/RESOURCEVERSION\n" of each of its Secrets */
};
LIST_DEFINE(values_parts, struct values_part)

struct merged_values {
    struct value *values;       /* NULL: they cannot be had; placeholders as they are written, */
    struct values_parts parts;  /* here, too */
    struct template_use use;    /* of `values` */
    struct str secret_versions; /* of all parts; "": no Secret is part of it */
    struct str reason;          /* why they cannot be had: ConfigMapNotFound, ValuesInvalid, ... */
    struct str message;
};

/* The layers' values for a cluster; its id counts only if values_are_per_cluster of one. What is
 * the same for all clusters is read once. */
struct merged_values values_merge(struct arena *arena, struct values_references *references,
                                  const struct chart_values *const *layers, uint32_t count,
                                  struct str cluster_id);

/* With the facts in use in place of placeholders. NULL: longer than `bytes_max` together. */
struct value *values_expand(struct arena *arena, const struct value *values,
                            const struct template_use *use, const struct template_facts *facts,
                            size_t bytes_max);

#endif
