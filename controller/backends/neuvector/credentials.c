/* SPDX-License-Identifier: Apache-2.0 */
/* credentials.c: three entries for the cluster, and three for all. */
#include "controller/backends/neuvector/credentials.h"

#include "base/memory.h"
#include "io/file.h"
#include "io/follow.h"

enum { BYTES_MAX = 4096, OF_CLUSTER = 0, OF_ALL = 1, SOURCES = 2 };
enum entry { ENTRY_API_KEY, ENTRY_USERNAME, ENTRY_PASSWORD, ENTRIES };

static const char *const names[ENTRIES] = { "api-key", "username", "password" };

struct file {
    struct file_follow *follow; /* NULL: there is no folder */
    struct arena *arena;        /* secret, of: */
    struct str text;            /* "" = the file is not there */
};

struct credentials {
    struct file files[SOURCES][ENTRIES];
};

static struct file file_of(const char *folder, struct str prefix, const char *name)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *path = str_z(arena, str_fmt(arena, "%s/%.*s%s", folder, STR_ARG(prefix), name));
    struct file file = { file_follow_create(&path, 1, BYTES_MAX), arena_create(0), STR_INIT("") };

    arena_keep_secret(file.arena);
    return file;
}

static void read_file(struct file *file)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { .code = ERROR_NONE };
    struct str bytes = STR("");

    arena_keep_secret(arena);
    /* What cannot be read is read again the next time; what is gone is gone. */
    if (file_follow_read(file->follow, arena, &bytes, &err) < 0 && err.code != ERROR_NOT_FOUND)
        return;
    file_follow_take(file->follow);
    arena_reset(file->arena);
    file->text = str_dup(file->arena, str_trim(bytes));
}

int credentials_check(const char *folder, struct error *err)
{
    if (!folder[0] || file_is_folder(folder))
        return 0;
    if (!file_exists(folder))
        return error_set(err, ERROR_NOT_FOUND,
                         "--neuvector-credentials-dir: there is no folder %s; mount the Secret "
                         "herd-neuvector there, or correct the flag",
                         folder);
    return error_set(err, ERROR_FILE,
                     "--neuvector-credentials-dir: %s is no folder; name the one that has the "
                     "entries of the Secret herd-neuvector as files",
                     folder);
}

struct credentials *credentials_create(const char *folder, struct str cluster_id)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct credentials *credentials = mem_new(struct credentials);
    struct str prefix = str_fmt(arena, "%.*s.", STR_ARG(cluster_id));

    for (int i = 0; folder[0] && i < ENTRIES; i++) {
        credentials->files[OF_CLUSTER][i] = file_of(folder, prefix, names[i]);
        credentials->files[OF_ALL][i] = file_of(folder, STR(""), names[i]);
    }
    return credentials;
}

void credentials_free(struct credentials *credentials)
{
    if (!credentials)
        return;
    for (int s = 0; s < SOURCES; s++)
        for (int i = 0; i < ENTRIES; i++) {
            file_follow_free(credentials->files[s][i].follow);
            arena_free(credentials->files[s][i].arena);
        }
    mem_free(credentials);
}

static struct str entry_of(struct credentials *credentials, int source, enum entry entry)
{
    struct file *file = &credentials->files[source][entry];

    if (!file->follow)
        return STR("");
    if (file_follow_changed(file->follow))
        read_file(file);
    return file->text;
}

/* It becomes a header: one colon, and nothing that ends a line. */
static bool is_api_key(struct str key)
{
    uint32_t colons = 0;

    for (size_t i = 0; i < key.len; i++) {
        if (key.at[i] <= ' ' || key.at[i] > '~')
            return false;
        colons += key.at[i] == ':';
    }
    return colons == 1;
}

int credentials_read(struct credentials *credentials, struct credential *ret_credential,
                     struct error *err)
{
    for (int s = 0; s < SOURCES; s++) {
        const struct credential found = {
            .api_key = entry_of(credentials, s, ENTRY_API_KEY),
            .username = entry_of(credentials, s, ENTRY_USERNAME),
            .password = entry_of(credentials, s, ENTRY_PASSWORD),
        };

        if (!found.api_key.len && !found.username.len && !found.password.len)
            continue;
        if (found.api_key.len && !is_api_key(found.api_key))
            return error_set(err, ERROR_INVALID,
                             "the entry api-key of the Secret herd-neuvector is not NAME:SECRET");
        if (!found.api_key.len && (!found.username.len || !found.password.len))
            return error_set(err, ERROR_INVALID,
                             "the Secret herd-neuvector has only one of username and password; add "
                             "the other, or an api-key");
        *ret_credential = found;
        return 0;
    }
    return error_set(err, ERROR_NOT_FOUND,
                     "Herd has no credentials for NeuVector; create the Secret herd-neuvector with "
                     "an api-key, or with username and password (docs/security-scans.md)");
}
