/* SPDX-License-Identifier: Apache-2.0 */
/* http_client_request.c: a request as libcurl's options. What a peer or a file could have put
 * into it (a URL, a token, a header) is checked for bytes that would end a line. */
#include "io/http_client_internal.h"

#include "base/limits.h"
#include "base/memory.h"
#include "io/limits.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    URL_BYTES_MAX = 16 * 1024,
    SHOWN_BYTES = 200,
    TOKEN_BYTES_MAX = 64 * 1024,
    STREAM_BUFFER_BYTES = 1024,  /* the least that it takes; its own: 16 KiB */
    UPLOAD_BUFFER_BYTES = 16384, /* the least that it takes; its own: 64 KiB */
};

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.at[i] < 0x20 || s.at[i] == 0x7f)
            return true;
    return false;
}

/* RFC 9110 section 5.6.2: what names of methods and headers are made of. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.at[i] <= ' ' || (unsigned char)s.at[i] >= 0x7f ||
            strchr("\"(),/:;<=>?@[\\]{}", s.at[i]))
            return false;
    return s.len > 0;
}

static char *take_part(CURLU *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;

    return curl_url_get(url, part, &text, flags) == CURLUE_OK ? text : NULL;
}

/* Ask for the certificate's name in place of the host's, while the connection goes to the host. */
static int rename_host(struct http_call *call, CURLU *url, const char *host, const char *port,
                       struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *name = call->client->server_name;
    struct str route = str_fmt(arena, "%s:%s:%s:%s", name, port, host, port);
    struct str header = str_fmt(arena, "Host: %s:%s", host, port);

    if (curl_url_set(url, CURLUPART_HOST, name, 0) != CURLUE_OK)
        return error_set(err, ERROR_INVALID, "TLS server name %.*s is not a host name", SHOWN_BYTES,
                         name);
    call->connect_to = curl_slist_append(call->connect_to, route.at);
    call->headers = curl_slist_append(call->headers, header.at);
    curl_easy_setopt(call->easy, CURLOPT_CONNECT_TO, call->connect_to);
    return 0;
}

static int set_parsed_url(struct http_call *call, CURLU *url, struct error *err)
{
    char *scheme = take_part(url, CURLUPART_SCHEME, 0);
    char *host = take_part(url, CURLUPART_HOST, 0);
    char *port = take_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    bool secure = scheme && strcmp(scheme, "https") == 0;
    bool plain = scheme && strcmp(scheme, "http") == 0;
    int failed = 0;

    if (scheme && host && port) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str peer = str_fmt(arena, "%s://%s:%s", scheme, host, port);

        call->peer = mem_copy(peer.at, peer.len);
    }
    if (!call->peer || !(secure || (plain && call->client->plain_allowed)))
        failed = error_set(err, ERROR_INVALID, "%s:// is not allowed here, only https://%s",
                           scheme ? scheme : "", call->client->plain_allowed ? " and http://" : "");
    if (!failed && secure && call->client->server_name)
        failed = rename_host(call, url, host, port, err);

    char *whole = failed ? NULL : take_part(url, CURLUPART_URL, 0);

    if (whole)
        curl_easy_setopt(call->easy, CURLOPT_URL, whole);
    curl_free(whole);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    return failed;
}

static int set_url(struct http_call *call, struct str text, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    CURLU *url = curl_url();
    CURLUcode code = CURLUE_MALFORMED_INPUT;

    if (text.len > URL_BYTES_MAX) {
        curl_url_cleanup(url);
        return error_set(err, ERROR_INVALID, "an address of %zu bytes is too long (at most %d)",
                         text.len, URL_BYTES_MAX);
    }
    if (text.len && !has_control(text))
        code = curl_url_set(url, CURLUPART_URL, str_z(arena, text),
                            CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS);

    int failed = 0;

    /* The query may hold what nobody should read in a message. */
    if (code != CURLUE_OK) {
        ptrdiff_t query = str_find_char(text, '?', 0);
        size_t end = query < 0 ? text.len : (size_t)query;
        struct str shown = str_shown(arena, str_slice(text, 0, end), SHOWN_BYTES);

        if (code == CURLUE_USER_NOT_ALLOWED)
            shown = STR("with a user name in it");
        failed = error_set(err, ERROR_INVALID, "address %.*s cannot be used: %s", STR_ARG(shown),
                           curl_url_strerror(code));
    } else {
        failed = set_parsed_url(call, url, err);
    }
    curl_url_cleanup(url);
    return failed;
}

static int add_header(struct http_call *call, struct str name, struct str value, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (!is_token(name) || has_control(value)) {
        struct str shown = str_shown(arena, name, SHOWN_BYTES);

        return error_set(err, ERROR_INVALID, "header %.*s holds control characters",
                         STR_ARG(shown));
    }

    /* libcurl takes "Name;" for a header without a value, and "Name:" for one to leave out. */
    struct str line = value.len ? str_fmt(arena, "%.*s: %.*s", STR_ARG(name), STR_ARG(value))
                                : str_fmt(arena, "%.*s;", STR_ARG(name));

    call->headers = curl_slist_append(call->headers, line.at);
    return 0;
}

static int add_bearer(struct http_call *call, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct http_client *client = call->client;
    struct str token = client->bearer ? str_trim(client->bearer(client->bearer_context)) : STR("");

    if (token.len == 0)
        return 0;
    /* Its bytes stay out of the message. */
    if (has_control(token) || token.len > TOKEN_BYTES_MAX)
        return error_set(err, ERROR_INVALID,
                         "the bearer token for %s is not one line of text; look at its file",
                         call->peer);

    struct str value = str_fmt(arena, "Bearer %.*s", STR_ARG(token));
    int failed = add_header(call, STR("Authorization"), value, err);

    explicit_bzero((char *)(uintptr_t)value.at, value.len);
    return failed;
}

static int set_headers(struct http_call *call, const struct http_request *request,
                       struct error *err)
{
    bool has_type = false;

    for (uint32_t i = 0; i < request->header_count; i++) {
        struct str name = request->headers[i].name;

        has_type = has_type || (name.len == strlen("Content-Type") &&
                                strncasecmp(name.at, "Content-Type", name.len) == 0);
        if (add_header(call, name, request->headers[i].value, err) != 0)
            return -1;
    }
    if (add_bearer(call, err) != 0)
        return -1;
    /* Not to wait a second for a "100 Continue", and no type that nobody gave. */
    call->headers = curl_slist_append(call->headers, "Expect:");
    if (!has_type)
        call->headers = curl_slist_append(call->headers, "Content-Type:");
    curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
    return 0;
}

static int set_method(struct http_call *call, const struct http_request *request, struct error *err)
{
    CURL *easy = call->easy;
    const char *method = request->method ? request->method : "GET";

    if (!is_token(str_of(method)))
        return error_set(err, ERROR_INVALID, "the request's method is not a word");
    call->method = mem_copy(method, strlen(method));
    call->repeatable = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return 0;
    }
    if (call->sent_len || strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
        strcmp(method, "PATCH") == 0) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->sent_len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->sent_body ? call->sent_body : "");
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    return 0;
}

static void set_blob(CURL *easy, CURLoption option, char *at, size_t len)
{
    /* The client outlives the handle's work: no copy. */
    struct curl_blob blob = { at, len, CURL_BLOB_NOCOPY };

    if (at)
        curl_easy_setopt(easy, option, &blob);
}

static void set_trust(CURL *easy, struct http_client *client)
{
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    set_blob(easy, CURLOPT_CAINFO_BLOB, client->ca, client->ca_len);
    /* Only this CA: not the system's folder of CAs beside it. */
    if (client->ca)
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, client->certificate, client->certificate_len);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, client->key, client->key_len);
    if (client->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

/* Nothing from the environment, no other scheme, no other place than the one asked for. */
static void set_manners(CURL *easy, struct http_client *client)
{
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, client->plain_allowed ? "https,http" : "https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, client->user_agent);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     client->http1 ? (long)CURL_HTTP_VERSION_1_1 : (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, http_client_on_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, client);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER_BYTES);
}

struct kept_request *http_client_keep(const struct http_request *request)
{
    struct arena *arena = arena_create(0);
    struct kept_request *kept = mem_new(struct kept_request);
    struct http_header *headers = arena_array(arena, struct http_header, request->header_count);

    arena_keep_secret(arena);
    kept->arena = arena;
    kept->request = *request;
    kept->request.url = str_dup(arena, request->url);
    kept->request.body = STR("");
    if (request->method)
        kept->request.method = str_z(arena, str_of(request->method));
    for (uint32_t i = 0; i < request->header_count; i++)
        headers[i] = (struct http_header){ str_dup(arena, request->headers[i].name),
                                           str_dup(arena, request->headers[i].value) };
    kept->request.headers = headers;
    return kept;
}

void http_client_kept_free(struct kept_request *kept)
{
    if (!kept)
        return;
    arena_free(kept->arena);
    mem_free(kept);
}

int http_client_prepare(struct http_call *call, const struct http_request *request,
                        struct error *err)
{
    CURL *easy = call->easy;
    int64_t timeout_ms = request->timeout_ms ? request->timeout_ms : LIMIT_ANSWER_TIME;

    if (set_url(call, request->url, err) != 0 || set_method(call, request, err) != 0 ||
        set_headers(call, request, err) != 0)
        return -1;
    set_manners(easy, call->client);
    set_trust(easy, call->client);
    call->answer_bytes_max =
        request->answer_bytes_max ? request->answer_bytes_max : LIMIT_ANSWER_BODY;
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(request->connect_ms ? request->connect_ms : LIMIT_CONNECT_TIME));
    if (timeout_ms > 0)
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    /* A compressing peer holds a stream's pieces back. And there are thousands, mostly idle. */
    if (request->on_data)
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)STREAM_BUFFER_BYTES);
    else
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_client_on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, http_client_on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, http_client_on_attempt);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error_text);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    return 0;
}
