/* receipt_key.c: a file that is looked at now and then, for many threads. */
#include "webhook/receipt_key.h"

#include "base/memory.h"
#include "io/follow.h"
#include "io/loop.h"
#include "stack/receipt.h"

#include <pthread.h>

enum { LOOK_MS = 1000 }; /* each review asks for the key, and a new one is in no hurry */

struct receipt_key {
    pthread_mutex_t lock;
    struct file_cache *file;
};

struct receipt_key *receipt_key_create(const char *file)
{
    struct receipt_key *key = mem_new(struct receipt_key);

    pthread_mutex_init(&key->lock, NULL);
    key->file = file_cache_create(file, RECEIPT_KEY_BYTES, LOOK_MS);
    return key;
}

void receipt_key_free(struct receipt_key *key)
{
    if (!key)
        return;
    file_cache_free(key->file);
    pthread_mutex_destroy(&key->lock);
    mem_free(key);
}

struct str receipt_key_take(struct receipt_key *key, struct arena *arena)
{
    struct str found = STR("");
    char *copy;

    if (!key)
        return found;
    copy = arena_bytes(arena, RECEIPT_KEY_BYTES); /* before the lock: it may abandon the review */
    pthread_mutex_lock(&key->lock);
    found = receipt_key_of(file_cache_get(key->file, clock_monotonic_ms(system_clock())));
    memcpy(copy, found.at, found.len);
    pthread_mutex_unlock(&key->lock);
    return str_make(copy, found.len);
}
