/* SPDX-License-Identifier: Apache-2.0 */
/* rollout.h: what spec.rollout says about clusters and releases, for whoever plans a rollout or
 * says beforehand what it will do. Pure. */
#ifndef HERD_STACK_ROLLOUT_H
#define HERD_STACK_ROLLOUT_H

#include "stack/model/stack.h"

/* The selectors of a rollout's waves. */
struct rollout_waves {
    const struct selector *selectors;
    uint32_t count;
};
struct rollout_waves rollout_waves_new(struct arena *arena, const struct rollout *rollout);
/* Which wave has a cluster with these labels: an index in rollout.waves, the first that matches;
 * their count if none does. Comparisons are charged to `arena`; NULL: to nobody. */
uint32_t rollout_wave_of(const struct rollout_waves *waves, struct arena *arena,
                         struct json labels);

/* How long later waves wait once this one is complete; 0 = not at all. */
int64_t rollout_pause_ms(const struct wave *wave);

/* Whether so many of the Stack's releases may go only once somebody has confirmed that. */
bool rollout_needs_confirmation(const struct rollout *rollout, uint64_t removed, uint64_t had);

#endif
