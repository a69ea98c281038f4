/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_steps.c: see gpu_steps.h. */
#include "workload/gpu_steps.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How many GPUs are held at worst while the pods become `replicas` with `gpus` each: of a pod that
 * is replaced, the greater of its two numbers. */
static int64_t held(const struct gpu_state *now, int64_t replicas, int64_t gpus)
{
    int64_t total = replicas * gpus;
    int64_t unseen = most(now->replicas, 0), unseen_kept = least(unseen, replicas);

    for (uint32_t i = 0; i < now->pods.count; i++) {
        const struct gpu_pod *pod = &now->pods.items[i];

        total += pod->ordinal < replicas ? most(pod->gpus - gpus, 0) : pod->gpus;
        unseen -= pod->ordinal < now->replicas;
        unseen_kept -= pod->ordinal < least(now->replicas, replicas);
    }
    /* Pods that the StatefulSet is about to make. */
    total += unseen_kept * most(now->gpus - gpus, 0);
    return total + (unseen - unseen_kept) * now->gpus;
}

/* The most replicas, from `low` to `high`, that fit; `low` if none does. */
static int64_t grown(const struct gpu_state *now, int64_t low, int64_t high, int64_t gpus,
                     int64_t budget)
{
    while (low < high && held(now, low + 1, gpus) <= budget)
        low++;
    return low;
}

struct gpu_step gpu_step_next(const struct gpu_state *now, struct gpu_step wanted, int64_t budget)
{
    int64_t each = most(wanted.gpus, now->gpus);
    int64_t few;

    if (!budget || !each)
        return wanted;
    if (wanted.gpus)
        wanted.replicas = least(wanted.replicas, budget / wanted.gpus);
    if (now->replicas < 0)
        few = 0;
    else if (now->gpus == wanted.gpus)
        few = least(now->replicas, wanted.replicas);
    else
        few = least(least(now->replicas, wanted.replicas), budget / each);
    if (now->replicas >= 0 && now->gpus != wanted.gpus && held(now, few, wanted.gpus) > budget)
        return (struct gpu_step){ few, now->gpus };
    return (struct gpu_step){ grown(now, few, wanted.replicas, wanted.gpus, budget), wanted.gpus };
}
