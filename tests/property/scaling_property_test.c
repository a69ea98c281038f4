/* SPDX-License-Identifier: Apache-2.0 */
/* scaling_property_test.c: laws of the replicas that follow from an SLA: they are those of an exact M/M/c solver; a decision that is
 * stored and read back is decided again; and on the way from one number of GPUs to another no step is over the budget.
 *
 * HERD_CASES sets how many cases each law gets; a failure prints its HERD_SEED. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "base/rng.h"
#include "text/json_write.h"
#include "workload/gpu_steps.h"
#include "workload/scaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void for_each_case(uint64_t count, void (*law)(struct arena *arena, struct rng *rng, const char *seed))
{
    uint64_t only = number_from("HERD_SEED", 0);
    uint64_t cases = only ? 1 : number_from("HERD_CASES", count);

    for (uint64_t i = 1; i <= cases; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        uint64_t seed = only ? only : i;
        struct rng rng = rng_from_seed(seed);

        law(arena, &rng, str_fmt(arena, "HERD_SEED=%" PRIu64, seed).at);
    }
}

static int64_t between(struct rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(rng, (uint32_t)(high - low + 1));
}

/* --- M/M/c, from its definition: the sum of all states' probabilities, in logarithms --- */

/* The logarithm of the probability to wait at all (Erlang's C). */
static long double log_wait(long double a, int64_t c)
{
    long double top = (long double)c * logl(a) - lgammal((long double)c + 1) + logl((long double)c / ((long double)c - a));
    long double greatest = top, sum = 0;

    for (int64_t k = 0; k < c; k++)
        greatest = fmaxl(greatest, (long double)k * logl(a) - lgammal((long double)k + 1));
    for (int64_t k = 0; k < c; k++)
        sum += expl((long double)k * logl(a) - lgammal((long double)k + 1) - greatest);
    sum += expl(top - greatest);
    return top - greatest - logl(sum);
}

static bool keeps_latency(const struct sla_load *load, int64_t replicas)
{
    long double service = (long double)load->concurrency * 1e3L / (long double)load->service_rate; /* s */
    long double a = (long double)load->request_rate / 1e3L * service;
    long double late = 1 - (long double)load->permille / 1000;
    int64_t c = replicas * load->concurrency;

    return log_wait(a, c) - ((long double)c - a) * ((long double)load->max_latency_ms / 1e3L - service) / service <= logl(late);
}

static int64_t exact(const struct sla_load *load, bool *ret_reachable)
{
    int64_t replicas = 1;

    *ret_reachable = load->max_latency_ms * load->service_rate >= load->concurrency * 1000000;
    for (;; replicas++) {
        bool serves = replicas * load->service_rate >= load->min_throughput && replicas * load->service_rate > load->request_rate;

        if (serves && (!*ret_reachable || !load->request_rate || keeps_latency(load, replicas)))
            return replicas;
    }
}

static void an_exact_solver_gives_the_same(struct arena *arena, struct rng *rng, const char *seed)
{
    struct sla_load load = {
        .service_rate = between(rng, 50, 50000),
        .concurrency = between(rng, 0, 2) ? between(rng, 1, 8) : between(rng, 1, 64),
        .permille = (int64_t[]){ 500, 900, 950, 990, 999 }[between(rng, 0, 4)],
    };
    int64_t service_ms = load.concurrency * 1000000 / load.service_rate + 1;
    bool reachable;
    struct sla_need need;
    int64_t expected;

    (void)arena;
    load.request_rate = between(rng, 0, 20) * load.service_rate * between(rng, 0, 100) / 100;
    load.min_throughput = between(rng, 0, 1) ? between(rng, 0, 30) * load.service_rate / 2 : 0;
    load.max_latency_ms = between(rng, service_ms / 2 + 1, service_ms * 3);
    expected = exact(&load, &reachable);
    need = sla_replicas(&load);
    rows_expect_int(seed, need.replicas, expected);
    rows_expect_int(seed, need.reachable, reachable);
}

/* --- stored decisions --- */

static struct sla_inputs any_inputs(struct rng *rng)
{
    bool measured = between(rng, 0, 1);
    int64_t previous = between(rng, 0, 12);

    return (struct sla_inputs){
        .load = { .request_rate = between(rng, 0, 60000),
                  .service_rate = between(rng, 0, 8) ? between(rng, 1, 9000) : 0,
                  .concurrency = between(rng, 1, 256),
                  .max_latency_ms = between(rng, 0, 20000),
                  .permille = between(rng, 500, 999),
                  .min_throughput = between(rng, 0, 30000) },
        .request_rate_source = measured ? SLA_MEASURED : SLA_DECLARED,
        .service_rate_source = (enum sla_source)between(rng, 0, SLA_SOURCES - 1),
        .has_sla = between(rng, 0, 9) > 0,
        .metrics_lost = measured && !between(rng, 0, 4),
        .unscraped = measured && between(rng, 0, 1) ? between(rng, 1, 12) : 0,
        .spec_replicas = between(rng, 0, 9),
        .max_replicas = between(rng, 0, 1) ? between(rng, 1, 20) : 0,
        .gpus_per_replica = between(rng, 0, 8),
        .gpu_budget = between(rng, 0, 1) ? between(rng, 8, 64) : 0,
        .stabilization_ms = between(rng, 0, 600) * 1000,
        .now_ms = 1760000000000 + between(rng, 0, 100000),
        .previous = previous,
        .fewer_since_ms = previous > 0 && between(rng, 0, 1) ? 1760000000000 - between(rng, 0, 900) * 1000 : 0,
        .fewer = between(rng, 1, 12),
    };
}

static void a_stored_decision_is_decided_again(struct arena *arena, struct rng *rng, const char *seed)
{
    struct sla_inputs inputs = any_inputs(rng), read_back;
    struct strbuf text = strbuf_new(arena, 1024);
    struct json_writer w = json_writer(&text);
    struct scaling decided, stored, again;

    decided = scaling_decide(arena, &inputs, 7);
    json_open_object(&w);
    json_put_key(&w, STR("status"));
    json_open_object(&w);
    scaling_write(arena, &decided, &w);
    json_close_object(&w);
    json_close_object(&w);
    stored = scaling_read(arena, test_json(arena, strbuf_str(&text)));
    read_back = scaling_inputs_of(&stored);
    again = scaling_decide(arena, &read_back, 7);
    if (!scaling_equal(&decided, &again))
        fail_msg("%s: decided %lld, again %lld, of %.*s", seed, (long long)decided.replicas, (long long)again.replicas,
                 STR_ARG(strbuf_str(&text)));
    if (inputs.gpu_budget)
        assert_true(decided.replicas * inputs.gpus_per_replica <= inputs.gpu_budget);
    if (inputs.has_sla && inputs.request_rate_source == SLA_MEASURED && inputs.now_ms - decided.fewer_since_ms < 1000 &&
        decided.fewer_since_ms && !inputs.max_replicas && !inputs.gpu_budget)
        rows_expect_int(seed, decided.replicas, inputs.previous);
}

/* A load that lacks some pods is less than there is: what was decided is the least, but for what limits it. */
static void a_partial_load_lowers_nothing(struct arena *arena, struct rng *rng, const char *seed)
{
    struct sla_inputs inputs = any_inputs(rng);
    struct sla_decision decided;

    (void)arena;
    inputs.has_sla = true;
    inputs.request_rate_source = inputs.service_rate_source = SLA_MEASURED;
    inputs.load.service_rate = between(rng, 1, 9000);
    inputs.max_replicas = inputs.gpu_budget = 0;
    inputs.unscraped = between(rng, 1, 12);
    decided = sla_decide(&inputs);
    if (decided.replicas < inputs.previous)
        fail_msg("%s: %lld replicas, previously %lld", seed, (long long)decided.replicas, (long long)inputs.previous);
    if (!inputs.metrics_lost && sla_replicas(&inputs.load).replicas > inputs.previous)
        rows_expect_int(seed, decided.replicas, sla_replicas(&inputs.load).replicas);
}

/* --- pods of a StatefulSet, as its controller changes them: any of what it may do next, in any order --- */

enum { PODS = 24 };

struct set {
    int64_t replicas, gpus; /* as applied */
    int64_t pods[PODS];     /* GPUs of the pod with that ordinal; -1 = there is none */
    bool going[PODS];       /* it is being deleted */
};

static int64_t total(const struct set *set)
{
    int64_t sum = 0;

    for (int i = 0; i < PODS; i++)
        sum += set->pods[i] > 0 ? set->pods[i] : 0;
    return sum;
}

static void move(struct set *set, struct rng *rng)
{
    int i = (int)between(rng, 0, PODS - 1);

    if (set->pods[i] < 0) {
        if (i < set->replicas)
            set->pods[i] = set->gpus;
    } else if (set->going[i]) {
        set->pods[i] = -1;
        set->going[i] = false;
    } else if (i >= set->replicas || set->pods[i] != set->gpus) {
        set->going[i] = true;
    }
}

static struct gpu_state state_of(struct arena *arena, const struct set *set)
{
    struct gpu_state state = { set->replicas, set->gpus, gpu_pods_new(arena, PODS) };

    for (int i = 0; i < PODS; i++)
        if (set->pods[i] >= 0)
            gpu_pods_push(&state.pods, (struct gpu_pod){ i, set->pods[i] });
    return state;
}

static bool is_there(const struct set *set, struct gpu_step wanted)
{
    for (int i = 0; i < PODS; i++)
        if (set->going[i] || set->pods[i] != (i < wanted.replicas ? wanted.gpus : -1))
            return false;
    return set->replicas == wanted.replicas && set->gpus == wanted.gpus;
}

static void no_step_is_over_the_budget(struct arena *arena, struct rng *rng, const char *seed)
{
    const int64_t budget = between(rng, 8, 20);
    struct set set = { .replicas = -1 };
    struct gpu_step wanted = { 0, 1 };

    for (int i = 0; i < PODS; i++)
        set.pods[i] = -1;
    for (int turn = 0; turn < 6; turn++) {
        wanted = (struct gpu_step){ between(rng, 0, PODS - 4), between(rng, 0, 8) };
        for (int moves = turn == 5 ? 20000 : (int)between(rng, 0, 200); moves > 0; moves--) {
            struct gpu_state state = state_of(arena, &set);
            struct gpu_step step = gpu_step_next(&state, wanted, budget);

            if (between(rng, 0, 2) == 0) {
                set.replicas = step.replicas;
                set.gpus = step.gpus;
            }
            if (set.replicas >= 0)
                move(&set, rng);
            if (total(&set) > budget)
                fail_msg("%s: %lld GPUs with a budget of %lld", seed, (long long)total(&set), (long long)budget);
        }
    }
    if (wanted.gpus && wanted.replicas > budget / wanted.gpus)
        wanted.replicas = budget / wanted.gpus;
    if (!is_there(&set, wanted))
        fail_msg("%s: not there in the end: %lld x %lld, wanted %lld x %lld", seed, (long long)set.replicas, (long long)set.gpus,
                 (long long)wanted.replicas, (long long)wanted.gpus);
}

static void replicas_are_those_of_an_exact_solver(void **state)
{
    (void)state;
    for_each_case(10000, an_exact_solver_gives_the_same);
}

static void decisions_can_be_computed_again(void **state)
{
    (void)state;
    for_each_case(3000, a_stored_decision_is_decided_again);
}

static void pods_that_are_not_scraped_lower_nothing(void **state)
{
    (void)state;
    for_each_case(3000, a_partial_load_lowers_nothing);
}

static void the_budget_holds_at_every_step(void **state)
{
    (void)state;
    for_each_case(100, no_step_is_over_the_budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_are_those_of_an_exact_solver),
        cmocka_unit_test(decisions_can_be_computed_again),
        cmocka_unit_test(pods_that_are_not_scraped_lower_nothing),
        cmocka_unit_test(the_budget_holds_at_every_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
