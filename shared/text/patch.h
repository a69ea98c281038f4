/* SPDX-License-Identifier: Apache-2.0 */
/* patch.h: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386). */
#ifndef HERD_TEXT_PATCH_H
#define HERD_TEXT_PATCH_H

#include "text/value.h"

/* Apply all operations (add remove replace move copy test) or none: on failure the document is as
 * it was. -1: ERROR_SYNTAX for a malformed patch, ERROR_INVALID naming the operation that failed,
 * ERROR_TOO_LARGE for one that asks for too much (limits.def PATCH_*). */
int patch_apply(struct arena *arena, const struct value *document, struct str patch,
                struct value **ret_result, struct error *err);

/* RFC 7386. */
struct value *patch_merge(struct arena *arena, const struct value *document,
                          const struct value *merge);

/* The least JSON Patch (whole array elements are the grain) that turns `before` into `after`, and
 * the merge patch that does (a null in `after` is beyond what merge patches can say). Laws:
 * apply(before, diff(before, after)) equals after. "[]" and "{}" if equal. */
struct str patch_diff(struct arena *arena, const struct value *before, const struct value *after);
struct value *patch_merge_diff(struct arena *arena, const struct value *before,
                               const struct value *after);

#endif
