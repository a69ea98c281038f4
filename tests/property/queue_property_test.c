/* SPDX-License-Identifier: Apache-2.0 */
/* queue_property_test.c: the work queue against a model of a few lines: random operations over a
 * few keys, and after each the model says which keys may come, which must not, and when. */
#include "support/rows.h"

#include "kube/queue.h"

enum { KEYS = 6, STEPS = 4000, RUNS = 30 };

struct model_key {
    bool ready, working, again;
    int64_t due_ms; /* -1 = no delayed wish */
};

struct model {
    struct model_key keys[KEYS];
    int64_t now_ms;
};

static const char *const names[KEYS] = { "a", "b", "ns/c", "ns/d", "", "a-much-longer-key/e" };

static int index_of(struct str key)
{
    for (int i = 0; i < KEYS; i++)
        if (str_eq(key, str_of(names[i])))
            return i;
    return -1;
}

static void model_ready(struct model_key *key)
{
    key->due_ms = -1;
    if (key->working)
        key->again = true;
    else
        key->ready = true;
}

static void model_after(struct model *m, struct model_key *key, int64_t delay_ms)
{
    if (delay_ms <= 0)
        model_ready(key);
    else if (!key->ready && !key->again &&
             (key->due_ms < 0 || m->now_ms + delay_ms < key->due_ms))
        key->due_ms = m->now_ms + delay_ms;
}

static void model_due(struct model *m)
{
    for (int i = 0; i < KEYS; i++)
        if (m->keys[i].due_ms >= 0 && m->keys[i].due_ms <= m->now_ms)
            model_ready(&m->keys[i]);
}

static void check(const struct model *m, const struct kube_queue *queue)
{
    size_t depth = 0;
    size_t delayed = 0;
    int64_t due_ms = -1;

    for (int i = 0; i < KEYS; i++) {
        depth += (size_t)m->keys[i].ready + (size_t)m->keys[i].working;
        delayed += m->keys[i].due_ms >= 0;
        if (m->keys[i].due_ms >= 0 && (due_ms < 0 || m->keys[i].due_ms < due_ms))
            due_ms = m->keys[i].due_ms;
    }
    assert_int_equal(kube_queue_depth(queue), depth);
    assert_int_equal(kube_queue_delayed(queue), delayed);
    assert_int_equal(kube_queue_next_due(queue), due_ms);
}

static void take_one(struct model *m, struct kube_queue *queue)
{
    struct str key;
    bool any = false;

    model_due(m);
    for (int i = 0; i < KEYS; i++)
        any = any || m->keys[i].ready;
    if (!kube_queue_take(queue, m->now_ms, &key)) {
        assert_false(any);
        return;
    }

    int i = index_of(key);

    assert_true(i >= 0);
    assert_true(m->keys[i].ready);
    assert_false(m->keys[i].working);
    m->keys[i].ready = false;
    m->keys[i].working = true;
}

static void finish_one(struct model *m, struct kube_queue *queue, int i)
{
    if (!m->keys[i].working)
        return;
    m->keys[i].working = false;
    if (m->keys[i].again) {
        m->keys[i].again = false;
        model_ready(&m->keys[i]);
    }
    kube_queue_done(queue, str_of(names[i]), m->now_ms);
}

static void run(uint64_t seed)
{
    struct rng rng = rng_from_seed(seed);
    AUTO(kube_queue_free) struct kube_queue *queue = kube_queue_create(NULL, seed);
    struct model m = { .now_ms = 0 };

    for (int i = 0; i < KEYS; i++)
        m.keys[i].due_ms = -1;
    for (int step = 0; step < STEPS; step++) {
        int i = (int)rng_below(&rng, KEYS);
        struct str key = str_of(names[i]);
        int64_t delay_ms = (int64_t)rng_below(&rng, 5000) - 100;

        switch (rng_below(&rng, 7)) {
        case 0:
            kube_queue_add(queue, key, m.now_ms);
            model_ready(&m.keys[i]);
            break;
        case 1:
            kube_queue_add_after(queue, key, delay_ms, m.now_ms);
            model_after(&m, &m.keys[i], delay_ms);
            break;
        case 2: {
            int64_t wait_ms = kube_queue_retry(queue, key, delay_ms, m.now_ms);

            assert_true(wait_ms >= delay_ms && wait_ms > 0);
            model_after(&m, &m.keys[i], wait_ms);
            break;
        }
        case 3:
            kube_queue_forget(queue, key);
            break;
        case 4:
            take_one(&m, queue);
            break;
        case 5:
            finish_one(&m, queue, i);
            break;
        case 6:
            m.now_ms += (int64_t)rng_below(&rng, 3000);
            break;
        }
        check(&m, queue);
    }
}

static void the_queue_does_what_the_model_says(void **state)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run(seed);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_does_what_the_model_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
