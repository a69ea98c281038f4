/* SPDX-License-Identifier: Apache-2.0 */
/* credentials.h: what Herd logs in to a cluster's NeuVector with: a folder in which a Secret is
 * mounted, read again when it changes.
 *
 * Entries are `api-key` (NAME:SECRET), or `username` and `password`. An entry with the cluster's id
 * before it, such as `c-m-gpu01.api-key`, goes before all that are for every cluster. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_CREDENTIALS_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_CREDENTIALS_H

#include "base/cleanup.h"
#include "base/error.h"

struct credentials;

/* -1: that cannot be the folder, and why; "" is none, and no error. Entries may come later. */
int credentials_check(const char *folder, struct error *err);

/* `folder` "" = there is none. */
struct credentials *credentials_create(const char *folder, struct str cluster_id);
void credentials_free(struct credentials *credentials);
AUTO_DEFINE(credentials_free, struct credentials *)

struct credential {
    struct str api_key; /* "" = these two: */
    struct str username;
    struct str password;
};

/* As they are now; borrowed until the next call. -1: what is missing or wrong, and how to fix it.
 */
int credentials_read(struct credentials *credentials, struct credential *ret_credential,
                     struct error *err);

#endif
