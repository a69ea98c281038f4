/* SPDX-License-Identifier: Apache-2.0 */
/* store_db.h: the store's inside: connections and statements. For store*.c only. */
#ifndef HERD_LAB_APISERVER_STORE_DB_H
#define HERD_LAB_APISERVER_STORE_DB_H

#include "lab/apiserver/store.h"

#include <pthread.h>
#include <sqlite3.h>

enum { STORE_READERS = 6 };

struct reader {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *get, *version, *list_all, *list_namespace;
    bool busy;
};

struct store {
    const struct clock *clock;
    struct watch_cache *watch_cache;
    uint64_t version;

    pthread_mutex_t write_lock;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *rollback, *get, *insert, *update, *remove, *log, *trim;
    uint32_t since_trim;

    pthread_mutex_t read_lock;
    pthread_cond_t reader_free;
    struct reader readers[STORE_READERS];
};

int db_error(sqlite3 *db, struct error *err, const char *doing);
int db_open(const char *file, bool to_read, sqlite3 **ret_db, struct error *err);
int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_statement, struct error *err);
void db_bind(sqlite3_stmt *statement, int index, struct str text);
void db_bind_key(sqlite3_stmt *statement, const struct store_key *key);
struct str db_text(sqlite3_stmt *statement, int column); /* borrowed until the next step */

int readers_open(struct store *store, const char *file, struct error *err);
void readers_close(struct store *store);

#endif
