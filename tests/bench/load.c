/* load.c: bench-load: reviews over TLS, as fast as they are answered.
 *
 *   bench-load ADDRESS PORT PATH BODY-FILE CONNECTIONS SECONDS SERVER-PID MODE [MOST]
 *
 * MODE keep: each connection sends one review after the other. MODE new: a new TLS connection for
 * each. MOST ends the run after so many reviews. Prints one line of key=value pairs; the CPU is the server's. Any answer that is not 200
 * with a verdict counts as bad, and the exit code says so. */
#include "load_report.h"

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

enum { ANSWER_BYTES = 256 * 1024 };

struct connection {
    int fd;
    SSL *ssl;
    size_t sent;
    size_t got;
    int64_t began_us;
    char answer[ANSWER_BYTES];
};

struct load {
    struct sockaddr_in server;
    SSL_CTX *tls;
    char *request;
    size_t request_len;
    bool new_connections;
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

static void open_connection(struct load *load, struct connection *connection)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection };
    int yes = 1;

    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (struct sockaddr *)&load->server, sizeof(load->server)) < 0)
        die("connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    fcntl(connection->fd, F_SETFL, O_NONBLOCK);
    connection->ssl = SSL_new(load->tls);
    SSL_set_fd(connection->ssl, connection->fd);
    SSL_set_connect_state(connection->ssl);
    connection->sent = 0;
    connection->got = 0;
    connection->began_us = now_us();
    epoll_ctl(load->poller, EPOLL_CTL_ADD, connection->fd, &event);
}

static void close_connection(struct connection *connection)
{
    SSL_free(connection->ssl);
    close(connection->fd);
}

/* The whole answer's length, or 0 while its head is not there. */
static size_t answer_len(const struct connection *connection)
{
    const char *end = memmem(connection->answer, connection->got, "\r\n\r\n", 4);

    if (!end)
        return 0;

    const char *length = strcasestr(connection->answer, "content-length:");

    if (!length || length > end)
        die("an answer without Content-Length");
    return (size_t)(end + 4 - connection->answer) + strtoull(length + 15, NULL, 10);
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
    connection->sent = 0;
    connection->got = 0;
    connection->began_us = now_us();
}

/* True if it moved on and should be tried again at once. */
static bool move_on(struct load *load, struct connection *connection)
{
    int done;

    if (connection->sent < load->request_len) {
        done = SSL_write(connection->ssl, load->request + connection->sent,
                         (int)(load->request_len - connection->sent));
        if (done > 0)
            connection->sent += (size_t)done;
    } else {
        done = SSL_read(connection->ssl, connection->answer + connection->got,
                        (int)(ANSWER_BYTES - 1 - connection->got));
        if (done > 0) {
            connection->got += (size_t)done;
            connection->answer[connection->got] = '\0';

            size_t whole = answer_len(connection);

            if (whole && connection->got >= whole)
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

static char *read_request(const char *path, const char *file_name, size_t *ret_len)
{
    FILE *file = fopen(file_name, "re");
    char *body = malloc(8 * 1024 * 1024);
    char *request = malloc(8 * 1024 * 1024 + 1024);

    if (!file || !body || !request)
        die(file_name);

    size_t body_len = fread(body, 1, 8 * 1024 * 1024, file);
    int head = snprintf(request, 1024,
                        "POST %s?timeout=5s HTTP/1.1\r\nHost: herd-webhook.herd-system.svc:443\r\n"
                        "User-Agent: kube-apiserver-admission\r\nContent-Length: %zu\r\n"
                        "Accept: application/json, */*\r\nContent-Type: application/json\r\n\r\n",
                        path, body_len);

    fclose(file);
    memcpy(request + head, body, body_len);
    free(body);
    *ret_len = (size_t)head + body_len;
    return request;
}

static void run(struct load *load, struct connection *connections, int count, int64_t until_us)
{
    struct epoll_event events[64];

    for (int i = 0; i < count; i++)
        open_connection(load, &connections[i]);
    while (now_us() < until_us && (int64_t)load->latencies.count < load->most) {
        int ready = epoll_wait(load->poller, events, 64, 10);

        for (int i = 0; i < ready; i++)
            while (move_on(load, events[i].data.ptr) && now_us() < until_us)
                continue;
    }
    for (int i = 0; i < count; i++)
        close_connection(&connections[i]);
}

int main(int argc, char **argv)
{
    if (argc < 9) {
        fprintf(stderr, "usage: bench-load ADDRESS PORT PATH BODY-FILE CONNECTIONS SECONDS "
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
    load.request = read_request(argv[3], argv[4], &load.request_len);

    struct process_cost before = process_cost_of(pid);
    int64_t began_us = now_us();

    run(&load, connections, count, began_us + (int64_t)(atof(argv[6]) * 1e6));

    double seconds = (double)(now_us() - began_us) / 1e6;
    struct process_cost after = process_cost_of(pid);
    double reviews = (double)load.latencies.count;

    printf("connections=%d reviews=%" PRIu64 " per_s=%.0f p50_us=%" PRId64 " p99_us=%" PRId64
           " p999_us=%" PRId64 " cpu_us=%.1f rss_kib=%" PRId64 " peak_kib=%" PRId64 " bad=%" PRIu64
           "\n",
           count, load.latencies.count, reviews / seconds, latencies_at(&load.latencies, 0.5),
           latencies_at(&load.latencies, 0.99), latencies_at(&load.latencies, 0.999),
           reviews > 0 ? (double)(after.cpu_us - before.cpu_us) / reviews : 0.0, after.resident_kib,
           after.resident_peak_kib, load.bad);
    free(connections);
    free(load.request);
    free(load.latencies.buckets);
    SSL_CTX_free(load.tls);
    return load.bad ? 1 : 0;
}
