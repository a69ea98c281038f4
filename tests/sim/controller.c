/* SPDX-License-Identifier: Apache-2.0 */
/* controller.c: the shell around the plan as the real one is meant to be, with every call a place
 * where it may go wrong or die. */
#include "controller.h"

#include "invariants.h"
#include "support/observed_builder.h"

#include <stdlib.h>

/* Each Stack is looked at so often, as --resync has it, whatever happens. */
enum {
    RESYNC_MS = 300000,
    WAIT_MS = 10000, /* of a status that is no news */
    ACCESS_MS = 10000, /* an answer counts for so long */
};

static void copy_object(struct sim_controller *c, const struct world *w)
{
    free(c->object.status);
    c->object = w->object;
    c->object.status = w->object.status ? strdup(w->object.status) : NULL;
    c->object_due_ms = 0;
    c->dirty = true;
}

static void copy_cluster(struct sim_controller *c, const struct world *w, uint32_t k)
{
    c->cluster_due_ms[k] = 0;
    c->dirty = true;
    if (w->clusters[k].connected) {
        c->clusters[k] = w->clusters[k];
        c->read[k] = true;
    } else {
        c->clusters[k].connected = false;
        c->clusters[k].changes = w->clusters[k].changes;
    }
}

void controller_end(struct sim_controller *c)
{
    free(c->object.status);
    c->object.status = NULL;
}

void controller_start(struct sim_controller *c, struct world *w)
{
    controller_end(c);
    memset(c, 0, sizeof(*c));
    copy_object(c, w);
    for (uint32_t k = 0; k < w->cluster_count; k++)
        copy_cluster(c, w, k);
    c->wake_ms = INT64_MAX;
}

static void die(struct sim_controller *c, struct world *w)
{
    world_trace(w, "the controller dies");
    controller_start(c, w);
    c->dead_until_ms = w->now_ms + 500 + (int64_t)rng_below(&w->rng, 4000);
}

static int64_t late(struct world *w, enum fault fault)
{
    return w->now_ms + (world_fault(w, fault) ? 1000 + (int64_t)rng_below(&w->rng, 4000) : TICK_MS);
}

void controller_see(struct sim_controller *c, struct world *w)
{
    if (c->object.resource_version != w->object.resource_version && !c->object_due_ms)
        c->object_due_ms = late(w, FAULT_stack_late);
    if (c->object_due_ms && w->now_ms >= c->object_due_ms)
        copy_object(c, w);
    for (uint32_t k = 0; k < w->cluster_count; k++) {
        if (world_fault(w, FAULT_cluster_not_synced)) {
            c->read[k] = false;
            c->cluster_due_ms[k] = w->now_ms + 5000;
            c->dirty = true;
        }
        if (c->clusters[k].changes != w->clusters[k].changes && !c->cluster_due_ms[k])
            c->cluster_due_ms[k] = late(w, FAULT_watch_late);
        if (c->cluster_due_ms[k] && w->now_ms >= c->cluster_due_ms[k])
            copy_cluster(c, w, k);
    }
    for (uint32_t k = 0; k < w->cluster_count; k++)
        if (c->access_due_ms[k] && w->now_ms >= c->access_due_ms[k]) {
            c->access_due_ms[k] = 0;
            c->access_until_ms[k] = w->now_ms + ACCESS_MS;
            c->dirty = true;
        }
    for (uint32_t i = 0; i < c->log_count; i++)
        c->dirty = c->dirty || c->logs[i].due_ms == w->now_ms;
    for (uint32_t k = 0; k < w->cluster_count; k++)
        c->dirty = c->dirty || c->busy_until_ms[k] == w->now_ms;
    for (uint32_t k = 0; k < w->cluster_count; k++)
        for (uint32_t i = 0; i < w->chart_count; i++)
            c->dirty = c->dirty || c->version_due_ms[k][i] == w->now_ms;
}

/* gather */

/* Of its log, or of its pods. */
static bool is_looked_at(const struct sim_controller *c, const struct world *w, const char *name,
                         enum action_kind kind)
{
    for (uint32_t i = 0; i < c->log_count; i++)
        if (strcmp(c->logs[i].name, name) == 0 && c->logs[i].kind == kind)
            return w->now_ms >= c->logs[i].due_ms;
    return false;
}

static void gather_apps(const struct sim_controller *c, const struct world *w, uint32_t k,
                        const struct stack *stack, struct observed_cluster *to)
{
    for (uint32_t i = 0; i < w->chart_count; i++) {
        const struct sim_app *app = &c->clusters[k].apps[i];
        struct str name = stack->spec.charts.items[i].name;
        struct observed_release seen = {
            .namespace_ = name,
            .name = name,
            .phase = app->phase,
            .uid = str_fmt(to->releases.arena, "%u", app->uid),
            .revision = app->revision,
            .began_ms = app->began_ms,
            .chart_version = STR("1.2.3"),
        };
        struct strbuf needs = strbuf_new(to->releases.arena, 32);

        if (!app->exists)
            continue;
        for (uint32_t need = 0; need < w->chart_count; need++)
            if (w->needs[i][need])
                strbuf_fmt(&needs, "%sc%u", needs.len ? "," : "", need);
        if (!app->by_hand) {
            seen.stack = STR("team/shop");
            seen.stack_uid = STR("uid-1");
            seen.digest = str_of(app->digest);
            seen.stamped_revision = app->revision;
        }
        if (app->marked) {
            seen.marked_stack = STR("team/shop");
            seen.marked_uid = STR("uid-1");
            seen.marked_digest = str_of(app->mark);
            seen.marked_revision = app->marked_revision;
            seen.corrections = app->corrections;
            seen.marked_ms = app->marked_ms;
        }
        if (app->marked || !app->by_hand) {
            seen.chart_name = name;
            seen.depends_on = strbuf_str(&needs);
        }
        observed_releases_push(&to->releases, seen);
    }
}

static void gather_cluster(const struct sim_controller *c, const struct world *w, uint32_t k,
                           const struct stack *stack, struct scene *scene)
{
    struct arena *arena = scene->arena;
    struct observed_cluster *to = scene_cluster(scene, str_fmt(arena, "k%u", k));
    const struct sim_cluster *from = &c->clusters[k];
    struct error err = { 0 };

    (void)json_read(arena, STR("{\"all\":\"yes\"}"), &json_limits_default, &to->labels, &err);
    to->state = !from->connected ? CLUSTER_DISCONNECTED : !c->read[k] ? CLUSTER_NOT_SYNCED
                                                                     : CLUSTER_READ;
    to->repos.items[0].state = !from->repo ? REPO_ABSENT
                               : w->now_ms < from->repo_ready_ms ? REPO_DOWNLOADING
                                                                 : REPO_READY;
    if (w->now_ms < c->busy_until_ms[k]) {
        to->backoff_reason = REASON(TOO_MANY_REQUESTS);
        to->backoff_message = STR("Rancher is busy");
    }
    if (w->now_ms >= c->access_until_ms[k])
        to->unasked_message = STR("the API server is asked whether the author may deploy there");
    gather_apps(c, w, k, stack, to);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        const struct sim_operation *op = &from->operations[i];
        struct str name;

        if (!op->exists)
            continue;
        name = stack->spec.charts.items[op->chart].name;
        observed_operations_push(&to->operations, (struct observed_operation){
            .namespace_ = name,
            .name = str_of(op->name),
            .release_name = name,
            .stack_uid = op->by_hand ? STR("") : STR("uid-1"),
            .uninstall = op->uninstall,
            .state = op->state,
            .created_ms = op->created_ms,
            .message = STR("Error: UPGRADE FAILED: context deadline exceeded"),
            .log_read = is_looked_at(c, w, op->name, ACTION_READ_LOG),
            .proven = op->ended && op->outcome == OUTCOME_SUCCEEDS &&
                      is_looked_at(c, w, op->name, ACTION_READ_LOG),
            .pods = STR("pod c0-0: Insufficient nvidia.com/gpu"),
            .pods_read = is_looked_at(c, w, op->name, ACTION_READ_PODS) });
    }
    for (uint32_t i = 0; i < w->chart_count; i++)
        if (c->version_due_ms[k][i] && w->now_ms >= c->version_due_ms[k][i])
            observed_versions_push(&to->versions, (struct observed_version){
                .repo = STR("https://charts.example.com"),
                .chart = stack->spec.charts.items[i].name,
                .version = STR("1.2.3"),
                .state = VERSION_FOUND,
                .resolved = STR("1.2.3") });
}

/* The plan borrows from it, and writing the status replaces the original. */
static struct stack_status stored_of(const struct sim_controller *c, struct arena *arena)
{
    struct json json = { 0 };
    struct error err = { 0 };

    if (c->object.status && json_read(arena, str_dup(arena, str_of(c->object.status)),
                                      &json_limits_default, &json, &err) < 0)
        abort();
    return stack_status_read(arena, json);
}

/* Rejections that were met are noted on what the next plan takes for the past. */
static void gather_status(struct sim_controller *c, const struct world *w, struct scene *scene)
{
    if (!c->object.status)
        return;
    scene->before = stored_of(c, scene->arena);
    for (uint32_t i = 0; i < c->rejection_count; i++) {
        struct str cluster = str_fmt(scene->arena, "k%u", c->rejections[i].cluster);
        struct str chart = str_fmt(scene->arena, "c%u", c->rejections[i].chart);

        if (c->rejections[i].transient)
            stack_status_note_transient(scene->arena, &scene->before, cluster, chart,
                                        REASON(TOO_MANY_REQUESTS), STR("Rancher is busy"),
                                        w->now_ms);
        else
            stack_status_note_failure(scene->arena, &scene->before, cluster, chart, false,
                                      STR("RequestRejected"), STR("Rancher rejected the request"),
                                      w->now_ms);
    }
    scene->observed.before = &scene->before;
}

static void gather(struct sim_controller *c, const struct world *w, struct scene *scene)
{
    struct arena *arena = scene->arena;
    struct observed *o = &scene->observed;

    scene->problems = problems_new(arena);
    scene->stack = world_stack(w, arena, &c->object);
    o->now_ms = w->now_ms;
    o->clusters_known = true;
    o->clusters = observed_clusters_new(arena, w->cluster_count);
    o->stacks = observed_stacks_new(arena, 0);
    o->settle_ms = SETTLE_MS;
    o->cluster_operations_max = ROOM;
    o->problems = &scene->problems;
    o->references = scene_references(arena, scene->stack, "{}");
    for (uint32_t k = 0; k < w->cluster_count; k++)
        gather_cluster(c, w, k, scene->stack, scene);
    gather_status(c, w, scene);
}

/* act */

static void reject(struct sim_controller *c, const struct action *a, bool transient)
{
    if (c->rejection_count == REJECTIONS_MAX)
        abort();
    c->rejections[c->rejection_count].transient = transient;
    c->rejections[c->rejection_count].cluster = a->cluster;
    c->rejections[c->rejection_count++].chart = world_chart(a->chart_name);
    c->dirty = true;
}

/* A mark that was rejected changes nothing that is known, and the status says nothing of it. */
static void ask_again(struct sim_controller *c, const struct world *w)
{
    if (c->wake_ms > w->now_ms + 1000)
        c->wake_ms = w->now_ms + 1000;
}

static void post(struct sim_controller *c, struct world *w, const struct action *a)
{
    struct sim_landing landing = {
        .kind = a->kind,
        .cluster = a->cluster,
        .chart = world_chart(a->chart_name),
        .revision = a->revision,
        .corrections = a->corrections,
    };

    uint64_t uid = 0;

    (void)str_to_u64(a->app_uid, &uid);
    landing.uid = (uint32_t)uid;
    if (a->desired)
        memcpy(landing.digest, a->desired->digest.at, a->desired->digest.len);
    if (a->kind == ACTION_MARK && a->digest.len)
        memcpy(landing.digest, a->digest.at, a->digest.len);
    w->requests++;
    world_trace(w, "sends %s of c%u to k%u", action_name(a->kind), landing.chart, landing.cluster);
    check_send(w, &c->object, &landing);
    if (!w->clusters[a->cluster].connected || world_fault(w, FAULT_post_rejected))
        a->kind == ACTION_MARK ? ask_again(c, w) : reject(c, a, false);
    else if (a->kind != ACTION_MARK && world_fault(w, FAULT_post_busy)) {
        c->busy_until_ms[a->cluster] = w->now_ms + 5000;
        reject(c, a, true);
    } else if (world_fault(w, FAULT_post_late))
        world_send(w, &landing, 1000 + (int64_t)rng_below(&w->rng, LATE_MS - 1000));
    else if (!world_fault(w, FAULT_post_lost))
        world_send(w, &landing, TICK_MS);
    else if (a->kind == ACTION_MARK)
        ask_again(c, w);
}

static void look_at(struct sim_controller *c, struct world *w, const struct action *a)
{
    for (uint32_t i = 0; i < c->log_count; i++)
        if (str_eq(a->operation, str_of(c->logs[i].name)) && c->logs[i].kind == a->kind)
            return;
    if (c->log_count == LOGS_MAX)
        c->log_count = 0;
    memset(&c->logs[c->log_count], 0, sizeof(c->logs[0]));
    c->logs[c->log_count].kind = a->kind;
    memcpy(c->logs[c->log_count].name, a->operation.at, a->operation.len);
    c->logs[c->log_count++].due_ms = w->now_ms + (world_fault(w, FAULT_log_lost) ? 20000 : 500);
}

static void act_one(struct sim_controller *c, struct world *w, const struct action *a)
{
    switch (a->kind) {
    case ACTION_ADD_FINALIZER:
    case ACTION_REMOVE_FINALIZER:
        /* By the resourceVersion that the plan was made from. */
        (void)world_write(w, c->object.resource_version, NULL, a->kind == ACTION_ADD_FINALIZER);
        break;
    case ACTION_RESOLVE_VERSION:
        if (!c->version_due_ms[a->cluster][world_chart(a->chart_name)])
            c->version_due_ms[a->cluster][world_chart(a->chart_name)] = w->now_ms + 500;
        break;
    case ACTION_READ_LOG:
    case ACTION_READ_PODS:
    case ACTION_READ_HEALTH:
        look_at(c, w, a);
        break;
    case ACTION_MARK:
    case ACTION_ENSURE_REPO:
    case ACTION_UPGRADE:
    case ACTION_UNINSTALL:
    case ACTION_REMOVE_LOCK:
        post(c, w, a);
        break;
    /* The simulated repositories have all versions and outlive every Stack. */
    case ACTION_REFRESH_REPO:
    case ACTION_REMOVE_REPO:
    case ACTION_KIND_COUNT:
        abort();
    }
}

/* False if it died on the way. */
static bool act(struct sim_controller *c, struct world *w, const struct actions *actions)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        if (world_fault(w, FAULT_crash_between)) {
            die(c, w);
            return false;
        }
        act_one(c, w, &actions->items[i]);
    }
    if (actions->count && world_fault(w, FAULT_crash_after_act)) {
        die(c, w);
        return false;
    }
    return true;
}

/* As with a long status: one that is no news waits, and nothing of it is remembered meanwhile. */
static bool waits(struct sim_controller *c, struct world *w, struct scene *s, struct str text)
{
    struct stack_status stored = stored_of(c, s->arena);

    return !(c->object.status && str_eq(text, str_of(c->object.status))) &&
           !stack_status_is_news(&stored, &s->status, &s->plan.actions) &&
           world_fault(w, FAULT_write_waits);
}

/* True if the status stands as it was written, so that it may be acted on. */
static bool write_status(struct sim_controller *c, struct world *w, struct arena *arena,
                         const struct stack_status *status, struct str text)
{
    if (c->object.status && str_eq(text, str_of(c->object.status)))
        return true;
    if (world_fault(w, FAULT_write_lost) || world_fault(w, FAULT_write_conflict) ||
        !world_write(w, c->object.resource_version, str_z(arena, text), -1)) {
        c->wake_ms = w->now_ms + 1000;
        return false;
    }
    check_status(w, status->observed_generation);
    if (world_fault(w, FAULT_write_unanswered)) {
        c->wake_ms = w->now_ms + 1000;
        return false;
    }
    c->written_version = w->object.resource_version;
    /* What comes back with the answer of a write: its own version, not the world's news. */
    c->object.resource_version = w->object.resource_version;
    free(c->object.status);
    c->object.status = strdup(w->object.status);
    c->rejection_count = 0;
    return true;
}

/* Answers come a moment later, and count for a while, as those of the access cache. */
static void ask_access(struct sim_controller *c, struct world *w, const struct str_list *ids)
{
    for (uint32_t i = 0; i < ids->count; i++) {
        uint32_t k = world_cluster(ids->items[i]);

        if (!c->access_due_ms[k])
            c->access_due_ms[k] = late(w, FAULT_access_late);
    }
}

static void trace_plan(struct world *w, const struct scene *s)
{
    if (w->trace)
        world_trace(w, "plan [%.*s] %.*s | %.*s", STR_ARG(scene_actions(s)),
                    STR_ARG(scene_states(s)), STR_ARG(s->plan.message));
}

static void reconcile(struct sim_controller *c, struct world *w, struct arena *arena)
{
    struct scene s = { .arena = arena };
    struct str text;

    gather(c, w, &s);
    s.plan = stack_plan(arena, s.stack, &s.observed);
    s.status = stack_status_of(arena, s.stack, &s.observed, &s.plan);
    text = stack_status_write(arena, &s.status);
    trace_plan(w, &s);
    c->wake_ms = w->now_ms + (s.plan.wake_after_ms < 0 || s.plan.wake_after_ms > RESYNC_MS
                                  ? RESYNC_MS : s.plan.wake_after_ms);
    if (world_fault(w, FAULT_crash_before_write)) {
        die(c, w);
        return;
    }
    if (!s.plan.torn_down && waits(c, w, &s, text)) {
        if (c->wake_ms > w->now_ms + WAIT_MS)
            c->wake_ms = w->now_ms + WAIT_MS;
    } else if (!s.plan.torn_down && !write_status(c, w, arena, &s.status, text))
        return;
    if (world_fault(w, FAULT_crash_after_write)) {
        die(c, w);
        return;
    }
    if (act(c, w, &s.plan.actions))
        ask_access(c, w, &s.plan.unasked);
}

void controller_step(struct sim_controller *c, struct world *w)
{
    AUTO(arena_free) struct arena *arena = NULL;

    if (w->now_ms < c->dead_until_ms || (!c->dirty && w->now_ms < c->wake_ms))
        return;
    c->dirty = false;
    c->wake_ms = INT64_MAX;
    /* A cache that is behind its own last write is not acted on; it will tell when it is not. */
    if (!c->object.exists || c->object.resource_version < c->written_version)
        return;
    arena = arena_create(0);
    reconcile(c, w, arena);
}
