/* load_report.c: a histogram, and /proc. */
#include "load_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void latencies_add(struct latencies *latencies, int64_t microseconds)
{
    int64_t bucket = microseconds < LATENCY_BUCKETS ? microseconds : LATENCY_BUCKETS - 1;

    latencies->buckets[bucket]++;
    latencies->count++;
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

static size_t read_proc(int pid, const char *name, char *into, size_t room)
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
    return got;
}

struct process_cost process_cost_of(int pid)
{
    struct process_cost cost = { 0, 0, 0 };
    char text[4096];
    unsigned long long user = 0;
    unsigned long long system = 0;

    if (pid <= 0 || read_proc(pid, "stat", text, sizeof(text)) == 0)
        return cost;

    /* Fields 14 and 15 (proc(5)), counted behind the name, which may hold anything. */
    const char *after_name = strrchr(text, ')');

    if (after_name &&
        sscanf(after_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
               &system) == 2)
        cost.cpu_us = (int64_t)(user + system) * 1000000 / sysconf(_SC_CLK_TCK);
    read_proc(pid, "status", text, sizeof(text));
    cost.resident_kib = status_kib(text, "VmRSS:");
    cost.resident_peak_kib = status_kib(text, "VmHWM:");
    return cost;
}
