/* SPDX-License-Identifier: Apache-2.0 */
/* zip.c: the one file that knows zlib. */
#include "text/zip.h"

#include "base/memory.h"

#include <zlib.h>

enum {
    /* What is packed is short and there is much of it: a small window and little memory. */
    WINDOW_BITS = 13,
    MEMORY_LEVEL = 5,
    GZIP = 16, /* added to the window's bits: gzip's header instead of zlib's own */
    WINDOW_BITS_MAX = 15,
    PIECE_BYTES = 16384,
};

static voidpf take(voidpf arena, uInt items, uInt size)
{
    return arena_bytes(arena, arena_array_bytes(items, size));
}

static void give(voidpf arena, voidpf held)
{
    (void)arena;
    (void)held;
}

static z_stream stream_new(struct arena *arena)
{
    return (z_stream){ .zalloc = take, .zfree = give, .opaque = arena };
}

/* zlib's pointers to input are not const, though it only reads. */
static Bytef *readable(struct str bytes)
{
    union {
        const char *from;
        Bytef *to;
    } at = { .from = bytes.at };

    return at.to;
}

static struct str pack(struct arena *arena, struct str bytes, struct str dictionary, int bits,
                       int level)
{
    z_stream stream = stream_new(arena);

    if (deflateInit2(&stream, level, Z_DEFLATED, bits, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        mem_exhausted("zlib");
    if (dictionary.len)
        deflateSetDictionary(&stream, readable(dictionary), (uInt)dictionary.len);

    size_t room = deflateBound(&stream, (uLong)bytes.len) + 32;
    char *packed = arena_bytes(arena, room);

    stream.next_in = readable(bytes);
    stream.avail_in = (uInt)bytes.len;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        mem_exhausted("zlib"); /* deflateBound said that it fits */
    return str_make(packed, stream.total_out);
}

static int unpack(struct arena *arena, struct str packed, struct str dictionary, int bits,
                  size_t bytes_max, struct str *ret_bytes, struct error *err)
{
    z_stream stream = stream_new(arena);
    struct strbuf out = strbuf_new(arena, packed.len * 4 + 256);
    int result = Z_OK;

    if (inflateInit2(&stream, bits) != Z_OK)
        mem_exhausted("zlib");
    stream.next_in = readable(packed);
    stream.avail_in = (uInt)packed.len;
    while (result == Z_OK) {
        stream.next_out = (Bytef *)strbuf_reserve(&out, PIECE_BYTES);
        stream.avail_out = PIECE_BYTES;
        result = inflate(&stream, Z_NO_FLUSH);
        out.len += PIECE_BYTES - stream.avail_out;
        if (out.len > bytes_max)
            return error_set(err, ERROR_TOO_LARGE, "gzip: more than %zu bytes", bytes_max);
        if (result == Z_NEED_DICT && dictionary.len)
            result = inflateSetDictionary(&stream, readable(dictionary), (uInt)dictionary.len);
    }
    if (result != Z_STREAM_END)
        return error_set(err, ERROR_SYNTAX, "gzip: invalid header");
    *ret_bytes = strbuf_str(&out);
    return 0;
}

struct str gzip_pack(struct arena *arena, struct str bytes)
{
    return pack(arena, bytes, STR(""), WINDOW_BITS + GZIP, Z_BEST_SPEED);
}

int gzip_unpack(struct arena *arena, struct str packed, size_t bytes_max, struct str *ret_bytes,
                struct error *err)
{
    return unpack(arena, packed, STR(""), WINDOW_BITS_MAX + GZIP, bytes_max, ret_bytes, err);
}

struct str zip_pack(struct arena *arena, struct str bytes, struct str dictionary)
{
    return pack(arena, bytes, dictionary, WINDOW_BITS, Z_DEFAULT_COMPRESSION);
}

int zip_unpack(struct arena *arena, struct str packed, struct str dictionary, size_t bytes_max,
               struct str *ret_bytes, struct error *err)
{
    return unpack(arena, packed, dictionary, WINDOW_BITS, bytes_max, ret_bytes, err);
}
