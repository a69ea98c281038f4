/* SPDX-License-Identifier: Apache-2.0 */
/* observability.c: first each release, then the clusters, then the worst of both as condition. */
#include "stack/plan/observability.h"

#include "stack/model/reasons.h"

enum { GPU_STEP_PERCENT = 5 };

struct survey {
    struct arena *arena;
    const struct observed *observed;
    struct stack_status *status;
    uint32_t clusters, asked, found; /* targets; those that were asked; where it is known what is */
    uint32_t with[MONITORING_SUSE | MONITORING_PROMETHEUS]; /* by bit: how many have it */
    uint32_t active, inactive, unknown;                     /* releases */
    bool pending;
    /* The first of each: */
    const struct observed_cluster *unseen, *unasked, *bare, *troubled, *without_rules;
    const struct observed_cluster *traceless, *traces_unread, *untraced;
    uint32_t traced, arriving, counting_traces; /* releases; and clusters that count them */
    struct str missing, missing_reason;         /* the first release that is inactive, and why */
    struct str silent, silent_reason; /* the first of which it is said why nothing is known */
};

/* --- releases --- */

static bool percent_of(struct str text, int64_t *ret_percent)
{
    uint64_t number;

    if (!str_ends(text, STR("%")) || !str_to_u64(str_slice(text, 0, text.len - 1), &number) ||
        number > 100)
        return false;
    *ret_percent = (int64_t)number;
    return true;
}

static int64_t rounded(double percent)
{
    return percent <= 0 ? 0 : percent >= 100 ? 100 : (int64_t)(percent + 0.5);
}

struct str gpu_utilization_text(struct arena *arena, double percent, struct str before)
{
    int64_t now = rounded(percent);
    int64_t then;

    if (percent_of(before, &then) && now - then < GPU_STEP_PERCENT && then - now < GPU_STEP_PERCENT)
        return before;
    return str_fmt(arena, "%lld%%", (long long)now);
}

/* After a restart of Herd what is inactive looks as if it had just begun. */
static struct str metrics_text(const struct observed_metrics *metrics, struct str before)
{
    switch (metrics->state) {
    case METRICS_ACTIVE:
        return STR("Active");
    case METRICS_INACTIVE:
        return STR("Inactive");
    case METRICS_NOT_ASKED:
        return before.len ? before : STR("Unknown");
    case METRICS_PENDING:
        return str_eq(before, STR("Inactive")) ? before : STR("Unknown");
    case METRICS_UNKNOWN:
        break;
    }
    return STR("Unknown");
}

static const struct observed_cluster *find_cluster(const struct observed *observed, struct str id)
{
    uint32_t low = 0;
    uint32_t high = observed->clusters.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(observed->clusters.items[middle].id, id);

        if (order == 0)
            return &observed->clusters.items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const struct observed_release *find_release(const struct observed_cluster *cluster,
                                                   const struct release_state *entry)
{
    for (uint32_t i = 0; i < cluster->releases.count; i++) {
        const struct observed_release *release = &cluster->releases.items[i];

        if (str_eq(release->name, entry->release_name) &&
            str_eq(release->namespace_, entry->namespace_))
            return release;
    }
    return NULL;
}

static struct str about_release(const struct survey *s, const struct release_state *entry,
                                struct str text)
{
    return str_fmt(s->arena, "%.*s on %.*s: %.*s", STR_ARG(entry->chart_name),
                   STR_ARG(entry->cluster_id), STR_ARG(text));
}

static void count_release(struct survey *s, const struct release_state *entry,
                          const struct observed_metrics *metrics)
{
    bool inactive = str_eq(entry->metrics, STR("Inactive"));

    s->active += str_eq(entry->metrics, STR("Active"));
    s->inactive += inactive;
    s->unknown += str_eq(entry->metrics, STR("Unknown"));
    s->pending =
        s->pending || metrics->state == METRICS_PENDING || metrics->state == METRICS_NOT_ASKED;
    if (inactive && !s->missing.len) {
        s->missing = about_release(
            s, entry, metrics->message.len ? metrics->message : STR("its metrics do not arrive"));
        s->missing_reason = metrics->reason.len ? metrics->reason : REASON(METRICS_MISSING);
    } else if (!inactive && metrics->reason.len && !s->silent.len) {
        s->silent = about_release(s, entry, metrics->message);
        s->silent_reason = metrics->reason;
    }
}

/* What has no workload, or is not there, has no metrics. */
static void survey_release(struct survey *s, struct release_state *entry)
{
    const struct observed_cluster *cluster = find_cluster(s->observed, entry->cluster_id);
    bool read = cluster && cluster->state == CLUSTER_READ;
    const struct observed_release *release = read ? find_release(cluster, entry) : NULL;
    struct observed_metrics metrics = { .state = METRICS_UNKNOWN };
    struct str before = entry->gpu_utilization;

    if (read && (!release || !release->workloads.len)) {
        entry->metrics = entry->gpu_utilization = STR("");
        return;
    }
    if (release)
        metrics = release->metrics;
    entry->metrics = metrics_text(&metrics, entry->metrics);
    entry->gpu_utilization = metrics.has_gpus
                                 ? gpu_utilization_text(s->arena, metrics.gpu_percent, before)
                             : metrics.state == METRICS_NOT_ASKED ? before
                                                                  : STR("");
    count_release(s, entry, &metrics);
}

/* --- clusters --- */

static void note(const struct observed_cluster **first, const struct observed_cluster *cluster)
{
    if (!*first)
        *first = cluster;
}

static void survey_traces(struct survey *s, const struct observed_cluster *cluster)
{
    const struct observed_monitoring *monitoring = &cluster->monitoring;

    if (monitoring->traces_trouble.len)
        note(&s->traceless, cluster);
    if (monitoring->traces_unknown.len)
        note(&s->traces_unread, cluster);
    if (monitoring->arriving < monitoring->traced)
        note(&s->untraced, cluster);
    s->counting_traces += monitoring->counts_traces;
    s->traced += monitoring->traced;
    s->arriving += monitoring->arriving;
}

static void survey_cluster(struct survey *s, const struct observed_cluster *cluster)
{
    const struct observed_monitoring *monitoring = &cluster->monitoring;

    if (!cluster->targeted)
        return;
    s->clusters++;
    if (cluster->state != CLUSTER_READ) {
        note(&s->unseen, cluster);
        return;
    }
    if (!monitoring->asked) {
        note(&s->unasked, cluster);
        return;
    }
    s->asked++;
    if (monitoring->trouble.len)
        note(&s->troubled, cluster);
    if (monitoring->rules_trouble.len)
        note(&s->without_rules, cluster);
    survey_traces(s, cluster);
    if (!monitoring->found)
        return;
    s->found++;
    if (!monitoring->backends)
        note(&s->bare, cluster);
    for (uint32_t bit = MONITORING_SUSE; bit <= MONITORING_PROMETHEUS; bit <<= 1)
        s->with[bit] += (monitoring->backends & bit) != 0;
}

static struct str backend_text(const struct survey *s)
{
    if (!s->found)
        return STR("");
    if (s->with[MONITORING_SUSE] && s->with[MONITORING_PROMETHEUS])
        return STR("SUSEObservability,Prometheus");
    if (s->with[MONITORING_SUSE])
        return STR("SUSEObservability");
    return s->with[MONITORING_PROMETHEUS] ? STR("Prometheus") : STR("None");
}

/* Of a number that every target has to report: the least; -1 if one did not. */
static int64_t least(const struct survey *s, bool alerts)
{
    int64_t found = -1;

    for (uint32_t i = 0; i < s->observed->clusters.count; i++) {
        const struct observed_cluster *cluster = &s->observed->clusters.items[i];
        const struct observed_monitoring *monitoring = &cluster->monitoring;
        int64_t count = alerts ? monitoring->alerts : monitoring->dashboards;

        if (!cluster->targeted)
            continue;
        if (cluster->state != CLUSTER_READ ||
            !(alerts ? monitoring->counts_alerts : monitoring->counts_dashboards))
            return -1;
        if (found < 0 || count < found)
            found = count;
    }
    return found;
}

static enum condition_status truth(bool is_true, bool is_false)
{
    return is_true ? CONDITION_TRUE : is_false ? CONDITION_FALSE : CONDITION_UNKNOWN;
}

static struct observability_state state_of(const struct survey *s)
{
    uint32_t with_agent = s->with[MONITORING_SUSE];

    return (struct observability_state){
        .suse_enabled = truth(s->clusters && with_agent == s->clusters, with_agent < s->found),
        .metrics_collected = truth(s->active && !s->inactive && !s->unknown, s->inactive > 0),
        .dashboards = least(s, false),
        .alerts = least(s, true),
        .backend = backend_text(s),
        .traces_collected = truth(s->traced && !s->untraced && s->counting_traces == s->clusters,
                                  s->untraced != NULL),
    };
}

/* --- the condition --- */

static struct observability_verdict verdict(enum condition_status status, struct str reason,
                                            struct str message)
{
    return (struct observability_verdict){ status, reason, message };
}

static struct observability_verdict of_cluster(enum condition_status status, struct arena *arena,
                                               struct str reason,
                                               const struct observed_cluster *cluster,
                                               struct str message)
{
    return verdict(status, reason,
                   str_fmt(arena, "cluster %.*s: %.*s", STR_ARG(cluster->id), STR_ARG(message)));
}

static struct observability_verdict unknown(struct arena *arena, struct str reason,
                                            const struct observed_cluster *cluster,
                                            struct str message)
{
    return of_cluster(CONDITION_UNKNOWN, arena, reason, cluster, message);
}

/* Of those that opted in. A service without requests yet has no traces: that is no fault. */
static struct str and_traces(const struct survey *s, struct str message)
{
    const struct observed_cluster *first = s->untraced;

    if (!s->traced)
        return message;
    if (!first)
        return str_fmt(s->arena, "%.*s; traces of %u %s arrive", STR_ARG(message), s->traced,
                       s->traced == 1 ? "release" : "releases");
    return str_fmt(
        s->arena,
        "%.*s; traces of %u of the %u releases that opted in arrive, and none of release "
        "%.*s on %.*s",
        STR_ARG(message), s->arriving, s->traced, STR_ARG(first->monitoring.untraced),
        STR_ARG(first->id));
}

static struct observability_verdict trouble(struct arena *arena,
                                            const struct observed_cluster *cluster)
{
    struct str reason = cluster->monitoring.trouble_reason;

    return unknown(arena, reason.len ? reason : REASON(MONITORING_UNREADABLE), cluster,
                   cluster->monitoring.trouble);
}

static struct observability_verdict success(const struct survey *s)
{
    if (s->with[MONITORING_SUSE] == s->clusters)
        return verdict(
            CONDITION_TRUE, REASON(SUSE_OBSERVABILITY_ACTIVE),
            and_traces(s,
                       s->active
                           ? str_fmt(s->arena,
                                     "the agent of SUSE Observability runs on every target "
                                     "cluster, and metrics of %u %s are collected",
                                     s->active, s->active == 1 ? "release" : "releases")
                           : STR("the agent of SUSE Observability runs on every target cluster; no "
                                 "release runs yet whose metrics could be collected")));
    if (!s->active)
        return verdict(CONDITION_UNKNOWN, REASON(METRICS_PENDING),
                       STR("no release runs yet whose metrics could be collected"));
    return verdict(CONDITION_TRUE, REASON(PROMETHEUS_ACTIVE),
                   and_traces(s, str_fmt(s->arena, "metrics of %u %s are collected", s->active,
                                         s->active == 1 ? "release" : "releases")));
}

/* What is known to be wrong comes before what is not known. */
static struct observability_verdict verdict_of(const struct survey *s)
{
    if (s->bare)
        return verdict(CONDITION_FALSE, REASON(NO_MONITORING),
                       str_fmt(s->arena,
                               "cluster %.*s has neither the agent of SUSE Observability nor a "
                               "Prometheus that is Available",
                               STR_ARG(s->bare->id)));
    if (s->inactive)
        return verdict(CONDITION_FALSE, s->missing_reason, s->missing);
    if (s->without_rules)
        return of_cluster(CONDITION_FALSE, s->arena, REASON(RULES_NOT_SELECTED), s->without_rules,
                          s->without_rules->monitoring.rules_trouble);
    if (s->traceless)
        return of_cluster(CONDITION_FALSE, s->arena, REASON(NO_TRACE_ENDPOINT), s->traceless,
                          s->traceless->monitoring.traces_trouble);
    if (s->troubled)
        return trouble(s->arena, s->troubled);
    if (s->unseen)
        return unknown(s->arena, REASON(MONITORING_NOT_ASKED), s->unseen,
                       s->unseen->message.len ? s->unseen->message : STR("it cannot be read"));
    if (s->silent.len)
        return verdict(CONDITION_UNKNOWN, s->silent_reason, s->silent);
    if (s->pending)
        return verdict(CONDITION_UNKNOWN, REASON(METRICS_PENDING),
                       STR("a release has just started, and its metrics are not collected "
                           "yet"));
    if (s->traces_unread)
        return unknown(s->arena, REASON(MONITORING_UNREADABLE), s->traces_unread,
                       s->traces_unread->monitoring.traces_unknown);
    return success(s);
}

/* Nobody was asked since Herd started, or since a cluster came. */
static struct observability_verdict verdict_before(const struct survey *s,
                                                   const struct stack_status *before)
{
    const struct kube_condition *held =
        before ? kube_condition_find(&before->conditions, STR("ObservabilityConfigured")) : NULL;

    if (held)
        return verdict(held->status, held->reason, held->message);
    if (!s->unasked)
        return verdict(CONDITION_UNKNOWN, REASON(MONITORING_NOT_ASKED),
                       STR("there is no target cluster to ask"));
    return unknown(s->arena, REASON(MONITORING_NOT_ASKED), s->unasked,
                   STR("it was not asked yet what monitors it"));
}

static void forget_releases(struct release_states *releases)
{
    for (uint32_t i = 0; i < releases->count; i++)
        releases->items[i].metrics = releases->items[i].gpu_utilization = STR("");
}

struct observability_verdict observability_of(struct arena *arena, const struct stack *stack,
                                              const struct observed *observed,
                                              struct stack_status *status)
{
    const struct stack_status *before = observed->before;
    struct survey s = { .arena = arena, .observed = observed, .status = status };

    status->observability = (struct observability_state){ .dashboards = -1, .alerts = -1 };
    if (stack->spec.observability != TOGGLE_ENABLED) {
        forget_releases(&status->deployments);
        return verdict(CONDITION_UNKNOWN, STR(""), STR(""));
    }
    for (uint32_t i = 0; i < status->deployments.count; i++)
        survey_release(&s, &status->deployments.items[i]);
    for (uint32_t i = 0; i < observed->clusters.count; i++)
        survey_cluster(&s, &observed->clusters.items[i]);
    if (!s.unasked && s.clusters) {
        status->observability = state_of(&s);
        return verdict_of(&s);
    }
    if (before)
        status->observability = before->observability;
    return verdict_before(&s, before);
}
