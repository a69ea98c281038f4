/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.h: who is logged in to the simulated NeuVector of which cluster. In memory: a lab that
 * is started again knows no session, as a controller of NeuVector that is. Safe from any thread. */
#ifndef HERD_LAB_NEUVECTOR_SESSIONS_H
#define HERD_LAB_NEUVECTOR_SESSIONS_H

#include "base/str.h"
#include "base/cleanup.h"

struct sessions;

struct sessions *sessions_create(void);
void sessions_free(struct sessions *sessions);
AUTO_DEFINE(sessions_free, struct sessions *)

/* "" if the user has as many as NeuVector allows; `chance` makes it another one than before. */
struct str sessions_begin(struct sessions *sessions, struct arena *arena, struct str cluster,
                          uint64_t chance, int64_t now_ms);
/* Whether it is one; that keeps it from its idle end. */
bool sessions_use(struct sessions *sessions, struct str cluster, struct str token, int64_t now_ms);
void sessions_end(struct sessions *sessions, struct str token);
uint32_t sessions_count(struct sessions *sessions);

#endif
