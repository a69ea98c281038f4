/* SPDX-License-Identifier: Apache-2.0 */
/* rights.c: the ClusterRoles of one kind of workload: of herd-controller, which follows it and
 * makes its children, and of people. Who installs the kind grants these and nothing else. */
#include "stack/crd/rights.h"

#include "kube/pod_shortage.h"

struct rules {
    struct strbuf *out;
    const struct kube_kind *kind;
};

static void rule(const struct rules *r, struct str group, const char *resources)
{
    strbuf_fmt(r->out, "  - apiGroups:\n      - %.*s\n    resources:\n%s    verbs:\n",
               STR_ARG(group.len ? group : STR("\"\"")), resources);
}

static void verbs(const struct rules *r, const char *words)
{
    struct str rest = str_of(words), word;

    while (rest.len && str_split(&rest, ' ', &word))
        strbuf_fmt(r->out, "      - %.*s\n", STR_ARG(word));
}

static const char *resource(struct arena *arena, struct str plural, const char *part)
{
    return str_z(arena, str_fmt(arena, "      - %.*s%s\n", STR_ARG(plural), part));
}

static void head(const struct rules *r, const char *kind, struct str name, const char *suffix,
                 const char *part_of, const char *label)
{
    strbuf_fmt(r->out,
               "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %.*s%s\n"
               "  labels:\n    app.kubernetes.io/name: %s\n    app.kubernetes.io/part-of: herd\n%s",
               kind, STR_ARG(name), suffix, part_of, label);
}

static void write_controller(struct arena *arena, const struct rules *r, struct str name)
{
    const struct kube_resource *own = &r->kind->resource;

    head(r, "ClusterRole", name, "", "herd-controller", "rules:\n");
    rule(r, own->group, resource(arena, own->plural, ""));
    verbs(r, "list watch");
    rule(r, own->group, resource(arena, own->plural, "/status"));
    verbs(r, "patch");
    strbuf_lit(r->out, "  # For blockOwnerDeletion, where the admission plugin "
                       "OwnerReferencesPermissionEnforcement is on.\n");
    rule(r, own->group, resource(arena, own->plural, "/finalizers"));
    verbs(r, "update");
    strbuf_lit(r->out, "  # What it is made into, and at last why that does not become ready.\n");
    for (uint32_t i = 0; i < r->kind->child_count; i++) {
        const struct kube_resource *child = r->kind->children[i];
        uint32_t rendered = r->kind->child_count - r->kind->watched_count;
        bool patched = i >= rendered && i < rendered + r->kind->patched_count;

        rule(r, child->group, resource(arena, child->plural, ""));
        verbs(r, i < rendered ? "get list watch create patch delete"
                 : patched    ? "list watch patch"
                              : "list watch");
    }
    for (uint32_t i = 0; i < r->kind->child_count; i++)
        if (kube_tells_in_events(r->kind->children[i])) {
            strbuf_lit(r->out, "  # Why StatefulSets and Jobs cannot create a pod, such as for a "
                               "quota, is told in Events only.\n");
            rule(r, STR(""), "      - events\n");
            verbs(r, "list");
            break;
        }
    strbuf_lit(r->out, "---\n");
    head(r, "ClusterRoleBinding", name, "", "herd-controller", "roleRef:\n");
    strbuf_fmt(r->out,
               "  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: %.*s\n"
               "subjects:\n  - kind: ServiceAccount\n    name: herd-controller\n"
               "    namespace: herd-system\n",
               STR_ARG(name));
}

/* Part of Kubernetes' own edit, admin and view. */
static void write_people(struct arena *arena, const struct rules *r, struct str name)
{
    const struct kube_resource *own = &r->kind->resource;

    strbuf_lit(r->out, "---\n# Part of Kubernetes' own edit and admin: what it is made into, "
                       "editors may make by hand, too.\n");
    head(r, "ClusterRole", name, "-edit", "herd",
         "    rbac.authorization.k8s.io/aggregate-to-edit: \"true\"\nrules:\n");
    rule(r, own->group,
         str_z(arena, str_fmt(arena, "      - %.*s\n      - %.*s/scale\n", STR_ARG(own->plural),
                              STR_ARG(own->plural))));
    verbs(r, "get list watch create update patch delete");
    strbuf_lit(r->out, "---\n");
    head(r, "ClusterRole", name, "-view", "herd",
         "    rbac.authorization.k8s.io/aggregate-to-view: \"true\"\nrules:\n");
    rule(r, own->group,
         str_z(arena, str_fmt(arena, "      - %.*s\n      - %.*s/status\n", STR_ARG(own->plural),
                              STR_ARG(own->plural))));
    verbs(r, "get list watch");
}

void rights_write(const struct kube_kind *kind, struct strbuf *out)
{
    const struct rules r = { out, kind };
    struct arena *arena = out->arena;

    strbuf_fmt(out,
               "# Made from the kind's row in shared/workload by tests/golden/generated_test.c.\n"
               "# What herd-controller does for %.*s objects, and who may write them.\n",
               STR_ARG(kind->resource.kind));
    write_controller(arena, &r,
                     str_fmt(arena, "herd-controller-%.*s", STR_ARG(kind->resource.plural)));
    write_people(arena, &r, str_fmt(arena, "herd-%.*s", STR_ARG(kind->resource.plural)));
}
