/* SPDX-License-Identifier: Apache-2.0 */
/* token_test.c: a token says whose it is, and stops saying so when it is changed or old. */
#include "support/rows.h"

#include "lab/apiserver/token.h"

/* Made with Python's hmac module from the same claims. */
static const char *const known_token =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOltdLCJleHAiOjAsImlhdCI6MCwiaXNzIjoiaHR0cHM"
    "6Ly9rdWJlcm5ldGVzLmRlZmF1bHQuc3ZjIiwianRpIjoiaSIsImt1YmVybmV0ZXMuaW8iOnsibmFtZXNwYWNlIjo"
    "ibiIsInNlcnZpY2VhY2NvdW50Ijp7Im5hbWUiOiJtIiwidWlkIjoidSJ9fSwibmJmIjowLCJzdWIiOiJzeXN0ZW0"
    "6c2VydmljZWFjY291bnQ6bjptIn0.Tg4_Jkn4K8JAbiRBxZ9Jamp5ciY1ewpyoSQpoZw5agk";

static void expect_text(const char *sentence, struct str got, const char *want)
{
    rows_expect_str(sentence, got, str_of(want));
}

static struct token_claims claims_of(struct arena *arena)
{
    struct token_claims claims = { .namespace_ = STR("a"),
                                   .name = STR("bot"),
                                   .uid = STR("u-1"),
                                   .id = STR("t-1"),
                                   .audiences = str_list_new(arena, 2),
                                   .issued_s = 1000,
                                   .expires_s = 1600,
                                   .bound_kind = STR("Secret"),
                                   .bound_name = STR("s"),
                                   .bound_uid = STR("u-2") };

    str_list_push(&claims.audiences, STR("x"));
    str_list_push(&claims.audiences, STR("y"));
    return claims;
}

static void test_round_trip(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct token_claims claims = claims_of(arena), got;
    struct str token = token_write(arena, STR("key"), &claims);
    struct error err;

    (void)state;
    assert_int_equal(token_read(arena, STR("key"), token, 1599, &got, &err), 0);
    expect_text("namespace", got.namespace_, "a");
    expect_text("name", got.name, "bot");
    expect_text("uid", got.uid, "u-1");
    expect_text("id", got.id, "t-1");
    expect_text("audience", got.audiences.items[1], "y");
    expect_text("bound kind", got.bound_kind, "Secret");
    expect_text("bound name", got.bound_name, "s");
    expect_text("bound uid", got.bound_uid, "u-2");
    rows_expect_int("issued", got.issued_s, 1000);
    rows_expect_int("expires", got.expires_s, 1600);
}

static void test_known(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct token_claims claims = { .namespace_ = STR("n"), .name = STR("m"), .uid = STR("u"),
                                   .id = STR("i"), .audiences = str_list_new(arena, 0) };

    (void)state;
    expect_text("signature", token_write(arena, STR("secret"), &claims), known_token);
}

static void test_rejected(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct token_claims claims = claims_of(arena), got;
    struct str token = token_write(arena, STR("key"), &claims);
    struct error err;

    (void)state;
    assert_int_equal(token_read(arena, STR("key"), token, 1600, &got, &err), -1);
    expect_text("old", str_of(err.text),
                    "[invalid bearer token, service account token has expired]");
    assert_int_equal(token_read(arena, STR("other"), token, 1000, &got, &err), -1);
    assert_int_equal(token_read(arena, STR(""), token_write(arena, STR(""), &claims), 1000, &got,
                                &err),
                     -1);
    /* Any one character changed, and any end cut off. */
    for (size_t i = 0; i < token.len; i++) {
        struct strbuf changed = strbuf_new(arena, token.len);

        strbuf_put(&changed, token);
        changed.at[i] = changed.at[i] == 'A' ? 'B' : 'A';
        /* The last character carries two bits that mean nothing. */
        if (i + 1 < token.len &&
            token_read(arena, STR("key"), strbuf_str(&changed), 1000, &got, &err) == 0)
            fail_msg("accepted with character %zu changed", i);
        if (token_read(arena, STR("key"), str_slice(token, 0, i), 1000, &got, &err) == 0)
            fail_msg("accepted when cut at %zu", i);
    }
    assert_int_equal(token_read(arena, STR("key"), STR("e30.e30."), 1000, &got, &err), -1);
    assert_int_equal(token_read(arena, STR("key"), STR("x"), 1000, &got, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
