/* SPDX-License-Identifier: Apache-2.0 */
/* access_rounds_test.c: what is asked round by round, and what each cluster comes to. */
#include "support/rows.h"

#include "stack/access/access_rounds.h"

#define SIX "c-1 c-2 c-3 c-4 c-5 c-6"

/* Charts go to the namespaces db, app and db again. Around each name is a space: CLUSTER, CLUSTER:NAMESPACE, * for
 * all clusters; among `clusters`, ? for one that is not known. */
static const struct {
    const char *says;
    const char *clusters;
    bool all_first;
    const char *yes, *awaited, *trouble; /* a no for all else */
    const char *asked;                   /* in turn, with '|' between the rounds */
    const char *found;                   /* ! denied, ? unknown; of what is denied, its namespaces */
} rows[] = {
    { "nowhere, nothing is asked", "", false, "", "", "", "", "" },
    { "a yes ends it", "c-1", false, " c-1 ", "", "", "c-1", "c-1" },
    { "a no leads to its namespaces", "c-1", false, " c-1:db c-1:app ", "", "", "c-1|c-1:db c-1:app", "c-1" },
    { "one that is denied is enough", "c-1", false, " c-1:db ", "", "", "c-1|c-1:db c-1:app", "c-1!app" },
    { "also beside one that is not known", "c-1", false, "", "", " c-1:db ", "c-1|c-1:db c-1:app", "c-1!app" },
    { "one that is not known leaves the cluster so", "c-1", false, " c-1:app ", "", " c-1:db ", "c-1|c-1:db c-1:app",
      "c-1?c-1:db" },
    { "each cluster is a matter of its own", "c-1 c-2 c-3", false, " c-1 ", "", " c-3 ", "c-1 c-2 c-3|c-2:db c-2:app",
      "c-1 c-2!db!app c-3?c-3" },
    { "any cluster has no namespaces to ask about", "?", false, "", "", "", "*", "!" },
    { "of many, all come first", SIX, false, " * ", "", "", "*", SIX },
    { "without them, each", SIX, false, " " SIX " ", "", "", "*|" SIX, SIX },
    { "also if that is not known", SIX, false, " " SIX " ", "", " * ", "*|" SIX, SIX },
    { "what is awaited for all keeps each waiting", SIX, false, "", " * ", "", "*", "c-1? c-2? c-3? c-4? c-5? c-6?" },
    { "of few, all come first where that is wanted", "c-1", true, " * ", "", "", "*", "c-1" },
};

static bool stands_in(struct arena *arena, const char *list, struct str name)
{
    return str_find(str_of(list), str_fmt(arena, " %.*s ", STR_ARG(name)), 0) >= 0;
}

static struct access_found answer(struct arena *arena, size_t row, const struct access_question *q, struct strbuf *asked)
{
    struct str name = q->namespace_.len ? str_fmt(arena, "%.*s:%.*s", STR_ARG(q->cluster), STR_ARG(q->namespace_))
                      : q->cluster.len  ? q->cluster
                                        : STR("*");

    strbuf_fmt(asked, "%s%.*s", asked->len && asked->at[asked->len - 1] != '|' ? " " : "", STR_ARG(name));
    if (stands_in(arena, rows[row].awaited, name))
        return (struct access_found){ .awaited = true, .trouble = STR(""), .until_ms = -1 };
    if (stands_in(arena, rows[row].trouble, name))
        return (struct access_found){ .trouble = name, .until_ms = 10 };
    return (struct access_found){ .answer = stands_in(arena, rows[row].yes, name) ? ACCESS_YES : ACCESS_NO,
                                  .trouble = STR(""), .until_ms = name.len > 4 ? 20 : 30 };
}

static struct str run(struct arena *arena, size_t row, struct access_rounds *rounds)
{
    struct strbuf asked = strbuf_new(arena, 256);
    struct access_questions questions;
    struct access_found *found = NULL;

    while (access_rounds_step(rounds, found, &questions)) {
        if (asked.len)
            strbuf_char(&asked, '|');
        found = arena_array(arena, struct access_found, questions.count);
        for (uint32_t i = 0; i < questions.count; i++)
            found[i] = answer(arena, row, &questions.items[i], &asked);
    }
    return strbuf_str(&asked);
}

static struct str found_text(struct arena *arena, const struct access_rounds *rounds)
{
    struct strbuf text = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < rounds->targets.count; i++) {
        const struct access_target *target = &rounds->targets.items[i];

        strbuf_fmt(&text, "%s%.*s", i ? " " : "", STR_ARG(target->cluster));
        if (target->found.answer == ACCESS_UNKNOWN)
            strbuf_fmt(&text, "?%.*s", STR_ARG(target->found.trouble));
        else if (target->found.answer == ACCESS_NO && !target->denied.count)
            strbuf_lit(&text, "!");
        for (uint32_t k = 0; k < target->denied.count; k++)
            strbuf_fmt(&text, "!%.*s", STR_ARG(target->denied.items[k]));
    }
    return strbuf_str(&text);
}

static struct access_rounds rounds_of(struct arena *arena, size_t row)
{
    static const char *const namespaces[] = { "db", "app", "db" };
    struct stack stack = { .spec.charts = charts_new(arena, 3) };
    struct str rest = str_of(rows[row].clusters), cluster;

    for (size_t i = 0; i < 3; i++)
        charts_push(&stack.spec.charts, (struct chart){ .namespace_ = str_of(namespaces[i]) });

    struct access_rounds rounds = access_rounds_new(arena, &stack);

    rounds.all_first = rows[row].all_first;
    while (str_split(&rest, ' ', &cluster))
        if (cluster.len)
            access_rounds_add(&rounds, str_eq(cluster, STR("?")) ? STR("") : cluster);
    return rounds;
}

static void each_round_follows_from_the_one_before(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct access_rounds rounds = rounds_of(arena, i);

        rows_expect_str(rows[i].says, run(arena, i, &rounds), str_of(rows[i].asked));
        rows_expect_str(rows[i].says, found_text(arena, &rounds), str_of(rows[i].found));
    }
}

/* By the answer that is over first; what was never known is over already. */
static void what_is_found_counts_as_long_as_all_of_it(void **state)
{
    static const struct {
        const char *says;
        size_t row;
        int64_t until_ms;
    } of[] = {
        { "one answer", 1, 30 }, { "the namespaces", 2, 20 }, { "an unknown namespace", 4, -1 },
        { "all awaited", 11, -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct access_rounds rounds = rounds_of(arena, of[i].row);

        run(arena, of[i].row, &rounds);
        rows_expect_int(of[i].says, rounds.targets.items[0].found.until_ms, of[i].until_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_round_follows_from_the_one_before),
        cmocka_unit_test(what_is_found_counts_as_long_as_all_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
