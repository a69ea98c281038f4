/* SPDX-License-Identifier: Apache-2.0 */
/* names_test.c: names, keys, paths of requests. */
#include "support/rows.h"

#include "kube/names.h"
#include "kube/request.h"

#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void names_are_what_kubernetes_takes(void **state)
{
    static const struct {
        const char *row;
        struct str text;
        bool label, subdomain, key, value;
    } rows[] = {
        { "empty", STR_INIT(""), false, false, false, true },
        { "a word", STR_INIT("abc"), true, true, true, true },
        { "63", STR_INIT(A63), true, true, true, true },
        { "64", STR_INIT(A63 "a"), false, true, false, false },
        { "digits and dashes", STR_INIT("0-a-9"), true, true, true, true },
        { "a dash in front", STR_INIT("-a"), false, false, false, false },
        { "a dash behind", STR_INIT("a-"), false, false, false, false },
        { "dots", STR_INIT("a.b"), false, true, true, true },
        { "two dots", STR_INIT("a..b"), false, false, true, true },
        { "a dot behind", STR_INIT("a."), false, false, false, false },
        { "upper case", STR_INIT("A_b"), false, false, true, true },
        { "a prefix", STR_INIT("x.io/A"), false, false, true, false },
        { "an empty prefix", STR_INIT("/a"), false, false, false, false },
        { "no name behind a prefix", STR_INIT("x/"), false, false, false, false },
        { "two slashes", STR_INIT("a/b/c"), false, false, false, false },
        { "a NUL", STR_INIT("a\0b"), false, false, false, false },
        { "UTF-8", STR_INIT("\xc3\xa4"), false, false, false, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rows_expect_int(rows[i].row, !kube_not_dns1123_label(rows[i].text), rows[i].label);
        rows_expect_int(rows[i].row, !kube_not_dns1123_subdomain(rows[i].text),
                        rows[i].subdomain);
        rows_expect_int(rows[i].row, !kube_not_label_key(rows[i].text), rows[i].key);
        rows_expect_int(rows[i].row, !kube_not_label_value(rows[i].text), rows[i].value);
    }
    (void)state;
}

static void keys_of_data_are_what_kubernetes_takes(void **state)
{
    static const struct {
        const char *row;
        struct str text;
        bool data_key, env_name;
    } rows[] = {
        { "empty", STR_INIT(""), false, false },
        { "a word", STR_INIT("A_b-c.d"), true, true },
        { "a digit in front", STR_INIT("1a"), true, false },
        { "a dot in front", STR_INIT(".a"), true, true },
        { "a dot", STR_INIT("."), false, false },
        { "two dots in front", STR_INIT("..a"), false, false },
        { "two dots behind", STR_INIT("a.."), true, true },
        { "a space", STR_INIT("a b"), false, false },
        { "a slash", STR_INIT("a/b"), false, false },
        { "an equals sign", STR_INIT("a=b"), false, false },
        { "a NUL", STR_INIT("a\0b"), false, false },
        { "253", STR_INIT(A63 A63 A63 A63 "a"), true, true },
        { "254", STR_INIT(A63 A63 A63 A63 "aa"), false, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rows_expect_int(rows[i].row, !kube_not_data_key(rows[i].text), rows[i].data_key);
        rows_expect_int(rows[i].row, !kube_not_env_name(rows[i].text), rows[i].env_name);
    }
    (void)state;
}

static void names_in_metadata_are_what_kubernetes_takes(void **state)
{
    static const struct {
        const char *row;
        struct str text;
        bool annotation_key, generate_name;
    } rows[] = {
        { "empty", STR_INIT(""), false, false },
        { "a word", STR_INIT("abc"), true, true },
        { "one letter and a dash", STR_INIT("a-"), false, true },
        { "a dash behind", STR_INIT("abc-"), false, true },
        { "a dash alone", STR_INIT("-"), false, false },
        { "a dot behind", STR_INIT("abc."), false, false },
        { "upper case", STR_INIT("ABC-"), false, false },
        { "64", STR_INIT(A63 "a"), false, true },
        { "a prefix", STR_INIT("x.io/a"), true, false },
        { "a prefix in any case", STR_INIT("X.io/A"), true, false },
        { "a prefix that is none", STR_INIT("X_y.io/A"), false, false },
        { "no name behind a prefix", STR_INIT("X/"), false, false },
        { "an empty prefix", STR_INIT("/a"), false, false },
        { "two slashes", STR_INIT("a/b/c"), false, false },
        { "a blank", STR_INIT("a b"), false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rows_expect_int(rows[i].row, !kube_not_annotation_key(rows[i].text), rows[i].annotation_key);
        rows_expect_int(rows[i].row, !kube_not_generate_name(rows[i].text), rows[i].generate_name);
    }
}

static void requests_become_paths(void **state)
{
#define STACKS KUBE_RESOURCE_INIT("herd.suse.com", "v1", "stacks", "Stack", true)
#define PODS KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true)
    static const struct {
        const char *want;
        const char *method;
        struct kube_request request;
    } rows[] = {
        { "/api/v1/namespaces/a/pods/b", "GET",
          { .verb = KUBE_GET, .resource = PODS, .namespace_ = STR_INIT("a"),
            .name = STR_INIT("b") } },
        { "/apis/herd.suse.com/v1/stacks?labelSelector=a%3Db%2Cc&limit=500&continue=x%2By", "GET",
          { .verb = KUBE_LIST, .resource = STACKS, .label_selector = STR_INIT("a=b,c"),
            .limit = 500, .continue_ = STR_INIT("x+y") } },
        { "/k8s/clusters/c-1/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=300"
          "&resourceVersion=7", "GET",
          { .verb = KUBE_WATCH, .resource = PODS, .prefix = STR_INIT("/k8s/clusters/c-1"),
            .bookmarks = true, .timeout_s = 300, .resource_version = STR_INIT("7") } },
        { "/apis/herd.suse.com/v1/namespaces/a/stacks?dryRun=All", "POST",
          { .verb = KUBE_CREATE, .resource = STACKS, .namespace_ = STR_INIT("a"),
            .name = STR_INIT("b"), .dry_run = true } },
        { "/apis/herd.suse.com/v1/namespaces/a/stacks/b/status?fieldManager=herd&force=true",
          "PATCH",
          { .verb = KUBE_PATCH, .patch_type = KUBE_PATCH_APPLY, .resource = STACKS,
            .namespace_ = STR_INIT("a"), .name = STR_INIT("b"),
            .sub_resource = STR_INIT("status"), .field_manager = STR_INIT("herd"),
            .force = true } },
        { "/apis/herd.suse.com/v1/namespaces/%2E%2E/stacks/a%2Fb%3Fc?propagationPolicy=Foreground",
          "DELETE",
          { .verb = KUBE_DELETE, .resource = STACKS, .namespace_ = STR_INIT(".."),
            .name = STR_INIT("a/b?c"), .propagation_policy = STR_INIT("Foreground") } },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_str(rows[i].want, kube_request_path(arena, &rows[i].request),
                        str_of(rows[i].want));
        rows_expect_str(rows[i].want, str_of(kube_request_method(&rows[i].request)),
                        str_of(rows[i].method));
    }
    (void)state;
}

static void keys_split_as_they_were_made(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str namespace_, name;

    kube_key_split(kube_key(arena, STR("n"), STR("a")), &namespace_, &name);
    rows_expect_str("namespace", namespace_, STR("n"));
    rows_expect_str("name", name, STR("a"));
    kube_key_split(kube_key(arena, STR(""), STR("a")), &namespace_, &name);
    rows_expect_str("no namespace", namespace_, STR(""));
    rows_expect_str("name alone", name, STR("a"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_what_kubernetes_takes),
        cmocka_unit_test(keys_of_data_are_what_kubernetes_takes),
        cmocka_unit_test(names_in_metadata_are_what_kubernetes_takes),
        cmocka_unit_test(requests_become_paths),
        cmocka_unit_test(keys_split_as_they_were_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
