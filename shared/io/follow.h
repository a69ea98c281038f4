/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h: files that change while they are used: a certificate and its key, a token that the
 * kubelet rotates, a mounted ConfigMap.
 *
 * stat follows links, so the kubelet's swap of the link `..data` shows as another file. */
#ifndef HERD_IO_FOLLOW_H
#define HERD_IO_FOLLOW_H

#include "base/cleanup.h"
#include "base/error.h"

/* Files that belong together. For one thread. */
struct file_follow;

enum { FILE_FOLLOW_MAX = 2 };

/* At most FILE_FOLLOW_MAX names. No file needs to be there. */
struct file_follow *file_follow_create(const char *const *names, uint32_t count, size_t bytes_max);
void file_follow_free(struct file_follow *follow);
AUTO_DEFINE(file_follow_free, struct file_follow *)
/* Whether something else stands there than what was taken last; true before anything was. */
bool file_follow_changed(const struct file_follow *follow);
/* All of them, none of which changed while they were read. -1 as file_read, or ERROR_FILE if they
 * change all the time. */
int file_follow_read(struct file_follow *follow, struct arena *arena, struct str *ret_bytes,
                     struct error *err);
/* What was read last, or could not be, is no change any more. */
void file_follow_take(struct file_follow *follow);

/* One file, read anew only if it changed; what could not be read keeps the last good. It is looked
 * at when it is asked for, at most once in look_ms; 0 = each time. */
struct file_cache;
struct file_cache *file_cache_create(const char *name, size_t bytes_max, int64_t look_ms);
void file_cache_free(struct file_cache *cache);
AUTO_DEFINE(file_cache_free, struct file_cache *)
/* Borrowed until the next call. "" if it never could be read. */
struct str file_cache_get(struct file_cache *cache, int64_t now_ms);

#endif
