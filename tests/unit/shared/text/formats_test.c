/* SPDX-License-Identifier: Apache-2.0 */
/* formats_test.c: small texts with a grammar: quantities, versions, times, base64, digests. */
#include "support/rows.h"

#include "base/rng.h"
#include "text/base64.h"
#include "text/digest.h"
#include "text/quantity.h"
#include "text/semver.h"
#include "text/time.h"

static void quantities_are_read_as_kubernetes_does(void **state)
{
    static const struct {
        const char *text;
        const char *want; /* NULL: rejected */
    } rows[] = {
        { "0", "0" },
        { "2", "2" },
        { "100m", "100m" },
        { "1500m", "1500m" },
        { "1.5", "1500m" },
        { ".5", "500m" },
        { "1.", "1" },
        { "+1", "1" },
        { "-1.5", "-1500m" },
        { "2k", "2000" },
        { "1Ki", "1024" },
        { "16Gi", "17179869184" },
        { "1.5Gi", "1610612736" },
        { "0.5Mi", "524288" },
        { "1E", "9223372036854775807m" },
        { "3E2", "300" },
        { "2e3", "2000" },
        { "12e-2", "120m" },
        { "1e+2", "100" },
        { "0.0001", "1m" }, /* rounded up */
        { "1.0001", "1001m" },
        { "1n", "1m" },
        { "1000000n", "1m" },
        { "1000001n", "2m" },
        { "9999999999999999999999", "9223372036854775807m" }, /* capped */
        { "8Ei", "9223372036854775807m" },
        { "1e999999999", "9223372036854775807m" },
        { "1e-999999999", "1m" },
        { "000001.50000", "1500m" },
        { "", NULL },
        { "m", NULL },
        { ".", NULL },
        { "-", NULL },
        { "1.2.3", NULL },
        { "1 Gi", NULL },
        { " 1", NULL },
        { "1gi", NULL },
        { "1K", NULL },
        { "1KiB", NULL },
        { "1e", NULL },
        { "1e1.5", NULL },
        { "0x10", NULL },
        { "1e99999999999999999999", NULL },
        { "--1", NULL },
        { "one", NULL },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct quantity quantity = { 77 };
        struct strbuf out = strbuf_new(arena, 0);
        struct error err = { 0 };
        int result = quantity_parse(str_of(rows[i].text), &quantity, &err);

        rows_expect_int(rows[i].text, result, rows[i].want ? 0 : -1);
        if (result < 0) {
            rows_expect_int(rows[i].text, quantity.milli, 77);
            continue;
        }
        quantity_write(quantity, &out);
        rows_expect_str(rows[i].text, strbuf_str(&out), str_of(rows[i].want));
    }
    (void)state;
}

static void quantities_do_not_overflow(void **state)
{
    struct quantity most = { INT64_MAX };
    struct quantity half = { 500 };

    assert_true(quantity_add(most, half).milli == INT64_MAX);
    assert_true(quantity_times(most, 2).milli == INT64_MAX);
    assert_true(quantity_times(most, -2).milli == -INT64_MAX);
    assert_int_equal(quantity_times(half, 3).milli, 1500);
    assert_true(quantity_is_whole(quantity_add(half, half)));
    assert_false(quantity_is_whole(half));
    (void)state;
}

static void versions_are_semver(void **state)
{
    static const char *const bad[] = { "", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.03", "1.2.3-", "1.2.3-a..b",
                                       "1.2.3-01", "1.2.3+", "1.2.3 ", "V1.2.3", "vv1.2.3", "1.2.3-\xc3\xa9",
                                       "99999999999999999999.0.0", "1.-2.3", "latest" };
    /* SemVer 11: each below the next. */
    static const char *const ascending[] = { "0.0.1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
                                             "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
                                             "1.0.0", "1.0.1-0", "v1.0.1+build.7", "1.9.0", "1.10.0", "2.0.0" };
    struct semver a;
    struct semver b;
    struct error err;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        rows_expect_int(bad[i], semver_parse(str_of(bad[i]), &a, &err), -1);
    for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
        rows_expect_int(ascending[i], semver_parse(str_of(ascending[i]), &a, &err), 0);
        for (size_t k = 0; k < sizeof(ascending) / sizeof(ascending[0]); k++) {
            assert_int_equal(semver_parse(str_of(ascending[k]), &b, &err), 0);
            rows_expect_int(ascending[k], semver_cmp(&a, &b), i < k ? -1 : i > k);
        }
    }
    assert_int_equal(semver_parse(STR("1.2.3-rc.1+x.y"), &a, &err), 0);
    rows_expect_str("pre", a.pre, STR("rc.1"));
    rows_expect_str("build", a.build, STR("x.y"));
    (void)state;
}

static void ranges_are_those_of_helm(void **state)
{
    static const struct {
        const char *range;
        const char *in;  /* versions, by spaces */
        const char *out;
    } rows[] = {
        { "1.2.3", "1.2.3 v1.2.3 1.2.3+b", "1.2.4 1.2.3-a" },
        { "=1.2", "1.2.0 1.2.9", "1.3.0 1.2.0-a" },
        { "*", "0.0.0 9.9.9", "1.0.0-a" },
        { "1.x", "1.0.0 1.9.0", "2.0.0 0.9.0" },
        { "1.X.5", "1.0.0 1.9.0", "2.0.0" },
        { "1.2.*", "1.2.0 1.2.9", "1.3.0" },
        { "^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0 1.3.0-a" },
        { "^1.2", "1.2.0 1.9.0", "1.1.9 2.0.0" },
        { "^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2 1.0.0" },
        { "^0.0.3", "0.0.3", "0.0.4 0.1.0" },
        { "^0.0", "0.0.0 0.0.9", "0.1.0" },
        { "^0", "0.0.0 0.9.0", "1.0.0" },
        { "^1.2.0-beta", "1.2.0-beta 1.2.0-rc 1.5.0 1.5.0-a", "1.2.0-alpha 2.0.0" },
        { "~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2" },
        { "~1.2", "1.2.0 1.2.9", "1.3.0" },
        { "~1", "1.0.0 1.9.0", "2.0.0" },
        { "~> 1.2", "1.2.5", "1.3.0" },
        { ">1.2", "1.3.0 2.0.0", "1.2.9 1.2.0" },
        { ">1.2.0", "1.2.1", "1.2.0" },
        { ">1", "2.0.0", "1.9.0" },
        { "<2", "1.9.9", "2.0.0 2.1.0 1.0.0-a" },
        { "<=1.2", "1.2.9 1.0.0", "1.3.0" },
        { "=<1.2.0", "1.2.0", "1.2.1" },
        { ">=1.2, <2 || 3.x", "1.2.0 1.9.0 3.5.0", "2.0.0 1.1.0 4.0.0" },
        { ">=1.2 <2", "1.5.0", "2.0.0 1.0.0" },
        { "1.2 - 1.4", "1.2.0 1.4.9", "1.5.0 1.1.0" },
        { "1.2.0 - 1.4.0", "1.4.0", "1.4.1" },
        { "!=1.2.3", "1.2.4 1.2.3-a", "1.2.3" },
        { "!=1.2", "1.3.0", "1.2.0 1.2.5" },
        { " >= 1.0.0 ", "1.0.0", "0.9.0" },
        { ">=1.0.0-0", "1.0.0-a 1.0.0 2.0.0-b", "0.9.0" },
    };
    static const char *const bad[] = { "", " ", "||", "1.2 ||", "a", "1.2.3.4", ">", "> >1", "1.2,,1.3", "1.2,",
                                       ">=1.2<2", "1.2 -1.4x", "^^1", "1.2.3-", "=>=1", "1..2" };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct semver_range *range;
        struct error err = { 0 };

        if (semver_range_parse(arena, str_of(rows[i].range), &range, &err) < 0)
            fail_msg("%s: %s", rows[i].range, err.text);
        for (int in = 0; in < 2; in++) {
            struct str rest = str_of(in ? rows[i].in : rows[i].out);
            struct str version;

            while (str_split(&rest, ' ', &version)) {
                struct semver v;

                assert_int_equal(semver_parse(version, &v, &err), 0);
                if (semver_range_has(range, &v) != (bool)in)
                    fail_msg("%s %s %.*s", rows[i].range, in ? "lacks" : "has", STR_ARG(version));
            }
        }
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct semver_range *range;
        struct error err = { 0 };

        rows_expect_int(bad[i], semver_range_parse(arena, str_of(bad[i]), &range, &err), -1);
    }
    (void)state;
}

static void a_range_with_nothing_in_it_is_told(void **state)
{
    static const struct {
        const char *range;
        bool empty;
    } rows[] = {
        { ">2, <1", true }, { ">=1.2.3, <1.2.3", true }, { ">1.2.3, <1.2.4", true }, { "1.2.3, 1.2.4", true },
        { "^1, ^2", true }, { "~1.2, >=1.3", true }, { "=1.2.3 !=1.2.3", true }, { "1.x, !=1", true }, { "<0", true },
        { ">2, <1 || >4, <3", true }, { "3 - 2", true }, { "!=1, !=0, <2", true },
        { "1.2.3", false }, { "*", false }, { ">=1.2.3, <=1.2.3", false }, { ">1.2.3, <1.2.5", false }, { "!=1, !=0", false },
        { ">2, <1 || 3.x", false }, { ">1.2", false }, { ">1.2, <1.4", false },
        { ">1.2.3-rc.1, <1.2.3", false /* some versions of Helm take 1.2.3-rc.2 for it */ },
        { "^1.2.3, ~1.2", false }, { "!=0.0.0, !=0.0.1, <0.0.3", false },
        { ">9, <1, >9, <1, >9, <1, >9, <1, >9", false /* too long to be looked at */ },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct semver_range *range;
        struct error err;

        rows_expect_int(rows[i].range, semver_range_parse(arena, str_of(rows[i].range), &range, &err), 0);
        rows_expect_int(rows[i].range, semver_range_is_empty(range), rows[i].empty);
    }
}

static struct str any_range(struct arena *arena, struct rng *rng)
{
    static const char *const operators[] = { "", "=", "!=", ">", "<", ">=", "<=", "~", "^" };
    struct strbuf out = strbuf_new(arena, 64);

    for (uint64_t left = rng_below(rng, 4); ; left--) {
        strbuf_put(&out, str_of(operators[rng_below(rng, 9)]));
        strbuf_fmt(&out, "%d", (int)rng_below(rng, 3));
        for (uint64_t part = rng_below(rng, 3); part < 2; part++)
            strbuf_fmt(&out, ".%d", (int)rng_below(rng, 3));
        if (!left)
            return strbuf_str(&out);
        strbuf_put(&out, rng_below(rng, 4) ? STR(", ") : STR(" || "));
    }
}

/* Asked of every version that could matter, from the first to behind the last. */
static bool has_some(const struct semver_range *range)
{
    for (uint64_t number = 0; number < 64; number++) {
        struct semver v = { number % 4, number / 4 % 4, number / 16, STR(""), STR("") };

        if (semver_range_has(range, &v))
            return true;
    }
    return false;
}

static void a_range_is_empty_if_no_version_is_in_it(void **state)
{
    uint32_t empty = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rng rng = rng_from_seed(seed);
        struct str text = any_range(arena, &rng);
        struct semver_range *range;
        struct error err;

        if (semver_range_parse(arena, text, &range, &err) < 0)
            fail_msg("%.*s: %s", STR_ARG(text), err.text);
        rows_expect_int(text.at, semver_range_is_empty(range), !has_some(range));
        empty += semver_range_is_empty(range);
    }
    rows_expect("some are empty, and most are not", empty > 200 && empty < 4000, "of 5000");
}

static void times_are_rfc_3339(void **state)
{
    static const struct {
        const char *text;
        bool good;
        int64_t ms;
    } rows[] = {
        { "1970-01-01T00:00:00Z", true, 0 },
        { "2024-01-15T10:30:00Z", true, 1705314600000 },
        { "2024-01-15T10:30:00.123456Z", true, 1705314600123 },
        { "2024-01-15T10:30:00.1Z", true, 1705314600100 },
        { "2024-01-15T12:30:00+02:00", true, 1705314600000 },
        { "2024-01-15T05:00:00-05:30", true, 1705314600000 },
        { "2024-02-29T00:00:00Z", true, 1709164800000 },
        { "1969-12-31T23:59:59.500Z", true, -500 },
        { "0001-01-01T00:00:00Z", true, -62135596800000 },
        { "9999-12-31T23:59:59Z", true, 253402300799000 },
        { "2023-02-29T00:00:00Z", false, 0 },
        { "2024-13-01T00:00:00Z", false, 0 },
        { "2024-00-01T00:00:00Z", false, 0 },
        { "2024-01-01T24:00:00Z", false, 0 },
        { "2024-01-01T00:00:60Z", false, 0 },
        { "2024-01-01T00:00:00", false, 0 },
        { "2024-01-01 00:00:00Z", false, 0 },
        { "2024-01-01T00:00:00.Z", false, 0 },
        { "2024-01-01T00:00:00+24:00", false, 0 },
        { "2024-01-01T00:00:00Zx", false, 0 },
        { "24-01-01T00:00:00Z", false, 0 },
        { "", false, 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t ms = 0;
        struct error err;

        rows_expect_int(rows[i].text, time_parse_rfc3339(str_of(rows[i].text), &ms, &err),
                        rows[i].good ? 0 : -1);
        rows_expect_int(rows[i].text, ms, rows[i].ms);
    }
    (void)state;
}

static void times_are_written(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    int64_t ms = 0;
    struct error err;

    rows_expect_str("time", time_rfc3339(arena, 1705314600999), STR("2024-01-15T10:30:00Z"));
    rows_expect_str("before 1970", time_rfc3339(arena, -500), STR("1969-12-31T23:59:59Z"));
    rows_expect_str("micro", time_rfc3339_micro(arena, 1705314600123), STR("2024-01-15T10:30:00.123000Z"));
    assert_int_equal(time_parse_http_date(STR("Sun, 06 Nov 1994 08:49:37 GMT"), &ms, &err), 0);
    assert_int_equal(ms, 784111777000);
    assert_int_equal(time_parse_http_date(STR("Sunday, 06-Nov-94 08:49:37 GMT"), &ms, &err), -1);
    assert_int_equal(time_parse_http_date(STR("Sun, 31 Feb 1994 08:49:37 GMT"), &ms, &err), -1);
    rows_expect_str("s", time_short(arena, 45999), STR("45s"));
    rows_expect_str("0", time_short(arena, -3), STR("0s"));
    rows_expect_str("m", time_short(arena, 4 * 60000 + 59000), STR("4m"));
    rows_expect_str("h", time_short(arena, 11520000), STR("3h12m"));
    rows_expect_str("whole h", time_short(arena, 3 * 3600000), STR("3h"));
    rows_expect_str("d", time_short(arena, 2 * 86400000 + 5), STR("2d"));
    /* Each day of 400 years there and back. */
    for (int64_t day = -146097; day < 146097; day += 1) {
        struct str text;

        if (day % 97 != 0)
            continue;
        text = time_rfc3339(arena, day * 86400000);
        assert_int_equal(time_parse_rfc3339(text, &ms, &err), 0);
        rows_expect_int(text.at, ms, day * 86400000);
    }
    (void)state;
}

static void base64_is_rfc_4648(void **state)
{
    static const char *const pairs[][2] = {
        { "", "" },         { "f", "Zg==" },         { "fo", "Zm8=" },        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
    };
    static const char *const bad[] = { "Z", "Zg", "Zg=", "Zg===", "Zm9v=", "Z=g=", "Zg==Zg==", "Zm9*", "Zm-_", "=" };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str bytes;
    struct error err;

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        rows_expect_str(pairs[i][0], base64_encode(arena, str_of(pairs[i][0])), str_of(pairs[i][1]));
        assert_int_equal(base64_decode(arena, str_of(pairs[i][1]), &bytes, &err), 0);
        rows_expect_str(pairs[i][1], bytes, str_of(pairs[i][0]));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        rows_expect_int(bad[i], base64_decode(arena, str_of(bad[i]), &bytes, &err), -1);
    assert_int_equal(base64_decode(arena, STR(" Zm9v\r\n YmFy\t"), &bytes, &err), 0);
    rows_expect_str("white space", bytes, STR("foobar"));
    rows_expect_str("any byte", base64_encode(arena, STR("\0\xff\x80")), STR("AP+A"));
    (void)state;
}

static void digests_are_sha_256(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    /* FIPS 180-2, appendix B.1; and of nothing. */
    rows_expect_str("abc", digest_sha256_hex(arena, STR("abc")),
                    STR("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    rows_expect_str("nothing", digest_sha256_hex(arena, (struct str){ NULL, 0 }),
                    STR("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    (void)state;
}

/* RFC 4231, 4.2 to 4.8; of 4.6 nothing, because nobody cuts one here. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_read_as_kubernetes_does),
        cmocka_unit_test(quantities_do_not_overflow),
        cmocka_unit_test(versions_are_semver),
        cmocka_unit_test(ranges_are_those_of_helm),
        cmocka_unit_test(a_range_with_nothing_in_it_is_told),
        cmocka_unit_test(a_range_is_empty_if_no_version_is_in_it),
        cmocka_unit_test(times_are_rfc_3339),
        cmocka_unit_test(times_are_written),
        cmocka_unit_test(base64_is_rfc_4648),
        cmocka_unit_test(digests_are_sha_256),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
