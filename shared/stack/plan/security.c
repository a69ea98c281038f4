/* SPDX-License-Identifier: Apache-2.0 */
/* security.c: a verdict for each release, the worst of them for the Stack, and a sum in which each
 * image counts once, however many releases and clusters run it. */
#include "stack/plan/security.h"

#include "base/map.h"
#include "stack/plan/scan_verdict.h"

struct evaluation {
    struct arena *arena;
    const struct stack *stack;
    const struct observed *observed;
    struct map *images;  /* digest -> const struct observed_image: the one that tells most */
    struct map *checks;  /* digest -> struct check_list: what is known to fail, on any cluster */
    bool unchecked;      /* of some image that is not known, */
    bool checks_pending; /* because nobody has asked yet */
    struct str checks_reason, checks_message; /* why the checks of a cluster cannot be read */
    struct str rules_reason, rules_message;   /* why rules are not as wanted there */
    struct map *clusters;                     /* id -> const struct observed_cluster */
    struct map *releases; /* "cluster\nnamespace/name" -> const struct observed_release */
    bool incomplete;      /* of some release it is not known what runs, or what is in it */
    bool starting;        /* because nobody has asked yet */
    uint32_t passed;
    enum scan_rank rank;
    struct str reason, message; /* of the first with that rank, */
    uint32_t others;            /* and how many more there are */
};

/* --- what was observed, by name --- */

static struct str release_key(struct arena *arena, struct str cluster, struct str namespace_,
                              struct str name)
{
    return str_fmt(arena, "%.*s\n%.*s/%.*s", STR_ARG(cluster), STR_ARG(namespace_), STR_ARG(name));
}

static void index_cluster(struct evaluation *e, struct observed_cluster *cluster)
{
    map_put(e->clusters, cluster->id, cluster);
    for (uint32_t i = 0; i < cluster->releases.count; i++) {
        struct observed_release *release = &cluster->releases.items[i];

        if (observed_release_is_of(release, e->stack->meta.uid))
            map_put(e->releases,
                    release_key(e->arena, cluster->id, release->namespace_, release->name),
                    release);
    }
}

/* --- the Stack's condition --- */

static void say(struct evaluation *e, enum scan_rank rank, struct str reason, struct str message)
{
    if (rank == e->rank)
        e->others++;
    if (rank >= e->rank)
        return;
    e->rank = rank;
    e->reason = reason;
    e->message = message;
    e->others = 0;
}

/* --- a release --- */

static bool wants_checks(const struct evaluation *e)
{
    return e->stack->spec.security_profile.compliance == TOGGLE_ENABLED;
}

static void count_checks(struct evaluation *e, const struct observed_image *image)
{
    struct check_list *known = map_get(e->checks, image->digest);

    if (!image->failed_checks) {
        e->unchecked = true;
        e->checks_pending = e->checks_pending || image->checks_pending;
        return;
    }
    if (!known) {
        known = arena_new(e->arena, struct check_list);
        *known = check_list_new(e->arena, image->failed_checks->list.count);
        map_put(e->checks, image->digest, known);
    }
    check_list_add(known, &image->failed_checks->list);
}

/* One image may be scanned on one cluster and awaited on another: what was found counts. */
static void count_images(struct evaluation *e, const struct observed_images *images)
{
    for (uint32_t i = 0; i < images->count; i++) {
        struct observed_image *image = &images->items[i];
        const struct observed_image *known = map_get(e->images, image->digest);

        if (!known || scan_tells_more(image, known))
            map_put(e->images, image->digest, image);
        if (wants_checks(e))
            count_checks(e, image);
    }
}

/* What exceeds a threshold is said where the scanner answers: else it may be so no more. What goes
 * on where the Stack leaves is no trouble of the Stack; what runs there still counts. */
static enum scan_verdict evaluate_release(struct evaluation *e, const struct release_state *s)
{
    const struct observed_cluster *cluster = map_get(e->clusters, s->cluster_id);
    const struct observed_release *release =
        map_get(e->releases, release_key(e->arena, s->cluster_id, s->namespace_, s->release_name));
    const struct release_verdict found =
        scan_verdict_of(e->arena, &e->stack->spec.security_profile.thresholds, s, cluster, release);

    bool leaves = cluster && !cluster->targeted;

    e->incomplete = e->incomplete || (found.incomplete && !leaves);
    if (cluster && cluster->state == CLUSTER_READ && release) {
        e->starting =
            e->starting || (scan_is_pending(release) && cluster->scans_starting && !leaves);
        if (release->scans.known)
            count_images(e, &release->scans.images);
    }
    if (!leaves && (found.rank != RANK_EXCEEDED || !cluster->scan_reason.len))
        say(e, found.rank, found.reason, found.message);
    return found.verdict;
}

/* --- the Stack --- */

static struct str unseen_reason(const struct observed_cluster *cluster)
{
    return cluster->state == CLUSTER_NOT_SYNCED ? REASON(CLUSTER_NOT_SYNCED)
           : cluster->state == CLUSTER_STALE    ? REASON(CLUSTER_STALE)
                                                : REASON(CLUSTER_UNREACHABLE);
}

static void evaluate_cluster(struct evaluation *e, const struct observed_cluster *cluster)
{
    if (!cluster->targeted)
        return;
    if (cluster->state == CLUSTER_READ && cluster->checks_reason.len && !e->checks_reason.len) {
        e->checks_reason = cluster->checks_reason;
        e->checks_message = cluster->checks_message;
    }
    if (cluster->state == CLUSTER_READ && cluster->rules_reason.len && !e->rules_reason.len) {
        e->rules_reason = cluster->rules_reason;
        e->rules_message = cluster->rules_message;
    }
    if (cluster->state == CLUSTER_READ && cluster->scan_reason.len)
        say(e, RANK_TROUBLE, cluster->scan_reason, cluster->scan_message);
    else if (cluster->state != CLUSTER_READ && cluster->state != CLUSTER_GONE)
        say(e, RANK_UNSEEN, unseen_reason(cluster),
            str_fmt(e->arena, "the scans on cluster %.*s are not known, because it cannot be read",
                    STR_ARG(cluster->id)));
}

/* One that does not answer may be there all the same. */
static enum condition_status every_scanner_answers(const struct evaluation *e)
{
    const struct observed_clusters *clusters = &e->observed->clusters;
    uint32_t read = 0, answers = 0;

    for (uint32_t i = 0; i < clusters->count; i++) {
        const struct observed_cluster *cluster = &clusters->items[i];

        if (!cluster->targeted || cluster->state != CLUSTER_READ)
            continue;
        if (str_eq(cluster->scan_reason, REASON(NEUVECTOR_NOT_FOUND)))
            return CONDITION_FALSE;
        read++;
        answers += cluster->scanner_answers;
    }
    return read && answers == read ? CONDITION_TRUE : CONDITION_UNKNOWN;
}

static struct security_status sum_up(const struct evaluation *e)
{
    struct security_status sum = { .total_images = map_count(e->images) };

    for (uint32_t i = 0; i < map_count(e->images); i++) {
        const struct observed_image *image = map_value(e->images, i);
        const struct scan_findings *found = &image->findings;

        if (image->scan != IMAGE_SCANNED)
            continue;
        sum.scanned_images++;
        sum.critical += found->critical;
        sum.high += found->high;
        sum.vulnerabilities += (int64_t)found->critical + found->high + found->medium;
        if (found->scanned_ms > sum.last_scan_ms)
            sum.last_scan_ms = found->scanned_ms / 1000 * 1000;
    }
    if (!sum.scanned_images)
        sum.vulnerabilities = sum.critical = sum.high = -1;
    return sum;
}

/* While it is not known what runs of some release, or no scan tells what is in an image, fewer
 * images than before are no news. */
static struct security_status numbers_of(const struct evaluation *e, bool *ret_stand)
{
    const struct stack_status *before = e->observed->before;
    struct security_status sum = sum_up(e);

    *ret_stand = e->incomplete && !sum.scanned_images;
    if (before && e->incomplete && before->security.scanned_images > sum.scanned_images) {
        *ret_stand = true;
        return before->security;
    }
    if (e->incomplete && !sum.total_images)
        sum.scanned_images = sum.total_images = -1;
    return sum;
}

/* Each check once for an image. While the checks of some image are not known, a smaller number than
 * before is no news. */
static int64_t failed_checks_of(const struct evaluation *e)
{
    const struct stack_status *before = e->observed->before;
    int64_t sum = map_count(e->checks) ? 0 : -1;

    if (!wants_checks(e))
        return -1;
    for (uint32_t i = 0; i < map_count(e->checks); i++) {
        struct check_list *failed = map_value(e->checks, i);

        check_list_unite(failed);
        sum += failed->count;
    }
    if (before && (e->incomplete || e->unchecked) && before->security.compliance_failures > sum)
        return before->security.compliance_failures;
    return sum;
}

static enum scan_progress progress_of(const struct evaluation *e)
{
    switch (e->rank) {
    case RANK_EXCEEDED:
        return SCANS_FAILED;
    case RANK_TROUBLE:
    case RANK_UNSEEN:
    case RANK_SCAN_FAILED:
    case RANK_UNCOVERED:
        return SCANS_UNKNOWN;
    case RANK_PENDING:
        return SCANS_PENDING;
    case RANK_SCANNING:
        return SCANS_SCANNING;
    case RANK_NONE:
        break;
    }
    return e->passed ? SCANS_COMPLETED : SCANS_PENDING;
}

static struct str message_of(const struct evaluation *e)
{
    return e->others ? str_fmt(e->arena, "%.*s; and %u more", STR_ARG(e->message), e->others)
                     : e->message;
}

static enum condition_status holds(enum scan_progress progress)
{
    return progress == SCANS_COMPLETED ? CONDITION_TRUE
           : progress == SCANS_FAILED  ? CONDITION_FALSE
                                       : CONDITION_UNKNOWN;
}

/* No verdict depends on compliance checks and rules: what is wrong with them is told only here.
 * What somebody relies on to reject pods goes first. */
static void conclude_passed(const struct evaluation *e, struct security *security)
{
    bool unchecked = wants_checks(e) && e->checks_reason.len;

    security->reason = e->rules_reason.len ? e->rules_reason
                       : unchecked         ? e->checks_reason
                                           : REASON(NEUVECTOR_SCAN_COMPLETED);
    security->message =
        str_fmt(e->arena, "every image was scanned, and none exceeds a threshold%s%.*s%s%.*s",
                e->rules_reason.len ? "; rules in NeuVector are not in effect: " : "",
                STR_ARG(e->rules_message), unchecked ? "; compliance checks are not known: " : "",
                STR_ARG(unchecked ? e->checks_message : STR("")));
}

static void conclude(struct evaluation *e, struct security *security)
{
    security->status = numbers_of(e, &security->numbers_stand);
    security->status.compliance_failures = failed_checks_of(e);
    security->images = e->images;
    security->checks = e->checks;
    security->checks_pending = e->checks_pending;
    security->status.progress = progress_of(e);
    security->status.scanner_answers = every_scanner_answers(e);
    security->holds = holds(security->status.progress);
    if (e->rank < RANK_NONE) {
        security->reason = e->reason;
        security->message = message_of(e);
    } else if (e->passed) {
        conclude_passed(e, security);
    } else {
        security->reason = REASON(NOTHING_TO_SCAN);
        security->message = STR("no container of the Stack's releases runs");
    }
}

/* A process that has just begun knows less than the status. The verdicts are still those of the
 * status, because entries are made from its. */
static bool keep(struct evaluation *e, struct security *security)
{
    const struct stack_status *before = e->observed->before;
    const struct kube_condition *held =
        before ? kube_condition_find(&before->conditions, STR("SecurityScanned")) : NULL;

    if (!held)
        return false;
    security->status = before->security;
    if (!wants_checks(e))
        security->status.compliance_failures = -1;
    security->numbers_stand = true;
    security->images = e->images;
    security->checks = e->checks;
    security->checks_pending = e->checks_pending;
    security->holds = held->status;
    security->reason = held->reason;
    security->message = held->message;
    return true;
}

struct security security_of(struct arena *arena, const struct stack *stack,
                            const struct observed *observed, struct release_states *releases)
{
    struct evaluation e = {
        .arena = arena,
        .stack = stack,
        .observed = observed,
        .images = map_new(arena, 16),
        .checks = map_new(arena, 16),
        .checks_reason = STR(""),
        .checks_message = STR(""),
        .rules_reason = STR(""),
        .rules_message = STR(""),
        .clusters = map_new(arena, observed->clusters.count),
        .releases = map_new(arena, releases->count),
        .rank = RANK_NONE,
        .reason = STR(""),
        .message = STR(""),
    };
    struct security security;
    enum scan_verdict *verdicts;

    for (uint32_t i = 0; i < observed->clusters.count; i++) {
        index_cluster(&e, &observed->clusters.items[i]);
        evaluate_cluster(&e, &observed->clusters.items[i]);
    }
    verdicts = arena_array(arena, enum scan_verdict, releases->count);
    for (uint32_t i = 0; i < releases->count; i++) {
        verdicts[i] = evaluate_release(&e, &releases->items[i]);
        e.passed += verdicts[i] == SCAN_PASSED;
    }
    if (e.starting && keep(&e, &security))
        return security;
    for (uint32_t i = 0; i < releases->count; i++)
        releases->items[i].security_scan = verdicts[i];
    conclude(&e, &security);
    return security;
}
