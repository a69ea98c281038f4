/* SPDX-License-Identifier: Apache-2.0 */
/* references_test.c: a few objects with a watch each, many with one of their namespace, and the way
 * from one to the other, against a scripted API server. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/limits.h"
#include "controller/reconcilers/stack/references.h"

enum { MANY = LIMIT_REFERENCE_WATCHES + 1, FEW = LIMIT_REFERENCE_WATCHES / 2 };

#define OBJECT(name, version, data)                                                                \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"team\",\"uid\":\"u-" name                    \
    "\",\"resourceVersion\":\"" version "\"}" data "}"
#define DATA(value) ",\"data\":{\"values.yaml\":\"" value "\"}"
#define LIST(version, items)                                                                       \
    "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":" \
    "\"" version "\"},\"items\":[" items "]}"
#define BOTH OBJECT("x", "5", "") "," OBJECT("other", "6", "")
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define FORBIDDEN                                                                                  \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Forbidden\",\"message\":\"no\",\"code\":403}"

/* The version of the namespace's list tells its watch from those of objects. */
#define LIST_ALL "/team/secrets?limit="
#define WATCH_ALL "resourceVersion=777"
#define LIST_X "/team/secrets?fieldSelector=metadata.name%3Dx&"
#define WATCH_ONE "fieldSelector=metadata.name"

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct references *references;
    struct strbuf told;
    struct loop_timer *look;
    const char *name, *text; /* what is waited for */
    enum reference_state state;
    bool reached;
};

static void changed(void *context, enum tracked_kind kind, struct str name)
{
    struct fixture *f = context;

    (void)kind;
    strbuf_fmt(&f->told, "%.*s ", STR_ARG(name));
}

static struct reference_found read_values(struct fixture *f, const char *name)
{
    return references_read(f->references, f->arena, TRACKED_SECRET, str_of(name),
                           STR("values.yaml"));
}

static void look(void *context)
{
    struct fixture *f = context;
    struct reference_found found = read_values(f, f->name);

    f->reached = found.state == f->state && str_eq(found.text, str_of(f->text));
    loop_timer_set(f->look, 5);
}

/* What does not come so is waited for until the test is stopped. */
static void wait_read(struct fixture *f, const char *name, enum reference_state state,
                      const char *text)
{
    f->name = name;
    f->state = state;
    f->text = text;
    f->reached = false;
    loop_timer_set(f->look, 0);
    loopback_run_until(f->loop, &f->reached);
    loop_timer_clear(f->look);
}

/* The first one is x, of which the tests say something. */
static struct str name_of(struct fixture *f, int i)
{
    return i ? str_fmt(f->arena, "team/o%d", i) : STR("team/x");
}

static void open_many(struct fixture *f, int from, int to)
{
    for (int i = from; i < to; i++)
        references_open(f->references, TRACKED_SECRET, name_of(f, i));
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0) };
    f->told = strbuf_new(f->arena, 64);
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->references = references_create(&(struct references_options){
        .api = f->client, .seed = 1, .changed = changed, .context = f });
    f->look = loop_timer_create(f->loop, look, f);
}

/* After what a test says of single objects. */
static void say_others(struct fixture *f)
{
    scripted_api_say(f->api, "GET", WATCH_ONE "%3Do", 200, LIST("7", ""));
    scripted_api_say(f->api, "WATCH", WATCH_ONE, 200, "");
}

static void tear_down(struct fixture *f)
{
    loop_timer_free(f->look);
    references_free(f->references);
    kube_client_free(f->client);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static void expect_read(struct fixture *f, const char *row, const char *name,
                        enum reference_state state, const char *text)
{
    struct reference_found found = read_values(f, name);

    rows_expect_int(row, found.state, state);
    rows_expect_str(row, found.text, str_of(text));
}

static void many_are_followed_by_one_watch(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", LIST_X, 200, LIST("7", OBJECT("x", "5", DATA("b2xk"))));
    scripted_api_say(f.api, "GET", LIST_X, 200, LIST("7", OBJECT("x", "9", DATA("bmV3"))));
    scripted_api_say(f.api, "GET", LIST_X, 200, LIST("7", ""));
    scripted_api_say(f.api, "GET", LIST_ALL, 200, LIST("777", BOTH));
    scripted_api_say(f.api, "WATCH", WATCH_ALL, 503, "");
    say_others(&f);
    open_many(&f, 0, MANY);
    scripted_api_run_until(f.api, f.loop, "WATCH", WATCH_ALL, 1);
    for (int i = 0; i < MANY; i++)
        wait_read(&f, name_of(&f, i).at, i ? REFERENCE_ABSENT : REFERENCE_READ, i ? "" : "old");
    f.told.len = 0;
    rows_expect("nothing but metadata of all is read",
                scripted_api_last_has(f.api, "GET", LIST_ALL,
                "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"), "it is not");
    scripted_api_say(f.api, "WATCH", WATCH_ALL, 200,
                     EVENT("MODIFIED", OBJECT("other", "8", "")) EVENT("MODIFIED", OBJECT("x", "9", "")));
    wait_read(&f, "team/x", REFERENCE_READ, "new");
    rows_expect_str("it alone, once", strbuf_str(&f.told), STR("team/x "));
    expect_read(&f, "what is not there is absent", "team/o1", REFERENCE_ABSENT, "");
    rows_expect_int("nobody else is read again", scripted_api_count(f.api, "GET", WATCH_ONE), MANY + 1);
    rows_expect_int("nor one that nobody names", scripted_api_count(f.api, "GET", "other"), 0);
    rows_expect_int("none is watched", scripted_api_count(f.api, "WATCH", WATCH_ONE), 0);
    tear_down(&f);
}

static void what_the_watch_has_otherwise_is_read_again(void **state)
{
    static const struct {
        const char *name, *first, *all, *event, *second;
        enum reference_state then;
        const char *text;
        int late; /* so answers the first request: the list comes after that of all */
    } rows[] = {
        { "listed before a change", OBJECT("x", "4", DATA("b2xk")), BOTH, "",
          OBJECT("x", "5", DATA("bmV3")), REFERENCE_READ, "new", 0 },
        { "listed before it was created", "", BOTH, "", OBJECT("x", "5", DATA("bmV3")),
          REFERENCE_READ, "new", 0 },
        { "listed before it was deleted", OBJECT("x", "4", DATA("b2xk")), "", "", "",
          REFERENCE_ABSENT, "", 0 },
        { "deleted later", OBJECT("x", "5", DATA("b2xk")), BOTH,
          EVENT("DELETED", OBJECT("x", "9", "")), "", REFERENCE_ABSENT, "", 0 },
        { "created later", "", "", EVENT("ADDED", OBJECT("x", "9", "")),
          OBJECT("x", "9", DATA("bmV3")), REFERENCE_READ, "new", 0 },
        { "changed before it was listed for the first time, by a server that is behind",
          OBJECT("x", "4", DATA("b2xk")), BOTH, "", OBJECT("x", "5", DATA("bmV3")), REFERENCE_READ,
          "new", 503 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f);
        if (rows[i].late)
            scripted_api_say(f.api, "GET", LIST_X, rows[i].late, "");
        scripted_api_say(f.api, "GET", LIST_X, 200, str_fmt(f.arena, LIST("7", "%s"), rows[i].first).at);
        scripted_api_say(f.api, "GET", LIST_X, 200, str_fmt(f.arena, LIST("7", "%s"), rows[i].second).at);
        scripted_api_say(f.api, "GET", LIST_ALL, 200, str_fmt(f.arena, LIST("777", "%s"), rows[i].all).at);
        scripted_api_say(f.api, "WATCH", WATCH_ALL, 200, rows[i].event);
        say_others(&f);
        open_many(&f, 0, MANY);
        scripted_api_run_until(f.api, f.loop, "GET", LIST_X, 2);
        wait_read(&f, "team/x", rows[i].then, rows[i].text);
        tear_down(&f);
    }
}

static void one_that_is_named_later_is_read(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", "name%3Dother&", 200, LIST("9", OBJECT("other", "6", DATA("bmV3"))));
    scripted_api_say(f.api, "GET", LIST_ALL, 200, LIST("777", BOTH));
    scripted_api_say(f.api, "WATCH", WATCH_ALL, 200, "");
    say_others(&f);
    open_many(&f, 1, MANY + 1);
    scripted_api_run_until(f.api, f.loop, "WATCH", WATCH_ALL, 1);
    expect_read(&f, "nobody named it", "team/other", REFERENCE_NOT_SYNCED, "");
    references_open(f.references, TRACKED_SECRET, STR("team/other"));
    wait_read(&f, "team/other", REFERENCE_READ, "new");
    rows_expect_int("without a watch of its own", scripted_api_count(f.api, "WATCH", WATCH_ONE), 0);
    tear_down(&f);
}

static void the_last_few_are_watched_themselves(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", LIST_X, 200, LIST("7", OBJECT("x", "5", DATA("b2xk"))));
    scripted_api_say(f.api, "GET", LIST_ALL, 200, LIST("777", BOTH));
    scripted_api_say(f.api, "WATCH", WATCH_ALL, 200, "");
    scripted_api_say(f.api, "WATCH", "metadata.name%3Dx&", 200,
                     EVENT("MODIFIED", OBJECT("x", "9", DATA("bmV3"))));
    say_others(&f);
    open_many(&f, 0, MANY);
    scripted_api_run_until(f.api, f.loop, "WATCH", WATCH_ALL, 1);
    wait_read(&f, "team/x", REFERENCE_READ, "old");
    for (int i = MANY - 1; i > FEW; i--)
        references_close(f.references, TRACKED_SECRET, name_of(&f, i));
    expect_read(&f, "one more than few", "team/x", REFERENCE_READ, "old");
    rows_expect_int("keeps the one watch", scripted_api_count(f.api, "WATCH", WATCH_ONE), 0);
    references_close(f.references, TRACKED_SECRET, name_of(&f, FEW));
    expect_read(&f, "what is held stays meanwhile", "team/x", REFERENCE_READ, "old");
    /* Its own watch tells. */
    wait_read(&f, "team/x", REFERENCE_READ, "new");
    scripted_api_run_until(f.api, f.loop, "WATCH", WATCH_ONE, FEW);
    for (int i = 0; i < FEW; i++)
        references_close(f.references, TRACKED_SECRET, name_of(&f, i));
    rows_expect_int("all are closed", (int64_t)references_count(f.references), 0);
    tear_down(&f);
}

static void each_is_watched_where_the_namespace_may_not_be(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", LIST_X, 200, LIST("7", OBJECT("x", "5", DATA("b2xk"))));
    scripted_api_say(f.api, "GET", LIST_ALL, 403, FORBIDDEN);
    say_others(&f);
    open_many(&f, 0, MANY);
    scripted_api_run_until(f.api, f.loop, "WATCH", WATCH_ONE, MANY);
    wait_read(&f, "team/x", REFERENCE_READ, "old");
    open_many(&f, MANY, MANY + 1);
    scripted_api_run_until(f.api, f.loop, "WATCH", WATCH_ONE, MANY + 1);
    /* The right comes later. */
    scripted_api_say(f.api, "GET", LIST_ALL, 200, LIST("777", BOTH));
    scripted_api_say(f.api, "WATCH", WATCH_ALL, 200, EVENT("MODIFIED", OBJECT("x", "9", "")));
    scripted_api_say(f.api, "GET", LIST_X, 200, LIST("7", OBJECT("x", "9", DATA("bmV3"))));
    wait_read(&f, "team/x", REFERENCE_READ, "new");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_are_followed_by_one_watch),
        cmocka_unit_test(what_the_watch_has_otherwise_is_read_again),
        cmocka_unit_test(one_that_is_named_later_is_read),
        cmocka_unit_test(the_last_few_are_watched_themselves),
        cmocka_unit_test(each_is_watched_where_the_namespace_may_not_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
