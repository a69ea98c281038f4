/* SPDX-License-Identifier: Apache-2.0 */
/* management_cluster_test.c: which of Rancher's clusters can be used, and why others cannot. */
#include "support/rows.h"

#include "controller/clusters/management_cluster.h"

static struct json parse(struct arena *arena, const char *text)
{
    struct error err = { .code = ERROR_NONE };
    struct json root;

    if (json_read(arena, str_of(text), &json_limits_default, &root, &err) < 0)
        fail_msg("%s", err.text);
    return root;
}

static void a_cluster_is_usable_or_says_why_not(void **state)
{
    static const struct {
        const char *name;
        const char *conditions;
        bool usable;
        bool disconnected;
        const char *message;
    } rows[] = {
        { "Ready and Connected is usable",
          "{\"type\":\"Connected\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"True\"}",
          true, false, "" },
        { "Ready without a word on Connected is usable",
          "{\"type\":\"Ready\",\"status\":\"True\"}", true, false, "" },
        { "not Connected is not usable whatever Ready says",
          "{\"type\":\"Connected\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"True\"}",
          false, true, "its agent is not connected" },
        { "not Ready says why",
          "{\"type\":\"Connected\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"False\","
          "\"reason\":\"Disconnected\",\"message\":\"Cluster agent is not connected\"}",
          false, true, "Cluster agent is not connected" },
        { "no conditions is not usable", "", false, false, "it is not Ready" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct management_cluster cluster;
        struct strbuf kept = strbuf_new(arena, 64);
        struct str text = str_fmt(
            arena,
            "{\"metadata\":{\"name\":\"c-m-1\",\"labels\":{\"env\":\"edge\"}},\"spec\":{"
            "\"displayName\":\"store\",\"internal\":false},\"status\":{\"conditions\":[%s]}}",
            rows[i].conditions);

        management_cluster_keep(NULL, parse(arena, text.at), &kept);
        management_cluster_kept(arena, strbuf_str(&kept), &cluster);
        rows_expect_int(rows[i].name, cluster.usable, rows[i].usable);
        rows_expect_int(rows[i].name, cluster.disconnected, rows[i].disconnected);
        rows_expect_str(rows[i].name, cluster.message, str_of(rows[i].message));
        rows_expect_str(rows[i].name, json_raw(cluster.labels), STR("{\"env\":\"edge\"}"));
        rows_expect_str(rows[i].name, cluster.display_name, STR("store"));
    }
}

static void nodes_that_come_or_go_are_another_size(void **state)
{
    static const struct {
        const char *name, *status;
        bool same;
    } rows[] = {
        { "as before", "\"nodeCount\":2,\"capacity\":{\"cpu\":\"8\"}", true },
        { "one more", "\"nodeCount\":3,\"capacity\":{\"cpu\":\"8\"}", false },
        { "a larger one", "\"nodeCount\":2,\"capacity\":{\"cpu\":\"12\"}", false },
        { "what pods ask for is no size", "\"nodeCount\":2,\"capacity\":{\"cpu\":\"8\"},\"requested\":{\"cpu\":\"1\"}", true },
        { "nothing is known", "", false },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str first = STR("");

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct management_cluster cluster;
        struct strbuf kept = strbuf_new(arena, 64);

        management_cluster_keep(NULL, parse(arena, str_fmt(arena, "{\"status\":{%s}}", rows[i].status).at), &kept);
        management_cluster_kept(arena, strbuf_str(&kept), &cluster);
        first = i ? first : cluster.size;
        rows_expect_int(rows[i].name, str_eq(cluster.size, first), rows[i].same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_is_usable_or_says_why_not),
        cmocka_unit_test(nodes_that_come_or_go_are_another_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
