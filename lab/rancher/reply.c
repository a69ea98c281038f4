/* SPDX-License-Identifier: Apache-2.0 */
/* reply.c: the six error bodies that Rancher's parts send (rancher v2.14: steve and norman
 * httperror, pkg/auth/util, pkg/clusterrouter). Each has its own quirks. */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/inside.h"

#include "kube/apistatus.h"

#define JSON_TYPE "application/json"

static struct arena *arena_of(struct http_exchange *exchange)
{
    return http_view(exchange)->arena;
}

void reply_json(struct http_exchange *exchange, int status, struct str json)
{
    http_answer(exchange, status, JSON_TYPE, json);
}

/* The outer wrapper and the map inside both write `type`. */
void reply_e1(struct http_exchange *exchange, int status, const char *code, struct str message)
{
    reply_json(exchange, status,
               jsonf(arena_of(exchange),
                     "{'type':'error','links':{},'code':%s,'message':%s,'status':%d,"
                     "'type':'error'}",
                     str_of(code), message, (int64_t)status));
}

void reply_e2(struct http_exchange *exchange, int status, const char *code, struct str message)
{
    reply_json(exchange, status,
               jsonf(arena_of(exchange),
                     "{'baseType':'error','code':%s,'message':%s,'status':%d,'type':'error'}",
                     str_of(code), message, (int64_t)status));
}

void reply_e3(struct http_exchange *exchange, int status, const char *reason, struct str message)
{
    struct kube_status body = { .reason = str_of(reason), .message = message, .code = status };
    struct strbuf out = strbuf_new(arena_of(exchange), 512);

    kube_status_write(&body, &out);
    reply_json(exchange, status, strbuf_str(&out));
}

/* Here `status` is a text, and there is no code. */
void reply_e4(struct http_exchange *exchange)
{
    reply_json(exchange, 401,
               STR("{\"type\":\"error\",\"status\":\"401\","
                   "\"message\":\"Unauthorized 401: must authenticate\"}"));
}

/* A Go struct without JSON tags; the header comes too late, so the type is sniffed. */
void reply_e5(struct http_exchange *exchange, int status, const char *code, struct str message)
{
    http_answer(exchange, status, "text/plain; charset=utf-8",
                jsonf(arena_of(exchange),
                      "{'Code':{'Code':%s,'Status':%d},'Message':%s,'Cause':null,'FieldName':''}",
                      str_of(code), (int64_t)status, message));
}

void reply_text(struct http_exchange *exchange, int status, struct str text)
{
    http_answer(exchange, status, "text/plain; charset=utf-8", text);
}

void reply_store_error(struct http_exchange *exchange, const struct error *err)
{
    struct str message = str_dup(arena_of(exchange), str_of(err->text));

    reply_e1(exchange, error_http_status(err->code), error_reason(err->code), message);
}
