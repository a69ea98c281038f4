/* SPDX-License-Identifier: Apache-2.0 */
/* input.h: what is to be reviewed, as bytes: files, folders, globs, and "-" for standard input. */
#ifndef HERD_WEBHOOK_OFFLINE_INPUT_H
#define HERD_WEBHOOK_OFFLINE_INPUT_H

#include "base/error.h"
#include "base/list.h"

struct input_file {
    struct str name; /* as it was named or found; "-" for standard input */
    struct str bytes;
    struct str failure; /* which name could not be read and why; "" if it was */
    bool found;         /* in a folder: it was not named itself */
};
LIST_DEFINE(input_files, struct input_file)

/* The failure of standard input that holds no document. */
#define INPUT_NOTHING "standard input holds no document; see whether what writes it failed"

/* All files that `words` name, each once, in their order; those of a folder sorted, with all
 * folders below it. A word that leads to no file is an entry with a failure. */
struct input_files input_read(struct arena *arena, const struct str_list *words);

#endif
