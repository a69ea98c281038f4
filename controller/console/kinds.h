/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h: the kinds that the console serves, and which of their objects a path means. Pure. */
#ifndef HERD_CONTROLLER_CONSOLE_KINDS_H
#define HERD_CONTROLLER_CONSOLE_KINDS_H

#include "base/error.h"
#include "kube/resource.h"
#include "stack/crd/crd.h"

enum { CONSOLE_KINDS_MAX = 16 };

struct console_kind {
    const struct crd *crd;
    struct kube_resource resource;
};

/* Constant once the console runs. */
struct console_kinds {
    struct console_kind items[CONSOLE_KINDS_MAX];
    uint32_t count;
};

void console_kinds_add(struct console_kinds *kinds, const struct crd *crd);
/* By its kind, plural, singular or a short name, as kubectl does; NULL: none has that name. */
const struct console_kind *console_kinds_find(const struct console_kinds *kinds, struct str name);

struct console_target {
    const struct console_kind *kind;
    struct str namespace_; /* "": cluster-scoped, or the objects of all namespaces */
    struct str name;       /* "": the collection */
};

/* Of /apis/GROUP/VERSION/[namespaces/NAMESPACE/]PLURAL[/NAME], decoded. -1: ERROR_NOT_FOUND, with
 * what is there instead. Views of `path`. */
int console_target_read(const struct console_kinds *kinds, struct str path,
                        struct console_target *ret_target, struct error *err);
/* /apis/GROUP/VERSION of a kind. */
struct str console_group_path(struct arena *arena, const struct console_kind *kind);

#endif
