/* SPDX-License-Identifier: Apache-2.0 */
/* loopback.c: servers, clients and certificates of one test process. */
#include "support/rows.h"

#include "support/folder.h"
#include "support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct wait {
    struct loop *loop;
    const bool *flag;
    struct loop_timer *look;
    struct loop_timer *patience;
};

static void look(void *context)
{
    struct wait *wait = context;

    if (*wait->flag)
        loop_stop(wait->loop);
    else
        loop_timer_set(wait->look, 1);
}

/* HERD_PATIENCE_MS: a mutation test looks for what never comes, and should not wait long for it. */
static int64_t patience_ms(void)
{
    const char *said = getenv("HERD_PATIENCE_MS");

    return said ? strtoll(said, NULL, 10) : LOOPBACK_PATIENCE_MS;
}

static void out_of_patience(void *context)
{
    (void)context;
    fprintf(stderr, "the loop waits for something that does not come\n");
    abort();
}

void loopback_run_until(struct loop *loop, const bool *flag)
{
    struct wait wait = { loop, flag, NULL, NULL };

    wait.look = loop_timer_create(loop, look, &wait);
    wait.patience = loop_timer_create(loop, out_of_patience, &wait);
    loop_timer_set(wait.look, 0);
    loop_timer_set(wait.patience, patience_ms());
    loop_run(loop);
    loop_timer_free(wait.look);
    loop_timer_free(wait.patience);
}

struct asked {
    struct reply reply;
    struct arena *arena;
    struct loop *loop;
};

static void on_reply(void *context, const struct http_response *response)
{
    struct asked *asked = context;

    asked->reply = (struct reply){
        .done = true,
        .status = response->status,
        .body = str_dup(asked->arena, response->body),
        .content_type = str_dup(asked->arena, response->content_type),
        .retry_after_ms = response->retry_after_ms,
        .date_ms = response->date_ms,
        .error = response->error,
        .sent = response->sent,
    };
    loop_stop(asked->loop);
}

struct reply loopback_ask(struct loop *loop, struct http_client *client,
                          const struct http_request *request, struct arena *arena)
{
    struct asked asked = { .arena = arena, .loop = loop };
    struct http_request with_end = *request;
    struct loop_timer *patience = loop_timer_create(loop, out_of_patience, NULL);

    with_end.on_done = on_reply;
    with_end.context = &asked;
    loop_timer_set(patience, patience_ms());
    http_send(client, &with_end);
    assert_false(asked.reply.done); /* never from within http_send */
    loop_run(loop);
    loop_timer_free(patience);
    assert_true(asked.reply.done);
    return asked.reply;
}

struct reply loopback_get(struct loop *loop, struct http_client *client, const char *scheme,
                          uint16_t port, const char *path, struct arena *arena)
{
    struct http_request request = {
        .method = "GET",
        .url = str_fmt(arena, "%s://127.0.0.1:%u%s", scheme, port, path),
    };

    return loopback_ask(loop, client, &request, arena);
}

struct tls_pair loopback_issue(struct arena *arena, struct tls_request request,
                               const struct tls_pair *ca)
{
    struct tls_pair pair = { { NULL, 0 }, { NULL, 0 } };
    struct error err;
    int64_t now_ms = clock_wall_ms(system_clock());

    if (!request.not_before_ms)
        request.not_before_ms = now_ms - 3600 * 1000;
    if (!request.not_after_ms)
        request.not_after_ms = now_ms + 24 * 3600 * 1000;
    if (tls_issue(arena, &request, ca, &pair, &err) != 0)
        fail_msg("%s", err.text);
    return pair;
}

struct tls_pair loopback_ca(struct arena *arena, const char *name)
{
    return loopback_issue(arena, (struct tls_request){ .common_name = str_of(name), .is_ca = true },
                          NULL);
}

struct tls_pair loopback_leaf(struct arena *arena, const struct tls_pair *ca, const char *name)
{
    struct tls_request request = { .common_name = str_of(name) };

    request.dns_names = str_list_new(arena, 1);
    request.addresses = str_list_new(arena, 1);
    str_list_push(&request.dns_names, str_of(name));
    str_list_push(&request.addresses, STR("127.0.0.1"));
    return loopback_issue(arena, request, ca);
}

struct tls_source *loopback_source(struct arena *arena, const char *folder,
                                   const struct tls_pair *pair)
{
    const char *certificate = folder_name(arena, folder, "tls.crt");
    const char *key = folder_name(arena, folder, "tls.key");
    struct error err;

    folder_put(certificate, pair->certificate_pem, 0644);
    folder_put(key, pair->key_pem, 0600);

    struct tls_source *source = tls_source_create(certificate, key, NULL, &err);

    if (!source)
        fail_msg("%s", err.text);
    return source;
}

int loopback_connect(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

bool loopback_write(int fd, struct str bytes)
{
    while (bytes.len) {
        ssize_t put = send(fd, bytes.at, bytes.len, MSG_NOSIGNAL);

        if (put <= 0)
            return false;
        bytes = str_slice(bytes, (size_t)put, bytes.len);
    }
    return true;
}

struct str loopback_read(struct arena *arena, int fd, int wait_ms)
{
    struct strbuf text = strbuf_new(arena, 4096);
    struct pollfd ready = { .fd = fd, .events = POLLIN };

    while (poll(&ready, 1, text.len ? wait_ms : LOOPBACK_PATIENCE_MS) > 0) {
        ssize_t got = recv(fd, strbuf_reserve(&text, 4096), 4096, 0);

        if (got <= 0)
            break;
        text.len += (size_t)got;
    }
    return strbuf_str(&text);
}
