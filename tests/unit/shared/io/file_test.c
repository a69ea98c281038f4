/* SPDX-License-Identifier: Apache-2.0 */
/* file_test.c: files whole or not at all. */
#include "support/rows.h"

#include "support/folder.h"

#include "io/file.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_replace_and_read(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    const char *name = folder_name(arena, folder, "a");
    struct str bytes = STR("unset");
    struct error err;
    struct stat facts;

    (void)state;
    folder_put(name, STR("one\0two"), 0640);
    assert_int_equal(file_read(arena, name, 7, &bytes, &err), 0);
    rows_expect_str("any byte may stand in a file", bytes, STR("one\0two"));
    folder_put(name, STR(""), 0640);
    assert_int_equal(file_read(arena, name, 7, &bytes, &err), 0);
    rows_expect_int("an empty file", (int64_t)bytes.len, 0);
    assert_int_equal(stat(name, &facts), 0);
    rows_expect_int("its mode", facts.st_mode & 0777, 0640);

    struct str_list names;

    assert_int_equal(file_list(arena, folder, &names, &err), 0);
    rows_expect_int("nothing is left beside it", names.count, 1);
    folder_remove(folder);
}

static void test_bounds_and_failures(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    const char *name = folder_name(arena, folder, "a");
    struct str bytes = STR("unset");
    struct error err = { .code = ERROR_NONE };

    (void)state;
    folder_put(name, STR("12345678"), 0640);
    assert_int_equal(file_read(arena, name, 8, &bytes, &err), 0);
    assert_int_equal(file_read(arena, name, 7, &bytes, &err), -1);
    rows_expect_int("a byte too many", err.code, ERROR_TOO_LARGE);
    rows_expect("names the file", strstr(err.text, name), err.text);
    rows_expect_str("and leaves the output", bytes, STR("12345678"));
    assert_int_equal(file_read(arena, folder_name(arena, folder, "none"), 8, &bytes, &err), -1);
    rows_expect_int("no file", err.code, ERROR_NOT_FOUND);
    assert_int_equal(file_read(arena, folder, 8, &bytes, &err), -1);
    rows_expect_int("a folder", err.code, ERROR_FILE);
    /* A file whose size is not known beforehand. */
    assert_int_equal(file_read(arena, "/proc/self/status", 10, &bytes, &err), -1);
    rows_expect_int("too large as it is read", err.code, ERROR_TOO_LARGE);
    assert_int_equal(file_read(arena, "/proc/self/status", 1 << 20, &bytes, &err), 0);
    rows_expect("or read to its end", str_starts(bytes, STR("Name:")), bytes.at);
    assert_int_equal(file_replace(folder_name(arena, folder, "no/such"), STR("x"), 0600, &err), -1);
    rows_expect_int("no folder to write to", err.code, ERROR_NOT_FOUND);
    folder_remove(folder);
}

static void test_folders(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    struct error err;
    struct str_list names;

    (void)state;
    assert_int_equal(file_make_folder(folder_name(arena, folder, "x/y/z"), 0755, &err), 0);
    assert_int_equal(file_make_folder(folder_name(arena, folder, "x/y/z/"), 0755, &err), 0);
    assert_true(file_is_folder(folder_name(arena, folder, "x/y/z")));
    folder_put(folder_name(arena, folder, "x/b"), STR("1"), 0640);
    folder_put(folder_name(arena, folder, "x/a"), STR("1"), 0640);
    assert_true(file_exists(folder_name(arena, folder, "x/a")) && !file_is_folder(folder_name(arena, folder, "x/a")));
    assert_false(file_exists(folder_name(arena, folder, "x/c")));
    assert_int_equal(file_list(arena, folder_name(arena, folder, "x"), &names, &err), 0);
    rows_expect_int("all names", names.count, 3);
    rows_expect_str("sorted", names.items[0], STR("a"));
    rows_expect_str("sorted", names.items[2], STR("y"));
    assert_int_equal(file_make_folder(folder_name(arena, folder, "x/a"), 0755, &err), -1);
    rows_expect_int("a file in the way", err.code, ERROR_FILE);
    assert_int_equal(file_list(arena, folder_name(arena, folder, "q"), &names, &err), -1);
    rows_expect_int("no folder", err.code, ERROR_NOT_FOUND);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replace_and_read),
        cmocka_unit_test(test_bounds_and_failures),
        cmocka_unit_test(test_folders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
