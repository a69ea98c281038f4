/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: herd-webhook: its commands. */
#include "io/signal.h"
#include "webhook/offline/command.h"
#include "webhook/options.h"
#include "webhook/serve.h"

#include <stdio.h>
#include <unistd.h>

static uint32_t count_processors(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors < 1 ? 1 : (uint32_t)processors;
}

static int run_serve(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct webhook_options options;
    struct flag_values flags;
    struct error err;

    signal_setup();

    int code = program_parse(&webhook_program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (webhook_options_read(arena, &flags, count_processors(), &options, &err) < 0)
        return program_reject(&webhook_program, &err);
    if (options.version) {
        printf("herd-webhook %s\n", HERD_VERSION);
        return PROGRAM_OK;
    }

    AUTO(log_free) struct log *log = program_log(&webhook_program, &flags);

    program_log_flags(log, &flags);
    if (webhook_serve(&options, log, &err) < 0)
        return program_reject(&webhook_program, &err);
    return PROGRAM_OK;
}

static const struct program_command commands[] = {
    { "serve", &webhook_program, run_serve },
    { "review", &offline_program, offline_run },
};

int main(int argc, char **argv)
{
    const struct program_set set = {
        .name = "herd-webhook",
        .summary = "The admission webhook of Herd, and the same validation on files.",
        .version = HERD_VERSION,
        .commands = commands,
        .command_count = sizeof(commands) / sizeof(commands[0]),
    };

    return program_dispatch(&set, argc, argv);
}
