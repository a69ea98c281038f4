/* SPDX-License-Identifier: Apache-2.0 */
/* resource.c: names of collections and keys of objects. */
#include "kube/resource.h"

struct str kube_api_version(struct arena *arena, const struct kube_resource *resource)
{
    if (resource->group.len == 0)
        return resource->version;
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(resource->group), STR_ARG(resource->version));
}

struct str kube_key(struct arena *arena, struct str namespace_, struct str name)
{
    if (namespace_.len == 0)
        return str_dup(arena, name);
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
}

void kube_key_split(struct str key, struct str *ret_namespace, struct str *ret_name)
{
    ptrdiff_t slash = str_find_char(key, '/', 0);

    *ret_namespace = slash < 0 ? STR("") : str_slice(key, 0, (size_t)slash);
    *ret_name = slash < 0 ? key : str_slice(key, (size_t)slash + 1, key.len);
}
