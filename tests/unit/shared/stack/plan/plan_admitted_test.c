/* SPDX-License-Identifier: Apache-2.0 */
/* plan_admitted_test.c: Stacks that nobody is the author of, and clusters where nothing may begin. */
#include "support/rows.h"

#include "support/observed_builder.h"

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

static void what_nobody_is_the_author_of_is_held(void **state)
{
    static const struct row rows[] = {
        { "nothing is done, not even the finalizer is put on", "db", NULL, "",
          "author; nofinalizer; cluster a; plan", "", "", "False/NotAdmitted",
          "no author is recorded, so the Stack was stored without Herd's webhook" },
        { "once somebody is it goes on", "db", NULL, "",
          "author; cluster a; plan; author ann; change; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "True/Valid", "" },
        { "what runs stays as it was said to be", "db", "\"drift\":\"Ignore\"", "",
          "cluster a; plan; app db@a deployed 1; plan; author; change; plan", "",
          "db@a=Deployed/Deployed", "False/NotAdmitted", "changes its spec" },
        { "held twice is held", "db", NULL, "", "author; cluster a; plan; plan", "", "",
          "False/NotAdmitted", "changes its spec" },
        { "it can be deleted", "db", NULL, "",
          "cluster a; plan; app db@a deployed 1; plan; author; change; plan; delete; plan",
          "uninstall:db@a", "db@a=Uninstalling/Uninstalling", "True/Valid", "" },
        { "failures of before are forgiven by the change that names an author", "db",
          "\"retry\":{\"limit\":0}", "\"retry\":{\"limit\":0,\"backoff\":\"31s\"}",
          "cluster a; plan; app db@a failed 1; op db@a o1 failed no; log db@a o1 no; plan; "
          "author; plan; author ann; change; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "True/Valid", "" },
    };

    (void)state;
    CHECK_ALL(rows);
}

/* Rollouts whose first wave is of some clusters; `more` says the rest of it. */
#define WAVE(ids, more)                                                                            \
    "\"rollout\":{\"waves\":[{\"name\":\"first\",\"selector\":{\"matchExpressions\":[{"             \
    "\"key\":\"id\",\"operator\":\"In\",\"values\":[" ids "]}]}}]" more "}"

static void nothing_begins_where_access_is_denied(void **state)
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
        { "what is as wanted needs no right", "db", NULL, "",
          "cluster a; app db@a deployed 1; plan; shut a AccessDenied no; plan", "",
          "db@a=Deployed/Deployed", "True/Valid", "" },
        { "what was asked for is followed", "db", NULL, "",
          "cluster a; plan; op db@a o1 running; shut a AccessDenied no; plan", "",
          "db@a=Deploying/OperationRunning", "True/Valid", "" },
        { "whatever the status says of it, nothing is installed without the right", "db", NULL, "",
          "cluster a; plan; app db@a deployed 1; plan; shut a AccessDenied no; gone db@a; plan; "
          "+10m; plan", "", "db@a=Waiting/AccessDenied", "True/Valid", "no" },
        { "nor upgraded", "db", NULL, "",
          "cluster a; app db@a deployed 1 old; plan; shut a AccessDenied no; plan; +10m; plan", "",
          "db@a=Waiting/AccessDenied", "True/Valid", "no" },
        { "who has something to do asks", "db", NULL, "",
          "cluster a; app db@a deployed 1 old; unasked a; plan", "", "db@a=Waiting/AccessNotSynced",
          "True/Valid", "is asked" },
        { "nobody else does", "db", NULL, "",
          "cluster a; app db@a deployed 1; unasked a; plan", "", "db@a=Deployed/Deployed",
          "True/Valid", "" },
        { "it asks when its turn has come", "db", NULL, WAVE("\"a\"", ""),
          "cluster a; cluster b; app db@a deployed 1 old; app db@b deployed 1 old; unasked b; "
          "plan", "upgrade:db@a", "db@a=Deploying/Upgrading db@b=Waiting/WaitingForWave",
          "True/Valid", "" },
        { "what is to change waits until the cluster's operations are listed", "db", NULL, "",
          "cluster a; app db@a deployed 1 old; unlisted a; plan", "", "db@a=Pending/ClusterNotSynced", "True/Valid",
          "are being listed; revision 1" },
        { "what is as wanted needs none", "db", NULL, "", "cluster a; app db@a deployed 1; unlisted a; plan", "",
          "db@a=Deployed/Deployed", "True/Valid", "" },
        { "nor does what has to wait for something else", "db", NULL, WAVE("\"a\"", ""),
          "cluster a; cluster b; app db@a deployed 1 old; app db@b deployed 1 old; unlisted b; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading db@b=Waiting/WaitingForWave", "True/Valid", "" },
        { "a removal waits, too", "db", NULL, "", "cluster a; app db@a deployed 1; plan; unlisted a; delete; plan", "",
          "db@a=Pending/ClusterNotSynced", "True/Valid", "are being listed" },
        { "a removal needs no right", "db", NULL, "",
          "cluster a; app db@a deployed 1; plan; unasked a; shut a AccessDenied no; delete; plan",
          "uninstall:db@a", "db@a=Uninstalling/Uninstalling", "True/Valid", "" },
        { "once it is open, it begins", "db", NULL, "",
          "cluster a; shut a AccessNotSynced asked; plan; shut a; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "True/Valid", "" },
        { "a Stack that goes is not kept by it", "db", NULL, "",
          "cluster a; shut a AccessDenied no; plan; delete; plan", "remove-finalizer", "",
          "True/Valid", "" },
    };

    (void)state;
    CHECK_ALL(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_is_the_author_of_is_held),
        cmocka_unit_test(nothing_begins_where_access_is_denied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
