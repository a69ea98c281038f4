/* SPDX-License-Identifier: Apache-2.0 */
/* store_test.c: versions, conflicts, pages of one version, what a reopened store remembers. */
#include "support/rows.h"

#include "io/loop.h"
#include "lab/apiserver/store.h"
#include "support/folder.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    struct arena *arena;
    const char *folder;
    struct store *store;
};

static void open_store(struct fixture *f, uint32_t changes_max)
{
    struct store_options options = {
        f->folder, system_clock(), { changes_max, 1024 * 1024, 600000 }
    };
    struct error err;

    f->store = store_create(&options, &err);
    if (!f->store)
        fail_msg("%s", err.text);
}

static struct fixture begin(void)
{
    struct fixture f = { .arena = arena_create(0) };

    f.folder = folder_create(f.arena);
    open_store(&f, 1000);
    return f;
}

static void end(struct fixture *f)
{
    store_free(f->store);
    folder_remove(f->folder);
    arena_free(f->arena);
}

static const struct collection things = { STR_INIT("c"), STR_INIT("g"), STR_INIT("things"),
                                          STR_INIT("") };

static enum store_answer write_thing(struct fixture *f, enum change_type type, const char *name,
                                     const char *data, uint64_t expected, uint64_t *ret_version)
{
    struct store_write w = {
        .type = type,
        .key = { things.cluster, things.group, things.plural, STR("ns"), str_of(name) },
        .expected = expected,
        .head = STR("{\"metadata\":{\"resourceVersion\":\""),
        .tail = str_fmt(f->arena, "\"},\"data\":\"%s\"}", data),
    };
    struct error err = { 0 };
    enum store_answer answer = store_write(f->store, &w, ret_version, &err);

    if (answer == STORE_FAILED)
        fail_msg("%s", err.text);
    return answer;
}

static struct str names_at(struct fixture *f, uint64_t version)
{
    struct strbuf out = strbuf_new(f->arena, 64);
    struct store_page page;
    struct error err;

    if (store_list(f->store, f->arena, &things, NULL, 0, version, &page, &err) != STORE_DONE)
        return STR("gone");
    for (uint32_t i = 0; i < page.rows.count; i++) {
        struct str object = page.rows.items[i].object;
        ptrdiff_t data = str_find(object, STR("\"data\":\""), 0);

        strbuf_fmt(&out, "%s%.*s=%c", i ? " " : "", STR_ARG(page.rows.items[i].name),
                   object.at[data + 8]);
    }
    return strbuf_str(&out);
}

static void test_conflicts(void **state)
{
    struct fixture f = begin();
    uint64_t first = 0, second = 0, ignored;

    (void)state;
    rows_expect_int("a creation", write_thing(&f, CHANGE_ADDED, "a", "1", 0, &first), STORE_DONE);
    rows_expect_int("a second one", write_thing(&f, CHANGE_ADDED, "a", "1", 0, &ignored),
                    STORE_EXISTS);
    rows_expect_int("an update", write_thing(&f, CHANGE_MODIFIED, "a", "2", first, &second),
                    STORE_DONE);
    rows_expect("versions grow", second > first, "second > first");
    rows_expect_int("an update of what was", write_thing(&f, CHANGE_MODIFIED, "a", "3", first,
                                                         &ignored),
                    STORE_CHANGED);
    rows_expect_int("a deletion of what was", write_thing(&f, CHANGE_DELETED, "a", "2", first,
                                                          &ignored),
                    STORE_CHANGED);
    rows_expect_int("an update of nothing", write_thing(&f, CHANGE_MODIFIED, "b", "3", 1, &ignored),
                    STORE_MISSING);
    rows_expect_str("rejected writes leave nothing", names_at(&f, 0), STR("a=2"));
    end(&f);
}

static void test_older_versions(void **state)
{
    struct fixture f = begin();
    uint64_t v[6] = { 0 };

    (void)state;
    write_thing(&f, CHANGE_ADDED, "b", "1", 0, &v[0]);
    write_thing(&f, CHANGE_ADDED, "a", "1", 0, &v[1]);
    write_thing(&f, CHANGE_MODIFIED, "b", "2", v[0], &v[2]);
    write_thing(&f, CHANGE_DELETED, "a", "1", v[1], &v[3]);
    write_thing(&f, CHANGE_ADDED, "c", "1", 0, &v[4]);
    for (int reopened = 0; reopened < 2; reopened++) {
        rows_expect_str("before the first change of a", names_at(&f, v[0]), STR("b=1"));
        rows_expect_str("both", names_at(&f, v[1]), STR("a=1 b=1"));
        rows_expect_str("b changed", names_at(&f, v[2]), STR("a=1 b=2"));
        rows_expect_str("a is gone", names_at(&f, v[3]), STR("b=2"));
        rows_expect_str("now", names_at(&f, 0), STR("b=2 c=1"));
        store_free(f.store);
        open_store(&f, 1000);
        rows_expect_int("the version survives", (int64_t)watch_cache_version(store_watch_cache(f.store)),
                        (int64_t)v[4]);
    }
    end(&f);
}

static void test_pages(void **state)
{
    struct fixture f = begin();
    struct store_page page;
    struct store_row after;
    struct error err;
    uint64_t version, ignored;

    (void)state;
    for (char name[2] = "a"; name[0] <= 'e'; name[0]++)
        write_thing(&f, CHANGE_ADDED, name, "1", 0, &version);
    store_list(f.store, f.arena, &things, NULL, 2, 0, &page, &err);
    rows_expect_int("two rows", page.rows.count, 2);
    rows_expect_int("three more", (int64_t)page.remaining, 3);
    after = page.rows.items[1];
    /* Between the pages, one of the rest goes and one comes. */
    rows_expect_int("d goes", write_thing(&f, CHANGE_DELETED, "d", "1", version - 1, &ignored),
                    STORE_DONE);
    write_thing(&f, CHANGE_ADDED, "cc", "1", 0, &ignored);
    store_list(f.store, f.arena, &things, &after, 10, page.version, &page, &err);
    rows_expect_int("the second page is of the first one's version", page.rows.count, 3);
    rows_expect_str("d is still there", page.rows.items[1].name, STR("d"));
    rows_expect("that was all", !page.more, "no more");
    end(&f);
}

static struct str changes_after(struct fixture *f, uint64_t version)
{
    static const char letters[] = { 'A', 'M', 'D' };
    struct strbuf out = strbuf_new(f->arena, 64);
    struct change *changes[32];
    uint32_t count;

    if (watch_cache_after(store_watch_cache(f->store), &things, &version, 0, changes, 32, &count) ==
        WATCH_CACHE_COMPACTED)
        return STR("compacted");
    for (uint32_t i = 0; i < count; i++) {
        struct str object = changes[i]->object;
        ptrdiff_t data = str_find(object, STR("\"data\":\""), 0);

        strbuf_fmt(&out, "%s%c:%.*s=%c", i ? " " : "", letters[changes[i]->type],
                   STR_ARG(changes[i]->key.name), object.at[data + 8]);
        change_unref(changes[i]);
    }
    return strbuf_str(&out);
}

static void test_resume(void **state)
{
    struct fixture f = begin();
    uint64_t v[4] = { 0 };

    (void)state;
    write_thing(&f, CHANGE_ADDED, "a", "1", 0, &v[0]);
    write_thing(&f, CHANGE_MODIFIED, "a", "2", v[0], &v[1]);
    write_thing(&f, CHANGE_ADDED, "b", "1", 0, &v[2]);
    write_thing(&f, CHANGE_DELETED, "a", "2", v[1], &v[3]);
    for (int reopened = 0; reopened < 2; reopened++) {
        rows_expect_str("all", changes_after(&f, 1), STR("A:a=1 M:a=2 A:b=1 D:a=2"));
        rows_expect_str("the rest", changes_after(&f, v[1]), STR("A:b=1 D:a=2"));
        rows_expect_str("nothing new", changes_after(&f, v[3]), STR(""));
        store_free(f.store);
        open_store(&f, 1000);
    }
    /* A smaller ring knows less, and says so. */
    store_free(f.store);
    open_store(&f, 2);
    rows_expect_str("compacted", changes_after(&f, v[0]), STR("compacted"));
    rows_expect_str("what is left", changes_after(&f, v[1]), STR("A:b=1 D:a=2"));
    store_trim(f.store);
    store_free(f.store);
    open_store(&f, 1000);
    rows_expect_str("still compacted after a restart", changes_after(&f, v[0]), STR("compacted"));
    rows_expect_str("a list at a compacted version", names_at(&f, v[0]), STR("gone"));
    end(&f);
}

/* Half of the file goes away below an open store: what cannot be read is not "not there". */
static void test_a_damaged_file_is_no_absence(void **state)
{
    struct fixture f = begin();
    char data[8192];
    struct store_page page = { 0 };
    struct store_row row;
    struct stat facts;
    struct error err = { 0 };
    uint64_t version = 0;

    (void)state;
    memset(data, 'x', sizeof(data) - 1);
    data[sizeof(data) - 1] = '\0';
    for (int i = 0; i < 60; i++)
        write_thing(&f, CHANGE_ADDED, str_fmt(f.arena, "n%02d", i).at, data, 0, &version);
    store_free(f.store);
    open_store(&f, 2);
    store_trim(f.store);
    write_thing(&f, CHANGE_ADDED, "z", "1", 0, &version);
    store_free(f.store);
    open_store(&f, 2);

    const char *file = folder_name(f.arena, f.folder, "lab.db");
    struct store_write w = {
        .type = CHANGE_MODIFIED,
        .key = { things.cluster, things.group, things.plural, STR("ns"), STR("n50") },
        .expected = 1,
    };

    assert_int_equal(stat(file, &facts), 0);
    assert_int_equal(truncate(file, facts.st_size / 2 / 4096 * 4096), 0);
    rows_expect_int("a list is never cut short",
                    store_list(f.store, f.arena, &things, NULL, 0, 0, &page, &err), STORE_FAILED);
    rows_expect("it says why", strstr(err.text, "the lab's store failed"), err.text);
    rows_expect_int("an object is not missing", store_get(f.store, f.arena, &w.key, &row, &err),
                    STORE_FAILED);
    rows_expect_int("nor is one to be changed", store_write(f.store, &w, &version, &err),
                    STORE_FAILED);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_older_versions),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_a_damaged_file_is_no_absence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
