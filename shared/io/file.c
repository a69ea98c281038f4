/* SPDX-License-Identifier: Apache-2.0 */
/* file.c: whole files, read and replaced. */
#include "io/file.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SHOWN_NAME = 200,
    FIRST_GUESS = 16 * 1024, /* for files whose size is not known beforehand, such as /proc */
};

static int file_failed(struct error *err, const char *what, const char *name)
{
    enum error_code code = errno == ENOENT || errno == ENOTDIR ? ERROR_NOT_FOUND : ERROR_FILE;

    return error_set(err, code, "cannot %s %.*s: %s", what, SHOWN_NAME, name, strerror(errno));
}

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static int read_all(int fd, struct arena *arena, const char *name, size_t bytes_max, size_t guess,
                    struct str *ret_bytes, struct error *err)
{
    struct strbuf buf = strbuf_new(arena, guess);

    for (;;) {
        /* One byte more than allowed tells a file that is too large from one that just fits. */
        size_t room = buf.capacity > buf.len ? buf.capacity - buf.len : FIRST_GUESS;
        ssize_t got = read(fd, strbuf_reserve(&buf, room), room);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return file_failed(err, "read", name);
        if (got == 0)
            break;
        buf.len += (size_t)got;
        if (buf.len > bytes_max)
            return error_set(err, ERROR_TOO_LARGE, "%.*s is larger than %zu bytes", SHOWN_NAME,
                             name, bytes_max);
    }
    *ret_bytes = strbuf_str(&buf);
    return 0;
}

int file_read(struct arena *arena, const char *name, size_t bytes_max, struct str *ret_bytes,
              struct error *err)
{
    __attribute__((cleanup(close_fd))) int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat facts;

    if (fd < 0 || fstat(fd, &facts) != 0)
        return file_failed(err, "read", name);
    if (S_ISDIR(facts.st_mode))
        return error_set(err, ERROR_FILE, "cannot read %.*s: it is a folder", SHOWN_NAME, name);
    if (S_ISREG(facts.st_mode) && (uint64_t)facts.st_size > bytes_max)
        return error_set(err, ERROR_TOO_LARGE, "%.*s has %lld bytes, at most %zu are taken",
                         SHOWN_NAME, name, (long long)facts.st_size, bytes_max);
    return read_all(fd, arena, name, bytes_max,
                    facts.st_size > 0 ? (size_t)facts.st_size + 1 : FIRST_GUESS, ret_bytes, err);
}

static int write_all(int fd, struct str bytes)
{
    while (bytes.len) {
        ssize_t put = write(fd, bytes.at, bytes.len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes = str_slice(bytes, (size_t)put, bytes.len);
    }
    return 0;
}

static const char *folder_of(struct arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');

    if (!slash)
        return ".";
    if (slash == name)
        return "/";
    return str_z(arena, str_make(name, (size_t)(slash - name)));
}

/* A rename is on the disk only once its folder is. */
static int sync_folder(const char *folder)
{
    __attribute__((cleanup(close_fd))) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    /* Some file systems cannot sync folders; they answer EINVAL. */
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        return -1;
    return 0;
}

int file_replace(const char *name, struct str bytes, unsigned mode, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str beside = str_fmt(arena, "%s.XXXXXX", name);
    char *temporary = mem_copy(beside.at, beside.len);
    int fd = mkostemp(temporary, O_CLOEXEC);
    int failed = fd < 0 ? file_failed(err, "write", name) : 0;

    if (!failed && (fchmod(fd, (mode_t)mode) != 0 || write_all(fd, bytes) != 0 || fsync(fd) != 0))
        failed = file_failed(err, "write", name);
    if (fd >= 0 && close(fd) != 0 && !failed)
        failed = file_failed(err, "write", name);
    if (!failed && rename(temporary, name) != 0)
        failed = file_failed(err, "write", name);
    if (failed && fd >= 0)
        unlink(temporary);
    if (!failed && sync_folder(folder_of(arena, name)) != 0)
        failed = file_failed(err, "sync the folder of", name);
    mem_free(temporary);
    return failed;
}

int file_make_folder(const char *name, unsigned mode, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    for (size_t end = 1; name[0] && name[end - 1]; end++) {
        if (name[end] != '/' && name[end] != '\0')
            continue;

        const char *part = str_z(arena, str_make(name, end));

        if (mkdir(part, (mode_t)mode) != 0 && errno != EEXIST)
            return file_failed(err, "make folder", part);
        if (name[end] == '\0')
            break;
    }
    if (!file_is_folder(name))
        return error_set(err, ERROR_FILE,
                         "cannot make folder %.*s: a file of that name stands there", SHOWN_NAME,
                         name);
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return str_cmp(*(const struct str *)left, *(const struct str *)right);
}

int file_list(struct arena *arena, const char *folder, struct str_list *ret_names,
              struct error *err)
{
    DIR *opened = opendir(folder);
    struct str_list names = str_list_new(arena, 16);

    if (!opened)
        return file_failed(err, "list folder", folder);

    errno = 0;
    for (const struct dirent *entry; (entry = readdir(opened)); errno = 0)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            str_list_push(&names, str_dup(arena, str_of(entry->d_name)));

    int failed = errno ? file_failed(err, "list folder", folder) : 0;

    closedir(opened);
    if (failed)
        return -1;
    if (names.count > 1)
        qsort(names.items, names.count, sizeof(struct str), compare_names);
    *ret_names = names;
    return 0;
}

bool file_exists(const char *name)
{
    struct stat facts;

    return stat(name, &facts) == 0;
}

bool file_is_folder(const char *name)
{
    struct stat facts;

    return stat(name, &facts) == 0 && S_ISDIR(facts.st_mode);
}
