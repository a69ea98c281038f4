/* SPDX-License-Identifier: Apache-2.0 */
/* resource.h: which collection of an API is meant: group, version, plural. */
#ifndef HERD_KUBE_RESOURCE_H
#define HERD_KUBE_RESOURCE_H

#include "base/str.h"

struct kube_resource {
    struct str group; /* "" = the core group */
    struct str version;
    struct str plural;
    struct str kind;
    bool namespaced;
};

#define KUBE_RESOURCE_INIT(group, version, plural, kind, namespaced)                               \
    {                                                                                              \
        STR_INIT(group), STR_INIT(version), STR_INIT(plural), STR_INIT(kind), namespaced           \
    }

/* "v1", "apps/v1". */
struct str kube_api_version(struct arena *arena, const struct kube_resource *resource);
/* "namespace/name", or "name" where there is no namespace: the key of queues and caches. */
struct str kube_key(struct arena *arena, struct str namespace_, struct str name);
void kube_key_split(struct str key, struct str *ret_namespace, struct str *ret_name);

#endif
