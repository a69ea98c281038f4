/* SPDX-License-Identifier: Apache-2.0 */
/* tarball.c: ustar (POSIX.1-2001, pax, "ustar Interchange Format"): blocks of 512 bytes, a header
 * before each file's own. What is not asked for is copied as it is. */
#include "lab/downstream/tarball.h"

#include "text/json.h"
#include "text/json_write.h"
#include "text/yaml.h"
#include "text/zip.h"

#include <stdio.h>

enum {
    BLOCK = 512,
    NAME_BYTES = 100,
    SIZE_AT = 124,
    SIZE_BYTES = 12,
    CHECKSUM_AT = 148,
    CHECKSUM_BYTES = 8,
    TYPE_AT = 156,
    PREFIX_AT = 345,
};

struct entry {
    size_t at;   /* of its header */
    size_t size; /* of its bytes */
    size_t end;  /* of its last block */
    struct str name;
    bool is_file;
};

static bool read_octal(const char *digits, size_t count, size_t *ret_number)
{
    size_t number = 0;
    size_t i = 0;

    while (i < count && digits[i] == ' ')
        i++;
    for (; i < count && digits[i] >= '0' && digits[i] <= '7'; i++)
        number = number * 8 + (size_t)(digits[i] - '0');
    *ret_number = number;
    return i == count || digits[i] == '\0' || digits[i] == ' ';
}

/* 1 and the next entry, 0 at the end, -1. */
static int next_entry(struct str tar, size_t at, struct entry *ret_entry, struct error *err)
{
    const char *header = tar.at + at;

    if (at + BLOCK > tar.len || header[0] == '\0')
        return 0;

    struct entry entry = { .at = at, .name = str_make(header, strnlen(header, NAME_BYTES)) };

    if (!read_octal(header + SIZE_AT, SIZE_BYTES, &entry.size) || entry.size > tar.len)
        return error_set(err, ERROR_SYNTAX, "archive/tar: invalid tar header");
    entry.end = at + BLOCK + (entry.size + BLOCK - 1) / BLOCK * BLOCK;
    if (entry.end > tar.len)
        return error_set(err, ERROR_SYNTAX, "unexpected EOF");
    entry.is_file =
        (header[TYPE_AT] == '0' || header[TYPE_AT] == '\0') && header[PREFIX_AT] == '\0';
    *ret_entry = entry;
    return 1;
}

/* "web/values.yaml" is values.yaml of the chart; "web/charts/db/values.yaml" is not. */
static bool is_named(const struct entry *entry, struct str name)
{
    ptrdiff_t slash = str_find_char(entry->name, '/', 0);

    return entry->is_file && slash > 0 &&
           str_eq(str_slice(entry->name, (size_t)slash + 1, entry->name.len), name);
}

static int find(struct str tar, struct str name, struct entry *ret_entry, struct error *err)
{
    size_t at = 0;
    int more;

    while ((more = next_entry(tar, at, ret_entry, err)) == 1) {
        if (is_named(ret_entry, name))
            return 1;
        at = ret_entry->end;
    }
    return more;
}

static int unpack(struct arena *arena, struct str tarball, struct str *ret_tar, struct error *err)
{
    /* A web page with status 200 comes this way, and this is what Go says of it. */
    if (!str_starts(tarball, STR("\x1f\x8b")))
        return error_set(err, ERROR_SYNTAX, "gzip: invalid header");
    return gzip_unpack(arena, tarball, TARBALL_BYTES_MAX, ret_tar, err);
}

int tarball_file(struct arena *arena, struct str tarball, struct str name, struct str *ret_bytes,
                 struct error *err)
{
    struct str tar = STR("");
    struct entry entry;
    int found = unpack(arena, tarball, &tar, err) != 0 ? -1 : find(tar, name, &entry, err);

    if (found < 0)
        return -1;
    *ret_bytes = found ? str_slice(tar, entry.at + BLOCK, entry.at + BLOCK + entry.size) : STR("");
    return 0;
}

/* The header of `entry` for `size` bytes: size and checksum written anew. */
static void put_header(struct strbuf *out, struct str tar, const struct entry *entry, size_t size)
{
    char header[BLOCK];
    char number[SIZE_BYTES + 1];
    unsigned sum = 0;

    memcpy(header, tar.at + entry->at, BLOCK);
    snprintf(number, sizeof(number), "%011lo", (unsigned long)size);
    memcpy(header + SIZE_AT, number, SIZE_BYTES);
    memset(header + CHECKSUM_AT, ' ', CHECKSUM_BYTES);
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(number, sizeof(number), "%06o", sum & 0777777u);
    memcpy(header + CHECKSUM_AT, number, 7); /* six digits, NUL, and the space that is there */
    strbuf_put(out, str_make(header, BLOCK));
}

int tarball_replace(struct arena *arena, struct str tarball, struct str name, struct str bytes,
                    struct str *ret_tarball, struct error *err)
{
    static const char zeros[BLOCK];
    struct str tar = STR("");
    struct entry entry;
    int found = unpack(arena, tarball, &tar, err) != 0 ? -1 : find(tar, name, &entry, err);

    if (found < 0)
        return -1;
    if (!found)
        return error_set(err, ERROR_NOT_FOUND, "the chart has no file %.*s", STR_ARG(name));

    struct strbuf out = strbuf_new(arena, tar.len + bytes.len + BLOCK);

    strbuf_put(&out, str_slice(tar, 0, entry.at));
    put_header(&out, tar, &entry, bytes.len);
    strbuf_put(&out, bytes);
    strbuf_put(&out, str_make(zeros, (BLOCK - bytes.len % BLOCK) % BLOCK));
    strbuf_put(&out, str_slice(tar, entry.end, tar.len));
    *ret_tarball = gzip_pack(arena, strbuf_str(&out));
    return 0;
}

/* ---- Chart.yaml ------------------------------------------------------------------------------ */

static void put_member(struct json_writer *w, struct str key, struct json value)
{
    json_put_key(w, key);
    json_put_raw(w, json_raw(value));
}

static void put_annotations(struct json_writer *w, struct json own, struct json added)
{
    struct json_iter it = json_iter(own);

    json_open_object(w);
    while (json_next(&it))
        if (json_is(json_get(added, it.key), JSON_ABSENT))
            put_member(w, it.key, it.value);
    it = json_iter(added);
    while (json_next(&it))
        put_member(w, it.key, it.value);
    json_close_object(w);
}

int tarball_metadata(struct arena *arena, struct str tarball, struct str annotations,
                     struct str *ret_metadata, struct error *err)
{
    struct strbuf out = strbuf_new(arena, 1024 + annotations.len);
    struct json_writer w = json_writer(&out);
    struct yaml_documents documents;
    struct str text = STR("");
    struct json chart;
    struct json added = { 0 };

    if (tarball_file(arena, tarball, STR("Chart.yaml"), &text, err) != 0)
        return -1;
    if (!text.len)
        return error_set(err, ERROR_NOT_FOUND, "Chart.yaml file is missing");
    if (yaml_read(arena, text, &documents, err) != 0 || !documents.count ||
        json_read(arena, documents.items[0].json, &json_limits_default, &chart, err) != 0 ||
        (annotations.len && json_read(arena, annotations, &json_limits_default, &added, err) != 0))
        return -1;

    struct json_iter it = json_iter(chart);

    json_open_object(&w);
    while (json_next(&it))
        if (!str_eq(it.key, STR("annotations")))
            put_member(&w, it.key, it.value);
    json_put_key(&w, STR("annotations"));
    put_annotations(&w, json_get(chart, STR("annotations")), added);
    json_close_object(&w);
    *ret_metadata = strbuf_str(&out);
    return 0;
}
