/* SPDX-License-Identifier: Apache-2.0 */
/* client_send.c: a request and what its answer means: for the step that asked, or as trouble for
 * people. */
#include "controller/backends/neuvector/client_parts.h"

#include "base/memory.h"
#include "stack/model/reasons.h"

enum {
    TIME_MS = 60000,
    REPORT_TIME_MS = 300000, /* it may be large, and the way slow */
};

/* A request; it outlives the client while its answer is awaited. */
struct neuvector_call {
    struct neuvector_calls *calls;
    struct neuvector_call *next, *previous;
    struct neuvector_client *client; /* NULL: nobody waits */
    bool is_direct;                  /* it is asked of the cluster's own API */
    bool is_report;
    neuvector_read *read; /* NULL: it ends a session */
};

int64_t client_time(const struct neuvector_client *client)
{
    return loop_now_ms(connection_loop(client->connection));
}

struct str client_cluster(const struct neuvector_client *client)
{
    return connection_id(client->connection);
}

/* --- calls --- */

static void call_free(struct neuvector_call *call)
{
    *(call->previous ? &call->previous->next : &call->calls->first) = call->next;
    if (call->next)
        call->next->previous = call->previous;
    mem_free(call);
}

void neuvector_calls_free(struct neuvector_calls *calls)
{
    while (calls->first)
        call_free(calls->first);
}

bool neuvector_calls_end_sessions(const struct neuvector_calls *calls)
{
    for (const struct neuvector_call *call = calls->first; call; call = call->next)
        if (!call->read)
            return true;
    return false;
}

/* --- the answer --- */

void client_finish(struct neuvector_client *client, const struct neuvector_answer *answer)
{
    neuvector_done *done = client->done;

    client->done = NULL;
    done(client->context, answer);
}

void client_give_known(void *context)
{
    struct neuvector_client *client = context;

    client_finish(client, &client->known);
}

void client_finish_soon(struct neuvector_client *client, struct str reason, struct str message)
{
    client->known =
        (struct neuvector_answer){ .reason = reason, .message = str_dup(client->arena, message) };
    loop_timer_set(client->soon, 0);
}

void client_fail(struct neuvector_client *client, struct str reason, struct str message)
{
    client_finish(client, &(struct neuvector_answer){ .reason = reason, .message = message });
}

/* --- trouble --- */

/* Each cause with its own reason; the words behind the colon are those of who answered. */
static const struct {
    enum wire_answer kind;
    enum reason reason;
    const char *what;
    const char *remedy;
} troubles[] = {
    { WIRE_NO_SERVICE, REASON_NEUVECTOR_UNREACHABLE, "does not answer", "" },
    { WIRE_NOT_READY, REASON_NEUVECTOR_UNREACHABLE, "does not answer", "" },
    { WIRE_FAILED, REASON_NEUVECTOR_UNREACHABLE, "fails", "" },
    { WIRE_ELSEWHERE, REASON_NEUVECTOR_UNREACHABLE, "cannot be reached", "" },
    { WIRE_PROXY_FORBIDDEN, REASON_NEUVECTOR_PROXY_FORBIDDEN, "may not be reached",
      "; grant the user of Herd's Rancher token that right" },
    { WIRE_PASSWORD, REASON_NEUVECTOR_PASSWORD_CHANGE_REQUIRED, "wants the password changed",
      "; change it in NeuVector, and put the new one into the Secret herd-neuvector" },
    { WIRE_DENIED, REASON_NEUVECTOR_PERMISSION_DENIED, "denies what Herd needs",
      "; give the user or API key a role that may read and write runtime scans and policies" },
    { WIRE_NOT_FOUND, REASON_NEUVECTOR_UNEXPECTED_RESPONSE, "does not have what every release has",
      "" },
    { WIRE_REFUSED, REASON_NEUVECTOR_UNEXPECTED_RESPONSE, "refuses the login", "" },
};

void client_fail_as(struct neuvector_client *client, struct arena *arena, enum wire_answer kind,
                    struct str words)
{
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
        if (troubles[i].kind != kind)
            continue;
        client_fail(client, reason_rows[troubles[i].reason].name,
                    str_fmt(arena, "NeuVector on cluster %.*s %s%s%.*s%s",
                            STR_ARG(client_cluster(client)), troubles[i].what,
                            words.len ? ": " : "", STR_ARG(words), troubles[i].remedy));
        return;
    }
}

/* --- sending --- */

/* What the cluster's API says, and that there is no answer, concerns all that goes to the cluster;
 * what comes through the proxy may be the Service's. */
static void note_outcome(struct neuvector_client *client, const struct neuvector_call *call,
                         const struct request_outcome *outcome, int http_status)
{
    if (call->is_direct || !http_status)
        request_backoff_note(connection_backoff(client->connection), outcome, client_time(client));
}

/* What is no report is an answer all the same: the others may be readable. */
static void read_report(const struct neuvector_client *client, struct arena *arena,
                        struct neuvector_answer *read)
{
    struct error err = { .code = ERROR_NONE };
    struct scan_findings *found = arena_new(arena, struct scan_findings);

    if (report_reader_end(client->report, found, &err) < 0) {
        read->message = str_dup(arena, str_of(err.text));
        return;
    }
    vulnerabilities_lend(arena, found->worst);
    vulnerabilities_unref(found->worst);
    read->report = found;
}

/* Whether all of it came; of a report, whether as much of it as there is any use for. */
static bool is_whole(const struct neuvector_call *call, const struct kube_answer *answer)
{
    return answer->status && (answer->error.code == ERROR_NONE ||
                              (call->is_report && answer->error.code == ERROR_CANCELLED));
}

static void read_answer(struct neuvector_client *client, const struct neuvector_call *call,
                        struct arena *arena, const struct kube_answer *answer)
{
    struct neuvector_answer read = { .reason = STR(""), .message = STR("") };
    struct error err = { .code = ERROR_NONE };
    enum wire_answer kind = WIRE_ELSEWHERE;
    struct str body = str_trim(answer->body);
    const struct request_outcome outcome = request_outcome_of(answer);

    if (is_whole(call, answer) || answer->status >= 300)
        kind = wire_answer_of(arena, answer->status, answer->body, &read.message);
    if (kind == WIRE_ELSEWHERE)
        note_outcome(client, call, &outcome, answer->status);
    if (kind == WIRE_ELSEWHERE || (kind == WIRE_PROXY_FORBIDDEN && !read.message.len))
        read.message = str_dup(arena, str_of(outcome.error.text));
    if (kind == WIRE_OK && call->is_report)
        read_report(client, arena, &read);
    if (kind == WIRE_OK && body.len && wire_read(arena, body, &read.json, &err) < 0)
        client_fail(client, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
                    str_fmt(arena, "NeuVector on cluster %.*s does not answer with JSON: %s",
                            STR_ARG(client_cluster(client)), err.text));
    else
        call->read(client, arena, kind, &read);
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct neuvector_call *call = context;
    struct neuvector_client *client = call->client;

    arena_keep_secret(arena); /* a session's token */
    if (client) {
        client->call = NULL;
        read_answer(client, call, arena, answer);
    }
    call_free(call);
}

static bool on_report_piece(void *context, struct str piece)
{
    const struct neuvector_call *call = context;

    return call->client && report_reader_put(call->client->report, piece);
}

static void send_raw(struct neuvector_client *client, struct kube_raw *raw, neuvector_read *read,
                     bool is_direct)
{
    struct neuvector_call *call = mem_new(struct neuvector_call);

    call->calls = client->calls;
    call->next = call->calls->first;
    if (call->next)
        call->next->previous = call;
    call->calls->first = call;
    call->client = client;
    call->is_direct = is_direct;
    call->is_report = raw->on_piece != NULL;
    call->read = read;
    client->call = call;
    connection_send(client->connection, raw, on_answer, call);
}

void client_send_direct(struct neuvector_client *client, struct str path, neuvector_read *read)
{
    struct kube_raw raw = { .method = "GET", .path = path, .timeout_ms = TIME_MS };

    send_raw(client, &raw, read, true);
}

void client_send(struct neuvector_client *client, const struct neuvector_request *request,
                 neuvector_read *read)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_raw raw = { .method = request->method,
                            .path = client_place(client, arena, request->path),
                            .content_type = request->body.len ? "application/json" : NULL,
                            .body = request->body,
                            .timeout_ms = TIME_MS,
                            .answer_bytes_max = request->bytes_max };

    if (request->credential.value.len) {
        raw.headers = &request->credential;
        raw.header_count = 1;
    }
    if (request->is_report) {
        report_reader_free(client->report);
        client->report = report_reader_create();
        raw.on_piece = on_report_piece;
        raw.timeout_ms = REPORT_TIME_MS;
    }
    send_raw(client, &raw, read, false);
}

void client_leave_call(struct neuvector_client *client)
{
    if (client->call)
        client->call->client = NULL;
    client->call = NULL;
    loop_timer_clear(client->soon);
}
