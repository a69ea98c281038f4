/* SPDX-License-Identifier: Apache-2.0 */
/* round_questions.c: a table of questions; each knows when it is to be asked and how its answer is
 * read. */
#include "controller/backends/observability/round_parts.h"

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
    round->options.add_upkeep(round->options.context, one.name.len ? &one : NULL, &round->upkeep);
    round->traces = traces_new(round->arena, &round->upkeep);
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
bool round_keeps_up(const struct round *round)
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
    return round_keeps_up(round) && (round->upkeep.dashboards.count || round->upkeep.dropped.count);
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

/* In other rounds, whether they are still there. */
static bool watches_dashboards(const struct round *round)
{
    return !round->options.looks && has_prometheus(round) &&
           round->options.before->dashboards.count;
}

static int read_dashboard_names(struct round *round, int status, struct str body, struct error *err)
{
    const struct str_list *before = &round->options.before->dashboards;
    struct known *known = round->known;
    struct str_list names = str_list_new(round->arena, 8);

    (void)status;
    if (upkeep_names(round->arena, body, &names, err) < 0)
        return -1;
    known->dashboards.count = 0;
    for (uint32_t i = 0; i < before->count; i++)
        if (str_list_has(&names, before->items[i]))
            str_list_push(&known->dashboards, str_dup(known->arena, before->items[i]));
    known->amiss = known->dashboards.count < before->count;
    return 0;
}

/* Without samples it is not known what is scraped already. */
static bool keeps_monitors(const struct round *round)
{
    return round_keeps_up(round) && round->has_samples;
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

bool round_has_monitors(const struct round *round)
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
    return round_has_monitors(round) && monitors_next_path(round->monitors, round->arena).len;
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

static void skip_pods(struct round *round)
{
    monitors_skip(round->monitors);
}

static bool asks(const struct round *round, enum traces_question question)
{
    return round->traces && traces_question(round->traces) == question;
}

static bool asks_for_traces(const struct round *round)
{
    return asks(round, TRACES_CLUSTER);
}

static bool keeps_instrumentations(const struct round *round)
{
    return asks(round, TRACES_OBJECTS);
}

static bool asks_jaeger(const struct round *round)
{
    return asks(round, TRACES_JAEGER);
}

static struct str traces_path(struct round *round)
{
    return traces_next_path(round->traces, round->arena);
}

static int read_traces(struct round *round, int status, struct str body, struct error *err)
{
    return traces_read(round->traces, status, body, &round->changes, err);
}

static void skip_traces(struct round *round)
{
    traces_skip(round->traces);
}

const struct question round_questions[] = {
    { is_looked_for, agent_path, read_agent, QUESTION_BACKEND, NULL },
    { is_looked_for, prometheus_path, read_prometheus, QUESTION_BACKEND, NULL },
    { has_prometheus, samples_path, read_samples, QUESTION_SERVICE, NULL },
    { has_prometheus, rules_path, read_rules, QUESTION_SERVICE, NULL },
    { round_keeps_up, rule_objects_path, read_rule_objects, QUESTION_OBJECTS, NULL },
    { keeps_dashboards, dashboard_objects_path, read_dashboard_objects, QUESTION_OBJECTS, NULL },
    { watches_dashboards, dashboard_objects_path, read_dashboard_names, QUESTION_WATCH, NULL },
    { keeps_monitors, service_monitors_path, read_service_monitors, QUESTION_MONITORS, NULL },
    { keeps_monitors, pod_monitors_path, read_pod_monitors, QUESTION_MONITORS, NULL },
    { asks_namespaces, namespaces_path, read_namespaces, QUESTION_PODS, NULL },
    { has_pods_to_read, pods_path, read_pods, QUESTION_PODS, skip_pods },
    { asks_for_traces, traces_path, read_traces, QUESTION_TRACES, skip_traces },
    { keeps_instrumentations, traces_path, read_traces, QUESTION_OBJECTS, skip_traces },
    { asks_jaeger, traces_path, read_traces, QUESTION_JAEGER, skip_traces },
    { asks_for_traces, traces_path, read_traces, QUESTION_TRACES, skip_traces },
};
const struct question *const round_questions_end =
    round_questions + sizeof(round_questions) / sizeof(*round_questions);
