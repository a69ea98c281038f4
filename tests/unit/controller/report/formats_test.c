/* SPDX-License-Identifier: Apache-2.0 */
/* formats_test.c: what each format says of a report, and that it is JSON whatever the object holds. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "controller/report/formats.h"

#define IMAGE(name, digest, critical)                                                                      \
    "{\"image\":\"" name "\",\"digest\":\"" digest "\",\"scan\":\"Scanned\",\"lastScan\":\"2026-11-23T10:00:00Z\"," \
    "\"critical\":" critical ",\"high\":0,\"medium\":1,\"runsOn\":[{\"clusterId\":\"c-1\",\"release\":\"web/web\"}]}"
#define FINDING(cve, severity, score, package, fixed, image)                                               \
    "{\"cve\":\"" cve "\",\"severity\":\"" severity "\",\"score\":\"" score "\",\"package\":\"" package    \
    "\",\"installedVersion\":\"1.0\",\"fixedVersion\":\"" fixed "\",\"image\":\"" image "\"}"

#define REPORT                                                                                             \
    "{\"report\":{\"summary\":{\"images\":2,\"scannedImages\":2,\"critical\":2,\"high\":0,\"medium\":2,"   \
    "\"omittedImages\":0,\"omittedFindings\":1},\"images\":["                                              \
    IMAGE("registry.example.com:5000/shop/Web:1.28", "sha256:aa", "1") ","                                 \
    IMAGE("docker.io/library/db@sha256:1234", "sha256:bb", "1") "],\"findings\":["                         \
    FINDING("CVE-2099-1", "Critical", "9.8", "openssl", "1.1", "sha256:aa") ","                            \
    FINDING("CVE-2099-1", "Critical", "9.8", "openssl", "1.1", "sha256:bb") ","                            \
    FINDING("GHSA-x", "Medium", "", "zlib", "", "sha256:aa") "]}}"

static struct json written(struct arena *arena, const char *object, const char *format)
{
    const struct reported_stack stack = { STR("shop"), STR("web"),
                                          scan_report_read(arena, test_json(arena, str_of(object))) };
    struct strbuf out = strbuf_new(arena, 1024);

    format_find(str_of(format))(&stack, &out);
    return test_json(arena, str_trim(strbuf_str(&out)));
}

/* The element `at` of a list, as it is written. */
static struct json element(struct json list, uint32_t at)
{
    struct json_iter it = json_iter(list);

    while (json_next(&it))
        if (it.position == at)
            return it.value;
    return (struct json){ NULL, 0 };
}

static struct str text_at(struct json value, const char *key)
{
    return json_str(json_get(value, str_of(key)));
}

static void json_is_what_the_object_says(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json document = written(arena, REPORT, "json");

    (void)state;
    rows_expect_str("namespace", text_at(document, "namespace"), STR("shop"));
    rows_expect_str("name", text_at(document, "name"), STR("web"));
    rows_expect_int("findings", json_count(json_walk(document, "report", "findings", NULL)), 3);
    rows_expect("an unknown format", !format_find(STR("xml")), "is none");
}

#define PARTIAL(unknown, scanned, omitted)                                                                 \
    "{\"report\":{\"summary\":{\"images\":3,\"scannedImages\":" scanned ",\"unknownReleases\":" unknown    \
    ",\"omittedFindings\":" omitted "},\"images\":[" IMAGE("web:1", "sha256:aa", "1") "]}}"

static void what_the_report_does_not_know_is_said(void **state)
{
    static const struct {
        const char *row, *object, *says; /* the first notification, or NULL */
        uint32_t notifications;
    } rows[] = {
        { "all is known", PARTIAL("0", "3", "0"), NULL, 0 },
        { "the scans of a release are not", PARTIAL("1", "3", "0"),
          "The scans of 1 release of the Stack are not known, so this report does not cover it", 1 },
        { "of several", PARTIAL("2", "3", "0"),
          "The scans of 2 releases of the Stack are not known, so this report does not cover them", 1 },
        { "nor is what is in an image", PARTIAL("1", "2", "0"), "The scans of 1 release", 2 },
        { "images alone", PARTIAL("0", "1", "0"), "2 of 3 images have not been scanned", 1 },
        { "findings left out", PARTIAL("0", "3", "7"), "7 vulnerabilities are counted", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json run = element(json_get(written(arena, rows[i].object, "sarif"), STR("runs")), 0);
        struct json invocation = element(json_get(run, STR("invocations")), 0);
        struct json all = json_get(invocation, STR("toolExecutionNotifications"));
        struct json document = written(arena, rows[i].object, "cyclonedx");
        struct json composition = element(json_get(document, STR("compositions")), 0);
        const struct scan_report report = scan_report_read(arena, test_json(arena, str_of(rows[i].object)));
        struct str_list gaps = report_gaps(arena, &report);

        rows_expect_str("it ran", json_raw(json_get(invocation, STR("executionSuccessful"))), STR("true"));
        rows_expect_int(rows[i].row, json_count(all), rows[i].notifications);
        rows_expect_int("in the same words", gaps.count, rows[i].notifications);
        if (rows[i].says) {
            struct str text = json_str(json_walk(element(all, 0), "message", "text", NULL));

            rows_expect(rows[i].row, str_starts(text, str_of(rows[i].says)), text.at);
            rows_expect_str("a warning", text_at(element(all, 0), "level"), STR("warning"));
        }
        rows_expect_str("CycloneDX", text_at(composition, "aggregate"),
                        rows[i].says ? STR("incomplete") : STR(""));
        rows_expect("and how many", str_find(json_raw(document), STR("{\"name\":\"herd:unknownReleases\",\"value\":"), 0) >= 0,
                    "a property");
    }
}

#define TWO_PACKAGES                                                                                       \
    "{\"report\":{\"images\":[" IMAGE("web:1", "sha256:aa", "1") "],\"findings\":["                        \
    FINDING("CVE-2099-1", "Critical", "9.8", "openssl", "1.1", "sha256:aa") ","                            \
    FINDING("CVE-2099-1", "High", "8.0", "libssl", "", "sha256:aa") ","                                    \
    FINDING("CVE-2099-1", "Critical", "9.8", "openssl", "1.1", "sha256:bb") ","                            \
    FINDING("GHSA-xxxx-yyyy-zzzz", "Medium", "", "left-pad", "2", "sha256:aa") ","                         \
    FINDING("RUSTSEC-2099-1", "Medium", "", "time", "3", "sha256:aa") "]}}"

static void a_rule_names_the_fix_of_each_package(void **state)
{
    static const struct {
        uint32_t rule;
        const char *described, *help, *uri;
    } rows[] = {
        { 0, "Critical vulnerability CVE-2099-1 in openssl, libssl.",
          "To fix it: update openssl to 1.1, no fixed version of libssl is known.",
          "https://nvd.nist.gov/vuln/detail/CVE-2099-1" },
        { 1, "Medium vulnerability GHSA-xxxx-yyyy-zzzz in left-pad.", "To fix it: update left-pad to 2.",
          "https://github.com/advisories/GHSA-xxxx-yyyy-zzzz" },
        { 2, "Medium vulnerability RUSTSEC-2099-1 in time.", "To fix it: update time to 3.", "" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json run = element(json_get(written(arena, TWO_PACKAGES, "sarif"), STR("runs")), 0);
    struct json rules = json_walk(run, "tool", "driver", "rules", NULL);

    (void)state;
    rows_expect_int("one for each vulnerability", json_count(rules), 3);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json rule = element(rules, rows[i].rule);

        rows_expect_str("in which packages", json_str(json_walk(rule, "shortDescription", "text", NULL)),
                        str_of(rows[i].described));
        rows_expect_str("the fix of each", json_str(json_walk(rule, "help", "text", NULL)), str_of(rows[i].help));
        rows_expect_str("its page", text_at(rule, "helpUri"), str_of(rows[i].uri));
    }
    rows_expect_str("a result has the fix of its package",
                    json_str(json_walk(element(json_get(run, STR("results")), 1), "message", "text", NULL)),
                    STR("libssl 1.0 in image web:1 has CVE-2099-1 (High): no fixed version of libssl is known."));
}

static void sarif_has_a_rule_for_each_vulnerability(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json run = element(json_get(written(arena, REPORT, "sarif"), STR("runs")), 0);
    struct json driver = json_walk(run, "tool", "driver", NULL);
    struct json rule = element(json_get(driver, STR("rules")), 0);
    struct json result = element(json_get(run, STR("results")), 1);
    struct json place = json_get(element(json_get(result, STR("locations")), 0), STR("physicalLocation"));

    (void)state;
    rows_expect_int("two rules", json_count(json_get(driver, STR("rules"))), 2);
    rows_expect_str("the tool has a page", text_at(driver, "informationUri"), STR("https://herd.suse.com"));
    rows_expect_str("the worst first", text_at(rule, "id"), STR("CVE-2099-1"));
    rows_expect_str("its name", text_at(rule, "name"), STR("CVE20991"));
    rows_expect_str("its page", text_at(rule, "helpUri"), STR("https://nvd.nist.gov/vuln/detail/CVE-2099-1"));
    rows_expect_str("described", json_str(json_walk(rule, "fullDescription", "text", NULL)),
                    STR("Critical vulnerability CVE-2099-1 in openssl. To fix it: update openssl to 1.1."));
    rows_expect_str("code scanning sorts by", json_str(json_walk(rule, "properties", "security-severity", NULL)),
                    STR("9.8"));
    rows_expect_int("three results", json_count(json_get(run, STR("results"))), 3);
    rows_expect_str("of that rule", json_raw(json_get(result, STR("ruleIndex"))), STR("0"));
    rows_expect_str("where", json_str(json_walk(place, "artifactLocation", "uri", NULL)),
                    STR("docker.io/library/db%40sha256%3A1234"));
    rows_expect_str("in words", json_str(json_walk(result, "message", "text", NULL)),
                    STR("openssl 1.0 in image docker.io/library/db@sha256:1234 has CVE-2099-1 (Critical): "
                        "update openssl to 1.1."));
    rows_expect_str("a medium one is a warning", text_at(element(json_get(run, STR("results")), 2), "level"),
                    STR("warning"));
}

#define CHECK(test, level, description, remediation)                                                       \
    "{\"test\":\"" test "\",\"level\":\"" level "\",\"description\":\"" description                      \
    "\",\"remediation\":\"" remediation "\",\"image\":\"sha256:aa\"}"
#define CHECKED                                                                                            \
    "{\"report\":{\"images\":[" IMAGE("web:1", "sha256:aa", "1") "],\"findings\":["                        \
    FINDING("CVE-2099-1", "Critical", "9.8", "openssl", "1.1", "sha256:aa") "],\"failedChecks\":["         \
    CHECK("D.5.4", "HIGH", "A container is privileged.", "Run it without privileges") ","                  \
    CHECK("D.5.5", "WARN", "", "") "]}}"

static void sarif_has_a_rule_for_each_check(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json run = element(json_get(written(arena, CHECKED, "sarif"), STR("runs")), 0);
    struct json rule = element(json_walk(run, "tool", "driver", "rules", NULL), 1);
    struct json result = element(json_get(run, STR("results")), 1);

    (void)state;
    rows_expect_int("behind vulnerabilities", json_count(json_get(run, STR("results"))), 3);
    rows_expect_str("the rule", text_at(rule, "id"), STR("D.5.4"));
    rows_expect_str("what to do", json_str(json_walk(rule, "help", "text", NULL)),
                    STR("Run it without privileges."));
    rows_expect_str("of that rule", json_raw(json_get(result, STR("ruleIndex"))), STR("1"));
    rows_expect_str("in words", json_str(json_walk(result, "message", "text", NULL)),
                    STR("Image web:1 fails compliance check D.5.4: A container is privileged."));
    rows_expect_str("a high one is an error", text_at(result, "level"), STR("error"));
    result = element(json_get(run, STR("results")), 2);
    rows_expect_str("another one is a warning", text_at(result, "level"), STR("warning"));
    rows_expect_str("without words", json_str(json_walk(result, "message", "text", NULL)),
                    STR("Image web:1 fails compliance check D.5.5: D.5.5."));
}

static void cyclonedx_says_what_affects_images(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json document = written(arena, REPORT, "cyclonedx");
    struct json components = json_get(document, STR("components"));
    struct json all = json_get(document, STR("vulnerabilities"));
    struct json one = element(all, 0);
    struct json other = element(all, 1);

    (void)state;
    rows_expect_str("version", text_at(document, "specVersion"), STR("1.5"));
    rows_expect_str("as of the newest scan", json_str(json_walk(document, "metadata", "timestamp", NULL)),
                    STR("2026-11-23T10:00:00Z"));
    rows_expect_str("of the Stack", json_str(json_walk(document, "metadata", "component", "name", NULL)), STR("web"));
    rows_expect_str("a port is no tag", text_at(element(components, 0), "purl"),
                    STR("pkg:oci/web?repository_url=registry.example.com%3A5000/shop/Web&tag=1.28"));
    rows_expect_str("nor is a digest", text_at(element(components, 1), "purl"),
                    STR("pkg:oci/db?repository_url=docker.io/library/db"));
    rows_expect_int("one vulnerability of one package stands once", json_count(all), 2);
    rows_expect_int("with both images", json_count(json_get(one, STR("affects"))), 2);
    rows_expect_str("by reference", text_at(element(json_get(one, STR("affects")), 1), "ref"), STR("sha256:bb"));
    rows_expect_str("NVD knows it", json_str(json_walk(one, "source", "name", NULL)), STR("NVD"));
    rows_expect_str("rated", json_raw(element(json_get(one, STR("ratings")), 0)),
                    STR("{\"score\":9.8,\"severity\":\"critical\"}"));
    rows_expect_str("what to do", text_at(one, "recommendation"), STR("Update openssl to 1.1."));
    rows_expect_str("GitHub knows that one", json_str(json_walk(other, "source", "url", NULL)),
                    STR("https://github.com/advisories/GHSA-x"));
    rows_expect_str("without a score", json_raw(element(json_get(other, STR("ratings")), 0)),
                    STR("{\"severity\":\"medium\"}"));
}

/* test_json fails if it is not JSON. */
static void whatever_the_object_says_is_json(void **state)
{
    static const char *const objects[] = {
        "{}",
        "{\"report\":{\"summary\":{}}}",
        "{\"report\":[1]}",
        "{\"report\":{\"images\":[{\"image\":\"\",\"digest\":\"\"},{\"image\":\"/:@\",\"digest\":\"x\"},"
        "{\"image\":\"a\",\"digest\":\"x\"}],\"findings\":[{},{\"cve\":\"\\\"\\n\",\"score\":\"9.8,\\\"x\\\":1\","
        "\"image\":\"nowhere\",\"severity\":\"\\\\\"},{\"cve\":\"CVE-/../\",\"score\":\"99\"}]}}",
    };
    static const char *const formats[] = { "json", "sarif", "cyclonedx" };

    (void)state;
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
            AUTO(arena_free) struct arena *arena = arena_create(0);

            rows_expect(objects[i], json_is(written(arena, objects[i], formats[k]), JSON_OBJECT), "an object");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_what_the_object_says),
        cmocka_unit_test(what_the_report_does_not_know_is_said),
        cmocka_unit_test(a_rule_names_the_fix_of_each_package),
        cmocka_unit_test(sarif_has_a_rule_for_each_vulnerability),
        cmocka_unit_test(sarif_has_a_rule_for_each_check),
        cmocka_unit_test(cyclonedx_says_what_affects_images),
        cmocka_unit_test(whatever_the_object_says_is_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
