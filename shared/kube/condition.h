/* SPDX-License-Identifier: Apache-2.0 */
/* condition.h: status conditions (metav1.Condition). */
#ifndef HERD_KUBE_CONDITION_H
#define HERD_KUBE_CONDITION_H

#include "base/list.h"
#include "text/json.h"
#include "text/json_write.h"

enum condition_status { CONDITION_UNKNOWN, CONDITION_FALSE, CONDITION_TRUE };

struct kube_condition {
    struct str type;
    struct str reason;
    struct str message;
    enum condition_status status;
    int64_t observed_generation;
    int64_t last_transition_ms; /* wall */
};

LIST_DEFINE(kube_conditions, struct kube_condition)

struct kube_conditions kube_conditions_read(struct arena *arena, struct json conditions);
const struct kube_condition *kube_condition_find(const struct kube_conditions *conditions,
                                                 struct str type);
/* Put or replace by type. last_transition_ms becomes `now_ms` only if the status changed against
 * what stands there; otherwise the old time is kept. */
void kube_condition_set(struct kube_conditions *conditions, struct kube_condition condition,
                        int64_t now_ms);
void kube_conditions_write(const struct kube_conditions *conditions, struct json_writer *w);
const char *condition_status_name(enum condition_status status);

#endif
