/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: compliance checks that containers of an image fail, worst first. */
#ifndef HERD_STACK_CHECK_H
#define HERD_STACK_CHECK_H

#include "base/list.h"
#include "stack/model/snapshot.h"

/* Of checks that fail; the other levels of NeuVector are none of these. */
enum check_level { CHECK_WARN, CHECK_ERROR, CHECK_HIGH, CHECK_LEVELS };

/* WARN, ERROR, HIGH. */
struct str check_level_name(enum check_level level);
/* False: none of these words. */
bool check_level_from(struct str name, enum check_level *ret_level);

struct check {
    enum check_level level;
    struct str number;                   /* of the test, e.g. D.5.4: what tells checks apart */
    struct str description, remediation; /* "" = not given */
};
LIST_DEFINE(check_list, struct check)

/* Negative: `a` is worse. Equal only if both say the same. */
int check_cmp(const struct check *a, const struct check *b);
/* Each number once, at its worst; worst first. */
void check_list_unite(struct check_list *list);
/* Append others, of which texts are borrowed; what grows too long is united, and its end cut. */
void check_list_add(struct check_list *list, const struct check_list *more);
bool check_list_eq(const struct check_list *a, const struct check_list *b);

struct checks {
    struct snapshot shared;
    struct check_list list;
};
/* All texts are copied. */
struct checks *checks_create(const struct check_list *list);
struct checks *checks_ref(struct checks *snapshot);
/* NULL is none, here too. */
void checks_unref(struct checks *snapshot);
struct checks *checks_lend(struct arena *arena, struct checks *snapshot);

#endif
