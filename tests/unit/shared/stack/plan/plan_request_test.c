/* SPDX-License-Identifier: Apache-2.0 */
/* plan_request_test.c: requests under way, failures, retries, locks and rollouts, row by row. */
#include "support/rows.h"

#include "support/observed_builder.h"

#include "stack/model/limits.h"

struct request_row {
    const char *row;
    const char *charts, *members, *next_members;
    const char *words;
    const char *actions, *states;
    const char *says; /* part of the first release's message; NULL = anything */
};

static void check(const struct request_row *r)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, r->charts, r->members ? r->members : "");

    s.next_members = r->next_members ? r->next_members : s.members;
    scene_play(&s, r->words);
    rows_expect_str(r->row, scene_actions(&s), str_of(r->actions));
    rows_expect_str(r->row, scene_states(&s), str_of(r->states));
    if (r->says && str_find(s.plan.releases.items[0].message, str_of(r->says), 0) < 0)
        fail_msg("%s\n  says: %.*s\n  want: ... %s ...", r->row,
                 STR_ARG(s.plan.releases.items[0].message), r->says);
    for (uint32_t i = 0; i < s.plan.actions.count; i++)
        if (action_changes(s.plan.actions.items[i].kind)) {
            struct str who = str_fmt(arena, "%.*s@%.*s",
                                     STR_ARG(s.plan.actions.items[i].chart_name),
                                     STR_ARG(s.observed.clusters
                                                 .items[s.plan.actions.items[i].cluster].id));

            rows_expect(r->row, scene_state(&s, who.at)->requested_ms == s.observed.now_ms,
                        "a changing action stands in the status");
        }
}

#define CHECK_ALL(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                                  \
        check(&(rows)[i])

#define NEXT "\"overrides\":[{\"clusterIds\":[\"a\",\"b\",\"c\"],\"charts\":[{\"name\":\"db\","       \
             "\"values\":{\"inline\":{\"n\":2}}}]}]"

static void accounts_for_requests(void **state)
{
    static const struct request_row rows[] = {
        { "a request is not repeated while it may still take effect", "db", NULL, NULL,
          "cluster a; plan; +29s; plan", "", "db@a=Deploying/Installing", NULL },
        { "a lost request is repeated", "db", NULL, NULL, "cluster a; plan; +30s; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", NULL },
        { "but not before it would show: the watch was interrupted", "db", NULL, NULL,
          "cluster a; plan; +20s; cluster a resumed; plan; +29s; plan", "",
          "db@a=Deploying/Installing", NULL },
        { "then it is", "db", NULL, NULL,
          "cluster a; plan; +20s; cluster a resumed; plan; +30s; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", NULL },
        { "an end that would not show yet is no failure", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 succeeded; plan; +20s; cluster a resumed; +29s; plan", "",
          "db@a=Deploying/OperationEnded", "waiting to see the release change" },
        { "nor is a lock one that nobody holds", "db", NULL, NULL,
          "cluster a; app db@a pending 2; plan; +20s; cluster a resumed; +29s; plan", "",
          "db@a=Deploying/ReleasePending", "no operation of it is visible" },
        { "nor is a release gone", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; gone db@a; +20s; cluster a resumed; "
          "+29s; plan", "", "db@a=Uninstalling/Uninstalling", NULL },
        { "nor one at rest that is to be removed", "db", NULL, NULL,
          "cluster a; app db@a pending 2; delete; plan; +20s; cluster a resumed; +29s; plan", "",
          "db@a=Uninstalling/ReleasePending", "no operation of it is visible" },
        { "a running operation is followed, however long", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; pods db@a o1; +9m; plan", "",
          "db@a=Deploying/OperationRunning", "operation o1" },
        { "after a minute its pods are looked at", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; +59s; plan; +1s; plan", "read-pods:db@a",
          "db@a=Deploying/OperationRunning", NULL },
        { "not before", "db", NULL, NULL, "cluster a; plan; op db@a o1 running; +59s; plan", "",
          "db@a=Deploying/OperationRunning", NULL },
        { "and what they say is told while it runs", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; +60s; plan; "
          "pods db@a o1 pod db-0: ImagePullBackOff; plan", "", "db@a=Deploying/OperationRunning",
          "runs as operation o1: pod db-0: ImagePullBackOff" },
        { "and when it is stuck", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; pods db@a o1 pod db-0: no node; +40m; plan", "",
          "db@a=Deploying/OperationStuck", "pod db-0: no node" },
        { "an uninstall waits for no pods", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; uninstall db@a o1 running; +2m; plan",
          "", "db@a=Uninstalling/OperationRunning", NULL },
        { "what failed by its timeout has its pods looked at, too", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 Error: context deadline exceeded; plan",
          "read-pods:db@a", "db@a=Deploying/OperationFailed", "its pods are being read" },
        { "and the cause is told before Helm's words", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 Error: context deadline exceeded; plan; "
          "pods db@a o1 pod db-0: ImagePullBackOff; +1m; plan", "", "db@a=Failed/InstallFailed",
          "install failed: pod db-0: ImagePullBackOff; context deadline exceeded (1m)" },
        { "pods that are ready, or cannot be read, leave Helm's words alone", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 Error: context deadline exceeded; "
          "pods db@a o1; plan", "", "db@a=Failed/InstallFailed",
          "install failed: context deadline exceeded" },
        { "another failure has nothing to do with pods", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 Error: no such template; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no such template" },
        { "an operation beyond its bound is called stuck", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; +40m; plan", "read-pods:db@a",
          "db@a=Deploying/OperationStuck",
          "longer than its bound" },
        { "an operation that has not begun after a minute says why", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running its pod waits; +59s; plan; +1s; plan", "",
          "db@a=Deploying/OperationNotStarted", "operation o1 has not started: its pod waits; perhaps no node accepts it, or its image cannot be pulled: see the pod" },
        { "and is only followed before that", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running its pod waits; +59s; plan", "",
          "db@a=Deploying/OperationRunning", NULL },
        { "one that is stuck while the Stack goes says how to let go", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; delete; plan; +40m; plan", "",
          "db@a=Deploying/OperationStuck", "the release is removed when it ends: to end it now, "
          "delete its pod, or abandon the cluster with the annotation "
          "herd.suse.com/abandon-clusters: \"a\"" },
        { "one of somebody else that is stuck says so, too", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; stranger db@a o1 running; delete; plan; +56m; plan", "",
          "db@a=Waiting/OperationStuck", "operation o1, which the Stack did not request, has been "
          "running for longer than 50m; see the pod of that name in cattle-system; since" },
        { "and how to let go", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; stranger db@a o1 running; delete; plan; +56m; plan", "",
          "db@a=Waiting/OperationStuck", "abandon the cluster with the annotation "
          "herd.suse.com/abandon-clusters: \"a\"" },
        { "an uninstall has the time that it was given", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; uninstall db@a o1 running; +14m; plan",
          "", "db@a=Uninstalling/OperationRunning", NULL },
        { "an uninstall that fails says how to let go, once", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; uninstall db@a o1 failed; "
          "log db@a o1 no; plan; plan; plan", "", "db@a=Failed/UninstallFailed",
          "uninstall failed: no; Herd retries; to continue without it, abandon the cluster with the annotation herd.suse.com/abandon-clusters: \"a\"" },
        { "also of one that failed before the Stack went", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; cluster a untargeted; plan; confirm; +5m; plan; "
          "uninstall db@a o1 failed; log db@a o1 no; plan; delete; plan", "",
          "db@a=Failed/UninstallFailed", "to continue without it, abandon the cluster" },
        { "one that is stuck says why, too", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running its pod waits; +40m; plan", "",
          "db@a=Deploying/OperationStuck", "its pod waits; see the pod of that name" },
        { "another Stack that was faster is told at once", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; app db@a pending 1 other; plan", "",
          "db@a=Failed/ReleaseConflict", "belongs to Stack team/other" },
        { "and stays told while our request may still take effect", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1 other; plan; +10s; plan; +10m; plan", "",
          "db@a=Failed/ReleaseConflict", "belongs to Stack team/other" },
        { "when that release goes, our request is waited for first", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1 other; plan; gone db@a; +1s; plan", "",
          "db@a=Deploying/Upgrading", "the release in the way was removed" },
        { "and then it is asked for again", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1 other; plan; gone db@a; +31s; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", NULL },
        { "a first install that fails is told as one, also the second time", "db", NULL, NULL,
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; +1m; plan; "
          "app db@a failed 2; op db@a o2 failed; log db@a o2 no; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no" },
        { "an upgrade that fails is told as one", "db", NULL, NEXT,
          "cluster a; app db@a deployed 1; plan; change; plan; app db@a failed 2; "
          "op db@a o1 failed; log db@a o1 no; plan", "", "db@a=Failed/UpgradeFailed",
          "upgrade failed: no" },
        { "also when Helm stores no revision of it, time after time", "db", NULL, NEXT,
          "cluster a; app db@a deployed 1; plan; change; plan; op db@a o1 failed; log db@a o1 no; "
          "plan; +10m; plan; +1s; op db@a o2 failed; log db@a o2 no; plan; +20m; plan; +1s; "
          "op db@a o3 failed; log db@a o3 no; plan", "", "db@a=Failed/UpgradeFailed",
          "upgrade failed: no" },
        { "also when Helm stores some of them", "db", NULL, NEXT,
          "cluster a; app db@a deployed 1; plan; change; plan; op db@a o1 failed; log db@a o1 no; "
          "app db@a failed 2; plan; +10m; plan; +1s; op db@a o2 failed; log db@a o2 no; plan; "
          "+20m; plan; +1s; op db@a o3 failed; log db@a o3 no; plan", "",
          "db@a=Failed/UpgradeFailed", "upgrade failed: no" },
        { "a first install that fails three times is one all the time", "db", NULL, NULL,
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; +10m; plan; "
          "+1s; app db@a failed 2; op db@a o2 failed; log db@a o2 no; plan; +20m; plan; "
          "+1s; app db@a failed 3; op db@a o3 failed; log db@a o3 no; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no" },
        { "also when the spec changed in between", "db", NULL, NEXT,
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; +10m; plan; "
          "+1s; app db@a failed 2; op db@a o2 failed; log db@a o2 no; plan; change; plan; "
          "+1s; app db@a failed 3; op db@a o3 failed; log db@a o3 no; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no" },
        { "what went and comes again is installed", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; gone db@a; plan; +31s; plan; +1s; "
          "app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no" },
        { "deployed is deployed, also before the operation ends", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 running; app db@a deployed 1; plan; plan", "",
          "db@a=Deployed/Deployed", NULL },
        { "an operation that ended before the App shows it is waited for", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 succeeded; plan; +29s; plan", "",
          "db@a=Deploying/OperationEnded", NULL },
        { "and then the App shows it", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 succeeded; plan; app db@a deployed 1; plan", "",
          "db@a=Deployed/Deployed", NULL },
        { "or it counts as a failure", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 succeeded; plan; +31s; plan", "", "db@a=Failed/InstallFailed",
          "ended without effect" },
        { "the log of a failure is read before it is counted", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed exit code: 123; plan", "read-log:db@a",
          "db@a=Deploying/OperationFailed", NULL },
        { "then it waits before the next try", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 Error: no space; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no space" },
        { "a failure that is all exit code is told in the release's words", "db", NULL, NULL,
          "cluster a; plan; app db@a failed 1 says it broke; op db@a o1 failed; "
          "log db@a o1 exit code: 123; plan", "", "db@a=Failed/InstallFailed",
          "install failed: it broke" },
        { "and tries again", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no space; plan; +1m; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", "try 2 of version 1.2.3; the last one: "
          "install failed: no space" },
        { "a late view of an operation that failed does not undo its failure", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; op db@a o1 running; plan; "
          "op db@a o1 failed; plan", "", "db@a=Failed/InstallFailed", "install failed: no" },
        { "not before its time", "db", "\"retry\":{\"backoff\":\"1h\"}", NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; +30m; plan", "",
          "db@a=Failed/InstallFailed", NULL },
        { "an old failure is no news", "db", NULL, NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; +1m; plan; +1s; plan", "",
          "db@a=Deploying/Installing", NULL },
        { "after the limit it stays failed", "db", "\"retry\":{\"limit\":0}", NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; +24h; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no; no attempts are left (spec.retry.limit: 0); a change of "
          "charts, overrides, retry or onFailure in the spec, or of the annotation herd.suse.com/retry, starts over" },
        { "onFailure Stop stops at the first", "db", "\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; +24h; plan", "",
          "db@a=Failed/InstallFailed", "no attempts are left (spec.onFailure: Stop)" },
        { "and begins anew when the spec changes", "db", "\"onFailure\":\"Stop\"",
          "\"onFailure\":\"Stop\"," NEXT,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; +24h; plan; change; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", NULL },
        { "also when the change makes no other release", "db", "\"onFailure\":\"Stop\"",
          "\"onFailure\":\"Retry\"",
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; +24h; plan; "
          "change; plan", "upgrade:db@a", "db@a=Deploying/Upgrading", NULL },
        { "a failed App that nobody counted is one failure", "db", NULL, NULL,
          "cluster a; app db@a failed 1 says it broke; plan; plan", "", "db@a=Failed/InstallFailed",
          "it broke" },
        { "a change while an operation runs waits for it", "db", NULL, NEXT,
          "cluster a; plan; op db@a o1 running; change; plan", "", "db@a=Deploying/OperationRunning",
          NULL },
        { "and follows it", "db", NULL, NEXT,
          "cluster a; plan; op db@a o1 running; app db@a deployed 1; change; "
          "op db@a o1 succeeded; plan", "upgrade:db@a", "db@a=Deploying/Upgrading", NULL },
        { "a rejected request certainly did not happen", "db", NULL, NULL,
          "cluster a; plan; reject db@a again Forbidden; plan; +1m; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", NULL },
        { "a request that can never work is not repeated", "db", NULL, NULL,
          "cluster a; plan; reject db@a terminal TooLarge; plan; +24h; plan", "",
          "db@a=Failed/TooLarge", "rejected" },
        { "onFailure Stop stops at a rejection, too", "db", "\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; reject db@a again Forbidden; plan; +24h; plan", "",
          "db@a=Failed/Forbidden", "rejected; no attempts are left (spec.onFailure: Stop)" },
        { "rejections reach the limit of tries", "db", "\"retry\":{\"limit\":1}", NULL,
          "cluster a; plan; reject db@a again Forbidden; plan; +24h; plan; "
          "reject db@a again Forbidden; plan; +24h; plan", "", "db@a=Failed/Forbidden", "rejected" },
        { "and not before it", "db", "\"retry\":{\"limit\":1}", NULL,
          "cluster a; plan; reject db@a again Forbidden; plan; +24h; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", NULL },
        { "a change of the spec forgives rejections", "db", "\"onFailure\":\"Stop\"",
          "\"onFailure\":\"Retry\"",
          "cluster a; plan; reject db@a again Forbidden; plan; +24h; change; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", NULL },
        { "what Rancher is too busy for was not tried", "db", "\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; backoff a TooManyRequests; reject db@a transient TooManyRequests; plan",
          "", "db@a=Pending/TooManyRequests", "Rancher is busy" },
        { "however often, and is tried as soon as it may be", "db", "\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; backoff a TooManyRequests; reject db@a transient TooManyRequests; plan; "
          "backoff a; plan; reject db@a transient TooManyRequests; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", "installing version" },
        { "failures of before count as before", "db", "\"retry\":{\"limit\":1}", NULL,
          "cluster a; plan; reject db@a again Forbidden; plan; +24h; plan; backoff a TooManyRequests; "
          "reject db@a transient TooManyRequests; plan; backoff a; plan; "
          "reject db@a again Forbidden; plan; +24h; plan", "", "db@a=Failed/Forbidden",
          "no attempts are left (spec.retry.limit: 1)" },
        { "a removal that Rancher is too busy for waits, too", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; cluster a untargeted; plan; confirm; +5m; plan; "
          "backoff a RancherUnavailable; reject db@a transient RancherUnavailable; plan", "",
          "db@a=Pending/RancherUnavailable", "Rancher is busy" },
        { "nothing is asked for there, whoever met the rejection", "db", NULL, NULL,
          "cluster a; backoff a RancherUnavailable; version db@a not_synced; plan", "",
          "db@a=Pending/RancherUnavailable", "Rancher is busy" },
        { "nor is a repository, which is asked for again afterwards", "db", NULL, NULL,
          "cluster a; repo a absent; plan; backoff a RancherUnavailable; plan; backoff a; plan",
          "ensure-repo:db@a", "db@a=Waiting/RepoRequested", NULL },
        { "a revision of before runs on meanwhile", "db", NULL, NEXT,
          "cluster a; app db@a deployed 3; plan; change; backoff a TooManyRequests; plan", "",
          "db@a=Pending/TooManyRequests", "Rancher is busy; revision 3 of before is still running" },
        { "other clusters go on", "db", NULL, NULL,
          "cluster a; cluster b; backoff a TooManyRequests; plan", "upgrade:db@b",
          "db@a=Pending/TooManyRequests db@b=Deploying/Installing", NULL },
        { "an index that may be old is refreshed before a version is missing", "db", NULL, NULL,
          "cluster a; version db@a stale; plan", "refresh-repo:db@a", "db@a=Waiting/RepoRefreshing",
          "it is being downloaded again (ClusterRepo herd-repo)" },
        { "that is waited for", "db", NULL, NULL, "cluster a; version db@a refreshing; plan", "",
          "db@a=Waiting/RepoRefreshing", NULL },
        { "a ClusterRepo that somebody disabled is named", "db", NULL, NULL,
          "cluster a; repo a unusable; plan", "", "db@a=Failed/RepoUnusable", "no such host" },
        { "and does not trouble what is deployed", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; repo a unusable; plan", "", "db@a=Deployed/Deployed",
          NULL },
        { "a ClusterRepo that nothing uses goes after the release", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; leftover a herd-1; delete; plan",
          "uninstall:db@a", "db@a=Uninstalling/Uninstalling", NULL },
        { "and before the finalizer", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; uninstall db@a o1 succeeded; "
          "gone db@a; leftover a herd-1; plan", "remove-repo:@a", "", NULL },
        { "which goes when it is gone", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; uninstall db@a o1 succeeded; "
          "gone db@a; leftover a herd-1; plan; leftover a; plan", "remove-finalizer", "", NULL },
        { "one on a cluster that is abandoned is left there", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; abandon a; leftover a herd-1; delete; plan",
          "remove-finalizer", "", NULL },
        { "a cluster that is left is held until it is gone", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; cluster a untargeted; plan; "
          "uninstall db@a o1 succeeded; gone db@a; leftover a herd-1; plan; plan",
          "remove-repo:@a", "", NULL },
        { "a rejected repository is asked for again, later", "db", NULL, NULL,
          "cluster a; repo a absent; plan; reject db@a again Forbidden; plan; +1m; plan",
          "ensure-repo:db@a", "db@a=Waiting/RepoRequested", NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

static void frees_locks(void **state)
{
    static const struct request_row rows[] = {
        { "a pending release without operation is waited for", "db", NULL, NULL,
          "cluster a; app db@a pending 1; plan; +30s; plan", "", "db@a=Deploying/ReleasePending",
          NULL },
        { "a first install left pending is uninstalled", "db", NULL, NULL,
          "cluster a; app db@a pending 1; plan; +31s; plan", "uninstall:db@a",
          "db@a=Uninstalling/FreeingRelease", NULL },
        { "and installed", "db", NULL, NULL,
          "cluster a; app db@a pending 1; plan; +31s; plan; uninstall db@a o1 succeeded; gone db@a; "
          "plan", "upgrade:db@a", "db@a=Deploying/Installing", NULL },
        { "of a later one only the pending revision goes", "db", NULL, NULL,
          "cluster a; app db@a pending 3; plan; +31s; plan", "remove-lock:db@a",
          "db@a=Deploying/RemovingLock", "revision 3" },
        { "then it is upgraded", "db", NULL, NULL,
          "cluster a; app db@a pending 3; plan; +31s; plan; app db@a deployed 2 old; plan",
          "upgrade:db@a", "db@a=Deploying/Upgrading", NULL },
        { "a lock that does not go is removed again", "db", NULL, NULL,
          "cluster a; app db@a pending 3; plan; +31s; plan; +31s; plan; +31s; plan",
          "remove-lock:db@a", "db@a=Deploying/RemovingLock", NULL },
        { "a pending release with an operation is left alone", "db", NULL, NULL,
          "cluster a; app db@a pending 1; op db@a o1 running; plan; +5m; plan", "",
          "db@a=Deploying/OperationRunning", NULL },
        { "also with one of somebody else", "db", NULL, NULL,
          "cluster a; app db@a pending 1; stranger db@a o1 running; plan; +5m; plan", "",
          "db@a=Waiting/WaitingForOperation", NULL },
        { "one whose operation ended is no lock before its log is read", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1; op db@a o1 succeeded; plan; +31s; plan",
          "read-log:db@a", "db@a=Deploying/OperationEnded", "its log is read next" },
        { "and none if the log is there, so that it ended well: the App is late", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1; op db@a o1 succeeded; plan; +31s; plan; "
          "log db@a o1; plan; +9m; plan", "", "db@a=Deploying/OperationEnded",
          "Rancher is late to show that it succeeded" },
        { "which is over when the App shows it", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1; op db@a o1 succeeded; plan; +31s; plan; "
          "log db@a o1; plan; +9m; plan; app db@a deployed 1; plan", "", "db@a=Deployed/Deployed",
          NULL },
        { "a Stack that goes does not wait for it", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1; op db@a o1 succeeded; plan; +31s; plan; "
          "log db@a o1; plan; delete; plan; +31s; plan", "uninstall:db@a",
          "db@a=Uninstalling/Uninstalling", NULL },
        { "one that is paused asks for no log", "db", NULL, "\"paused\":true",
          "cluster a; plan; app db@a pending 1; op db@a o1 succeeded; plan; change; +31s; plan", "",
          "db@a=Deploying/OperationEnded", "its log is read next" },
        { "without a log its pod was taken away", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 1; op db@a o1 succeeded; plan; +31s; plan; "
          "log db@a o1 missing; plan", "", "db@a=Failed/InstallFailed", "ended without effect" },
        { "and the lock goes", "db", NULL, NEXT,
          "cluster a; app db@a deployed 1; plan; change; plan; app db@a pending 2; "
          "op db@a o1 succeeded; plan; +31s; plan; log db@a o1 missing; plan; +1m; plan",
          "remove-lock:db@a", "db@a=Deploying/RemovingLock", "revision 2" },
        { "a revision that somebody else left pending is not what it made", "db", NULL, NULL,
          "cluster a; plan; app db@a pending 2; op db@a o1 succeeded; plan; +31s; plan", "",
          "db@a=Failed/InstallFailed", "ended without effect" },
        { "somebody else's pending release is left alone", "db", NULL, NULL,
          "cluster a; app db@a pending 1 other; plan; +5m; plan", "", "db@a=Failed/ReleaseConflict",
          NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

/* Of two Stacks that name one release, or a Stack and somebody's own helm. */
static void tells_operations_of_others(void **state)
{
    static const struct request_row rows[] = {
        { "the failure of another's operation is none of ours", "db", "\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; stranger db@a o1 failed; log db@a o1 no; plan; +31s; plan",
          "upgrade:db@a", "db@a=Deploying/Installing", NULL },
        { "its end is not the end of ours", "db", NULL, NULL,
          "cluster a; plan; stranger db@a o1 succeeded; plan; +29s; plan", "",
          "db@a=Deploying/Installing", NULL },
        { "it is waited for, and called by its name", "db", NULL, NULL,
          "cluster a; plan; stranger db@a o1 running; plan; +54m; plan", "",
          "db@a=Deploying/WaitingForOperation", "operation o1 is running, which the Stack did not request" },
        { "while both run, ours is told", "db", NULL, NULL,
          "cluster a; plan; op db@a z running; +1s; stranger db@a o1 running; plan", "",
          "db@a=Deploying/OperationRunning", "operation z" },
        { "ours ends before theirs: its failure counts when nothing runs any more", "db", NULL, NULL,
          "cluster a; plan; op db@a z failed; log db@a z no; +1s; stranger db@a o1 running; plan; "
          "stranger db@a o1 succeeded; plan", "", "db@a=Failed/InstallFailed", "install failed: no" },
        { "a later one of another hides nothing", "db", NULL, NULL,
          "cluster a; plan; op db@a z failed; log db@a z no; +2s; stranger db@a o1 succeeded; plan",
          "", "db@a=Failed/InstallFailed", "install failed: no" },
        { "it shortens no wait between our tries", "db", NULL, NULL,
          "cluster a; plan; op db@a z failed; log db@a z no; plan; +1s; stranger db@a o1 running; plan; "
          "stranger db@a o1 failed; plan; +1s; plan", "", "db@a=Failed/InstallFailed",
          "install failed: no" },
        { "nor is what failed for good tried again after it", "db", "\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; op db@a z failed; log db@a z no; plan; +1h; stranger db@a o1 running; plan; "
          "stranger db@a o1 failed; plan; +1h; plan", "", "db@a=Failed/InstallFailed",
          "install failed: no; no attempts are left" },
        { "a change of the spec that comes meanwhile is heeded", "db", "\"onFailure\":\"Stop\"",
          "\"onFailure\":\"Retry\"",
          "cluster a; plan; op db@a z failed; log db@a z no; plan; +1h; stranger db@a o1 running; plan; "
          "change; plan; plan; stranger db@a o1 failed; plan", "upgrade:db@a",
          "db@a=Deploying/Installing", NULL },
        { "a removal does not take another's for its own", "db", NULL, NULL,
          "cluster a; app db@a deployed 1; plan; delete; plan; stranger db@a o1 failed; "
          "log db@a o1 no; plan; +31s; plan", "uninstall:db@a", "db@a=Uninstalling/Uninstalling",
          NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

/* Times of creation are whole seconds. */
static void tells_operations_of_one_second_apart(void **state)
{
    static const struct request_row rows[] = {
        { "a failure right after another operation of the release is seen", "db", NULL, NULL,
          "cluster a; uninstall db@a z succeeded; plan; op db@a a failed; log db@a a no; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no" },
        { "it counts once", "db", "\"onFailure\":\"Stop\"", NULL,
          "cluster a; uninstall db@a z succeeded; plan; op db@a a failed; log db@a a no; plan; plan", "",
          "db@a=Failed/InstallFailed", NULL },
        { "what ended well beside it says nothing", "db", NULL, NULL,
          "cluster a; plan; op db@a a failed; log db@a a no; op db@a b succeeded; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no" },
        { "a later one is news", "db", NULL, NULL,
          "cluster a; uninstall db@a z succeeded; plan; +1s; op db@a a failed; log db@a a no; plan", "",
          "db@a=Failed/InstallFailed", "install failed: no" },
    };

    CHECK_ALL(rows);
    (void)state;
}

#define WAVES "\"rollout\":{\"waves\":[{\"name\":\"one\",\"selector\":{\"matchLabels\":{\"id\":\"b\"}}," \
              "\"pause\":\"10m\"}]}"

/* Charts `api` and `web` stay as they are, `db` changes. */
#define CHANGES(more) more, more "," NEXT
#define FLEET                                                                                      \
    "cluster a; cluster b; cluster c; app db@a deployed 1; app web@a deployed 1; app db@b "        \
    "deployed 1; app web@b deployed 1; app db@c deployed 1; app web@c deployed 1; plan; change; "
#define ONE_BY_ONE "\"rollout\":{\"maxConcurrentClusters\":1}"
#define NO_FAILURE                                                                                 \
    "\"rollout\":{\"maxConcurrentClusters\":1,\"maxFailures\":0},\"onFailure\":\"Stop\""
#define NEXT_TWO                                                                                   \
    "\"overrides\":[{\"clusterIds\":[\"a\",\"b\",\"c\"],\"charts\":[{\"name\":\"db\","               \
    "\"values\":{\"inline\":{\"n\":2}}},{\"name\":\"web\",\"values\":{\"inline\":{\"n\":2}}}]}]"

static void rolls_out_changes(void **state)
{
    static const struct request_row rows[] = {
        { "a chart that stays as it is lets no cluster past its wave", "db web", CHANGES(WAVES),
          FLEET "plan", "upgrade:db@b",
          "db@a=Waiting/WaitingForWave db@b=Deploying/Upgrading db@c=Waiting/WaitingForWave "
          "web@a=Deployed/Deployed web@b=Deployed/Deployed web@c=Deployed/Deployed", NULL },
        { "nor past the pause of a wave", "db web", CHANGES(WAVES),
          FLEET "plan; app db@b deployed 2; plan; +9m; plan", "",
          "db@a=Waiting/WaitingForWave db@b=Deployed/Deployed db@c=Waiting/WaitingForWave "
          "web@a=Deployed/Deployed web@b=Deployed/Deployed web@c=Deployed/Deployed", NULL },
        { "nor past the number of clusters at a time", "db web", CHANGES(ONE_BY_ONE),
          FLEET "plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading db@b=Waiting/WaitingForRollout "
          "db@c=Waiting/WaitingForRollout web@a=Deployed/Deployed web@b=Deployed/Deployed "
          "web@c=Deployed/Deployed", NULL },
        { "nor past the failures that are allowed", "db web", CHANGES(NO_FAILURE),
          FLEET "plan; app db@a failed 2; op db@a o1 failed; log db@a o1 no; plan; plan", "",
          "db@a=Failed/UpgradeFailed db@b=Waiting/RolloutStopped db@c=Waiting/RolloutStopped "
          "web@a=Deployed/Deployed web@b=Deployed/Deployed web@c=Deployed/Deployed", NULL },
        { "a cluster that began with the change goes on between its charts", "db web<db",
          ONE_BY_ONE, ONE_BY_ONE "," NEXT_TWO, FLEET "plan; app db@a deployed 2; plan",
          "upgrade:web@a",
          "db@a=Deployed/Deployed db@b=Waiting/WaitingForRollout db@c=Waiting/WaitingForRollout "
          "web@a=Deploying/Upgrading web@b=Waiting/WaitingForRollout "
          "web@c=Waiting/WaitingForRollout", NULL },
        { "a cluster that is still busy with the former change holds its place", "db web",
          ONE_BY_ONE, ONE_BY_ONE "," NEXT,
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; app web@a deployed 1; "
          "plan; op web@b o1 running; change; plan", "upgrade:db@b",
          "db@a=Waiting/WaitingForRollout db@b=Deploying/Upgrading web@a=Deployed/Deployed "
          "web@b=Deploying/OperationRunning", NULL },
        { "failures of the former version do not stop the next", "db", NO_FAILURE,
          NO_FAILURE "," NEXT,
          "cluster a; cluster b; plan; op db@a o1 failed; log db@a o1 no; plan; plan; change; plan",
          "upgrade:db@a", "db@a=Deploying/Installing db@b=Waiting/WaitingForRollout", NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

static void rolls_out(void **state)
{
    static const struct request_row rows[] = {
        { "only so many clusters at a time", "db", "\"rollout\":{\"maxConcurrentClusters\":2}", NULL,
          "cluster a; cluster b; cluster c; plan", "upgrade:db@a upgrade:db@b",
          "db@a=Deploying/Installing db@b=Deploying/Installing db@c=Waiting/WaitingForRollout",
          NULL },
        { "the next when one is done", "db", "\"rollout\":{\"maxConcurrentClusters\":2}", NULL,
          "cluster a; cluster b; cluster c; plan; app db@b deployed 1; plan", "upgrade:db@c",
          "db@a=Deploying/Installing db@b=Deployed/Deployed db@c=Deploying/Installing", NULL },
        { "a failing cluster keeps its place while it is tried again", "db",
          "\"rollout\":{\"maxConcurrentClusters\":1}", NULL,
          "cluster a; cluster b; plan; op db@a o1 failed; log db@a o1 no; plan; plan", "",
          "db@a=Failed/InstallFailed db@b=Waiting/WaitingForRollout", NULL },
        { "one that failed for good does not", "db",
          "\"rollout\":{\"maxConcurrentClusters\":1},\"onFailure\":\"Stop\"", NULL,
          "cluster a; cluster b; plan; op db@a o1 failed; log db@a o1 no; plan; plan",
          "", "db@a=Failed/InstallFailed db@b=Deploying/Installing", NULL },
        { "too many failures stop what has not begun", "db",
          "\"rollout\":{\"maxConcurrentClusters\":1,\"maxFailures\":0},\"onFailure\":\"Stop\"", NULL,
          "cluster a; cluster b; plan; op db@a o1 failed; log db@a o1 no; plan; plan", "",
          "db@a=Failed/InstallFailed db@b=Waiting/RolloutStopped", NULL },
        { "also when one of them goes out of sight", "db",
          "\"rollout\":{\"maxFailures\":0,\"waves\":[]},\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; cluster a disconnected; plan; "
          "cluster b; plan", "", "db@a=Unknown/ClusterUnreachable db@b=Waiting/RolloutStopped", NULL },
        { "and comes back", "db",
          "\"rollout\":{\"maxFailures\":0,\"waves\":[]},\"onFailure\":\"Stop\"", NULL,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; cluster a disconnected; plan; "
          "cluster a read; cluster b; plan", "",
          "db@a=Failed/InstallFailed db@b=Waiting/RolloutStopped", NULL },
        { "until what failures belong to is changed", "db",
          "\"rollout\":{\"maxFailures\":0,\"waves\":[]},\"onFailure\":\"Stop\"",
          "\"rollout\":{\"maxFailures\":0,\"waves\":[]},\"onFailure\":\"Retry\"",
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; cluster a disconnected; plan; "
          "change; plan; cluster a read; cluster b; plan", "upgrade:db@a upgrade:db@b",
          "db@a=Deploying/Installing db@b=Deploying/Installing", NULL },
        { "the first wave goes first", "db", WAVES, NULL, "cluster a; cluster b; plan",
          "upgrade:db@b", "db@a=Waiting/WaitingForWave db@b=Deploying/Installing",
          "waiting for wave one" },
        { "the next waits for its pause", "db", WAVES, NULL,
          "cluster a; cluster b; plan; app db@b deployed 1; plan; +9m; plan", "",
          "db@a=Waiting/WaitingForWave db@b=Deployed/Deployed", "it pauses until" },
        { "and goes", "db", WAVES, NULL,
          "cluster a; cluster b; plan; app db@b deployed 1; plan; +10m; plan", "upgrade:db@a",
          "db@a=Deploying/Installing db@b=Deployed/Deployed", NULL },
        { "an unreachable cluster of a wave holds the next", "db", WAVES, NULL,
          "cluster a; cluster b disconnected; plan", "",
          "db@a=Waiting/WaitingForWave db@b=Unknown/ClusterUnreachable", NULL },
        { "a change goes through the waves, too", "db", WAVES, WAVES "," NEXT,
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; change; plan",
          "upgrade:db@b", "db@a=Waiting/WaitingForWave db@b=Deploying/Upgrading", NULL },
        { "a release that somebody changed does not hold the waves", "db", WAVES,
          WAVES ",\"overrides\":[{\"clusterIds\":[\"a\"],\"charts\":[{\"name\":\"db\","
          "\"values\":{\"inline\":{\"n\":2}}}]}]",
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; "
          "app db@b deployed 2 rolledback; plan; +10m; change; plan", "upgrade:db@a",
          "db@a=Deploying/Upgrading db@b=Deployed/Drifted", NULL },
    };

    CHECK_ALL(rows);
    (void)state;
}

/* Whoever hides a Secret's values in Helm's words knows the values that stand in it now. */
static void tells_nothing_of_secrets_that_changed(void **state)
{
    static const struct request_row rows[] = {
        { "with the Secret that was sent Helm's words are told", "db", NULL, NULL,
          "cluster a; values db ready keys=u/1; plan; op db@a o1 failed; log db@a o1 bad [secret]; "
          "plan", "", "db@a=Failed/InstallFailed", "install failed: bad [secret]" },
        { "with a later one they are not", "db", NULL, NULL,
          "cluster a; values db ready keys=u/1; plan; op db@a o1 failed; log db@a o1 bad hunter22; "
          "values db ready keys=u/2; plan", "", "db@a=Failed/InstallFailed",
          "install failed: Helm's message is not shown, because it may quote Secrets that have changed" },
        { "nor without one", "db", NULL, NULL,
          "cluster a; values db ready keys=u/1; plan; op db@a o1 failed; log db@a o1 bad hunter22; "
          "values db ready; plan", "", "db@a=Failed/InstallFailed", "is not shown" },
        { "nor what the release says of it", "db", NULL, NULL,
          "cluster a; values db ready keys=u/1; plan; app db@a failed 1 says bad hunter22; "
          "op db@a o1 failed; log db@a o1 exit code: 123; values db ready keys=u/2; plan", "",
          "db@a=Failed/InstallFailed", "is not shown" },
        { "nor while the Stack goes", "db", NULL, NULL,
          "cluster a; values db ready keys=u/1; plan; app db@a deployed 1; plan; delete; plan; "
          "uninstall db@a o2 failed; log db@a o2 bad hunter22; plan", "",
          "db@a=Failed/UninstallFailed", "is not shown" },
        { "without Secrets a changed spec hides nothing", "db", NULL, NEXT,
          "cluster a; plan; change; op db@a o1 failed; log db@a o1 no space; plan", "",
          "db@a=Failed/InstallFailed", "no space" },
    };

    CHECK_ALL(rows);
    (void)state;
}

static void asks_for_no_more_than_rancher_takes(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db web", "");
    struct strbuf big = strbuf_new(arena, LIMIT_ACTION_BODY);

    (void)state;
    strbuf_lit(&big, "{\"a\":\"");
    while (big.len < LIMIT_ACTION_BODY)
        strbuf_lit(&big, "0123456789");
    strbuf_lit(&big, "\"}");
    scene_reference(&s, false, STR("db"))->text = strbuf_str(&big);
    scene_play(&s, "cluster a; plan");
    rows_expect_str("the other chart goes on", scene_actions(&s), STR("upgrade:web@a"));
    rows_expect_str("it waits for smaller values", scene_states(&s),
                    STR("db@a=Waiting/ValuesTooLarge web@a=Deploying/Installing"));
    rows_expect("the bound is told", str_find(scene_state(&s, "db@a")->message,
                                              STR("no more than 997952"), 0) >= 0,
                scene_state(&s, "db@a")->message.at);
}

/* Whoever deletes the pod of an operation that goes well only breaks the release. */
static void only_a_stuck_operation_is_to_be_ended(void **state)
{
    static const struct {
        const char *row, *words;
        bool told;
    } rows[] = {
        { "not while it runs", "op db@a o1 running; delete; plan", false },
        { "not while its pod waits", "op db@a o1 running its pod waits; +1m; delete; plan", false },
        { "not that of somebody else", "stranger db@a o1 running; delete; plan", false },
        { "not an uninstall", "uninstall db@a o1 running; delete; plan", false },
        { "one that is stuck", "op db@a o1 running; delete; plan; +40m; plan", true },
        { "one of somebody else that is stuck", "stranger db@a o1 running; delete; plan; +56m; plan",
          true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, "db", "");

        scene_play(&s, str_fmt(arena, "cluster a; plan; %s", rows[i].words).at);
        rows_expect_int(rows[i].row,
                        str_find(scene_state(&s, "db@a")->message, STR("delete its pod"), 0) >= 0,
                        rows[i].told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_stuck_operation_is_to_be_ended),
        cmocka_unit_test(accounts_for_requests),
        cmocka_unit_test(frees_locks),
        cmocka_unit_test(rolls_out),
        cmocka_unit_test(tells_operations_of_others),
        cmocka_unit_test(tells_operations_of_one_second_apart),
        cmocka_unit_test(rolls_out_changes),
        cmocka_unit_test(tells_nothing_of_secrets_that_changed),
        cmocka_unit_test(asks_for_no_more_than_rancher_takes),
    };

    return cmocka_run_group_tests_name("shared/stack/plan/plan_request", tests, NULL, NULL);
}
