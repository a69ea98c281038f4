/* SPDX-License-Identifier: Apache-2.0 */
/* template.h: placeholders in values, which stand for facts of the cluster that a release is for.
 *
 *     ${cluster.id}           its id in Rancher, e.g. c-m-gpu01
 *     ${cluster.name}         the name that Rancher shows
 *     ${cluster.labels.KEY}   the value of its label KEY
 *
 * Only what begins with "${cluster." is a placeholder. "$${cluster." stands for the text
 * "${cluster."; everything else ("${HOME}", "$${1}") is text and stays as it is. Placeholders are
 * replaced in strings that were parsed, never in YAML or JSON text, so a fact cannot become
 * anything but a part of that string. Pure; every function takes time linear in its input. */
#ifndef HERD_STACK_TEMPLATE_H
#define HERD_STACK_TEMPLATE_H

#include "base/map.h"
#include "base/path.h"
#include "text/json.h"

/* The facts of one cluster; borrowed. */
struct template_facts {
    struct str id;
    struct str name;
    struct json labels; /* object of strings, or absent */
};

enum template_kind { TEMPLATE_TEXT, TEMPLATE_ID, TEMPLATE_NAME, TEMPLATE_LABEL, TEMPLATE_UNKNOWN };

/* A part of a string: text, or one placeholder. */
struct template_part {
    enum template_kind kind;
    struct str text; /* TEXT: what it stands for; else the placeholder as it is written */
    struct str key;  /* of LABEL */
};

struct template_iter {
    struct str text;
    size_t at;
    bool escaped; /* the next part is text, although it begins like a placeholder */
};

/* The next part of `it->text`; false at its end. A placeholder without its '}' is UNKNOWN and
 * reaches to the end. */
bool template_next(struct template_iter *it, struct template_part *ret_part);

/* Whether template_expand or template_quote would change anything. */
bool template_is_one(struct str text);

/* Which facts some strings use. */
struct template_use {
    bool id, name;
    struct map *labels; /* by key; NULL: none */
};
void template_use_add(struct arena *arena, struct template_use *use, struct str text);
/* A label that is used and that the cluster lacks; "" if it has them all. */
struct str template_missing_label(const struct template_use *use,
                                  const struct template_facts *facts);
/* The facts in use, as one text: of two clusters with equal ones all strings expand alike. */
void template_put_facts(const struct template_use *use, const struct template_facts *facts,
                        struct strbuf *out);

/* `text` with the facts in place of the placeholders that `use` has; others stay as they are
 * written. False: that is more than `bytes_max`, and `out` has a part of it. */
bool template_expand(struct str text, const struct template_use *use,
                     const struct template_facts *facts, size_t bytes_max, struct strbuf *out);
/* Text that expands to `text` itself, whatever stands in it. */
struct str template_quote(struct arena *arena, struct str text);

/* Each placeholder that stands for nothing, in the strings of a JSON value that is at `at`. */
typedef void template_found(void *context, const struct path *at, struct str placeholder);
void template_find_unknown(struct json value, const struct path *at, template_found *found,
                           void *context);

#endif
