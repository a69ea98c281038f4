/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h: server-side apply, pure: what an applier says is merged into what is there, what it said
 * before and says no more goes, and whoever else has an opinion on a changed value is a conflict.
 * Source: structured-merge-diff v4 (merge/update.go Apply, typed/merge.go, typed/remove.go) and
 * k8s.io/apimachinery/pkg/util/managedfields/internal. */
#ifndef HERD_LAB_APISERVER_APPLY_H
#define HERD_LAB_APISERVER_APPLY_H

#include "lab/apiserver/finding.h"
#include "lab/apiserver/managers.h"

struct apply {
    const struct kind *kind;
    struct field_writer by;
    bool force; /* take what others own */
};

struct apply_conflict {
    struct str manager; /* as messages show it: "kubectl" using v1 at 2026-01-01T00:00:00Z */
    struct str path;    /* .spec.replicas */
};

LIST_DEFINE(apply_conflicts, struct apply_conflict)

/* 0 and the object with its managedFields; or -1 and the conflicts, sorted by manager. `live` NULL:
 * it is created. Of a kind with status, the part that `by.sub_resource` does not write stays
 * live's. Ignored in `config`: what the server sets. */
int apply_object(struct arena *arena, const struct apply *apply, const struct value *live,
                 const struct value *config, struct value **ret_object,
                 struct apply_conflicts *ret_conflicts);

/* What makes a config no set of fields: list elements without their key, or twice the same. Each is
 * a line ".spec.list: why". */
struct str_list apply_faults(struct arena *arena, const struct kind *kind,
                             const struct value *config);
/* Paths of what `past` says and `live` still has so. */
struct str_list apply_unchanged(struct arena *arena, const struct kind *kind,
                                const struct value *past, const struct value *live);
/* The whole rejection's message. */
struct str apply_conflict_message(struct arena *arena, const struct apply_conflicts *conflicts);

#endif
