/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h: what a Table shows of the built-in kinds, and how single cells are made.
 * Source: k8s.io/kubernetes/pkg/printers/internalversion/printers.go. */
#ifndef HERD_LAB_APISERVER_COLUMNS_H
#define HERD_LAB_APISERVER_COLUMNS_H

#include "lab/apiserver/kind.h"
#include "text/json_write.h"

/* One row in the making. */
struct cells {
    struct json_writer *w;
    struct arena *arena;
    int64_t now_ms;
};

/* Fill in the columns of a built-in kind, and the fields that a selector may name. */
void columns_builtin(struct arena *arena, struct kind *kind);
void selectables_builtin(struct arena *arena, struct kind *kind);

/* How long ago, as kubectl prints ages (k8s.io/apimachinery/pkg/util/duration). */
struct str age_text(struct arena *arena, int64_t age_ms);
/* The age of an RFC 3339 time: "<unknown>" if it is none. */
struct str age_since(struct cells *cells, struct str time);

#endif
