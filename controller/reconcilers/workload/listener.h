/* SPDX-License-Identifier: Apache-2.0 */
/* listener.h: metrics and Events of the workload kinds. */
#ifndef HERD_CONTROLLER_WORKLOAD_LISTENER_H
#define HERD_CONTROLLER_WORKLOAD_LISTENER_H

#include "runtime/kind.h"

/* For kinds of struct workload_kind; its context is the struct controller. */
extern const struct kind_listener workload_listener;

#endif
