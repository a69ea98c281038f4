/* command.c: read the input, judge it, write the report. */
#include "webhook/offline/command.h"

#include "webhook/offline/cases_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum offline_exit offline_exit_of(const struct report *report, enum severity fail_on)
{
    if (report->unreadable)
        return OFFLINE_UNREADABLE;
    return report->denied || (fail_on <= SEVERITY_WARN && report->warned) ? OFFLINE_FINDINGS
                                                                          : OFFLINE_CLEAN;
}

/* https://no-color.org: any text in NO_COLOR means none. */
static bool wants_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

static struct output_style style_of(const struct offline_options *options, struct arena *arena)
{
    struct output_style style = {
        .fails = options->fail_on,
        .least = options->quiet ? options->fail_on : SEVERITY_AUDIT,
        .counts = !options->quiet,
        .verbose = options->verbose,
        .colour = wants_colour(),
    };
    char *folder = getcwd(NULL, 0);

    if (folder)
        style.folder = str_dup(arena, str_of(folder));
    free(folder);
    return style;
}

/* For whoever sees no report: it may go into a file. */
static uint32_t tell_unreadable(const struct report_files *files, struct arena *arena)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < files->count; i++) {
        const struct report_file *file = &files->items[i];

        count += file->failure.len > 0;
        if (file->failure.len)
            fprintf(stderr, "%s: %.*s\n", offline_program.name,
                    STR_ARG(str_shown(arena, file->failure, 1024)));
    }
    return count;
}

static int put(const struct strbuf *out)
{
    if (fwrite(out->at, 1, out->len, stdout) == out->len && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "%s: cannot write the report: %s\n", offline_program.name, strerror(errno));
    return -1;
}

static int review(const struct offline_options *options, struct arena *arena)
{
    struct input_files files = input_read(arena, &options->words);
    struct report report = offline_review(arena, &files, &options->config);
    struct output_style style = style_of(options, arena);
    struct strbuf out = strbuf_new(arena, 64 * 1024);

    options->output->write(&report, &style, &out);
    tell_unreadable(&report.files, arena);
    return put(&out) < 0 ? PROGRAM_USAGE : (int)offline_exit_of(&report, options->fail_on);
}

static int test(const struct offline_options *options, struct arena *arena)
{
    struct str_list words = str_list_new(arena, 1);

    str_list_push(&words, options->test);

    struct input_files files = input_read(arena, &words);
    struct case_report report = cases_run(arena, &files, &options->config);
    struct output_style style = style_of(options, arena);
    struct strbuf out = strbuf_new(arena, 64 * 1024);
    uint32_t unreadable = tell_unreadable(&report.files, arena);

    options->output->write_cases(&report, &style, &out);
    if (put(&out) < 0 || unreadable)
        return OFFLINE_UNREADABLE;
    if (report.results.count == 0) {
        fprintf(stderr, "%s: there is no StackTest in %.*s\n", offline_program.name,
                STR_ARG(str_shown(arena, options->test, 1024)));
        return OFFLINE_UNREADABLE;
    }
    return report.failed ? OFFLINE_FINDINGS : OFFLINE_CLEAN;
}

int offline_run(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct offline_options options;
    struct flag_values flags;
    struct error err;
    int code = program_parse(&offline_program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (offline_options_read(&flags, &options, &err) < 0)
        return program_refuse(&offline_program, &err);
    return options.test.len ? test(&options, arena) : review(&options, arena);
}
