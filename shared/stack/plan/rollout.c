/* SPDX-License-Identifier: Apache-2.0 */
/* rollout.c: waves by labels, pauses as durations, removals by share. */
#include "stack/plan/rollout.h"

#include "base/duration.h"
#include "stack/model/share.h"

struct rollout_waves rollout_waves_new(struct arena *arena, const struct rollout *rollout)
{
    struct selector *selectors = arena_array(arena, struct selector, rollout->waves.count);

    for (uint32_t i = 0; i < rollout->waves.count; i++)
        selectors[i] = label_selector_compile(arena, &rollout->waves.items[i].selector);
    return (struct rollout_waves){ selectors, rollout->waves.count };
}

uint32_t rollout_wave_of(const struct rollout_waves *waves, struct arena *arena, struct json labels)
{
    for (uint32_t i = 0; i < waves->count; i++)
        if (selector_matches(arena, &waves->selectors[i], labels))
            return i;
    return waves->count;
}

int64_t rollout_pause_ms(const struct wave *wave)
{
    int64_t pause = 0;

    return duration_parse(wave->pause, &pause) ? pause : 0;
}

bool rollout_needs_confirmation(const struct rollout *rollout, uint64_t removed, uint64_t had)
{
    return removed > share_of(rollout->max_removals, had);
}
