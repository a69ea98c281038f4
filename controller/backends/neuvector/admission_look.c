/* SPDX-License-Identifier: Apache-2.0 */
/* admission_look.c: is it enabled, which rules are there, then one change after the other. */
#include "controller/backends/neuvector/admission_look.h"

#include "base/memory.h"
#include "stack/model/reasons.h"

enum { CHANGES_MAX = 40 }; /* of one look; the next one goes on */

struct admission_look {
    struct admission_look_options options;
    struct arena *arena;
    struct admission_changes changes;
    uint32_t next; /* of these */
    struct admission_result result;
};

static bool some_want_rules(const struct admission_look *look)
{
    for (uint32_t i = 0; i < look->options.wishes->count; i++)
        if (admission_wants_rules(&look->options.wishes->items[i]))
            return true;
    return false;
}

static void end(struct admission_look *look)
{
    look->options.done(look->options.context);
}

/* A role that may not even read rules has never made one: where none is wanted, that is no trouble,
 * and none is left. */
static void give_up(struct admission_look *look, struct str reason, struct str message)
{
    if (!look->result.compared && !some_want_rules(look) &&
        str_eq(reason, REASON(NEUVECTOR_PERMISSION_DENIED))) {
        look->result.compared = true;
    } else {
        look->result.reason = reason;
        look->result.message = str_dup(look->arena, message);
    }
    end(look);
}

static void unexpected(struct admission_look *look, struct str words)
{
    give_up(look, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
            str_fmt(look->arena, "NeuVector on cluster %.*s: %.*s",
                    STR_ARG(look->options.cluster_id), STR_ARG(words)));
}

/* False: that was the end. */
static bool is_answered(struct admission_look *look, const struct neuvector_answer *answer,
                        const char *what, const char *right)
{
    if (answer->reason.len)
        give_up(look, answer->reason, answer->message);
    else if (answer->kind == WIRE_DENIED)
        give_up(look, REASON(NEUVECTOR_PERMISSION_DENIED),
                wire_denied_message(look->arena, look->options.cluster_id, what, right));
    else if (answer->kind != WIRE_OK)
        unexpected(look,
                   str_fmt(look->arena, "it refuses to %s: %.*s", what, STR_ARG(answer->message)));
    else
        return true;
    return false;
}

static void ask(struct admission_look *look, const char *method, struct str path, struct str body,
                neuvector_done *done)
{
    neuvector_client_ask(look->options.client, method, path, body, done, look);
}

/* --- changes --- */

static void change_next(struct admission_look *look);

/* A rule that somebody else deleted meanwhile is gone, or made anew by the next look. */
static void on_changed(void *context, const struct neuvector_answer *answer)
{
    struct admission_look *look = context;
    bool gone = !answer->reason.len && answer->kind == WIRE_NOT_FOUND;

    if (gone || is_answered(look, answer, "change admission rules", "admctrl (write)"))
        change_next(look);
}

static void change_next(struct admission_look *look)
{
    const struct admission_change *change;

    if (look->next == look->changes.count || look->next == CHANGES_MAX) {
        end(look);
        return;
    }
    change = &look->changes.items[look->next++];
    ask(look, change->method, change->path, change->body, on_changed);
}

/* --- what is there --- */

static void on_rules(void *context, const struct neuvector_answer *answer)
{
    struct admission_look *look = context;
    struct error err = { .code = ERROR_NONE };

    if (!is_answered(look, answer, "read admission rules", "admctrl (read)"))
        return;
    if (admission_compare(look->arena, answer->json, look->options.wishes, &look->changes,
                          look->result.marked, &err) < 0) {
        unexpected(look, str_of(err.text));
        return;
    }
    look->result.compared = true;
    look->result.changed = look->changes.count > 0;
    change_next(look);
}

static void list_rules(struct admission_look *look)
{
    ask(look, "GET", STR("/v1/admission/rules"), STR(""), on_rules);
}

static void on_state(void *context, const struct neuvector_answer *answer)
{
    struct admission_look *look = context;
    struct error err = { .code = ERROR_NONE };
    bool enabled;

    if (!is_answered(look, answer, "read admission rules", "admctrl (read)"))
        return;
    if (admission_state_read(answer->json, &enabled, &err) < 0) {
        unexpected(look, str_of(err.text));
        return;
    }
    if (!enabled) {
        look->result.reason = REASON(NEUVECTOR_ADMISSION_DISABLED);
        look->result.message =
            str_fmt(look->arena,
                    "admission control is switched off in NeuVector on cluster %.*s, and Herd does "
                    "not switch it on; enable it there, or set spec.securityProfile.admission to "
                    "Disabled",
                    STR_ARG(look->options.cluster_id));
    }
    list_rules(look);
}

/* --- life --- */

struct admission_look *admission_look_begin(const struct admission_look_options *options)
{
    struct admission_look *look = mem_new(struct admission_look);

    look->options = *options;
    look->arena = arena_create(0);
    look->changes = admission_changes_new(look->arena, 4);
    look->result.marked = set_new(look->arena, options->wishes->count);
    look->result.reason = look->result.message = STR("");
    if (some_want_rules(look))
        ask(look, "GET", STR("/v1/admission/state"), STR(""), on_state);
    else
        list_rules(look);
    return look;
}

const struct admission_result *admission_look_result(const struct admission_look *look)
{
    return &look->result;
}

void admission_look_free(struct admission_look *look)
{
    if (!look)
        return;
    arena_free(look->arena);
    mem_free(look);
}
