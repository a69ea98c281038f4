/* SPDX-License-Identifier: Apache-2.0 */
/* repo_host.h: hosts that no chart repository should be on.
 *
 * The cluster that installs a chart downloads it, so an address that each machine takes for itself,
 * or that its cloud answers with the machine's credentials, is a way to what the author of a Stack
 * cannot reach. Pure: of a name that DNS leads there nothing is known here. */
#ifndef HERD_STACK_REPO_HOST_H
#define HERD_STACK_REPO_HOST_H

#include "base/str.h"
#include "stack/model/limits.h"

/* NULL of an ordinary host; else what it is, as a constant that follows "is". `host` is a name or
 * an address in any form that resolvers take, an IPv6 address in brackets or not. */
const char *repo_host_reserved(struct str host);

/* Of "[" that is closed: an IPv6 address, perhaps with a zone. */
bool repo_host_is_ip6(struct str host);

/* Hosts that are allowed all the same. A value; zeroed, it is empty. */
struct repo_hosts {
    uint32_t len;
    char text[LIMIT_REPO_HOSTS]; /* each with a line end behind it */
};

/* False: it does not fit. */
bool repo_hosts_add(struct repo_hosts *hosts, struct str host);
/* As written, but that case, brackets and a dot at the end do not count. NULL: none is. */
bool repo_hosts_have(const struct repo_hosts *hosts, struct str host);

#endif
