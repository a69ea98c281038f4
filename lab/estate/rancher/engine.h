/* engine.h: what engine.c and engine_perform.c say to each other. Internal to lab/estate. */
#ifndef HERD_LAB_ESTATE_RANCHER_ENGINE_H
#define HERD_LAB_ESTATE_RANCHER_ENGINE_H

#include "lab/estate/rancher/inside.h"

/* Do what `step` says. -1: the store refused; the next look will try again. */
int engine_perform(struct estate *estate, struct arena *arena, const struct task *task,
                   const struct task_view *view, const struct revisions *history,
                   const struct task_step *step, struct error *err);
/* The Operation's status at a stage. */
void engine_write_stage(struct estate *estate, struct arena *arena, const struct task *task,
                        enum task_stage stage, bool failed, int exit_code);
/* Operation, helm pod and record go. */
void engine_forget(struct estate *estate, struct arena *arena, const struct task *task);

#endif
