/* SPDX-License-Identifier: Apache-2.0 */
/* certificates.c: one pass after another: four reads side by side, one step, at most one write. */
#include "controller/reconcilers/serving_certificate/certificates.h"

#include "base/limits.h"
#include "base/memory.h"
#include "controller/metrics.h"
#include "controller/reasons.h"
#include "kube/backoff.h"
#include "text/time.h"

enum { RETRY_MAX_MS = 15000 }; /* a renewal is due within 60 s, failures included */

struct reading {
    struct certificates *certificates;
    enum certificate_object object;
    struct kube_call *call;
};

struct certificates {
    struct certificates_options options;
    struct loop_timer *timer;
    struct backoff backoff;
    struct rng rng;
    struct serving_memory memory;
    bool paused;
    /* Of the pass at work. It holds keys, and is wiped when it ends. */
    struct arena *arena;
    struct certificate_state *state;
    struct reading readings[CERTIFICATE_OBJECTS];
    uint32_t not_synced;
    struct error trouble; /* the first of its reads */
    int64_t retry_after_ms;
    struct serving_step step;
    struct certificate_write write;
    struct kube_call *writing;
};

static void end_pass(struct certificates *certificates, int64_t next_ms)
{
    arena_free(TAKE(certificates->arena));
    certificates->state = NULL;
    if (!certificates->paused)
        loop_timer_set(certificates->timer, next_ms);
}

/* What it is about: the Event's object, and words for logs. */

static void tell(struct certificates *certificates, bool warning, enum controller_reason reason,
                 struct str message)
{
    enum certificate_object object = certificates->write.object;
    const struct kube_meta *meta = &certificates->state->metas[object];

    if (meta->uid.len == 0)
        return; /* it was not there before */
    recorder_emit(certificates->options.recorder, &(struct kube_event){
                                                      .resource = *certificate_resource(object),
                                                      .namespace_ = meta->namespace_,
                                                      .name = meta->name,
                                                      .uid = meta->uid,
                                                      .resource_version = meta->resource_version,
                                                      .warning = warning,
                                                      .reason = controller_reason_name(reason),
                                                      .message = message,
                                                  });
}

static void fail(struct certificates *certificates, const char *what, const struct error *err)
{
    struct metrics *metrics = certificates->options.metrics;

    metrics_add(metrics, CONTROLLER_CERTIFICATE_FAILURES, (struct str[]){ str_of(what) }, 1);
    log_warn(certificates->options.log, "the webhook's certificates: no progress",
             LOG_Z("step", what), LOG_Z("why", err->text));
    end_pass(certificates, backoff_next(&certificates->backoff, certificates->retry_after_ms,
                                        &certificates->rng));
}

/* Figures of what stands there: what is unknown has no series. */
static void show(struct certificates *certificates)
{
    const struct serving_facts *facts = &certificates->state->facts;
    const struct {
        struct str name;
        int64_t not_after_ms;
        bool known;
    } rows[] = {
        { STR("leaf"), facts->leaf.not_after_ms, facts->leaf.usable },
        { STR("ca"), facts->ca.current.not_after_ms, facts->ca.current.can_sign },
        { STR("next_ca"), facts->ca.next.not_after_ms, facts->ca.next.can_sign },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        metrics_set_known(certificates->options.metrics, CONTROLLER_CERTIFICATE_EXPIRY,
                          &rows[i].name, rows[i].known, (double)rows[i].not_after_ms / 1000);
}

/* Of what was written; REST writes nothing. */
static enum controller_reason reason_of(enum serving_action action)
{
    static const enum controller_reason reasons[] = {
        [SERVING_ISSUE_CA] = CONTROLLER_REASON_CA_ISSUED,
        [SERVING_ISSUE_NEXT] = CONTROLLER_REASON_NEXT_CA_ISSUED,
        [SERVING_PROMOTE] = CONTROLLER_REASON_CA_PROMOTED,
        [SERVING_FORGET] = CONTROLLER_REASON_CA_FORGOTTEN,
        [SERVING_WRITE_BUNDLE] = CONTROLLER_REASON_CA_BUNDLE_WRITTEN,
        [SERVING_ISSUE_LEAF] = CONTROLLER_REASON_CERTIFICATE_ISSUED,
    };

    return reasons[action];
}

static void count_rotation(struct certificates *certificates)
{
    struct str what = STR("ca");

    switch (certificates->step.action) {
    case SERVING_REST:
    case SERVING_ISSUE_NEXT:
    case SERVING_FORGET:
    case SERVING_WRITE_BUNDLE:
        return;
    case SERVING_ISSUE_LEAF:
        what = STR("leaf");
        break;
    case SERVING_ISSUE_CA:
    case SERVING_PROMOTE:
        break;
    }
    metrics_add(certificates->options.metrics, CONTROLLER_CERTIFICATE_ROTATIONS, &what, 1);
}

static void on_written(void *context, const struct kube_answer *answer)
{
    struct certificates *certificates = context;
    struct arena *arena = certificates->arena;
    const struct certificate_write *write = &certificates->write;
    const char *action = serving_action_name(certificates->step.action);

    certificates->writing = NULL;
    if (answer->error.code != ERROR_NONE) {
        struct error err = answer->error;

        error_wrap(&err, "%.*s",
                   STR_ARG(certificate_object_name(&certificates->options.names, write->object)));
        certificates->retry_after_ms = answer->retry_after_ms;
        if (err.code != ERROR_CONFLICT && err.code != ERROR_CANCELLED)
            tell(certificates, true, CONTROLLER_REASON_CERTIFICATE_FAILED,
                 str_fmt(arena, "%s: %s", action, err.text));
        fail(certificates, action, &err);
        return;
    }
    count_rotation(certificates);
    log_info(
        certificates->options.log, "the webhook's certificates: written", LOG_Z("step", action),
        LOG_Z("why", certificates->step.why),
        LOG_STR("object", certificate_object_name(&certificates->options.names, write->object)),
        LOG_STR("serial", write->serial),
        LOG_STR("not_after",
                write->not_after_ms ? time_rfc3339(arena, write->not_after_ms) : STR("")));
    tell(certificates, false, reason_of(certificates->step.action),
         str_fmt(arena, "%s: %s", action, certificates->step.why));
    backoff_reset(&certificates->backoff);
    end_pass(certificates, 0);
}

static void decide(struct certificates *certificates)
{
    const struct certificates_options *options = &certificates->options;
    struct certificate_state *state = certificates->state;
    struct error err;

    certificate_state_read(certificates->arena, &options->names, state);
    state->facts.now_ms = clock_monotonic_ms(options->clock);
    state->facts.now_wall_ms = clock_wall_ms(options->clock);
    show(certificates);
    certificates->step =
        serving_step(&certificates->memory, &state->facts, &options->policy, certificates->arena);
    if (certificates->step.action == SERVING_REST) {
        backoff_reset(&certificates->backoff);
        end_pass(certificates, certificates->step.look_again_ms);
        return;
    }
    if (certificate_write(certificates->arena, &options->names, state, &certificates->step,
                          &certificates->write, &err) < 0) {
        fail(certificates, serving_action_name(certificates->step.action), &err);
        return;
    }
    certificates->writing =
        kube_client_call(options->api, &certificates->write.request, on_written, certificates);
}

/* Only the API server's own Status says that there is no such object; a proxy's page does not. */
static bool says_absent(struct arena *arena, const struct kube_answer *answer)
{
    struct json root;
    struct error ignored;

    return answer->status == 404 && answer->error.code == ERROR_NOT_FOUND &&
           json_read(arena, answer->body, &json_limits_default, &root, &ignored) == 0 &&
           str_eq(json_str(json_get(root, STR("kind"))), STR("Status"));
}

static void take(struct reading *reading, const struct kube_answer *answer, struct error *trouble)
{
    struct certificates *certificates = reading->certificates;
    struct arena *arena = certificates->arena;
    struct json *object = &certificates->state->objects[reading->object];
    struct str kind = certificate_resource(reading->object)->kind;

    if (says_absent(arena, answer))
        return;
    *trouble = answer->error;
    if (trouble->code == ERROR_NONE)
        (void)json_read(arena, str_dup(arena, answer->body), &json_limits_default, object, trouble);
    if (trouble->code == ERROR_NONE && !str_eq(json_str(json_get(*object, STR("kind"))), kind))
        error_set(trouble, ERROR_INTERNAL, "the answer is no %.*s", STR_ARG(kind));
}

static void on_read(void *context, const struct kube_answer *answer)
{
    struct reading *reading = context;
    struct certificates *certificates = reading->certificates;
    struct error trouble = { .code = ERROR_NONE };

    reading->call = NULL;
    take(reading, answer, &trouble);
    if (trouble.code != ERROR_NONE && certificates->trouble.code == ERROR_NONE) {
        error_wrap(&trouble, "%.*s",
                   STR_ARG(certificate_object_name(&certificates->options.names, reading->object)));
        certificates->trouble = trouble;
        certificates->retry_after_ms = answer->retry_after_ms;
    }
    if (--certificates->not_synced)
        return;
    if (certificates->trouble.code != ERROR_NONE)
        fail(certificates, "read", &certificates->trouble);
    else
        decide(certificates);
}

static void begin_pass(void *context)
{
    struct certificates *certificates = context;
    const struct certificate_names *names = &certificates->options.names;

    certificates->arena = arena_create(0);
    arena_keep_secret(certificates->arena);
    certificates->state = arena_new(certificates->arena, struct certificate_state);
    certificates->trouble.code = ERROR_NONE;
    certificates->retry_after_ms = -1;
    certificates->not_synced = CERTIFICATE_OBJECTS;
    for (int i = 0; i < CERTIFICATE_OBJECTS; i++) {
        enum certificate_object object = (enum certificate_object)i;
        const struct kube_resource *resource = certificate_resource(object);
        const struct kube_request request = {
            .verb = KUBE_GET,
            .resource = *resource,
            .namespace_ = resource->namespaced ? names->namespace_ : STR(""),
            .name = certificate_object_name(names, object),
        };

        certificates->readings[i].call = kube_client_call(certificates->options.api, &request,
                                                          on_read, &certificates->readings[i]);
    }
}

static void abandon(struct certificates *certificates)
{
    for (int i = 0; i < CERTIFICATE_OBJECTS; i++)
        if (certificates->readings[i].call)
            kube_call_cancel(TAKE(certificates->readings[i].call));
    if (certificates->writing)
        kube_call_cancel(TAKE(certificates->writing));
    arena_free(TAKE(certificates->arena));
    certificates->state = NULL;
}

struct certificates *certificates_create(const struct certificates_options *options)
{
    struct certificates *certificates = mem_new(struct certificates);

    certificates->options = *options;
    certificates->paused = true;
    certificates->backoff = backoff_new(LIMIT_RETRY_FIRST, RETRY_MAX_MS);
    certificates->rng = rng_from_seed(options->seed);
    certificates->timer = loop_timer_create(options->loop, begin_pass, certificates);
    for (int i = 0; i < CERTIFICATE_OBJECTS; i++)
        certificates->readings[i] =
            (struct reading){ certificates, (enum certificate_object)i, NULL };
    return certificates;
}

void certificates_free(struct certificates *certificates)
{
    if (!certificates)
        return;
    abandon(certificates);
    loop_timer_free(certificates->timer);
    mem_free(certificates);
}

void certificates_pause(struct certificates *certificates, bool paused)
{
    if (certificates->paused == paused)
        return;
    certificates->paused = paused;
    if (paused) {
        loop_timer_clear(certificates->timer);
        abandon(certificates);
        return;
    }
    certificates->memory = (struct serving_memory){ 0 };
    backoff_reset(&certificates->backoff);
    loop_timer_set(certificates->timer, 0);
}
