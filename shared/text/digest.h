/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h: SHA-256, for names and stamps. Pure. */
#ifndef HERD_TEXT_DIGEST_H
#define HERD_TEXT_DIGEST_H

#include "base/str.h"

/* 64 lower-case hex digits. */
struct str digest_sha256_hex(struct arena *arena, struct str bytes);

#endif
