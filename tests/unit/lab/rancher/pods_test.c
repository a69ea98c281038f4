/* SPDX-License-Identifier: Apache-2.0 */
/* pods_test.c: one step of what makes pods, for each world that it may find, and of a pod. */
#include "support/rows.h"

#include "lab/rancher/jsonf.h"
#include "lab/rancher/pods.h"

#define NOW STR("2026-01-02T03:04:05Z")

static struct value *parse(struct arena *arena, struct str text)
{
    struct value *value = NULL;
    struct error err = { 0 };

    rows_expect_int(str_z(arena, text), value_read(arena, text, &json_limits_default, &value, &err),
                    0);
    return value;
}

/* Pods, in the order of their ordinals: N n of the template as it is, O o of an older one; a capital is ready. S has
 * succeeded, '.' is absent. */
static const struct {
    const char *name;
    enum pods_maker maker;
    const char *spec, *pods;
    const char *
        want; /* made, removed, and of the status: replicas/updated/ready of pods, active/ready/succeeded of a Job */
} rows[] = {
    { "a Deployment gets all pods at once", PODS_DEPLOYMENT, "'replicas':2", "",
      "+ + 0/0/0 Available=False ReplicaSetUpdated" },
    { "it is done when all are ready", PODS_DEPLOYMENT, "'replicas':2", "NN",
      "2/2/2 Available=True NewReplicaSetAvailable" },
    { "one that starts is no reason for another", PODS_DEPLOYMENT, "'replicas':2", "Nn",
      "2/2/1 Available=False ReplicaSetUpdated" },
    { "one replica is wanted if none are named", PODS_DEPLOYMENT, "'paused':false", "",
      "+ 0/0/0 Available=False ReplicaSetUpdated" },
    { "none can be wanted", PODS_DEPLOYMENT, "'replicas':0", "N",
      "-p-0 1/1/1 Available=True ReplicaSetUpdated" },
    { "of too many, those that start go first", PODS_DEPLOYMENT, "'replicas':1", "NnN",
      "-p-1 -p-0 3/3/2 Available=True ReplicaSetUpdated" },
    { "old pods stay until new ones are ready", PODS_DEPLOYMENT, "'replicas':2", "OOnn",
      "4/2/2 Available=True ReplicaSetUpdated" },
    { "and go as these become ready", PODS_DEPLOYMENT, "'replicas':2", "OONn",
      "-p-0 4/2/3 Available=True ReplicaSetUpdated" },
    { "an old one that never became ready goes first", PODS_DEPLOYMENT, "'replicas':2", "OoNn",
      "-p-1 4/2/2 Available=True ReplicaSetUpdated" },
    { "fewer replicas are fewer old pods, too", PODS_DEPLOYMENT, "'replicas':1", "OOn",
      "-p-0 3/1/2 Available=True ReplicaSetUpdated" },

    { "a StatefulSet gets one pod after the other", PODS_STATEFUL_SET, "'replicas':3", "",
      "+p-0 0/0/0" },
    { "the next when the last is ready", PODS_STATEFUL_SET, "'replicas':3", "Nn", "2/2/1" },
    { "and then it comes", PODS_STATEFUL_SET, "'replicas':3", "NN", "+p-2 2/2/2" },
    { "all at once if it says so", PODS_STATEFUL_SET,
      "'replicas':3,'podManagementPolicy':'Parallel'", "n", "+p-1 +p-2 1/1/0" },
    { "a hole is filled with the ordinal that is missing", PODS_STATEFUL_SET, "'replicas':3", "N.N",
      "+p-1 2/2/2" },
    { "ordinals that are too high go", PODS_STATEFUL_SET, "'replicas':1", "NNN",
      "-p-1 -p-2 3/3/3" },
    { "the highest old one is replaced first", PODS_STATEFUL_SET, "'replicas':3", "OOO",
      "-p-2 3/0/3" },
    { "the next not before that is ready", PODS_STATEFUL_SET, "'replicas':3", "OOn", "3/1/2" },
    { "nor if pods come all at once", PODS_STATEFUL_SET,
      "'replicas':3,'podManagementPolicy':'Parallel'", "OOn", "3/1/2" },
    { "then the next", PODS_STATEFUL_SET, "'replicas':3", "OON", "-p-1 3/1/3" },
    { "an old one that is not ready does not wait", PODS_STATEFUL_SET,
      "'replicas':2,'podManagementPolicy':'Parallel'", "Oo", "-p-1 2/0/1" },

    { "a Job gets one pod", PODS_JOB, "'backoffLimit':6", "", "+ 0/0/0" },
    { "as many at a time as it allows", PODS_JOB, "'completions':3,'parallelism':2", "N",
      "+ 1/1/0" },
    { "and no more than are left", PODS_JOB, "'completions':3,'parallelism':2", "SSN", "1/1/2" },
    { "it is complete with the last", PODS_JOB, "'completions':2", "SS", "0/0/2 complete" },
};

static const char *const labels[] = { "pod-template-hash", "controller-revision-hash",
                                      "batch.kubernetes.io/job-name" };

/* That of new pods, as the step itself labels them. */
static struct str revision_of(struct arena *arena, const struct pods_seen *seen)
{
    struct value *object = value_clone(arena, seen->object);
    struct pods_seen one = {
        .maker = seen->maker, .object = object, .pods = value_array(arena), .now = NOW
    };
    struct pods_step step;

    value_remove(value_get(object, STR("spec")), STR("replicas"));
    step = pods_next(arena, &one);
    rows_expect("a pod is made", step.creates.count > 0, "a step that makes one");
    return value_text(value_walk(parse(arena, step.creates.items[0]), "metadata", "labels",
                                 labels[seen->maker], NULL));
}

static struct value *pods_of(struct arena *arena, const struct pods_seen *seen, const char *letters)
{
    struct value *pods = value_array(arena);
    struct str revision = revision_of(arena, seen);

    for (int i = 0; letters[i]; i++) {
        bool ready = letters[i] == 'N' || letters[i] == 'O',
             old = letters[i] == 'O' || letters[i] == 'o';
        const char *phase = letters[i] == 'S' ? "Succeeded" : ready ? "Running" : "Pending";

        if (letters[i] != '.')
            value_append(
                pods,
                parse(arena,
                      jsonf(arena,
                            "{'metadata':{'name':%s,'labels':{%s:%s}},"
                            "'status':{'phase':%s,'conditions':[{'type':'Ready','status':%s}]}}",
                            str_fmt(arena, "p-%d", i), str_of(labels[seen->maker]),
                            old ? STR("older") : revision, str_of(phase),
                            ready ? STR("True") : STR("False"))));
    }
    return pods;
}

static int64_t number(const struct value *status, const char *key)
{
    int64_t n = -1;

    value_int64(value_walk(status, "status", key, NULL), &n);
    return n;
}

static struct str told(struct arena *arena, enum pods_maker maker, const struct pods_step *step)
{
    struct strbuf out = strbuf_new(arena, 128);
    struct value *status = parse(arena, step->status);
    struct value *conditions = value_walk(status, "status", "conditions", NULL);

    for (uint32_t i = 0; i < step->creates.count; i++)
        strbuf_fmt(&out, "+%.*s ",
                   STR_ARG(value_text(value_walk(parse(arena, step->creates.items[i]), "metadata",
                                                 "name", NULL))));
    for (uint32_t i = 0; i < step->removes.count; i++)
        strbuf_fmt(&out, "-%.*s ", STR_ARG(step->removes.items[i]));
    strbuf_fmt(&out, "%d/%d/%d", (int)number(status, maker == PODS_JOB ? "active" : "replicas"),
               (int)number(status, maker == PODS_JOB ? "ready" : "updatedReplicas"),
               (int)number(status, maker == PODS_JOB ? "succeeded" : "readyReplicas"));
    if (maker == PODS_DEPLOYMENT)
        strbuf_fmt(&out, " Available=%.*s %.*s",
                   STR_ARG(value_text(value_get(value_at(conditions, 0), STR("status")))),
                   STR_ARG(value_text(value_get(value_at(conditions, 1), STR("reason")))));
    if (maker == PODS_JOB && value_walk(status, "status", "completionTime", NULL))
        strbuf_fmt(&out, " complete");
    return strbuf_str(&out);
}

static struct value *object_of(struct arena *arena, const char *spec)
{
    struct str inner = jsonf(arena, spec);

    return parse(arena, jsonf(arena,
                              "{'metadata':{'name':'p','namespace':'n','uid':'u','generation':7},'"
                              "spec':{%r,'template':{"
                              "'metadata':{'labels':{'app':'p'}},'spec':{'containers':[{'name':'c',"
                              "'image':'i:1'}]}}}}",
                              inner));
}

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct pods_seen seen = { rows[i].maker, object_of(arena, rows[i].spec), NULL,
                                  STR("node-1"), NOW };
        struct pods_step step;

        seen.pods = pods_of(arena, &seen, rows[i].pods);
        step = pods_next(arena, &seen);
        rows_expect_str(rows[i].name, told(arena, rows[i].maker, &step), str_of(rows[i].want));
        rows_expect_int(
            rows[i].name,
            rows[i].maker == PODS_JOB ? 7 : number(parse(arena, step.status), "observedGeneration"),
            7);
    }
}

static void test_bound(void **state)
{
    (void)state;
    for (enum pods_maker maker = PODS_DEPLOYMENT; maker <= PODS_JOB; maker++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct pods_seen seen = {
            maker,
            object_of(arena, "'replicas':1000000,'completions':1000000,'parallelism':1000000,"
                             "'podManagementPolicy':'Parallel'"),
            value_array(arena), STR(""), NOW
        };

        rows_expect_int("a million replicas are as many pods as a node takes",
                        pods_next(arena, &seen).creates.count, PODS_MAX);
    }
}

/* The times of conditions are those of the change, so that a status which says the same is the same. */
static void test_times(void **state)
{
    (void)state;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct pods_seen seen = { PODS_DEPLOYMENT, object_of(arena, "'replicas':1"), NULL, STR(""),
                              NOW };
    struct value *object = value_clone(arena, seen.object);
    struct str first;

    seen.pods = pods_of(arena, &seen, "N");
    first = pods_next(arena, &seen).status;
    value_set(arena, object, STR("status"),
              value_clone(arena, value_get(parse(arena, first), STR("status"))));
    seen.object = object;
    seen.now = STR("2027-01-01T00:00:00Z");
    rows_expect_str("a later look writes the same", pods_next(arena, &seen).status, first);
}

static void test_complete(void **state)
{
    (void)state;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct pods_seen seen = { PODS_JOB, object_of(arena, "'completions':1"), NULL, STR(""), NOW };
    struct value *object = value_clone(arena, seen.object);
    struct pods_step step;

    seen.pods = pods_of(arena, &seen, "S");
    value_set(
        arena, object, STR("status"),
        value_clone(arena, value_get(parse(arena, pods_next(arena, &seen).status), STR("status"))));
    seen.object = object;
    seen.pods = value_array(arena);
    step = pods_next(arena, &seen);
    rows_expect_int("a complete Job makes no more pods when they are deleted", step.creates.count,
                    0);
    rows_expect_str("and its status stays", step.status, STR(""));
}

static void test_owners(void **state)
{
    static const struct {
        const char *name, *references;
        bool controls;
    } owners[] = {
        { "the controller", "{'uid':'u','controller':true}", true },
        { "another object of that name", "{'uid':'v','controller':true}", false },
        { "an owner that is not the controller", "{'uid':'u'}", false },
        { "the controller behind another owner", "{'uid':'v'},{'uid':'u','controller':true}",
          true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str references = jsonf(arena, owners[i].references);

        rows_expect_int(
            owners[i].name,
            pods_controls(
                object_of(arena, "'replicas':1"),
                parse(arena, jsonf(arena, "{'metadata':{'ownerReferences':[%r]}}", references))),
            owners[i].controls);
    }
}

static const struct {
    const char *name, *image, *policy, *phase;
    const char *want; /* phase and the first container's state; "" = it stays */
} runs[] = {
    { "a pod starts", "registry/a:v1", "Always", "Pending", "Running running" },
    { "and runs on", "registry/a:v1", "Always", "Running", "" },
    { "without a policy, too", "registry/a:v1", "", "Running", "" },
    { "a Job's ends", "registry/a:v1", "Never", "Running", "Succeeded terminated" },
    { "once", "registry/a:v1", "OnFailure", "Succeeded", "" },
    { "the tag missing cannot be pulled", "registry/a:missing", "Always", "Pending",
      "Pending waiting" },
    { "nor can the image", "registry:5000/x/missing:v1", "Always", "Pending", "Pending waiting" },
    { "nor can it without a tag", "missing", "Always", "Pending", "Pending waiting" },
    { "nor can it with a digest", "x/missing@sha256:00", "Always", "Pending", "Pending waiting" },
    { "a folder of that name can", "missing/a:v1", "Always", "Pending", "Running running" },
    { "so can a longer name", "x/missing-parts:v1", "Always", "Pending", "Running running" },
};

static void test_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *pod = parse(arena, jsonf(arena,
                                               "{'spec':{'restartPolicy':%s,'containers':[{'name':'"
                                               "c','image':%s}]},'status':{'phase':%s}}",
                                               str_of(runs[i].policy), str_of(runs[i].image),
                                               str_of(runs[i].phase)));
        struct value *found = value_array(arena);
        struct str patch = pods_run(arena, pod, found, NOW), got = STR("");
        struct value *after = patch.len ? value_get(parse(arena, patch), STR("status")) : NULL;
        struct value *states =
            value_get(value_at(value_get(after, STR("containerStatuses")), 0), STR("state"));

        if (after)
            got = str_fmt(arena, "%.*s %.*s", STR_ARG(value_text(value_get(after, STR("phase")))),
                          STR_ARG(value_key(value_first(states))));
        rows_expect_str(runs[i].name, got, str_of(runs[i].want));
        if (!after)
            continue;
        value_set(arena, pod, STR("status"), after);
        if (str_eq(str_of(runs[i].want), STR("Pending waiting")))
            rows_expect_str("what waits is told once",
                            pods_run(arena, pod, found, STR("2027-01-01T00:00:00Z")), STR(""));
    }
}

#define SECRET(keys) "{'kind':'Secret','metadata':{'name':'s'},'data':{" keys "}}"
#define KEY_REF "'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}}]"
static const struct {
    const char *name, *container, *volumes, *found;
    const char *want; /* the container's reason and message, or that it runs; "" = the pod stays as it is */
} waits[] = {
    { "a variable of a Secret that is missing", KEY_REF, "", "", "CreateContainerConfigError secret \"s\" not found" },
    { "a ConfigMap of that name is another object", KEY_REF, "", "{'kind':'ConfigMap','metadata':{'name':'s'}}",
      "CreateContainerConfigError secret \"s\" not found" },
    { "one that lacks the key", KEY_REF, "", SECRET("'l':''"),
      "CreateContainerConfigError couldn't find key k in Secret n/s" },
    { "it is there", KEY_REF, "", SECRET("'k':''"), "running" },
    { "it is optional", "'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'k','optional':true}}}]", "", "",
      "running" },
    { "all variables of a ConfigMap", "'envFrom':[{'configMapRef':{'name':'c'}}]", "", "",
      "CreateContainerConfigError configmap \"c\" not found" },
    { "one that is optional", "'envFrom':[{'configMapRef':{'name':'c','optional':true}}]", "", "", "running" },
    { "a volume cannot be mounted, which the status does not tell", "'name':'c'",
      "{'name':'v','secret':{'secretName':'s'}}", "", "" },
    { "it can", "'name':'c'", "{'name':'v','secret':{'secretName':'s'}}", SECRET(""), "running" },
    { "other volumes need nothing", "'name':'c'", "{'name':'v','emptyDir':{}}", "", "running" },
};

static void test_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct value *pod = parse(
            arena, jsonf(arena, "{'metadata':{'namespace':'n'},'spec':{'containers':[{'image':'i',%r}],'volumes':[%r]},"
                                "'status':{'phase':'Pending'}}",
                         jsonf(arena, waits[i].container), *waits[i].volumes ? jsonf(arena, waits[i].volumes) : STR(" ")));
        struct value *found = parse(arena, jsonf(arena, "[%r]", *waits[i].found ? jsonf(arena, waits[i].found) : STR(" ")));
        struct str patch = pods_run(arena, pod, found, NOW), got = STR("");
        struct value *state_of =
            patch.len ? value_get(value_at(value_walk(parse(arena, patch), "status", "containerStatuses", NULL), 0), STR("state"))
                      : NULL;
        const struct value *waiting = value_get(state_of, STR("waiting"));

        if (waiting)
            got = str_fmt(arena, "%.*s %.*s", STR_ARG(value_text(value_get(waiting, STR("reason")))),
                          STR_ARG(value_text(value_get(waiting, STR("message")))));
        else if (state_of)
            got = value_key(value_first(state_of));
        rows_expect_str(waits[i].name, got, str_of(waits[i].want));
        if (!waiting)
            continue;
        value_set(arena, pod, STR("status"), value_get(parse(arena, patch), STR("status")));
        rows_expect_str("what waits is told once", pods_run(arena, pod, found, STR("2027-01-01T00:00:00Z")), STR(""));
        rows_expect_int("what it waits for is named",
                        pods_needs_of(arena, pod).secrets.count + pods_needs_of(arena, pod).config_maps.count, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),  cmocka_unit_test(test_bound),
        cmocka_unit_test(test_times),  cmocka_unit_test(test_complete),
        cmocka_unit_test(test_owners), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
