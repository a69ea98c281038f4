/* SPDX-License-Identifier: Apache-2.0 */
/* children_test.c: what is applied for a child, what is kept of it, and what is said of all. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "kube/children.h"
#include "kube/names.h"

static const struct kube_resource config_maps = KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true);
static const struct kube_resource nodes = KUBE_RESOURCE_INIT("", "v1", "nodes", "Node", false);
static const struct kube_owner owner = {
    KUBE_RESOURCE_INIT("x.io", "v1", "widgets", "Widget", true), STR_INIT("n"), STR_INIT("a"), STR_INIT("u-1") };

#define REFERENCE "\"ownerReferences\":[{\"apiVersion\":\"x.io/v1\",\"kind\":\"Widget\",\"name\":\"a\",\"uid\":\"u-1\"," \
                  "\"controller\":true,\"blockOwnerDeletion\":true}]"

static const struct {
    const char *row;
    const struct kube_resource *resource;
    const char *namespace_, *object;
    const char *want; /* NULL: it is rejected */
} bodies[] = {
    { "a child gets its type, name, namespace, label and owner", &config_maps, "", "{\"data\":{\"k\":\"v\"}}",
      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"namespace\":\"n\",\"labels\":{\"x.io/w\":\"a\"},"
      REFERENCE "},\"data\":{\"k\":\"v\"}}" },
    { "what it says of labels and annotations stays", &config_maps, "m",
      "{\"metadata\":{\"labels\":{\"app\":\"b\"},\"annotations\":{\"y\":\"z\"}}}",
      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"namespace\":\"m\","
      "\"labels\":{\"app\":\"b\",\"x.io/w\":\"a\"},\"annotations\":{\"y\":\"z\"}," REFERENCE "}}" },
    { "a kind without namespaces gets none", &nodes, "", "{}",
      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"c\",\"labels\":{\"x.io/w\":\"a\"}," REFERENCE "}}" },
    { "a list is no object", &config_maps, "", "[]", NULL },
    { "metadata that is no object", &config_maps, "", "{\"metadata\":1}", NULL },
    { "what is no JSON", &config_maps, "", "{", NULL },
};

static void a_body_names_the_owner(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct kube_child child = { bodies[i].resource, str_of(bodies[i].namespace_), STR("c"),
                                    str_of(bodies[i].object), false, false, STR("") };
        struct str body = STR("");
        struct error err = { .code = ERROR_NONE };
        int got = kube_child_body(arena, &owner, STR("x.io/w"), &child, &body, &err);

        rows_expect_int(bodies[i].row, got, bodies[i].want ? 0 : -1);
        if (bodies[i].want)
            rows_expect(bodies[i].row, json_equal(test_json(arena, body), test_json(arena, str_of(bodies[i].want))),
                        "the body");
    }
}

static void a_label_fits_every_name(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf longest = strbuf_new(arena, 253);

    (void)state;
    for (int i = 0; i < 63; i++)
        strbuf_lit(&longest, "a.b-");
    rows_expect_str("a short name is the label", kube_owner_label(arena, STR("a.b")), STR("a.b"));
    for (size_t len = 60; len < 70; len++) {
        struct str label = kube_owner_label(arena, str_slice(strbuf_str(&longest), 0, len - len % 2 + 1));

        rows_expect("a label value", kube_not_label_value(label) == NULL, label.at);
    }
}

#define CHILD(meta, rest) "{\"metadata\":{\"name\":\"c\",\"uid\":\"7\"" meta "}" rest "}"
#define OWNED ",\"ownerReferences\":[{\"uid\":\"o\",\"name\":\"other\"},{\"uid\":\"u-1\",\"kind\":\"Widget\",\"name\":\"a\"," \
    "\"controller\":true}]"
static const struct {
    const char *row, *object;
    bool same; /* as the first */
    const char *owner;
} kept[] = {
    { "a child", CHILD(OWNED, ",\"data\":{\"k\":\"v\",\"l\":1}"), true, "u-1" },
    { "the order of members does not count", CHILD(OWNED, ",\"data\":{\"l\":1,\"k\":\"v\"}"), true, "u-1" },
    { "nor does what the API server counts", CHILD(OWNED ",\"resourceVersion\":\"9\",\"generation\":2,\"managedFields\":[]",
                                                   ",\"data\":{\"k\":\"v\",\"l\":1}"), true, "u-1" },
    { "nor status, nor what items of a list lack",
      CHILD(OWNED, ",\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"status\":{\"a\":1},\"data\":{\"k\":\"v\",\"l\":1}"), true, "u-1" },
    { "a changed field does", CHILD(OWNED, ",\"data\":{\"k\":\"w\",\"l\":1}"), false, "u-1" },
    { "a changed label does", CHILD(OWNED ",\"labels\":{\"a\":\"b\"}", ",\"data\":{\"k\":\"v\",\"l\":1}"), false, "u-1" },
    { "another uid is another object", "{\"metadata\":{\"name\":\"c\",\"uid\":\"8\"" OWNED "},\"data\":{\"k\":\"v\",\"l\":1}}", false, "u-1" },
    { "an owner that does not control it is none", CHILD(",\"ownerReferences\":[{\"uid\":\"o\",\"name\":\"other\"}]", ""), false, "" },
};

static void a_digest_is_of_what_people_change(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str first = STR("");

    (void)state;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        struct strbuf out = strbuf_new(arena, 256);
        struct kept_child child;

        kube_child_keep(test_json(arena, str_of(kept[i].object)), &owner.resource, STR("x.io/w"), STR("us"), &out);
        child = kube_child_kept(strbuf_str(&out));
        if (i == 0)
            first = child.digest;
        rows_expect_int(kept[i].row, str_eq(child.digest, first), kept[i].same);
        rows_expect_str(kept[i].row, child.owner_uid, str_of(kept[i].owner));
        rows_expect_str(kept[i].row, child.owner_name, *kept[i].owner ? STR("a") : STR(""));
    }
}

static const struct {
    const char *row, *object;
    const char *owner;
    enum object_state state;
    const char *message, *cause, *status;
} healths[] = {
    { "a ConfigMap is current once it is there", "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}", "", OBJECT_CURRENT, "", "", "{}" },
    { "a Deployment without replicas is not",
      "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"spec\":{\"replicas\":2},\"status\":{\"readyReplicas\":1,"
      "\"conditions\":[{\"type\":\"ReplicaFailure\",\"status\":\"True\",\"message\":\"exceeded quota: q\"}]}}",
      "", OBJECT_IN_PROGRESS, "0 of 2 replicas are created", "exceeded quota: q", "{\"readyReplicas\":1}" },
    { "a pod of another controller is the label's, and says its own cause",
      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"x.io/w\":\"a\"},\"ownerReferences\":[{\"uid\":\"r\","
      "\"kind\":\"ReplicaSet\",\"name\":\"a-1\",\"controller\":true}]},\"status\":{\"phase\":\"Pending\",\"conditions\":["
      "{\"type\":\"Ready\",\"status\":\"False\",\"message\":\"m\"},{\"type\":\"PodScheduled\",\"status\":\"False\","
      "\"message\":\"0/3 nodes are available: 3 Insufficient cpu. More.\"}]}}",
      "a", OBJECT_IN_PROGRESS, "m", "0/3 nodes are available: 3 Insufficient cpu", "{\"phase\":\"Pending\"}" },
};

static void what_is_kept_says_how_a_child_fares(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(healths) / sizeof(healths[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf out = strbuf_new(arena, 256);
        struct child_health health;
        struct kept_child child;

        kube_child_keep(test_json(arena, str_of(healths[i].object)), &owner.resource, STR("x.io/w"), STR("us"), &out);
        child = kube_child_kept(strbuf_str(&out));
        health = kube_child_health(arena, &child);
        rows_expect_str(healths[i].row, child.owner_name, str_of(healths[i].owner));
        rows_expect_int(healths[i].row, health.state, healths[i].state);
        rows_expect_str(healths[i].row, health.message, str_of(healths[i].message));
        rows_expect_str(healths[i].row, health.cause, str_of(healths[i].cause));
        rows_expect(healths[i].row, json_equal(health.status, test_json(arena, str_of(healths[i].status))), "status");
    }
}

#define MANAGER(name, operation, rest, fields) "{\"manager\":\"" name "\",\"operation\":\"" operation "\"" rest ",\"fieldsV1\":" fields "}"
#define REPLICAS "{\"f:spec\":{\"f:replicas\":{}}}"
static const struct {
    const char *row, *managers, *want;
} managers[] = {
    { "nobody applied it", "", "" },
    { "we do", MANAGER("us", "Apply", "", REPLICAS), "" },
    { "others own other fields", MANAGER("us", "Apply", "", REPLICAS) "," MANAGER("kubectl", "Update", "", "{\"f:spec\":{\"f:paused\":{}}}"), "" },
    { "an autoscaler took it over", MANAGER("us", "Apply", "", "{\"f:spec\":{\"f:template\":{}}}") ","
      MANAGER("kube-controller-manager", "Update", ",\"subresource\":\"scale\"", REPLICAS), "kube-controller-manager" },
    { "somebody owns it beside us", MANAGER("a", "Apply", "", REPLICAS) "," MANAGER("us", "Apply", "", REPLICAS), "a" },
};

static void who_else_owns_the_replicas_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(managers) / sizeof(managers[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf out = strbuf_new(arena, 256);
        struct kept_child child;

        kube_child_keep(test_json(arena, str_fmt(arena, "{\"metadata\":{\"managedFields\":[%s]}}", managers[i].managers)), &owner.resource,
                        STR("x.io/w"), STR("us"), &out);
        child = kube_child_kept(strbuf_str(&out));
        rows_expect_str(managers[i].row, kube_child_health(arena, &child).replicas_manager, str_of(managers[i].want));
    }
}

#define R(name, desired, outcome) { STR_INIT("Pod"), STR_INIT(name), desired, outcome, { .text = "HTTP 500" } }
static const struct {
    const char *row;
    struct child_result results[3];
    uint32_t count;
    enum condition_status status;
    const char *reason, *message;
} sums[] = {
    { "nothing is desired", { R("", false, CHILD_PRUNED) }, 0, CONDITION_TRUE, "Applied", "0 of 0 objects applied" },
    { "what was pruned is not counted", { R("a", true, CHILD_APPLIED), R("b", false, CHILD_PRUNED) }, 2, CONDITION_TRUE,
      "Applied", "1 of 1 objects applied" },
    { "a missing kind is told, and is no failure", { R("a", true, CHILD_KIND_MISSING), R("b", true, CHILD_APPLIED) }, 2,
      CONDITION_TRUE, "KindMissing", "1 of 2 objects applied; Pod a: the API server has no such kind" },
    { "a failure is told before a missing kind",
      { R("a", true, CHILD_KIND_MISSING), R("b", true, CHILD_FAILED), R("c", true, CHILD_FAILED) }, 3, CONDITION_FALSE,
      "ApplyFailed", "0 of 3 objects applied; Pod b: HTTP 500" },
    { "what could not be pruned is a failure", { R("a", true, CHILD_APPLIED), R("b", false, CHILD_FAILED) }, 2,
      CONDITION_FALSE, "ApplyFailed", "1 of 1 objects applied; Pod b: HTTP 500" },
    { "what is not ours is told with a remedy", { R("a", true, CHILD_NOT_OURS) }, 1, CONDITION_FALSE, "ChildConflict",
      "0 of 1 objects applied; Pod a: an object of that name exists already and is not controlled by this one; rename or "
      "delete one of the two" },
};

static void a_condition_says_what_failed_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct child_results results = child_results_new(arena, 3);
        struct kube_condition condition;

        for (uint32_t k = 0; k < sums[i].count; k++)
            child_results_push(&results, sums[i].results[k]);
        condition = kube_children_condition(arena, &results, 4);
        rows_expect_int(sums[i].row, condition.status, sums[i].status);
        rows_expect_str(sums[i].row, condition.reason, str_of(sums[i].reason));
        rows_expect_str(sums[i].row, condition.message, str_of(sums[i].message));
        rows_expect_int(sums[i].row, condition.observed_generation, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_names_the_owner),
        cmocka_unit_test(a_label_fits_every_name),
        cmocka_unit_test(a_digest_is_of_what_people_change),
        cmocka_unit_test(what_is_kept_says_how_a_child_fares),
        cmocka_unit_test(who_else_owns_the_replicas_is_kept),
        cmocka_unit_test(a_condition_says_what_failed_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
