/* SPDX-License-Identifier: Apache-2.0 */
/* zip.h: DEFLATE by zlib: RFC 1952 (gzip) for what others read, RFC 1950 with a dictionary for what
 * we keep. Memory comes from the arena, so nothing is left behind when its budget ends the work. */
#ifndef HERD_TEXT_ZIP_H
#define HERD_TEXT_ZIP_H

#include "base/error.h"

struct str gzip_pack(struct arena *arena, struct str bytes);
/* -1: ERROR_SYNTAX if it is not gzip, ERROR_TOO_LARGE beyond bytes_max. */
int gzip_unpack(struct arena *arena, struct str packed, size_t bytes_max, struct str *ret_bytes,
                struct error *err);

/* `dictionary` is text like what will be packed, the most common last; both sides need the same. */
struct str zip_pack(struct arena *arena, struct str bytes, struct str dictionary);
int zip_unpack(struct arena *arena, struct str packed, struct str dictionary, size_t bytes_max,
               struct str *ret_bytes, struct error *err);

#endif
