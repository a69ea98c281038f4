/* SPDX-License-Identifier: Apache-2.0 */
/* load_request.h: the bytes of one request, as the API server sends a review. */
#ifndef HERD_TESTS_BENCH_LOAD_REQUEST_H
#define HERD_TESTS_BENCH_LOAD_REQUEST_H

#include <stddef.h>

/* POST of the file to `path`. The caller frees it; NULL and errno: the file cannot be read. */
char *load_request(const char *path, const char *file_name, size_t *ret_len);

#endif
