/* SPDX-License-Identifier: Apache-2.0 */
/* stored_status.h: a Stack's status as it stands in JSON, where the rows of status_fields.def
 * point: the status itself, and what JSON says in another way. Internal to reading and writing. */
#ifndef HERD_STACK_STORED_STATUS_H
#define HERD_STACK_STORED_STATUS_H

#include "stack/model/counts.h"
#include "stack/model/fields.h"
#include "stack/model/status.h"

/* Some of the target clusters each, as ranges of their indexes. */
struct stored_targets {
    struct str held;
    struct str pending;
    struct str started;
    struct str failed;
    struct str lost;
};

struct stored_removal {
    uint32_t releases, of;
    int64_t first_seen_ms;
    struct str accounted; /* decimal */
    struct str token;
    struct str started; /* of `other_clusters`, as ranges */
    struct removal_delays delays;
};

struct stored_status {
    struct stack_status status;
    int64_t clusters; /* -1: the targets were never known */
    struct str ready; /* "5/6" */
    struct named_counts summary;
    struct stored_targets targets;
    struct str_list other_clusters; /* held, and no targets */
    struct stored_removal removal;
};

extern const struct field_table fields_of_status_release; /* struct release_state */
extern const struct field_words words_of_stack_phase;
extern const struct field_words words_of_deployment_state;
extern const struct field_words words_of_scan_verdict;
extern const struct field_words words_of_scan_progress;

#endif
