/* SPDX-License-Identifier: Apache-2.0 */
/* serving_certificate_test.c: what stands there, and the one write that comes next. */
#include "support/rows.h"

#include "kube/limits.h"
#include "kube/serving_certificate.h"

#define DAY ((int64_t)24 * 3600 * 1000)
#define NOW (1000 * DAY)

static const struct serving_policy policy = {
    .leaf_lifetime_ms = 90 * DAY,
    .leaf_renew_before_ms = 30 * DAY,
    .ca_lifetime_ms = 365 * DAY,
    .ca_renew_before_ms = 120 * DAY,
    .settle_ms = 300000,
};

/* A CA as "name:days left:can it sign"; a bundle as the names of its CAs, each one letter. */
static const struct row {
    const char *name;
    const char *current, *next, *previous; /* letter and whether it signs: "a+", "a-", "" */
    int current_days, next_days;
    const char *issuer; /* of the leaf; "" = unknown; NULL = no leaf that can be used */
    int leaf_days;      /* left */
    const char *mutating, *validating; /* NULL = none; "!" behind it: webhooks differ */
    bool waited;                       /* all this has been so for settle_ms */
    enum serving_action action;
    const char *bundle; /* that is to be written */
} rows[] = {
    { "nothing at all: a CA first", "", "", "", 0, 0, NULL, 0, "", "", false, SERVING_ISSUE_CA,
      NULL },
    { "a new CA goes into caBundle before it signs", "a+", "", "", 365, 0, NULL, 0, "", "", false,
      SERVING_WRITE_BUNDLE, "a" },
    { "into the second configuration too", "a+", "", "", 365, 0, NULL, 0, "a", "", false,
      SERVING_WRITE_BUNDLE, "a" },
    { "with nothing to lose it signs at once", "a+", "", "", 365, 0, NULL, 0, "a", "a", false,
      SERVING_ISSUE_LEAF, NULL },
    { "without configurations too", "a+", "", "", 365, 0, NULL, 0, NULL, NULL, false,
      SERVING_ISSUE_LEAF, NULL },
    { "all is well", "a+", "", "", 365, 0, "a", 90, "a", "a", false, SERVING_REST, NULL },
    { "a configuration that came anew", "a+", "", "", 365, 0, "a", 90, "a", "", true,
      SERVING_WRITE_BUNDLE, "a" },
    { "one whose webhooks differ", "a+", "", "", 365, 0, "a", 90, "a", "a!", true,
      SERVING_WRITE_BUNDLE, "a" },
    { "a leaf near its end", "a+", "", "", 365, 0, "a", 30, "a", "a", false, SERVING_ISSUE_LEAF,
      NULL },
    { "a leaf not so near its end", "a+", "", "", 365, 0, "a", 31, "a", "a", true, SERVING_REST,
      NULL },
    { "a leaf that is over", "a+", "", "", 365, 0, "a", -1, "a", "a", false, SERVING_ISSUE_LEAF,
      NULL },
    { "a leaf from the future", "a+", "", "", 365, 0, "a", 5000, "a", "a", false,
      SERVING_ISSUE_LEAF, NULL },
    { "a leaf that cannot be used", "a+", "", "", 365, 0, NULL, 0, "a", "a", false,
      SERVING_ISSUE_LEAF, NULL },
    { "a leaf of a stranger", "a+", "", "", 365, 0, "", 90, "a", "a", false, SERVING_ISSUE_LEAF,
      NULL },
    { "a leaf that ends with its CA is not renewed for nothing", "a+", "b+", "", 20, 365, "a", 20,
      "ab", "ab", false, SERVING_REST, NULL },
    { "a CA near its end: the next one", "a+", "", "", 120, 0, "a", 90, "a", "a", false,
      SERVING_ISSUE_NEXT, NULL },
    { "its successor joins caBundle", "a+", "b+", "", 120, 365, "a", 90, "a", "a", false,
      SERVING_WRITE_BUNDLE, "ab" },
    { "and is not used before all API servers know", "a+", "b+", "", 120, 365, "a", 90, "ab", "ab",
      false, SERVING_REST, NULL },
    { "while the old one goes on signing", "a+", "b+", "", 120, 365, "a", 10, "ab", "ab", false,
      SERVING_ISSUE_LEAF, NULL },
    { "then it takes over", "a+", "b+", "", 120, 365, "a", 90, "ab", "ab", true, SERVING_PROMOTE,
      NULL },
    { "a restart waits anew before the new CA signs", "b+", "", "a-", 365, 0, "a", 90, "ba", "ba",
      false, SERVING_REST, NULL },
    { "then it signs", "b+", "", "a-", 365, 0, "a", 90, "ba", "ba", true, SERVING_ISSUE_LEAF,
      NULL },
    { "unless the old leaf ends at once", "b+", "", "a-", 365, 0, "a", 0, "ba", "ba", false,
      SERVING_ISSUE_LEAF, NULL },
    { "the old CA stays while its leaf may be shown", "b+", "", "a-", 365, 0, "b", 90, "ba", "ba",
      false, SERVING_REST, NULL },
    { "also in a caBundle that was emptied", "b+", "", "a-", 365, 0, "b", 90, "", "ba", false,
      SERVING_WRITE_BUNDLE, "ba" },
    { "then it is forgotten", "b+", "", "a-", 365, 0, "b", 90, "ba", "ba", true, SERVING_FORGET,
      NULL },
    { "and leaves caBundle", "b+", "", "", 365, 0, "b", 90, "ba", "ba", true, SERVING_WRITE_BUNDLE,
      "b" },
    { "a next CA waits until the previous one is forgotten", "b+", "c+", "a-", 120, 365, "a", 90,
      "bca", "bca", false, SERVING_REST, NULL },
    { "a CA without its key is replaced", "a-", "", "", 365, 0, "a", 90, "a", "a", true,
      SERVING_ISSUE_CA, NULL },
    { "by the next one, if there is one", "a-", "b+", "", 365, 365, "a", 90, "a", "a", true,
      SERVING_PROMOTE, NULL },
    { "an expired CA is replaced", "a+", "", "", -1, 0, "a", 90, "a", "a", true, SERVING_ISSUE_CA,
      NULL },
    { "a next CA without its key is replaced", "a+", "b-", "", 120, 365, "a", 90, "a", "a", true,
      SERVING_ISSUE_NEXT, NULL },
    { "a lost CA is believed on while its leaf is shown", "b+", "", "", 365, 0, "a", 90, "a", "a",
      true, SERVING_WRITE_BUNDLE, "ba" },
    { "even if caBundle was emptied, where the leaf's Secret knows it", "b+", "", "", 365, 0, "a",
      90, "", "", true, SERVING_WRITE_BUNDLE, "ba" },
    { "a foreign CA in caBundle stays until the leaf has settled", "b+", "", "", 365, 0, "b", 90,
      "bx", "bx", false, SERVING_REST, NULL },
    { "and goes then", "b+", "", "", 365, 0, "b", 90, "bx", "bx", true, SERVING_WRITE_BUNDLE, "b" },
};

static struct serving_ca ca_of(struct arena *arena, const char *text, int days)
{
    if (!text[0])
        return (struct serving_ca){ 0 };
    return (struct serving_ca){ str_dup(arena, str_make(text, 1)), NOW - DAY, NOW + days * DAY,
                                text[1] == '+' };
}

static struct serving_bundle bundle_of(struct arena *arena, const char *text)
{
    struct serving_bundle bundle = { .exists = text != NULL, .even = true,
                                     .cas = serving_cas_new(arena, 4) };
    struct str names = str_of(text);

    if (str_ends(names, STR("!"))) {
        bundle.even = false;
        names.len--;
    }
    bundle.text = names;
    for (size_t i = 0; i < names.len; i++)
        serving_cas_push(&bundle.cas, (struct serving_ca){ .pem = str_slice(names, i, i + 1) });
    return bundle;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct serving_bundle bundles[] = { bundle_of(arena, row->mutating),
                                                  bundle_of(arena, row->validating) };
        struct serving_facts facts = {
            .ca = { ca_of(arena, row->current, row->current_days),
                    ca_of(arena, row->next, row->next_days), ca_of(arena, row->previous, 100) },
            .leaf = { row->issuer != NULL, NOW + (row->leaf_days > 1000 ? DAY : -DAY),
                      NOW + row->leaf_days * DAY + (row->leaf_days ? 0 : 1), str_of(row->issuer) },
            .bundles = bundles,
            .bundle_count = 2,
            .now_wall_ms = NOW,
        };
        struct serving_memory memory = { 0 };

        if (row->waited) {
            (void)serving_step(&memory, &facts, &policy, arena);
            facts.now_ms += policy.settle_ms;
        }

        struct serving_step step = serving_step(&memory, &facts, &policy, arena);

        rows_expect_str(row->name, str_of(serving_action_name(step.action)),
                        str_of(serving_action_name(row->action)));
        if (row->bundle)
            rows_expect_str(row->name, step.text, str_of(row->bundle));
        if (step.action == SERVING_REST)
            rows_expect(row->name,
                        step.look_again_ms > 0 && step.look_again_ms <= LIMIT_CERTIFICATE_LOOK,
                        "looks again within the minute");
    }
}

/* What is issued: since yesterday, no longer than its CA. */
static void test_dates(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct serving_facts facts = { .ca.current = { STR("a"), NOW - DAY / 2, NOW + 200 * DAY, true },
                                   .now_wall_ms = NOW };
    struct serving_memory memory = { 0 };
    struct serving_step step = serving_step(&memory, &facts, &policy, arena);

    (void)state;
    rows_expect_int("a leaf is no older than its CA", step.not_before_ms, NOW - DAY / 2);
    rows_expect_int("a leaf's life", step.not_after_ms, NOW + 90 * DAY);
    facts.ca.current.not_after_ms = NOW + 50 * DAY;
    facts.ca.next = (struct serving_ca){ STR("b"), NOW - DAY, NOW + 300 * DAY, true };
    step = serving_step(&memory, &facts, &policy, arena);
    rows_expect_int("a leaf ends with its CA", step.not_after_ms, NOW + 50 * DAY);
    facts.ca = (struct serving_slots){ 0 };
    step = serving_step(&memory, &facts, &policy, arena);
    rows_expect_int("a CA holds since yesterday", step.not_before_ms, NOW - DAY);
    rows_expect_int("a CA's life", step.not_after_ms, NOW + 365 * DAY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_dates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
