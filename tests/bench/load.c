/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: bench-load: reviews over TLS, as fast as they are answered.
 *
 *   bench-load ADDRESS PORT PATH BODY-FILES CONNECTIONS SECONDS SERVER-PID MODE [MOST]
 *
 * BODY-FILES: one, or some with commas between, which are sent in turn; one that is named nine times
 * is nine tenths of the reviews beside another. MODE keep: each connection sends one review after
 * the other. MODE new: a new TLS connection for each. MOST ends the run after so many reviews.
 *
 * Prints one line of key=value pairs; CPU and memory are the server's, memory while the connections
 * are open. Any answer that is not 200 with a verdict counts as bad, and the exit code says so. */
#include "load_report.h"
#include "load_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES = 256 * 1024, WARM_US = 100 * 1000, REQUESTS_MAX = 32 };

struct request {
    char *bytes;
    size_t len;
};

struct connection {
    int fd;
    SSL *ssl;
    const struct request *request;
    size_t sent;
    size_t got;
    int64_t began_us;
    char answer[ANSWER_BYTES];
};

struct load {
    struct sockaddr_in server;
    SSL_CTX *tls;
    struct request requests[REQUESTS_MAX];
    uint32_t request_count;
    uint32_t next_request;
    bool new_connections;
    uint32_t opened;
    int64_t most;
    int poller;
    struct latencies latencies;
    uint64_t bad;
};

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void die(const char *what)
{
    fprintf(stderr, "bench-load: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* The next review is to be written. */
static void begin_review(struct load *load, struct connection *connection)
{
    connection->request = &load->requests[load->next_request++ % load->request_count];
    connection->sent = 0;
    connection->got = 0;
    connection->began_us = now_us();
}

/* Loopback addresses in turn: handshakes of one address are limited (LIMIT_HANDSHAKES_PER_ADDRESS). */
static void bind_in_turn(struct load *load, int fd)
{
    struct sockaddr_in from = { .sin_family = AF_INET };

    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 256 + load->opened++ % 200);
    if (bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0)
        die("bind");
}

static void open_connection(struct load *load, struct connection *connection)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection };
    int yes = 1;

    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd >= 0 && load->new_connections)
        bind_in_turn(load, connection->fd);
    if (connection->fd < 0 ||
        connect(connection->fd, (struct sockaddr *)&load->server, sizeof(load->server)) < 0)
        die("connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    fcntl(connection->fd, F_SETFL, O_NONBLOCK);
    connection->ssl = SSL_new(load->tls);
    SSL_set_fd(connection->ssl, connection->fd);
    SSL_set_connect_state(connection->ssl);
    begin_review(load, connection);
    epoll_ctl(load->poller, EPOLL_CTL_ADD, connection->fd, &event);
}

static void close_connection(struct connection *connection)
{
    SSL_free(connection->ssl);
    close(connection->fd);
}

/* The whole answer has come: as long as its head says, or up to the last chunk (RFC 9112 section
 * 7.1), which no answer's text looks like. */
static bool is_whole(const struct connection *connection)
{
    const char *end = memmem(connection->answer, connection->got, "\r\n\r\n", 4);
    const char *length = end ? strcasestr(connection->answer, "content-length:") : NULL;

    if (!end)
        return false;
    if (length && length < end)
        return connection->got >= (size_t)(end + 4 - connection->answer) + strtoull(length + 15, NULL, 10);
    return memcmp(connection->answer + connection->got - 5, "0\r\n\r\n", 5) == 0;
}

static void take_answer(struct load *load, struct connection *connection)
{
    if (memcmp(connection->answer, "HTTP/1.1 200", 12) != 0 ||
        !memmem(connection->answer, connection->got, "\"allowed\":", 10))
        load->bad++;
    latencies_add(&load->latencies, now_us() - connection->began_us);
    if (load->new_connections) {
        close_connection(connection);
        open_connection(load, connection);
        return;
    }
    begin_review(load, connection);
}

/* True if it moved on and should be tried again at once. */
static bool move_on(struct load *load, struct connection *connection)
{
    int done;

    if (connection->sent < connection->request->len) {
        done = SSL_write(connection->ssl, connection->request->bytes + connection->sent,
                         (int)(connection->request->len - connection->sent));
        if (done > 0)
            connection->sent += (size_t)done;
    } else {
        done = SSL_read(connection->ssl, connection->answer + connection->got,
                        (int)(ANSWER_BYTES - 1 - connection->got));
        if (done > 0) {
            connection->got += (size_t)done;
            connection->answer[connection->got] = '\0';
            if (is_whole(connection))
                take_answer(load, connection);
        }
    }
    if (done > 0)
        return true;

    int why = SSL_get_error(connection->ssl, done);

    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return false;
    load->bad++;
    close_connection(connection);
    open_connection(load, connection);
    return false;
}

static void run(struct load *load, struct connection *connections, int count, int64_t until_us)
{
    struct epoll_event events[64];

    /* What came while the last run ended is not told again. */
    for (int i = 0; i < count; i++)
        while (move_on(load, &connections[i]) && now_us() < until_us)
            continue;
    while (now_us() < until_us && (int64_t)load->latencies.count < load->most) {
        int ready = epoll_wait(load->poller, events, 64, 10);

        for (int i = 0; i < ready; i++)
            while (move_on(load, events[i].data.ptr) && now_us() < until_us)
                continue;
    }
}

/* Handshakes, and what a server does at the first reviews of a connection, are not counted where
 * connections are kept. */
static void warm_up(struct load *load, struct connection *connections, int count)
{
    if (load->new_connections)
        return;
    do
        run(load, connections, count, now_us() + WARM_US);
    while (load->latencies.count == 0 && load->bad == 0);
    latencies_reset(&load->latencies);
}

/* `files`: with commas between, which are cut in place. */
static void read_requests(struct load *load, const char *path, char *files)
{
    for (char *file = strtok(files, ","); file; file = strtok(NULL, ",")) {
        struct request *request = &load->requests[load->request_count];

        if (load->request_count == REQUESTS_MAX) {
            fprintf(stderr, "bench-load: BODY-FILES: names more than %d files\n", REQUESTS_MAX);
            exit(2);
        }
        request->bytes = load_request(path, file, &request->len);
        if (!request->bytes)
            die(file);
        load->request_count++;
    }
    if (load->request_count == 0) {
        fprintf(stderr, "bench-load: BODY-FILES: names no file\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc < 9) {
        fprintf(stderr, "usage: bench-load ADDRESS PORT PATH BODY-FILES CONNECTIONS SECONDS "
                        "SERVER-PID keep|new [MOST]\n");
        return 2;
    }

    struct load load = {
        .server = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2])) },
        .tls = SSL_CTX_new(TLS_client_method()),
        .new_connections = strcmp(argv[8], "new") == 0,
        .most = argc > 9 ? atoll(argv[9]) : INT64_MAX,
        .poller = epoll_create1(EPOLL_CLOEXEC),
        .latencies = { 0, calloc(LATENCY_BUCKETS, sizeof(uint32_t)) },
    };
    int count = atoi(argv[5]);
    int pid = atoi(argv[7]);
    struct connection *connections = calloc((size_t)count, sizeof(*connections));

    inet_pton(AF_INET, argv[1], &load.server.sin_addr);
    /* A full handshake each time: an API server that opens a connection has no ticket either. */
    SSL_CTX_set_session_cache_mode(load.tls, SSL_SESS_CACHE_OFF);
    read_requests(&load, argv[3], argv[4]);
    for (int i = 0; i < count; i++)
        open_connection(&load, &connections[i]);
    warm_up(&load, connections, count);

    struct process_cost before = process_cost_of(pid);
    int64_t began_us = now_us();

    run(&load, connections, count, began_us + (int64_t)(atof(argv[6]) * 1e6));

    double seconds = (double)(now_us() - began_us) / 1e6;
    struct process_cost after = process_cost_of(pid);
    double reviews = (double)load.latencies.count;

    for (int i = 0; i < count; i++)
        close_connection(&connections[i]);

    printf("connections=%d reviews=%" PRIu64 " per_s=%.0f p50_us=%" PRId64 " p99_us=%" PRId64
           " p999_us=%" PRId64 " cpu_us=%.1f rss_kib=%" PRId64 " peak_kib=%" PRId64 " bad=%" PRIu64
           "\n",
           count, load.latencies.count, reviews / seconds, latencies_at(&load.latencies, 0.5),
           latencies_at(&load.latencies, 0.99), latencies_at(&load.latencies, 0.999),
           reviews > 0 ? (double)(after.cpu_us - before.cpu_us) / reviews : 0.0, after.resident_kib,
           after.resident_peak_kib, load.bad);
    free(connections);
    for (uint32_t i = 0; i < load.request_count; i++)
        free(load.requests[i].bytes);
    free(load.latencies.buckets);
    SSL_CTX_free(load.tls);
    return load.bad ? 1 : 0;
}
