/* SPDX-License-Identifier: Apache-2.0 */
/* object_status_test.c: how far objects are, row by row; tests/oracle compares with kstatus itself. */
#include "support/rows.h"

#include "kube/object_status.h"

#include "support/stack_builder.h"

struct status_row {
    const char *row;
    const char *object; /* ' for " */
    enum object_state state;
    const char *message;
};

#define DEPLOYMENT "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'generation':2},"
#define AVAILABLE "{'type':'Available','status':'True'}"
#define ROLLED_OUT "{'type':'Progressing','status':'True','reason':'NewReplicaSetAvailable'}"
#define ALL_OF_2 "'observedGeneration':2,'replicas':2,'updatedReplicas':2,'availableReplicas':2,'readyReplicas':2"
#define STATEFUL_SET "{'apiVersion':'apps/v1','kind':'StatefulSet',"
#define DAEMON_SET "{'apiVersion':'apps/v1','kind':'DaemonSet',"

static void check(const struct status_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf text = strbuf_new(arena, 256);

        for (const char *at = rows[i].object; *at; at++)
            strbuf_put(&text, *at == '\'' ? STR("\"") : str_make(at, 1));

        struct object_status status = object_status_of(arena, test_json(arena, strbuf_str(&text)));

        rows_expect_str(rows[i].row, str_of(object_state_name(status.state)), str_of(object_state_name(rows[i].state)));
        rows_expect_str(rows[i].row, status.message, str_of(rows[i].message));
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

static void what_all_kinds_share(void **state)
{
    static const struct status_row rows[] = {
        { "a kind without rules and without a status", "{'apiVersion':'v1','kind':'ConfigMap'}", OBJECT_CURRENT, "" },
        { "nothing at all", "{}", OBJECT_CURRENT, "" },
        { "what is being deleted", DEPLOYMENT "'x':1}", OBJECT_IN_PROGRESS, "0 of 1 replica is created" },
        { "what is being deleted, whatever else",
          "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}",
          OBJECT_TERMINATING, "it is being deleted" },
        { "a spec that its controller has not seen", "{'metadata':{'generation':3},'status':{'observedGeneration':2}}",
          OBJECT_IN_PROGRESS, "generation 3 is not observed yet" },
        { "a controller that observes no generations", "{'metadata':{'generation':3},'status':{}}", OBJECT_CURRENT, "" },
        { "Reconciling", "{'status':{'conditions':[{'type':'Reconciling','status':'True','reason':'R','message':'m'}]}}",
          OBJECT_IN_PROGRESS, "m" },
        { "not Reconciling any more", "{'status':{'conditions':[{'type':'Reconciling','status':'False'}]}}", OBJECT_CURRENT, "" },
        { "Stalled, without a message", "{'status':{'conditions':[{'type':'Stalled','status':'True','reason':'R'}]}}",
          OBJECT_FAILED, "R" },
        { "Ready", "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}", OBJECT_CURRENT, "" },
        { "not Ready", "{'status':{'conditions':[{'type':'Ready','status':'False','message':'no'}]}}", OBJECT_IN_PROGRESS, "no" },
        { "a Deployment of somebody else's group", "{'apiVersion':'example.com/v1','kind':'Deployment'}", OBJECT_CURRENT, "" },
    };

    (void)state;
    CHECK(rows);
}

static void deployments(void **state)
{
    static const struct status_row rows[] = {
        { "all as wanted", DEPLOYMENT "'spec':{'replicas':2,'progressDeadlineSeconds':600},'status':{" ALL_OF_2
          ",'conditions':[" AVAILABLE "," ROLLED_OUT "]}}", OBJECT_CURRENT, "" },
        { "none wanted", DEPLOYMENT "'spec':{'replicas':0},'status':{'observedGeneration':2,'conditions':[" AVAILABLE "]}}",
          OBJECT_CURRENT, "" },
        { "one crashes", DEPLOYMENT "'spec':{'replicas':3},'status':{'observedGeneration':2,'replicas':3,'updatedReplicas':3,"
          "'availableReplicas':2,'readyReplicas':2}}", OBJECT_IN_PROGRESS, "2 of 3 replicas are available" },
        { "an update goes on", DEPLOYMENT "'spec':{'replicas':2},'status':{'observedGeneration':2,'replicas':2,'updatedReplicas':1}}",
          OBJECT_IN_PROGRESS, "1 of 2 replicas are updated" },
        { "old pods still end", DEPLOYMENT "'spec':{'replicas':2},'status':{'observedGeneration':2,'replicas':3,'updatedReplicas':2}}",
          OBJECT_IN_PROGRESS, "1 surplus replicas are terminating" },
        { "the deadline passed while one is missing",
          DEPLOYMENT "'spec':{'replicas':2},'status':{'observedGeneration':2,'replicas':2,'updatedReplicas':2,'availableReplicas':1,"
          "'conditions':[{'type':'Progressing','status':'False','reason':'ProgressDeadlineExceeded','message':'m'}]}}",
          OBJECT_FAILED, "1 of 2 replicas are available: the progress deadline is exceeded" },
        { "its ReplicaSet is not there yet", DEPLOYMENT "'spec':{'replicas':2,'progressDeadlineSeconds':600},'status':{" ALL_OF_2
          ",'conditions':[" AVAILABLE "]}}", OBJECT_IN_PROGRESS, "its new ReplicaSet is not available" },
        { "too few for too short a time", DEPLOYMENT "'spec':{'replicas':2},'status':{" ALL_OF_2 "}}", OBJECT_IN_PROGRESS,
          "it is not available" },
    };

    (void)state;
    CHECK(rows);
}

static void other_kinds(void **state)
{
    static const struct status_row rows[] = {
        { "a StatefulSet, all ready", STATEFUL_SET "'status':{'replicas':1,'readyReplicas':1,'currentReplicas':1,"
          "'currentRevision':'a','updateRevision':'a'}}", OBJECT_CURRENT, "" },
        { "one is missing", STATEFUL_SET "'spec':{'replicas':2},'status':{'replicas':2,'readyReplicas':1}}", OBJECT_IN_PROGRESS,
          "1 of 2 replicas are ready" },
        { "an update goes on", STATEFUL_SET "'spec':{'replicas':2},'status':{'replicas':2,'readyReplicas':2,'currentReplicas':1,"
          "'updatedReplicas':1,'currentRevision':'a','updateRevision':'b'}}", OBJECT_IN_PROGRESS, "1 of 2 replicas are updated" },
        { "a partition that is not reached", STATEFUL_SET "'spec':{'replicas':3,'updateStrategy':{'rollingUpdate':{'partition':1}}},"
          "'status':{'replicas':3,'readyReplicas':3,'updatedReplicas':1}}", OBJECT_IN_PROGRESS, "1 of 2 replicas are updated" },
        { "one that is", STATEFUL_SET "'spec':{'replicas':3,'updateStrategy':{'rollingUpdate':{'partition':2}}},"
          "'status':{'replicas':3,'readyReplicas':3,'updatedReplicas':1}}", OBJECT_CURRENT, "" },
        { "whose pods somebody deletes", STATEFUL_SET "'spec':{'updateStrategy':{'type':'OnDelete'}}}", OBJECT_CURRENT, "" },
        { "a DaemonSet that nobody saw", DAEMON_SET "'status':{}}", OBJECT_IN_PROGRESS, "its controller has not seen it" },
        { "one without nodes", DAEMON_SET "'status':{'observedGeneration':1,'desiredNumberScheduled':0}}", OBJECT_CURRENT, "" },
        { "one that is missing on a node", DAEMON_SET "'status':{'observedGeneration':1,'desiredNumberScheduled':2,"
          "'currentNumberScheduled':2,'updatedNumberScheduled':2,'numberAvailable':1}}", OBJECT_IN_PROGRESS,
          "1 of 2 replicas are available" },
        { "a Job that waits", "{'apiVersion':'batch/v1','kind':'Job'}", OBJECT_IN_PROGRESS, "it has not started" },
        { "one that runs", "{'apiVersion':'batch/v1','kind':'Job','status':{'startTime':'x'}}", OBJECT_CURRENT, "" },
        { "one that failed", "{'apiVersion':'batch/v1','kind':'Job','status':{'conditions':[{'type':'Failed','status':'True',"
          "'reason':'BackoffLimitExceeded'}]}}", OBJECT_FAILED, "BackoffLimitExceeded" },
        { "a claim without a volume", "{'apiVersion':'v1','kind':'PersistentVolumeClaim','status':{'phase':'Pending'}}",
          OBJECT_IN_PROGRESS, "it is not bound: phase Pending" },
        { "a load balancer without an IP", "{'apiVersion':'v1','kind':'Service','spec':{'type':'LoadBalancer'}}", OBJECT_IN_PROGRESS,
          "it has no cluster IP" },
    };

    (void)state;
    CHECK(rows);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_kinds_share),
        cmocka_unit_test(deployments),
        cmocka_unit_test(other_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
