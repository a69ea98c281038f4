/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: herd-otlp-sink PORT FOLDER: takes what is posted to /v1/traces, until a signal.
 *
 * FOLDER/requests gets a line for each body, FOLDER/authorization that header of the last one. A
 * number in FOLDER/status is answered in place of 200, and the body is not kept; while there is a
 * FOLDER/hang, nothing is answered. */
#include "io/file.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "io/signal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BODY_MAX = 8 * 1024 * 1024, NAP_US = 20 * 1000 };

static const char *name_in(const struct http_exchange_view *view, const char *folder,
                           const char *name)
{
    return str_fmt(view->arena, "%s/%s", folder, name).at;
}

static int status_now(const struct http_exchange_view *view, const char *folder)
{
    struct str text;
    struct error ignored;
    uint64_t status;

    if (file_read(view->arena, name_in(view, folder, "status"), 64, &text, &ignored) < 0 ||
        !str_to_u64(str_trim(text), &status))
        return 200;
    return (int)status;
}

/* One write, so that the lines of two programs do not mix. */
static void keep(const struct http_exchange_view *view, const char *folder)
{
    struct str line = str_fmt(view->arena, "%.*s\n", STR_ARG(view->body));
    int fd =
        open(name_in(view, folder, "requests"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, line.at, line.len) != (ssize_t)line.len)
        perror("herd-otlp-sink");
    close(fd);
}

static void take(struct http_exchange *exchange, void *context)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct error ignored;
    int status;

    while (file_exists(name_in(view, context, "hang")))
        usleep(NAP_US);
    file_replace(name_in(view, context, "authorization"), http_header(exchange, "Authorization"),
                 0600, &ignored);
    status = status_now(view, context);
    if (status == 200)
        keep(view, context);
    http_answer(exchange, status, "application/json", STR("{}"));
}

static const struct http_route routes[] = { { "POST", "/v1/traces", BODY_MAX, take, "traces" } };

static void on_signal(void *context, int number)
{
    (void)number;
    loop_stop(context);
}

int main(int argc, char **argv)
{
    struct error err;
    struct http_server *server;
    struct loop *loop;
    struct signal_watch *signals;

    if (argc != 3)
        return 2;
    signal_setup();
    server = http_server_create(
        &(struct http_server_options){
            .address = "127.0.0.1",
            .port = (uint16_t)atoi(argv[1]),
            .routes = routes,
            .route_count = 1,
            .context = argv[2],
            .request_ms = -1,
        },
        &err);
    if (!server) {
        fprintf(stderr, "herd-otlp-sink: %s\n", err.text);
        return 1;
    }
    loop = loop_create();
    signals = signal_watch_create(loop, on_signal, loop);
    fprintf(stderr, "serving port=%d\n", http_server_port(server));
    loop_run(loop);
    signal_watch_free(signals);
    loop_free(loop);
    http_server_free(server);
    return 0;
}
