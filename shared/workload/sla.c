/* SPDX-License-Identifier: Apache-2.0 */
/* sla.c: see sla.h.
 *
 * Erlang's B (who finds no server free, if nobody waits) by its recurrence, which neither overflows
 * nor cancels: B(0) = 1, B(c) = a B(c-1) / (c + a B(c-1)), a = arrivals per time of service. Of all
 * requests C = B / (1 - (a/c)(1 - B)) wait, and C exp(-(c - a) t / time of service) longer than t.
 */
#include "workload/sla.h"

#include <math.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many serve that rate, rounded up; a queue as fast as its arrivals grows without end. */
static int64_t replicas_for(int64_t rate, int64_t service_rate, bool queued)
{
    int64_t replicas = rate / service_rate + (queued || rate % service_rate != 0);

    return replicas < 1 ? 1 : least(replicas, SLA_REPLICAS_MAX + 1);
}

/* How many of all requests wait longer than `wait` times of service, at c servers. */
static double waiting(double b, double a, double c, double wait)
{
    double delayed = b / (1 - a / c * (1 - b));

    return delayed * exp(-(c - a) * wait);
}

/* From `need` on, until the latency is kept. */
static int64_t replicas_in_time(const struct sla_load *load, int64_t replicas, double wait)
{
    const double a =
        (double)load->request_rate * (double)load->concurrency / (double)load->service_rate;
    const double late = 1 - (double)load->permille / 1000;
    int64_t c = 0;
    double b = 1;

    for (; replicas <= SLA_REPLICAS_MAX; replicas++) {
        for (; c < replicas * load->concurrency; c++)
            b = a * b / ((double)(c + 1) + a * b);
        if (waiting(b, a, (double)c, wait) <= late)
            break;
    }
    return replicas;
}

struct sla_need sla_replicas(const struct sla_load *load)
{
    const double service_ms =
        (double)load->concurrency * 1e6 / (double)load->service_rate; /* of one request */
    const double wait = ((double)load->max_latency_ms - service_ms) / service_ms;
    struct sla_need need = { .replicas = 1, .reachable = true };

    if (load->request_rate)
        need.replicas = replicas_for(load->request_rate, load->service_rate, true);
    if (need.replicas < replicas_for(load->min_throughput, load->service_rate, false))
        need.replicas = replicas_for(load->min_throughput, load->service_rate, false);
    if (load->max_latency_ms)
        need.reachable = wait >= 0;
    if (load->max_latency_ms && need.reachable && load->request_rate)
        need.replicas = replicas_in_time(load, need.replicas, wait);
    need.enough = need.replicas <= SLA_REPLICAS_MAX;
    need.replicas = least(need.replicas, SLA_REPLICAS_MAX);
    return need;
}

/* --- decisions --- */

/* Fewer than before only after a while: `wanted`, or what there was. */
static int64_t stabilized(const struct sla_inputs *inputs, int64_t wanted,
                          struct sla_decision *decision)
{
    decision->fewer_since_ms = 0;
    decision->fewer = 0;
    if (!inputs->previous || wanted >= inputs->previous ||
        inputs->request_rate_source != SLA_MEASURED)
        return wanted;
    decision->fewer_since_ms = inputs->fewer_since_ms ? inputs->fewer_since_ms : inputs->now_ms;
    decision->fewer = inputs->fewer_since_ms && inputs->fewer > wanted ? inputs->fewer : wanted;
    if (inputs->now_ms - decision->fewer_since_ms < inputs->stabilization_ms) {
        decision->reason = SLA_STABILIZING;
        return inputs->previous;
    }
    wanted = decision->fewer;
    decision->fewer_since_ms = 0;
    decision->fewer = 0;
    return wanted;
}

static void limit(struct sla_decision *decision, int64_t most, enum sla_reason reason)
{
    if (decision->replicas <= most)
        return;
    decision->replicas = most;
    decision->reason = reason;
}

struct sla_decision sla_decide(const struct sla_inputs *inputs)
{
    struct sla_decision decision = { .reason = SLA_COMPUTED };
    int64_t fixed = inputs->min_replicas ? inputs->min_replicas : inputs->spec_replicas;

    if (!inputs->has_sla) {
        decision.reason = SLA_FIXED;
        decision.replicas = fixed;
    } else if (inputs->metrics_lost && inputs->previous) {
        decision.reason = SLA_METRICS_LOST;
        decision.replicas = inputs->previous;
    } else if (inputs->service_rate_source == SLA_UNKNOWN || inputs->load.service_rate < 1 ||
               inputs->load.concurrency < 1) {
        decision.reason = SLA_RATE_UNKNOWN;
        decision.replicas = fixed;
    } else {
        struct sla_need need = sla_replicas(&inputs->load);

        decision.reason = !need.enough     ? SLA_TOO_MANY
                          : need.reachable ? SLA_COMPUTED
                                           : SLA_UNREACHABLE;
        if (inputs->unscraped && need.replicas < inputs->previous) {
            decision.reason = SLA_PODS_UNSCRAPED;
            decision.replicas = inputs->previous;
        } else {
            decision.replicas = stabilized(inputs, need.replicas, &decision);
        }
    }
    if (decision.replicas < inputs->min_replicas)
        decision.replicas = inputs->min_replicas;
    if (inputs->max_replicas)
        limit(&decision, inputs->max_replicas, SLA_MAX_REPLICAS);
    if (inputs->gpu_budget && inputs->gpus_per_replica)
        limit(&decision, inputs->gpu_budget / inputs->gpus_per_replica, SLA_GPU_BUDGET);
    return decision;
}
