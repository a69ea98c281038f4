/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.c: token -> cluster and last use. */
#include "lab/neuvector/sessions.h"

#include "base/map.h"
#include "base/memory.h"

#include <pthread.h>

enum { IDLE_MS = 300000, SESSIONS_MAX = 32 };

struct session {
    char *cluster;
    int64_t used_ms;
};

struct sessions {
    pthread_mutex_t lock;
    struct dict *of; /* token -> struct session */
};

struct sessions *sessions_create(void)
{
    struct sessions *sessions = mem_new(struct sessions);

    pthread_mutex_init(&sessions->lock, NULL);
    sessions->of = dict_create();
    return sessions;
}

static void session_free(struct session *session)
{
    if (session)
        mem_free(session->cluster);
    mem_free(session);
}

void sessions_free(struct sessions *sessions)
{
    struct str token;
    void *session;

    if (!sessions)
        return;
    for (size_t cursor = 0; dict_next(sessions->of, &cursor, &token, &session);)
        session_free(session);
    dict_free(sessions->of);
    pthread_mutex_destroy(&sessions->lock);
    mem_free(sessions);
}

/* Those of the cluster that have not ended; the others go. */
static uint32_t count_of(struct sessions *sessions, struct str cluster, int64_t now_ms)
{
    uint32_t count = 0;
    struct str token;
    void *value;

    for (size_t cursor = 0; dict_next(sessions->of, &cursor, &token, &value);) {
        struct session *session = value;

        if (now_ms - session->used_ms > IDLE_MS) {
            dict_remove(sessions->of, token);
            session_free(session);
        } else {
            count += str_eq(str_of(session->cluster), cluster);
        }
    }
    return count;
}

struct str sessions_begin(struct sessions *sessions, struct arena *arena, struct str cluster,
                          uint64_t chance, int64_t now_ms)
{
    struct str token = str_fmt(arena, "lab.%016llx", (unsigned long long)chance);
    struct session *session = mem_new(struct session);
    bool full;

    session->cluster = mem_copy(cluster.at, cluster.len);
    session->used_ms = now_ms;
    pthread_mutex_lock(&sessions->lock);
    full = count_of(sessions, cluster, now_ms) >= SESSIONS_MAX;
    session_free(full ? session : dict_set(sessions->of, token, session));
    pthread_mutex_unlock(&sessions->lock);
    return full ? STR("") : token;
}

bool sessions_use(struct sessions *sessions, struct str cluster, struct str token, int64_t now_ms)
{
    struct session *session;
    bool valid;

    pthread_mutex_lock(&sessions->lock);
    session = dict_get(sessions->of, token);
    valid = session && str_eq(str_of(session->cluster), cluster) &&
            now_ms - session->used_ms <= IDLE_MS;
    if (valid)
        session->used_ms = now_ms;
    pthread_mutex_unlock(&sessions->lock);
    return valid;
}

void sessions_end(struct sessions *sessions, struct str token)
{
    pthread_mutex_lock(&sessions->lock);
    session_free(dict_remove(sessions->of, token));
    pthread_mutex_unlock(&sessions->lock);
}

uint32_t sessions_count(struct sessions *sessions)
{
    uint32_t count;

    pthread_mutex_lock(&sessions->lock);
    count = (uint32_t)dict_count(sessions->of);
    pthread_mutex_unlock(&sessions->lock);
    return count;
}
