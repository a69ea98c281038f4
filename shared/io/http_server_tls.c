/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_tls.c: the certificate of each handshake, and the client's.
 *
 * libmicrohttpd's TLS is GnuTLS. Each session gets its credentials when its connection begins: an
 * immutable `served`, certificate, key and client CAs, that lives until its last connection has
 * gone. So what is new in the tls_source needs no pause, and no lock beyond taking a reference. */
#include "io/http_server_internal.h"

#include "base/memory.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

enum {
    NAME_BYTES_MAX = 1024,
    GROUPS_MAX = 64,
};

/* TLS 1.2 and 1.3, forward secrecy and authenticated encryption only. No finite-field group: one
 * key exchange with ffdhe8192 costs 600 ms of CPU, and a client gets it for a replayed ClientHello
 * (DHEat, CVE-2002-20001). X25519, P-256 and P-384 cost 1 to 3 ms, and every client has one. */
const char *http_server_priorities(void)
{
    return "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"
           "+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:"
           "+GROUP-SECP384R1";
}

struct served {
    atomic_uint references;
    uint64_t generation; /* of the tls_source */
    gnutls_certificate_credentials_t credentials;
    bool asks; /* for client certificates */
};

static void served_unref(struct served *served)
{
    if (!served || atomic_fetch_sub(&served->references, 1) != 1)
        return;
    if (served->credentials)
        gnutls_certificate_free_credentials(served->credentials);
    mem_free(served);
}

static gnutls_datum_t datum(struct str s)
{
    return (gnutls_datum_t){ (unsigned char *)(uintptr_t)s.at, (unsigned)s.len };
}

/* GnuTLS' code, negative if it does not take them. */
static int fill(struct served *served, const struct tls_pair *pair, struct str client_cas)
{
    gnutls_datum_t chain = datum(pair->certificate_pem);
    gnutls_datum_t key = datum(pair->key_pem);
    gnutls_datum_t cas = datum(client_cas);
    int code = gnutls_certificate_allocate_credentials(&served->credentials);

    if (code >= 0)
        code = gnutls_certificate_set_x509_key_mem2(served->credentials, &chain, &key,
                                                    GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code >= 0 && client_cas.len)
        code =
            gnutls_certificate_set_x509_trust_mem(served->credentials, &cas, GNUTLS_X509_FMT_PEM);
    return code;
}

static struct served *parse(const struct tls_source *source, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct served *served = mem_new(struct served);
    struct tls_pair pair;
    struct str client_cas;

    atomic_init(&served->references, 1);
    served->generation = tls_source_pair(source, arena, &pair, &client_cas);
    served->asks = client_cas.len > 0;

    int code = fill(served, &pair, client_cas);

    if (code < 0) {
        error_set(err, ERROR_TLS, "certificate, key or client CAs cannot be served: %s",
                  gnutls_strerror(code));
        served_unref(served);
        return NULL;
    }
    return served;
}

/* The newest, with a reference. What GnuTLS does not take leaves the last one in place. */
static struct served *current(struct http_server *server)
{
    const struct tls_source *source = server->options.tls;

    pthread_mutex_lock(&server->served_lock);
    if (server->served->generation != tls_source_generation(source)) {
        struct error ignored;
        struct served *newer = parse(source, &ignored);

        if (newer) {
            served_unref(server->served);
            server->served = newer;
        }
    }

    struct served *served = server->served;

    atomic_fetch_add(&served->references, 1);
    pthread_mutex_unlock(&server->served_lock);
    return served;
}

/* libmicrohttpd does not begin without a certificate or somebody who has one. Each session gets
 * credentials of its own instead, so this is not called. */
static int has_none(gnutls_session_t session, const gnutls_datum_t *authorities,
                    int authority_count, const gnutls_pk_algorithm_t *algorithms,
                    int algorithm_count, gnutls_pcert_st **ret_chain, unsigned *ret_count,
                    gnutls_privkey_t *ret_key)
{
    (void)session, (void)authorities, (void)authority_count, (void)algorithms;
    (void)algorithm_count, (void)ret_chain, (void)ret_count, (void)ret_key;
    return -1;
}

struct MHD_OptionItem http_server_certificate_option(void)
{
    return (struct MHD_OptionItem){ MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
                                    (void *)(uintptr_t)has_none };
}

int http_server_tls_begin(struct http_server *server, struct error *err)
{
    pthread_mutex_init(&server->served_lock, NULL);
    server->served = server->options.tls ? parse(server->options.tls, err) : NULL;
    return server->options.tls && !server->served ? -1 : 0;
}

void http_server_tls_end(struct http_server *server)
{
    served_unref(server->served);
    pthread_mutex_destroy(&server->served_lock);
}

/* --- what the handshake is told, and tells --- */

enum {
    EXTENSION_GROUPS = 10, /* RFC 8446 section 4.2.7: supported_groups */
    GROUP_P256 = 0x0017,
    GROUP_P384 = 0x0018,
    GROUP_X25519 = 0x001d,
    VERSION_TLS12 = 0x0303, /* what TLS 1.3 says here, too: section 4.1.2 */
};

static unsigned two_bytes(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* Whether a list of groups, behind its two bytes of length, has one of ours. */
static int look_for_group(void *context, unsigned extension, const unsigned char *at, unsigned len)
{
    bool *has_none = context;
    bool found = false;

    if (extension != EXTENSION_GROUPS)
        return 0;
    for (unsigned i = 2; i + 1 < len && !found; i += 2) {
        unsigned group = two_bytes(at + i);

        found = group == GROUP_X25519 || group == GROUP_P256 || group == GROUP_P384;
    }
    *has_none = !found;
    return 0;
}

/* libmicrohttpd closes a connection whose handshake failed without a word. Clients that have no
 * version or no group of ours are told so by an alert instead, and cost no cryptography. */
static int check_hello(gnutls_session_t session, const gnutls_datum_t *hello)
{
    gnutls_alert_description_t alert = GNUTLS_A_HANDSHAKE_FAILURE;
    bool has_none = false;

    if (hello->size >= 2 && two_bytes(hello->data) < VERSION_TLS12) {
        alert = GNUTLS_A_PROTOCOL_VERSION;
        has_none = true;
    } else {
        /* One that cannot be parsed is GnuTLS' to reject. */
        (void)gnutls_ext_raw_parse(&has_none, look_for_group, hello,
                                   GNUTLS_EXT_RAW_FLAG_TLS_CLIENT_HELLO);
    }
    if (!has_none)
        return 0;
    (void)gnutls_alert_send(session, GNUTLS_AL_FATAL, alert);
    return alert == GNUTLS_A_PROTOCOL_VERSION ? GNUTLS_E_UNSUPPORTED_VERSION_PACKET
                                              : GNUTLS_E_NO_CIPHER_SUITES;
}

/* The client's Finished is its last word in a handshake (RFC 8446 section 4.4.4, RFC 5246 section
 * 7.4.9): from there on the connection is idle. */
static int on_handshake(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                        const gnutls_datum_t *message)
{
    struct connection *connection = gnutls_session_get_ptr(session);

    if (!incoming)
        return 0;
    if (type == GNUTLS_HANDSHAKE_CLIENT_HELLO && when == GNUTLS_HOOK_PRE)
        return check_hello(session, message);
    if (type == GNUTLS_HANDSHAKE_FINISHED && when == GNUTLS_HOOK_POST &&
        atomic_load(&connection->phase) == PHASE_HANDSHAKE)
        http_server_handshake_done(connection);
    return 0;
}

static gnutls_session_t session_of(struct connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);

    return info ? info->tls_session : NULL;
}

void http_server_tls_connection(struct connection *connection)
{
    gnutls_session_t session = session_of(connection);

    if (!session)
        return;
    /* libmicrohttpd itself needs the pointer for pre-shared keys only, which are not used. */
    gnutls_session_set_ptr(session, connection);
    connection->served = current(connection->server);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, connection->served->credentials);
    /* Not required: an HTTP answer tells the client more than a failed handshake. */
    if (connection->served->asks)
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_ANY, GNUTLS_HOOK_BOTH,
                                       on_handshake);
}

void http_server_tls_release(struct connection *connection)
{
    served_unref(connection->served);
    mem_free(connection->client_name);
    mem_free(connection->client_groups);
}

static bool is_verified(gnutls_session_t session)
{
    gnutls_typed_vdata_st purpose = { GNUTLS_DT_KEY_PURPOSE_OID,
                                      (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT, 0 };
    unsigned faults = 0;

    return gnutls_certificate_verify_peers(session, &purpose, 1, &faults) == 0 && faults == 0;
}

/* The `index`th value of a name's part; false if there is none, or one that could pass for
 * several. */
static bool name_part(gnutls_x509_crt_t certificate, const char *oid, unsigned index,
                      struct strbuf *out)
{
    char text[NAME_BYTES_MAX];
    size_t len = sizeof(text);

    if (gnutls_x509_crt_get_dn_by_oid(certificate, oid, index, 0, text, &len) < 0)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    if (out->len)
        strbuf_char(out, '\n');
    strbuf_put(out, str_make(text, len));
    return true;
}

static void read_names(struct connection *connection, gnutls_x509_crt_t certificate)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf name = strbuf_new(arena, 64);
    struct strbuf groups = strbuf_new(arena, 64);

    if (!name_part(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, &name))
        return;
    for (unsigned i = 0; i < GROUPS_MAX; i++)
        if (!name_part(certificate, GNUTLS_OID_X520_ORGANIZATION_NAME, i, &groups))
            break;
    connection->client_name = mem_copy(name.at, name.len);
    connection->client_groups = mem_copy(groups.at, groups.len);
}

static enum identity identify(struct connection *connection)
{
    gnutls_session_t session = session_of(connection);
    unsigned count = 0;
    const gnutls_datum_t *chain = session ? gnutls_certificate_get_peers(session, &count) : NULL;
    gnutls_x509_crt_t certificate = NULL;

    if (!chain || count == 0)
        return IDENTITY_NONE;
    if (!is_verified(session) || gnutls_x509_crt_init(&certificate) < 0)
        return IDENTITY_REJECTED;
    if (gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER) >= 0)
        read_names(connection, certificate);
    gnutls_x509_crt_deinit(certificate);
    return IDENTITY_VERIFIED;
}

enum identity http_server_tls_identity(struct connection *connection)
{
    if (connection->identity == IDENTITY_UNREAD)
        connection->identity = identify(connection);
    return connection->identity;
}

bool http_server_tls_asks(const struct connection *connection)
{
    return connection->served && connection->served->asks;
}
