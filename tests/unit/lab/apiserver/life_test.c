/* SPDX-License-Identifier: Apache-2.0 */
/* life_test.c: what goes by itself, and what many do at once: namespaces and definitions that are
 * deleted with all that is in them; patches side by side; clusters apart from each other. */
#include "api_fixture.h"

#include <pthread.h>

enum { WRITERS = 6, WRITES = 25, PATIENCE = 400 };

static struct str configmap_in(struct arena *arena, const char *name)
{
    return str_fmt(arena, "{\"metadata\":{\"name\":\"%s\"},\"data\":{}}", name);
}

/* Ask until it is gone; the namespace controller looks at once and then twice a second. */
static void expect_gone(struct fixture *f, const char *row, const char *path)
{
    for (int i = 0; i < PATIENCE; i++) {
        if (ask_json(f, "GET", path, "").status == 404)
            return;
        usleep(10000);
    }
    fail_msg("%s\n  is still there: %s", row, path);
}

static void test_namespace(void **state)
{
    struct fixture *f = fixture_begin();
    const char *in_team = "/apis/test.example.com/v1/namespaces/team/widgets";
    struct reply reply;

    (void)state;
    ask_json(f, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}");
    ask_json(f, "POST", in_team,
             "{" WIDGET "\"metadata\":{\"name\":\"w\",\"finalizers\":[\"x.io/y\"]},\"spec\":{\"env\":\"x\"}}");
    ask_json(f, "POST", "/api/v1/namespaces/team/configmaps",
             str_z(f->arena, configmap_in(f->arena, "c")));
    reply = ask_json(f, "DELETE", "/api/v1/namespaces/team", "");
    rows_expect_str("it waits for what is in it", member(f, reply.body, "status.phase"),
                    STR("Terminating"));
    expect_gone(f, "what can go goes", "/api/v1/namespaces/team/configmaps/c");
    reply = ask_json(f, "POST", "/api/v1/namespaces/team/configmaps",
                     str_z(f->arena, configmap_in(f->arena, "d")));
    rows_expect_str("nothing new comes in", member(f, reply.body, "message"),
                    STR("configmaps \"d\" is forbidden: unable to create new content in namespace "
                        "team because it is being terminated"));
    /* Killed in the middle: the next run finishes. */
    close_api(f);
    open_api(f);
    ask(f, "PATCH", "/apis/test.example.com/v1/namespaces/team/widgets/w", "",
        "application/merge-patch+json", "{\"metadata\":{\"finalizers\":null}}");
    expect_gone(f, "with the last finalizer the namespace goes", "/api/v1/namespaces/team");
    fixture_end(f);
}

static void test_definition(void **state)
{
    struct fixture *f = fixture_begin();
    const char *crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                      "widgets.test.example.com";
    struct reply reply;
    struct error err;

    (void)state;
    ask_json(f, "POST", WIDGETS, "{" WIDGET "\"metadata\":{\"name\":\"w\"},\"spec\":{\"env\":\"x\"}}");
    reply = ask(f, "PATCH", crd, "", "application/merge-patch+json",
                "{\"spec\":{\"group\":\"other.example.com\"}}");
    rows_expect_int("a group never changes", reply.status, 422);
    ask_json(f, "DELETE", crd, "");
    expect_gone(f, "a definition goes", crd);
    rows_expect_int("its kind with it", ask_json(f, "GET", WIDGETS, "").status, 404);
    if (api_add_definition(f->api, STR("local"), str_of(scratch_definition), &err) != 0)
        fail_msg("%s", err.text);
    rows_expect_int("and its objects", ask_json(f, "GET", WIDGETS "/w", "").status, 404);
    fixture_end(f);
}

/* The default of a status stands there from the start, as if nobody had sent one, and is no change
 * of the spec. */
static void test_status_default(void **state)
{
    static const char *const definition =
        "apiVersion: apiextensions.k8s.io/v1\n"
        "kind: CustomResourceDefinition\n"
        "metadata: {name: gadgets.test.example.com}\n"
        "spec:\n"
        "  group: test.example.com\n"
        "  scope: Namespaced\n"
        "  names: {plural: gadgets, kind: Gadget}\n"
        "  versions:\n"
        "  - name: v1\n"
        "    served: true\n"
        "    storage: true\n"
        "    subresources: {status: {}}\n"
        "    schema:\n"
        "      openAPIV3Schema:\n"
        "        type: object\n"
        "        properties:\n"
        "          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"
        "          status:\n"
        "            type: object\n"
        "            default: {seen: -1}\n"
        "            properties: {seen: {type: integer}, phase: {type: string}}\n";
    const char *gadgets = "/apis/test.example.com/v1/namespaces/default/gadgets";
    const char *gadget = "/apis/test.example.com/v1/namespaces/default/gadgets/a";
    struct fixture *f = fixture_begin();
    struct reply reply;
    struct error err;

    (void)state;
    if (api_add_definition(f->api, STR("local"), str_of(definition), &err) != 0)
        fail_msg("%s", err.text);
    reply = ask_json(f, "POST", gadgets,
                     "{\"apiVersion\":\"test.example.com/v1\",\"kind\":\"Gadget\",\"metadata\":{"
                     "\"name\":\"a\"},\"status\":{\"seen\":7,\"phase\":\"Up\"}}");
    rows_expect_str("what was sent is not there", member(f, reply.body, "status"),
                    STR("{\"seen\":-1}"));
    reply = ask_json(f, "GET", gadget, "");
    rows_expect_str("nor later", member(f, reply.body, "status"), STR("{\"seen\":-1}"));
    reply = ask(f, "PATCH", gadget, "", "application/merge-patch+json",
                "{\"spec\":{\"a\":1},\"status\":{\"seen\":7}}");
    rows_expect_str("a patch of the spec leaves it", member(f, reply.body, "status.seen"),
                    STR("-1"));
    rows_expect_str("and counts once", member(f, reply.body, "metadata.generation"), STR("2"));
    reply = ask(f, "PATCH", "/apis/test.example.com/v1/namespaces/default/gadgets/a/status", "",
                "application/merge-patch+json", "{\"status\":{\"seen\":2}}");
    rows_expect_str("a status is written", member(f, reply.body, "status.seen"), STR("2"));
    fixture_end(f);
}

struct writer {
    struct api *api;
    uint32_t number;
    uint32_t failures;
    pthread_t thread;
};

static void *write_much(void *context)
{
    struct writer *w = context;

    for (uint32_t i = 0; i < WRITES; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str made;
        struct error err;

        if (api_merge_object(w->api, arena, STR("local"), &configmaps, STR("default"), STR("c"),
                             STR(""),
                             str_fmt(arena, "{\"data\":{\"w%u-%u\":\"x\"}}", w->number, i), &made,
                             &err) != 0)
            w->failures++;
    }
    return NULL;
}

static void test_side_by_side(void **state)
{
    struct fixture *f = fixture_begin();
    struct writer writers[WRITERS];
    struct json json;
    struct str made;
    struct error err;

    (void)state;
    assert_int_equal(api_create_object(f->api, f->arena, STR("local"), &configmaps, STR("default"),
                                       configmap_in(f->arena, "c"), &made, &err),
                     0);
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .api = f->api, .number = i };
        pthread_create(&writers[i].thread, NULL, write_much, &writers[i]);
    }
    for (uint32_t i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        rows_expect_int("no patch conflicts", writers[i].failures, 0);
    }
    assert_int_equal(api_get(f->api, f->arena, STR("local"), &configmaps, STR("default"), STR("c"),
                             &made, &err),
                     0);
    assert_int_equal(json_read(f->arena, made, &json_limits_default, &json, &err), 0);
    rows_expect_int("no patch is lost", json_count(json_get(json, STR("data"))), WRITERS * WRITES);
    fixture_end(f);
}

static void test_clusters_apart(void **state)
{
    struct fixture *f = fixture_begin();
    struct str made;
    struct error err;

    (void)state;
    assert_int_equal(api_add_cluster(f->api, STR("c-1"), &err), 0);
    assert_int_equal(api_create_object(f->api, f->arena, STR("c-1"), &configmaps, STR("default"),
                                       configmap_in(f->arena, "c"), &made, &err),
                     0);
    rows_expect_int("one cluster's object is not another's",
                    ask_json(f, "GET", "/api/v1/namespaces/default/configmaps/c", "").status, 404);
    rows_expect_int("nor is its kind",
                    api_get(f->api, f->arena, STR("c-1"), &widgets, STR("default"), STR("w"), &made,
                            &err),
                    -1);
    close_api(f);
    open_api(f);
    rows_expect_int("a cluster outlives a restart",
                    api_get(f->api, f->arena, STR("c-1"), &configmaps, STR("default"), STR("c"),
                            &made, &err),
                    0);
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_namespace),
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_status_default),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_clusters_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
