/* SPDX-License-Identifier: Apache-2.0 */
/* scan_listing.c: images by how bad they are, then findings of all images by how bad those are, and
 * failed compliance checks in the same way, as many as fit. */
#include "stack/plan/scan_listing.h"

#include "base/map.h"
#include "stack/plan/security.h"

#include <stdlib.h>

enum { SHOWN_MAX = 256 };

struct entry {
    const struct observed_image *image;
    struct str digest; /* as it may be shown */
    struct scan_places places;
    uint32_t places_omitted;
    uint32_t listed;
    const struct check_list *failed; /* NULL = not known */
    uint32_t checks_listed;
};
LIST_DEFINE(entries, struct entry)

struct candidate {
    struct vulnerability found;
    uint32_t entry; /* index of its image */
};
LIST_DEFINE(candidates, struct candidate)

struct failed_check {
    struct check check;
    uint32_t entry; /* index of its image */
};
LIST_DEFINE(failed_checks, struct failed_check)

/* What may be listed, worst first. */
struct listable {
    struct entries entries;
    struct candidates findings;
    struct failed_checks checks;
    uint32_t unknown; /* releases whose scans are */
};

struct budget {
    uint32_t images, findings, checks;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int64_t counted(const struct observed_image *image)
{
    const struct scan_findings *found = &image->findings;

    return (int64_t)found->critical + found->high + found->medium;
}

/* --- images --- */

static int compare_counts(uint32_t a, uint32_t b)
{
    return a > b ? -1 : a < b;
}

static int compare_entries(const void *a, const void *b)
{
    const struct observed_image *x = ((const struct entry *)a)->image;
    const struct observed_image *y = ((const struct entry *)b)->image;
    int order = compare_counts(x->findings.critical, y->findings.critical);

    if (!order)
        order = compare_counts(x->findings.high, y->findings.high);
    if (!order)
        order = compare_counts(x->findings.medium, y->findings.medium);
    if (!order)
        order = str_cmp(x->name, y->name);
    return order ? order : str_cmp(x->digest, y->digest);
}

static struct entries entries_of(struct arena *arena, const struct security *security)
{
    struct map *images = security->images;
    struct entries entries = entries_new(arena, map_count(images));

    for (uint32_t i = 0; i < map_count(images); i++)
        entries_push(&entries,
                     (struct entry){ .image = map_value(images, i),
                                     .digest = str_shown(arena, map_key(images, i), SHOWN_MAX),
                                     .places = scan_places_new(arena, 0),
                                     .failed = map_get(security->checks, map_key(images, i)) });
    if (entries.count)
        qsort(entries.items, entries.count, sizeof(entries.items[0]), compare_entries);
    return entries;
}

static void add_place(struct arena *arena, struct entry *entry,
                      const struct observed_cluster *cluster,
                      const struct observed_release *release)
{
    if (entry->places.count == LIMIT_SCAN_LISTING_PLACES) {
        entry->places_omitted++;
        return;
    }
    scan_places_push(
        &entry->places,
        (struct scan_place){ cluster->id, str_fmt(arena, "%.*s/%.*s", STR_ARG(release->namespace_),
                                                  STR_ARG(release->name)) });
}

/* Clusters and releases come in their order, so equal facts give equal lists. */
static void add_places(struct arena *arena, const struct stack *stack,
                       const struct observed *observed, struct entries *entries)
{
    struct map *by_digest = map_new(arena, entries->count);

    for (uint32_t i = 0; i < entries->count; i++)
        map_put(by_digest, entries->items[i].image->digest, &entries->items[i]);
    for (uint32_t i = 0; i < observed->clusters.count; i++) {
        const struct observed_cluster *cluster = &observed->clusters.items[i];

        for (uint32_t k = 0; k < cluster->releases.count; k++) {
            const struct observed_release *release = &cluster->releases.items[k];

            if (!observed_release_is_of(release, stack->meta.uid))
                continue;
            for (uint32_t n = 0; n < release->scans.images.count; n++) {
                struct entry *entry = map_get(by_digest, release->scans.images.items[n].digest);

                if (entry)
                    add_place(arena, entry, cluster, release);
            }
        }
    }
}

/* --- findings --- */

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;
    int order = vulnerability_cmp(&x->found, &y->found);

    return order ? order : x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void cut(struct candidates *all)
{
    if (all->count)
        qsort(all->items, all->count, sizeof(all->items[0]), compare_candidates);
    all->count = least(all->count, LIMIT_SCAN_LISTING_FINDINGS);
}

/* The worst of the images that are listed. Each image has its worst first: what is behind one that
 * has no place any more has none either. */
static struct candidates candidates_of(struct arena *arena, const struct entries *entries)
{
    struct candidates all = candidates_new(arena, 2 * LIMIT_SCAN_LISTING_FINDINGS);
    bool is_full = false;

    for (uint32_t i = 0; i < least(entries->count, LIMIT_SCAN_LISTING_IMAGES); i++) {
        const struct vulnerabilities *worst = entries->items[i].image->findings.worst;

        for (uint32_t k = 0; worst && k < worst->list.count; k++) {
            struct candidate one = { worst->list.items[k], i };

            if (is_full &&
                compare_candidates(&one, &all.items[LIMIT_SCAN_LISTING_FINDINGS - 1]) > 0)
                break;
            candidates_push(&all, one);
            if (all.count < 2 * LIMIT_SCAN_LISTING_FINDINGS)
                continue;
            cut(&all);
            is_full = true;
        }
    }
    cut(&all);
    return all;
}

static struct scan_finding finding_of(struct arena *arena, const struct candidate *candidate,
                                      const struct entries *entries)
{
    const struct vulnerability *found = &candidate->found;

    return (struct scan_finding){
        .cve = found->cve,
        .severity = vulnerability_severity_name(found->severity),
        .score = found->score > 0 ? str_fmt(arena, "%.1f", found->score) : STR(""),
        .package = found->package,
        .version = found->version,
        .fixed = found->fixed,
        .digest = entries->items[candidate->entry].digest,
    };
}

/* --- compliance --- */

static int compare_checks(const void *a, const void *b)
{
    const struct failed_check *x = a;
    const struct failed_check *y = b;
    int order = check_cmp(&x->check, &y->check);

    return order ? order : x->entry < y->entry ? -1 : x->entry > y->entry;
}

static struct failed_checks checks_of(struct arena *arena, const struct entries *entries)
{
    struct failed_checks all = failed_checks_new(arena, 16);

    for (uint32_t i = 0; i < least(entries->count, LIMIT_SCAN_LISTING_IMAGES); i++) {
        const struct check_list *failed = entries->items[i].failed;

        for (uint32_t k = 0; failed && k < failed->count; k++)
            failed_checks_push(&all, (struct failed_check){ failed->items[k], i });
    }
    if (all.count)
        qsort(all.items, all.count, sizeof(all.items[0]), compare_checks);
    return all;
}

static struct scan_check check_of(const struct failed_check *failed, const struct entries *entries)
{
    return (struct scan_check){
        .number = failed->check.number,
        .level = check_level_name(failed->check.level),
        .description = failed->check.description,
        .remediation = failed->check.remediation,
        .digest = entries->items[failed->entry].digest,
    };
}

static void list_checks(struct listable *all, const struct budget *budget, struct scan_checks *to)
{
    for (uint32_t i = 0; i < all->checks.count && to->count < budget->checks; i++) {
        const struct failed_check *one = &all->checks.items[i];

        if (one->entry >= budget->images)
            continue;
        all->entries.items[one->entry].checks_listed++;
        scan_checks_push(to, check_of(one, &all->entries));
    }
}

/* --- the report --- */

static struct str state_of(enum image_scan scan)
{
    switch (scan) {
    case IMAGE_UNCOVERED:
        return STR("NotCovered");
    case IMAGE_QUEUED:
        return STR("Queued");
    case IMAGE_FAILED:
        return STR("Failed");
    case IMAGE_SCANNED:
        break;
    }
    return STR("Scanned");
}

/* What was found may be of an older scan, which found more. */
static int64_t omitted_of(const struct entry *entry)
{
    int64_t omitted = counted(entry->image) - entry->listed;

    return omitted > 0 ? omitted : 0;
}

static int64_t known(const struct observed_image *image, uint32_t count)
{
    return image->scan == IMAGE_SCANNED ? (int64_t)count : -1;
}

static struct scan_image image_of(struct arena *arena, const struct entry *entry)
{
    const struct observed_image *image = entry->image;
    const struct scan_findings *found = &image->findings;
    bool scanned = image->scan == IMAGE_SCANNED;

    return (struct scan_image){
        .name = str_shown(arena, image->name, SHOWN_MAX),
        .digest = entry->digest,
        .state = state_of(image->scan),
        .last_scan_ms = scanned ? found->scanned_ms / 1000 * 1000 : 0,
        .critical = known(image, found->critical),
        .high = known(image, found->high),
        .medium = known(image, found->medium),
        .omitted = scanned ? omitted_of(entry) : 0,
        .failed_checks = entry->failed ? (int64_t)entry->failed->count : -1,
        .checks_omitted = entry->failed ? entry->failed->count - entry->checks_listed : 0,
        .places = entry->places,
        .places_omitted = entry->places_omitted,
    };
}

static void count_failed(const struct entry *entry, struct scan_summary *sum)
{
    if (!entry->failed)
        return;
    sum->failed_checks += entry->failed->count + (sum->failed_checks < 0);
    sum->checks_omitted += entry->failed->count - entry->checks_listed;
}

static struct scan_summary summary_of(const struct entries *entries, uint32_t listed)
{
    struct scan_summary sum = { .images = entries->count, .failed_checks = -1 };

    for (uint32_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];

        sum.images_omitted += i >= listed;
        count_failed(entry, &sum);
        if (entry->image->scan != IMAGE_SCANNED)
            continue;
        sum.scanned++;
        sum.critical += entry->image->findings.critical;
        sum.high += entry->image->findings.high;
        sum.medium += entry->image->findings.medium;
        sum.findings_omitted += omitted_of(entry);
    }
    if (!sum.scanned)
        sum.critical = sum.high = sum.medium = -1;
    return sum;
}

static void list_findings(struct arena *arena, struct listable *all, const struct budget *budget,
                          struct scan_findings_list *to)
{
    for (uint32_t i = 0; i < all->findings.count && to->count < budget->findings; i++) {
        const struct candidate *one = &all->findings.items[i];

        if (one->entry >= budget->images)
            continue;
        all->entries.items[one->entry].listed++;
        scan_findings_list_push(to, finding_of(arena, one, &all->entries));
    }
}

/* So many images, and so many findings and checks of these. */
static struct scan_report report_of(struct arena *arena, struct listable *all,
                                    const struct budget *budget)
{
    struct entries *entries = &all->entries;
    struct scan_report report = { .images = scan_images_new(arena, budget->images),
                                  .findings = scan_findings_list_new(arena, budget->findings),
                                  .checks = scan_checks_new(arena, budget->checks) };

    for (uint32_t i = 0; i < entries->count; i++)
        entries->items[i].listed = entries->items[i].checks_listed = 0;
    list_findings(arena, all, budget, &report.findings);
    list_checks(all, budget, &report.checks);
    for (uint32_t i = 0; i < budget->images; i++)
        scan_images_push(&report.images, image_of(arena, &entries->items[i]));
    report.summary = summary_of(entries, budget->images);
    report.summary.unknown = all->unknown;
    return report;
}

/* Names are as long as others make them: while it is too large, checks go first, then findings. */
static struct scan_report report_that_fits(struct arena *arena, struct listable *all)
{
    struct budget budget = { .images = least(all->entries.count, LIMIT_SCAN_LISTING_IMAGES),
                             .findings = least(all->findings.count, LIMIT_SCAN_LISTING_FINDINGS),
                             .checks = least(all->checks.count, LIMIT_SCAN_LISTING_CHECKS) };

    for (;;) {
        struct scan_report report = report_of(arena, all, &budget);

        if (scan_report_write(arena, &report).len <= LIMIT_SCAN_LISTING_BYTES)
            return report;
        if (budget.checks)
            budget.checks /= 2;
        else if (budget.findings)
            budget.findings /= 2;
        else
            budget.images /= 2;
    }
}

/* The list of an image is on its way: what is written now would be wrong in a moment. */
static bool awaits_reports(struct map *images)
{
    for (uint32_t i = 0; i < map_count(images); i++) {
        const struct observed_image *image = map_value(images, i);

        if (image->scan == IMAGE_SCANNED && image->findings.report == REPORT_PENDING)
            return true;
    }
    return false;
}

/* Verdicts are written into the releases, and the plan's are not ours. */
static struct release_states copy_releases(struct arena *arena, const struct plan *plan)
{
    struct release_states copy = release_states_new(arena, plan->releases.count);

    for (uint32_t i = 0; i < plan->releases.count; i++)
        release_states_push(&copy, plan->releases.items[i]);
    return copy;
}

static uint32_t count_unknown(const struct release_states *releases)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < releases->count; i++)
        count += releases->items[i].security_scan == SCAN_UNKNOWN;
    return count;
}

enum scan_listing scan_listing_of(struct arena *arena, const struct stack *stack,
                                  const struct observed *observed, const struct plan *plan,
                                  struct scan_report *ret_report)
{
    struct release_states releases;
    struct security security;
    struct listable all;

    if (stack->meta.deletion_timestamp.len)
        return SCAN_LISTING_STANDS;
    if (stack->spec.security != TOGGLE_ENABLED)
        return SCAN_LISTING_REMOVE;
    if (plan->kept)
        return SCAN_LISTING_STANDS;
    releases = copy_releases(arena, plan);
    security = security_of(arena, stack, observed, &releases);
    if (security.numbers_stand || security.checks_pending || awaits_reports(security.images))
        return SCAN_LISTING_STANDS;
    /* A report without images would read as if they were clean. */
    if (!map_count(security.images))
        return SCAN_LISTING_REMOVE;
    all.entries = entries_of(arena, &security);
    add_places(arena, stack, observed, &all.entries);
    all.findings = candidates_of(arena, &all.entries);
    all.checks = checks_of(arena, &all.entries);
    all.unknown = count_unknown(&releases);
    *ret_report = report_that_fits(arena, &all);
    return SCAN_LISTING_WRITE;
}
