/* act.c: one call for each action under way, and what its answer means. */
#include "controller/reconcile/act.h"

#include "base/memory.h"
#include "base/pack.h"
#include "controller/estate/rancher/answers.h"
#include "controller/metrics.h"
#include "controller/multimap.h"
#include "controller/reconcile/notes.h"

struct actor {
    struct actor_options options;
    struct notes *notes;
    struct holds *holds;
    struct multimap *under_way; /* Stack -> what is asked for it */
    struct call *calls;         /* newest first */
    uint32_t in_flight;
};

/* An action whose answer is awaited. It knows names only: clusters and Stacks come and go. */
struct call {
    struct actor *actor;
    struct call *older, *newer;
    enum action_kind kind;
    struct str key; /* these stand behind the struct */
    struct str uid;
    struct str cluster_id;
    struct str chart_name;
    struct str release; /* namespace/name */
    struct str version; /* as asked */
    struct str secret_versions; /* of the values that were sent */
    struct str mark;    /* in `under_way`, or a question of the cluster's lookups */
    void (*ended)(void *context, const struct error *error, int64_t retry_after_ms);
    void *context; /* of `ended`, which only writes of the Stack itself tell */
};

struct actor *actor_create(const struct actor_options *options)
{
    struct actor *actor = mem_new(struct actor);

    actor->options = *options;
    actor->notes = notes_create();
    actor->holds = holds_create();
    actor->under_way = multimap_create();
    return actor;
}

static void call_free(struct call *call)
{
    struct actor *actor = call->actor;

    if (call->newer)
        call->newer->older = call->older;
    else
        actor->calls = call->older;
    if (call->older)
        call->older->newer = call->newer;
    actor->in_flight--;
    mem_free(call);
}

void actor_free(struct actor *actor)
{
    if (!actor)
        return;
    while (actor->calls)
        call_free(actor->calls);
    notes_free(actor->notes);
    holds_free(actor->holds);
    multimap_free(actor->under_way);
    mem_free(actor);
}

static struct call *call_new(struct actor *actor, const struct acting *acting,
                             const struct action *action, struct str mark)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str uid = acting->stack->meta.uid;
    struct str release = kube_key(arena, action->namespace_, action->release_name);
    struct str cluster_id = action->cluster == UINT32_MAX
                                ? STR("")
                                : acting->observed->clusters.items[action->cluster].id;
    struct str secret_versions = action->desired ? action->desired->secret_versions : STR("");
    struct call *call =
        mem_alloc(sizeof(*call) + acting->key.len + uid.len + cluster_id.len +
                  action->chart_name.len + release.len + action->version.len + mark.len +
                  secret_versions.len);
    char *at = (char *)(call + 1);

    *call = (struct call){
        .actor = actor,
        .older = actor->calls,
        .kind = action->kind,
        .key = pack_str(&at, acting->key),
        .uid = pack_str(&at, uid),
        .cluster_id = pack_str(&at, cluster_id),
        .chart_name = pack_str(&at, action->chart_name),
        .release = pack_str(&at, release),
        .version = pack_str(&at, action->version),
        .secret_versions = pack_str(&at, secret_versions),
        .mark = pack_str(&at, mark),
        .ended = acting->ended,
        .context = acting->context,
    };
    if (call->older)
        call->older->newer = call;
    actor->calls = call;
    actor->in_flight++;
    return call;
}

static void tell_waiter(void *context, struct str key)
{
    struct actor *actor = context;

    actor->options.again(actor->options.context, key);
}

static void note_refusal(struct actor *actor, struct str key, struct note note)
{
    notes_add(actor->notes, key, &note);
    actor->options.again(actor->options.context, key);
}

/* The answer without what its words may tell of Secrets. */
static struct rancher_outcome shown_outcome(const struct call *call, struct arena *arena,
                                            const struct rancher_outcome *outcome)
{
    const struct actor_options *options = &call->actor->options;
    struct rancher_outcome shown = *outcome;

    if (outcome->result != RANCHER_DONE && call->secret_versions.len) {
        struct str words = options->shown(options->context, arena, call->key, call->chart_name,
                                          call->secret_versions, str_of(outcome->error.text));

        error_set(&shown.error, outcome->error.code, "%.*s", STR_ARG(words));
    }
    return shown;
}

static void count(struct call *call, enum rancher_result result)
{
    static const char *const names[] = { [RANCHER_DONE] = "done",
                                         [RANCHER_REFUSED] = "refused",
                                         [RANCHER_UNKNOWN] = "unknown" };

    metrics_add(call->actor->options.metrics, CONTROLLER_ACTIONS,
                (struct str[]){ str_of(action_name(call->kind)), str_of(names[result]) }, 1);
}

static bool is_long(enum action_kind kind)
{
    return kind == ACTION_READ_LOG || kind == ACTION_READ_PODS;
}

static void log_outcome(const struct call *call, const struct rancher_outcome *outcome)
{
    struct log *log = call->actor->options.log;
    const char *action = action_name(call->kind);

    if (outcome->result == RANCHER_DONE)
        log_debug(log, "action answered", LOG_Z("action", action), LOG_STR("stack", call->key),
                  LOG_STR("cluster", call->cluster_id), LOG_STR("release", call->release),
                  /* A log may hold anything. */
                  LOG_STR("answer", is_long(call->kind) ? STR("") : outcome->text));
    else
        log_warn(log,
                 outcome->result == RANCHER_REFUSED ? "action refused" : "action unanswered",
                 LOG_Z("action", action), LOG_STR("stack", call->key),
                 LOG_STR("cluster", call->cluster_id), LOG_STR("release", call->release),
                 LOG_Z("error", outcome->error.text));
}

static void keep_room(const struct call *call, enum rancher_result result)
{
    struct cluster *cluster = estate_opened(call->actor->options.estate, call->cluster_id);

    if (!cluster)
        return;
    if (result == RANCHER_REFUSED)
        room_drop(cluster_room(cluster), call->release);
    else
        room_asked(cluster_room(cluster), call->release,
                   loop_now_ms(call->actor->options.loop));
}

/* Upgrades, uninstalls and removed locks. What was done shows as an Operation, what is unknown as
 * one or as nothing; only a refusal leaves no trace out there. */
static void on_changed(void *context, const struct rancher_outcome *answer)
{
    struct call *call = context;
    struct actor *actor = call->actor;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct rancher_outcome shown = shown_outcome(call, arena, answer);
    const struct rancher_outcome *outcome = &shown;

    count(call, outcome->result);
    log_outcome(call, outcome);
    keep_room(call, outcome->result);
    multimap_remove(actor->under_way, call->key, call->mark);
    if (outcome->result == RANCHER_REFUSED)
        holds_add(actor->holds, call->key, call->cluster_id, call->chart_name,
                  outcome->retry_after_ms, loop_now_ms(actor->options.loop));
    if (outcome->result == RANCHER_REFUSED)
        note_refusal(actor, call->key,
                     (struct note){
                         .uid = call->uid,
                         .cluster_id = call->cluster_id,
                         .chart_name = call->chart_name,
                         .reason = str_of(error_reason(outcome->error.code)),
                         .message = str_of(outcome->error.text),
                         .terminal = error_course(outcome->error.code) == COURSE_TERMINAL,
                     });
    else
        actor->options.again(actor->options.context, call->key);
    call_free(call);
}

static void keep_answer(const struct call *call, struct lookups *lookups,
                        const struct rancher_outcome *outcome)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    int64_t now_ms = loop_now_ms(call->actor->options.loop);
    uint32_t failures = lookups_get(lookups, call->mark, now_ms).failures;
    struct str namespace_, release;

    kube_key_split(call->release, &namespace_, &release);
    struct kept_answer kept = call->kind == ACTION_RESOLVE_VERSION
                                  ? answer_version(arena, call->version, outcome)
                              : call->kind == ACTION_READ_LOG
                                  ? answer_log(arena, failures, outcome)
                              : call->kind == ACTION_READ_PODS
                                  ? answer_pods(arena, release, outcome)
                                  : answer_repo(outcome);

    if (kept.state != VERSION_UNREAD)
        lookups_put(lookups, call->mark, kept.state, kept.text, kept.retry_after_ms, now_ms);
}

/* Questions, whose answers all Stacks of the cluster share. */
static void on_answered(void *context, const struct rancher_outcome *outcome)
{
    struct call *call = context;
    struct actor *actor = call->actor;
    struct cluster *cluster = estate_opened(actor->options.estate, call->cluster_id);

    count(call, outcome->result);
    log_outcome(call, outcome);
    if (cluster) {
        keep_answer(call, cluster_lookups(cluster), outcome);
        lookups_end(cluster_lookups(cluster), call->mark, tell_waiter, actor);
    } else {
        actor->options.again(actor->options.context, call->key);
    }
    call_free(call);
}

static void on_finalizer(void *context, const struct kube_answer *answer)
{
    struct call *call = context;
    struct actor *actor = call->actor;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;
    bool fine = answer->error.code == ERROR_NONE;

    count(call, fine ? RANCHER_DONE : RANCHER_REFUSED);
    multimap_remove(actor->under_way, call->key, call->mark);
    if (fine && json_read(arena, answer->body, &json_limits_default, &root, &ignored) == 0)
        actor->options.written(actor->options.context, call->key,
                               json_str(json_walk(root, "metadata", "resourceVersion", NULL)));
    else if (!fine && answer->error.code != ERROR_CONFLICT &&
             answer->error.code != ERROR_NOT_FOUND)
        log_warn(actor->options.log, "finalizer not written", LOG_STR("stack", call->key),
                 LOG_Z("error", answer->error.text));
    call->ended(call->context, &answer->error, answer->retry_after_ms);
    if (fine)
        actor->options.again(actor->options.context, call->key);
    call_free(call);
}

static void send_finalizer(struct actor *actor, struct arena *arena, const struct acting *acting,
                           const struct action *action, struct str mark)
{
    const struct kube_meta *meta = &acting->stack->meta;
    struct strbuf body = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&body);
    struct json_iter it = json_iter(meta->finalizers);

    json_open_object(&w);
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "resourceVersion", acting->resource_version);
    json_put_key(&w, STR("finalizers"));
    json_open_array(&w);
    while (json_next(&it))
        if (!str_eq(json_str(it.value), STR(STACK_FINALIZER)))
            json_put_raw(&w, json_raw(it.value));
    if (action->kind == ACTION_ADD_FINALIZER)
        json_put_str(&w, STR(STACK_FINALIZER));
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);

    const struct kube_request patch = {
        .verb = KUBE_PATCH,
        .resource = stack_resource,
        .namespace_ = meta->namespace_,
        .name = meta->name,
        .patch_type = KUBE_PATCH_MERGE,
        .field_manager = STR("herd-controller"),
        .body = strbuf_str(&body),
    };

    kube_client_call(actor->options.api, &patch, on_finalizer,
                     call_new(actor, acting, action, mark));
}

static void send_upgrade(struct actor *actor, const struct acting *acting,
                         const struct action *action, struct str cluster_id, struct str mark)
{
    const struct wire_upgrade upgrade = {
        .stack = acting->key,
        .stack_uid = acting->stack->meta.uid,
        .repo_name = action->repo_name,
        .version = action->version,
        .desired = action->desired,
    };

    rancher_upgrade(actor->options.rancher, cluster_id, &upgrade, on_changed,
                    call_new(actor, acting, action, mark));
}

/* False: the same is asked already, or may not be asked yet. */
static bool begin_question(struct actor *actor, const struct acting *acting,
                           struct str cluster_id, struct str question)
{
    struct cluster *cluster = estate_opened(actor->options.estate, cluster_id);
    int64_t now_ms = loop_now_ms(actor->options.loop);

    return cluster &&
           lookups_get(cluster_lookups(cluster), question, now_ms).state != VERSION_FAILED &&
           lookups_begin(cluster_lookups(cluster), question, acting->key);
}

static void ask(struct actor *actor, struct arena *arena, const struct acting *acting,
                const struct action *action, struct str cluster_id)
{
    struct rancher_client *rancher = actor->options.rancher;
    struct str question;

    if (action->kind == ACTION_ENSURE_REPO)
        question = lookup_repo(arena, release_repo_url(action->repo));
    else if (action->kind == ACTION_READ_LOG)
        question = lookup_log(arena, action->namespace_, action->operation);
    else if (action->kind == ACTION_READ_PODS)
        question = lookup_pods(arena, action->namespace_, action->operation, action->failed);
    else
        question = lookup_version(arena, release_repo_url(action->repo), action->chart_in_repo,
                                  action->version);
    if (!begin_question(actor, acting, cluster_id, question))
        return;

    struct call *call = call_new(actor, acting, action, question);

    if (action->kind == ACTION_ENSURE_REPO)
        rancher_ensure_repo(rancher, cluster_id, action->repo_name, action->repo, on_answered,
                            call);
    else if (action->kind == ACTION_READ_LOG)
        rancher_read_log(rancher, cluster_id, action->namespace_, action->operation, on_answered,
                         call);
    else if (action->kind == ACTION_READ_PODS)
        rancher_read_pods(rancher, cluster_id, action->namespace_, on_answered, call);
    else
        rancher_resolve_version(rancher, cluster_id, action->repo_name, action->chart_in_repo,
                                action->version, on_answered, call);
}

/* True: `acting->ended` will be told. */
static bool act_one(struct actor *actor, struct arena *arena, const struct acting *acting,
                    const struct action *action)
{
    struct str cluster_id = action->cluster == UINT32_MAX
                                ? STR("")
                                : acting->observed->clusters.items[action->cluster].id;

    switch (action->kind) {
    case ACTION_ENSURE_REPO:
    case ACTION_RESOLVE_VERSION:
    case ACTION_READ_LOG:
    case ACTION_READ_PODS:
        ask(actor, arena, acting, action, cluster_id);
        return false;
    case ACTION_ADD_FINALIZER:
    case ACTION_REMOVE_FINALIZER:
    case ACTION_UPGRADE:
    case ACTION_UNINSTALL:
    case ACTION_REMOVE_LOCK:
    case ACTION_KIND_COUNT:
        break;
    }

    /* One change at a time for each release, whichever it is. */
    struct str mark = str_fmt(arena, "%.*s %.*s/%.*s", STR_ARG(cluster_id),
                              STR_ARG(action->namespace_), STR_ARG(action->release_name));

    if (!multimap_add(actor->under_way, acting->key, mark))
        return false;
    log_info(actor->options.log, "action", LOG_Z("action", action_name(action->kind)),
             LOG_STR("stack", acting->key), LOG_STR("cluster", cluster_id),
             LOG_STR("chart", action->chart_name),
             LOG_STR("release", kube_key(arena, action->namespace_, action->release_name)),
             LOG_STR("version", action->version));

    const struct rancher_release release = {
        .cluster_id = cluster_id,
        .namespace_ = action->namespace_,
        .name = action->release_name,
        .uid = action->app_uid,
        .stack = acting->key,
        .stack_uid = acting->stack->meta.uid,
        .revision = action->revision,
        .stuck = action->stuck,
    };

    if (action->kind == ACTION_UPGRADE)
        send_upgrade(actor, acting, action, cluster_id, mark);
    else if (action->kind == ACTION_UNINSTALL)
        rancher_uninstall(actor->options.rancher, &release, on_changed,
                          call_new(actor, acting, action, mark));
    else if (action->kind == ACTION_REMOVE_LOCK)
        rancher_remove_lock(actor->options.rancher, &release, on_changed,
                            call_new(actor, acting, action, mark));
    else
        send_finalizer(actor, arena, acting, action, mark);
    return action->kind == ACTION_ADD_FINALIZER || action->kind == ACTION_REMOVE_FINALIZER;
}

bool actor_act(struct actor *actor, struct arena *arena, const struct acting *acting)
{
    bool writes = false;

    for (uint32_t i = 0; i < acting->plan->actions.count; i++)
        writes |= act_one(actor, arena, acting, &acting->plan->actions.items[i]);
    return writes;
}

uint64_t actor_apply_notes(struct actor *actor, struct arena *arena, struct str key,
                           struct str uid, int64_t now_wall_ms, struct stack_status *status)
{
    return notes_apply(actor->notes, arena, key, uid, now_wall_ms, status);
}

void actor_drop_notes(struct actor *actor, struct str key, uint64_t number)
{
    notes_drop(actor->notes, key, number);
}

struct shifted_failures actor_apply_holds(struct actor *actor, struct arena *arena, struct str key,
                                          int64_t now_wall_ms, struct stack_status *before)
{
    return holds_apply(actor->holds, arena, key, loop_now_ms(actor->options.loop), now_wall_ms,
                       before);
}

void actor_forget(struct actor *actor, struct str key)
{
    notes_forget(actor->notes, key);
    holds_forget(actor->holds, key);
}

uint32_t actor_in_flight(const struct actor *actor)
{
    return actor->in_flight;
}
