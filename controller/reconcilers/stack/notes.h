/* SPDX-License-Identifier: Apache-2.0 */
/* notes.h: rejections that no status tells yet, by Stack. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_NOTES_H
#define HERD_CONTROLLER_RECONCILERS_STACK_NOTES_H

#include "stack/plan/plan.h"

struct notes;

struct notes *notes_create(void);
void notes_free(struct notes *notes);
AUTO_DEFINE(notes_free, struct notes *)

struct note {
    struct str uid; /* of the Stack: a namesake made since is another one */
    struct str cluster_id;
    struct str chart_name;
    struct str reason;
    struct str message;
    bool transient; /* it was not even validated, and counts as no attempt */
    bool terminal;
};
/* Copied. */
void notes_add(struct notes *notes, struct str key, const struct note *note);
/* See actor_apply_notes and actor_drop_notes. */
uint64_t notes_apply(const struct notes *notes, struct arena *arena, struct str key, struct str uid,
                     int64_t now_wall_ms, struct stack_status *status);
void notes_drop(struct notes *notes, struct str key, uint64_t number);
void notes_forget(struct notes *notes, struct str key);

#endif
