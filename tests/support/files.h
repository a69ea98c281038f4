/* SPDX-License-Identifier: Apache-2.0 */
/* files.h: files for tests: read whole, compared with what they should be, listed.
 *
 * Paths are relative to the top of the checkout, where ctest runs every test. */
#ifndef HERD_TESTS_SUPPORT_FILES_H
#define HERD_TESTS_SUPPORT_FILES_H

#include "base/list.h"

/* The whole file; the test fails if there is none. */
struct str test_file(struct arena *arena, const char *path);
bool test_file_exists(const char *path);
/* Names in `folder` that end in `suffix`, sorted. */
struct str_list test_files(struct arena *arena, const char *folder, const char *suffix);
/* Paths of those in `folder` and all folders below it, in no order. */
struct str_list test_files_below(struct arena *arena, const char *folder, const char *suffix);
/* The test fails, naming the first line that differs, if the file is not `want`. With
 * HERD_GOLDEN=write in the environment the file is rewritten instead. */
void test_golden(struct arena *arena, const char *path, struct str want);

#endif
