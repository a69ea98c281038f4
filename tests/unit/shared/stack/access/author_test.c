/* SPDX-License-Identifier: Apache-2.0 */
/* author_test.c: what admission records of who asks, and when. */
#include "support/rows.h"

#include "stack/access/author.h"
#include "stack/rules/validate.h"
#include "support/stack_builder.h"
#include "text/patch.h"

#include "stack/model/limits.h"

#define BY STACK_LAST_APPLIED_BY
#define GROUPS BY "-groups"

#define STACK(annotations, spec)                                                                   \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"a\"" annotations   \
    "},\"spec\":{\"targets\":{\"clusterIds\":[\"c-1\"]},\"charts\":[{\"name\":\"db\",\"repo\":"      \
    "\"https://x.io\",\"version\":\"1.0.0\"}]" spec "}}"
#define ALL                                                                                        \
    ",\"security\":\"disabled\",\"observability\":\"disabled\",\"drift\":\"Detect\",\"onFailure\":"  \
    "\"Retry\",\"deletionPolicy\":\"Delete\",\"paused\":false"
#define WITH(members) ",\"annotations\":{" members "}"
#define ANN "\"" BY "\":\"ann\",\"" GROUPS "\":\"dev,ops\""

struct row {
    const char *says;
    const char *object, *old_object; /* of a request by bob, of the groups qa and dev */
    bool changes;
    const char *annotations; /* afterwards */
};

static const struct row rows[] = {
    { "who makes a Stack", STACK("", ""), NULL, true, "bob qa,dev" },
    { "also under another's name", STACK(WITH(ANN), ""), NULL, true, "bob qa,dev" },
    { "who changes the spec", STACK(WITH(ANN), ALL ",\"env\":\"dev\""), STACK(WITH(ANN), ALL), true, "bob qa,dev" },
    { "who changes a label is not", STACK(WITH(ANN) ",\"labels\":{\"a\":\"b\"}", ALL), STACK(WITH(ANN), ALL), false,
      "ann dev,ops" },
    { "nor who says that it was somebody else", STACK(WITH("\"" BY "\":\"mallory\""), ALL), STACK(WITH(ANN), ALL),
      false, "ann dev,ops" },
    { "or nobody", STACK("", ALL), STACK(WITH(ANN), ALL), false, "ann dev,ops" },
    { "of a Stack that has no author none is made up", STACK(WITH(ANN), ALL), STACK("", ALL), false, " " },
    { "who leaves the defaults out says the same", STACK(WITH(ANN), ""), STACK(WITH(ANN), ALL), false, "ann dev,ops" },
    { "who writes another value does not", STACK(WITH(ANN), ",\"drift\":\"Correct\""), STACK(WITH(ANN), ALL), true,
      "bob qa,dev" },
    { "who touches a Stack from before a default", STACK(WITH(ANN) ",\"labels\":{\"a\":\"b\"}", ""),
      STACK(WITH(ANN), ""), false, "ann dev,ops" },
    { "who adopts a release", STACK(WITH(ANN ",\"" STACK_ADOPT "\":\"db/db\""), ALL), STACK(WITH(ANN), ALL), true,
      "bob qa,dev" },
    { "who adopts none any more does not", STACK(WITH(ANN), ALL),
      STACK(WITH(ANN ",\"" STACK_ADOPT "\":\"db/db\""), ALL), false, "ann dev,ops" },
};

/* What the mutating route makes of the request. */
static struct json mutated(struct arena *arena, const struct admission_request *request,
                           struct json old_object, bool *ret_changes)
{
    struct rule_severities severities = rule_severities_default();
    struct facts facts = { .clusters_known = false };
    struct verdict verdict = stack_admit(arena, request->object, old_object, &facts, &severities);
    struct error err = { .code = ERROR_NONE };
    struct value *patched = value_of(arena, request->object);

    *ret_changes = author_changes(arena, request, old_object, &verdict);
    author_write(arena, request, old_object, *ret_changes, NULL, &verdict);
    if (verdict.patch.len && patch_apply(arena, patched, verdict.patch, &patched, &err) < 0)
        fail_msg("%.*s: %s", STR_ARG(verdict.patch), err.text);

    struct strbuf text = strbuf_new(arena, 1024);

    value_write(patched, false, &text);
    return test_json(arena, strbuf_str(&text));
}

static struct str recorded(struct arena *arena, struct json object)
{
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    return str_fmt(arena, "%.*s %.*s", STR_ARG(kube_annotation(&meta, STR(BY))),
                   STR_ARG(kube_annotation(&meta, STR(GROUPS))));
}

static void who_changes_the_spec_is_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct admission_request request = {
            .object = test_json(arena, str_of(rows[i].object)),
            .username = STR("bob"),
            .groups = test_json(arena, STR("[\"qa\",\"dev\"]")),
        };
        struct json old = { NULL, 0 };
        bool changes, again;
        struct json after;

        if (rows[i].old_object)
            old = test_json(arena, str_of(rows[i].old_object));
        after = mutated(arena, &request, old, &changes);
        rows_expect_int(rows[i].says, changes, rows[i].changes);
        rows_expect_str(rows[i].says, recorded(arena, after), str_of(rows[i].annotations));
        /* What the policy inside the API server compares. */
        rows_expect_int(rows[i].says, json_equal(json_get(after, STR("spec")), json_get(old, STR("spec"))),
                        !rows[i].changes || strstr(rows[i].object, STACK_ADOPT) != NULL);
        request.object = after;
        rows_expect_str(rows[i].says, recorded(arena, mutated(arena, &request, old, &again)),
                        str_of(rows[i].annotations));
        rows_expect_int(rows[i].says, again, changes);
    }
}

static void groups_that_cannot_be_told_are_left_out(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf many = strbuf_new(arena, LIMIT_AUTHOR_GROUPS);
    const struct {
        const char *says;
        struct str groups, recorded;
    } of[] = {
        { "a comma in a name", STR("[\"qa\",\"cn=x,ou=y\"]"), STR("bob ") },
        { "none", STR("[]"), STR("bob ") },
        { "none at all", STR("null"), STR("bob ") },
        { "one", STR("[\"qa\"]"), STR("bob qa") },
        { "more than there is room for", (strbuf_fmt(&many, "[\"%0*d\"]", LIMIT_AUTHOR_GROUPS, 1), strbuf_str(&many)),
          STR("bob ") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        struct admission_request request = { .object = test_json(arena, STR(STACK("", ""))), .username = STR("bob"),
                                             .groups = test_json(arena, of[i].groups) };
        bool changes;

        rows_expect_str(of[i].says, recorded(arena, mutated(arena, &request, (struct json){ NULL, 0 }, &changes)),
                        of[i].recorded);
    }
}

static void a_stored_author_reads_back(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_meta meta;
    struct author author;

    (void)state;
    kube_meta_read(test_json(arena, STR(STACK(WITH(ANN), ""))), &meta);
    author = author_of(arena, &meta);
    rows_expect_str("name", author.name, STR("ann"));
    rows_expect_int("groups", author.groups.count, 2);
    rows_expect_str("the last", author.groups.items[1], STR("ops"));
    rows_expect("somebody", !author_is_missing(&meta), "is recorded");
    kube_meta_read(test_json(arena, STR(STACK("", ""))), &meta);
    author = author_of(arena, &meta);
    rows_expect_int("no groups", author.groups.count, 0);
    rows_expect("nobody", author_is_missing(&meta), "is recorded");
    meta.deletion_timestamp = STR("2026-01-01T00:00:00Z");
    rows_expect("one that is being deleted", !author_is_missing(&meta), "goes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_changes_the_spec_is_recorded),
        cmocka_unit_test(groups_that_cannot_be_told_are_left_out),
        cmocka_unit_test(a_stored_author_reads_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
