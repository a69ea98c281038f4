/* SPDX-License-Identifier: Apache-2.0 */
/* workload_events.c: see workload_events.h. */
#include "workload/workload_events.h"

enum { MESSAGE_BYTES_MAX = 512 };

struct story {
    struct arena *arena;
    struct kube_events events;
    struct kube_event event; /* what all have in common */
    struct kube_conditions before, after;
};

const struct workload_reason *workload_reason_find(struct str name)
{
    static const struct workload_reason rows[] = {
#define CHILD_REASON(id, name, condition, warning, sentence, remedy)                               \
    { STR_INIT(name), warning, STR_INIT(sentence) },
#include "kube/child_reasons.def"
#undef CHILD_REASON
#define WORKLOAD_REASON(name, where, warning, sentence, remedy)                                    \
    { STR_INIT(name), warning, STR_INIT(sentence) },
#include "workload/workload_reasons.def"
#undef WORKLOAD_REASON
#define SLA_REASON(id, name, active, limited, sentence)                                            \
    { STR_INIT(name), !(active) || (limited), STR_INIT(sentence) },
#include "workload/sla_reasons.def"
#undef SLA_REASON
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(rows[i].name, name))
            return &rows[i];
    return NULL;
}

struct str workload_phase_word(const struct workload_kind *kind, struct json status)
{
    struct str word = json_str(json_get(status, STR("phase")));

    return word.len ? word : kind->phases.words[WORKLOAD_PENDING];
}

static void tell(struct story *story, struct str reason, struct str message)
{
    const struct workload_reason *row = workload_reason_find(reason);
    struct kube_event event = story->event;

    if (!row)
        return;
    event.reason = row->name;
    event.warning = row->warning;
    event.message =
        message.len ? str_shown(story->arena, message, MESSAGE_BYTES_MAX) : row->sentence;
    for (uint32_t i = 0; i < story->events.count; i++)
        if (str_eq(story->events.items[i].message, event.message))
            return;
    kube_events_push(&story->events, event);
}

static bool is_bad(const struct kube_condition *condition)
{
    const struct workload_reason *row = condition ? workload_reason_find(condition->reason) : NULL;

    return row && row->warning;
}

static void tell_condition(struct story *story, struct str type)
{
    const struct kube_condition *was = kube_condition_find(&story->before, type);
    const struct kube_condition *is = kube_condition_find(&story->after, type);

    if (!is || (!is_bad(is) && !is_bad(was)) ||
        (was && str_eq(was->reason, is->reason) && str_eq(was->message, is->message)))
        return;
    tell(story, is->reason, is->message);
}

/* The condition Ready has the words for the phase, too. */
static void tell_phase(struct story *story, struct str before, struct str after)
{
    const struct kube_condition *was = kube_condition_find(&story->before, STR("Ready"));
    const struct kube_condition *is = kube_condition_find(&story->after, STR("Ready"));

    if (!str_eq(before, after))
        tell(story, after, is ? is->message : STR(""));
    else if (was && is && was->status != is->status)
        tell(story, is->reason, is->message);
}

struct kube_events workload_events(struct arena *arena, const struct workload_kind *kind,
                                   struct json object, struct json after,
                                   struct str resource_version)
{
    struct json before = json_get(object, STR("status"));
    struct story story = {
        .arena = arena,
        .events = kube_events_new(arena, 4),
        .before = kube_conditions_read(arena, json_get(before, STR("conditions"))),
        .after = kube_conditions_read(arena, json_get(after, STR("conditions"))),
    };
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    story.event = (struct kube_event){ .resource = kind->kind.resource,
                                       .namespace_ = meta.namespace_,
                                       .name = meta.name,
                                       .uid = meta.uid,
                                       .resource_version = resource_version };
    tell_condition(&story, STR("Accepted"));
    tell_condition(&story, STR("Applied"));
    tell_condition(&story, STR("ScalingActive"));
    story.event.kind = EVENT_MILESTONE;
    tell_phase(&story, workload_phase_word(kind, before), workload_phase_word(kind, after));
    return story.events;
}
