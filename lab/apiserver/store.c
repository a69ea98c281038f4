/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: open, write, and pick up where the last run ended. */
#include "lab/apiserver/store_db.h"

#include "base/map.h"
#include "base/memory.h"
#include "lab/apiserver/object.h"

#include <stdio.h>

static const char *const tables =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS state(name TEXT PRIMARY KEY, number INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS clusters(name TEXT PRIMARY KEY);"
    "CREATE TABLE IF NOT EXISTS objects(cluster TEXT NOT NULL, grp TEXT NOT NULL, plural TEXT NOT "
    "NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, json TEXT NOT "
    "NULL, UNIQUE(cluster, grp, plural, namespace, name));"
    /* The undo log: `before` is what stood there before version `version`. */
    "CREATE TABLE IF NOT EXISTS changes(version INTEGER PRIMARY KEY, cluster TEXT NOT NULL, grp "
    "TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, type "
    "INTEGER NOT NULL, at_ms INTEGER NOT NULL, before TEXT NOT NULL);"
    "INSERT OR IGNORE INTO state VALUES('compacted', 1);";

#define KEY_IS "cluster=?1 AND grp=?2 AND plural=?3 AND namespace=?4 AND name=?5"

static int prepare_writer(struct store *s, struct error *err)
{
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } rows[] = {
        { "BEGIN IMMEDIATE", &s->begin },
        { "COMMIT", &s->commit },
        { "ROLLBACK", &s->rollback },
        { "SELECT version, json FROM objects WHERE " KEY_IS, &s->get },
        { "INSERT INTO objects VALUES(?1,?2,?3,?4,?5,?6,?7)", &s->insert },
        { "UPDATE objects SET version=?6, json=?7 WHERE " KEY_IS, &s->update },
        { "DELETE FROM objects WHERE " KEY_IS, &s->remove },
        { "INSERT INTO changes(cluster,grp,plural,namespace,name,version,type,at_ms,before) "
          "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
          &s->log },
        { "DELETE FROM changes WHERE version<=?1", &s->trim },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (db_prepare(s->db, rows[i].sql, rows[i].statement, err) != 0)
            return -1;
    return 0;
}

static int read_number(sqlite3 *db, const char *sql, uint64_t *ret_number, struct error *err)
{
    sqlite3_stmt *statement;

    if (db_prepare(db, sql, &statement, err) != 0)
        return -1;
    if (sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return db_error(db, err, "to read its version");
    }
    *ret_number = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return 0;
}

/* What an object looked like after the newest change not yet walked back over. */
static int state_after(struct store *s, struct arena *arena, struct map *later, struct str id,
                       const struct store_key *key, struct str *ret_object, struct error *err)
{
    struct str *known = map_get(later, id);
    int code;

    *ret_object = known ? *known : STR("");
    if (known)
        return 0;
    db_bind_key(s->get, key);
    code = sqlite3_step(s->get);
    if (code == SQLITE_ROW)
        *ret_object = str_dup(arena, db_text(s->get, 1));
    else if (code != SQLITE_DONE)
        db_error(s->db, err, "to read what a change left behind");
    sqlite3_reset(s->get);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -1;
}

struct changes_read {
    struct change **items;
    uint32_t count, capacity;
};

static void collect(struct changes_read *read, struct change *change)
{
    if (read->count == read->capacity) {
        read->capacity = read->capacity ? read->capacity * 2 : 64;
        read->items = mem_resize(read->items, sizeof(*read->items) * read->capacity);
    }
    read->items[read->count++] = change;
}

/* One row of the undo log, newest first: what it left behind is what the next newer change of the
 * same object found, or what stands there now. */
static int walk_back(struct store *s, sqlite3_stmt *row, struct arena *arena, struct map *later,
                     struct changes_read *read, struct error *err)
{
    struct store_key key = { str_dup(arena, db_text(row, 1)), str_dup(arena, db_text(row, 2)),
                             str_dup(arena, db_text(row, 3)), str_dup(arena, db_text(row, 4)),
                             str_dup(arena, db_text(row, 5)) };
    uint64_t version = (uint64_t)sqlite3_column_int64(row, 0);
    enum change_type type = (enum change_type)sqlite3_column_int(row, 6);
    struct str id =
        str_fmt(arena, "%.*s\n%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(key.cluster), STR_ARG(key.group),
                STR_ARG(key.plural), STR_ARG(key.namespace_), STR_ARG(key.name));
    struct str *before = arena_new(arena, struct str);
    struct str after;

    *before = str_dup(arena, db_text(row, 8));
    if (type == CHANGE_DELETED)
        after = object_with_version(arena, *before, version);
    else if (state_after(s, arena, later, id, &key, &after, err) != 0)
        return -1;
    collect(read, change_create(version, type, &key, after, *before, sqlite3_column_int64(row, 7)));
    map_put(later, id, before);
    return 0;
}

static int resume(struct store *s, const struct watch_cache_options *options, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct map *later = map_new(arena, 1024);
    struct changes_read read = { 0 };
    sqlite3_stmt *rows;
    uint64_t compacted = 0;
    int code = SQLITE_ROW;
    int result = 0;

    if (read_number(s->db,
                    "SELECT max((SELECT number FROM state WHERE name='compacted'),"
                    "coalesce((SELECT max(version) FROM changes),0))",
                    &s->version, err) != 0 ||
        read_number(s->db, "SELECT number FROM state WHERE name='compacted'", &compacted, err) != 0)
        return -1;
    s->watch_cache = watch_cache_create(options, compacted);
    if (db_prepare(s->db,
                   "SELECT version,cluster,grp,plural,namespace,name,type,at_ms,before FROM "
                   "changes ORDER BY version DESC",
                   &rows, err) != 0)
        return -1;
    while (result == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW)
        result = walk_back(s, rows, arena, later, &read, err);
    if (result == 0 && code != SQLITE_DONE)
        result = db_error(s->db, err, "to read the log of changes");
    sqlite3_finalize(rows);
    while (read.count)
        watch_cache_push(s->watch_cache, read.items[--read.count]);
    mem_free(read.items);
    return result;
}

struct store *store_create(const struct store_options *options, struct error *err)
{
    AUTO(store_free) struct store *s = mem_new(struct store);
    char file[4096];

    pthread_mutex_init(&s->write_lock, NULL);
    pthread_mutex_init(&s->read_lock, NULL);
    pthread_cond_init(&s->reader_free, NULL);
    s->clock = options->clock;
    if (snprintf(file, sizeof(file), "%s/lab.db", options->folder) >= (int)sizeof(file)) {
        error_set(err, ERROR_FILE, "the data folder's name is too long: %s", options->folder);
        return NULL;
    }
    if (db_open(file, false, &s->db, err) != 0)
        return NULL;
    if (sqlite3_exec(s->db, tables, NULL, NULL, NULL) != SQLITE_OK) {
        db_error(s->db, err, "to set up its tables");
        error_wrap(err, "%s", file);
        return NULL;
    }
    if (prepare_writer(s, err) != 0 || resume(s, &options->watch_cache, err) != 0 ||
        readers_open(s, file, err) != 0)
        return NULL;
    return TAKE(s);
}

void store_free(struct store *s)
{
    if (!s)
        return;

    sqlite3_stmt *const statements[] = { s->begin,  s->commit, s->rollback, s->get, s->insert,
                                         s->update, s->remove, s->log,      s->trim };

    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        sqlite3_finalize(statements[i]);
    readers_close(s);
    sqlite3_close(s->db);
    watch_cache_free(s->watch_cache);
    pthread_cond_destroy(&s->reader_free);
    pthread_mutex_destroy(&s->read_lock);
    pthread_mutex_destroy(&s->write_lock);
    mem_free(s);
}

struct watch_cache *store_watch_cache(struct store *s)
{
    return s->watch_cache;
}

static int run(struct store *s, sqlite3_stmt *statement, const char *doing, struct error *err)
{
    int code = sqlite3_step(statement);

    if (code != SQLITE_DONE)
        db_error(s->db, err, doing);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

/* What stands there now, against what the writer saw. */
static enum store_answer compare(struct store *s, const struct store_write *w, struct arena *arena,
                                 struct str *ret_before, struct error *err)
{
    enum store_answer answer = STORE_DONE;
    int code;

    db_bind_key(s->get, &w->key);
    code = sqlite3_step(s->get);
    if (code == SQLITE_ROW) {
        if (w->type == CHANGE_ADDED)
            answer = STORE_EXISTS;
        else if ((uint64_t)sqlite3_column_int64(s->get, 0) != w->expected)
            answer = STORE_CHANGED;
        else
            *ret_before = str_dup(arena, db_text(s->get, 1));
    } else if (code != SQLITE_DONE) {
        db_error(s->db, err, "to read what an object was");
        answer = STORE_FAILED;
    } else if (w->type != CHANGE_ADDED) {
        answer = STORE_MISSING;
    }
    sqlite3_reset(s->get);
    return answer;
}

static int write_rows(struct store *s, const struct store_write *w, uint64_t version,
                      struct str object, struct str before, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *statement = w->type == CHANGE_ADDED      ? s->insert
                              : w->type == CHANGE_MODIFIED ? s->update
                                                           : s->remove;

    db_bind_key(statement, &w->key);
    if (w->type != CHANGE_DELETED) {
        sqlite3_bind_int64(statement, 6, (int64_t)version);
        db_bind(statement, 7, object);
    }
    if (run(s, statement, "to write an object", err) != 0)
        return -1;
    db_bind_key(s->log, &w->key);
    sqlite3_bind_int64(s->log, 6, (int64_t)version);
    sqlite3_bind_int(s->log, 7, (int)w->type);
    sqlite3_bind_int64(s->log, 8, now_ms);
    db_bind(s->log, 9, before);
    return run(s, s->log, "to log a change", err);
}

static enum store_answer write_locked(struct store *s, const struct store_write *w,
                                      struct arena *arena, uint64_t *ret_version, struct error *err)
{
    uint64_t version = s->version + 1;
    int64_t now_ms = clock_wall_ms(s->clock);
    struct str before = { "", 0 };
    struct str object;
    enum store_answer answer = compare(s, w, arena, &before, err);

    if (answer != STORE_DONE)
        return answer;
    object = str_fmt(arena, "%.*s%llu%.*s", STR_ARG(w->head), (unsigned long long)version,
                     STR_ARG(w->tail));
    if (run(s, s->begin, "to begin a write", err) != 0)
        return STORE_FAILED;
    if (write_rows(s, w, version, object, before, now_ms, err) != 0 ||
        run(s, s->commit, "to commit a write", err) != 0) {
        struct error ignored;

        /* SQLite may have rolled back by itself already. */
        if (!sqlite3_get_autocommit(s->db))
            run(s, s->rollback, "to roll back", &ignored);
        return STORE_FAILED;
    }
    s->version = version;
    watch_cache_push(s->watch_cache,
                     change_create(version, w->type, &w->key, object, before, now_ms));
    *ret_version = version;
    return STORE_DONE;
}

enum store_answer store_write(struct store *s, const struct store_write *w, uint64_t *ret_version,
                              struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    enum store_answer answer;

    pthread_mutex_lock(&s->write_lock);
    answer = write_locked(s, w, arena, ret_version, err);
    if (answer == STORE_DONE && ++s->since_trim >= 512) {
        pthread_mutex_unlock(&s->write_lock);
        store_trim(s);
        return answer;
    }
    pthread_mutex_unlock(&s->write_lock);
    return answer;
}

/* The log on disk follows the ring in memory. A failure only leaves more behind. */
void store_trim(struct store *s)
{
    uint64_t compacted = watch_cache_trim(s->watch_cache, clock_wall_ms(s->clock));
    char sql[128];

    snprintf(sql, sizeof(sql),
             "UPDATE state SET number=%llu WHERE name='compacted' AND number<%llu",
             (unsigned long long)compacted, (unsigned long long)compacted);
    pthread_mutex_lock(&s->write_lock);
    s->since_trim = 0;
    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(s->trim, 1, (int64_t)compacted);
        sqlite3_step(s->trim);
        sqlite3_reset(s->trim);
        sqlite3_exec(s->db, sql, NULL, NULL, NULL);
        if (sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    pthread_mutex_unlock(&s->write_lock);
}

int store_add_cluster(struct store *s, struct str cluster, struct error *err)
{
    sqlite3_stmt *statement;
    int result;

    pthread_mutex_lock(&s->write_lock);
    result = db_prepare(s->db, "INSERT OR IGNORE INTO clusters VALUES(?1)", &statement, err);
    if (result == 0) {
        db_bind(statement, 1, cluster);
        result = run(s, statement, "to add a cluster", err);
        sqlite3_finalize(statement);
    }
    pthread_mutex_unlock(&s->write_lock);
    return result;
}

int store_clusters(struct store *s, struct arena *arena, struct str_list *ret_clusters,
                   struct error *err)
{
    sqlite3_stmt *statement;
    struct str_list clusters = str_list_new(arena, 8);
    int code, result;

    pthread_mutex_lock(&s->write_lock);
    if (db_prepare(s->db, "SELECT name FROM clusters ORDER BY name", &statement, err) != 0) {
        pthread_mutex_unlock(&s->write_lock);
        return -1;
    }
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        str_list_push(&clusters, str_dup(arena, db_text(statement, 0)));
    result = code == SQLITE_DONE ? 0 : db_error(s->db, err, "to read its clusters");
    sqlite3_finalize(statement);
    pthread_mutex_unlock(&s->write_lock);
    *ret_clusters = clusters;
    return result;
}

int store_find(struct store *s, struct str text,
               void (*each)(void *context, const struct store_key *key, struct str object),
               void *context, struct error *err)
{
    sqlite3_stmt *rows;
    int code, result;

    pthread_mutex_lock(&s->write_lock);
    result = db_prepare(s->db,
                        "SELECT cluster,grp,plural,namespace,name,json FROM objects WHERE "
                        "instr(json,?1)>0",
                        &rows, err);
    if (result == 0) {
        db_bind(rows, 1, text);
        while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
            struct store_key key = { db_text(rows, 0), db_text(rows, 1), db_text(rows, 2),
                                     db_text(rows, 3), db_text(rows, 4) };

            each(context, &key, db_text(rows, 5));
        }
        result = code == SQLITE_DONE ? 0 : db_error(s->db, err, "to look through its objects");
        sqlite3_finalize(rows);
    }
    pthread_mutex_unlock(&s->write_lock);
    return result;
}
