/* SPDX-License-Identifier: Apache-2.0 */
/* serve_test.c: a whole webhook in a thread of this process: it comes up, follows its certificate,
 * and goes down in the right order. */
#include "support/rows.h"

#include "support/folder.h"
#include "support/loopback.h"

#include "io/signal.h"
#include "webhook/serve.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    struct arena *arena;
    struct loop *loop;
    struct http_client *client;
    const char *folder;
    struct tls_pair ca;
    struct webhook_options options;
    struct log *log;
    int log_pipe[2];
    struct strbuf logged;
    uint64_t port;
    pthread_t thread;
    int result;
    struct error err;
};

static void write_leaf(struct fixture *f)
{
    struct tls_pair leaf = loopback_leaf(f->arena, &f->ca, "herd.test");

    folder_put(f->options.key_file, leaf.key_pem, 0600);
    folder_put(f->options.certificate_file, leaf.certificate_pem, 0644);
}

static void set_up(struct fixture *f, int64_t drain_ms)
{
    struct error err;

    *f = (struct fixture){ .arena = arena_create(0), .loop = loop_create(), .result = -7 };
    f->folder = folder_create(f->arena);
    f->ca = loopback_ca(f->arena, "test CA");
    f->options = (struct webhook_options){
        .listen_host = "127.0.0.1",
        .metrics_host = "127.0.0.1",
        .certificate_file = folder_name(f->arena, f->folder, "tls.crt"),
        .key_file = folder_name(f->arena, f->folder, "tls.key"),
        .listen_from = "--listen",
        .metrics_from = "--metrics-listen",
        .api = { .file = "", .context = "" },
        .event_threads = 1,
        .config_file = folder_name(f->arena, f->folder, "config.yaml"),
        .drain_ms = drain_ms,
    };
    assert_int_equal(pipe(f->log_pipe), 0);
    f->log = log_create(f->log_pipe[1], LOG_INFO, LOG_JSON, system_clock(), "test");
    f->logged = strbuf_new(f->arena, 1024);
    f->client = http_client_create(
        f->loop, &(struct http_client_options){ .ca_pem = f->ca.certificate_pem }, &err);
    assert_non_null(f->client);
}

static void tear_down(struct fixture *f)
{
    http_client_free(f->client);
    log_free(f->log);
    close(f->log_pipe[0]);
    close(f->log_pipe[1]);
    folder_remove(f->folder);
    loop_free(f->loop);
    arena_free(f->arena);
}

/* Read the log until a whole line says `text`; what was logged from there on. */
static struct str wait_for_log(struct fixture *f, const char *text)
{
    struct pollfd ready = { .fd = f->log_pipe[0], .events = POLLIN };
    ptrdiff_t at;

    while ((at = str_find(strbuf_str(&f->logged), str_of(text), 0)) < 0 ||
           str_find_char(strbuf_str(&f->logged), '\n', (size_t)at) < 0) {
        if (poll(&ready, 1, LOOPBACK_PATIENCE_MS) <= 0)
            fail_msg("'%s' was not logged, but: %.*s", text, STR_ARG(strbuf_str(&f->logged)));

        ssize_t got = read(f->log_pipe[0], strbuf_reserve(&f->logged, 4096), 4096);

        assert_true(got > 0);
        f->logged.len += (size_t)got;
    }
    return str_slice(strbuf_str(&f->logged), (size_t)at, f->logged.len);
}

static void *serve(void *context)
{
    struct fixture *f = context;

    f->result = webhook_serve(&f->options, f->log, &f->err);
    return NULL;
}

static void start(struct fixture *f)
{
    struct str head = STR("\"port\":");

    write_leaf(f);
    assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);

    struct str line = wait_for_log(f, "\"serving\"");
    size_t from = (size_t)str_find(line, head, 0) + head.len;
    size_t to = (size_t)str_find_char(line, ',', from);

    assert_true(str_to_u64(str_slice(line, from, to), &f->port));
}

static int status_of(struct fixture *f, const char *path)
{
    return loopback_get(f->loop, f->client, "https", (uint16_t)f->port, path, f->arena).status;
}

static void it_answers_while_it_drains(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 3600 * 1000);
    start(&f);
    rows_expect_int("ready at once", status_of(&f, "/readyz"), 200);
    rows_expect_int("alive", status_of(&f, "/healthz"), 200);
    rows_expect_int("on one connection", (int64_t)http_client_connections_opened(f.client), 1);

    assert_int_equal(kill(getpid(), SIGTERM), 0);
    wait_for_log(&f, "\"draining\"");
    rows_expect_int("not ready any more", status_of(&f, "/readyz"), 500);
    rows_expect_int("but alive and answering", status_of(&f, "/healthz"), 200);
    rows_expect_int("on a connection that its peer is told to leave", status_of(&f, "/healthz"), 200);
    rows_expect("so each answer ends its connection", http_client_connections_opened(f.client) >= 3,
                "connections");
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    pthread_join(f.thread, NULL);
    rows_expect_int("it ends well", f.result, 0);
    rows_expect_int("and answers nothing more", status_of(&f, "/healthz"), 0);
    tear_down(&f);
}

static void it_ends_when_it_has_drained(void **state)
{
    struct fixture f;
    int64_t began_ms;

    (void)state;
    set_up(&f, 200);
    start(&f);
    began_ms = clock_monotonic_ms(system_clock());
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    pthread_join(f.thread, NULL);
    rows_expect("not before", clock_monotonic_ms(system_clock()) - began_ms >= 200, "200 ms");
    rows_expect_int("it ends well", f.result, 0);
    tear_down(&f);
}

static void a_second_signal_cuts_the_drain_short(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 3600 * 1000);
    start(&f);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    wait_for_log(&f, "\"draining\"");
    assert_int_equal(kill(getpid(), SIGINT), 0);
    wait_for_log(&f, "\"stopping at once\"");
    pthread_join(f.thread, NULL);
    rows_expect_int("it ends well", f.result, 0);
    tear_down(&f);
}

static void a_new_certificate_is_taken_and_a_bad_one_is_not(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, 0);
    start(&f);
    write_leaf(&f);
    wait_for_log(&f, "\"certificate taken\"");
    rows_expect_int("served on", status_of(&f, "/readyz"), 200);
    folder_put(f.options.certificate_file, STR("-----BEGIN"), 0644);
    wait_for_log(&f, "\"new certificate rejected");
    rows_expect_int("the last good one stays", status_of(&f, "/readyz"), 200);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    pthread_join(f.thread, NULL);
    rows_expect_int("it ends well", f.result, 0);
    tear_down(&f);
}

static void configure(struct fixture *f, const char *text)
{
    folder_put(f->options.config_file, str_of(text), 0644);
}

static struct str ready_page(struct fixture *f)
{
    return loopback_get(f->loop, f->client, "https", (uint16_t)f->port, "/readyz?verbose", f->arena).body;
}

static void a_new_configuration_is_taken_and_a_bad_one_is_told(void **state)
{
    struct str note = STR("[+]configuration ok; note: ");
    struct fixture f;

    (void)state;
    set_up(&f, 0);
    start(&f);
    rows_expect("that there is none is logged", str_find(strbuf_str(&f.logged), STR("no configuration file"), 0) >= 0,
                "logged");
    configure(&f, "rules: {graph.cycle: warn}");
    rows_expect("what it says is counted", str_find(wait_for_log(&f, "\"configuration taken\""), STR("\"said\":1"), 0) > 0,
                "said");
    rows_expect("nothing is noted", str_find(ready_page(&f), note, 0) < 0, "no note");
    configure(&f, "rules: {graph.cycle: loud}");
    rows_expect("a bad one is told with its place",
                str_find(wait_for_log(&f, "\"configuration rejected"), STR("config.yaml:1:9: "), 0) > 0, "place");
    rows_expect_int("the webhook is ready", status_of(&f, "/readyz"), 200);
    rows_expect("but notes it", str_find(ready_page(&f), note, 0) >= 0, "note");
    configure(&f, "rules: {graph.cicle: warn}");
    wait_for_log(&f, "did you mean \\\"graph.cycle\\\"?" /* the log escapes quotes */);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    pthread_join(f.thread, NULL);
    rows_expect_int("it ends well", f.result, 0);
    tear_down(&f);
}

static void what_cannot_begin_says_why(void **state)
{
    static const struct {
        const char *row;
        const char *kubeconfig;
        bool certificate;
        bool in_cluster;
        const char *listen_host;
        const char *want; /* a piece of the error */
        const char *configuration;
    } rows[] = {
        { "no certificate", "", false, false, "127.0.0.1", "/tls.crt", NULL },
        { "a bad configuration", "", true, false, "127.0.0.1", "config.yaml:1:1: rule: Unsupported value: unknown field",
          "rule: {graph.cycle: warn}" },
        { "no kubeconfig", "/nowhere/kubeconfig", true, false, "127.0.0.1", "--kubeconfig: ", NULL },
        { "no cluster around it", "", true, true, "127.0.0.1", "--in-cluster: ", NULL },
        { "an address that is not here", "", true, false, "192.0.2.1",
          "--listen: cannot listen on 192.0.2.1:0", NULL },
    };

    (void)state;
    unsetenv("KUBERNETES_SERVICE_HOST");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f, 0);
        f.options.api.file = rows[i].kubeconfig;
        f.options.api.in_cluster = rows[i].in_cluster;
        f.options.listen_host = rows[i].listen_host;
        if (rows[i].certificate)
            write_leaf(&f);
        if (rows[i].configuration)
            configure(&f, rows[i].configuration);
        serve(&f);
        rows_expect_int(rows[i].row, f.result, -1);
        rows_expect(rows[i].row, strstr(f.err.text, rows[i].want), f.err.text);
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_answers_while_it_drains),
        cmocka_unit_test(it_ends_when_it_has_drained),
        cmocka_unit_test(a_second_signal_cuts_the_drain_short),
        cmocka_unit_test(a_new_certificate_is_taken_and_a_bad_one_is_not),
        cmocka_unit_test(a_new_configuration_is_taken_and_a_bad_one_is_told),
        cmocka_unit_test(what_cannot_begin_says_why),
    };

    signal_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
