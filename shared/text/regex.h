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
void regex_free(struct regex *regex);
AUTO_DEFINE(regex_free, struct regex *)

/* REGEX_LIMIT: the subject is too long or a bound was hit; the caller decides what is safe. */
enum regex_answer regex_match(const struct regex *regex, struct str subject);

#endif
