/* SPDX-License-Identifier: Apache-2.0 */
/* zip_test.c: packing and unpacking. */
#include "support/rows.h"

#include "text/zip.h"

static void what_is_packed_unpacks(void **state)
{
    static const char *const rows[] = { "", "a", "abcabcabcabcabcabc", "{\"name\":\"x\"}" };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { 0 };
    struct str back;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str text = str_of(rows[i]);

        assert_int_equal(gzip_unpack(arena, gzip_pack(arena, text), 1000, &back, &err), 0);
        rows_expect_str(rows[i], back, text);
        assert_int_equal(zip_unpack(arena, zip_pack(arena, text, STR("\"name\":")),
                                    STR("\"name\":"), 1000, &back, &err),
                         0);
        rows_expect_str(rows[i], back, text);
    }
}

static void what_cannot_be_unpacked(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str zeros = str_make(arena_alloc(arena, 1 << 20), 1 << 20);
    struct str packed = gzip_pack(arena, zeros);
    struct error err = { 0 };
    struct str back = STR("untouched");

    (void)state;
    rows_expect_int("a bomb ends at its bound", gzip_unpack(arena, packed, 1000, &back, &err), -1);
    rows_expect_int("as too large", err.code, ERROR_TOO_LARGE);
    rows_expect_int("no gzip", gzip_unpack(arena, STR("plain text"), 1000, &back, &err), -1);
    rows_expect_int("nothing", gzip_unpack(arena, STR(""), 1000, &back, &err), -1);
    rows_expect_int("cut off",
                    gzip_unpack(arena, str_slice(packed, 0, packed.len / 2), 1 << 21, &back, &err),
                    -1);
    rows_expect_int("another dictionary",
                    zip_unpack(arena, zip_pack(arena, STR("text"), STR("one")), STR("two"), 1000,
                               &back, &err),
                    -1);
    rows_expect_str("the output is untouched", back, STR("untouched"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_unpacks),
        cmocka_unit_test(what_cannot_be_unpacked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
