/* SPDX-License-Identifier: Apache-2.0 */
/* abandon_test.c: a request that passes its memory budget at any allocation leaves no lock held, no
 * reader taken and nothing lost (the address sanitizer counts): the next one is answered. */
#include "api_fixture.h"

struct task {
    struct fixture *f;
    struct arena *arena;
    void (*work)(struct task *task);
    uint32_t turn; /* names differ from one attempt to the next */
    bool finished;
};

static void read_one(struct task *t)
{
    struct str object;
    struct error err;

    api_get(t->f->api, t->arena, STR("local"), &configmaps, STR("default"), STR("a"), &object,
            &err);
}

static bool next(void *context, struct str object)
{
    (void)object;
    return context != NULL;
}

static void read_all(struct task *t)
{
    struct error err;

    api_list(t->f->api, t->arena, STR("local"), &configmaps, STR(""), next, t, &err);
}

static void create(struct task *t)
{
    struct str made;
    struct error err;

    api_create_object(t->f->api, t->arena, STR("local"), &configmaps, STR("default"),
                      STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                          "\"generateName\":\"new-\"}}"),
                      &made, &err);
}

static void merge(struct task *t)
{
    struct str made;
    struct error err;

    api_merge_object(t->f->api, t->arena, STR("local"), &configmaps, STR("default"), STR("a"),
                     STR(""),
                     str_fmt(t->arena, "{\"data\":{\"k\":\"%u\"}}", (unsigned)t->turn), &made,
                     &err);
}

static const struct row {
    const char *sentence;
    void (*work)(struct task *task);
} rows[] = {
    { "reading one object", read_one },
    { "reading a collection", read_all },
    { "creating an object with a generated name", create },
    { "changing an object", merge },
};

static void attempt(void *context)
{
    struct task *task = context;

    task->work(task);
    task->finished = true;
}

static void test_rows(void **state)
{
    struct fixture *f = fixture_begin();
    const char *path = "/api/v1/namespaces/default/configmaps";

    (void)state;
    rows_expect_int("made", ask_json(f, "POST", path, "{\"metadata\":{\"name\":\"a\"}}").status,
                    201);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct task task = { .f = f, .work = rows[i].work };

        for (size_t nth = 1; !task.finished; nth++) {
            task.arena = arena_create(0);
            task.turn++;
            arena_fail_at(task.arena, nth);
            rows_expect(rows[i].sentence,
                        (arena_run(task.arena, attempt, &task) == 0) == task.finished, "abandoned");
            arena_free(task.arena);
        }
        rows_expect_int(rows[i].sentence, ask_json(f, "GET", path, "").status, 200);
    }
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
