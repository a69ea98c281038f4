/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.c: the life of a client and of its calls.
 *
 * libcurl must not be entered again from its own callbacks, so sends and cancellations that happen
 * there are put off until it has returned (`busy`, settle).
 *
 * A thousand calls at once would be a thousand TLS handshakes at once, none of which is over in
 * time. So few have no connection yet; the others wait, and their time begins with their turn. With
 * HTTP/2 one at a time is enough: when the streams of all connections are used up, each of many
 * would open another one, which takes them all. A peer that nobody gets through to fails those that
 * wait along with the one that tried. */
#include "io/http_client_internal.h"

#include "base/memory.h"
#include "io/tls.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

enum {
    CONNECTIONS_DEFAULT = 64,
    /* Of one HTTP/2 connection. An API server offers 100 or 250; but libcurl looks at each of them
     * whenever one has something, and a connection costs no more than eight of them. */
    STREAMS_MAX = 50,
    CONNECTING_MAX = 32,
    REJECTED_AT_ONCE = 64, /* by one callback of the loop */
    LOOKED_MS = 5,         /* for answers that libcurl keeps, by one callback */
    ENDED_MS = 5,          /* for calls that ended, by one callback: what they lead to takes time */
};

static void settle(struct http_client *client);

static void global_init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void take_out(struct http_call *call)
{
    struct http_client *client = call->client;

    if (client->oldest_waiting == call)
        client->oldest_waiting = call->previous;
    http_call_unlink(&client->calls[call->state], call);
}

static void put_in(struct http_call *call, enum call_state state)
{
    struct http_client *client = call->client;

    call->state = state;
    http_call_link(&client->calls[state], call);
    if (state == CALL_WAITING && !client->oldest_waiting)
        client->oldest_waiting = call;
}

static void move(struct http_call *call, enum call_state state)
{
    take_out(call);
    put_in(call, state);
}

static void set_connected(struct http_call *call, bool connecting, bool connected)
{
    struct http_client *client = call->client;

    client->connecting = client->connecting - call->connecting + connecting;
    client->connected = client->connected - call->connected + connected;
    call->connecting = connecting;
    call->connected = connected;
}

/* libcurl sends a request again, of whatever method, when a reused connection closes before the
 * first byte of an answer. The peer may have acted by then: what is not safe to repeat is not
 * repeated. */
int http_client_on_attempt(void *context, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct http_call *call = context;
    long request_bytes = 0;

    (void)peer_ip, (void)own_ip, (void)peer_port;
    call->own_port = own_port;
    call->fd = CURL_SOCKET_BAD;
    call->client->connected_ms = loop_now_ms(call->client->loop);
    set_connected(call, false, true);
    curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    if (call->attempted && request_bytes > 0 && !call->repeatable) {
        call->repeated = true;
        return CURL_PREREQFUNC_ABORT;
    }
    /* Whoever cancelled it may have freed the context meanwhile. */
    if (call->state == CALL_CANCELLED)
        return CURL_PREREQFUNC_ABORT;
    if (call->may_send && !call->may_send(call->context)) {
        call->kept_back = true;
        return CURL_PREREQFUNC_ABORT;
    }
    call->attempted = true;
    return CURL_PREREQFUNC_OK;
}

static void free_call(struct http_call *call)
{
    struct http_client *client = call->client;

    if (call->easy && !call->on_data && !client->freed && client->spare_count < SPARE_HANDLES_MAX) {
        curl_easy_reset(call->easy);
        client->spare[client->spare_count++] = call->easy;
    } else if (call->easy) {
        curl_easy_cleanup(call->easy);
    }
    /* A token is among them. */
    for (struct curl_slist *header = call->headers; header; header = header->next)
        explicit_bzero(header->data, strlen(header->data));
    curl_slist_free_all(call->headers);
    curl_slist_free_all(call->connect_to);
    loop_timer_free(call->silence);
    http_client_kept_free(call->kept);
    mem_free(call->peer);
    mem_free(call->method);
    mem_free_secret(call->sent_body, call->sent_len);
    mem_free_secret(call->answer, call->answer_len);
    mem_free(call->warnings);
    mem_free(call->error);
    mem_free(call);
}

/* A peer that hangs still acknowledges TCP, and HTTP/2 would hand each new request to the same dead
 * connection. One on which nothing came for `silent_ms` is shut, for all who use it. */
static void shut_if_dead(const struct http_call *call, int64_t silent_ms)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    struct tcp_info facts;
    socklen_t len = sizeof(facts);

    curl_easy_getinfo(call->easy, CURLINFO_ACTIVESOCKET, &fd);
    if (fd == CURL_SOCKET_BAD || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &facts, &len) != 0)
        return;
    if ((int64_t)facts.tcpi_last_data_recv >= silent_ms)
        shutdown(fd, SHUT_RDWR);
}

void http_client_moved(struct http_call *call)
{
    struct http_client *client = call->client;

    if (!client->multiplexed || !call->own_port)
        return;
    if (call->fd == CURL_SOCKET_BAD)
        call->fd = http_client_socket_of(client, call->own_port);
    if (call->fd == CURL_SOCKET_BAD)
        return;
    for (size_t i = 0; i < client->moved_count; i++)
        if (client->moved[i] == call->fd)
            return;
    if (client->moved_count == client->moved_capacity) {
        client->moved_capacity = client->moved_capacity ? client->moved_capacity * 2 : 8;
        client->moved =
            mem_resize(client->moved, client->moved_capacity * sizeof(client->moved[0]));
    }
    client->moved[client->moved_count++] = call->fd;
}

/* libcurl lets go of it. What it kept for an answer that is cut off may hold others up. */
static void let_go(struct http_call *call, bool cut_off)
{
    curl_multi_remove_handle(call->client->multi, call->easy);
    if (!cut_off)
        return;
    http_client_moved(call);
    if (call->client->moved_count)
        loop_timer_set(call->client->more, 0);
}

static void remove_call(struct http_call *call)
{
    take_out(call);
    set_connected(call, false, false);
    call->client->in_flight--;
}

static void reject(struct http_call *call, const struct error *error)
{
    error_keep(&call->error, error);
    move(call, CALL_REJECTED);
    loop_timer_set(call->client->more, 0);
}

/* It was not connected in its time. While anybody is, or was meanwhile, the others go on: the peer
 * may be slow, or have no more connections for us. */
static void reject_waiting(const struct http_call *failed, const struct error *error)
{
    struct http_client *client = failed->client;

    while (!client->connected && client->connected_ms < failed->begun_ms && client->oldest_waiting)
        reject(client->oldest_waiting, error);
}

static void finish(struct http_call *call, CURLcode code)
{
    struct http_response response = { .retry_after_ms = -1, .date_ms = -1 };
    long status = 0;
    long request_bytes = 0;

    if (call->state == CALL_AT_WORK) {
        curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &request_bytes);
        response.sent = request_bytes > 0 || call->repeated;
        if (code == CURLE_OPERATION_TIMEDOUT) {
            curl_off_t taken_us = 0;
            curl_off_t prepared_us = 0;

            /* Half of it: what belongs to the handshake may still come after the request went. */
            curl_easy_getinfo(call->easy, CURLINFO_TOTAL_TIME_T, &taken_us);
            curl_easy_getinfo(call->easy, CURLINFO_PRETRANSFER_TIME_T, &prepared_us);
            shut_if_dead(call, (taken_us - prepared_us) / 1000 / 2);
        }
        let_go(call, code != CURLE_OK);
    }
    if (call->state == CALL_REJECTED) {
        response.error = *call->error;
    } else if (code != CURLE_OK) {
        http_client_blame(call, code, response.sent, &response.error);
    } else {
        response.status = (int)status;
        response.body = str_make(call->answer ? call->answer : "", call->answer_len);
        response.warnings = str_make(call->warnings ? call->warnings : "", call->warnings_len);
        response.retry_after_ms = http_client_retry_after_ms(call);
        response.date_ms = http_client_date_ms(call);
        response.date_at_ms = call->date_at_ms;
    }
    response.content_type = str_of(call->content_type);
    if (call->connecting && response.error.code != ERROR_NONE)
        reject_waiting(call, &response.error);
    remove_call(call);
    if (call->on_done)
        call->on_done(call->context, &response);
    free_call(call);
}

static void finish_ended(struct http_client *client)
{
    const struct clock *clock = loop_clock(client->loop);
    int64_t until_ms = clock_monotonic_ms(clock) + ENDED_MS;
    struct CURLMsg *message;
    int left = 0;

    while (!client->freed && (message = curl_multi_info_read(client->multi, &left))) {
        struct http_call *call = NULL;
        CURLcode code = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        if (call->state == CALL_AT_WORK)
            finish(call, code);
        if (left && !client->freed && clock_monotonic_ms(clock) >= until_ms) {
            loop_timer_set(client->more, 0);
            return;
        }
    }
}

static void free_client(struct http_client *client)
{
    while (client->spare_count)
        curl_easy_cleanup(client->spare[--client->spare_count]);
    curl_multi_cleanup(client->multi);
    loop_timer_free(client->timer);
    loop_timer_free(client->more);
    mem_free(client->moved);
    mem_free(client->ca);
    mem_free(client->certificate);
    if (client->key)
        explicit_bzero(client->key, client->key_len);
    mem_free(client->key);
    mem_free(client->user_agent);
    mem_free(client->server_name);
    mem_free(client);
}

/* A handle for the request. False: it is not one, and ends without. */
static bool prepare(struct http_call *call, const struct http_request *request)
{
    struct http_client *client = call->client;
    struct error err;

    /* One that was used keeps its buffer, which is large for what stays open. */
    call->easy = client->spare_count && !call->on_data ? client->spare[--client->spare_count]
                                                       : curl_easy_init();
    if (!call->easy)
        mem_exhausted("HTTP request");
    if (http_client_prepare(call, request, &err) == 0)
        return true;
    reject(call, &err);
    return false;
}

static void hand_over(struct http_call *call)
{
    struct http_client *client = call->client;

    if (call->kept && !prepare(call, &call->kept->request))
        return;
    http_client_kept_free(TAKE(call->kept));
    move(call, CALL_AT_WORK);
    call->begun_ms = call->heard_ms = loop_now_ms(client->loop);
    set_connected(call, true, false);
    if (call->silence)
        loop_timer_set(call->silence, call->silence_ms);
    curl_multi_add_handle(client->multi, call->easy);
}

/* As many as may begin now. */
static bool has_turn(const struct http_client *client)
{
    uint32_t connecting_max = client->multiplexed ? 1 : CONNECTING_MAX;

    return client->connecting < connecting_max &&
           (!client->requests_max || client->connecting + client->connected < client->requests_max);
}

/* Hand over what waits, drop what was cancelled. Only when libcurl is not on the stack. */
static void settle(struct http_client *client)
{
    while (client->calls[CALL_CANCELLED]) {
        struct http_call *call = client->calls[CALL_CANCELLED];

        let_go(call, true);
        remove_call(call);
        free_call(call);
    }
    while (client->oldest_waiting && has_turn(client))
        hand_over(client->oldest_waiting);
}

static void leave(struct http_client *client)
{
    if (--client->busy > 0)
        return;
    settle(client);
    if (client->freed)
        free_client(client);
}

/* What is read for one stream of HTTP/2 may belong to others. When a piece is larger than the
 * buffer of its stream, libcurl 7.88 gives that piece, keeps what is behind it, and looks at it
 * when the peer sends something else (lib/http2.c, cf_h2_recv: after `pausedata` nothing makes it
 * run again). Until then answers that are there are not told. So as long as something moves on a
 * connection, libcurl is told to look at it. */
static void look_again(struct http_client *client)
{
    const struct clock *clock = loop_clock(client->loop);
    int64_t until_ms = clock_monotonic_ms(clock) + LOOKED_MS;
    int running;

    while (client->moved_count && !client->freed) {
        if (clock_monotonic_ms(clock) >= until_ms) {
            loop_timer_set(client->more, 0);
            return;
        }

        /* The one that waits longest first: another may have much to say. */
        curl_socket_t fd = client->moved[0];

        memmove(client->moved, client->moved + 1, --client->moved_count * sizeof(fd));
        curl_multi_socket_action(client->multi, fd, CURL_CSELECT_IN, &running);
    }
}

void http_client_enter_curl(struct http_client *client, curl_socket_t fd, int events)
{
    int running;

    client->busy++;
    curl_multi_socket_action(client->multi, fd, events, &running);
    look_again(client);
    finish_ended(client);
    leave(client);
}

static void end_more(void *context)
{
    struct http_client *client = context;

    client->busy++;
    look_again(client);
    finish_ended(client);
    for (int i = 0; i < REJECTED_AT_ONCE && client->calls[CALL_REJECTED] && !client->freed; i++)
        finish(client->calls[CALL_REJECTED], CURLE_OK);
    if (client->calls[CALL_REJECTED] && !client->freed)
        loop_timer_set(client->more, 0);
    leave(client);
}

static void silence_fired(void *context)
{
    struct http_call *call = context;
    struct http_client *client = call->client;
    curl_off_t uploaded = 0;
    int64_t now_ms = loop_now_ms(client->loop);

    if (call->state != CALL_AT_WORK)
        return;
    curl_easy_getinfo(call->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
    if (uploaded != call->uploaded) {
        call->uploaded = uploaded;
        call->heard_ms = now_ms;
    }

    int64_t left_ms = call->heard_ms + call->silence_ms - now_ms;

    if (left_ms > 0) {
        loop_timer_set(call->silence, left_ms);
        return;
    }
    client->busy++;
    call->fell_silent = true;
    shut_if_dead(call, call->silence_ms / 2);
    finish(call, CURLE_OPERATION_TIMEDOUT);
    leave(client);
}

void http_call_cancel(struct http_call *call)
{
    struct http_client *client = call->client;

    if (call->state == CALL_REJECTED || call->state == CALL_WAITING) {
        remove_call(call);
        free_call(call);
        return;
    }
    move(call, CALL_CANCELLED);
    call->on_done = NULL;
    if (!client->busy)
        settle(client);
}

static struct http_call *new_call(struct http_client *client, const struct http_request *request)
{
    struct http_call *call = mem_new(struct http_call);

    call->client = client;
    call->fd = CURL_SOCKET_BAD;
    call->sent_body = request->body.len ? mem_copy(request->body.at, request->body.len) : NULL;
    call->sent_len = request->body.len;
    call->may_send = request->may_send;
    call->on_begin = request->on_begin;
    call->on_data = request->on_data;
    call->on_done = request->on_done;
    call->context = request->context;
    put_in(call, CALL_WAITING);
    client->in_flight++;
    return call;
}

struct http_call *http_send(struct http_client *client, const struct http_request *request)
{
    bool begins = !client->busy && !client->oldest_waiting && has_turn(client);
    struct http_call *call = new_call(client, request);

    if (request->silence_ms > 0) {
        call->silence_ms = request->silence_ms;
        call->silence = loop_timer_create(client->loop, silence_fired, call);
    }
    if (begins) {
        if (prepare(call, request))
            hand_over(call);
        return call;
    }
    call->kept = http_client_keep(request);
    if (!client->busy)
        settle(client);
    return call;
}

static char *copy_of(struct str s, size_t *ret_len)
{
    *ret_len = s.len;
    return s.len ? mem_copy(s.at, s.len) : NULL;
}

/* What libcurl would only find at the first connection is told at once. */
static int check_identity(const struct http_client_options *options, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_facts facts;

    if (options->ca_pem.len && tls_inspect(arena, options->ca_pem, &facts, err) != 0)
        return error_wrap(err, "CA certificate");
    if (!options->certificate_pem.len && !options->key_pem.len)
        return 0;

    struct tls_pair pair = { options->certificate_pem, options->key_pem };

    if (tls_check_pair(&pair, err) != 0)
        return error_wrap(err, "client certificate");
    return 0;
}

struct http_client *http_client_create(struct loop *loop, const struct http_client_options *options,
                                       struct error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    long connections =
        options->connections_max ? (long)options->connections_max : CONNECTIONS_DEFAULT;
    const char *agent = options->user_agent ? options->user_agent : "herd/" HERD_VERSION;
    size_t ignored;

    if (check_identity(options, err) != 0)
        return NULL;
    pthread_once(&once, global_init);

    struct http_client *client = mem_new(struct http_client);

    client->loop = loop;
    client->multi = curl_multi_init();
    if (!client->multi)
        mem_exhausted("HTTP client");
    client->more = loop_timer_create(loop, end_more, client);
    client->connected_ms = -1;
    client->ca = copy_of(options->ca_pem, &client->ca_len);
    client->certificate = copy_of(options->certificate_pem, &client->certificate_len);
    client->key = copy_of(options->key_pem, &client->key_len);
    client->user_agent = mem_copy(agent, strlen(agent));
    client->server_name = copy_of(options->tls_server_name, &ignored);
    client->insecure = options->insecure;
    client->plain_allowed = options->plain_allowed;
    client->http1 = options->http1;
    client->requests_max = options->requests_max;
    client->bearer = options->bearer;
    client->bearer_context = options->bearer_context;

    http_client_follow_sockets(client);
    curl_multi_setopt(client->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(client->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)STREAMS_MAX);
    curl_multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
    curl_multi_setopt(client->multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, connections);
    return client;
}

void http_client_free(struct http_client *client)
{
    if (!client || client->freed)
        return;
    client->freed = true;
    for (int state = 0; state < CALL_CANCELLED; state++)
        while (client->calls[state])
            http_call_cancel(client->calls[state]);
    loop_timer_clear(client->timer);
    loop_timer_clear(client->more);
    if (!client->busy)
        free_client(client);
}

uint32_t http_client_in_flight(const struct http_client *client)
{
    return client->in_flight;
}

uint64_t http_client_connections_opened(const struct http_client *client)
{
    return client->opened;
}
