/* SPDX-License-Identifier: Apache-2.0 */
/* span_exporter_test.c: what reaches a collector, what is tried again, and what is dropped. */
#include "support/rows.h"
#include "support/folder.h"
#include "support/scripted_api.h"

#include "runtime/limits.h"
#include "runtime/span_exporter.h"

#include <pthread.h>

static const struct metric_row metric_rows[] = {
    { METRIC_COUNTER, "herd_test_spans_total", { "outcome" }, NULL, "A test." },
};

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    struct span_target target;
    struct span_exporter *exporter;
};

static void set_up(struct fixture *f, const char *headers_file)
{
    struct kube_config config;
    struct error err;

    *f = (struct fixture){ .arena = arena_create(0),
                           .api = scripted_api_create(),
                           .loop = loop_create(),
                           .log = log_create(2, LOG_ERROR, LOG_TEXT, system_clock(), "test"),
                           .metrics = metrics_create(metric_rows, 1) };
    config = scripted_api_config(f->api);
    f->target = (struct span_target){
        str_fmt(f->arena, "%.*s/v1/traces", STR_ARG(config.server)),
        config.ca_pem,
        headers_file,
    };
    f->exporter = span_exporter_create(
        &(struct span_exporter_options){
            .loop = f->loop,
            .target = &f->target,
            .source = { STR("herd-test"), STR("1"), STR("") },
            .log = f->log,
            .metrics = f->metrics,
            .seed = 1,
        },
        &err);
    assert_non_null(f->exporter);
}

static void tear_down(struct fixture *f)
{
    span_exporter_free(f->exporter);
    loop_free(f->loop);
    metrics_free(f->metrics);
    log_free(f->log);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static uint32_t counted(struct fixture *f, const char *outcome)
{
    return (uint32_t)metrics_value(f->metrics, 0, (struct str[]){ str_of(outcome) });
}

static void add(struct fixture *f, uint32_t count)
{
    struct otlp_span span = {
        .context = { trace_id_from(f->arena, STR("a")), span_id_from(f->arena, STR("a")), true },
        .name = "install",
        .kind = OTLP_INTERNAL,
    };

    for (uint32_t i = 0; i < count; i++)
        span_exporter_add(f->exporter, &span);
}

static void *add_some(void *context)
{
    add(context, LIMIT_SPAN_BATCH / 2);
    return NULL;
}

static void what_threads_add_is_one_request(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    const char *headers = folder_name(arena, folder, "headers");
    struct fixture f;
    struct fixture other;
    pthread_t thread;

    (void)state;
    folder_put(headers, STR("Authorization: SUSEObservability abc\n\nX-Team: a:b\n"), 0600);
    set_up(&f, headers);
    scripted_api_say(f.api, "POST", "/v1/traces", 200, "{}");
    other = f;
    other.arena = arena_create(0);
    pthread_create(&thread, NULL, add_some, &other);
    add_some(&f);
    pthread_join(thread, NULL);
    arena_free(other.arena);
    scripted_api_run_until(f.api, f.loop, "POST", "/v1/traces", 1);
    span_exporter_drain(f.exporter);
    rows_expect_int("so many spans do not wait", scripted_api_count(f.api, "POST", "/v1/traces"), 1);
    rows_expect_int("all count as exported", counted(&f, "exported"), LIMIT_SPAN_BATCH);
    rows_expect("the headers",
                scripted_api_last_has(f.api, "POST", "/v1/traces",
                                      "Authorization: SUSEObservability abc") &&
                    scripted_api_last_has(f.api, "POST", "/v1/traces", "X-Team: a:b") &&
                    scripted_api_last_has(f.api, "POST", "/v1/traces",
                                          "Content-Type: application/json"),
                "are sent");
    tear_down(&f);
    folder_remove(folder);
}

static void what_may_come_later_is_tried_again(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, "");
    scripted_api_say(f.api, "POST", "/v1/traces", 503, "");
    scripted_api_say(f.api, "POST", "/v1/traces", 200,
                     "{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"old\"}}");
    add(&f, LIMIT_SPAN_BATCH);
    scripted_api_run_until(f.api, f.loop, "POST", "/v1/traces", 2);
    span_exporter_drain(f.exporter);
    rows_expect_int("what was taken", counted(&f, "exported"), LIMIT_SPAN_BATCH - 2);
    rows_expect_int("what was not", counted(&f, "rejected"), 2);
    rows_expect_int("nothing is lost", counted(&f, "dropped"), 0);
    tear_down(&f);
}

static void what_is_rejected_is_not_tried_again(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, "");
    scripted_api_say(f.api, "POST", "/v1/traces", 400, "");
    scripted_api_say(f.api, "POST", "/v1/traces", 200, "{}");
    add(&f, LIMIT_SPAN_BATCH + 1);
    span_exporter_drain(f.exporter);
    rows_expect_int("the first request's", counted(&f, "rejected"), LIMIT_SPAN_BATCH);
    rows_expect_int("the next one's", counted(&f, "exported"), 1);
    rows_expect_int("one request each", scripted_api_count(f.api, "POST", "/v1/traces"), 2);
    tear_down(&f);
}

static void a_collector_that_hangs_holds_nobody_up(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, "");
    scripted_api_hang(f.api, "POST", "/v1/traces");
    add(&f, LIMIT_SPAN_QUEUE + 100);
    rows_expect_int("what has no room", counted(&f, "dropped"), 100);
    span_exporter_drain(f.exporter);
    span_exporter_free(TAKE(f.exporter));
    rows_expect_int("nothing counts as exported", counted(&f, "exported"), 0);
    rows_expect_int("all else is dropped at the end", counted(&f, "dropped"),
                    LIMIT_SPAN_QUEUE + 100);
    tear_down(&f);
}

static void a_trace_that_is_not_sampled_is_not_exported(void **state)
{
    struct fixture f;
    struct otlp_span span = { .name = "install" };

    (void)state;
    set_up(&f, "");
    span_exporter_add(f.exporter, &span);
    span_exporter_add(NULL, &span);
    span_exporter_drain(f.exporter);
    rows_expect_int("no request", scripted_api_count(f.api, "POST", ""), 0);
    tear_down(&f);
}

/* --- flags --- */

static const struct {
    const char *row;
    const char *endpoint, *ca, *headers; /* of files: what is in them */
    const char *url;                     /* NULL: rejected, */
    const char *says;                    /* and why */
} targets[] = {
    { "nothing", "", NULL, NULL, "", NULL },
    { "nothing, whatever else there is", "", "x", "x", "", NULL },
    { "a collector", "http://otel:4318", NULL, NULL, "http://otel:4318/v1/traces", NULL },
    { "a slash behind it", "https://otel//", NULL, "A: b", "https://otel/v1/traces", NULL },
    { "a path", "https://o/receiver/stsAgent/otel", NULL, NULL,
      "https://o/receiver/stsAgent/otel/v1/traces", NULL },
    { "no scheme", "otel:4318", NULL, NULL, NULL, "--otlp-endpoint: not the base address" },
    { "a scheme alone", "https://", NULL, NULL, NULL, "--otlp-endpoint: not the base address" },
    { "the path of traces", "http://o/v1/traces", NULL, NULL, NULL, "leave out /v1/traces" },
    { "a user", "http://a:b@o", NULL, NULL, NULL, "leave out /v1/traces, a user" },
    { "a query", "http://o?key=a", NULL, NULL, NULL, "and a query" },
    { "a line end", "http://o\n", NULL, NULL, NULL, "--otlp-endpoint: not the base address" },
    { "no certificate", "http://o", "x", NULL, NULL, "holds no PEM certificate" },
    { "no header", "http://o", NULL, "A: b\nsecret", NULL, "line 2 of --otlp-headers-file" },
    { "a secret before a colon", "http://o", NULL, "Bearer secret: b", NULL, "line 1 of" },
    { "no name", "http://o", NULL, ": secret", NULL, "line 1 of" },
};

static struct flag_value file_flag(struct arena *arena, const char *folder, const char *text,
                                   const char *from)
{
    const char *path = folder_name(arena, folder, from);

    if (!text)
        return (struct flag_value){ .text = STR(""), .from = from };
    folder_put(path, str_of(text), 0600);
    return (struct flag_value){ .text = str_of(path), .from = from };
}

static void flags_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const char *folder = folder_create(arena);
        const struct flag_value endpoint = { .text = str_of(targets[i].endpoint),
                                             .from = "--otlp-endpoint" };
        struct flag_value ca = file_flag(arena, folder, targets[i].ca, "--otlp-ca-file");
        struct flag_value headers =
            file_flag(arena, folder, targets[i].headers, "--otlp-headers-file");
        struct span_target target;
        struct error err;
        int result = span_target_read(arena, &endpoint, &ca, &headers, &target, &err);

        rows_expect_int(targets[i].row, result, targets[i].url ? 0 : -1);
        if (result == 0)
            rows_expect_str(targets[i].row, target.url, str_of(targets[i].url));
        else
            rows_expect(targets[i].row,
                        strstr(err.text, targets[i].says) && !strstr(err.text, "secret"), err.text);
        folder_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_threads_add_is_one_request),
        cmocka_unit_test(what_may_come_later_is_tried_again),
        cmocka_unit_test(what_is_rejected_is_not_tried_again),
        cmocka_unit_test(a_collector_that_hangs_holds_nobody_up),
        cmocka_unit_test(a_trace_that_is_not_sampled_is_not_exported),
        cmocka_unit_test(flags_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
