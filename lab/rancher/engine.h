/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h: what engine.c and engine_perform.c say to each other. Internal to lab/simulation. */
#ifndef HERD_LAB_RANCHER_ENGINE_H
#define HERD_LAB_RANCHER_ENGINE_H

#include "lab/rancher/inside.h"

/* Who carries operations out: the simulation, or the helm program. */
struct engine {
    /* One look and one effect. False when there is nothing more to do now; *ret_next_ms then says
     * when to look again, 0 never. */
    bool (*advance)(struct simulation *simulation, struct arena *arena, const struct task *task,
                    struct json operation, int64_t *ret_next_ms);
    /* What the helm container has printed so far. */
    struct str (*read_log)(struct simulation *simulation, struct arena *arena,
                           const struct task *task, struct json operation);
};

extern const struct engine engine_simulated;
extern const struct engine engine_helm;
const struct engine *engine_of(const struct simulation *simulation, struct str cluster);

/* True unless it is known to be gone. */
bool engine_pod_is_there(struct simulation *simulation, struct arena *arena,
                         const struct task *task);

/* Do what `step` says. -1: the store rejected; the next look will try again. */
int engine_perform(struct simulation *simulation, struct arena *arena, const struct task *task,
                   const struct task_view *view, const struct revisions *history,
                   const struct task_step *step, struct error *err);
/* The Operation's status at a stage. -1: it could not be written, which was logged. */
int engine_write_stage(struct simulation *simulation, struct arena *arena, const struct task *task,
                       enum task_stage stage, bool failed, int exit_code);
/* Operation, helm pod and record go. */
void engine_forget(struct simulation *simulation, struct arena *arena, const struct task *task);

#endif
