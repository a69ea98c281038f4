/* file_test.c: files whole or not at all. */
#include "support/rows.h"

#include "support/loopback.h"

#include "io/file.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    struct arena *arena;
    const char *folder;
};

static struct fixture begin(void)
{
    struct fixture fixture = { .arena = arena_create(0) };

    fixture.folder = loopback_folder(fixture.arena);
    return fixture;
}

static void end(struct fixture *fixture)
{
    loopback_remove_folder(fixture->folder);
    arena_free(fixture->arena);
}

static const char *name_in(struct fixture *fixture, const char *name)
{
    return str_fmt(fixture->arena, "%s/%s", fixture->folder, name).at;
}

static void put(const char *name, struct str bytes)
{
    struct error err;

    if (file_replace(name, bytes, 0640, &err) != 0)
        fail_msg("%s", err.text);
}

static void test_replace_and_read(void **state)
{
    struct fixture fixture = begin();
    const char *name = name_in(&fixture, "a");
    struct str bytes = STR("unset");
    struct error err;
    struct stat facts;

    (void)state;
    put(name, STR("one\0two"));
    assert_int_equal(file_read(fixture.arena, name, 7, &bytes, &err), 0);
    rows_expect_str("any byte may stand in a file", bytes, STR("one\0two"));
    put(name, STR(""));
    assert_int_equal(file_read(fixture.arena, name, 7, &bytes, &err), 0);
    rows_expect_int("an empty file", (int64_t)bytes.len, 0);
    assert_int_equal(stat(name, &facts), 0);
    rows_expect_int("its mode", facts.st_mode & 0777, 0640);

    struct str_list names;

    assert_int_equal(file_list(fixture.arena, fixture.folder, &names, &err), 0);
    rows_expect_int("nothing is left beside it", names.count, 1);
    end(&fixture);
}

static void test_bounds_and_failures(void **state)
{
    struct fixture fixture = begin();
    const char *name = name_in(&fixture, "a");
    struct str bytes = STR("unset");
    struct error err = { .code = ERROR_NONE };

    (void)state;
    put(name, STR("12345678"));
    assert_int_equal(file_read(fixture.arena, name, 8, &bytes, &err), 0);
    assert_int_equal(file_read(fixture.arena, name, 7, &bytes, &err), -1);
    rows_expect_int("a byte too many", err.code, ERROR_TOO_LARGE);
    rows_expect("names the file", strstr(err.text, name), err.text);
    rows_expect_str("and leaves the output", bytes, STR("12345678"));
    assert_int_equal(file_read(fixture.arena, name_in(&fixture, "none"), 8, &bytes, &err), -1);
    rows_expect_int("no file", err.code, ERROR_NOT_FOUND);
    assert_int_equal(file_read(fixture.arena, fixture.folder, 8, &bytes, &err), -1);
    rows_expect_int("a folder", err.code, ERROR_FILE);
    /* A file whose size is not known beforehand. */
    assert_int_equal(file_read(fixture.arena, "/proc/self/status", 10, &bytes, &err), -1);
    rows_expect_int("too large as it is read", err.code, ERROR_TOO_LARGE);
    assert_int_equal(file_read(fixture.arena, "/proc/self/status", 1 << 20, &bytes, &err), 0);
    rows_expect("or read to its end", str_starts(bytes, STR("Name:")), bytes.at);
    assert_int_equal(file_replace(name_in(&fixture, "no/such"), STR("x"), 0600, &err), -1);
    rows_expect_int("no folder to write to", err.code, ERROR_NOT_FOUND);
    end(&fixture);
}

static void test_folders(void **state)
{
    struct fixture fixture = begin();
    struct error err;
    struct str_list names;

    (void)state;
    assert_int_equal(file_make_folder(name_in(&fixture, "x/y/z"), 0755, &err), 0);
    assert_int_equal(file_make_folder(name_in(&fixture, "x/y/z/"), 0755, &err), 0);
    assert_true(file_is_folder(name_in(&fixture, "x/y/z")));
    put(name_in(&fixture, "x/b"), STR("1"));
    put(name_in(&fixture, "x/a"), STR("1"));
    assert_true(file_exists(name_in(&fixture, "x/a")) && !file_is_folder(name_in(&fixture, "x/a")));
    assert_false(file_exists(name_in(&fixture, "x/c")));
    assert_int_equal(file_list(fixture.arena, name_in(&fixture, "x"), &names, &err), 0);
    rows_expect_int("all names", names.count, 3);
    rows_expect_str("sorted", names.items[0], STR("a"));
    rows_expect_str("sorted", names.items[2], STR("y"));
    assert_int_equal(file_make_folder(name_in(&fixture, "x/a"), 0755, &err), -1);
    rows_expect_int("a file in the way", err.code, ERROR_FILE);
    assert_int_equal(file_list(fixture.arena, name_in(&fixture, "q"), &names, &err), -1);
    rows_expect_int("no folder", err.code, ERROR_NOT_FOUND);
    end(&fixture);
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
