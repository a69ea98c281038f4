/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.c: sends Events; each at most three times, and few at once. */
#include "runtime/recorder.h"

#include "base/linked.h"
#include "base/memory.h"
#include "kube/backoff.h"

enum { TRIES = 3, RETRY_FIRST_MS = 1000, RETRY_MAX_MS = 30000, PENDING_MAX = 1000 };

struct sending;

struct recorder {
    struct kube_client *client;
    struct kube_event_log *log;
    struct sending *first;
    uint32_t pending;
    uint64_t failed;
    struct rng rng;
};

/* One Event on its way, with all that it takes to send it again. */
struct sending {
    struct recorder *recorder;
    struct sending *next, *previous;
    struct arena *arena;
    struct kube_event event;
    struct str name, body;
    enum kube_event_effect effect;
    struct kube_call *call;
    struct loop_timer *timer;
    struct backoff backoff;
};
LINKED_DEFINE(sending, struct sending)

static const struct kube_resource events = KUBE_RESOURCE_INIT("", "v1", "events", "Event", true);

static void on_answer(void *context, const struct kube_answer *answer);

struct recorder *recorder_create(struct kube_client *client, struct str component,
                                 struct str instance)
{
    struct recorder *recorder = mem_new(struct recorder);

    recorder->client = client;
    recorder->log = kube_event_log_create(component, instance);
    recorder->rng = rng_from_seed(str_hash(instance));
    return recorder;
}

static void free_sending(struct sending *sending)
{
    struct recorder *recorder = sending->recorder;

    sending_unlink(&recorder->first, sending);
    recorder->pending--;
    kube_call_cancel(sending->call);
    loop_timer_free(sending->timer);
    arena_free(sending->arena);
    mem_free(sending);
}

void recorder_free(struct recorder *recorder)
{
    if (!recorder)
        return;
    while (recorder->first)
        free_sending(recorder->first);
    kube_event_log_free(recorder->log);
    mem_free(recorder);
}

static void send_event(void *context)
{
    struct sending *sending = context;
    struct kube_request request = {
        .verb = sending->effect == EVENT_PATCH ? KUBE_PATCH : KUBE_CREATE,
        .patch_type = KUBE_PATCH_MERGE,
        .resource = events,
        .namespace_ = sending->event.namespace_.len ? sending->event.namespace_ : STR("default"),
        .name = sending->name,
        .body = sending->body,
    };

    sending->call = kube_client_call(sending->recorder->client, &request, on_answer, sending);
}

/* The Event to be patched is not there: perhaps not yet, its creation being under way, so it is
 * asked for once more; then it is made anew. False: do not send. */
static bool repair_not_found(struct sending *sending)
{
    struct recorder *recorder = sending->recorder;
    int64_t now_ms = clock_wall_ms(loop_clock(kube_client_loop(recorder->client)));

    if (sending->effect != EVENT_PATCH)
        return false;
    if (sending->backoff.failures == 1)
        return true;
    kube_event_forget(recorder->log, sending->name);
    sending->effect = kube_event_step(recorder->log, &sending->event, now_ms, sending->arena,
                                      &sending->name, &sending->body);
    return sending->effect != EVENT_DROP;
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct sending *sending = context;
    struct recorder *recorder = sending->recorder;
    enum error_code error = answer->error.code;
    int64_t wait_ms;

    sending->call = NULL;
    /* Taken before, though the answer was lost; or held back because we do not lead. */
    if (error == ERROR_NONE || error == ERROR_ALREADY_EXISTS ||
        (error == ERROR_CANCELLED && !answer->sent)) {
        free_sending(sending);
        return;
    }
    wait_ms = backoff_next(&sending->backoff, answer->retry_after_ms, &recorder->rng);
    if (sending->backoff.failures >= TRIES ||
        !(error_course(error) == COURSE_RETRY || error_course(error) == COURSE_TRANSIENT ||
          (error == ERROR_NOT_FOUND && repair_not_found(sending)))) {
        recorder->failed++;
        /* Nothing stands under that name: the next repetition must not patch it. */
        if (sending->effect == EVENT_CREATE)
            kube_event_forget(recorder->log, sending->name);
        free_sending(sending);
        return;
    }
    loop_timer_set(sending->timer, wait_ms);
}

static void copy_event(struct sending *sending, const struct kube_event *event)
{
    struct arena *arena = sending->arena;

    sending->event = (struct kube_event){
        .resource = { str_dup(arena, event->resource.group),
                      str_dup(arena, event->resource.version),
                      str_dup(arena, event->resource.plural), str_dup(arena, event->resource.kind),
                      event->resource.namespaced },
        .namespace_ = str_dup(arena, event->namespace_),
        .name = str_dup(arena, event->name),
        .uid = str_dup(arena, event->uid),
        .resource_version = str_dup(arena, event->resource_version),
        .warning = event->warning,
        .kind = event->kind,
        .reason = str_dup(arena, event->reason),
        .message = str_dup(arena, event->message),
        .annotation_key = str_dup(arena, event->annotation_key),
        .annotation = str_dup(arena, event->annotation),
    };
}

void recorder_emit(struct recorder *recorder, const struct kube_event *event)
{
    struct loop *loop = kube_client_loop(recorder->client);
    struct sending *sending = mem_new(struct sending);

    sending->recorder = recorder;
    sending->arena = arena_create(0);
    sending->backoff = backoff_new(RETRY_FIRST_MS, RETRY_MAX_MS);
    sending->timer = loop_timer_create(loop, send_event, sending);
    sending_link(&recorder->first, sending);
    recorder->pending++;
    if (recorder->pending > PENDING_MAX) {
        recorder->failed++;
        free_sending(sending);
        return;
    }
    copy_event(sending, event);
    sending->effect =
        kube_event_step(recorder->log, &sending->event, clock_wall_ms(loop_clock(loop)),
                        sending->arena, &sending->name, &sending->body);
    if (sending->effect == EVENT_DROP)
        free_sending(sending);
    else
        send_event(sending);
}

uint64_t recorder_failed(const struct recorder *recorder)
{
    return recorder->failed;
}

uint64_t recorder_dropped(const struct recorder *recorder)
{
    return kube_event_dropped(recorder->log);
}
