/* SPDX-License-Identifier: Apache-2.0 */
/* security_test.c: verdicts of releases, the condition, and numbers that nobody's silence makes
 * smaller. */
#include "support/rows.h"
#include "support/observed_builder.h"

#include "stack/plan/security.h"

#define SECURITY "\"security\":\"enabled\""

/* A Stack with the releases db@a and, if `two`, db@b, each of one image. */
static struct scene a_scanned_scene(struct arena *arena, const char *members, bool two)
{
    struct scene s = a_scene(arena, "db", members);

    scene_play(&s, two ? "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1"
                       : "cluster a; app db@a deployed 1");
    for (uint32_t i = 0; i < s.observed.clusters.count; i++) {
        struct observed_cluster *cluster = &s.observed.clusters.items[i];

        cluster->scanner_answers = true;
        cluster->releases.items[0].workloads = STR("Deployment/db/db ");
        cluster->releases.items[0].scans =
            (struct observed_scans){ .known = true, .images = observed_images_new(arena, 1) };
    }
    return s;
}

static struct observed_image *add(struct scene *s, uint32_t cluster, const char *digest,
                                  enum image_scan scan)
{
    struct observed_scans *scans =
        &s->observed.clusters.items[cluster].releases.items[0].scans;

    return observed_images_push(
        &scans->images, (struct observed_image){ .digest = str_of(digest),
                                                 .name = STR("db:1"),
                                                 .scan = scan,
                                                 .failure = STR("timeout"),
                                                 .findings = { .scanned_ms = 5000 } });
}

static struct str message_of(const struct scene *s)
{
    return kube_condition_find(&s->status.conditions, STR("SecurityScanned"))->message;
}

static struct str verdict_of(const struct scene *s, const char *who)
{
    static const char *const names[] = { "", "Passed", "Failed", "Scanning", "Unknown" };

    return str_of(names[scene_state(s, who)->security_scan]);
}

static void a_release_is_evaluated_by_its_images(void **state)
{
    static const struct {
        const char *row;
        enum image_scan scan;
        uint32_t critical, high;
        const char *thresholds, *verdict, *condition;
    } rows[] = {
        { "clean", IMAGE_SCANNED, 0, 0, "{}", "Passed", "True/NeuVectorScanCompleted" },
        { "high ones are allowed by default", IMAGE_SCANNED, 0, 9, "{}", "Passed",
          "True/NeuVectorScanCompleted" },
        { "critical ones are not", IMAGE_SCANNED, 1, 0, "{}", "Failed", "False/ThresholdsExceeded" },
        { "as many as are allowed", IMAGE_SCANNED, 2, 0, "{\"critical\":2}", "Passed",
          "True/NeuVectorScanCompleted" },
        { "one more", IMAGE_SCANNED, 3, 0, "{\"critical\":2}", "Failed", "False/ThresholdsExceeded" },
        { "without a limit", IMAGE_SCANNED, 3, 0, "{\"critical\":-1}", "Passed",
          "True/NeuVectorScanCompleted" },
        { "high ones beyond their limit", IMAGE_SCANNED, 0, 2, "{\"high\":1}", "Failed",
          "False/ThresholdsExceeded" },
        { "being scanned", IMAGE_QUEUED, 0, 0, "{}", "Scanning", "Unknown/ScanRunning" },
        { "a scan that failed", IMAGE_FAILED, 0, 0, "{}", "Unknown", "Unknown/ImageScanFailed" },
        { "a container that the scanner does not know", IMAGE_UNCOVERED, 0, 0, "{}", "Unknown",
          "Unknown/ContainerNotCovered" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str members = str_fmt(arena, SECURITY ",\"securityProfile\":{\"thresholds\":%s}",
                                     rows[i].thresholds);
        struct scene s = a_scanned_scene(arena, members.at, false);
        struct observed_image *image = add(&s, 0, "i1", rows[i].scan);

        image->findings.critical = rows[i].critical;
        image->findings.high = rows[i].high;
        scene_play(&s, "plan");
        rows_expect_str(rows[i].row, verdict_of(&s, "db@a"), str_of(rows[i].verdict));
        rows_expect_str(rows[i].row, scene_condition(&s, "SecurityScanned"),
                        str_of(rows[i].condition));
    }
}

/* An image that nobody may have scanned is not being scanned. */
static void what_nobody_scans_is_not_being_scanned(void **state)
{
    static const char *const reasons[] = { "NeuVectorPermissionDenied", "NeuVectorNoScanner", "NeuVectorUnreachable" };

    (void)state;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, SECURITY, false);

        add(&s, 0, "i1", IMAGE_QUEUED);
        s.observed.clusters.items[0].scan_reason = str_of(reasons[i]);
        s.observed.clusters.items[0].scan_message = STR("words");
        scene_play(&s, "plan");
        rows_expect_str(reasons[i], verdict_of(&s, "db@a"), STR("Unknown"));
        rows_expect_str("the condition has the reason", scene_condition(&s, "SecurityScanned"),
                        str_fmt(arena, "Unknown/%s", reasons[i]));
        rows_expect_str("told once", message_of(&s), STR("words"));
    }
}

static void a_cluster_that_left_is_not_named(void **state)
{
    static const struct {
        const char *row, *words, *reason;
        uint32_t critical;
    } rows[] = {
        { "its scanner does not answer", "", "NeuVectorNotFound", 0 },
        { "it cannot be read", "cluster b disconnected", "", 0 },
        { "its release exceeds a threshold until it is gone", "", "", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, SECURITY, true);
        struct observed_cluster *b = &s.observed.clusters.items[1];

        add(&s, 0, "i1", IMAGE_SCANNED);
        add(&s, 1, "i2", IMAGE_SCANNED)->findings.critical = rows[i].critical;
        scene_play(&s, "plan");
        b->targeted = false;
        b->scan_reason = str_of(rows[i].reason);
        b->scan_message = STR("b has words");
        scene_play(&s, rows[i].words);
        scene_play(&s, "plan");
        rows_expect_str(rows[i].row, scene_condition(&s, "SecurityScanned"), STR("True/NeuVectorScanCompleted"));
    }
}

static void whether_neuvector_is_there_is_known_or_absent(void **state)
{
    static const struct {
        const char *row, *words, *reason;
        bool answers;
        const char *want;
    } rows[] = {
        { "it answers everywhere", "", "", true, "\"neuVectorEnabled\":true" },
        { "a cluster surely has none", "", "NeuVectorNotFound", false, "\"neuVectorEnabled\":false" },
        { "it does not answer, and may be there", "", "NeuVectorUnreachable", false, NULL },
        { "a cluster without one that cannot be read now", "cluster b disconnected", "NeuVectorNotFound", false,
          "\"neuVectorEnabled\":true" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, SECURITY, true);
        struct observed_cluster *b = &s.observed.clusters.items[1];

        add(&s, 0, "i1", IMAGE_SCANNED);
        b->scanner_answers = rows[i].answers;
        b->scan_reason = str_of(rows[i].reason);
        b->scan_message = STR("words");
        scene_play(&s, rows[i].words);
        scene_play(&s, "plan");
        rows_expect(rows[i].row,
                    (str_find(s.written, str_of(rows[i].want ? rows[i].want : "neuVectorEnabled"), 0) >= 0) == (rows[i].want != NULL),
                    s.written.at);
    }
}

static void the_worst_is_named_with_its_fix(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, false);
    struct observed_image *image = add(&s, 0, "i1", IMAGE_SCANNED);
    struct vulnerabilities found = { .list = vulnerability_list_new(arena, 1) };

    (void)state;
    vulnerability_list_push(&found.list, (struct vulnerability){ .severity = VULNERABILITY_CRITICAL,
                                                                 .cve = STR("CVE-1"),
                                                                 .package = STR("openssl"),
                                                                 .version = STR("3.0.1"),
                                                                 .fixed = STR("3.0.2") });
    image->findings =
        (struct scan_findings){ .critical = 2, .scanned_ms = 5000, .worst = &found };
    scene_play(&s, "plan");
    rows_expect_str("message", message_of(&s),
                    STR("db on a has 2 critical vulnerabilities (allowed: 0); the worst is CVE-1 in "
                        "openssl 3.0.1 (fixed in 3.0.2) of image db:1"));
}

static void an_image_counts_once(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY ",\"securityProfile\":{\"thresholds\":{\"critical\":9}}", true);

    (void)state;
    add(&s, 0, "i1", IMAGE_SCANNED)->findings =
        (struct scan_findings){ .critical = 1, .high = 2, .medium = 3, .scanned_ms = 5999 };
    add(&s, 1, "i1", IMAGE_QUEUED);
    add(&s, 1, "i2", IMAGE_SCANNED)->findings =
        (struct scan_findings){ .high = 10, .scanned_ms = 4000 };
    scene_play(&s, "plan");
    rows_expect_int("all", s.status.security.vulnerabilities, 16);
    rows_expect_int("critical", s.status.security.critical, 1);
    rows_expect_int("high", s.status.security.high, 12);
    rows_expect_int("scanned", s.status.security.scanned_images, 2);
    rows_expect_int("images", s.status.security.total_images, 2);
    rows_expect_int("the newest scan, in whole seconds", s.status.security.last_scan_ms, 5000);
    rows_expect_str("passed here", verdict_of(&s, "db@a"), STR("Passed"));
    rows_expect_str("awaited there", verdict_of(&s, "db@b"), STR("Scanning"));
}

/* Two clusters' scanners that know different databases, at the same second: the sums agree with the
 * verdict of the release that fails. */
static void of_two_scans_of_one_moment_the_worse_counts(void **state)
{
    (void)state;
    for (uint32_t worse = 0; worse < 2; worse++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, SECURITY, true);

        add(&s, worse, "i1", IMAGE_SCANNED)->findings.critical = 1;
        add(&s, !worse, "i1", IMAGE_SCANNED);
        scene_play(&s, "plan");
        rows_expect_int("critical", s.status.security.critical, 1);
        rows_expect_str("condition", scene_condition(&s, "SecurityScanned"),
                        STR("False/ThresholdsExceeded"));
    }
}

static void silence_makes_no_number_smaller(void **state)
{
    static const struct {
        const char *row, *words, *reason;
        bool unknown;
        const char *condition;
    } rows[] = {
        { "the scanner does not answer, and what ran is still known", "",
          "NeuVectorUnreachable", false, "Unknown/NeuVectorUnreachable" },
        { "it does not, and nothing is known any more", "", "NeuVectorUnreachable", true,
          "Unknown/NeuVectorUnreachable" },
        { "the cluster is away", "cluster b disconnected", "", true, "Unknown/ClusterUnreachable" },
        { "it is not read yet", "cluster b not_synced", "", true, "Unknown/ClusterNotSynced" },
        { "a release changed, and was not looked at since", "", "", true, "Unknown/ScanPending" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, SECURITY, true);
        struct observed_cluster *b = &s.observed.clusters.items[1];

        add(&s, 0, "i1", IMAGE_SCANNED)->findings.high = 1;
        add(&s, 1, "i2", IMAGE_SCANNED)->findings.high = 2;
        scene_play(&s, "plan");
        b->scan_reason = str_of(rows[i].reason);
        b->scan_message = STR("words");
        if (rows[i].unknown)
            b->releases.items[0].scans.known = false;
        scene_play(&s, rows[i].words);
        scene_play(&s, "plan");
        rows_expect_int(rows[i].row, s.status.security.high, 3);
        rows_expect_int("images", s.status.security.scanned_images, 2);
        rows_expect_str(rows[i].row, scene_condition(&s, "SecurityScanned"),
                        str_of(rows[i].condition));
    }
}

/* herd-controller restarts while NeuVector scans again; NeuVector restarts without storage. */
static void a_scan_that_runs_makes_no_number_smaller(void **state)
{
    static const struct {
        const char *row;
        enum image_scan scan;
        const char *condition;
    } rows[] = {
        { "an image is scanned again", IMAGE_QUEUED, "Unknown/ScanRunning" },
        { "its container is not known any more", IMAGE_UNCOVERED, "Unknown/ContainerNotCovered" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, SECURITY, true);
        struct observed_image *again;

        add(&s, 0, "i1", IMAGE_SCANNED)->findings.high = 1;
        again = add(&s, 1, "i2", IMAGE_SCANNED);
        again->findings.high = 2;
        scene_play(&s, "plan");
        again->scan = rows[i].scan;
        scene_play(&s, "plan; plan");
        rows_expect_int(rows[i].row, s.status.security.high, 3);
        rows_expect_int("images", s.status.security.scanned_images, 2);
        rows_expect_str(rows[i].row, scene_condition(&s, "SecurityScanned"),
                        str_of(rows[i].condition));
        again->scan = IMAGE_SCANNED;
        again->findings.high = 0;
        scene_play(&s, "plan");
        rows_expect_int("what the scan finds counts", s.status.security.high, 1);
    }
}

static void a_process_that_begins_says_what_was_said(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, false);
    struct str written;

    (void)state;
    add(&s, 0, "i1", IMAGE_SCANNED)->findings.high = 1;
    scene_play(&s, "plan; plan");
    written = s.written;
    s.observed.clusters.items[0].scans_starting = true;
    s.observed.clusters.items[0].scanner_answers = false;
    s.observed.clusters.items[0].releases.items[0].scans.known = false;
    scene_play(&s, "+30s; plan");
    rows_expect_str("to the byte", s.written, written);
}

static void nothing_unknown_is_a_number(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, false);

    (void)state;
    s.observed.clusters.items[0].releases.items[0].scans.known = false;
    s.observed.clusters.items[0].scanner_answers = false;
    s.observed.clusters.items[0].scan_reason = STR("NeuVectorNotFound");
    s.observed.clusters.items[0].scan_message = STR("words");
    scene_play(&s, "plan");
    rows_expect("no number", str_find(s.written, STR("\"security\":{\"neuVectorEnabled\":false,\"scanStatus\":\"Unknown\"}"), 0) >= 0,
                s.written.at);
    s = a_scanned_scene(arena, SECURITY, false);
    add(&s, 0, "i1", IMAGE_QUEUED);
    scene_play(&s, "plan");
    rows_expect("an image that waits is counted as one, and as nothing else",
                str_find(s.written,
                         STR("\"security\":{\"neuVectorEnabled\":true,\"scanStatus\":\"Scanning\","
                             "\"scannedImages\":0,\"totalImages\":1}"),
                         0) >= 0,
                s.written.at);
}

static void zero_is_written_where_it_was_observed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, false);

    (void)state;
    add(&s, 0, "i1", IMAGE_SCANNED);
    scene_play(&s, "plan");
    rows_expect("zeros",
                str_find(s.written, STR("\"vulnerabilities\":0,\"criticalIssues\":0,\"high\":0,"), 0) >= 0,
                s.written.at);
    rows_expect_int("and read again", s.before.security.vulnerabilities, 0);
}

/* What containers of an image fail; the names of tests, one letter each. */
static struct checks *fails(struct arena *arena, const char *numbers)
{
    struct checks *failed = arena_new(arena, struct checks);

    failed->list = check_list_new(arena, 4);
    for (const char *at = numbers; *at; at++)
        check_list_push(&failed->list, (struct check){ .level = CHECK_WARN,
                                                       .number = str_slice(str_of(at), 0, 1),
                                                       .description = STR(""),
                                                       .remediation = STR("") });
    return failed;
}

static void a_failed_check_counts_once_for_an_image(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, true);

    (void)state;
    add(&s, 0, "i1", IMAGE_SCANNED)->failed_checks = fails(arena, "ab");
    add(&s, 1, "i1", IMAGE_SCANNED)->failed_checks = fails(arena, "bc");
    add(&s, 1, "i2", IMAGE_SCANNED)->failed_checks = fails(arena, "b");
    scene_play(&s, "plan");
    rows_expect_int("a, b and c of one, b of the other", s.status.security.compliance_failures, 4);
    rows_expect_str("no verdict depends on it", scene_condition(&s, "SecurityScanned"),
                    STR("True/NeuVectorScanCompleted"));
    rows_expect("written", str_find(s.written, STR("\"complianceFailures\":4"), 0) >= 0, s.written.at);
    rows_expect_int("and read again", s.before.security.compliance_failures, 4);
}

static void failed_checks_that_are_not_known_are_no_number(void **state)
{
    static const struct {
        const char *row, *members;
        const char *first, *second; /* NULL = not known */
        int64_t before, want;
    } rows[] = {
        { "not known", SECURITY, NULL, NULL, -1, -1 },
        { "of one image", SECURITY, "a", NULL, -1, 1 },
        { "none", SECURITY, "", "", -1, 0 },
        { "fewer, and all are known", SECURITY, "a", "", 5, 1 },
        { "fewer, but not all are known", SECURITY, "a", NULL, 5, 5 },
        { "nobody answers any more", SECURITY, NULL, NULL, 5, 5 },
        { "more than before", SECURITY, "abc", NULL, 2, 3 },
        { "nobody wants to know", SECURITY ",\"securityProfile\":{\"compliance\":\"disabled\"}", "a", "a", 5, -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scanned_scene(arena, rows[i].members, false);
        const char *const told[] = { rows[i].first, rows[i].second };

        scene_play(&s, "plan");
        s.before.security.compliance_failures = rows[i].before;
        for (uint32_t k = 0; k < 2; k++)
            add(&s, 0, k ? "i2" : "i1", IMAGE_SCANNED)->failed_checks = told[k] ? fails(arena, told[k]) : NULL;
        scene_play(&s, "plan");
        rows_expect_int(rows[i].row, s.status.security.compliance_failures, rows[i].want);
        rows_expect("absent unless known",
                    (str_find(s.written, STR("complianceFailures"), 0) >= 0) == (rows[i].want >= 0), s.written.at);
    }
}

static void checks_that_cannot_be_read_change_no_verdict(void **state)
{
    static const struct {
        const char *row, *profile;
        uint32_t critical;
        const char *condition, *verdict;
    } rows[] = {
        { "all passed", "{}", 0, "True/NeuVectorPermissionDenied", "Passed" },
        { "a threshold is exceeded", "{}", 1, "False/ThresholdsExceeded", "Failed" },
        { "nobody wants to know", "{\"compliance\":\"disabled\"}", 0, "True/NeuVectorScanCompleted", "Passed" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s =
            a_scanned_scene(arena, str_fmt(arena, SECURITY ",\"securityProfile\":%s", rows[i].profile).at, false);

        s.observed.clusters.items[0].checks_reason = STR("NeuVectorPermissionDenied");
        s.observed.clusters.items[0].checks_message = STR("words");
        add(&s, 0, "i1", IMAGE_SCANNED)->findings.critical = rows[i].critical;
        scene_play(&s, "plan");
        rows_expect_str(rows[i].row, scene_condition(&s, "SecurityScanned"), str_of(rows[i].condition));
        rows_expect_str(rows[i].row, verdict_of(&s, "db@a"), str_of(rows[i].verdict));
        if (!i)
            rows_expect_str("message", message_of(&s),
                            STR("every image was scanned, and none exceeds a threshold; compliance checks are not "
                                "known: words"));
    }
}

static void rules_in_neuvector_change_no_verdict(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, false);

    (void)state;
    add(&s, 0, "i1", IMAGE_SCANNED);
    s.observed.clusters.items[0].rules_reason = STR("NeuVectorAdmissionDisabled");
    s.observed.clusters.items[0].rules_message = STR("words");
    s.observed.clusters.items[0].checks_reason = STR("NeuVectorPermissionDenied");
    s.observed.clusters.items[0].checks_message = STR("other words");
    scene_play(&s, "plan");
    rows_expect_str("all passed", scene_condition(&s, "SecurityScanned"), STR("True/NeuVectorAdmissionDisabled"));
    rows_expect_str("both are told", message_of(&s),
                    STR("every image was scanned, and none exceeds a threshold; rules in NeuVector "
                        "are not in effect: words; "
                        "compliance checks are not known: other words"));
}

static void a_stack_waits_for_its_rules(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, false);

    (void)state;
    scene_play(&s, "plan; delete; gone db@a");
    s.observed.clusters.items[0].left_reason = REASON(REMOVING_ADMISSION_RULES);
    s.observed.clusters.items[0].left_message =
        STR("deleting the Stack's rules in NeuVector on cluster a");
    scene_play(&s, "plan");
    rows_expect("nothing but rules is left", !s.plan.torn_down, "it waits");
    rows_expect_str("for what", s.plan.message,
                    STR("deleting the Stack's rules in NeuVector on cluster a"));
    s.observed.clusters.items[0].left_reason = STR("");
    scene_play(&s, "plan");
    rows_expect("they are gone, and so is the Stack", s.plan.torn_down, "torn down");
}

static void disabled_there_is_nothing_to_say(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scanned_scene(arena, SECURITY, false);

    (void)state;
    s.next_charts = "db";
    s.next_members = "\"security\":\"disabled\"";
    add(&s, 0, "i1", IMAGE_SCANNED);
    scene_play(&s, "plan; change; plan");
    rows_expect_str("no condition", scene_condition(&s, "SecurityScanned"), STR(""));
    rows_expect("no part of the status", str_find(s.written, STR("security"), 0) < 0, s.written.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_is_evaluated_by_its_images),
        cmocka_unit_test(what_nobody_scans_is_not_being_scanned),
        cmocka_unit_test(a_cluster_that_left_is_not_named),
        cmocka_unit_test(whether_neuvector_is_there_is_known_or_absent),
        cmocka_unit_test(the_worst_is_named_with_its_fix),
        cmocka_unit_test(an_image_counts_once),
        cmocka_unit_test(of_two_scans_of_one_moment_the_worse_counts),
        cmocka_unit_test(silence_makes_no_number_smaller),
        cmocka_unit_test(a_scan_that_runs_makes_no_number_smaller),
        cmocka_unit_test(a_process_that_begins_says_what_was_said),
        cmocka_unit_test(nothing_unknown_is_a_number),
        cmocka_unit_test(zero_is_written_where_it_was_observed),
        cmocka_unit_test(a_failed_check_counts_once_for_an_image),
        cmocka_unit_test(failed_checks_that_are_not_known_are_no_number),
        cmocka_unit_test(checks_that_cannot_be_read_change_no_verdict),
        cmocka_unit_test(rules_in_neuvector_change_no_verdict),
        cmocka_unit_test(a_stack_waits_for_its_rules),
        cmocka_unit_test(disabled_there_is_nothing_to_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
