/* SPDX-License-Identifier: Apache-2.0 */
/* credentials.h: the lab's own certificate authority, what it issued, and the administrator's
 * token.
 *
 * Made at the first start and kept in the data folder: ca.crt, ca.key, tls.crt, tls.key,
 * admin.crt, admin.key, admin.token, accounts.key. The server's pair is issued anew at each start,
 * so that it always carries the addresses that are listened on. */
#ifndef HERD_LAB_CREDENTIALS_H
#define HERD_LAB_CREDENTIALS_H

#include "base/clock.h"
#include "io/tls.h"

struct credentials {
    struct str ca_pem;
    struct tls_pair admin;
    struct str token;
    struct str accounts_key; /* signs tokens of ServiceAccounts */
    const char *ca_file;
    const char *certificate_file; /* of the server */
    const char *key_file;
};

/* `hosts`: names and numeric addresses beside those of loopback. Everything lives in the arena. */
int credentials_open(struct arena *arena, const char *folder, const struct clock *clock,
                     const struct str_list *hosts, struct credentials *ret_credentials,
                     struct error *err);

/* A kubeconfig for the administrator: by token, and in a second context by client certificate. */
int credentials_write_kubeconfig(struct arena *arena, const struct credentials *credentials,
                                 struct str server, const char *file, struct error *err);

#endif
