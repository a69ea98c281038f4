/* SPDX-License-Identifier: Apache-2.0 */
/* round.c: a table of questions; each knows when it is to be asked and how its answer is read. */
#include "controller/backends/observability/round.h"

#include "base/linked.h"
#include "base/memory.h"

enum { ANSWER_MS = 10000 };

struct rounds {
    struct round *first;
};

struct round {
    struct rounds *rounds;
    struct round *next, *previous;
    struct round_options options;
    bool abandoned;
    const struct question *at;
    struct arena *arena; /* of what is asked and answered */
    struct str_list namespaces;
    struct sample_index samples;
    bool has_samples;
    struct monitors *monitors;           /* NULL: not looked for */
    bool monitors_listed[MONITOR_KINDS]; /* else nothing is decided of them */
    struct upkeep upkeep;
    struct upkeep_changes changes;
    uint32_t changed; /* of them, so many were sent and answered */
    struct known *known;
};

LINKED_DEFINE(round, struct round)

/* --- questions --- */

enum question_kind {
    QUESTION_BACKEND, /* what there is; 404: the cluster does not know the kind */
    QUESTION_SERVICE, /* Prometheus answers, else the cluster's API */
    QUESTION_OBJECTS, /* of Herd's own */
    QUESTION_MONITORS,
    QUESTION_PODS, /* and Services, until nothing is left to read */
};

struct question {
    bool (*is_due)(const struct round *round);
    struct str (*path)(struct round *round);
    int (*read)(struct round *round, int status, struct str body, struct error *err);
    enum question_kind kind;
};

static bool is_looked_for(const struct round *round)
{
    return round->options.looks;
}

static bool has_prometheus(const struct round *round)
{
    return round->known->backends & MONITORING_PROMETHEUS;
}

static void set_backend(struct known *known, enum monitoring_backend which, bool is_there)
{
    known->backends = (known->backends & ~(uint32_t)which) | (is_there ? (uint32_t)which : 0);
}

static struct str agent_path(struct round *round)
{
    (void)round;
    return wire_agent_path;
}

static int read_agent(struct round *round, int status, struct str body, struct error *err)
{
    struct known *known = round->known;
    struct wire_agent agent;

    (void)status;
    if (wire_agent_read(round->arena, body, &agent, err) < 0)
        return -1;
    set_backend(known, MONITORING_SUSE, agent.runs);
    known->suse_name = str_dup(known->arena, agent.runs ? agent.cluster_name : STR(""));
    return 0;
}

static struct str prometheus_path(struct round *round)
{
    (void)round;
    return wire_prometheus_path;
}

static int read_prometheus(struct round *round, int status, struct str body, struct error *err)
{
    struct wire_prometheus one = { .name = STR("") };

    if (status == 200 && wire_prometheus_read(round->arena, body, &one, err) < 0)
        return -1;
    set_backend(round->known, MONITORING_PROMETHEUS, one.name.len > 0);
    known_set_prometheus(round->known, &one);
    round->known->found = round->known->trouble.text.len == 0;
    if (one.name.len)
        round->options.add_upkeep(round->options.context, &one, &round->upkeep);
    return 0;
}

/* The Service that the operator makes in the namespace of each Prometheus. */
static struct str of_prometheus(const struct round *round, struct str path)
{
    const struct connection_service service = {
        .scheme = "http",
        .namespace_ = round->known->prometheus.namespace_,
        .name = STR_INIT("prometheus-operated"),
        .port = 9090,
    };

    return connection_service_path(round->arena, &service, path);
}

static struct str samples_path(struct round *round)
{
    return of_prometheus(round, wire_samples_path(round->arena, &round->namespaces));
}

static int read_samples(struct round *round, int status, struct str body, struct error *err)
{
    struct samples samples;

    (void)status;
    if (wire_samples_read(round->arena, body, &samples, err) < 0)
        return -1;
    round->samples = sample_index_new(round->arena, &samples);
    round->has_samples = true;
    return 0;
}

static struct str rules_path(struct round *round)
{
    return of_prometheus(round, wire_rules_path);
}

static void copy_list(struct str_list *to, const struct str_list *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        str_list_push(to, str_dup(to->arena, from->items[i]));
}

static int read_rules(struct round *round, int status, struct str body, struct error *err)
{
    struct known *known = round->known;
    struct wire_rules rules;

    (void)status;
    if (wire_rules_read(round->arena, body, &rules, err) < 0)
        return -1;
    copy_list(&known->rules.stacks, &rules.stacks);
    copy_list(&known->rules.releases, &rules.releases);
    known->counts_alerts = true;
    return 0;
}

/* Once it is known what to look for, Stacks say what they want. */
static bool keeps_up(const struct round *round)
{
    return has_prometheus(round) && map_count(round->upkeep.stacks.strings);
}

static struct str rule_objects_path(struct round *round)
{
    return upkeep_rules_path(round->arena);
}

static int read_rule_objects(struct round *round, int status, struct str body, struct error *err)
{
    (void)status;
    return upkeep_rules(round->arena, &round->upkeep, body, &round->changes, err);
}

static bool keeps_dashboards(const struct round *round)
{
    return keeps_up(round) && (round->upkeep.dashboards.count || round->upkeep.dropped.count);
}

static struct str dashboard_objects_path(struct round *round)
{
    return upkeep_dashboards_path(round->arena,
                                  wire_dashboards_namespace(&round->known->prometheus));
}

static int read_dashboard_objects(struct round *round, int status, struct str body,
                                  struct error *err)
{
    struct known *known = round->known;
    struct str_list in_place = str_list_new(round->arena, 4);

    (void)status;
    if (upkeep_dashboards(round->arena, &round->upkeep, body, &round->changes, &in_place, err) < 0)
        return -1;
    copy_list(&known->dashboards, &in_place);
    known->counts_dashboards = true;
    return 0;
}

/* Without samples it is not known what is scraped already. */
static bool keeps_monitors(const struct round *round)
{
    return keeps_up(round) && round->has_samples;
}

static struct str service_monitors_path(struct round *round)
{
    round->monitors =
        monitors_new(round->arena, &round->upkeep, &round->known->prometheus, &round->samples);
    return monitors_path(round->arena, MONITOR_SERVICE);
}

static struct str pod_monitors_path(struct round *round)
{
    return monitors_path(round->arena, MONITOR_POD);
}

static int read_monitors(struct round *round, enum monitor_kind kind, struct str body,
                         struct error *err)
{
    if (monitors_read(round->monitors, kind, body, err) < 0)
        return -1;
    round->monitors_listed[kind] = true;
    return 0;
}

static int read_service_monitors(struct round *round, int status, struct str body,
                                 struct error *err)
{
    (void)status;
    return read_monitors(round, MONITOR_SERVICE, body, err);
}

static int read_pod_monitors(struct round *round, int status, struct str body, struct error *err)
{
    (void)status;
    return read_monitors(round, MONITOR_POD, body, err);
}

static bool has_monitors(const struct round *round)
{
    return round->monitors_listed[MONITOR_SERVICE] && round->monitors_listed[MONITOR_POD];
}

static bool asks_namespaces(const struct round *round)
{
    return round->monitors && monitors_ask_namespaces(round->monitors);
}

static struct str namespaces_path(struct round *round)
{
    (void)round;
    return monitors_namespaces_path;
}

static int read_namespaces(struct round *round, int status, struct str body, struct error *err)
{
    (void)status;
    return monitors_read_namespaces(round->monitors, body, err);
}

static bool has_pods_to_read(const struct round *round)
{
    return has_monitors(round) && monitors_next_path(round->monitors, round->arena).len;
}

static struct str pods_path(struct round *round)
{
    return monitors_next_path(round->monitors, round->arena);
}

static int read_pods(struct round *round, int status, struct str body, struct error *err)
{
    (void)status;
    return monitors_read_next(round->monitors, body, err);
}

static const struct question questions[] = {
    { is_looked_for, agent_path, read_agent, QUESTION_BACKEND },
    { is_looked_for, prometheus_path, read_prometheus, QUESTION_BACKEND },
    { has_prometheus, samples_path, read_samples, QUESTION_SERVICE },
    { has_prometheus, rules_path, read_rules, QUESTION_SERVICE },
    { keeps_up, rule_objects_path, read_rule_objects, QUESTION_OBJECTS },
    { keeps_dashboards, dashboard_objects_path, read_dashboard_objects, QUESTION_OBJECTS },
    { keeps_monitors, service_monitors_path, read_service_monitors, QUESTION_MONITORS },
    { keeps_monitors, pod_monitors_path, read_pod_monitors, QUESTION_MONITORS },
    { asks_namespaces, namespaces_path, read_namespaces, QUESTION_PODS },
    { has_pods_to_read, pods_path, read_pods, QUESTION_PODS },
};
static const struct question *const questions_end =
    questions + sizeof(questions) / sizeof(*questions);

/* --- the round --- */

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
    if (has_monitors(round)) /* what it reads was read before */
        (void)monitors_decide(round->monitors, &round->changes, &findings, &ignored);

    struct rule_findings unselected = monitors_unselected_rules(round->monitors);

    known_keep_findings(known, &findings, &unselected);
}

/* The next question that is due, or change; false if there is none. */
static bool ask(struct round *round)
{
    while (round->at < questions_end && !round->at->is_due(round))
        round->at++;
    if (round->at == questions_end) {
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
    case QUESTION_PODS:
        return STR("where pods have their metrics cannot be looked up");
    case QUESTION_OBJECTS:
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
    if (round->at->kind == QUESTION_OBJECTS && !known_complaint(before, &trouble))
        known_keep_dashboards(known, before);
    note_refusal(round, &trouble);
}

/* What a Service of the cluster answers says nothing about the way there. False: it is of no use.
 */
static bool read_answer(struct round *round, const struct kube_answer *answer)
{
    const struct question *question = round->at;
    struct connection *connection = round->options.connection;
    struct request_outcome outcome = request_outcome_of(answer);
    bool lacks = question->kind == QUESTION_BACKEND && answer->status == 404;

    if (question->kind != QUESTION_SERVICE)
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

    known->kept_up = keeps_up(round) && !known->trouble.text.len;
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
    if (round->at->read != read_pods) {
        read_answer(round, answer);
        round->at++;
    } else if (!read_answer(round, answer)) {
        monitors_skip(round->monitors);
    }
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

static bool is_monitor(const struct kube_request *request)
{
    return str_eq(request->resource.kind, upkeep_monitors_resources[MONITOR_SERVICE].kind) ||
           str_eq(request->resource.kind, upkeep_monitors_resources[MONITOR_POD].kind);
}

static bool is_dashboard(const struct kube_request *request)
{
    return str_eq(request->resource.kind, upkeep_dashboards_resource.kind);
}

static const char *done_by(enum kube_verb verb)
{
    return verb == KUBE_CREATE ? "created" : verb == KUBE_PATCH ? "changed" : "removed";
}

/* Of a create, 409 is about the name: what has Herd's label was in the list. */
static struct str refusal_text(struct arena *arena, struct str object, struct str about,
                               const struct kube_request *request, int status,
                               const struct error *error)
{
    if (request->verb == KUBE_CREATE && status == 409)
        return str_fmt(arena,
                       "%.*s is there already and lacks the label " MONITORING_SELECTOR
                       ", so it is not Herd's to change: rename or remove it",
                       STR_ARG(object));
    return str_fmt(arena, "%.*s: %s", STR_ARG(about), error->text);
}

static struct complaint refusal_of(struct arena *arena, const struct upkeep_change *change,
                                   int status, const struct error *error)
{
    const struct kube_request *request = &change->request;
    struct str object = str_fmt(arena, "%.*s %.*s/%.*s", STR_ARG(request->resource.kind),
                                STR_ARG(request->namespace_), STR_ARG(request->name));
    struct str about = str_fmt(arena, "%.*s cannot be %s", STR_ARG(object), done_by(request->verb));

    return (struct complaint){
        .about = about,
        .status = status,
        .code = error->code,
        .text = refusal_text(arena, object, about, request, status, error),
        .stack = change->stack,
        .dashboard = is_dashboard(request) ? request->name : STR(""),
    };
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
        if (is_monitor(request) && request->verb != KUBE_DELETE)
            note_refused_monitor(known, request, refusal.text);
    } else if (is_dashboard(request) && request->verb != KUBE_DELETE) {
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
    round->at = questions;
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
