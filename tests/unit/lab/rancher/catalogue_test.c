/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue_test.c: why a repository has no index, in the words that Rancher has for its kind. */
#include "support/rows.h"

#include "lab/rancher/catalogue.h"

#define HOST "registry.example.org"
#define NO_HOST "dial tcp: lookup " HOST " on 10.43.0.10:53: no such host"

static const struct row {
    const char *sentence;
    enum repo_answer answer;
    struct str url;
    struct str want;
} rows[] = {
    { "an index is no failure", REPO_INDEX, STR_INIT("https://" HOST), STR_INIT("") },
    { "a plain repository is asked for its index", REPO_DOWN, STR_INIT("https://" HOST "/a/"),
      STR_INIT("Get \"https://" HOST "/a/index.yaml\": " NO_HOST) },
    { "a registry's repository for its tags", REPO_DOWN, STR_INIT("oci://" HOST "/charts/web"),
      STR_INIT("Get \"https://" HOST "/v2/charts/web/tags/list\": " NO_HOST) },
    { "a registry alone for its repositories", REPO_DOWN, STR_INIT("oci://" HOST "/"),
      STR_INIT("Get \"https://" HOST "/v2/_catalog\": " NO_HOST) },
    { "a page where an index belongs", REPO_HTML, STR_INIT("https://" HOST),
      STR_INIT("failed to parse response from https://" HOST "/index.yaml") },
    { "a page where JSON belongs", REPO_HTML, STR_INIT("oci://" HOST "/charts"),
      STR_INIT("GET \"https://" HOST "/v2/charts/tags/list\": failed to decode response: invalid "
               "character '<' looking for beginning of value") },
    { "a registry that rejects", REPO_DENIED, STR_INIT("oci://" HOST "/charts"),
      STR_INIT("error 401: Unauthorized") },
};

static void test_rows(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_str(rows[i].sentence,
                        catalogue_repo_failure(arena, rows[i].answer, rows[i].url), rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
