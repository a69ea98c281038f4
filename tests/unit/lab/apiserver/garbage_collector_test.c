/* SPDX-License-Identifier: Apache-2.0 */
/* garbage_collector_test.c: what becomes of dependents when their owners go. */
#include "api_fixture.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static struct str make(struct fixture *f, const char *name, const char *more)
{
    struct reply reply =
        ask_json(f, "POST", MAPS,
                 str_z(f->arena, str_fmt(f->arena, "{\"metadata\":{\"name\":\"%s\"%s}}", name, more)));

    rows_expect_int(name, reply.status, 201);
    return member(f, reply.body, "metadata.uid");
}

static const char *owned_by(struct fixture *f, const char *name, struct str uid, bool blocks)
{
    return str_z(f->arena, str_fmt(f->arena,
                                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"%s\","
                                   "\"uid\":\"%.*s\",\"blockOwnerDeletion\":%s}",
                                   name, STR_ARG(uid), blocks ? "true" : "false"));
}

static struct str owners(struct fixture *f, const char *one, const char *two)
{
    return str_fmt(f->arena, ",\"ownerReferences\":[%s%s%s]", one, two[0] ? "," : "", two);
}

static struct reply get(struct fixture *f, const char *name)
{
    return ask_json(f, "GET", str_z(f->arena, str_fmt(f->arena, MAPS "/%s", name)), "");
}

static void drop(struct fixture *f, const char *name, const char *policy)
{
    ask_json(f, "DELETE",
             str_z(f->arena, str_fmt(f->arena, MAPS "/%s?propagationPolicy=%s", name, policy)), "");
}

/* Asked again and again for five seconds at most. */
static bool goes(struct fixture *f, const char *name)
{
    for (int i = 0; i < 1000; i++) {
        if (get(f, name).status == 404)
            return true;
        usleep(5000);
    }
    return false;
}

static void test_in_the_background(void **state)
{
    struct fixture *f = fixture_begin();
    struct str a = make(f, "a", ""), b = make(f, "b", "");

    (void)state;
    make(f, "of-a", str_z(f->arena, owners(f, owned_by(f, "a", a, true), "")));
    make(f, "of-both", str_z(f->arena, owners(f, owned_by(f, "a", a, false),
                                              owned_by(f, "b", b, false))));
    drop(f, "a", "Background");
    rows_expect_int("the owner goes at once", get(f, "a").status, 404);
    rows_expect("its dependent follows", goes(f, "of-a"), "gone");
    rows_expect_int("one with another owner stays", get(f, "of-both").status, 200);
    drop(f, "b", "Background");
    rows_expect("until that goes, too", goes(f, "of-both"), "gone");
    make(f, "of-nobody",
         str_z(f->arena, owners(f, owned_by(f, "a", STR("no-such-uid"), false), "")));
    rows_expect("an owner that never was is an absent one", goes(f, "of-nobody"), "gone");
    fixture_end(f);
}

static void test_in_the_foreground(void **state)
{
    struct fixture *f = fixture_begin();
    struct str a = make(f, "a", "");
    struct str more = owners(f, owned_by(f, "a", a, true), "");
    struct reply reply;

    (void)state;
    make(f, "held", str_z(f->arena, str_fmt(f->arena, "%.*s,\"finalizers\":[\"x.org/hold\"]",
                                            STR_ARG(more))));
    drop(f, "a", "Foreground");
    reply = get(f, "a");
    rows_expect_int("the owner waits", reply.status, 200);
    rows_expect_str("by its finalizer", member(f, reply.body, "metadata.finalizers.0"),
                    STR("foregroundDeletion"));
    for (int i = 0; i < 1000; i++) {
        if (member(f, get(f, "held").body, "metadata.deletionTimestamp").len)
            break;
        usleep(5000);
    }
    rows_expect("the dependent is told to go",
                member(f, get(f, "held").body, "metadata.deletionTimestamp").len > 0, "told");
    rows_expect_int("and waited for", get(f, "a").status, 200);
    ask(f, "PATCH", MAPS "/held", "", "application/merge-patch+json",
        "{\"metadata\":{\"finalizers\":null}}");
    rows_expect("the owner follows", goes(f, "a"), "gone");
    rows_expect_int("its dependent", get(f, "held").status, 404);
    fixture_end(f);
}

static void test_orphans(void **state)
{
    struct fixture *f = fixture_begin();
    struct str a = make(f, "a", "");
    struct reply reply;

    (void)state;
    make(f, "left", str_z(f->arena, owners(f, owned_by(f, "a", a, true), "")));
    drop(f, "a", "Orphan");
    rows_expect("the owner goes", goes(f, "a"), "gone");
    reply = get(f, "left");
    rows_expect_int("its dependent stays", reply.status, 200);
    rows_expect_str("and has forgotten it", member(f, reply.body, "metadata.ownerReferences"),
                    STR(""));
    fixture_end(f);
}

static void test_after_a_restart(void **state)
{
    struct fixture *f = fixture_begin();
    struct str a = make(f, "a", "");

    (void)state;
    make(f, "of-a", str_z(f->arena, owners(f, owned_by(f, "a", a, false), "")));
    close_api(f);
    open_api(f);
    rows_expect_int("nothing is forgotten", get(f, "of-a").status, 200);
    drop(f, "a", "Background");
    rows_expect("of who belongs to whom", goes(f, "of-a"), "gone");
    fixture_end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_the_background),
        cmocka_unit_test(test_in_the_foreground),
        cmocka_unit_test(test_orphans),
        cmocka_unit_test(test_after_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
