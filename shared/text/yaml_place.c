/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_place.c: where things stand: values, keys, errors, and the documents of a stream. */
#include "text/json_index.h"
#include "text/yaml_node.h"

#include <stdio.h>

/* ---- errors ---- */

int yaml_fail(struct error *err, enum error_code code, uint32_t line, uint32_t column,
              const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return error_set(err, code, "line %u, column %u: %s", line, column, text);
}

bool yaml_error_place(const struct error *err, struct yaml_position *ret_at, struct str *ret_what)
{
    struct yaml_position at = { 0, 0, 0 };
    int end = 0;

    if (sscanf(err->text, "line %u, column %u: %n", &at.line, &at.column, &end) != 2 || end == 0)
        return false;
    *ret_at = at;
    *ret_what = str_of(err->text + end);
    return true;
}

/* ---- positions ---- */

/* Nodes stand in the order of the text, so one walk over the bytes places them all. */
static void place_json(struct arena *arena, struct json root, struct yaml_document *document)
{
    const struct json_node *nodes = root.index->nodes;
    uint32_t count = json_node_of(root)->next;
    uint32_t line = 1;
    uint32_t column = 1;
    size_t at = 0;

    document->positions = arena_array(arena, struct yaml_position, count);
    document->position_count = count;
    for (uint32_t i = 0; i < count; i++) {
        size_t offset = nodes[i].start - (nodes[i].flags & JSON_FLAG_KEY ? 1 : 0);

        for (; at < offset; at++) {
            if (document->json.at[at] == '\n') {
                line++;
                column = 1;
            } else {
                column += ((unsigned char)document->json.at[at] & 0xc0) != 0x80;
            }
        }
        document->positions[i] = (struct yaml_position){ offset, line, column };
    }
}

int yaml_read_json(struct arena *arena, struct str text, const struct json_limits *limits,
                   struct yaml_document *ret_document, struct error *err)
{
    struct yaml_document document = { .json = str_dup(arena, text) };
    struct json root;

    if (json_read(arena, document.json, limits, &root, err) < 0)
        return -1;
    place_json(arena, root, &document);
    *ret_document = document;
    return 0;
}

/* How many positions stand at or before `offset`. */
static uint32_t positions_until(const struct yaml_document *document, size_t offset)
{
    uint32_t low = 0;
    uint32_t high = document->position_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (document->positions[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct yaml_position yaml_position_of(const struct yaml_document *document, size_t offset)
{
    uint32_t until = positions_until(document, offset);

    return until ? document->positions[until - 1] : (struct yaml_position){ 0, 0, 0 };
}

/* A key is marked right before its value. */
struct yaml_position yaml_key_position_of(const struct yaml_document *document, size_t offset)
{
    uint32_t until = positions_until(document, offset);

    return until > 1 ? document->positions[until - 2] : yaml_position_of(document, offset);
}

/* ---- streams ---- */

/* A line that is `marker`, alone or with something behind a blank. */
static bool is_marker(struct str line, struct str marker)
{
    return str_starts(line, marker) &&
           (line.len == marker.len || strchr(" \t\r\n", line.at[marker.len]));
}

/* Blank, a comment, a directive, or another end: what may stand before a document begins. */
static bool is_preface(struct str line)
{
    struct str text = str_trim(line);

    return text.len == 0 || text.at[0] == '#' || line.at[0] == '%' || is_marker(line, STR("..."));
}

bool yaml_split(struct yaml_stream *stream, struct str *ret_text, uint32_t *ret_line)
{
    struct str text = stream->rest;
    uint32_t lines = 0;
    size_t end = 0;
    bool begun = false;
    bool ended = false;

    while (end < text.len && !ended) {
        ptrdiff_t newline = str_find_char(text, '\n', end);
        size_t next = newline < 0 ? text.len : (size_t)newline + 1;
        struct str line = str_slice(text, end, next);

        if (begun && is_marker(line, STR("---")))
            break;
        ended = begun && is_marker(line, STR("..."));
        begun = begun || !is_preface(line);
        end = next;
        lines++;
    }
    if (end == 0)
        return false;
    *ret_text = str_slice(text, 0, end);
    *ret_line = stream->line;
    stream->rest = str_slice(text, end, text.len);
    stream->line += lines;
    return true;
}
