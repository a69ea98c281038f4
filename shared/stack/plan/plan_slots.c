/* SPDX-License-Identifier: Apache-2.0 */
/* plan_slots.c: the world sorted by release: for each release of the Stack on each cluster, what is
 * wanted, what stands there, which operations it had, and what the status remembers of it.
 * Linear in all of these. */
#include "stack/plan/plan_parts.h"

#include <stdlib.h>

/* Names of Kubernetes objects hold no newline, so it keeps the parts of a key apart. */
static struct str key2(struct arena *arena, struct str a, struct str b)
{
    struct strbuf key = strbuf_new(arena, a.len + b.len + 2);

    strbuf_put(&key, a);
    strbuf_char(&key, '\n');
    strbuf_put(&key, b);
    return strbuf_str(&key);
}

void plan_wake(struct planner *p, int64_t at_ms)
{
    if (at_ms < p->wake_at)
        p->wake_at = at_ms;
}

void plan_set(struct slot *s, enum deployment_state state, struct str reason, struct str message)
{
    s->now.state = state;
    s->now.reason = reason;
    s->now.message = message;
    s->decided = true;
}

enum deployment_state plan_last_known(const struct release_state *before)
{
    if (!before)
        return DEPLOYMENT_PENDING;
    return before->state == DEPLOYMENT_UNKNOWN ? before->last_known : before->state;
}

bool plan_has_room(const struct planner *p, const struct slot *s)
{
    return p->clusters[s->cluster].busy < p->observed->cluster_operations_max &&
           p->under_way < UNDER_WAY_MAX &&
           (p->remembered < REMEMBERED_MAX || release_is_remembered(&s->now));
}

static struct str replaced_by(const struct planner *p, const struct slot *s)
{
    const struct slot *old = s->replaces == NONE ? NULL : &p->slots.items[s->replaces];

    return old ? kube_key(p->arena, old->now.namespace_, old->now.release_name) : STR("");
}

struct action *plan_act(struct planner *p, struct slot *s, enum action_kind kind)
{
    struct action action = {
        .kind = kind,
        .cluster = s->cluster,
        .chart = s->chart,
        .chart_name = s->now.chart_name,
        .namespace_ = s->now.namespace_,
        .release_name = s->now.release_name,
        .app_uid = s->app ? s->app->uid : STR(""),
        .revision = plan_revision(s),
        .replaces = replaced_by(p, s),
    };

    s->acted = true;
    return actions_push(&p->actions, action);
}

void plan_intend(struct planner *p, struct slot *s)
{
    p->remembered += !release_is_remembered(&s->now);
    s->now.requested_ms = p->observed->now_ms;
    s->now.forgiven = false;
    s->now.revision = plan_revision(s);
    p->clusters[s->cluster].busy++;
    p->under_way++;
}

bool plan_is_abandoned(const struct planner *p, struct str cluster_id)
{
    struct str rest = kube_annotation(&p->stack->meta, STR(STACK_ABANDON_CLUSTERS));
    struct str part;

    while (str_split(&rest, ',', &part)) {
        part = str_trim(part);
        if (str_eq(part, STR("*")) || (part.len && str_eq(part, cluster_id)))
            return true;
    }
    return false;
}

bool plan_may_hold(const struct planner *p, const struct cluster_part *c)
{
    const struct stack_status *before = p->observed->before;

    /* Without a status nobody knows what was done. */
    return !before || stack_status_is_blank(before) || plan_held_before(p, c->observed->id);
}

/* By release, what one cluster shows. */
struct sight {
    struct map *apps;
    struct map *operations; /* struct newest_operations of each release */
    struct map *running;    /* the first of ours, else of somebody else's */
};

/* Keep an operation if none of its release is newer: a time of creation is a whole second, so what
 * was just asked for may stand beside what ended before. */
static void keep_newest(struct planner *p, struct map *newest, struct str key,
                        const struct observed_operation *op)
{
    struct newest_operations *held = map_get(newest, key);
    struct newest_operations **at = &held;
    struct newest_operations *kept;

    if (held && held->created_ms > op->created_ms)
        return;
    if (held && held->created_ms < op->created_ms)
        held = NULL;
    while (*at && str_cmp((*at)->operation->name, op->name) < 0)
        at = &(*at)->next;
    kept = arena_alloc(p->arena, sizeof(*kept));
    *kept = (struct newest_operations){ op->created_ms, op, *at };
    *at = kept;
    map_put(newest, key, held);
}

bool plan_is_accounted(const struct slot *s, const struct observed_operation *operation)
{
    struct str rest = s->now.operation;
    struct str name;

    while (str_split(&rest, ',', &name))
        if (str_eq(name, operation->name))
            return true;
    return str_eq(rest, operation->name);
}

void plan_account(struct planner *p, struct slot *s)
{
    struct strbuf names = strbuf_new(p->arena, 64);

    if (!s->newest)
        return;
    for (const struct newest_operations *n = s->newest; n; n = n->next)
        strbuf_fmt(&names, "%s%.*s", names.len ? "," : "", STR_ARG(n->operation->name));
    s->now.operation = strbuf_str(&names);
}

/* What is news comes first, and of that what failed: that another one ended well says nothing. */
static const struct observed_operation *to_look_at(const struct slot *s)
{
    const struct observed_operation *best = NULL;
    int best_worth = -1;

    for (const struct newest_operations *n = s->newest; n; n = n->next) {
        int worth = plan_is_accounted(s, n->operation)        ? 0
                    : n->operation->state == OPERATION_FAILED ? 2
                                                              : 1;

        if (worth >= best_worth) {
            best = n->operation;
            best_worth = worth;
        }
    }
    return best;
}

/* Which of two running operations of a release is told. */
static bool is_told_before(const struct planner *p, const struct observed_operation *a,
                           const struct observed_operation *b)
{
    if (!b || plan_is_own(p, a) != plan_is_own(p, b))
        return !b || plan_is_own(p, a);
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms;
    return str_cmp(a->name, b->name) < 0;
}

static struct sight look_at(struct planner *p, struct cluster_part *c)
{
    const struct observed_cluster *o = c->observed;
    struct sight sight = {
        map_new(p->arena, o->releases.count),
        map_new(p->arena, o->operations.count),
        map_new(p->arena, 0),
    };

    for (uint32_t i = 0; i < o->releases.count; i++) {
        struct observed_release *app = &o->releases.items[i];

        map_put(sight.apps, key2(p->arena, app->namespace_, app->name), app);
    }
    for (uint32_t i = 0; i < o->operations.count; i++) {
        struct observed_operation *op = &o->operations.items[i];
        struct str key = key2(p->arena, op->namespace_, op->release_name);

        if (plan_is_own(p, op))
            keep_newest(p, sight.operations, key, op);
        if (op->state == OPERATION_RUNNING) {
            if (is_told_before(p, op, map_get(sight.running, key)))
                map_put(sight.running, key, op);
            c->busy++;
        }
    }
    return sight;
}

/* A slot with what the status remembers; `names` gives those of the release. */
static struct slot *add_slot(struct planner *p, uint32_t cluster, const struct sight *sight,
                             struct map *taken, struct release_state names,
                             const struct release_state *before)
{
    struct cluster_part *c = &p->clusters[cluster];
    struct str key = key2(p->arena, names.namespace_, names.release_name);
    struct slot slot = { .cluster = cluster,
                         .chart = NONE,
                         .root = NONE,
                         .successor = NONE,
                         .replaces = NONE,
                         .before = before };

    if (before)
        slot.now = *before;
    if (!before || !release_is_remembered(before)) {
        /* The status may leave such an entry out, so nothing is decided by it. */
        slot.now.operation = STR("");
        slot.now.terminal = false;
    }
    slot.now.chart_name = names.chart_name;
    slot.now.cluster_id = c->observed->id;
    slot.now.namespace_ = names.namespace_;
    slot.now.release_name = names.release_name;
    slot.now.last_known = DEPLOYMENT_UNKNOWN;
    slot.now.retry_ms = 0;
    p->remembered += before && release_is_remembered(before);
    slot.now.installed = before && (before->installed || before->state == DEPLOYMENT_DEPLOYED);
    slot.app = map_get(sight->apps, key);
    slot.newest = map_get(sight->operations, key);
    slot.operation = to_look_at(&slot);
    slot.running = map_get(sight->running, key);
    map_put(taken, key, c);
    /* What waits for a repository that was asked for takes no operation. */
    if (slot.now.requested_ms && plan_last_known(before) != DEPLOYMENT_WAITING) {
        c->busy += slot.running ? 0 : 1;
        p->under_way++;
    }
    u32_list_push(&c->slots, p->slots.count);
    return slots_push(&p->slots, slot);
}

static void add_wanted(struct planner *p, uint32_t cluster, const struct sight *sight,
                       struct map *taken, struct map *before, struct releases *releases)
{
    struct cluster_part *c = &p->clusters[cluster];
    const struct template_facts facts = { c->observed->id, c->observed->display_name,
                                          c->observed->labels };
    struct u32_list on = releases_overrides(releases, &facts);

    c->slot_of_chart = arena_array(p->arena, uint32_t, p->stack->spec.charts.count);
    for (uint32_t i = 0; i < p->order.count; i++) {
        uint32_t chart = p->order.items[i];
        const struct chart *of = &p->stack->spec.charts.items[chart];
        struct wanted_release wanted = releases_wanted(releases, chart, &on, &facts);

        c->slot_of_chart[chart] = NONE;
        if (wanted.skip)
            continue;

        struct release_state names = { .chart_name = of->name,
                                       .namespace_ = of->namespace_,
                                       .release_name = of->release_name };
        struct str key = key2(p->arena, of->namespace_, of->release_name);

        c->slot_of_chart[chart] = p->slots.count;
        struct slot *s = add_slot(p, cluster, sight, taken, names, map_get(before, key));

        s->chart = chart;
        s->desired = wanted.desired;
        s->values_reason = wanted.reason;
        s->values_message = wanted.message;
    }
}

static int by_release(const void *a, const void *b)
{
    const struct release_state *x = &((const struct slot *)a)->now;
    const struct release_state *y = &((const struct slot *)b)->now;
    int order = str_cmp(x->chart_name, y->chart_name);

    if (order == 0)
        order = str_cmp(x->namespace_, y->namespace_);
    return order ? order : str_cmp(x->release_name, y->release_name);
}

/* What is there, or may be, and is not wanted; in an order that is not that of what was seen. */
static void add_unwanted(struct planner *p, uint32_t cluster, const struct sight *sight,
                         struct map *taken, struct map *before)
{
    const struct observed_cluster *o = p->clusters[cluster].observed;
    uint32_t first = p->slots.count;

    for (uint32_t i = 0; i < map_count(before); i++) {
        const struct release_state *b = map_value(before, i);
        const struct observed_release *app = map_get(sight->apps, map_key(before, i));
        struct release_state names = *b;

        /* Where it can be looked at, only what is there or was asked for awaits removal. */
        if (map_get(taken, map_key(before, i)) ||
            (o->state == CLUSTER_READ && !plan_is_ours(p, app) && !release_is_remembered(b)))
            continue;
        if (plan_is_ours(p, app))
            names.chart_name = app->chart_name;
        add_slot(p, cluster, sight, taken, names, b);
    }
    for (uint32_t i = 0; o->state == CLUSTER_READ && i < o->releases.count; i++) {
        const struct observed_release *app = &o->releases.items[i];
        struct release_state names = { .chart_name = app->chart_name,
                                       .namespace_ = app->namespace_,
                                       .release_name = app->name };

        if (plan_is_ours(p, app) && !map_get(taken, key2(p->arena, app->namespace_, app->name)))
            add_slot(p, cluster, sight, taken, names, NULL);
    }
    for (uint32_t i = 0; o->state == CLUSTER_READ && i < map_count(sight->running); i++) {
        const struct observed_operation *op = map_value(sight->running, i);
        struct release_state names = { .chart_name = op->release_name,
                                       .namespace_ = op->namespace_,
                                       .release_name = op->release_name };

        if (plan_is_own(p, op) && !map_get(taken, map_key(sight->running, i)))
            add_slot(p, cluster, sight, taken, names, NULL);
    }
    if (p->slots.count - first > 1)
        qsort(&p->slots.items[first], p->slots.count - first, sizeof(struct slot), by_release);
}

static void index_charts(struct planner *p, struct cluster_part *c)
{
    const struct observed_cluster *o = c->observed;

    c->repos = map_new(p->arena, o->repos.count);
    c->versions = map_new(p->arena, o->versions.count);
    c->asked_repos = map_new(p->arena, 0);
    for (uint32_t i = 0; i < o->repos.count; i++)
        map_put(c->repos, release_repo_url(o->repos.items[i].url), &o->repos.items[i]);
    for (uint32_t i = 0; i < o->versions.count; i++) {
        struct observed_version *v = &o->versions.items[i];
        struct str key =
            key2(p->arena, release_repo_url(v->repo), key2(p->arena, v->chart, v->version));

        map_put(c->versions, key, v);
    }
}

/* Times of a status that are still to come were written by a clock that was ahead, or forged: what
 * is counted from them would be waited for as long. */
static struct release_state *not_ahead(struct planner *p, struct release_state *b)
{
    int64_t now_ms = p->observed->now_ms;
    struct release_state *now;

    if (b->requested_ms <= now_ms && b->last_updated_ms <= now_ms)
        return b;
    now = arena_new(p->arena, struct release_state);
    *now = *b;
    now->requested_ms = b->requested_ms < now_ms ? b->requested_ms : now_ms;
    now->last_updated_ms = b->last_updated_ms < now_ms ? b->last_updated_ms : now_ms / 1000 * 1000;
    return now;
}

/* The status' entries by cluster, and in each by release. */
static struct map *remember(struct planner *p)
{
    const struct stack_status *before = p->observed->before;
    struct map *by_cluster = map_new(p->arena, p->observed->clusters.count);

    for (uint32_t i = 0; before && i < before->deployments.count; i++) {
        struct release_state *b = &before->deployments.items[i];
        struct map *of = map_get(by_cluster, b->cluster_id);

        if (!of) {
            of = map_new(p->arena, 8);
            map_put(by_cluster, b->cluster_id, of);
        }
        map_put(of, key2(p->arena, b->namespace_, b->release_name), not_ahead(p, b));
    }
    return by_cluster;
}

void plan_slots(struct planner *p)
{
    uint32_t count = p->observed->clusters.count;
    struct releases *releases = releases_new(p->arena, p->stack, &p->observed->references);
    struct map *memory = remember(p);
    struct map *nothing = map_new(p->arena, 0);

    p->clusters = arena_array(p->arena, struct cluster_part, count);
    for (uint32_t i = 0; i < count; i++) {
        struct cluster_part *c = &p->clusters[i];
        struct map *taken = map_new(p->arena, p->stack->spec.charts.count);

        c->observed = &p->observed->clusters.items[i];
        c->slots = u32_list_new(p->arena, p->stack->spec.charts.count);
        c->left_out =
            c->observed->state == CLUSTER_GONE ||
            ((p->deleting || !c->observed->targeted) && plan_is_abandoned(p, c->observed->id));
        if (c->left_out)
            continue;

        struct map *before = map_get(memory, c->observed->id);
        struct sight sight = look_at(p, c);

        index_charts(p, c);
        if (c->observed->targeted && !p->deleting)
            add_wanted(p, i, &sight, taken, before ? before : nothing, releases);
        add_unwanted(p, i, &sight, taken, before ? before : nothing);
    }
}
