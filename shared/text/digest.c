/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c: OpenSSL's SHA-256 and HMAC. */
#include "text/digest.h"

#include "base/memory.h"

#include <openssl/evp.h>

enum { DIGEST_BYTES = 32 };

static struct str hex_of(struct arena *arena, const unsigned char *digest)
{
    static const char hex[] = "0123456789abcdef";
    char *text = arena_bytes(arena, 2 * DIGEST_BYTES + 1);

    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        text[2 * i] = hex[digest[i] >> 4];
        text[2 * i + 1] = hex[digest[i] & 15];
    }
    text[2 * DIGEST_BYTES] = '\0';
    return str_make(text, 2 * DIGEST_BYTES);
}

/* OpenSSL takes no NULL, and fails only when it cannot allocate. */
static const void *bytes_of(struct str bytes)
{
    return bytes.at ? bytes.at : "";
}

struct str digest_sha256_hex(struct arena *arena, struct str bytes)
{
    unsigned char digest[DIGEST_BYTES];

    if (!EVP_Digest(bytes_of(bytes), bytes.len, digest, NULL, EVP_sha256(), NULL))
        mem_exhausted("digest");
    return hex_of(arena, digest);
}
