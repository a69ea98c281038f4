/* digest.h: SHA-256, for names and stamps, and with a key for what must not be forged. Pure. */
#ifndef HERD_TEXT_DIGEST_H
#define HERD_TEXT_DIGEST_H

#include "base/str.h"

/* 64 lower-case hex digits. */
struct str digest_sha256_hex(struct arena *arena, struct str bytes);
/* HMAC-SHA256 (RFC 2104), as 64 lower-case hex digits. */
struct str digest_hmac_hex(struct arena *arena, struct str key, struct str bytes);
/* Equal, in a time that does not tell where they differ. */
bool digest_equal(struct str a, struct str b);

#endif
