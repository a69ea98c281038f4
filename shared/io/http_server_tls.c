/* http_server_tls.c: the certificate of each handshake, and the client's.
 *
 * libmicrohttpd's TLS is GnuTLS. It asks for the certificate at each handshake; the answer is an
 * immutable `served` pair that lives until the last connection that was shown it has gone, so a
 * new pair in the tls_source needs no pause and no lock in the handshake beyond taking a
 * reference. */
#include "io/http_server_internal.h"

#include "base/memory.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

enum {
    CHAIN_MAX = 16,
    NAME_BYTES_MAX = 1024,
    GROUPS_MAX = 64,
};

/* TLS 1.2 and 1.3, forward secrecy and authenticated encryption only. */
const char http_server_priorities[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"
    "+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305";

struct served {
    atomic_uint references;
    uint64_t generation; /* of the tls_source */
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned count;
    gnutls_privkey_t key;
};

static void served_unref(struct served *served)
{
    if (!served || atomic_fetch_sub(&served->references, 1) != 1)
        return;
    for (unsigned i = 0; i < served->count; i++)
        gnutls_pcert_deinit(&served->chain[i]);
    if (served->key)
        gnutls_privkey_deinit(served->key);
    mem_free(served);
}

static gnutls_datum_t datum(struct str s)
{
    return (gnutls_datum_t){ (unsigned char *)(uintptr_t)s.at, (unsigned)s.len };
}

static struct served *parse(const struct tls_source *source, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct served *served = mem_new(struct served);
    struct tls_pair pair;

    atomic_init(&served->references, 1);
    served->generation = tls_source_pair(source, arena, &pair);
    served->count = CHAIN_MAX;

    gnutls_datum_t chain = datum(pair.certificate_pem);
    gnutls_datum_t key = datum(pair.key_pem);
    int code = gnutls_pcert_list_import_x509_raw(served->chain, &served->count, &chain,
                                                 GNUTLS_X509_FMT_PEM, 0);

    if (code < 0)
        served->count = 0;
    else
        code = gnutls_privkey_init(&served->key);
    if (code >= 0)
        code = gnutls_privkey_import_x509_raw(served->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code < 0) {
        error_set(err, ERROR_TLS, "certificate or key cannot be served: %s", gnutls_strerror(code));
        served_unref(served);
        return NULL;
    }
    return served;
}

/* The newest pair, with a reference. What GnuTLS does not take leaves the last one in place. */
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

static int on_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                          int authority_count, const gnutls_pk_algorithm_t *algorithms,
                          int algorithm_count, gnutls_pcert_st **ret_chain, unsigned *ret_count,
                          gnutls_privkey_t *ret_key)
{
    struct connection *connection = gnutls_session_get_ptr(session);

    (void)authorities, (void)authority_count, (void)algorithms, (void)algorithm_count;
    /* TLS 1.2 asks more than once in one handshake. */
    if (!connection->served)
        connection->served = current(connection->server);
    *ret_chain = connection->served->chain;
    *ret_count = connection->served->count;
    *ret_key = connection->served->key;
    return 0;
}

struct MHD_OptionItem http_server_certificate_option(void)
{
    return (struct MHD_OptionItem){ MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
                                    (void *)(uintptr_t)on_certificate };
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

/* The client's Finished is its last word in a handshake (RFC 8446 section 4.4.4, RFC 5246 section
 * 7.4.9): from there on the connection is idle. */
static int on_handshake(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                        const gnutls_datum_t *message)
{
    struct connection *connection = gnutls_session_get_ptr(session);

    (void)type, (void)when, (void)message;
    if (incoming && atomic_load(&connection->phase) == PHASE_HANDSHAKE)
        http_server_phase(connection, PHASE_IDLE);
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
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST,
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

void http_server_tls_identify(struct connection *connection)
{
    gnutls_session_t session = session_of(connection);
    unsigned count = 0;
    const gnutls_datum_t *chain = session ? gnutls_certificate_get_peers(session, &count) : NULL;
    gnutls_x509_crt_t certificate = NULL;

    connection->identity_known = true;
    if (!chain || count == 0)
        return;
    if (!is_verified(session) || gnutls_x509_crt_init(&certificate) < 0) {
        connection->identity_refused = true;
        return;
    }
    if (gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER) >= 0)
        read_names(connection, certificate);
    gnutls_x509_crt_deinit(certificate);
}
