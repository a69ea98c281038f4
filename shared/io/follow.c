/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c: what stat says of a file tells one state of it from the next. */
#include "io/follow.h"

#include "base/memory.h"
#include "io/file.h"

#include <assert.h>
#include <sys/stat.h>

enum {
    READS_MAX = 5, /* of files that change under our hands */
    SHOWN_NAME = 200,
};

/* Of a file that is not there the size is -1. */
struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct stamps {
    struct stamp of[FILE_FOLLOW_MAX];
};

struct file_follow {
    char *names[FILE_FOLLOW_MAX];
    uint32_t count;
    size_t bytes_max;
    struct stamps read;
    struct stamps taken;
    bool took;
};

static struct stamp stamp_of(const char *name)
{
    struct stat facts;

    if (stat(name, &facts) != 0)
        return (struct stamp){ .size = -1 };
    return (struct stamp){ facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim };
}

static struct stamps stamps_of(const struct file_follow *follow)
{
    struct stamps stamps = { 0 };

    for (uint32_t i = 0; i < follow->count; i++)
        stamps.of[i] = stamp_of(follow->names[i]);
    return stamps;
}

static bool is_same(const struct stamp *a, const struct stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool are_same(const struct stamps *a, const struct stamps *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_same(&a->of[i], &b->of[i]))
            return false;
    return true;
}

struct file_follow *file_follow_create(const char *const *names, uint32_t count, size_t bytes_max)
{
    struct file_follow *follow = mem_new(struct file_follow);

    assert(count <= FILE_FOLLOW_MAX);
    for (uint32_t i = 0; i < count; i++)
        follow->names[i] = mem_copy(names[i], strlen(names[i]));
    follow->count = count;
    follow->bytes_max = bytes_max;
    return follow;
}

void file_follow_free(struct file_follow *follow)
{
    if (!follow)
        return;
    for (uint32_t i = 0; i < follow->count; i++)
        mem_free(follow->names[i]);
    mem_free(follow);
}

bool file_follow_changed(const struct file_follow *follow)
{
    struct stamps now = stamps_of(follow);

    return !follow->took || !are_same(&now, &follow->taken, follow->count);
}

static int read_once(const struct file_follow *follow, struct arena *arena,
                     struct str bytes[FILE_FOLLOW_MAX], struct error *err)
{
    for (uint32_t i = 0; i < follow->count; i++)
        if (file_read(arena, follow->names[i], follow->bytes_max, &bytes[i], err) < 0)
            return -1;
    return 0;
}

int file_follow_read(struct file_follow *follow, struct arena *arena, struct str *ret_bytes,
                     struct error *err)
{
    for (int i = 0; i < READS_MAX; i++) {
        struct str bytes[FILE_FOLLOW_MAX];
        struct stamps after;

        follow->read = stamps_of(follow);
        if (read_once(follow, arena, bytes, err) < 0)
            return -1;
        after = stamps_of(follow);
        if (are_same(&follow->read, &after, follow->count)) {
            memcpy(ret_bytes, bytes, sizeof(*bytes) * follow->count);
            return 0;
        }
    }
    return error_set(err, ERROR_FILE, "%.*s or what belongs to it changes all the time", SHOWN_NAME,
                     follow->names[0]);
}

void file_follow_take(struct file_follow *follow)
{
    follow->taken = follow->read;
    follow->took = true;
}

/* --- one file, now and then --- */

struct file_cache {
    struct file_follow *file;
    char *bytes;
    size_t len;
    int64_t look_ms;
    bool looked;
    int64_t looked_ms;
};

struct file_cache *file_cache_create(const char *name, size_t bytes_max, int64_t look_ms)
{
    struct file_cache *cache = mem_new(struct file_cache);

    cache->file = file_follow_create(&name, 1, bytes_max);
    cache->look_ms = look_ms;
    return cache;
}

void file_cache_free(struct file_cache *cache)
{
    if (!cache)
        return;
    file_follow_free(cache->file);
    mem_free(cache->bytes);
    mem_free(cache);
}

static void look(struct file_cache *cache)
{
    AUTO(arena_free) struct arena *arena = NULL;
    struct error ignored;
    struct str bytes;

    if (!file_follow_changed(cache->file))
        return;
    arena = arena_create(0);
    if (file_follow_read(cache->file, arena, &bytes, &ignored) < 0)
        return;
    file_follow_take(cache->file);
    mem_free(cache->bytes);
    cache->bytes = mem_copy(bytes.at, bytes.len);
    cache->len = bytes.len;
}

struct str file_cache_get(struct file_cache *cache, int64_t now_ms)
{
    if (!cache->looked || now_ms - cache->looked_ms >= cache->look_ms) {
        cache->looked = true;
        cache->looked_ms = now_ms;
        look(cache);
    }
    return str_make(cache->bytes ? cache->bytes : "", cache->len);
}
