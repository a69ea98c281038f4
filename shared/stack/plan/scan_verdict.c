/* SPDX-License-Identifier: Apache-2.0 */
/* scan_verdict.c: vulnerabilities are summed over the images of the release and compared with the
 * thresholds; then every image must have been scanned. */
#include "stack/plan/scan_verdict.h"

#include "stack/model/reasons.h"

#include <inttypes.h>

enum { SHOWN_NAME_MAX = 200 };

struct evaluation {
    struct arena *arena;
    const struct observed_cluster *cluster; /* which is read */
    const struct thresholds *thresholds;
    struct str who; /* "chart on cluster" */
    struct release_verdict result;
};

static void say(struct evaluation *e, enum scan_verdict verdict, enum scan_rank rank,
                struct str reason, struct str message)
{
    e->result.verdict = verdict;
    e->result.rank = rank;
    e->result.reason = reason;
    e->result.message = message;
}

struct sums {
    int64_t critical, high;
    const struct observed_image *worst; /* with a CVE that was read; else NULL */
};

static bool is_worse(const struct observed_image *a, const struct observed_image *b)
{
    const struct scan_findings *x = &a->findings;
    const struct scan_findings *y = &b->findings;

    if (x->critical != y->critical)
        return x->critical > y->critical;
    return x->high != y->high ? x->high > y->high : str_cmp(a->digest, b->digest) < 0;
}

/* NULL: none was read. */
static const struct vulnerability *worst_in(const struct observed_image *image)
{
    const struct vulnerabilities *worst = image->findings.worst;

    return worst && worst->list.count ? &worst->list.items[0] : NULL;
}

static struct sums sums_of(const struct observed_images *images)
{
    struct sums sums = { 0 };

    for (uint32_t i = 0; i < images->count; i++) {
        const struct observed_image *image = &images->items[i];

        if (image->scan != IMAGE_SCANNED)
            continue;
        sums.critical += image->findings.critical;
        sums.high += image->findings.high;
        if (worst_in(image) && (!sums.worst || is_worse(image, sums.worst)))
            sums.worst = image;
    }
    return sums;
}

bool scan_tells_more(const struct observed_image *a, const struct observed_image *b)
{
    if (a->scan != b->scan)
        return a->scan > b->scan;
    if (a->findings.scanned_ms != b->findings.scanned_ms)
        return a->findings.scanned_ms > b->findings.scanned_ms;
    return is_worse(a, b);
}

static bool exceeds(int64_t count, int64_t allowed)
{
    return allowed >= 0 && count > allowed;
}

static struct str allowed(struct evaluation *e, const char *severity, int64_t count, int64_t most)
{
    if (!exceeds(count, most))
        return STR("");
    return str_fmt(e->arena, "%" PRId64 " %s %s (allowed: %" PRId64 ")", count, severity,
                   count == 1 ? "vulnerability" : "vulnerabilities", most);
}

static struct str worst_of(struct evaluation *e, const struct observed_image *image)
{
    const struct vulnerability *found = worst_in(image);
    struct str fix = found->fixed.len
                         ? str_fmt(e->arena, "fixed in %.*s",
                                   STR_ARG(str_shown(e->arena, found->fixed, SHOWN_NAME_MAX)))
                         : STR("no fixed version is known");

    return str_fmt(e->arena, "; the worst is %.*s in %.*s %.*s (%.*s) of image %.*s",
                   STR_ARG(str_shown(e->arena, found->cve, SHOWN_NAME_MAX)),
                   STR_ARG(str_shown(e->arena, found->package, SHOWN_NAME_MAX)),
                   STR_ARG(str_shown(e->arena, found->version, SHOWN_NAME_MAX)), STR_ARG(fix),
                   STR_ARG(str_shown(e->arena, image->name, SHOWN_NAME_MAX)));
}

static bool is_exceeded(struct evaluation *e, const struct observed_images *images)
{
    struct sums sums = sums_of(images);
    struct str critical = allowed(e, "critical", sums.critical, e->thresholds->critical);
    struct str high = allowed(e, "high", sums.high, e->thresholds->high);

    if (!critical.len && !high.len)
        return false;
    say(e, SCAN_FAILED, RANK_EXCEEDED, REASON(THRESHOLDS_EXCEEDED),
        str_fmt(e->arena, "%.*s has %.*s%s%.*s%.*s", STR_ARG(e->who), STR_ARG(critical),
                critical.len && high.len ? " and " : "", STR_ARG(high),
                STR_ARG(sums.worst ? worst_of(e, sums.worst) : STR(""))));
    return true;
}

static const struct observed_image *first_in(const struct observed_images *images,
                                             enum image_scan scan)
{
    for (uint32_t i = 0; i < images->count; i++)
        if (images->items[i].scan == scan)
            return &images->items[i];
    return NULL;
}

/* Of images none of which exceeds anything as far as they were scanned. */
static void evaluate_coverage(struct evaluation *e, const struct observed_images *images)
{
    const struct observed_image *failed = first_in(images, IMAGE_FAILED);
    const struct observed_image *uncovered = first_in(images, IMAGE_UNCOVERED);
    const struct observed_image *queued = first_in(images, IMAGE_QUEUED);

    if (failed)
        say(e, SCAN_UNKNOWN, RANK_SCAN_FAILED, REASON(IMAGE_SCAN_FAILED),
            str_fmt(e->arena, "%.*s: NeuVector could not scan image %.*s: %.*s", STR_ARG(e->who),
                    STR_ARG(str_shown(e->arena, failed->name, SHOWN_NAME_MAX)),
                    STR_ARG(str_shown(e->arena, failed->failure, SHOWN_NAME_MAX))));
    else if (uncovered)
        say(e, SCAN_UNKNOWN, RANK_UNCOVERED, REASON(CONTAINER_NOT_COVERED),
            str_fmt(e->arena, "%.*s: NeuVector does not know the container of image %.*s",
                    STR_ARG(e->who),
                    STR_ARG(str_shown(e->arena, uncovered->name, SHOWN_NAME_MAX))));
    else if (queued && e->cluster->scan_reason.len)
        /* Nobody may scan it, or nobody says so: the cluster's trouble is the reason. */
        say(e, SCAN_UNKNOWN, RANK_SCANNING, e->cluster->scan_reason, e->cluster->scan_message);
    else if (queued)
        say(e, SCAN_SCANNING, RANK_SCANNING, REASON(SCAN_RUNNING),
            str_fmt(e->arena, "%.*s: image %.*s is being scanned", STR_ARG(e->who),
                    STR_ARG(str_shown(e->arena, queued->name, SHOWN_NAME_MAX))));
    else
        e->result.verdict = SCAN_PASSED;
}

static void evaluate_images(struct evaluation *e, const struct observed_images *images)
{
    e->result.incomplete = first_in(images, IMAGE_QUEUED) || first_in(images, IMAGE_UNCOVERED);
    if (is_exceeded(e, images))
        return;
    if (images->count)
        evaluate_coverage(e, images);
    else
        say(e, SCAN_UNKNOWN, RANK_PENDING, REASON(NOTHING_TO_SCAN),
            str_fmt(e->arena, "%.*s: none of its containers runs", STR_ARG(e->who)));
}

bool scan_is_pending(const struct observed_release *release)
{
    return release->workloads.len && !release->scans.known;
}

static void evaluate(struct evaluation *e, const struct observed_release *release)
{
    if (!release) {
        say(e, SCAN_NONE, RANK_PENDING, REASON(NOTHING_TO_SCAN),
            str_fmt(e->arena, "%.*s is not installed", STR_ARG(e->who)));
    } else if (scan_is_pending(release)) {
        e->result.incomplete = true;
        say(e, SCAN_UNKNOWN, RANK_PENDING, REASON(SCAN_PENDING),
            str_fmt(e->arena, "NeuVector has not been asked about %.*s yet", STR_ARG(e->who)));
    } else if (release->workloads.len) {
        evaluate_images(e, &release->scans.images);
    }
}

struct release_verdict scan_verdict_of(struct arena *arena, const struct thresholds *thresholds,
                                       const struct release_state *state,
                                       const struct observed_cluster *cluster,
                                       const struct observed_release *release)
{
    struct evaluation e = {
        .arena = arena,
        .cluster = cluster,
        .thresholds = thresholds,
        .who =
            str_fmt(arena, "%.*s on %.*s", STR_ARG(state->chart_name), STR_ARG(state->cluster_id)),
        .result = { .rank = RANK_NONE, .reason = STR(""), .message = STR("") },
    };

    if (cluster && cluster->state == CLUSTER_READ)
        evaluate(&e, release);
    else
        e.result = (struct release_verdict){ SCAN_UNKNOWN, true, RANK_NONE, STR(""), STR("") };
    return e.result;
}
