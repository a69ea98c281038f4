/* SPDX-License-Identifier: Apache-2.0 */
/* regex.h: patterns that administrators write, matched within bounds (limits.def REGEX_*).
 *
 * PCRE2 with UTF, anchored at both ends, JIT where the machine has it. A pattern is an object and
 * may be used by several threads at once. */
#ifndef HERD_TEXT_REGEX_H
#define HERD_TEXT_REGEX_H

#include "base/cleanup.h"
#include "base/error.h"

struct regex;

enum regex_answer { REGEX_NO, REGEX_YES, REGEX_LIMIT };

/* NULL and an error that names the offset in the pattern. */
struct regex *regex_create(struct str pattern, struct error *err);
/* The same for a pattern that may be found anywhere in the subject. */
struct regex *regex_create_search(struct str pattern, struct error *err);
void regex_free(struct regex *regex);
AUTO_DEFINE(regex_free, struct regex *)

/* REGEX_LIMIT: the subject is too long or a bound was hit; the caller decides what is safe. */
enum regex_answer regex_match(const struct regex *regex, struct str subject);
/* Where the leftmost match at or after `at` begins and ends, of a pattern made by
 * regex_create_search. */
enum regex_answer regex_find(const struct regex *regex, struct str subject, size_t at,
                             size_t *ret_from, size_t *ret_to);

#endif
