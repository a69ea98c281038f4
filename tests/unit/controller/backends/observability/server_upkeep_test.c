/* SPDX-License-Identifier: Apache-2.0 */
/* server_upkeep_test.c: monitors that Stacks want, against a scripted server of SUSE Observability: what is imported, what is
 * removed, and what is counted. */
#include "support/folder.h"
#include "support/loopback.h"
#include "support/rows.h"
#include "support/scripted_api.h"

#include "controller/backends/observability/server_upkeep.h"

#define OTHERS "{\"identifier\":\"urn:custom:monitor:herd-0123456789abcdef-1-x\"},{\"identifier\":\"urn:x\"},{}"
#define LIST(items) "{\"monitors\":[" OTHERS items "]}"

struct fixture {
    struct arena *arena;
    const char *folder;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct secret_folder *secret;
    struct server_upkeep *upkeep;
    struct monitors_wanted wanted;
    struct str prefix;
    bool done;
};

static void on_done(void *context)
{
    struct fixture *f = context;

    f->done = true;
}

static void set_up(struct fixture *f)
{
    static const char *const entries[] = { "token" };

    *f = (struct fixture){ .arena = arena_create(0) };
    f->folder = folder_create(f->arena);
    folder_put(folder_name(f->arena, f->folder, "token"), STR("svctok-1"), 0600);
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->secret = secret_folder_create(f->folder, STR(""), entries, 1);
    f->upkeep = server_upkeep_create(f->client, f->secret);
    f->prefix = suse_monitors_prefix(f->arena, STR("lab-a"), STR("team/shop"));
}

static void tear_down(struct fixture *f)
{
    kube_client_free(f->client);
    server_upkeep_free(f->upkeep);
    secret_folder_free(f->secret);
    loop_free(f->loop);
    scripted_api_free(f->api);
    folder_remove(f->folder);
    arena_free(f->arena);
}

enum whose { NOBODY, OWNED, OWNED_WITHOUT_ALERTS, KEPT };

/* A round in which that is wanted; false if nothing was to be done. */
static bool run(struct fixture *f, enum whose whose)
{
    const struct monitored_release release = { STR("team/shop"), STR("shop"), STR("web"), STR("app"), STR("Deployment/shop/web ") };

    f->wanted = (struct monitors_wanted){ str_list_new(f->arena, 1), str_list_new(f->arena, 1), suse_monitors_new(f->arena, 8) };
    if (whose == OWNED || whose == OWNED_WITHOUT_ALERTS)
        str_list_push(&f->wanted.owners, f->prefix);
    if (whose == KEPT)
        str_list_push(&f->wanted.kept, f->prefix);
    if (whose == OWNED)
        suse_monitors_add(&f->wanted.monitors, STR("lab-a"), &release);
    f->done = false;
    if (!server_upkeep_begin(f->upkeep, &f->wanted, on_done, f))
        return false;
    loopback_run_until(f->loop, &f->done);
    return true;
}

/* A list with one that is the Stack's, and nobody's else. */
static const char *list_with_one(struct fixture *f)
{
    return str_z(f->arena, str_fmt(f->arena, LIST(",{\"identifier\":\"%.*s1-old\",\"status\":\"ENABLED\"}"), STR_ARG(f->prefix)));
}

static void only_what_is_of_a_stack_is_changed(void **state)
{
    static const struct {
        const char *row;
        enum whose whose;
        bool has_one;
        uint32_t imports, removals;
        int count; /* -1 = not known */
    } rows[] = {
        { "what is missing is imported, in one document", OWNED, false, 1, 0, 0 },
        { "what is wanted no more is removed", OWNED_WITHOUT_ALERTS, true, 0, 1, 0 },
        { "both", OWNED, true, 1, 1, 0 },
        { "nothing is to be done", OWNED_WITHOUT_ALERTS, false, 0, 0, 0 },
        { "of a paused Stack nothing is changed, and counted", KEPT, true, 0, 0, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint32_t count = 0;
        struct fixture f;

        set_up(&f);
        scripted_api_say(f.api, "GET", "/api/monitors", 200, rows[i].has_one ? list_with_one(&f) : LIST(""));
        scripted_api_say(f.api, "POST", "/api/import", 200, "[]");
        scripted_api_say(f.api, "DELETE", "/api/monitors/", 204, "");
        rows_expect("there is something to do", run(&f, rows[i].whose), rows[i].row);
        rows_expect_int(rows[i].row, scripted_api_count(f.api, "POST", "/api/import"), rows[i].imports);
        rows_expect_int(rows[i].row, scripted_api_count(f.api, "DELETE", "/api/monitors/"), rows[i].removals);
        rows_expect_int(rows[i].row, scripted_api_count(f.api, "DELETE", "0123456789abcdef"), 0);
        rows_expect_int(rows[i].row, server_upkeep_count(f.upkeep, f.prefix, &count) ? (int)count : -1, rows[i].count);
        rows_expect_str(rows[i].row, server_upkeep_trouble(f.upkeep), STR(""));
        rows_expect("with the token", scripted_api_last_has(f.api, "GET", "/api/monitors", "X-API-Key: svctok-1"), rows[i].row);
        tear_down(&f);
    }
}

static void what_nobody_changed_is_looked_at_in_one_round_of_four(void **state)
{
    uint32_t looked = 0;
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", "/api/monitors", 200, LIST(""));
    for (int i = 0; i < 8; i++)
        looked += run(&f, OWNED_WITHOUT_ALERTS);
    rows_expect_int("of eight", looked, 2);
    rows_expect("something else is wanted: at once", run(&f, KEPT), "not");
    tear_down(&f);
}

static void the_second_failure_in_a_row_is_told(void **state)
{
    static const struct {
        const char *row, *method, *piece, *says;
        enum whose whose;
    } rows[] = {
        { "it may not be listed", "GET", "/api/monitors", "monitors cannot be listed: ", OWNED },
        { "nor imported", "POST", "/api/import", "monitors cannot be imported: ", OWNED },
        { "nor removed", "DELETE", "/api/monitors/", "a monitor cannot be removed: ", OWNED_WITHOUT_ALERTS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint32_t count = 0;
        struct fixture f;

        set_up(&f);
        if (strcmp(rows[i].method, "GET") != 0)
            scripted_api_say(f.api, "GET", "/api/monitors", 200, list_with_one(&f));
        scripted_api_say(f.api, rows[i].method, rows[i].piece, 403, "no");
        run(&f, rows[i].whose);
        rows_expect_str(rows[i].row, server_upkeep_trouble(f.upkeep), STR(""));
        rows_expect("it is tried again in the next round", run(&f, rows[i].whose), rows[i].row);
        rows_expect(rows[i].row, str_starts(server_upkeep_trouble(f.upkeep), str_of(rows[i].says)),
                    str_z(f.arena, server_upkeep_trouble(f.upkeep)));
        rows_expect("no number", !server_upkeep_count(f.upkeep, f.prefix, &count), rows[i].row);
        tear_down(&f);
    }
}

static void what_was_dropped_is_removed_also_if_nothing_else_is_wanted(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", "/api/monitors", 200, list_with_one(&f));
    scripted_api_say(f.api, "GET", "/api/monitors", 200, LIST(""));
    scripted_api_say(f.api, "DELETE", "/api/monitors/", 204, "");
    rows_expect("nothing is wanted", !run(&f, NOBODY), "something");
    server_upkeep_drop(f.upkeep, f.prefix);
    rows_expect("then", run(&f, NOBODY), "nothing");
    rows_expect_int("it is removed", scripted_api_count(f.api, "DELETE", "1-old"), 1);
    rows_expect("it may have failed", server_upkeep_has_dropped(f.upkeep), "forgotten");
    rows_expect("so it is looked at again", run(&f, NOBODY), "nothing");
    rows_expect("it is gone", !server_upkeep_has_dropped(f.upkeep), "it is there");
    rows_expect("and nothing is wanted", !run(&f, NOBODY), "something");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_of_a_stack_is_changed),
        cmocka_unit_test(what_nobody_changed_is_looked_at_in_one_round_of_four),
        cmocka_unit_test(the_second_failure_in_a_row_is_told),
        cmocka_unit_test(what_was_dropped_is_removed_also_if_nothing_else_is_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
