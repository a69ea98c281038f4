/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c: certificates and keys as facts. */
#include "io/tls_internal.h"

#include <limits.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

enum { SUBJECT_BYTES_MAX = 512 };

AUTO_DEFINE(BIO_free_all, BIO *)

int tls_failed(struct error *err, const char *context)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    ERR_clear_error();
    return error_set(err, ERROR_TLS, "%s: %s", context, reason ? reason : "not possible");
}

static BIO *open_text(struct str text)
{
    return text.len <= INT_MAX ? BIO_new_mem_buf(text.at, (int)text.len) : NULL;
}

X509 *tls_parse_certificate(struct str pem, struct error *err)
{
    AUTO(BIO_free_all) BIO *bio = pem.len ? open_text(pem) : NULL;
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

    ERR_clear_error();
    if (certificate)
        return certificate;
    if (pem.len == 0)
        error_set(err, ERROR_TLS, "is empty; a PEM certificate must stand there");
    else if (str_find(pem, STR("-----BEGIN CERTIFICATE-----"), 0) < 0)
        error_set(err, ERROR_TLS, "holds no PEM block \"BEGIN CERTIFICATE\"");
    else
        error_set(err, ERROR_TLS, "its PEM certificate is cut or garbled; write it anew");
    return NULL;
}

/* The default would ask on the terminal. */
static int no_password(char *buffer, int size, int writing, void *context)
{
    (void)buffer, (void)size, (void)writing;
    *(bool *)context = true;
    return -1;
}

EVP_PKEY *tls_parse_key(struct str pem, struct error *err)
{
    bool asked = false;
    AUTO(BIO_free_all) BIO *bio = pem.len ? open_text(pem) : NULL;
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, &asked) : NULL;

    ERR_clear_error();
    if (key)
        return key;
    if (pem.len == 0)
        error_set(err, ERROR_TLS, "is empty; a PEM private key must stand there");
    else if (asked)
        error_set(err, ERROR_TLS, "is locked by a password; give the key without one");
    else if (str_find(pem, STR("PRIVATE KEY-----"), 0) < 0)
        error_set(err, ERROR_TLS, "holds no PEM block \"BEGIN PRIVATE KEY\"");
    else
        error_set(err, ERROR_TLS, "its PEM key is cut or garbled; write it anew");
    return NULL;
}

int64_t tls_time_ms(const ASN1_TIME *time)
{
    struct tm parts;

    if (!ASN1_TIME_to_tm(time, &parts))
        return 0;
    return (int64_t)timegm(&parts) * 1000;
}

int tls_check_pair(const struct tls_pair *pair, struct error *err)
{
    AUTO(X509_free) X509 *certificate = tls_parse_certificate(pair->certificate_pem, err);

    if (!certificate)
        return error_wrap(err, "certificate");

    AUTO(EVP_PKEY_free) EVP_PKEY *key = tls_parse_key(pair->key_pem, err);

    if (!key)
        return error_wrap(err, "key");
    if (X509_check_private_key(certificate, key) != 1) {
        ERR_clear_error();
        return error_set(err, ERROR_TLS, "certificate and key do not belong together");
    }
    return 0;
}

static struct str serial_hex(struct arena *arena, const X509 *certificate)
{
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
    char *text = number ? BN_bn2hex(number) : NULL;
    struct str hex = str_dup(arena, str_of(text ? text : ""));

    for (size_t i = 0; i < hex.len; i++)
        if (hex.at[i] >= 'A' && hex.at[i] <= 'F')
            ((char *)(uintptr_t)hex.at)[i] = (char)(hex.at[i] - 'A' + 'a');
    OPENSSL_free(text);
    BN_free(number);
    return hex;
}

static struct str subject_text(struct arena *arena, const X509 *certificate)
{
    AUTO(BIO_free_all) BIO *bio = BIO_new(BIO_s_mem());
    char *at = NULL;

    if (!bio || X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) < 0)
        return STR("");

    long len = BIO_get_mem_data(bio, &at);

    return str_shown(arena, str_make(at, len > 0 ? (size_t)len : 0), SUBJECT_BYTES_MAX);
}

struct tls_facts tls_facts_of(struct arena *arena, X509 *certificate)
{
    return (struct tls_facts){
        .subject = subject_text(arena, certificate),
        .serial = serial_hex(arena, certificate),
        .not_before_ms = tls_time_ms(X509_get0_notBefore(certificate)),
        .not_after_ms = tls_time_ms(X509_get0_notAfter(certificate)),
        .is_ca = X509_check_ca(certificate) != 0,
    };
}

int tls_inspect(struct arena *arena, struct str pem, struct tls_facts *ret_facts, struct error *err)
{
    AUTO(X509_free) X509 *certificate = tls_parse_certificate(pem, err);

    if (!certificate)
        return -1;
    *ret_facts = tls_facts_of(arena, certificate);
    return 0;
}
