/* SPDX-License-Identifier: Apache-2.0 */
/* client.c: the steps that one question takes: credentials, where NeuVector is, a session, the
 * question itself. Each step ends in the next, or in the answer. */
#include "controller/backends/neuvector/client_parts.h"

#include "base/memory.h"
#include "stack/model/reasons.h"

/* --- the question --- */

static void on_asked(struct neuvector_client *client, struct arena *arena, enum wire_answer kind,
                     const struct neuvector_answer *answer)
{
    struct neuvector_answer given = *answer;

    given.kind = kind;
    switch (kind) {
    case WIRE_OK:
        client->rejections = 0;
        client_finish(client, &given);
        return;
    case WIRE_NOT_FOUND:
    case WIRE_REFUSED:
    case WIRE_DENIED:
        client_finish(client, &given);
        return;
    case WIRE_NO_SERVICE:
        client_go_another_way(client, arena, answer);
        return;
    case WIRE_UNAUTHORIZED:
        if (client->token.len && !client->logged_in) {
            client_forget_session(client);
            client_step(client);
        } else {
            client_reject(client, arena);
        }
        return;
    case WIRE_NOT_READY:
    case WIRE_PROXY_FORBIDDEN:
    case WIRE_PASSWORD:
    case WIRE_FAILED:
    case WIRE_ELSEWHERE:
        break;
    }
    client_fail_as(client, arena, kind, answer->message);
}

static void ask(struct neuvector_client *client, const struct credential *credential)
{
    const struct neuvector_request question = { .method = client->method,
                                                .path = client->path,
                                                .body = client->body,
                                                .bytes_max = client->bytes_max,
                                                .credential = client_credential(client, credential),
                                                .is_report = client->of_report };

    client_send(client, &question, on_asked);
}

static void on_pods(struct neuvector_client *client, struct arena *arena, enum wire_answer kind,
                    const struct neuvector_answer *answer)
{
    struct neuvector_answer given = *answer;

    given.kind = kind;
    if (kind == WIRE_OK)
        client_finish(client, &given);
    else
        client_fail_as(client, arena, kind, answer->message);
}

static bool waits(struct neuvector_client *client)
{
    const struct request_backoff *backoff = connection_backoff(client->connection);

    if (request_backoff_ends_ms(backoff, client_time(client)) < 0)
        return false;
    client_finish_soon(client, REASON(NEUVECTOR_UNREACHABLE),
                       str_fmt(client->arena, "NeuVector on cluster %.*s cannot be reached: %.*s",
                               STR_ARG(client_cluster(client)),
                               STR_ARG(request_backoff_message(backoff))));
    return true;
}

void client_step(struct neuvector_client *client)
{
    struct credential credential;
    struct error err = { .code = ERROR_NONE };

    if (waits(client))
        return;
    if (client->of_pods) {
        client_send_direct(client, client->path, on_pods);
        return;
    }
    if (credentials_read(client->credentials, &credential, &err) < 0) {
        client_finish_soon(client, REASON(NEUVECTOR_CREDENTIALS_MISSING), str_of(err.text));
        return;
    }
    client_take_credential(client, &credential);
    if (client_is_rejected(client))
        return;
    if (!client->namespace_.len)
        client_locate(client);
    else if (!credential.api_key.len && !client->token.len)
        client_log_in(client, &credential);
    else
        ask(client, &credential);
}

static void begin(struct neuvector_client *client, struct str path, neuvector_done *done,
                  void *context)
{
    arena_reset(client->arena);
    client->path = str_dup(client->arena, path);
    client->done = done;
    client->context = context;
    client->namespaces_read = 0;
    client->bytes_max = 0;
    client->of_pods = client->of_report = false;
    client->looked_again = client->logged_in = false;
}

void neuvector_client_ask(struct neuvector_client *client, const char *method, struct str path,
                          struct str body, neuvector_done *done, void *context)
{
    begin(client, path, done, context);
    client->method = method;
    client->body = str_dup(client->arena, body);
    client_step(client);
}

void neuvector_client_get(struct neuvector_client *client, struct str path, size_t bytes_max,
                          neuvector_done *done, void *context)
{
    begin(client, path, done, context);
    client->method = "GET";
    client->body = STR("");
    client->bytes_max = bytes_max;
    client_step(client);
}

void neuvector_client_get_report(struct neuvector_client *client, struct str path,
                                 neuvector_done *done, void *context)
{
    begin(client, path, done, context);
    client->of_report = true;
    client->method = "GET";
    client->body = STR("");
    client_step(client);
}

void neuvector_client_get_pods(struct neuvector_client *client, struct str path,
                               neuvector_done *done, void *context)
{
    begin(client, path, done, context);
    client->of_pods = true;
    client_step(client);
}

/* --- life --- */

struct neuvector_client *neuvector_client_create(struct neuvector_calls *calls,
                                                 struct connection *connection, const char *folder)
{
    struct neuvector_client *client = mem_new(struct neuvector_client);

    client->calls = calls;
    client->connection = connection;
    client->credentials = credentials_create(folder, connection_id(connection));
    client->memory = arena_create(0);
    client->place = arena_create(0);
    client->session = arena_create(0);
    client->arena = arena_create(0);
    arena_keep_secret(client->session);
    client->soon = loop_timer_create(connection_loop(connection), client_give_known, client);
    return client;
}

void neuvector_client_rest(struct neuvector_client *client)
{
    client_leave_call(client);
    client_log_out(client);
}

void neuvector_client_free(struct neuvector_client *client)
{
    if (!client)
        return;
    neuvector_client_rest(client);
    loop_timer_free(client->soon);
    report_reader_free(client->report);
    credentials_free(client->credentials);
    arena_free(client->memory);
    arena_free(client->place);
    arena_free(client->session);
    arena_free(client->arena);
    mem_free(client);
}
