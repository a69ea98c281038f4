/* SPDX-License-Identifier: Apache-2.0 */
/* start.c: bench-start: how long from exec to the first verdict.
 *
 *   bench-start PORT BODY-FILE PROGRAM [ARGUMENT...]
 *
 * Starts the program, which serves on 127.0.0.1:PORT, asks it for a verdict at /validate as soon as it
 * takes a connection, prints the milliseconds, and ends it. The program runs on the first processor and
 * this one on the second, where there are two. */
#include "load_request.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 30 * 1000, ANSWER_BYTES = 16 * 1024 };

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void run_on(int processor)
{
    cpu_set_t set;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* A connection, or -1 while nobody listens. */
static int connect_to(uint16_t port)
{
    struct sockaddr_in server = { .sin_family = AF_INET, .sin_port = htons(port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
    /* Else the request waits 40 ms for the server's delayed ACK of the handshake's end. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    if (connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* True once a verdict was read: an answer's head and body may come apart. A server that does not know
 * enough yet says so instead, and keeps the connection. */
static bool read_verdict(SSL *ssl)
{
    const char *accepted = "HTTP/1.1 200";
    char answer[ANSWER_BYTES];
    size_t got = 0;
    int more;

    while ((more = SSL_read(ssl, answer + got, (int)(sizeof(answer) - got))) > 0) {
        got += (size_t)more;
        if (memmem(answer, got, "\"allowed\":", 10))
            return true;
        if (got >= strlen(accepted) && memcmp(answer, accepted, strlen(accepted)) != 0)
            return false;
    }
    return false;
}

static bool ask(SSL_CTX *tls, uint16_t port, const char *request, size_t request_len)
{
    bool answered = false;
    int fd = connect_to(port);

    if (fd < 0)
        return false;

    SSL *ssl = SSL_new(tls);

    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) == 1 && SSL_write(ssl, request, (int)request_len) == (int)request_len)
        answered = read_verdict(ssl);
    SSL_free(ssl);
    close(fd);
    return answered;
}

static pid_t start(char **command)
{
    pid_t pid = fork();

    if (pid == 0) {
        run_on(0);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    return pid;
}

int main(int argc, char **argv)
{
    const struct timespec pause = { .tv_nsec = 100 * 1000 };
    size_t request_len = 0;
    char *request = argc > 3 ? load_request("/validate", argv[2], &request_len) : NULL;
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    bool answered = false;

    if (!request) {
        fprintf(stderr, "usage: bench-start PORT BODY-FILE PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    run_on(1);

    double began_ms = now_ms();
    pid_t pid = start(argv + 3);

    while (!answered && now_ms() - began_ms < PATIENCE_MS && waitpid(pid, NULL, WNOHANG) == 0) {
        answered = ask(tls, (uint16_t)atoi(argv[1]), request, request_len);
        if (!answered)
            nanosleep(&pause, NULL);
    }
    if (answered)
        printf("%.1f\n", now_ms() - began_ms);
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    SSL_CTX_free(tls);
    free(request);
    return answered ? 0 : 1;
}
