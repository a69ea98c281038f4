/* crd_test.c: what the controller writes into a status, the schema keeps: the API server prunes the
 * rest without a word. And the schema is one that an API server takes. */
#include "support/rows.h"

#include "stack/crd.h"
#include "stack/inventory.h"
#include "stack/status.h"
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
        .last_known = DEPLOYMENT_DEPLOYED, .installed = true, .rollout = STR("0123"),
    };

    (void)state;
    str_list_push(&status.target_clusters, STR("c-1"));
    release_states_push(&status.deployments, full);
    kube_condition_set(&status.conditions,
                       (struct kube_condition){ .type = STR("Ready"), .reason = STR("R"),
                                                .message = STR("m"), .status = CONDITION_FALSE,
                                                .observed_generation = 2 }, 5000);

    struct json written = test_json(arena, stack_status_write(arena, &status));

    expect_kept(written, json_walk(schema_of(crd(arena)), "properties", "status", NULL), STR("status"));
}

static void a_full_inventory_is_kept(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = inventory_new(arena);
    struct inventory_promise promise = { STR("a/b"), inventory_amounts_new(arena, 1) };

    (void)state;
    inventory.display_name = STR("frankfurt");
    inventory.labels = test_json(arena, STR("{\"env\":\"prod\"}"));
    inventory.known = true;
    inventory.promises_omitted = 1;
    inventory_amounts_push(&promise.amounts, (struct inventory_amount){ STR("amd.com/gpu"), 1 });
    inventory_add_node(&inventory, STR("ro amd.com/gpu=2"));
    inventory_add_promise(&inventory, &promise);

    struct json written = test_json(arena, inventory_status(arena, &inventory, (struct json){ NULL, 0 }, 5000));

    expect_kept(written, json_walk(schema_of(crd_of(arena, "ClusterInventory")), "properties", "status", NULL),
                STR("status"));
}

/* Structural: a type everywhere; described everywhere; defaults only beside properties. */
static uint32_t expect_structural(struct json schema, struct str at, bool described)
{
    struct json_iter it = json_iter(json_get(schema, STR("properties")));
    uint32_t fields = 0;

    rows_expect(at.at, json_is(json_get(schema, STR("type")), JSON_STRING), "it has a type");
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
        cmocka_unit_test(the_schema_is_structural),
        cmocka_unit_test(columns_are_what_people_ask_for),
        cmocka_unit_test(a_rule_of_the_definition_says_what_admission_always_denies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
