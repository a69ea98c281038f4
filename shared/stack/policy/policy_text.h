/* SPDX-License-Identifier: Apache-2.0 */
/* policy_text.h: the small texts of a policy: names with *, and ${words} that stand for something.
 * Internal to stack/. */
#ifndef HERD_STACK_POLICY_TEXT_H
#define HERD_STACK_POLICY_TEXT_H

#include "base/list.h"

/* What ${words} stand for, when a rule is put to a Stack. */
enum policy_word {
    POLICY_WORD_NAMESPACE,
    POLICY_WORD_NAME,
    POLICY_WORD_ENV,
    POLICY_WORD_POLICY,
    POLICY_WORD_RULE,
    POLICY_WORD_FIELD,
    POLICY_WORD_VALUE,
    POLICY_WORD_CHART,
    POLICY_WORD_COUNT
};
/* The first three are known of the Stack alone, so allow and deny may have them. */
enum { POLICY_WORDS_OF_STACK = POLICY_WORD_ENV + 1 };

struct policy_words {
    struct str of[POLICY_WORD_COUNT];
};

/* The first ${word} of `text` that is none of the first `count`; "" if all are. */
struct str policy_text_unknown_word(struct str text, int count);
/* The first that is one of ours, and no \${word}; "" if there is none. */
struct str policy_text_word(struct str text);
bool policy_text_has_words(struct str text);
/* With what the words stand for. */
struct str policy_text_fill(struct arena *arena, struct str text, const struct policy_words *words);

/* Whether `text` is `glob`, in which each * stands for any text, also none. Linear in practice and
 * at most the product of both lengths. */
bool policy_glob_matches(struct str glob, struct str text);
bool policy_globs_match(const struct str_list *globs, struct str text);

#endif
