/* SPDX-License-Identifier: Apache-2.0 */
/* http_client_answer.c: what comes back: bytes, headers, or the reason why nothing did. */
#include "io/http_client_internal.h"

#include "base/limits.h"
#include "base/memory.h"

#include <errno.h>
#include <strings.h>
#include <time.h>

static bool collect(struct http_call *call, struct str piece)
{
    if (piece.len > call->answer_bytes_max - call->answer_len) {
        call->too_large = true;
        return false;
    }
    if (call->answer_len + piece.len + 1 > call->answer_capacity) {
        size_t capacity = call->answer_capacity ? call->answer_capacity * 2 : 4096;

        while (capacity < call->answer_len + piece.len + 1)
            capacity *= 2;
        call->answer = mem_resize_secret(call->answer, call->answer_len, capacity);
        call->answer_capacity = capacity;
    }
    memcpy(call->answer + call->answer_len, piece.at, piece.len);
    call->answer_len += piece.len;
    call->answer[call->answer_len] = '\0';
    return true;
}

size_t http_client_on_body(char *at, size_t size, size_t count, void *context)
{
    struct http_call *call = context;
    struct str piece = str_make(at, size * count);
    long status = 0;

    if (call->state != CALL_AT_WORK)
        return CURL_WRITEFUNC_ERROR;
    if (piece.len == 0)
        return 0;
    call->heard_ms = loop_now_ms(call->client->loop);
    http_client_moved(call);
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!call->on_data || status < 200 || status > 299)
        return collect(call, piece) ? piece.len : CURL_WRITEFUNC_ERROR;
    if (!call->on_data(call->context, piece)) {
        call->consumer_ended = true;
        return CURL_WRITEFUNC_ERROR;
    }
    /* The consumer may have cancelled the call instead of saying so. */
    return call->state == CALL_AT_WORK ? piece.len : CURL_WRITEFUNC_ERROR;
}

static bool is_header(struct str line, const char *name, struct str *ret_value)
{
    size_t name_len = strlen(name);

    if (line.len <= name_len || line.at[name_len] != ':' ||
        strncasecmp(line.at, name, name_len) != 0)
        return false;
    *ret_value = str_trim(str_slice(line, name_len + 1, line.len));
    return true;
}

static bool keep_header(struct str line, const char *name, char *into, size_t into_bytes)
{
    struct str value;

    if (!is_header(line, name, &value) || value.len >= into_bytes)
        return false;
    memcpy(into, value.at, value.len);
    into[value.len] = '\0';
    return true;
}

static void keep_warning(struct http_call *call, struct str line)
{
    struct str value;

    if (!is_header(line, "warning", &value) ||
        call->warnings_len + value.len + 1 > WARNINGS_BYTES_MAX)
        return;
    call->warnings = mem_resize(call->warnings, call->warnings_len + value.len + 1);
    memcpy(call->warnings + call->warnings_len, value.at, value.len);
    call->warnings_len += value.len;
    call->warnings[call->warnings_len++] = '\n';
}

/* The line that ends the headers. An interim answer (1xx) has one, too. */
static void tell_begin(struct http_call *call)
{
    long status = 0;

    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status <= 299)
        call->on_begin(call->context, (int)status, str_of(call->content_type));
}

size_t http_client_on_header(char *at, size_t size, size_t count, void *context)
{
    struct http_call *call = context;
    struct str line = str_make(at, size * count);

    call->heard_ms = loop_now_ms(call->client->loop);
    if (str_starts(line, STR("HTTP/")))
        call->client->multiplexed = str_starts(line, STR("HTTP/2"));
    http_client_moved(call);
    keep_header(line, "content-type", call->content_type, sizeof(call->content_type));
    keep_header(line, "retry-after", call->retry_after, sizeof(call->retry_after));
    keep_warning(call, line);
    if (keep_header(line, "date", call->date, sizeof(call->date)))
        call->date_at_ms = call->heard_ms;
    if (call->on_begin && call->state == CALL_AT_WORK && str_trim(line).len == 0)
        tell_begin(call);
    return line.len;
}

int64_t http_client_date_ms(const struct http_call *call)
{
    time_t date = call->date[0] ? curl_getdate(call->date, NULL) : -1;

    return date < 0 ? -1 : (int64_t)date * 1000;
}

/* RFC 9110 section 10.2.3: seconds, or a date, which is taken against the peer's own Date. */
int64_t http_client_retry_after_ms(const struct http_call *call)
{
    struct str text = str_of(call->retry_after);
    uint64_t seconds;

    if (text.len == 0)
        return -1;
    if (text.at[0] >= '0' && text.at[0] <= '9' && text.len <= 20 &&
        strspn(text.at, "0123456789") == text.len) {
        while (text.len > 1 && text.at[0] == '0')
            text = str_slice(text, 1, text.len);
        if (!str_to_u64(text, &seconds) || seconds > LIMIT_RETRY_AFTER_MAX / 1000)
            return LIMIT_RETRY_AFTER_MAX;
        return (int64_t)seconds * 1000;
    }

    time_t until = curl_getdate(call->retry_after, NULL);
    time_t now = call->date[0] ? curl_getdate(call->date, NULL) : -1;

    if (until < 0)
        return -1;
    if (now < 0)
        now = (time_t)(clock_wall_ms(loop_clock(call->client->loop)) / 1000);
    if (until <= now)
        return 0;
    return until - now > LIMIT_RETRY_AFTER_MAX / 1000 ? LIMIT_RETRY_AFTER_MAX
                                                      : (int64_t)(until - now) * 1000;
}

static void blame_connect(const struct http_call *call, CURLcode code, struct error *err)
{
    long number = 0;

    curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_COULDNT_RESOLVE_HOST)
        error_set(err, ERROR_CONNECT, "cannot connect to %s: the host name is not known",
                  call->peer);
    else if (number == ECONNREFUSED)
        error_set(err, ERROR_CONNECT, "cannot connect to %s: connection refused", call->peer);
    else if (number)
        error_set(err, ERROR_CONNECT, "cannot connect to %s: %s", call->peer,
                  strerror((int)number));
    else
        error_set(err, ERROR_CONNECT, "cannot connect to %s: %s", call->peer, call->error_text);
}

/* What OpenSSL and libcurl say, and what a user can do about it. */
static const struct {
    const char *said;
    const char *told;
} tls_reasons[] = {
    { "certificate has expired", "its certificate has expired; renew it" },
    { "certificate is not yet valid", "its certificate is not valid yet; compare the clocks" },
    { "self-signed certificate", "its certificate is of an unknown authority; give that "
                                 "authority's certificate as CA" },
    { "self signed certificate", "its certificate is of an unknown authority; give that "
                                 "authority's certificate as CA" },
    { "unable to get local issuer", "its certificate is of an unknown authority; give that "
                                    "authority's certificate as CA" },
    { "unable to get issuer", "its certificate is of an unknown authority; give that "
                              "authority's certificate as CA" },
    { "certificate signature failure", "its certificate is of an unknown authority; give that "
                                       "authority's certificate as CA" },
    { "no alternative certificate subject name", "its certificate is for another name; use a name "
                                                 "that stands in it, or set the server name" },
    { "does not match target host", "its certificate is for another name; use a name that stands "
                                    "in it, or set the server name" },
    { "wrong version number", "it does not speak TLS; is it an http:// address?" },
    { "certificate required", "it asks for a client certificate" },
    { "unknown ca", "it does not accept our client certificate's authority" },
    { "certificate purpose", "its certificate is not one for servers" },
};

static void blame_tls(const struct http_call *call, struct error *err)
{
    for (size_t i = 0; i < sizeof(tls_reasons) / sizeof(tls_reasons[0]); i++)
        if (strcasestr(call->error_text, tls_reasons[i].said)) {
            error_set(err, ERROR_TLS, "cannot trust %s: %s", call->peer, tls_reasons[i].told);
            return;
        }
    error_set(err, ERROR_TLS, "TLS with %s failed: %s", call->peer, call->error_text);
}

static void blame_timeout(const struct http_call *call, bool sent, struct error *err)
{
    curl_off_t connected = 0;

    curl_easy_getinfo(call->easy, CURLINFO_APPCONNECT_TIME_T, &connected);
    if (!sent && !connected)
        error_set(err, ERROR_TIMEOUT, "cannot connect to %s: no answer in time", call->peer);
    else
        error_set(err, ERROR_TIMEOUT, "%s did not answer %s in time", call->peer, call->method);
}

void http_client_blame(const struct http_call *call, CURLcode code, bool sent, struct error *err)
{
    if (call->fell_silent)
        error_set(err, ERROR_TIMEOUT, "%s fell silent for %lld ms", call->peer,
                  (long long)call->silence_ms);
    else if (call->kept_back)
        error_set(err, ERROR_CANCELLED, "%s was not sent to %s: it may not be sent any more",
                  call->method, call->peer);
    else if (call->consumer_ended)
        error_set(err, ERROR_CANCELLED, "the answer of %s was not wanted to its end", call->peer);
    else if (call->too_large)
        error_set(err, ERROR_TOO_LARGE, "the answer of %s is larger than %zu bytes", call->peer,
                  call->answer_bytes_max);
    else if (call->repeated)
        error_set(err, ERROR_LOST, "%s closed the connection without an answer to %s", call->peer,
                  call->method);
    else if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT)
        blame_connect(call, code, err);
    else if (code == CURLE_OPERATION_TIMEDOUT)
        blame_timeout(call, sent, err);
    else if (code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION ||
             code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CACERT_BADFILE ||
             code == CURLE_SSL_CIPHER || code == CURLE_SSL_ISSUER_ERROR ||
             /* TLS 1.3: the peer's rejection of our certificate comes as the first read. */
             (code == CURLE_RECV_ERROR && strcasestr(call->error_text, "alert")))
        blame_tls(call, err);
    else if (code == CURLE_UNSUPPORTED_PROTOCOL)
        error_set(err, ERROR_INVALID, "%s is rejected: only https://%s", call->peer,
                  call->client->plain_allowed ? " and http:// are allowed" : " is allowed");
    else if (code == CURLE_URL_MALFORMAT || code == CURLE_LOGIN_DENIED)
        error_set(err, ERROR_INVALID, "%s is not an address that can be used: %s", call->peer,
                  call->error_text[0] ? call->error_text : curl_easy_strerror(code));
    else if (code == CURLE_BAD_CONTENT_ENCODING || code == CURLE_WEIRD_SERVER_REPLY ||
             code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WRITE_ERROR)
        error_set(err, ERROR_LOST, "the answer of %s is not HTTP as agreed: %s", call->peer,
                  call->error_text[0] ? call->error_text : curl_easy_strerror(code));
    else
        error_set(err, ERROR_LOST, "lost the connection to %s: %s", call->peer,
                  call->error_text[0] ? call->error_text : curl_easy_strerror(code));
}
