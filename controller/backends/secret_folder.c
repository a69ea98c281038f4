/* SPDX-License-Identifier: Apache-2.0 */
/* secret_folder.c: a few files, each with an arena of its own that is cleared before it is freed.
 */
#include "controller/backends/secret_folder.h"

#include "base/memory.h"
#include "io/follow.h"

#include <assert.h>

enum { BYTES_MAX = 4096, ENTRIES_MAX = 4 };

struct entry {
    struct file_follow *follow; /* NULL: there is no folder */
    struct arena *arena;        /* secret, of: */
    struct str text;
};

struct secret_folder {
    struct entry entries[ENTRIES_MAX];
    uint32_t count;
};

struct secret_folder *secret_folder_create(const char *folder, struct str prefix,
                                           const char *const *names, uint32_t count)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct secret_folder *entries = mem_new(struct secret_folder);

    assert(count <= ENTRIES_MAX);
    entries->count = count;
    for (uint32_t i = 0; folder[0] && i < count; i++) {
        struct entry *entry = &entries->entries[i];
        const char *path =
            str_z(arena, str_fmt(arena, "%s/%.*s%s", folder, STR_ARG(prefix), names[i]));

        *entry = (struct entry){ file_follow_create(&path, 1, BYTES_MAX), arena_create(0),
                                 STR_INIT("") };
        arena_keep_secret(entry->arena);
    }
    return entries;
}

void secret_folder_free(struct secret_folder *folder)
{
    if (!folder)
        return;
    for (uint32_t i = 0; i < folder->count; i++) {
        file_follow_free(folder->entries[i].follow);
        arena_free(folder->entries[i].arena);
    }
    mem_free(folder);
}

static void read_entry(struct entry *entry)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { .code = ERROR_NONE };
    struct str bytes = STR("");

    arena_keep_secret(arena);
    /* What cannot be read is read again the next time; what is gone is gone. */
    if (file_follow_read(entry->follow, arena, &bytes, &err) < 0 && err.code != ERROR_NOT_FOUND)
        return;
    file_follow_take(entry->follow);
    arena_reset(entry->arena);
    entry->text = str_dup(entry->arena, str_trim(bytes));
}

struct str secret_folder_entry(struct secret_folder *folder, uint32_t i)
{
    struct entry *entry = &folder->entries[i];

    if (entry->follow && file_follow_changed(entry->follow))
        read_entry(entry);
    return entry->follow ? entry->text : STR("");
}
