/* SPDX-License-Identifier: Apache-2.0 */
/* handshake_rate.h: how many TLS handshakes one client address may begin in a second.
 *
 * Each address has a count and a second of its own, so no address uses up what another may do. An
 * IPv6 client can take any address of its /64 network: all of them count as one. Pure: the caller
 * passes the time, and a lock where several threads use one table. */
#ifndef HERD_IO_HANDSHAKE_RATE_H
#define HERD_IO_HANDSHAKE_RATE_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct handshake_rate;

/* At most `per_second` for each address, counted for at most `addresses_max` addresses at a time.
 * Of more addresses than that within one second, the last ones are not counted: whoever has so
 * many could do `per_second` with each anyway, and nobody else is to suffer from it. */
struct handshake_rate *handshake_rate_create(uint32_t per_second, uint32_t addresses_max);
void handshake_rate_free(struct handshake_rate *rate);
AUTO_DEFINE(handshake_rate_free, struct handshake_rate *)

/* The number under which an address counts: the /64 network of an IPv6 address; an IPv4 address as
 * a whole, however it is written. Other families count as one. */
uint64_t handshake_rate_key(const struct sockaddr *address);

/* One more handshake of `key`, at a time that never goes back. False if it is over the limit, and
 * then it is not counted. At most one step for each address. */
bool handshake_rate_allows(struct handshake_rate *rate, uint64_t key, int64_t now_ms);

#endif
