/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h: the workload kinds of kinds.def, by number. */
#ifndef HERD_CONTROLLER_WORKLOAD_KINDS_H
#define HERD_CONTROLLER_WORKLOAD_KINDS_H

enum workload_kind {
#define WORKLOAD_KIND(name, kind, check) WORKLOAD_KIND_##name,
#include "controller/reconcilers/workload/kinds.def"
#undef WORKLOAD_KIND
    WORKLOAD_KIND_COUNT
};

#endif
