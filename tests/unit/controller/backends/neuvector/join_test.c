/* SPDX-License-Identifier: Apache-2.0 */
/* join_test.c: containers, workloads and what is remembered of images make what is known of a
 * release, and what is still to be asked. */
#include "support/rows.h"

#include "controller/backends/neuvector/join.h"

enum { WEB_TIME = 1000000 };

struct world {
    struct arena *arena;
    struct release_containers containers;
    struct wire_workloads workloads;
    struct wanted_scan_list wanted;
    struct images *images;
    struct joined joined;
};

static struct world a_world(struct arena *arena)
{
    struct world w = { .arena = arena,
                       .containers = release_containers_new(arena, 4),
                       .workloads = wire_workloads_new(arena, 4),
                       .wanted = wanted_scan_list_new(arena, 2),
                       .images = images_create() };

    wanted_scan_list_push(&w.wanted,
                          (struct wanted_scans){ .release = STR("shop/web"),
                                                 .workloads = STR("Deployment/shop/web "),
                                                 .mode = POLICY_MODE_MONITOR });
    return w;
}

static void runs(struct world *w, const char *id, const char *workload)
{
    release_containers_push(&w->containers,
                            (struct release_container){ .workload = str_of(workload),
                                                        .id = str_of(id),
                                                        .image = STR("nginx:1"),
                                                        .image_id = STR("pulled") });
}

static struct wire_workload *knows(struct world *w, const char *id, const char *image,
                                   enum wire_scan scan)
{
    return wire_workloads_push(&w->workloads,
                               (struct wire_workload){ .id = str_of(id),
                                                       .image_id = str_of(image),
                                                       .image = STR("nginx:1"),
                                                       .service = STR("web.shop"),
                                                       .policy_mode = STR("Discover"),
                                                       .scan = scan,
                                                       .result = STR("timeout"),
                                                       .tells_critical = true,
                                                       .scanned_ms = WEB_TIME });
}

static void bring_together(struct world *w)
{
    w->joined = join(w->arena, &w->containers, &w->workloads, &w->wanted);
}

static struct observed_image the_image(struct world *w)
{
    struct observed_scans scans =
        join_scans(&w->joined, &w->containers, &w->wanted.items[0], w->images);

    rows_expect_int("one image", scans.images.count, 1);
    return scans.images.items[0];
}

static void each_state_of_a_scan_is_told(void **state)
{
    static const struct {
        const char *row;
        bool known, remembered;
        enum wire_scan scan;
        enum image_scan want;
        uint32_t requests;
    } rows[] = {
        { "a container that NeuVector does not know", false, false, 0, IMAGE_UNCOVERED, 0 },
        { "never scanned: a scan is requested", true, false, WIRE_SCAN_IDLE, IMAGE_QUEUED, 1 },
        { "on its way: none is", true, false, WIRE_SCAN_UNDER_WAY, IMAGE_QUEUED, 0 },
        { "failed: it is requested again", true, false, WIRE_SCAN_FAILED, IMAGE_FAILED, 1 },
        { "finished", true, false, WIRE_SCAN_FINISHED, IMAGE_SCANNED, 0 },
        { "scanned again: what was found stands", true, true, WIRE_SCAN_UNDER_WAY, IMAGE_SCANNED,
          0 },
        { "forgotten by NeuVector: the same", true, true, WIRE_SCAN_IDLE, IMAGE_SCANNED, 0 },
        { "failed, after one that finished: the same", true, true, WIRE_SCAN_FAILED, IMAGE_SCANNED,
          0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct world w = a_world(arena);

        runs(&w, "c1", "Deployment/shop/web");
        if (rows[i].known)
            knows(&w, "c1", "i1", rows[i].scan);
        if (rows[i].remembered)
            images_put(w.images, STR("i1"), &(struct scan_findings){ .high = 7, .scanned_ms = 5 });
        bring_together(&w);
        join_findings(&w.joined, w.images);
        rows_expect_int(rows[i].row, the_image(&w).scan, rows[i].want);
        if (rows[i].remembered)
            rows_expect_int("with its numbers", the_image(&w).findings.high, 7);
        rows_expect_int("requests", join_unscanned(&w.joined, w.images, 50).count,
                        rows[i].requests);
        rows_expect_int("again, while none is accepted",
                        join_unscanned(&w.joined, w.images, 50).count, rows[i].requests);
        if (rows[i].requests)
            join_requested(&w.joined, STR("c1"), w.images, 100);
        rows_expect_int("not at once again", join_unscanned(&w.joined, w.images, 99).count, 0);
        rows_expect_int("but later", join_unscanned(&w.joined, w.images, 100).count,
                        rows[i].requests);
        images_free(w.images);
    }
}

static void the_newest_scan_of_an_image_counts(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct world w = a_world(arena);
    struct wire_workload *one;

    (void)state;
    runs(&w, "c1", "Deployment/shop/web");
    runs(&w, "c2", "Deployment/shop/web");
    one = knows(&w, "c1", "i1", WIRE_SCAN_FINISHED);
    one->high = 3;
    one = knows(&w, "c2", "i1", WIRE_SCAN_FINISHED);
    one->high = 2;
    one->scanned_ms = WEB_TIME + 1;
    bring_together(&w);
    join_findings(&w.joined, w.images);
    rows_expect_int("two containers, one image, the newer scan", the_image(&w).findings.high, 2);
    w.workloads.items[1].scan = WIRE_SCAN_UNDER_WAY;
    bring_together(&w);
    join_findings(&w.joined, w.images);
    rows_expect_int("an older one of another container changes nothing",
                    the_image(&w).findings.high, 2);
    images_free(w.images);
}

/* With one finding, or with none. */
static struct vulnerabilities *a_list(struct arena *arena, const char *cve)
{
    struct vulnerability_list list = vulnerability_list_new(arena, 1);
    struct vulnerabilities *made;

    if (cve)
        vulnerability_list_push(&list, (struct vulnerability){ .severity = VULNERABILITY_HIGH,
                                                               .cve = str_of(cve) });
    made = vulnerabilities_create(&list);
    vulnerabilities_lend(arena, made);
    vulnerabilities_unref(made);
    return made;
}

static void reports_are_read_once_for_each_scan(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct world w = a_world(arena);
    const struct scan_findings report = { .critical = 9, .worst = a_list(arena, "CVE-1") };

    (void)state;
    runs(&w, "c1", "Deployment/shop/web");
    knows(&w, "c1", "i1", WIRE_SCAN_FINISHED);
    bring_together(&w);
    rows_expect_int("nothing found, nothing to read", join_findings(&w.joined, w.images).count, 0);
    w.workloads.items[0].critical = 1;
    bring_together(&w);
    rows_expect_int("something found", join_findings(&w.joined, w.images).count, 1);
    rows_expect_int("not read yet", join_findings(&w.joined, w.images).count, 1);
    join_report(&w.joined, STR("c1"), &report, w.images);
    rows_expect_int("read", join_findings(&w.joined, w.images).count, 0);
    rows_expect_str("the worst", the_image(&w).findings.worst->list.items[0].cve, STR("CVE-1"));
    rows_expect_int("counters are the summary's", the_image(&w).findings.critical, 1);
    w.workloads.items[0].high = 4;
    bring_together(&w);
    rows_expect_int("other counters: read again", join_findings(&w.joined, w.images).count, 1);
    rows_expect_int("which count at once", the_image(&w).findings.high, 4);
    rows_expect_int("the list is that of before", the_image(&w).findings.report, REPORT_PENDING);
    rows_expect_int("and stands", the_image(&w).findings.worst->list.count, 1);
    images_free(w.images);
}

static void a_report_that_cannot_be_read_takes_nothing_away(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct world w = a_world(arena);
    const struct scan_findings empty = { .worst = a_list(arena, NULL) };
    struct str_list reports;

    (void)state;
    runs(&w, "c1", "Deployment/shop/web");
    runs(&w, "c2", "Deployment/shop/web");
    knows(&w, "c1", "i1", WIRE_SCAN_FINISHED)->medium = 1;
    knows(&w, "c2", "i2", WIRE_SCAN_FINISHED)->high = 2;
    bring_together(&w);
    reports = join_findings(&w.joined, w.images);
    rows_expect_int("both are asked for", reports.count, 2);
    join_unreadable(&w.joined, STR("c1"), w.images);
    rows_expect_int("the number stands", images_find(w.images, STR("i1"))->medium, 1);
    rows_expect_int("nobody waits for it", images_find(w.images, STR("i1"))->report,
                    REPORT_UNREADABLE);
    reports = join_findings(&w.joined, w.images);
    rows_expect_str("it comes behind those that were not asked for", reports.items[1], STR("c1"));
    join_report(&w.joined, STR("c2"), &empty, w.images);
    rows_expect_int("a list without what was counted is none",
                    images_find(w.images, STR("i2"))->report, REPORT_UNREADABLE);
    images_free(w.images);
}

static void before_5_4_the_report_tells_critical_ones(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct world w = a_world(arena);
    const struct scan_findings report = { .critical = 1, .high = 2, .worst = a_list(arena, "CVE-1") };

    (void)state;
    runs(&w, "c1", "Deployment/shop/web");
    knows(&w, "c1", "i1", WIRE_SCAN_FINISHED)->high = 3;
    w.workloads.items[0].tells_critical = false;
    bring_together(&w);
    rows_expect_int("it is asked for", join_findings(&w.joined, w.images).count, 1);
    rows_expect_int("and nothing is known before", the_image(&w).scan, IMAGE_QUEUED);
    join_report(&w.joined, STR("c1"), &report, w.images);
    rows_expect_int("critical", the_image(&w).findings.critical, 1);
    rows_expect_int("high", the_image(&w).findings.high, 2);
    rows_expect_int("it is read once", join_findings(&w.joined, w.images).count, 0);
    images_free(w.images);
}

static void modes_are_never_loosened(void **state)
{
    static const struct {
        const char *row, *policy, *profile;
        enum policy_mode wanted, asked;
        unsigned parts; /* that are changed; 0 = none */
    } rows[] = {
        { "stricter", "Discover", "Discover", POLICY_MODE_MONITOR, POLICY_MODE_MONITOR,
          WIRE_BOTH_MODES },
        { "the same", "Monitor", "Monitor", POLICY_MODE_MONITOR, POLICY_MODE_MONITOR, 0 },
        { "looser", "Protect", "Protect", POLICY_MODE_MONITOR, POLICY_MODE_MONITOR, 0 },
        { "looser for processes only", "Discover", "Protect", POLICY_MODE_MONITOR,
          POLICY_MODE_MONITOR, WIRE_POLICY_MODE },
        { "looser for the network only", "Protect", "Discover", POLICY_MODE_MONITOR,
          POLICY_MODE_MONITOR, WIRE_PROFILE_MODE },
        { "the other step is not this one's", "Discover", "Discover", POLICY_MODE_PROTECT,
          POLICY_MODE_MONITOR, 0 },
        { "two steps at once", "Discover", "Discover", POLICY_MODE_PROTECT, POLICY_MODE_PROTECT,
          WIRE_BOTH_MODES },
        { "a mode that cannot be changed", "N/A", "N/A", POLICY_MODE_PROTECT, POLICY_MODE_PROTECT,
          0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct world w = a_world(arena);

        runs(&w, "c1", "Deployment/shop/web");
        runs(&w, "c2", "Deployment/shop/web");
        runs(&w, "x1", "Deployment/shop/other");
        knows(&w, "c1", "i1", WIRE_SCAN_IDLE);
        knows(&w, "c2", "i1", WIRE_SCAN_IDLE);
        for (uint32_t k = 0; k < 2; k++) {
            w.workloads.items[k].policy_mode = str_of(rows[i].policy);
            w.workloads.items[k].profile_mode = str_of(rows[i].profile);
        }
        knows(&w, "x1", "i2", WIRE_SCAN_IDLE)->service = STR("other.shop");
        w.wanted.items[0].mode = rows[i].wanted;
        bring_together(&w);
        for (unsigned parts = WIRE_POLICY_MODE; parts <= WIRE_BOTH_MODES; parts++)
            rows_expect_int(rows[i].row,
                            join_services(&w.joined, &w.containers, &w.wanted, rows[i].asked, parts)
                                .count,
                            rows[i].parts == parts);
        images_free(w.images);
    }
}

/* A container that was asked at that time, and said so; NULL = its checks have not run. */
static void told(struct world *w, struct compliance *compliance, const char *id, int64_t asked_ms, const char *number)
{
    struct check_list failed = check_list_new(w->arena, 1);

    if (number)
        check_list_push(&failed, (struct check){ .level = CHECK_WARN,
                                                 .number = str_of(number),
                                                 .description = STR(""),
                                                 .remediation = STR("") });
    compliance_note_asked(compliance, str_of(id), asked_ms);
    compliance_put(compliance, str_of(id), number ? 1 : 0, &failed);
}

static int failed_checks(struct world *w, struct compliance *compliance, bool in_vain)
{
    const struct checks *failed;

    bring_together(w);
    join_checks(&w->joined, &w->containers, &w->wanted, compliance, in_vain, w->images);
    failed = the_image(w).failed_checks;
    return failed ? (int)failed->list.count : -1;
}

static void a_check_counts_once_for_an_image_and_silence_takes_none_away(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(compliance_free) struct compliance *compliance = compliance_create();
    struct world w = a_world(arena);
    const struct checks *list;

    (void)state;
    w.wanted.items[0].compliance = true;
    runs(&w, "c1", "Deployment/shop/web");
    runs(&w, "c2", "Deployment/shop/web");
    knows(&w, "c1", "i1", WIRE_SCAN_FINISHED);
    knows(&w, "c2", "i1", WIRE_SCAN_FINISHED);
    rows_expect_int("nobody has asked", failed_checks(&w, compliance, false), -1);
    rows_expect("it is awaited", the_image(&w).checks_pending, "soon");
    rows_expect_int("NeuVector does not tell", failed_checks(&w, compliance, true), -1);
    rows_expect("nobody waits", !the_image(&w).checks_pending, "for that");
    told(&w, compliance, "c1", 1, "D.1");
    rows_expect_int("one of two", failed_checks(&w, compliance, false), 1);
    told(&w, compliance, "c2", 1, "D.1");
    rows_expect_int("both fail the same", failed_checks(&w, compliance, false), 1);
    list = the_image(&w).failed_checks;
    failed_checks(&w, compliance, false);
    rows_expect("nothing new", the_image(&w).failed_checks == list, "is the same list");
    told(&w, compliance, "c2", 1, "D.2");
    rows_expect_int("or another", failed_checks(&w, compliance, false), 2);
    w.containers.items[1].id = STR("c3");
    knows(&w, "c3", "i1", WIRE_SCAN_FINISHED);
    rows_expect_int("a new container says nothing yet", failed_checks(&w, compliance, false), 2);
    rows_expect("the one that is gone", compliance_find(compliance, STR("c2")) == NULL, "is forgotten");
    told(&w, compliance, "c3", 1, "D.1");
    rows_expect_int("it fails less", failed_checks(&w, compliance, false), 1);
    w.wanted.items[0].compliance = false;
    rows_expect_int("nobody wants to know", failed_checks(&w, compliance, false), -1);
    images_free(w.images);
}

static void who_was_asked_longest_ago_is_asked_first(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(compliance_free) struct compliance *compliance = compliance_create();
    struct world w = a_world(arena);
    struct str_list ids;

    (void)state;
    for (int i = 1; i <= 4; i++) {
        const char *id = str_fmt(arena, "c%d", i).at;

        runs(&w, id, "Deployment/shop/web");
        knows(&w, id, "i1", WIRE_SCAN_FINISHED);
    }
    runs(&w, "x1", "Deployment/shop/other");
    knows(&w, "x1", "i1", WIRE_SCAN_FINISHED);
    bring_together(&w);
    rows_expect_int("nobody wants to know",
                    join_unchecked(&w.joined, &w.containers, &w.wanted, compliance, 100).count, 0);
    w.wanted.items[0].compliance = true;
    told(&w, compliance, "c1", 90, "D.1");
    told(&w, compliance, "c2", 50, NULL);
    told(&w, compliance, "c3", 101, "D.1");
    ids = join_unchecked(&w.joined, &w.containers, &w.wanted, compliance, 100);
    rows_expect_int("none twice in an interval", ids.count, 3);
    rows_expect_str("never", ids.items[0], STR("c4"));
    rows_expect_str("longest ago", ids.items[1], STR("c2"));
    rows_expect_str("last", ids.items[2], STR("c1"));
    images_free(w.images);
}

static void only_what_is_wanted_is_scanned(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct world w = a_world(arena);

    (void)state;
    runs(&w, "x1", "Deployment/shop/other");
    runs(&w, "x2", "");
    knows(&w, "x1", "i1", WIRE_SCAN_IDLE);
    knows(&w, "x2", "i2", WIRE_SCAN_IDLE);
    bring_together(&w);
    rows_expect_int("no request", join_unscanned(&w.joined, w.images, 0).count, 0);
    rows_expect_int("no image",
                    join_scans(&w.joined, &w.containers, &w.wanted.items[0], w.images).images.count,
                    0);
    images_free(w.images);
}

static void images_that_nothing_runs_are_forgotten(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(images_free) struct images *images = images_create();
    struct set kept = set_new(arena, 1);

    (void)state;
    images_put(images, STR("a"), &(struct scan_findings){ .scanned_ms = 1 });
    images_put(images, STR("b"), &(struct scan_findings){ .scanned_ms = 1 });
    set_add(kept, STR("a"));
    images_keep(images, kept);
    rows_expect("kept", images_find(images, STR("a")) != NULL, "is there");
    rows_expect("forgotten", images_find(images, STR("b")) == NULL, "is not");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_of_a_scan_is_told),
        cmocka_unit_test(the_newest_scan_of_an_image_counts),
        cmocka_unit_test(reports_are_read_once_for_each_scan),
        cmocka_unit_test(a_report_that_cannot_be_read_takes_nothing_away),
        cmocka_unit_test(before_5_4_the_report_tells_critical_ones),
        cmocka_unit_test(modes_are_never_loosened),
        cmocka_unit_test(a_check_counts_once_for_an_image_and_silence_takes_none_away),
        cmocka_unit_test(who_was_asked_longest_ago_is_asked_first),
        cmocka_unit_test(only_what_is_wanted_is_scanned),
        cmocka_unit_test(images_that_nothing_runs_are_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
