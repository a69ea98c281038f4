/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: do the types of an expression fit, and which functions are meant? Inside of lab/cel
 * only. Source: github.com/google/cel-go checker/checker.go. */
#ifndef HERD_LAB_CEL_CHECK_H
#define HERD_LAB_CEL_CHECK_H

#include "lab/cel/cel.h"
#include "lab/cel/node.h"

/* Fill in types, slots and overloads; variables have the first slots. What does not fit goes to
 * `issues`. *ret_slots: how many slots evaluation needs. */
void cel_check(struct arena *arena, const struct cel_env *env, struct cel_node *root,
               struct cel_issues *issues, uint32_t *ret_slots);
/* Constants that cannot be what a function takes them for: durations, times, patterns; lists of
 * mixed types. Patterns that are good are compiled: pattern -> struct regex, freed with the arena.
 * What it returns, if not "", is no issue of the compiler but fails as soon as a program is made of
 * it. */
struct str cel_check_literals(struct arena *arena, const struct cel_node *root,
                              struct cel_issues *issues, struct map *regexes);
/* 'text with %s'.format([...]), where both are literals. */
void cel_check_format(struct arena *arena, const struct cel_node *call, struct cel_issues *issues);

#endif
