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

/* Bytes of the UTF-8 sequence at `at`, or 0 if it is none (RFC 3629 section 4). */
static size_t utf8_length(const unsigned char *at, size_t left)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3
                  : at[0] < 0xf5 ? 4 : 0;

    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

/* Control characters, C1 ones too, would let foreign text steer a terminal or forge a line. */
static bool is_control(const unsigned char *at, size_t length)
{
    return at[0] < 0x20 || at[0] == 0x7f || (length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

/* As the inside of a JSON string, which serves as the inside of a quoted text too. */
static void put_escaped(struct line *line, struct str s)
{
    size_t start = line->len;

    for (size_t i = 0; i < s.len;) {
        const unsigned char *at = (const unsigned char *)s.at + i;
        size_t length = utf8_length(at, s.len - i);
        char escape[8];

        if (line->len - start >= VALUE_MAX_BYTES || room(line) < sizeof(escape)) {
            put(line, STR("..."));
            return;
        }
        if (length == 0) {
            put(line, STR("\\ufffd"));
        } else if (is_control(at, length)) {
            unsigned code = length == 2 ? at[1] : at[0];

            if (code == '\n' || code == '\t' || code == '\r')
                put(line, code == '\n' ? STR("\\n") : code == '\t' ? STR("\\t") : STR("\\r"));
            else
                put(line, str_make(escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x",
                                                            code)));
        } else {
            if (at[0] == '"' || at[0] == '\\')
                put(line, STR("\\"));
            put(line, str_make(s.at + i, length));
        }
        i += length ? length : 1;
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
