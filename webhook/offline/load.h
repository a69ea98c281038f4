/* SPDX-License-Identifier: Apache-2.0 */
/* load.h: the objects of one kind in some files, or what is wrong with the files. Pure.
 *
 * For what a review validates by: with one left out it would let pass what the cluster rejects, so
 * it is all or none. */
#ifndef HERD_WEBHOOK_OFFLINE_LOAD_H
#define HERD_WEBHOOK_OFFLINE_LOAD_H

#include "webhook/offline/input.h"
#include "webhook/offline/objects.h"

struct loading {
    struct arena *arena;
    const struct input_files *files;
    enum object_kind kind;
    struct object_list objects; /* of that kind, each with a name of its own */
    struct map *names;
    struct str_list wrong; /* a line for each thing that is wrong, with its place first */
};

/* Objects of other kinds are passed over. */
struct loading load_files(struct arena *arena, const struct input_files *files,
                          enum object_kind kind);
void load_wrong(struct loading *loading, uint32_t file, struct place at, struct str what);

#endif
