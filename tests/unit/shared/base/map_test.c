/* SPDX-License-Identifier: Apache-2.0 */
/* map_test.c: map and dict against what a list would answer. */
#include "support/rows.h"

#include "base/map.h"
#include "base/rng.h"

#include <stdio.h>

static int markers[2000];

static void a_map_keeps_keys_in_order(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct map *map = map_new(arena, 0);

    for (int i = 0; i < 2000; i++)
        assert_true(map_put(map, str_fmt(arena, "key-%d", i), &markers[i]));
    assert_false(map_put(map, STR("key-7"), &markers[8]));
    assert_int_equal(map_count(map), 2000);
    assert_ptr_equal(map_get(map, STR("key-7")), &markers[8]);
    assert_ptr_equal(map_get(map, STR("key-1999")), &markers[1999]);
    assert_null(map_get(map, STR("key-2000")));
    assert_null(map_get(map, STR("")));
    for (uint32_t i = 0; i < 2000; i++)
        rows_expect_str("order", map_key(map, i), str_fmt(arena, "key-%u", i));
    assert_ptr_equal(map_value(map, 7), &markers[8]);
    (void)state;
}

static void a_dict_answers_as_a_list_would(void **state)
{
    AUTO(dict_free) struct dict *dict = dict_create();
    AUTO(arena_free) struct arena *arena = arena_create(0);
    void *model[300] = { NULL };
    struct rng rng = rng_from_seed(1);
    size_t live = 0;

    for (int step = 0; step < 20000; step++) {
        uint64_t k = rng_below(&rng, 300);
        struct str key = str_fmt(arena, "%d", (int)k);

        if (rng_below(&rng, 2)) {
            void *value = &markers[rng_below(&rng, 2000)];

            assert_ptr_equal(dict_set(dict, key, value), model[k]);
            live += model[k] == NULL;
            model[k] = value;
        } else {
            assert_ptr_equal(dict_remove(dict, key), model[k]);
            live -= model[k] != NULL;
            model[k] = NULL;
        }
        assert_int_equal(dict_count(dict), live);
        assert_ptr_equal(dict_get(dict, key), model[k]);
        if (step % 1000 == 0)
            arena_reset(arena);
    }
    (void)state;
}

static void a_walk_may_remove_what_it_was_given(void **state)
{
    AUTO(dict_free) struct dict *dict = dict_create();
    char name[16];
    size_t cursor = 0;
    struct str key;
    void *value;
    int seen = 0;

    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        dict_set(dict, str_of(name), &markers[i]);
    }
    while (dict_next(dict, &cursor, &key, &value)) {
        seen++;
        assert_ptr_equal(dict_remove(dict, key), value);
    }
    assert_int_equal(seen, 500);
    assert_int_equal(dict_count(dict), 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_keeps_keys_in_order),
        cmocka_unit_test(a_dict_answers_as_a_list_would),
        cmocka_unit_test(a_walk_may_remove_what_it_was_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
