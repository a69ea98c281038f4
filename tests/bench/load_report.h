/* SPDX-License-Identifier: Apache-2.0 */
/* load_report.h: latencies, and what a process cost meanwhile. */
#ifndef HERD_TESTS_BENCH_LOAD_REPORT_H
#define HERD_TESTS_BENCH_LOAD_REPORT_H

#include <stdint.h>

/* Buckets of 1 us up to 2 s, the rest in the last. */
enum { LATENCY_BUCKETS = 2 * 1000 * 1000 };

struct latencies {
    uint64_t count;
    uint32_t *buckets;
};

void latencies_add(struct latencies *latencies, int64_t microseconds);
void latencies_reset(struct latencies *latencies);
/* The latency in us below which `share` of all lie. */
int64_t latencies_at(const struct latencies *latencies, double share);

/* User and system time in us, and resident memory in KiB, of a process; 0 where it is gone. */
struct process_cost {
    int64_t cpu_us;
    int64_t resident_kib;
    int64_t resident_peak_kib;
};
struct process_cost process_cost_of(int pid);

#endif
