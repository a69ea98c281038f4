/* tls_source.c: the pair that a server shows, followed through its files.
 *
 * What is in use is an immutable pair under a number; a refresh puts another in its place, and
 * never touches the old one. The two files are not read at one moment: a pair counts only if
 * neither file changed while they were read, and if the two fit. */
#include "base/memory.h"
#include "base/plant.h"
#include "io/follow.h"
#include "io/loop.h"
#include "io/tls.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    PEM_BYTES_MAX = 1024 * 1024, /* a Secret is not larger */
    SHOWN_NAME = 200,
};

struct tls_source {
    char *certificate_file;
    char *key_file;
    struct file_follow *files; /* both; only the refreshing thread looks at it */
    atomic_uint_fast64_t generation;
    pthread_mutex_t lock; /* of what follows */
    struct arena *arena; /* holds pair and facts; replaced with them */
    struct tls_pair pair;
    struct tls_facts facts;
};

static int check(const struct tls_source *source, const struct tls_pair *pair, struct arena *arena,
                 struct tls_facts *ret_facts, struct error *err)
{
    struct tls_facts facts;
    int64_t now_ms = clock_wall_ms(system_clock());

    if (!PLANTED(HALF_PAIR) && tls_check_pair(pair, err) != 0)
        return error_wrap(err, "%.*s with %.*s", SHOWN_NAME / 2, source->certificate_file,
                          SHOWN_NAME / 2, source->key_file);
    if (tls_inspect(arena, pair->certificate_pem, &facts, err) != 0)
        return error_wrap(err, "%.*s", SHOWN_NAME, source->certificate_file);
    if (facts.not_after_ms <= now_ms)
        return error_set(err, ERROR_TLS,
                         "%.*s: the certificate expired %lld minutes ago; renew it, or set the "
                         "clock",
                         SHOWN_NAME, source->certificate_file,
                         (long long)((now_ms - facts.not_after_ms) / 60000));
    *ret_facts = facts;
    return 0;
}

static int take(struct tls_source *source, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str pem[2];
    struct tls_pair pair;
    struct tls_facts facts;

    if (file_follow_read(source->files, arena, pem, err) != 0)
        return -1;
    pair = (struct tls_pair){ .certificate_pem = pem[0], .key_pem = pem[1] };
    if (check(source, &pair, arena, &facts, err) != 0)
        return -1;
    file_follow_take(source->files);
    pthread_mutex_lock(&source->lock);

    struct arena *old = source->arena;

    source->arena = TAKE(arena);
    source->pair = pair;
    source->facts = facts;
    atomic_fetch_add(&source->generation, 1);
    pthread_mutex_unlock(&source->lock);
    arena_free(old);
    return 0;
}

struct tls_source *tls_source_create(const char *certificate_file, const char *key_file,
                                     struct error *err)
{
    AUTO(tls_source_free) struct tls_source *source = mem_new(struct tls_source);

    source->certificate_file = mem_copy(certificate_file, strlen(certificate_file));
    source->key_file = mem_copy(key_file, strlen(key_file));
    source->files = file_follow_create((const char *[]){ certificate_file, key_file }, 2,
                                       PEM_BYTES_MAX);
    pthread_mutex_init(&source->lock, NULL);
    if (take(source, err) != 0)
        return NULL;
    return TAKE(source);
}

void tls_source_free(struct tls_source *source)
{
    if (!source)
        return;
    arena_free(source->arena);
    pthread_mutex_destroy(&source->lock);
    file_follow_free(source->files);
    mem_free(source->certificate_file);
    mem_free(source->key_file);
    mem_free(source);
}

int tls_source_refresh(struct tls_source *source, struct error *err)
{
    if (!file_follow_changed(source->files) || PLANTED(CERTIFICATE_ONCE))
        return 0;
    return take(source, err) == 0 ? 1 : -1;
}

/* The lock is no part of what a const source promises. */
static pthread_mutex_t *lock_of(const struct tls_source *source)
{
    return &((struct tls_source *)(uintptr_t)source)->lock;
}

int64_t tls_source_not_after_ms(const struct tls_source *source)
{
    pthread_mutex_lock(lock_of(source));

    int64_t not_after_ms = source->facts.not_after_ms;

    pthread_mutex_unlock(lock_of(source));
    return not_after_ms;
}

struct str tls_source_serial(const struct tls_source *source, struct arena *arena)
{
    pthread_mutex_lock(lock_of(source));

    struct str serial = str_dup(arena, source->facts.serial);

    pthread_mutex_unlock(lock_of(source));
    return serial;
}

uint64_t tls_source_pair(const struct tls_source *source, struct arena *arena,
                         struct tls_pair *ret_pair)
{
    pthread_mutex_lock(lock_of(source));

    uint64_t generation = atomic_load(&source->generation);

    *ret_pair = (struct tls_pair){ str_dup(arena, source->pair.certificate_pem),
                                   str_dup(arena, source->pair.key_pem) };
    pthread_mutex_unlock(lock_of(source));
    return generation;
}

uint64_t tls_source_generation(const struct tls_source *source)
{
    return atomic_load(&source->generation);
}
