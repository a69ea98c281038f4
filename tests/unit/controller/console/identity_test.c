/* SPDX-License-Identifier: Apache-2.0 */
/* identity_test.c: who calls the console. */
#include "support/rows.h"

#include "controller/console/identity.h"

static const struct {
    const char *row;
    const char *peer, *authorization, *host, *origin, *forwarded, *x_forwarded_for, *impersonate_user;
    bool anonymous_allowed;
    int code;          /* ERROR_NONE: this is who it is */
    const char *token; /* "" = the controller */
    const char *sec_fetch_site;
} calls[] = {
    { "a token", "10.0.0.1", "Bearer abc", "herd", "", "", "", "", false, ERROR_NONE, "abc", "" },
    { "the scheme in another case", "10.0.0.1", "bearer  abc ", "herd", "", "", "", "", false, ERROR_NONE, "abc", "" },
    { "a token counts before this machine does", "127.0.0.1", "Bearer abc", "localhost", "", "", "", "", true, ERROR_NONE, "abc", "" },
    { "no token", "127.0.0.1", "", "localhost", "", "", "", "", false, ERROR_UNAUTHORIZED, "", "" },
    { "a password", "127.0.0.1", "Basic abc", "localhost", "", "", "", "", true, ERROR_UNAUTHORIZED, "", "" },
    { "an empty token", "127.0.0.1", "Bearer  ", "localhost", "", "", "", "", true, ERROR_UNAUTHORIZED, "", "" },
    { "this machine", "127.0.0.1", "", "localhost:3000", "", "", "", "", true, ERROR_NONE, "", "" },
    { "by address", "127.0.0.2", "", "127.0.0.1:3000", "", "", "", "", true, ERROR_NONE, "", "" },
    { "over IPv6", "::1", "", "[::1]:3000", "", "", "", "", true, ERROR_NONE, "", "" },
    { "another machine", "10.0.0.1", "", "localhost:3000", "", "", "", "", true, ERROR_UNAUTHORIZED, "", "" },
    { "led here by a foreign name", "127.0.0.1", "", "evil.example:3000", "", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "a name that begins as ours", "127.0.0.1", "", "localhost.evil.example", "", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "a name that begins as our address", "127.0.0.1", "", "10.127.0.0.1", "", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "a name that begins with our network", "127.0.0.1", "", "127.0.0.1.evil.example", "", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "no Host", "127.0.0.1", "", "", "", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "through a proxy here", "127.0.0.1", "", "localhost", "", "for=1.2.3.4", "", "", true, ERROR_UNAUTHORIZED, "", "" },
    { "and one of the older kind", "127.0.0.1", "", "localhost", "", "", "1.2.3.4", "", true, ERROR_UNAUTHORIZED, "", "" },
    { "a page of another origin", "127.0.0.1", "", "localhost:3000", "https://evil.example", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "a page without one", "127.0.0.1", "", "localhost:3000", "null", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "a page of another port", "127.0.0.1", "", "localhost:3000", "http://localhost:8080", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "with a token, too", "127.0.0.1", "Bearer abc", "localhost:3000", "https://evil.example", "", "", "", true, ERROR_FORBIDDEN, "", "" },
    { "its own page", "127.0.0.1", "", "localhost:3000", "http://localhost:3000", "", "", "", true, ERROR_NONE, "", "" },
    { "an image in a page of others", "127.0.0.1", "", "localhost:3000", "", "", "", "", true, ERROR_FORBIDDEN, "", "cross-site" },
    { "in a page of another port", "127.0.0.1", "", "localhost:3000", "", "", "", "", true, ERROR_FORBIDDEN, "", "same-site" },
    { "an address that somebody typed", "127.0.0.1", "", "localhost:3000", "", "", "", "", true, ERROR_NONE, "", "none" },
    { "an image in its own page", "127.0.0.1", "", "localhost:3000", "", "", "", "", true, ERROR_NONE, "", "same-origin" },
    { "impersonation", "10.0.0.1", "Bearer abc", "herd", "", "", "", "ann", false, ERROR_BAD_REQUEST, "", "" },
};

static void a_caller_is_a_token_or_this_machine(void **state)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const struct identity_facts facts = {
            .peer = str_of(calls[i].peer),
            .authorization = str_of(calls[i].authorization),
            .host = str_of(calls[i].host),
            .origin = str_of(calls[i].origin),
            .sec_fetch_site = str_of(calls[i].sec_fetch_site),
            .forwarded = str_of(calls[i].forwarded),
            .x_forwarded_for = str_of(calls[i].x_forwarded_for),
            .impersonate_user = str_of(calls[i].impersonate_user),
        };
        struct error err = { .code = ERROR_NONE };
        struct str token = STR("untouched");
        int failed = console_identify(&facts, calls[i].anonymous_allowed, &token, &err);

        rows_expect_int(calls[i].row, err.code, calls[i].code);
        rows_expect_str(calls[i].row, token, failed ? STR("untouched") : str_of(calls[i].token));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_caller_is_a_token_or_this_machine) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
