/* SPDX-License-Identifier: Apache-2.0 */
/* exhaustion_test.c: memory runs out at every allocation of 200 reviews.
 *
 * A passed budget abandons the review and the process lives; a real failure ends the process with exit code 70 and
 * one line, before a byte of a verdict was sent. Never is a rejection turned, and never is part of an answer given. */
#include "support/rows.h"

#include "support/any_review.h"
#include "support/loopback.h"
#include "support/review_builder.h"
#include "support/scarcity.h"

#include "base/memory.h"
#include "webhook/metrics.h"
#include "webhook/server.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REVIEWS = 200, SERVED = 6, POINTS_MAX = 100000 };

static const enum review_route routes[] = { REVIEW_MUTATE, REVIEW_VALIDATE };
static const char *const paths[] = { "/mutate", "/validate" };

struct bench {
    struct arena *arena;
    struct review_examples examples;
    struct review_world world;
};

static int setup(void **state)
{
    struct bench *bench = mem_new(struct bench);

    bench->arena = arena_create(0);
    bench->examples = review_examples_read(bench->arena);
    review_world_begin(&bench->world, bench->arena);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    review_world_end(&bench->world);
    arena_free(bench->arena);
    mem_free(bench);
    return 0;
}

static const char *row_of(struct arena *arena, uint64_t number, enum review_route route, uint64_t nth, bool on)
{
    return str_fmt(arena, "review %" PRIu64 ", %s, allocation %" PRIu64 "%s", number, paths[route], nth,
                   on ? " and all after it" : "").at;
}

/* --- the budget --- */

typedef void fail_arena(struct arena *arena, size_t nth);

/* A review that passes its budget is rejected; only where not even that can be begun there is no answer. */
static bool gave_up(const struct review_attempt *tried)
{
    return tried->result == REVIEW_ABANDONED ||
           (tried->result == 0 &&
            str_find(tried->outcome.answer, STR("needs more memory than one review may have"), 0) >= 0);
}

/* Fail the first allocation, then the second, until none is left to fail. Returns how many there are. */
static uint64_t sweep_budget(const struct bench *bench, uint64_t number, enum review_route route, fail_arena *run_out)
{
    AUTO(arena_free) struct arena *texts = arena_create(0);
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str body = review_number(texts, &bench->examples, number);
    struct review_attempt clean = review_attempt(&bench->world, texts, route, body);

    for (size_t nth = 1; nth < POINTS_MAX; nth++) {
        run_out(arena, nth);

        struct review_attempt tried = review_attempt(&bench->world, arena, route, body);
        const char *row = row_of(texts, number, route, nth, run_out == arena_fail_from);

        if (!gave_up(&tried)) {
            rows_expect_int(row, tried.result, clean.result);
            rows_expect_str(row, tried.outcome.answer, clean.outcome.answer);
            rows_expect(row, tried.outcome.allowed == clean.outcome.allowed, "the verdict is the true one");
            return nth - 1;
        }
        rows_expect(row, !tried.outcome.allowed && (tried.result == 0 || tried.outcome.answer.len == 0),
                    "no verdict, and no part of one");
        if (run_out == arena_fail_from)
            rows_expect_int(row, review_attempt(&bench->world, arena, route, body).result, REVIEW_ABANDONED);
        arena_reset(arena);
    }
    fail_msg("review %" PRIu64 " never comes to its end", number);
    return 0;
}

static void no_passed_budget_changes_a_verdict(void **state)
{
    const struct bench *bench = *state;
    uint64_t points = 0;

    for (uint64_t number = 0; number < REVIEWS; number++)
        for (size_t i = 0; i < 2; i++) {
            points += sweep_budget(bench, number, routes[i], arena_fail_at);
            points += sweep_budget(bench, number, routes[i], arena_fail_from);
        }
    printf("%d reviews on both routes: the budget passed at %" PRIu64 " points\n", REVIEWS, points);
    rows_expect("there was something to fail", points > 10000, "points");
}

/* --- real failure --- */

struct ending {
    int status;       /* exit code; -1 = by a signal */
    struct str sent;  /* what it wrote to its answer's pipe or socket */
    struct str told;  /* standard error */
};

/* What comes until the other end closes it. */
static struct str read_all(struct arena *arena, int fd)
{
    struct strbuf text = strbuf_new(arena, 4096);
    ssize_t got;

    while ((got = read(fd, strbuf_reserve(&text, 4096), 4096)) > 0)
        text.len += (size_t)got;
    close(fd);
    return strbuf_str(&text);
}

static struct ending ending_of(struct arena *arena, pid_t child, int answer_fd, int error_fd)
{
    struct ending ending = { -1, read_all(arena, answer_fd), read_all(arena, error_fd) };
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        ending.status = WEXITSTATUS(status);
    return ending;
}

static void expect_end(const char *row, const struct ending *ending)
{
    rows_expect_int(row, ending->status, MEMORY_EXIT_CODE);
    rows_expect_str(row, ending->sent, STR(""));
    rows_expect(row, str_starts(ending->told, STR("herd: out of memory: ")) &&
                         str_find_char(ending->told, '\n', 0) == (ptrdiff_t)ending->told.len - 1,
                "one line says so");
}

/* Both routes answer, from the making of an arena on. */
struct task {
    const struct bench *bench;
    struct str body;
    struct arena *arena;
};

static void answer_twice(void *context)
{
    struct task *task = context;

    task->arena = arena_create(0);
    for (size_t i = 0; i < 2; i++)
        review_attempt(&task->bench->world, task->arena, routes[i], task->body);
}

/* In a child, whose memory goes with it: memory fails at each of so many requests. It tells its parent at which of them
 * the process would not have ended as it must. */
static _Noreturn void fail_at_each(struct task task, uint64_t requests, int told_fd)
{
    char text[128];

    for (uint64_t nth = 1; nth <= requests; nth++)
        for (enum scarcity how = SCARCITY_ONCE; how <= SCARCITY_FROM_THEN_ON; how++) {
            int code = scarcity_run(how, nth, answer_twice, &task);

            if (code != MEMORY_EXIT_CODE) {
                int len = snprintf(text, sizeof(text), "allocation %" PRIu64 "%s: exit code %d", nth,
                                   how == SCARCITY_ONCE ? "" : " and all after it", code);

                _exit(write(told_fd, text, (size_t)len) < 0);
            }
        }
    _exit(0);
}

static uint64_t sweep_memory(const struct bench *bench, uint64_t number)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct task task = { bench, review_number(arena, &bench->examples, number), NULL };
    int told[2];
    int error[2];

    assert_int_equal(scarcity_run(SCARCITY_ONCE, 0, answer_twice, &task), 0);
    arena_free(task.arena);

    uint64_t requests = scarcity_requests();

    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(error), 0);

    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        close(error[1]);
        fail_at_each(task, requests, told[1]);
    }
    close(told[1]);
    close(error[1]);

    struct ending ending = ending_of(arena, child, told[0], error[0]);

    rows_expect_str(str_fmt(arena, "review %" PRIu64, number).at, ending.sent, STR(""));
    rows_expect_int("the child ended", ending.status, 0);
    return 2 * requests;
}

static void real_failure_ends_the_process_without_a_verdict(void **state)
{
    const struct bench *bench = *state;
    uint64_t points = 0;

    for (uint64_t number = 0; number < REVIEWS; number++)
        points += sweep_memory(bench, number);
    printf("%d reviews: memory failed at %" PRIu64 " points\n", REVIEWS, points);
    rows_expect("there was something to fail", points >= 4 * REVIEWS, "points");
}

/* --- the whole server --- */

struct server {
    struct fact_source *facts;
    struct metrics *metrics;
    struct webhook_server *webhook;
};

static void server_begin(struct server *server)
{
    struct error err;

    server->facts = fact_source_create(NULL, NULL, &err);
    server->metrics = webhook_metrics_create();
    server->webhook = webhook_server_create(
        &(struct webhook_server_options){
            .address = "127.0.0.1",
            .event_threads = 1,
            .facts = server->facts,
            .metrics = server->metrics,
        },
        &err);
    if (!server->webhook)
        fail_msg("%s", err.text);
}

static void server_end(struct server *server)
{
    webhook_server_free(server->webhook);
    metrics_free(server->metrics);
    fact_source_free(server->facts);
}

static uint16_t port_of(const struct server *server)
{
    return http_server_port(webhook_server_http(server->webhook));
}

/* The server's answer to one review on a connection of its own, to its last byte. */
static struct str served(struct arena *arena, uint16_t port, enum review_route route, struct str body)
{
    int fd = loopback_connect(port);

    loopback_write(fd, str_fmt(arena, "POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: "
                               "application/json\r\nContent-Length: %zu\r\n\r\n%.*s", paths[route], body.len,
                               STR_ARG(body)));
    return read_all(arena, fd);
}

/* The answer without what changes from one to the next. */
static struct str body_of(struct str answer)
{
    ptrdiff_t at = str_find(answer, STR("\r\n\r\n"), 0);

    return at < 0 ? STR("") : str_slice(answer, (size_t)at + 4, answer.len);
}

/* Reviews fail at this allocation of their arenas. Arenas are used again, so each is told anew. */
static struct {
    fail_arena *run_out;
    size_t nth;
} armed = { arena_fail_at, 0 };

const struct facts *__real_fact_source_take(struct fact_source *source, struct arena *arena);
const struct facts *__wrap_fact_source_take(struct fact_source *source, struct arena *arena);

/* A review's first step. */
const struct facts *__wrap_fact_source_take(struct fact_source *source, struct arena *arena)
{
    armed.run_out(arena, armed.nth);
    return __real_fact_source_take(source, arena);
}

static uint64_t sweep_served(struct arena *arena, const struct server *server, const char *what, enum review_route route,
                             struct str body, fail_arena *run_out)
{
    AUTO(arena_free) struct arena *answers = arena_create(0);

    struct str clean = served(arena, port_of(server), route, body);

    armed.run_out = run_out;
    for (armed.nth = 1; armed.nth < POINTS_MAX; armed.nth++, arena_reset(answers)) {
        struct str answer = served(answers, port_of(server), route, body);

        if (str_find(answer, STR("needs more memory than one review may have"), 0) >= 0) {
            rows_expect(what, str_find(answer, STR("\"allowed\":false"), 0) >= 0, answer.at);
            continue;
        }
        if (str_starts(answer, STR("HTTP/1.1 200"))) {
            uint64_t points = armed.nth - 1;

            rows_expect_str(what, body_of(answer), body_of(clean));
            armed.nth = 0;
            return points;
        }
        rows_expect(what, str_starts(answer, STR("HTTP/1.1 500")), answer.at);
        rows_expect(what, str_find(answer, STR("allowed"), 0) < 0, "no verdict beside the error");
    }
    fail_msg("%s: never answered", what);
    return 0;
}

static void a_server_lives_through_a_passed_budget(void **state)
{
    const struct bench *bench = *state;
    struct server server;
    uint64_t points = 0;

    server_begin(&server);
    for (uint32_t k = 0; k < SERVED; k++) {
        const struct review_example *example = &bench->examples.items[k * bench->examples.count / SERVED];
        struct str body = a_review(bench->arena, "u", "CREATE", example->json, STR("null"));

        for (size_t i = 0; i < 2; i++) {
            points += sweep_served(bench->arena, &server, example->path, routes[i], body, arena_fail_at);
            points += sweep_served(bench->arena, &server, example->path, routes[i], body, arena_fail_from);
        }
    }
    printf("the server went on at %" PRIu64 " points\n", points);
    server_end(&server);
}

/* A child serves until memory fails, or its parent has seen enough. */
static _Noreturn void serve_in_scarcity(enum scarcity how, uint64_t nth, int port_fd)
{
    static struct server server;
    uint16_t port;

    server_begin(&server);
    port = port_of(&server);
    scarcity_begin(how, nth);
    if (write(port_fd, &port, sizeof(port)) != sizeof(port))
        _exit(1);
    for (;;)
        pause();
}

static struct ending child_server(struct arena *arena, enum review_route route, struct str body, enum scarcity how,
                                  uint64_t nth)
{
    int port_pipe[2];
    int error[2];
    uint16_t port = 0;
    struct ending ending;

    assert_int_equal(pipe(port_pipe), 0);
    assert_int_equal(pipe(error), 0);

    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        dup2(error[1], STDERR_FILENO);
        serve_in_scarcity(how, nth, port_pipe[1]);
    }
    close(port_pipe[1]);
    close(error[1]);
    assert_int_equal(read(port_pipe[0], &port, sizeof(port)), sizeof(port));
    ending.sent = served(arena, port, route, body);
    if (ending.sent.len)
        kill(child, SIGKILL);

    struct ending end = ending_of(arena, child, port_pipe[0], error[0]);

    return (struct ending){ end.status, ending.sent, end.told };
}

static uint64_t sweep_child_server(struct arena *arena, const char *what, enum review_route route, struct str body,
                                   enum scarcity how)
{
    struct str clean = child_server(arena, route, body, how, 0).sent;

    rows_expect(what, str_starts(clean, STR("HTTP/1.1 200")), clean.at);
    for (uint64_t nth = 1; nth < POINTS_MAX; nth++) {
        struct ending ending = child_server(arena, route, body, how, nth);

        if (ending.sent.len) {
            rows_expect_str(what, body_of(ending.sent), body_of(clean));
            return nth - 1;
        }
        expect_end(what, &ending);
    }
    fail_msg("%s: never answered", what);
    return 0;
}

static void a_server_that_is_out_of_memory_ends_before_a_byte_of_a_verdict(void **state)
{
    const struct bench *bench = *state;
    uint64_t points = 0;

    for (uint32_t k = 0; k < SERVED; k++) {
        const struct review_example *example = &bench->examples.items[k * bench->examples.count / SERVED];
        struct str body = a_review(bench->arena, "u", "CREATE", example->json, STR("null"));

        for (size_t i = 0; i < 2; i++) {
            points += sweep_child_server(bench->arena, example->path, routes[i], body, SCARCITY_ONCE);
            points += sweep_child_server(bench->arena, example->path, routes[i], body, SCARCITY_FROM_THEN_ON);
        }
    }
    printf("the server ended at %" PRIu64 " points\n", points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_passed_budget_changes_a_verdict),
        cmocka_unit_test(real_failure_ends_the_process_without_a_verdict),
        cmocka_unit_test(a_server_that_is_out_of_memory_ends_before_a_byte_of_a_verdict),
        cmocka_unit_test(a_server_lives_through_a_passed_budget),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
