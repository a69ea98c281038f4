/* SPDX-License-Identifier: Apache-2.0 */
/* flag_test.c: flags from one table. */
#include "support/rows.h"

#include "base/flag.h"

/* The first field by its name: then later ones may be left out. */
static const struct flag_row rows_of_flags[] = {
    { .name = "listen", FLAG_STRING, ":8443", "address:port", 0, 0, NULL, NULL, false, "Where to listen." },
    { .name = "verbose", FLAG_BOOL, "false", "", 0, 0, NULL, NULL, false, "Say more." },
    { .name = "workers", FLAG_INT, "4", "", 1, 64, "WORKERS", NULL, false, "How many." },
    { .name = "timeout", FLAG_DURATION, "30s", "", 1000, 60000, NULL, NULL, false, "How long." },
    { .name = "log-format", FLAG_CHOICE, "text", "", 0, 0, NULL, "json|text", false, "How to log.",
      'f' },
    { .name = "quiet", FLAG_BOOL, "false", "", 0, 0, NULL, NULL, false, "Say less.", 'q' },
};

enum { FLAGS = sizeof(rows_of_flags) / sizeof(rows_of_flags[0]) };

static const char *workers_from_environment;

static const char *fake_getenv(const char *name)
{
    return strcmp(name, "WORKERS") == 0 ? workers_from_environment : NULL;
}

static void flags_come_from_line_environment_and_default(void **state)
{
    static const struct {
        const char *row;
        const char *words[6]; /* behind the program's name */
        const char *environment;
        const char *want; /* "listen verbose workers timeout format rest...", or the error */
    } rows[] = {
        { "defaults", { NULL }, NULL, ":8443 0 4 30000 text" },
        { "with =", { "--workers=8", "--verbose", "--timeout=1s", NULL }, NULL, ":8443 1 8 1000 text" },
        { "with a space", { "--listen", "x:1", "--log-format", "json", NULL }, NULL, "x:1 0 4 30000 json" },
        { "the environment", { NULL }, "5", ":8443 0 5 30000 text" },
        { "the line goes before it", { "--workers", "6", NULL }, "5", ":8443 0 6 30000 text" },
        { "words stay in order", { "a", "--verbose=false", "b", NULL }, NULL, ":8443 0 4 30000 text a b" },
        { "-- ends the flags", { "--", "--verbose", NULL }, NULL, ":8443 0 4 30000 text --verbose" },
        { "a dash is a word", { "-", NULL }, NULL, ":8443 0 4 30000 text -" },
        { "unknown with the nearest", { "--worker=1", NULL }, NULL,
          "unknown flag --worker; did you mean --workers?" },
        { "unknown", { "--frobnicate", NULL }, NULL, "unknown flag --frobnicate; --help lists the flags" },
        { "a letter with a space", { "-f", "json", NULL }, NULL, ":8443 0 4 30000 json" },
        { "with =", { "-f=json", NULL }, NULL, ":8443 0 4 30000 json" },
        { "with nothing between", { "-fjson", "-q", NULL }, NULL, ":8443 0 4 30000 json" },
        { "a letter's value is checked", { "-fxml", NULL }, NULL,
          "--log-format: 'xml' is not one of json|text" },
        { "and missed", { "-f", NULL }, NULL, "--log-format needs a value" },
        { "a letter that nothing has", { "-v", NULL }, NULL, "unknown flag -v; --help lists the flags" },
        { "letters do not melt together", { "-qf", NULL }, NULL,
          "unknown flag -qf; --help lists the flags" },
        { "no value", { "--workers", NULL }, NULL, "--workers needs a value" },
        { "not a number", { "--workers=x", NULL }, NULL, "--workers: 'x' is not a whole number" },
        { "out of bounds", { "--workers=65", NULL }, NULL,
          "--workers: 65 is out of bounds; it must be 1 to 64" },
        { "out of bounds in ms", { "--timeout=2m", NULL }, NULL,
          "--timeout: 2m is out of bounds; it must be 1000 to 60000 ms" },
        { "not a duration", { "--timeout=30", NULL }, NULL,
          "--timeout: '30' is not a duration; write it like 30s, 250ms or 1h30m" },
        { "not a choice", { "--log-format=xml", NULL }, NULL,
          "--log-format: 'xml' is not one of json|text" },
        { "not a bool", { "--verbose=yes", NULL }, NULL, "--verbose: 'yes' is not true or false" },
        { "bad environment", { NULL }, "many", "environment variable WORKERS: 'many' is not a whole number" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf got = strbuf_new(arena, 0);
        struct flag_values values;
        struct error err = { 0 };
        char *argv[8] = { (char *)(uintptr_t)"herd" };
        int argc = 1;

        for (; rows[i].words[argc - 1]; argc++)
            argv[argc] = (char *)(uintptr_t)rows[i].words[argc - 1];
        workers_from_environment = rows[i].environment;
        if (flags_parse(rows_of_flags, FLAGS, argc, argv, fake_getenv, arena, &values, &err) < 0) {
            rows_expect_str(rows[i].row, str_of(err.text), str_of(rows[i].want));
            continue;
        }
        strbuf_fmt(&got, "%.*s %d %d %d %.*s", STR_ARG(values.values[0].text),
                   (int)values.values[1].number, (int)values.values[2].number,
                   (int)values.values[3].number, STR_ARG(values.values[4].text));
        for (uint32_t k = 0; k < values.rest.count; k++)
            strbuf_fmt(&got, " %.*s", STR_ARG(values.rest.items[k]));
        rows_expect_str(rows[i].row, strbuf_str(&got), str_of(rows[i].want));
    }
    (void)state;
}

static void help_names_every_flag(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 0);
    char *argv[] = { (char *)(uintptr_t)"herd", (char *)(uintptr_t)"-h", NULL };
    struct flag_values values;
    struct error err;

    flags_help(rows_of_flags, FLAGS, &out);
    rows_expect("a letter", str_find(strbuf_str(&out), STR("  -f, --log-format=json|text\n"), 0) >= 0, "is shown");
    for (size_t i = 0; i < FLAGS; i++)
        rows_expect(rows_of_flags[i].name,
                    str_find(strbuf_str(&out), str_of(rows_of_flags[i].help), 0) >= 0, "its help is there");
    workers_from_environment = NULL;
    assert_int_equal(flags_parse(rows_of_flags, FLAGS, 2, argv, NULL, arena, &values, &err), 0);
    assert_true(values.help);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_come_from_line_environment_and_default),
        cmocka_unit_test(help_names_every_flag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
