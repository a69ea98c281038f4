/* SPDX-License-Identifier: Apache-2.0 */
/* process.c: /proc/self as metrics. Fields of /proc/self/stat are numbered as in proc(5). */
#include "io/process.h"

#include "base/metric.h"
#include "io/file.h"

#include <sys/resource.h>
#include <unistd.h>

enum {
    FILE_BYTES_MAX = 1 << 20, /* of /proc/stat: a line for each processor, one of all interrupts */
    FIELD_USER_TICKS = 14,
    FIELD_SYSTEM_TICKS = 15,
    FIELD_START_TICKS = 22,
    FIELD_VIRTUAL_BYTES = 23,
    FIELD_RESIDENT_PAGES = 24,
    FIELD_COUNT,
};

enum process_metric {
#define METRIC(id, kind, name, a, b, c, buckets, help) PROCESS_##id,
#include "io/metrics.def"
#undef METRIC
    PROCESS_METRIC_COUNT
};

static const struct metric_row process_metrics[PROCESS_METRIC_COUNT] = {
#define METRIC(id, kind, name, a, b, c, buckets, help)                                             \
    [PROCESS_##id] = { METRIC_##kind, name, { a, b, c }, buckets, help },
#include "io/metrics.def"
#undef METRIC
};

static struct str read_file(struct arena *arena, const char *name)
{
    struct str text;
    struct error err;

    return file_read(arena, name, FILE_BYTES_MAX, &text, &err) == 0 ? text : STR("");
}

/* The number behind `label` and blanks, where that begins a line. */
static bool number_behind(struct str text, const char *label, uint64_t *ret_number)
{
    struct str line;

    while (str_split(&text, '\n', &line)) {
        struct str word;

        if (!str_starts(line, str_of(label)))
            continue;
        line = str_trim(str_slice(line, strlen(label), line.len));
        return str_split(&line, ' ', &word) && str_to_u64(word, ret_number);
    }
    return false;
}

/* By their numbers, from the third on: the second is the program's name in parentheses, and may
 * hold anything. Negative numbers, of which none is looked at, become 0. */
static bool read_fields(struct str stat, uint64_t fields[FIELD_COUNT])
{
    struct str word;
    size_t name_end = stat.len;
    int field = 3;

    while (name_end && stat.at[name_end - 1] != ')')
        name_end--;
    stat = str_slice(stat, name_end + 1, stat.len);
    for (; field < FIELD_COUNT && str_split(&stat, ' ', &word); field++)
        if (!str_to_u64(word, &fields[field]))
            fields[field] = 0;
    return field == FIELD_COUNT;
}

static void set_by_stat(struct metrics *metrics, struct arena *arena)
{
    double ticks_per_second = (double)sysconf(_SC_CLK_TCK);
    uint64_t fields[FIELD_COUNT] = { 0 }, boot_s = 0;
    bool known = read_fields(read_file(arena, "/proc/self/stat"), fields);
    bool booted = known && number_behind(read_file(arena, "/proc/stat"), "btime ", &boot_s);

    metrics_set_known(
        metrics, PROCESS_CPU_SECONDS, NULL, known,
        (double)(fields[FIELD_USER_TICKS] + fields[FIELD_SYSTEM_TICKS]) / ticks_per_second);
    metrics_set_known(metrics, PROCESS_VIRTUAL_BYTES, NULL, known,
                      (double)fields[FIELD_VIRTUAL_BYTES]);
    metrics_set_known(metrics, PROCESS_RESIDENT_BYTES, NULL, known,
                      (double)fields[FIELD_RESIDENT_PAGES] * (double)sysconf(_SC_PAGESIZE));
    metrics_set_known(metrics, PROCESS_START_TIME, NULL, booted,
                      (double)boot_s + (double)fields[FIELD_START_TICKS] / ticks_per_second);
}

static void set_by_files(struct metrics *metrics, struct arena *arena)
{
    struct str_list open_files;
    uint64_t most = 0;
    struct error err;
    bool listed = file_list(arena, "/proc/self/fd", &open_files, &err) == 0;
    bool limited = number_behind(read_file(arena, "/proc/self/limits"), "Max open files", &most);

    /* One of them is the folder itself, while it is read. */
    metrics_set_known(metrics, PROCESS_OPEN_FDS, NULL, listed, listed ? open_files.count - 1.0 : 0);
    metrics_set_known(metrics, PROCESS_MAX_FDS, NULL, limited, (double)most);
}

void process_render(struct strbuf *out)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(metrics_free)
    struct metrics *metrics = metrics_create(process_metrics, PROCESS_METRIC_COUNT);

    set_by_stat(metrics, arena);
    set_by_files(metrics, arena);
    metrics_render(metrics, out);
}

void process_raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
