/* validate_areas.h: the areas of validation, one file each. Internal to stack/.
 *
 * Each reads a defaulted Stack and adds what it finds. What decode has told already is not told
 * again: an empty name or a struct that was no object is passed over in silence. */
#ifndef HERD_STACK_VALIDATE_AREAS_H
#define HERD_STACK_VALIDATE_AREAS_H

#include "stack/chosen.h"
#include "stack/finding.h"
#include "stack/graph.h"

static inline bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_';
}

/* Of a Stack or a StackPolicy. */
void validate_metadata(const struct kube_meta *meta, struct findings *findings);
void validate_shape(const struct stack *stack, const struct facts *facts,
                    struct findings *findings);
/* One chart of it, which stands at `at`. */
void validate_chart(const struct chart *chart, const struct facts *facts, const struct path *at,
                    struct findings *findings);
/* The member "version" of what stands at `up`. */
void validate_version(struct str version, const struct path *up, struct findings *findings);
/* Gives the graph of the charts, linked: GPU rules walk it. */
struct graph *validate_graph(const struct stack *stack, struct findings *findings);
void validate_stacks(const struct stack *stack, const struct facts *facts,
                     struct findings *findings);
void validate_targets(const struct stack *stack, const struct facts *facts,
                      const struct chosen *chosen, struct findings *findings);
/* A selector at `at`: labels, operators, requirements that exclude one another. False if it is none
 * that may be asked about anything. */
bool validate_selector(const struct label_selector *selector, const struct path *at,
                       struct findings *findings);
/* What other Stacks claim too, as far as the facts tell; chosen->contested is filled in. */
void validate_overlap(const struct stack *stack, const struct facts *facts, struct chosen *chosen,
                      struct findings *findings);
void validate_gpu(const struct stack *stack, const struct graph *graph, const struct facts *facts,
                  const struct chosen *chosen, struct findings *findings);

#endif
