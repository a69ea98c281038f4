/* SPDX-License-Identifier: Apache-2.0 */
/* server_wire_test.c: what the server of SUSE Observability is asked, and what its answers say. */
#include "support/rows.h"

#include "base/limits.h"
#include "controller/backends/observability/server_wire.h"

static struct str_list list_of(struct arena *arena, const char *words)
{
    struct str_list list = str_list_new(arena, 4);
    struct str left = str_of(words);
    struct str word;

    while (left.len && str_split(&left, ' ', &word))
        str_list_push(&list, word);
    return list;
}

static void a_query_names_its_clusters(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list clusters = list_of(arena, "lab.a lab-b");
    struct str_list namespaces = list_of(arena, "shop");
    struct str_list many = str_list_new(arena, 65);

    (void)state;
    rows_expect_str("one query", server_samples_path(arena, &clusters, &namespaces),
                    STR("/prometheus/api/v1/query?query=min%20by%20%28k8s_cluster_name%2Ck8s_namespace_name%2Ck8s_pod_name%29%20%28up"
                        "%7Bk8s_cluster_name%3D~%22lab%5B.%5Da%7Clab-b%22%2Ck8s_namespace_name%3D~%22shop%22%2Ck8s_pod_name%21%3D%22%22"
                        "%7D%29%20or%20count%20by%20%28k8s_cluster_name%2Ck8s_namespace_name%2Ck8s_pod_name%29%20%28"
                        "%7Bk8s_cluster_name%3D~%22lab%5B.%5Da%7Clab-b%22%2Ck8s_namespace_name%3D~%22shop%22%2Ck8s_pod_name%21%3D%22%22"
                        "%7D%29"));
    for (int i = 0; i < 65; i++)
        str_list_push(&many, str_fmt(arena, "ns-%d", i));

    struct str path = server_samples_path(arena, &clusters, &many);

    rows_expect("too many namespaces are not named", str_find(path, STR("ns-1"), 0) < 0, path.at);
    rows_expect("the clusters are", str_find(path, STR("lab-b"), 0) >= 0, path.at);
}

static void a_name_that_means_something_in_a_query_is_not_put_there(void **state)
{
    static const struct {
        const char *row, *name;
        bool can;
    } rows[] = {
        { "a name", "lab-a_1.example", true },
        { "none", "", false },
        { "a quote", "a\"b", false },
        { "a backslash", "a\\b", false },
        { "an alternative", "a|b", false },
        { "a bracket", "a[b", false },
        { "a line", "a\nb", false },
        { "of 63 bytes", "a23456789a23456789a23456789a23456789a23456789a23456789a23456789", true },
        { "longer", "a23456789a23456789a23456789a23456789a23456789a23456789a234567890", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        rows_expect_int(rows[i].row, server_can_name(str_slice(str_of(rows[i].name), 0, 64)), rows[i].can);
}

static void a_server_says_its_version(void **state)
{
    static const struct {
        const char *row, *body;
        int want;
    } rows[] = {
        { "its version", "{\"version\":{\"major\":7},\"deploymentMode\":\"SelfHosted\"}", 0 },
        { "something else", "{\"ok\":true}", -1 },
        { "a page", "<html>", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct error err = { 0 };

        rows_expect_int(rows[i].row, server_info_read(arena, str_of(rows[i].body), &err), rows[i].want);
    }
}

static void clusters_are_instances_of_one_stackpack(void **state)
{
    static const struct {
        const char *row, *body, *want;
    } rows[] = {
        { "two", "[{\"name\":\"common\",\"configurations\":[{\"config\":{\"kubernetes_cluster_name\":\"x\"}}]},"
                 "{\"name\":\"kubernetes-v2\",\"configurations\":[{\"id\":1,\"config\":{\"kubernetes_cluster_name\":\"a\"}},"
                 "{\"status\":\"ERROR\",\"config\":{\"kubernetes_cluster_name\":\"b\"}}]}]", "a b " },
        { "none", "[{\"name\":\"kubernetes-v2\",\"configurations\":[]}]", "" },
        { "an instance without a name", "[{\"name\":\"kubernetes-v2\",\"configurations\":[{\"config\":{}}]}]", " " },
        { "no list", "{}", "error" },
        { "a page", "<html>", "error" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf out = strbuf_new(arena, 64);
        struct str_list names;
        struct error err = { 0 };

        if (server_clusters_read(arena, str_of(rows[i].body), &names, &err) < 0)
            strbuf_lit(&out, "error");
        for (uint32_t k = 0; err.code == ERROR_NONE && k < names.count; k++)
            strbuf_fmt(&out, "%.*s ", STR_ARG(names.items[k]));
        rows_expect_str(rows[i].row, strbuf_str(&out), str_of(rows[i].want));
    }
}

#define SERIES(cluster, pod, value) \
    "{\"metric\":{\"k8s_cluster_name\":\"" cluster "\",\"k8s_namespace_name\":\"shop\",\"k8s_pod_name\":\"" pod "\"}," \
    "\"value\":[1,\"" value "\"]}"
#define VECTOR(series) "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" series "]}}"

static void samples_go_to_their_cluster(void **state)
{
    static const struct {
        const char *row, *body, *want;
    } rows[] = {
        { "each to its own", VECTOR(SERIES("a", "web-0", "1") "," SERIES("b", "web-0", "0")), "a:shop/web-0=1 b:shop/web-0=0 " },
        { "how many series there are", VECTOR(SERIES("a", "web-0", "214")), "a:shop/web-0=214 " },
        { "of a cluster that was not asked for", VECTOR(SERIES("c", "web-0", "1")), "" },
        { "without a pod", VECTOR(SERIES("a", "", "1")), "" },
        { "without a number", VECTOR(SERIES("a", "web-0", "NaN")), "" },
        { "nothing", VECTOR(""), "" },
        { "an error", "{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"no\"}", "its query API says: no" },
        { "a page", "<html>", "its query API answered with what is not JSON" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct samples a = samples_new(arena, 1), b = samples_new(arena, 1);
        struct map *by_cluster = map_new(arena, 2);
        struct strbuf out = strbuf_new(arena, 64);
        struct error err = { 0 };

        map_put(by_cluster, STR("a"), &a);
        map_put(by_cluster, STR("b"), &b);
        if (server_samples_read(arena, str_of(rows[i].body), by_cluster, &err) < 0)
            strbuf_fmt(&out, "%.44s", err.text);
        for (uint32_t c = 0; c < 2; c++) {
            const struct samples *samples = map_value(by_cluster, c);

            for (uint32_t k = 0; k < samples->count; k++)
                strbuf_fmt(&out, "%.*s:%.*s/%.*s=%g ", STR_ARG(map_key(by_cluster, c)),
                           STR_ARG(samples->items[k].namespace_), STR_ARG(samples->items[k].pod), samples->items[k].value);
        }
        rows_expect_str(rows[i].row, strbuf_str(&out), str_of(rows[i].want));
    }
}

static void a_query_for_gpus_names_its_clusters(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list clusters = list_of(arena, "lab.a lab-b");

    (void)state;
    rows_expect_str(
        "one query", server_gpus_path(arena, &clusters),
        STR("/prometheus/api/v1/"
            "query?query=avg_over_time%28DCGM_FI_DEV_GPU_UTIL%7Bk8s_cluster_name%3D~%22lab%5B.%5Da%"
            "7Clab-b"
            "%22%2CUUID%21%3D%22%22%7D%5B5m%5D%29%20or%20100%20%2A%20avg_over_time%28DCGM_FI_PROF_"
            "GR_ENGINE_ACTIVE%7B"
            "k8s_cluster_name%3D~%22lab%5B.%5Da%7Clab-b%22%2CUUID%21%3D%22%22%7D%5B5m%5D%29"));
}

#define GPU(cluster, labels, value)                                                                \
    "{\"metric\":{\"k8s_cluster_name\":\"" cluster                                                 \
    "\",\"k8s_namespace_name\":\"gpu-operator\",\"k8s_pod_name\":"                                 \
    "\"exporter\"," labels "},\"value\":[1,\"" value "\"]}"

static void gpus_are_of_the_pods_that_hold_them(void **state)
{
    static const struct {
        const char *row, *body, *want;
    } rows[] = {
        { "whose is in exported labels",
          VECTOR(GPU("a",
                     "\"exported_namespace\":\"shop\",\"exported_pod\":\"llm-0\",\"UUID\":\"G1\"",
                     "75")),
          "shop/llm-0 G1=75 " },
        { "or in the exporter's own, and a slice",
          VECTOR(GPU("a",
                     "\"namespace\":\"shop\",\"pod\":\"llm-0\",\"UUID\":\"G1\",\"GPU_I_ID\":\"2\"",
                     "20")),
          "shop/llm-0 G1/2=20 " },
        { "nobody holds it", VECTOR(GPU("a", "\"UUID\":\"G1\"", "0")), "" },
        { "it has no name", VECTOR(GPU("a", "\"namespace\":\"shop\",\"pod\":\"llm-0\"", "9")), "" },
        { "of a cluster that was not asked for",
          VECTOR(GPU("c", "\"namespace\":\"shop\",\"pod\":\"llm-0\",\"UUID\":\"G1\"", "9")), "" },
        { "an error", "{\"status\":\"error\",\"error\":\"no\"}", "its query API says: no" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct samples a = samples_new(arena, 1);
        struct map *by_cluster = map_new(arena, 1);
        struct strbuf out = strbuf_new(arena, 64);
        struct error err = { 0 };

        map_put(by_cluster, STR("a"), &a);
        if (server_gpus_read(arena, str_of(rows[i].body), by_cluster, &err) < 0)
            strbuf_fmt(&out, "%s", err.text);
        for (uint32_t k = 0; k < a.count; k++)
            strbuf_fmt(&out, "%.*s/%.*s %.*s=%g ", STR_ARG(a.items[k].namespace_),
                       STR_ARG(a.items[k].pod), STR_ARG(a.items[k].gpu), a.items[k].value);
        rows_expect_str(rows[i].row, strbuf_str(&out), str_of(rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_names_its_clusters),
        cmocka_unit_test(a_name_that_means_something_in_a_query_is_not_put_there),
        cmocka_unit_test(a_server_says_its_version),
        cmocka_unit_test(clusters_are_instances_of_one_stackpack),
        cmocka_unit_test(samples_go_to_their_cluster),
        cmocka_unit_test(a_query_for_gpus_names_its_clusters),
        cmocka_unit_test(gpus_are_of_the_pods_that_hold_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
