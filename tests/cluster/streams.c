/* SPDX-License-Identifier: Apache-2.0 */
/* streams.c KUBECONFIG VERSION POSTS: objects are made one after the other while watches of them run on the
 * same connection of HTTP/2. Each is answered, and each watch tells each of them; else it exits
 * with 1 and says what did not come.
 *
 * An object is larger than the buffer of a stream, and its answer and the events about it come in
 * one read: then libcurl 7.88 keeps what is behind the first of them (io/http_client.c). */
#include "io/http_client.h"
#include "runtime/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WATCHES = 8,
    SIZES = 6000,
    ANSWER_MS = 12000, /* the API server answers in some ms */
    EVENTS_MS = 20000, /* after the last answer */
};

struct streams {
    struct arena *arena;
    struct loop *loop;
    struct http_client *client;
    struct loop_timer *deadline;
    struct kube_config config;
    int count, made, unanswered;
    long events[WATCHES];
    bool failed;
};

struct watch {
    struct streams *all;
    int number;
};

static struct str token(void *context)
{
    return ((struct streams *)context)->config.token;
}

static bool all_told(const struct streams *s)
{
    for (int i = 0; i < WATCHES; i++)
        if (s->events[i] < s->made)
            return false;
    return true;
}

static bool on_event(void *context, struct str piece)
{
    const struct watch *watch = context;
    struct streams *s = watch->all;

    for (size_t i = 0; i < piece.len; i++)
        s->events[watch->number] += piece.at[i] == '\n';
    if (s->made == s->count && all_told(s))
        loop_stop(s->loop);
    return true;
}

static void fail(struct streams *s, const char *what, struct str why)
{
    printf("%s: %.*s\n", what, STR_ARG(why));
    s->failed = true;
    loop_stop(s->loop);
}

static void on_watch_end(void *context, const struct http_response *response)
{
    const struct watch *watch = context;

    fail(watch->all, "a watch ended", str_of(response->error.text));
}

static void on_deadline(void *context)
{
    struct streams *s = context;

    for (int i = 0; i < WATCHES; i++)
        printf("watch %d told of %ld of %d\n", i, s->events[i], s->made);
    fail(s, "events did not come", STR(""));
}

static void make_next(struct streams *s);

static void on_made(void *context, const struct http_response *response)
{
    struct streams *s = context;

    if (response->status != 201) {
        printf("object %d: %d %s\n", s->made, response->status, response->error.text);
        s->unanswered++;
    }
    if (++s->made < s->count)
        make_next(s);
    else if (all_told(s))
        loop_stop(s->loop);
    else
        loop_timer_set(s->deadline, EVENTS_MS);
}

static struct str url(struct streams *s, const char *rest)
{
    return str_fmt(s->arena, "%.*s/api/v1/namespaces/default/configmaps%s",
                   STR_ARG(s->config.server), rest);
}

static void make_next(struct streams *s)
{
    static const struct http_header headers[] = {
        { STR_INIT("Content-Type"), STR_INIT("application/json") },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf body = strbuf_new(arena, SIZES + 256);

    strbuf_fmt(&body, "{\"metadata\":{\"name\":\"streams-%d\"},\"data\":{\"a\":\"", s->made);
    for (int i = s->made * 977 % SIZES; i > 0; i--)
        strbuf_char(&body, 'x');
    strbuf_lit(&body, "\"}}");
    http_send(s->client, &(struct http_request){
                             .method = "POST",
                             .url = url(s, ""),
                             .headers = headers,
                             .header_count = 1,
                             .body = strbuf_str(&body),
                             .timeout_ms = ANSWER_MS,
                             .on_done = on_made,
                             .context = s,
                         });
}

static void watch_all(struct streams *s, struct watch *watches, const char *version)
{
    struct str path =
        url(s, str_fmt(s->arena, "?watch=true&resourceVersion=%s", version).at);

    for (int i = 0; i < WATCHES; i++) {
        watches[i] = (struct watch){ s, i };
        http_send(s->client, &(struct http_request){
                                 .method = "GET",
                                 .url = path,
                                 .timeout_ms = -1,
                                 .on_data = on_event,
                                 .on_done = on_watch_end,
                                 .context = &watches[i],
                             });
    }
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(loop_free) struct loop *loop = loop_create();
    struct streams s = { .arena = arena, .loop = loop };
    struct watch watches[WATCHES];
    struct error err = { .code = ERROR_NONE };

    if (argc != 4 || kube_config_load(arena, argv[1], "", &s.config, &err) != 0) {
        printf("herd-streams KUBECONFIG VERSION POSTS: %s\n", err.text);
        return 2;
    }
    s.count = atoi(argv[3]);
    s.client = http_client_create(loop,
                                  &(struct http_client_options){
                                      .ca_pem = s.config.ca_pem,
                                      .certificate_pem = s.config.certificate_pem,
                                      .key_pem = s.config.key_pem,
                                      .bearer = token,
                                      .bearer_context = &s,
                                  },
                                  &err);
    if (!s.client) {
        printf("%s\n", err.text);
        return 2;
    }
    s.deadline = loop_timer_create(loop, on_deadline, &s);
    watch_all(&s, watches, argv[2]);
    make_next(&s);
    loop_run(loop);
    printf("%d objects, %d without an answer, on %llu connections\n", s.made, s.unanswered,
           (unsigned long long)http_client_connections_opened(s.client));
    loop_timer_free(s.deadline);
    http_client_free(s.client);
    return s.failed || s.unanswered ? 1 : 0;
}
