/* SPDX-License-Identifier: Apache-2.0 */
/* pods.c: the step of each maker of pods, its status, and the three stages of a pod. */
#include "lab/rancher/pods.h"

#include "lab/rancher/jsonf.h"
#include "lab/rancher/workload.h"
#include "text/digest.h"

enum { REVISION_LEN = 10 };

static const struct maker {
    struct str api_version, kind;
    const char *revision; /* the label that tells pods of one template from those of another */
} makers[] = {
    [PODS_DEPLOYMENT] = { STR_INIT("apps/v1"), STR_INIT("Deployment"), "pod-template-hash" },
    [PODS_STATEFUL_SET] = { STR_INIT("apps/v1"), STR_INIT("StatefulSet"),
                            "controller-revision-hash" },
    [PODS_JOB] = { STR_INIT("batch/v1"), STR_INIT("Job"), "batch.kubernetes.io/job-name" },
};

struct work {
    struct arena *arena;
    const struct pods_seen *seen;
    struct str name, revision;
    int64_t replicas, ready, updated, updated_ready; /* pods there are */
    struct pods_step step;
};

/* ---- reading --------------------------------------------------------------------------------- */

static struct str meta(const struct value *object, const char *key)
{
    return value_text(value_walk(object, "metadata", key, NULL));
}

static int64_t wanted(const struct value *object, const char *key)
{
    int64_t number = 1;

    value_int64(value_walk(object, "spec", key, NULL), &number);
    return number;
}

static const struct value *condition_of(const struct value *object, struct str type)
{
    struct value *m = value_first(value_walk(object, "status", "conditions", NULL));

    while (m && !str_eq(value_text(value_get(m, STR("type"))), type))
        m = value_next(m);
    return m;
}

static struct str phase_of(const struct value *pod)
{
    return value_text(value_walk(pod, "status", "phase", NULL));
}

static bool is_ready(const struct value *pod)
{
    const struct value *ready = condition_of(pod, STR("Ready"));

    return str_eq(value_text(value_get(ready, STR("status"))), STR("True"));
}

static bool is_updated(const struct work *w, const struct value *pod)
{
    const char *label = makers[w->seen->maker].revision;

    return str_eq(value_text(value_walk(pod, "metadata", "labels", label, NULL)), w->revision);
}

static const struct value *pod_named(const struct work *w, struct str name)
{
    struct value *pod = value_first(w->seen->pods);

    while (pod && !str_eq(meta(pod, "name"), name))
        pod = value_next(pod);
    return pod;
}

bool pods_controls(const struct value *object, const struct value *pod)
{
    struct value *m = value_first(value_walk(pod, "metadata", "ownerReferences", NULL));

    while (m && !value_is_true(value_get(m, STR("controller"))))
        m = value_next(m);
    return m && str_eq(value_text(value_get(m, STR("uid"))), meta(object, "uid"));
}

/* ---- a pod ----------------------------------------------------------------------------------- */

enum stage { STARTING, RUNNING, ENDED };

static bool is_missing(struct str image)
{
    struct str name = STR(""), part;

    while (str_split(&image, '/', &part))
        name = part;
    str_split(&name, '@', &part);
    name = part;
    while (str_split(&name, ':', &part))
        if (str_eq(part, STR("missing")))
            return true;
    return false;
}

/* ---- what it needs --------------------------------------------------------------------------- */

/* The words of k8s.io/api core/v1, and those of the kubelet (pkg/kubelet/kubelet_pods.go). */
static const struct need_row {
    struct str kind, word;
    const char *key_ref, *env_ref, *volume, *volume_name;
} needs[] = {
    { STR_INIT("Secret"), STR_INIT("secret"), "secretKeyRef", "secretRef", "secret", "secretName" },
    { STR_INIT("ConfigMap"), STR_INIT("configmap"), "configMapKeyRef", "configMapRef", "configMap",
      "name" },
};

static const struct value *found_named(const struct value *found, const struct need_row *row,
                                       struct str name)
{
    struct value *m = value_first(found);

    while (m && !(str_eq(value_text(value_get(m, STR("kind"))), row->kind) &&
                  str_eq(meta(m, "name"), name)))
        m = value_next(m);
    return m;
}

struct search {
    struct arena *arena;
    const struct value *found; /* NULL: they are listed */
    struct pods_needs list;
    struct str namespace_, missing; /* the first, as the kubelet says it */
};

/* `key` "" = all of them. */
static void need(struct search *s, const struct need_row *row, const struct value *reference,
                 const char *name_key, struct str key)
{
    struct str name = value_text(value_get(reference, str_of(name_key)));
    const struct value *object;

    if (!reference || !name.len || value_is_true(value_get(reference, STR("optional"))))
        return;
    if (!s->found) {
        str_list_push(row == needs ? &s->list.secrets : &s->list.config_maps, name);
        return;
    }
    object = found_named(s->found, row, name);
    if (s->missing.len)
        return;
    if (!object)
        s->missing =
            str_fmt(s->arena, "%.*s \"%.*s\" not found", STR_ARG(row->word), STR_ARG(name));
    else if (key.len && !value_get(value_get(object, STR("data")), key))
        s->missing = str_fmt(s->arena, "couldn't find key %.*s in %.*s %.*s/%.*s", STR_ARG(key),
                             STR_ARG(row->kind), STR_ARG(s->namespace_), STR_ARG(name));
}

enum { NEEDS = sizeof(needs) / sizeof(needs[0]) };

static void search_container(struct search *s, const struct value *container)
{
    for (struct value *m = value_first(value_get(container, STR("envFrom"))); m; m = value_next(m))
        for (int i = 0; i < NEEDS; i++)
            need(s, &needs[i], value_get(m, str_of(needs[i].env_ref)), "name", STR(""));
    for (struct value *m = value_first(value_get(container, STR("env"))); m; m = value_next(m))
        for (int i = 0; i < NEEDS; i++) {
            const struct value *reference = value_walk(m, "valueFrom", needs[i].key_ref, NULL);

            need(s, &needs[i], reference, "name", value_text(value_get(reference, STR("key"))));
        }
}

static void search_volumes(struct search *s, const struct value *spec)
{
    for (struct value *m = value_first(value_get(spec, STR("volumes"))); m; m = value_next(m))
        for (int i = 0; i < NEEDS; i++)
            need(s, &needs[i], value_get(m, str_of(needs[i].volume)), needs[i].volume_name,
                 STR(""));
}

struct pods_needs pods_needs_of(struct arena *arena, const struct value *pod)
{
    const struct value *spec = value_get(pod, STR("spec"));
    struct search s = { .arena = arena,
                        .list = { str_list_new(arena, 2), str_list_new(arena, 2) } };

    search_volumes(&s, spec);
    for (struct value *m = value_first(value_get(spec, STR("containers"))); m; m = value_next(m))
        search_container(&s, m);
    return s.list;
}

/* ---- its status ------------------------------------------------------------------------------ */

/* A pod that is run. */
struct run {
    struct arena *arena;
    const struct value *spec, *found;
    struct str namespace_, now;
    enum stage stage;
};

struct wait {
    struct str reason, message; /* "" = it does not wait */
};

/* The image is pulled first. */
static struct wait wait_of(const struct run *run, const struct value *container)
{
    struct str image = value_text(value_get(container, STR("image")));
    struct search s = { .arena = run->arena, .found = run->found, .namespace_ = run->namespace_ };

    if (run->stage == STARTING)
        return (struct wait){ STR("ContainerCreating"), STR("") };
    if (is_missing(image))
        return (
            struct wait){ STR("ImagePullBackOff"),
                          str_fmt(run->arena, "Back-off pulling image \"%.*s\"", STR_ARG(image)) };
    if (run->stage == RUNNING)
        search_container(&s, container);
    return (struct wait){ s.missing.len ? STR("CreateContainerConfigError") : STR(""), s.missing };
}

static struct str state_of(const struct run *run, const struct wait *wait)
{
    if (wait->message.len)
        return jsonf(run->arena, "{'waiting':{'reason':%s,'message':%s}}", wait->reason,
                     wait->message);
    if (wait->reason.len)
        return jsonf(run->arena, "{'waiting':{'reason':%s}}", wait->reason);
    if (run->stage == RUNNING)
        return jsonf(run->arena, "{'running':{'startedAt':%s}}", run->now);
    return jsonf(run->arena, "{'terminated':{'exitCode':0,'reason':'Completed','finishedAt':%s}}",
                 run->now);
}

static struct str containers_of(const struct run *run)
{
    struct strbuf out = strbuf_new(run->arena, 256);
    const char *comma = "";

    for (struct value *m = value_first(value_get(run->spec, STR("containers"))); m;
         m = value_next(m)) {
        struct str image = value_text(value_get(m, STR("image")));
        bool pulled = run->stage != STARTING && !is_missing(image);
        struct wait wait = wait_of(run, m);
        struct str id = pulled ? str_fmt(run->arena, "sha256:%.*s",
                                         STR_ARG(workload_image_id(run->arena, image)))
                               : STR("");

        strbuf_put(&out, str_of(comma));
        jsonf_put(&out,
                  "{'name':%s,'image':%s,'imageID':%s,'ready':%b,'restartCount':0,'state':%r}",
                  value_text(value_get(m, STR("name"))), image, id,
                  !wait.reason.len && run->stage == RUNNING, state_of(run, &wait));
        comma = ",";
    }
    return strbuf_str(&out);
}

/* Of the first container that waits. */
static struct wait first_wait(const struct run *run)
{
    for (struct value *m = value_first(value_get(run->spec, STR("containers"))); m;
         m = value_next(m)) {
        struct wait wait = wait_of(run, m);

        if (wait.reason.len)
            return wait;
    }
    return (struct wait){ STR(""), STR("") };
}

static struct str pod_status(const struct run *run)
{
    static const struct str phases[] = { STR_INIT("Pending"), STR_INIT("Running"),
                                         STR_INIT("Succeeded") };
    bool ready = run->stage == RUNNING && !first_wait(run).reason.len;
    struct str reason = ready                 ? STR("")
                        : run->stage == ENDED ? STR(",\"reason\":\"PodCompleted\"")
                                              : STR(",\"reason\":\"ContainersNotReady\"");
    struct str is = ready ? STR("True") : STR("False");

    return jsonf(run->arena,
                 "{'phase':%s,'conditions':["
                 "{'type':'PodScheduled','status':'True','lastTransitionTime':%s},"
                 "{'type':'Initialized','status':'True','lastTransitionTime':%s},"
                 "{'type':'ContainersReady','status':%s,'lastTransitionTime':%s%r},"
                 "{'type':'Ready','status':%s,'lastTransitionTime':%s%r}],"
                 "'containerStatuses':[%r]}",
                 run->stage == RUNNING && !ready ? phases[STARTING] : phases[run->stage], run->now,
                 run->now, is, run->now, reason.len ? reason : STR(" "), is, run->now,
                 reason.len ? reason : STR(" "), containers_of(run));
}

/* What the first container that waits was told. */
static struct str told_wait(const struct value *pod)
{
    struct value *m = value_first(value_walk(pod, "status", "containerStatuses", NULL));

    while (m && !value_walk(m, "state", "waiting", "message", NULL))
        m = value_next(m);
    return value_text(value_walk(m, "state", "waiting", "message", NULL));
}

/* Of a pod that has not started. */
static bool stays(const struct run *run, const struct value *pod)
{
    struct search s = { .arena = run->arena, .found = run->found, .namespace_ = run->namespace_ };
    struct str message = first_wait(run).message;

    search_volumes(&s, run->spec);
    return s.missing.len || (message.len && str_eq(message, told_wait(pod)));
}

struct str pods_run(struct arena *arena, const struct value *pod, const struct value *found,
                    struct str now)
{
    struct run run = { .arena = arena,
                       .spec = value_get(pod, STR("spec")),
                       .found = found,
                       .namespace_ = meta(pod, "namespace"),
                       .now = now,
                       .stage = RUNNING };
    struct str policy = value_text(value_get(run.spec, STR("restartPolicy")));

    if (str_eq(phase_of(pod), STR("Running")) && policy.len && !str_eq(policy, STR("Always")))
        run.stage = ENDED;
    else if (!str_eq(phase_of(pod), STR("Pending")) || stays(&run, pod))
        return STR("");
    return jsonf(arena, "{'status':%r}", pod_status(&run));
}

/* ---- making pods ----------------------------------------------------------------------------- */

/* With that name, or "" for one that is generated. */
static void create(struct work *w, struct str name)
{
    const struct maker *maker = &makers[w->seen->maker];
    struct arena *arena = w->arena;
    struct value *template = value_walk(w->seen->object, "spec", "template", NULL);
    struct value *pod = template ? value_clone(arena, template) : value_object(arena);
    struct value *metadata = value_object_at(arena, pod, STR("metadata"));
    struct value *labels = metadata ? value_object_at(arena, metadata, STR("labels")) : NULL;
    struct value *spec = value_object_at(arena, pod, STR("spec"));
    bool hashed = w->seen->maker == PODS_DEPLOYMENT;
    struct run run = { .arena = arena, .spec = spec, .now = w->seen->now, .stage = STARTING };

    if (!labels || !spec)
        return;
    value_set(arena, labels, str_of(maker->revision), value_str(arena, w->revision));
    if (w->seen->maker == PODS_STATEFUL_SET)
        value_set(arena, labels, STR("statefulset.kubernetes.io/pod-name"), value_str(arena, name));
    if (w->seen->node.len)
        value_set(arena, spec, STR("nodeName"), value_str(arena, w->seen->node));
    if (!name.len)
        name = str_fmt(arena, "%.*s-%.*s%s", STR_ARG(w->name),
                       STR_ARG(hashed ? w->revision : STR("")), hashed ? "-" : "");
    str_list_push(
        &w->step.creates,
        jsonf(arena,
              "{'apiVersion':'v1','kind':'Pod','metadata':{%s:%s,'namespace':%s,'labels':%r,"
              "'annotations':%r,'ownerReferences':[{'apiVersion':%s,'kind':%s,'name':%s,'uid':%s,"
              "'controller':true,'blockOwnerDeletion':true}]},'spec':%r,'status':%r}",
              w->seen->maker == PODS_STATEFUL_SET ? STR("name") : STR("generateName"), name,
              meta(w->seen->object, "namespace"), value_json(arena, labels),
              value_json(arena, value_object_at(arena, metadata, STR("annotations"))),
              maker->api_version, maker->kind, w->name, meta(w->seen->object, "uid"),
              value_json(arena, spec), pod_status(&run)));
}

static void remove_pod(struct work *w, const struct value *pod)
{
    str_list_push(&w->step.removes, meta(pod, "name"));
}

/* Of the pods that there are too many, those that are not ready go first. */
static void remove_some(struct work *w, bool updated, int64_t count)
{
    for (int ready = 0; ready < 2; ready++)
        for (const struct value *pod = value_first(w->seen->pods); pod && count > 0;
             pod = value_next(pod))
            if (is_updated(w, pod) == updated && is_ready(pod) == (ready == 1)) {
                remove_pod(w, pod);
                count--;
            }
}

static void step_deployment(struct work *w, int64_t replicas)
{
    int64_t old = w->replicas - w->updated;

    for (int64_t i = w->updated; i < replicas; i++)
        create(w, STR(""));
    remove_some(w, true, w->updated - replicas);
    remove_some(w, false, old + w->updated_ready - replicas);
}

/* The pods that are there and should be, in order; then those above; then those to be replaced. */
static void step_stateful_set(struct work *w, int64_t replicas)
{
    bool ordered =
        !str_eq(value_text(value_walk(w->seen->object, "spec", "podManagementPolicy", NULL)),
                STR("Parallel"));
    struct str_list names = str_list_new(w->arena, 8);
    const struct value *pod;

    for (int64_t i = 0; i < replicas; i++) {
        struct str name = str_fmt(w->arena, "%.*s-%lld", STR_ARG(w->name), (long long)i);

        str_list_push(&names, name);
        pod = pod_named(w, name);
        if (!pod)
            create(w, name);
        if (ordered && !(pod && is_ready(pod)))
            return;
    }
    for (pod = value_first(w->seen->pods); pod; pod = value_next(pod))
        if (!str_list_has(&names, meta(pod, "name")))
            remove_pod(w, pod);
    for (uint32_t i = names.count; i-- > 0;) {
        pod = pod_named(w, names.items[i]);
        if (pod && !is_updated(w, pod))
            remove_pod(w, pod);
        if (!pod || !is_updated(w, pod) || !is_ready(pod))
            return;
    }
}

static int64_t count_phase(const struct work *w, struct str phase)
{
    int64_t count = 0;

    for (struct value *pod = value_first(w->seen->pods); pod; pod = value_next(pod))
        count += str_eq(phase_of(pod), phase);
    return count;
}

/* ---- status ---------------------------------------------------------------------------------- */

/* With the time of the one that stands there, if it says the same. */
static struct str condition(const struct work *w, struct str type, bool truth, struct str reason,
                            struct str message)
{
    const struct value *old = condition_of(w->seen->object, type);
    struct str is = truth ? STR("True") : STR("False");
    bool same = old && str_eq(value_text(value_get(old, STR("status"))), is);
    struct str since = same ? value_text(value_get(old, STR("lastTransitionTime"))) : w->seen->now;

    return jsonf(
        w->arena, "{'type':%s,'status':%s,'reason':%s,'message':%s,%s:%s,'lastTransitionTime':%s}",
        type, is, reason, message,
        w->seen->maker == PODS_JOB ? STR("lastProbeTime") : STR("lastUpdateTime"), since, since);
}

static int64_t generation_of(const struct work *w)
{
    int64_t generation = 0;

    value_int64(value_walk(w->seen->object, "metadata", "generation", NULL), &generation);
    return generation;
}

static struct str deployment_status(const struct work *w, int64_t replicas)
{
    bool available = w->ready >= replicas;
    bool done = w->updated_ready == replicas && w->replicas == replicas;
    int64_t missing = replicas > w->ready ? replicas - w->ready : 0;
    struct str a = available
                       ? condition(w, STR("Available"), true, STR("MinimumReplicasAvailable"),
                                   STR("Deployment has minimum availability."))
                       : condition(w, STR("Available"), false, STR("MinimumReplicasUnavailable"),
                                   STR("Deployment does not have minimum availability."));
    struct str p = done ? condition(w, STR("Progressing"), true, STR("NewReplicaSetAvailable"),
                                    STR("All pods of the template are available."))
                        : condition(w, STR("Progressing"), true, STR("ReplicaSetUpdated"),
                                    STR("Pods of the template are being made."));

    return jsonf(w->arena,
                 "{'status':{'observedGeneration':%d,'replicas':%d,'updatedReplicas':%d,"
                 "'readyReplicas':%d,'availableReplicas':%d,'unavailableReplicas':%d,"
                 "'conditions':[%r,%r]}}",
                 generation_of(w), w->replicas, w->updated, w->ready, w->ready, missing, a, p);
}

static struct str stateful_set_status(const struct work *w, int64_t replicas)
{
    struct str current = value_text(value_walk(w->seen->object, "status", "currentRevision", NULL));

    if (!current.len || (w->updated_ready == replicas && w->replicas == replicas))
        current = w->revision;
    return jsonf(w->arena,
                 "{'status':{'observedGeneration':%d,'replicas':%d,'updatedReplicas':%d,"
                 "'currentReplicas':%d,'readyReplicas':%d,'availableReplicas':%d,"
                 "'currentRevision':%s,'updateRevision':%s}}",
                 generation_of(w), w->replicas, w->updated,
                 str_eq(current, w->revision) ? w->updated : w->replicas - w->updated, w->ready,
                 w->ready, current, w->revision);
}

static void step_job(struct work *w, int64_t completions)
{
    struct str begun = value_text(value_walk(w->seen->object, "status", "startTime", NULL));
    int64_t succeeded = count_phase(w, STR("Succeeded"));
    int64_t active = w->replicas - succeeded;
    int64_t parallel = wanted(w->seen->object, "parallelism");
    struct str end = STR(" ");

    for (int64_t i = active; i < parallel && i < completions - succeeded && i < PODS_MAX; i++)
        create(w, STR(""));
    if (succeeded >= completions)
        end = jsonf(w->arena, ",'completionTime':%s,'conditions':[%r,%r]", w->seen->now,
                    condition(w, STR("SuccessCriteriaMet"), true, STR("CompletionsReached"),
                              STR("Reached expected number of succeeded pods")),
                    condition(w, STR("Complete"), true, STR("CompletionsReached"),
                              STR("Reached expected number of succeeded pods")));
    w->step.status =
        jsonf(w->arena, "{'status':{'active':%d,'ready':%d,'succeeded':%d,'startTime':%s%r}}",
              active, w->ready, succeeded, begun.len ? begun : w->seen->now, end);
}

/* ---- the step -------------------------------------------------------------------------------- */

static struct str revision_of(struct arena *arena, const struct pods_seen *seen, struct str name)
{
    struct strbuf text = strbuf_new(arena, 1024);
    struct str hash;

    if (seen->maker == PODS_JOB)
        return name;
    value_write(value_walk(seen->object, "spec", "template", NULL), true, &text);
    hash = str_slice(digest_sha256_hex(arena, strbuf_str(&text)), 0, REVISION_LEN);
    if (seen->maker == PODS_DEPLOYMENT)
        return hash;
    return str_fmt(arena, "%.*s-%.*s", STR_ARG(name), STR_ARG(hash));
}

struct pods_step pods_next(struct arena *arena, const struct pods_seen *seen)
{
    struct work w = {
        .arena = arena,
        .seen = seen,
        .name = meta(seen->object, "name"),
        .step = { str_list_new(arena, 4), str_list_new(arena, 4), STR("") },
    };
    int64_t replicas = wanted(seen->object, "replicas");

    int64_t possible = replicas < PODS_MAX ? replicas : PODS_MAX;

    w.revision = revision_of(arena, seen, w.name);
    for (struct value *pod = value_first(seen->pods); pod; pod = value_next(pod)) {
        w.replicas++;
        w.ready += is_ready(pod);
        w.updated += is_updated(&w, pod);
        w.updated_ready += is_ready(pod) && is_updated(&w, pod);
    }
    switch (seen->maker) {
    case PODS_DEPLOYMENT:
        step_deployment(&w, possible);
        w.step.status = deployment_status(&w, replicas);
        break;
    case PODS_STATEFUL_SET:
        step_stateful_set(&w, possible);
        w.step.status = stateful_set_status(&w, replicas);
        break;
    case PODS_JOB:
        /* What is complete stays so, also when its pods are deleted. */
        if (!condition_of(seen->object, STR("Complete")))
            step_job(&w, wanted(seen->object, "completions"));
        break;
    }
    return w.step;
}
