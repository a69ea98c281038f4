/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h: a folder of a test's own, what is put into it, and volumes as the kubelet changes them.
 *
 * Paths are in the arena; whatever fails, fails the test. */
#ifndef HERD_TESTS_SUPPORT_FOLDER_H
#define HERD_TESTS_SUPPORT_FOLDER_H

#include "base/str.h"

#include <sys/types.h>

/* A new one under the build's temporary folder, until folder_remove, which takes all that is in it. */
const char *folder_create(struct arena *arena);
void folder_remove(const char *folder);
/* The path of `name` in it. */
const char *folder_name(struct arena *arena, const char *folder, const char *name);
/* The whole file, there at once. */
void folder_put(const char *path, struct str bytes, mode_t mode);

struct folder_file {
    const char *name;
    struct str bytes;
};

/* The files as `folder`/..data/NAME from one moment to the next: a new folder, and a link renamed to it. */
void folder_mount(const char *folder, const struct folder_file *files, size_t count);

#endif
