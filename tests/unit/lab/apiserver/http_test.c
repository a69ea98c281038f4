/* SPDX-License-Identifier: Apache-2.0 */
/* http_test.c: the API as clients meet it: verbs, rejections in Kubernetes' words, selectors, pages,
 * tables, watches. */
#include "api_fixture.h"

static const struct rejection_row {
    const char *sentence, *method, *path, *type, *body;
    int status;
    const char *message;
} rejection_rows[] = {
    { "an object that is not there", "GET", WIDGETS "/x", "", "", 404,
      "widgets.test.example.com \"x\" not found" },
    { "a core object that is not there", "GET", "/api/v1/namespaces/default/configmaps/x", "", "",
      404, "configmaps \"x\" not found" },
    { "a namespace that is not there", "POST",
      "/apis/test.example.com/v1/namespaces/nope/widgets", "application/json",
      "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"env\":\"x\"}}", 404,
      "namespaces \"nope\" not found" },
    { "no name", "POST", WIDGETS, "application/json", "{" WIDGET "\"spec\":{\"env\":\"x\"}}", 422,
      "Widget.test.example.com \"\" is invalid: metadata.name: Required value: name or "
      "generateName is required" },
    { "another namespace in the body", "POST", WIDGETS, "application/json",
      "{" WIDGET "\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"},\"spec\":{\"env\":\"x\"}}", 400,
      "the namespace of the provided object does not match the namespace sent on the request" },
    { "another version in the body", "POST", WIDGETS, "application/json",
      "{\"apiVersion\":\"test.example.com/v2\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"a\"}}", 400,
      "the API version in the data (test.example.com/v2) does not match the expected API version "
      "(test.example.com/v1)" },
    { "a version where there is none yet", "POST", WIDGETS, "application/json",
      "{" WIDGET "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\"},\"spec\":{\"env\":\"x\"}}", 500,
      "resourceVersion should not be set on objects to be created" },
    { "two faults at once", "POST", WIDGETS, "application/json",
      "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"size\":11}}", 422,
      "Widget.test.example.com \"a\" is invalid: [spec.env: Required value, spec.size: Invalid "
      "value: 11: spec.size in body should be less than or equal to 10]" },
    { "an unknown field, strictly", "POST", WIDGETS "?fieldValidation=Strict", "application/json",
      "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"env\":\"x\",\"b\":1}}", 400,
      "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field "
      "\"spec.b\"" },
    { "unknown fields, strictly, are sorted", "POST", WIDGETS "?fieldValidation=Strict",
      "application/json", "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"env\":\"x\",\"c\":1},\"a\":1}", 400,
      "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field "
      "\"a\", unknown field \"spec.c\"" },
    { "a label that is none", "POST", WIDGETS, "application/json",
      "{" WIDGET "\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"b c\"}},\"spec\":{\"env\":\"x\"}}", 422,
      "Widget.test.example.com \"a\" is invalid: metadata.labels: Invalid value: \"b c\": a valid "
      "label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
      "must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
      "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')" },
    { "a strategic merge of a custom object", "PATCH", WIDGETS "/a",
      "application/strategic-merge-patch+json", "{}", 415,
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, "
      "application/apply-patch+yaml" },
    { "a field that cannot be selected by", "GET", WIDGETS "?fieldSelector=spec.size%3D3", "", "",
      400, "field label not supported: spec.size" },
    { "a version of the future", "GET", WIDGETS "?resourceVersion=999999", "", "", 504, NULL },
    { "a streamed list that does not say how new", "GET", WIDGETS "?watch=1&sendInitialEvents=true", "",
      "", 422,
      "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents "
      "requires setting resourceVersionMatch to NotOlderThan" },
    { "a watch that says how new for nothing", "GET",
      WIDGETS "?watch=1&resourceVersionMatch=NotOlderThan", "", "", 422,
      "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided" },
    { "a plain list is not streamed", "GET", WIDGETS "?sendInitialEvents=true", "", "", 422,
      "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is "
      "forbidden for list" },
    { "the default namespace is kept", "DELETE", "/api/v1/namespaces/default", "", "", 403,
      "namespaces \"default\" is forbidden: this namespace may not be deleted" },
    { "bytes that are not JSON", "POST", WIDGETS, "application/json", "{\"a\":}", 400, NULL },
};

static void test_rejections(void **state)
{
    struct fixture *f = fixture_begin();

    (void)state;
    for (size_t i = 0; i < sizeof(rejection_rows) / sizeof(rejection_rows[0]); i++) {
        const struct rejection_row *row = &rejection_rows[i];
        struct reply reply =
            ask(f, row->method, row->path, "application/json", row->type, row->body);

        rows_expect_int(row->sentence, reply.status, row->status);
        rows_expect_str(row->sentence, member(f, reply.body, "kind"), STR("Status"));
        if (row->message)
            rows_expect_str(row->sentence, member(f, reply.body, "message"),
                            str_of(row->message));
    }
    f->groups = STR("nobody");
    rows_expect_int("who is no master is forbidden", ask_json(f, "GET", WIDGETS, "").status, 403);
    fixture_end(f);
}

static void test_life(void **state)
{
    struct fixture *f = fixture_begin();
    struct reply made, again, changed, stale;

    (void)state;
    made = ask_json(f, "POST", WIDGETS, "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"env\":\"x\"},"
                                        "\"status\":{\"phase\":\"Up\"}}");
    rows_expect_int("a creation", made.status, 201);
    rows_expect_str("defaults are in", member(f, made.body, "spec.size"), STR("3"));
    rows_expect_str("the status is not", member(f, made.body, "status"), STR(""));
    rows_expect_str("generation begins", member(f, made.body, "metadata.generation"), STR("1"));
    again =
        ask_json(f, "POST", WIDGETS, "{" WIDGET "\"metadata\":{\"name\":\"a\"},\"spec\":{\"env\":\"x\"}}");
    rows_expect_str("a second one", member(f, again.body, "reason"), STR("AlreadyExists"));
    changed = ask(f, "PATCH", WIDGETS "/a", "", "application/merge-patch+json",
                  "{\"spec\":{\"size\":4},\"status\":{\"phase\":\"No\"}}");
    rows_expect_str("a patch counts", member(f, changed.body, "metadata.generation"), STR("2"));
    rows_expect_str("and leaves the status", member(f, changed.body, "status"), STR(""));
    changed = ask(f, "PATCH", WIDGETS "/a/status", "", "application/merge-patch+json",
                  "{\"spec\":{\"size\":5},\"status\":{\"phase\":\"Up\"}}");
    rows_expect_str("a status has its path", member(f, changed.body, "status.phase"), STR("Up"));
    rows_expect_str("and leaves the rest", member(f, changed.body, "spec.size"), STR("4"));
    rows_expect_str("and does not count", member(f, changed.body, "metadata.generation"), STR("2"));
    stale = ask_json(f, "PUT", WIDGETS "/a", str_z(f->arena, made.body));
    rows_expect_str("what was read before is rejected", member(f, stale.body, "message"),
                    STR("Operation cannot be fulfilled on widgets.test.example.com \"a\": the "
                        "object has been modified; please apply your changes to the latest version "
                        "and try again"));
    again = ask(f, "PATCH", WIDGETS "/a", "", "application/merge-patch+json",
                "{\"spec\":{\"size\":4}}");
    rows_expect_str("what changes nothing writes nothing",
                    member(f, again.body, "metadata.resourceVersion"),
                    member(f, changed.body, "metadata.resourceVersion"));
    again = ask_json(f, "DELETE", WIDGETS "/a?dryRun=All", "");
    rows_expect_int("a deletion may be tried", ask_json(f, "GET", WIDGETS "/a", "").status, 200);
    again = ask_json(f, "DELETE", WIDGETS "/a",
                     "{\"preconditions\":{\"uid\":\"somebody-else\"}}");
    rows_expect_int("a namesake is not deleted", again.status, 409);
    again = ask_json(f, "DELETE", WIDGETS "/a", "");
    rows_expect_str("a deletion", member(f, again.body, "status"), STR("Success"));
    rows_expect_int("it is gone", ask_json(f, "GET", WIDGETS "/a", "").status, 404);
    fixture_end(f);
}

static void test_finalizers(void **state)
{
    struct fixture *f = fixture_begin();
    struct reply reply;

    (void)state;
    ask_json(f, "POST", WIDGETS,
             "{" WIDGET "\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/"
             "y\"]},\"spec\":{\"env\":\"x\"}}");
    reply = ask_json(f, "DELETE", WIDGETS "/a", "");
    rows_expect("it waits", member(f, reply.body, "metadata.deletionTimestamp").len > 0,
                "is going");
    reply = ask(f, "PATCH", WIDGETS "/a", "", "application/merge-patch+json",
                "{\"metadata\":{\"finalizers\":[\"x.io/y\",\"x.io/z\"]}}");
    rows_expect_int("no new ones now", reply.status, 422);
    reply = ask(f, "PATCH", WIDGETS "/a", "", "application/json-patch+json",
                "[{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]");
    rows_expect_int("the last one goes", reply.status, 200);
    rows_expect_int("and the object with it", ask_json(f, "GET", WIDGETS "/a", "").status, 404);
    fixture_end(f);
}

static void make_several(struct fixture *f)
{
    for (int i = 0; i < 5; i++)
        ask_json(f, "POST", WIDGETS,
                 str_z(f->arena, str_fmt(f->arena,
                                         "{" WIDGET "\"metadata\":{\"name\":\"w%d\",\"labels\":{\"n\":\"%d\"}"
                                         "}"
                                         ",\"spec\":{\"env\":\"%s\"}}",
                                         i, i, i % 2 ? "odd" : "even")));
}

static struct str names(struct fixture *f, const char *path)
{
    struct reply reply = ask_json(f, "GET", path, "");
    struct strbuf out = strbuf_new(f->arena, 64);
    struct json list;
    struct json_iter it;
    struct error err;

    assert_int_equal(json_read(f->arena, reply.body, &json_limits_default, &list, &err), 0);
    it = json_iter(json_get(list, STR("items")));
    while (json_next(&it))
        strbuf_fmt(&out, "%s%.*s", out.len ? " " : "",
                   STR_ARG(json_str(json_walk(it.value, "metadata", "name", NULL))));
    return strbuf_str(&out);
}

static const struct list_row {
    const char *sentence, *query, *want;
} list_rows[] = {
    { "all", "", "w0 w1 w2 w3 w4" },
    { "by label", "?labelSelector=n%3D2", "w2" },
    { "by a set of labels", "?labelSelector=n+in+(1,3)", "w1 w3" },
    { "by a label's absence", "?labelSelector=!n", "" },
    { "by name", "?fieldSelector=metadata.name%3Dw4", "w4" },
    { "by a selectable field", "?fieldSelector=spec.env%3Dodd", "w1 w3" },
    { "by its opposite", "?fieldSelector=spec.env!%3Dodd", "w0 w2 w4" },
    { "by both", "?fieldSelector=spec.env%3Deven&labelSelector=n%3D4", "w4" },
};

static void test_lists(void **state)
{
    struct fixture *f = fixture_begin();
    struct reply page;
    struct str token;

    (void)state;
    make_several(f);
    for (size_t i = 0; i < sizeof(list_rows) / sizeof(list_rows[0]); i++)
        rows_expect_str(list_rows[i].sentence,
                        names(f, str_z(f->arena, str_fmt(f->arena, WIDGETS "%s",
                                                         list_rows[i].query))),
                        str_of(list_rows[i].want));
    page = ask_json(f, "GET", WIDGETS "?limit=2", "");
    token = member(f, page.body, "metadata.continue");
    rows_expect_str("three remain", member(f, page.body, "metadata.remainingItemCount"), STR("3"));
    ask_json(f, "DELETE", WIDGETS "/w3", "");
    rows_expect_str("the next pages are of the first one's version",
                    names(f, str_z(f->arena, str_fmt(f->arena, WIDGETS "?limit=9&continue=%.*s",
                                                     STR_ARG(token)))),
                    STR("w2 w3 w4"));
    rows_expect_int("a token that is none",
                    ask_json(f, "GET", WIDGETS "?continue=bm9uZQ%3D%3D", "").status, 400);
    page = ask(f, "GET", WIDGETS "/w1", "application/json;as=Table;v=v1;g=meta.k8s.io", "", "");
    rows_expect_str("a table names its columns", member(f, page.body, "columnDefinitions.2.name"),
                    STR("Size"));
    rows_expect_str("and fills them", member(f, page.body, "rows.0.cells"),
                    STR("[\"w1\",\"odd\",3]"));
    page = ask(f, "GET", WIDGETS,
               "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "", "");
    rows_expect_str("metadata alone", member(f, page.body, "items.0.spec"), STR(""));
    fixture_end(f);
}

/* The types and names of a watch that ends by itself. */
static struct str watch(struct fixture *f, const char *query)
{
    struct reply reply = ask_json(
        f, "GET", str_z(f->arena, str_fmt(f->arena, WIDGETS "?watch=1&timeoutSeconds=1&%s", query)),
        "");
    struct strbuf out = strbuf_new(f->arena, 64);
    struct str rest = reply.body, line;

    while (rest.len && str_split(&rest, '\n', &line))
        if (line.len)
            strbuf_fmt(&out, "%s%.*s:%.*s", out.len ? " " : "", STR_ARG(member(f, line, "type")),
                       STR_ARG(member(f, line, "object.metadata.name")));
    return strbuf_str(&out);
}

static void test_watches(void **state)
{
    struct fixture *f = fixture_begin();
    struct str from;

    (void)state;
    from = member(f, ask_json(f, "GET", WIDGETS, "").body, "metadata.resourceVersion");
    make_several(f);
    ask(f, "PATCH", WIDGETS "/w1", "", "application/merge-patch+json",
        "{\"metadata\":{\"labels\":{\"n\":\"9\"}}}");
    ask_json(f, "DELETE", WIDGETS "/w2", "");
    rows_expect_str("without a version: what there is", watch(f, ""),
                    STR("ADDED:w0 ADDED:w1 ADDED:w3 ADDED:w4"));
    rows_expect_str("from a version: what happened since",
                    watch(f, str_z(f->arena,
                                   str_fmt(f->arena, "resourceVersion=%.*s", STR_ARG(from)))),
                    STR("ADDED:w0 ADDED:w1 ADDED:w2 ADDED:w3 ADDED:w4 MODIFIED:w1 DELETED:w2"));
    rows_expect_str("what ceases to match is deleted",
                    watch(f, str_z(f->arena,
                                   str_fmt(f->arena, "resourceVersion=%.*s&labelSelector=n%%3D1",
                                           STR_ARG(from)))),
                    STR("ADDED:w1 DELETED:w1"));
    rows_expect_str("what comes to match is added",
                    watch(f, str_z(f->arena,
                                   str_fmt(f->arena, "resourceVersion=%.*s&labelSelector=n%%3D9",
                                           STR_ARG(from)))),
                    STR("ADDED:w1"));
    rows_expect_str("bookmarks at the end, for those who asked",
                    watch(f, "allowWatchBookmarks=true&fieldSelector=metadata.name%3Dw0"),
                    STR("ADDED:w0 BOOKMARK:"));
    /* A restart keeps the log: the same watch gives the same. */
    close_api(f);
    open_api(f);
    rows_expect_str("and again after a restart",
                    watch(f, str_z(f->arena,
                                   str_fmt(f->arena, "resourceVersion=%.*s", STR_ARG(from)))),
                    STR("ADDED:w0 ADDED:w1 ADDED:w2 ADDED:w3 ADDED:w4 MODIFIED:w1 DELETED:w2"));
    fixture_end(f);
}

static void test_compacted(void **state)
{
    struct fixture *f = fixture_begin();
    struct str made;
    struct error err;

    (void)state;
    /* More than the ring holds: 10,000 changes. */
    api_create_object(f->api, f->arena, STR("local"), &configmaps, STR("default"),
                      STR("{\"metadata\":{\"name\":\"c\"}}"), &made, &err);
    for (int i = 0; i < 10010; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        if (api_merge_object(f->api, arena, STR("local"), &configmaps, STR("default"), STR("c"),
                             STR(""), str_fmt(arena, "{\"data\":{\"n\":\"%d\"}}", i), &made,
                             &err) != 0)
            fail_msg("%s", err.text);
    }
    rows_expect_str("410 as an event", watch(f, "resourceVersion=1"), STR("ERROR:"));
    fixture_end(f);
}

static void test_discovery(void **state)
{
    struct fixture *f = fixture_begin();
    struct reply reply;

    (void)state;
    reply = ask(f, "GET", "/apis",
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "", "");
    rows_expect_str("aggregated", member(f, reply.body, "kind"), STR("APIGroupDiscoveryList"));
    reply = ask_json(f, "GET", "/apis/test.example.com/v1", "");
    rows_expect_str("a kind's name", member(f, reply.body, "resources.0.name"), STR("widgets"));
    rows_expect_str("its short name", member(f, reply.body, "resources.0.shortNames.0"), STR("wd"));
    rows_expect_str("its status", member(f, reply.body, "resources.1.name"), STR("widgets/status"));
    reply = ask_json(f, "GET", "/openapi/v3", "");
    rows_expect("an index", str_find(reply.body, STR("apis/test.example.com/v1"), 0) > 0, "listed");
    reply = ask_json(f, "GET", "/openapi/v3/apis/test.example.com/v1", "");
    rows_expect("a document with the kind",
                str_find(reply.body, STR("\"com.example.test.v1.Widget\""), 0) > 0, "schema");
    rows_expect("whose metadata are Kubernetes' own",
                str_find(reply.body,
                         STR("#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                         0) > 0,
                "reference");
    rows_expect("that says what writes understand",
                str_find(reply.body, STR("\"fieldValidation\""), 0) > 0, "parameter");
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rejections), cmocka_unit_test(test_life),
        cmocka_unit_test(test_finalizers), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_watches),  cmocka_unit_test(test_compacted),
        cmocka_unit_test(test_discovery),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
