/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c: a request that a thread of the lab waits for, in HTTP/1.0: the answer ends with the
 * connection. */
#include "lab/rancher/inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 65536, WAIT_S = 10 };

static int connect_to(struct str address, struct error *err)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval wait = { .tv_sec = WAIT_S };
    struct str host = STR("");
    uint64_t port = 0;
    int fd;

    if (!str_split(&address, ':', &host) || !str_eq(host, STR("127.0.0.1")) ||
        !str_to_u64(address, &port) || port > UINT16_MAX)
        return error_set(err, ERROR_INVALID, "an address is written 127.0.0.1:PORT");
    to.sin_port = htons((uint16_t)port);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_set(err, ERROR_INTERNAL, "socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    error_set(err, ERROR_CONNECT, "dial tcp: %s", strerror(errno));
    close(fd);
    return -1;
}

static void read_all(int fd, struct strbuf *out)
{
    ssize_t got;

    while ((got = read(fd, strbuf_reserve(out, READ_BYTES), READ_BYTES)) > 0)
        out->len += (size_t)got;
}

/* "HTTP/1.0 200 OK", headers, an empty line, the body. */
static int split(struct str answer, int *ret_status, struct str *ret_body, struct error *err)
{
    static const struct str end = STR_INIT("\r\n\r\n");
    ptrdiff_t at = str_find(answer, end, 0);
    uint64_t status = 0;

    if (at < 0 || answer.len < 12 || !str_to_u64(str_slice(answer, 9, 12), &status))
        return error_set(err, ERROR_CONNECT, "the server answered with what is not HTTP");
    *ret_status = (int)status;
    *ret_body = str_slice(answer, (size_t)at + end.len, answer.len);
    return 0;
}

int forward_get(struct arena *arena, struct str address, struct str path, int *ret_status,
                struct str *ret_body, struct error *err)
{
    struct str request =
        str_fmt(arena, "GET %.*s HTTP/1.0\r\nHost: %.*s\r\n\r\n", STR_ARG(path), STR_ARG(address));
    struct strbuf answer = strbuf_new(arena, READ_BYTES);
    int fd = connect_to(address, err);

    if (fd < 0)
        return -1;
    if (write(fd, request.at, request.len) == (ssize_t)request.len)
        read_all(fd, &answer);
    close(fd);
    return split(strbuf_str(&answer), ret_status, ret_body, err);
}
