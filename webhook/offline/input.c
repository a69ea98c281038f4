/* SPDX-License-Identifier: Apache-2.0 */
/* input.c: names to files, files to bytes. What cannot be read is reported and passed over. */
#include "webhook/offline/input.h"

#include "base/map.h"
#include "io/file.h"
#include "webhook/limits.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_READ = 64 * 1024 };

struct gathering {
    struct arena *arena;
    struct input_files files;
    struct map *names; /* of files that are there already: their numbers */
    size_t bytes;      /* of all */
};

static void fail(struct gathering *g, struct str name, const char *why)
{
    struct str failure = str_fmt(g->arena, "%.*s %s", STR_ARG(name), why);

    input_files_push(&g->files, (struct input_file){ .name = name, .failure = failure });
}

static void fail_with(struct gathering *g, struct str name, const struct error *err)
{
    struct str failure = str_dup(g->arena, str_of(err->text));

    input_files_push(&g->files, (struct input_file){ .name = name, .failure = failure });
}

/* --- bytes --- */

static int read_standard_input(struct arena *arena, struct str *ret_bytes, struct error *err)
{
    struct strbuf buf = strbuf_new(arena, FIRST_READ);

    while (buf.len <= LIMIT_OFFLINE_FILE) {
        ssize_t got = read(STDIN_FILENO, strbuf_reserve(&buf, FIRST_READ), FIRST_READ);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, ERROR_FILE, "cannot read standard input: %s", strerror(errno));
        if (got == 0) {
            *ret_bytes = strbuf_str(&buf);
            return 0;
        }
        buf.len += (size_t)got;
    }
    return error_set(err, ERROR_TOO_LARGE,
                     "standard input has more than %d bytes; give it in parts", LIMIT_OFFLINE_FILE);
}

static void add_file(struct gathering *g, struct str name, bool found)
{
    bool standard = str_eq(name, STR("-"));
    uint32_t *number = map_get(g->names, name);
    struct str bytes;
    struct error err;

    if (number) {
        g->files.items[*number].found &= found;
        return;
    }
    number = arena_new(g->arena, uint32_t);
    *number = g->files.count;
    map_put(g->names, name, number);
    if (g->files.count >= LIMIT_OFFLINE_FILES || g->bytes > LIMIT_OFFLINE_INPUT) {
        fail(g, name, "is one too many: review less at a time");
        return;
    }
    if (standard ? read_standard_input(g->arena, &bytes, &err) < 0
                 : file_read(g->arena, name.at, LIMIT_OFFLINE_FILE, &bytes, &err) < 0) {
        fail_with(g, name, &err);
        return;
    }
    g->bytes += bytes.len;
    input_files_push(&g->files,
                     (struct input_file){ .name = name, .bytes = bytes, .found = found });
}

/* --- folders --- */

static bool is_manifest(struct str name)
{
    return str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")) ||
           str_ends(name, STR(".json"));
}

/* Links to files are followed, links to folders are not, so no way leads back. */
static bool is_own_folder(const char *path)
{
    struct stat facts;

    return lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* A pipe, a device, a link to a folder. What leads nowhere is reported when it is read. */
static bool is_no_file(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

static void add_folder(struct gathering *g, struct str folder, uint32_t depth)
{
    bool slash = str_ends(folder, STR("/"));
    struct str_list names;
    struct error err;

    if (depth > LIMIT_OFFLINE_DEPTH) {
        fail(g, folder, "lies too deep: name it itself");
        return;
    }
    if (file_list(g->arena, folder.at, &names, &err) < 0) {
        fail_with(g, folder, &err);
        return;
    }
    for (uint32_t i = 0; i < names.count; i++) {
        struct str path = str_fmt(g->arena, "%.*s%s%.*s", STR_ARG(folder), slash ? "" : "/",
                                  STR_ARG(names.items[i]));

        if (is_own_folder(path.at))
            add_folder(g, path, depth + 1);
        else if (is_manifest(names.items[i]) && !is_no_file(path.at))
            add_file(g, path, true);
    }
}

/* --- words --- */

static void add_path(struct gathering *g, struct str path)
{
    uint32_t before = g->files.count;
    uint32_t known = map_count(g->names);

    if (!file_is_folder(path.at)) {
        add_file(g, path, false);
        return;
    }
    add_folder(g, path, 0);
    /* A slip in a path must not look like a clean review. */
    if (g->files.count == before && map_count(g->names) == known)
        fail(g, path, "holds no *.yaml, *.yml or *.json");
}

static void add_glob(struct gathering *g, struct str pattern)
{
    glob_t found = { 0 };

    if (glob(pattern.at, 0, NULL, &found) != 0)
        fail(g, pattern, "matches no file");
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_path(g, str_dup(g->arena, str_of(found.gl_pathv[i])));
    globfree(&found);
}

struct input_files input_read(struct arena *arena, const struct str_list *words)
{
    struct gathering g = { .arena = arena,
                           .files = input_files_new(arena, words->count),
                           .names = map_new(arena, words->count) };

    for (uint32_t i = 0; i < words->count; i++) {
        struct str word = str_dup(arena, words->items[i]);

        if (!file_exists(word.at) && strpbrk(word.at, "*?["))
            add_glob(&g, word);
        else
            add_path(&g, word);
    }
    return g.files;
}
