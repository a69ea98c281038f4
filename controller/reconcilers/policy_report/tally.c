/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c: for each Stack the counts that went into the figures, so that they can be taken out. */
#include "controller/reconcilers/policy_report/tally.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/metrics.h"

struct counts {
    struct policy_set *set;
    uint16_t (*of)[REPORT_RESULTS]; /* by policy of the set */
};

struct tally {
    struct metrics *metrics;
    struct policy_set *set;
    struct dict *stacks;  /* key -> struct counts */
    size_t validated;     /* of these, those by `set` */
    struct dict *figures; /* policy -> struct tally_stacks */
    void (*changed)(void *context, struct str policy);
    void *context;
};

struct tally *tally_create(struct metrics *metrics,
                           void (*changed)(void *context, struct str policy), void *context)
{
    struct tally *tally = mem_new(struct tally);

    tally->metrics = metrics;
    tally->changed = changed;
    tally->context = context;
    tally->figures = dict_create();
    tally->stacks = dict_create();
    return tally;
}

static void counts_free(struct counts *counts)
{
    policy_set_unref(counts->set);
    mem_free(counts->of);
    mem_free(counts);
}

void tally_free(struct tally *tally)
{
    size_t cursor = 0;
    struct str key;
    void *counts;

    if (!tally)
        return;
    while (dict_next(tally->stacks, &cursor, &key, &counts))
        counts_free(counts);
    dict_free(tally->stacks);
    for (cursor = 0; dict_next(tally->figures, &cursor, &key, &counts);)
        mem_free(counts);
    dict_free(tally->figures);
    policy_set_unref(tally->set);
    mem_free(tally);
}

static void add(struct tally *tally, struct str policy, int result, double by)
{
    const struct str labels[] = { policy, str_of(report_result_name((enum report_result)result)) };

    metrics_add(tally->metrics, CONTROLLER_POLICY_RESULTS, labels, by);
}

/* What one Stack came to is counted, or is no more (`by` -1). */
static void count_stack(struct tally *tally, const struct counts *counts, uint32_t policy, int by)
{
    const uint16_t *of = counts->of[policy];
    struct str name = policy_set_name(counts->set, policy);
    struct tally_stacks *stacks = dict_get(tally->figures, name);

    if (!of[REPORT_PASS] && !of[REPORT_FAIL] && !of[REPORT_WARN])
        return;
    if (!stacks) {
        stacks = mem_new(struct tally_stacks);
        dict_set(tally->figures, name, stacks);
    }
    stacks->matching += by;
    stacks->violating += of[REPORT_FAIL] || of[REPORT_WARN] ? by : 0;
    if (!stacks->matching)
        mem_free(dict_remove(tally->figures, name));
    tally->changed(tally->context, name);
}

struct tally_stacks tally_stacks_of(const struct tally *tally, struct str policy)
{
    const struct tally_stacks *stacks = dict_get(tally->figures, policy);

    return stacks ? *stacks : (struct tally_stacks){ 0, 0 };
}

size_t tally_validated(const struct tally *tally)
{
    return tally->validated;
}

/* Figures of a policy that is none any more, once nothing is counted in them. */
static void drop_empty(struct tally *tally, struct str policy)
{
    if (tally->set && policy_set_find(tally->set, policy) >= 0)
        return;
    for (int i = 0; i < REPORT_RESULTS; i++) {
        const struct str labels[] = { policy, str_of(report_result_name((enum report_result)i)) };

        if (metrics_value(tally->metrics, CONTROLLER_POLICY_RESULTS, labels) == 0)
            metrics_remove(tally->metrics, CONTROLLER_POLICY_RESULTS, labels);
    }
}

void tally_use(struct tally *tally, struct policy_set *set)
{
    struct policy_set *before = tally->set;

    tally->set = policy_set_ref(set);
    tally->validated = 0;
    for (uint32_t i = 0; i < policy_set_count(set); i++)
        for (int result = 0; result < REPORT_RESULTS; result++)
            add(tally, policy_set_name(set, i), result, 0);
    for (uint32_t i = 0; before && i < policy_set_count(before); i++)
        drop_empty(tally, policy_set_name(before, i));
    policy_set_unref(before);
}

void tally_forget(struct tally *tally, struct str key)
{
    struct counts *counts = dict_remove(tally->stacks, key);

    if (!counts)
        return;
    tally->validated -= counts->set == tally->set;
    for (uint32_t i = 0; i < policy_set_count(counts->set); i++) {
        bool counted = false;

        count_stack(tally, counts, i, -1);

        for (int result = 0; result < REPORT_RESULTS; result++) {
            if (!counts->of[i][result])
                continue;
            add(tally, policy_set_name(counts->set, i), result, -(double)counts->of[i][result]);
            counted = true;
        }
        if (counted)
            drop_empty(tally, policy_set_name(counts->set, i));
    }
    counts_free(counts);
}

void tally_put(struct tally *tally, struct str key, struct policy_set *set,
               const struct policy_results *results)
{
    struct counts *counts = mem_new(struct counts);

    tally_forget(tally, key);
    counts->set = policy_set_ref(set);
    counts->of = mem_alloc(sizeof(*counts->of) * (policy_set_count(set) + 1));
    for (uint32_t i = 0; i < results->count; i++) {
        const struct policy_result *one = &results->items[i];

        counts->of[one->policy]
                  [report_result_of(policy_set_action(set, one->policy), one->findings)]++;
    }
    tally->validated += set == tally->set;
    for (uint32_t i = 0; i < policy_set_count(set); i++)
        count_stack(tally, counts, i, 1);
    for (uint32_t i = 0; i < policy_set_count(set); i++)
        for (int result = 0; result < REPORT_RESULTS; result++)
            if (counts->of[i][result])
                add(tally, policy_set_name(set, i), result, counts->of[i][result]);
    dict_set(tally->stacks, key, counts);
}
