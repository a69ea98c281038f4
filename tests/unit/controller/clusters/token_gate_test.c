/* SPDX-License-Identifier: Apache-2.0 */
/* token_gate_test.c: a token that is rejected is tried three times, and then another one. */
#include "support/rows.h"

#include "controller/clusters/token_gate.h"

#define S *1000

static void a_token_is_given_up_after_three_rejections(void **state)
{
    /* Logins: R rejected, A accepted; with token 1 or 2, at a second. Then the token in the file. */
    static const struct {
        const char *name;
        const char *logins;
        uint64_t token;
        int64_t now_ms;
        bool open, closed;
        int64_t wait_ms;
    } rows[] = {
        { "none was rejected", "", 1, 0, true, false, 0 },
        { "one that was is tried again later", "R1@0", 1, 10 S, false, false, 20 S },
        { "then", "R1@0", 1, 30 S, false, false, 0 },
        { "another one at once", "R1@0", 2, 1 S, false, false, 0 },
        { "two rejections are not three", "R1@0 R1@30", 1, 31 S, false, false, 29 S },
        { "three are the end", "R1@0 R1@30 R1@60", 1, 900 S, false, true, -1 },
        { "of that token", "R1@0 R1@30 R1@60", 2, 61 S, false, false, 0 },
        { "which is counted anew", "R1@0 R1@30 R1@60 R2@61", 2, 61 S, false, false, 30 S },
        { "also if it comes back", "R1@0 R1@30 R2@31", 1, 32 S, false, false, 0 },
        { "rejections that are far apart do not add up", "R1@0 R1@100 R1@200", 1, 200 S, false,
          false, 30 S },
        { "a login that works ends it", "R1@0 R1@30 A1@60", 1, 60 S, true, false, 0 },
        { "and the count", "R1@0 R1@30 A1@60 R1@61", 1, 61 S, false, false, 30 S },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct token_gate gate = { 0 };
        struct str rest = str_of(rows[i].logins);
        struct str login;

        while (str_split(&rest, ' ', &login)) {
            uint64_t seconds = 0;

            if (login.len < 4)
                continue;
            (void)str_to_u64(str_slice(login, 3, login.len), &seconds);
            if (login.at[0] == 'A')
                token_gate_accepted(&gate);
            else
                token_gate_rejected(&gate, (uint64_t)(login.at[1] - '0'), (int64_t)seconds S);
        }
        rows_expect_int(rows[i].name, token_gate_is_open(&gate), rows[i].open);
        rows_expect_int(rows[i].name, token_gate_is_closed(&gate, rows[i].token), rows[i].closed);
        rows_expect_int(rows[i].name,
                        token_gate_wait_ms(&gate, rows[i].token, rows[i].now_ms), rows[i].wait_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_given_up_after_three_rejections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
