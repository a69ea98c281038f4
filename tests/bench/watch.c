/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: bench-watch PORT PID CLIENTS ROUNDS: clients of the console's /watch on 127.0.0.1.
 *
 * Opens them, prints what the server's process PID takes for each, and then changes the Application default/bench
 * ROUNDS times: how long until the first, the median and the last client has the line. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000, TEXT_BYTES = 64 * 1024 };

struct client {
    int fd;
    int seen;    /* the newest round whose line came */
    size_t held; /* bytes of a line that is not complete */
    char line[8192];
};

static uint16_t port;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench-watch: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int open_connection(const char *request)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        fail("connect");
    if (write(fd, request, strlen(request)) != (ssize_t)strlen(request))
        fail("write");
    return fd;
}

/* KiB of a line of /proc/PID/status. */
static long memory_of(const char *pid, const char *name)
{
    char path[64], line[256];
    long kib = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/status", pid);
    file = fopen(path, "r");
    if (!file)
        fail(path);
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtol(line + strlen(name), NULL, 10);
    fclose(file);
    return kib;
}

/* The round in a complete line, or 0. A line ends with a line end; the text of a chunk's size is another line. */
static void take(struct client *client, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\n') {
            if (client->held + 1 < sizeof(client->line))
                client->line[client->held++] = text[i];
            continue;
        }
        client->line[client->held] = '\0';
        client->held = 0;

        const char *mark = strstr(client->line, "\"bench-round\":\"");
        int round = mark ? atoi(mark + strlen("\"bench-round\":\"")) : 0;

        if (round > client->seen)
            client->seen = round;
    }
}

static void change(int round)
{
    char body[128], request[512], answer[4096];
    size_t len = 0;
    ssize_t bytes;
    int fd;

    snprintf(body, sizeof(body), "{\"metadata\":{\"annotations\":{\"bench-round\":\"%d\"}}}", round);
    snprintf(request, sizeof(request),
             "PATCH /apis/cloudnative.elide.dev/v1/namespaces/default/applications/bench "
             "HTTP/1.1\r\nHost: localhost\r\n"
             "Connection: close\r\nContent-Type: application/merge-patch+json\r\nContent-Length: "
             "%zu\r\n\r\n%s",
             strlen(body), body);
    fd = open_connection(request);
    while (len + 1 < sizeof(answer) && (bytes = read(fd, answer + len, sizeof(answer) - 1 - len)) > 0)
        len += (size_t)bytes;
    answer[len] = '\0';
    close(fd);
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0) {
        fprintf(stderr, "bench-watch: the change was not made: %s\n", answer);
        exit(1);
    }
}

/* Until all have seen `round`; the time of each goes to `at`. */
static int wait_for(int epoll, struct client *clients, int count, int round, int64_t *at)
{
    static char text[TEXT_BYTES];
    int64_t end_us = now_us() + PATIENCE_MS * 1000LL;
    int done = 0;

    while (done < count) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 100);

        if (now_us() > end_us)
            return done;
        for (int i = 0; i < ready; i++) {
            struct client *client = &clients[events[i].data.u32];
            int before = client->seen;
            ssize_t bytes = read(client->fd, text, sizeof(text));

            if (bytes <= 0)
                fail("a stream ended");
            take(client, text, (size_t)bytes);
            if (before < round && client->seen >= round)
                at[done++] = now_us();
        }
    }
    return done;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Each has its headers and first event before the next is opened. */
static void open_clients(int epoll, struct client *clients, int count)
{
    char text[4096];

    for (int i = 0; i < count; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data = { .u32 = (uint32_t)i } };
        ssize_t bytes;

        clients[i].fd = open_connection("GET /watch?kind=Application&name=bench HTTP/1.1\r\nHost: localhost\r\n\r\n");
        bytes = read(clients[i].fd, text, sizeof(text));
        if (bytes < 12 || strncmp(text, "HTTP/1.1 200", 12) != 0)
            fail("a stream did not begin");
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event) != 0)
            fail("epoll_ctl");
    }
}

static void measure(int epoll, struct client *clients, int count, int rounds)
{
    int64_t *at = calloc((size_t)count, sizeof(*at));
    int64_t *firsts = calloc((size_t)rounds, sizeof(*firsts));
    int64_t *medians = calloc((size_t)rounds, sizeof(*medians));
    int64_t *lasts = calloc((size_t)rounds, sizeof(*lasts));

    if (!at || !firsts || !medians || !lasts)
        fail("calloc");
    for (int round = 1; round <= rounds; round++) {
        int64_t began_us = now_us();
        int done;

        change(round);
        done = wait_for(epoll, clients, count, round, at);
        if (done < count) {
            printf("round %d: %d of %d clients have the change after %d s\n", round, done, count, PATIENCE_MS / 1000);
            exit(1);
        }
        qsort(at, (size_t)count, sizeof(*at), by_number);
        firsts[round - 1] = at[0] - began_us;
        medians[round - 1] = at[count / 2] - began_us;
        lasts[round - 1] = at[count - 1] - began_us;
    }
    qsort(firsts, (size_t)rounds, sizeof(*firsts), by_number);
    qsort(medians, (size_t)rounds, sizeof(*medians), by_number);
    qsort(lasts, (size_t)rounds, sizeof(*lasts), by_number);
    printf("from a change to the first client %.1f ms, half of them %.1f ms, the last %.1f ms "
           "(medians of %d); at worst %.1f ms\n",
           (double)firsts[rounds / 2] / 1000, (double)medians[rounds / 2] / 1000, (double)lasts[rounds / 2] / 1000, rounds,
           (double)lasts[rounds - 1] / 1000);
    free(at);
    free(firsts);
    free(medians);
    free(lasts);
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    int count = argc == 5 ? atoi(argv[3]) : 0;
    int rounds = argc == 5 ? atoi(argv[4]) : 0;
    struct client *clients;
    int epoll;
    long before;

    if (count < 1 || rounds < 1) {
        fprintf(stderr, "usage: bench-watch PORT PID CLIENTS ROUNDS\n");
        return 2;
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    port = (uint16_t)atoi(argv[1]);
    clients = calloc((size_t)count, sizeof(*clients));
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!clients || epoll < 0)
        fail("start");
    before = memory_of(argv[2], "VmRSS:");
    open_clients(epoll, clients, count);
    printf("%d clients: %.1f KiB of memory each (%ld MiB before, %ld MiB with them), %ld threads\n", count,
           (double)(memory_of(argv[2], "VmRSS:") - before) / count, before / 1024, memory_of(argv[2], "VmRSS:") / 1024,
           memory_of(argv[2], "Threads:"));
    measure(epoll, clients, count, rounds);
    printf("%.1f KiB of memory each after that\n", (double)(memory_of(argv[2], "VmRSS:") - before) / count);
    free(clients);
    return 0;
}
