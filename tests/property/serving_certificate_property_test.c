/* SPDX-License-Identifier: Apache-2.0 */
/* serving_certificate_property_test.c: a writer that is killed before and after any write, whose
 * writes may arrive long after its death, clocks that jump, and people who delete and garble the
 * objects. Laws, at every step:
 *   what stands in the leaf Secret, and what stood there within the time that a kubelet may take,
 *   verifies against caBundle of every configuration;
 *   a certificate that works gives way to one of another CA only when every caBundle held that CA
 *   for the whole settle time.
 * When the faults stop all is well again, and then nothing is written. Each fault costs a few
 * writes, never a storm. Certificates are numbers here; their PEM is "ca7\n". */
#include "support/rows.h"

#include "base/rng.h"
#include "kube/limits.h"
#include "kube/serving_certificate.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 400, STEPS = 400, CALM_STEPS = 400, CONFIGURATIONS = 2 };
enum { CAS_MAX = 4000, OLD_MAX = 64, WRITES_PER_FAULT = 12, WRITES_OF_TIME = 40 };
#define DAY ((int64_t)24 * 3600 * 1000)
#define SETTLE LIMIT_CERTIFICATE_SETTLE

static const struct serving_policy policy = {
    .leaf_lifetime_ms = 90 * DAY,
    .leaf_renew_before_ms = 30 * DAY,
    .ca_lifetime_ms = 365 * DAY,
    .ca_renew_before_ms = 120 * DAY,
    .settle_ms = SETTLE,
};

struct dates {
    int64_t not_before_ms, not_after_ms;
};

struct slot {
    int ca; /* 0 = empty or garbled */
    bool key;
};

struct leaf {
    int issuer; /* 0 = there is none */
    struct dates dates;
    int64_t gone_ms; /* of an old one: monotonic */
};

struct configuration {
    bool exists;
    uint64_t version;
    bool uneven;
    int cas[LIMIT_CERTIFICATE_BUNDLE];
    uint32_t count;
};

struct write {
    struct serving_step step;
    uint64_t version; /* of the object that it was planned on */
    bool waits;
    char text[1024];
};

struct world {
    struct rng rng;
    uint64_t seed;
    int64_t now_ms, wall_ms;
    struct dates cas[CAS_MAX];
    int64_t trusted_since_ms[CAS_MAX]; /* by every configuration; -1 = not */
    int ca_count;
    struct slot current, next;
    int previous;
    uint64_t ca_version;
    struct leaf leaf;
    uint64_t leaf_version;
    struct leaf old[OLD_MAX];
    int old_count;
    struct configuration configurations[CONFIGURATIONS];
    bool harmed; /* somebody did what no order of writes can make good at once */
    struct serving_memory memory;
    struct write late; /* of a process that is dead */
    int writes, faults;
    int rests; /* in a row */
};

static bool chance(struct world *w, uint32_t percent)
{
    return rng_below(&w->rng, 100) < percent;
}

static struct str pem_of(struct arena *arena, int ca)
{
    return ca ? str_fmt(arena, "ca%d\n", ca) : STR("");
}

static int new_ca(struct world *w, int64_t not_before_ms, int64_t not_after_ms)
{
    assert_true(w->ca_count + 1 < CAS_MAX);
    w->cas[++w->ca_count] = (struct dates){ not_before_ms, not_after_ms };
    w->trusted_since_ms[w->ca_count] = -1;
    return w->ca_count;
}

static bool believes(const struct configuration *configuration, int ca)
{
    if (!configuration->exists)
        return true;
    for (uint32_t i = 0; i < configuration->count && !configuration->uneven; i++)
        if (configuration->cas[i] == ca)
            return true;
    return false;
}

static bool all_believe(const struct world *w, int ca)
{
    return believes(&w->configurations[0], ca) && believes(&w->configurations[1], ca);
}

static void track(struct world *w)
{
    for (int ca = 1; ca <= w->ca_count; ca++) {
        if (!all_believe(w, ca))
            w->trusted_since_ms[ca] = -1;
        else if (w->trusted_since_ms[ca] < 0)
            w->trusted_since_ms[ca] = w->now_ms;
    }
}

/* What the writer sees. */

static struct serving_ca seen_ca(const struct world *w, struct arena *arena, int ca, bool key)
{
    return (struct serving_ca){ pem_of(arena, ca), w->cas[ca].not_before_ms,
                                w->cas[ca].not_after_ms, key };
}

static struct serving_bundle seen_bundle(const struct world *w, struct arena *arena, int i)
{
    const struct configuration *configuration = &w->configurations[i];
    struct serving_bundle bundle = { .exists = configuration->exists,
                                     .even = !configuration->uneven,
                                     .cas = serving_cas_new(arena, 4) };
    struct strbuf text = strbuf_new(arena, 256);

    for (uint32_t k = 0; k < configuration->count; k++) {
        serving_cas_push(&bundle.cas, seen_ca(w, arena, configuration->cas[k], false));
        strbuf_put(&text, pem_of(arena, configuration->cas[k]));
    }
    bundle.text = strbuf_str(&text);
    return bundle;
}

static bool is_known(const struct world *w, int ca)
{
    if (ca == w->current.ca || ca == w->next.ca || ca == w->previous)
        return true;
    for (int i = 0; i < CONFIGURATIONS; i++)
        for (uint32_t k = 0; k < w->configurations[i].count; k++)
            if (w->configurations[i].exists && w->configurations[i].cas[k] == ca)
                return true;
    return false;
}

static struct serving_step plan(struct world *w, struct arena *arena)
{
    struct serving_bundle bundles[CONFIGURATIONS];

    for (int i = 0; i < CONFIGURATIONS; i++)
        bundles[i] = seen_bundle(w, arena, i);

    const struct serving_facts facts = {
        .ca = { seen_ca(w, arena, w->current.ca, w->current.key),
                seen_ca(w, arena, w->next.ca, w->next.key),
                seen_ca(w, arena, w->previous, false) },
        .leaf = { w->leaf.issuer != 0, w->leaf.dates.not_before_ms, w->leaf.dates.not_after_ms,
                  pem_of(arena, is_known(w, w->leaf.issuer) ? w->leaf.issuer : 0) },
        .bundles = bundles,
        .bundle_count = CONFIGURATIONS,
        .now_wall_ms = w->wall_ms,
        .now_ms = w->now_ms,
    };

    return serving_step(&w->memory, &facts, &policy, arena);
}

/* Writes. */

static void complain(const struct world *w, const char *what, int ca)
{
    fail_msg("HERD_SEED=%llu at %lld ms: %s (ca%d; current ca%d, next ca%d, previous ca%d)",
             (unsigned long long)w->seed, (long long)w->now_ms, what, ca, w->current.ca, w->next.ca,
             w->previous);
}

static void replace_leaf(struct world *w, struct leaf leaf)
{
    if (w->leaf.issuer) {
        struct leaf old = w->leaf;

        old.gone_ms = w->now_ms;
        assert_true(w->old_count < OLD_MAX);
        w->old[w->old_count++] = old;
    }
    w->leaf = leaf;
    w->leaf_version++;
}

static void issue_leaf(struct world *w, const struct serving_step *step)
{
    const struct leaf *leaf = &w->leaf;
    int ca = w->current.ca;
    bool works = leaf->issuer && leaf->dates.not_before_ms <= w->wall_ms &&
                 w->wall_ms < leaf->dates.not_after_ms - SETTLE && is_known(w, leaf->issuer);

    if (works && !w->harmed && leaf->issuer != ca &&
        (w->trusted_since_ms[ca] < 0 || w->now_ms - w->trusted_since_ms[ca] < SETTLE))
        complain(w, "signs before every API server believes it", ca);
    if (step->not_after_ms > w->cas[ca].not_after_ms)
        complain(w, "outlives its CA", ca);
    replace_leaf(w, (struct leaf){ ca, { step->not_before_ms, step->not_after_ms }, 0 });
}

static void write_bundle(struct configuration *configuration, const char *text)
{
    char copy[1024];
    char *at = copy;

    snprintf(copy, sizeof(copy), "%s", text);
    configuration->count = 0;
    configuration->uneven = false;
    configuration->version++;
    for (char *line = strsep(&at, "\n"); line; line = strsep(&at, "\n"))
        if (*line)
            configuration->cas[configuration->count++] = atoi(line + 2);
}

static uint64_t version_of(const struct world *w, const struct serving_step *step)
{
    if (step->action == SERVING_WRITE_BUNDLE)
        return w->configurations[step->bundle].version;
    return step->action == SERVING_ISSUE_LEAF ? w->leaf_version : w->ca_version;
}

/* As the shell: the precondition is the object's version. */
static void land(struct world *w, const struct write *write)
{
    const struct serving_step *step = &write->step;

    if (version_of(w, step) != write->version)
        return;
    w->writes++;
    switch (step->action) {
    case SERVING_REST:
        return;
    case SERVING_ISSUE_CA:
        w->previous = w->current.ca ? w->current.ca : w->previous;
        w->current = (struct slot){ new_ca(w, step->not_before_ms, step->not_after_ms), true };
        break;
    case SERVING_ISSUE_NEXT:
        w->next = (struct slot){ new_ca(w, step->not_before_ms, step->not_after_ms), true };
        break;
    case SERVING_PROMOTE:
        w->previous = w->current.ca ? w->current.ca : w->previous;
        w->current = w->next;
        w->next = (struct slot){ 0 };
        break;
    case SERVING_FORGET:
        w->previous = 0;
        break;
    case SERVING_WRITE_BUNDLE:
        write_bundle(&w->configurations[step->bundle], write->text);
        return;
    case SERVING_ISSUE_LEAF:
        issue_leaf(w, step);
        return;
    }
    w->ca_version++;
}

/* What goes wrong. */

static void restart(struct world *w)
{
    w->memory = (struct serving_memory){ 0 };
}

static void disturb_clock(struct world *w)
{
    static const int64_t steps[] = { 40 * DAY,  -3600 * 1000, 7 * DAY,  -7 * DAY, 100 * DAY,
                                     -40 * DAY, 400 * DAY,    -2 * DAY, 30 * DAY };

    w->wall_ms += steps[rng_below(&w->rng, sizeof(steps) / sizeof(steps[0]))];
}

static void disturb_configuration(struct world *w)
{
    struct configuration *configuration =
        &w->configurations[rng_below(&w->rng, CONFIGURATIONS)];

    switch (rng_below(&w->rng, 4)) {
    case 0: /* deleted, and made again without caBundle */
        configuration->exists = !configuration->exists;
        configuration->count = 0;
        break;
    case 1:
        configuration->count = 0;
        break;
    case 2:
        configuration->uneven = true;
        break;
    case 3: /* somebody adds a CA of theirs, which harms nobody */
        if (configuration->exists && configuration->count < 6)
            configuration->cas[configuration->count++] =
                new_ca(w, w->wall_ms - DAY, w->wall_ms + 100 * DAY);
        configuration->version++;
        return;
    }
    configuration->version++;
    w->harmed = true;
}

static void disturb_ca(struct world *w)
{
    switch (rng_below(&w->rng, 5)) {
    case 0: /* deleted */
        w->current = w->next = (struct slot){ 0 };
        w->previous = 0;
        break;
    case 1:
        w->current.key = false;
        break;
    case 2:
        w->next.key = false;
        break;
    case 3: /* somebody else's, or an expired one */
        w->current = (struct slot){
            new_ca(w, w->wall_ms - DAY, w->wall_ms + (chance(w, 50) ? 500 : -1) * DAY), true
        };
        break;
    case 4:
        w->previous = 0;
        break;
    }
    w->ca_version++;
}

static void disturb_leaf(struct world *w)
{
    if (chance(w, 50)) {
        replace_leaf(w, (struct leaf){ 0 });
        return;
    }
    replace_leaf(w, (struct leaf){ new_ca(w, 0, INT64_MAX / 2),
                                   { w->wall_ms - DAY, w->wall_ms + 10 * DAY }, 0 });
    w->harmed = true;
}

static void disturb(struct world *w)
{
    w->faults++;
    w->rests = 0;
    switch (rng_below(&w->rng, 6)) {
    case 0:
    case 1:
        disturb_clock(w);
        break;
    case 2:
        disturb_ca(w);
        break;
    case 3:
        disturb_leaf(w);
        break;
    case 4:
        disturb_configuration(w);
        break;
    case 5:
        restart(w);
        break;
    }
}

/* Laws. */

static void forget_old(struct world *w)
{
    int kept = 0;

    for (int i = 0; i < w->old_count; i++)
        if (!w->harmed && w->now_ms - w->old[i].gone_ms < SETTLE)
            w->old[kept++] = w->old[i];
    w->old_count = kept;
}

static void check(struct world *w)
{
    track(w);
    forget_old(w);
    if (w->harmed)
        return;
    if (w->leaf.issuer && !all_believe(w, w->leaf.issuer))
        complain(w, "the certificate does not verify", w->leaf.issuer);
    for (int i = 0; i < w->old_count; i++)
        if (!all_believe(w, w->old[i].issuer))
            complain(w, "one that a server may still show does not verify", w->old[i].issuer);
}

static void turn(struct world *w, bool faults)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct write write = { .step = plan(w, arena), .waits = true };

    if (write.step.action == SERVING_REST) {
        int64_t wait_ms = write.step.look_again_ms;

        assert_true(wait_ms > 0 && wait_ms <= LIMIT_CERTIFICATE_LOOK);
        /* Long sleeps of the whole machine count as well. */
        if (faults && chance(w, 5))
            wait_ms += (int64_t)rng_below(&w->rng, 2 * SETTLE);
        w->now_ms += wait_ms;
        w->wall_ms += wait_ms;
        w->harmed = false;
        w->rests++;
        return;
    }
    w->rests = 0;
    write.version = version_of(w, &write.step);
    snprintf(write.text, sizeof(write.text), "%.*s", STR_ARG(write.step.text));
    write.step.text = STR("");
    if (faults && chance(w, 10)) { /* killed before it; or it is late */
        if (chance(w, 50))
            w->late = write;
        restart(w);
        return;
    }
    land(w, &write);
    if (faults && chance(w, 10)) /* killed after it */
        restart(w);
}

static bool has_next(const struct world *w)
{
    return w->next.ca && w->next.key && w->cas[w->next.ca].not_before_ms <= w->wall_ms &&
           w->wall_ms < w->cas[w->next.ca].not_after_ms;
}

static void run(uint64_t seed)
{
    static struct world w;

    w = (struct world){ .rng = rng_from_seed(seed), .seed = seed, .wall_ms = 20000 * DAY };
    for (int i = 0; i < CONFIGURATIONS; i++)
        w.configurations[i].exists = chance(&w, 80);
    for (int i = 0; i < STEPS; i++) {
        turn(&w, true);
        check(&w);
        if (chance(&w, 8))
            disturb(&w);
        if (w.late.waits && chance(&w, 10)) {
            land(&w, &w.late);
            w.late.waits = false;
        }
        check(&w);
    }
    for (int i = 0; i < CALM_STEPS; i++) {
        turn(&w, false);
        check(&w);
    }
    if (w.rests < 20)
        complain(&w, "still writes long after the faults stopped", 0);
    if (!w.leaf.issuer || w.leaf.issuer != w.current.ca || !w.current.key || w.previous)
        complain(&w, "is not in order long after the faults stopped", w.leaf.issuer);
    if (w.leaf.dates.not_before_ms > w.wall_ms ||
        w.wall_ms >= w.leaf.dates.not_after_ms - policy.leaf_renew_before_ms)
        complain(&w, "the certificate was not renewed", w.leaf.issuer);
    for (int i = 0; i < CONFIGURATIONS; i++)
        if (w.configurations[i].exists &&
            w.configurations[i].count > (has_next(&w) ? 2u : 1u))
            complain(&w, "caBundle keeps what nobody shows", w.leaf.issuer);
    if (w.writes > WRITES_OF_TIME + w.faults * WRITES_PER_FAULT)
        complain(&w, "a storm of writes", w.writes);
}

static void what_is_shown_is_believed(void **state)
{
    const char *seed = getenv("HERD_SEED");

    (void)state;
    if (seed) {
        run(strtoull(seed, NULL, 10));
        return;
    }
    for (uint64_t i = 1; i <= RUNS; i++)
        run(i);
}

/* A clock that runs from one renewal to the next for twenty years, and a writer that is never
 * disturbed: as many writes as there are renewals, and nothing in between. */
static void twenty_quiet_years(void **state)
{
    static struct world w;

    (void)state;
    w = (struct world){ .rng = rng_from_seed(1), .wall_ms = 20000 * DAY };
    w.configurations[0].exists = w.configurations[1].exists = true;
    for (int64_t day = 0; day < 20 * 365; day++) {
        for (int i = 0; i < 200; i++) {
            turn(&w, false);
            check(&w);
        }
        w.wall_ms += DAY;
    }
    /* A leaf each 60 days and at each CA's promotion; a CA each 245 days, with six writes more. */
    rows_expect("writes of twenty years", w.writes > 200 && w.writes < 480, "count");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_is_believed),
        cmocka_unit_test(twenty_quiet_years),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
