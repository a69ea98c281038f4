/* SPDX-License-Identifier: Apache-2.0 */
/* service_test.c: which Services get an address, and how they keep it. */
#include "api_fixture.h"

#define SERVICES "/api/v1/namespaces/default/services"

static struct reply make(struct fixture *f, const char *name, const char *spec)
{
    return ask_json(f, "POST", SERVICES,
                    str_z(f->arena, str_fmt(f->arena, "{\"metadata\":{\"name\":\"%s\"},\"spec\":%s}",
                                            name, spec)));
}

static const struct row {
    const char *sentence;
    const char *name, *spec;
    const char *want; /* of spec.clusterIP; "10.43." is any of the range */
    const char *lists; /* of spec.clusterIPs; "" = not compared */
} rows[] = {
    { "an address is given", "a", "{\"ports\":[{\"port\":80}]}", "10.43.", "" },
    { "to a load balancer, too", "b", "{\"type\":\"LoadBalancer\",\"ports\":[{\"port\":80}]}", "10.43.",
      "" },
    { "none was wished for", "c", "{\"clusterIP\":\"None\",\"ports\":[{\"port\":80}]}", "None",
      "[\"None\"]" },
    { "one of the user's own", "d", "{\"clusterIP\":\"127.0.0.1\",\"ports\":[{\"port\":80}]}",
      "127.0.0.1", "[\"127.0.0.1\"]" },
    { "a name outside has none", "e", "{\"type\":\"ExternalName\",\"externalName\":\"x.org\"}", "", "" },
};

static void test_rows(void **state)
{
    struct fixture *f = fixture_begin();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reply reply = make(f, rows[i].name, rows[i].spec);
        struct str got = member(f, reply.body, "spec.clusterIP");

        rows_expect_int(rows[i].sentence, reply.status, 201);
        if (str_eq(str_of(rows[i].want), STR("10.43.")))
            got = str_slice(got, 0, 6);
        rows_expect_str(rows[i].sentence, got, str_of(rows[i].want));
        if (rows[i].lists[0])
            rows_expect_str(rows[i].sentence, member(f, reply.body, "spec.clusterIPs"),
                            str_of(rows[i].lists));
    }
    fixture_end(f);
}

static void test_an_address_stays(void **state)
{
    struct fixture *f = fixture_begin();
    struct reply made = make(f, "a", "{\"ports\":[{\"port\":80}]}");
    struct str first = member(f, made.body, "spec.clusterIP");
    struct reply reply;

    (void)state;
    rows_expect_str("it is on the list", member(f, made.body, "spec.clusterIPs.0"), first);
    rows_expect_str("of one family", member(f, made.body, "spec.ipFamilies.0"), STR("IPv4"));
    reply = ask_json(f, "PUT", SERVICES "/a",
                     "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"ports\":[{\"port\":81}]}}");
    rows_expect_int("an update that leaves it out", reply.status, 200);
    rows_expect_str("keeps it", member(f, reply.body, "spec.clusterIP"), first);
    reply = ask(f, "PATCH", SERVICES "/a", "", "application/merge-patch+json",
                "{\"spec\":{\"clusterIP\":\"10.43.0.9\"}}");
    rows_expect_int("another one is rejected", reply.status, 422);
    rows_expect_str("with the field", member(f, reply.body, "details.causes.0.field"),
                    STR("spec.clusterIPs[0]"));
    rows_expect("the next Service gets another one",
                !str_eq(member(f, make(f, "b", "{\"ports\":[{\"port\":80}]}").body, "spec.clusterIP"),
                        first),
                "another address");
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows),
                                        cmocka_unit_test(test_an_address_stays) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
