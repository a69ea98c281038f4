/* SPDX-License-Identifier: Apache-2.0 */
/* handshake_rate.c: a list of addresses, looked through from its beginning: 1,024 entries take a
 * microsecond, and the cheapest handshake a thousand. */
#include "io/handshake_rate.h"

#include "base/memory.h"

#include <netinet/in.h>
#include <string.h>

enum { SECOND_MS = 1000 };

/* Before the four bytes of an IPv4 address. No IPv6 network has these numbers: 0000::/8 is reserved
 * (RFC 4291 section 2.4). */
static const uint64_t four = UINT64_C(0xffff) << 32;

struct entry {
    uint64_t key;
    int64_t begun_ms; /* of the address's second */
    uint32_t count;   /* within it */
};

struct handshake_rate {
    uint32_t per_second;
    uint32_t addresses_max;
    uint32_t used; /* entries that were ever in use; they are taken over once their second ended */
    struct entry entries[];
};

struct handshake_rate *handshake_rate_create(uint32_t per_second, uint32_t addresses_max)
{
    struct handshake_rate *rate =
        mem_alloc(sizeof(*rate) + addresses_max * sizeof(rate->entries[0]));

    rate->per_second = per_second;
    rate->addresses_max = addresses_max;
    return rate;
}

void handshake_rate_free(struct handshake_rate *rate)
{
    mem_free(rate);
}

static uint64_t number(const uint8_t *at, size_t len)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < len; i++)
        sum = sum << 8 | at[i];
    return sum;
}

uint64_t handshake_rate_key(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, address, sizeof(in));
        return four | ntohl(in.sin_addr.s_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;

        memcpy(&in, address, sizeof(in));
        if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr))
            return four | number(&in.sin6_addr.s6_addr[12], 4);
        return number(in.sin6_addr.s6_addr, 8);
    }
    return 0;
}

/* The address's own entry, else one that is free, else NULL. */
static struct entry *find_entry(struct handshake_rate *rate, uint64_t key, int64_t now_ms)
{
    struct entry *ended = NULL;

    for (uint32_t i = 0; i < rate->used; i++) {
        struct entry *entry = &rate->entries[i];

        if (entry->key == key)
            return entry;
        if (!ended && now_ms - entry->begun_ms >= SECOND_MS)
            ended = entry;
    }
    if (!ended && rate->used < rate->addresses_max)
        ended = &rate->entries[rate->used++];
    if (ended)
        *ended = (struct entry){ .key = key, .begun_ms = now_ms };
    return ended;
}

bool handshake_rate_allows(struct handshake_rate *rate, uint64_t key, int64_t now_ms)
{
    struct entry *entry = find_entry(rate, key, now_ms);

    if (!entry)
        return true;
    if (now_ms - entry->begun_ms >= SECOND_MS)
        *entry = (struct entry){ .key = key, .begun_ms = now_ms };
    if (entry->count >= rate->per_second)
        return false;
    entry->count++;
    return true;
}
