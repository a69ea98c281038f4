/* SPDX-License-Identifier: Apache-2.0 */
/* span_exporter.c: a bounded queue that any thread fills, and one request at a time on the loop.
 *
 *   add -> queue --LIMIT_SPAN_BATCH, or LIMIT_SPAN_DELAY--> batch --POST--> 2xx: counted
 *            | full: dropped                                  | 429, 502, 503, 504, none: again
 *                                                             | else, or tried often: dropped */
#include "runtime/span_exporter.h"

#include "base/limits.h"
#include "base/memory.h"
#include "io/file.h"
#include "io/follow.h"
#include "io/http_client.h"
#include "io/program.h"
#include "kube/backoff.h"
#include "runtime/limits.h"

#include <pthread.h>

enum { HEADERS_MAX = 16, ANSWER_BYTES_MAX = 64 * 1024 };

struct span_exporter {
    struct span_exporter_options options;
    struct http_client *client;
    struct file_cache *headers; /* NULL: none */
    struct loop_timer *timer;   /* to send, or to try again */
    struct loop_timer *patience;
    struct http_call *call; /* under way */
    struct backoff backoff;
    struct rng rng;
    /* What is being sent. */
    struct str batch[LIMIT_SPAN_BATCH];
    uint32_t batch_count;
    bool troubled; /* told once */
    bool draining;
    /* Shared with whoever adds: a ring of spans as JSON, on the heap. */
    pthread_mutex_t lock;
    struct str queue[LIMIT_SPAN_QUEUE];
    uint32_t first, count;
};

static void count_spans(struct span_exporter *exporter, struct str outcome, uint32_t spans)
{
    if (spans)
        metrics_add(exporter->options.metrics, exporter->options.spans, &outcome, spans);
}

/* --- the queue --- */

/* How many there are now; 0: there was no room. */
static uint32_t enqueue(struct span_exporter *exporter, struct str span)
{
    uint32_t count = 0;

    pthread_mutex_lock(&exporter->lock);
    if (exporter->count < LIMIT_SPAN_QUEUE) {
        exporter->queue[(exporter->first + exporter->count) % LIMIT_SPAN_QUEUE] =
            str_make(mem_copy(span.at, span.len), span.len);
        count = ++exporter->count;
    }
    pthread_mutex_unlock(&exporter->lock);
    return count;
}

static uint32_t queued(struct span_exporter *exporter)
{
    pthread_mutex_lock(&exporter->lock);

    uint32_t count = exporter->count;

    pthread_mutex_unlock(&exporter->lock);
    return count;
}

static void take_batch(struct span_exporter *exporter)
{
    pthread_mutex_lock(&exporter->lock);
    while (exporter->count && exporter->batch_count < LIMIT_SPAN_BATCH) {
        exporter->batch[exporter->batch_count++] = exporter->queue[exporter->first];
        exporter->first = (exporter->first + 1) % LIMIT_SPAN_QUEUE;
        exporter->count--;
    }
    pthread_mutex_unlock(&exporter->lock);
}

static void free_batch(struct span_exporter *exporter)
{
    for (uint32_t i = 0; i < exporter->batch_count; i++)
        mem_free((char *)(uintptr_t)exporter->batch[i].at);
    exporter->batch_count = 0;
}

/* --- what came of a request --- */

static void send_batch(void *context);

/* What waits is sent when there is enough of it, or in a while. */
static void go_on(struct span_exporter *exporter)
{
    uint32_t waiting = queued(exporter);

    if (exporter->draining && !waiting)
        loop_stop(exporter->options.loop);
    else if (exporter->draining || waiting >= LIMIT_SPAN_BATCH)
        loop_timer_set(exporter->timer, 0);
    else if (waiting && !loop_timer_is_set(exporter->timer))
        loop_timer_set(exporter->timer, LIMIT_SPAN_DELAY);
}

static void tell_rejected(struct span_exporter *exporter, struct arena *arena, struct str body)
{
    struct str why;
    uint32_t rejected = otlp_read_rejected(arena, body, exporter->batch_count, &why);

    count_spans(exporter, STR("rejected"), rejected);
    count_spans(exporter, STR("exported"), exporter->batch_count - rejected);
    if (rejected || why.len)
        log_warn(exporter->options.log, "the collector did not take all spans",
                 LOG_INT("rejected", rejected), LOG_STR("error", why));
}

static void taken(struct span_exporter *exporter, struct str body)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    tell_rejected(exporter, arena, body);
    if (exporter->troubled)
        log_info(exporter->options.log, "spans are exported again",
                 LOG_INT("spans", exporter->batch_count));
    exporter->troubled = false;
    backoff_reset(&exporter->backoff);
    free_batch(exporter);
    go_on(exporter);
}

/* Logged once it is so; never what the answer says, which may repeat a header. */
static void tell_trouble(struct span_exporter *exporter, const char *error, int status)
{
    if (!exporter->troubled)
        log_warn(exporter->options.log, "spans cannot be exported", LOG_INT("status", status),
                 LOG_Z("error", error));
    exporter->troubled = true;
}

static void drop(struct span_exporter *exporter, struct str outcome)
{
    count_spans(exporter, outcome, exporter->batch_count);
    backoff_reset(&exporter->backoff);
    free_batch(exporter);
    go_on(exporter);
}

static void failed(struct span_exporter *exporter, int64_t retry_after_ms)
{
    int64_t wait_ms = backoff_next(&exporter->backoff, retry_after_ms, &exporter->rng);

    if (exporter->draining)
        loop_stop(exporter->options.loop);
    else if (exporter->backoff.failures >= LIMIT_SPAN_TRIES)
        drop(exporter, STR("dropped"));
    else
        loop_timer_set(exporter->timer, wait_ms);
}

/* Those for which OTLP/HTTP says so. */
static bool may_come_later(int status)
{
    return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

static void on_done(void *context, const struct http_response *response)
{
    struct span_exporter *exporter = context;

    exporter->call = NULL;
    if (response->status >= 200 && response->status < 300) {
        taken(exporter, response->body);
        return;
    }
    tell_trouble(exporter, response->status ? "the collector rejected them" : response->error.text,
                 response->status);
    if (may_come_later(response->status))
        failed(exporter, response->retry_after_ms);
    else
        drop(exporter, STR("rejected"));
}

/* --- a request --- */

/* A name of letters, digits, '-' and '_', so that nothing else is taken for one and shown. */
static bool is_header_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        char letter = (char)(c | 0x20);

        if ((letter < 'a' || letter > 'z') && (c < '0' || c > '9') && c != '-' && c != '_')
            return false;
    }
    return name.len > 0;
}

/* "Name: value" on each line that is not empty; at most HEADERS_MAX. */
static int read_headers(struct str text, struct http_header *ret_headers, uint32_t *ret_count,
                        struct error *err)
{
    struct str line;
    uint32_t number = 0;

    *ret_count = 0;
    while (str_split(&text, '\n', &line)) {
        ptrdiff_t colon = str_find_char(line, ':', 0);
        struct str name = str_trim(str_slice(line, 0, colon < 0 ? 0 : (size_t)colon));

        number++;
        if (!str_trim(line).len)
            continue;
        if (colon < 0 || !is_header_name(name) || *ret_count == HEADERS_MAX)
            return error_set(err, ERROR_BAD_REQUEST,
                             "line %u of --otlp-headers-file is not \"Name: value\", or beyond %d "
                             "headers",
                             number, HEADERS_MAX);
        ret_headers[(*ret_count)++] =
            (struct http_header){ name, str_trim(str_slice(line, (size_t)colon + 1, line.len)) };
    }
    return 0;
}

static int headers_now(struct span_exporter *exporter, struct http_header *ret_headers,
                       uint32_t *ret_count, struct error *err)
{
    int64_t now_ms = loop_now_ms(exporter->options.loop);

    *ret_count = 0;
    return exporter->headers ? read_headers(file_cache_get(exporter->headers, now_ms), ret_headers,
                                            ret_count, err)
                             : 0;
}

static void send_batch(void *context)
{
    struct span_exporter *exporter = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf body = strbuf_new(arena, 64 * 1024);
    struct http_header headers[HEADERS_MAX + 1];
    struct http_request request = {
        .method = "POST",
        .url = exporter->options.target->url,
        .headers = headers,
        .timeout_ms = LIMIT_SPAN_EXPORT_TIME,
        .answer_bytes_max = ANSWER_BYTES_MAX,
        .on_done = on_done,
        .context = exporter,
    };
    struct error err;

    if (!exporter->batch_count)
        take_batch(exporter);
    if (exporter->call || !exporter->batch_count)
        return;
    if (headers_now(exporter, headers, &request.header_count, &err) < 0) {
        tell_trouble(exporter, err.text, 0);
        failed(exporter, -1);
        return;
    }
    headers[request.header_count++] =
        (struct http_header){ STR("Content-Type"), STR("application/json") };
    otlp_write_request(&exporter->options.source, exporter->batch, exporter->batch_count, &body);
    request.body = strbuf_str(&body);
    exporter->call = http_send(exporter->client, &request);
}

/* --- whoever adds --- */

static void on_added(void *context)
{
    struct span_exporter *exporter = context;

    if (!exporter->batch_count)
        go_on(exporter);
}

void span_exporter_add(struct span_exporter *exporter, const struct otlp_span *span)
{
    AUTO(arena_free) struct arena *arena = NULL;
    struct strbuf out;
    uint32_t count;

    if (!exporter || !span->context.sampled)
        return;
    arena = arena_create(0);
    out = strbuf_new(arena, 1024);
    otlp_write_span(span, &out);
    count = enqueue(exporter, strbuf_str(&out));
    if (count == 1 || count == LIMIT_SPAN_BATCH)
        loop_post(exporter->options.loop, on_added, exporter);
    else if (count == 0)
        count_spans(exporter, STR("dropped"), 1);
}

static void on_patience(void *context)
{
    struct span_exporter *exporter = context;

    loop_stop(exporter->options.loop);
}

void span_exporter_drain(struct span_exporter *exporter)
{
    if (!exporter || (!exporter->batch_count && !queued(exporter)))
        return;
    exporter->draining = true;
    loop_timer_set(exporter->patience, LIMIT_SPAN_DRAIN);
    if (!exporter->call)
        loop_timer_set(exporter->timer, 0);
    loop_run(exporter->options.loop);
}

/* --- its beginning and end --- */

static int open_client(struct span_exporter *exporter, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct otlp_source *source = &exporter->options.source;
    const struct span_target *target = exporter->options.target;
    struct str agent =
        str_fmt(arena, "%.*s/%.*s", STR_ARG(source->service), STR_ARG(source->version));

    exporter->client =
        http_client_create(exporter->options.loop,
                           &(struct http_client_options){
                               .ca_pem = target->ca_pem,
                               .user_agent = agent.at,
                               .plain_allowed = str_starts(target->url, STR("http://")),
                               .connections_max = 1,
                           },
                           err);
    return exporter->client ? 0 : error_wrap(err, "--otlp-endpoint");
}

struct span_exporter *span_exporter_create(const struct span_exporter_options *options,
                                           struct error *err)
{
    AUTO(span_exporter_free) struct span_exporter *exporter = NULL;

    if (!options->target->url.len)
        return NULL;
    exporter = mem_new(struct span_exporter);
    exporter->options = *options;
    exporter->backoff = backoff_new(LIMIT_RETRY_FIRST, LIMIT_SPAN_RETRY_MAX);
    exporter->rng = rng_from_seed(options->seed);
    pthread_mutex_init(&exporter->lock, NULL);
    exporter->timer = loop_timer_create(options->loop, send_batch, exporter);
    exporter->patience = loop_timer_create(options->loop, on_patience, exporter);
    if (*options->target->headers_file)
        exporter->headers = file_cache_create(options->target->headers_file, LIMIT_SPAN_HEADERS, 0);
    return open_client(exporter, err) < 0 ? NULL : TAKE(exporter);
}

void span_exporter_free(struct span_exporter *exporter)
{
    if (!exporter)
        return;
    http_client_free(exporter->client);
    for (take_batch(exporter); exporter->batch_count; take_batch(exporter)) {
        count_spans(exporter, STR("dropped"), exporter->batch_count);
        free_batch(exporter);
    }
    loop_timer_free(exporter->timer);
    loop_timer_free(exporter->patience);
    file_cache_free(exporter->headers);
    pthread_mutex_destroy(&exporter->lock);
    mem_free(exporter);
}

/* --- what flags say --- */

/* http[s]://host[:port][/path], without what would be told in messages or cut off. */
static int read_endpoint(struct arena *arena, const struct flag_value *flag, struct str *ret_url,
                         struct error *err)
{
    struct str url = flag->text;
    size_t scheme = str_starts(url, STR("https://")) ? 8 : str_starts(url, STR("http://")) ? 7 : 0;
    bool fits = scheme && url.len > scheme;

    for (size_t i = 0; i < url.len; i++)
        fits = fits && (unsigned char)url.at[i] > ' ' && !strchr("?#@\x7f", url.at[i]);
    while (url.len > scheme && url.at[url.len - 1] == '/')
        url.len--;
    if (!fits || url.len == scheme || str_ends(url, STR("/v1/traces")))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: not the base address of a collector, such as "
                         "http://otel-collector.observability:4318; leave out /v1/traces, a user "
                         "and a query",
                         flag->from);
    *ret_url = str_fmt(arena, "%.*s/v1/traces", STR_ARG(url));
    return 0;
}

static int check_headers(struct arena *arena, const struct flag_value *flag, struct error *err)
{
    struct http_header headers[HEADERS_MAX];
    struct str text;
    uint32_t count;

    if (!flag->text.len)
        return 0;
    if (file_read(arena, str_z(arena, flag->text), LIMIT_SPAN_HEADERS, &text, err) < 0)
        return error_wrap(err, "%s", flag->from);
    return read_headers(text, headers, &count, err);
}

int span_target_read(struct arena *arena, const struct flag_value *endpoint,
                     const struct flag_value *ca_file, const struct flag_value *headers_file,
                     struct span_target *ret_target, struct error *err)
{
    struct span_target target = { STR(""), STR(""), str_z(arena, headers_file->text) };

    if (endpoint->text.len && (read_endpoint(arena, endpoint, &target.url, err) < 0 ||
                               program_read_ca(arena, ca_file, &target.ca_pem, err) < 0 ||
                               check_headers(arena, headers_file, err) < 0))
        return -1;
    *ret_target = target;
    return 0;
}
