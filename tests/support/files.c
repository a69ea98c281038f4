/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: files for tests. */
#include "support/files.h"

#include "support/rows.h"

#include <dirent.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct str test_file(struct arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct strbuf text = strbuf_new(arena, 4096);
    size_t got;

    if (!file)
        fail_msg("%s: cannot be read (tests run at the top of the checkout)", path);
    while ((got = fread(strbuf_reserve(&text, 4096), 1, 4096, file)) > 0)
        text.len += got;
    fclose(file);
    return strbuf_str(&text);
}

bool test_file_exists(const char *path)
{
    return access(path, R_OK) == 0;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str_list test_files(struct arena *arena, const char *folder, const char *suffix)
{
    struct str_list names = str_list_new(arena, 0);
    DIR *dir = opendir(folder);
    struct dirent *entry;

    if (!dir)
        fail_msg("%s: cannot be listed (tests run at the top of the checkout)", folder);
    while ((entry = readdir(dir)))
        if (str_ends(str_of(entry->d_name), str_of(suffix)))
            str_list_push(&names, str_dup(arena, str_of(entry->d_name)));
    closedir(dir);
    if (names.count)
        qsort(names.items, names.count, sizeof(struct str), by_name);
    return names;
}

struct str_list test_files_below(struct arena *arena, const char *folder, const char *suffix)
{
    struct str_list paths = str_list_new(arena, 0);
    char root[256];
    char *roots[] = { root, NULL };

    snprintf(root, sizeof(root), "%s", folder);

    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    const FTSENT *entry;

    if (!tree)
        fail_msg("%s: cannot be listed (tests run at the top of the checkout)", folder);
    while ((entry = fts_read(tree)))
        if (entry->fts_info == FTS_F && str_ends(str_of(entry->fts_path), str_of(suffix)))
            str_list_push(&paths, str_dup(arena, str_of(entry->fts_path)));
    fts_close(tree);
    return paths;
}

static void rewrite(const char *path, struct str text)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(text.at, 1, text.len, file) != text.len || fclose(file) != 0)
        fail_msg("%s: cannot be written", path);
}

void test_golden(struct arena *arena, const char *path, struct str want)
{
    const char *mode = getenv("HERD_GOLDEN");

    if (mode && strcmp(mode, "write") == 0) {
        rewrite(path, want);
        return;
    }

    struct str got = test_file(arena, path);
    struct str got_rest = got;
    struct str want_rest = want;
    struct str got_line = STR("(end of file)");
    struct str want_line = STR("(end of file)");
    unsigned number = 1;

    if (str_eq(got, want))
        return;
    for (;; number++) {
        bool has_got = str_split(&got_rest, '\n', &got_line);
        bool has_want = str_split(&want_rest, '\n', &want_line);

        if (!has_got || !has_want || !str_eq(got_line, want_line))
            break;
    }
    fail_msg("%s:%u differs\n  file: %.*s\n  made: %.*s\n  if the new one is right: "
             "HERD_GOLDEN=write, and read the diff like code", path, number, STR_ARG(got_line),
             STR_ARG(want_line));
}
