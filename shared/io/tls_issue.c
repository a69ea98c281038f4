/* SPDX-License-Identifier: Apache-2.0 */
/* tls_issue.c: new certificates, as RFC 5280 wants them: P-256 keys, random serials, names only
 * where they are looked for. */
#include "io/tls_internal.h"

#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

enum {
    NAME_BYTES_MAX = 64, /* ub-common-name and ub-organization-name of RFC 5280 appendix A */
    DNS_BYTES_MAX = 253,
    SERIAL_BYTES = 16,
};

AUTO_DEFINE(BIO_free_all, BIO *)
AUTO_DEFINE(GENERAL_NAMES_free, GENERAL_NAMES *)
AUTO_DEFINE(BN_free, BIGNUM *)

static int set_serial(X509 *certificate, struct error *err)
{
    unsigned char bytes[SERIAL_BYTES];

    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return tls_failed(err, "no random numbers");
    /* Positive, and never shorter than 127 bits. */
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);

    AUTO(BN_free) BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);

    if (!number || !BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)))
        return tls_failed(err, "serial number");
    return 0;
}

static int add_name(X509_NAME *name, const char *field, struct str value, struct error *err)
{
    if (value.len > NAME_BYTES_MAX)
        return error_set(err, ERROR_INVALID, "%s of %zu bytes is too long for a certificate (%d)",
                         field, value.len, NAME_BYTES_MAX);
    if (value.len &&
        X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)value.at,
                                   (int)value.len, -1, 0) != 1)
        return tls_failed(err, field);
    return 0;
}

static bool is_dns_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '.' || c == '_' || (c == '*' && i == 0)))
            return false;
    }
    return name.len > 0 && name.len <= DNS_BYTES_MAX;
}

static int push_name(GENERAL_NAMES *names, int type, ASN1_STRING *value, struct error *err)
{
    GENERAL_NAME *name = GENERAL_NAME_new();

    if (!name || !value || !sk_GENERAL_NAME_push(names, name)) {
        GENERAL_NAME_free(name);
        ASN1_STRING_free(value);
        return tls_failed(err, "subject alternative name");
    }
    GENERAL_NAME_set0_value(name, type, value);
    return 0;
}

static int add_alternative_names(X509 *certificate, const struct tls_request *request,
                                 struct error *err)
{
    AUTO(GENERAL_NAMES_free) GENERAL_NAMES *names = GENERAL_NAMES_new();
    AUTO(arena_free) struct arena *arena = arena_create(0);

    for (uint32_t i = 0; i < request->dns_names.count; i++) {
        struct str name = request->dns_names.items[i];
        ASN1_IA5STRING *text = ASN1_IA5STRING_new();

        if (!is_dns_name(name)) {
            struct str shown = str_shown(arena, name, DNS_BYTES_MAX);

            ASN1_IA5STRING_free(text);
            return error_set(err, ERROR_INVALID, "\"%.*s\" is not a DNS name", STR_ARG(shown));
        }
        if (text)
            ASN1_STRING_set(text, name.at, (int)name.len);
        if (push_name(names, GEN_DNS, text, err) != 0)
            return -1;
    }
    for (uint32_t i = 0; i < request->addresses.count; i++) {
        struct str address = request->addresses.items[i];
        ASN1_OCTET_STRING *bytes = a2i_IPADDRESS(str_z(arena, address));

        if (!bytes) {
            struct str shown = str_shown(arena, address, DNS_BYTES_MAX);

            ERR_clear_error();
            return error_set(err, ERROR_INVALID, "\"%.*s\" is not a numeric address",
                             STR_ARG(shown));
        }
        if (push_name(names, GEN_IPADD, bytes, err) != 0)
            return -1;
    }
    if (sk_GENERAL_NAME_num(names) > 0 &&
        X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) != 1)
        return tls_failed(err, "subject alternative names");
    return 0;
}

static int add_extension(X509 *certificate, X509V3_CTX *context, int id, const char *value,
                         struct error *err)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, id, value);
    int added = extension && X509_add_ext(certificate, extension, -1) == 1;

    X509_EXTENSION_free(extension);
    return added ? 0 : tls_failed(err, OBJ_nid2sn(id));
}

static int add_extensions(X509 *certificate, X509 *issuer, const struct tls_request *request,
                          struct error *err)
{
    X509V3_CTX context;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    if (add_extension(certificate, &context, NID_basic_constraints,
                      request->is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE", err) != 0 ||
        add_extension(certificate, &context, NID_key_usage,
                      request->is_ca ? "critical,digitalSignature,keyCertSign,cRLSign"
                                     : "critical,digitalSignature",
                      err) != 0 ||
        add_extension(certificate, &context, NID_subject_key_identifier, "hash", err) != 0 ||
        add_extension(certificate, &context, NID_authority_key_identifier, "keyid:always", err) !=
            0)
        return -1;
    if (!request->is_ca &&
        add_extension(certificate, &context, NID_ext_key_usage,
                      request->for_client ? "clientAuth" : "serverAuth", err) != 0)
        return -1;
    return add_alternative_names(certificate, request, err);
}

/* Everything but the signature. */
static int fill(X509 *certificate, X509 *issuer, EVP_PKEY *key, const struct tls_request *request,
                struct error *err)
{
    X509_NAME *subject = X509_get_subject_name(certificate);

    if (request->not_after_ms <= request->not_before_ms)
        return error_set(err, ERROR_INVALID, "a certificate cannot end before it begins");
    X509_set_version(certificate, X509_VERSION_3);
    if (set_serial(certificate, err) != 0 ||
        add_name(subject, "O", request->organization, err) != 0 ||
        add_name(subject, "CN", request->common_name, err) != 0)
        return -1;
    if (!ASN1_TIME_set(X509_getm_notBefore(certificate), request->not_before_ms / 1000) ||
        !ASN1_TIME_set(X509_getm_notAfter(certificate), request->not_after_ms / 1000) ||
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) != 1 ||
        X509_set_pubkey(certificate, key) != 1)
        return tls_failed(err, "certificate");
    return add_extensions(certificate, issuer, request, err);
}

static struct str taken_from(BIO *bio, struct arena *arena)
{
    char *at = NULL;
    long len = BIO_get_mem_data(bio, &at);

    return str_dup(arena, str_make(at, len > 0 ? (size_t)len : 0));
}

static int write_pair(struct arena *arena, X509 *certificate, EVP_PKEY *key,
                      struct tls_pair *ret_pair, struct error *err)
{
    AUTO(BIO_free_all) BIO *first = BIO_new(BIO_s_mem());
    AUTO(BIO_free_all) BIO *second = BIO_new(BIO_s_secmem());

    if (!first || !second || PEM_write_bio_X509(first, certificate) != 1 ||
        PEM_write_bio_PKCS8PrivateKey(second, key, NULL, NULL, 0, NULL, NULL) != 1)
        return tls_failed(err, "cannot write the certificate");
    *ret_pair = (struct tls_pair){ taken_from(first, arena), taken_from(second, arena) };
    return 0;
}

int tls_issue(struct arena *arena, const struct tls_request *request, const struct tls_pair *issuer,
              struct tls_pair *ret_pair, struct error *err)
{
    AUTO(X509_free) X509 *issuer_certificate = NULL;
    AUTO(EVP_PKEY_free) EVP_PKEY *issuer_key = NULL;

    if (issuer) {
        if (tls_check_pair(issuer, err) != 0)
            return error_wrap(err, "issuer");
        issuer_certificate = tls_parse_certificate(issuer->certificate_pem, err);
        issuer_key = tls_parse_key(issuer->key_pem, err);
        if (!issuer_certificate || !issuer_key)
            return error_wrap(err, "issuer");
        if (X509_check_ca(issuer_certificate) == 0)
            return error_set(err, ERROR_INVALID, "the issuer's certificate is not one of a CA");
    }

    AUTO(EVP_PKEY_free) EVP_PKEY *key = EVP_EC_gen("P-256");
    AUTO(X509_free) X509 *certificate = X509_new();

    if (!key || !certificate)
        return tls_failed(err, "cannot make a key");
    if (fill(certificate, issuer ? issuer_certificate : certificate, key, request, err) != 0)
        return -1;
    if (X509_sign(certificate, issuer ? issuer_key : key, EVP_sha256()) == 0)
        return tls_failed(err, "cannot sign the certificate");
    return write_pair(arena, certificate, key, ret_pair, err);
}
