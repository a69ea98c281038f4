/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.h: outgoing HTTP on a loop, by libcurl's multi interface.
 *
 * One client is one peer under one identity: its own connection pool, CA and credentials, so that a
 * reused connection never carries somebody else's rights. HTTP/2 where the peer offers it. No
 * redirects, proxies, cookies or netrc; only the schemes that are allowed by name. */
#ifndef HERD_IO_HTTP_CLIENT_H
#define HERD_IO_HTTP_CLIENT_H

#include "base/error.h"
#include "base/list.h"
#include "io/loop.h"

struct http_client;
struct http_call;

struct http_client_options {
    struct str ca_pem;          /* trust these and nobody else; "" = the system's */
    struct str certificate_pem; /* client certificate and key; "" = none */
    struct str key_pem;
    const char *user_agent;
    bool insecure;              /* do not verify the peer: only when the user asked by name */
    bool plain_allowed;         /* http:// as well as https:// */
    bool http1;                 /* a connection that the peer ends takes one request with it */
    struct str tls_server_name; /* check the certificate against this name; "" = the URL's host */
    uint32_t connections_max;   /* 0 = 64 */
    uint32_t requests_max;      /* under way at a time, the others wait; 0 = any number */
    /* The bearer token to send, asked at each request so that a rotated file is seen; may be NULL,
     * may give "". Borrowed until the next call. */
    struct str (*bearer)(void *context);
    void *bearer_context;
};

struct http_client *http_client_create(struct loop *loop, const struct http_client_options *options,
                                       struct error *err);
/* Cancels what is under way without calling back. */
void http_client_free(struct http_client *client);
AUTO_DEFINE(http_client_free, struct http_client *)

struct http_header {
    struct str name;
    struct str value;
};

struct http_response {
    int status;      /* 0: no answer, see `error` */
    struct str body; /* decoded; "" if it went to on_data */
    struct str content_type;
    struct str warnings;    /* its Warning headers (RFC 7234 5.5), one a line; past 8 KiB none */
    int64_t retry_after_ms; /* from now; -1 if not sent or absurd (RFC 9110 10.2.3, both forms) */
    int64_t date_ms;        /* its Date, wall; -1 if there was none or it is none */
    int64_t date_at_ms;     /* monotonic: when that came */
    struct error error;     /* code ERROR_NONE when there was an answer, whatever its status */
    bool sent;              /* bytes of the request may have reached the peer: it may have acted */
};

struct http_request {
    const char *method;
    struct str url;
    const struct http_header *headers; /* beside Authorization and User-Agent */
    uint32_t header_count;
    struct str body;         /* copied */
    int64_t connect_ms;      /* 0 = LIMIT_CONNECT_TIME */
    int64_t timeout_ms;      /* whole request; 0 = LIMIT_ANSWER_TIME; -1 = none (a watch) */
    int64_t silence_ms;      /* give up after so long without a byte; 0 = never */
    size_t answer_bytes_max; /* 0 = LIMIT_ANSWER_BODY */
    /* Asked right before each attempt to send, when the connection stands: a request may have
     * waited long for one. False: nothing is sent, and the call ends with ERROR_CANCELLED. May be
     * NULL; must not block. */
    bool (*may_send)(void *context);
    /* If set, told once when a 2xx answer begins, before its first byte. */
    void (*on_begin)(void *context, int status, struct str content_type);
    /* If set, a 2xx body goes here as it comes, in pieces; false ends the call with
     * ERROR_CANCELLED. Other statuses' bodies are collected into the response. */
    bool (*on_data)(void *context, struct str piece);
    /* Once, from the loop, never from within http_send. The response is borrowed for the call. */
    void (*on_done)(void *context, const struct http_response *response);
    void *context;
};

/* Begin. The call is owned by the client and gone after on_done. */
struct http_call *http_send(struct http_client *client, const struct http_request *request);
/* End it now; on_done is not called. */
void http_call_cancel(struct http_call *call);

/* How many requests are under way, and how many connections were opened so far (for metrics). */
uint32_t http_client_in_flight(const struct http_client *client);
uint64_t http_client_connections_opened(const struct http_client *client);

#endif
