/* SPDX-License-Identifier: Apache-2.0 */
/* queue_test.c: a key that rests: what is wished meanwhile, and what is left of it. (The rest of the queue:
 * property/queue_property_test.c.) */
#include "support/rows.h"

#include "kube/queue.h"

/* One letter for each step at the given time. */
enum { STEPS_MAX = 10 };

struct step {
    int64_t at_ms;
    char what; /* '+' add; 'l' add after 20 ms; 't' take; 'd' done; 'r' rest until 100 ms */
};

static const struct {
    const char *name;
    struct step steps[STEPS_MAX];
    const char *taken; /* of each 't': whether there was something */
    int64_t next_due_ms;
} rows[] = {
    { "a key that does not rest is taken at once", { { 0, '+' }, { 0, 't' }, { 1, 'd' }, { 1, '+' }, { 1, 't' } }, "yy", -1 },
    { "one that rests is taken when that is over",
      { { 0, '+' }, { 0, 't' }, { 1, 'r' }, { 1, 'd' }, { 2, '+' }, { 99, 't' }, { 100, 't' } }, "yny", -1 },
    { "so is what was wished while it was worked on",
      { { 0, '+' }, { 0, 't' }, { 1, '+' }, { 1, 'r' }, { 2, 'd' }, { 99, 't' }, { 100, 't' } }, "yny", -1 },
    { "and what was ready before it was told to rest",
      { { 0, '+' }, { 0, 't' }, { 1, '+' }, { 1, 'd' }, { 1, 'r' }, { 99, 't' }, { 100, 't' } }, "yny", -1 },
    { "a wish for later that comes earlier than its rest ends waits for that",
      { { 0, '+' }, { 0, 't' }, { 1, 'l' }, { 1, 'd' }, { 1, 'r' }, { 21, 't' }, { 99, 't' }, { 100, 't' } }, "ynny", -1 },
    { "a wish for after its rest is kept", { { 0, '+' }, { 0, 't' }, { 1, 'r' }, { 1, 'd' }, { 90, 'l' }, { 100, 't' }, { 110, 't' } }, "yny", -1 },
    { "nobody wishes anything: it is forgotten", { { 0, '+' }, { 0, 't' }, { 1, 'r' }, { 1, 'd' }, { 100, 't' } }, "yn", -1 },
    { "until then it is remembered", { { 0, '+' }, { 0, 't' }, { 1, 'r' }, { 1, 'd' }, { 50, 't' } }, "yn", 100 },
};

static void test_rests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct kube_queue *queue = kube_queue_create(NULL, 1);
        char taken[STEPS_MAX + 1] = "";
        struct str key;

        for (const struct step *step = rows[i].steps; step->what; step++) {
            if (step->what == '+')
                kube_queue_add(queue, STR("key"), step->at_ms);
            else if (step->what == 'l')
                kube_queue_add_after(queue, STR("key"), 20, step->at_ms);
            else if (step->what == 'd')
                kube_queue_done(queue, STR("key"), step->at_ms);
            else if (step->what == 'r')
                kube_queue_rest(queue, STR("key"), 100);
            else
                taken[strlen(taken)] = kube_queue_take(queue, step->at_ms, &key) ? 'y' : 'n';
        }
        rows_expect_str(rows[i].name, str_of(taken), str_of(rows[i].taken));
        rows_expect_int(rows[i].name, kube_queue_next_due(queue), rows[i].next_due_ms);
        kube_queue_free(queue);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = { cmocka_unit_test(test_rests) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
