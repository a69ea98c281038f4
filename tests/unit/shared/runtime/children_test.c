/* SPDX-License-Identifier: Apache-2.0 */
/* children_test.c: what is requested for an owner's children on a scripted API server, and how it ends. */
#include "support/rows.h"
#include "support/scripted_api.h"
#include "support/loopback.h"

#include "runtime/children.h"

#define META(name, version, uid) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"id-" name "\"," \
    "\"resourceVersion\":\"" version "\",\"ownerReferences\":[{\"uid\":\"" uid "\",\"name\":\"a\",\"controller\":true}]}"
#define STATUS(reason, code) "{\"kind\":\"Status\",\"reason\":\"" reason "\",\"message\":\"" reason " it is\",\"code\":" code "}"
#define LIST(items) "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" items "]}"

static const struct kube_resource kinds[] = {
    KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true),
    KUBE_RESOURCE_INIT("m.io", "v1", "monitors", "Monitor", true),
};
static const struct kube_resource *const followed[] = { &kinds[0], &kinds[1] };
static const struct kube_owner owner = { KUBE_RESOURCE_INIT("x.io", "v1", "widgets", "Widget",
                                                            true),
                                         STR_INIT("n"), STR_INIT("a"), STR_INIT("u-1") };

struct fixture {
    struct arena *arena;
    struct loop *loop;
    struct scripted_api *api;
    struct kube_client *client;
    struct children *children;
    struct child_results results;
    bool synced, done, changed;
};

static void on_changed(void *context, struct str key)
{
    ((struct fixture *)context)->changed = true;
    rows_expect_str("whose child it is", key, STR("n/a"));
}

static void on_synced(void *context)
{
    struct fixture *f = context;

    f->synced = f->children && children_synced(f->children);
}

static void on_done(void *context, const struct child_results *results)
{
    struct fixture *f = context;

    f->results = child_results_new(f->arena, results->count);
    for (uint32_t i = 0; i < results->count; i++) {
        struct child_result *result = child_results_push(&f->results, results->items[i]);

        result->name = str_dup(f->arena, result->name); /* borrowed */
    }
    f->done = true;
}

/* An API server that has ConfigMaps as `list` says and no Monitors; read whole. `watch`: the status of its watches, silent. */
static void set_up_watched(struct fixture *f, const char *list, uint32_t requests_max, int watch, bool force)
{
    *f = (struct fixture){ .arena = arena_create(0), .loop = loop_create(), .api = scripted_api_create() };
    scripted_api_say(f->api, "GET", "/configmaps?", 200, list);
    scripted_api_say(f->api, "GET", "/monitors?", 404, "404 page not found");
    scripted_api_say(f->api, "WATCH", "", watch, "");
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->children = children_create(&(struct children_options){ .client = f->client,
                                                              .owner = owner.resource,
                                                              .resources = followed,
                                                              .resource_count = 2,
                                                              .label = STR("x.io/w"),
                                                              .field_manager = STR("tester"),
                                                              .force = force,
                                                              .requests_max = requests_max,
                                                              .changed = on_changed,
                                                              .synced = on_synced,
                                                              .context = f });
    loopback_run_until(f->loop, &f->synced);
}

static void set_up(struct fixture *f, const char *list, uint32_t requests_max)
{
    set_up_watched(f, list, requests_max, 200, false);
}

static void tear_down(struct fixture *f)
{
    children_free(f->children);
    kube_client_free(f->client);
    scripted_api_free(f->api);
    loop_free(f->loop);
    arena_free(f->arena);
}

static void apply(struct fixture *f, const char *names, const struct kube_resource *resource)
{
    struct kube_children desired = kube_children_new(f->arena, 4);
    struct str rest = str_of(names);
    struct str name;

    while (rest.len && str_split(&rest, ' ', &name))
        kube_children_push(
            &desired, (struct kube_child){ .resource = resource, .name = name, .object = STR("{\"data\":{}}") });
    f->done = false;
    children_apply(f->children, &owner, &desired, on_done, f);
}

static void expect(const struct fixture *f, const char *row, uint32_t at, const char *name, enum child_outcome outcome)
{
    rows_expect(row, at < f->results.count, "a result");
    rows_expect_str(row, f->results.items[at].name, str_of(name));
    rows_expect_int(row, f->results.items[at].outcome, outcome);
}

static void a_new_child_is_looked_for_and_applied_and_then_left_alone(void **state)
{
    struct fixture f;
    struct str sent;

    (void)state;
    set_up(&f, LIST(""), 0);
    scripted_api_say(f.api, "GET", "/configmaps/c", 404, STATUS("NotFound", "404"));
    scripted_api_say(f.api, "PATCH", "/configmaps/c", 201, "{" META("c", "11", "u-1") ",\"data\":{}}");
    apply(&f, "c", &kinds[0]);
    loopback_run_until(f.loop, &f.done);
    expect(&f, "created", 0, "c", CHILD_APPLIED);
    sent = scripted_api_last(f.api, f.arena, "PATCH", "/configmaps/c");
    rows_expect("as its manager, without force", str_find(sent, STR("fieldManager=tester"), 0) >= 0 &&
                str_find(sent, STR("force"), 0) < 0, sent.at);
    rows_expect("with its owner", str_find(sent, STR("\"uid\":\"u-1\",\"controller\":true"), 0) >= 0, sent.at);
    apply(&f, "c", &kinds[0]);
    rows_expect("the second time it is done at once", f.done, "though the watch did not show it yet");
    expect(&f, "as it was left", 0, "c", CHILD_APPLIED);
    rows_expect_int("one apply in all", scripted_api_count(f.api, "PATCH", "/configmaps/c"), 1);
    tear_down(&f);
}

static void what_is_not_ours_or_cannot_be_has_an_outcome_of_its_own(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("{" META("theirs", "3", "u-2") "}"), 0);
    scripted_api_say(f.api, "GET", "/configmaps/foreign", 200, "{\"metadata\":{\"name\":\"foreign\"}}");
    scripted_api_say(f.api, "GET", "/configmaps/ours", 200, "{" META("ours", "4", "u-1") "}");
    scripted_api_say(f.api, "PATCH", "/configmaps/ours", 409, STATUS("Conflict", "409"));
    scripted_api_say(f.api, "GET", "/configmaps/hidden", 403, STATUS("Forbidden", "403"));
    apply(&f, "theirs foreign ours hidden", &kinds[0]);
    loopback_run_until(f.loop, &f.done);
    expect(&f, "of another owner, with our label", 0, "theirs", CHILD_NOT_OURS);
    expect(&f, "of nobody", 1, "foreign", CHILD_NOT_OURS);
    expect(&f, "ours without the label, and in conflict", 2, "ours", CHILD_FAILED);
    rows_expect_str("what the API server said", str_of(f.results.items[2].error.text),
                    STR("PATCH /api/v1/namespaces/n/configmaps/ours: Conflict it is (HTTP 409)"));
    expect(&f, "that may not be read", 3, "hidden", CHILD_FAILED);
    rows_expect_int("what is not ours gets no write", scripted_api_count(f.api, "PATCH", "/configmaps/foreign") +
                    scripted_api_count(f.api, "PATCH", "/configmaps/theirs"), 0);
    tear_down(&f);
}

static void of_a_partial_child_only_its_fields_are_applied(void **state)
{
    struct fixture f;
    struct kube_children desired;
    struct str sent;

    (void)state;
    set_up(&f, LIST("{" META("theirs", "3", "u-2") "}"), 0);
    scripted_api_say(f.api, "PATCH", "/configmaps/theirs", 200,
                     "{" META("theirs", "11", "u-2") ",\"data\":{}}");
    desired = kube_children_new(f.arena, 2);
    kube_children_push(&desired, (struct kube_child){ .resource = &kinds[0], .name = STR("theirs"),
                                                      .object = STR("{\"data\":{\"a\":\"b\"}}"), .partial = true });
    kube_children_push(&desired, (struct kube_child){ .resource = &kinds[0], .name = STR("gone"),
                                                      .object = STR("{\"data\":{}}"), .partial = true });
    f.done = false;
    children_apply(f.children, &owner, &desired, on_done, &f);
    loopback_run_until(f.loop, &f.done);
    rows_expect_int("one that is not there is not made", f.results.count, 1);
    expect(&f, "whosever it is", 0, "theirs", CHILD_APPLIED);
    sent = scripted_api_last(f.api, f.arena, "PATCH", "/configmaps/theirs");
    rows_expect("it stays whose it is",
                str_find(sent, STR("ownerReferences"), 0) < 0 &&
                    str_find(sent, STR("x.io/w"), 0) < 0,
                sent.at);
    rows_expect("with the fields", str_find(sent, STR("\"a\":\"b\""), 0) >= 0, sent.at);
    tear_down(&f);
}

/* One of ours, of which data.a is to be another manager's. */
static void hand_over(struct fixture *f, const char *value)
{
    struct kube_children desired = kube_children_new(f->arena, 1);

    kube_children_push(&desired, (struct kube_child){ .resource = &kinds[0], .name = STR("c"),
                                                      .object = str_fmt(f->arena, "{\"data\":{\"b\":\"%s\"}}", value),
                                                      .handover = STR("{\"data\":{\"a\":\"1\"}}") });
    f->done = false;
    children_apply(f->children, &owner, &desired, on_done, f);
    loopback_run_until(f->loop, &f->done);
}

static void a_field_is_handed_over_before_it_is_left_out(void **state)
{
    struct fixture f;
    struct str sent;

    (void)state;
    set_up_watched(&f, LIST("{" META("c", "3", "u-1") "}"), 0, 200, true);
    scripted_api_say(f.api, "PATCH", "fieldManager=tester-handover", 500, STATUS("InternalError", "500"));
    scripted_api_say(f.api, "PATCH", "fieldManager=tester-handover", 200, "{" META("c", "11", "u-1") ",\"data\":{\"a\":\"1\"}}");
    scripted_api_say(f.api, "PATCH", "fieldManager=tester-handover", 409, STATUS("Conflict", "409"));
    scripted_api_say(f.api, "PATCH", "fieldManager=tester&", 200, "{" META("c", "12", "u-1") ",\"data\":{\"a\":\"1\",\"b\":\"1\"}}");
    scripted_api_say(f.api, "PATCH", "fieldManager=tester&", 200, "{" META("c", "13", "u-1") ",\"data\":{\"a\":\"2\",\"b\":\"2\"}}");

    hand_over(&f, "1");
    expect(&f, "while nobody else owns it, it is not left out", 0, "c", CHILD_FAILED);
    rows_expect_int("no apply", scripted_api_count(f.api, "PATCH", "fieldManager=tester&"), 0);
    hand_over(&f, "1");
    expect(&f, "handed over", 0, "c", CHILD_APPLIED);
    rows_expect_int("then it is applied without it", scripted_api_count(f.api, "PATCH", "fieldManager=tester&"), 1);
    sent = scripted_api_last(f.api, f.arena, "PATCH", "fieldManager=tester-handover");
    rows_expect("without force", str_find(sent, STR("force"), 0) < 0, sent.at);
    rows_expect("these fields", str_find(sent, STR("\"data\":{\"a\":\"1\"}"), 0) >= 0, sent.at);
    rows_expect("and no others", str_find(sent, STR("ownerReferences"), 0) < 0, sent.at);
    hand_over(&f, "1");
    rows_expect_int("what is as it was left is left", scripted_api_count(f.api, "PATCH", "fieldManager=tester"), 3);
    hand_over(&f, "2");
    expect(&f, "a conflict: somebody else was faster, and owns it", 0, "c", CHILD_APPLIED);
    rows_expect_int("so it is left out", scripted_api_count(f.api, "PATCH", "fieldManager=tester&"), 2);
    tear_down(&f);
}

static void apply_behind(struct fixture *f, const char *needed)
{
    struct kube_children desired = kube_children_new(f->arena, 2);

    kube_children_push(&desired, (struct kube_child){ .resource = &kinds[0], .name = str_of(needed),
                                                      .object = STR("{\"data\":{}}"), .needed = true });
    kube_children_push(&desired, (struct kube_child){ .resource = &kinds[0], .name = STR("user"), .object = STR("{\"data\":{}}") });
    f->done = false;
    children_apply(f->children, &owner, &desired, on_done, f);
    loopback_run_until(f->loop, &f->done);
}

static void what_needs_another_one_waits_for_it(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("{" META("theirs", "3", "u-2") "}"), 0);
    scripted_api_say(f.api, "GET", "/configmaps/foreign", 200, "{\"metadata\":{\"name\":\"foreign\"}}");
    scripted_api_say(f.api, "GET", "/configmaps/invalid", 404, STATUS("NotFound", "404"));
    scripted_api_say(f.api, "PATCH", "/configmaps/invalid", 422, STATUS("Invalid", "422"));
    scripted_api_say(f.api, "GET", "/configmaps/well", 404, STATUS("NotFound", "404"));
    scripted_api_say(f.api, "PATCH", "/configmaps/well", 201, "{" META("well", "11", "u-1") ",\"data\":{}}");
    scripted_api_say(f.api, "GET", "/configmaps/user", 404, STATUS("NotFound", "404"));
    scripted_api_say(f.api, "PATCH", "/configmaps/user", 201, "{" META("user", "12", "u-1") ",\"data\":{}}");

    apply_behind(&f, "theirs");
    expect(&f, "known to be another owner's", 0, "theirs", CHILD_NOT_OURS);
    expect(&f, "so this one is left alone", 1, "user", CHILD_HELD_BACK);
    apply_behind(&f, "foreign");
    expect(&f, "found to be somebody's", 0, "foreign", CHILD_NOT_OURS);
    expect(&f, "so this one is left alone, too", 1, "user", CHILD_HELD_BACK);
    apply_behind(&f, "invalid");
    expect(&f, "rejected", 0, "invalid", CHILD_FAILED);
    expect(&f, "nor is it made without it", 1, "user", CHILD_HELD_BACK);
    rows_expect_int("nothing was sent for it", scripted_api_count(f.api, "PATCH", "/configmaps/user"), 0);
    apply_behind(&f, "well");
    expect(&f, "applied", 0, "well", CHILD_APPLIED);
    expect(&f, "and then this one", 1, "user", CHILD_APPLIED);
    tear_down(&f);
}

static void a_missing_kind_costs_no_request(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST(""), 0);
    apply(&f, "one", &kinds[1]);
    rows_expect("known at once", f.done, "that the kind is missing");
    expect(&f, "the kind is missing", 0, "one", CHILD_KIND_MISSING);
    rows_expect_int("nothing is sent", scripted_api_count(f.api, "GET", "/monitors/one"), 0);
    tear_down(&f);
}

static void only_our_own_are_pruned(void **state)
{
    struct fixture f;
    struct str sent;

    (void)state;
    set_up(&f, LIST("{" META("old", "3", "u-1") "},{" META("gone", "4", "u-1") "},{" META("theirs", "5", "u-2") "}"), 0);
    scripted_api_say(f.api, "DELETE", "/configmaps/old", 200, "{}");
    scripted_api_say(f.api, "DELETE", "/configmaps/gone", 404, STATUS("NotFound", "404"));
    apply(&f, "", &kinds[0]);
    loopback_run_until(f.loop, &f.done);
    rows_expect_int("two of ours", f.results.count, 2);
    rows_expect_int("pruned", f.results.items[0].outcome, CHILD_PRUNED);
    rows_expect_int("somebody else was faster", f.results.items[1].outcome, CHILD_PRUNED);
    sent = scripted_api_last(f.api, f.arena, "DELETE", "/configmaps/old");
    rows_expect("that very object", str_find(sent, STR("\"preconditions\":{\"uid\":\"id-old\"}"), 0) >= 0, sent.at);
    rows_expect_int("another owner's stays", scripted_api_count(f.api, "DELETE", "/configmaps/theirs"), 0);
    tear_down(&f);
}

/* The watch shows the child long after the answer to its apply, and nobody wants it any more. `uid`: whose it is by then. */
static void arrives_late(struct fixture *f, const char *version, const char *uid)
{
    set_up_watched(f, LIST(""), 0, 500, false);
    scripted_api_say(f->api, "GET", "/configmaps/c", 404, STATUS("NotFound", "404"));
    scripted_api_say(f->api, "PATCH", "/configmaps/c", 201, "{" META("c", "11", "u-1") ",\"data\":{}}");
    scripted_api_say(f->api, "DELETE", "/configmaps/c", 200, "{}");
    apply(f, "c", &kinds[0]);
    loopback_run_until(f->loop, &f->done);
    apply(f, "", &kinds[0]);
    rows_expect("nothing to do yet", f->done && f->results.count == 0, "it is not seen");
    scripted_api_say(f->api, "WATCH", "", 200, str_fmt(f->arena, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{"
                     "\"name\":\"c\",\"namespace\":\"n\",\"uid\":\"id-c\",\"resourceVersion\":\"%s\",\"ownerReferences\":[{"
                     "\"apiVersion\":\"x.io/v1\",\"kind\":\"Widget\",\"uid\":\"%s\",\"name\":\"a\",\"controller\":true}]},"
                     "\"data\":{}}}\n", version, uid).at);
    loopback_run_until(f->loop, &f->changed);
    apply(f, "", &kinds[0]);
}

static void what_was_made_and_is_not_desired_goes_once_it_is_seen(void **state)
{
    struct fixture f;

    (void)state;
    arrives_late(&f, "11", "u-1");
    loopback_run_until(f.loop, &f.done);
    expect(&f, "ours", 0, "c", CHILD_PRUNED);
    tear_down(&f);
    arrives_late(&f, "12", "u-2");
    rows_expect("somebody else's by then", f.done && f.results.count == 0, "stays");
    tear_down(&f);
}

static void no_more_requests_than_allowed_are_under_way(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST(""), 2);
    scripted_api_hang(f.api, "GET", "/configmaps/");
    apply(&f, "a b c d", &kinds[0]);
    scripted_api_run_until(f.api, f.loop, "GET", "/configmaps/", 2);
    rows_expect_int("two of four", scripted_api_count(f.api, "GET", "/configmaps/"), 2);
    rows_expect("the others wait", !f.done, "for those two");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_child_is_looked_for_and_applied_and_then_left_alone),
        cmocka_unit_test(what_is_not_ours_or_cannot_be_has_an_outcome_of_its_own),
        cmocka_unit_test(of_a_partial_child_only_its_fields_are_applied),
        cmocka_unit_test(a_field_is_handed_over_before_it_is_left_out),
        cmocka_unit_test(what_needs_another_one_waits_for_it),
        cmocka_unit_test(a_missing_kind_costs_no_request),
        cmocka_unit_test(only_our_own_are_pruned),
        cmocka_unit_test(what_was_made_and_is_not_desired_goes_once_it_is_seen),
        cmocka_unit_test(no_more_requests_than_allowed_are_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
