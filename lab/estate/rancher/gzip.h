/* gzip.h: RFC 1952, by zlib. */
#ifndef HERD_LAB_ESTATE_RANCHER_GZIP_H
#define HERD_LAB_ESTATE_RANCHER_GZIP_H

#include "base/error.h"

struct str gzip_pack(struct arena *arena, struct str bytes);
/* -1: ERROR_SYNTAX if it is not gzip, ERROR_TOO_LARGE beyond bytes_max. */
int gzip_unpack(struct arena *arena, struct str packed, size_t bytes_max, struct str *ret_bytes,
                struct error *err);

#endif
