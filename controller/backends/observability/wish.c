/* SPDX-License-Identifier: Apache-2.0 */
/* wish.c: a few releases, copied; renewed with each pass of the Stack. */
#include "controller/backends/observability/wish.h"

#include "base/duration.h"
#include "base/memory.h"
#include "controller/backends/release_pods.h"
#include "controller/limits.h"
#include "kube/resource.h"
#include "stack/model/reasons.h"

enum {
    GPU_CHANGE_PERCENT = 5,
    REMOVAL_ROUNDS = 2,
};

struct wanted {
    struct str namespace_;
    struct str name;
    struct str app_uid;
    struct str workloads;
    bool ready;
    int64_t ready_ms;     /* since when a target may be expected */
    int64_t monitored_ms; /* since when Herd's own monitor should bring one; 0 = there is none */
    bool collected;       /* it had targets */
    bool rule_loaded;     /* in the last round, its alert rules were */
    int64_t rule_ms;      /* since when they may be expected; 0 = no round yet */
    struct observed_metrics metrics;
};
LIST_DEFINE(wanteds, struct wanted)

struct wish {
    struct arena *arena; /* of all below, made anew with each renewal */
    struct wanteds releases;
    struct str_list dashboards; /* uids */
    struct str_list dropped;    /* uids that it wanted once */
    int64_t interval_ms;
    struct str rules_trouble;
    bool lost_rules;           /* in the last round some were not loaded any more */
    struct str sampling_ratio; /* of traces; "" = it wants none */
    bool alerts;
    bool paused;
    bool over;
    bool removing;    /* it was over when the round under way began */
    uint32_t removed; /* rounds since it is over, up to their end */
};

struct wish *wish_create(void)
{
    struct wish *wish = mem_new(struct wish);

    wish->arena = arena_create(0);
    wish->releases = wanteds_new(wish->arena, 0);
    wish->dashboards = str_list_new(wish->arena, 0);
    wish->dropped = str_list_new(wish->arena, 0);
    wish->interval_ms = LIMIT_METRICS_INTERVAL_MAX;
    return wish;
}

void wish_free(struct wish *wish)
{
    if (!wish)
        return;
    arena_free(wish->arena);
    mem_free(wish);
}

static struct wanted *find(const struct wish *wish, const struct observed_release *release)
{
    for (uint32_t i = 0; i < wish->releases.count; i++) {
        struct wanted *one = &wish->releases.items[i];

        if (str_eq(one->name, release->name) && str_eq(one->namespace_, release->namespace_))
            return one;
    }
    return NULL;
}

static int64_t interval_of(const struct stack *stack)
{
    int64_t interval_ms = 0;

    if (!duration_parse(stack->spec.observability_profile.scrape_interval, &interval_ms) ||
        interval_ms > LIMIT_METRICS_INTERVAL_MAX)
        return LIMIT_METRICS_INTERVAL_MAX;
    return interval_ms < LIMIT_METRICS_INTERVAL_MIN ? LIMIT_METRICS_INTERVAL_MIN : interval_ms;
}

/* As long as it is not ready, nothing is missing. */
static struct wanted wanted_of(struct arena *arena, const struct observed_release *release,
                               const struct wanted *before, int64_t now_ms)
{
    bool ready = release->phase == RELEASE_DEPLOYED && !release->health.message.len;
    struct wanted one = {
        .namespace_ = str_dup(arena, release->namespace_),
        .name = str_dup(arena, release->name),
        .app_uid = str_dup(arena, release->uid),
        .workloads = str_dup(arena, release->workloads),
        .ready = ready,
        .ready_ms = before && ready ? before->ready_ms : now_ms,
    };

    if (!before)
        return one;
    one.monitored_ms = before->monitored_ms;
    one.collected = before->collected;
    one.rule_loaded = before->rule_loaded;
    one.rule_ms = before->rule_ms;
    one.metrics = before->metrics;
    one.metrics.message = str_dup(arena, before->metrics.message);
    return one;
}

static void add_all(struct str_list *to, const struct str_list *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (!str_list_has(to, from->items[i]))
            str_list_push(to, str_dup(to->arena, from->items[i]));
}

static bool same_objects(const struct wish *a, const struct wish *b)
{
    bool same = a->alerts == b->alerts && a->paused == b->paused && a->over == b->over &&
                a->releases.count == b->releases.count &&
                a->dashboards.count == b->dashboards.count &&
                str_eq(a->sampling_ratio, b->sampling_ratio);

    for (uint32_t i = 0; same && i < a->releases.count; i++)
        same = str_eq(a->releases.items[i].app_uid, b->releases.items[i].app_uid) &&
               str_eq(a->releases.items[i].workloads, b->releases.items[i].workloads);
    for (uint32_t i = 0; same && i < a->dashboards.count; i++)
        same = str_eq(a->dashboards.items[i], b->dashboards.items[i]);
    return same;
}

/* True if other objects are to be there by `renewed`, which takes the place of what was. */
static bool replace(struct wish *wish, const struct wish *renewed)
{
    bool changed = !same_objects(wish, renewed);
    struct wish next = *renewed;

    for (uint32_t i = 0; changed && i < next.releases.count; i++)
        next.releases.items[i].rule_ms = 0;
    next.rules_trouble = str_dup(next.arena, wish->rules_trouble);
    arena_free(wish->arena);
    *wish = next;
    return changed;
}

static void add_releases(struct wish *renewed, const struct wish *before, const struct stack *stack,
                         const struct observed_releases *releases, int64_t now_ms)
{
    for (uint32_t i = 0; i < releases->count; i++) {
        const struct observed_release *release = &releases->items[i];

        if (release->workloads.len && observed_release_is_of(release, stack->meta.uid))
            wanteds_push(&renewed->releases,
                         wanted_of(renewed->arena, release, find(before, release), now_ms));
    }
}

bool wish_renew(struct wish *wish, const struct stack *stack,
                const struct observed_cluster *cluster, int64_t now_ms)
{
    const struct observability_profile *profile = &stack->spec.observability_profile;
    struct arena *arena = arena_create(0);
    struct wish renewed = { .arena = arena,
                            .releases = wanteds_new(arena, cluster->releases.count),
                            .dashboards = str_list_new(arena, profile->dashboards.count),
                            .dropped = str_list_new(arena, 0),
                            .interval_ms = interval_of(stack),
                            .sampling_ratio = profile->tracing.enabled
                                                  ? str_dup(arena, profile->tracing.sampling_ratio)
                                                  : STR(""),
                            .alerts = profile->alerts == TOGGLE_ENABLED,
                            .paused = stack->spec.paused };

    add_releases(&renewed, wish, stack, &cluster->releases, now_ms);
    if (cluster->targeted)
        add_all(&renewed.dashboards, &profile->dashboards);
    add_all(&renewed.dropped, &wish->dropped);
    add_all(&renewed.dropped, &wish->dashboards);
    return replace(wish, &renewed);
}

bool wish_end(struct wish *wish, const struct stack *stack)
{
    struct arena *arena = arena_create(0);
    struct wish ended = { .arena = arena,
                          .releases = wanteds_new(arena, 0),
                          .dashboards = str_list_new(arena, 0),
                          .dropped = str_list_new(arena, 0),
                          .interval_ms = LIMIT_METRICS_INTERVAL_MAX,
                          .paused = stack->spec.paused,
                          .over = true,
                          .removing = wish->over && wish->removing,
                          .removed = wish->over ? wish->removed : 0 };

    add_all(&ended.dropped, &wish->dropped);
    add_all(&ended.dropped, &wish->dashboards);
    add_all(&ended.dropped, &stack->spec.observability_profile.dashboards);
    return replace(wish, &ended);
}

void wish_note_begin(struct wish *wish)
{
    wish->removing = wish->over;
}

void wish_note_end(struct wish *wish)
{
    wish->removed += wish->removing;
    wish->removing = false;
}

bool wish_holds(const struct wish *wish)
{
    return wish->over && !wish->paused && wish->removed < REMOVAL_ROUNDS;
}

bool wish_is_over(const struct wish *wish)
{
    return wish->over;
}

bool wish_is_paused(const struct wish *wish)
{
    return wish->paused;
}

int64_t wish_interval_ms(const struct wish *wish)
{
    return wish->interval_ms;
}

void wish_add_namespaces(const struct wish *wish, struct str_list *namespaces)
{
    for (uint32_t i = 0; i < wish->releases.count; i++)
        release_namespaces(wish->releases.items[i].workloads, namespaces);
}

static struct str dashboard_name(struct arena *arena, struct str uid)
{
    return str_fmt(arena, MONITORING_DASHBOARD_PREFIX "%.*s", STR_ARG(uid));
}

static void add_names(struct str_list *names, const struct str_list *uids)
{
    for (uint32_t i = 0; i < uids->count; i++)
        str_list_push(names, dashboard_name(names->arena, uids->items[i]));
}

/* What outlives the wish as it is now. */
static struct monitored_release release_of(struct arena *arena, const struct wanted *one,
                                           struct str key)
{
    return (struct monitored_release){
        key,
        str_dup(arena, one->namespace_),
        str_dup(arena, one->name),
        str_dup(arena, one->app_uid),
        str_dup(arena, one->workloads),
    };
}

static void add_releases_upkeep(const struct wish *wish, struct str key,
                                const struct wire_prometheus *prometheus, struct upkeep *upkeep)
{
    struct arena *arena = upkeep->rules.arena;
    struct json own = { NULL, 0 };
    struct selection_fit fit;
    struct error ignored;

    (void)json_read(arena, STR(MONITORING_RULE_LABELS), &json_limits_default, &own, &ignored);
    fit = selection_fit(arena, &prometheus->rules, "rule", own);
    for (uint32_t i = 0; i < wish->releases.count; i++) {
        const struct wanted *one = &wish->releases.items[i];
        struct monitored_release release = release_of(arena, one, key);

        upkeep_releases_push(&upkeep->releases,
                             (struct upkeep_release){ release, wish->interval_ms, one->ready });
        if (wish->alerts)
            upkeep_objects_push(
                &upkeep->rules,
                (struct upkeep_object){
                    release.namespace_,
                    str_fmt(arena, MONITORING_RULE_PREFIX "%.*s", STR_ARG(one->name)),
                    monitoring_rule(arena, &release, fit.labels), key });
    }
}

static bool has_name(const struct upkeep_objects *objects, struct str name)
{
    for (uint32_t i = 0; i < objects->count; i++)
        if (str_eq(objects->items[i].name, name))
            return true;
    return false;
}

static void add_dashboards(const struct wish *wish, struct str namespace_, struct upkeep *upkeep)
{
    struct arena *arena = upkeep->dashboards.arena;

    for (uint32_t i = 0; i < wish->dashboards.count; i++) {
        struct str uid = wish->dashboards.items[i];
        struct str name = dashboard_name(arena, uid);
        struct str body = monitoring_dashboard(arena, uid, namespace_);

        if (body.len && !has_name(&upkeep->dashboards, name))
            upkeep_objects_push(&upkeep->dashboards,
                                (struct upkeep_object){ namespace_, name, body, STR("") });
    }
}

static void add_traces(const struct wish *wish, struct str key, struct upkeep *upkeep)
{
    struct arena *arena = upkeep->traces.arena;
    struct str ratio = str_dup(arena, wish->sampling_ratio);

    for (uint32_t i = 0; ratio.len && i < wish->releases.count; i++)
        upkeep_traces_push(&upkeep->traces,
                           (struct upkeep_trace){ release_of(arena, &wish->releases.items[i], key),
                                                  ratio, wish->paused });
}

void wish_add_upkeep(const struct wish *wish, struct str key,
                     const struct wire_prometheus *prometheus, struct upkeep *upkeep)
{
    struct str own_key = str_dup(upkeep->rules.arena, key);

    add_traces(wish, own_key, upkeep);
    if (wish->paused) {
        add_names(&upkeep->kept, &wish->dashboards);
        return;
    }
    set_add(upkeep->stacks, own_key);
    if (!prometheus)
        return;
    add_releases_upkeep(wish, own_key, prometheus, upkeep);
    add_dashboards(wish, wire_dashboards_namespace(prometheus), upkeep);
    add_names(&upkeep->dropped, &wish->dropped);
}

void wish_add_monitors(const struct wish *wish, struct str key, struct str cluster,
                       struct monitors_wanted *wanted)
{
    struct arena *arena = wanted->owners.arena;
    struct str own_key = str_dup(arena, key);

    if (wish->over)
        return;
    str_list_push(wish->paused ? &wanted->kept : &wanted->owners,
                  suse_monitors_prefix(arena, cluster, own_key));
    for (uint32_t i = 0; wish->alerts && !wish->paused && i < wish->releases.count; i++) {
        struct monitored_release release = release_of(arena, &wish->releases.items[i], own_key);

        suse_monitors_add(&wanted->monitors, cluster, &release);
    }
}

uint32_t wish_count_dashboards(const struct wish *wish, const struct str_list *in_place)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    uint32_t count = 0;

    for (uint32_t i = 0; i < wish->dashboards.count; i++)
        count += str_list_has(in_place, dashboard_name(arena, wish->dashboards.items[i]));
    return count;
}

bool wish_count_traces(const struct wish *wish, const struct traces_found *traces,
                       struct observed_monitoring *monitoring)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct map *by_release = map_new(arena, traces->releases.count);

    if (!wish->sampling_ratio.len)
        return false;
    monitoring->counts_traces = traces->counted || !traces->has_operator;
    for (uint32_t i = 0; i < traces->releases.count; i++)
        map_put(by_release, traces->releases.items[i].release, &traces->releases.items[i]);
    for (uint32_t i = 0; i < wish->releases.count; i++) {
        const struct wanted *one = &wish->releases.items[i];
        const struct traced_release *traced =
            map_get(by_release, kube_key(arena, one->namespace_, one->name));

        if (!traced)
            continue;
        monitoring->traced++;
        monitoring->arriving += traced->arrives;
        if (!traced->arrives && !monitoring->untraced.len)
            monitoring->untraced = one->name;
    }
    return true;
}

bool wish_knows_dashboard(const struct wish *wish, struct str name)
{
    static const struct str prefix = STR_INIT(MONITORING_DASHBOARD_PREFIX);
    struct str uid = str_starts(name, prefix) ? str_slice(name, prefix.len, name.len) : STR("");

    return str_list_has(&wish->dashboards, uid) || str_list_has(&wish->dropped, uid);
}

static struct observed_metrics missing(enum metrics_state state, struct str reason,
                                       struct str message)
{
    return (struct observed_metrics){ .state = state, .reason = reason, .message = message };
}

/* Of what has no target. What had some once, or had the time to get some, misses them. */
static void explain_missing(struct observed_metrics *metrics, struct wanted *one,
                            const struct monitor_finding *finding, int64_t now_ms)
{
    enum monitor_state state = finding ? finding->state : MONITOR_UNDECIDED;
    bool made = state == MONITOR_MADE;
    int64_t since_ms = one->ready_ms;

    if (made && !one->monitored_ms)
        one->monitored_ms = now_ms;
    if (made && one->monitored_ms > since_ms)
        since_ms = one->monitored_ms;
    if (made && finding->message.len)
        *metrics = missing(METRICS_INACTIVE, REASON(MONITORS_NOT_SELECTED), finding->message);
    else if (state == MONITOR_NOTHING && !one->collected)
        *metrics = missing(METRICS_UNKNOWN, REASON(NO_METRICS_ENDPOINT), finding->message);
    else if (one->collected || now_ms - since_ms >= LIMIT_METRICS_APPEAR)
        metrics->state = METRICS_INACTIVE;
    if (metrics->state != METRICS_INACTIVE || metrics->reason.len || one->collected)
        return;
    if (made)
        *metrics = missing(METRICS_INACTIVE, REASON(MONITOR_WITHOUT_TARGETS),
                           STR("Prometheus scrapes nothing by the monitor that Herd made of it"));
    else if (state == MONITOR_REFUSED)
        metrics->message = finding->message;
}

static struct observed_metrics metrics_now(struct wanted *one, struct arena *arena,
                                           const struct monitor_finding *finding,
                                           const struct sample_index *samples, int64_t now_ms)
{
    struct observed_metrics metrics = { .state = METRICS_UNKNOWN };

    if (!samples)
        return metrics;
    metrics = wire_metrics_of(arena, samples, one->namespace_, one->workloads);
    if (metrics.state != METRICS_PENDING)
        one->collected = true;
    else
        explain_missing(&metrics, one, finding, now_ms);
    return metrics;
}

static bool differs(const struct observed_metrics *a, const struct observed_metrics *b)
{
    double change = a->gpu_percent - b->gpu_percent;

    return a->state != b->state || a->has_gpus != b->has_gpus || !str_eq(a->message, b->message) ||
           !str_eq(a->reason, b->reason) || change >= GPU_CHANGE_PERCENT ||
           change <= -GPU_CHANGE_PERCENT;
}

static bool settle_metrics(struct wish *wish, struct map *findings,
                           const struct sample_index *samples, int64_t now_ms)
{
    bool changed = false;

    for (uint32_t i = 0; i < wish->releases.count; i++) {
        struct wanted *one = &wish->releases.items[i];
        AUTO(arena_free) struct arena *scratch = arena_create(0);
        const struct monitor_finding *finding =
            map_get(findings, kube_key(scratch, one->namespace_, one->name));
        struct observed_metrics now = metrics_now(one, scratch, finding, samples, now_ms);

        if (!differs(&now, &one->metrics))
            continue;
        one->metrics = now;
        one->metrics.message = str_dup(wish->arena, now.message);
        changed = true;
    }
    return changed;
}

static bool wants_rules(const struct wish *wish)
{
    return wish->alerts && !wish->paused;
}

/* Rules that are selected take as long as targets to appear; and again, once they were gone. */
static void note_loaded(struct wish *wish, const struct set *loaded, struct str key, int64_t now_ms)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);

    for (uint32_t i = 0; i < wish->releases.count; i++) {
        struct wanted *one = &wish->releases.items[i];
        bool is_loaded = set_has(*loaded, wire_rules_release(scratch, key, one->name));
        bool lost = one->rule_loaded && !is_loaded && wants_rules(wish);

        if (!one->rule_ms || lost)
            one->rule_ms = now_ms;
        one->rule_loaded = is_loaded;
        wish->lost_rules = wish->lost_rules || lost;
    }
}

static struct str rules_trouble(const struct wish *wish, struct arena *arena, struct str key,
                                const struct known *known, int64_t now_ms)
{
    for (uint32_t i = 0; i < known->unselected.count; i++)
        if (str_eq(known->unselected.items[i].stack, key))
            return known->unselected.items[i].message;
    if (known_refuses(known, wish, key))
        return STR("");
    for (uint32_t i = 0; i < wish->releases.count; i++) {
        const struct wanted *one = &wish->releases.items[i];

        if (!one->rule_loaded && now_ms - one->rule_ms >= LIMIT_METRICS_APPEAR)
            return str_fmt(arena,
                           "Prometheus %.*s/%.*s has not loaded PrometheusRule "
                           "%.*s/" MONITORING_RULE_PREFIX
                           "%.*s, although it has the labels of its spec.ruleSelector: see the "
                           "log of the Prometheus operator",
                           STR_ARG(known->prometheus.namespace_), STR_ARG(known->prometheus.name),
                           STR_ARG(one->namespace_), STR_ARG(one->name));
    }
    return STR("");
}

static bool settle_rules(struct wish *wish, struct str key, const struct known *known,
                         int64_t now_ms)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct str trouble = STR("");
    struct set loaded;

    wish->lost_rules = false;
    if (!known->counts_alerts)
        return false;
    loaded = set_of(scratch, &known->rules.releases);
    note_loaded(wish, &loaded, key, now_ms);
    if (wants_rules(wish))
        trouble = rules_trouble(wish, scratch, key, known, now_ms);
    if (str_eq(trouble, wish->rules_trouble))
        return false;
    wish->rules_trouble = str_dup(wish->arena, trouble);
    return true;
}

bool wish_settle(struct wish *wish, struct str key, const struct known *known,
                 const struct sample_index *samples, int64_t now_ms)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct map *findings = map_new(scratch, known->monitors.count);
    bool rules_changed = settle_rules(wish, key, known, now_ms);

    for (uint32_t i = 0; i < known->monitors.count; i++)
        map_put(findings, known->monitors.items[i].release, &known->monitors.items[i]);
    return settle_metrics(wish, findings, samples, now_ms) || rules_changed;
}

bool wish_lost_rules(const struct wish *wish)
{
    return wish->lost_rules;
}

struct str wish_rules_trouble(const struct wish *wish)
{
    return wish->rules_trouble;
}

void wish_tell(const struct wish *wish, struct arena *arena, struct observed_releases *releases)
{
    for (uint32_t i = 0; i < releases->count; i++) {
        const struct wanted *one = find(wish, &releases->items[i]);

        if (!one)
            continue;
        releases->items[i].metrics = one->metrics;
        releases->items[i].metrics.message = str_dup(arena, one->metrics.message);
    }
}
