/* SPDX-License-Identifier: Apache-2.0 */
/* cache_test.c: the cache against a model, rounds of marks, and what an object costs. */
#include "support/rows.h"

#include "base/map.h"
#include "base/rng.h"
#include "runtime/cache.h"

#include <stdio.h>

static struct kube_object *make(unsigned number, unsigned version)
{
    char name[32], text[32];

    snprintf(name, sizeof(name), "name-%u", number);
    snprintf(text, sizeof(text), "%u", version);
    return kube_object_create(number % 3 ? STR("ns") : STR(""), str_of(name), STR("uid"),
                              str_of(text), str_of(text));
}

static void an_object_gives_back_what_it_was_made_of(void **state)
{
    AUTO(kube_object_unref) struct kube_object *object =
        kube_object_create(STR("ns"), STR("a"), STR("u-1"), STR("42"), STR("{\"k\":1}"));
    AUTO(kube_object_unref) struct kube_object *bare =
        kube_object_create(STR(""), STR("b"), STR(""), STR(""), STR(""));

    rows_expect_str("key", kube_object_key(object), STR("ns/a"));
    rows_expect_str("namespace", kube_object_namespace(object), STR("ns"));
    rows_expect_str("name", kube_object_name(object), STR("a"));
    rows_expect_str("uid", kube_object_uid(object), STR("u-1"));
    rows_expect_str("version", kube_object_resource_version(object), STR("42"));
    rows_expect_str("kept", kube_object_kept(object), STR("{\"k\":1}"));
    rows_expect_str("a key without namespace", kube_object_key(bare), STR("b"));
    rows_expect_str("nothing kept", kube_object_kept(bare), STR(""));
    (void)state;
}

/* 3 operations of 4 put, so that it grows and shrinks; the model is a plain array of versions. */
static void the_cache_does_what_an_array_does(void **state)
{
    enum { NUMBERS = 300, STEPS = 20000 };
    AUTO(kube_cache_free) struct kube_cache *cache = kube_cache_create();
    unsigned model[NUMBERS] = { 0 };
    struct rng rng = rng_from_seed(7);
    size_t count = 0;

    for (unsigned step = 1; step <= STEPS; step++) {
        unsigned number = (unsigned)rng_below(&rng, NUMBERS);
        AUTO(kube_object_unref) struct kube_object *probe = make(number, step);
        struct str key = kube_object_key(probe);
        struct kube_object *held = kube_cache_get(cache, key);
        struct kube_object *before;

        assert_int_equal(held != NULL, model[number] != 0);
        if (rng_below(&rng, step / 4000 % 2 ? 4 : 2)) {
            before = kube_cache_put(cache, kube_object_ref(probe));
            count += !model[number];
            model[number] = step;
        } else {
            before = kube_cache_remove(cache, key);
            count -= model[number] != 0;
            model[number] = 0;
        }
        assert_ptr_equal(before, held);
        kube_object_unref(before);
        assert_int_equal(kube_cache_count(cache), count);
    }

    struct kube_object *object;
    size_t walked = 0;

    for (size_t cursor = 0; kube_cache_next(cache, &cursor, &object);)
        walked++;
    assert_int_equal(walked, count);
    (void)state;
}

static void a_round_takes_out_what_was_not_marked(void **state)
{
    enum { NUMBERS = 1000 };
    AUTO(kube_cache_free) struct kube_cache *cache = kube_cache_create();
    struct kube_object *gone;
    unsigned taken = 0;

    for (unsigned i = 0; i < NUMBERS; i++)
        assert_null(kube_cache_put(cache, make(i, 1)));
    kube_cache_begin_round(cache);
    for (unsigned i = 0; i < NUMBERS; i += 2) {
        AUTO(kube_object_unref) struct kube_object *probe = make(i, 1);

        kube_cache_mark(cache, kube_object_key(probe));
    }
    for (size_t cursor = 0; (gone = kube_cache_remove_unmarked(cache, &cursor)); taken++) {
        unsigned number = 0;

        sscanf(kube_object_name(gone).at, "name-%u", &number);
        assert_int_equal(number % 2, 1);
        kube_object_unref(gone);
    }
    assert_int_equal(taken, NUMBERS / 2);
    assert_int_equal(kube_cache_count(cache), NUMBERS / 2);
    (void)state;
}

static void an_object_costs_little_beside_what_is_kept(void **state)
{
    AUTO(kube_cache_free) struct kube_cache *cache = kube_cache_create();
    char kept[1500];

    memset(kept, 'x', sizeof(kept));
    for (unsigned i = 0; i < 10000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "rag-inference-%05u", i);
        kube_cache_put(cache, kube_object_create(
                                  STR("team-a"), str_of(name),
                                  STR("0f8fad5b-d9cb-469f-a165-70867728950e"), STR("1234567"),
                                  str_make(kept, sizeof(kept))));
    }
    rows_expect("under 2 KiB each with 1500 bytes kept",
                kube_cache_bytes(cache) / 10000 < sizeof(kept) + 160, "overhead below 160 bytes");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_gives_back_what_it_was_made_of),
        cmocka_unit_test(the_cache_does_what_an_array_does),
        cmocka_unit_test(a_round_takes_out_what_was_not_marked),
        cmocka_unit_test(an_object_costs_little_beside_what_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
