/* SPDX-License-Identifier: Apache-2.0 */
/* http_client_internal.h: what the files of the HTTP client share. libcurl's types stop here. */
#ifndef HERD_IO_HTTP_CLIENT_INTERNAL_H
#define HERD_IO_HTTP_CLIENT_INTERNAL_H

#include "base/linked.h"
#include "io/http_client.h"

#include <curl/curl.h>

enum {
    SPARE_HANDLES_MAX = 32,
    WARNINGS_BYTES_MAX = 8192, /* of one answer */
};

enum call_state {
    CALL_WAITING,   /* to be handed to libcurl by settle, the oldest first */
    CALL_AT_WORK,   /* libcurl has it */
    CALL_REJECTED,  /* `error` says why; ends without a request */
    CALL_CANCELLED, /* libcurl has it until settle */
    CALL_STATES
};

struct http_client {
    struct loop *loop;
    CURLM *multi;
    struct loop_timer *timer;
    struct loop_timer *more;              /* goes on where a callback stopped, to be short */
    struct http_call *calls[CALL_STATES]; /* those in each state, newest first */
    struct http_call *oldest_waiting;
    uint32_t in_flight;
    uint32_t connecting;          /* of those at work: no connection of theirs stands yet */
    uint32_t connected;           /* the others of them */
    int64_t connected_ms;         /* when one got its connection last; -1 = never yet */
    bool multiplexed;             /* the peer speaks HTTP/2: one connection takes many calls */
    struct socket_watch *sockets; /* of its connections */
    curl_socket_t *moved;         /* on which an answer moved on since libcurl was entered */
    size_t moved_count, moved_capacity;
    uint32_t requests_max; /* at work at a time; 0 = any number */
    uint64_t opened;
    CURL *spare[SPARE_HANDLES_MAX];
    uint32_t spare_count;
    int busy;   /* depth of entries into libcurl or into callbacks of ours */
    bool freed; /* http_client_free came meanwhile */

    char *ca;
    size_t ca_len;
    char *certificate;
    size_t certificate_len;
    char *key;
    size_t key_len;
    char *user_agent;
    char *server_name;
    bool insecure;
    bool plain_allowed;
    bool http1;
    struct str (*bearer)(void *context);
    void *bearer_context;
};

/* A request with all that it points to, but for its body, which the call has. */
struct kept_request {
    struct arena *arena;
    struct http_request request;
};

struct http_call {
    struct http_client *client;
    struct http_call *next;
    struct http_call *previous;
    enum call_state state;
    struct kept_request *kept; /* of one that waits for its turn; else NULL */
    int own_port;              /* of its connection; 0 = it has none yet */
    curl_socket_t fd;          /* of that, looked up with HTTP/2; CURL_SOCKET_BAD = not yet */
    CURL *easy;                /* NULL until its turn: a handle is large, and thousands may wait */
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    char *peer; /* scheme://host:port, for messages */
    char *method;
    char *sent_body; /* this and the answer may hold Secrets: zeroed at the end */
    size_t sent_len;
    struct loop_timer *silence;
    int64_t silence_ms;
    int64_t begun_ms;    /* when it was handed to libcurl */
    bool connecting;     /* since then */
    bool connected;      /* then not any more */
    int64_t heard_ms;    /* when the last byte moved */
    curl_off_t uploaded; /* as of the last look */
    bool fell_silent;
    bool repeatable; /* libcurl may send it again on another connection */
    bool attempted;
    bool repeated;
    bool kept_back; /* may_send said no */
    bool consumer_ended;
    bool too_large;
    size_t answer_bytes_max;
    char *answer;
    size_t answer_len;
    size_t answer_capacity;
    char *warnings; /* NULL until one comes */
    size_t warnings_len;
    char retry_after[64];
    char date[64];
    int64_t date_at_ms;
    char content_type[256];
    char error_text[CURL_ERROR_SIZE];
    struct error *error; /* of one that is rejected; else NULL */
    bool (*may_send)(void *context);
    void (*on_begin)(void *context, int status, struct str content_type);
    bool (*on_data)(void *context, struct str piece);
    void (*on_done)(void *context, const struct http_response *response);
    void *context;
};
LINKED_DEFINE(http_call, struct http_call)

/* http_client_request.c: Owned; zeroed when it is freed, since a token may be among the headers. */
struct kept_request *http_client_keep(const struct http_request *request);
void http_client_kept_free(struct kept_request *kept);
/* Fill the call's handle from the request. -1: `err` says what is wrong with it. */
int http_client_prepare(struct http_call *call, const struct http_request *request,
                        struct error *err);

/* http_client_answer.c: libcurl's write and header callbacks. */
size_t http_client_on_body(char *at, size_t size, size_t count, void *context);
size_t http_client_on_header(char *at, size_t size, size_t count, void *context);
/* From now on; -1 if none was sent or it makes no sense. */
/* -1: none, or not a date. */
int64_t http_client_date_ms(const struct http_call *call);
int64_t http_client_retry_after_ms(const struct http_call *call);
/* Why the call failed, in one line. */
void http_client_blame(const struct http_call *call, CURLcode code, bool sent, struct error *err);

/* http_client_sockets.c: make the client's timer, and follow the sockets of `multi` from now on. */
void http_client_follow_sockets(struct http_client *client);
/* Of the connection from that port of ours; CURL_SOCKET_BAD if there is none. */
curl_socket_t http_client_socket_of(struct http_client *client, int own_port);
/* libcurl's callback that makes a socket. */
curl_socket_t http_client_on_open(void *context, curlsocktype purpose,
                                  struct curl_sockaddr *address);

/* http_client.c: tell libcurl of a socket (CURL_SOCKET_TIMEOUT: of its timer), and end the calls
 * that it has ended. */
void http_client_enter_curl(struct http_client *client, curl_socket_t fd, int events);
/* Something of the answer came: there may be more on that connection. */
void http_client_moved(struct http_call *call);
/* libcurl's callback before each attempt to send. */
int http_client_on_attempt(void *context, char *peer_ip, char *own_ip, int peer_port, int own_port);

#endif
