/* generated_test.c: what is made from the tables of shared/stack and checked in, is as the tables
 * are now. */
#include "support/rows.h"

#include "stack/crd.h"
#include "stack/fields.h"
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

    (void)state;
    for (const struct crd *crd = crds; crd->kind; crd++) {
        for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
            AUTO(arena_free) struct arena *arena = arena_create(0);
            struct strbuf made = strbuf_new(arena, 4096);

            crd_write(crd, &made);
            test_golden(arena,
                        str_z(arena, str_fmt(arena, "%s/herd.suse.com_%s.yaml", folders[i],
                                             crd->plural)),
                        strbuf_str(&made));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked_in_files_are_as_the_tables_are),
        cmocka_unit_test(definitions_are_as_the_tables_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
