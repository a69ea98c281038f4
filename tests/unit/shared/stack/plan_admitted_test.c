/* plan_admitted_test.c: Stacks that admission did not judge, and clusters where nothing may begin. */
#include "support/rows.h"

#include "stack/receipt.h"
#include "support/observed_builder.h"
#include "support/stack_builder.h"

struct row {
    const char *row;
    const char *charts, *next_members, *members;
    const char *words;
    const char *actions, *states, *accepted;
    const char *says; /* within the message */
};

static void check(const struct row *r)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, r->charts, r->members);

    s.next_charts = s.charts;
    s.next_members = r->next_members ? r->next_members : s.members;
    scene_play(&s, r->words);
    rows_expect_str(r->row, scene_actions(&s), str_of(r->actions));
    rows_expect_str(r->row, scene_states(&s), str_of(r->states));
    rows_expect_str(r->row, scene_condition(&s, "Accepted"), str_of(r->accepted));
    if (str_find(s.status.message, str_of(r->says), 0) < 0)
        fail_msg("%s\n  says: %.*s\n  want: ... %s ...", r->row, STR_ARG(s.status.message),
                 r->says);
}

#define CHECK_ALL(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                                  \
        check(&(rows)[i])

static void what_nobody_judged_is_held(void **state)
{
    static const struct row rows[] = {
        { "nothing is done, not even the finalizer is put on", "db", NULL, "",
          "receipts hold; nofinalizer; cluster a; plan", "", "", "False/NotAdmitted",
          "it carries no receipt of its judgement: it was stored while Herd's webhook was not "
          "asked, or changed since; have it judged: kubectl annotate stack" },
        { "once it was judged it goes on", "db", NULL, "",
          "receipts hold; cluster a; plan; receipts ignore; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "True/Valid", "" },
        { "what was accepted in this generation goes on, in doubt", "db", NULL, "",
          "cluster a; plan; app db@a deployed 1; receipts hold; plan", "",
          "db@a=Deployed/Deployed", "True/NotAdmitted", "" },
        { "also the next time", "db", NULL, "",
          "cluster a; plan; app db@a deployed 1; receipts hold; plan; plan; gone db@a; plan; "
          "+10m; plan", "upgrade:db@a", "db@a=Deploying/Installing", "True/NotAdmitted", "" },
        { "a change of it is held, and what runs stays as it was said to be", "db",
          "\"drift\":\"Ignore\"", "",
          "cluster a; plan; app db@a deployed 1; plan; receipts hold; change; plan", "",
          "db@a=Deployed/Deployed", "False/NotAdmitted", "have it judged" },
        { "held twice is held", "db", NULL, "",
          "receipts hold; cluster a; plan; plan", "", "", "False/NotAdmitted", "have it judged" },
        { "it can be deleted", "db", NULL, "",
          "cluster a; plan; app db@a deployed 1; plan; receipts hold; change; plan; delete; plan",
          "uninstall:db@a", "db@a=Uninstalling/Uninstalling", "True/Valid", "" },
        { "where it only warns, it goes on and says so", "db", NULL, "",
          "receipts warn; cluster a; plan", "upgrade:db@a", "db@a=Deploying/Installing",
          "True/NotAdmitted", "" },
        { "failures of before are forgiven once the change was judged", "db",
          "\"retry\":{\"limit\":0},\"drift\":\"Ignore\"", "\"retry\":{\"limit\":0}",
          "cluster a; plan; app db@a failed 1; op db@a o1 failed no; log db@a o1 no; plan; "
          "receipts hold; change; plan; receipts ignore; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "True/Valid", "" },
    };

    (void)state;
    CHECK_ALL(rows);
}

/* Rollouts whose first wave is of some clusters; `more` says the rest of it. */
#define WAVE(ids, more)                                                                            \
    "\"rollout\":{\"waves\":[{\"name\":\"first\",\"selector\":{\"matchExpressions\":[{"             \
    "\"key\":\"id\",\"operator\":\"In\",\"values\":[" ids "]}]}}]" more "}"

static void nothing_begins_where_it_is_shut(void **state)
{
    static const struct row rows[] = {
        { "its releases wait, the others go on", "db", NULL, "",
          "cluster a; cluster b; shut b AccessDenied 'ann' may not deploy there; plan",
          "upgrade:db@a", "db@a=Deploying/Installing db@b=Waiting/AccessDenied", "True/Valid",
          "'ann' may not deploy there" },
        { "it takes nobody's place in the rollout", "db", NULL,
          "\"rollout\":{\"maxConcurrentClusters\":1}",
          "cluster a; cluster b; shut a AccessDenied no; plan",
          "upgrade:db@b", "db@a=Waiting/AccessDenied db@b=Deploying/Installing", "True/Valid",
          "" },
        { "later waves wait for it: it is not deployed there", "db", NULL, WAVE("\"a\"", ""),
          "cluster a; cluster b; shut a AccessDenied no; plan", "",
          "db@a=Waiting/AccessDenied db@b=Waiting/WaitingForWave", "True/Valid", "no" },
        { "also an hour later, and whatever may fail", "db", NULL,
          WAVE("\"a\"", ",\"maxFailures\":5"),
          "cluster a; cluster b; shut a AccessDenied no; plan; +1h; plan", "",
          "db@a=Waiting/AccessDenied db@b=Waiting/WaitingForWave", "True/Valid", "no" },
        { "the first wave's others begin", "db", NULL, WAVE("\"a\",\"b\"", ""),
          "cluster a; cluster b; cluster c; shut a AccessDenied no; plan", "upgrade:db@b",
          "db@a=Waiting/AccessDenied db@b=Deploying/Installing db@c=Waiting/WaitingForWave",
          "True/Valid", "" },
        { "and once it is open and deployed, the next wave begins", "db", NULL, WAVE("\"a\"", ""),
          "cluster a; cluster b; shut a AccessDenied no; plan; shut a; plan; "
          "app db@a deployed 1; plan",
          "upgrade:db@b", "db@a=Deployed/Deployed db@b=Deploying/Installing", "True/Valid", "" },
        { "where something of the Stack was asked for, it goes on", "db", NULL, "",
          "cluster a; plan; app db@a deployed 1; plan; shut a AccessDenied no; gone db@a; plan; "
          "+10m; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", "True/Valid", "" },
        { "once it is open, it begins", "db", NULL, "",
          "cluster a; shut a AccessUnread asked; plan; shut a; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "True/Valid", "" },
        { "a Stack that goes is not kept by it", "db", NULL, "",
          "cluster a; shut a AccessDenied no; plan; delete; plan", "remove-finalizer", "",
          "True/Valid", "" },
    };

    (void)state;
    CHECK_ALL(rows);
}

static void words_of_the_flag(void **state)
{
    (void)state;
    rows_expect_int("hold", receipts_mode_from(STR("hold")), RECEIPTS_HOLD);
    rows_expect_int("warn", receipts_mode_from(STR("warn")), RECEIPTS_WARN);
    rows_expect_int("ignore", receipts_mode_from(STR("ignore")), RECEIPTS_IGNORE);
}

static void a_valid_receipt_tells_who_it_was(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct receipt receipt = { .by = STR("ann"), .policies = STR("") };
    const struct stack *bare = scene_stack(arena, "db", "", "");
    struct str text, meta;
    const struct stack *stack;
    struct admitted admitted;

    (void)state;
    receipt_take_groups(arena, test_json(arena, STR("[\"dev\"]")), &receipt);
    text = receipt_write(arena, STR("key"), bare, STR(""), &receipt);

    struct strbuf quoted = strbuf_new(arena, 256);

    json_quote(&quoted, text);
    meta = str_fmt(arena,
                   ",\"annotations\":{\"" STACK_LAST_APPLIED_BY "\":\"ann\",\"" STACK_RECEIPT
                   "\":%.*s}", STR_ARG(strbuf_str(&quoted)));
    stack = scene_stack(arena, "db", "", meta.at);
    admitted = stack_admitted(arena, RECEIPTS_HOLD, STR("key"), stack, NULL);
    rows_expect("valid", admitted.judged && !admitted.held && !admitted.doubt.len, "it passes");
    rows_expect_str("who", admitted.receipt.by, STR("ann"));
    rows_expect_str("in which group", admitted.receipt.groups.items[0], STR("dev"));
    admitted = stack_admitted(arena, RECEIPTS_HOLD, STR("other"), stack, NULL);
    rows_expect("of another key", !admitted.judged && admitted.held, "held");
    rows_expect("of another key",
                str_find(admitted.doubt, STR("its receipt is not one of this spec"), 0) >= 0,
                "says so");
    admitted = stack_admitted(arena, RECEIPTS_HOLD, STR(""), stack, NULL);
    rows_expect("without a key", !admitted.judged && !admitted.held, "nothing is held");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_judged_is_held),
        cmocka_unit_test(nothing_begins_where_it_is_shut),
        cmocka_unit_test(words_of_the_flag),
        cmocka_unit_test(a_valid_receipt_tells_who_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
