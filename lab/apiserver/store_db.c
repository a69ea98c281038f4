/* SPDX-License-Identifier: Apache-2.0 */
/* store_db.c: SQLite, spoken to in one place. */
#include "lab/apiserver/store_db.h"

int db_error(sqlite3 *db, struct error *err, const char *doing)
{
    int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;

    return error_set(err, ERROR_FILE, "the lab's store failed %s: %s%s", doing,
                     db ? sqlite3_errmsg(db) : "out of memory",
                     code == SQLITE_FULL ? "; make room on the disk" : "");
}

int db_open(const char *file, bool to_read, sqlite3 **ret_db, struct error *err)
{
    int flags = SQLITE_OPEN_NOMUTEX |
                (to_read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(file, &db, flags, NULL) != SQLITE_OK) {
        db_error(db, err, "to open");
        error_wrap(err, "%s", file);
        sqlite3_close(db);
        return -1;
    }
    sqlite3_busy_timeout(db, 10000);
    *ret_db = db;
    return 0;
}

int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_statement, struct error *err)
{
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL) !=
        SQLITE_OK)
        return db_error(db, err, "to prepare a statement");
    return 0;
}

void db_bind(sqlite3_stmt *statement, int index, struct str text)
{
    sqlite3_bind_text(statement, index, text.len ? text.at : "", (int)text.len, SQLITE_STATIC);
}

void db_bind_key(sqlite3_stmt *statement, const struct store_key *key)
{
    db_bind(statement, 1, key->cluster);
    db_bind(statement, 2, key->group);
    db_bind(statement, 3, key->plural);
    db_bind(statement, 4, key->namespace_);
    db_bind(statement, 5, key->name);
}

struct str db_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);

    return str_make(text ? (const char *)text : "",
                    (size_t)sqlite3_column_bytes(statement, column));
}
