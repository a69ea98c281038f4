/* SPDX-License-Identifier: Apache-2.0 */
/* controller.c: the queue's shell: one timer, which is set to when the queue has something.
 *
 * Keys are handed out from the timer only, never from within an add: so who adds a key is never
 * surprised by a reconcile that begins inside its own call. */
#include "runtime/controller.h"

#include "base/arena.h"
#include "base/memory.h"

enum {
    WORKERS_DEFAULT = 64,
    AT_ONCE_MAX = 32,
    BITE_MS = 10,       /* of one callback of the loop */
    COSTLY_MS = 5,      /* a reconcile that took so long is followed by a rest: */
    REST_TIMES = 9,     /* as many times as long, */
    REST_MS_MAX = 5000, /* but no longer */
};

struct kube_controller {
    struct kube_controller_options options;
    struct kube_queue *queue;
    struct loop_timer *timer;
    uint32_t busy;
    bool paused;
};

static int64_t now(const struct kube_controller *controller)
{
    return loop_now_ms(controller->options.loop);
}

/* More keys may be due: look in the loop's next turn. */
static void wake(struct kube_controller *controller)
{
    if (!controller->paused)
        loop_timer_set(controller->timer, 0);
}

static int64_t clock_ms(const struct kube_controller *controller)
{
    return clock_monotonic_ms(loop_clock(controller->options.loop));
}

void kube_controller_spent(struct kube_controller *controller, struct str key, int64_t took_ms)
{
    if (took_ms < COSTLY_MS)
        return;
    if (took_ms > REST_MS_MAX / REST_TIMES)
        took_ms = REST_MS_MAX / REST_TIMES;
    kube_queue_rest(controller->queue, key, clock_ms(controller) + took_ms * REST_TIMES);
}

static void reconcile(struct kube_controller *controller, struct str borrowed_key)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = str_dup(arena, borrowed_key); /* whoever ends it may free the other */
    int64_t began_ms = clock_ms(controller);

    controller->busy++;
    controller->options.reconcile(controller->options.context, borrowed_key);
    kube_controller_spent(controller, key, clock_ms(controller) - began_ms);
}

static void hand_out(void *context)
{
    struct kube_controller *controller = context;
    int64_t began_ms = clock_ms(controller);
    struct str key;

    /* A bounded bite, so that a long queue does not keep requests and timers waiting. */
    for (uint32_t i = 0; i < AT_ONCE_MAX && clock_ms(controller) - began_ms < BITE_MS; i++) {
        if (controller->paused || controller->busy >= controller->options.workers)
            return; /* kube_controller_done and _pause wake it */
        if (!kube_queue_take(controller->queue, now(controller), &key)) {
            int64_t due_ms = kube_queue_next_due(controller->queue);

            if (due_ms >= 0)
                loop_timer_set(controller->timer, due_ms - now(controller));
            return;
        }
        reconcile(controller, key);
    }
    wake(controller);
}

struct kube_controller *kube_controller_create(const struct kube_controller_options *options)
{
    struct kube_controller *controller = mem_new(struct kube_controller);

    controller->options = *options;
    if (controller->options.workers == 0)
        controller->options.workers = WORKERS_DEFAULT;
    controller->queue = kube_queue_create(&options->queue, options->seed);
    controller->timer = loop_timer_create(options->loop, hand_out, controller);
    controller->paused = true;
    return controller;
}

void kube_controller_free(struct kube_controller *controller)
{
    if (!controller)
        return;
    loop_timer_free(controller->timer);
    kube_queue_free(controller->queue);
    mem_free(controller);
}

void kube_controller_add(struct kube_controller *controller, struct str key)
{
    kube_queue_add(controller->queue, key, now(controller));
    wake(controller);
}

void kube_controller_add_after(struct kube_controller *controller, struct str key, int64_t delay_ms)
{
    kube_queue_add_after(controller->queue, key, delay_ms, now(controller));
    wake(controller);
}

void kube_controller_done(struct kube_controller *controller, struct str key,
                          enum reconcile_result result, int64_t after_ms)
{
    int64_t now_ms = now(controller);

    switch (result) {
    case RECONCILE_DONE:
        kube_queue_forget(controller->queue, key);
        /* fall through */
    case RECONCILE_LATER:
        if (after_ms >= 0)
            kube_queue_add_after(controller->queue, key, after_ms, now_ms);
        break;
    case RECONCILE_RETRY:
        kube_queue_retry(controller->queue, key, after_ms, now_ms);
        break;
    }
    /* Last: it may free what `key` points to. */
    kube_queue_done(controller->queue, key, now_ms);
    controller->busy--;
    wake(controller);
}

void kube_controller_pause(struct kube_controller *controller, bool paused)
{
    controller->paused = paused;
    if (paused)
        loop_timer_clear(controller->timer);
    else
        wake(controller);
}

bool kube_controller_has_failed(const struct kube_controller *controller, struct str key)
{
    return kube_queue_has_failed(controller->queue, key);
}

size_t kube_controller_depth(const struct kube_controller *controller)
{
    return kube_queue_depth(controller->queue);
}

uint32_t kube_controller_busy(const struct kube_controller *controller)
{
    return controller->busy;
}
