/* SPDX-License-Identifier: Apache-2.0 */
/* known_stacks.h: which Stacks there are, for which others each waits, and who claims a release:
 * one thread writes, any may ask. Of each Stack the snapshot that its informer keeps is shared; an
 * index from release to Stacks stands beside it. */
#ifndef HERD_WEBHOOK_KNOWN_STACKS_H
#define HERD_WEBHOOK_KNOWN_STACKS_H

#include "runtime/cache.h"
#include "stack/model/facts.h"
#include "text/json.h"

struct known_stacks_table;

struct known_stacks_table *known_stacks_create(void);
/* Counted, so that the facts of a review outlive their source. */
struct known_stacks_table *known_stacks_ref(struct known_stacks_table *table);
void known_stacks_unref(struct known_stacks_table *table);
AUTO_DEFINE(known_stacks_unref, struct known_stacks_table *)

/* What is kept of a Stack: the GPUs that it brings, a blank, the names of spec.dependsOn with ','
 * between them, a newline, and what it claims (stack/claims.h). */
void known_stacks_keep(struct json object, struct strbuf *kept);
/* As informer_options.on_change tells. */
void known_stacks_put(struct known_stacks_table *table, struct kube_object *before,
                      struct kube_object *after);
/* What the table takes beside the snapshots. The writing thread's to ask. */
size_t known_stacks_bytes(const struct known_stacks_table *table);

/* To ask it; borrows the table. */
struct fact_stacks known_stacks_facts(struct known_stacks_table *table);

#endif
