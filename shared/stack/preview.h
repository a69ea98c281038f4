/* preview.h: what a change of a Stack will do, in a few lines for its author.
 *
 * Told with every change that is let in: kubectl shows it as warnings, so it must earn its place.
 * What somebody wants to see each time is what the manifest does not say: which clusters that is
 * today, which come and go, and what happens to releases that run. So that much is told always, in
 * at most two lines, a third if the Stack is paused or goes on, and two more where env now asks for
 * what stays switched off; and nothing where no release changes.
 * Whoever asks for a dry run asks what would happen, and is told all: each change with its
 * clusters, the order of charts, the waves, what it waits for, and what is not known.
 *
 * A preview that would take too long is cut to clusters (LIMIT_PREVIEW_STEPS): it is no reason for
 * refusing a Stack. What another Stack claims, too, is not promised: it is installed where its
 * release is free.
 *
 * Pure; the lines are in the arena. Each is made to be read within admission_warn's 256 bytes:
 * lists are cut and the rest of them counted. */
#ifndef HERD_STACK_PREVIEW_H
#define HERD_STACK_PREVIEW_H

#include "stack/chosen.h"
#include "stack/stack.h"

/* `stack` is defaulted, and `chosen` where it goes; `old_object` is what is stored, absent on a
 * create. */
struct str_list stack_preview(struct arena *arena, const struct stack *stack,
                              const struct chosen *chosen, struct json old_object,
                              const struct facts *facts, bool full);

#endif
