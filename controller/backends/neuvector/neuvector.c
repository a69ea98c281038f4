/* SPDX-License-Identifier: Apache-2.0 */
/* neuvector.c: for each cluster, what Stacks want, when it is looked at next, and what was seen
 * last. */
#include "controller/backends/neuvector/neuvector.h"

#include "base/memory.h"
#include "base/rng.h"
#include "controller/backends/neuvector/credentials.h"
#include "controller/backends/neuvector/look.h"
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

/* What was seen last. */
struct seen {
    struct arena *arena;
    struct map *scans; /* namespace/name -> struct seen_release */
    struct str reason, message;
    struct str checks_reason, checks_message; /* the same of compliance checks alone */
    bool looked;                              /* once, whatever came of it */
    bool answers;
    struct str text; /* all of it, to be compared */
};

struct seen_release {
    uint32_t revision;
    struct observed_scans scans;
};

struct scanned_cluster {
    struct neuvector *neuvector;
    struct connection *connection;
    const struct observer_events *events;
    struct neuvector_client *client;
    struct images *images;
    struct compliance *compliance;
    struct dict *wants; /* Stack -> struct want */
    struct loop_timer *timer;
    struct look *look;        /* NULL: none is under way */
    struct arena *looked_for; /* of this list: what the look is about */
    struct wanted_scan_list wanted;
    bool again;    /* what is wanted changed since it began */
    bool troubled; /* the last one did not read what it should */
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

static struct observed_scans copy_scans(struct arena *arena, const struct observed_scans *scans)
{
    struct observed_scans copy = { .known = scans->known,
                                   .settled = scans->settled,
                                   .images = observed_images_new(arena, scans->images.count) };

    for (uint32_t i = 0; i < scans->images.count; i++) {
        struct observed_image image = scans->images.items[i];

        image.digest = str_dup(arena, image.digest);
        image.name = str_dup(arena, image.name);
        image.failure = str_dup(arena, image.failure);
        image.findings.worst = vulnerabilities_lend(arena, image.findings.worst);
        image.failed_checks = checks_lend(arena, image.failed_checks);
        observed_images_push(&copy.images, image);
    }
    return copy;
}

static void show_image(struct strbuf *out, const struct observed_image *image)
{
    const struct scan_findings *found = &image->findings;

    strbuf_fmt(out, " %.*s %.*s %d %.*s", STR_ARG(image->digest), STR_ARG(image->name), image->scan,
               STR_ARG(image->failure));
    /* A list never changes: another one is at another place. */
    strbuf_fmt(out, " %u %u %u %lld %d %p %p %d\n", found->critical, found->high, found->medium,
               (long long)found->scanned_ms, found->report, (const void *)found->worst,
               (const void *)image->failed_checks, image->checks_pending);
}

static struct str seen_text(const struct seen *seen)
{
    struct strbuf out = strbuf_new(seen->arena, 1024);

    strbuf_fmt(&out, "%d %d %.*s %.*s %.*s %.*s\n", seen->looked, seen->answers,
               STR_ARG(seen->reason), STR_ARG(seen->message), STR_ARG(seen->checks_reason),
               STR_ARG(seen->checks_message));
    for (uint32_t i = 0; i < map_count(seen->scans); i++) {
        const struct seen_release *release = map_value(seen->scans, i);

        strbuf_fmt(&out, "%.*s %u %d\n", STR_ARG(map_key(seen->scans, i)), release->revision,
                   release->scans.settled);
        for (uint32_t k = 0; k < release->scans.images.count; k++)
            show_image(&out, &release->scans.images.items[k]);
    }
    return strbuf_str(&out);
}

static void put_seen(struct seen *seen, struct str release, uint32_t revision,
                     const struct observed_scans *scans)
{
    struct seen_release *copy = arena_new(seen->arena, struct seen_release);

    copy->revision = revision;
    copy->scans = copy_scans(seen->arena, scans);
    map_put(seen->scans, str_dup(seen->arena, release), copy);
}

/* What could not be read now is as it was, for what is still wanted. */
static void keep_seen(struct seen *seen, const struct seen *before,
                      const struct wanted_scan_list *wanted)
{
    for (uint32_t i = 0; before->scans && i < wanted->count; i++) {
        const struct seen_release *known = map_get(before->scans, wanted->items[i].release);

        if (known)
            put_seen(seen, wanted->items[i].release, known->revision, &known->scans);
    }
}

/* Its message has the words of others. */
static bool is_told_by_others(struct str reason)
{
    return str_eq(reason, REASON(NEUVECTOR_UNREACHABLE)) ||
           str_eq(reason, REASON(NEUVECTOR_UNEXPECTED_RESPONSE));
}

/* Words of others name a port or a time, which is another one at each look: while the trouble is
 * the same, so is the message, and no status is written. */
static struct str message_of(struct str reason_before, struct str message_before, struct str reason,
                             struct str message)
{
    return is_told_by_others(reason) && str_eq(reason_before, reason) ? message_before : message;
}

static void put_checks_trouble(struct seen *seen, const struct seen *before,
                               const struct look_result *result)
{
    bool asked = result->checks_asked;

    seen->checks_reason =
        str_dup(seen->arena, asked ? result->checks_reason : before->checks_reason);
    seen->checks_message =
        str_dup(seen->arena, asked ? message_of(before->checks_reason, before->checks_message,
                                                result->checks_reason, result->checks_message)
                                   : before->checks_message);
}

static struct seen seen_of(const struct scanned_cluster *cluster, const struct look_result *result)
{
    struct arena *arena = arena_create(0);
    const struct seen *before = &cluster->seen;
    struct seen seen = { .arena = arena,
                         .scans = map_new(arena, cluster->wanted.count),
                         .reason = str_dup(arena, result->reason),
                         .message = str_dup(arena, message_of(before->reason, before->message,
                                                              result->reason, result->message)),
                         .looked = true,
                         .answers = result->complete };

    put_checks_trouble(&seen, before, result);
    if (!result->complete)
        keep_seen(&seen, before, &cluster->wanted);
    for (uint32_t i = 0; result->complete && i < cluster->wanted.count; i++)
        put_seen(&seen, cluster->wanted.items[i].release, cluster->wanted.items[i].revision,
                 &result->scans[i]);
    seen.text = seen_text(&seen);
    return seen;
}

static void tell_all(struct scanned_cluster *cluster)
{
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(cluster->wants, &cursor, &key, &value);)
        cluster->events->stack_changed(cluster->events->context, key);
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
           is_told_by_others(result->reason);
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

static void on_looked(void *context, const struct look_result *result)
{
    struct scanned_cluster *cluster = context;

    loop_timer_set(cluster->timer, wait_after(cluster, result));
    if (!is_flicker(cluster, result))
        replace_seen(cluster, seen_of(cluster, result));
    cluster->troubled = !result->complete;
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
    if (!cluster->wanted.count) {
        neuvector_client_rest(cluster->client);
        return;
    }
    cluster->look = look_begin(&(struct look_options){
        .client = cluster->client,
        .images = cluster->images,
        .compliance = cluster->compliance,
        .cluster_id = connection_id(cluster->connection),
        .wanted = &cluster->wanted,
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
            release->scans = copy_scans(arena, &known->scans);
    }
}

static void observe(void *context, struct str cluster_id, struct arena *arena, struct str key,
                    const struct stack *stack, int64_t now_ms, struct observed_cluster *ret_cluster)
{
    struct neuvector *neuvector = context;
    struct scanned_cluster *cluster = dict_get(neuvector->clusters, cluster_id);

    (void)now_ms;
    if (!cluster)
        return;
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

    for (size_t cursor = 0; dict_next(neuvector->clusters, &cursor, &id, &cluster);)
        drop_want(cluster, key);
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
