/* SPDX-License-Identifier: Apache-2.0 */
/* validate_areas.h: the areas of validation, one file each. Internal to stack/.
 *
 * Each reads a defaulted Stack and adds what it finds. What decode has reported is not reported
 * again: an empty name or a struct that was no object is passed over in silence. */
#ifndef HERD_STACK_VALIDATE_AREAS_H
#define HERD_STACK_VALIDATE_AREAS_H

#include "stack/model/checks.h"
#include "stack/targets/resolved_targets.h"
#include "stack/targets/graph.h"

/* Those with Herd's prefix; where a cluster is named, also by the Stack's status. */
void validate_annotations(const struct stack *stack, const struct facts *facts,
                          struct findings *findings);
void validate_shape(const struct stack *stack, const struct facts *facts,
                    struct findings *findings);
/* One chart of it, which stands at `at`. */
void validate_chart(const struct chart *chart, const struct facts *facts, const struct path *at,
                    struct findings *findings);
/* Values of a chart, or what an override says of them, which stand at `at`. */
void validate_values(const struct chart_values *values, const struct path *at,
                     struct findings *findings);
/* Labels that values use and known clusters lack. */
void validate_labels_used(const struct stack *stack, const struct resolved_targets *chosen,
                          struct findings *findings);
/* The member "version" of what stands at `up`. */
void validate_version(struct str version, const struct path *up, struct findings *findings);
/* Gives the graph of the charts, linked: GPU rules walk it. */
struct graph *validate_graph(const struct stack *stack, struct findings *findings);
void validate_stacks(const struct stack *stack, const struct facts *facts,
                     struct findings *findings);
/* GPUs that the Stacks bring which this one depends on, directly or not. */
struct stacks_provide {
    uint32_t vendors;   /* as bits (gpu.h) */
    struct str unknown; /* the first Stack of which nobody knows what it brings; "" = none */
};
struct stacks_provide stacks_provide(const struct stack *stack, const struct facts *facts,
                                     struct arena *arena);
void validate_targets(const struct stack *stack, const struct facts *facts,
                      const struct resolved_targets *chosen, struct findings *findings);
/* All selectors of a Stack: the controller compares them with each cluster again and again. False:
 * they are too large for that. */
bool validate_selector_sizes(const struct stack *stack, struct findings *findings);
/* What other Stacks claim too, as far as the facts tell; chosen->contested is filled in. */
void validate_overlap(const struct stack *stack, const struct facts *facts,
                      struct resolved_targets *chosen, struct findings *findings);
void validate_gpu(const struct stack *stack, const struct graph *graph, const struct facts *facts,
                  const struct resolved_targets *chosen, struct findings *findings);

#endif
