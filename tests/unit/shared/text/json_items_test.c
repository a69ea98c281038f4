/* SPDX-License-Identifier: Apache-2.0 */
/* json_items_test.c: what is taken as one document is taken in pieces of any size, and nothing else. */
#include "support/rows.h"

#include "text/json_items.h"

struct seen {
    struct strbuf items;
};

static void on_item(void *context, struct json item)
{
    struct seen *seen = context;

    strbuf_fmt(&seen->items, "%.*s|", STR_ARG(json_raw(item)));
}

/* The elements of a.b, or "" and the error. */
static struct str read_by(struct arena *arena, struct str text, size_t piece, struct error *err)
{
    static const struct str path[] = { STR_INIT("a"), STR_INIT("b") };
    struct seen seen = { strbuf_new(arena, 64) };
    AUTO(json_items_free) struct json_items *items =
        json_items_create(&(struct json_items_options){ .path = path,
                                                        .path_count = 2,
                                                        .bytes_max = 400,
                                                        .item_bytes_max = 40,
                                                        .rest_bytes_max = 80,
                                                        .item = on_item,
                                                        .context = &seen });

    for (size_t i = 0; i < text.len; i += piece)
        (void)json_items_put(items, str_slice(text, i, i + piece < text.len ? i + piece : text.len),
                             err);
    if (json_items_end(items, err) < 0)
        return STR("");
    return str_fmt(arena, "%.*s.", STR_ARG(strbuf_str(&seen.items)));
}

#define TEN "aaaaaaaaaa"
#define DEEP "{\"\":{\"\":{\"\":{\"\":"

static void documents_in_pieces(void **state)
{
    static const struct {
        const char *row, *text, *want; /* "" = it is not taken */
        enum error_code code;
    } rows[] = {
        { "elements", "{\"a\":{\"b\":[1,{\"x\":[2,\"]\"]},\"y\"]}}", "1|{\"x\":[2,\"]\"]}|\"y\"|.", 0 },
        { "none", "{\"a\":{\"b\":[ \n]}}", ".", 0 },
        { "those of other lists are not given", "{\"a\":{\"c\":[1],\"b\":[2],\"d\":[[3]]},\"b\":[4]}", "2|.", 0 },
        { "brackets, quotes and backslashes in strings", "{\"a\":{\"b\":[\"\\\\\",\"\\\"],[\"]}}",
          "\"\\\\\"|\"\\\"],[\"|.", 0 },
        { "a key that is a value elsewhere", "{\"a\":{\"c\":\"b\",\"d\":[1],\"b\":[2]}}", "2|.", 0 },
        { "no such list", "{\"a\":{\"c\":[1]}}", "", ERROR_INVALID },
        { "not a list", "{\"a\":{\"b\":{}}}", "", ERROR_INVALID },
        { "one level up", "{\"b\":[1],\"a\":{}}", "", ERROR_INVALID },
        { "in a list", "[{\"a\":{\"b\":[1]}}]", "", ERROR_INVALID },
        { "nothing at all", "", "", ERROR_SYNTAX },
        { "cut off in the list", "{\"a\":{\"b\":[1,2", "", ERROR_SYNTAX },
        { "cut off in a string", "{\"a\":{\"b\":[\"x", "", ERROR_SYNTAX },
        { "cut off behind the list", "{\"a\":{\"b\":[1]}", "", ERROR_SYNTAX },
        { "something behind the end", "{\"a\":{\"b\":[1]}}x", "", ERROR_SYNTAX },
        { "an element that is none", "{\"a\":{\"b\":[1,]}}", "", ERROR_SYNTAX },
        { "another", "{\"a\":{\"b\":[,1]}}", "", ERROR_SYNTAX },
        { "brackets that do not fit", "{\"a\":{\"b\":[{\"x\":1]},{]}}", "", ERROR_SYNTAX },
        { "an element of another list that is none", "{\"a\":{\"b\":[1],\"c\":[1 2]}}", "", ERROR_SYNTAX },
        { "a list twice", "{\"a\":{\"b\":[1],\"b\":[2]}}", "", ERROR_SYNTAX },
        { "a list twice, with an escape", "{\"a\":{\"b\":[1],\"\\u0062\":[2]}}", "", ERROR_SYNTAX },
        { "NUL", "{\"a\":{\"b\":[\"\\u0000\"]}}", "", ERROR_SYNTAX },
        { "an element that is too large", "{\"a\":{\"b\":[\"" TEN TEN TEN TEN "\"]}}", "", ERROR_TOO_LARGE },
        { "too much beside lists", "{\"a\":{\"b\":[1]},\"c\":\"" TEN TEN TEN TEN TEN TEN TEN "\"}", "", ERROR_TOO_LARGE },
        { "too deep", DEEP DEEP DEEP DEEP "{}", "", ERROR_TOO_LARGE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t piece = 1; piece < 64; piece += 3) {
            AUTO(arena_free) struct arena *arena = arena_create(0);
            struct error err = { .code = ERROR_NONE };

            rows_expect_str(rows[i].row, read_by(arena, str_of(rows[i].text), piece, &err),
                            str_of(rows[i].want));
            rows_expect_int(rows[i].row, err.code, rows[i].want[0] ? ERROR_NONE : rows[i].code);
        }
}

static void many_elements_are_bounded_by_all_bytes(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf text = strbuf_new(arena, 1024);
    struct error err = { .code = ERROR_NONE };

    (void)state;
    strbuf_lit(&text, "{\"a\":{\"b\":[1");
    for (int i = 0; i < 200; i++)
        strbuf_lit(&text, ",1");
    strbuf_lit(&text, "]}}");
    read_by(arena, strbuf_str(&text), 7, &err);
    rows_expect_int("401 bytes and more", err.code, ERROR_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_in_pieces),
        cmocka_unit_test(many_elements_are_bounded_by_all_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
