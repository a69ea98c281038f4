/* SPDX-License-Identifier: Apache-2.0 */
/* generated_test.c: what is made from the tables of shared/stack, or from another file, and checked
 * in, is as those are now. */
#include "support/rows.h"

#include "stack/crd/crd.h"
#include "stack/crd/rights.h"
#include "stack/crd/webhooks.h"
#include "stack/model/fields.h"
#include "support/files.h"
#include "workload/workload_kind.h"

static const struct {
    const char *path;
    void (*write)(struct strbuf *out);
} outputs[] = {
    { "docs/fields.md", fields_doc_write },
    { "manifests/workloads/webhook/configuration.yaml", webhooks_write },
    { "manifests/chart/files/workloads/webhook.yaml", webhooks_write },
};

static void checked_in_files_are_as_the_tables_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf made = strbuf_new(arena, 4096);

        outputs[i].write(&made);
        test_golden(arena, outputs[i].path, strbuf_str(&made));
    }
}

/* The chart's copies too: helm reads no file beside its own. */
static void write_twice(struct arena *arena, const char *folder, const char *in_chart,
                        struct str name, struct str text)
{
    test_golden(arena, str_z(arena, str_fmt(arena, "manifests/%s%.*s", folder, STR_ARG(name))),
                text);
    test_golden(
        arena,
        str_z(arena, str_fmt(arena, "manifests/chart/files/%s%.*s", in_chart, STR_ARG(name))),
        text);
}

static void definitions_are_as_the_tables_are(void **state)
{
    (void)state;
    for (const struct crd *crd = crds; crd->kind; crd++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf made = strbuf_new(arena, 4096);

        crd_write(crd, &made);
        if (crd->workload)
            write_twice(arena, "workloads/", "workloads/",
                        str_fmt(arena, "%s/crd.yaml", crd->plural), strbuf_str(&made));
        else
            write_twice(arena, "crds/", "", str_fmt(arena, "%s_%s.yaml", crd->group, crd->plural),
                        strbuf_str(&made));
    }
}

static void rights_are_as_the_rows_are(void **state)
{
    (void)state;
    for (int i = 0; i < WORKLOAD_KIND_COUNT; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct kube_kind *kind = &workload_kinds[i]->kind;
        struct strbuf made = strbuf_new(arena, 4096);

        rights_write(kind, &made);
        write_twice(arena, "workloads/", "workloads/",
                    str_fmt(arena, "%.*s/rbac.yaml", STR_ARG(kind->resource.plural)),
                    strbuf_str(&made));
    }
}

/* Argo CD has its health check from a ConfigMap; the script itself is what is tested. */
static void the_health_check_is_in_its_config_map(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str script = test_file(arena, "manifests/argocd/health.lua");
    struct strbuf made = strbuf_new(arena, 4096);
    struct str line;

    (void)state;
    strbuf_lit(&made,
               "# Made from health.lua by tests/golden/generated_test.c. Added to the ConfigMap of Argo CD, which keeps "
               "what else it has:\n"
               "# kubectl apply --server-side --field-manager herd -f manifests/argocd/argocd-cm.yaml\n"
               "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\n  namespace: argocd\n"
               "  labels:\n    app.kubernetes.io/name: argocd-cm\n"
               "    app.kubernetes.io/part-of: argocd\n"
               "data:\n  resource.customizations.health.herd.suse.com_Stack: |\n");
    while (str_split(&script, '\n', &line))
        strbuf_fmt(&made, "%s%.*s\n", line.len ? "    " : "", STR_ARG(line));
    test_golden(arena, "manifests/argocd/argocd-cm.yaml", strbuf_str(&made));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked_in_files_are_as_the_tables_are),
        cmocka_unit_test(definitions_are_as_the_tables_are),
        cmocka_unit_test(rights_are_as_the_rows_are),
        cmocka_unit_test(the_health_check_is_in_its_config_map),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
