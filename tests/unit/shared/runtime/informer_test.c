/* SPDX-License-Identifier: Apache-2.0 */
/* informer_test.c: an informer against a scripted API server: pages, changes, bookmarks, 410 in
 * every place, relists that deliver only what changed, silence, and answers that are no lists. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "runtime/informer.h"

#include <stdio.h>

static const struct kube_resource things =
    KUBE_RESOURCE_INIT("x.io", "v1", "things", "Thing", true);

/* What the informer told, as one text: "+a -b ~c" and so on. */
struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct informer *informer;
    struct strbuf told;
    const char *until; /* stop when this was told */
    bool reached;
    const char *again; /* retry when this is told */
};

static void tell(struct fixture *f, const char *sign, struct str name)
{
    strbuf_fmt(&f->told, "%s%.*s ", sign, STR_ARG(name));
    if (f->until && str_find(strbuf_str(&f->told), str_of(f->until), 0) >= 0)
        f->reached = true;
    if (f->again && str_ends(strbuf_str(&f->told), str_of(f->again)))
        informer_retry(f->informer);
}

static void on_change(void *context, struct kube_object *before, struct kube_object *after)
{
    tell(context, !before ? "+" : !after ? "-" : "~", kube_object_name(after ? after : before));
}

static void on_synced(void *context)
{
    tell(context, "", STR("synced"));
}

static void on_trouble(void *context, const struct error *error)
{
    tell(context, error ? "trouble:" : "fine", error ? str_of(error_reason(error->code)) : STR(""));
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0) };
    f->told = strbuf_new(f->arena, 256);
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
}

static void start(struct fixture *f)
{
    f->informer = informer_create(&(struct informer_options){
        .client = f->client,
        .resource = things,
        .on_change = on_change,
        .on_synced = on_synced,
        .on_trouble = on_trouble,
        .context = f,
        .probe_after_ms = 150,
        .probe_answer_ms = 2000, /* no answer of a busy machine is taken for silence */
        .page_limit = 2,
    });
}

static void wait_for(struct fixture *f, const char *what)
{
    f->until = what;
    f->reached = str_find(strbuf_str(&f->told), str_of(what), 0) >= 0;
    loopback_run_until(f->loop, &f->reached);
}

static void tear_down(struct fixture *f)
{
    informer_free(f->informer);
    kube_client_free(f->client);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

#define ITEM(name, version, uid)                                                                   \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"resourceVersion\":\"" version      \
    "\",\"uid\":\"" uid "\",\"managedFields\":[{}],\"annotations\":{\"a\":\"1\","                 \
    "\"kubectl.kubernetes.io/last-applied-configuration\":\"{}\"}},\"spec\":{\"x\":1}}"
#define LIST(version, continue_, items)                                                            \
    "{\"kind\":\"ThingList\",\"apiVersion\":\"x.io/v1\",\"metadata\":{\"resourceVersion\":\""      \
    version "\",\"continue\":\"" continue_ "\"},\"items\":[" items "]}"
#define EVENT(type, item) "{\"type\":\"" type "\",\"object\":" item "}\n"
#define STATUS(code, reason)                                                                       \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"" reason       \
    "\",\"message\":\"said " reason "\",\"code\":" #code "}"

/* The first page of a list: a request that names no token. */
static const char list_url[] = "/apis/x.io/v1/things?limit=2\n";

static void lists_in_pages_and_follows_a_watch(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", "continue=T1", 200, LIST("9", "", ITEM("c", "3", "u3")));
    scripted_api_say(f.api, "GET", list_url, 200,
                     LIST("7", "T1", ITEM("a", "1", "u1") "," ITEM("b", "2", "u2")));
    scripted_api_say_watch(
        f.api,
        EVENT("ADDED", ITEM("d", "8", "u4")) EVENT("MODIFIED", ITEM("a", "9", "u1"))
            EVENT("DELETED", ITEM("b", "10", "u2"))
                EVENT("BOOKMARK", "{\"kind\":\"Thing\",\"metadata\":{\"resourceVersion\":\"20\"}}")
                    EVENT("ADDED", ITEM("e", "21", "u5")),
        false);
    start(&f);
    wait_for(&f, "+e ");
    rows_expect_str("in order", strbuf_str(&f.told), STR("+a +b +c synced +d ~a -b +e "));
    rows_expect_int("cached", (int64_t)kube_cache_count(informer_cache(f.informer)), 4);

    struct str watch = scripted_api_last(f.api, f.arena, "WATCH", "/apis/x.io/v1/things?");

    rows_expect("the watch begins at the first page's version",
                str_find(watch, STR("resourceVersion=7"), 0) >= 0, watch.at);
    rows_expect("with bookmarks", str_find(watch, STR("allowWatchBookmarks=true"), 0) >= 0,
                watch.at);
    rows_expect_str(
        "kept without what nobody reads",
        kube_object_kept(kube_cache_get(informer_cache(f.informer), STR("n/c"))),
        STR("{\"apiVersion\":\"x.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"c\","
            "\"namespace\":\"n\",\"resourceVersion\":\"3\",\"uid\":\"u3\",\"annotations\":{"
            "\"a\":\"1\"}},\"spec\":{\"x\":1}}"));
    tear_down(&f);
    (void)state;
}

static void a_relist_delivers_only_what_changed(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200,
                     LIST("7", "", ITEM("a", "1", "u1") "," ITEM("b", "2", "u2") ","
                          ITEM("c", "3", "u3") "," ITEM("d", "4", "u4")));
    scripted_api_say(f.api, "GET", list_url, 200,
                     LIST("30", "", ITEM("a", "1", "u1") "," ITEM("b", "20", "u2") ","
                          ITEM("d", "21", "u9") "," ITEM("e", "22", "u5")));
    scripted_api_say_watch(f.api, EVENT("ERROR", STATUS(410, "Expired")), true);
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("z", "31", "u6")), false);
    start(&f);
    wait_for(&f, "+z ");
    rows_expect_str("a namesake with another uid is gone and new", strbuf_str(&f.told),
                    STR("+a +b +c +d synced ~b -d +d +e -c +z "));
    tear_down(&f);
    (void)state;
}

static void recovers_from_410_as_status_and_inside_a_list(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", "continue=T1", 410, STATUS(410, "Expired"));
    scripted_api_say(f.api, "GET", "continue=T1", 200, LIST("8", "", ITEM("b", "2", "u2")));
    scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "T1", ITEM("a", "1", "u1")));
    scripted_api_say(f.api, "WATCH", "", 410, STATUS(410, "Gone"));
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("z", "31", "u6")), false);
    start(&f);
    wait_for(&f, "+z ");
    rows_expect_str("nothing is told twice", strbuf_str(&f.told), STR("+a +b synced +z "));
    tear_down(&f);
    (void)state;
}

static void keeps_what_it_has_when_the_answer_is_no_list(void **state)
{
    static const char *const answers[] = {
        "<html>please log in</html>",
        "",
        "{}",
        "{\"kind\":\"ThingList\",\"metadata\":{},\"items\":[]}",
        "{\"kind\":\"Status\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}",
        "{\"kind\":\"ThingList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":{}}",
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct fixture f;

        set_up(&f);
        scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1")));
        scripted_api_say(f.api, "GET", list_url, 200, answers[i]);
        scripted_api_say_watch(f.api, EVENT("ERROR", STATUS(410, "Expired")), true);
        start(&f);
        wait_for(&f, "trouble");
        rows_expect_int(answers[i], (int64_t)kube_cache_count(informer_cache(f.informer)), 1);
        rows_expect(answers[i], str_find(strbuf_str(&f.told), STR("-a"), 0) < 0, "nothing is lost");
        rows_expect(answers[i], informer_trouble(f.informer)->code != ERROR_NONE, "it says why");
        tear_down(&f);
    }
    (void)state;
}

static void notices_a_dead_connection(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1")));
    scripted_api_say(f.api, "GET", "/version", 200, "{}");
    scripted_api_say(f.api, "GET", "/version", 403, "{}");
    scripted_api_hang(f.api, "GET", "/version");
    scripted_api_say_watch(f.api, "", false);
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("b", "8", "u2")), false);
    start(&f);
    wait_for(&f, "+b ");
    rows_expect_str("trouble and its end", strbuf_str(&f.told),
                    STR("+a synced trouble:ConnectionFailed fine +b "));
    rows_expect_int("any answer is a sign of life",
                    scripted_api_count(f.api, "GET", "/version"), 3);
    rows_expect_int("one list was enough", scripted_api_count(f.api, "GET", list_url), 1);
    tear_down(&f);
    (void)state;
}

/* What a proxy answers whose way to the server is gone. */
static void a_probe_that_a_proxy_rejects_ends_the_watch(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1")));
    scripted_api_say(f.api, "GET", "/version", 503, STATUS(503, "ServiceUnavailable"));
    scripted_api_say_watch(f.api, "", false);
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("b", "8", "u2")), false);
    start(&f);
    wait_for(&f, "+b ");
    rows_expect_str("trouble and its end", strbuf_str(&f.told),
                    STR("+a synced trouble:ServiceUnavailable fine +b "));
    tear_down(&f);
    (void)state;
}

struct probe_count {
    const struct fixture *f;
    struct loop_timer *again;
    uint32_t wanted;
    bool reached;
};

static void count_probes(void *context)
{
    struct probe_count *count = context;

    count->reached = scripted_api_count(count->f->api, "GET", "/version") >= count->wanted;
    loop_timer_set(count->again, 5);
}

/* Runs until the server was asked `wanted` times for its version. */
static void wait_for_probes(struct fixture *f, uint32_t wanted)
{
    struct probe_count count = { .f = f, .wanted = wanted };
    AUTO(loop_timer_free) struct loop_timer *again =
        loop_timer_create(f->loop, count_probes, &count);

    count.again = again;
    loop_timer_set(again, 5);
    loopback_run_until(f->loop, &count.reached);
}

static void tells_when_it_last_heard_from_the_server(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1")));
    scripted_api_say(f.api, "GET", "/version", 200, "{}");
    scripted_api_say(f.api, "GET", "/version", 403, "{}");
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("b", "8", "u2")), false);
    start(&f);
    rows_expect_int("never yet", informer_heard_ms(f.informer), -1);
    wait_for(&f, "synced");

    int64_t listed_ms = informer_heard_ms(f.informer);

    rows_expect("a list", listed_ms >= 0, "was heard");
    wait_for(&f, "+b ");

    int64_t changed_ms = informer_heard_ms(f.informer);

    rows_expect("a change", changed_ms >= listed_ms, "was heard");
    wait_for_probes(&f, 2);

    int64_t probed_ms = informer_heard_ms(f.informer);

    rows_expect("a probe that succeeds", probed_ms >= changed_ms + 150, "was heard");
    wait_for_probes(&f, 4);
    rows_expect_int("a rejected probe proves nothing", informer_heard_ms(f.informer), probed_ms);
    tear_down(&f);
    (void)state;
}

static bool keep_some(void *context, struct json object, struct strbuf *kept)
{
    struct str name = json_str(json_get(json_get(object, STR("metadata")), STR("name")));

    (void)context;
    strbuf_put(kept, name);
    return !str_eq(name, STR("b"));
}

static void an_object_of_no_interest_is_absent(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200,
                     LIST("7", "", ITEM("a", "1", "u1") "," ITEM("b", "2", "u2")));
    scripted_api_say_watch(f.api,
                           EVENT("MODIFIED", ITEM("b", "8", "u2"))
                               EVENT("ADDED", ITEM("c", "9", "u3")), false);
    f.informer = informer_create(&(struct informer_options){
        .client = f.client, .resource = things, .keep = keep_some, .on_change = on_change,
        .on_synced = on_synced, .context = &f, .page_limit = 2 });
    wait_for(&f, "+c ");
    rows_expect_str("b never comes", strbuf_str(&f.told), STR("+a synced +c "));
    tear_down(&f);
    (void)state;
}

static bool keep_kind(void *context, struct json object, struct strbuf *kept)
{
    (void)context;
    strbuf_fmt(kept, "%.*s %.*s", STR_ARG(json_str(json_get(object, STR("apiVersion")))),
               STR_ARG(json_str(json_get(object, STR("kind")))));
    return true;
}

/* Kubernetes leaves them out of the items of a list of a built-in kind. */
static void an_item_of_a_list_says_its_kind(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1") ",{}"));
    scripted_api_say_watch(f.api, "", false);
    f.informer = informer_create(&(struct informer_options){
        .client = f.client, .resource = things, .keep = keep_kind, .on_change = on_change,
        .on_synced = on_synced, .context = &f, .page_limit = 2 });
    wait_for(&f, "synced ");
    rows_expect_str("what is kept", kube_object_kept(kube_cache_get(informer_cache(f.informer), STR("n/a"))),
                    STR("x.io/v1 Thing"));
    tear_down(&f);
    (void)state;
}

static void one_odd_object_does_not_blind_it(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200,
                     LIST("7", "", ITEM("a", "1", "u1") ",{\"metadata\":{\"name\":\"odd\"},"
                          "\"data\":{\"x\":\"\\u0000\"}}," ITEM("b", "2", "u2")));
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("c", "9", "u3")), false);
    start(&f);
    wait_for(&f, "+c ");
    rows_expect_str("all come", strbuf_str(&f.told), STR("+a +odd +b synced +c "));
    tear_down(&f);
    (void)state;
}

static void metadata_alone_is_asked_for(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1")));
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("z", "31", "u6")), false);
    f.informer = informer_create(&(struct informer_options){
        .client = f.client, .resource = things, .on_change = on_change, .on_synced = on_synced,
        .on_trouble = on_trouble, .context = &f, .page_limit = 2, .metadata_only = true });
    wait_for(&f, "+z ");
    rows_expect("of a list", scripted_api_last_has(f.api, "GET", "/things?",
                "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"), "it is not");
    rows_expect("and of a watch", scripted_api_last_has(f.api, "WATCH", "/things?",
                "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), "it is not");
    tear_down(&f);
    (void)state;
}

/* No list of these comes by itself: the interval is an hour. */
static void lists_when_told_between_two_watches(void **state)
{
    struct fixture f;

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1")));
    scripted_api_say(f.api, "GET", list_url, 200, LIST("8", "", ITEM("a", "2", "u1")));
    scripted_api_say(f.api, "GET", list_url, 200, LIST("9", "", ITEM("b", "3", "u2")));
    scripted_api_say(f.api, "GET", list_url, 200, LIST("10", "", ITEM("c", "4", "u3")));
    scripted_api_say(f.api, "GET", list_url, 200, LIST("11", "", ITEM("d", "5", "u4")));
    scripted_api_say_watch(f.api, "", false);
    scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("z", "31", "u6")), false);
    start(&f);
    scripted_api_run_until(f.api, f.loop, "WATCH", "/things?", 1);
    informer_set_interval(f.informer, 3600000);
    wait_for(&f, "~a ");
    rows_expect("what it has stays meanwhile", informer_synced(f.informer), "it does not");
    /* In the midst of the list that this one causes, which may be older than what is new then. */
    f.again = "+b ";
    informer_retry(f.informer);
    wait_for(&f, "+c ");
    rows_expect_int("it does not watch", scripted_api_count(f.api, "WATCH", "/things?"), 1);
    informer_set_interval(f.informer, 0);
    wait_for(&f, "+z ");
    rows_expect_str("in order", strbuf_str(&f.told), STR("+a synced ~a +b -a +c -b +d -c +z "));
    rows_expect_int("each list once", scripted_api_count(f.api, "GET", list_url), 5);
    tear_down(&f);
    (void)state;
}

static void may_be_freed_at_any_moment(void **state)
{
    static const char *const moments[] = { NULL, "+a ", "synced", "+z " };

    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        struct fixture f;

        set_up(&f);
        scripted_api_say(f.api, "GET", list_url, 200, LIST("7", "", ITEM("a", "1", "u1")));
        scripted_api_say_watch(f.api, EVENT("ADDED", ITEM("z", "31", "u6")), false);
        start(&f);
        if (moments[i])
            wait_for(&f, moments[i]);
        tear_down(&f);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_in_pages_and_follows_a_watch),
        cmocka_unit_test(a_relist_delivers_only_what_changed),
        cmocka_unit_test(recovers_from_410_as_status_and_inside_a_list),
        cmocka_unit_test(keeps_what_it_has_when_the_answer_is_no_list),
        cmocka_unit_test(notices_a_dead_connection),
        cmocka_unit_test(a_probe_that_a_proxy_rejects_ends_the_watch),
        cmocka_unit_test(tells_when_it_last_heard_from_the_server),
        cmocka_unit_test(an_object_of_no_interest_is_absent),
        cmocka_unit_test(an_item_of_a_list_says_its_kind),
        cmocka_unit_test(one_odd_object_does_not_blind_it),
        cmocka_unit_test(metadata_alone_is_asked_for),
        cmocka_unit_test(lists_when_told_between_two_watches),
        cmocka_unit_test(may_be_freed_at_any_moment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
