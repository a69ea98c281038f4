/* SPDX-License-Identifier: Apache-2.0 */
/* plan_test.c: what is done next, row by row. Each row plays a world (support/observed_builder.h)
 * and says the actions of its last plan, the states of the releases, and the phase. */
#include "support/rows.h"

#include "support/observed_builder.h"

#define DB_TWO                                                                                     \
    "\"overrides\":[{\"clusterIds\":[\"a\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"n\":2}}}]}]"

struct plan_row {
    const char *row;
    const char *charts, *members, *next_charts, *next_members;
    const char *words;
    const char *actions, *states, *phase;
    const char *says; /* part of the message of the plan; NULL = anything */
};

static void check(const struct plan_row *r)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, r->charts, r->members ? r->members : "");

    s.next_charts = r->next_charts ? r->next_charts : s.charts;
    s.next_members = r->next_members ? r->next_members : s.members;
    scene_play(&s, r->words);
    rows_expect_str(r->row, scene_actions(&s), str_of(r->actions));
    rows_expect_str(r->row, scene_states(&s), str_of(r->states));
    rows_expect_str(r->row, str_of(stack_phase_name(s.status.phase)), str_of(r->phase));
    if (r->says && str_find(s.plan.message, str_of(r->says), 0) < 0)
        fail_msg("%s\n  says: %.*s\n  want: ... %s ...", r->row, STR_ARG(s.plan.message), r->says);
    rows_expect(r->row, s.status.message.len > 0, "the status has a message");
    for (uint32_t i = 0; i < s.status.conditions.count; i++)
        rows_expect(r->row, s.status.conditions.items[i].reason.len > 0 &&
                    s.status.conditions.items[i].message.len > 0,
                    "each condition has a reason and a message");
}

#define CHECK_ALL(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                                  \
        check(&(rows)[i])

static void begins_and_holds(void **state)
{
    static const struct plan_row rows[] = {
        { "the finalizer comes before anything else", "db", NULL, NULL, NULL,
          "nofinalizer; cluster a; plan", "add-finalizer", "", "Pending", "finalizer" },
        { "a rejected Stack gets no action", "db", NULL, NULL, NULL, "problem; cluster a; plan", "",
          "", "Failed", "spec.charts: it is wrong" },
        { "a rejected Stack keeps what the status said", "db", NULL, NULL, NULL,
          "cluster a; plan; problem; plan", "", "db@a=Deploying/Installing", "Failed",
          "it is wrong" },
        { "unknown clusters are no reason to do anything", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; clusters unknown; gone db@a; plan", "",
          "db@a=Deployed/Deployed", "Deployed", "list of clusters" },
        { "a paused Stack observes and does nothing", "db", "\"paused\":true", NULL, NULL,
          "cluster a; plan", "", "db@a=Pending/Paused", "Pending", "spec.paused" },
        { "a paused Stack tells a failure before its pause", "db", "\"paused\":true", NULL, NULL,
          "cluster a; app db@a failed 1 says it broke; plan", "", "db@a=Failed/InstallFailed",
          "Deploying", "waiting for db on a: install failed: it broke" },
        { "and with what it holds beside it", "db web", "\"paused\":true", NULL, NULL,
          "cluster a; app db@a failed 1 says it broke; plan", "",
          "db@a=Failed/InstallFailed web@a=Pending/Paused", "Deploying",
          "db on a (and 1 more): install failed: it broke; and the Stack is paused" },
        { "a Stack that needs Rancher says that the token is rejected", "db", NULL, NULL, NULL,
          "cluster a; rancher TokenRejected; plan", "", "db@a=Pending/TokenRejected", "Failed",
          "Rancher rejects the token" },
        { "what was deployed needs it no more", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; rancher TokenRejected; plan", "",
          "db@a=Deployed/Deployed", "Deployed", "" },
        { "a new token is all that it takes", "db", NULL, NULL, NULL,
          "cluster a; rancher TokenRejected; plan; rancher; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "Deploying", "installing" },
        { "a Stack that waits for others tells an unreachable cluster first", "db", NULL, NULL,
          NULL, "cluster a disconnected; stack base waiting; plan", "",
          "db@a=Unknown/ClusterUnreachable", "Pending",
          "waiting for db on a: the cluster is not connected" },
        { "and missing values", "db", NULL, NULL, NULL,
          "cluster a; values db ConfigMapNotFound; stack base waiting; plan", "",
          "db@a=Waiting/ConfigMapNotFound", "Pending", "db on a: ConfigMap team/db does not exist" },
        { "what runs on meanwhile is told", "db", NULL, NULL, "\"paused\":true," DB_TWO,
          "cluster a; app db@a deployed 3; plan; change; plan", "", "db@a=Pending/Paused",
          "Deploying", "set spec.paused to false to go on; 1 release keeps running as deployed "
          "before" },
        { "also where values are missing", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 3; plan; values db ConfigMapNotFound; plan", "",
          "db@a=Waiting/ConfigMapNotFound", "Deploying",
          "ConfigMap team/db does not exist; create it, or mark the reference optional; revision 3 of before is still running" },
        { "a paused Stack does not ask for a repository", "db", "\"paused\":true", NULL, NULL,
          "cluster a; repo a absent; plan", "", "db@a=Pending/Paused", "Pending", NULL },
        { "Stacks in a dependency cycle say so", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting needs shop; plan", "", "db@a=Pending/StackCycle",
          "Failed", "dependency cycle: shop -> base -> shop; take " },
        { "also through others", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting needs far; stack far waiting distant needs shop; plan", "",
          "db@a=Pending/StackCycle", "Failed",
          "dependency cycle: shop -> base -> far -> shop" },
        { "who waits for such a cycle says so, too", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting needs far; stack far waiting distant needs base; plan", "",
          "db@a=Pending/StackCycle", "Failed", "dependency cycle: base -> far -> base" },
        { "a cycle with a Stack in it that is Ready goes on", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting needs far; stack far ready distant; plan", "",
          "db@a=Pending/WaitingForStack", "Pending", "waiting for Stack base to be Ready" },
        { "a cycle that was cut goes on", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting needs shop; plan; stack base ready; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", "Deploying", NULL },
        { "another Stack that is not Ready is waited for by name", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting; plan", "", "db@a=Pending/WaitingForStack", "Pending",
          "waiting for Stack base to be Ready" },
        { "a Stack that does not exist is said not to", "db", NULL, NULL, NULL,
          "cluster a; stack base missing; plan", "", "db@a=Pending/WaitingForStack", "Pending",
          "does not exist) to be" },
        { "once it is Ready it goes on", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting; plan; stack base ready; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "Deploying", NULL },
        { "it goes on where the other Stack is deployed", "db", NULL, NULL, NULL,
          "cluster a; cluster b; stack base waiting on a,b pending b; plan", "upgrade:db@a",
          "db@a=Deploying/Installing db@b=Waiting/WaitingForStack", "Deploying",
          "waiting for Stack base to be deployed on b" },
        { "and where it does not go at all", "db", NULL, NULL, NULL,
          "cluster a; cluster c; stack base waiting on a,b pending a,b; plan", "upgrade:db@c",
          "db@a=Waiting/WaitingForStack db@c=Deploying/Installing", "Deploying", NULL },
        { "one that goes nowhere is waited for", "db", NULL, NULL, NULL,
          "cluster a; stack base waiting; plan", "", "db@a=Pending/WaitingForStack", "Pending",
          "waiting for Stack base to be Ready" },
        { "one that is being deleted, too", "db", NULL, NULL, NULL,
          "cluster a; stack base goes on a; plan", "", "db@a=Pending/WaitingForStack", "Pending",
          "Stack base (which is being deleted) to be Ready" },
        { "what is deployed stays so while another Stack is not Ready", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; stack base waiting; plan", "", "db@a=Deployed/Deployed",
          "Deployed", NULL },
        { "no target cluster is Pending, not Deployed", "db", NULL, NULL, NULL, "plan", "", "",
          "Pending", "no cluster matches" },
    };

    CHECK_ALL(rows);
    (void)state;
}

static void goes_in_order(void **state)
{
    static const struct plan_row rows[] = {
        { "a chart waits for what it needs; what is free goes at once", "db api<db web", NULL, NULL,
          NULL, "cluster a; plan", "upgrade:db@a upgrade:web@a",
          "api@a=Waiting/WaitingForDependency db@a=Deploying/Installing web@a=Deploying/Installing",
          "Deploying", NULL },
        { "it goes when its need is deployed", "db api<db", NULL, NULL, NULL,
          "cluster a; plan; app db@a deployed 1; plan", "upgrade:api@a",
          "api@a=Deploying/Installing db@a=Deployed/Deployed", "Deploying", NULL },
        { "a child waits for its parent's new revision", "db api<db", NULL, NULL,
          "\"overrides\":[{\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"n\":2}}},{\"name\":\"api\","
          "\"values\":{\"inline\":{\"n\":2}}}],\"clusterIds\":[\"a\"]}]",
          "cluster a; app db@a deployed 1; app api@a deployed 1; plan; change; plan",
          "upgrade:db@a", "api@a=Waiting/WaitingForDependency db@a=Deploying/Upgrading",
          "Deploying", NULL },
        { "the message names the root, however far", "db api<db web<api", NULL, NULL, NULL,
          "cluster a; plan; app db@a failed 1; op db@a o1 failed Error: UPGRADE FAILED: context "
          "deadline exceeded; log db@a o1 Error: UPGRADE FAILED: context deadline exceeded; "
          "pods db@a o1 pod db-0: ImagePullBackOff; +4m; plan", "",
          "api@a=Waiting/WaitingForDependency db@a=Failed/InstallFailed "
          "web@a=Waiting/WaitingForDependency", "Deploying",
          "waiting for db on a (and 2 more): install failed: pod db-0: ImagePullBackOff; context "
          "deadline exceeded (4m)" },
        { "a skipped need is no need", "db api<db",
          "\"overrides\":[{\"clusterIds\":[\"a\"],\"charts\":[{\"name\":\"db\",\"skip\":true}]}]",
          NULL, NULL, "cluster a; plan", "upgrade:api@a", "api@a=Deploying/Installing",
          "Deploying", NULL },
        { "no more operations than a cluster takes", "a b c d", NULL, NULL, NULL,
          "room 2; cluster k; plan", "upgrade:a@k upgrade:b@k",
          "a@k=Deploying/Installing b@k=Deploying/Installing c@k=Pending/WaitingForCapacity "
          "d@k=Pending/WaitingForCapacity", "Deploying", NULL },
        { "who takes the room is told", "a b", NULL, NULL, NULL,
          "room 1; cluster k; stranger x@k o7 running its pod cannot start; plan", "",
          "a@k=Pending/WaitingForCapacity b@k=Pending/WaitingForCapacity", "Pending",
          "waiting for capacity on k, where 1 operation runs at a time: x/x (operation o7: its pod "
          "cannot start)" },
        { "operations that run count, and so do requests", "a b c", NULL, NULL, NULL,
          "room 2; cluster k; plan; op a@k o1 running; plan", "",
          "a@k=Deploying/OperationRunning b@k=Deploying/Installing c@k=Pending/WaitingForCapacity",
          "Deploying", NULL },
        { "each cluster has its own room", "a b", NULL, NULL, NULL, "room 1; cluster k; cluster l; "
          "plan", "upgrade:a@k upgrade:a@l",
          "a@k=Deploying/Installing a@l=Deploying/Installing b@k=Pending/WaitingForCapacity "
          "b@l=Pending/WaitingForCapacity", "Deploying", NULL },
        { "a reached state plans nothing", "db api<db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; app api@a deployed 1; plan; plan", "",
          "api@a=Deployed/Deployed db@a=Deployed/Deployed", "Deployed",
          "all 2 releases are deployed on 1 cluster" },
    };

    CHECK_ALL(rows);
    (void)state;
}

static void says_what_it_waits_for(void **state)
{
    static const struct plan_row rows[] = {
        { "a repository is asked for once by several charts", "db web", NULL, NULL, NULL,
          "cluster a; repo a absent; plan", "ensure-repo:db@a",
          "db@a=Waiting/RepoRequested web@a=Waiting/RepoRequested", "Pending", NULL },
        { "and not again while the request may still take effect", "db web", NULL, NULL, NULL,
          "cluster a; repo a absent; plan; +29s; plan", "",
          "db@a=Waiting/RepoRequested web@a=Waiting/RepoRequested", "Pending", NULL },
        { "a lost request for a repository is repeated", "db", NULL, NULL, NULL,
          "cluster a; repo a absent; plan; +30s; plan", "ensure-repo:db@a",
          "db@a=Waiting/RepoRequested", "Pending", NULL },
        { "a repository that downloads is waited for", "db", NULL, NULL, NULL,
          "cluster a; repo a absent; plan; repo a downloading; plan", "",
          "db@a=Waiting/RepoDownloading", "Pending", NULL },
        { "a repository that fails is told, and fixes itself", "db", NULL, NULL, NULL,
          "cluster a; repo a failed; plan", "", "db@a=Failed/RepoUnreachable", "Pending",
          "no such host" },
        { "a version is asked for before it is acted on", "db", NULL, NULL, NULL,
          "cluster a; version db@a not_synced; plan", "resolve-version:db@a",
          "db@a=Pending/ResolvingVersion", "Pending", NULL },
        { "trouble with a version is told before the needs are there", "db api<db", NULL, NULL,
          NULL, "cluster a; version api@a missing; plan", "upgrade:db@a",
          "api@a=Failed/ChartVersionNotFound db@a=Deploying/Installing", "Failed",
          "has no chart api in version 1.2.3" },
        { "a missing version fixes itself when it is there", "db", NULL, NULL, NULL,
          "cluster a; version db@a missing; plan; version db@a found; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "Deploying", NULL },
        { "values that are not there are waited for", "db", NULL, NULL, NULL,
          "cluster a; values db ConfigMapNotFound; plan", "", "db@a=Waiting/ConfigMapNotFound",
          "Pending", "ConfigMap team/db does not exist" },
        { "an unreachable cluster is unknown, and others go on", "db", NULL, NULL, NULL,
          "cluster a; cluster b; app db@a deployed 1; plan; cluster a disconnected; plan", "",
          "db@a=Unknown/ClusterUnreachable db@b=Deploying/Installing", "Deploying",
          "last known Deployed" },
        { "a request is not forgotten while its cluster is away", "db", NULL, NULL, NULL,
          "cluster a; plan; cluster a disconnected; plan; +10s; plan; cluster a read; "
          "op db@a o1 running; plan", "", "db@a=Deploying/OperationRunning", "Deploying", NULL },
        { "a cluster that was not heard of for long is not acted on", "db", NULL, NULL, NULL,
          "cluster a; app db@a pending 2; plan; +40s; cluster a stale; plan", "",
          "db@a=Unknown/ClusterStale", "Deploying", "last known Deploying" },
        { "what is known of it counts again once it is heard of", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; cluster a stale; plan; cluster a read; plan", "",
          "db@a=Deployed/Deployed", "Deployed", NULL },
        { "an not_synced cluster is no empty cluster", "db", NULL, NULL, NULL,
          "cluster a not_synced; plan", "", "db@a=Unknown/ClusterNotSynced", "Pending", NULL },
        { "an not_synced cluster is not said to be as a changed spec wants it", "db", NULL, NULL,
          "\"overrides\":[{\"clusterIds\":[\"a\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"n\":2}}"
          "}]}]", "cluster a; app db@a deployed 1; plan; change; cluster a not_synced; plan", "",
          "db@a=Unknown/ClusterNotSynced", "Deploying", NULL },
        { "a cluster that is not known leaves the Stack not Ready", "db", NULL, NULL, NULL,
          "cluster a; cluster b gone; app db@a deployed 1; plan", "", "db@a=Deployed/Deployed",
          "Deploying", "spec.targets.clusterIds: Rancher has no cluster b; fix the id" },
        { "and is told with the nearest one", "db", NULL, NULL, NULL,
          "cluster c-1; cluster c-l gone near c-1; plan; app db@c-1 deployed 1; plan", "",
          "db@c-1=Deployed/Deployed", "Deploying", "no cluster c-l (did you mean c-1?)" },
        { "also when it is the only one", "db", NULL, NULL, NULL, "cluster b gone; plan", "", "",
          "Pending", "Rancher has no cluster b" },
        { "and beside other trouble", "db", NULL, NULL, NULL,
          "cluster a; cluster b gone; repo a failed; plan", "", "db@a=Failed/RepoUnreachable",
          "Pending", "no such host; and spec.targets.clusterIds: Rancher has no cluster b" },
        { "a release is one, not all 1", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan", "", "db@a=Deployed/Deployed", "Deployed",
          "1 release is deployed on 1 cluster" },
        { "somebody else's release is left alone", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; plan", "", "db@a=Failed/ReleaseConflict",
          "Failed", "releaseName" },
        { "another Stack's release is left alone", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other; plan", "", "db@a=Failed/ReleaseConflict",
          "Failed", "Stack team/other" },
        { "a conflict fixes itself when the other release goes", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other; plan; gone db@a; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "Deploying", NULL },
        { "a release of a former Stack of this name is taken over", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 3 former; plan", "upgrade:db@a", "db@a=Deploying/Upgrading",
          "Deploying", NULL },
        { "another version than was asked for is no success", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 version 1.2.9; plan", "",
          "db@a=Failed/ChartVersionMismatch", "Failed", "1.2.9 was installed" },
    };

    CHECK_ALL(rows);
    (void)state;
}

#define BY_HAND                                                                                    \
    "cluster a; app db@a deployed 1; plan; +1m; stranger db@a by-hand running; plan; "                   \
    "app db@a pending 2 foreign; plan; stranger db@a by-hand succeeded; app db@a deployed 2 foreign; "

/* Between two looks our install ends, and somebody upgrades the release. */
#define AT_ONCE                                                                                    \
    "cluster a; plan; op db@a ours running; plan; op db@a ours succeeded; "                        \
    "app db@a deployed 2 foreign; "

static void minds_drift(void **state)
{
    static const struct plan_row rows[] = {
        { "drift is reported", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 rolledback; plan", "",
          "db@a=Deployed/Drifted", "Deployed", "changed by somebody else" },
        { "drift without our stamp is reported, too", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign; plan; plan", "",
          "db@a=Deployed/Drifted", "Deployed", NULL },
        { "somebody's upgrade that is on its way is drift already", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a pending 2 foreign; plan", "",
          "db@a=Deployed/Drifted", "Deployed", "changed by somebody else" },
        { "and no stranger's release when it is through", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a pending 2 foreign; plan; "
          "app db@a deployed 2 foreign; plan; plan", "",
          "db@a=Deployed/Drifted", "Deployed", NULL },
        { "somebody's rollback is drift, also while it is on its way", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 2; plan; app db@a pending 3 rolledback; plan; "
          "app db@a deployed 3 rolledback; plan", "", "db@a=Deployed/Drifted", "Deployed", NULL },
        { "where it is to be corrected, somebody's upgrade is let end first", "db",
          "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a pending 2 foreign; plan", "",
          "db@a=Deploying/ReleasePending", "Deploying", NULL },
        { "and then corrected", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a pending 2 foreign; plan; +2s; "
          "app db@a deployed 2 foreign; plan", "upgrade:db@a", "db@a=Deploying/Upgrading",
          "Deploying", NULL },
        { "a correction whose lock is taken away goes on", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a pending 3; plan; +32s; plan; "
          "app db@a deployed 2 foreign; plan",
          "upgrade:db@a", "db@a=Deploying/Upgrading",
          "Deploying", NULL },
        { "also when the cluster was away meanwhile", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a pending 3; plan; +32s; plan; "
          "cluster a disconnected; plan; cluster a read; app db@a deployed 2 foreign; plan; +1m; plan; "
          "+1m; plan", "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "a correction that fails is tried again", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign; plan; +1s; "
          "op db@a one failed; log db@a one no; plan; +10m; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "when somebody upgrades what we installed before we look, its log says that we did", "db",
          NULL, NULL, NULL, AT_ONCE "plan", "read-log:db@a", "db@a=Deploying/OperationEnded",
          "Deploying", NULL },
        { "which is waited for, however long it takes", "db", NULL, NULL, NULL,
          AT_ONCE "plan; +10m; plan; log db@a ours; plan; plan", "", "db@a=Deployed/Drifted", "Deployed",
          NULL },
        { "and the upgrade is drift", "db", NULL, NULL, NULL, AT_ONCE "log db@a ours; plan; plan; plan",
          "", "db@a=Deployed/Drifted", "Deployed", "changed by somebody else" },
        { "when the next one fails, that is somebody else's, too", "db", NULL, NULL, NULL,
          "cluster a; plan; app db@a deployed 3 foreign; op db@a ours succeeded; log db@a ours; plan; "
          "plan; app db@a failed 4 foreign; plan", "", "db@a=Deployed/Drifted", "Deployed",
          "changed by somebody else" },
        { "and is not looked at where drift is ignored", "db", "\"drift\":\"Ignore\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a failed 2 foreign; plan; +1h; plan", "",
          "db@a=Deployed/Deployed", "Deployed", NULL },
        { "it is corrected where drift is", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a failed 2 foreign; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "within the bound of corrections", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a failed 2 foreign corrected 5; plan", "",
          "db@a=Failed/DriftPersists", "Failed", "after 5 corrections" },
        { "also of an upgrade", "db", NULL, NULL, DB_TWO,
          "cluster a; app db@a deployed 4; plan; change; plan; op db@a ours succeeded; "
          "log db@a ours; app db@a deployed 6 foreign; plan; plan", "", "db@a=Deployed/Drifted",
          "Deployed", NULL },
        { "it is corrected where that is asked for, then, too", "db", "\"drift\":\"Correct\"", NULL,
          NULL, AT_ONCE "log db@a ours; plan; plan", "upgrade:db@a", "db@a=Deploying/Upgrading",
          "Deploying", NULL },
        { "a Stack that goes takes it with it", "db", NULL, NULL, NULL,
          AT_ONCE "log db@a ours; plan; delete; plan", "uninstall:db@a", "db@a=Uninstalling/Uninstalling",
          "Deleting", NULL },
        { "somebody's operation on it is waited for", "db", NULL, NULL, NULL,
          AT_ONCE "log db@a ours; plan; +1s; plan; stranger db@a by-hand running; plan", "",
          "db@a=Waiting/WaitingForOperation", "Deploying", "the Stack did not request" },
        { "and is none of ours that hangs", "db", NULL, NULL, NULL,
          AT_ONCE "stranger db@a by-hand running; plan; +54m; plan", "",
          "db@a=Deploying/WaitingForOperation", "Deploying", "operation by-hand is running" },
        { "what nobody knows to have ended well proves nothing", "db", NULL, NULL, NULL,
          AT_ONCE "log db@a ours gone; plan; +1m; plan; plan", "", "db@a=Failed/ReleaseConflict",
          "Failed", NULL },
        { "nor does one that was made before ours, and not changed since", "db", NULL, NULL, NULL,
          "cluster a; plan; app db@a deployed 1 foreign; op db@a ours succeeded; log db@a ours; plan; "
          "+1m; plan; plan", "", "db@a=Failed/ReleaseConflict", "Failed", NULL },
        { "a failed install that somebody upgraded is ours still", "db", NULL, NULL, NULL,
          "cluster a; plan; app db@a failed 1; op db@a ours failed; log db@a ours no; plan; "
          "app db@a deployed 2 foreign; plan; +10m; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "an operation that somebody began is named so", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; +1m; stranger db@a by-hand running; "
          "app db@a pending 2 foreign; plan", "",
          "db@a=Waiting/WaitingForOperation", "Deploying",
          "upgrade operation by-hand is running, which the Stack did not request" },
        { "what it changed is drift", "db", NULL, NULL, NULL,
          BY_HAND "plan; plan", "", "db@a=Deployed/Drifted", "Deployed",
          "changed by somebody else" },
        { "also when it was never seen running", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; +1m; stranger db@a by-hand succeeded; "
          "app db@a deployed 2 foreign; plan; plan", "", "db@a=Deployed/Drifted", "Deployed",
          NULL },
        { "also when the release is seen changed late", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; +1m; stranger db@a by-hand running; plan; "
          "app db@a pending 2 foreign; plan; stranger db@a by-hand succeeded; plan; "
          "app db@a deployed 2 foreign; plan; plan", "", "db@a=Deployed/Drifted", "Deployed",
          NULL },
        { "also when the cluster was away meanwhile", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; +1m; stranger db@a by-hand running; "
          "app db@a pending 2 foreign; plan; cluster a disconnected; plan; cluster a read; plan; "
          "stranger db@a by-hand succeeded; app db@a deployed 2 foreign; plan", "",
          "db@a=Deployed/Drifted", "Deployed", NULL },
        { "it is corrected where that is asked for", "db", "\"drift\":\"Correct\"", NULL, NULL,
          BY_HAND "plan", "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "and is as wanted then", "db", "\"drift\":\"Correct\"", NULL, NULL,
          BY_HAND "plan; op db@a ours running; plan; app db@a deployed 3; plan", "",
          "db@a=Deployed/Deployed", "Deployed", NULL },
        { "a correction that failed is no success because somebody changed more since", "db", "\"drift\":\"Correct\"",
          NULL, NULL, BY_HAND "plan; op db@a ours running; plan; app db@a deployed 4 foreign; op db@a ours failed; "
          "log db@a ours no; plan; plan", "", "db@a=Failed/UpgradeFailed", "Deploying", NULL },
        { "and is tried again later", "db", "\"drift\":\"Correct\"",
          NULL, NULL, BY_HAND "plan; op db@a ours running; plan; app db@a deployed 4 foreign; op db@a ours failed; "
          "log db@a ours no; plan; +10m; plan", "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "it is left where drift is not looked at", "db", "\"drift\":\"Ignore\"", NULL, NULL,
          BY_HAND "plan; plan", "", "db@a=Deployed/Deployed", "Deployed", NULL },
        { "what somebody changed while the Stack waited is drift, too", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; values db ConfigMapNotFound; plan; +1m; "
          "stranger db@a by-hand running; app db@a pending 2 foreign; plan; stranger db@a by-hand succeeded; "
          "app db@a deployed 2 foreign; plan; values db ready; plan", "", "db@a=Deployed/Drifted",
          "Deployed", NULL },
        { "a Stack that goes waits for somebody's operation", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; +1m; stranger db@a by-hand running; "
          "app db@a pending 2 foreign; plan; delete; plan", "",
          "db@a=Waiting/WaitingForOperation", "Deleting", "waiting for it to end; since "
          "2023-11-14T22:14:20Z, and the release is removed when it ends" },
        { "and takes the release with it", "db", NULL, NULL, NULL,
          BY_HAND "plan; delete; plan", "uninstall:db@a", "db@a=Uninstalling/Uninstalling",
          "Deleting", NULL },
        { "also when it ends while the Stack goes", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; +1m; stranger db@a by-hand running; plan; delete; plan; "
          "app db@a pending 2 foreign; plan; stranger db@a by-hand succeeded; "
          "app db@a deployed 2 foreign; plan", "uninstall:db@a", "db@a=Uninstalling/Uninstalling",
          "Deleting", NULL },
        { "an operation of another Stack's release is none of ours", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other; plan; uninstall db@a theirs running; plan", "",
          "db@a=Failed/ReleaseConflict", "Failed", "Stack team/other" },
        { "nor does a Stack that goes wait for it", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other; plan; uninstall db@a theirs running; delete; plan",
          "remove-finalizer", "", "Deleting", NULL },
        { "what somebody changed goes with the Stack, too", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign; plan; delete; plan",
          "uninstall:db@a", "db@a=Uninstalling/Uninstalling", "Deleting", NULL },
        { "a new install by somebody else is no drift but in the way", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; gone db@a; app db@a deployed 1 foreign; plan", "",
          "db@a=Failed/ReleaseConflict", "Failed", NULL },
        { "drift is corrected where that is asked for", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 rolledback; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "drift is not looked at where that is asked for", "db", "\"drift\":\"Ignore\"", NULL,
          NULL, "cluster a; app db@a deployed 1; plan; app db@a deployed 2 rolledback; plan", "",
          "db@a=Deployed/Deployed", "Deployed", NULL },
        { "a change of the spec is no drift", "db", NULL, NULL,
          "\"overrides\":[{\"clusterIds\":[\"a\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"n\":2}}"
          "}]}]", "cluster a; app db@a deployed 1; plan; change; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "a release that somebody removed is installed again", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; gone db@a; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", "Deploying", NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

/* Whoever reads one condition alone is not told that nobody changed anything. */
static void drift_is_told_by_what_says_settled(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "");
    static const char *const types[] = { "Reconciling", "Stalled" };

    (void)state;
    scene_play(&s, "cluster a; app db@a deployed 1; plan; app db@a deployed 2 rolledback; plan");
    rows_expect_str("it is a condition", scene_condition(&s, "Drifted"), STR("True/Drifted"));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct kube_condition *c = kube_condition_find(&s.status.conditions,
                                                             str_of(types[i]));

        rows_expect(types[i], c && str_find(c->message, STR("is only reported"), 0) >= 0,
                    "the message tells of drift");
    }
}

#define WAVE_ONE "\"waves\":[{\"name\":\"one\",\"selector\":{\"matchLabels\":{\"id\":\"a\"}}}]"

static void says_why_other_clusters_wait(void **state)
{
    static const struct plan_row rows[] = {
        { "a cluster of an earlier wave", "db", "\"rollout\":{" WAVE_ONE "}", NULL, NULL,
          "cluster a disconnected; cluster b; plan", "",
          "db@a=Unknown/ClusterUnreachable db@b=Waiting/WaitingForWave", "Pending",
          "; a cannot be reached, and other clusters wait because spec.rollout.maxUnavailable is 0" },
        { "one that began and has its place", "db", "\"rollout\":{\"maxConcurrentClusters\":1}",
          NULL, NULL, "cluster a; cluster b; plan; cluster a disconnected; plan", "",
          "db@a=Unknown/ClusterUnreachable db@b=Waiting/WaitingForRollout", "Deploying",
          "; a cannot be reached, and other clusters wait because spec.rollout.maxUnavailable is 0" },
        { "that the rollout stopped, and how it goes on", "db",
          "\"onFailure\":\"Stop\",\"rollout\":{\"maxFailures\":0,\"maxConcurrentClusters\":1}", NULL, NULL,
          "cluster a; cluster b; plan; op db@a o1 failed; log db@a o1 no; +1s; plan", "",
          "db@a=Failed/InstallFailed db@b=Waiting/RolloutStopped", "Failed",
          "; the rollout stopped: 1 cluster failed and spec.rollout.maxFailures is 0" },
        { "but of none that it need not wait for", "db",
          "\"rollout\":{\"maxUnavailable\":1,\"waves\":[{\"name\":\"one\",\"selector\":{\"matchExpressions\":"
          "[{\"key\":\"id\",\"operator\":\"In\",\"values\":[\"a\",\"c\"]}]}}]}", NULL, NULL,
          "cluster a disconnected; cluster b; cluster c; app db@c deployed 1; plan", "upgrade:db@b",
          "db@a=Unknown/ClusterUnreachable db@b=Deploying/Installing db@c=Deployed/Deployed",
          "Deploying", NULL },
        { "a wave none of whose clusters has the change is not complete", "db",
          "\"rollout\":{\"maxUnavailable\":1," WAVE_ONE "}", NULL, NULL,
          "cluster a disconnected; cluster b; plan", "",
          "db@a=Unknown/ClusterUnreachable db@b=Waiting/WaitingForWave", "Pending",
          "later waves begin once at least one cluster of wave one is deployed with this change" },
    };

    CHECK_ALL(rows);
    (void)state;
}

#define DRIFT_AGAIN(revision, next)                                                                \
    "app db@a deployed " revision " foreign; plan; op db@a ours running; plan; "                   \
    "op db@a ours succeeded; app db@a deployed " next "; plan; plan; "

static void corrects_what_stays_corrected(void **state)
{
    static const struct plan_row rows[] = {
        { "the first correction comes at once", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign; plan",
          "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "the second waits", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; " DRIFT_AGAIN("2", "3")
          "app db@a deployed 4 foreign; plan", "", "db@a=Waiting/Drifted", "Deploying",
          "revision 4 was made by somebody else; it is corrected at 2023-11-14T22:13:35Z" },
        { "15 seconds", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; " DRIFT_AGAIN("2", "3")
          "app db@a deployed 4 foreign; plan; +15s; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "the third waits longer", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; " DRIFT_AGAIN("2", "3") "+15s; "
          DRIFT_AGAIN("4", "5") "app db@a deployed 6 foreign; +15s; plan", "",
          "db@a=Waiting/Drifted", "Deploying", NULL },
        { "after five somebody has to look", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; " DRIFT_AGAIN("2", "3") "+15s; "
          DRIFT_AGAIN("4", "5") "+30s; " DRIFT_AGAIN("6", "7") "+1m; " DRIFT_AGAIN("8", "9") "+2m; "
          DRIFT_AGAIN("10", "11") "app db@a deployed 12 foreign; +10m; plan", "",
          "db@a=Failed/DriftPersists", "Failed",
          "after 5 corrections within an hour; find out who changes it" },
        { "an annotation has it tried again", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; " DRIFT_AGAIN("2", "3") "+15s; "
          DRIFT_AGAIN("4", "5") "+30s; " DRIFT_AGAIN("6", "7") "+1m; " DRIFT_AGAIN("8", "9") "+2m; "
          DRIFT_AGAIN("10", "11") "app db@a deployed 12 foreign; +10m; plan; "
          "annotate retry 1; plan; plan", "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying",
          NULL },
        { "a failure is not told in turn with what keeps it from being tried again", "db", "", NULL,
          NULL, "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; +10m;"
          "version db@a missing; plan; plan", "", "db@a=Failed/ChartVersionNotFound", "Failed",
          NULL },
        { "a quiet hour ends the row", "db", "\"drift\":\"Correct\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; " DRIFT_AGAIN("2", "3") "+15s; "
          DRIFT_AGAIN("4", "5") "+30s; " DRIFT_AGAIN("6", "7") "+1m; " DRIFT_AGAIN("8", "9") "+2m; "
          DRIFT_AGAIN("10", "11") "app db@a deployed 12 foreign; +60m; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "another spec is no correction", "db", "\"drift\":\"Correct\"", NULL,
          "\"drift\":\"Correct\"," DB_TWO,
          "cluster a; app db@a deployed 1; plan; " DRIFT_AGAIN("2", "3")
          "app db@a deployed 4 foreign; plan; change; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading", "Deploying", NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

static void adopts_what_it_is_told_to(void **state)
{
    static const struct plan_row rows[] = {
        { "somebody's release says how to adopt it", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; plan", "", "db@a=Failed/ReleaseConflict",
          "Failed", "or adopt it: kubectl annotate stack shop -n team herd.suse.com/adopt=db/db" },
        { "it is marked first", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; annotate adopt db/db; plan", "",
          "db@a=Pending/Adopting", "Pending", "taking over revision 1" },
        { "and upgraded then", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; annotate adopt db/db; plan; plan",
          "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "it stays the Stack's without the annotation", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; annotate adopt db/db; plan; annotate adopt; "
          "plan", "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "also after a conflict", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; plan; annotate adopt db/db; plan; plan",
          "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "another release is not meant", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; annotate adopt db/web; plan; plan", "",
          "db@a=Failed/ReleaseConflict", "Failed", NULL },
        { "nor one on another cluster", "db", NULL, NULL, NULL,
          "cluster a; cluster b; app db@a deployed 1 foreign; app db@b deployed 1 foreign; "
          "annotate adopt b:db/db; plan; plan", "upgrade:db@b",
          "db@a=Failed/ReleaseConflict db@b=Deploying/Upgrading", "Failed", NULL },
        { "a paused Stack adopts nothing", "db", "\"paused\":true", NULL, NULL,
          "cluster a; app db@a deployed 1 foreign; annotate adopt db/db; plan; plan", "",
          "db@a=Pending/Paused", "Pending", NULL },
        { "what another Stack wants stays that Stack's", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other wanted; annotate adopt db/db; plan; plan", "",
          "db@a=Failed/ReleaseConflict", "Failed",
          "removed from Stack team/other" },
        { "what it wants no more moves", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other old; annotate adopt db/db; plan; plan",
          "upgrade:db@a", "db@a=Deploying/Upgrading", "Deploying", NULL },
        { "and is not deployed again if it is as wanted", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other; annotate adopt db/db; plan; plan", "",
          "db@a=Deployed/Deployed", "Deployed", NULL },
        { "what somebody changes of it then is drift", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1 other; annotate adopt db/db; plan; plan; "
          "app db@a deployed 2 foreign; plan", "", "db@a=Deployed/Drifted", "Deployed", NULL },
        { "belongs to the platform is never adopted", "db", NULL, NULL, NULL,
          "cluster a; local a; app db@a deployed 1 foreign; annotate adopt db/db; plan; plan", "",
          "db@a=Failed/ReleaseConflict", "Failed", "belongs to the platform" },
        { "what an operation works at is waited for", "db", NULL, NULL, NULL,
          "cluster a; app db@a pending 2 foreign; stranger db@a theirs running; "
          "annotate adopt db/db; plan; plan", "", "db@a=Waiting/Adopting", "Pending",
          "an operation is still running" },
        { "a Stack that has no chart for it leaves it to the one that adopts it", "db web", NULL,
          "db", NULL, "cluster a; app db@a deployed 1; app web@a deployed 1; plan; "
          "app web@a deployed 1 adopted; change; plan", "",
          "db@a=Deployed/Deployed web@a=Waiting/WaitingForAdoption", "Deploying",
          "Stack team/other adopts it" },
        { "and forgets it then", "db web", NULL, "db", NULL,
          "cluster a; app db@a deployed 1; app web@a deployed 1; plan; "
          "app web@a deployed 1 adopted; change; plan; app web@a deployed 1 taken; plan", "",
          "db@a=Deployed/Deployed", "Deployed", NULL },
        { "so does one that is deleted", "db web", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; app web@a deployed 1; plan; app db@a deployed 1 adopted; "
          "delete; plan", "uninstall:web@a",
          "db@a=Waiting/WaitingForAdoption web@a=Uninstalling/Uninstalling", "Deleting", NULL },
        { "and then it is gone", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; app db@a deployed 1 adopted; delete; plan; "
          "app db@a deployed 1 taken; plan", "remove-finalizer", "", "Deleting", NULL },
        { "a Stack that is asked for a release, and still has a chart for it, is to give it up", "db",
          NULL, NULL, NULL, "cluster a; app db@a deployed 1 other wanted; annotate adopt db/db; plan",
          "", "db@a=Failed/ReleaseConflict", "Failed",
          "takes the release over once that chart is removed from Stack team/other, or that Stack is deleted" },
    };

    CHECK_ALL(rows);
    (void)state;
}

static void removes_in_reverse(void **state)
{
    static const struct plan_row rows[] = {
        { "a chart that left the spec is uninstalled", "db web", NULL, "db", NULL,
          "cluster a; app db@a deployed 1; app web@a deployed 1; plan; change; plan",
          "uninstall:web@a", "db@a=Deployed/Deployed web@a=Uninstalling/Uninstalling", "Deploying",
          NULL },
        { "what nothing needs goes first", "db api<db web<api", NULL, "x", NULL,
          "cluster a; app db@a deployed 1; app api@a deployed 1; app web@a deployed 1; "
          "plan; change; app x@a deployed 1; plan; confirm; plan", "uninstall:web@a",
          "api@a=Waiting/WaitingForDependents db@a=Waiting/WaitingForDependents "
          "web@a=Uninstalling/Uninstalling x@a=Deployed/Deployed", "Deploying", NULL },
        { "a cluster that is no target any more is cleared", "db", NULL, NULL, NULL,
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; "
          "cluster b untargeted; plan; +5m; plan", "uninstall:db@b",
          "db@a=Deployed/Deployed db@b=Uninstalling/Uninstalling", "Deploying", NULL },
        { "what is confirmed goes to its end, also while ClusterRepos go where it went", "db",
          "\"rollout\":{\"maxConcurrentClusters\":1,\"removalDelay\":\"0s\"}", NULL, NULL,
          "cluster a; cluster b; cluster c; app db@a deployed 1; app db@b deployed 1; "
          "app db@c deployed 1; plan; cluster a untargeted; cluster b untargeted; "
          "cluster c untargeted; plan; confirm; plan; gone db@a; uninstall db@a o1 succeeded; "
          "leftover a herd-1; plan; plan; gone db@b; uninstall db@b o2 succeeded; plan", "remove-repo:@a uninstall:db@c",
          "db@c=Uninstalling/Uninstalling", "Deploying", NULL },
        { "a release of somebody else is not cleared", "db", NULL, NULL, NULL,
          "cluster a; cluster b untargeted; app db@a deployed 1; app db@b deployed 1 other; plan",
          "", "db@a=Deployed/Deployed", "Deployed", NULL },
        { "deletion goes in reverse order", "db api<db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; app api@a deployed 1; plan; delete; plan",
          "uninstall:api@a",
          "api@a=Uninstalling/Uninstalling db@a=Waiting/WaitingForDependents", "Deleting", NULL },
        { "and goes on when what needed it is gone", "db api<db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; app api@a deployed 1; plan; delete; plan; gone api@a; "
          "uninstall api@a o1 succeeded; plan", "uninstall:db@a", "db@a=Uninstalling/Uninstalling", "Deleting", NULL },
        { "at the end the Stack is let go", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; gone db@a; uninstall db@a o1 succeeded; plan",
          "remove-finalizer", "", "Deleting", "no release of the Stack is left" },
        { "what somebody else removed needs no removal", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; gone db@a; plan", "remove-finalizer",
          "", "Deleting", NULL },
        { "a Stack deleted in mid-install waits for what was asked for", "db", NULL, NULL, NULL,
          "cluster a; plan; delete; plan", "", "db@a=Deploying/Installing", "Deleting", NULL },
        { "until it certainly did not happen", "db", NULL, NULL, NULL,
          "cluster a; plan; delete; +30s; plan", "remove-finalizer", "", "Deleting", NULL },
        { "a running operation is waited for before its release goes", "db", NULL, NULL, NULL,
          "cluster a; plan; op db@a o1 running; app db@a pending 1; delete; +5m; plan", "",
          "db@a=Deploying/OperationRunning", "Deleting", NULL },
        { "Orphan leaves the releases", "db", "\"deletionPolicy\":\"Orphan\"", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan", "remove-finalizer", "", "Deleting",
          "stay" },
        { "no finalizer is added once deletion began", "db", NULL, NULL, NULL,
          "nofinalizer; cluster a; delete; plan", "", "", "Deleting", NULL },
        { "what depends on a Stack keeps it", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; dependent web ready on a held a; plan", "",
          "db@a=Waiting/StackNeeded", "Deleting",
          "Stack web depends on this one; delete it, or take shop out of its spec.dependsOn" },
        { "goes before it, cluster by cluster", "db", NULL, NULL, NULL,
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; delete; "
          "dependent web goes held b; plan", "uninstall:db@a",
          "db@a=Uninstalling/Uninstalling db@b=Waiting/WaitingForDependents", "Deleting",
          NULL },
        { "whose turn is told", "db", NULL, NULL, NULL,
          "cluster b; app db@b deployed 1; plan; delete; dependent web goes held b; plan", "",
          "db@b=Waiting/WaitingForDependents", "Deleting",
          "Stack web, which depends on this one, is removed from b first" },
        { "and lets it go when it is gone", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; dependent web goes; plan",
          "uninstall:db@a", "db@a=Uninstalling/Uninstalling", "Deleting", NULL },
        { "two that depend on each other keep nobody", "db", NULL, NULL,
          "\"dependsOn\":[{\"name\":\"web\"}]",
          "cluster a; app db@a deployed 1; plan; change; delete; dependent web goes held a; plan",
          "uninstall:db@a", "db@a=Uninstalling/Uninstalling", "Deleting", NULL },
        { "a cluster that is gone is skipped", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; cluster a gone; plan", "remove-finalizer",
          "", "Deleting", NULL },
        { "an unreachable cluster holds the Stack and says how to let go", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; cluster a disconnected; plan", "",
          "db@a=Unknown/ClusterUnreachable", "Deleting",
          "herd.suse.com/abandon-clusters: \"a\"" },
        { "one that was not heard of holds it, too", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; gone db@a; cluster a stale; plan", "",
          "db@a=Unknown/ClusterStale", "Deleting", "herd.suse.com/abandon-clusters: \"a\"" },
        { "an abandoned cluster is let go", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; cluster a disconnected; plan; "
          "abandon b, a; plan", "remove-finalizer", "", "Deleting", NULL },
        { "all clusters are let go by a star", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; cluster a disconnected; abandon *; plan",
          "remove-finalizer", "", "Deleting", NULL },
        { "unknown clusters hold a deletion", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; clusters unknown; gone db@a; plan", "",
          "db@a=Deployed/Deployed", "Deleting", NULL },
        { "and the remedy is named", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; clusters unknown; plan", "",
          "db@a=Deployed/Deployed", "Deleting", "herd.suse.com/abandon-clusters: \"*\"" },
        { "one abandoned cluster does not let go of clusters that are unknown", "db", NULL, NULL,
          NULL, "cluster a; app db@a deployed 1; plan; delete; clusters unknown; abandon a; plan",
          "", "db@a=Deployed/Deployed", "Deleting", NULL },
        { "a star lets go of clusters that are unknown", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; clusters unknown; abandon *; plan",
          "remove-finalizer", "", "Deleting", NULL },
        { "a star without a deletion lets go of nothing", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; clusters unknown; abandon *; plan", "",
          "db@a=Deployed/Deployed", "Deployed", NULL },
        { "unknown clusters do not hold what was never asked for anything", "db", NULL, NULL, NULL,
          "clusters unknown; nofinalizer; plan; finalizer; plan; delete; plan",
          "remove-finalizer", "", "Deleting", NULL },
        { "but what lost its status may have asked for anything", "db", NULL, NULL, NULL,
          "clusters unknown; plan; delete; plan; plan", "", "", "Deleting",
          "waiting for the list of clusters" },
        { "but a request that was never accounted for is held", "db", NULL, NULL, NULL,
          "cluster a; plan; delete; clusters unknown; plan", "", "db@a=Deploying/Installing",
          "Deleting", "waiting for the list of clusters" },
        { "an unreachable cluster where nothing was asked for holds nothing", "db", NULL, NULL,
          NULL, "cluster a disconnected; plan; delete; plan", "remove-finalizer",
          "", "Deleting", NULL },
        { "a paused Stack is not torn down", "db", "\"paused\":true", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan", "", "db@a=Pending/DeletionPaused",
          "Deleting", "set spec.paused to false" },
        { "what was asked for before the pause is waited for", "db", NULL, NULL,
          "\"paused\":true", "cluster a; plan; change; op db@a o1 running; plan; delete; plan", "",
          "db@a=Deploying/OperationRunning", "Deleting", "set spec.paused to false" },
        { "a paused Stack that never deployed anything is let go", "db", "\"paused\":true", NULL,
          NULL, "cluster a; plan; delete; plan", "remove-finalizer", "", "Deleting", NULL },
        { "one that chose no cluster, too", "db", "\"paused\":true", NULL, NULL,
          "plan; delete; plan", "remove-finalizer", "", "Deleting", NULL },
        { "one whose releases somebody else took away, too", "db", "\"paused\":true", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; gone db@a; plan; +2m; "
          "plan", "remove-finalizer", "", "Deleting", NULL },
        { "not one whose cluster cannot be read", "db", "\"paused\":true", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; cluster a disconnected; delete; plan", "",
          "db@a=Unknown/ClusterUnreachable", "Deleting", "set spec.paused to false" },
        { "a rejected Stack can be deleted", "db", NULL, NULL, NULL,
          "cluster a; app db@a deployed 1; plan; problem; delete; plan", "uninstall:db@a",
          "db@a=Uninstalling/Uninstalling", "Deleting", NULL },
        { "an uninstall that failed is tried again, later", "db", "\"retry\":{\"limit\":0}", NULL,
          NULL, "cluster a; app db@a deployed 1; plan; delete; plan; uninstall db@a o1 failed no; "
          "log db@a o1 hook failed; plan; +20m; plan", "uninstall:db@a",
          "db@a=Uninstalling/Uninstalling", "Deleting", NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

/* Only what is news is written at once (a long status is written at a pace). */
static void tells_what_is_news(void **state)
{
    static const struct {
        const char *row;
        enum stack_phase phase;
        enum condition_status ready;
        const char *reason, *message;
        enum action_kind action; /* ACTION_KIND_COUNT: none */
        const char *digest;      /* of the action */
        bool news;
    } rows[] = {
        { "the same", PHASE_DEPLOYING, CONDITION_FALSE, "Deploying", "1 of 9", ACTION_KIND_COUNT, "", false },
        { "another message", PHASE_DEPLOYING, CONDITION_FALSE, "Deploying", "2 of 9", ACTION_KIND_COUNT, "", false },
        { "something is read", PHASE_DEPLOYING, CONDITION_FALSE, "Deploying", "2 of 9", ACTION_READ_HEALTH, "", false },
        { "something is marked", PHASE_DEPLOYING, CONDITION_FALSE, "Deploying", "2 of 9", ACTION_MARK, "d", false },
        { "a release is taken over", PHASE_DEPLOYING, CONDITION_FALSE, "Deploying", "1 of 9", ACTION_MARK, "", true },
        { "a release is upgraded", PHASE_DEPLOYING, CONDITION_FALSE, "Deploying", "1 of 9", ACTION_UPGRADE, "", true },
        { "a lock is removed", PHASE_DEPLOYING, CONDITION_FALSE, "Deploying", "1 of 9", ACTION_REMOVE_LOCK, "", true },
        { "another phase", PHASE_FAILED, CONDITION_FALSE, "Deploying", "1 of 9", ACTION_KIND_COUNT, "", true },
        { "ready", PHASE_DEPLOYING, CONDITION_TRUE, "Deploying", "1 of 9", ACTION_KIND_COUNT, "", true },
        { "another reason", PHASE_DEPLOYING, CONDITION_FALSE, "NotReady", "1 of 9", ACTION_KIND_COUNT, "", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_status stored = { .phase = PHASE_DEPLOYING,
                                       .conditions = kube_conditions_new(arena, 1) };
        struct stack_status status = { .phase = rows[i].phase,
                                       .conditions = kube_conditions_new(arena, 1) };
        struct actions actions = actions_new(arena, 1);

        rows_expect("the first status is news", stack_status_is_news(&(struct stack_status){ .phase = PHASE_DEPLOYING },
                    &status, &actions), "it is not");
        kube_conditions_push(&stored.conditions, (struct kube_condition){
            .type = STR("Ready"), .status = CONDITION_FALSE, .reason = STR("Deploying"), .message = STR("1 of 9") });
        kube_conditions_push(&status.conditions, (struct kube_condition){
            .type = STR("Ready"), .status = rows[i].ready, .reason = str_of(rows[i].reason),
            .message = str_of(rows[i].message) });
        if (rows[i].action != ACTION_KIND_COUNT)
            actions_push(&actions, (struct action){ .kind = rows[i].action, .digest = str_of(rows[i].digest) });
        rows_expect_int(rows[i].row, stack_status_is_news(&stored, &status, &actions), rows[i].news);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_and_holds),
        cmocka_unit_test(goes_in_order),
        cmocka_unit_test(says_what_it_waits_for),
        cmocka_unit_test(minds_drift),
        cmocka_unit_test(drift_is_told_by_what_says_settled),
        cmocka_unit_test(says_why_other_clusters_wait),
        cmocka_unit_test(corrects_what_stays_corrected),
        cmocka_unit_test(adopts_what_it_is_told_to),
        cmocka_unit_test(removes_in_reverse),
        cmocka_unit_test(tells_what_is_news),
    };

    return cmocka_run_group_tests_name("shared/stack/plan/plan", tests, NULL, NULL);
}
