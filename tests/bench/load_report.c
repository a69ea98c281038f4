/* SPDX-License-Identifier: Apache-2.0 */
/* load_report.c: a histogram, and /proc. */
#include "load_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void latencies_add(struct latencies *latencies, int64_t microseconds)
{
    int64_t bucket = microseconds < LATENCY_BUCKETS ? microseconds : LATENCY_BUCKETS - 1;

    latencies->buckets[bucket]++;
    latencies->count++;
}

void latencies_reset(struct latencies *latencies)
{
    memset(latencies->buckets, 0, LATENCY_BUCKETS * sizeof(*latencies->buckets));
    latencies->count = 0;
}

int64_t latencies_at(const struct latencies *latencies, double share)
{
    uint64_t wanted = (uint64_t)((double)latencies->count * share);
    uint64_t seen = 0;

    for (int64_t i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latencies->buckets[i];
        if (seen > wanted)
            return i;
    }
    return LATENCY_BUCKETS - 1;
}

static int64_t status_kib(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static void read_proc(int pid, const char *name, char *into, size_t room)
{
    char path[64];
    size_t got = 0;

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);

    FILE *file = fopen(path, "re");

    if (file) {
        got = fread(into, 1, room - 1, file);
        fclose(file);
    }
    into[got] = '\0';
}

struct process_cost process_cost_of(int pid)
{
    struct process_cost cost = { 0, 0, 0 };
    struct timespec used;
    clockid_t clock;
    char text[4096];

    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return cost;
    cost.cpu_us = (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
    read_proc(pid, "status", text, sizeof(text));
    cost.resident_kib = status_kib(text, "VmRSS:");
    cost.resident_peak_kib = status_kib(text, "VmHWM:");
    return cost;
}
