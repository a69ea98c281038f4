/* SPDX-License-Identifier: Apache-2.0 */
/* fields_doc.c: docs/fields.md, made from the tables. */
#include "stack/model/annotations.h"
#include "stack/crd/crd.h"

static bool is_list(enum field_kind kind)
{
    return kind == FIELD_STRINGS || kind == FIELD_STRUCTS || kind == FIELD_CONDITIONS;
}

/* One table and, behind it, those of its fields. `at` is the path that people write. */
static void doc_table(struct strbuf *out, const struct field_table *table, struct str at)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *row = &table->rows[i];
        struct str path = str_fmt(out->arena, "%.*s.%.*s%s", STR_ARG(at), STR_ARG(row->json),
                                  is_list(row->kind) ? "[]" : "");

        const char *kind = strchr(field_kind_name(row->kind), ' ') + 1; /* without "a", "an" */

        strbuf_fmt(out, "| `%.*s` | %s | ", STR_ARG(path), kind);
        if (row->flags & FIELD_REQUIRED)
            strbuf_lit(out, "required");
        else if (row->default_.len)
            strbuf_fmt(out, "`%.*s`", STR_ARG(row->default_));
        strbuf_fmt(out, " | %s", row->help);
        if (row->words && !(row->flags & FIELD_OPEN)) {
            struct str words = field_words_shown(out->arena, row->words);

            strbuf_fmt(out, " One of %.*s.", STR_ARG(words));
        }
        strbuf_lit(out, " |\n");
        if (row->of)
            doc_table(out, row->of, path);
    }
}

static void doc_annotations(struct strbuf *out)
{
    uint32_t count;
    const struct stack_annotation *annotations = stack_annotations(&count);

    strbuf_lit(out, "\nA Stack's annotations that begin with `" STACK_ANNOTATION_PREFIX "`; others "
                    "with that prefix are rejected.\n\n"
                    "| annotation | meaning |\n|---|---|\n");
    for (uint32_t i = 0; i < count; i++)
        strbuf_fmt(out, "| `%.*s` | %s |\n", STR_ARG(annotations[i].key), annotations[i].help);
}

void fields_doc_write(struct strbuf *out)
{
    strbuf_lit(
        out,
        "# Fields\n\n"
        "Look up here what each field of Herd's kinds means, which type it has and which default "
        "it "
        "gets.\n"
        "An empty default means that the field has none, or that the default depends on other "
        "fields\n"
        "(`shared/stack/model/default.h`).\n\n"
        "`make crds` generates this page from the tables of fields in `shared/stack/model`; a test "
        "compares them.\n");
    for (const struct crd *crd = crds; crd->kind; crd++) {
        strbuf_fmt(out,
                   "\n## %s\n\n%s\n\n"
                   "| field | type | default | meaning |\n|---|---|---|---|\n",
                   crd->kind, crd->help);
        if (crd->spec)
            doc_table(out, crd->spec, STR("spec"));
        if (crd->status)
            doc_table(out, crd->status, STR("status"));
        if (crd->report)
            doc_table(out, crd->report, STR("report"));
        if (crd == &crds[0])
            doc_annotations(out);
    }
}
