/* SPDX-License-Identifier: Apache-2.0 */
/* policy_path.h: which fields of an object a policy's rule is about. Internal to stack/.
 *
 *     spec.charts[*].version                        each element of a list
 *     spec.charts[*].values.inline.image.tag        members of free values
 *     spec.charts[*].values.inline.**.image         at any depth of them
 *     spec.charts[*].values.inline.*.replicas       any member
 *     metadata.labels[app.kubernetes.io/part-of]    a label, annotation or member by its key
 *     metadata.name, metadata.namespace
 *     computed.gpus                                 what the Stack asks of one cluster (below)
 *     computed.image, computed.replicas             of a workload, whatever its fields are called
 *
 * computed.gpus is the number of GPUs, and parts of GPUs, of all vendors, that the Stack asks for
 * on a cluster (gpu_demand.h). Which overrides meet on one cluster depends on labels, so there are
 * several: without overrides, with each of them alone, and with each on top of all before it.
 * A chart's version and inline values are looked at where an override lays others over them, too:
 * what is asked of a chart is asked of what is deployed. Of a workload, computed.gpus and
 * computed.replicas are of the most pods that its autoscaler may make. A path is checked against
 * the tables of fields when it is compiled, so a slip in it is found when the policy is applied,
 * not when nothing ever breaks it. Walking reads what is defaulted. */
#ifndef HERD_STACK_POLICY_PATH_H
#define HERD_STACK_POLICY_PATH_H

#include "base/error.h"
#include "base/path.h"
#include "stack/model/fields.h"
#include "stack/policy/policy_kind.h"

struct policy_path;

/* What stands at a place. */
struct policy_value {
    enum policy_value_kind {
        POLICY_VALUE_ABSENT,
        POLICY_VALUE_TEXT,   /* a string, word or boolean */
        POLICY_VALUE_NUMBER, /* `text` is how it is written */
        POLICY_VALUE_COUNT,  /* a list or an object; `text` is how many it has */
    } kind;
    struct str text;
    const struct chart *chart; /* that it belongs to, or NULL */
    bool summed;               /* it is made of all that stands there, or of several fields */
    const char *measure;       /* what such a number is; NULL = it says so itself */
};

/* What a rule may ask for at the end of a path. */
enum policy_path_end {
    POLICY_END_ANY, /* of free values: known only when it is there */
    POLICY_END_TEXT,
    POLICY_END_NUMBER,
    POLICY_END_DURATION,
    POLICY_END_COUNT,  /* a list, or free values as a whole */
    POLICY_END_STRUCT, /* only whether it is there */
};

/* What a path leads through. Borrowed. */
struct policy_object {
    const struct kube_meta *meta;
    const void *spec;                       /* of the fields of its kind, with defaults */
    const struct stack *stack;              /* NULL: it is a workload */
    const struct workload_object *workload; /* NULL: it is a Stack */
};
struct policy_object policy_object_of(const struct stack *stack);

/* `kind`: a number of policy_kind.h. In the arena; `text` is borrowed. NULL: `err` says what is
 * wrong with it and, for a slip, what was perhaps meant. */
const struct policy_path *policy_path_compile(struct arena *arena, unsigned kind, struct str text,
                                              struct error *err);
enum policy_path_end policy_path_end(const struct policy_path *path);
/* The words that the field takes; NULL where it is not known that there are only some. */
const struct field_words *policy_path_words(const struct policy_path *path);
/* Whether what it finds belongs to a chart, so that a rule's `charts` can choose. */
bool policy_path_has_charts(const struct policy_path *path);
/* Whether it goes to any depth: then nothing is ever absent. */
bool policy_path_is_deep(const struct policy_path *path);

/* `at` lives as long as the call. */
typedef void policy_visit(void *context, const struct policy_value *value, const struct path *at);

/* Visit every place that the path leads to in an object of its kind, in order; what is missing
 * on the way is visited once as absent, at the first member that is not there. */
void policy_path_walk(const struct policy_path *path, const struct policy_object *object,
                      struct arena *arena, policy_visit *visit, void *context);

#endif
