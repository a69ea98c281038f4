/* SPDX-License-Identifier: Apache-2.0 */
/* credentials.c: three entries for the cluster, and three for all. */
#include "controller/backends/neuvector/credentials.h"

#include "base/memory.h"
#include "controller/backends/secret_folder.h"
#include "io/file.h"

enum { OF_CLUSTER, OF_ALL, SOURCES };
enum entry { ENTRY_API_KEY, ENTRY_USERNAME, ENTRY_PASSWORD, ENTRIES };

static const char *const names[ENTRIES] = { "api-key", "username", "password" };

struct credentials {
    struct secret_folder *sources[SOURCES];
};

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

    credentials->sources[OF_CLUSTER] = secret_folder_create(folder, prefix, names, ENTRIES);
    credentials->sources[OF_ALL] = secret_folder_create(folder, STR(""), names, ENTRIES);
    return credentials;
}

void credentials_free(struct credentials *credentials)
{
    if (!credentials)
        return;
    for (int s = 0; s < SOURCES; s++)
        secret_folder_free(credentials->sources[s]);
    mem_free(credentials);
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
            .api_key = secret_folder_entry(credentials->sources[s], ENTRY_API_KEY),
            .username = secret_folder_entry(credentials->sources[s], ENTRY_USERNAME),
            .password = secret_folder_entry(credentials->sources[s], ENTRY_PASSWORD),
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
