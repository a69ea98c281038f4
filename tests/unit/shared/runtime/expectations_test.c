/* SPDX-License-Identifier: Apache-2.0 */
/* expectations_test.c: our own write is expected until the watch shows it, or for a while. */
#include "support/rows.h"

#include "runtime/expectations.h"

enum { NOW = 1000, LATE = NOW + EXPECTATIONS_WAIT_MS };

static const struct {
    const char *row;
    const char *written, *cached; /* versions; NULL: there is no object in the cache */
    bool expected;
} writes[] = {
    { "what the cache does not have yet is expected", "12", "11", true },
    { "so is an object that was created", "12", NULL, true },
    { "the cache was as fast as the answer", "12", "12", false },
    { "somebody wrote after us, and the cache shows it", "12", "13", false },
    { "a server whose versions are no numbers gets no waiting", "v12", "11", false },
    { "nor if only the cache's is none", "12", "v11", false },
};

static void what_is_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        struct expectations *e = expectations_create();
        struct kube_object *cached = writes[i].cached
            ? kube_object_create(STR("n"), STR("a"), STR("u"), str_of(writes[i].cached), STR("old")) : NULL;

        expectations_set(e, STR("n/a"), str_of(writes[i].written), cached, STR("new"), NOW);
        rows_expect_str(writes[i].row, expectations_kept(e, STR("n/a"), NOW),
                        writes[i].expected ? STR("new") : STR(""));
        rows_expect_int(writes[i].row, expectations_put_off(e, STR("n/a"), NOW),
                        writes[i].expected ? EXPECTATIONS_WAIT_MS : 0);
        rows_expect_str("no longer than the deadline", expectations_kept(e, STR("n/a"), LATE), STR(""));
        rows_expect_int("no longer than the deadline", expectations_put_off(e, STR("n/a"), LATE), 0);
        kube_object_unref(cached);
        expectations_free(e);
    }
}

static const struct {
    const char *row;
    const char *before;  /* a version that it brings first; NULL = none */
    const char *version; /* that the watch brings; "" = the object is gone */
    bool put_off;
    enum observation want;
    bool expected; /* afterwards */
} observations[] = {
    { "a version from before our write is no news", NULL, "11", false, OBSERVED_OLDER, true },
    { "nor if work waits", NULL, "11", true, OBSERVED_OLDER, true },
    { "our write needs no second look", NULL, "12", false, OBSERVED_OURS, false },
    { "but if work was put off for it", NULL, "12", true, OBSERVED_NEWS, false },
    { "or if it holds somebody else's, of which nobody knew", "11", "12", false, OBSERVED_NEWS, false },
    { "somebody wrote after us", NULL, "13", false, OBSERVED_NEWS, false },
    { "somebody deleted it", NULL, "", false, OBSERVED_NEWS, false },
};

static void what_the_watch_brings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(observations) / sizeof(observations[0]); i++) {
        struct expectations *e = expectations_create();

        expectations_set(e, STR("n/a"), STR("12"), NULL, STR("new"), NOW);
        if (observations[i].put_off)
            expectations_put_off(e, STR("n/a"), NOW);
        if (observations[i].before)
            expectations_observe(e, STR("n/a"), str_of(observations[i].before));
        rows_expect_int(observations[i].row, expectations_observe(e, STR("n/a"), str_of(observations[i].version)),
                        observations[i].want);
        rows_expect_int(observations[i].row, expectations_kept(e, STR("n/a"), NOW).len > 0,
                        observations[i].expected);
        rows_expect_int("another key is none of its business", expectations_observe(e, STR("n/b"), STR("1")),
                        OBSERVED_NEWS);
        expectations_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_expected),
        cmocka_unit_test(what_the_watch_brings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
