/* SPDX-License-Identifier: Apache-2.0 */
/* scan_listing_test.c: what a StackScanReport says, what it leaves out, and when the one of before stands. */
#include "support/rows.h"
#include "support/observed_builder.h"
#include "support/stack_builder.h"

#include "stack/plan/scan_listing.h"

#include <stdlib.h>

#define SECURITY "\"security\":\"enabled\""

static struct scene a_scanned_scene(struct arena *arena, const char *members)
{
    struct scene s = a_scene(arena, "db", members);

    scene_play(&s, "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1");
    for (uint32_t i = 0; i < 2; i++) {
        struct observed_cluster *cluster = &s.observed.clusters.items[i];

        cluster->scanner_answers = true;
        cluster->releases.items[0].workloads = STR("Deployment/db/db ");
        cluster->releases.items[0].scans =
            (struct observed_scans){ .known = true, .images = observed_images_new(arena, 1) };
    }
    return s;
}

/* An image with so many findings of one severity, the last one listed having score 1. */
static void add(struct scene *s, uint32_t cluster, const char *digest, enum vulnerability_severity severity,
                uint32_t count, uint32_t listed)
{
    struct vulnerabilities *worst = arena_new(s->arena, struct vulnerabilities);
    struct scan_findings found = { .scanned_ms = 5999, .worst = worst };
    struct observed_scans *scans = &s->observed.clusters.items[cluster].releases.items[0].scans;

    worst->list = vulnerability_list_new(s->arena, listed);
    for (uint32_t i = 0; i < listed; i++)
        vulnerability_list_push(&worst->list,
                                (struct vulnerability){ .severity = severity,
                                                        .score = listed - i,
                                                        .cve = str_fmt(s->arena, "CVE-%s-%u", digest, i),
                                                        .package = STR("openssl"),
                                                        .version = STR("1"),
                                                        .fixed = i ? STR("") : STR("2") });
    *(severity == VULNERABILITY_CRITICAL ? &found.critical
      : severity == VULNERABILITY_HIGH   ? &found.high
                                         : &found.medium) = count;
    observed_images_push(&scans->images, (struct observed_image){ .digest = str_of(digest),
                                                                  .name = STR("db:1"),
                                                                  .scan = IMAGE_SCANNED,
                                                                  .findings = found });
}

static enum scan_listing listing(struct scene *s, struct scan_report *ret_report)
{
    scene_play(s, "plan");
    return scan_listing_of(s->arena, s->stack, &s->observed, &s->plan, ret_report);
}

static void findings_of_all_images_worst_first(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY);
    struct scan_report report;

    (void)state;
    add(&s, 0, "i1", VULNERABILITY_HIGH, 3, 2);
    add(&s, 0, "i2", VULNERABILITY_CRITICAL, 1, 1);
    add(&s, 1, "i1", VULNERABILITY_HIGH, 3, 2);
    rows_expect_int("written", listing(&s, &report), SCAN_LISTING_WRITE);
    rows_expect_str(
        "the object", scan_report_write(arena, &report),
        STR("{\"report\":{\"summary\":{\"images\":2,\"scannedImages\":2,\"critical\":1,\"high\":3,\"medium\":0,"
            "\"unknownReleases\":0,\"omittedImages\":0,\"omittedFindings\":1},\"images\":["
            "{\"image\":\"db:1\",\"digest\":\"i2\",\"scan\":\"Scanned\",\"lastScan\":\"1970-01-01T00:00:05Z\","
            "\"critical\":1,\"high\":0,\"medium\":0,"
            "\"runsOn\":[{\"clusterId\":\"a\",\"release\":\"db/db\"}]},"
            "{\"image\":\"db:1\",\"digest\":\"i1\",\"scan\":\"Scanned\",\"lastScan\":\"1970-01-01T00:00:05Z\","
            "\"critical\":0,\"high\":3,\"medium\":0,\"omittedFindings\":1,"
            "\"runsOn\":[{\"clusterId\":\"a\",\"release\":\"db/db\"},{\"clusterId\":\"b\",\"release\":\"db/db\"}]}],"
            "\"findings\":["
            "{\"cve\":\"CVE-i2-0\",\"severity\":\"Critical\",\"score\":\"1.0\",\"package\":\"openssl\","
            "\"installedVersion\":\"1\",\"fixedVersion\":\"2\",\"image\":\"i2\"},"
            "{\"cve\":\"CVE-i1-0\",\"severity\":\"High\",\"score\":\"2.0\",\"package\":\"openssl\","
            "\"installedVersion\":\"1\",\"fixedVersion\":\"2\",\"image\":\"i1\"},"
            "{\"cve\":\"CVE-i1-1\",\"severity\":\"High\",\"score\":\"1.0\",\"package\":\"openssl\","
            "\"installedVersion\":\"1\",\"image\":\"i1\"}]}}"));

    struct json object = test_json(arena, scan_report_write(arena, &report));
    struct scan_report again = scan_report_read(arena, object);

    rows_expect_str("what is written is read", scan_report_write(arena, &again),
                    scan_report_write(arena, &report));
}

/* A report that says nothing of a cluster would read as if that were clean. */
static void releases_whose_scans_are_unknown_are_counted(void **state)
{
    static const struct {
        const char *row, *reason, *words;
        enum image_scan scan; /* of an image there */
        bool known;
        uint32_t want;
    } rows[] = {
        { "its scanner does not tell", "NeuVectorNotFound", "", IMAGE_SCANNED, false, 1 },
        { "its cluster cannot be read", "", "cluster b disconnected", IMAGE_SCANNED, false, 1 },
        { "the scan of an image failed", "", "", IMAGE_FAILED, true, 1 },
        { "a scan runs: its image is listed as Queued", "", "", IMAGE_QUEUED, true, 0 },
        { "it was scanned", "", "", IMAGE_SCANNED, true, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, SECURITY);
        struct observed_cluster *b = &s.observed.clusters.items[1];
        struct scan_report report;

        add(&s, 0, "i1", VULNERABILITY_HIGH, 1, 1);
        if (rows[i].known) {
            add(&s, 1, "i2", VULNERABILITY_HIGH, 1, 1);
            b->releases.items[0].scans.images.items[0].scan = rows[i].scan;
            b->releases.items[0].scans.images.items[0].failure = STR("timeout");
        }
        b->releases.items[0].scans.known = rows[i].known;
        b->scan_reason = str_of(rows[i].reason);
        b->scan_message = STR("words");
        scene_play(&s, rows[i].words);
        rows_expect_int(rows[i].row, listing(&s, &report), SCAN_LISTING_WRITE);
        rows_expect_int(rows[i].row, report.summary.unknown, rows[i].want);
    }
}

static void what_is_left_out_is_counted(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY);
    struct scan_report report;

    (void)state;
    add(&s, 0, "worst", VULNERABILITY_CRITICAL, 200, 200);
    for (uint32_t i = 0; i < 30; i++)
        add(&s, i % 2, str_fmt(arena, "i%u", i).at, VULNERABILITY_HIGH, 150, 150);
    rows_expect_int("written", listing(&s, &report), SCAN_LISTING_WRITE);
    rows_expect_int("counted", report.summary.high, 4500);
    rows_expect_int("listed", report.findings.count, LIMIT_SCAN_LISTING_FINDINGS);
    rows_expect_int("left out", report.summary.findings_omitted, 4700 - LIMIT_SCAN_LISTING_FINDINGS);
    rows_expect_int("none of the worst", report.images.items[0].omitted, 0);
    for (uint32_t i = 1; i < report.findings.count; i++)
        if (i != 200) /* the next severity begins */
            rows_expect("in order",
                        strtod(report.findings.items[i - 1].score.at, NULL) >=
                            strtod(report.findings.items[i].score.at, NULL),
                        "worst first");
}

/* The last image of a cluster fails so many checks, the first of them of level HIGH. */
static void fails(struct scene *s, uint32_t cluster, uint32_t count, const char *words)
{
    struct observed_images *images = &s->observed.clusters.items[cluster].releases.items[0].scans.images;
    struct checks *failed = arena_new(s->arena, struct checks);

    failed->list = check_list_new(s->arena, count);
    for (uint32_t i = 0; i < count; i++)
        check_list_push(&failed->list, (struct check){ .level = i ? CHECK_WARN : CHECK_HIGH,
                                                       .number = str_fmt(s->arena, "D.%u", i),
                                                       .description = str_of(words),
                                                       .remediation = STR("") });
    images->items[images->count - 1].failed_checks = failed;
}

static void failed_checks_are_listed_worst_first(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY);
    struct scan_report report, again;
    struct str written;

    (void)state;
    add(&s, 0, "i1", VULNERABILITY_HIGH, 2, 2);
    fails(&s, 0, 2, "words");
    add(&s, 0, "i2", VULNERABILITY_HIGH, 1, 1);
    fails(&s, 0, 1, "");
    add(&s, 0, "i3", VULNERABILITY_HIGH, 0, 0);
    rows_expect_int("written", listing(&s, &report), SCAN_LISTING_WRITE);
    written = scan_report_write(arena, &report);
    rows_expect("the list", str_find(written, STR("\"failedChecks\":["
            "{\"test\":\"D.0\",\"level\":\"HIGH\",\"image\":\"i2\"},"
            "{\"test\":\"D.0\",\"level\":\"HIGH\",\"description\":\"words\",\"image\":\"i1\"},"
            "{\"test\":\"D.1\",\"level\":\"WARN\",\"description\":\"words\",\"image\":\"i1\"}]"), 0) >= 0, written.at);
    rows_expect_int("in all", report.summary.failed_checks, 3);
    rows_expect_int("of the first image", report.images.items[0].failed_checks, 2);
    again = scan_report_read(arena, test_json(arena, written));
    rows_expect_str("what is written is read", scan_report_write(arena, &again), written);
    rows_expect_int("not known stays so", again.images.items[2].failed_checks, -1);
}

static void checks_give_way_to_vulnerabilities(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY);
    struct scan_report report;
    char words[4001];

    (void)state;
    memset(words, 'w', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    for (uint32_t i = 0; i < 4; i++) {
        add(&s, 0, str_fmt(arena, "i%u", i).at, VULNERABILITY_HIGH, 150, 150);
        fails(&s, 0, 100, words);
    }
    rows_expect_int("written", listing(&s, &report), SCAN_LISTING_WRITE);
    rows_expect("it fits", scan_report_write(arena, &report).len <= LIMIT_SCAN_LISTING_BYTES, "in its bytes");
    rows_expect_int("all vulnerabilities", report.findings.count, 600);
    rows_expect("some checks", report.checks.count >= 4 && report.checks.count < 300, "are listed");
    for (uint32_t i = 0; i < 4; i++)
        rows_expect_str("the worst", report.checks.items[i].level, STR("HIGH"));
    rows_expect_int("the others are counted", report.summary.checks_omitted + report.checks.count, 400);
    rows_expect_int("by image, too",
                    report.images.items[0].checks_omitted + report.images.items[1].checks_omitted +
                        report.images.items[2].checks_omitted + report.images.items[3].checks_omitted,
                    report.summary.checks_omitted);
}

static void a_report_has_a_bound_in_bytes(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY);
    struct scan_report report;
    char name[256];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (uint32_t i = 0; i < 900; i++) {
        memcpy(name, str_fmt(arena, "%03u", i).at, 3);
        add(&s, 0, str_fmt(arena, "%s", name).at, VULNERABILITY_HIGH, 5, 5);
    }
    rows_expect_int("written", listing(&s, &report), SCAN_LISTING_WRITE);
    rows_expect("it fits", scan_report_write(arena, &report).len <= LIMIT_SCAN_LISTING_BYTES, "in its bytes");
    rows_expect_int("images", report.summary.images, 900);
    rows_expect_int("left out", report.summary.images_omitted, 900 - report.images.count);
    rows_expect("some are listed", report.images.count >= 100, "many");
    rows_expect_int("each finding is listed or left out",
                    report.summary.findings_omitted + report.findings.count, 4500);
    for (uint32_t i = 0; i < report.findings.count; i++)
        rows_expect("its image is listed", scan_report_image(&report, report.findings.items[i].digest) != NULL,
                    "there");
}

static void a_report_stands_while_less_is_known(void **state)
{
    static const struct {
        const char *row, *members, *words;
        bool unknown, starting, pending, unreadable, unasked;
        enum scan_listing want;
    } rows[] = {
        { "all is known", SECURITY, "", false, false, false, false, false, SCAN_LISTING_WRITE },
        { "nobody wants to know", "\"security\":\"disabled\"", "", false, false, false, false, false, SCAN_LISTING_REMOVE },
        { "the scanner says nothing of a release", SECURITY, "", true, false, false, false, false, SCAN_LISTING_STANDS },
        { "a process that has just begun", SECURITY, "", true, true, false, false, false, SCAN_LISTING_STANDS },
        { "a cluster is away", SECURITY, "cluster b disconnected", false, false, false, false, false, SCAN_LISTING_STANDS },
        { "a report is still to be read", SECURITY, "", false, false, true, false, false, SCAN_LISTING_STANDS },
        { "one that cannot be read keeps nobody waiting", SECURITY, "", false, false, false, true, false, SCAN_LISTING_WRITE },
        { "checks are still to be asked for", SECURITY, "", false, false, false, false, true, SCAN_LISTING_STANDS },
        { "the Stack is deleted", SECURITY, "delete", false, false, false, false, false, SCAN_LISTING_STANDS },
        { "the list of clusters is not known", SECURITY, "clusters unknown", false, false, false, false, false, SCAN_LISTING_STANDS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, rows[i].members);
        struct observed_scans *scans = &s.observed.clusters.items[1].releases.items[0].scans;
        struct scan_report report;

        add(&s, 0, "i1", VULNERABILITY_HIGH, 1, 1);
        add(&s, 1, "i2", VULNERABILITY_HIGH, 1, 1);
        scene_play(&s, "plan");
        scene_play(&s, rows[i].words);
        s.observed.clusters.items[1].scans_starting = rows[i].starting;
        scans->known = !rows[i].unknown;
        if (rows[i].pending)
            scans->images.items[0].findings.report = REPORT_PENDING;
        if (rows[i].unreadable)
            scans->images.items[0].findings.report = REPORT_UNREADABLE;
        scans->images.items[0].checks_pending = rows[i].unasked;
        rows_expect_int(rows[i].row, listing(&s, &report), rows[i].want);
    }
}

static void a_first_report_waits_for_a_first_scan(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY);
    struct observed_cluster *clusters = s.observed.clusters.items;
    struct scan_report report;

    (void)state;
    clusters[0].releases.items[0].scans.known = clusters[1].releases.items[0].scans.known = false;
    rows_expect_int("nothing is known", listing(&s, &report), SCAN_LISTING_STANDS);
    clusters[0].releases.items[0].scans.known = true;
    add(&s, 0, "i1", VULNERABILITY_HIGH, 1, 1);
    observed_images_push(&clusters[0].releases.items[0].scans.images,
                         (struct observed_image){ .digest = STR("i2"), .name = STR("web:1"), .scan = IMAGE_FAILED });
    rows_expect_int("one of two", listing(&s, &report), SCAN_LISTING_WRITE);
    rows_expect_int("images", report.summary.images, 2);
    rows_expect_int("scanned", report.summary.scanned, 1);
    rows_expect_str("what failed has no numbers", report.images.items[1].state, STR("Failed"));
    rows_expect_int("none", report.images.items[1].critical, -1);
    report = scan_report_read(arena, test_json(arena, scan_report_write(arena, &report)));
    rows_expect_int("read again, none either", report.images.items[1].critical, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_of_all_images_worst_first),
        cmocka_unit_test(releases_whose_scans_are_unknown_are_counted),
        cmocka_unit_test(what_is_left_out_is_counted),
        cmocka_unit_test(failed_checks_are_listed_worst_first),
        cmocka_unit_test(checks_give_way_to_vulnerabilities),
        cmocka_unit_test(a_report_has_a_bound_in_bytes),
        cmocka_unit_test(a_report_stands_while_less_is_known),
        cmocka_unit_test(a_first_report_waits_for_a_first_scan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
