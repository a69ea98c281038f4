/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c: a list of findings. */
#include "base/problem.h"

#include <ctype.h>
#include <stdlib.h>

struct problems problems_new(struct arena *arena)
{
    return (struct problems){ arena, problem_list_new(arena, 0), 0 };
}

void problems_add(struct problems *problems, struct problem problem)
{
    if (problem.severity == SEVERITY_OFF)
        return;
    problem.order = problems->list.count;
    problem_list_push(&problems->list, problem);
    if (problem.severity == SEVERITY_DENY)
        problems->denied++;
}

/* As str_cmp, but runs of digits compare as numbers. */
static int compare_fields(struct str a, struct str b)
{
    size_t i = 0;
    size_t j = 0;

    while (i < a.len && j < b.len) {
        if (isdigit((unsigned char)a.at[i]) && isdigit((unsigned char)b.at[j])) {
            size_t i_end = i;
            size_t j_end = j;

            while (i_end < a.len && isdigit((unsigned char)a.at[i_end]))
                i_end++;
            while (j_end < b.len && isdigit((unsigned char)b.at[j_end]))
                j_end++;
            if (i_end - i != j_end - j)
                return i_end - i < j_end - j ? -1 : 1;

            int order = memcmp(a.at + i, b.at + j, i_end - i);

            if (order != 0)
                return order;
            i = i_end;
            j = j_end;
            continue;
        }
        if (a.at[i] != b.at[j])
            return (unsigned char)a.at[i] < (unsigned char)b.at[j] ? -1 : 1;
        i++;
        j++;
    }
    return (i < a.len) - (j < b.len);
}

static int compare_problems(const void *left, const void *right)
{
    const struct problem *a = left;
    const struct problem *b = right;
    int order = compare_fields(a->field, b->field);

    if (order == 0)
        order = str_cmp(a->rule, b->rule);
    if (order == 0)
        order = a->order < b->order ? -1 : a->order > b->order;
    return order;
}

void problems_sort(struct problems *problems)
{
    if (problems->list.count > 1)
        qsort(problems->list.items, problems->list.count, sizeof(struct problem), compare_problems);
}

/* k8s.io/apimachinery pkg/apis/meta/v1/types.go and pkg/util/validation/field/errors.go */
static const struct {
    const char *name, *text;
} causes[] = {
    [CAUSE_VALUE_INVALID] = { "FieldValueInvalid", "Invalid value" },
    [CAUSE_VALUE_REQUIRED] = { "FieldValueRequired", "Required value" },
    [CAUSE_VALUE_DUPLICATE] = { "FieldValueDuplicate", "Duplicate value" },
    [CAUSE_VALUE_NOT_FOUND] = { "FieldValueNotFound", "Not found" },
    [CAUSE_VALUE_NOT_SUPPORTED] = { "FieldValueNotSupported", "Unsupported value" },
    [CAUSE_TYPE_INVALID] = { "FieldValueTypeInvalid", "Invalid value" },
    [CAUSE_TOO_LONG] = { "FieldValueTooLong", "Too long" },
    [CAUSE_TOO_MANY] = { "FieldValueTooMany", "Too many" },
    [CAUSE_FORBIDDEN] = { "FieldValueForbidden", "Forbidden" },
};

const char *problem_cause_name(enum problem_cause cause)
{
    return causes[cause].name;
}

const char *problem_cause_text(enum problem_cause cause)
{
    return causes[cause].text;
}

static const char *const severity_names[] = {
    [SEVERITY_OFF] = "off",
    [SEVERITY_AUDIT] = "audit",
    [SEVERITY_WARN] = "warn",
    [SEVERITY_DENY] = "deny",
};

const char *severity_name(enum severity severity)
{
    return severity_names[severity];
}

bool severity_from(struct str name, enum severity *ret_severity)
{
    for (int i = SEVERITY_OFF; i <= SEVERITY_DENY; i++) {
        if (str_eq(name, str_of(severity_names[i]))) {
            *ret_severity = (enum severity)i;
            return true;
        }
    }
    return false;
}
