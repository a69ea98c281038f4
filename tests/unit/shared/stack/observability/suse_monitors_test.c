/* SPDX-License-Identifier: Apache-2.0 */
/* suse_monitors_test.c: what Herd adds to SUSE Observability for a release, and when it is there as it should be. */
#include "support/rows.h"

#include "stack/observability/suse_monitors.h"

static const struct monitored_release release = {
    STR_INIT("team/shop"), STR_INIT("shop"), STR_INIT("web"), STR_INIT("app"), STR_INIT("Deployment/shop/web StatefulSet/db/pg "),
};

static struct suse_monitors monitors_of(struct arena *arena, const char *cluster, struct monitored_release of)
{
    struct suse_monitors monitors = suse_monitors_new(arena, SUSE_MONITORS_OF_RELEASE);

    suse_monitors_add(&monitors, str_of(cluster), &of);
    return monitors;
}

static void every_query_is_limited_to_the_pods_of_the_release(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct suse_monitors monitors = monitors_of(arena, "lab-a", release);
    const struct str selected = STR("k8s_cluster_name=\"lab-a\",k8s_namespace_name=~\"shop|db\",k8s_pod_name=~\"web-[a-z0-9]+-[a-z0-9]{5}|"
                                    "pg-[0-9]+\"");

    (void)state;
    rows_expect_int("all of the table", monitors.count, SUSE_MONITORS_OF_RELEASE);
    rows_expect_str("filled in", monitors.items[0].query,
                    str_fmt(arena, "min by (k8s_cluster_name,k8s_namespace_name,k8s_pod_name) (up{%.*s})", STR_ARG(selected)));
    rows_expect_str("its name", monitors.items[0].name, STR("Metrics endpoint down: web on lab-a"));
    for (uint32_t i = 0; i < monitors.count; i++) {
        struct str query = monitors.items[i].query;
        uint32_t selectors = 0, limited = 0;

        rows_expect("no placeholder is left", str_find_char(query, '@', 0) < 0, query.at);
        for (size_t at = 0; at < query.len; at++) {
            struct str rest = str_slice(query, at, query.len);

            limited += str_starts(rest, selected);
            selectors += query.at[at] == '{' && (at + 1 == query.len || query.at[at + 1] != '5');
        }
        rows_expect_int(str_z(arena, monitors.items[i].identifier), limited, selectors);
    }
}

static void identifiers_say_whose_they_are(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct monitored_release other_release = release, other_stack = release;
    struct str prefix = suse_monitors_prefix(arena, STR("lab-a"), STR("team/shop"));

    (void)state;
    other_release.name = STR("api");
    other_stack.stack = STR("team/other");
    const struct str one = monitors_of(arena, "lab-a", release).items[0].identifier;
    const struct {
        const char *row;
        struct str identifier;
        bool same, of_owner;
    } rows[] = {
        { "again", monitors_of(arena, "lab-a", release).items[0].identifier, true, true },
        { "of another release", monitors_of(arena, "lab-a", other_release).items[0].identifier, false, true },
        { "another of the table", monitors_of(arena, "lab-a", release).items[1].identifier, false, true },
        { "of another Stack", monitors_of(arena, "lab-a", other_stack).items[0].identifier, false, false },
        { "of another cluster", monitors_of(arena, "lab-b", release).items[0].identifier, false, false },
    };

    rows_expect("Herd's", str_starts(one, STR("urn:custom:monitor:herd-")), str_z(arena, one));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        rows_expect_int(rows[i].row, str_eq(rows[i].identifier, one), rows[i].same);
        rows_expect_int(rows[i].row, str_starts(rows[i].identifier, prefix), rows[i].of_owner);
    }
}

static void a_document_names_the_function_by_a_template(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct suse_monitors monitors = monitors_of(arena, "lab-a", release);
    struct str document = suse_monitors_document(arena, monitors.items, 1);
    static const char *const has[] = {
        "{\"nodes\":[{\"_type\":\"Monitor\",\"identifier\":\"urn:custom:monitor:herd-",
        "\"function\":{{ get \"urn:stackpack:common:monitor-function:threshold\" }},",
        "\"arguments\":{\"comparator\":\"LT\",\"threshold\":1,\"failureState\":\"CRITICAL\",\"metric\":{\"query\":\"min by (",
        "\"urnTemplate\":\"urn:kubernetes:/${k8s_cluster_name}:${k8s_namespace_name}:pod/${k8s_pod_name}\"",
        "\"tags\":[\"herd\"]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(has) / sizeof(*has); i++)
        rows_expect(has[i], str_find(document, str_of(has[i]), 0) >= 0, str_z(arena, document));
}

#define STORED(name, status, query, threshold)                                                                            \
    "{\"identifier\":\"x\",\"name\":\"" name "\",\"description\":\"Herd has added this monitor for release shop/web of Stack "    \
    "team/shop.\",\"remediationHint\":\"%.*s\",\"intervalSeconds\":60,\"status\":\"" status "\",\"runtimeStatus\":\"%s\","       \
    "\"arguments\":[{\"_type\":\"ArgumentComparatorWithoutEqualityVal\",\"parameter\":12,\"value\":\"LT\"},{\"_type\":"          \
    "\"ArgumentFailingHealthStateVal\",\"value\":\"CRITICAL\"},{\"_type\":\"ArgumentDoubleVal\",\"value\":" threshold "},"       \
    "{\"_type\":\"ArgumentPromQLMetricVal\",\"value\":{\"_type\":\"PromQLMetric\",\"query\":" query "}}]}"
#define NAME "Metrics endpoint down: web on lab-a"

static void what_somebody_changed_is_not_as_wanted(void **state)
{
    static const struct {
        const char *row, *format, *runtime;
        bool as_wanted, works;
    } rows[] = {
        { "as it was imported", STORED(NAME, "ENABLED", "\"%s\"", "1.0"), "ENABLED", true, true },
        { "that ends with an error", STORED(NAME, "ENABLED", "\"%s\"", "1.0"), "ERROR", true, false },
        { "with a warning", STORED(NAME, "ENABLED", "\"%s\"", "1.0"), "WARNING", true, true },
        { "with another name", STORED("mine", "ENABLED", "\"%s\"", "1.0"), "ENABLED", false, true },
        { "disabled", STORED(NAME, "DISABLED", "\"%s\"", "1.0"), "DISABLED", false, false },
        { "with another threshold", STORED(NAME, "ENABLED", "\"%s\"", "0.5"), "ENABLED", false, true },
        { "with another query", STORED(NAME, "ENABLED", "\"up%s\"", "1.0"), "ENABLED", false, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct suse_monitors monitors = monitors_of(arena, "lab-a", release);
        struct str query = monitors.items[0].query;
        struct strbuf escaped = strbuf_new(arena, 256);
        struct error err = { 0 };
        struct json stored;
        static const char hint[] =
            "The agent cannot scrape the pod: look at its log, and at the port that the ServiceMonitor or PodMonitor names.";

        for (size_t k = 0; k < query.len; k++) {
            if (query.at[k] == '"')
                strbuf_char(&escaped, '\\');
            strbuf_char(&escaped, query.at[k]);
        }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        struct str text = str_fmt(arena, rows[i].format, (int)sizeof(hint) - 1, hint, rows[i].runtime,
                                  str_z(arena, strbuf_str(&escaped)));
#pragma GCC diagnostic pop
        assert_int_equal(json_read(arena, text, &json_limits_default, &stored, &err), 0);
        rows_expect_int(rows[i].row, suse_monitor_is_as_wanted(stored, &monitors.items[0]), rows[i].as_wanted);
        rows_expect_int(rows[i].row, suse_monitor_works(stored), rows[i].works);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_query_is_limited_to_the_pods_of_the_release),
        cmocka_unit_test(identifiers_say_whose_they_are),
        cmocka_unit_test(a_document_names_the_function_by_a_template),
        cmocka_unit_test(what_somebody_changed_is_not_as_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
