/* generated_test.c: what is made from the tables of shared/stack and checked in, is as the tables
 * are now. */
#include "support/rows.h"

#include "stack/crd.h"
#include "stack/fields.h"
#include "stack/rules.h"
#include "support/files.h"

static const struct {
    const char *path;
    void (*write)(struct strbuf *out);
} outputs[] = {
    { "manifests/crds/herd.suse.com_stacks.yaml", stack_crd_write },
    { "manifests/chart/files/herd.suse.com_stacks.yaml", stack_crd_write },
    { "docs/rules.md", rules_doc_write },
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked_in_files_are_as_the_tables_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
