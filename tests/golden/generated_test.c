/* SPDX-License-Identifier: Apache-2.0 */
/* generated_test.c: what is made from the tables of shared/stack, or from another file, and checked
 * in, is as those are now. */
#include "support/rows.h"

#include "stack/crd/crd.h"
#include "stack/model/fields.h"
#include "support/files.h"

static const struct {
    const char *path;
    void (*write)(struct strbuf *out);
} outputs[] = {
    { "docs/fields.md", fields_doc_write },
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
static void definitions_are_as_the_tables_are(void **state)
{
    static const char *const folders[] = { "manifests/crds", "manifests/chart/files" };
    static const char *const workload_folders[] = { "manifests/workloads/crds" };

    (void)state;
    for (const struct crd *crd = crds; crd->kind; crd++) {
        const char *const *into = crd->workload ? workload_folders : folders;

        for (size_t i = 0; i < (crd->workload ? 1 : 2); i++) {
            AUTO(arena_free) struct arena *arena = arena_create(0);
            struct strbuf made = strbuf_new(arena, 4096);

            crd_write(crd, &made);
            test_golden(arena,
                        str_z(arena, str_fmt(arena, "%s/%s_%s.yaml", into[i], crd->group,
                                             crd->plural)),
                        strbuf_str(&made));
        }
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
        cmocka_unit_test(the_health_check_is_in_its_config_map),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
