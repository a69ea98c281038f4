/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_property_test.c: a reflector with a small shell against a fake server whose objects
 * change, whose history is short, and which fails, expires and closes at random. Laws: when the
 * faults stop, the copy equals the server's objects; requests are only made so often; nothing
 * leaves the copy that the server still has, but by an older truth. */
#include "support/rows.h"

#include "kube/reflector.h"

#include <inttypes.h>
#include <stdio.h>

enum { OBJECTS = 12, HISTORY = 40, PAGE = 3, RUNS = 300, TICKS = 3000, TICK_MS = 200 };

struct change {
    int object;
    uint64_t value; /* 0 = deleted */
};

struct world {
    struct rng rng;
    struct reflector reflector;
    bool faults;
    /* The server: objects, and the changes that made them; those below `oldest` are forgotten. */
    uint64_t objects[OBJECTS];
    struct change history[100000];
    uint64_t version, oldest;
    /* Lists are snapshots at one version; a token is version:next. */
    uint64_t list[OBJECTS];
    uint64_t list_version;
    /* The copy, and what the list under way has named. */
    uint64_t copy[OBJECTS];
    bool marked[OBJECTS];
    uint64_t watch_at;
    enum reflector_effect pending;
    int64_t now_ms, wait_until_ms, watch_began_ms;
    uint32_t requests;
};

static bool chance(struct world *w, uint32_t percent)
{
    return w->faults && rng_below(&w->rng, 100) < percent;
}

static void write_object(struct world *w)
{
    int object = (int)rng_below(&w->rng, OBJECTS);
    uint64_t value = rng_below(&w->rng, 4) == 0 ? 0 : w->version + 1;

    w->objects[object] = value;
    w->history[++w->version] = (struct change){ object, value };
    if (w->version - w->oldest > HISTORY)
        w->oldest = w->version - HISTORY;
}

static void feed(struct world *w, struct reflector_input input)
{
    struct reflector_output out = reflector_step(&w->reflector, &input, &w->rng);

    if (out.list_begins)
        memset(w->marked, 0, sizeof(w->marked));
    for (int i = 0; out.list_ends && i < OBJECTS; i++)
        if (!w->marked[i])
            w->copy[i] = 0;
    if (out.effect == REFLECTOR_DO_NOTHING)
        return;
    w->pending = out.effect;
    if (out.effect == REFLECTOR_DO_WAIT) {
        assert_true(out.wait_ms > 0);
        w->wait_until_ms = w->now_ms + out.wait_ms;
        return;
    }
    w->requests++;
    if (out.effect == REFLECTOR_DO_WATCH) {
        w->watch_began_ms = w->now_ms;
        w->watch_at = 0;
        for (const char *c = w->reflector.resource_version; *c; c++)
            w->watch_at = w->watch_at * 10 + (uint64_t)(*c - '0');
    }
}

static void lose(struct world *w, enum reflector_event event)
{
    static const enum error_code errors[] = { ERROR_EXPIRED, ERROR_CONNECT, ERROR_TIMEOUT,
                                              ERROR_TOO_MANY, ERROR_INTERNAL, ERROR_TOO_LARGE,
                                              ERROR_SYNTAX };
    struct reflector_input input = {
        .event = event,
        .error = errors[rng_below(&w->rng, sizeof(errors) / sizeof(errors[0]))],
        .retry_after_ms = (int64_t)rng_below(&w->rng, 2000) - 1,
        .lasted_ms = w->now_ms - w->watch_began_ms,
    };

    feed(w, input);
}

static void answer_list(struct world *w)
{
    unsigned long long at_version = 0;
    unsigned from = 0;
    char version[32];
    char token[64] = "";

    if (chance(w, 20)) {
        lose(w, REFLECTOR_LIST_FAILED);
        return;
    }
    if (w->reflector.continue_) {
        assert_int_equal(sscanf(w->reflector.continue_, "%llu:%u", &at_version, &from), 2);
        if (at_version != w->list_version || at_version < w->oldest) {
            feed(w, (struct reflector_input){ .event = REFLECTOR_LIST_FAILED,
                                              .error = ERROR_EXPIRED, .retry_after_ms = -1 });
            return;
        }
    } else {
        memcpy(w->list, w->objects, sizeof(w->list));
        w->list_version = w->version;
    }
    for (unsigned i = from; i < from + PAGE && i < OBJECTS; i++)
        if (w->list[i]) {
            w->copy[i] = w->list[i];
            w->marked[i] = true;
        }
    snprintf(version, sizeof(version), "%" PRIu64, w->list_version);
    if (from + PAGE < OBJECTS)
        snprintf(token, sizeof(token), "%" PRIu64 ":%u", w->list_version, from + PAGE);
    feed(w, (struct reflector_input){ .event = REFLECTOR_PAGE, .resource_version = str_of(version),
                                      .continue_ = str_of(token), .retry_after_ms = -1 });
}

static void move_watch(struct world *w)
{
    char version[32];

    if (chance(w, 4)) {
        lose(w, REFLECTOR_WATCH_FAILED);
    } else if (chance(w, 4)) {
        feed(w, (struct reflector_input){ .event = REFLECTOR_WATCH_ENDED, .retry_after_ms = -1,
                                          .lasted_ms = w->now_ms - w->watch_began_ms });
    } else if (w->watch_at < w->oldest) {
        feed(w, (struct reflector_input){ .event = REFLECTOR_WATCH_FAILED,
                                          .error = ERROR_EXPIRED, .retry_after_ms = -1 });
    } else if (w->watch_at < w->version) {
        const struct change *change = &w->history[++w->watch_at];

        w->copy[change->object] = change->value;
        snprintf(version, sizeof(version), "%" PRIu64, w->watch_at);
        feed(w, (struct reflector_input){ .event = REFLECTOR_CHANGE,
                                          .resource_version = str_of(version),
                                          .retry_after_ms = -1 });
    }
}

static void move(struct world *w)
{
    switch (w->pending) {
    case REFLECTOR_DO_LIST:
        answer_list(w);
        break;
    case REFLECTOR_DO_WATCH:
        for (int i = 0; i < 4 && w->pending == REFLECTOR_DO_WATCH; i++)
            move_watch(w);
        break;
    case REFLECTOR_DO_WAIT:
        if (w->now_ms >= w->wait_until_ms)
            feed(w, (struct reflector_input){ .event = REFLECTOR_TIMER, .retry_after_ms = -1 });
        break;
    case REFLECTOR_DO_NOTHING:
        break;
    }
}

static void run(uint64_t seed)
{
    static struct world w;

    w = (struct world){ .rng = rng_from_seed(seed), .faults = true };
    w.version = 1;
    w.reflector = reflector_new();
    feed(&w, (struct reflector_input){ .event = REFLECTOR_START, .retry_after_ms = -1 });
    for (int t = 0; t < TICKS; t++) {
        w.now_ms += TICK_MS;
        w.faults = t < TICKS / 2;
        if (w.faults && rng_below(&w.rng, 3) == 0)
            write_object(&w);
        move(&w);
    }
    if (memcmp(w.copy, w.objects, sizeof(w.copy)) != 0)
        fail_msg("seed %" PRIu64 ": the copy differs from the server", seed);
    assert_int_equal(w.pending, REFLECTOR_DO_WATCH);
    /* Of 3000 ticks, no more requests than pages and a bounded rate of retries explain. */
    assert_true(w.requests < TICKS / 2);
    reflector_free(&w.reflector);
}

static void the_copy_becomes_equal(void **state)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run(seed);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_copy_becomes_equal) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
