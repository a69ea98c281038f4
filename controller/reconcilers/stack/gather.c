/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c: validate the Stack again, pick its clusters, say what it wants to hear of, read that:
 * stages, most of which take one cluster at a time. */
#include "controller/reconcilers/stack/gather.h"

#include "base/set.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "controller/reconcilers/stack/access_gate.h"
#include "controller/reconcilers/stack/values.h"
#include "controller/limits.h"

#include <stdlib.h>

/* One gathering at work. */
struct gathering {
    const struct gather_sources *sources;
    uint32_t stage;
    uint32_t next; /* cluster of a stage that takes them one at a time */
    struct arena *arena;
    struct gathered *to;
    struct str key;
    int64_t now_ms;
    int64_t now_wall_ms;
    bool deleting;
    struct str_list cluster_ids;  /* sorted, each once */
    struct template_facts *facts; /* of each */
    struct set targeted;          /* ids that the Stack names or selects */
    struct set asked;             /* ids where something was asked for, by the status */
    struct releases *releases;    /* as far as they are known without reading references */
    struct values_reader reader;
    struct others others;
    struct backend_question question;
};

static int validate(struct gathering *g, const struct kube_object *object, struct error *err)
{
    const struct configuration *configuration = g->sources->configuration;
    struct policies *policies = g->sources->policies;
    struct facts facts = policies ? *policies_facts(policies) : (struct facts){ .policies = NULL };
    struct rule_severities severities = rule_severities_at_most_default(&configuration->severities);
    struct json none = { NULL, 0 };
    struct json root;

    if (kept_stack_read(g->arena, kube_object_kept(object), &root, err) < 0)
        return -1;
    facts.stored = true;
    facts.plain_http_allowed = configuration->plain_http_allowed;
    facts.repo_hosts_allowed = &configuration->repo_hosts;
    facts.policies = policies ? policies_set(policies) : NULL;
    g->to->verdict = stack_admit(g->arena, root, none, &facts, &severities);
    g->to->stack = g->to->verdict.stack;
    g->to->before = stack_status_read(g->arena, g->to->stack->status_json);
    g->deleting = g->to->stack->meta.deletion_timestamp.len != 0;
    g->others = others_of(&g->sources->others, g->arena, g->key, g->to->stack);
    return 0;
}

/* Clusters. */

static void pick(struct gathering *g, struct str id, bool targeted)
{
    if (targeted)
        set_add(g->targeted, id);
    str_list_push(&g->cluster_ids, id);
}

static void pick_targets(struct gathering *g)
{
    const struct stack_targets *targets = &g->to->stack->spec.targets;
    const struct listed_cluster *cluster;

    for (uint32_t i = 0; i < targets->cluster_ids.count; i++)
        pick(g, targets->cluster_ids.items[i], true);
    if (label_selector_is_empty(&targets->selector))
        return;

    struct selector selector = label_selector_compile(g->arena, &targets->selector);

    if (selector.all.count == 0)
        return;
    for (size_t cursor = 0; clusters_next(g->sources->clusters, &cursor, &cluster);)
        /* Rancher's own cluster is never meant by labels. */
        if (!cluster->internal &&
            selector_matches_labels(&selector, cluster->label_list, cluster->label_count))
            pick(g, str_dup(g->arena, cluster->id), true);
}

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void pick_clusters(struct gathering *g)
{
    const struct stack_status *before = &g->to->before;

    g->cluster_ids = str_list_new(g->arena, 16);
    g->targeted = set_new(g->arena, 16);
    g->asked = set_new(g->arena, 16);
    /* Targets of a Stack that cannot be applied mean nothing; what it has is looked at. */
    if (g->to->verdict.problems.denied == 0 && !author_is_missing(&g->to->stack->meta))
        pick_targets(g);
    for (uint32_t i = 0; i < before->target_clusters.count; i++)
        pick(g, before->target_clusters.items[i], false);
    /* Also those of each entry that asked for something. */
    for (uint32_t i = 0; i < before->held_clusters.count; i++)
        pick(g, before->held_clusters.items[i], false);
    for (uint32_t i = 0; i < before->deployments.count; i++) {
        pick(g, before->deployments.items[i].cluster_id, false);
        if (before->deployments.items[i].requested_ms)
            set_add(g->asked, before->deployments.items[i].cluster_id);
    }

    struct str_list *ids = &g->cluster_ids;
    uint32_t kept = 0;

    if (ids->count)
        qsort(ids->items, ids->count, sizeof(*ids->items), compare_ids);
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->items[i].len && (kept == 0 || !str_eq(ids->items[kept - 1], ids->items[i])))
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

static struct json read_labels(struct gathering *g, struct str labels)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root = { NULL, 0 };

    json_read(g->arena, str_dup(g->arena, labels), &json_limits_default, &root, &ignored);
    return root;
}

static void find_facts(struct gathering *g, uint32_t cluster)
{
    struct template_facts *facts = &g->facts[cluster];
    const struct listed_cluster *known =
        clusters_get(g->sources->clusters, g->cluster_ids.items[cluster]);

    facts->id = facts->name = g->cluster_ids.items[cluster];
    if (!known)
        return;
    if (known->display_name.len)
        facts->name = str_dup(g->arena, known->display_name);
    facts->labels = read_labels(g, known->labels);
}

/* What is asked of each cluster. */

static void ask_release(struct gathering *g, struct set seen, struct str namespace_,
                        struct str name)
{
    struct str key = kube_key(g->arena, namespace_, name);

    if (set_add(seen, key))
        str_list_push(&g->question.releases, key);
}

static void ask_version(struct gathering *g, struct str repo, const struct chart *chart,
                        struct str version)
{
    struct observed_versions *versions = &g->question.versions;
    struct observed_version asked = { .repo = repo,
                                      .chart = chart_in_repo(chart),
                                      .version = version };

    if (version.len == 0)
        return;
    for (uint32_t i = 0; i < versions->count; i++)
        if (str_eq(versions->items[i].repo, repo) &&
            str_eq(versions->items[i].chart, asked.chart) &&
            str_eq(versions->items[i].version, version))
            return;
    observed_versions_push(versions, asked);
}

static void ask_overridden(struct gathering *g, struct str repo, const struct chart *chart)
{
    const struct stack_overrides *overrides = &g->to->stack->spec.overrides;

    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct chart_overrides *charts = &overrides->items[i].charts;

        for (uint32_t k = 0; k < charts->count; k++)
            if (str_eq(charts->items[k].name, chart->name))
                ask_version(g, repo, chart, charts->items[k].version);
    }
}

static void make_question(struct gathering *g)
{
    const struct charts *charts = &g->to->stack->spec.charts;
    const struct release_states *before = &g->to->before.deployments;
    struct set seen = set_new(g->arena, charts->count + 8);

    g->question = (struct backend_question){
        .stack = g->key,
        .releases = str_list_new(g->arena, charts->count),
        .repos = str_list_new(g->arena, charts->count),
        .versions = observed_versions_new(g->arena, charts->count),
    };
    for (uint32_t i = 0; i < charts->count; i++) {
        const struct chart *chart = &charts->items[i];
        struct str repo = release_repo_url(chart->repo);

        ask_release(g, seen, chart->namespace_, chart->release_name);
        if (!str_list_has(&g->question.repos, repo))
            str_list_push(&g->question.repos, repo);
        ask_version(g, repo, chart, chart->version);
        ask_overridden(g, repo, chart);
    }
    for (uint32_t i = 0; i < before->count; i++)
        ask_release(g, seen, before->items[i].namespace_, before->items[i].release_name);
}

/* What the Stack wants to hear of. */

static void want(struct gathering *g, struct tracked_objects *tracked_objects,
                 enum tracked_kind kind, struct str name)
{
    tracked_objects_push(
        tracked_objects,
        (struct tracked){ kind, kube_key(g->arena, g->to->stack->meta.namespace_, name) });
}

static struct observed_references references_on(struct gathering *g, uint32_t cluster)
{
    struct u32_list on = releases_overrides(g->releases, &g->facts[cluster]);

    return releases_references(g->releases, &on, &g->facts[cluster]);
}

/* To go, a Stack needs no values. */
static void want_references(struct gathering *g, uint32_t cluster)
{
    struct observed_references wanted;

    if (g->deleting)
        return;
    wanted = references_on(g, cluster);
    values_want(&g->reader, &wanted);
}

static void say_interest(struct gathering *g)
{
    const struct stack_spec *spec = &g->to->stack->spec;
    struct tracked_objects tracked_objects = tracked_objects_new(g->arena, 16);
    struct str dependent;

    for (uint32_t i = 0; i < g->cluster_ids.count; i++)
        tracked_objects_push(&tracked_objects,
                             (struct tracked){ TRACKED_CLUSTER, g->cluster_ids.items[i] });
    for (uint32_t i = 0; i < g->question.releases.count; i++)
        tracked_objects_push(&tracked_objects,
                             (struct tracked){ TRACKED_RELEASE, g->question.releases.items[i] });
    /* To go, a Stack does not need those it once waited for. */
    for (uint32_t i = 0; !g->deleting && i < spec->depends_on.count; i++)
        want(g, &tracked_objects, TRACKED_STACK, spec->depends_on.items[i].name);
    /* But those that need it go first. */
    for (uint32_t i = 0;
         g->deleting && multimap_at(g->sources->others.dependents, g->key, i, &dependent); i++)
        tracked_objects_push(&tracked_objects,
                             (struct tracked){ TRACKED_STACK, str_dup(g->arena, dependent) });
    for (uint32_t i = 0; i < g->reader.found.count; i++) {
        const struct observed_reference *one = &g->reader.found.items[i];

        want(g, &tracked_objects, one->secret ? TRACKED_SECRET : TRACKED_CONFIG_MAP, one->name);
    }
    dependency_tracker_set(g->sources->tracker, g->key, &tracked_objects);
}

/* Reading. */

static void look_again(struct gathering *g, int64_t at_ms)
{
    int64_t after_ms = at_ms > g->now_ms ? at_ms - g->now_ms : 0;

    if (at_ms >= 0 && (g->to->look_again_ms < 0 || after_ms < g->to->look_again_ms))
        g->to->look_again_ms = after_ms;
}

static bool is_held(const struct gathering *g, struct str id)
{
    const struct str_list *held = &g->to->before.held_clusters;

    return held->count && bsearch(&id, held->items, held->count, sizeof(id), compare_ids);
}

/* Until what the leader before asked for cannot take effect any more. */
static void observe_inherited(struct gathering *g, struct observed_cluster *cluster)
{
    for (uint32_t i = 0; i < g->question.releases.count; i++) {
        struct str release = g->question.releases.items[i];
        struct str stack =
            inherited_by(g->sources->inherited, g->arena, cluster->id, release, g->now_ms);

        if (stack.len && !str_eq(stack, g->key))
            observed_operations_push(&cluster->operations,
                                     capacity_claimed_operation(g->arena, release, stack));
    }
}

static void observe_running(struct gathering *g, struct observed_cluster *cluster)
{
    const struct observer *const *observers = g->sources->observers;

    for (; *observers; observers++)
        (*observers)
            ->observe((*observers)->context, cluster->id, g->arena, g->key, g->to->stack, g->now_ms,
                      cluster);
}

/* Without a time: it is written once. */
static struct str stale_message(struct gathering *g, const struct connection *connection)
{
    struct str trouble = connection_trouble(connection, g->arena);

    return str_fmt(g->arena,
                   "no data was received from it for %d s, so nothing is changed there%s%.*s",
                   LIMIT_CLUSTER_DEAD_TIME / 1000, trouble.len ? ": " : "", STR_ARG(trouble));
}

static struct str nearest_cluster(struct gathering *g, struct str id)
{
    struct facts facts = { .clusters_known = true, .clusters = fact_clusters_new(g->arena, 16) };
    const struct listed_cluster *cluster;

    for (size_t cursor = 0; clusters_next(g->sources->clusters, &cursor, &cluster);)
        if (!cluster->internal)
            fact_clusters_push(
                &facts.clusters,
                (struct fact_cluster){ .id = cluster->id, .display_name = cluster->display_name });
    return str_dup(g->arena, facts_nearest_cluster(&facts, id));
}

/* The status says by the clock of the leader before when that asked for something: so not before
 * this one leads. */
static int64_t resumed_wall_ms(const struct gathering *g, const struct connection *connection)
{
    int64_t resumed_ms = connection_resumed_ms(connection);

    if (resumed_ms < g->sources->led_ms)
        resumed_ms = g->sources->led_ms;
    return g->now_wall_ms - (g->now_ms - resumed_ms);
}

static struct observed_cluster observe_cluster(struct gathering *g,
                                               const struct template_facts *facts)
{
    const struct backend *backend = g->sources->backend;
    struct str id = facts->id;
    const struct listed_cluster *known = clusters_get(g->sources->clusters, id);
    const struct connection *connection = clusters_connection(g->sources->clusters, id);
    struct observed_cluster cluster = {
        .id = id,
        .display_name = facts->name,
        .labels = facts->labels,
        .targeted = set_has(g->targeted, id),
        .state = CLUSTER_NOT_SYNCED,
        .message = STR("its Apps are being listed"),
    };

    if (!known && clusters_is_gone(g->sources->clusters, id)) {
        cluster.state = CLUSTER_GONE;
        cluster.message = STR("Rancher has no such cluster");
        cluster.nearest = nearest_cluster(g, id);
        return cluster;
    }
    if (!known) {
        cluster.message = str_dup(g->arena, clusters_missing_message(g->sources->clusters, id));
        return cluster;
    }
    cluster.local = known->internal;
    if (!known->usable) {
        cluster.state = CLUSTER_DISCONNECTED;
        cluster.message = str_dup(g->arena, known->message);
    } else if (connection && connection_is_stale(connection, g->now_ms)) {
        cluster.state = CLUSTER_STALE;
        cluster.message = stale_message(g, connection);
    } else if (connection && connection_is_read(connection)) {
        cluster.state = CLUSTER_READ;
        cluster.message = STR("");
        cluster.resumed_ms = resumed_wall_ms(g, connection);
        /* Who uses a repository is known only to who knows all Stacks. */
        g->question.leaves = g->sources->all_stacks && (g->deleting || !cluster.targeted);
        g->question.asked = set_has(g->asked, id) || g->deleting || !cluster.targeted;
        look_again(
            g, backend->observe(backend->context, id, g->arena, &g->question, g->now_ms, &cluster));
        if (cluster.state == CLUSTER_NOT_SYNCED) {
            g->to->settling = g->to->settling || cluster.listing_briefly;
            return cluster;
        }
        observe_running(g, &cluster);
        observe_inherited(g, &cluster);
        others_observe_owners(&g->others, &cluster);
        others_leave_wanted_repos(&g->others, known, &cluster.leftovers);
    } else if (!connection || connection_is_starting(connection, g->now_ms)) {
        /* It is, or will be opened in a moment (stack.c). One where nothing of the Stack is has
         * nothing to wait for: the others go on. */
        g->to->settling = g->to->settling || is_held(g, id);
    } else {
        struct str trouble = connection_trouble(connection, g->arena);

        if (trouble.len)
            cluster.message = trouble;
    }
    return cluster;
}

static struct access_gate access_gate_of(const struct gathering *g)
{
    const struct rule_severities *severities = &g->sources->configuration->severities;

    return (struct access_gate){
        .arena = g->arena,
        .access_cache = g->sources->access_cache,
        .stack = g->to->stack,
        .key = g->key,
        .now_ms = g->now_ms,
        .asks_clusters = severities->of[RULE_WHO_ACCESS] == SEVERITY_DENY,
        .asks_references = severities->of[RULE_WHO_REFERENCES] == SEVERITY_DENY,
    };
}

/* Where nothing may be installed or upgraded, because of who applied the Stack. */
static void check_access(struct gathering *g)
{
    const struct access_gate gate = access_gate_of(g);

    if (g->to->observed.clusters_known && g->sources->access_cache && !g->deleting)
        look_again(g, access_gate_check(&gate, &g->to->observed.clusters));
}

void gather_ask_access(const struct gather_sources *sources, struct arena *arena, struct str key,
                       int64_t now_ms, const struct str_list *cluster_ids,
                       struct gathered *gathered)
{
    struct gathering g = {
        .sources = sources,
        .arena = arena,
        .to = gathered,
        .key = key,
        .now_ms = now_ms,
    };
    const struct access_gate gate = access_gate_of(&g);

    look_again(&g, access_gate_ask(&gate, cluster_ids));
}

/* Values may stand in what Helm says, which is where they are hidden: a Stack that goes reads none,
 * and of its releases the plan shows nothing that could hold one. */
static void hide_secrets(struct gathering *g, uint32_t i)
{
    struct observed_clusters *clusters = &g->to->observed.clusters;
    struct observed_references of;

    if (g->deleting || i >= clusters->count || !redaction_is_needed(&clusters->items[i]))
        return;
    of = references_on(g, i);
    redaction_hide(values_mask(&g->reader, &of), g->arena, g->to->stack->meta.uid,
                   &clusters->items[i]);
}

static void read_values(struct gathering *g)
{
    values_read(&g->reader);
    g->to->observed.references = g->reader.found;
    g->to->settling = g->to->settling || g->reader.settling;
}

/* --- stages --- */

static void begin_clusters(struct gathering *g)
{
    g->facts = arena_array(g->arena, struct template_facts, g->cluster_ids.count);
    g->releases = releases_new(g->arena, g->to->stack, NULL);
    g->reader = values_reader(g->arena, g->sources->references, g->to->stack->meta.namespace_);
}

static void begin_observing(struct gathering *g)
{
    struct observed *observed = &g->to->observed;

    *observed = (struct observed){
        .now_ms = g->now_wall_ms,
        .clusters_known = clusters_is_listed(g->sources->clusters),
        .clusters = observed_clusters_new(g->arena, g->cluster_ids.count),
        .before = &g->to->before,
        .problems = &g->to->verdict.problems,
        .settle_ms = g->sources->settle_ms,
        .cluster_operations_max = g->sources->cluster_operations_max,
        .rancher_trouble_reason = g->sources->rancher_trouble_reason,
        .rancher_trouble_message = g->sources->rancher_trouble_message,
    };
    if (!observed->clusters_known)
        g->to->settling = !clusters_is_troubled(g->sources->clusters);
}

static void observe_next(struct gathering *g, uint32_t i)
{
    struct observed *observed = &g->to->observed;

    if (observed->clusters_known)
        observed_clusters_push(&observed->clusters, observe_cluster(g, &g->facts[i]));
}

static void observe_stacks(struct gathering *g)
{
    others_observe_awaited(&g->others, &g->to->observed.stacks);
    others_observe_dependents(&g->others, &g->to->observed.dependents);
}

/* One or the other. */
static const struct {
    void (*whole)(struct gathering *g);
    void (*each)(struct gathering *g, uint32_t cluster);
} stages[] = {
    { .whole = pick_clusters },   { .whole = begin_clusters }, { .each = find_facts },
    { .each = want_references },  { .whole = make_question },  { .whole = say_interest },
    { .whole = begin_observing }, { .each = observe_next },    { .whole = check_access },
    { .whole = read_values },     { .each = hide_secrets },    { .whole = observe_stacks },
};

static void go_on(struct gathering *g)
{
    if (stages[g->stage].whole)
        stages[g->stage].whole(g);
    else if (g->next < g->cluster_ids.count)
        stages[g->stage].each(g, g->next++);
    if (stages[g->stage].whole || g->next == g->cluster_ids.count) {
        g->stage++;
        g->next = 0;
    }
}

bool gather_some(struct gathering *g, const struct clock *clock, int64_t until_ms)
{
    while (g->stage < sizeof(stages) / sizeof(stages[0])) {
        if (clock_monotonic_ms(clock) >= until_ms)
            return false;
        go_on(g);
    }
    return true;
}

struct gathering *gather_begin(const struct gather_sources *sources, struct arena *arena,
                               const struct kube_object *object, int64_t now_wall_ms,
                               int64_t now_ms, struct gathered *ret_gathered, struct error *err)
{
    struct gathering *g = arena_new(arena, struct gathering);

    *g = (struct gathering){
        .sources = sources,
        .arena = arena,
        .to = ret_gathered,
        .key = kube_object_key(object),
        .now_ms = now_ms,
        .now_wall_ms = now_wall_ms,
    };
    ret_gathered->look_again_ms = -1;
    ret_gathered->settling = false;
    return validate(g, object, err) < 0 ? NULL : g;
}
