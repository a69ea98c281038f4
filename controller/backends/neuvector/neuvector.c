/* SPDX-License-Identifier: Apache-2.0 */
/* neuvector.c: for each cluster, what Stacks want, when it is looked at next, and what was seen
 * last. */
#include "controller/backends/neuvector/neuvector.h"

#include "base/memory.h"
#include "base/rng.h"
#include "controller/backends/neuvector/rules_registry.h"
#include "controller/backends/neuvector/credentials.h"
#include "controller/backends/neuvector/seen.h"
#include "kube/resource.h"
#include "stack/model/reasons.h"

enum {
    WAITING_DIVISOR = 6, /* while scans run */
    TROUBLE_DIVISOR = 2, /* while it cannot be asked */
    SOON_MS = 200,       /* after what is wanted changed: several passes come together */
};

struct neuvector {
    struct observer observer;
    const char *folder;
    struct log *log;
    int64_t interval_ms;
    struct rng rng;
    struct dict *clusters; /* id -> struct scanned_cluster */
    struct neuvector_calls calls;
    bool resting; /* the process ends */
};

/* What one Stack wants on a cluster. */
struct want {
    struct arena *arena;
    struct wanted_scan_list list;
    struct str text; /* the same, to be compared */
};

struct scanned_cluster {
    struct neuvector *neuvector;
    struct connection *connection;
    const struct observer_events *events;
    struct neuvector_client *client;
    struct images *images;
    struct compliance *compliance;
    struct dict *wants; /* Stack -> struct want */
    struct rules_registry *rules;
    struct loop_timer *timer;
    struct look *look;        /* NULL: none is under way */
    struct arena *looked_for; /* of this list: what the look is about */
    struct wanted_scan_list wanted;
    struct rules_wishes wishes;
    bool rules_changed; /* some rule, by the last look */
    bool again;         /* what is wanted changed since it began */
    bool troubled;      /* the last one did not read what it should */
    struct seen seen;
};

static void look_now(void *context);

/* --- what is wanted --- */

static void want_free(struct want *want)
{
    if (!want)
        return;
    arena_free(want->arena);
    mem_free(want);
}

/* Where something is wrong the next try comes when it comes: a rejected login is not repeated
 * because a Stack changed. */
static void look_soon(struct scanned_cluster *cluster)
{
    if (cluster->look)
        cluster->again = true;
    else if (!cluster->neuvector->resting &&
             !(cluster->troubled && loop_timer_is_set(cluster->timer)))
        loop_timer_set(cluster->timer, SOON_MS);
}

static bool is_wanted(const struct observed_release *release, struct str uid)
{
    return observed_release_is_of(release, uid) && release->workloads.len;
}

static void push_wanted(struct want *want, struct strbuf *text, const struct stack *stack,
                        const struct observed_release *release)
{
    const struct wanted_scans wanted = {
        .release = kube_key(want->arena, release->namespace_, release->name),
        .revision = release->revision,
        .deployed = release->phase == RELEASE_DEPLOYED,
        .workloads = str_dup(want->arena, release->workloads),
        .mode = stack->spec.security_profile.policy_mode,
        .compliance = stack->spec.security_profile.compliance == TOGGLE_ENABLED,
    };

    wanted_scan_list_push(&want->list, wanted);
    strbuf_fmt(text, "%.*s %u %d %u %d %.*s\n", STR_ARG(wanted.release), wanted.revision,
               wanted.deployed, wanted.mode, wanted.compliance, STR_ARG(wanted.workloads));
}

static struct want *want_of(const struct stack *stack, const struct observed_releases *releases)
{
    struct want *want = mem_new(struct want);
    struct strbuf text;

    want->arena = arena_create(0);
    want->list = wanted_scan_list_new(want->arena, 4);
    text = strbuf_new(want->arena, 256);
    for (uint32_t i = 0; i < releases->count; i++)
        if (is_wanted(&releases->items[i], stack->meta.uid))
            push_wanted(want, &text, stack, &releases->items[i]);
    want->text = strbuf_str(&text);
    return want;
}

static void set_want(struct scanned_cluster *cluster, struct str key, struct want *want)
{
    const struct want *before = dict_get(cluster->wants, key);

    if (before && str_eq(before->text, want->text)) {
        want_free(want);
        return;
    }
    want_free(dict_set(cluster->wants, key, want));
    look_soon(cluster);
}

static void drop_want(struct scanned_cluster *cluster, struct str key)
{
    want_free(dict_remove(cluster->wants, key));
}

/* All that Stacks want, copied: wants change while a look is under way. */
static void gather_wanted(struct scanned_cluster *cluster)
{
    struct str key;
    void *value;

    arena_reset(cluster->looked_for);
    cluster->wanted = wanted_scan_list_new(cluster->looked_for, 8);
    cluster->wishes = rules_registry_wishes(cluster->rules, cluster->looked_for);
    for (size_t cursor = 0; dict_next(cluster->wants, &cursor, &key, &value);) {
        const struct want *want = value;

        for (uint32_t i = 0; i < want->list.count; i++) {
            struct wanted_scans one = want->list.items[i];

            one.release = str_dup(cluster->looked_for, one.release);
            one.workloads = str_dup(cluster->looked_for, one.workloads);
            wanted_scan_list_push(&cluster->wanted, one);
        }
    }
}

/* --- what was seen --- */

static void tell(void *context, struct str key)
{
    const struct scanned_cluster *cluster = context;

    cluster->events->stack_changed(cluster->events->context, key);
}

static void tell_all(struct scanned_cluster *cluster)
{
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(cluster->wants, &cursor, &key, &value);)
        tell(cluster, key);
    rules_registry_each_leaving(cluster->rules, tell, cluster);
}

/* Once for each trouble, however many looks it lasts. */
static void log_trouble(const struct scanned_cluster *cluster, const struct seen *now)
{
    struct log *log = cluster->neuvector->log;
    struct str id = connection_id(cluster->connection);

    if (str_eq(now->reason, cluster->seen.reason))
        return;
    if (now->reason.len)
        log_warn(log, "scans of a cluster are not known; Herd asks again", LOG_STR("cluster", id),
                 LOG_STR("reason", now->reason), LOG_STR("message", now->message));
    else
        log_info(log, "scans of a cluster are known again", LOG_STR("cluster", id));
}

static void replace_seen(struct scanned_cluster *cluster, struct seen seen)
{
    bool changed = !str_eq(seen.text, cluster->seen.text);

    log_trouble(cluster, &seen);
    arena_free(cluster->seen.arena);
    cluster->seen = seen;
    if (changed)
        tell_all(cluster);
}

/* --- looks --- */

/* Up to a tenth more or less: clusters do not all come at once. */
static int64_t spread(struct neuvector *neuvector, int64_t wait_ms)
{
    return wait_ms - wait_ms / 10 +
           (int64_t)rng_below(&neuvector->rng, (uint64_t)(wait_ms / 5 + 1));
}

/* One answer that is lost or cut off is no news yet: it is asked again, sooner than usual. */
static bool is_flicker(const struct scanned_cluster *cluster, const struct look_result *result)
{
    return !result->complete && !cluster->troubled && cluster->seen.answers &&
           seen_is_told_by_others(result->reason);
}

static int64_t wait_after(struct scanned_cluster *cluster, const struct look_result *result)
{
    int64_t wait_ms = cluster->neuvector->interval_ms;

    if (is_flicker(cluster, result) || (result->complete && result->waiting))
        wait_ms /= WAITING_DIVISOR;
    else if (!result->complete)
        wait_ms /= TROUBLE_DIVISOR;
    return spread(cluster->neuvector, wait_ms);
}

/* Where NeuVector is not, or gives Herd nothing, no rule of Herd's is, or can be deleted. */
static void settle_rules(struct scanned_cluster *cluster, const struct look_result *result)
{
    static const enum reason without[] = { REASON_NEUVECTOR_NOT_FOUND,
                                           REASON_NEUVECTOR_CREDENTIALS_MISSING };
    bool changed = result->rules && result->rules->changed;
    bool none = false;

    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        none = none || str_eq(result->reason, reason_rows[without[i]].name);
    if (none)
        rules_registry_settle_without(cluster->rules, &cluster->wishes, tell, cluster);
    else if (result->rules)
        rules_registry_settle(cluster->rules, &cluster->wishes, result->rules, tell, cluster);
    /* Whether what was deleted is gone is seen in the next list: soon, but never in a circle. */
    cluster->again = cluster->again || (changed && !cluster->rules_changed) ||
                     (result->rules && result->rules->unfinished);
    cluster->rules_changed = changed;
}

static void on_looked(void *context, const struct look_result *result)
{
    struct scanned_cluster *cluster = context;

    loop_timer_set(cluster->timer, wait_after(cluster, result));
    if (!is_flicker(cluster, result))
        replace_seen(cluster, seen_of(&cluster->seen, &cluster->wanted, result));
    cluster->troubled = !result->complete;
    settle_rules(cluster, result);
    look_free(cluster->look);
    cluster->look = NULL;
    if (cluster->again)
        look_soon(cluster);
    cluster->again = false;
}

/* When nobody wants anything no session stays; what is wanted next begins the next look. */
static void look_now(void *context)
{
    struct scanned_cluster *cluster = context;

    gather_wanted(cluster);
    if (!cluster->wanted.count && !cluster->wishes.count) {
        neuvector_client_rest(cluster->client);
        return;
    }
    cluster->look = look_begin(&(struct look_options){
        .client = cluster->client,
        .images = cluster->images,
        .compliance = cluster->compliance,
        .cluster_id = connection_id(cluster->connection),
        .wanted = &cluster->wanted,
        .wishes = &cluster->wishes,
        .now_ms = loop_now_ms(connection_loop(cluster->connection)),
        .interval_ms = cluster->neuvector->interval_ms,
        .checks_troubled = cluster->seen.checks_reason.len > 0,
        .done = on_looked,
        .context = cluster,
    });
}

/* --- the observer --- */

static void open_cluster(void *context, struct connection *connection,
                         const struct observer_events *events)
{
    struct neuvector *neuvector = context;
    struct scanned_cluster *cluster = mem_new(struct scanned_cluster);

    cluster->neuvector = neuvector;
    cluster->connection = connection;
    cluster->events = events;
    cluster->client = neuvector_client_create(&neuvector->calls, connection, neuvector->folder);
    cluster->images = images_create();
    cluster->compliance = compliance_create();
    cluster->wants = dict_create();
    cluster->rules = rules_registry_create();
    cluster->timer = loop_timer_create(connection_loop(connection), look_now, cluster);
    cluster->looked_for = arena_create(0);
    dict_set(neuvector->clusters, connection_id(connection), cluster);
}

static void cluster_free(struct scanned_cluster *cluster)
{
    struct str key;
    void *want;

    neuvector_client_free(cluster->client);
    look_free(cluster->look);
    loop_timer_free(cluster->timer);
    for (size_t cursor = 0; dict_next(cluster->wants, &cursor, &key, &want);)
        want_free(want);
    dict_free(cluster->wants);
    rules_registry_free(cluster->rules);
    images_free(cluster->images);
    compliance_free(cluster->compliance);
    arena_free(cluster->seen.arena);
    arena_free(cluster->looked_for);
    mem_free(cluster);
}

static void close_cluster(void *context, struct str cluster_id)
{
    struct neuvector *neuvector = context;
    struct str id;
    void *cluster;

    for (size_t cursor = 0; dict_next(neuvector->clusters, &cursor, &id, &cluster);)
        if (!cluster_id.len || str_eq(id, cluster_id)) {
            dict_remove(neuvector->clusters, id);
            cluster_free(cluster);
        }
}

static void fill_in(struct scanned_cluster *cluster, struct arena *arena, struct str uid,
                    struct observed_cluster *to)
{
    const struct seen *seen = &cluster->seen;

    to->scans_starting = !seen->looked;
    to->scanner_answers = seen->answers;
    to->scan_reason = seen->looked ? str_dup(arena, seen->reason) : STR("");
    to->scan_message = seen->looked ? str_dup(arena, seen->message) : STR("");
    to->checks_reason = seen->looked ? str_dup(arena, seen->checks_reason) : STR("");
    to->checks_message = seen->looked ? str_dup(arena, seen->checks_message) : STR("");
    for (uint32_t i = 0; seen->scans && i < to->releases.count; i++) {
        struct observed_release *release = &to->releases.items[i];
        const struct seen_release *known =
            map_get(seen->scans, kube_key(arena, release->namespace_, release->name));

        if (known && known->revision == release->revision && is_wanted(release, uid))
            release->scans = seen_copy_scans(arena, &known->scans);
    }
}

/* What is wrong with rules that the Stack wants: with its own first. */
static struct rules_trouble rules_trouble_of(const struct scanned_cluster *cluster, struct str key)
{
    struct rules_trouble trouble = rules_registry_trouble(cluster->rules, key);

    for (int i = 0; cluster->seen.looked && !trouble.reason.len && i < RULES_KINDS; i++)
        if (rules_registry_wants(cluster->rules, key, (enum rules_kind)i))
            trouble = cluster->seen.rules[i];
    return trouble;
}

/* Why NeuVector's rules may not be gone yet; "" = nobody says. */
static struct str why_rules_stay(const struct seen *seen)
{
    if (seen->looked && !seen->answers)
        return seen->message;
    for (int i = 0; i < RULES_KINDS; i++)
        if (seen->rules[i].message.len)
            return seen->rules[i].message;
    return STR("");
}

/* Of a Stack that is about to leave the cluster: what must be gone before. */
static void fill_in_rules(const struct scanned_cluster *cluster, struct arena *arena,
                          struct str key, struct observed_cluster *to)
{
    struct rules_trouble trouble = rules_trouble_of(cluster, key);
    struct str why = why_rules_stay(&cluster->seen);

    to->rules_reason = str_dup(arena, trouble.reason);
    to->rules_message = str_dup(arena, trouble.message);
    if (!rules_registry_leaves(cluster->rules, key))
        return;
    to->left_reason = REASON(REMOVING_ADMISSION_RULES);
    to->left_message =
        str_fmt(arena, "deleting the Stack's rules in NeuVector on cluster %.*s%s%.*s",
                STR_ARG(to->id), why.len ? ": " : "", STR_ARG(why));
}

static void observe(void *context, struct str cluster_id, struct arena *arena, struct str key,
                    const struct stack *stack, int64_t now_ms, struct observed_cluster *ret_cluster)
{
    struct neuvector *neuvector = context;
    struct scanned_cluster *cluster = dict_get(neuvector->clusters, cluster_id);

    (void)now_ms;
    if (!cluster)
        return;
    if (rules_registry_renew(cluster->rules, key, stack, ret_cluster))
        look_soon(cluster);
    fill_in_rules(cluster, arena, key, ret_cluster);
    if (stack->spec.security != TOGGLE_ENABLED || stack->meta.deletion_timestamp.len) {
        drop_want(cluster, key);
        return;
    }
    set_want(cluster, key, want_of(stack, &ret_cluster->releases));
    fill_in(cluster, arena, stack->meta.uid, ret_cluster);
}

static void forget(void *context, struct str key)
{
    struct neuvector *neuvector = context;
    struct str id;
    void *cluster;

    for (size_t cursor = 0; dict_next(neuvector->clusters, &cursor, &id, &cluster);) {
        drop_want(cluster, key);
        rules_registry_forget(((struct scanned_cluster *)cluster)->rules, key);
    }
}

static void rest(void *context)
{
    struct neuvector *neuvector = context;
    struct str id;
    void *value;

    neuvector->resting = true;
    for (size_t cursor = 0; dict_next(neuvector->clusters, &cursor, &id, &value);) {
        struct scanned_cluster *cluster = value;

        loop_timer_clear(cluster->timer);
        neuvector_client_rest(cluster->client);
        look_free(cluster->look);
        cluster->look = NULL;
    }
}

static bool is_busy(const void *context)
{
    const struct neuvector *neuvector = context;

    return neuvector_calls_end_sessions(&neuvector->calls);
}

struct neuvector *neuvector_create(const struct neuvector_options *options)
{
    struct neuvector *neuvector = mem_new(struct neuvector);
    struct error err = { .code = ERROR_NONE };

    if (credentials_check(options->folder, &err) < 0)
        log_warn(options->log, "credentials for NeuVector not read", LOG_Z("error", err.text));
    neuvector->observer = (struct observer){
        .open = open_cluster,
        .close = close_cluster,
        .observe = observe,
        .forget = forget,
        .rest = rest,
        .is_busy = is_busy,
        .context = neuvector,
    };
    neuvector->folder = options->folder;
    neuvector->log = options->log;
    neuvector->interval_ms = options->interval_ms;
    neuvector->rng = rng_from_seed(options->seed ^ 0x6e76);
    neuvector->clusters = dict_create();
    return neuvector;
}

void neuvector_free(struct neuvector *neuvector)
{
    if (!neuvector)
        return;
    close_cluster(neuvector, STR(""));
    dict_free(neuvector->clusters);
    neuvector_calls_free(&neuvector->calls);
    mem_free(neuvector);
}

const struct observer *neuvector_observer(const struct neuvector *neuvector)
{
    return &neuvector->observer;
}
