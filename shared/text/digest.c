/* digest.c: OpenSSL's SHA-256. */
#include "text/digest.h"

#include "base/memory.h"

#include <openssl/evp.h>

struct str digest_sha256_hex(struct arena *arena, struct str bytes)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char digest[32];
    char *text = arena_bytes(arena, 2 * sizeof(digest) + 1);

    /* It fails only when OpenSSL cannot allocate. */
    if (!EVP_Digest(bytes.at ? bytes.at : "", bytes.len, digest, NULL, EVP_sha256(), NULL))
        mem_exhausted("digest");
    for (size_t i = 0; i < sizeof(digest); i++) {
        text[2 * i] = hex[digest[i] >> 4];
        text[2 * i + 1] = hex[digest[i] & 15];
    }
    text[2 * sizeof(digest)] = '\0';
    return str_make(text, 2 * sizeof(digest));
}
