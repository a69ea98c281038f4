/* SPDX-License-Identifier: Apache-2.0 */
/* tls_source.c: the pair that a server shows, followed through its files.
 *
 * What is in use is an immutable pair under a number; a refresh puts another in its place, and
 * never touches the old one. The two files are not read at one moment: a pair counts only if
 * neither file changed while they were read, and if the two fit. */
#include "base/memory.h"
#include "io/follow.h"
#include "io/loop.h"
#include "io/tls.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    PEM_BYTES_MAX = 1024 * 1024, /* a Secret is not larger */
    SHOWN_NAME = 200,
    CLIENT_CAS_MAX = 64,
};

struct tls_source {
    char *certificate_file;
    char *key_file;
    char *client_ca_file; /* NULL = none */
    /* Certificate and key, and the client CAs; only the refreshing thread looks at them. */
    struct file_follow *files;
    struct file_follow *client_ca;
    atomic_uint_fast64_t generation;
    pthread_mutex_t lock; /* of what follows */
    struct arena *arena;  /* holds pair and facts; replaced with them */
    struct tls_pair pair;
    struct tls_facts facts;
    char *client_cas; /* PEM; NULL = none */
};

static int check(const struct tls_source *source, const struct tls_pair *pair, struct arena *arena,
                 struct tls_facts *ret_facts, struct error *err)
{
    struct tls_facts facts;
    int64_t now_ms = clock_wall_ms(system_clock());

    if (tls_check_pair(pair, err) != 0)
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

static int take_pair(struct tls_source *source, struct error *err)
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

/* The certificates of the client CAs' file, written anew. */
static int read_client_cas(const struct tls_source *source, struct str pem, struct strbuf *out,
                           struct error *err)
{
    struct tls_certificates list = tls_split(out->arena, pem, CLIENT_CAS_MAX);

    if (list.count == 0)
        return error_set(err, ERROR_TLS,
                         "%.*s: holds no certificate; put there, as PEM, the CA that signs the "
                         "client certificates of the API servers",
                         SHOWN_NAME, source->client_ca_file);
    for (uint32_t i = 0; i < list.count; i++) {
        if (!list.items[i].facts.is_ca)
            return error_set(err, ERROR_TLS,
                             "%.*s: certificate %u, %.*s, is not a CA's; put there the CA that "
                             "signed it",
                             SHOWN_NAME, source->client_ca_file, i + 1,
                             STR_ARG(str_slice(list.items[i].facts.subject, 0, SHOWN_NAME)));
        strbuf_put(out, list.items[i].pem);
    }
    return 0;
}

static int take_client_cas(struct tls_source *source, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf cas = strbuf_new(arena, 4096);
    struct str pem;

    if (file_follow_read(source->client_ca, arena, &pem, err) != 0 ||
        read_client_cas(source, pem, &cas, err) != 0)
        return -1;
    file_follow_take(source->client_ca);
    pthread_mutex_lock(&source->lock);
    mem_free(source->client_cas);
    source->client_cas = mem_copy(cas.at, cas.len);
    atomic_fetch_add(&source->generation, 1);
    pthread_mutex_unlock(&source->lock);
    return 0;
}

static struct tls_source *create(const char *certificate_file, const char *key_file,
                                 const char *client_ca_file)
{
    struct tls_source *source = mem_new(struct tls_source);

    source->certificate_file = mem_copy(certificate_file, strlen(certificate_file));
    source->key_file = mem_copy(key_file, strlen(key_file));
    source->files =
        file_follow_create((const char *[]){ certificate_file, key_file }, 2, PEM_BYTES_MAX);
    if (client_ca_file && *client_ca_file) {
        source->client_ca_file = mem_copy(client_ca_file, strlen(client_ca_file));
        source->client_ca = file_follow_create(&client_ca_file, 1, PEM_BYTES_MAX);
    }
    pthread_mutex_init(&source->lock, NULL);
    return source;
}

struct tls_source *tls_source_create(const char *certificate_file, const char *key_file,
                                     const char *client_ca_file, struct error *err)
{
    AUTO(tls_source_free)
    struct tls_source *source = create(certificate_file, key_file, client_ca_file);

    if (take_pair(source, err) != 0 || (source->client_ca && take_client_cas(source, err) != 0))
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
    file_follow_free(source->client_ca);
    mem_free(source->client_cas);
    mem_free(source->client_ca_file);
    mem_free(source->certificate_file);
    mem_free(source->key_file);
    mem_free(source);
}

int tls_source_refresh(struct tls_source *source, struct error *err)
{
    bool taken = false, rejected = false;

    if (file_follow_changed(source->files))
        *(take_pair(source, err) == 0 ? &taken : &rejected) = true;
    if (source->client_ca && file_follow_changed(source->client_ca))
        *(take_client_cas(source, err) == 0 ? &taken : &rejected) = true;
    return rejected ? -1 : taken;
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
                         struct tls_pair *ret_pair, struct str *ret_client_cas)
{
    pthread_mutex_lock(lock_of(source));

    uint64_t generation = atomic_load(&source->generation);

    *ret_pair = (struct tls_pair){ str_dup(arena, source->pair.certificate_pem),
                                   str_dup(arena, source->pair.key_pem) };
    *ret_client_cas = str_dup(arena, str_of(source->client_cas ? source->client_cas : ""));
    pthread_mutex_unlock(lock_of(source));
    return generation;
}

uint64_t tls_source_generation(const struct tls_source *source)
{
    return atomic_load(&source->generation);
}
