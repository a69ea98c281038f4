/* SPDX-License-Identifier: Apache-2.0 */
/* kinds_fixture.h: Stacks, StackPolicies and Applications are served. */
#ifndef HERD_TESTS_UNIT_CONSOLE_KINDS_FIXTURE_H
#define HERD_TESTS_UNIT_CONSOLE_KINDS_FIXTURE_H

#include "controller/console/kinds.h"

static inline struct console_kinds some_kinds(void)
{
    struct console_kinds kinds = { .count = 0 };

    for (const struct crd *crd = crds; crd->kind; crd++)
        if (strcmp(crd->kind, "Stack") == 0 || strcmp(crd->kind, "StackPolicy") == 0 ||
            strcmp(crd->kind, "Application") == 0)
            console_kinds_add(&kinds, crd);
    return kinds;
}

#endif
