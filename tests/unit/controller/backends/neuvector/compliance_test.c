/* SPDX-License-Identifier: Apache-2.0 */
/* compliance_test.c: what is read from an answer about compliance checks, and what is remembered of a container. */
#include "support/rows.h"

#include "controller/backends/neuvector/compliance.h"
#include "controller/backends/neuvector/wire.h"
#include "stack/model/limits.h"

static int read_text(struct arena *arena, struct str text, int64_t *ret_run_s, struct check_list *ret_failed,
                     struct error *err)
{
    struct json root;

    return wire_read(arena, text, &root, err) < 0 ? -1 : compliance_read(arena, root, ret_run_s, ret_failed, err);
}

static void what_fails_is_read(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { .code = ERROR_NONE };
    struct check_list failed;
    int64_t run_s;

    (void)state;
    rows_expect_int("an answer",
                    read_text(arena,
                              STR("{\"run_timestamp\":5,\"docker_cis_version\":\"1.6.0\",\"items\":["
                                  "{\"test_number\":\"D.1\",\"level\":\"PASS\"},"
                                  "{\"level\":\"NOTE\"},"
                                  "{\"test_number\":\"D.2\",\"level\":\"WARN\",\"description\":\" a\\nb \"},"
                                  "{\"test_number\":\"D.3\",\"level\":\"HIGH\",\"remediation\":\"fix it\"},"
                                  "{\"test_number\":\"D.2\",\"level\":\"WARN\",\"description\":\" a\\nb \"},"
                                  "{\"test_number\":\"D.4\",\"level\":\"ERROR\"},"
                                  "{\"test_number\":\"D.5\",\"level\":\"MANUAL\"},"
                                  "{\"test_number\":\"D.6\",\"level\":\"INFO\"}]}"),
                              &run_s, &failed, &err),
                    0);
    rows_expect_int("when", run_s, 5);
    rows_expect_int("warnings, high ones and errors, each once", failed.count, 3);
    rows_expect_str("the worst first", failed.items[0].number, STR("D.3"));
    rows_expect_str("with what to do", failed.items[0].remediation, STR("fix it"));
    rows_expect_str("shown", failed.items[2].description, STR("a\\x0ab"));
    rows_expect_int("checks that have not run",
                    read_text(arena, STR("{\"run_timestamp\":0,\"items\":[{\"test_number\":\"D.1\",\"level\":\"HIGH\"}]}"),
                              &run_s, &failed, &err),
                    0);
    rows_expect_int("say nothing", run_s + failed.count, 0);
}

static void what_is_no_answer_says_nothing(void **state)
{
    static const struct {
        const char *row, *text;
    } rows[] = {
        { "nothing", "{}" },
        { "no time", "{\"items\":[]}" },
        { "a time that is none", "{\"run_timestamp\":\"1\",\"items\":[]}" },
        { "a time before all", "{\"run_timestamp\":-1,\"items\":[]}" },
        { "no list", "{\"run_timestamp\":1}" },
        { "a list that is none", "{\"run_timestamp\":1,\"items\":{}}" },
        { "a check without a number", "{\"run_timestamp\":1,\"items\":[{\"level\":\"HIGH\"}]}" },
        { "cut off", "{\"run_timestamp\":1,\"items\":[" },
    };
    struct check_list failed = { .count = 7 };
    int64_t run_s = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct error err = { .code = ERROR_NONE };

        rows_expect_int(rows[i].row, read_text(arena, str_of(rows[i].text), &run_s, &failed, &err), -1);
        rows_expect("why", err.text[0] != '\0', "is said");
        rows_expect_int("untouched", run_s + failed.count, 14);
    }
}

static void more_than_count_are_no_answer(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf text = strbuf_new(arena, 65536);
        struct error err = { .code = ERROR_NONE };
        struct check_list failed;
        int64_t run_s;

        strbuf_lit(&text, "{\"run_timestamp\":1,\"items\":[");
        for (int i = 0; i < LIMIT_IMAGE_CHECKS + more; i++)
            strbuf_fmt(&text, "%s{\"test_number\":\"D.%d\",\"level\":\"WARN\"}", i ? "," : "", i);
        strbuf_lit(&text, "]}");
        rows_expect_int(more ? "one too many" : "as many as count",
                        read_text(arena, strbuf_str(&text), &run_s, &failed, &err), -more);
    }
}

static struct check_list a_list(struct arena *arena, const char *number)
{
    struct check_list list = check_list_new(arena, 1);

    check_list_push(&list, (struct check){ .level = CHECK_WARN,
                                           .number = str_of(number),
                                           .description = STR(""),
                                           .remediation = STR("") });
    return list;
}

static void what_was_read_stands_until_a_newer_run(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(compliance_free) struct compliance *memory = compliance_create();
    const struct check_list one = a_list(arena, "D.1"), other = a_list(arena, "D.2"), none = { 0 };

    (void)state;
    rows_expect("never asked", compliance_asked_ms(memory, STR("c1")) == COMPLIANCE_NEVER, "never");
    compliance_note_asked(memory, STR("c1"), 0);
    rows_expect_int("asked", compliance_asked_ms(memory, STR("c1")), 0);
    compliance_put(memory, STR("c1"), 0, &none);
    rows_expect("have not run", compliance_find(memory, STR("c1")) == NULL, "not known");
    compliance_put(memory, STR("c1"), 5, &one);
    compliance_put(memory, STR("c1"), 0, &none);
    compliance_put(memory, STR("c1"), 4, &other);
    rows_expect_str("neither silence nor an older run", compliance_find(memory, STR("c1"))->list.items[0].number,
                    STR("D.1"));
    compliance_put(memory, STR("c1"), 5, &other);
    rows_expect_str("of one second the last answer", compliance_find(memory, STR("c1"))->list.items[0].number,
                    STR("D.2"));
    compliance_put(memory, STR("c1"), 6, &none);
    rows_expect_int("a newer run without failures", compliance_find(memory, STR("c1"))->list.count, 0);
}

static void equal_lists_are_one_and_gone_containers_are_forgotten(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(compliance_free) struct compliance *memory = compliance_create();
    const struct check_list one = a_list(arena, "D.1");
    struct set kept = set_new(arena, 1);

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct str id = str_fmt(arena, "c%d", i);

        compliance_note_asked(memory, id, 1);
        compliance_put(memory, id, 1, &one);
        rows_expect("shared", compliance_find(memory, id) == compliance_find(memory, STR("c0")), "is one list");
    }
    set_add(kept, STR("c1"));
    compliance_keep(memory, kept);
    rows_expect("gone", compliance_find(memory, STR("c0")) == NULL, "is forgotten");
    rows_expect_int("the other has the list", compliance_find(memory, STR("c1"))->list.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fails_is_read),
        cmocka_unit_test(what_is_no_answer_says_nothing),
        cmocka_unit_test(more_than_count_are_no_answer),
        cmocka_unit_test(what_was_read_stands_until_a_newer_run),
        cmocka_unit_test(equal_lists_are_one_and_gone_containers_are_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
