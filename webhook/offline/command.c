/* SPDX-License-Identifier: Apache-2.0 */
/* command.c: read the input, validate it, write the report. */
#include "webhook/offline/command.h"

#include "io/file.h"
#include "text/limits.h"
#include "webhook/offline/cases_run.h"
#include "webhook/offline/clusters.h"
#include "webhook/offline/policies.h"

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

enum { SHOWN_MAX = 4096 };

static void tell(const char *before, struct str foreign, struct arena *arena)
{
    fprintf(stderr, "%s: %s%.*s\n", offline_program.name, before,
            STR_ARG(str_shown(arena, foreign, SHOWN_MAX)));
}

/* For whoever sees no report: it may go into a file. */
static uint32_t tell_unreadable(const struct report_files *files, struct arena *arena)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < files->count; i++) {
        const struct report_file *file = &files->items[i];

        if (file->failure.len) {
            tell("", file->failure, arena);
            count++;
        }
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

static struct input_files read_from(struct str from, struct arena *arena)
{
    struct str_list words = str_list_new(arena, 1);

    str_list_push(&words, from);
    return input_read(arena, &words);
}

static void tell_wrong(const struct str_list *wrong, struct arena *arena)
{
    for (uint32_t i = 0; i < wrong->count; i++)
        tell("", wrong->items[i], arena);
}

/* The clusters that stand there, if some are asked for; else what is wrong is reported. */
static int load_clusters(const struct offline_options *options, struct arena *arena,
                         struct offline_config *config)
{
    struct input_files files;
    struct str_list wrong;

    if (!options->inventory.len)
        return 0;
    files = read_from(options->inventory, arena);
    if (clusters_load(arena, &files, &config->clusters, &wrong) < 0) {
        tell_wrong(&wrong, arena);
        return -1;
    }
    config->clusters_known = true;
    return 0;
}

/* The policies that stand there, all in order; else what is wrong is reported. */
static int load_policies(struct str from, struct arena *arena, struct policy_set **ret_policies)
{
    struct input_files files = read_from(from, arena);
    struct str_list wrong;
    struct policy_set *policies = policies_load(arena, &files, &wrong);

    if (!policies) {
        tell_wrong(&wrong, arena);
        return -1;
    }
    *ret_policies = policies;
    return 0;
}

/* What the file says, and over it flags; else what is wrong is reported. */
static int read_configuration(const struct offline_options *options, struct arena *arena,
                              struct configuration *ret_configuration)
{
    struct configuration configuration = configuration_default();
    const char *name = str_z(arena, options->config_file);
    struct configuration_layer layer;
    struct str text;
    struct error err;

    if (options->config_file.len) {
        if (file_read(arena, name, LIMIT_YAML_TEXT, &text, &err) < 0 ||
            configuration_read(name, text, &layer, &err) < 0) {
            tell("", str_of(err.text), arena);
            return -1;
        }
        configuration_lay(&configuration, &layer);
    }
    configuration_lay(&configuration, &options->configuration);
    *ret_configuration = configuration;
    return 0;
}

/* All but the policies. */
static int configure(const struct offline_options *options, struct arena *arena,
                     struct offline_config *ret_config)
{
    *ret_config = (struct offline_config){ .namespace_ = options->namespace_ };
    if (read_configuration(options, arena, &ret_config->configuration) < 0)
        return -1;
    return load_clusters(options, arena, ret_config);
}

/* --- a review --- */

/* Standard input alone, and it holds nothing: a slip in a pipe must not look like a clean review.
 * Then `files` says so as well. */
static struct report review_files(struct arena *arena, struct input_files *files,
                                  const struct offline_config *config)
{
    struct report report = offline_review(arena, files, config);

    if (report.objects.count || report.others.count || report.findings.count || report.unreadable ||
        files->count != 1 || !str_eq(files->items[0].name, STR("-")))
        return report;
    files->items[0].failure = STR(INPUT_NOTHING);
    return offline_review(arena, files, config);
}

static int review(const struct offline_options *options, struct arena *arena)
{
    AUTO(policy_set_unref) struct policy_set *policies = NULL;
    struct offline_config config;
    struct output_style style = style_of(options, arena);
    struct strbuf out = strbuf_new(arena, 64 * 1024);

    if (configure(options, arena, &config) < 0 ||
        (options->policy.len && load_policies(options->policy, arena, &policies) < 0))
        return OFFLINE_UNREADABLE;
    config.policies = policies;

    struct input_files files = input_read(arena, &options->words);
    struct report report = review_files(arena, &files, &config);

    options->output->write(&report, &style, &out);
    tell_unreadable(&report.files, arena);
    return put(&out) < 0 ? OFFLINE_UNREADABLE : offline_exit_of(&report, options->fail_on);
}

/* --- tests --- */

static int test(const struct offline_options *options, struct arena *arena)
{
    AUTO(policy_set_unref) struct policy_set *policies = NULL;
    struct offline_config config;
    struct output_style style = style_of(options, arena);
    struct strbuf out = strbuf_new(arena, 64 * 1024);

    if (configure(options, arena, &config) < 0 ||
        (options->policy.len && load_policies(options->policy, arena, &policies) < 0))
        return OFFLINE_UNREADABLE;
    config.policies = policies;

    struct input_files files = read_from(options->test, arena);
    struct case_report report = cases_run(arena, &files, &config);
    uint32_t unreadable = tell_unreadable(&report.files, arena);

    options->output->write_cases(&report, &style, &out);
    if (put(&out) < 0 || unreadable)
        return OFFLINE_UNREADABLE;
    if (report.results.count == 0) {
        tell("there is no StackTest in ", options->test, arena);
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
        return program_reject(&offline_program, &err);
    return options.test.len ? test(&options, arena) : review(&options, arena);
}
