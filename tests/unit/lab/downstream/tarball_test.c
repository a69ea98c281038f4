/* SPDX-License-Identifier: Apache-2.0 */
/* tarball_test.c: charts as Helm packages them, read and stamped; and what is no chart. */
#include "support/rows.h"

#include "lab/downstream/charts.h"
#include "lab/downstream/tarball.h"
#include "text/zip.h"

#include <stdio.h>

enum { BLOCK = 512 };

/* A ustar entry, as tar writes it. */
static void put_file(struct strbuf *tar, const char *name, struct str bytes)
{
    char header[BLOCK] = { 0 };
    static const char zeros[BLOCK];
    unsigned sum = 0;

    snprintf(header, 100, "%s", name);
    snprintf(header + 124, 12, "%011lo", (unsigned long)bytes.len);
    memset(header + 148, ' ', 8);
    header[156] = '0';
    memcpy(header + 257, "ustar", 6);
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
    strbuf_put(tar, str_make(header, BLOCK));
    strbuf_put(tar, bytes);
    strbuf_put(tar, str_make(zeros, (BLOCK - bytes.len % BLOCK) % BLOCK));
}

static struct str a_chart(struct arena *arena)
{
    static const char zeros[2 * BLOCK];
    struct strbuf tar = strbuf_new(arena, 8192);

    put_file(&tar, "web/Chart.yaml",
             STR("name: web\nversion: 1.0.0\nannotations: {kept: \"1\", changed: \"1\"}\n"));
    put_file(&tar, "web/charts/db/values.yaml", STR("of: db\n"));
    put_file(&tar, "web/values.yaml", STR("of: web\n"));
    strbuf_put(&tar, str_make(zeros, sizeof(zeros)));
    return gzip_pack(arena, strbuf_str(&tar));
}

static void test_files(void **state)
{
    struct arena *arena = arena_create(0);
    struct str chart = a_chart(arena);
    struct str bytes = STR("");
    struct error err = { 0 };

    (void)state;
    assert_int_equal(tarball_file(arena, chart, STR("values.yaml"), &bytes, &err), 0);
    rows_expect_str("the chart's own values, not those of a chart in it", bytes, STR("of: web\n"));
    assert_int_equal(tarball_file(arena, chart, STR("README.md"), &bytes, &err), 0);
    rows_expect_str("a file that it has not is empty", bytes, STR(""));
    arena_free(arena);
}

static void test_stamp(void **state)
{
    struct arena *arena = arena_create(0);
    struct str chart = a_chart(arena);
    struct str metadata = STR("");
    struct str stamped = STR("");
    struct str bytes = STR("");
    struct error err = { 0 };

    (void)state;
    assert_int_equal(tarball_metadata(arena, chart, STR("{\"changed\":\"2\",\"new\":\"3\"}"),
                                      &metadata, &err),
                     0);
    rows_expect_str("annotations are added, and replace those of the same name", metadata,
                    STR("{\"name\":\"web\",\"version\":\"1.0.0\",\"annotations\":{\"kept\":\"1\","
                        "\"changed\":\"2\",\"new\":\"3\"}}"));
    assert_int_equal(
        tarball_replace(arena, chart, STR("Chart.yaml"), metadata, &stamped, &err), 0);
    assert_int_equal(tarball_file(arena, stamped, STR("Chart.yaml"), &bytes, &err), 0);
    rows_expect_str("the stamped chart has them", bytes, metadata);
    assert_int_equal(tarball_file(arena, stamped, STR("values.yaml"), &bytes, &err), 0);
    rows_expect_str("and all that it had", bytes, STR("of: web\n"));
    arena_free(arena);
}

static void test_garbage(void **state)
{
    struct arena *arena = arena_create(0);
    struct str bytes = STR("");
    struct str chart = a_chart(arena);
    struct str tar = STR("");
    struct error err = { 0 };

    (void)state;
    assert_int_equal(tarball_file(arena, STR("<html>"), STR("Chart.yaml"), &bytes, &err), -1);
    rows_expect_str("a web page is told as Go tells it", str_of(err.text),
                    STR("gzip: invalid header"));
    assert_int_equal(gzip_unpack(arena, chart, TARBALL_BYTES_MAX, &tar, &err), 0);
    /* Cut anywhere: an answer or an error, never a read behind the end. */
    for (size_t len = 0; len < tar.len; len += 37) {
        struct str cut = gzip_pack(arena, str_dup(arena, str_slice(tar, 0, len)));

        tarball_file(arena, cut, STR("values.yaml"), &bytes, &err);
        tarball_metadata(arena, cut, STR(""), &bytes, &err);
    }
    /* A size that is no number, or larger than the file. */
    static const char *const sizes[] = { "7777777777x", "77777777777", "zzzzzzzzzzz" };

    for (size_t i = 0; i < 3; i++) {
        char *broken = arena_alloc(arena, tar.len);

        memcpy(broken, tar.at, tar.len);
        memcpy(broken + 124, sizes[i], 11);
        rows_expect_int(sizes[i],
                        tarball_file(arena, gzip_pack(arena, str_make(broken, tar.len)),
                                     STR("values.yaml"), &bytes, &err),
                        -1);
    }
    arena_free(arena);
}

static const struct {
    const char *name, *chart, *version, *want;
} lookups[] = {
    { "the exact text", "web", "1.0.0", "1.0.0" },
    { "a range gives the newest that fits", "web", "^1.0.0", "1.2.0" },
    { "no version gives the newest release", "web", "", "2.0.0" },
    { "a constraint that nothing meets", "web", ">3", "no chart version found for web->3" },
    { "text that is no constraint", "web", "newest!", "improper constraint: newest!" },
    { "a chart that there is not", "db", "1.0.0", "no chart name found" },
};

static void test_find(void **state)
{
    static const struct str text =
        STR_INIT("{\"entries\":{\"web\":[{\"version\":\"2.0.0\",\"urls\":[\"web-2.0.0.tgz\"]},"
                 "{\"version\":\"3.0.0-rc.1\"},{\"version\":\"1.2.0\"},{\"version\":\"1.0.0\","
                 "\"urls\":[\"https://cdn.example.org/web.tgz\"]}]}}");
    struct arena *arena = arena_create(0);
    struct json index;
    struct json entry;
    struct error err = { 0 };

    (void)state;
    assert_int_equal(json_read(arena, text, &json_limits_default, &index, &err), 0);
    for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
        bool found = charts_find(arena, index, str_of(lookups[i].chart),
                                 str_of(lookups[i].version), &entry, &err) == 0;

        rows_expect_str(lookups[i].name,
                        found ? json_str(json_get(entry, STR("version"))) : str_of(err.text),
                        str_of(lookups[i].want));
    }
    charts_find(arena, index, STR("web"), STR("2.0.0"), &entry, &err);
    rows_expect_str("relative to the repository",
                    charts_url(arena, STR("http://charts.example.org/a/"), entry),
                    STR("http://charts.example.org/a/web-2.0.0.tgz"));
    charts_find(arena, index, STR("web"), STR("1.0.0"), &entry, &err);
    rows_expect_str("or anywhere", charts_url(arena, STR("http://charts.example.org"), entry),
                    STR("https://cdn.example.org/web.tgz"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_stamp),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_find),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
