/* SPDX-License-Identifier: Apache-2.0 */
/* file.h: whole files, read and replaced. */
#ifndef HERD_IO_FILE_H
#define HERD_IO_FILE_H

#include "base/error.h"
#include "base/list.h"

/* The whole file; -1: ERROR_NOT_FOUND, ERROR_FILE or ERROR_TOO_LARGE, naming the file. */
int file_read(struct arena *arena, const char *name, size_t bytes_max, struct str *ret_bytes,
              struct error *err);
/* Whole or not at all: written beside it, synced, renamed. `mode` as for open(2). */
int file_replace(const char *name, struct str bytes, unsigned mode, struct error *err);
/* Make a folder and those above it. */
int file_make_folder(const char *name, unsigned mode, struct error *err);
/* Names in a folder, sorted, without "." and "..". */
int file_list(struct arena *arena, const char *folder, struct str_list *ret_names,
              struct error *err);
bool file_exists(const char *name);
bool file_is_folder(const char *name);

#endif
