/* SPDX-License-Identifier: Apache-2.0 */
/* http_tls_test.c: our client and our server trust each other for the right reasons, over TLS
 * 1.2 and 1.3, while certificates change. */
#include "support/rows.h"

#include "support/folder.h"
#include "support/loopback.h"


#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static void who(struct http_exchange *exchange, void *context)
{
    const struct http_exchange_view *view = http_view(exchange);

    (void)context;
    http_answer(exchange, 200, "text/plain",
                str_fmt(view->arena, "%.*s|%.*s", STR_ARG(view->client_name),
                        STR_ARG(view->client_groups)));
}

static const struct http_route routes[] = { { "", "/*", 16 * 1024, who, "who" } };

struct fixture {
    struct arena *arena;
    struct loop *loop;
    const char *folder;
    struct tls_pair ca;
    struct tls_source *source;
    struct http_server *server;
};

static struct http_server *serve(struct tls_source *source, struct http_server_options options)
{
    struct error err;

    options.address = "127.0.0.1";
    options.routes = routes;
    options.route_count = 1;
    options.tls = source;
    if (!options.handshakes_per_address_max)
        options.handshakes_per_address_max = UINT32_MAX;

    struct http_server *server = http_server_create(&options, &err);

    if (!server)
        fail_msg("%s", err.text);
    return server;
}

static struct fixture begin(struct http_server_options options)
{
    struct fixture fixture = { .arena = arena_create(0), .loop = loop_create() };

    fixture.folder = folder_create(fixture.arena);
    fixture.ca = loopback_ca(fixture.arena, "test CA");

    struct tls_pair leaf = loopback_leaf(fixture.arena, &fixture.ca, "herd.test");

    fixture.source = loopback_source(fixture.arena, fixture.folder, &leaf);
    fixture.server = serve(fixture.source, options);
    return fixture;
}

static void end(struct fixture *fixture)
{
    http_server_free(fixture->server);
    tls_source_free(fixture->source);
    folder_remove(fixture->folder);
    loop_free(fixture->loop);
    arena_free(fixture->arena);
}

/* One request by a client of its own. */
static struct reply ask_as(struct fixture *fixture, struct http_client_options options,
                           const char *path)
{
    struct error err;
    AUTO(http_client_free) struct http_client *client =
        http_client_create(fixture->loop, &options, &err);

    if (!client)
        fail_msg("%s", err.text);
    return loopback_get(fixture->loop, client, "https", http_server_port(fixture->server), path,
                        fixture->arena);
}

static void expect_rejected(const char *row, const struct reply *reply, const char *holds)
{
    rows_expect_int(row, reply->error.code, ERROR_TLS);
    rows_expect(row, strstr(reply->error.text, holds), reply->error.text);
    rows_expect(row, !reply->sent, "nothing was sent");
}

static void test_who_is_trusted(void **state)
{
    struct fixture fixture = begin((struct http_server_options){ .event_threads = 1 });
    struct tls_pair other = loopback_ca(fixture.arena, "test CA");
    struct http_client_options options = { .ca_pem = fixture.ca.certificate_pem };
    struct reply reply = ask_as(&fixture, options, "/");

    (void)state;
    rows_expect_str("a certificate of the CA for the address is trusted",
                    str_of(reply.error.text), STR(""));
    rows_expect_int("and the request answered", reply.status, 200);

    options.tls_server_name = STR("herd.test");
    rows_expect_int("the certificate's name may be another than the address",
                    ask_as(&fixture, options, "/").status, 200);
    options.tls_server_name = STR("other.test");
    reply = ask_as(&fixture, options, "/");
    expect_rejected("a wrong name is rejected", &reply, "for another name");

    options = (struct http_client_options){ .ca_pem = other.certificate_pem };
    reply = ask_as(&fixture, options, "/");
    expect_rejected("a CA of the same name with another key is rejected", &reply,
                   "unknown authority");
    options = (struct http_client_options){ .ca_pem = { NULL, 0 } };
    reply = ask_as(&fixture, options, "/");
    expect_rejected("the system's CAs do not know it", &reply, "unknown authority");
    options.insecure = true;
    rows_expect_int("who asks to trust anybody does", ask_as(&fixture, options, "/").status, 200);
    end(&fixture);
}

/* A leaf that ends so soon, served and asked: what tls_source_refresh said of it and the answer's status. */
static int ask_leaf_that_ends(struct fixture *fixture, struct tls_request *request,
                              struct http_client_options options, int64_t soon_ms, int *ret_status)
{
    struct error err;
    struct tls_pair leaf;
    int taken;

    request->not_after_ms = (clock_wall_ms(system_clock()) + soon_ms) / 1000 * 1000;
    leaf = loopback_issue(fixture->arena, *request, &fixture->ca);
    folder_put(folder_name(fixture->arena, fixture->folder, "tls.crt"), leaf.certificate_pem, 0644);
    folder_put(folder_name(fixture->arena, fixture->folder, "tls.key"), leaf.key_pem, 0600);
    taken = tls_source_refresh(fixture->source, &err);
    *ret_status = ask_as(fixture, options, "/").status;
    return taken;
}

static void test_a_certificate_that_is_over(void **state)
{
    struct fixture fixture = begin((struct http_server_options){ .event_threads = 1 });
    struct tls_request request = { .common_name = STR("herd.test") };
    struct http_client_options options = { .ca_pem = fixture.ca.certificate_pem };
    int taken, status;

    (void)state;
    request.addresses = str_list_new(fixture.arena, 1);
    str_list_push(&request.addresses, STR("127.0.0.1"));
    /* It ends within this test, for a source takes none that is over; where the machine is too busy for that, later. */
    for (int64_t soon_ms = 2000; soon_ms < 100000; soon_ms *= 2) {
        taken = ask_leaf_that_ends(&fixture, &request, options, soon_ms, &status);
        if (clock_wall_ms(system_clock()) < request.not_after_ms)
            break;
    }
    rows_expect_int("it is taken", taken, 1);
    rows_expect_int("it is trusted until its end", status, 200);
    while (clock_wall_ms(system_clock()) <= request.not_after_ms)
        usleep(10000);

    struct reply reply = ask_as(&fixture, options, "/");

    expect_rejected("and rejected after it", &reply, "has expired");
    end(&fixture);
}

static struct tls_pair client_of(struct fixture *fixture, const struct tls_pair *ca,
                                 bool for_client)
{
    struct tls_request request = { .common_name = STR("anna"),
                                   .organization = STR("system:masters"),
                                   .for_client = for_client };

    return loopback_issue(fixture->arena, request, ca);
}

/* The server again, believing clients of `ca`. */
static void serve_clients_of(struct fixture *fixture, const struct tls_pair *ca, bool optional)
{
    const char *file = folder_name(fixture->arena, fixture->folder, "clients.crt");
    struct error err;

    folder_put(file, ca->certificate_pem, 0644);
    http_server_free(fixture->server);
    tls_source_free(fixture->source);
    fixture->source = tls_source_create(folder_name(fixture->arena, fixture->folder, "tls.crt"),
                                        folder_name(fixture->arena, fixture->folder, "tls.key"),
                                        file, &err);
    if (!fixture->source)
        fail_msg("%s", err.text);
    fixture->server =
        serve(fixture->source, (struct http_server_options){
                                   .event_threads = optional ? 0 : 1,
                                   .client_certificate_optional = optional });
}

static struct reply ask_with(struct fixture *fixture, const struct tls_pair *client)
{
    struct http_client_options options = { .ca_pem = fixture->ca.certificate_pem,
                                           .certificate_pem = client->certificate_pem,
                                           .key_pem = client->key_pem };

    return ask_as(fixture, options, "/");
}

static void test_client_certificates(void **state)
{
    (void)state;
    for (int optional = 0; optional <= 1; optional++) {
        struct fixture fixture = begin((struct http_server_options){ .event_threads = 1 });
        struct tls_pair ca = loopback_ca(fixture.arena, "clients");
        struct tls_pair other = loopback_ca(fixture.arena, "clients");
        struct tls_request expired = { .common_name = STR("anna"), .for_client = true,
                                       .not_before_ms = 1000, .not_after_ms = 2000 };
        struct tls_request nameless = { .organization = STR("system:masters"),
                                        .for_client = true };
        struct tls_pair anna = client_of(&fixture, &ca, true);
        const struct {
            const char *name;
            struct tls_pair pair;
            const char *says;
        } rejected_rows[] = {
            { "no certificate", { { NULL, 0 }, { NULL, 0 } }, "client certificate required" },
            { "one of a CA of the same name", client_of(&fixture, &other, true), "is not valid" },
            { "one for servers", client_of(&fixture, &ca, false), "is not valid" },
            { "one that expired", loopback_issue(fixture.arena, expired, &ca), "is not valid" },
        };

        serve_clients_of(&fixture, &ca, optional);

        struct reply reply = ask_with(&fixture, &anna);

        rows_expect_int("with one of the CA", reply.status, 200);
        rows_expect_str("name and groups are known", reply.body, STR("anna|system:masters"));
        anna = loopback_issue(fixture.arena, nameless, &ca);
        reply = ask_with(&fixture, &anna);
        rows_expect_int("one without a name is of the CA, too", reply.status, 200);
        rows_expect_str("and nobody", reply.body, STR("|"));
        for (size_t i = 0; i < sizeof(rejected_rows) / sizeof(rejected_rows[0]); i++) {
            reply = ask_with(&fixture, &rejected_rows[i].pair);
            rows_expect_int(rejected_rows[i].name, reply.status, optional ? 200 : 403);
            if (optional)
                rows_expect_str(rejected_rows[i].name, reply.body, STR("|"));
            else
                rows_expect(rejected_rows[i].name,
                            str_find(reply.body, str_of(rejected_rows[i].says), 0) >= 0,
                            str_z(fixture.arena, reply.body));
        }
        end(&fixture);
    }
}

static void test_client_cas_are_followed(void **state)
{
    struct fixture fixture = begin((struct http_server_options){ .event_threads = 1 });
    const char *file = folder_name(fixture.arena, fixture.folder, "clients.crt");
    struct tls_pair one = loopback_ca(fixture.arena, "one");
    struct tls_pair two = loopback_ca(fixture.arena, "two");
    struct tls_pair anna = client_of(&fixture, &one, true);
    struct tls_pair berta = client_of(&fixture, &two, true);
    struct error err;

    (void)state;
    serve_clients_of(&fixture, &one, false);
    rows_expect_int("of the first CA", ask_with(&fixture, &anna).status, 200);
    rows_expect_int("of the second, too early", ask_with(&fixture, &berta).status, 403);
    folder_put(file, str_fmt(fixture.arena, "%.*s%.*s", STR_ARG(one.certificate_pem),
                             STR_ARG(two.certificate_pem)), 0644);
    rows_expect_int("both stand there", tls_source_refresh(fixture.source, &err), 1);
    rows_expect_int("the first goes on", ask_with(&fixture, &anna).status, 200);
    rows_expect_int("the second is believed", ask_with(&fixture, &berta).status, 200);
    folder_put(file, two.certificate_pem, 0644);
    rows_expect_int("the second alone", tls_source_refresh(fixture.source, &err), 1);
    rows_expect_int("the first is not believed any more", ask_with(&fixture, &anna).status, 403);
    rows_expect_int("the second still", ask_with(&fixture, &berta).status, 200);
    unlink(file);
    rows_expect_int("the file is gone", tls_source_refresh(fixture.source, &err), -1);
    rows_expect_int("which opens nothing", ask_with(&fixture, &anna).status, 403);
    rows_expect_int("and closes nothing", ask_with(&fixture, &berta).status, 200);
    end(&fixture);
}

static void test_a_client_identity_is_checked_first(void **state)
{
    struct fixture fixture = begin((struct http_server_options){ .event_threads = 1 });
    struct tls_pair one = client_of(&fixture, &fixture.ca, true);
    struct tls_pair two = client_of(&fixture, &fixture.ca, true);
    struct http_client_options options = { .certificate_pem = one.certificate_pem,
                                           .key_pem = two.key_pem };
    struct error err;

    (void)state;
    assert_null(http_client_create(fixture.loop, &options, &err));
    rows_expect_str("a pair that does not fit is told at once", str_of(err.text),
                    STR("client certificate: certificate and key do not belong together"));
    options = (struct http_client_options){ .ca_pem = STR("nonsense") };
    assert_null(http_client_create(fixture.loop, &options, &err));
    rows_expect_str("and a CA that is none", str_of(err.text),
                    STR("CA certificate: holds no PEM block \"BEGIN CERTIFICATE\""));
    end(&fixture);
}

/* A TLS connection by OpenSSL alone; NULL if the handshake fails. */
static SSL *handshake(SSL_CTX *context, int fd)
{
    SSL *tls = SSL_new(context);

    SSL_set_fd(tls, fd);
    if (SSL_connect(tls) == 1)
        return tls;
    SSL_free(tls);
    return NULL;
}

static const struct offer_row {
    const char *name;
    int version; /* 0: TLS 1.2 and 1.3 */
    const char *groups;
    const char *ciphers; /* of TLS 1.2 */
    bool taken;
    int reason; /* OpenSSL's, of the alert; 0 where the connection just ends */
} offer_rows[] = {
    { "TLS 1.3", TLS1_3_VERSION, NULL, NULL, true, 0 },
    { "TLS 1.2", TLS1_2_VERSION, NULL, NULL, true, 0 },
    { "TLS 1.1 is too old", TLS1_1_VERSION, NULL, NULL, false, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION },
    { "TLS 1.0 is too old", TLS1_VERSION, NULL, NULL, false, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION },
    { "X25519 alone", 0, "X25519", NULL, true, 0 },
    { "P-256 alone", 0, "P-256", NULL, true, 0 },
    { "P-384 alone", TLS1_3_VERSION, "P-384", NULL, true, 0 },
    { "ffdhe8192 alone", 0, "ffdhe8192", NULL, false, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE },
    { "P-521 alone", 0, "P-521", NULL, false, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE },
    { "X448 alone", 0, "X448", NULL, false, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE },
    { "ffdhe2048 alone", 0, "ffdhe2048", NULL, false, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE },
    { "ffdhe8192 first, with a share, then X25519", TLS1_3_VERSION, "ffdhe8192:X25519", NULL, true,
      0 },
    { "a key exchange of finite fields", TLS1_2_VERSION, NULL, "DHE-RSA-AES128-GCM-SHA256", false,
      0 },
    { "RSA's key exchange", TLS1_2_VERSION, NULL, "AES128-GCM-SHA256", false, 0 },
};

/* Why OpenSSL's newest handshake failed; 0 if no alert came. */
static int alert_reason(void)
{
    unsigned long code = ERR_peek_last_error();

    return ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? 0 : ERR_GET_REASON(code);
}

static void test_what_clients_offer(void **state)
{
    struct fixture fixture = begin((struct http_server_options){ .event_threads = 2 });

    (void)state;
    for (size_t i = 0; i < sizeof(offer_rows) / sizeof(offer_rows[0]); i++) {
        const struct offer_row *row = &offer_rows[i];
        SSL_CTX *context = SSL_CTX_new(TLS_client_method());
        int fd = loopback_connect(http_server_port(fixture.server));

        SSL_CTX_set_security_level(context, 0);
        SSL_CTX_set_min_proto_version(context, row->version ? row->version : TLS1_2_VERSION);
        SSL_CTX_set_max_proto_version(context, row->version);
        if (row->groups)
            assert_int_equal(SSL_CTX_set1_groups_list(context, row->groups), 1);
        if (row->ciphers)
            assert_int_equal(SSL_CTX_set_cipher_list(context, row->ciphers), 1);
        ERR_clear_error();

        SSL *tls = handshake(context, fd);

        rows_expect(row->name, (tls != NULL) == row->taken, "handshake");
        if (!row->taken)
            rows_expect_int(row->name, alert_reason(), row->reason);
        SSL_free(tls);
        SSL_CTX_free(context);
        close(fd);
    }
    end(&fixture);
}

static bool closes_within(int fd, int wait_ms)
{
    struct pollfd ready = { .fd = fd, .events = POLLRDHUP };

    return poll(&ready, 1, wait_ms) > 0;
}

/* A connection whose handshake was within the bound; where the machine was too busy for that, another one. */
static SSL *connect_in_time(struct fixture *fixture, SSL_CTX *context, int *ret_fd)
{
    for (int tries = 0; tries < 100; tries++) {
        SSL *tls;

        *ret_fd = loopback_connect(http_server_port(fixture->server));
        tls = handshake(context, *ret_fd);
        if (tls)
            return tls;
        close(*ret_fd);
    }
    fail_msg("no handshake ended within the bound");
    return NULL;
}

static void test_a_handshake_has_an_end_and_idleness_another(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN); /* of connections that the server cuts */
    for (uint32_t threads = 0; threads <= 1; threads++)
        for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
            struct fixture fixture = begin((struct http_server_options){
                .event_threads = threads, .handshake_ms = 300, .idle_ms = 60000 });
            SSL_CTX *context = SSL_CTX_new(TLS_client_method());
            int idle;
            int silent = loopback_connect(http_server_port(fixture.server));
            int dripping = loopback_connect(http_server_port(fixture.server));
            int begun = 0;

            SSL_CTX_set_min_proto_version(context, version);
            SSL_CTX_set_max_proto_version(context, version);

            SSL *tls = connect_in_time(&fixture, context, &idle);

            loopback_write(dripping, STR("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"));
            for (; begun < 500 && !closes_within(dripping, 20); begun++)
                loopback_write(dripping, STR("x"));
            rows_expect("a dripping handshake is cut", begun < 500, "closed");
            rows_expect("a silent one too", closes_within(silent, LOOPBACK_PATIENCE_MS), "closed");
            rows_expect("a connection after its handshake may be idle",
                        !closes_within(idle, 300), "open");
            SSL_free(tls);
            SSL_CTX_free(context);
            close(idle);
            close(silent);
            close(dripping);
            end(&fixture);
        }
}

/* A connection from another loopback address. */
static int connect_from(const char *from, uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = { .sin_family = AF_INET };

    inet_pton(AF_INET, from, &address.sin_addr);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static bool shakes_hands(SSL_CTX *context, int fd)
{
    SSL *tls = handshake(context, fd);
    bool done = tls != NULL;

    SSL_free(tls);
    close(fd);
    return done;
}

static uint64_t limited(struct fixture *fixture)
{
    struct http_handshakes handshakes;

    http_server_handshakes(fixture->server, &handshakes);
    return handshakes.limited;
}

/* Connections come until one is over the limit: however slow the machine is, three of 10,000 are within a second. */
static void test_handshakes_of_one_address_are_bounded(void **state)
{
    struct fixture fixture = begin((struct http_server_options){
        .event_threads = 2, .handshakes_per_address_max = 2 });
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    uint16_t port = http_server_port(fixture.server);
    struct http_handshakes handshakes;
    int tries = 0, rejected = 0;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    rows_expect("an ordinary client", shakes_hands(context, loopback_connect(port)), "handshake");
    for (; tries < 10000 && !limited(&fixture); tries++)
        rejected += !shakes_hands(context, loopback_connect(port));
    rows_expect("one more handshake within the second is closed", limited(&fixture) > 0, "limited");
    rows_expect("as the client sees", rejected > 0, "rejected");
    rows_expect("another address has a limit of its own",
                shakes_hands(context, connect_from("127.0.0.2", port)), "handshake");
    for (tries = 0; tries < LOOPBACK_PATIENCE_MS / 100; tries++) {
        if (shakes_hands(context, loopback_connect(port)))
            break;
        usleep(100000);
    }
    rows_expect("and the next second a new one", tries < LOOPBACK_PATIENCE_MS / 100, "handshake");
    http_server_handshakes(fixture.server, &handshakes);
    rows_expect_str("who it was is known", str_of(handshakes.limited_peer), STR("127.0.0.1"));
    rows_expect("handshakes are counted", handshakes.completed >= 3, "completed");
    SSL_CTX_free(context);
    end(&fixture);
}

/* ---- certificates that change under load ---- */

enum { CLIENTS = 4, REQUESTS = 400, SWAPS = 20 };

struct load {
    struct fixture *fixture;
    struct http_client *client;
    int left;
    int failed;
    struct error first;
    int *running;
    bool *done; /* set by the last one */
};

static void next_request(struct load *load);

static void on_done(void *context, const struct http_response *response)
{
    struct load *load = context;

    if (response->status != 200 && !load->failed++)
        load->first = response->error;
    next_request(load);
}

/* Every second request on a connection of its own: each handshake meets whatever certificate is
 * there. */
static void next_request(struct load *load)
{
    struct http_header close_it = { STR("Connection"), STR("close") };
    struct http_request request = {
        .method = "POST",
        .url = str_fmt(load->fixture->arena, "https://127.0.0.1:%u/",
                       http_server_port(load->fixture->server)),
        .body = STR("{}"),
        .headers = &close_it,
        .header_count = load->left % 2 ? 1 : 0,
        .on_done = on_done,
        .context = load,
    };

    if (load->left-- == 0) {
        *load->done = --*load->running == 0;
        return;
    }
    http_send(load->client, &request);
}

static void swap(struct fixture *fixture, const struct tls_pair *pair)
{
    const struct folder_file files[] = {
        { "tls.crt", pair->certificate_pem },
        { "tls.key", pair->key_pem },
    };

    folder_mount(fixture->folder, files, 2);
}

struct swapper {
    struct fixture *fixture;
    struct loop_timer *timer;
    int number;
    int taken;
};

static void swap_again(void *context)
{
    struct swapper *swapper = context;
    struct fixture *fixture = swapper->fixture;
    struct tls_pair leaf = loopback_leaf(fixture->arena, &fixture->ca, "herd.test");
    struct error err;

    if (swapper->number >= SWAPS)
        return;
    swap(fixture, &leaf);
    swapper->number++;
    swapper->taken += tls_source_refresh(fixture->source, &err) == 1;
    loop_timer_set(swapper->timer, 10);
}

static void test_certificates_change_under_load(void **state)
{
    struct fixture fixture = begin((struct http_server_options){ .event_threads = 2 });
    struct swapper swapper = { .fixture = &fixture };
    struct load loads[CLIENTS];
    struct tls_pair leaf = loopback_leaf(fixture.arena, &fixture.ca, "herd.test");
    int running = CLIENTS;
    bool done = false;
    struct error err;

    (void)state;
    /* The folder as a mounted Secret is. */
    http_server_free(fixture.server);
    tls_source_free(fixture.source);
    folder_remove(fixture.folder);
    fixture.folder = folder_create(fixture.arena);
    swap(&fixture, &leaf);

    const char *certificate = folder_name(fixture.arena, fixture.folder, "tls.crt");
    const char *key = folder_name(fixture.arena, fixture.folder, "tls.key");

    assert_int_equal(symlink("..data/tls.crt", certificate), 0);
    assert_int_equal(symlink("..data/tls.key", key), 0);
    fixture.source = tls_source_create(certificate, key, NULL, &err);
    assert_non_null(fixture.source);
    fixture.server = serve(fixture.source, (struct http_server_options){ .event_threads = 2 });

    swapper.timer = loop_timer_create(fixture.loop, swap_again, &swapper);
    loop_timer_set(swapper.timer, 0);
    for (int i = 0; i < CLIENTS; i++) {
        struct http_client_options options = { .ca_pem = fixture.ca.certificate_pem };

        loads[i] = (struct load){ .fixture = &fixture, .left = REQUESTS, .running = &running,
                                  .done = &done };
        loads[i].client = http_client_create(fixture.loop, &options, &err);
        assert_non_null(loads[i].client);
        next_request(&loads[i]);
    }
    loopback_run_until(fixture.loop, &done);
    for (int i = 0; i < CLIENTS; i++) {
        if (loads[i].failed)
            rows_expect_str("no request fails", str_of(loads[i].first.text), STR(""));
        rows_expect_int("no request fails", loads[i].failed, 0);
        http_client_free(loads[i].client);
    }
    rows_expect_int("every pair was taken", swapper.taken, swapper.number);
    rows_expect("many of them", swapper.number >= 5, "swaps under load");
    loop_timer_free(swapper.timer);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_trusted),
        cmocka_unit_test(test_a_certificate_that_is_over),
        cmocka_unit_test(test_client_certificates),
        cmocka_unit_test(test_client_cas_are_followed),
        cmocka_unit_test(test_a_client_identity_is_checked_first),
        cmocka_unit_test(test_what_clients_offer),
        cmocka_unit_test(test_handshakes_of_one_address_are_bounded),
        cmocka_unit_test(test_a_handshake_has_an_end_and_idleness_another),
        cmocka_unit_test(test_certificates_change_under_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
