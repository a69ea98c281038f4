/* SPDX-License-Identifier: Apache-2.0 */
/* json_write.h: JSON out, straight into a buffer.
 *
 * Commas and colons come by themselves. Strings are escaped as RFC 8259 asks; bytes that are not
 * UTF-8 become U+FFFD, so what comes out is always valid. */
#ifndef HERD_TEXT_JSON_WRITE_H
#define HERD_TEXT_JSON_WRITE_H

#include "base/str.h"

struct json_writer {
    struct strbuf *out;
    bool needs_comma;
};

static inline struct json_writer json_writer(struct strbuf *out)
{
    return (struct json_writer){ out, false };
}

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);
void json_put_key(struct json_writer *w, struct str key);
void json_put_str(struct json_writer *w, struct str text);
void json_put_int(struct json_writer *w, int64_t number);
void json_put_bool(struct json_writer *w, bool truth);
void json_put_null(struct json_writer *w);
/* Bytes that are one valid JSON value already. */
void json_put_raw(struct json_writer *w, struct str json);

/* key and value in one; `key` is a literal. */
#define json_field_str(w, key, text) (json_put_key((w), STR(key)), json_put_str((w), (text)))
#define json_field_int(w, key, number) (json_put_key((w), STR(key)), json_put_int((w), (number)))
#define json_field_bool(w, key, truth) (json_put_key((w), STR(key)), json_put_bool((w), (truth)))
#define json_field_raw(w, key, json) (json_put_key((w), STR(key)), json_put_raw((w), (json)))

/* `text` as a JSON string with its quotes, alone. */
void json_quote(struct strbuf *out, struct str text);

#endif
