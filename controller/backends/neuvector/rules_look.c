/* SPDX-License-Identifier: Apache-2.0 */
/* rules_look.c: for each kind of rules, which are there, then one change after the other. */
#include "controller/backends/neuvector/rules_look.h"

#include "base/memory.h"
#include "stack/model/reasons.h"

enum { CHANGES_MAX = 100 }; /* of one look; the next one goes on */

struct rules_look {
    struct rules_look_options options;
    struct arena *arena;
    enum rules_kind kind;         /* that is looked at */
    struct rules_changes changes; /* of it, */
    uint32_t next;                /* of these, */
    uint32_t sent;                /* and how many were sent of all kinds */
    struct rules_result result;
};

static const struct rules_row *row_of(const struct rules_look *look)
{
    return rules_rows[look->kind];
}

static bool some_are_due(const struct rules_look *look)
{
    for (uint32_t i = 0; i < look->options.wishes->count; i++)
        if (look->options.wishes->items[i].due[look->kind])
            return true;
    return false;
}

static bool some_are_wanted(const struct rules_look *look)
{
    for (uint32_t i = 0; i < look->options.wishes->count; i++)
        if (rules_are_wanted(look->kind, &look->options.wishes->items[i]))
            return true;
    return false;
}

static void begin_kind(struct rules_look *look);

static void next_kind(struct rules_look *look)
{
    look->kind++;
    begin_kind(look);
}

static void note_trouble(struct rules_look *look, struct str reason, struct str message)
{
    look->result.troubles[look->kind] =
        (struct rules_trouble){ reason, str_dup(look->arena, message) };
}

/* A role that may not even read rules has never made one: where none is wanted, that is no trouble,
 * and none is left. */
static void give_up_kind(struct rules_look *look, struct str reason, struct str message)
{
    bool denied = str_eq(reason, REASON(NEUVECTOR_PERMISSION_DENIED));

    if (denied && !look->result.compared[look->kind] && !some_are_wanted(look))
        look->result.compared[look->kind] = true;
    else
        note_trouble(look, reason, message);
    next_kind(look);
}

static struct str words_of(struct rules_look *look, const char *what, struct str words)
{
    return str_fmt(look->arena, "NeuVector on cluster %.*s %s: %.*s",
                   STR_ARG(look->options.cluster_id), what, STR_ARG(words));
}

/* It cannot be asked at present, and so not for the other kinds. */
static bool is_lost(struct rules_look *look, const struct neuvector_answer *answer)
{
    if (!answer->reason.len)
        return false;
    for (; look->kind < RULES_KINDS; look->kind++)
        if (some_are_due(look))
            note_trouble(look, answer->reason, answer->message);
    look->options.done(look->options.context);
    return true;
}

static bool is_denied(struct rules_look *look, const struct neuvector_answer *answer,
                      const char *verb, const char *right)
{
    if (answer->kind != WIRE_DENIED)
        return false;
    give_up_kind(look, REASON(NEUVECTOR_PERMISSION_DENIED),
                 wire_denied_message(look->arena, look->options.cluster_id,
                                     str_fmt(look->arena, "%s %s", verb, row_of(look)->name).at,
                                     right));
    return true;
}

/* False: that was the end of the kind, or of all. */
static bool is_read(struct rules_look *look, const struct neuvector_answer *answer)
{
    if (is_lost(look, answer) || is_denied(look, answer, "read", row_of(look)->read_right))
        return false;
    if (answer->kind == WIRE_OK)
        return true;
    give_up_kind(look, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
                 words_of(look, "refuses to list rules", answer->message));
    return false;
}

static void unexpected(struct rules_look *look, const struct error *err)
{
    give_up_kind(look, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
                 words_of(look, "is not understood", str_of(err->text)));
}

static void ask(struct rules_look *look, const char *method, struct str path, struct str body,
                neuvector_done *done)
{
    neuvector_client_ask(look->options.client, method, path, body, done, look);
}

/* --- changes --- */

static void change_next(struct rules_look *look);

static void put_own_trouble(struct rules_look *look, struct str uid, struct str reason,
                            struct str message)
{
    struct rules_trouble *trouble = arena_new(look->arena, struct rules_trouble);

    *trouble = (struct rules_trouble){ reason, message };
    map_put(look->result.own_troubles, uid, trouble);
}

/* A rule that somebody else deleted meanwhile is gone, or made anew by the next look. What is
 * refused is one Stack's trouble: the others' rules are changed all the same. */
static void on_changed(void *context, const struct neuvector_answer *answer)
{
    struct rules_look *look = context;
    struct str uid = look->changes.items[look->next - 1].uid;

    if (is_lost(look, answer) || is_denied(look, answer, "change", row_of(look)->write_right))
        return;
    if (answer->kind == WIRE_REFUSED)
        put_own_trouble(
            look, uid, REASON(NEUVECTOR_RULE_REJECTED),
            words_of(look,
                     str_fmt(look->arena, "rejects one of the Stack's %s", row_of(look)->name).at,
                     answer->message));
    change_next(look);
}

static void change_next(struct rules_look *look)
{
    const struct rules_change *change;

    if (look->next == look->changes.count || look->sent == CHANGES_MAX) {
        look->result.unfinished = look->result.unfinished || look->next < look->changes.count;
        next_kind(look);
        return;
    }
    look->sent++;
    change = &look->changes.items[look->next++];
    ask(look, change->method, change->path, change->body, on_changed);
}

/* --- what is there --- */

static void note_disabled(struct rules_look *look, struct set disabled)
{
    for (uint32_t i = 0; i < map_count(disabled.strings); i++)
        put_own_trouble(look, map_key(disabled.strings, i), REASON(NEUVECTOR_RULE_DISABLED),
                        str_fmt(look->arena,
                                "somebody disabled one of the Stack's %s in NeuVector on cluster "
                                "%.*s, and Herd does not enable it; enable it there, or take "
                                "spec.securityProfile.response away",
                                row_of(look)->name, STR_ARG(look->options.cluster_id)));
}

static void on_rules(void *context, const struct neuvector_answer *answer)
{
    struct rules_look *look = context;
    struct rules_comparison comparison;
    struct error err = { .code = ERROR_NONE };

    if (!is_read(look, answer))
        return;
    if (rules_compare(look->arena, look->kind, answer->json, look->options.wishes, &comparison,
                      &err) < 0) {
        unexpected(look, &err);
        return;
    }
    look->result.compared[look->kind] = true;
    look->result.marked[look->kind] = comparison.marked;
    look->result.changed = look->result.changed || comparison.changes.count;
    note_disabled(look, comparison.disabled);
    look->changes = comparison.changes;
    look->next = 0;
    change_next(look);
}

static void list_rules(struct rules_look *look)
{
    ask(look, "GET", row_of(look)->list, STR(""), on_rules);
}

static void on_state(void *context, const struct neuvector_answer *answer)
{
    struct rules_look *look = context;
    struct error err = { .code = ERROR_NONE };
    bool enabled;

    if (!is_read(look, answer))
        return;
    if (rules_admission_state_read(answer->json, &enabled, &err) < 0) {
        unexpected(look, &err);
        return;
    }
    if (!enabled)
        note_trouble(look, REASON(NEUVECTOR_ADMISSION_DISABLED),
                     str_fmt(look->arena,
                             "admission control is switched off in NeuVector on cluster %.*s, and "
                             "Herd does not switch it on; enable it there, or set "
                             "spec.securityProfile.admission to Disabled",
                             STR_ARG(look->options.cluster_id)));
    list_rules(look);
}

static void begin_kind(struct rules_look *look)
{
    while (look->kind < RULES_KINDS && !some_are_due(look))
        look->kind++;
    if (look->kind == RULES_KINDS)
        look->options.done(look->options.context);
    else if (look->kind == RULES_ADMISSION && some_are_wanted(look))
        ask(look, "GET", STR("/v1/admission/state"), STR(""), on_state);
    else
        list_rules(look);
}

/* --- life --- */

/* Some rule of some kind is due. */
struct rules_look *rules_look_begin(const struct rules_look_options *options)
{
    struct rules_look *look = mem_new(struct rules_look);

    look->options = *options;
    look->arena = arena_create(0);
    look->result.own_troubles = map_new(look->arena, 0);
    for (int i = 0; i < RULES_KINDS; i++) {
        look->result.troubles[i] = (struct rules_trouble){ STR(""), STR("") };
        look->result.marked[i] = set_new(look->arena, 0);
    }
    begin_kind(look);
    return look;
}

const struct rules_result *rules_look_result(const struct rules_look *look)
{
    return &look->result;
}

void rules_look_free(struct rules_look *look)
{
    if (!look)
        return;
    arena_free(look->arena);
    mem_free(look);
}
