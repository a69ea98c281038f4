/* SPDX-License-Identifier: Apache-2.0 */
/* compliance.h: compliance checks that containers fail: read from NeuVector's answers (pure), and
 * remembered by container from one look to the next. NeuVector does not say that a result changed,
 * so it is asked again, never twice for one container in an interval. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_COMPLIANCE_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_COMPLIANCE_H

#include "base/set.h"
#include "stack/model/check.h"
#include "text/json.h"

/* Of a container; a pod, which NeuVector lists, too, has none. */
struct str compliance_path(struct arena *arena, struct str container);
/* When the checks ran, in seconds of NeuVector's clock, 0 = they have not; and those that fail,
 * united. -1: it is no such answer, or has more than LIMIT_IMAGE_CHECKS of them. */
int compliance_read(struct arena *arena, struct json answer, int64_t *ret_run_s,
                    struct check_list *ret_failed, struct error *err);

struct compliance;

struct compliance *compliance_create(void);
void compliance_free(struct compliance *compliance);
AUTO_DEFINE(compliance_free, struct compliance *)

/* NULL: not known. Borrowed until the next change of that container. */
const struct checks *compliance_find(const struct compliance *compliance, struct str container);
/* When it was asked for last; COMPLIANCE_NEVER. */
#define COMPLIANCE_NEVER INT64_MIN
int64_t compliance_asked_ms(const struct compliance *compliance, struct str container);
/* It was, whatever came of it. */
void compliance_note_asked(struct compliance *compliance, struct str container, int64_t now_ms);
/* Of a container that was asked for. That checks have not run (0), or an older run, changes
 * nothing: another of NeuVector's controllers may answer than before. */
void compliance_put(struct compliance *compliance, struct str container, int64_t run_s,
                    const struct check_list *failed);
/* Forget all but those: they run no more. */
void compliance_keep(struct compliance *compliance, struct set containers);

#endif
