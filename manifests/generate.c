/* generate.c: herd-crdgen: writes what is made from the tables of shared/stack to standard output.
 *
 *     herd-crdgen crd    > manifests/crds/herd.suse.com_stacks.yaml
 *     herd-crdgen rules  > docs/rules.md
 *     herd-crdgen fields > docs/fields.md
 *
 * tests/golden/generated_test.c compares; HERD_GOLDEN=write there rewrites
 * all three, and the chart's copy of the CRD. */
#include "stack/crd.h"
#include "stack/fields.h"
#include "stack/rules.h"

#include <stdio.h>

static const struct output {
    const char *name;
    void (*write)(struct strbuf *out);
} outputs[] = {
    { "crd", stack_crd_write },
    { "rules", rules_doc_write },
    { "fields", fields_doc_write },
};

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf text = strbuf_new(arena, 64 * 1024);

    for (size_t i = 0; argc == 2 && i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        if (strcmp(argv[1], outputs[i].name) != 0)
            continue;
        outputs[i].write(&text);
        if (fwrite(text.at, 1, text.len, stdout) == text.len && fflush(stdout) == 0)
            return 0;
        perror("herd-crdgen: standard output");
        return 1;
    }
    fprintf(stderr, "usage: herd-crdgen crd|rules|fields\n");
    return 2;
}
