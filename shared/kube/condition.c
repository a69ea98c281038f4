/* SPDX-License-Identifier: Apache-2.0 */
/* condition.c: conditions, read, set and written. */
#include "kube/condition.h"

#include "text/time.h"

static const char *const status_names[] = {
    [CONDITION_UNKNOWN] = "Unknown",
    [CONDITION_FALSE] = "False",
    [CONDITION_TRUE] = "True",
};

const char *condition_status_name(enum condition_status status)
{
    return status_names[status];
}

static enum condition_status status_from(struct str name)
{
    for (enum condition_status s = CONDITION_FALSE; s <= CONDITION_TRUE; s++)
        if (str_eq(name, str_of(status_names[s])))
            return s;
    return CONDITION_UNKNOWN;
}

struct kube_conditions kube_conditions_read(struct arena *arena, struct json conditions)
{
    bool is_array = json_is(conditions, JSON_ARRAY);
    struct kube_conditions list = kube_conditions_new(arena, is_array ? json_count(conditions) : 0);
    struct json_iter it = json_iter(is_array ? conditions : (struct json){ NULL, 0 });

    while (json_next(&it)) {
        struct kube_condition condition = {
            .type = json_str(json_get(it.value, STR("type"))),
            .reason = json_str(json_get(it.value, STR("reason"))),
            .message = json_str(json_get(it.value, STR("message"))),
            .status = status_from(json_str(json_get(it.value, STR("status")))),
        };
        struct error ignored;

        (void)json_int64(json_get(it.value, STR("observedGeneration")),
                         &condition.observed_generation);
        (void)time_parse_rfc3339(json_str(json_get(it.value, STR("lastTransitionTime"))),
                                 &condition.last_transition_ms, &ignored);
        if (condition.type.len && !kube_condition_find(&list, condition.type))
            kube_conditions_push(&list, condition);
    }
    return list;
}

const struct kube_condition *kube_condition_find(const struct kube_conditions *conditions,
                                                 struct str type)
{
    for (uint32_t i = 0; i < conditions->count; i++)
        if (str_eq(conditions->items[i].type, type))
            return &conditions->items[i];
    return NULL;
}

void kube_condition_set(struct kube_conditions *conditions, struct kube_condition condition,
                        int64_t now_ms)
{
    for (uint32_t i = 0; i < conditions->count; i++) {
        struct kube_condition *held = &conditions->items[i];

        if (!str_eq(held->type, condition.type))
            continue;
        condition.last_transition_ms =
            held->status == condition.status ? held->last_transition_ms : now_ms;
        *held = condition;
        return;
    }
    condition.last_transition_ms = now_ms;
    kube_conditions_push(conditions, condition);
}

void kube_conditions_write(const struct kube_conditions *conditions, struct json_writer *w)
{
    json_open_array(w);
    for (uint32_t i = 0; i < conditions->count; i++) {
        const struct kube_condition *c = &conditions->items[i];

        json_open_object(w);
        json_field_str(w, "type", c->type);
        json_field_str(w, "status", str_of(condition_status_name(c->status)));
        if (c->observed_generation)
            json_field_int(w, "observedGeneration", c->observed_generation);
        json_field_str(w, "lastTransitionTime", time_rfc3339(w->out->arena, c->last_transition_ms));
        json_field_str(w, "reason", c->reason);
        json_field_str(w, "message", c->message);
        json_close_object(w);
    }
    json_close_array(w);
}
