/* SPDX-License-Identifier: Apache-2.0 */
/* seen.c: each look makes it anew, and copies what stands. */
#include "controller/backends/neuvector/seen.h"

#include "stack/model/reasons.h"

struct observed_scans seen_copy_scans(struct arena *arena, const struct observed_scans *scans)
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
    for (int i = 0; i < RULES_KINDS; i++)
        strbuf_fmt(&out, "%.*s %.*s\n", STR_ARG(seen->rules[i].reason),
                   STR_ARG(seen->rules[i].message));
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
    copy->scans = seen_copy_scans(seen->arena, scans);
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

bool seen_is_told_by_others(struct str reason)
{
    return str_eq(reason, REASON(NEUVECTOR_UNREACHABLE)) ||
           str_eq(reason, REASON(NEUVECTOR_UNEXPECTED_RESPONSE));
}

/* Words of others name a port or a time, which is another one at each look: while the trouble is
 * the same, so is the message, and no status is written. */
static struct str message_of(struct str reason_before, struct str message_before, struct str reason,
                             struct str message)
{
    return seen_is_told_by_others(reason) && str_eq(reason_before, reason) ? message_before
                                                                           : message;
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

/* What a look did not come to stands. */
static void put_rules_trouble(struct seen *seen, const struct seen *before,
                              const struct rules_result *rules)
{
    for (int i = 0; i < RULES_KINDS; i++) {
        const struct rules_trouble *was = &before->rules[i];
        const struct rules_trouble *is = rules ? &rules->troubles[i] : was;

        seen->rules[i].reason = str_dup(seen->arena, is->reason);
        seen->rules[i].message =
            str_dup(seen->arena, message_of(was->reason, was->message, is->reason, is->message));
    }
}

struct seen seen_of(const struct seen *before, const struct wanted_scan_list *wanted,
                    const struct look_result *result)
{
    struct arena *arena = arena_create(0);
    struct seen seen = { .arena = arena,
                         .scans = map_new(arena, wanted->count),
                         .reason = str_dup(arena, result->reason),
                         .message = str_dup(arena, message_of(before->reason, before->message,
                                                              result->reason, result->message)),
                         .looked = true,
                         .answers = result->complete };

    put_checks_trouble(&seen, before, result);
    put_rules_trouble(&seen, before, result->rules);
    if (!result->complete)
        keep_seen(&seen, before, wanted);
    for (uint32_t i = 0; result->complete && i < wanted->count; i++)
        put_seen(&seen, wanted->items[i].release, wanted->items[i].revision, &result->scans[i]);
    seen.text = seen_text(&seen);
    return seen;
}
