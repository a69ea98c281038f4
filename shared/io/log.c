/* SPDX-License-Identifier: Apache-2.0 */
/* log.c: a line is built on the stack and written at once. */
#include "io/log.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 8192, /* a pipe takes 4096 in one piece, a file and a terminal any length */
    VALUE_MAX_BYTES = 1024,
};

struct log {
    int fd;
    enum log_level level;
    enum log_format format;
    const struct clock *clock;
    char *program;
};

/* What does not fit is left out; room for the end of the line is kept. */
struct line {
    char at[LINE_MAX_BYTES];
    size_t len;
};

static const char *const level_names[] = { "debug", "info", "warn", "error" };

struct log *log_create(int fd, enum log_level level, enum log_format format,
                       const struct clock *clock, const char *program)
{
    struct log *log = mem_new(struct log);

    log->fd = fd;
    log->level = level;
    log->format = format;
    log->clock = clock;
    log->program = mem_copy(program, strlen(program));
    return log;
}

void log_free(struct log *log)
{
    if (!log)
        return;
    mem_free(log->program);
    mem_free(log);
}

bool log_enabled(const struct log *log, enum log_level level)
{
    return log && level >= log->level;
}

bool log_level_from(struct str name, enum log_level *ret_level)
{
    for (int i = LOG_DEBUG; i <= LOG_ERROR; i++)
        if (str_eq(name, str_of(level_names[i]))) {
            *ret_level = (enum log_level)i;
            return true;
        }
    return false;
}

static size_t room(const struct line *line)
{
    return sizeof(line->at) - line->len - sizeof("...\"}\n");
}

static void put(struct line *line, struct str s)
{
    if (s.len > room(line))
        return;
    if (s.len)
        memcpy(line->at + line->len, s.at, s.len);
    line->len += s.len;
}

/* JSON has UTF-16's units: two of them beyond the first plane. */
static void put_escape(struct line *line, uint32_t code)
{
    char text[16];
    int len = code < 0x10000 ? snprintf(text, sizeof(text), "\\u%04x", code)
                             : snprintf(text, sizeof(text), "\\u%04x\\u%04x",
                                        0xd800 + ((code - 0x10000) >> 10),
                                        0xdc00 + ((code - 0x10000) & 0x3ff));

    put(line, str_make(text, (size_t)len));
}

static void put_character(struct line *line, uint32_t code, struct str bytes)
{
    if (code == '\n' || code == '\t' || code == '\r')
        put(line, code == '\n' ? STR("\\n") : code == '\t' ? STR("\\t") : STR("\\r"));
    else if (bytes.len == 1 && code >= 0x80)
        put_escape(line, 0xfffd);
    else if (code_point_is_hidden(code))
        put_escape(line, code);
    else {
        if (code == '"' || code == '\\')
            put(line, STR("\\"));
        put(line, bytes);
    }
}

/* As the inside of a JSON string, which serves as the inside of a quoted text too. What would steer
 * a terminal, forge a line or show text in another order is escaped. */
static void put_escaped(struct line *line, struct str s)
{
    enum { ESCAPE_BYTES = sizeof("\\uffff\\uffff") };
    size_t start = line->len;
    size_t bytes;

    for (size_t i = 0; i < s.len; i += bytes) {
        uint32_t code = str_code_point(str_slice(s, i, s.len), &bytes);

        if (line->len - start >= VALUE_MAX_BYTES || room(line) < ESCAPE_BYTES) {
            put(line, STR("..."));
            return;
        }
        put_character(line, code, str_slice(s, i, i + bytes));
    }
}

static void put_quoted(struct line *line, struct str s)
{
    put(line, STR("\""));
    put_escaped(line, s);
    put(line, STR("\""));
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.at[i] <= ' ' || (unsigned char)s.at[i] >= 0x7f || s.at[i] == '"' ||
            s.at[i] == '\\' || s.at[i] == '=')
            return false;
    return s.len > 0 && s.len <= VALUE_MAX_BYTES;
}

static void put_time(struct line *line, int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    char text[40];
    struct tm parts;

    gmtime_r(&seconds, &parts);

    size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);

    len += (size_t)snprintf(text + len, sizeof(text) - len, ".%03dZ", (int)(wall_ms % 1000));
    put(line, str_make(text, len));
}

static void put_value(struct line *line, const struct log_pair *pair, bool quote)
{
    char digits[24];

    if (pair->is_number)
        put(line, str_make(digits, (size_t)snprintf(digits, sizeof(digits), "%lld",
                                                    (long long)pair->number)));
    else if (quote || !is_plain(pair->text))
        put_quoted(line, pair->text);
    else
        put(line, pair->text);
}

static void put_json(struct line *line, const struct log *log, enum log_level level,
                     const char *message, const struct log_pair *pairs, uint32_t count)
{
    put(line, STR("{\"time\":\""));
    put_time(line, clock_wall_ms(log->clock));
    put(line, STR("\",\"level\":"));
    put_quoted(line, str_of(level_names[level]));
    put(line, STR(",\"program\":"));
    put_quoted(line, str_of(log->program));
    put(line, STR(",\"message\":"));
    put_quoted(line, str_of(message));
    /* A pair goes in whole or not at all, so that the line stays JSON. */
    for (uint32_t i = 0; i < count && room(line) > 2 * VALUE_MAX_BYTES; i++) {
        put(line, STR(","));
        put_quoted(line, str_of(pairs[i].key));
        put(line, STR(":"));
        put_value(line, &pairs[i], true);
    }
    put(line, STR("}"));
}

static void put_text(struct line *line, const struct log *log, enum log_level level,
                     const char *message, const struct log_pair *pairs, uint32_t count)
{
    static const char *const shown[] = { " DEBUG ", " INFO  ", " WARN  ", " ERROR " };

    put_time(line, clock_wall_ms(log->clock));
    put(line, str_of(shown[level]));
    put_escaped(line, str_of(message));
    for (uint32_t i = 0; i < count && room(line) > 2 * VALUE_MAX_BYTES; i++) {
        put(line, STR(" "));
        put_escaped(line, str_of(pairs[i].key));
        put(line, STR("="));
        put_value(line, &pairs[i], false);
    }
}

void log_write(struct log *log, enum log_level level, const char *message,
               const struct log_pair *pairs, uint32_t count)
{
    struct line line;

    if (!log_enabled(log, level))
        return;
    line.len = 0;
    if (log->format == LOG_JSON)
        put_json(&line, log, level, message, pairs, count);
    else
        put_text(&line, log, level, message, pairs, count);
    line.at[line.len++] = '\n';

    /* The rest after a short write follows; a log that cannot be written has nowhere to say so. */
    for (size_t done = 0; done < line.len;) {
        ssize_t wrote = write(log->fd, line.at + done, line.len - done);

        if (wrote < 0 && errno != EINTR)
            return;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}
