/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.c: what is read of requests and answers. */
#include "support/rows.h"

#include "controller/console/wire.h"

static void reads_take_what_they_can_do(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str selector = STR("untouched");
    struct error err;

    rows_expect_int("a selector", wire_read_parameters(arena, STR("pretty=true&labelSelector=a%3Db"), true, &selector, &err), 0);
    rows_expect_str("decoded", selector, STR("a=b"));
    rows_expect_int("none", wire_read_parameters(arena, STR(""), true, &selector, &err), 0);
    rows_expect_str("is empty", selector, STR(""));
    rows_expect_int("not of one object", wire_read_parameters(arena, STR("labelSelector=a"), false, &selector, &err), -1);
    rows_expect_int("a watch is elsewhere", wire_read_parameters(arena, STR("watch=true"), true, &selector, &err), -1);
    rows_expect("and the answer says so", strstr(err.text, "watch: unsupported parameter") && strstr(err.text, "/watch"), err.text);
    (void)state;
}

static const struct {
    const char *type;
    bool is_json;
} types[] = {
    { "application/json", true },  { "Application/JSON; charset=utf-8", true }, { "", false }, { "application/json-patch+json", false },
    { "application/yaml", false },
};

static void json_is_known_by_its_type(void **state)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        rows_expect_int(types[i].type, wire_is_json(str_of(types[i].type)), types[i].is_json);
    (void)state;
}

static const struct {
    const char *row, *body, *error;
} bodies[] = {
    { "an object", "{\"metadata\":{\"name\":\"a\"}}", NULL },
    { "not closed", "{\"metadata\":", "the body is not JSON: " },
    { "nothing", "", "the body is not JSON: " },
    { "a list", "[]", "the body is not a JSON object but array" },
    { "two of a name", "{\"a\":1,\"a\":2}", "the body is not JSON: " },
};

static void a_body_is_an_object(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct error err = { .code = ERROR_NONE };

        rows_expect_int(bodies[i].row, wire_check(arena, str_of(bodies[i].body), &err), bodies[i].error ? -1 : 0);
        if (!bodies[i].error)
            continue;
        rows_expect_int(bodies[i].row, err.code, ERROR_BAD_REQUEST);
        rows_expect(bodies[i].row, strstr(err.text, bodies[i].error), err.text);
    }
    (void)state;
}

static void a_version_is_filled_in_where_there_is_none(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct str body = STR("{\"kind\":\"A\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":"
                                "\"\"},\"spec\":{\"x\":1}}");
    struct str filled;
    struct error err;

    rows_expect("an empty one is none", wire_lacks_version(arena, body), "has one");
    rows_expect("another is one", !wire_lacks_version(arena, STR("{\"metadata\":{\"resourceVersion\":\"5\"}}")), "has none");
    rows_expect_int("filled", wire_fill_version(arena, body, STR("{\"metadata\":{\"resourceVersion\":\"41\"}}"), &filled, &err), 0);
    rows_expect_str("and all else is as it was", filled,
                    STR("{\"kind\":\"A\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"41\"},"
                        "\"spec\":{\"x\":1}}"));
    rows_expect_int("an object without metadata",
                    wire_fill_version(arena, STR("{}"), STR("{\"metadata\":{\"resourceVersion\":\"41\"}}"), &filled, &err), -1);
    (void)state;
}

static const struct {
    const char *row, *answer;
    bool is_written;
    const char *name, *uid, *version;
    bool is_being_deleted;
} answers[] = {
    { "an object", "{\"kind\":\"Stack\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"7\"}}", true, "a", "u", "7",
      false },
    { "one that waits for its finalizers",
      "{\"kind\":\"Stack\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"resourceVersion\":\"7\","
      "\"deletionTimestamp\":\"2024-01-15T10:30:00Z\"}}",
      true, "a", "u", "7", true },
    { "one that is gone", "{\"kind\":\"Status\",\"status\":\"Success\",\"details\":{\"name\":\"a\",\"uid\":\"u\"}}", true, "a", "u", "",
      false },
    { "a Status that names none", "{\"kind\":\"Status\",\"status\":\"Success\"}", false, "", "", "", false },
    { "no JSON", "<html>", false, "", "", "", false },
};

static void an_answer_says_what_there_is_now(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct wire_written written;

        rows_expect_int(answers[i].row, wire_read_written(arena, str_of(answers[i].answer), &written), answers[i].is_written);
        if (!answers[i].is_written)
            continue;
        rows_expect_str(answers[i].row, written.name, str_of(answers[i].name));
        rows_expect_str(answers[i].row, written.uid, str_of(answers[i].uid));
        rows_expect_str(answers[i].row, written.resource_version, str_of(answers[i].version));
        rows_expect_int(answers[i].row, written.is_being_deleted, answers[i].is_being_deleted);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_take_what_they_can_do),
        cmocka_unit_test(json_is_known_by_its_type),
        cmocka_unit_test(a_body_is_an_object),
        cmocka_unit_test(a_version_is_filled_in_where_there_is_none),
        cmocka_unit_test(an_answer_says_what_there_is_now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
