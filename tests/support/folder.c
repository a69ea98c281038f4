/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c: a folder of a test's own. */
#include "support/rows.h"

#include "support/folder.h"

#include "base/list.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* `path` ends in XXXXXX. */
static const char *new_folder(struct str path)
{
    assert_non_null(mkdtemp((char *)(uintptr_t)path.at));
    return path.at;
}

const char *folder_create(struct arena *arena)
{
    const char *above = getenv("TMPDIR");

    return new_folder(str_fmt(arena, "%s/herd-test-XXXXXX", above ? above : "/tmp"));
}

void folder_remove(const char *folder)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names;
    struct error err;

    if (file_list(arena, folder, &names, &err) != 0)
        return;
    for (uint32_t i = 0; i < names.count; i++) {
        const char *name = folder_name(arena, folder, str_z(arena, names.items[i]));

        if (unlink(name) != 0)
            folder_remove(name);
    }
    rmdir(folder);
}

const char *folder_name(struct arena *arena, const char *folder, const char *name)
{
    return str_fmt(arena, "%s/%s", folder, name).at;
}

void folder_put(const char *path, struct str bytes, mode_t mode)
{
    struct error err;

    if (file_replace(path, bytes, mode, &err) != 0)
        fail_msg("%s", err.text);
}

void folder_mount(const char *folder, const struct folder_file *files, size_t count)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *version = new_folder(str_fmt(arena, "%s/..version-XXXXXX", folder));
    const char *beside = folder_name(arena, folder, "..data_tmp");

    for (size_t i = 0; i < count; i++)
        folder_put(folder_name(arena, version, files[i].name), files[i].bytes, 0640);
    assert_int_equal(symlink(strrchr(version, '/') + 1, beside), 0);
    assert_int_equal(rename(beside, folder_name(arena, folder, "..data")), 0);
}
