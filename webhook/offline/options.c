/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: from flags and words to what a review is asked for. Pure. */
#include "webhook/offline/options.h"

#include "kube/names.h"

enum flag_id {
#define FLAG FLAG_AS_ID
#include "webhook/offline/flags.def"
#undef FLAG
    FLAG_COUNT
};

static const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG FLAG_AS_ROW
#include "webhook/offline/flags.def"
#undef FLAG
};

const struct program offline_program = {
    .name = "herd-webhook review",
    .summary = "Validates the Stacks, policies and workloads in files, folders (with all below), "
               "globs and standard input (-) "
               "as the webhook would.",
    .flags = flag_rows,
    .flag_count = FLAG_COUNT,
    .words = "FILE...",
    .exits = "0 nothing to complain of (warnings alone do not count; see --fail-on), 1 findings,\n"
             "2 flags cannot be used or an input cannot be read (the others are reviewed), 70 out "
             "of memory.",
};

static int read_namespace(const struct flag_value *flag, struct str *ret_namespace,
                          struct error *err)
{
    const char *why = kube_not_dns1123_label(flag->text);

    if (why)
        return error_set(err, ERROR_BAD_REQUEST, "%s: '%.*s' is no namespace: it %s", flag->from,
                         STR_ARG(flag->text), why);
    *ret_namespace = flag->text;
    return 0;
}

/* --- a review, or tests --- */

static int check_words(const struct offline_options *options, struct error *err)
{
    if (!options->test.len && !options->words.count)
        return error_set(err, ERROR_BAD_REQUEST,
                         "say what to review: files, folders, globs, or - for standard input");
    if (options->test.len && options->words.count)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--test says what is tested: there is no place for '%.*s'; leave out one "
                         "of both",
                         STR_ARG(options->words.items[0]));
    if (options->test.len && !options->output->write_cases)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--output: tests have no form '%s'; take text, json or junit",
                         options->output->name);
    return 0;
}

int offline_options_read(const struct flag_values *flags, struct offline_options *ret_options,
                         struct error *err)
{
    const struct flag_value *values = flags->values;
    struct offline_options options = {
        .config_file = values[FLAG_CONFIG_FILE].text,
        .output = output_find(values[FLAG_OUTPUT].text),
        .quiet = values[FLAG_QUIET].number != 0,
        .verbose = values[FLAG_VERBOSE].number != 0,
        .policy = values[FLAG_POLICY].text,
        .inventory = values[FLAG_INVENTORY].text,
        .test = values[FLAG_TEST].text,
        .words = flags->rest,
    };

    if (!severity_from(values[FLAG_FAIL_ON].text, &options.fail_on) ||
        read_namespace(&values[FLAG_NAMESPACE], &options.namespace_, err) < 0 ||
        configuration_read_flags(&values[FLAG_RULE_SEVERITY], &values[FLAG_ALLOW_PLAIN_HTTP],
                                 &options.configuration, err) < 0)
        return -1;
    if (options.quiet && options.verbose)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--quiet and --verbose say opposite things; give one of both");
    if (check_words(&options, err) < 0)
        return -1;
    *ret_options = options;
    return 0;
}
