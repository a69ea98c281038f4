/* SPDX-License-Identifier: Apache-2.0 */
/* client_session.c: who asks: the credentials, and the session that a password begins. */
#include "controller/backends/neuvector/client_parts.h"

#include "stack/model/reasons.h"
#include "text/digest.h"

enum { REJECTIONS_MAX = 3 };

static struct str rejected_message(const struct neuvector_client *client, struct arena *arena)
{
    return str_fmt(arena,
                   "NeuVector on cluster %.*s %s; correct the Secret herd-neuvector (NeuVector "
                   "answers this to a user with too many sessions, too)",
                   STR_ARG(client_cluster(client)),
                   client->rejections >= REJECTIONS_MAX
                       ? "has rejected the credentials three times, so Herd sends none until they "
                         "change"
                       : "rejects the credentials");
}

void client_forget_session(struct neuvector_client *client)
{
    arena_reset(client->session);
    client->token = STR("");
}

void client_reject(struct neuvector_client *client, struct arena *arena)
{
    client->rejections++;
    client_forget_session(client);
    client_fail(client, REASON(NEUVECTOR_CREDENTIALS_REJECTED), rejected_message(client, arena));
}

static void on_login(struct neuvector_client *client, struct arena *arena, enum wire_answer kind,
                     const struct neuvector_answer *answer)
{
    struct error err = { .code = ERROR_NONE };
    struct str token;

    if (kind == WIRE_NO_SERVICE) {
        client_go_another_way(client, arena, answer);
    } else if (kind == WIRE_UNAUTHORIZED) {
        client_reject(client, arena);
    } else if (kind != WIRE_OK) {
        client_fail_as(client, arena, kind, answer->message);
    } else if (wire_login_read(answer->json, &token, &err) < 0) {
        client_fail(client, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
                    str_fmt(arena, "NeuVector on cluster %.*s: %s", STR_ARG(client_cluster(client)),
                            err.text));
    } else if (!token.len) {
        client_fail_as(client, arena, WIRE_PASSWORD, STR(""));
    } else {
        client->token = str_dup(client->session, token);
        client_step(client);
    }
}

void client_log_in(struct neuvector_client *client, const struct credential *credential)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct neuvector_request login = { .method = "POST", .path = STR("/v1/auth") };

    arena_keep_secret(arena);
    client->logged_in = true;
    login.body = wire_login_body(arena, credential->username, credential->password);
    client_send(client, &login, on_login);
}

static struct http_header session_header(const struct neuvector_client *client)
{
    return (struct http_header){ STR("X-Auth-Token"), client->token };
}

struct http_header client_credential(const struct neuvector_client *client,
                                     const struct credential *credential)
{
    return credential->api_key.len
               ? (struct http_header){ STR("X-Auth-Apikey"), credential->api_key }
               : session_header(client);
}

void client_log_out(struct neuvector_client *client)
{
    const struct neuvector_request logout = { .method = "DELETE",
                                              .path = STR("/v1/auth"),
                                              .body = STR(""),
                                              .credential = session_header(client) };

    if (!client->token.len)
        return;
    client_send(client, &logout, NULL);
    client_leave_call(client);
    client_forget_session(client);
}

void client_take_credential(struct neuvector_client *client, const struct credential *credential)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str digest;

    arena_keep_secret(arena);
    digest = digest_sha256_hex(
        arena, str_fmt(arena, "%.*s\n%.*s\n%.*s", STR_ARG(credential->api_key),
                       STR_ARG(credential->username), STR_ARG(credential->password)));
    if (str_eq(digest, client->digest))
        return;
    if (client->digest.len)
        client_forget_session(client);
    arena_reset(client->memory);
    client->digest = str_dup(client->memory, digest);
    client->rejections = 0;
}

bool client_is_rejected(struct neuvector_client *client)
{
    if (client->rejections < REJECTIONS_MAX)
        return false;
    client_finish_soon(client, REASON(NEUVECTOR_CREDENTIALS_REJECTED),
                       rejected_message(client, client->arena));
    return true;
}
