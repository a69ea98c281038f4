/* gzip.c: the one file that knows zlib. Its memory comes from the arena, so nothing is left behind
 * when a request's budget ends it halfway. */
#include "lab/estate/rancher/gzip.h"

#include "base/memory.h"

#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16 }; /* + 16: a gzip header instead of zlib's own */

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

/* zlib's input pointer is not const, though it only reads. */
static void set_input(z_stream *stream, struct str bytes)
{
    union {
        const char *from;
        Bytef *to;
    } at = { .from = bytes.at };

    stream->next_in = at.to;
    stream->avail_in = (uInt)bytes.len;
}

struct str gzip_pack(struct arena *arena, struct str bytes)
{
    z_stream stream = stream_new(arena);

    /* A small window and little memory: the values of a chart are short, and there are many. */
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 12 + 16, 5, Z_DEFAULT_STRATEGY) != Z_OK)
        mem_exhausted("gzip");
    set_input(&stream, bytes);

    size_t room = deflateBound(&stream, (uLong)bytes.len) + 32;
    char *packed = arena_bytes(arena, room);

    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        mem_exhausted("gzip"); /* deflateBound said that it fits */
    return str_make(packed, stream.total_out);
}

int gzip_unpack(struct arena *arena, struct str packed, size_t bytes_max, struct str *ret_bytes,
                struct error *err)
{
    z_stream stream = stream_new(arena);
    struct strbuf out = strbuf_new(arena, packed.len * 4 + 256);
    int result = Z_OK;

    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        mem_exhausted("gzip");
    set_input(&stream, packed);
    while (result == Z_OK) {
        char *room = strbuf_reserve(&out, 16384);

        stream.next_out = (Bytef *)room;
        stream.avail_out = 16384;
        result = inflate(&stream, Z_NO_FLUSH);
        out.len += 16384 - stream.avail_out;
        if (out.len > bytes_max)
            return error_set(err, ERROR_TOO_LARGE, "gzip: more than %zu bytes", bytes_max);
    }
    if (result != Z_STREAM_END)
        return error_set(err, ERROR_SYNTAX, "gzip: invalid header");
    *ret_bytes = strbuf_str(&out);
    return 0;
}
