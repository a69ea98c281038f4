/* SPDX-License-Identifier: Apache-2.0 */
/* join.c: an image is scanned once a container of it is, wherever that runs. A compliance check
 * fails once a container of the image fails it. */
#include "controller/backends/neuvector/join.h"

#include <stdlib.h>

bool join_is_wanted(const struct wanted_scan_list *wanted, struct str workload)
{
    for (uint32_t i = 0; i < wanted->count; i++)
        if (release_has_workload(wanted->items[i].workloads, workload))
            return true;
    return false;
}

/* Of equal times the one that found more. */
static bool is_newer(const struct wire_workload *a, const struct wire_workload *b)
{
    if (!b || a->scanned_ms != b->scanned_ms)
        return !b || a->scanned_ms > b->scanned_ms;
    return a->critical != b->critical ? a->critical > b->critical : a->high > b->high;
}

static void join_one(struct joined *joined, const struct wire_workload *w)
{
    struct joined_image *image = map_get(joined->images, w->image_id);

    if (!image) {
        image = arena_new(joined->arena, struct joined_image);
        image->digest = w->image_id;
        map_put(joined->images, w->image_id, image);
    }
    switch (w->scan) {
    case WIRE_SCAN_FINISHED:
        if (is_newer(w, image->newest))
            image->newest = w;
        break;
    case WIRE_SCAN_UNDER_WAY:
        image->under_way = true;
        break;
    case WIRE_SCAN_IDLE:
    case WIRE_SCAN_FAILED:
        if (!image->waiting || w->scan == WIRE_SCAN_FAILED)
            image->waiting = w;
        break;
    }
}

static const struct wire_workload *workload_of(const struct joined *joined,
                                               const struct release_container *container)
{
    const struct wire_workload *w = map_get(joined->workloads, container->id);

    return w && w->image_id.len ? w : NULL;
}

struct joined join(struct arena *arena, const struct release_containers *containers,
                   const struct wire_workloads *workloads, const struct wanted_scan_list *wanted)
{
    struct joined joined = { arena, map_new(arena, workloads->count), map_new(arena, 16) };

    for (uint32_t i = 0; i < workloads->count; i++)
        map_put(joined.workloads, workloads->items[i].id, &workloads->items[i]);
    for (uint32_t i = 0; i < containers->count; i++) {
        const struct wire_workload *w = workload_of(&joined, &containers->items[i]);

        if (w && join_is_wanted(wanted, containers->items[i].workload))
            join_one(&joined, w);
    }
    return joined;
}

static bool counts_same(const struct scan_findings *known, const struct wire_workload *w)
{
    return known->scanned_ms == w->scanned_ms && known->high == w->high &&
           known->medium == w->medium && known->critical == w->critical;
}

/* What its report is to be read for. */
static enum report_state note(struct images *images, struct str digest,
                              const struct wire_workload *w)
{
    const struct scan_findings *known = images_find(images, digest);
    bool any = w->critical || w->high || w->medium;
    const struct scan_findings counted = { .critical = w->critical,
                                           .high = w->high,
                                           .medium = w->medium,
                                           .scanned_ms = w->scanned_ms,
                                           .report = any ? REPORT_PENDING : REPORT_COMPLETE };

    if (known && known->scanned_ms > w->scanned_ms)
        return REPORT_COMPLETE;
    if (!w->tells_critical && w->high)
        return known && known->scanned_ms == w->scanned_ms ? known->report : REPORT_PENDING;
    if (known && counts_same(known, w))
        return known->report;
    images_put(images, digest, &counted);
    return counted.report;
}

struct str_list join_findings(const struct joined *joined, struct images *images)
{
    struct str_list reports = str_list_new(joined->arena, 4);
    struct str_list again = str_list_new(joined->arena, 4);

    for (uint32_t i = 0; i < map_count(joined->images); i++) {
        const struct joined_image *image = map_value(joined->images, i);
        enum report_state report =
            image->newest ? note(images, image->digest, image->newest) : REPORT_COMPLETE;

        if (report != REPORT_COMPLETE)
            str_list_push(report == REPORT_PENDING ? &reports : &again, image->newest->id);
    }
    for (uint32_t i = 0; i < again.count; i++)
        str_list_push(&reports, again.items[i]);
    return reports;
}

void join_report(const struct joined *joined, struct str workload_id,
                 const struct scan_findings *report, struct images *images)
{
    const struct wire_workload *w = map_get(joined->workloads, workload_id);
    struct scan_findings found = *report;

    found.scanned_ms = w->scanned_ms;
    if (w->tells_critical) {
        found.critical = w->critical;
        found.high = w->high;
        found.medium = w->medium;
    }
    images_put(images, w->image_id, &found);
    /* The scanner counted some: that the list has none of them is no news. */
    if (!found.worst->list.count && (found.critical || found.high || found.medium))
        images_note_unreadable(images, w->image_id);
}

void join_unreadable(const struct joined *joined, struct str workload_id, struct images *images)
{
    const struct wire_workload *w = map_get(joined->workloads, workload_id);

    if (images_find(images, w->image_id))
        images_note_unreadable(images, w->image_id);
}

struct str_list join_unscanned(const struct joined *joined, const struct images *images,
                               int64_t since_ms)
{
    struct str_list ids = str_list_new(joined->arena, 4);

    for (uint32_t i = 0; i < map_count(joined->images); i++) {
        const struct joined_image *image = map_value(joined->images, i);

        if (!image->newest && !image->under_way && image->waiting &&
            !images_find(images, image->digest) &&
            !images_was_requested(images, image->digest, since_ms))
            str_list_push(&ids, image->waiting->id);
    }
    return ids;
}

void join_requested(const struct joined *joined, struct str workload_id, struct images *images,
                    int64_t now_ms)
{
    const struct wire_workload *w = map_get(joined->workloads, workload_id);

    images_note_request(images, w->image_id, now_ms);
}

/* The strictest that any wanted release asks for what `workload` controls; -1 = none is wanted. */
static int wanted_rank(const struct wanted_scan_list *wanted, struct str workload)
{
    int rank = -1;

    for (uint32_t i = 0; i < wanted->count; i++) {
        int one = wire_mode_rank(wire_mode_name(wanted->items[i].mode));

        if (one > rank && release_has_workload(wanted->items[i].workloads, workload))
            rank = one;
    }
    return rank;
}

/* Never loosened: a mode that is none of the three is not Herd's to change. */
static bool is_looser(struct str mode, int rank)
{
    int now = wire_mode_rank(mode);

    return now >= 0 && now < rank;
}

static unsigned looser_parts(const struct wire_workload *w, int rank)
{
    return (is_looser(w->policy_mode, rank) ? WIRE_POLICY_MODE : 0U) |
           (is_looser(w->profile_mode, rank) ? WIRE_PROFILE_MODE : 0U);
}

struct str_list join_services(const struct joined *joined,
                              const struct release_containers *containers,
                              const struct wanted_scan_list *wanted, enum policy_mode mode,
                              unsigned parts)
{
    int rank = wire_mode_rank(wire_mode_name(mode));
    struct str_list services = str_list_new(joined->arena, 4);

    for (uint32_t i = 0; i < containers->count; i++) {
        const struct wire_workload *w = workload_of(joined, &containers->items[i]);

        if (w && w->service.len && looser_parts(w, rank) == parts &&
            wanted_rank(wanted, containers->items[i].workload) == rank &&
            !str_list_has(&services, w->service))
            str_list_push(&services, w->service);
    }
    return services;
}

struct str_list join_groups(const struct joined *joined,
                            const struct release_containers *containers, struct str workloads)
{
    struct str_list groups = str_list_new(joined->arena, 4);

    for (uint32_t i = 0; i < containers->count; i++) {
        const struct wire_workload *w = workload_of(joined, &containers->items[i]);
        struct str group;

        if (!w || !w->service.len ||
            !release_has_workload(workloads, containers->items[i].workload))
            continue;
        group = str_fmt(joined->arena, "nv.%.*s", STR_ARG(w->service));
        if (!str_list_has(&groups, group))
            str_list_push(&groups, group);
    }
    return groups;
}

/* --- compliance --- */

/* NULL: nobody wants its checks, or NeuVector does not know it. */
static const struct wire_workload *checked_workload(const struct joined *joined,
                                                    const struct release_container *container,
                                                    const struct wanted_scan_list *wanted)
{
    for (uint32_t i = 0; i < wanted->count; i++)
        if (wanted->items[i].compliance &&
            release_has_workload(wanted->items[i].workloads, container->workload))
            return workload_of(joined, container);
    return NULL;
}

struct turn {
    struct str id;
    int64_t asked_ms;
};
LIST_DEFINE(turns, struct turn)

static int longest_ago_first(const void *a, const void *b)
{
    const struct turn *x = a;
    const struct turn *y = b;

    if (x->asked_ms != y->asked_ms)
        return x->asked_ms < y->asked_ms ? -1 : 1;
    return str_cmp(x->id, y->id);
}

struct str_list join_unchecked(const struct joined *joined,
                               const struct release_containers *containers,
                               const struct wanted_scan_list *wanted,
                               const struct compliance *compliance, int64_t since_ms)
{
    struct turns turns = turns_new(joined->arena, 4);
    struct str_list ids;

    for (uint32_t i = 0; i < containers->count; i++) {
        const struct wire_workload *w = checked_workload(joined, &containers->items[i], wanted);
        int64_t asked_ms = w ? compliance_asked_ms(compliance, w->id) : 0;

        if (w && asked_ms <= since_ms)
            turns_push(&turns, (struct turn){ w->id, asked_ms });
    }
    if (turns.count)
        qsort(turns.items, turns.count, sizeof(turns.items[0]), longest_ago_first);
    ids = str_list_new(joined->arena, turns.count);
    for (uint32_t i = 0; i < turns.count; i++)
        str_list_push(&ids, turns.items[i].id);
    return ids;
}

struct image_checks {
    struct check_list failed;
    const struct checks *last; /* that was added: many containers share one list */
    bool unknown, unasked;     /* are the checks of some container */
};

static void add_container(struct image_checks *sum, const struct compliance *compliance,
                          struct str id)
{
    const struct checks *failed = compliance_find(compliance, id);

    if (!failed) {
        sum->unknown = true;
        sum->unasked = sum->unasked || compliance_asked_ms(compliance, id) == COMPLIANCE_NEVER;
    } else if (failed != sum->last) {
        check_list_add(&sum->failed, &failed->list);
        sum->last = failed;
    }
}

static void put_checks(struct str digest, struct image_checks *sum, bool in_vain,
                       struct images *images)
{
    const struct checks *before = images_failed_checks(images, digest);

    if (sum->unknown && before)
        check_list_add(&sum->failed, &before->list);
    check_list_unite(&sum->failed);
    if (sum->failed.count > LIMIT_IMAGE_CHECKS)
        sum->failed.count = LIMIT_IMAGE_CHECKS;
    images_put_checks(images, digest, sum->last ? &sum->failed : NULL, sum->unasked && !in_vain);
}

void join_checks(const struct joined *joined, const struct release_containers *containers,
                 const struct wanted_scan_list *wanted, struct compliance *compliance, bool in_vain,
                 struct images *images)
{
    struct map *sums = map_new(joined->arena, map_count(joined->images));
    struct set known = set_new(joined->arena, containers->count);

    for (uint32_t i = 0; i < containers->count; i++) {
        const struct wire_workload *w = checked_workload(joined, &containers->items[i], wanted);
        struct image_checks *sum = w ? map_get(sums, w->image_id) : NULL;

        if (!w)
            continue;
        if (!sum) {
            sum = arena_new(joined->arena, struct image_checks);
            sum->failed = check_list_new(joined->arena, 8);
            map_put(sums, w->image_id, sum);
        }
        set_add(known, w->id);
        add_container(sum, compliance, w->id);
    }
    for (uint32_t i = 0; i < map_count(sums); i++)
        put_checks(map_key(sums, i), map_value(sums, i), in_vain, images);
    compliance_keep(compliance, known);
}

/* --- a release --- */

/* As NeuVector tells images apart, where the node tells the same digest. */
static struct str digest_of(const struct release_container *container)
{
    struct str prefix = STR("sha256:");

    if (!container->image_id.len)
        return container->id;
    return str_starts(container->image_id, prefix)
               ? str_slice(container->image_id, prefix.len, container->image_id.len)
               : container->image_id;
}

static struct observed_image image_of(const struct joined *joined,
                                      const struct release_container *container,
                                      const struct images *images, bool compliance)
{
    const struct wire_workload *w = workload_of(joined, container);
    const struct joined_image *image = w ? map_get(joined->images, w->image_id) : NULL;
    struct observed_image seen = { .name = container->image,
                                   .digest = digest_of(container),
                                   .failure = STR("") };
    const struct scan_findings *known;

    if (!image)
        return seen;
    known = images_find(images, image->digest);
    seen.digest = image->digest;
    seen.name = w->image.len ? w->image : container->image;
    if (compliance) {
        seen.failed_checks = images_failed_checks(images, image->digest);
        seen.checks_pending = images_checks_pending(images, image->digest);
    }
    if (known) {
        seen.scan = IMAGE_SCANNED;
        seen.findings = *known;
    } else if (!image->under_way && image->waiting && image->waiting->scan == WIRE_SCAN_FAILED) {
        seen.scan = IMAGE_FAILED;
        seen.failure = image->waiting->result;
    } else {
        seen.scan = IMAGE_QUEUED;
    }
    return seen;
}

static void add_image(struct observed_images *list, struct observed_image image)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].digest, image.digest))
            return;
    observed_images_push(list, image);
}

struct observed_scans join_scans(const struct joined *joined,
                                 const struct release_containers *containers,
                                 const struct wanted_scans *wanted, const struct images *images)
{
    struct observed_scans scans = { .known = true,
                                    .settled = wanted->deployed,
                                    .images = observed_images_new(joined->arena, 4) };

    for (uint32_t i = 0; i < containers->count; i++)
        if (release_has_workload(wanted->workloads, containers->items[i].workload))
            add_image(&scans.images,
                      image_of(joined, &containers->items[i], images, wanted->compliance));
    return scans;
}
