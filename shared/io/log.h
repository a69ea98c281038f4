/* SPDX-License-Identifier: Apache-2.0 */
/* log.h: a line for each thing that happened: a constant message and key=value pairs.
 *
 *     log_info(log, "stack reconciled", LOG_STR("stack", key), LOG_INT("releases", n));
 *
 * JSON or text, to standard error; one write(2) a line, so lines of several threads do not mix.
 * Programs log; libraries return. Values are escaped and cut, so no foreign
 * text can forge a line. */
#ifndef HERD_IO_LOG_H
#define HERD_IO_LOG_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log;

struct log_pair {
    const char *key;
    struct str text;
    int64_t number;
    bool is_number;
};

#define LOG_STR(key, s) ((struct log_pair){ (key), (s), 0, false })
#define LOG_Z(key, z) ((struct log_pair){ (key), str_of(z), 0, false })
#define LOG_INT(key, n) ((struct log_pair){ (key), { NULL, 0 }, (int64_t)(n), true })

struct log *log_create(int fd, enum log_level level, enum log_format format,
                       const struct clock *clock, const char *program);
void log_free(struct log *log);
AUTO_DEFINE(log_free, struct log *)
bool log_enabled(const struct log *log, enum log_level level);
bool log_level_from(struct str name, enum log_level *ret_level); /* debug info warn error */

void log_write(struct log *log, enum log_level level, const char *message,
               const struct log_pair *pairs, uint32_t count);

#define log_at(log, level, message, ...)                                                           \
    do {                                                                                           \
        if (log_enabled((log), (level))) {                                                         \
            const struct log_pair pairs_[] = { __VA_ARGS__ };                                      \
            log_write((log), (level), (message), pairs_, sizeof(pairs_) / sizeof(pairs_[0]));      \
        }                                                                                          \
    } while (0)
#define log_debug(log, message, ...) log_at(log, LOG_DEBUG, message, __VA_ARGS__)
#define log_info(log, message, ...) log_at(log, LOG_INFO, message, __VA_ARGS__)
#define log_warn(log, message, ...) log_at(log, LOG_WARN, message, __VA_ARGS__)
#define log_error(log, message, ...) log_at(log, LOG_ERROR, message, __VA_ARGS__)

#endif
