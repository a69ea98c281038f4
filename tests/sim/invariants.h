/* SPDX-License-Identifier: Apache-2.0 */
/* invariants.h: what must hold at every moment of a simulated world. */
#ifndef HERD_TESTS_SIM_INVARIANTS_H
#define HERD_TESTS_SIM_INVARIANTS_H

#include "world.h"

/* A request was sent: a chart starts only when what it needs is deployed as wanted. */
void check_send(struct world *w, const struct sim_object *seen, const struct sim_landing *landing);
/* A request lands: no second operation, nothing twice, not too many, nothing foreign, in order. */
void check_landing(struct world *w, const struct sim_landing *landing);
/* A status is written: the observed generation never falls. */
void check_status(struct world *w, int64_t observed_generation);
/* The finalizer is put on or taken off. */
void check_finalizer(struct world *w, bool put);

#endif
