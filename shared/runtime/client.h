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
    /* Asked before each request that changes something, when it is queued and again right before it
     * is sent; NULL = always. */
    bool (*may_write)(void *context);
    void *may_write_context;
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
    int status;         /* 0: none came */
    struct str body;    /* borrowed for the callback */
    struct error error; /* ERROR_NONE on 2xx */
    int64_t retry_after_ms;
    bool sent; /* the peer may have acted, whatever `error` says */
};

typedef void kube_done(void *context, const struct kube_answer *answer);

/* `request` is copied as needed. The call is gone after `done`. */
struct kube_call *kube_client_call(struct kube_client *client, const struct kube_request *request,
                                   kube_done *done, void *context);
/* Any other path below the server, e.g. an action of Rancher's: `path` begins with '/'. */
struct kube_call *kube_client_raw(struct kube_client *client, const char *method, struct str path,
                                  const char *content_type, struct str body, int64_t timeout_ms,
                                  kube_done *done, void *context);
/* A watch: `line` gets each line; false ends it. `done` comes at the end of all. */
struct kube_call *kube_client_watch(struct kube_client *client, const struct kube_request *request,
                                    bool (*line)(void *context, struct str line), kube_done *done,
                                    void *context);
void kube_call_cancel(struct kube_call *call);
/* The loop it runs on. */
struct loop *kube_client_loop(struct kube_client *client);

#endif
