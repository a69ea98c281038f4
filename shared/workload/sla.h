/* SPDX-License-Identifier: Apache-2.0 */
/* sla.h: how many replicas of a model server keep its SLA, as a function of numbers alone: the same
 * inputs give the same decision, here and in `herd-controller replay`. Pure.
 *
 * The replicas are one M/M/c queue: requests arrive at random, each of c = replicas x concurrency
 * servers takes concurrency/service-rate for one, and who finds none free waits. Erlang's C formula
 * says how many wait, and how long (L. Kleinrock, Queueing Systems I, 3.5; A. K. Erlang 1917). */
#ifndef HERD_WORKLOAD_SLA_H
#define HERD_WORKLOAD_SLA_H

#include <stdbool.h>
#include <stdint.h>

#define SLA_REPLICAS_MAX 10000
#define SLA_CONCURRENCY_MAX 256
#define SLA_RATE_MAX 1000000000 /* thousandths of a request per second */

/* Rates in thousandths of a request per second, times in milliseconds since 1970. */
struct sla_load {
    int64_t request_rate;   /* that arrive, at all replicas together */
    int64_t service_rate;   /* that one replica can serve */
    int64_t concurrency;    /* requests that a replica serves at a time */
    int64_t max_latency_ms; /* 0 = any */
    int64_t permille;       /* of the requests that keep it: 990 = 99 % */
    int64_t min_throughput; /* that all replicas together can serve at least */
};

struct sla_need {
    int64_t replicas; /* SLA_REPLICAS_MAX if even so many are not enough: */
    bool enough;
    bool reachable; /* false: one request alone takes longer than max_latency_ms; `replicas` are
                         those that serve all requests */
};
/* The smallest number of replicas that keeps the SLA, at least 1. */
struct sla_need sla_replicas(const struct sla_load *load);

enum sla_reason {
#define SLA_REASON(id, name, active, limited, sentence) SLA_##id,
#include "workload/sla_reasons.def"
#undef SLA_REASON
    SLA_REASONS
};

enum sla_source {
    SLA_UNKNOWN,
    SLA_DECLARED, /* in the spec */
    SLA_MEASURED, /* by Prometheus */
    SLA_SOURCES
};

/* All that a decision goes by. */
struct sla_inputs {
    struct sla_load load;
    enum sla_source request_rate_source; /* DECLARED: min_throughput stands for it */
    enum sla_source service_rate_source; /* UNKNOWN: nothing can be computed */
    bool has_sla;
    bool metrics_lost;     /* they were measured before, and are not now */
    int64_t unscraped;     /* ready pods that a MEASURED load is without */
    int64_t spec_replicas; /* where nothing can be computed */
    int64_t min_replicas;  /* of an autoscaler, then in their place; 0 = none */
    int64_t max_replicas;  /* 0 = SLA_REPLICAS_MAX */
    int64_t gpus_per_replica;
    int64_t gpu_budget; /* of all replicas; 0 = none */
    int64_t stabilization_ms;
    int64_t now_ms;
    int64_t previous; /* what was decided before; 0 = nothing, or none */
    /* Fewer are wanted since then, and at most so many; 0 = they are not. */
    int64_t fewer_since_ms, fewer;
};

struct sla_decision {
    int64_t replicas;
    enum sla_reason reason;
    int64_t fewer_since_ms, fewer; /* as in the inputs, for the next time */
};

/* More replicas at once; fewer only after as many were enough for all of `stabilization_ms`, where
 * the load is measured, and that of all ready pods. Never more than the GPU budget and max_replicas
 * allow. */
struct sla_decision sla_decide(const struct sla_inputs *inputs);

#endif
