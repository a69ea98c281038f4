/* SPDX-License-Identifier: Apache-2.0 */
/* load_request.c: a review as the API server posts it: HTTP/1.1, its headers, a body with a length. */
#include "load_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_BYTES_MAX = 8 * 1024 * 1024, HEAD_BYTES_MAX = 1024 };

char *load_request(const char *path, const char *file_name, size_t *ret_len)
{
    FILE *file = fopen(file_name, "re");
    char *body = file ? malloc(BODY_BYTES_MAX) : NULL;
    char *request = body ? malloc(BODY_BYTES_MAX + HEAD_BYTES_MAX) : NULL;

    if (!request)
        return NULL;

    size_t body_len = fread(body, 1, BODY_BYTES_MAX, file);
    int head = snprintf(request, HEAD_BYTES_MAX,
                        "POST %s?timeout=5s HTTP/1.1\r\nHost: herd-webhook.herd-system.svc:443\r\n"
                        "User-Agent: kube-apiserver-admission\r\nContent-Length: %zu\r\n"
                        "Accept: application/json, */*\r\nContent-Type: application/json\r\n\r\n",
                        path, body_len);

    fclose(file);
    memcpy(request + head, body, body_len);
    free(body);
    *ret_len = (size_t)head + body_len;
    return request;
}
