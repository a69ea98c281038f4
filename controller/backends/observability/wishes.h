/* SPDX-License-Identifier: Apache-2.0 */
/* wishes.h: the wishes of all Stacks about one cluster: a dict of Stack's namespace/name -> struct
 * wish, as one. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_WISHES_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_WISHES_H

#include "base/map.h"
#include "controller/backends/observability/wish.h"

void wishes_free(struct dict *wishes);

/* Whether that is true of any. */
bool wishes_any(const struct dict *wishes, bool (*is_true)(const struct wish *wish));
/* The shortest. */
int64_t wishes_interval_ms(const struct dict *wishes);
/* Everything is in the arena. */
struct str_list wishes_namespaces(const struct dict *wishes, struct arena *arena);
void wishes_add_upkeep(const struct dict *wishes, const struct wire_prometheus *prometheus,
                       struct upkeep *upkeep);

/* A round begins that removes what is not wanted any more. */
void wishes_note_begin(const struct dict *wishes);
/* A round is over: `let_go` is called for each Stack that waits for it no longer. */
void wishes_note_end(const struct dict *wishes, void (*let_go)(void *context, struct str stack),
                     void *context);
/* What was made for those that are over is removed, unless that was refused. */
void wishes_drop_removed(struct dict *wishes, const struct known *known,
                         void (*let_go)(void *context, struct str stack), void *context);

#endif
