/* SPDX-License-Identifier: Apache-2.0 */
/* xml_test.c: nothing gets into XML that no reader takes. */
#include "support/rows.h"

#include "webhook/offline/xml.h"

static void text_is_escaped(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want; /* as an attribute */
    } rows[] = {
        { "plain", "a b", "a b" },
        { "marks", "<a & \"b\"> 'c'", "&lt;a &amp; &quot;b&quot;&gt; 'c'" },
        { "blanks of an attribute", "a\tb\nc\r", "a&#9;b&#10;c&#13;" },
        { "control characters", "a\x01\x1b\x7f", "a\xef\xbf\xbd\xef\xbf\xbd\x7f" },
        { "UTF-8", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "half a sequence", "\xc3", "\xef\xbf\xbd" },
        { "half of three", "\xe2\x82z", "\xef\xbf\xbd\xef\xbf\xbdz" },
        { "an overlong one", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "a surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "no character", "\xef\xbf\xbe", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "beyond Unicode", "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf out = strbuf_new(arena, 0);

        xml_attribute(&out, "x", str_of(rows[i].text));
        rows_expect_str(rows[i].row, strbuf_str(&out), str_fmt(arena, " x=\"%s\"", rows[i].want));
    }
}

static void lines_stay_lines_in_an_element(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 0);

    (void)state;
    xml_put(&out, STR("a\tb\n]]>\r\n"));
    rows_expect_str("an element", strbuf_str(&out), STR("a\tb\n]]&gt;&#13;\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(lines_stay_lines_in_an_element),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
