/* SPDX-License-Identifier: Apache-2.0 */
/* images.c: one entry for each digest. */
#include "controller/backends/neuvector/images.h"

#include "base/map.h"
#include "base/memory.h"

struct entry {
    struct scan_findings findings;
    bool scanned;
    bool requested;
    int64_t requested_ms;
    struct checks *failed; /* NULL = not known */
    bool checks_pending;
};

struct images {
    struct dict *entries;
};

struct images *images_create(void)
{
    struct images *images = mem_new(struct images);

    images->entries = dict_create();
    return images;
}

static void entry_free(struct entry *entry)
{
    vulnerabilities_unref(entry->findings.worst);
    checks_unref(entry->failed);
    mem_free(entry);
}

void images_free(struct images *images)
{
    struct str digest;
    void *entry;

    if (!images)
        return;
    for (size_t cursor = 0; dict_next(images->entries, &cursor, &digest, &entry);)
        entry_free(entry);
    dict_free(images->entries);
    mem_free(images);
}

static struct entry *entry_of(struct images *images, struct str digest)
{
    struct entry *entry = dict_get(images->entries, digest);

    if (entry)
        return entry;
    entry = mem_new(struct entry);
    dict_set(images->entries, digest, entry);
    return entry;
}

const struct scan_findings *images_find(const struct images *images, struct str digest)
{
    const struct entry *entry = dict_get(images->entries, digest);

    return entry && entry->scanned ? &entry->findings : NULL;
}

void images_put(struct images *images, struct str digest, const struct scan_findings *findings)
{
    struct entry *entry = entry_of(images, digest);

    if (entry->scanned && findings->scanned_ms < entry->findings.scanned_ms)
        return;

    struct vulnerabilities *before = entry->findings.worst;

    entry->scanned = true;
    entry->findings = *findings;
    if (findings->worst) {
        entry->findings.worst = vulnerabilities_ref(findings->worst);
        vulnerabilities_unref(before);
    } else {
        entry->findings.worst = before;
    }
}

void images_note_unreadable(struct images *images, struct str digest)
{
    entry_of(images, digest)->findings.report = REPORT_UNREADABLE;
}

struct checks *images_failed_checks(const struct images *images, struct str digest)
{
    const struct entry *entry = dict_get(images->entries, digest);

    return entry ? entry->failed : NULL;
}

bool images_checks_pending(const struct images *images, struct str digest)
{
    const struct entry *entry = dict_get(images->entries, digest);

    return entry && entry->checks_pending;
}

void images_put_checks(struct images *images, struct str digest, const struct check_list *failed,
                       bool pending)
{
    struct entry *entry = entry_of(images, digest);

    if (failed && !(entry->failed && check_list_eq(&entry->failed->list, failed))) {
        struct checks *before = entry->failed;

        entry->failed = checks_create(failed);
        checks_unref(before);
    }
    entry->checks_pending = pending && !entry->failed;
}

void images_keep(struct images *images, struct set digests)
{
    struct str digest;
    void *entry;

    for (size_t cursor = 0; dict_next(images->entries, &cursor, &digest, &entry);)
        if (!set_has(digests, digest)) {
            dict_remove(images->entries, digest);
            entry_free(entry);
        }
}

void images_note_request(struct images *images, struct str digest, int64_t now_ms)
{
    struct entry *entry = entry_of(images, digest);

    entry->requested = true;
    entry->requested_ms = now_ms;
}

bool images_was_requested(const struct images *images, struct str digest, int64_t since_ms)
{
    const struct entry *entry = dict_get(images->entries, digest);

    return entry && entry->requested && entry->requested_ms > since_ms;
}
