/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c: RFC 6750 2.1 for the token, RFC 6454 7 for the Origin,
 * https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header for requests that have none, such as
 * those for an image. */
#include "controller/console/identity.h"

#include <strings.h>

enum { SHOWN_BYTES = 100 };

bool address_is_loopback(struct str address)
{
    return str_starts(address, STR("127.")) || str_eq(address, STR("::1"));
}

/* `host` without its port, and an IPv6 address without its brackets. */
static struct str without_port(struct str host)
{
    ptrdiff_t end =
        host.len && host.at[0] == '[' ? str_find_char(host, ']', 0) : str_find_char(host, ':', 0);

    if (end >= 0 && host.at[0] == '[')
        return str_slice(host, 1, (size_t)end);
    return end >= 0 ? str_slice(host, 0, (size_t)end) : host;
}

static bool is_this_machine(struct str host)
{
    struct str name = without_port(host);

    /* A name of others may begin as our network does. */
    for (size_t i = 0; i < name.len && str_starts(name, STR("127.")); i++)
        if (!strchr("0123456789.", name.at[i]))
            return false;
    return address_is_loopback(name) ||
           (name.len == 9 && strncasecmp(name.at, "localhost", name.len) == 0);
}

/* A page's origin is SCHEME://HOST; a page of ours has the Host that the request has. */
static bool is_own_origin(struct str origin, struct str host)
{
    struct str rest = str_starts(origin, STR("https://"))  ? str_slice(origin, 8, origin.len)
                      : str_starts(origin, STR("http://")) ? str_slice(origin, 7, origin.len)
                                                           : STR("");

    return rest.len && str_eq(rest, host);
}

static bool is_of_a_foreign_page(const struct identity_facts *facts)
{
    /* "none": somebody typed the address. */
    bool is_foreign = facts->sec_fetch_site.len &&
                      !str_eq(facts->sec_fetch_site, STR("same-origin")) &&
                      !str_eq(facts->sec_fetch_site, STR("none"));

    return is_foreign || (facts->origin.len && !is_own_origin(facts->origin, facts->host));
}

static int read_token(struct str authorization, struct str *ret_token, struct error *err)
{
    const size_t scheme = sizeof("Bearer ") - 1;
    struct str token = str_trim(str_slice(authorization, scheme, authorization.len));

    if (authorization.len <= scheme || strncasecmp(authorization.at, "Bearer ", scheme) != 0 ||
        token.len == 0)
        return error_set(err, ERROR_UNAUTHORIZED,
                         "the Authorization header is not \"Bearer TOKEN\"; send a token of the "
                         "API server, such as kubectl create token prints");
    *ret_token = token;
    return 0;
}

static int check_local(const struct identity_facts *facts, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (facts->forwarded.len || facts->x_forwarded_for.len)
        return error_set(err, ERROR_UNAUTHORIZED,
                         "a request that a proxy passed on needs a token: send the header "
                         "\"Authorization: Bearer TOKEN\"");
    if (!is_this_machine(facts->host))
        return error_set(err, ERROR_FORBIDDEN,
                         "without a token the Host must be localhost, and it is \"%.*s\"; use "
                         "http://localhost:PORT, or send the header \"Authorization: Bearer "
                         "TOKEN\"",
                         STR_ARG(str_shown(arena, facts->host, SHOWN_BYTES)));
    return 0;
}

int console_identify(const struct identity_facts *facts, bool anonymous_allowed,
                     struct str *ret_token, struct error *err)
{
    if (is_of_a_foreign_page(facts))
        return error_set(err, ERROR_FORBIDDEN,
                         "web pages of other origins are not answered (by the headers Origin and "
                         "Sec-Fetch-Site); use a program");
    if (facts->impersonate_user.len)
        return error_set(err, ERROR_BAD_REQUEST,
                         "Impersonate-User: the console does not impersonate; send the token of "
                         "the user, or use kubectl");
    if (facts->authorization.len)
        return read_token(facts->authorization, ret_token, err);
    if (!anonymous_allowed || !address_is_loopback(facts->peer))
        return error_set(err, ERROR_UNAUTHORIZED,
                         "no token was sent; send the header \"Authorization: Bearer TOKEN\" with "
                         "a token of the API server, such as kubectl create token prints");
    if (check_local(facts, err) < 0)
        return -1;
    *ret_token = STR("");
    return 0;
}
