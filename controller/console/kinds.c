/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c: the paths are those of the API server:
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris. */
#include "controller/console/kinds.h"

#include <assert.h>

enum { PARTS_MAX = 7, SHOWN_BYTES = 200 };

void console_kinds_add(struct console_kinds *kinds, const struct crd *crd)
{
    assert(kinds->count < CONSOLE_KINDS_MAX);
    kinds->items[kinds->count++] = (struct console_kind){
        .crd = crd,
        .resource = { str_of(crd->group), str_of(crd->version), str_of(crd->plural),
                      str_of(crd->kind), crd->namespaced },
    };
}

static bool has_name(const struct crd *crd, struct str name)
{
    struct str rest = crd->short_names ? str_of(crd->short_names) : STR("");
    struct str word;

    if (str_eq(name, str_of(crd->kind)) || str_eq(name, str_of(crd->plural)) ||
        str_eq(name, str_of(crd->singular)))
        return true;
    while (rest.len && str_split(&rest, ',', &word))
        if (str_eq(name, word))
            return true;
    return false;
}

const struct console_kind *console_kinds_find(const struct console_kinds *kinds, struct str name)
{
    for (uint32_t i = 0; i < kinds->count; i++)
        if (has_name(kinds->items[i].crd, name))
            return &kinds->items[i];
    return NULL;
}

/* The parts between slashes; PARTS_MAX + 1 if there are more, 0 if one is empty. */
static uint32_t cut(struct str path, struct str parts[PARTS_MAX])
{
    struct str rest = str_slice(path, 1, path.len);
    uint32_t count = 0;

    if (str_ends(path, STR("/")))
        return 0;
    while (rest.len) {
        struct str part;

        str_split(&rest, '/', &part);
        if (part.len == 0)
            return 0;
        if (count == PARTS_MAX)
            return PARTS_MAX + 1;
        parts[count++] = part;
    }
    return count;
}

static const struct console_kind *find(const struct console_kinds *kinds, struct str group,
                                       struct str version, struct str plural)
{
    for (uint32_t i = 0; i < kinds->count; i++) {
        const struct kube_resource *resource = &kinds->items[i].resource;

        if (str_eq(group, resource->group) && str_eq(version, resource->version) &&
            str_eq(plural, resource->plural))
            return &kinds->items[i];
    }
    return NULL;
}

static int not_found(struct str path, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    return error_set(err, ERROR_NOT_FOUND,
                     "nothing is served at %.*s; GET / lists the paths of all kinds",
                     STR_ARG(str_shown(arena, path, SHOWN_BYTES)));
}

/* A workload kind of Herd's that this controller does not run. */
static int not_served(const struct crd *crd, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND,
                     "%s.%s is not served: this controller does not reconcile it; add %s to its "
                     "--kinds",
                     crd->plural, crd->group, crd->singular);
}

int console_target_read(const struct console_kinds *kinds, struct str path,
                        struct console_target *ret_target, struct error *err)
{
    struct str parts[PARTS_MAX];
    uint32_t count = cut(path, parts);
    bool in_namespace = count >= 6 && str_eq(parts[3], STR("namespaces"));
    uint32_t plural = in_namespace ? 5 : 3;
    const struct console_kind *kind;

    if (count <= plural || count > plural + 2 || !str_eq(parts[0], STR("apis")))
        return not_found(path, err);
    kind = find(kinds, parts[1], parts[2], parts[plural]);
    for (const struct crd *crd = crds; !kind && crd->kind; crd++)
        if (str_eq(parts[1], str_of(crd->group)) && str_eq(parts[plural], str_of(crd->plural)) &&
            str_eq(parts[2], str_of(crd->version)))
            return not_served(crd, err);
    /* One object of a kind with namespaces is in one; a kind without them is in none. */
    if (!kind || (in_namespace && !kind->resource.namespaced) ||
        (!in_namespace && kind->resource.namespaced && count == plural + 2))
        return not_found(path, err);
    *ret_target = (struct console_target){
        .kind = kind,
        .namespace_ = in_namespace ? parts[4] : STR(""),
        .name = count == plural + 2 ? parts[plural + 1] : STR(""),
    };
    return 0;
}

struct str console_group_path(struct arena *arena, const struct console_kind *kind)
{
    return str_fmt(arena, "/apis/%s/%s", kind->crd->group, kind->crd->version);
}
