/* SPDX-License-Identifier: Apache-2.0 */
/* crd_test.c: what the controller writes into a status, the schema keeps: the API server prunes the
 * rest without a word. And the schema is one that an API server takes. */
#include "support/rows.h"

#include "stack/crd/crd.h"
#include "stack/gpu/inventory.h"
#include "stack/policy/policy_status.h"
#include "stack/model/scan_report.h"
#include "stack/model/status.h"
#include "support/stack_builder.h"
#include "text/yaml.h"

static struct json crd_of(struct arena *arena, const char *kind)
{
    const struct crd *crd = crds;
    struct strbuf text = strbuf_new(arena, 65536);
    struct yaml_documents documents;
    struct error err = { 0 };

    while (strcmp(crd->kind, kind) != 0)
        crd++;
    crd_write(crd, &text);
    if (yaml_read(arena, strbuf_str(&text), &documents, &err) != 0)
        fail_msg("%s", err.text);
    rows_expect_int("one document", documents.count, 1);
    return test_json(arena, documents.items[0].json);
}

static struct json crd(struct arena *arena)
{
    return crd_of(arena, "Stack");
}

static struct json first(struct json list)
{
    struct json_iter it = json_iter(list);

    json_next(&it);
    return it.value;
}

static struct json version_of(struct json definition)
{
    return first(json_walk(definition, "spec", "versions", NULL));
}

static struct json schema_of(struct json definition)
{
    return json_walk(version_of(definition), "schema", "openAPIV3Schema", NULL);
}

/* Every member of `value` is one that `schema` has, of its type. */
static void expect_kept(struct json value, struct json schema, struct str at)
{
    struct json_iter it = json_iter(value);

    while (json_next(&it)) {
        struct json under = json_is(value, JSON_ARRAY) ? json_get(schema, STR("items"))
                                                       : json_walk(schema, "properties", NULL);

        if (json_is(value, JSON_OBJECT)) {
            under = json_get(under, it.key);
            if (json_is(under, JSON_ABSENT))
                under = json_get(schema, STR("additionalProperties"));
        }
        if (json_is(under, JSON_ABSENT))
            fail_msg("%.*s.%.*s is not in the schema", STR_ARG(at), STR_ARG(it.key));
        rows_expect(at.at,
                    json_is(it.value, JSON_STRING) ==
                        str_eq(json_str(json_get(under, STR("type"))), STR("string")), "a string is one");
        expect_kept(it.value, under, it.key);
    }
}

static void a_full_status_is_kept(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_status status = {
        .phase = PHASE_DEPLOYING, .message = STR("m"), .observed_generation = 2, .clusters = 1,
        .charts = 1, .ready = 0, .releases = 1, .target_clusters = str_list_new(arena, 1),
        .deployments = release_states_new(arena, 2), .conditions = kube_conditions_new(arena, 1),
        .last_applied_by = STR("someone"),
    };
    struct release_state full = {
        .chart_name = STR("a"), .cluster_id = STR("c-1"), .namespace_ = STR("n"),
        .release_name = STR("r"), .state = DEPLOYMENT_UNKNOWN, .reason = STR("R"), .message = STR("m"),
        .version = STR("1.0.0"), .digest = STR("sha256:x"), .revision = 3, .last_updated_ms = 1000,
        .requested_ms = 2000, .operation = STR("op"), .attempts = 4, .terminal = true,
        .last_known = DEPLOYMENT_DEPLOYED, .installed = true, .retry_ms = 3000,
    };

    (void)state;
    str_list_push(&status.target_clusters, STR("c-1"));
    release_states_push(&status.deployments, full);
    kube_condition_set(&status.conditions,
                       (struct kube_condition){ .type = STR("Ready"), .reason = STR("R"),
                                                .message = STR("m"), .status = CONDITION_FALSE,
                                                .observed_generation = 2 }, 5000);

    /* Every field has a value, so each of them must be in the schema. */
    status.held_clusters = status.pending_clusters = status.started_clusters =
        status.failed_clusters = status.lost_clusters = status.target_clusters;
    status.change = STR("01234567");
    status.targets_hash = STR("12345678");
    status.charts_hash = STR("23456789");
    status.waiting_since_ms = 7000;
    status.waves = wave_states_new(arena, 1);
    wave_states_push(&status.waves, (struct wave_state){ STR("w"), STR("76543210"), 3, 1, 1, 1,
                                                         4000 });
    status.removal = (struct removal_state){ .releases = 1, .of = 2, .first_seen_ms = 1,
                                             .accounted = 3, .token = STR("t"),
                                             .delays = removal_delays_new(arena, 1) };
    removal_delays_push(&status.removal.delays,
                        (struct removal_delay){ 9000, status.target_clusters });
    status.reason_since_ms = 6000;
    status.handled_resume = STR("1");
    status.handled_retry = STR("2");

    struct json written = test_json(arena, stack_status_write(arena, &status));

    expect_kept(written, json_walk(schema_of(crd(arena)), "properties", "status", NULL), STR("status"));
}

static void a_full_inventory_is_kept(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = inventory_new(arena);
    struct inventory_reservation reservation = { STR("a/b"), named_counts_new(arena, 1) };

    (void)state;
    inventory.display_name = STR("frankfurt");
    inventory.labels = test_json(arena, STR("{\"env\":\"prod\"}"));
    inventory.known = true;
    inventory.reservations_omitted = 1;
    named_counts_push(&reservation.amounts, (struct named_count){ STR("amd.com/gpu"), 1 });
    inventory_add_node(&inventory, STR("ro amd.com/gpu=2"));
    inventory_add_reservation(&inventory, &reservation);

    struct json written = test_json(arena, inventory_status(arena, &inventory, (struct json){ NULL, 0 }, 5000));

    expect_kept(written, json_walk(schema_of(crd_of(arena, "ClusterInventory")), "properties", "status", NULL),
                STR("status"));
}

static void a_policy_s_status_is_kept(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct policy_status status = { POLICY_VALID, STR("m"), 1, 2, 1 };
    struct json written = test_json(arena, policy_status_write(arena, &status, (struct json){ NULL, 0 }, 5000));

    (void)state;
    expect_kept(written, json_walk(schema_of(crd_of(arena, "StackPolicy")), "properties", "status", NULL), STR("status"));
}

static void a_full_scan_report_is_kept(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scan_image image = { STR("db:1"), STR("i1"), STR("Scanned"), 5000, 1, 2, 3, 4, 5, 6,
                                scan_places_new(arena, 1), 1 };
    struct scan_report report = { .summary = { 1, 1, 1, 2, 3, 4, 1, 1, 1 },
                                  .checks = scan_checks_new(arena, 1),
                                  .images = scan_images_new(arena, 1),
                                  .findings = scan_findings_list_new(arena, 1) };

    (void)state;
    scan_places_push(&image.places, (struct scan_place){ STR("c-1"), STR("n/r") });
    scan_images_push(&report.images, image);
    scan_findings_list_push(&report.findings, (struct scan_finding){ STR("CVE-1"), STR("High"), STR("7.5"), STR("p"),
                                                                     STR("1"), STR("2"), STR("i1") });
    scan_checks_push(&report.checks,
                     (struct scan_check){ STR("D.5.4"), STR("HIGH"), STR("d"), STR("r"), STR("i1") });

    struct json written = test_json(arena, scan_report_write(arena, &report));
    struct json definition = crd_of(arena, "StackScanReport");

    expect_kept(written, schema_of(definition), STR("report"));
    rows_expect("no subresource: one write does it",
                json_is(json_get(version_of(definition), STR("subresources")), JSON_ABSENT), "none");
}

static void columns_may_be_left_out(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf text = strbuf_new(arena, 65536);
    struct crd bare = crds[0];

    (void)state;
    bare.columns = NULL;
    crd_write(&bare, &text);
    rows_expect("no columns", str_find(strbuf_str(&text), STR("additionalPrinterColumns"), 0) < 0, "none is written");
}

/* metav1.Condition as Kubernetes itself validates it: what waits for conditions may rely on them. */
static void conditions_are_bounded_as_kubernetes_does(void **state)
{
    (void)state;
    for (const struct crd *of = crds; of->kind; of++) {
        if (!of->status)
            continue;

        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json condition = json_walk(schema_of(crd_of(arena, of->kind)), "properties", "status", "properties",
                                          "conditions", "items", NULL);
        struct json members = json_get(condition, STR("properties"));

        rows_expect_str(of->kind, json_raw(json_get(condition, STR("required"))),
                        STR("[\"type\",\"status\",\"reason\",\"message\",\"lastTransitionTime\"]"));
        rows_expect_str(of->kind, json_raw(json_walk(members, "status", "enum", NULL)),
                        STR("[\"True\",\"False\",\"Unknown\"]"));
        rows_expect_str(of->kind, json_raw(json_walk(members, "type", "maxLength", NULL)), STR("316"));
        rows_expect_str(of->kind, json_raw(json_walk(members, "reason", "maxLength", NULL)), STR("1024"));
        rows_expect_str(of->kind, json_str(json_walk(members, "reason", "pattern", NULL)),
                        STR("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"));
        rows_expect_str(of->kind, json_raw(json_walk(members, "message", "maxLength", NULL)), STR("32768"));
    }
}

/* Structural: a type everywhere; described everywhere; defaults only beside properties. */
static uint32_t expect_structural(struct json schema, struct str at, bool described)
{
    struct json_iter it = json_iter(json_get(schema, STR("properties")));
    uint32_t fields = 0;

    rows_expect(at.at, json_is(json_get(schema, STR("type")), JSON_STRING) ||
                json_bool(json_get(schema, STR("x-kubernetes-int-or-string"))), "it has a type");
    if (described)
        rows_expect(at.at, json_str(json_get(schema, STR("description"))).len > 5, "it is described");
    while (json_next(&it)) {
        bool fixed = str_eq(it.key, STR("metadata"));

        fields += 1 + expect_structural(it.value, it.key, !fixed);
    }
    if (json_is(json_get(schema, STR("items")), JSON_OBJECT))
        fields += expect_structural(json_get(schema, STR("items")), at, false);
    if (json_is(json_get(schema, STR("additionalProperties")), JSON_OBJECT))
        expect_structural(json_get(schema, STR("additionalProperties")), at, false);
    return fields;
}

static void the_schema_is_structural(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json definition = crd(arena);

    (void)state;
    rows_expect("fields", expect_structural(schema_of(definition), STR("root"), true) > 100, "many");
    rows_expect_str("name", json_str(json_walk(definition, "metadata", "name", NULL)),
                    STR("stacks.herd.suse.com"));
    rows_expect("status subresource",
                json_is(json_walk(version_of(definition), "subresources", "status", NULL), JSON_OBJECT), "it is there");
}

static void columns_are_what_people_ask_for(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json_iter it = json_iter(json_get(version_of(crd(arena)), STR("additionalPrinterColumns")));
    struct strbuf names = strbuf_new(arena, 64);

    (void)state;
    while (json_next(&it))
        strbuf_fmt(&names, "%.*s%s ", STR_ARG(json_str(json_get(it.value, STR("name")))),
                   json_is(json_get(it.value, STR("priority")), JSON_NUMBER) ? "+" : "");
    rows_expect_str("columns; '+' in -o wide", strbuf_str(&names),
                    STR("Phase Clusters Charts Age Ready+ Scan+ Message+ "));
}

static void a_rule_of_the_definition_says_what_admission_always_denies(void **state)
{
    uint32_t count;
    const struct crd_rule *rules = crd_rules(&count);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        rows_expect(rules[i].rule, rule_of(rules[i].says)->severity == SEVERITY_DENY, "denied");
        rows_expect(rules[i].rule, rule_fixed_why(rules[i].says) != NULL, "whatever is configured");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_status_is_kept),
        cmocka_unit_test(a_full_inventory_is_kept),
        cmocka_unit_test(a_policy_s_status_is_kept),
        cmocka_unit_test(a_full_scan_report_is_kept),
        cmocka_unit_test(conditions_are_bounded_as_kubernetes_does),
        cmocka_unit_test(columns_may_be_left_out),
        cmocka_unit_test(the_schema_is_structural),
        cmocka_unit_test(columns_are_what_people_ask_for),
        cmocka_unit_test(a_rule_of_the_definition_says_what_admission_always_denies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
