/* SPDX-License-Identifier: Apache-2.0 */
/* rotation_load.c: bench-rotation: reviews at a steady rate from clients that check whom they talk
 * to, as API servers do.
 *
 *   bench-rotation ENDPOINTS-FILE BODY-FILE PER-SECOND SECONDS BUNDLE-FILE SERVER-NAME
 *
 * Eight clients. Half of them open a new connection for every tenth review and keep it for the next
 * nine; half keep theirs until the server says "Connection: close", as API servers do. Who opens
 * one takes the next line, address:port, of what ENDPOINTS-FILE holds then, and believes what
 * BUNDLE-FILE holds then. Any answer that is not 200 with a verdict, and any handshake that fails,
 * is a failure. Prints a line `serial TIME-MS HEX` when a serial is seen for the first time, then
 * one of key=value pairs. Exit 1 on failures. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 8, REVIEWS_OF_ONE = 10, SERIALS_MAX = 1000, SERIAL_BYTES = 64 };
enum { ENDPOINTS_MAX = 16, LINE_BYTES = 64 };
enum { BODY_BYTES = 1024 * 1024, ANSWER_BYTES = 64 * 1024, PATIENCE_S = 5, TOLD_MAX = 20 };

struct load {
    const char *endpoints_file;
    const char *bundle_file;
    const char *server_name;
    char *request;
    size_t request_len;
    int64_t every_us; /* of one client */
    int64_t until_us;
    pthread_mutex_t lock; /* of what follows */
    char serials[SERIALS_MAX][SERIAL_BYTES];
    int serial_count;
    atomic_uint_fast64_t reviews, failures, handshakes, turn;
    atomic_int_fast64_t slowest_us;
};

struct client {
    struct load *load;
    int number;
    pthread_t thread;
    SSL *ssl;
    int fd;
    int left; /* reviews of this connection */
};

static int64_t now_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void die(const char *what)
{
    fprintf(stderr, "bench-rotation: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void tell_failure(struct load *load, const char *what, const char *why)
{
    if (atomic_fetch_add(&load->failures, 1) < TOLD_MAX)
        printf("failed %" PRId64 " %s: %s\n", now_us(CLOCK_REALTIME) / 1000, what, why);
}

static const char *tls_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    return reason ? reason : strerror(errno);
}

static void note_serial(struct load *load, SSL *ssl)
{
    X509 *certificate = SSL_get1_peer_certificate(ssl);
    const ASN1_INTEGER *number = X509_get0_serialNumber(certificate);
    char hex[SERIAL_BYTES] = "";
    bool known = false;

    for (int i = 0; i < ASN1_STRING_length(number) && i < SERIAL_BYTES / 2 - 1; i++)
        snprintf(hex + 2 * i, 3, "%02x", ASN1_STRING_get0_data(number)[i]);
    X509_free(certificate);
    pthread_mutex_lock(&load->lock);
    for (int i = 0; i < load->serial_count && !known; i++)
        known = strcmp(load->serials[i], hex) == 0;
    if (!known && load->serial_count < SERIALS_MAX) {
        snprintf(load->serials[load->serial_count++], SERIAL_BYTES, "%s", hex);
        printf("serial %" PRId64 " %s\n", now_us(CLOCK_REALTIME) / 1000, hex);
    }
    pthread_mutex_unlock(&load->lock);
}

static void hang_up(struct client *client)
{
    if (!client->ssl)
        return;
    SSL_free(client->ssl);
    close(client->fd);
    client->ssl = NULL;
}

static SSL *shake_hands(const struct load *load, int fd)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = NULL;

    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_load_verify_locations(context, load->bundle_file, NULL) == 1) {
        ssl = SSL_new(context);
        SSL_set_fd(ssl, fd);
        SSL_set1_host(ssl, load->server_name);
        SSL_set_tlsext_host_name(ssl, load->server_name);
    }
    SSL_CTX_free(context);
    if (ssl && SSL_connect(ssl) != 1) {
        SSL_free(ssl);
        ssl = NULL;
    }
    return ssl;
}

/* The next endpoint. An empty list is a moment in which the file is written: look again. */
static struct sockaddr_in pick_endpoint(struct load *load)
{
    struct sockaddr_in found[ENDPOINTS_MAX] = { { .sin_family = AF_INET } };
    char line[LINE_BYTES];
    size_t count = 0;

    while (count == 0) {
        FILE *file = fopen(load->endpoints_file, "re");

        while (file && count < ENDPOINTS_MAX && fgets(line, sizeof(line), file)) {
            char *colon = strchr(line, ':');

            if (!colon)
                continue;
            *colon = '\0';
            found[count].sin_family = AF_INET;
            found[count].sin_port = htons((uint16_t)atoi(colon + 1));
            count += inet_pton(AF_INET, line, &found[count].sin_addr) == 1;
        }
        if (file)
            fclose(file);
        if (count == 0)
            usleep(1000);
    }
    return found[atomic_fetch_add(&load->turn, 1) % count];
}

static bool dial(struct client *client)
{
    const struct sockaddr_in server = pick_endpoint(client->load);
    struct load *load = client->load;
    const struct timeval patience = { .tv_sec = PATIENCE_S };
    int yes = 1;

    ERR_clear_error();
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0)
        die("socket");
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(client->fd, (const struct sockaddr *)&server, sizeof(server)) == 0)
        client->ssl = shake_hands(load, client->fd);
    if (!client->ssl) {
        tell_failure(load, "connection", tls_reason());
        close(client->fd);
        return false;
    }
    atomic_fetch_add(&load->handshakes, 1);
    client->left = client->number % 2 ? INT_MAX : REVIEWS_OF_ONE;
    note_serial(load, client->ssl);
    return true;
}

/* The whole answer, or false. */
static bool read_answer(SSL *ssl, char *answer)
{
    size_t got = 0;

    while (got < ANSWER_BYTES - 1) {
        int read = SSL_read(ssl, answer + got, (int)(ANSWER_BYTES - 1 - got));

        if (read <= 0)
            return false;
        got += (size_t)read;
        answer[got] = '\0';

        const char *end = strstr(answer, "\r\n\r\n");
        const char *length = end ? strcasestr(answer, "content-length:") : NULL;

        if (length && got >= (size_t)(end + 4 - answer) + strtoull(length + 15, NULL, 10))
            return true;
    }
    return false;
}

static void review(struct client *client)
{
    struct load *load = client->load;
    char answer[ANSWER_BYTES] = "";
    int64_t began_us = now_us(CLOCK_MONOTONIC);

    atomic_fetch_add(&load->reviews, 1);
    if (!client->ssl && !dial(client))
        return;
    ERR_clear_error();
    if (SSL_write(client->ssl, load->request, (int)load->request_len) <= 0 ||
        !read_answer(client->ssl, answer)) {
        tell_failure(load, "review", tls_reason());
        hang_up(client);
        return;
    }
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0 || !strstr(answer, "\"allowed\":"))
        tell_failure(load, "review", "not 200 with a verdict");

    int64_t took_us = now_us(CLOCK_MONOTONIC) - began_us;

    if (took_us > atomic_load(&load->slowest_us)) /* good enough for a figure */
        atomic_store(&load->slowest_us, took_us);
    if (--client->left == 0 || strcasestr(answer, "\r\nConnection: close\r\n"))
        hang_up(client);
}

static void *work(void *context)
{
    struct client *client = context;
    const struct load *load = client->load;
    int64_t due_us = now_us(CLOCK_MONOTONIC) + load->every_us * client->number / CLIENTS;

    while (due_us < load->until_us) {
        int64_t wait_us = due_us - now_us(CLOCK_MONOTONIC);

        if (wait_us > 0)
            usleep((useconds_t)wait_us);
        review(client);
        due_us += load->every_us;
    }
    hang_up(client);
    return NULL;
}

static void read_request(struct load *load, const char *file_name)
{
    FILE *file = fopen(file_name, "re");
    char *body = calloc(1, BODY_BYTES);

    if (!file || !body)
        die(file_name);

    size_t len = fread(body, 1, BODY_BYTES - 1, file);

    fclose(file);
    load->request = malloc(len + 1024);
    if (!load->request)
        die(file_name);

    int head = snprintf(load->request, 1024,
                        "POST /validate?timeout=5s HTTP/1.1\r\nHost: %s:443\r\n"
                        "User-Agent: kube-apiserver-admission\r\nContent-Length: %zu\r\n"
                        "Accept: application/json, */*\r\nContent-Type: application/json\r\n\r\n",
                        load->server_name, len);

    memcpy(load->request + head, body, len);
    load->request_len = (size_t)head + len;
    free(body);
}

int main(int argc, char **argv)
{
    static struct load load;
    struct client clients[CLIENTS];

    if (argc != 7) {
        fprintf(stderr, "usage: bench-rotation ENDPOINTS-FILE BODY-FILE PER-SECOND SECONDS "
                        "BUNDLE-FILE SERVER-NAME\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    load.endpoints_file = argv[1];
    load.bundle_file = argv[5];
    load.server_name = argv[6];
    pthread_mutex_init(&load.lock, NULL);
    read_request(&load, argv[2]);
    load.every_us = CLIENTS * 1000000LL / (atoi(argv[3]) > 0 ? atoi(argv[3]) : 1);

    int64_t began_us = now_us(CLOCK_MONOTONIC);

    load.until_us = began_us + (int64_t)(atof(argv[4]) * 1e6);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){ .load = &load, .number = i };
        pthread_create(&clients[i].thread, NULL, work, &clients[i]);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    printf("reviews=%" PRIu64 " failures=%" PRIu64 " per_s=%.0f handshakes=%" PRIu64
           " serials=%d slowest_ms=%.1f\n",
           load.reviews, load.failures,
           (double)load.reviews * 1e6 / (double)(now_us(CLOCK_MONOTONIC) - began_us),
           load.handshakes, load.serial_count, (double)load.slowest_us / 1000);
    free(load.request);
    return load.failures ? 1 : 0;
}
