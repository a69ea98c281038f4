/* SPDX-License-Identifier: Apache-2.0 */
/* manager.c: one row after the other, and the end of the process. */
#include "runtime/manager.h"

#include "base/memory.h"
#include "io/program.h"
#include "io/signal.h"

#include <assert.h>
#include <unistd.h>

enum {
    TICK_MS = 1000,
    LOOP_STUCK_MS = 30000, /* /healthz fails when the loop did not turn for so long */
    STOP_POLL_MS = 50,
    STOP_WAIT_MS = 1500,  /* for answers under way: a successor is to act within two seconds */
    STOP_DEADLINE_S = 10, /* then the process ends, whatever hangs */
};

struct manager {
    struct manager_options options;
    void **started; /* of each row; NULL: not, or not asked for */
    const char **check_names;
    uint32_t check_count;
    struct health *health;
    struct leader *leader;
    struct signal_watch *signals;
    struct loop_timer *tick;
    struct loop_timer *stopping;
    int64_t stop_at_ms; /* 0: it does not stop */
    bool alone;         /* without a Lease */
    int code;
};

static uint32_t checks_of(const struct manager_part *part)
{
    uint32_t count = 0;

    while (count < MANAGER_CHECKS_MAX && part->checks[count].name)
        count++;
    return count;
}

struct manager *manager_create(const struct manager_options *options)
{
    struct manager *manager = mem_new(struct manager);

    manager->options = *options;
    manager->code = PROGRAM_OK;
    manager->started = mem_alloc(sizeof(*manager->started) * options->part_count);
    manager->check_names =
        mem_alloc(sizeof(*manager->check_names) * options->part_count * MANAGER_CHECKS_MAX);
    for (uint32_t i = 0; i < options->part_count; i++) {
        const struct manager_part *part = options->parts[i];

        manager->started[i] = NULL;
        for (uint32_t k = 0; k < checks_of(part); k++)
            manager->check_names[manager->check_count++] = part->checks[k].name;
    }
    return manager;
}

int manager_listen(struct manager *manager, const char *host, uint16_t port, struct error *err)
{
    manager->health = health_create(host, port, manager->check_names, manager->check_count,
                                    manager->options.metrics, err);
    return manager->health ? 0 : -1;
}

struct health *manager_health(const struct manager *manager)
{
    return manager->health;
}

uint32_t manager_check_of(const struct manager *manager, const char *name)
{
    uint32_t check = 0;

    while (check < manager->check_count && strcmp(manager->check_names[check], name) != 0)
        check++;
    assert(check < manager->check_count);
    return check;
}

/* --- all parts --- */

static void pause_all(struct manager *manager, bool paused)
{
    for (uint32_t i = 0; i < manager->options.part_count; i++)
        if (manager->started[i] && manager->options.parts[i]->pause)
            manager->options.parts[i]->pause(manager->started[i], paused);
}

static bool any_busy(const struct manager *manager)
{
    for (uint32_t i = 0; i < manager->options.part_count; i++)
        if (manager->started[i] && manager->options.parts[i]->busy &&
            manager->options.parts[i]->busy(manager->started[i]))
            return true;
    return false;
}

void manager_notify(struct manager *manager, const struct manager_event *event)
{
    for (uint32_t i = 0; i < manager->options.part_count; i++)
        if (manager->started[i] && manager->options.parts[i]->notify)
            manager->options.parts[i]->notify(manager->started[i], event);
}

static void check_part(struct manager *manager, uint32_t i, uint32_t first)
{
    const struct manager_part *part = manager->options.parts[i];
    const void *started = manager->started[i];

    for (uint32_t k = 0; k < checks_of(part); k++) {
        const struct manager_check *check = &part->checks[k];

        if (!started || check->trouble)
            health_set(manager->health, first + k, started ? check->trouble(started) : STR(""));
        if (started && check->note)
            health_note(manager->health, first + k, check->note(started));
    }
}

static void on_tick(void *context)
{
    struct manager *manager = context;
    uint32_t check = 0;

    health_beat(manager->health, clock_monotonic_ms(loop_clock(manager->options.loop)),
                LOOP_STUCK_MS);
    for (uint32_t i = 0; i < manager->options.part_count; i++) {
        const struct manager_part *part = manager->options.parts[i];

        check_part(manager, i, check);
        check += checks_of(part);
        if (manager->started[i] && part->tick)
            part->tick(manager->started[i]);
    }
    loop_timer_set(manager->tick, TICK_MS);
}

/* --- leadership --- */

static void began(void *context)
{
    struct manager *manager = context;

    log_info(manager->options.log, "leading", LOG_STR("identity", manager->options.identity));
    metrics_set(manager->options.metrics, manager->options.leader_gauge, NULL, 1);
    pause_all(manager, false);
}

static void lost(void *context)
{
    struct manager *manager = context;

    log_error(manager->options.log, "lease lost; this process ends, so that only one acts",
              LOG_STR("identity", manager->options.identity));
    metrics_set(manager->options.metrics, manager->options.leader_gauge, NULL, 0);
    pause_all(manager, true);
    manager->code = PROGRAM_FAILED;
    loop_stop(manager->options.loop);
}

bool manager_may_write(void *context)
{
    const struct manager *manager = context;

    return manager->alone || (manager->leader && leader_may_write(manager->leader));
}

/* --- stopping --- */

static void released(void *context)
{
    const struct manager *manager = context;

    loop_stop(manager->options.loop);
}

static void on_stopping(void *context)
{
    struct manager *manager = context;

    if (any_busy(manager) && loop_now_ms(manager->options.loop) < manager->stop_at_ms)
        loop_timer_set(manager->stopping, STOP_POLL_MS);
    else if (manager->leader)
        leader_release(manager->leader, released, manager);
    else
        loop_stop(manager->options.loop);
}

static void on_signal(void *context, int number)
{
    struct manager *manager = context;

    if (manager->stop_at_ms) {
        loop_stop(manager->options.loop);
        return;
    }
    log_info(manager->options.log, "stopping", LOG_INT("signal", number));
    /* Ends the process if something below hangs: SIGALRM's default action. */
    alarm(STOP_DEADLINE_S);
    manager->stop_at_ms = loop_now_ms(manager->options.loop) + STOP_WAIT_MS;
    health_shutting_down(manager->health);
    pause_all(manager, true);
    loop_timer_set(manager->stopping, 0);
}

/* --- from the start to the end --- */

static void start_leader(struct manager *manager, const struct leader_options *lease)
{
    struct leader_options options;

    if (!lease) {
        began(manager);
        return;
    }
    options = *lease;
    options.identity = manager->options.identity;
    options.began = began;
    options.lost = lost;
    options.context = manager;
    manager->leader = leader_create(&options);
}

int manager_run(struct manager *manager, const struct leader_options *lease)
{
    const struct manager_options *options = &manager->options;

    manager->alone = !lease;
    for (uint32_t i = 0; i < options->part_count; i++)
        manager->started[i] = options->parts[i]->start(options->context, options->seed + 100 * i);
    start_leader(manager, lease);
    manager->tick = loop_timer_create(options->loop, on_tick, manager);
    manager->stopping = loop_timer_create(options->loop, on_stopping, manager);
    manager->signals = signal_watch_create(options->loop, on_signal, manager);
    loop_timer_set(manager->tick, 0);
    loop_run(options->loop);
    log_info(options->log, "stopped", LOG_INT("code", manager->code));
    return manager->code;
}

void manager_free(struct manager *manager)
{
    if (!manager)
        return;
    signal_watch_free(manager->signals);
    loop_timer_free(manager->tick);
    loop_timer_free(manager->stopping);
    for (uint32_t i = manager->options.part_count; i-- > 0;)
        if (manager->started[i] && manager->options.parts[i]->free)
            manager->options.parts[i]->free(manager->started[i]);
    leader_free(manager->leader);
    health_free(manager->health);
    mem_free(manager->started);
    mem_free(manager->check_names);
    mem_free(manager);
}
