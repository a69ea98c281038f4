/* SPDX-License-Identifier: Apache-2.0 */
/* schema_cel.h: rules in CEL of a CustomResourceDefinition (x-kubernetes-validations): compiled
 * with the definition, evaluated on what is written.
 *
 * A rule sees the value at its level of the schema as `self`, and the value that stood there before
 * as `oldSelf`, where both can be told to be the same. Everything lives in the arena of the
 * definition; evaluation uses that of the findings. Source:
 * k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel and pkg/apis/apiextensions/validation. */
#ifndef HERD_LAB_APISERVER_SCHEMA_CEL_H
#define HERD_LAB_APISERVER_SCHEMA_CEL_H

#include "lab/apiserver/schema.h"
#include "lab/cel/cel.h"

/* One rule, as far as evaluation needs it. */
struct schema_rule {
    struct str rule, message, message_expression, reason;
    struct str field_path; /* below its level, as paths are shown; "" = that level */
    bool optional_old;
    bool reads_old;
    struct cel_program *program;
    struct cel_program *message_program; /* NULL = none */
};

LIST_DEFINE(schema_rule_list, struct schema_rule)

struct schema_rules {
    struct schema_rule_list list;
    const struct cel_type *self;
};

/* What a schema says of the type of a value; NULL: rules do not see it. `is_root`: of a resource,
 * which has apiVersion, kind and a name. */
const struct cel_type *schema_cel_type(struct arena *arena, const struct schema *schema,
                                       bool is_root);

/* Compile the rules of a sound schema, at all levels; `json` is what `schema` was compiled from.
 * What is wrong with them goes to `found`. */
void schema_cel_compile(struct arena *arena, struct json json, struct schema *schema,
                        const struct path *at, struct findings *found);

/* "spec.a" of ".spec.a", "labels[x]" of ".labels['x']"; false: the schema has no such place. */
bool schema_field_path(struct arena *arena, const struct schema *schema, struct str path,
                       struct str *ret_path);

/* Evaluate all rules on a value that its schema accepted. `old` NULL: a creation. What no longer
 * holds, but held no more before either, as nothing changed there, is a warning. */
void schema_cel_validate(const struct schema *schema, const struct value *value,
                         const struct value *old, struct findings *found,
                         struct str_list *warnings);

#endif
