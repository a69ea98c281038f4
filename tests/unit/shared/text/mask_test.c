/* SPDX-License-Identifier: Apache-2.0 */
/* mask_test.c: no secret in others' words, in whatever form it stands there. */
#include "support/rows.h"

#include "text/base64.h"
#include "text/limits.h"
#include "text/mask.h"

static void hides_each_form(void **state)
{
    static const struct {
        const char *name;
        const char *secrets; /* JSON */
        const char *text;
        const char *want;
    } rows[] = {
        { "words without secrets stay", "[\"hunter22\"]", "Error: no hunt", "Error: no hunt" },
        { "a string", "{\"a\":{\"b\":[\"hunter22\"]}}", "bad password hunter22!",
          "bad password [secret]!" },
        { "each time", "[\"hunter22\"]", "hunter22 hunter22", "[secret] [secret]" },
        { "a number", "{\"pin\":12345678}", "pin 12345678 is bad", "pin [secret] is bad" },
        { "no names of members", "{\"password\":true}", "password is bad", "password is bad" },
        { "no string of five bytes", "[\"short\"]", "short", "short" },
        { "one of six", "[\"six666\"]", "six666", "[secret]" },
        { "the longest counts", "[\"hunter22\",\"hunter22-more\"]", "hunter22-more",
          "[secret]" },
        { "those that overlap go together", "[\"abcdefgh\",\"efghijkl\"]", "xabcdefghijkly",
          "x[secret]y" },
        { "neighbours", "[\"abcdefgh\"]", "abcdefghabcdefgh", "[secret][secret]" },
        { "quoted as in JSON", "[\"pass\\\"word\\n1\"]", "got \"pass\\\"word\\n1\"",
          "got \"[secret]\"" },
        { "as it is shown", "[\"tab\\tbed-word\"]", "got tab\\x09bed-word", "got [secret]" },
        { "a line of many", "[\"-----BEGIN-----\\nMIIEow\\n\"]", "no key in MIIEow",
          "no key in [secret]" },
        { "spaces around do not matter", "[\" hunter22\\n\"]", "hunter22", "[secret]" },
        { "cut by dots", "[\"hunter22-and-more\"]", "bad hunter22-... (HTTP 500)",
          "bad [secret]... (HTTP 500)" },
        { "cut at the end", "[\"hunter22-and-more\"]", "bad hunter22-a", "bad [secret]" },
        { "cut to five bytes, nothing is told", "[\"hunter22-and-more\"]", "bad hunte...",
          "bad hunte..." },
        { "the beginning alone is none", "[\"hunter22-and-more\"]", "bad hunter22-a b",
          "bad hunter22-a b" },
        { "base64", "[\"hunter22\"]", "data: aHVudGVyMjI=", "data: [secret]I=" },
        { "base64 for URLs", "[\"~~~~~~~~~\"]", "data: fn5-fn5-fn5-", "data: [secret]" },
        { "nothing stays nothing", "[\"hunter22\"]", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct mask *mask = mask_new(arena);
        struct error err = { .code = ERROR_NONE };
        struct json root;

        assert_int_equal(json_read(arena, str_of(rows[i].secrets), &json_limits_default, &root,
                                   &err), 0);
        mask_add_json(mask, root);
        rows_expect_str(rows[i].name, mask_apply(mask, arena, str_of(rows[i].text)),
                        str_of(rows[i].want));
    }
}

/* Whatever stands before and behind a secret, its base64 tells no more than a byte of it. */
static void hides_what_base64_hides(void **state)
{
    static const struct str secret = STR_INIT("hunter22!");

    (void)state;
    for (size_t before = 0; before < 7; before++)
        for (size_t behind = 0; behind < 4; behind++) {
            AUTO(arena_free) struct arena *arena = arena_create(0);
            struct mask *mask = mask_new(arena);
            struct str whole = str_fmt(arena, "%.*s%.*s%.*s", (int)before, "user:xx",
                                       STR_ARG(secret), (int)behind, "@hos");
            struct str shown = mask_apply(mask, arena, base64_encode(arena, whole));

            mask_add(mask, secret);
            shown = mask_apply(mask, arena, base64_encode(arena, whole));
            rows_expect(str_fmt(arena, "%zu bytes before, %zu behind", before, behind).at,
                        str_find(shown, STR("[secret]"), 0) >= 0, shown.at);
        }
}

static void withholds_what_it_cannot_search(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct mask *mask = mask_new(arena);

    (void)state;
    rows_expect_str("without secrets all is shown", mask_apply(mask, arena, STR("words")),
                    STR("words"));
    for (int i = 0; i <= LIMIT_MASK_FORMS / 2; i++)
        mask_add(mask, str_fmt(arena, "%08d", i));
    rows_expect("beyond the bound nothing is",
                str_starts(mask_apply(mask, arena, STR("words")), STR("(not shown: ")), "words");
    rows_expect_str("and no words stay none", mask_apply(mask, arena, STR("")), STR(""));
    mask = mask_new(arena);
    mask_withhold(mask, STR("no"));
    mask_withhold(mask, STR("never"));
    rows_expect_str("the first cause stays", mask_apply(mask, arena, STR("words")), STR("no"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_each_form),
        cmocka_unit_test(hides_what_base64_hides),
        cmocka_unit_test(withholds_what_it_cannot_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
