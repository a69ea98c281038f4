/* bombs_test.c: reviews that ask for much: each gets an answer or an error within the budget that
 * the server gives it. How long each took, and how much of its budget, is printed. */
#include "support/rows.h"

#include "support/any_review.h"
#include "support/review_builder.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Not a benchmark: under any sanitizer these take well below this; what is quadratic in its input takes minutes. */
enum { CPU_MS_MAX = 20000 };

static int64_t cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#define SPEC(spec)                                                                                 \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\",\"namespace\":\"a\"},\"spec\":{" spec
#define TARGETS "\"targets\":{\"clusterIds\":[\"c-1\"]},"
#define CHART "{\"name\":\"c%u\",\"repo\":\"https://x.io\",\"version\":\"1.2.3\""

#define GPUS "{\"limits\":{\"nvidia.com/gpu\":1}}"

enum want { REFUSED, ERROR };

/* `head`, `count` times `unit` (where "%u" is the count so far), `tail`: an object. */
static const struct bomb {
    const char *row, *head, *unit;
    uint32_t count;
    const char *tail;
    enum want want;
} bombs[] = {
    { "nesting beyond what is read", SPEC("\"charts\":"), "[", 100000, "", ERROR },
    { "nesting up to what is read", SPEC("\"x\":"), "{\"a\":", 120, "", ERROR },
    { "100,000 members of the spec", SPEC(TARGETS "\"x\":1"), ",\"k%u\":1", 90000, "}}", REFUSED },
    { "100,000 labels", "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"labels\":{\"x\":\"y\"",
      ",\"k%u\":\"v\"", 90000, "}},\"spec\":{}}", REFUSED },
    { "1,000 charts that all wait for all", SPEC(TARGETS "\"charts\":["), CHART ",\"dependsOn\":[%d]},", 1000,
      CHART "}]}}", REFUSED },
    { "30,000 charts", SPEC(TARGETS "\"charts\":["), CHART "},", 30000, CHART "}]}}", REFUSED },
    { "150,000 elements that are no charts", SPEC(TARGETS "\"charts\":["), "1,", 150000, "1]}}", REFUSED },
    { "150,000 cluster ids", SPEC("\"targets\":{\"clusterIds\":["), "\"c-%u\",", 150000, "\"c-1\"]}}}", REFUSED },
    { "128 overrides of what 5,000 pods ask for", SPEC("\"targets\":{\"clusterIds\":[\"c-m-gpu01\"]},\"charts\":[") CHART ",\"values\":{\"inline\":{%p"
      "\"x\":" GPUS "}}}],\"overrides\":[", "{\"clusterIds\":[\"c-m-gpu01\"],\"charts\":[{\"name\":\"c0\",\"values\":{\"replicas\":%u}}]},", 127,
      "{\"clusterIds\":[\"c-m-gpu01\"],\"charts\":[{\"name\":\"c0\",\"values\":{\"replicas\":2}}]}]}}", REFUSED },
    { "5,000 kinds of GPUs", SPEC("\"targets\":{\"clusterIds\":[\"c-m-gpu01\"]},\"charts\":[") CHART ",\"values\":{\"inline\":{\"limits\":{",
      "\"nvidia.com/mig-%ug.1gb\":1,", 5000, "\"nvidia.com/gpu\":1}}}}]}}", REFUSED },
    { "a number of 1 MiB", SPEC(TARGETS "\"charts\":["), "", 0, "0.%1]}}", REFUSED },
    { "a string of 1 MiB", SPEC(TARGETS "\"env\":"), "", 0, "\"%2\"}}", REFUSED },
    { "a string of 7 MiB", SPEC(TARGETS "\"env\":"), "", 0, "\"%7\"}}", ERROR },
    { "a name for a pattern without end", SPEC(TARGETS "\"charts\":[{\"name\":\"a\",\"repo\":\"https://x.io\",\"version\":"), "", 0,
      "\"%0!\"}]}}", REFUSED },
};

/* What a sign stands for: so many letters or digits, names of 999 charts, or 5,000 members. */
static void put_sign(struct strbuf *out, char sign, uint32_t number)
{
    size_t count = sign == '0' ? 1000 : sign == '7' ? 6800000 : 1048000;

    switch (sign) {
    case 'u':
        strbuf_u64(out, number);
        return;
    case 'd':
        for (uint32_t i = 0; i < 150; i++)
            strbuf_fmt(out, "%s\"c%u\"", i ? "," : "", (number + i * 7 + 1) % 1000);
        return;
    case 'p':
        for (uint32_t i = 0; i < 5000; i++)
            strbuf_fmt(out, "\"k%05u\":" GPUS ",", i);
        return;
    default:
        memset(strbuf_reserve(out, count), sign == '1' ? '1' : 'a', count);
        out->len += count;
    }
}

static void put_text(struct strbuf *out, const char *text, uint32_t number)
{
    for (; *text; text++)
        if (*text == '%')
            put_sign(out, *++text, number);
        else
            strbuf_char(out, *text);
}

static struct str object_of(struct arena *arena, const struct bomb *bomb)
{
    struct strbuf out = strbuf_new(arena, 8 << 20);

    put_text(&out, bomb->head, 0);
    for (uint32_t i = 0; i < bomb->count; i++)
        put_text(&out, bomb->unit, i);
    put_text(&out, bomb->tail, bomb->count);
    return strbuf_str(&out);
}

static void check(const struct review_world *world, const struct bomb *bomb, enum review_route route)
{
    AUTO(arena_free) struct arena *texts = arena_create(0);
    struct str body = a_review(texts, "u", "CREATE", object_of(texts, bomb), STR("null"));
    size_t budget = LIMIT_REVIEW_ARENA + 4 * body.len;
    AUTO(arena_free) struct arena *arena = arena_create(budget);
    int64_t began_us = cpu_us();
    struct review_attempt attempt = review_attempt(world, arena, route, body);
    int64_t took_us = cpu_us() - began_us;

    printf("%-36s %-8s %8zu bytes %7.1f ms %3zu %% of its memory: %s\n", bomb->row,
           route == REVIEW_MUTATE ? "mutate" : "validate", body.len, (double)took_us / 1000,
           arena_used(arena) * 100 / budget,
           attempt.result == 0 ? attempt.outcome.allowed ? "allowed" : "refused" : "an error");
    rows_expect_int(bomb->row, attempt.result, bomb->want == ERROR ? -1 : 0);
    rows_expect(bomb->row, !attempt.outcome.allowed, "not allowed");
    rows_expect(bomb->row, attempt.outcome.answer.len < (1 << 20), "an answer that can be sent");
    rows_expect(bomb->row, took_us < CPU_MS_MAX * 1000LL, "in time");
}

static void bombs_get_an_answer_within_the_budget(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct review_world world;

    (void)state;
    review_world_begin(&world, arena);
    for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
        check(&world, &bombs[i], REVIEW_MUTATE);
        check(&world, &bombs[i], REVIEW_VALIDATE);
    }
    review_world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bombs_get_an_answer_within_the_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
