/* SPDX-License-Identifier: Apache-2.0 */
/* workloads_test.c: what an App is made of, and what is said of it. */
#include "support/rows.h"

#include "controller/backends/rancher_apps/workloads.h"
#include "support/stack_builder.h"

#define RESOURCES                                                                                                      \
    "[{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"name\":\"web\",\"namespace\":\"shop\"},"                            \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"web\",\"namespace\":\"shop\"},"                     \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"name\":\"db\",\"namespace\":\"data\"},"                     \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"a b\",\"namespace\":\"shop\"},"                     \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"x\",\"namespace\":\"..\"},"                         \
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Deployment\",\"name\":\"x\",\"namespace\":\"shop\"}]"
#define WORKLOADS "Deployment/shop/web StatefulSet/data/db "

static void an_app_names_its_workloads(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    rows_expect_str("of all resources", workloads_of_app(arena, test_json(arena, STR(RESOURCES))), STR(WORKLOADS));
    rows_expect_str("of none", workloads_of_app(arena, test_json(arena, STR("[]"))), STR(""));
    rows_expect_str("of what is no list", workloads_of_app(arena, test_json(arena, STR("{}"))), STR(""));
}

struct world {
    const char *web, *db;
};

static struct str find(const void *context, struct str kind, struct str key)
{
    const struct world *world = context;

    if (str_eq(kind, STR("Deployment")) && str_eq(key, STR("shop/web")))
        return str_of(world->web);
    if (str_eq(kind, STR("StatefulSet")) && str_eq(key, STR("data/db")))
        return str_of(world->db);
    return STR("");
}

static void health_names_what_is_wrong(void **state)
{
    static const struct {
        const char *row, *web, *db, *message;
        bool failed;
    } rows[] = {
        { "all is well", "0shop/web\n", "0data/db\n", "", false },
        { "one is on its way", "1shop/web\n0 of 1 replica is ready", "0data/db\n", "Deployment web: 0 of 1 replica is ready", false },
        { "one was deleted", "0shop/web\n", "", "StatefulSet db: it does not exist", false },
        { "one failed", "2shop/web\nno progress", "0data/db\n", "Deployment web: no progress", true },
        { "two are not as they should be", "1shop/web\na", "2data/db\nb", "Deployment web: a (and 1 more)", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct world world = { rows[i].web, rows[i].db };
        struct observed_health health = workloads_health(arena, STR(WORKLOADS), find, &world);

        rows_expect_str(rows[i].row, health.message, str_of(rows[i].message));
        rows_expect_int(rows[i].row, health.failed, rows[i].failed);
    }
}

static void only_its_own_are_looked_at(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct world world = { "0shop/web\n", "0data/other\n" };

    (void)state;
    rows_expect_str("Helm says whose", workloads_owned(arena, STR(WORKLOADS), STR("shop/web"), find, &world),
                    STR("Deployment/shop/web "));
    world.web = world.db = "0";
    rows_expect_str("while nothing is known, those of its namespace",
                    workloads_owned(arena, STR(WORKLOADS), STR("shop/web"), find, &world), STR("Deployment/shop/web "));
    world.web = "";
    rows_expect_str("of one that is not there nothing is known",
                    workloads_owned(arena, STR(WORKLOADS), STR("shop/web"), find, &world), STR(""));
}

static void what_is_kept_comes_back(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 64);
    struct json deployment = test_json(arena, STR(
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"annotations\":{\"meta.helm.sh/release-name\":\"web\","
        "\"meta.helm.sh/release-namespace\":\"shop\"}},\"status\":{}}"));

    (void)state;
    assert_true(keep_workload(NULL, deployment, &kept));

    struct kept_workload workload = kept_workload(strbuf_str(&kept));

    rows_expect_str("its release", workload.release, STR("shop/web"));
    rows_expect_int("its state", workload.status.state, OBJECT_IN_PROGRESS);
    rows_expect_str("why", workload.status.message, STR("0 of 1 replica is created"));
    rows_expect_str("of none", kept_workload(STR("")).release, STR(""));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_app_names_its_workloads),
        cmocka_unit_test(health_names_what_is_wrong),
        cmocka_unit_test(only_its_own_are_looked_at),
        cmocka_unit_test(what_is_kept_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
