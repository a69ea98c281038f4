/* SPDX-License-Identifier: Apache-2.0 */
/* tls_internal.h: what the files of tls share. OpenSSL's types stop here. */
#ifndef HERD_IO_TLS_INTERNAL_H
#define HERD_IO_TLS_INTERNAL_H

#include "io/tls.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

AUTO_DEFINE(X509_free, X509 *)
AUTO_DEFINE(EVP_PKEY_free, EVP_PKEY *)

/* The first certificate of a PEM text, or NULL and what is wrong. */
X509 *tls_parse_certificate(struct str pem, struct error *err);
/* A private key without a password, or NULL and what is wrong. */
EVP_PKEY *tls_parse_key(struct str pem, struct error *err);
struct tls_facts tls_facts_of(struct arena *arena, X509 *certificate);
int64_t tls_time_ms(const ASN1_TIME *time);
/* "context: OpenSSL's newest reason"; empties OpenSSL's list of errors. Always -1. */
int tls_failed(struct error *err, const char *context);

#endif
