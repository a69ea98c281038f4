/* SPDX-License-Identifier: Apache-2.0 */
/* kind_test.c: one object of a kind on a scripted API server: what is applied, and what its status says. */
#include "support/rows.h"
#include "support/scripted_api.h"
#include "support/loopback.h"

#include "runtime/kind.h"

#define WIDGET(generation, word, status) \
    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u-1\",\"resourceVersion\":\"5\",\"generation\":" generation "}," \
    "\"spec\":{\"word\":\"" word "\"}" status "}"
#define LIST(kind, items) "{\"kind\":\"" kind "List\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" items "]}"
#define CHILD "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u-2\",\"resourceVersion\":\"11\"," \
    "\"ownerReferences\":[{\"uid\":\"u-1\",\"name\":\"a\",\"controller\":true}]}}"
#define WRITTEN "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"resourceVersion\":\"5\"}}"

static const struct kube_resource config_maps =
    KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true);
static const struct kube_resource *const kinds[] = { &config_maps };

static void render(const struct kube_kind *kind, struct arena *arena,
                   const struct kind_observation *seen, struct kube_children *children,
                   struct problems *problems)
{
    struct str word = json_str(json_walk(seen->object, "spec", "word", NULL));

    (void)kind;
    if (str_eq(word, STR("bad")))
        problems_add(problems, (struct problem){ .field = STR("spec.word"),
                                                 .message = STR("Invalid value: \"bad\""),
                                                 .remedy = STR("say good"),
                                                 .severity = SEVERITY_DENY });
    kube_children_push(
        children, (struct kube_child){
                      .resource = kinds[0], .name = STR("a"),
                      .object = str_fmt(arena, "{\"data\":{\"word\":\"%.*s\"}}", STR_ARG(word)) });
}

/* Whether the children fare well. */
static void summarize(const struct kube_kind *kind, struct arena *arena,
                      const struct kind_observation *seen, struct json_writer *w,
                      struct kube_conditions *conditions)
{
    (void)kind;
    (void)arena;
    (void)conditions;
    json_field_str(w, "phase", seen->deleted ? STR("Terminating") : seen->children->count ? STR("Running") : STR("Pending"));
}

static const struct kube_kind widgets = {
    .resource = KUBE_RESOURCE_INIT("x.io", "v1", "widgets", "Widget", true), .children = kinds, .child_count = 1,
    .label = "x.io/w", .field_manager = "tester", .render = render, .summarize = summarize };

/* What the listener heard, as words. */
struct heard {
    struct strbuf text;
    uint32_t reconciles;
    bool twice; /* so many of them */
};

static void on_changed(void *context, const struct kube_kind *kind, const struct kube_object *before, const struct kube_object *after)
{
    (void)kind;
    strbuf_put(&((struct heard *)context)->text, !before ? STR("came ") : !after ? STR("went ") : STR("changed "));
}

static void on_reconciled(void *context, const struct kube_kind *kind, struct str result)
{
    struct heard *heard = context;

    (void)kind;
    strbuf_fmt(&heard->text, "%.*s ", STR_ARG(result));
    heard->twice = ++heard->reconciles == 2;
}

static void on_written(void *context, const struct kube_kind *kind, const struct kind_write *write)
{
    strbuf_fmt(&((struct heard *)context)->text, "%.*s:%.*s->%.*s@%.*s:%d ", STR_ARG(kind->resource.kind),
               STR_ARG(json_str(json_walk(write->object, "status", "phase", NULL))),
               STR_ARG(json_str(json_get(write->status, STR("phase")))), STR_ARG(write->resource_version),
               write->error->code != ERROR_NONE);
}

static const struct kind_listener listener = { on_changed, on_reconciled, on_written };

struct fixture {
    struct heard heard;
    struct arena *arena;
    struct loop *loop;
    struct log *log;
    struct scripted_api *api;
    struct kube_client *client;
    void *reconciler;
};

static void set_up(struct fixture *f, const char *widget)
{
    *f = (struct fixture){ .arena = arena_create(0), .loop = loop_create(), .api = scripted_api_create(),
                           .log = log_create(2, LOG_ERROR, LOG_TEXT, system_clock(), "test") };
    f->heard.text = strbuf_new(f->arena, 64);
    scripted_api_say(f->api, "GET", "/widgets?", 200, widget);
    scripted_api_say(f->api, "GET", "/configmaps?", 200, LIST("ConfigMap", ""));
    scripted_api_say(f->api, "GET", "/configmaps/a", 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404}");
    scripted_api_say(f->api, "PATCH", "/widgets/a/status", 200, WRITTEN);
    scripted_api_say_watch(f->api, "", false);
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->reconciler = kind_reconciler_create(&(struct kind_options){
        .kind = &widgets, .loop = f->loop, .client = f->client, .log = f->log, .listener = &listener, .context = &f->heard });
    kind_reconciler_pause(f->reconciler, false);
}

static void tear_down(struct fixture *f)
{
    kind_reconciler_free(f->reconciler);
    kube_client_free(f->client);
    scripted_api_free(f->api);
    log_free(f->log);
    loop_free(f->loop);
    arena_free(f->arena);
}

/* The next status says all of these. */
static void expect_status(struct fixture *f, const char *row, uint32_t count, const char *const *pieces)
{
    struct str sent;

    scripted_api_run_until(f->api, f->loop, "PATCH", "/widgets/a/status", count);
    sent = scripted_api_last(f->api, f->arena, "PATCH", "/widgets/a/status");
    for (; *pieces; pieces++)
        rows_expect(row, str_find(sent, str_of(*pieces), 0) >= 0, *pieces);
}

static void a_valid_object_has_its_children_and_a_status(void **state)
{
    static const char *const want[] = { "\"phase\":\"Running\"", "\"observedGeneration\":3", "\"children\":{\"desired\":1,\"applied\":1}",
        "\"type\":\"Accepted\",\"status\":\"True\"", "\"type\":\"Applied\",\"status\":\"True\"", NULL };
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Widget", WIDGET("3", "good", "")));
    scripted_api_say(f.api, "PATCH", "/configmaps/a", 201, CHILD);
    expect_status(&f, "applied, and the watch is silent", 1, want);
    rows_expect("what was rendered", str_find(scripted_api_last(f.api, f.arena, "PATCH", "/configmaps/a"),
                STR("\"data\":{\"word\":\"good\"}"), 0) >= 0, "is what was sent");
    tear_down(&f);
}

static void an_invalid_object_keeps_the_children_that_it_has(void **state)
{
    static const char *const want[] = { "\"observedGeneration\":4", "\"children\":{\"desired\":2,\"applied\":1}",
        "\"type\":\"Accepted\",\"status\":\"False\"", "spec.word: Invalid value: \\\"bad\\\"; say good", NULL };
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Widget", WIDGET("4", "bad", ",\"status\":{\"children\":{\"desired\":2,\"applied\":1}}")));
    expect_status(&f, "rejected", 1, want);
    rows_expect_int("nothing is applied", scripted_api_count(f.api, "PATCH", "/configmaps/a"), 0);
    tear_down(&f);
}

static void of_an_object_that_is_being_deleted_only_the_status_is_written(void **state)
{
    static const char *const want[] = { "\"phase\":\"Terminating\"", "\"children\":{\"desired\":2,\"applied\":1}", NULL };
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Widget", "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u-1\",\"resourceVersion\":\"5\","
                    "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"status\":{\"children\":{\"desired\":2,\"applied\":1}}}"));
    expect_status(&f, "deleted", 1, want);
    rows_expect_int("nothing is applied", scripted_api_count(f.api, "PATCH", "/configmaps/a"), 0);
    tear_down(&f);
}

static void a_failure_is_told_and_tried_again(void **state)
{
    static const char *const failed[] = { "\"type\":\"Applied\",\"status\":\"False\"", "no room (HTTP 500)", NULL };
    static const char *const well[] = { "\"type\":\"Applied\",\"status\":\"True\"", NULL };
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Widget", WIDGET("1", "good", "")));
    scripted_api_say(f.api, "PATCH", "/configmaps/a", 500,
                     "{\"kind\":\"Status\",\"reason\":\"InternalError\",\"message\":\"no room\",\"code\":500}");
    scripted_api_say(f.api, "PATCH", "/configmaps/a", 201, CHILD);
    scripted_api_say_watch(f.api, "", false);
    expect_status(&f, "told", 1, failed);
    scripted_api_run_until(f.api, f.loop, "PATCH", "/configmaps/a", 2);
    expect_status(&f, "applied in the end", 2, well);
    tear_down(&f);
}

static void the_listener_hears_of_objects_reconciles_and_writes(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Widget", WIDGET("1", "good", ",\"status\":{\"phase\":\"Old\"}")));
    scripted_api_say(f.api, "PATCH", "/configmaps/a", 500, "{\"kind\":\"Status\",\"reason\":\"InternalError\",\"code\":500}");
    scripted_api_say(f.api, "PATCH", "/configmaps/a", 201, CHILD);
    scripted_api_say(f.api, "PATCH", "/widgets/a/status", 500, "{\"kind\":\"Status\",\"reason\":\"InternalError\",\"code\":500}");
    loopback_run_until(f.loop, &f.heard.twice);
    rows_expect_str("a child that failed, then a status that was not taken", strbuf_str(&f.heard.text),
                    STR("came Widget:Old->Pending@5:0 retry Widget:Old->Running@:1 retry "));
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_object_has_its_children_and_a_status),
        cmocka_unit_test(an_invalid_object_keeps_the_children_that_it_has),
        cmocka_unit_test(of_an_object_that_is_being_deleted_only_the_status_is_written),
        cmocka_unit_test(a_failure_is_told_and_tried_again),
        cmocka_unit_test(the_listener_hears_of_objects_reconciles_and_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
