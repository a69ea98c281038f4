/* SPDX-License-Identifier: Apache-2.0 */
/* lease_property_test.c: several candidates, one fake API server, and everything that can go wrong
 * with time: pauses, lost requests and answers, deletions, edits, clocks that stand still or run
 * fast. Laws: never two may act at once; a successful acquisition counts a transition; when the
 * faults stop, exactly one leads again. */
#include "support/rows.h"

#include "kube/lease.h"
#include "kube/meta.h"
#include "text/json_write.h"

#include <stdio.h>
#include <stdlib.h>

enum { CANDIDATES = 3, RUNS = 300 };
enum { DURATION = 15000, DEADLINE = 10000, RETRY = 2000, TIMEOUT = DEADLINE / 2 };

struct message {
    bool in_flight;
    enum lease_effect effect;
    char body[1024];
    int64_t sent_ms;
    int64_t arrives_ms; /* at the server; -1 = has arrived */
    int64_t answers_ms; /* back at the candidate */
    enum lease_event answer;
    enum error_code error;
    char lease[1024]; /* "" = none */
};

struct candidate {
    struct lease lease;
    struct message message;
    int64_t timer_ms; /* -1 = not set */
    int64_t paused_until_ms;
    int64_t clock_offset_ms;
    int64_t clock_num, clock_den; /* its monotonic clock's speed */
    int64_t began_ms;
};

struct world {
    struct candidate candidates[CANDIDATES];
    int64_t now_ms;
    char lease[1024]; /* spec JSON of the stored object; "" = none */
    uint64_t version;
    bool faults;
    bool wall_stopped;
    int64_t deleted_ms;
    struct rng rng;
};

static bool chance(struct world *w, uint32_t percent)
{
    return rng_below(&w->rng, 100) < percent;
}

/* Mostly short, at times nearly as long as the shell lets a request take. */
static int64_t latency_ms(struct world *w)
{
    uint64_t most = !w->faults ? 20 : chance(w, 15) ? TIMEOUT - 100 : 300;

    return 1 + (int64_t)rng_below(&w->rng, most);
}

static int64_t local_ms(const struct world *w, const struct candidate *c)
{
    return c->clock_offset_ms + w->now_ms * c->clock_num / c->clock_den;
}

static void take_output(struct world *w, struct candidate *c, const struct lease_output *out)
{
    if (out->timer_ms >= 0)
        c->timer_ms = w->now_ms + out->timer_ms * c->clock_den / c->clock_num;
    if (out->effect == LEASE_DO_NOTHING)
        return;

    struct message *m = &c->message;

    /* A shell has one request; what it gives up may still arrive: that is a fault of its own, made
     * by lost answers below. */
    *m = (struct message){
        .in_flight = true, .effect = out->effect, .sent_ms = w->now_ms };
    assert_true(out->body.len < sizeof(m->body));
    memcpy(m->body, out->body.at ? out->body.at : "", out->body.len);
    m->arrives_ms = w->now_ms + latency_ms(w);
    m->answers_ms = -1;
}

static void feed(struct world *w, struct candidate *c, enum lease_event event, const char *lease,
                 enum error_code error)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root = { NULL, 0 };
    struct error err;

    if (lease && *lease)
        assert_int_equal(json_read(arena, str_of(lease), &json_limits_default, &root, &err), 0);

    struct lease_input input = {
        .event = event,
        .lease = root,
        .error = error,
        .now_ms = local_ms(w, c),
        .now_wall_ms = w->wall_stopped ? 1000 : 1000000 + local_ms(w, c),
    };
    struct lease_output out =
        lease_step(&c->lease, &input, STR("l"), STR("n"), arena, &w->rng);

    if (out.began_leading)
        c->began_ms = w->now_ms;
    take_output(w, c, &out);
}

static void start(struct world *w, int i)
{
    struct candidate *c = &w->candidates[i];
    char name[32];
    int64_t begin_ms = w->now_ms;

    /* What no candidate can know: that somebody deleted the lease just before it began, while its
     * holder is paused; or deleted it twice between two looks. lease.c says so; manifests ship a
     * Lease. */
    if (w->deleted_ms && begin_ms < w->deleted_ms + DURATION)
        begin_ms = w->deleted_ms + DURATION;
    snprintf(name, sizeof(name), "c%d-%llu", i, (unsigned long long)rng_next(&w->rng));
    *c = (struct candidate){ .timer_ms = begin_ms + (int64_t)rng_below(&w->rng, 100),
                             .clock_num = 10, .clock_den = 10 };
    c->lease = lease_new(str_of(name), DURATION, DEADLINE, RETRY);
    c->clock_offset_ms = (int64_t)rng_below(&w->rng, 1000000);
    if (w->faults && chance(w, 20))
        c->clock_num = 13; /* 1.3 x fast */
}

/* Store the spec of `body` under the next version. */
static void store(struct world *w, const char *body)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root;
    struct error err;

    assert_int_equal(json_read(arena, str_of(body), &json_limits_default, &root, &err), 0);

    struct str spec = json_raw(json_get(root, STR("spec")));

    /* As a real server: what changes nothing makes no version. */
    if (w->lease[0] && str_ends(str_slice(str_of(w->lease), 0, strlen(w->lease) - 1), spec))
        return;
    snprintf(w->lease, sizeof(w->lease),
             "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"%llu\"},"
             "\"spec\":%.*s}",
             (unsigned long long)++w->version, STR_ARG(spec));
}

static bool version_matches(const struct world *w, const char *body)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root;
    struct kube_meta meta;
    struct error err;

    assert_int_equal(json_read(arena, str_of(body), &json_limits_default, &root, &err), 0);
    kube_meta_read(root, &meta);
    return str_eq(meta.resource_version, str_fmt(arena, "%llu", (unsigned long long)w->version));
}

static void serve(struct world *w, struct message *m)
{
    m->arrives_ms = -1;
    m->answer = m->effect == LEASE_DO_GET ? LEASE_READ : LEASE_WRITTEN;
    m->error = ERROR_NONE;
    if (m->effect == LEASE_DO_CREATE && w->lease[0])
        m->error = ERROR_ALREADY_EXISTS;
    else if (m->effect == LEASE_DO_UPDATE && !w->lease[0])
        m->error = ERROR_NOT_FOUND;
    else if (m->effect == LEASE_DO_UPDATE && !version_matches(w, m->body))
        m->error = ERROR_CONFLICT;
    else if (m->effect != LEASE_DO_GET)
        store(w, m->body);
    if (m->error != ERROR_NONE)
        m->answer = LEASE_FAILED;
    snprintf(m->lease, sizeof(m->lease), "%s", w->lease);
    m->answers_ms = w->now_ms + latency_ms(w);
    if (m->answers_ms > m->sent_ms + TIMEOUT) { /* taken, but nobody waits for the answer */
        m->answers_ms = m->sent_ms + TIMEOUT;
        m->answer = LEASE_FAILED;
        m->error = ERROR_TIMEOUT;
    }
    if (w->faults && chance(w, 15)) { /* its answer is lost */
        m->answer = LEASE_FAILED;
        m->error = ERROR_LOST;
    }
}

static void move_message(struct world *w, struct candidate *c)
{
    struct message *m = &c->message;

    if (!m->in_flight)
        return;
    if (m->arrives_ms >= 0 && m->arrives_ms <= w->now_ms) {
        if (w->faults && chance(w, 15)) { /* lost on the way */
            m->arrives_ms = -1;
            m->answer = LEASE_FAILED;
            m->error = ERROR_TIMEOUT;
            m->answers_ms = w->now_ms + 1;
        } else {
            serve(w, m);
        }
    }
    if (m->answers_ms >= 0 && m->answers_ms <= w->now_ms && c->paused_until_ms <= w->now_ms) {
        struct message answered = *m;

        m->in_flight = false;
        feed(w, c, answered.answer, answered.answer == LEASE_FAILED ? "" : answered.lease,
             answered.error);
    }
}

static void tick(struct world *w, int i)
{
    struct candidate *c = &w->candidates[i];

    move_message(w, c);
    if (c->paused_until_ms > w->now_ms)
        return;
    if (c->timer_ms >= 0 && c->timer_ms <= w->now_ms) {
        c->timer_ms = -1;
        feed(w, c, LEASE_TIMER, "", ERROR_NONE);
    }
    if (c->lease.state == LEASE_LOST || c->lease.state == LEASE_RELEASED)
        start(w, i); /* the process ended; another takes its place */
}

static void disturb(struct world *w)
{
    struct candidate *c = &w->candidates[rng_below(&w->rng, CANDIDATES)];

    switch (rng_below(&w->rng, 7)) {
    case 0:
    case 1:
        c->paused_until_ms = w->now_ms + 1000 + (int64_t)rng_below(&w->rng, 60000);
        break;
    case 2:
        if (w->deleted_ms && w->now_ms < w->deleted_ms + 4 * DURATION)
            return;
        for (int i = 0; i < CANDIDATES; i++)
            if (!w->candidates[i].lease.seen)
                return;
        w->lease[0] = '\0'; /* somebody deletes it */
        w->deleted_ms = w->now_ms;
        break;
    case 3:
        if (w->lease[0]) /* or blanks its holder */
            store(w, "{\"spec\":{\"holderIdentity\":\"\",\"leaseDurationSeconds\":15,"
                     "\"renewTime\":\"2020-01-01T00:00:00.000000Z\"}}");
        break;
    case 4:
        if (w->lease[0]) /* or puts a stranger there */
            store(w, "{\"spec\":{\"holderIdentity\":\"stranger\",\"leaseDurationSeconds\":"
                     "99999999,\"renewTime\":\"2020-01-01T00:00:01.000000Z\"}}");
        break;
    case 5:
        if (c->lease.state == LEASE_LEADING && c->paused_until_ms <= w->now_ms &&
            !c->message.in_flight)
            feed(w, c, LEASE_RELEASE, "", ERROR_NONE);
        break;
    case 6:
        w->wall_stopped = !w->wall_stopped;
        break;
    }
}

/* How many would send a change now. A paused one sends when it wakes, and asks then. */
static int actors(const struct world *w, int *ret_leader)
{
    int count = 0;

    for (int i = 0; i < CANDIDATES; i++) {
        const struct candidate *c = &w->candidates[i];

        if (c->lease.state != LEASE_LEADING || !lease_may_act(&c->lease, local_ms(w, c)))
            continue;
        count++;
        *ret_leader = i;
    }
    return count;
}

static void run(uint64_t seed)
{
    struct world w = { .rng = rng_from_seed(seed), .faults = true };
    int leader = -1;
    int terms = 0;
    char last[LEASE_IDENTITY_BYTES] = "";

    for (int i = 0; i < CANDIDATES; i++)
        start(&w, i);
    for (w.now_ms = 0; w.now_ms < 600000; w.now_ms += 50) {
        if (w.now_ms < 480000 && chance(&w, 1) && chance(&w, 30))
            disturb(&w);
        if (w.now_ms == 480000) {
            w.faults = false;
            for (int i = 0; i < CANDIDATES; i++)
                w.candidates[i].paused_until_ms = 0;
        }
        for (int i = 0; i < CANDIDATES; i++)
            tick(&w, i);

        int count = actors(&w, &leader);

        if (count > 1)
            fail_msg("seed %llu at %lld ms: %d may act at once", (unsigned long long)seed,
                     (long long)w.now_ms, count);
        if (count == 1 && strcmp(last, w.candidates[leader].lease.identity) != 0) {
            snprintf(last, sizeof(last), "%s", w.candidates[leader].lease.identity);
            terms++;
        }
    }
    if (actors(&w, &leader) != 1)
        fail_msg("seed %llu: nobody leads after the faults stopped", (unsigned long long)seed);
    if (terms == 0)
        fail_msg("seed %llu: nobody ever led", (unsigned long long)seed);
}

static void never_two_and_always_one_again(void **state)
{
    const char *seed = getenv("HERD_SEED");

    if (seed) {
        run(strtoull(seed, NULL, 10));
        return;
    }
    for (uint64_t i = 1; i <= RUNS; i++)
        run(i);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_two_and_always_one_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
