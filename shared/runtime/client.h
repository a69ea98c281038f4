/* SPDX-License-Identifier: Apache-2.0 */
/* client.h: requests to an API server, or to what speaks like one.
 *
 * Asynchronous: everything happens on the loop. Answers that are not 2xx become errors by reason
 * (kube/apistatus.h). A write is sent only while the fence allows it (leadership). */
#ifndef HERD_RUNTIME_CLIENT_H
#define HERD_RUNTIME_CLIENT_H

#include "io/http_client.h"
#include "kube/request.h"
#include "runtime/kubeconfig.h"

struct kube_client;
struct kube_call;

struct kube_client_options {
    struct loop *loop;
    const struct kube_config *config; /* copied */
    const char *user_agent;
    /* 0 = http_client's own. Over HTTP/2 requests and watches share a few connections; over
     * HTTP/1.1 each watch has one for itself. */
    uint32_t connections_max;
    uint32_t requests_max; /* as in http_client_options */
    bool http1;            /* as in http_client_options */
    /* Asked before each request that changes something, when it is queued and again right before it
     * is sent; NULL = always. */
    bool (*may_write)(void *context);
    void *may_write_context;
    /* Asked before each request, whatever it does; false with `ret_error`: it is not sent, and ends
     * with that error. NULL = always. */
    bool (*may_ask)(void *context, struct error *ret_error);
    void *may_ask_context;
    /* Makes an error of an answer that is not 2xx, where the server is not only Kubernetes; NULL =
     * kube_error_from_answer. */
    void (*read_error)(int http_status, struct str body, struct error *ret_error);
    /* Told of each finished request, for metrics; may be NULL. */
    void (*on_request)(void *context, const char *verb, struct str plural, int status,
                       int64_t duration_ms);
    void *on_request_context;
};

struct kube_client *kube_client_create(const struct kube_client_options *options,
                                       struct error *err);
/* Cancels what is under way without calling back. */
void kube_client_free(struct kube_client *client);
AUTO_DEFINE(kube_client_free, struct kube_client *)

struct kube_answer {
    int status;          /* 0: none came */
    struct str body;     /* borrowed for the callback */
    struct error error;  /* ERROR_NONE on 2xx */
    struct str warnings; /* values of its Warning headers, one a line; borrowed too */
    int64_t retry_after_ms;
    bool sent; /* the peer may have acted, whatever `error` says */
};

typedef void kube_done(void *context, const struct kube_answer *answer);

/* `request` is copied as needed. The call is gone after `done`. */
struct kube_call *kube_client_call(struct kube_client *client, const struct kube_request *request,
                                   kube_done *done, void *context);
/* Any other request of that server, e.g. an action of Rancher's, or one through a proxy. */
struct kube_raw {
    const char *method;
    struct str path; /* below the server, with the query; begins with '/' */
    const char *content_type;
    struct str body;
    const struct http_header *headers; /* beside Accept, Content-Type and the token */
    uint32_t header_count;
    int64_t timeout_ms;      /* 0 = LIMIT_ANSWER_TIME */
    size_t answer_bytes_max; /* 0 = LIMIT_ANSWER_BODY */
    /* If set, a 2xx body goes here as it comes, with the context of `done`, and not into the
     * answer; false ends the call with ERROR_CANCELLED. What came counts only if the answer has no
     * error. It cancels and frees nothing. */
    bool (*on_piece)(void *context, struct str piece);
};
/* All that `raw` points to is copied as needed. */
struct kube_call *kube_client_send(struct kube_client *client, const struct kube_raw *raw,
                                   kube_done *done, void *context);
/* The same, of the members that most requests need. */
struct kube_call *kube_client_raw(struct kube_client *client, const char *method, struct str path,
                                  const char *content_type, struct str body, int64_t timeout_ms,
                                  kube_done *done, void *context);
/* A watch: `line` gets each line; false ends it. `done` comes at the end of all. */
struct kube_call *kube_client_watch(struct kube_client *client, const struct kube_request *request,
                                    bool (*line)(void *context, struct str line), kube_done *done,
                                    void *context);
void kube_call_cancel(struct kube_call *call);
/* Of a watch: call this, with the context of the call, when a 2xx answer begins. */
void kube_call_on_begin(struct kube_call *call, void (*begun)(void *context));
/* Who wants to know when the server answers again after no connection to it could be made: the
 * first answer of any request tells all of them. `told` may send requests, and leaves or frees
 * nobody of them. */
struct kube_return {
    struct kube_return *next, *previous;
    void (*told)(void *context);
    void *context;
};
/* `wish` stays where it is until it is dropped. */
void kube_client_await_return(struct kube_client *client, struct kube_return *wish);
void kube_client_drop_return(struct kube_client *client, struct kube_return *wish);
/* The bearer token that the next request would send; "" = none. Borrowed until that request. */
struct str kube_client_token(struct kube_client *client);
/* The loop it runs on. */
struct loop *kube_client_loop(struct kube_client *client);
/* The time, by the server's clock if ours differs (kube/server_time.h). */
int64_t kube_client_wall_ms(struct kube_client *client);

#endif
