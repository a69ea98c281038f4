/* SPDX-License-Identifier: Apache-2.0 */
/* configured_test.c: a file that comes, changes, is bad, is fixed and goes. */
#include "support/rows.h"

#include "support/folder.h"

#include "io/file.h"
#include "settings/configured.h"

struct fixture {
    struct arena *arena;
    const char *folder;
    const char *file;
    struct configuration_layer flags;
    struct configured *configured;
};

static void begin(struct fixture *f)
{
    struct error err;

    *f = (struct fixture){ .arena = arena_create(0) };
    f->folder = folder_create(f->arena);
    f->file = folder_name(f->arena, f->folder, "..data/config.yaml");
    f->flags.rule_given[RULE_GPU_NO_PROVIDER] = true;
    f->flags.severities.of[RULE_GPU_NO_PROVIDER] = SEVERITY_OFF;
    f->configured = configured_create(f->file, &f->flags, &err);
    assert_non_null(f->configured);
}

static void end(struct fixture *f)
{
    configured_free(f->configured);
    folder_remove(f->folder);
    arena_free(f->arena);
}

/* As the kubelet mounts what the ConfigMap says now; NULL: that there is none. */
static void mount_text(struct fixture *f, const char *text)
{
    const struct folder_file file = { "config.yaml", str_of(text ? text : "") };

    folder_mount(f->folder, &file, text ? 1 : 0);
}

static void expect(struct fixture *f, const char *row, const char *text, int taken, const char *error,
                   enum severity cycle)
{
    struct configuration now;
    struct error err = { .text = "" };

    mount_text(f, text);
    rows_expect_int(row, configured_refresh(f->configured, &err), taken);
    rows_expect(row, strstr(err.text, error), err.text);
    now = configured_take(f->configured);
    rows_expect_int(row, now.severities.of[RULE_GRAPH_CYCLE], cycle);
    rows_expect_int("the flag holds all the time", now.severities.of[RULE_GPU_NO_PROVIDER], SEVERITY_OFF);
}

static void the_file_is_followed(void **state)
{
    struct fixture f;
    struct configured_file file;
    struct error err;

    (void)state;
    begin(&f);
    file = configured_file_of(f.configured);
    rows_expect("there is none yet", !file.there && !file.said, "no file");
    rows_expect_int("and nothing changed", configured_refresh(f.configured, &err), 0);

    expect(&f, "it comes", "rules: {graph.cycle: warn, gpu.no-provider: deny}", 1, "", SEVERITY_WARN);
    file = configured_file_of(f.configured);
    rows_expect("it is there", file.there, "there");
    rows_expect_int("what it says", file.said, 2);
    rows_expect_int("of that flags decide", file.overruled, 1);
    rows_expect_int("it is taken once", configured_refresh(f.configured, &err), 0);

    expect(&f, "it changes", "rules: {graph.cycle: off}", 1, "", SEVERITY_OFF);
    expect(&f, "it is bad: the last good one stays", "rules:\n  graph.cicle: warn\n", -1,
           "/config.yaml:2:3: rules: Not found: \"graph.cicle\": no rule has that name (did you mean \"graph.cycle\"?)", SEVERITY_OFF);
    rows_expect_int("as long as it stands there", configured_refresh(f.configured, &err), -1);
    expect(&f, "it is cut", "rules: {graph.cycle: wa", -1, "config.yaml:2:1: did not find", SEVERITY_OFF);
    expect(&f, "it is fixed", "rules: {graph.cycle: audit}", 1, "", SEVERITY_AUDIT);
    expect(&f, "it goes: so does what it said", NULL, 1, "", SEVERITY_DENY);
    rows_expect("it is not there", !configured_file_of(f.configured).there, "no file");
    expect(&f, "it comes again", "rules: {graph.cycle: warn}", 1, "", SEVERITY_WARN);
    end(&f);
}

static void a_bad_file_is_no_beginning(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct configuration_layer flags = { .plain_http_given = false };
    struct fixture f;
    struct error err;

    (void)state;
    begin(&f);
    mount_text(&f, "rules: {graph.cycle: maybe}");
    rows_expect("nothing is made of it", !configured_create(f.file, &flags, &err), "NULL");
    rows_expect("it says where", strstr(err.text, "config.yaml:1:9: rules: graph.cycle: Unsupported value: \"maybe\""),
                err.text);
    rows_expect("nor of a folder", !configured_create(f.folder, &flags, &err), "NULL");
    rows_expect("it says so", strstr(err.text, "it is a folder"), err.text);
    end(&f);
}

static void without_one_there_are_the_defaults(void **state)
{
    struct configuration now = configured_take(NULL);
    struct configuration defaults = configuration_default();

    (void)state;
    assert_memory_equal(&now, &defaults, sizeof(now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_followed),
        cmocka_unit_test(a_bad_file_is_no_beginning),
        cmocka_unit_test(without_one_there_are_the_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
