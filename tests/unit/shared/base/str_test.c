/* SPDX-License-Identifier: Apache-2.0 */
/* str_test.c: views, distance, what is shown of foreign text, buffers. */
#include "support/rows.h"

static void views_compare_search_and_slice(void **state)
{
    struct str rest = STR("a,,b,");
    struct str part;
    int parts = 0;

    assert_true(str_eq(STR("a\0b"), STR("a\0b")));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_true(str_cmp(STR("a"), STR("ab")) < 0);
    assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
    assert_true(str_cmp(STR(""), (struct str){ NULL, 0 }) == 0);
    assert_true(str_starts(STR("abc"), STR("ab")) && !str_starts(STR("a"), STR("ab")));
    assert_true(str_ends(STR("abc"), STR("bc")) && !str_ends(STR("c"), STR("bc")));
    assert_int_equal(str_find(STR("abcabc"), STR("bc"), 2), 4);
    assert_int_equal(str_find(STR("abc"), STR("x"), 0), -1);
    assert_int_equal(str_find_char(STR("abc"), 'a', 1), -1);
    rows_expect_str("slice", str_slice(STR("hello"), 1, 3), STR("el"));
    rows_expect_str("clamped", str_slice(STR("hello"), 9, 3), STR(""));
    rows_expect_str("trim", str_trim(STR(" \t\r\n a b \n")), STR("a b"));
    while (str_split(&rest, ',', &part))
        parts++;
    assert_int_equal(parts, 4);
    (void)state;
}

static void whole_numbers_are_strict(void **state)
{
    static const struct {
        const char *text;
        bool good;
        uint64_t number;
    } rows[] = {
        { "0", true, 0 },          { "42", true, 42 },  { "18446744073709551615", true, UINT64_MAX },
        { "18446744073709551616", false, 0 }, { "", false, 0 }, { "01", false, 0 },
        { "+1", false, 0 },        { "-1", false, 0 },  { "1 ", false, 0 },
        { "1a", false, 0 },        { "99999999999999999999", false, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t number = 0;

        rows_expect_int(rows[i].text, str_to_u64(str_of(rows[i].text), &number), rows[i].good);
        rows_expect(rows[i].text, number == rows[i].number, "the number");
    }
    (void)state;
}

static void distance_counts_slips_of_typing(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        uint32_t most;
        uint32_t want;
    } rows[] = {
        { "charts", "charts", 3, 0 },      { "chart", "charts", 3, 1 },
        { "cahrts", "charts", 3, 1 },      { "repo", "rpeo", 3, 1 },
        { "kitten", "sitting", 3, 3 },     { "", "abc", 3, 3 },
        { "abc", "xyz", 2, 3 },            { "namespace", "name", 2, 3 },
        { "dependsOn", "dependson", 2, 1 },
    };
    char longer[80];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rows_expect_int(rows[i].a, str_distance(str_of(rows[i].a), str_of(rows[i].b), rows[i].most),
                        rows[i].want);
        rows_expect_int(rows[i].b, str_distance(str_of(rows[i].b), str_of(rows[i].a), rows[i].most),
                        rows[i].want);
    }
    memset(longer, 'a', sizeof(longer));
    assert_int_equal(str_distance(str_make(longer, 80), str_make(longer, 80), 2), 0);
    assert_int_equal(str_distance(str_make(longer, 80), str_make(longer, 79), 2), 3);
    assert_int_equal(str_distance(str_make(longer, 64), str_make(longer, 63), 2), 1);
    (void)state;
}

static void what_was_meant_is_near(void **state)
{
    static const struct {
        const char *row, *name, *candidates, *found;
    } rows[] = {
        { "a slip", "qdrnat", "ollama,qdrant", "qdrant" },
        { "two letters that changed places", "bd", "x,db", "db" },
        { "the nearest of two", "charts", "chars,chartz,chart", "chars" },
        { "of equally near ones the first by the alphabet", "c-m-gpu99", "c-m-gpu02,c-m-gpu01", "c-m-gpu01" },
        { "in whatever order they come", "c-m-gpu99", "c-m-gpu01,c-m-gpu02", "c-m-gpu01" },
        { "another case", "DB", "x,db", "db" },
        { "also of one letter", "A", "b,a", "a" },
        { "one letter resembles no other", "x", "a,b,ab", "" },
        { "nor does a name resemble one letter", "ab", "a,b", "" },
        { "two slips are too many for three letters", "abc", "axy", "" },
        { "three for eight", "abcdefgh", "abcdexyz", "" },
        { "nothing is near nothing", "", "a,ab", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str_nearest nearest = { .name = str_of(rows[i].name) };
        struct str rest = str_of(rows[i].candidates);
        struct str candidate;

        while (str_split(&rest, ',', &candidate))
            str_nearest_try(&nearest, candidate);
        rows_expect_str(rows[i].row, nearest.found, str_of(rows[i].found));
    }
}

static void foreign_text_is_shown_without_harm(void **state)
{
    static const struct {
        const char *row;
        struct str text;
        size_t most;
        struct str want;
    } rows[] = {
        { "plain", STR_INIT("abc"), 10, STR_INIT("abc") },
        { "exactly as long", STR_INIT("abc"), 3, STR_INIT("abc") },
        { "cut", STR_INIT("abcdef"), 3, STR_INIT("abc...") },
        { "line ends and NUL", STR_INIT("a\nb\0c"), 20, STR_INIT("a\\x0ab\\x00c") },
        { "a terminal escape", STR_INIT("\x1b[31m"), 20, STR_INIT("\\x1b[31m") },
        { "a C1 control", STR_INIT("\xc2\x9b" "31m"), 20, STR_INIT("\\x9b31m") },
        { "DEL", STR_INIT("\x7f"), 20, STR_INIT("\\x7f") },
        { "right to left", STR_INIT("a\xe2\x80\xae" "b"), 20, STR_INIT("a\\u202eb") },
        { "a line separator", STR_INIT("a\xe2\x80\xa8" "b"), 20, STR_INIT("a\\u2028b") },
        { "no width", STR_INIT("a\xe2\x80\x8b\xef\xbb\xbf"), 20, STR_INIT("a\\u200b\\ufeff") },
        { "a tag", STR_INIT("\xf3\xa0\x81\x81"), 20, STR_INIT("\\ue0041") },
        { "half a surrogate pair", STR_INIT("\xed\xa0\x80"), 20, STR_INIT("\\xed\\xa0\\x80") },
        { "an overlong letter", STR_INIT("\xe0\x81\xa1"), 20, STR_INIT("\\xe0\\x81\\xa1") },
        { "half a letter", STR_INIT("\xe2\x80"), 20, STR_INIT("\\xe2\\x80") },
        { "a letter of three bytes", STR_INIT("\xe2\x82\xac" "\xe2\x82\xac"), 5, STR_INIT("\xe2\x82\xac...") },
        { "letters beyond ASCII", STR_INIT("\xc3\xa9"), 20, STR_INIT("\xc3\xa9") },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_str(rows[i].row, str_shown(arena, rows[i].text, rows[i].most), rows[i].want);
    }
    (void)state;
}

static void a_cut_never_splits_a_character(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str euros = STR("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac");

    for (size_t most = 1; most < 12; most++) {
        struct str shown = str_shown(arena, euros, most);

        rows_expect("a cut", shown.len >= 3 && (shown.len - 3) % 3 == 0, "whole characters and dots");
    }
    (void)state;
}

static void buffers_grow_and_end_with_a_nul(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf buf = { .arena = arena };

    for (int i = 0; i < 3000; i++) {
        strbuf_char(&buf, 'x');
        if (i % 100 == 0)
            arena_alloc(arena, 1); /* so that growing in place fails */
    }
    assert_int_equal(buf.len, 3000);
    assert_int_equal(strbuf_str(&buf).at[3000], '\0');
    buf = strbuf_new(arena, 0);
    strbuf_i64(&buf, INT64_MIN);
    strbuf_lit(&buf, " ");
    strbuf_u64(&buf, UINT64_MAX);
    strbuf_fmt(&buf, " %s%d", "x", 5);
    rows_expect_str("numbers", strbuf_str(&buf), STR("-9223372036854775808 18446744073709551615 x5"));
    rows_expect_str("format", str_fmt(arena, "%.*s-%u", STR_ARG(STR("ab")), 7u), STR("ab-7"));
    rows_expect_str("copy", str_dup(arena, STR("a\0b")), STR("a\0b"));
    (void)state;
}

static void texts_of_every_length_are_whole(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    char longest[600];

    memset(longest, 'y', sizeof(longest));
    for (int len = 0; len < (int)sizeof(longest); len++) {
        struct str text = str_fmt(arena, "%.*s|", len, longest);
        struct strbuf buf = strbuf_new(arena, 300);

        strbuf_fmt(&buf, "%.*s|", len, longest);
        assert_int_equal(text.len, len + 1);
        assert_memory_equal(text.at, longest, (size_t)len);
        assert_string_equal(text.at + len, "|");
        rows_expect_str("in a buffer", strbuf_str(&buf), text);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_compare_search_and_slice),
        cmocka_unit_test(whole_numbers_are_strict),
        cmocka_unit_test(distance_counts_slips_of_typing),
        cmocka_unit_test(what_was_meant_is_near),
        cmocka_unit_test(foreign_text_is_shown_without_harm),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(buffers_grow_and_end_with_a_nul),
        cmocka_unit_test(texts_of_every_length_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
