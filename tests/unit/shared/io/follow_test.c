/* SPDX-License-Identifier: Apache-2.0 */
/* follow_test.c: each state of files is read once, and together; a cache keeps the last good one. */
#include "support/rows.h"

#include "support/folder.h"

#include "io/follow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static void swap(const char *folder, struct str a, struct str b)
{
    folder_mount(folder, (struct folder_file[]){ { "a", a }, { "b", b } }, 2);
}

static struct file_follow *follow_two(struct arena *arena, const char *folder)
{
    const char *const names[] = { folder_name(arena, folder, "..data/a"), folder_name(arena, folder, "..data/b") };

    return file_follow_create(names, 2, 100);
}

static void test_each_state_is_read_once(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    AUTO(file_follow_free) struct file_follow *follow = follow_two(arena, folder);
    struct str bytes[FILE_FOLLOW_MAX];
    struct error err;

    (void)state;
    rows_expect("nothing was taken yet", file_follow_changed(follow), "changed");
    rows_expect_int("nor is there anything", file_follow_read(follow, arena, bytes, &err), -1);
    rows_expect_int("so it says", err.code, ERROR_NOT_FOUND);
    file_follow_take(follow);
    rows_expect("that there is nothing can be taken, too", !file_follow_changed(follow), "the same");

    swap(folder, STR("one"), STR("eins"));
    rows_expect("files came", file_follow_changed(follow), "changed");
    rows_expect_int("both are read", file_follow_read(follow, arena, bytes, &err), 0);
    rows_expect_str("the first", bytes[0], STR("one"));
    rows_expect_str("the second", bytes[1], STR("eins"));
    rows_expect("it is a change until it is taken", file_follow_changed(follow), "changed");
    file_follow_take(follow);
    rows_expect("then it is none", !file_follow_changed(follow), "the same");

    swap(folder, STR("two"), STR("zwei"));
    rows_expect("the link was swapped", file_follow_changed(follow), "changed");
    rows_expect_int("what is behind it is read", file_follow_read(follow, arena, bytes, &err), 0);
    rows_expect_str("both are new", bytes[1], STR("zwei"));
    file_follow_take(follow);

    unlink(folder_name(arena, folder, "..data/b"));
    rows_expect("one of them went", file_follow_changed(follow), "changed");
    folder_put(folder_name(arena, folder, "..data/b"), str_make(arena_alloc(arena, 200), 200), 0640);
    rows_expect_int("one of them is too large", file_follow_read(follow, arena, bytes, &err), -1);
    rows_expect_int("so it says, too", err.code, ERROR_TOO_LARGE);
    folder_remove(folder);
}

/* --- read while they are swapped --- */

enum { SWAPS = 100 };

struct swapping {
    const char *folder;
    atomic_bool done;
};

static void *swap_all_the_time(void *context)
{
    struct swapping *swapping = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);

    for (int i = 0; i < SWAPS; i++) {
        struct str text = str_fmt(arena, "%d", i);

        swap(swapping->folder, text, text);
    }
    atomic_store(&swapping->done, true);
    return NULL;
}

static void test_what_is_read_stood_there_together(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    AUTO(file_follow_free) struct file_follow *follow = follow_two(arena, folder);
    struct swapping swapping = { .folder = folder };
    struct str bytes[FILE_FOLLOW_MAX];
    struct error err;
    pthread_t thread;
    bool last;

    (void)state;
    swap(folder, STR("-"), STR("-"));
    atomic_init(&swapping.done, false);
    assert_int_equal(pthread_create(&thread, NULL, swap_all_the_time, &swapping), 0);
    do {
        last = atomic_load(&swapping.done);
        if (file_follow_read(follow, arena, bytes, &err) == 0)
            rows_expect_str("of one moment", bytes[0], bytes[1]);
    } while (!last);
    pthread_join(thread, NULL);
    rows_expect_str("in the end the newest", bytes[0], STR("99"));
    folder_remove(folder);
}

static void test_a_cache_follows_its_file_now_and_then(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    const char *name = folder_name(arena, folder, "token");
    struct file_cache *cache = file_cache_create(name, 100, 1000);

    (void)state;
    rows_expect_str("no file yet", file_cache_get(cache, 0), STR(""));
    folder_put(name, STR("one"), 0640);
    rows_expect_str("not looked at again", file_cache_get(cache, 999), STR(""));
    rows_expect_str("a second later", file_cache_get(cache, 1000), STR("one"));
    folder_put(name, STR("two"), 0640);
    rows_expect_str("kept meanwhile", file_cache_get(cache, 1500), STR("one"));
    rows_expect_str("and changed", file_cache_get(cache, 2000), STR("two"));
    unlink(name);
    rows_expect_str("the last good one stays", file_cache_get(cache, 3000), STR("two"));
    folder_put(name, str_make(arena_alloc(arena, 200), 200), 0640);
    rows_expect_str("also before one too large", file_cache_get(cache, 4000), STR("two"));
    file_cache_free(cache);
    folder_remove(folder);
}

static void test_a_cache_may_look_each_time(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    const char *name = folder_name(arena, folder, "token");
    struct file_cache *cache = file_cache_create(name, 100, 0);

    (void)state;
    folder_put(name, STR("one"), 0640);
    rows_expect_str("there", file_cache_get(cache, 0), STR("one"));
    folder_put(name, STR("two"), 0640);
    rows_expect_str("changed in the same millisecond", file_cache_get(cache, 0), STR("two"));
    file_cache_free(cache);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_state_is_read_once),
        cmocka_unit_test(test_what_is_read_stood_there_together),
        cmocka_unit_test(test_a_cache_follows_its_file_now_and_then),
        cmocka_unit_test(test_a_cache_may_look_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
