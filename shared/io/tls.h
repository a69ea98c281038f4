/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h: certificates: read, check, watch and issue them (OpenSSL); serve them (GnuTLS, which is
 * what libmicrohttpd's TLS is).
 *
 * A tls_source is the certificate a server shows. It follows two files (the kubelet swaps them
 * by a link), takes a new pair only when it is whole (parses, key and certificate match, not
 * expired), and otherwise keeps the last good one and says why. It follows a third file in the same
 * way, if there is one: the CAs whose clients the server believes. */
#ifndef HERD_IO_TLS_H
#define HERD_IO_TLS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "base/list.h"

struct tls_source;

/* -1/NULL with one line: which file, what is wrong with it, how to fix it. `client_ca_file` may be
 * NULL or "": clients are then not asked for certificates. */
struct tls_source *tls_source_create(const char *certificate_file, const char *key_file,
                                     const char *client_ca_file, struct error *err);
void tls_source_free(struct tls_source *source);
AUTO_DEFINE(tls_source_free, struct tls_source *)
/* Look at the files now. 1 if a new pair or new client CAs were taken, 0 if nothing changed, -1 and
 * why if what stands in one of the files cannot be taken; the others are taken all the same. From
 * any one thread; connections may be opened meanwhile. */
int tls_source_refresh(struct tls_source *source, struct error *err);
/* Of the pair in use: wall time in ms, and its serial in hex. */
int64_t tls_source_not_after_ms(const struct tls_source *source);
struct str tls_source_serial(const struct tls_source *source, struct arena *arena);

struct tls_pair {
    struct str certificate_pem; /* with its chain, leaf first */
    struct str key_pem;
};

/* For servers: a copy of the pair and the client CAs (PEM, "" = none) in use, and their number,
 * which grows with each change. Any thread. */
uint64_t tls_source_pair(const struct tls_source *source, struct arena *arena,
                         struct tls_pair *ret_pair, struct str *ret_client_cas);
/* That number alone, without a lock. */
uint64_t tls_source_generation(const struct tls_source *source);

struct tls_request {
    struct str common_name;
    struct str organization;   /* "" = none; Kubernetes reads groups from it */
    struct str_list dns_names; /* subject alternative names */
    struct str_list addresses; /* numeric */
    int64_t not_before_ms;     /* wall */
    int64_t not_after_ms;
    bool is_ca;
    bool for_client; /* extended key usage clientAuth, else serverAuth */
};

/* A new P-256 key and a certificate signed by `issuer`, or by itself if that is NULL. */
int tls_issue(struct arena *arena, const struct tls_request *request, const struct tls_pair *issuer,
              struct tls_pair *ret_pair, struct error *err);

struct tls_facts {
    struct str subject;
    struct str serial; /* hex */
    int64_t not_before_ms;
    int64_t not_after_ms;
    bool is_ca;
};

/* Of the first certificate in a PEM text. */
int tls_inspect(struct arena *arena, struct str pem, struct tls_facts *ret_facts,
                struct error *err);

struct tls_certificate {
    struct str pem; /* this one alone, as OpenSSL writes it: equal certificates have equal text */
    struct tls_facts facts;
};

LIST_DEFINE(tls_certificates, struct tls_certificate)

/* The certificates of a PEM text, in order, at most `most`; those that cannot
 * be read are left out. */
struct tls_certificates tls_split(struct arena *arena, struct str pem, uint32_t most);

/* Does a client that believes `ca` alone believe a server that shows `chain`, leaf first? Dates and
 * names do not count. */
bool tls_verifies(struct str chain, struct str ca);

/* Is the first certificate made out to all these names and addresses? */
bool tls_serves(struct arena *arena, struct str pem, const struct str_list *dns_names,
                const struct str_list *addresses);

/* Do the first certificate and the key belong together? -1: what is wrong with which of them. */
int tls_check_pair(const struct tls_pair *pair, struct error *err);

#endif
