/* SPDX-License-Identifier: Apache-2.0 */
/* tls_trust.c: several certificates in one text, and which of them believes which. */
#include "io/tls_internal.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

enum { CHAIN_MAX = 10 };

AUTO_DEFINE(BIO_free_all, BIO *)
AUTO_DEFINE(X509_STORE_free, X509_STORE *)
AUTO_DEFINE(X509_STORE_CTX_free, X509_STORE_CTX *)

/* The next PEM block of `rest`, which is cut behind it. */
static bool next_block(struct str *rest, struct str *ret_block)
{
    const struct str begin = STR("-----BEGIN CERTIFICATE-----");
    const struct str end = STR("-----END CERTIFICATE-----");
    ptrdiff_t from = str_find(*rest, begin, 0);

    if (from < 0)
        return false;

    ptrdiff_t to = str_find(*rest, end, (size_t)from);

    if (to < 0)
        return false;
    *ret_block = str_slice(*rest, (size_t)from, (size_t)to + end.len);
    *rest = str_slice(*rest, (size_t)to + end.len, rest->len);
    return true;
}

static struct str written(struct arena *arena, X509 *certificate)
{
    AUTO(BIO_free_all) BIO *bio = BIO_new(BIO_s_mem());
    char *at = NULL;

    if (!bio || PEM_write_bio_X509(bio, certificate) != 1)
        return STR("");

    long len = BIO_get_mem_data(bio, &at);

    return str_dup(arena, str_make(at, len > 0 ? (size_t)len : 0));
}

struct tls_certificates tls_split(struct arena *arena, struct str pem, uint32_t most)
{
    struct tls_certificates list = tls_certificates_new(arena, 4);
    struct str block;

    while (list.count < most && next_block(&pem, &block)) {
        struct error ignored;
        AUTO(X509_free) X509 *certificate = tls_parse_certificate(block, &ignored);

        if (certificate)
            tls_certificates_push(&list,
                                  (struct tls_certificate){ written(arena, certificate),
                                                            tls_facts_of(arena, certificate) });
    }
    return list;
}

/* What stands behind the leaf. NULL when there is nothing. */
static STACK_OF(X509) * between(struct str chain)
{
    STACK_OF(X509) *certificates = NULL;
    struct str block;
    struct error ignored;

    (void)next_block(&chain, &block);
    while (sk_X509_num(certificates) < CHAIN_MAX && next_block(&chain, &block)) {
        X509 *certificate = tls_parse_certificate(block, &ignored);

        if (!certificate)
            continue;
        if (!certificates)
            certificates = sk_X509_new_null();
        if (!certificates || !sk_X509_push(certificates, certificate))
            X509_free(certificate);
    }
    return certificates;
}

bool tls_verifies(struct str chain, struct str ca)
{
    struct error ignored;
    AUTO(X509_free) X509 *leaf = tls_parse_certificate(chain, &ignored);
    AUTO(X509_free) X509 *root = tls_parse_certificate(ca, &ignored);
    AUTO(X509_STORE_free) X509_STORE *store = X509_STORE_new();
    AUTO(X509_STORE_CTX_free) X509_STORE_CTX *context = X509_STORE_CTX_new();

    if (!leaf || !root || !store || !context || X509_STORE_add_cert(store, root) != 1)
        return false;

    STACK_OF(X509) *others = between(chain);
    bool verified = false;

    /* As Go's clients: who stands in the bundle is believed, self-signed or not. */
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME);
    if (X509_STORE_CTX_init(context, store, leaf, others) == 1 &&
        X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER) == 1)
        verified = X509_verify_cert(context) == 1;
    sk_X509_pop_free(others, X509_free);
    ERR_clear_error();
    return verified;
}

bool tls_serves(struct arena *arena, struct str pem, const struct str_list *dns_names,
                const struct str_list *addresses)
{
    struct error ignored;
    AUTO(X509_free) X509 *certificate = tls_parse_certificate(pem, &ignored);
    bool serves = certificate != NULL;

    /* The subject's common name is nobody's name: RFC 6125, and Go. */
    for (uint32_t i = 0; serves && i < dns_names->count; i++)
        serves = X509_check_host(certificate, dns_names->items[i].at, dns_names->items[i].len,
                                 X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
    for (uint32_t i = 0; serves && i < addresses->count; i++)
        serves = X509_check_ip_asc(certificate, str_z(arena, addresses->items[i]), 0) == 1;
    ERR_clear_error();
    return serves;
}
