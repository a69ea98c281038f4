/* SPDX-License-Identifier: Apache-2.0 */
/* text_property_test.c: laws of values, on generated ones.
 *
 * HERD_CASES sets how many cases each law gets (default 10,000). A failure prints the seed of its case:
 * HERD_SEED=N runs that case alone. */
#include "support/rows.h"

#include "base/rng.h"
#include "text/patch.h"
#include "text/yaml.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- values ---- */

static const char *const words[] = {
    "",     "a",    "name", "spec", "charts", "a/b",  "m~n",  "yes",        "on",    "1",
    "0x1F", "null", "~",    "a: b", "#x",     "- x",  "x\ny", "x\ny\n",     "\n",    " x",
    "x ",   "\t",   "\x01", "\xc3\xa9", "\xe2\x80\xa8", "\xf0\x9f\x98\x80", "\xef\xbb\xbf", "\"q\"", "it's",
    "|",    "<<",   "1.5",  "2024-01-01", "12:30", "a  b", "\\", "%", "---", "...", "x\n\n", "\x7f", "key with space",
    "x\n y\n", "x\n\ty", "!t", "&a", "*a", "@", "`", "{", "]", "=", "a:", ":a", "?", "? x",
};

static const char *const numbers[] = {
    "0", "-0", "1", "-17", "9007199254740993", "0.10", "1e3", "1E-7", "12345678901234567890123", "-1.5e+300",
    "1e-400", "100000000000000000000000000000e-10",
};

static struct str any_word(struct rng *rng)
{
    return str_of(words[rng_below(rng, sizeof(words) / sizeof(words[0]))]);
}

static struct value *any_value(struct arena *arena, struct rng *rng, uint32_t depth, bool nulls)
{
    uint64_t kind = rng_below(rng, depth ? 8 : 5);
    struct value *value;

    switch (kind) {
    case 0:
        return nulls ? value_null(arena) : value_bool(arena, false);
    case 1:
        return value_bool(arena, rng_below(rng, 2));
    case 2:
        return value_number(arena,
                            str_of(numbers[rng_below(rng, sizeof(numbers) / sizeof(numbers[0]))]));
    case 3:
    case 4:
        return value_str(arena, any_word(rng));
    case 5:
        value = value_array(arena);
        for (uint64_t n = rng_below(rng, 6); n > 0; n--)
            value_append(value, any_value(arena, rng, depth - 1, nulls));
        return value;
    default:
        value = value_object(arena);
        for (uint64_t n = rng_below(rng, 6); n > 0; n--)
            value_set(arena, value, any_word(rng), any_value(arena, rng, depth - 1, nulls));
        return value;
    }
}

/* `value` with a few changes: what patches are usually asked to bridge. */
static struct value *changed(struct arena *arena, const struct value *value, struct rng *rng,
                             bool nulls)
{
    struct value *result;

    if (rng_below(rng, 8) == 0)
        return any_value(arena, rng, 2, nulls);
    switch (value_kind(value)) {
    case JSON_OBJECT:
        result = value_object(arena);
        for (const struct value *m = value_first(value); m; m = value_next(m))
            if (rng_below(rng, 6))
                value_set(arena, result, value_key(m), changed(arena, m, rng, nulls));
        if (rng_below(rng, 3) == 0)
            value_set(arena, result, any_word(rng), any_value(arena, rng, 1, nulls));
        return result;
    case JSON_ARRAY:
        result = value_array(arena);
        for (const struct value *e = value_first(value); e; e = value_next(e)) {
            if (rng_below(rng, 6) == 0)
                value_append(result, any_value(arena, rng, 1, nulls));
            if (rng_below(rng, 6))
                value_append(result, changed(arena, e, rng, nulls));
        }
        return result;
    case JSON_ABSENT:
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_NUMBER:
    case JSON_STRING:
        break;
    }
    return value_clone(arena, value);
}

/* ---- laws: each says whether it holds, and puts what it looked at into `shown` ---- */

static bool reads_back(struct arena *arena, struct rng *rng, struct strbuf *shown)
{
    struct value *x = any_value(arena, rng, 5, true);
    struct value *again;
    struct error err = { 0 };

    value_write(x, false, shown);
    return value_read(arena, strbuf_str(shown), &json_limits_default, &again, &err) == 0 &&
           value_equal(x, again) && str_eq(value_json(arena, again), strbuf_str(shown));
}

static bool equality_is_that_of_views(struct arena *arena, struct rng *rng, struct strbuf *shown)
{
    struct value *a = any_value(arena, rng, 3, true);
    struct value *b = rng_below(rng, 2) ? changed(arena, a, rng, true) : value_clone(arena, a);
    struct strbuf sorted = strbuf_new(arena, 64);
    struct json x;
    struct json y;
    struct error err = { 0 };

    value_write(b, true, &sorted); /* another order of members */
    strbuf_fmt(shown, "%s and %s", value_json(arena, a).at, strbuf_str(&sorted).at);
    return json_read(arena, value_json(arena, a), &json_limits_default, &x, &err) == 0 &&
           json_read(arena, strbuf_str(&sorted), &json_limits_default, &y, &err) == 0 &&
           json_equal(x, y) == value_equal(a, b) && value_equal(a, b) == value_equal(b, a) &&
           value_equal(value_of(arena, y), b);
}

static bool a_diff_leads_there(struct arena *arena, struct rng *rng, struct strbuf *shown)
{
    struct value *a = any_value(arena, rng, 4, true);
    struct value *b = changed(arena, a, rng, true);
    struct str patch = patch_diff(arena, a, b);
    struct value *got = NULL;
    struct error err = { 0 };

    strbuf_fmt(shown, "%s to %s by %s", value_json(arena, a).at, value_json(arena, b).at, patch.at);
    return patch_apply(arena, a, patch, &got, &err) == 0 && value_equal(got, b) &&
           str_eq(patch_diff(arena, got, b), STR("[]")) &&
           str_eq(patch, STR("[]")) == value_equal(a, b);
}

static bool a_merge_diff_leads_there(struct arena *arena, struct rng *rng, struct strbuf *shown)
{
    struct value *a = any_value(arena, rng, 4, true);
    struct value *b = changed(arena, a, rng, false);

    /* What holds a null cannot be reached by a merge patch: leave those that a passed on. */
    b = value_merge(arena, NULL, b);

    struct value *merge = patch_merge_diff(arena, a, b);

    strbuf_fmt(shown, "%s to %s by %s", value_json(arena, a).at, value_json(arena, b).at,
               value_json(arena, merge).at);
    return value_equal(patch_merge(arena, a, merge), b);
}

static bool merging_twice_is_merging_once(struct arena *arena, struct rng *rng,
                                          struct strbuf *shown)
{
    struct value *base = any_value(arena, rng, 4, true);
    struct value *over = any_value(arena, rng, 4, true);
    struct value *once = value_merge(arena, base, over);

    strbuf_fmt(shown, "%s over %s", value_json(arena, over).at, value_json(arena, base).at);
    return value_equal(value_merge(arena, once, over), once);
}

static bool yaml_reads_back(struct arena *arena, struct rng *rng, struct strbuf *shown)
{
    struct value *x = any_value(arena, rng, 5, true);
    struct yaml_documents documents;
    struct value *again;
    struct json view;
    struct error err = { 0 };

    if (json_read(arena, value_json(arena, x), &json_limits_default, &view, &err) < 0)
        return false;
    yaml_write(view, shown);
    if (yaml_read(arena, strbuf_str(shown), &documents, &err) < 0 || documents.count != 1) {
        strbuf_fmt(shown, "\n%s", err.text);
        return false;
    }
    return value_read(arena, documents.items[0].json, &json_limits_default, &again, &err) == 0 &&
           value_equal(x, again);
}

/* ---- running them ---- */

static uint64_t environment_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t number;

    return text && str_to_u64(str_of(text), &number) ? number : otherwise;
}

static void check(const char *name, bool (*law)(struct arena *, struct rng *, struct strbuf *))
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    uint64_t cases = environment_number("HERD_CASES", 10000);
    uint64_t first = environment_number("HERD_SEED", 0);

    if (first)
        cases = 1;
    for (uint64_t i = 0; i < cases; i++) {
        uint64_t seed = first ? first : i + 1;
        struct rng rng = rng_from_seed(seed);
        struct strbuf shown;

        arena_reset(arena);
        shown = strbuf_new(arena, 256);
        if (!law(arena, &rng, &shown))
            fail_msg("%s fails; repeat with HERD_SEED=%" PRIu64 "\n%s", name, seed,
                     strbuf_str(&shown).at);
    }
}

#define LAW(name)                                                                                  \
    static void law_##name(void **state)                                                           \
    {                                                                                              \
        (void)state;                                                                               \
        check(#name, name);                                                                        \
    }

LAW(reads_back)
LAW(equality_is_that_of_views)
LAW(a_diff_leads_there)
LAW(a_merge_diff_leads_there)
LAW(merging_twice_is_merging_once)
LAW(yaml_reads_back)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_reads_back),
        cmocka_unit_test(law_equality_is_that_of_views),
        cmocka_unit_test(law_a_diff_leads_there),
        cmocka_unit_test(law_a_merge_diff_leads_there),
        cmocka_unit_test(law_merging_twice_is_merging_once),
        cmocka_unit_test(law_yaml_reads_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
