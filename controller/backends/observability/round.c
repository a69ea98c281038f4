/* SPDX-License-Identifier: Apache-2.0 */
/* round.c: one question after the other is asked, then one change after the other made. */
#include "controller/backends/observability/round_parts.h"

#include "base/linked.h"
#include "base/memory.h"
#include "controller/backends/observability/refusal.h"

enum { ANSWER_MS = 10000 };

struct rounds {
    struct round *first;
};

LINKED_DEFINE(round, struct round)

struct rounds *rounds_create(void)
{
    return mem_new(struct rounds);
}

static void round_free(struct round *round)
{
    round_unlink(&round->rounds->first, round);
    known_free(round->known);
    arena_free(round->arena);
    mem_free(round);
}

void rounds_free(struct rounds *rounds)
{
    if (!rounds)
        return;
    while (rounds->first)
        round_free(rounds->first);
    mem_free(rounds);
}

static void on_answer(void *context, const struct kube_answer *answer);
static void on_changed(void *context, const struct kube_answer *answer);

/* The next change of an object; false if there is none. */
static bool change(struct round *round)
{
    const struct kube_request *request;

    if (round->changed == round->changes.count)
        return false;
    request = &round->changes.items[round->changed].request;
    connection_send(round->options.connection,
                    &(struct kube_raw){ .method = kube_request_method(request),
                                        .path = kube_request_path(round->arena, request),
                                        .content_type = kube_request_content_type(request),
                                        .body = request->body,
                                        .timeout_ms = ANSWER_MS },
                    on_changed, round);
    return true;
}

/* All that could be asked was answered. */
static void decide_monitors(struct round *round)
{
    struct known *known = round->known;
    struct monitor_findings findings = known->monitors;
    struct error ignored = { .code = ERROR_NONE };

    if (!round->monitors)
        return;
    if (round_has_monitors(round)) /* what it reads was read before */
        (void)monitors_decide(round->monitors, &round->changes, &findings, &ignored);

    struct rule_findings unselected = monitors_unselected_rules(round->monitors);

    known_keep_findings(known, &findings, &unselected);
}

/* The next question that is due, or change; false if there is none. */
static bool ask(struct round *round)
{
    while (round->at < round_questions_end && !round->at->is_due(round))
        round->at++;
    if (round->at == round_questions_end) {
        decide_monitors(round);
        return change(round);
    }
    connection_send(round->options.connection,
                    &(struct kube_raw){
                        .method = "GET", .path = round->at->path(round), .timeout_ms = ANSWER_MS },
                    on_answer, round);
    return true;
}

static struct str about_question(const struct round *round)
{
    const struct wire_prometheus *prometheus = &round->known->prometheus;

    switch (round->at->kind) {
    case QUESTION_BACKEND:
        return STR("what monitors it cannot be looked up");
    case QUESTION_SERVICE:
        return str_fmt(round->arena, "Prometheus %.*s/%.*s does not answer",
                       STR_ARG(prometheus->namespace_), STR_ARG(prometheus->name));
    case QUESTION_MONITORS:
        return STR("its ServiceMonitors and PodMonitors cannot be listed");
    case QUESTION_TRACES:
        return STR("what becomes of traces cannot be looked up");
    case QUESTION_JAEGER:
        return STR("Jaeger does not say which services it knows");
    case QUESTION_PODS:
        return STR("where pods have their metrics cannot be looked up");
    case QUESTION_OBJECTS:
    case QUESTION_WATCH:
        break;
    }
    return STR("what Herd added to its monitoring cannot be listed");
}

static void note_refusal(struct round *round, const struct complaint *refusal)
{
    struct known *known = round->known;

    complaints_push(&known->refusals,
                    known_complaint_after(round->options.before, known->arena, refusal));
}

/* The first trouble is the one that is told. */
static void note_trouble(struct round *round, int status, const struct error *error)
{
    struct known *known = round->known;
    const struct known *before = round->options.before;
    struct complaint trouble = { .about = about_question(round),
                                 .status = status,
                                 .code = error->code };

    trouble.text = str_fmt(round->arena, "%.*s: %s", STR_ARG(trouble.about), error->text);
    if (round->at->kind == QUESTION_BACKEND || round->at->kind == QUESTION_SERVICE) {
        if (!known->trouble.text.len)
            known->trouble = known_complaint_after(before, known->arena, &trouble);
        return;
    }
    if (round->at->kind == QUESTION_WATCH)
        return;
    if (round->at->kind == QUESTION_TRACES || round->at->kind == QUESTION_JAEGER) {
        known->traces_trouble = known_complaint_after(before, known->arena, &trouble);
        return;
    }
    if (round->at->kind == QUESTION_OBJECTS && !known_complaint(before, &trouble))
        known_keep_dashboards(known, before);
    note_refusal(round, &trouble);
}

static bool may_lack(enum question_kind kind)
{
    return kind == QUESTION_BACKEND || kind == QUESTION_TRACES || kind == QUESTION_JAEGER;
}

/* What a Service of the cluster answers says nothing about the way there. False: it is of no use.
 */
static bool read_answer(struct round *round, const struct kube_answer *answer)
{
    const struct question *question = round->at;
    struct connection *connection = round->options.connection;
    struct request_outcome outcome = request_outcome_of(answer);
    bool lacks = may_lack(question->kind) && answer->status == 404;

    if (question->kind != QUESTION_SERVICE && question->kind != QUESTION_JAEGER)
        request_backoff_note(connection_backoff(connection), &outcome,
                             loop_now_ms(connection_loop(connection)));
    if ((outcome.result != REQUEST_DONE && !lacks) ||
        question->read(round, answer->status, str_dup(round->arena, answer->body), &outcome.error) <
            0) {
        note_trouble(round, answer->status, &outcome.error);
        return false;
    }
    return true;
}

static void finish(struct round *round)
{
    struct known *known = round->known;
    struct traces_found traces;

    if (round->traces) {
        traces = traces_conclude(round->traces);
        known->traces = traces_found_dup(known->arena, &traces);
    }
    known->kept_up = round_keeps_up(round) && !known->trouble.text.len;
    round->known = NULL;
    round->options.done(round->options.context, known, round->has_samples ? &round->samples : NULL);
    round_free(round);
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct round *round = context;

    if (round->abandoned) {
        round_free(round);
        return;
    }
    if (!read_answer(round, answer) && round->at->skip)
        round->at->skip(round);
    if (!round->at->skip)
        round->at++;
    if (!ask(round))
        finish(round);
}

/* What was to be removed and is not there, is removed. */
static bool is_done(const struct kube_request *request, const struct kube_answer *answer,
                    const struct request_outcome *outcome)
{
    return outcome->result == REQUEST_DONE ||
           (request->verb == KUBE_DELETE && answer->status == 404);
}

static void note_refused_monitor(struct known *known, const struct kube_request *request,
                                 struct str text)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str release = upkeep_release_of(arena, request->namespace_, request->name);

    for (uint32_t i = 0; i < known->monitors.count; i++) {
        struct monitor_finding *one = &known->monitors.items[i];

        if (!str_eq(one->release, release))
            continue;
        one->state = MONITOR_REFUSED;
        one->message = str_dup(known->arena, text);
    }
}

static void note_change(struct round *round, const struct upkeep_change *change,
                        const struct kube_answer *answer, const struct request_outcome *outcome)
{
    const struct kube_request *request = &change->request;
    struct known *known = round->known;

    if (!is_done(request, answer, outcome)) {
        const struct complaint refusal =
            refusal_of(round->arena, change, answer->status, &outcome->error);

        note_refusal(round, &refusal);
        if (refusal_is_of_monitor(request) && request->verb != KUBE_DELETE)
            note_refused_monitor(known, request, refusal.text);
    } else if (refusal_is_of_dashboard(request) && request->verb != KUBE_DELETE) {
        str_list_push(&known->dashboards, str_dup(known->arena, request->name));
    }
}

static void on_changed(void *context, const struct kube_answer *answer)
{
    struct round *round = context;
    struct request_outcome outcome = request_outcome_of(answer);

    if (round->abandoned) {
        round_free(round);
        return;
    }
    request_backoff_note(connection_backoff(round->options.connection), &outcome,
                         loop_now_ms(connection_loop(round->options.connection)));
    note_change(round, &round->changes.items[round->changed++], answer, &outcome);
    if (!change(round))
        finish(round);
}

struct round *round_begin(struct rounds *rounds, const struct round_options *options)
{
    struct round *round = mem_new(struct round);

    round->rounds = rounds;
    round_link(&rounds->first, round);
    round->options = *options;
    round->arena = arena_create(0);
    round->at = round_questions;
    round->upkeep = upkeep_new(round->arena);
    round->changes = upkeep_changes_new(round->arena, 8);
    round->known = known_from(options->before, options->looks);
    round->namespaces = str_list_new(round->arena, options->namespaces->count);
    for (uint32_t i = 0; i < options->namespaces->count; i++)
        str_list_push(&round->namespaces, str_dup(round->arena, options->namespaces->items[i]));
    ask(round);
    return round;
}

void round_abandon(struct round *round)
{
    if (round)
        round->abandoned = true;
}
