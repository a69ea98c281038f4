/* gather.c: judge the Stack again, pick its clusters, say what it wants to hear of, read that. */
#include "controller/reconcile/gather.h"

#include "base/limits.h"
#include "base/map.h"
#include "controller/reconcile/kept_stack.h"
#include "controller/reconcile/shut.h"
#include "controller/reconcile/values.h"

#include <stdlib.h>

/* One gathering at work. */
struct gathering {
    const struct gather_sources *sources;
    struct arena *arena;
    struct gathered *to;
    struct str key;
    int64_t now_ms;
    bool deleting;
    struct str_list cluster_ids; /* sorted, each once */
    struct map *targeted;        /* ids that the Stack names or selects */
    struct cluster_question question;
};

static int judge(struct gathering *g, const struct kube_object *object, struct error *err)
{
    const struct configuration *configuration = g->sources->configuration;
    struct facts facts = { .plain_http_allowed = configuration->plain_http_allowed };
    struct rule_severities severities =
        rule_severities_at_most_default(&configuration->severities);
    struct json none = { NULL, 0 };
    struct json root;

    if (json_read(g->arena, kept_stack_object(g->arena, kube_object_kept(object)),
                  &json_limits_default, &root, err) < 0)
        return -1;
    g->to->verdict = stack_judge(g->arena, root, none, &facts, &severities);
    g->to->stack = g->to->verdict.stack;
    g->to->before = stack_status_read(g->arena, g->to->stack->status_json);
    g->to->admitted = stack_admitted(g->arena, receipts_mode(g->sources->receipts),
                                     receipts_key(g->sources->receipts), g->to->stack,
                                     &g->to->before);
    g->deleting = g->to->stack->meta.deletion_timestamp.len != 0;
    return 0;
}

/* Clusters. */

static void pick(struct gathering *g, struct str id, bool targeted)
{
    static char mark;

    if (targeted)
        map_put(g->targeted, id, &mark);
    str_list_push(&g->cluster_ids, id);
}

static void pick_targets(struct gathering *g)
{
    const struct stack_targets *targets = &g->to->stack->spec.targets;
    const struct estate_cluster *cluster;

    for (uint32_t i = 0; i < targets->cluster_ids.count; i++)
        pick(g, targets->cluster_ids.items[i], true);
    if (label_selector_is_empty(&targets->selector))
        return;

    struct selector selector = label_selector_compile(g->arena, &targets->selector);

    if (selector.all.count == 0)
        return;
    for (size_t cursor = 0; estate_next(g->sources->estate, &cursor, &cluster);)
        /* Rancher's own cluster is never meant by labels. */
        if (!cluster->internal &&
            selector_matches_pairs(&selector, cluster->pairs, cluster->pair_count))
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
    g->targeted = map_new(g->arena, 16);
    /* Targets of a Stack that cannot be carried out mean nothing; what it has is looked at. */
    if (g->to->verdict.problems.denied == 0 && !g->to->admitted.held)
        pick_targets(g);
    for (uint32_t i = 0; i < before->target_clusters.count; i++)
        pick(g, before->target_clusters.items[i], false);
    /* Also those of each entry that asked for something. */
    for (uint32_t i = 0; i < before->held_clusters.count; i++)
        pick(g, before->held_clusters.items[i], false);
    for (uint32_t i = 0; i < before->deployments.count; i++)
        pick(g, before->deployments.items[i].cluster_id, false);

    struct str_list *ids = &g->cluster_ids;
    uint32_t kept = 0;

    if (ids->count)
        qsort(ids->items, ids->count, sizeof(*ids->items), compare_ids);
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->items[i].len && (kept == 0 || !str_eq(ids->items[kept - 1], ids->items[i])))
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

/* What is asked of each cluster. */

static void ask_release(struct gathering *g, struct map *seen, struct str namespace_,
                        struct str name)
{
    static char mark;
    struct str key = kube_key(g->arena, namespace_, name);

    if (map_put(seen, key, &mark))
        str_list_push(&g->question.releases, key);
}

static void ask_version(struct gathering *g, struct str repo, const struct chart *chart,
                        struct str version)
{
    struct observed_versions *versions = &g->question.versions;
    struct observed_version asked = {
        .repo = repo, .chart = chart_in_repo(chart), .version = version
    };

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
    struct map *seen = map_new(g->arena, charts->count + 8);

    g->question = (struct cluster_question){
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

static void want(struct gathering *g, struct topics *topics, enum topic_kind kind,
                 struct str name)
{
    topics_push(topics, (struct topic){ kind, kube_key(g->arena, g->to->stack->meta.namespace_,
                                                       name) });
}

static void say_interest(struct gathering *g)
{
    const struct stack_spec *spec = &g->to->stack->spec;
    struct topics topics = topics_new(g->arena, 16);

    for (uint32_t i = 0; i < g->cluster_ids.count; i++)
        topics_push(&topics, (struct topic){ TOPIC_CLUSTER, g->cluster_ids.items[i] });
    for (uint32_t i = 0; i < g->question.releases.count; i++)
        topics_push(&topics, (struct topic){ TOPIC_RELEASE, g->question.releases.items[i] });
    /* To go, a Stack needs neither values nor those it once waited for. */
    for (uint32_t i = 0; !g->deleting && i < spec->depends_on.count; i++)
        want(g, &topics, TOPIC_STACK, spec->depends_on.items[i].name);
    for (uint32_t i = 0; !g->deleting && i < spec->charts.count; i++) {
        const struct chart_values *values = &spec->charts.items[i].values;

        for (uint32_t k = 0; k < values->config_map_refs.count; k++)
            want(g, &topics, TOPIC_CONFIG_MAP, values->config_map_refs.items[k].name);
        for (uint32_t k = 0; k < values->secret_refs.count; k++)
            want(g, &topics, TOPIC_SECRET, values->secret_refs.items[k].name);
    }
    interests_set(g->sources->interests, g->key, &topics);
}

/* Reading. */

static struct json read_labels(struct gathering *g, struct str labels)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root = { NULL, 0 };

    json_read(g->arena, str_dup(g->arena, labels), &json_limits_default, &root, &ignored);
    return root;
}

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

/* Without a time: it is written once. */
static struct str stale_message(struct gathering *g, const struct cluster *opened)
{
    struct str trouble = cluster_trouble(opened, g->arena);

    return str_fmt(g->arena, "nothing was heard of it for %d s, so nothing is done there%s%.*s",
                   LIMIT_WATCH_DEAD_TIME / 1000, trouble.len ? ": " : "", STR_ARG(trouble));
}

static struct str nearest_cluster(struct gathering *g, struct str id)
{
    struct facts facts = { .clusters_known = true, .clusters = fact_clusters_new(g->arena, 16) };
    const struct estate_cluster *cluster;

    for (size_t cursor = 0; estate_next(g->sources->estate, &cursor, &cluster);)
        if (!cluster->internal)
            fact_clusters_push(&facts.clusters,
                               (struct fact_cluster){ .id = cluster->id,
                                                      .display_name = cluster->display_name });
    return str_dup(g->arena, facts_nearest_cluster(&facts, id));
}

static struct observed_cluster observe_cluster(struct gathering *g, struct str id)
{
    const struct estate_cluster *known = estate_get(g->sources->estate, id);
    struct cluster *opened = estate_opened(g->sources->estate, id);
    struct observed_cluster cluster = {
        .id = id,
        .display_name = id,
        .targeted = map_get(g->targeted, id) != NULL,
        .state = CLUSTER_UNREAD,
        .message = STR("its Apps are being listed"),
    };

    if (!known && estate_is_gone(g->sources->estate, id)) {
        cluster.state = CLUSTER_GONE;
        cluster.message = STR("Rancher has no such cluster");
        cluster.nearest = nearest_cluster(g, id);
        return cluster;
    }
    if (!known) {
        cluster.message = str_dup(g->arena, estate_doubt(g->sources->estate, id));
        return cluster;
    }
    if (known->display_name.len)
        cluster.display_name = str_dup(g->arena, known->display_name);
    cluster.labels = read_labels(g, known->labels);
    if (!known->usable) {
        cluster.state = CLUSTER_DISCONNECTED;
        cluster.message = str_dup(g->arena, known->message);
    } else if (opened && cluster_is_stale(opened, g->now_ms)) {
        cluster.state = CLUSTER_STALE;
        cluster.message = stale_message(g, opened);
    } else if (opened && cluster_is_read(opened)) {
        cluster.state = CLUSTER_READ;
        cluster.message = STR("");
        look_again(g, cluster_observe(opened, g->arena, &g->question, g->now_ms, &cluster));
    } else if (opened && cluster_is_starting(opened, g->now_ms)) {
        /* One where nothing of the Stack is has nothing to wait for: the others go on. */
        g->to->settling = g->to->settling || is_held(g, id);
    } else if (opened) {
        struct str trouble = cluster_trouble(opened, g->arena);

        if (trouble.len)
            cluster.message = trouble;
    }
    return cluster;
}

/* Where nothing may begin, because of who applied the Stack; unless that only warns. */
static void shut_out(struct gathering *g)
{
    const struct rule_severities *severities = &g->sources->configuration->severities;
    const struct shutting shutting = {
        .arena = g->arena,
        .accesses = g->sources->accesses,
        .admitted = &g->to->admitted,
        .stack = g->to->stack,
        .key = g->key,
        .held = &g->to->before.held_clusters,
    };

    if (g->sources->accesses && !g->deleting &&
        severities->of[RULE_WHO_ACCESS] == SEVERITY_DENY)
        look_again(g, shut_clusters(&shutting, &g->to->observed.clusters));
}

static void observe_clusters(struct gathering *g)
{
    struct observed *observed = &g->to->observed;

    observed->clusters_known = estate_is_listed(g->sources->estate);
    observed->clusters = observed_clusters_new(g->arena, g->cluster_ids.count);
    if (!observed->clusters_known) {
        g->to->settling = !estate_is_troubled(g->sources->estate);
        return;
    }
    for (uint32_t i = 0; i < g->cluster_ids.count; i++)
        observed_clusters_push(&observed->clusters, observe_cluster(g, g->cluster_ids.items[i]));
    shut_out(g);
}

/* Values may stand in what Helm says, which is where they are hidden: a Stack that goes reads none,
 * and of its releases the plan shows nothing that could hold one. */
static void hide_secrets(struct gathering *g, const struct values_reader *reader)
{
    if (!g->deleting && words_are_there(&g->to->observed))
        words_hide(values_mask(reader), g->arena, g->to->stack->meta.uid, &g->to->observed);
}

static void observe_values(struct gathering *g)
{
    const struct charts *charts = &g->to->stack->spec.charts;
    struct values_reader reader = { g->arena, g->sources->references, g->to->stack, false };

    g->to->observed.values = arena_array(g->arena, struct observed_values, charts->count + 1);
    for (uint32_t i = 0; i < charts->count; i++)
        g->to->observed.values[i] = g->deleting
                                        ? (struct observed_values){ .json = STR("{}") }
                                        : values_read(&reader, &charts->items[i]);
    g->to->settling = g->to->settling || reader.settling;
    hide_secrets(g, &reader);
}

static struct observed_stack observe_stack(struct gathering *g, struct str name)
{
    struct str key = kube_key(g->arena, g->to->stack->meta.namespace_, name);
    const struct kube_object *object = kube_cache_get(g->sources->stacks, key);
    struct observed_stack stack = { .name = name,
                                    .exists = object != NULL,
                                    .depends_on = str_list_new(g->arena, 0) };
    struct error ignored = { .code = ERROR_NONE };
    struct json root;
    struct kube_meta meta;

    if (!object ||
        json_read(g->arena, kept_stack_object(g->arena, kube_object_kept(object)),
                  &json_limits_default, &root, &ignored) < 0)
        return stack;
    kube_meta_read(root, &meta);

    struct kube_conditions conditions =
        kube_conditions_read(g->arena, json_walk(root, "status", "conditions", NULL));
    const struct kube_condition *ready = kube_condition_find(&conditions, STR("Ready"));

    stack.ready = ready && ready->status == CONDITION_TRUE && meta.deletion_timestamp.len == 0 &&
                  ready->observed_generation == meta.generation;
    if (!stack.ready) {
        struct json_iter it = json_iter(json_walk(root, "spec", "dependsOn", NULL));

        while (json_next(&it))
            str_list_push(&stack.depends_on, json_str(json_get(it.value, STR("name"))));
    }
    return stack;
}

/* Those that the Stack waits for, and whom these wait for in turn, to find out whether all of them
 * wait in a circle. */
static void observe_stacks(struct gathering *g)
{
    const struct name_refs *wanted = &g->to->stack->spec.depends_on;
    struct observed_stacks *stacks = &g->to->observed.stacks;
    struct map *seen = map_new(g->arena, wanted->count + 1);
    static char mark;

    *stacks = observed_stacks_new(g->arena, wanted->count);
    map_put(seen, g->to->stack->meta.name, &mark);
    for (uint32_t i = 0; i < wanted->count; i++)
        if (map_put(seen, wanted->items[i].name, &mark) ||
            str_eq(wanted->items[i].name, g->to->stack->meta.name))
            observed_stacks_push(stacks, observe_stack(g, wanted->items[i].name));
    for (uint32_t i = 0; i < stacks->count; i++) {
        struct str_list further = stacks->items[i].depends_on;

        for (uint32_t k = 0; k < further.count && stacks->count < LIMIT_STACKS_AWAITED; k++)
            if (further.items[k].len && map_put(seen, further.items[k], &mark)) {
                struct observed_stack stack = observe_stack(g, further.items[k]);

                stack.distant = true;
                observed_stacks_push(stacks, stack);
            }
    }
}

static void observe(struct gathering *g, int64_t now_wall_ms)
{
    struct observed *observed = &g->to->observed;

    *observed = (struct observed){
        .now_ms = now_wall_ms,
        .before = &g->to->before,
        .problems = &g->to->verdict.problems,
        .admitted = &g->to->admitted,
        .settle_ms = g->sources->settle_ms,
        .cluster_operations_max = g->sources->cluster_operations_max,
    };
    observe_clusters(g);
    observe_values(g);
    observe_stacks(g);
}

int gather(const struct gather_sources *sources, struct arena *arena,
           const struct kube_object *object, int64_t now_wall_ms, int64_t now_ms,
           struct gathered *ret_gathered, struct error *err)
{
    struct gathering g = {
        .sources = sources,
        .arena = arena,
        .to = ret_gathered,
        .key = kube_object_key(object),
        .now_ms = now_ms,
    };

    ret_gathered->look_again_ms = -1;
    ret_gathered->settling = false;
    if (judge(&g, object, err) < 0)
        return -1;
    pick_clusters(&g);
    make_question(&g);
    say_interest(&g);
    observe(&g, now_wall_ms);
    return 0;
}

struct str gather_shown(const struct gather_sources *sources, struct arena *arena,
                        const struct kube_object *object, struct str chart_name,
                        struct str secret_versions, struct str words)
{
    struct gathered gathered;
    struct gathering g = { .sources = sources, .arena = arena, .to = &gathered };
    struct error ignored = { .code = ERROR_NONE };
    struct values_reader reader = { .arena = arena, .references = sources->references };

    if (secret_versions.len == 0 || words.len == 0)
        return words;
    if (!object || judge(&g, object, &ignored) < 0)
        return STR(WORDS_WITHHELD);
    reader.stack = gathered.stack;
    return values_shown(&reader, chart_name, secret_versions, words);
}
