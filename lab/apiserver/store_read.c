/* SPDX-License-Identifier: Apache-2.0 */
/* store_read.c: reading, beside the writer: each reader has a connection, and so a snapshot, of its
 * own. What is read goes into the arena of who asks, which may be abandoned in the middle: a hold,
 * known to that arena before anything is taken, then gives back what was taken. A list at an older
 * version is the list of now with the undo log laid over it. */
#include "lab/apiserver/store_db.h"

#include "base/map.h"

#include <stdlib.h>

#define IN_ALL "cluster=?1 AND grp=?2 AND plural=?3"
#define IN_NAMESPACE IN_ALL " AND namespace=?4"

static int open_one(struct reader *r, const char *file, struct error *err)
{
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } rows[] = {
        { "BEGIN", &r->begin },
        { "COMMIT", &r->commit },
        { "SELECT version, json FROM objects WHERE " IN_NAMESPACE " AND name=?5", &r->get },
        { "SELECT max((SELECT number FROM state WHERE name='compacted'),"
          "coalesce((SELECT max(version) FROM changes),0))",
          &r->version },
        { "SELECT namespace, name, version, json FROM objects WHERE " IN_ALL
          " AND (namespace,name)>(?4,?5) ORDER BY namespace,name",
          &r->list_all },
        { "SELECT namespace, name, version, json FROM objects WHERE " IN_NAMESPACE
          " AND name>?5 ORDER BY name",
          &r->list_namespace },
    };

    if (db_open(file, true, &r->db, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (db_prepare(r->db, rows[i].sql, rows[i].statement, err) != 0)
            return -1;
    return 0;
}

int readers_open(struct store *s, const char *file, struct error *err)
{
    for (uint32_t i = 0; i < STORE_READERS; i++)
        if (open_one(&s->readers[i], file, err) != 0)
            return -1;
    return 0;
}

void readers_close(struct store *s)
{
    for (uint32_t i = 0; i < STORE_READERS; i++) {
        struct reader *r = &s->readers[i];

        sqlite3_finalize(r->begin);
        sqlite3_finalize(r->commit);
        sqlite3_finalize(r->get);
        sqlite3_finalize(r->version);
        sqlite3_finalize(r->list_all);
        sqlite3_finalize(r->list_namespace);
        sqlite3_close(r->db);
    }
}

/* What one read has taken; an abandoned read's is released with its arena. */
struct hold {
    struct store *store;
    struct reader *reader;
    struct change *changes[64];
    uint32_t count, next; /* changes from `next` on are still held */
};

static void drop_changes(struct hold *hold)
{
    while (hold->next < hold->count)
        change_unref(hold->changes[hold->next++]);
}

static void give_reader(struct store *s, struct reader *r)
{
    pthread_mutex_lock(&s->read_lock);
    r->busy = false;
    pthread_cond_signal(&s->reader_free);
    pthread_mutex_unlock(&s->read_lock);
}

static void release(void *held)
{
    struct hold *hold = held;
    struct reader *r = hold->reader;

    drop_changes(hold);
    if (!r)
        return;
    hold->reader = NULL;

    sqlite3_stmt *const statements[] = { r->begin, r->get, r->version, r->list_all,
                                         r->list_namespace };

    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        sqlite3_reset(statements[i]);
    if (!sqlite3_get_autocommit(r->db)) {
        sqlite3_step(r->commit);
        sqlite3_reset(r->commit);
    }
    give_reader(hold->store, r);
}

static struct hold *take_reader(struct store *s, struct arena *arena)
{
    struct hold *hold = arena_new(arena, struct hold);

    hold->store = s;
    arena_defer(arena, release, hold);
    pthread_mutex_lock(&s->read_lock);
    while (!hold->reader) {
        for (uint32_t i = 0; i < STORE_READERS && !hold->reader; i++)
            if (!s->readers[i].busy)
                hold->reader = &s->readers[i];
        if (!hold->reader)
            pthread_cond_wait(&s->reader_free, &s->read_lock);
    }
    hold->reader->busy = true;
    pthread_mutex_unlock(&s->read_lock);
    return hold;
}

enum store_answer store_get(struct store *s, struct arena *arena, const struct store_key *key,
                            struct store_row *ret_row, struct error *err)
{
    struct hold *hold = take_reader(s, arena);
    struct reader *r = hold->reader;
    enum store_answer answer = STORE_FAILED;
    int code;

    db_bind_key(r->get, key);
    code = sqlite3_step(r->get);
    if (code == SQLITE_ROW) {
        *ret_row =
            (struct store_row){ key->namespace_, key->name, str_dup(arena, db_text(r->get, 1)),
                                (uint64_t)sqlite3_column_int64(r->get, 0) };
        answer = STORE_DONE;
    } else if (code == SQLITE_DONE) {
        answer = STORE_MISSING;
    } else {
        db_error(r->db, err, "to read an object");
    }
    release(hold);
    return answer;
}

/* How the collection differed at an older version: for each object changed since then, what it
 * was. */
struct overlay {
    struct store_rows rows; /* object "" = it was not there; sorted */
    struct map *ids;
};

static int by_place(const void *a, const void *b)
{
    const struct store_row *x = a, *y = b;
    int order = str_cmp(x->namespace_, y->namespace_);

    return order ? order : str_cmp(x->name, y->name);
}

static bool is_behind(const struct store_row *row, const struct store_row *after)
{
    return by_place(row, after) > 0;
}

static struct str id_of(struct arena *arena, struct str namespace_, struct str name)
{
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
}

static void overlay_add(struct overlay *o, struct arena *arena, const struct change *change,
                        const struct store_row *after)
{
    struct store_row row = { change->key.namespace_, change->key.name, change->previous, 0 };
    struct str id = id_of(arena, row.namespace_, row.name);

    /* Only the first change since then says what was there. */
    if (!is_behind(&row, after) || map_get(o->ids, id))
        return;
    row.namespace_ = str_dup(arena, row.namespace_);
    row.name = str_dup(arena, row.name);
    row.object = str_dup(arena, row.object);
    map_put(o->ids, id, o);
    store_rows_push(&o->rows, row);
}

/* False: the version is compacted. */
static bool overlay_build(struct hold *hold, struct arena *arena, const struct collection *of,
                          const struct store_row *after, uint64_t from, uint64_t to,
                          struct overlay *ret_overlay)
{
    struct watch_cache *cache = hold->store->watch_cache;
    uint64_t at = from;

    watch_cache_wait(cache, to);
    while (at < to) {
        enum watch_cache_answer answer =
            watch_cache_after(cache, of, &at, 0, hold->changes, 64, &hold->count);

        hold->next = 0;
        if (answer == WATCH_CACHE_COMPACTED || answer == WATCH_CACHE_CLOSED)
            return false;
        for (uint32_t i = 0; i < hold->count; i++)
            if (hold->changes[i]->version <= to)
                overlay_add(ret_overlay, arena, hold->changes[i], after);
        drop_changes(hold);
        if (answer == WATCH_CACHE_NOTHING)
            break;
    }
    if (ret_overlay->rows.count > 1)
        qsort(ret_overlay->rows.items, ret_overlay->rows.count, sizeof(struct store_row), by_place);
    return true;
}

/* Rows of the table and of the overlay, merged in order. */
struct cursor {
    sqlite3_stmt *rows;
    struct overlay *overlay;
    uint32_t next;              /* of the overlay */
    bool at_row, ended, failed; /* failed: ended before its end */
};

static bool advance(struct cursor *c)
{
    if (!c->at_row && !c->ended) {
        int code = sqlite3_step(c->rows);

        c->at_row = code == SQLITE_ROW;
        c->ended = !c->at_row;
        c->failed = c->ended && code != SQLITE_DONE;
    }
    return c->at_row;
}

static bool next_row(struct cursor *c, struct arena *arena, struct store_row *ret_row)
{
    for (;;) {
        bool has_row = advance(c);
        const struct store_row *over =
            c->next < c->overlay->rows.count ? &c->overlay->rows.items[c->next] : NULL;
        struct store_row row = { 0 };

        if (c->failed || (!has_row && !over))
            return false;
        if (has_row)
            row = (struct store_row){ db_text(c->rows, 0),
                                      db_text(c->rows, 1),
                                      { "", 0 },
                                      (uint64_t)sqlite3_column_int64(c->rows, 2) };

        int order = !has_row ? 1 : !over ? -1 : by_place(&row, over);

        if (order < 0) {
            *ret_row = (struct store_row){ str_dup(arena, row.namespace_), str_dup(arena, row.name),
                                           str_dup(arena, db_text(c->rows, 3)), row.version };
            c->at_row = false;
            return true;
        }
        if (order == 0)
            c->at_row = false;
        c->next++;
        if (over->object.len) {
            *ret_row = *over;
            return true;
        }
    }
}

static sqlite3_stmt *bind_list(struct reader *r, const struct collection *of,
                               const struct store_row *after)
{
    sqlite3_stmt *rows = of->namespace_.len ? r->list_namespace : r->list_all;

    db_bind(rows, 1, of->cluster);
    db_bind(rows, 2, of->group);
    db_bind(rows, 3, of->plural);
    db_bind(rows, 4, of->namespace_.len ? of->namespace_ : after->namespace_);
    db_bind(rows, 5, after->name);
    return rows;
}

static uint64_t count_rest(struct cursor *c, struct arena *arena)
{
    struct store_row row;
    uint64_t count = 1; /* the one that showed that there is more */

    while (c->overlay->rows.count == 0 && !c->ended) {
        c->at_row = false;
        count += advance(c);
    }
    while (c->overlay->rows.count && next_row(c, arena, &row))
        count++;
    return count;
}

static enum store_answer list_with(struct hold *hold, struct arena *arena,
                                   const struct collection *of, const struct store_row *after,
                                   uint32_t limit, uint64_t version, struct store_page *ret_page,
                                   struct error *err)
{
    struct reader *r = hold->reader;
    struct overlay overlay = { store_rows_new(arena, 0), map_new(arena, 16) };
    struct store_page page = { .rows = store_rows_new(arena, limit ? limit : 64) };
    struct cursor cursor = { .overlay = &overlay };
    struct store_row row;

    /* The first read inside the transaction fixes its snapshot. */
    if (sqlite3_step(r->version) != SQLITE_ROW) {
        db_error(r->db, err, "to read the version of a list");
        return STORE_FAILED;
    }
    page.version = (uint64_t)sqlite3_column_int64(r->version, 0);
    sqlite3_reset(r->version);
    if (version && version < page.version) {
        if (!overlay_build(hold, arena, of, after, version, page.version, &overlay))
            return STORE_CHANGED;
        page.version = version;
    }
    cursor.rows = bind_list(r, of, after);
    while (next_row(&cursor, arena, &row)) {
        if (limit && page.rows.count == limit) {
            page.more = true;
            page.remaining = count_rest(&cursor, arena);
            break;
        }
        store_rows_push(&page.rows, row);
    }
    if (cursor.failed) {
        db_error(r->db, err, "to read a list to its end");
        return STORE_FAILED;
    }
    *ret_page = page;
    return STORE_DONE;
}

enum store_answer store_list(struct store *s, struct arena *arena, const struct collection *of,
                             const struct store_row *after, uint32_t limit, uint64_t version,
                             struct store_page *ret_page, struct error *err)
{
    static const struct store_row from_start = { STR_INIT(""), STR_INIT(""), STR_INIT(""), 0 };
    struct hold *hold = take_reader(s, arena);
    enum store_answer answer = STORE_FAILED;

    if (sqlite3_step(hold->reader->begin) == SQLITE_DONE)
        answer =
            list_with(hold, arena, of, after ? after : &from_start, limit, version, ret_page, err);
    else
        db_error(hold->reader->db, err, "to begin a list");
    release(hold);
    return answer;
}
