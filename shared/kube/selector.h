/* SPDX-License-Identifier: Apache-2.0 */
/* selector.h: label selectors: from a spec, from a query string, and matched against labels. */
#ifndef HERD_KUBE_SELECTOR_H
#define HERD_KUBE_SELECTOR_H

#include "base/list.h"
#include "base/problem.h"
#include "text/json.h"

#define SELECTOR_OPERATORS_SUPPORTED                                                               \
    "supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\""

enum selector_operator {
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EXISTS,
    SELECTOR_DOES_NOT_EXIST,
};

struct selector_requirement {
    struct str key;
    enum selector_operator op;
    struct str_list values; /* of IN and NOT_IN: at least one */
};

LIST_DEFINE(selector_requirements, struct selector_requirement)

/* All requirements must hold; one without requirements matches everything. */
struct selector {
    struct selector_requirements all;
};

struct selector selector_new(struct arena *arena);
void selector_add(struct selector *selector, struct str key, enum selector_operator op,
                  struct str_list values);
/* "In", "NotIn", "Exists", "DoesNotExist"; false if it is none of them. */
bool selector_operator_from(struct str name, enum selector_operator *ret_op);
const char *selector_operator_name(enum selector_operator op);

/* metav1.LabelSelector as JSON ({matchLabels, matchExpressions}). -1 with the field. */
int selector_read(struct arena *arena, struct json json, struct selector *ret_selector,
                  struct error *err);
/* A query string's labelSelector: "env=prod,tier in (a,b),!gone,x!=y". */
int selector_parse(struct arena *arena, struct str text, struct selector *ret_selector,
                   struct error *err);
/* The text form, which selector_parse reads back. */
struct str selector_text(struct arena *arena, const struct selector *selector);

/* `labels` is a JSON object of strings, or absent. NOT_IN and DOES_NOT_EXIST
 * hold for absent keys. What is compared is charged to `arena` (arena_work); NULL: to nobody. */
bool selector_matches(struct arena *arena, const struct selector *selector, struct json labels);
/* The same against labels that were read before. */
struct label {
    struct str key, value;
};
bool selector_matches_labels(const struct selector *selector, const struct label *labels,
                             uint32_t count);
/* Whether some set of labels could satisfy both: for finding overlap ahead of time. Linear in the
 * values that both name, but for sorting the keys; charged to the arena. */
bool selector_intersects(struct arena *arena, const struct selector *a, const struct selector *b);
/* Whether some value of one label, or none, could satisfy what the selector requires of it. */
bool selector_allows_key(struct arena *arena, const struct selector *selector, struct str key);

#endif
