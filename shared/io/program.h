/* SPDX-License-Identifier: Apache-2.0 */
/* program.h: what every program of Herd begins with: flags, --help, the log, exit codes. */
#ifndef HERD_IO_PROGRAM_H
#define HERD_IO_PROGRAM_H

#include "base/flag.h"
#include "io/log.h"

/* Exit codes, as --help lists them; running out of memory ends with 70 (base/memory.h). */
enum program_exit {
    PROGRAM_OK = 0,
    PROGRAM_FAILED = 1, /* it could not do, or go on doing, its work */
    PROGRAM_USAGE = 2,  /* flags, environment or a file they name cannot be used */
    PROGRAM_GO_ON = -1, /* not an exit code: the flags are fine */
};

struct program {
    const char *name;    /* "herd-webhook serve" */
    const char *summary; /* one paragraph for --help */
    const struct flag_row *flags;
    uint32_t flag_count;
    const char *words; /* behind the flags in the usage line: "FILE..."; NULL if it takes none */
    const char *exits; /* the sentence of --help about exit codes; NULL: that of program_exit */
};

/* A program whose first word says what it does. */
struct program_command {
    const char *word; /* "serve" */
    const struct program *program;
    /* argv[0] is the word. Gives the exit code. */
    int (*run)(int argc, char **argv);
};

struct program_set {
    const char *name; /* "herd-webhook" */
    const char *summary;
    const char *version;
    const struct program_command *commands;
    uint32_t command_count;
};

/* Run the command that the first word names; or print --help of all, --version, or what is
 * wrong. */
int program_dispatch(const struct program_set *set, int argc, char **argv);

/* Parse; print --help or what is wrong. PROGRAM_GO_ON, or the code to exit with. */
int program_parse(const struct program *program, int argc, char **argv, struct arena *arena,
                  struct flag_values *ret_values);

/* Say what cannot be used and give PROGRAM_USAGE; for after the flags were parsed. */
int program_reject(const struct program *program, const struct error *err);

/* The CA certificates (PEM) of the file that a flag names, in the arena; "" if it is not set.
 * -1: the file cannot be read, is too large, or holds none. */
int program_read_ca(struct arena *arena, const struct flag_value *flag, struct str *ret_pem,
                    struct error *err);

/* A log to standard error as the flags "log-level" and "log-format" say, if there are such. */
struct log *program_log(const struct program *program, const struct flag_values *values);
/* One line that names every flag that was given; secret ones without their value. */
void program_log_flags(struct log *log, const struct flag_values *values);

/* Once everything runs: give back the memory that only the start needed. Code pages that are needed
 * again come back from the page cache by themselves. */
void program_settle(void);

/* "host:port", ":port", "[::1]:port"; the host stays numeric or empty. */
int address_parse(struct arena *arena, struct str text, const char **ret_host, uint16_t *ret_port,
                  struct error *err);

#endif
