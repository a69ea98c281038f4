/* SPDX-License-Identifier: Apache-2.0 */
/* program.c: the beginning that all programs share. */
#include "io/program.h"

#include "io/file.h"
#include "io/loop.h"

#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CA_BYTES_MAX = 1024 * 1024 };

static const char *environment(const char *name)
{
    return getenv(name);
}

static void print(const struct strbuf *out)
{
    fwrite(out->at, 1, out->len, stdout);
}

static void put_exits(const char *exits, struct strbuf *out)
{
    if (exits)
        strbuf_fmt(out, "\nExit codes: %s\n", exits);
    else
        strbuf_fmt(out,
                   "\nExit codes: %d in good order, %d it could not do or go on doing its work, "
                   "%d flags, environment\nor a file they name cannot be used, 70 out of memory.\n",
                   PROGRAM_OK, PROGRAM_FAILED, PROGRAM_USAGE);
}

static void print_help(const struct program *program, struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 4096);

    strbuf_fmt(&out, "%s\n\nUsage: %s [flags]%s%s\n\n", program->summary, program->name,
               program->words ? " " : "", program->words ? program->words : "");
    flags_help(program->flags, program->flag_count, &out);
    put_exits(program->exits, &out);
    print(&out);
}

static void print_commands(const struct program_set *set, struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 1024);

    strbuf_fmt(&out, "%s\n\nUsage: %s COMMAND [flags]\n\n", set->summary, set->name);
    for (uint32_t i = 0; i < set->command_count; i++)
        strbuf_fmt(&out, "  %-8s %s\n", set->commands[i].word, set->commands[i].program->summary);
    strbuf_fmt(&out, "\n%s COMMAND --help lists the flags and exit codes of a command.\n",
               set->name);
    put_exits(NULL, &out);
    print(&out);
}

static int reject_word(const struct program_set *set, struct str word, struct arena *arena)
{
    struct str_nearest nearest = { .name = word };
    struct strbuf words = strbuf_new(arena, 64);
    struct program program = { .name = set->name };
    struct error err;

    for (uint32_t i = 0; i < set->command_count; i++) {
        str_nearest_try(&nearest, str_of(set->commands[i].word));
        strbuf_fmt(&words, "%s%s", i ? " or " : "", set->commands[i].word);
    }
    if (!word.len || word.at[0] == '-')
        error_set(&err, ERROR_BAD_REQUEST, "say first what to do: %s %.*s; --help tells more",
                  set->name, STR_ARG(strbuf_str(&words)));
    else if (nearest.found.len)
        error_set(&err, ERROR_BAD_REQUEST, "there is no command '%.*s'; did you mean %.*s?",
                  STR_ARG(word), STR_ARG(nearest.found));
    else
        error_set(&err, ERROR_BAD_REQUEST, "there is no command '%.*s'; write %.*s", STR_ARG(word),
                  STR_ARG(strbuf_str(&words)));
    return program_reject(&program, &err);
}

int program_dispatch(const struct program_set *set, int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str word = str_of(argc > 1 ? argv[1] : "");

    for (uint32_t i = 0; i < set->command_count; i++)
        if (str_eq(word, str_of(set->commands[i].word)))
            return set->commands[i].run(argc - 1, argv + 1);
    if (str_eq(word, STR("--help")) || str_eq(word, STR("-h"))) {
        print_commands(set, arena);
        return PROGRAM_OK;
    }
    if (str_eq(word, STR("--version"))) {
        printf("%s %s\n", set->name, set->version);
        return PROGRAM_OK;
    }
    return reject_word(set, word, arena);
}

int program_parse(const struct program *program, int argc, char **argv, struct arena *arena,
                  struct flag_values *ret_values)
{
    struct error err;

    if (flags_parse(program->flags, program->flag_count, argc, argv, environment, arena, ret_values,
                    &err) < 0)
        return program_reject(program, &err);
    if (ret_values->help) {
        print_help(program, arena);
        return PROGRAM_OK;
    }
    return PROGRAM_GO_ON;
}

int program_reject(const struct program *program, const struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str shown = str_shown(arena, str_of(err->text), sizeof(err->text));

    fprintf(stderr, "%s: %.*s\n", program->name, STR_ARG(shown));
    return PROGRAM_USAGE;
}

static const struct flag_value *find_value(const struct flag_values *values, const char *name)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (str_eq(str_of(values->rows[i].name), str_of(name)))
            return &values->values[i];
    return NULL;
}

int program_read_ca(struct arena *arena, const struct flag_value *flag, struct str *ret_pem,
                    struct error *err)
{
    struct str pem = STR("");

    if (flag->text.len && file_read(arena, str_z(arena, flag->text), CA_BYTES_MAX, &pem, err) < 0)
        return error_wrap(err, "%s", flag->from);
    if (flag->text.len && str_find(pem, STR("-----BEGIN CERTIFICATE-----"), 0) < 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s holds no PEM certificate; name a file with the CA certificates "
                         "that are to be trusted",
                         flag->from, STR_ARG(flag->text));
    *ret_pem = pem;
    return 0;
}

struct log *program_log(const struct program *program, const struct flag_values *values)
{
    const struct flag_value *level_flag = find_value(values, "log-level");
    const struct flag_value *format_flag = find_value(values, "log-format");
    enum log_level level = LOG_INFO;

    if (level_flag)
        log_level_from(level_flag->text, &level);
    return log_create(STDERR_FILENO, level,
                      format_flag && str_eq(format_flag->text, STR("json")) ? LOG_JSON : LOG_TEXT,
                      system_clock(), program->name);
}

void program_log_flags(struct log *log, const struct flag_values *values)
{
    struct log_pair pairs[64];
    uint32_t count = 0;

    for (uint32_t i = 0; i < values->count && count < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct flag_value *value = &values->values[i];

        if (value->given)
            pairs[count++] = LOG_STR(values->rows[i].name,
                                     values->rows[i].secret ? STR("(secret)") : value->text);
    }
    log_write(log, LOG_INFO, "starting", pairs, count);
}

/* The start maps in most of the libraries' code (libcrypto alone: 4 MiB) and serving needs little
 * of it. Only mappings that nobody writes to are dropped: what they hold is in the file. */
static int drop_code(struct dl_phdr_info *object, size_t size, void *context)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)size;
    (void)context;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t from = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t to = object->dlpi_addr + part->p_vaddr + part->p_memsz;

        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void program_settle(void)
{
    malloc_trim(0);
    dl_iterate_phdr(drop_code, NULL);
}

int address_parse(struct arena *arena, struct str text, const char **ret_host, uint16_t *ret_port,
                  struct error *err)
{
    struct str host = text;
    struct str port = { NULL, 0 };
    uint64_t number;

    for (size_t i = text.len; i > 0; i--) {
        if (text.at[i - 1] == ':') {
            host = str_slice(text, 0, i - 1);
            port = str_slice(text, i, text.len);
            break;
        }
    }
    if (host.len >= 2 && host.at[0] == '[' && host.at[host.len - 1] == ']')
        host = str_slice(host, 1, host.len - 1);
    if (!port.at || !str_to_u64(port, &number) || number > 65535)
        return error_set(err, ERROR_BAD_REQUEST,
                         "'%.*s' is not an address and port; write it like 127.0.0.1:8443, "
                         "[::1]:8443 or :8443",
                         STR_ARG(text));
    *ret_host = str_z(arena, host);
    *ret_port = (uint16_t)number;
    return 0;
}
