/* SPDX-License-Identifier: Apache-2.0 */
/* repo_host.c: names and ranges of addresses, and the forms in which addresses are written.
 *
 * IPv4 as inet_aton(3) takes it, which curl, glibc and musl follow: one to four numbers, each
 * decimal, octal behind 0 or hexadecimal behind 0x, the last of which fills what bytes are left. */
#include "stack/model/repo_host.h"

#include <arpa/inet.h>

#define LOOPBACK "a loopback address"
#define LINK_LOCAL "a link-local address"
#define UNSPECIFIED "the unspecified address, which means the machine itself"
#define METADATA "the metadata service of a cloud"

enum { HOST_BYTES = 255 }; /* RFC 1035 section 2.3.4 */

/* --- tables --- */

static const struct {
    struct str name; /* "." first: and all below it */
    const char *what;
} names[] = {
    { STR_INIT("localhost"), LOOPBACK }, /* RFC 6761 section 6.3 */
    { STR_INIT(".localhost"), LOOPBACK },
    { STR_INIT("localhost.localdomain"), LOOPBACK }, /* /etc/hosts of Red Hat */
    { STR_INIT("localhost4"), LOOPBACK },
    { STR_INIT("localhost4.localdomain4"), LOOPBACK },
    { STR_INIT("localhost6"), LOOPBACK },
    { STR_INIT("localhost6.localdomain6"), LOOPBACK },
    { STR_INIT("ip6-localhost"), LOOPBACK }, /* of Debian */
    { STR_INIT("ip6-loopback"), LOOPBACK },
    { STR_INIT("metadata"), METADATA }, /* of Google, in its DNS */
    { STR_INIT("metadata.google.internal"), METADATA },
    { STR_INIT("metadata.goog"), METADATA },
    { STR_INIT("metadata.azure.internal"), METADATA },
    { STR_INIT("instance-data"), METADATA }, /* of AWS, in its DNS */
    { STR_INIT("instance-data.ec2.internal"), METADATA },
};

static const struct {
    uint32_t first;
    uint32_t bits;
    const char *what;
} ranges4[] = {
    { 0x7f000000, 8, LOOPBACK },    /* 127.0.0.0/8 */
    { 0xa9fea9fe, 32, METADATA },   /* 169.254.169.254 */
    { 0xa9fe0000, 16, LINK_LOCAL }, /* 169.254.0.0/16 */
    { 0x646464c8, 32, METADATA },   /* 100.100.100.200, Alibaba */
    { 0xa83f8110, 32, METADATA },   /* 168.63.129.16, Azure */
    { 0xc00000c0, 32, METADATA },   /* 192.0.0.192, Oracle */
    { 0x00000000, 8, UNSPECIFIED }, /* 0.0.0.0/8 */
};

static const struct {
    uint8_t first[16];
    uint32_t bits;
    const char *what; /* NULL: an IPv4 address stands in it, from byte `inner` on */
    uint32_t inner;
} ranges6[] = {
    { { 0 }, 128, UNSPECIFIED, 0 },                                             /* :: */
    { { [15] = 1 }, 128, LOOPBACK, 0 },                                         /* ::1 */
    { { 0xfe, 0x80 }, 10, LINK_LOCAL, 0 },                                      /* fe80::/10 */
    { { 0xfe, 0xc0 }, 10, LINK_LOCAL, 0 },                                      /* fec0::/10 */
    { { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54 }, 128, METADATA, 0 }, /* AWS */
    { { 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54 }, 128, METADATA, 0 }, /* Google */
    { { [10] = 0xff, [11] = 0xff }, 96, NULL, 12 },                             /* ::ffff:0:0/96 */
    { { 0 }, 96, NULL, 12 },                                                    /* ::/96 */
    { { 0x00, 0x64, 0xff, 0x9b }, 96, NULL, 12 },                               /* 64:ff9b::/96 */
    { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, NULL, 12 },                   /* RFC 8215 */
    { { [8] = 0xff, [9] = 0xff }, 96, NULL, 12 },                               /* RFC 2765: SIIT */
    { { 0x20, 0x02 }, 16, NULL, 2 },                                            /* 2002::/16 */
};

/* --- forms --- */

static int digit_of(char c, uint32_t base)
{
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;

    return digit < (int)base ? digit : -1;
}

static bool read_number(struct str text, uint64_t *ret_number)
{
    bool hex = str_starts(text, STR("0x"));
    uint32_t base = hex ? 16 : text.len > 1 && text.at[0] == '0' ? 8 : 10;
    uint64_t number = 0;

    if (text.len == 0)
        return false;
    for (size_t i = hex ? 2 : 0; i < text.len; i++) {
        int digit = digit_of(text.at[i], base);

        number = number * base + (uint64_t)(digit < 0 ? 0 : digit);
        if (digit < 0 || number > UINT32_MAX)
            return false;
    }
    *ret_number = number;
    return true;
}

/* `host` is in lower case. */
static bool read_ip4(struct str host, uint32_t *ret_address)
{
    uint64_t address = 0;
    uint64_t number;
    struct str part;

    for (uint32_t bytes = 4; bytes > 0 && host.at; bytes--) {
        bool last = str_find_char(host, '.', 0) < 0;

        if (!str_split(&host, '.', &part) || !read_number(part, &number) ||
            number >> (last ? 8 * bytes : 8))
            return false;
        address |= last ? number : number << (8 * (bytes - 1));
        if (last) {
            *ret_address = (uint32_t)address;
            return true;
        }
    }
    return false;
}

static bool read_ip6(struct str host, uint8_t ret_address[16])
{
    char text[INET6_ADDRSTRLEN + 1];
    ptrdiff_t zone = str_find_char(host, '%', 0);

    host = str_slice(host, 0, zone < 0 ? host.len : (size_t)zone);
    if (host.len == 0 || host.len >= sizeof(text))
        return false;
    memcpy(text, host.at, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET6, text, ret_address) == 1;
}

static struct str without_brackets(struct str host)
{
    bool bracketed = host.len > 1 && host.at[0] == '[' && host.at[host.len - 1] == ']';

    return bracketed ? str_slice(host, 1, host.len - 1) : host;
}

/* In lower case, without brackets and dots at the end; of what is too long for a host its end,
 * which tells a name below another and a number behind zeros. */
static struct str plain(struct str host, char to[HOST_BYTES])
{
    host = without_brackets(host);
    while (str_ends(host, STR(".")))
        host.len--;
    if (host.len > HOST_BYTES)
        host = str_slice(host, host.len - HOST_BYTES, host.len);
    for (size_t i = 0; i < host.len; i++)
        to[i] = host.at[i] >= 'A' && host.at[i] <= 'Z' ? (char)(host.at[i] + 32) : host.at[i];
    return str_make(to, host.len);
}

/* --- what a host is --- */

static const char *reserved4(uint32_t address)
{
    for (size_t i = 0; i < sizeof(ranges4) / sizeof(ranges4[0]); i++)
        if ((address ^ ranges4[i].first) >> (32 - ranges4[i].bits) == 0)
            return ranges4[i].what;
    return NULL;
}

static bool is_within(const uint8_t address[16], const uint8_t first[16], uint32_t bits)
{
    uint32_t bytes = bits / 8;

    return memcmp(address, first, bytes) == 0 &&
           (bits % 8 == 0 || (address[bytes] ^ first[bytes]) >> (8 - bits % 8) == 0);
}

static const char *reserved6(const uint8_t address[16])
{
    for (size_t i = 0; i < sizeof(ranges6) / sizeof(ranges6[0]); i++) {
        const uint8_t *inner = address + ranges6[i].inner;

        if (!is_within(address, ranges6[i].first, ranges6[i].bits))
            continue;
        return ranges6[i].what ? ranges6[i].what
                               : reserved4((uint32_t)inner[0] << 24 | (uint32_t)inner[1] << 16 |
                                           (uint32_t)inner[2] << 8 | inner[3]);
    }
    return NULL;
}

static const char *reserved_name(struct str host)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].name.at[0] == '.' ? str_ends(host, names[i].name)
                                       : str_eq(host, names[i].name))
            return names[i].what;
    return NULL;
}

const char *repo_host_reserved(struct str host)
{
    char text[HOST_BYTES];
    uint8_t address6[16];
    uint32_t address4;

    host = plain(host, text);
    if (read_ip4(host, &address4))
        return reserved4(address4);
    if (read_ip6(host, address6))
        return reserved6(address6);
    return reserved_name(host);
}

bool repo_host_is_ip6(struct str host)
{
    uint8_t address[16];

    return read_ip6(without_brackets(host), address);
}

/* --- those that are allowed --- */

bool repo_hosts_add(struct repo_hosts *hosts, struct str host)
{
    char text[HOST_BYTES];

    host = plain(host, text);
    if (host.len + 1 > sizeof(hosts->text) - hosts->len)
        return false;
    memcpy(hosts->text + hosts->len, host.at, host.len);
    hosts->len += (uint32_t)host.len;
    hosts->text[hosts->len++] = '\n';
    return true;
}

bool repo_hosts_have(const struct repo_hosts *hosts, struct str host)
{
    char text[HOST_BYTES];
    struct str rest = str_make(hosts ? hosts->text : "", hosts ? hosts->len : 0);
    struct str one;

    host = plain(host, text);
    while (host.len && str_split(&rest, '\n', &one))
        if (str_eq(one, host))
            return true;
    return false;
}
