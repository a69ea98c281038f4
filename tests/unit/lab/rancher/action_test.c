/* SPDX-License-Identifier: Apache-2.0 */
/* action_test.c: bodies of actions, in Go's words where they are wrong; the command; the charts. */
#include "support/rows.h"

#include "lab/rancher/action.h"
#include "lab/rancher/catalogue.h"

static const struct {
    const char *name;
    struct str body;
    struct str error; /* "" = it is read */
} bodies[] = {
    { "an empty body is Go's EOF", STR_INIT(""), STR_INIT("EOF") },
    { "half a body is an unexpected EOF", STR_INIT("{\"wait\":true"), STR_INIT("unexpected EOF") },
    { "text is an invalid character", STR_INIT("hello"),
      STR_INIT("invalid character 'h' looking for beginning of value") },
    { "a numeric timeout is rejected", STR_INIT("{\"timeout\":600}"),
      STR_INIT("json: cannot unmarshal number into Go value of type string") },
    { "a timeout that is no duration", STR_INIT("{\"timeout\":\"soon\"}"),
      STR_INIT("time: invalid duration \"soon\"") },
    { "a wrong type names its field", STR_INIT("{\"wait\":\"yes\"}"),
      STR_INIT("json: cannot unmarshal string into Go struct field ChartUpgradeAction.wait of type "
               "bool") },
    { "null leaves a field alone", STR_INIT("{\"timeout\":null,\"wait\":null}"), STR_INIT("") },
    { "unknown fields are ignored", STR_INIT("{\"skipCRDs\":true,\"charts\":[]}"), STR_INIT("") },
    { "values that are no map", STR_INIT("{\"charts\":[{\"chartName\":\"a\",\"values\":[1]}]}"),
      STR_INIT("json: cannot unmarshal array into Go struct field ChartUpgradeAction.values of type "
               "map[string]interface {}") },
    { "a list is no action", STR_INIT("[]"),
      STR_INIT("json: cannot unmarshal array into Go value of type types.ChartUpgradeAction") },
};

static void test_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct arena *arena = arena_create(0);
        struct action action;
        struct error err = { 0 };
        int result = action_read(arena, TASK_UPGRADE, bodies[i].body, &action, &err);

        rows_expect_int(bodies[i].name, result, bodies[i].error.len ? -1 : 0);
        rows_expect_str(bodies[i].name, str_of(err.text), bodies[i].error);
        arena_free(arena);
    }
}

static void test_command(void **state)
{
    struct arena *arena = arena_create(0);
    struct action action;
    struct error err = { 0 };

    (void)state;
    assert_int_equal(
        action_read(arena, TASK_UPGRADE,
                    STR("{\"timeout\":\"10m0s\",\"wait\":true,\"namespace\":\"demo\","
                        "\"charts\":[{\"chartName\":\"nginx\",\"version\":\"1.2.3\","
                        "\"releaseName\":\"web\",\"resetValues\":true,"
                        "\"values\":{\"replicaCount\":2}}]}"),
                    &action, &err),
        0);
    rows_expect_str("options are sorted, as Rancher renders them",
                    action_command(arena, &action, &action.charts.items[0], STR("web"),
                                   STR("1.2.3"), STR("herd-3f9c1d2e")),
                    STR("[\"helm\",\"upgrade\",\"--history-max=5\",\"--install=true\","
                        "\"--labels=catalog.cattle.io/cluster-repo-name=herd-3f9c1d2e\","
                        "\"--namespace=demo\",\"--reset-values=true\",\"--timeout=10m0s\","
                        "\"--values=/home/shell/helm/values-nginx-1.2.3.yaml\","
                        "\"--version=1.2.3\",\"--wait=true\",\"web\","
                        "\"/home/shell/helm/nginx-1.2.3.tgz\"]"));
    arena_free(arena);
}

static const struct {
    const char *name;
    const char *repo, *chart, *version;
    const char *found; /* "" = error */
    const char *error;
} lookups[] = {
    { "an exact version", "https://qdrant.github.io/qdrant-helm", "qdrant", "0.7.4", "0.7.4", "" },
    { "a trailing slash does not count", "https://otwld.github.io/ollama-helm/", "ollama", "0.59.0",
      "0.59.0", "" },
    { "no version is the newest release", "https://charts.lab.example.org", "web", "", "1.3.0", "" },
    { "part of a version is a constraint", "https://charts.lab.example.org", "web", "1.2", "1.2.3",
      "" },
    { "a version without its v is found as a constraint", "https://helm.ngc.nvidia.com/nvidia",
      "gpu-operator", "24.3.0", "v24.3.0", "" },
    { "an unknown chart", "https://charts.lab.example.org", "nope", "1.0.0", "",
      "no chart name found" },
    { "an unknown version", "https://charts.lab.example.org", "web", "9.9.9", "",
      "no chart version found for web-9.9.9" },
    { "no version at all", "https://charts.lab.example.org", "web", "latest!", "",
      "improper constraint: latest!" },
};

static void test_lookups(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
        struct arena *arena = arena_create(0);
        const struct catalogue_repo *repo = catalogue_repo_of(str_of(lookups[i].repo));
        const struct catalogue_chart *chart = NULL;
        struct error err = { 0 };

        assert_non_null(repo);
        catalogue_find(arena, repo, str_of(lookups[i].chart), str_of(lookups[i].version), &chart,
                       &err);
        rows_expect_str(lookups[i].name, chart ? chart->version : STR(""),
                        str_of(lookups[i].found));
        rows_expect_str(lookups[i].name, str_of(err.text), str_of(lookups[i].error));
        arena_free(arena);
    }
    assert_null(catalogue_repo_of(STR("https://nobody.example.org")));
}

/* Every row of the table: its repository is there, its version parses, its fault exists. */
static void test_table(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < catalogue_chart_count(); i++) {
        struct arena *arena = arena_create(0);
        const struct catalogue_chart *chart = catalogue_chart_at(i);
        struct json json;
        struct error err = { 0 };

        rows_expect(chart->name.at, !chart->fault.len || fault_from(chart->fault) != FAULT_NONE,
                    "its fault is a row of faults.def");
        rows_expect_int(chart->name.at,
                        json_read(arena, catalogue_metadata(arena, chart, STR("{\"a\":\"b\"}")),
                                  &json_limits_default, &json, &err),
                        0);
        rows_expect_int(chart->name.at,
                        json_read(arena, catalogue_values(arena, chart), &json_limits_default,
                                  &json, &err),
                        0);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
