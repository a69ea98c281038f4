/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h: what is wrong with an object, in the API server's own words.
 *
 * field.Error of k8s.io/apimachinery/pkg/util/validation/field: a path, a kind of fault and a text.
 * kubectl prints these texts and tools match on them, so they are reproduced, not improved. */
#ifndef HERD_LAB_APISERVER_FINDING_H
#define HERD_LAB_APISERVER_FINDING_H

#include "base/list.h"
#include "base/path.h"
#include "text/value.h"

enum finding_kind {
    FINDING_NOT_FOUND,
    FINDING_REQUIRED,
    FINDING_DUPLICATE,
    FINDING_INVALID,
    FINDING_NOT_SUPPORTED,
    FINDING_FORBIDDEN,
    FINDING_TOO_LONG,
    FINDING_TOO_MANY,
    FINDING_TYPE_INVALID,
    FINDING_INTERNAL,
    FINDING_MANAGER_CONFLICT, /* of server-side apply */
};

struct finding {
    enum finding_kind kind;
    struct str field;
    struct str body; /* without the field: `Invalid value: "x": why` */
};

LIST_DEFINE(findings, struct finding)

/* metav1.CauseType: "FieldValueInvalid", ... */
const char *finding_reason(enum finding_kind kind);

/* With such a finding a value need not be of the type that its schema says. */
bool finding_blocks_rules(enum finding_kind kind);

void finding_required(struct findings *found, const struct path *at, struct str detail);
/* `value` is shown as Go would show it; `detail` may be "". */
void finding_invalid(struct findings *found, const struct path *at, const struct value *value,
                     struct str detail);
/* `shown` is how the value is shown. */
void finding_invalid_shown(struct findings *found, const struct path *at, struct str shown,
                           struct str detail);
/* Without the value, which is too large to show. */
void finding_invalid_as_a_whole(struct findings *found, const struct path *at, struct str detail);
void finding_internal(struct findings *found, const struct path *at, struct str detail);
void finding_type_invalid(struct findings *found, const struct path *at, struct str type,
                          struct str detail);
/* `value` NULL: it is not shown. */
void finding_duplicate(struct findings *found, const struct path *at, const struct value *value);
void finding_not_supported(struct findings *found, const struct path *at, const struct value *value,
                           const struct str_list *supported);
void finding_forbidden(struct findings *found, const struct path *at, struct str detail);
void finding_not_found(struct findings *found, const struct path *at, const struct value *value);
void finding_too_long(struct findings *found, const struct path *at, int64_t max);
void finding_too_many(struct findings *found, const struct path *at, int64_t actual, int64_t max);

/* "field: body", or "[a, b]" for several, each text once, as an aggregate error prints. */
struct str findings_join(struct arena *arena, const struct findings *found);

/* "field: body" of one. */
struct str finding_text(struct arena *arena, const struct finding *finding);

/* Go's %q. */
void finding_quote(struct strbuf *out, struct str text);

#endif
