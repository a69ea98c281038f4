/* SPDX-License-Identifier: Apache-2.0 */
/* expressions_test.c: expressions.txt, where each answer is that of Kubernetes (suite_cel.sh asks it): the lab's is
 * the same, or the line below it says what else. */
#include "support/rows.h"

#include "lab/apiserver/schema_cel.h"
#include "lab/cel/cel.h"
#include "support/files.h"

#include "lab/limits.h"

#define FOLDER "tests/unit/lab/cel/"

struct world {
    struct arena *arena;
    struct cel_variable self;
    struct cel_env env;
    struct cel_value value;
    struct regex_set regexes;
};

static int set_up(void **state)
{
    struct arena *arena = arena_create(0);
    struct world *w = arena_new(arena, struct world);
    struct findings found = findings_new(arena, 4);
    struct json json;
    struct value *object;
    struct error err;

    assert_int_equal(json_read(arena, test_file(arena, FOLDER "self.schema.json"), &json_limits_default, &json, &err), 0);
    assert_int_equal(value_read(arena, test_file(arena, FOLDER "self.object.json"), &json_limits_default, &object, &err), 0);
    w->arena = arena;
    w->self.name = STR("self");
    w->self.type = schema_cel_type(arena, schema_compile(arena, &w->regexes, json, NULL, &found), true);
    w->env = (struct cel_env){ &w->self, 1 };
    w->value = cel_from_json(arena, object, w->self.type);
    assert_int_equal(found.count, 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    regex_set_free(&w->regexes);
    arena_free(w->arena);
    return 0;
}

/* The line that stands below an expression. */
static struct str answer(const struct world *w, struct arena *arena, struct str expression)
{
    struct str why;
    struct cel_program *program = cel_compile(arena, &w->env, expression, &why);
    struct cel_value value;

    if (!program) {
        static const char compiler[] = "compilation failed: ERROR: <input>:", maker[] = "program instantiation failed: ";
        ptrdiff_t end = str_find_char(why, '\n', 0);
        size_t begin = str_starts(why, str_of(compiler)) ? sizeof(compiler) - 1 : sizeof(maker) - 1;

        return str_fmt(arena, "! %.*s", STR_ARG(str_slice(why, begin, end < 0 ? why.len : (size_t)end)));
    }
    value = cel_evaluate(program, arena, &w->value, LIMIT_CEL_CALL_COST, NULL);
    return cel_is_error(&value) ? str_fmt(arena, "? %.*s", STR_ARG(value.text))
                                : str_fmt(arena, "= %.*s", STR_ARG(cel_show(arena, &value)));
}

static bool is_answer(struct str line)
{
    return line.len > 2 && line.at[1] == ' ' && strchr("=!?~", line.at[0]);
}

/* An expression, and the lines below it. */
struct row {
    struct str expression, real, lab; /* lab may be "" */
};

static bool next_row(struct str *text, struct row *ret_row)
{
    struct row row = { .expression = STR("") };
    struct str line;

    while (str_split(text, '\n', &line)) {
        if (!is_answer(line))
            row.expression = line;
        else if (line.at[0] == '~')
            row.lab = str_slice(line, 2, line.len);
        else
            row.real = line;
        if (row.real.len && !str_starts(*text, STR("~ "))) {
            *ret_row = row;
            return true;
        }
    }
    return false;
}

static uint32_t differs(struct str expression, struct str got, struct str want)
{
    if (str_eq(got, want))
        return 0;
    print_message("%.*s\n  got  %.*s\n  want %.*s\n", STR_ARG(expression), STR_ARG(got), STR_ARG(want));
    return 1;
}

static void test_expressions(void **state)
{
    struct world *w = *state;
    struct str text = test_file(w->arena, FOLDER "expressions.txt");
    uint32_t wrong = 0, rows = 0;
    struct row row;

    for (; next_row(&text, &row); rows++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        wrong += differs(row.expression, answer(w, arena, row.expression), row.lab.len ? row.lab : row.real);
    }
    assert_int_equal(wrong, 0);
    assert_true(rows > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_expressions) };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
