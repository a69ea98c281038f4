/* SPDX-License-Identifier: Apache-2.0 */
/* status_fields.c: the rows of a Stack's status and of a condition. */
#include "kube/condition.h"
#include "stack/model/status_rows.h"
#include "stack/model/stored_status.h"

#define ROWS(of) (uint32_t)(sizeof(of) / sizeof((of)[0]))

/* k8s.io/apimachinery/pkg/apis/meta/v1, type Condition: names of types, and of reasons. */
#define LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define TYPE_PATTERN "^(" LABEL "(\\." LABEL ")*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
#define REASON_PATTERN "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"

static const struct field_word condition_status_rows[] = {
    { STR_INIT("True"), CONDITION_TRUE },
    { STR_INIT("False"), CONDITION_FALSE },
    { STR_INIT("Unknown"), CONDITION_UNKNOWN },
};
static const struct field_words condition_status_words = { condition_status_rows,
                                                           ROWS(condition_status_rows) };

#define AT(member) .offset = offsetof(struct kube_condition, member)
static const struct field condition_rows[] = {
    { STR_INIT("type"), FIELD_STRING, FIELD_REQUIRED, AT(type), .max = 316, .pattern = TYPE_PATTERN,
      .help = "Which condition." },
    { STR_INIT("status"), FIELD_WORD, FIELD_REQUIRED, AT(status), .words = &condition_status_words,
      .help = "Whether it holds." },
    { STR_INIT("reason"), FIELD_STRING, FIELD_REQUIRED, AT(reason), .min = 1, .max = 1024,
      .pattern = REASON_PATTERN, .help = "Why, as one word for programs." },
    { STR_INIT("message"), FIELD_STRING, FIELD_REQUIRED, AT(message), .max = 32768,
      .help = "Why, for people." },
    { STR_INIT("observedGeneration"), FIELD_COUNT64, 0, AT(observed_generation),
      .help = "The metadata.generation that the condition is about." },
    { STR_INIT("lastTransitionTime"), FIELD_TIME, FIELD_REQUIRED, AT(last_transition_ms),
      .help = "When the condition's status changed last." },
};

const struct field_table fields_of_condition = {
    .name = "condition",
    .help = "One aspect of the present state.",
    .hint = "",
    .rows = condition_rows,
    .count = ROWS(condition_rows),
    .size = sizeof(struct kube_condition),
    .status = true,
};

#include "stack/model/status_fields.def"
