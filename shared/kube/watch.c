/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: watch events, and the cutting of a stream into lines. */
#include "kube/watch.h"

#include "base/memory.h"
#include "kube/limits.h"
#include "kube/meta.h"
#include "kube/sanitize.h"

static const struct str type_names[] = {
    [WATCH_ADDED] = STR_INIT("ADDED"),     [WATCH_MODIFIED] = STR_INIT("MODIFIED"),
    [WATCH_DELETED] = STR_INIT("DELETED"), [WATCH_BOOKMARK] = STR_INIT("BOOKMARK"),
    [WATCH_ERROR] = STR_INIT("ERROR"),
};

static int read_type(struct arena *arena, struct str name, enum watch_type *ret_type,
                     struct error *err)
{
    for (enum watch_type type = WATCH_ADDED; type <= WATCH_ERROR; type++)
        if (str_eq(name, type_names[type])) {
            *ret_type = type;
            return 0;
        }
    return error_set(err, ERROR_SYNTAX, "watch event of the unknown type \"%.*s\"",
                     STR_ARG(str_shown(arena, name, 40)));
}

static void read_status(struct json status, struct watch_event *event)
{
    int64_t code = 0;

    (void)json_int64(json_get(status, STR("code")), &code);
    event->code = code >= 100 && code < 600 ? (int)code : 500;
    event->message = json_str(json_get(status, STR("message")));
}

int watch_read(struct arena *arena, struct str line, struct watch_event *ret_event,
               struct error *err)
{
    static const struct str initial_end = STR_INIT("k8s.io/initial-events-end");
    struct json_limits limits = json_limits_default;
    struct watch_event event = { .code = 0 };
    struct json root;

    limits.bytes_max = LIMIT_WATCH_LINE;
    /* The line is what is bounded: whatever a server stores may be one text. */
    limits.string_max = LIMIT_WATCH_LINE;
    if (kube_json_read(arena, line, &limits, &root, err) < 0)
        return error_wrap(err, "watch event");
    if (read_type(arena, json_str(json_get(root, STR("type"))), &event.type, err) < 0)
        return -1;
    event.object = json_get(root, STR("object"));
    if (!json_is(event.object, JSON_OBJECT))
        return error_set(err, ERROR_SYNTAX, "watch event %.*s without an object",
                         STR_ARG(type_names[event.type]));
    if (event.type == WATCH_ERROR) {
        read_status(event.object, &event);
    } else {
        struct kube_meta meta;

        kube_meta_read(event.object, &meta);
        event.resource_version = meta.resource_version;
        event.initial_events_end = event.type == WATCH_BOOKMARK &&
                                   str_eq(kube_annotation(&meta, initial_end), STR("true"));
    }
    *ret_event = event;
    return 0;
}

enum { LINES_FIRST = 4096, LINES_KEPT = 256 * 1024 };

/* Bytes [from, end) are not given out yet; [from, scanned) are known to hold no line end. */
struct watch_lines {
    size_t line_max;
    char *bytes;
    size_t capacity;
    size_t from, scanned, end;
};

struct watch_lines *watch_lines_create(size_t line_max)
{
    struct watch_lines *lines = mem_new(struct watch_lines);

    lines->line_max = line_max;
    return lines;
}

void watch_lines_free(struct watch_lines *lines)
{
    if (!lines)
        return;
    mem_free_secret(lines->bytes, lines->capacity);
    mem_free(lines);
}

/* Room for `more` bytes at the end. What one huge line needed is not kept for ever; any line may be
 * of a Secret. */
static void make_room(struct watch_lines *lines, size_t more)
{
    size_t held = lines->end - lines->from;
    size_t need = held + more;

    if (lines->from && held)
        memmove(lines->bytes, lines->bytes + lines->from, held);
    lines->scanned -= lines->from;
    lines->end = held;
    lines->from = 0;
    if (need > lines->capacity || (lines->capacity > LINES_KEPT && need < LINES_KEPT / 4)) {
        size_t capacity = LINES_FIRST;

        while (capacity < need)
            capacity *= 2;
        lines->bytes = mem_resize_secret(lines->bytes, lines->capacity, capacity);
        lines->capacity = capacity;
    }
}

int watch_lines_put(struct watch_lines *lines, struct str piece, struct error *err)
{
    if (piece.len == 0)
        return 0;
    make_room(lines, piece.len);
    memcpy(lines->bytes + lines->end, piece.at, piece.len);
    lines->end += piece.len;

    /* Of a piece with several lines, each is measured: none may pass because others surround it. */
    for (size_t start = lines->from, from = lines->scanned; start < lines->end;) {
        const char *stop = memchr(lines->bytes + from, '\n', lines->end - from);
        size_t line_end = stop ? (size_t)(stop - lines->bytes) : lines->end;

        if (line_end - start > lines->line_max)
            return error_set(err, ERROR_TOO_LARGE,
                             "a watch event is longer than %zu bytes: the whole list is read "
                             "again instead",
                             lines->line_max);
        start = from = line_end + 1;
        if (!stop || from > lines->end)
            break;
    }
    return 0;
}

bool watch_lines_next(struct watch_lines *lines, struct str *ret_line)
{
    while (lines->from < lines->end) {
        const char *stop = memchr(lines->bytes + lines->scanned, '\n', lines->end - lines->scanned);

        if (!stop) {
            lines->scanned = lines->end;
            return false;
        }

        struct str line = str_trim(
            str_make(lines->bytes + lines->from, (size_t)(stop - lines->bytes) - lines->from));

        lines->from = (size_t)(stop - lines->bytes) + 1;
        lines->scanned = lines->from;
        if (line.len) {
            *ret_line = line;
            return true;
        }
    }
    /* Thousands of watches say nothing most of the time. */
    mem_free_secret(TAKE(lines->bytes), lines->capacity);
    lines->capacity = lines->from = lines->scanned = lines->end = 0;
    return false;
}
