/* SPDX-License-Identifier: Apache-2.0 */
/* crd.c: tables to a CustomResourceDefinition, as YAML.
 *
 * apiextensions.k8s.io/v1; what is structural: kubernetes.io/docs, "Specifying a structural
 * schema". Why the schema is strict where it is: fields.def. Texts are written as JSON strings,
 * which YAML reads as they are. */
#include "stack/crd/crd.h"

#include "stack/model/fields.h"
#include "text/json_write.h"

#include <inttypes.h>

struct yaml {
    struct strbuf *out;
    int indent;
    bool in_list; /* of objects: defaults of their members are not for the API server (default.c) */
};

__attribute__((format(printf, 2, 3))) static void line(const struct yaml *y, const char *format,
                                                       ...)
{
    va_list args;

    for (int i = 0; i < y->indent; i++)
        strbuf_lit(y->out, "  ");
    va_start(args, format);
    strbuf_put(y->out, str_vfmt(y->out->arena, format, args));
    va_end(args);
    strbuf_char(y->out, '\n');
}

static struct yaml deeper(const struct yaml *y)
{
    return (struct yaml){ y->out, y->indent + 1, y->in_list };
}

static void quoted(const struct yaml *y, const char *key, const char *text)
{
    struct strbuf quote = { .arena = y->out->arena };

    json_quote(&quote, str_of(text));
    line(y, "%s: %.*s", key, STR_ARG(strbuf_str(&quote)));
}

static void describe(const struct yaml *y, const char *help)
{
    quoted(y, "description", help);
}

static void put_table(const struct yaml *y, const struct field_table *table);

static void put_bounds(const struct yaml *y, const struct field *field, const char *what)
{
    if (field->min)
        line(y, "min%s: %" PRId64, what, field->min);
    if (field->max)
        line(y, "max%s: %" PRId64, what, field->max);
}

static void put_words(const struct yaml *y, const struct field *field)
{
    const struct field_words *words = field->words;

    line(y, "type: string");
    if (field->flags & FIELD_OPEN)
        return;
    line(y, "enum:");
    for (uint32_t i = 0; i < words->count; i++)
        line(y, "- \"%.*s\"", STR_ARG(words->words[i].name)); /* True is no string in YAML */
}

static void put_strings(const struct yaml *y, const struct field *field)
{
    struct yaml in = deeper(y);

    line(y, "type: array");
    line(y, "x-kubernetes-list-type: atomic");
    put_bounds(y, field, "Items");
    line(y, "items:");
    line(&in, "type: string");
    line(&in, "maxLength: %d", FIELD_ELEMENT_BYTES_MAX);
}

static void put_labels(const struct yaml *y, const struct field *field)
{
    struct yaml in = deeper(y);

    line(y, "type: object");
    put_bounds(y, field, "Properties");
    line(y, "additionalProperties:");
    line(&in, "type: string");
    line(&in, "maxLength: %d", FIELD_ELEMENT_BYTES_MAX);
}

static void put_counts(const struct yaml *y)
{
    struct yaml in = deeper(y);

    line(y, "type: object");
    line(y, "additionalProperties:");
    line(&in, "type: integer");
    line(&in, "format: int64");
}

static void put_structs(const struct yaml *y, const struct field *field)
{
    struct yaml in = deeper(y);

    line(y, "type: array");
    if (field->flags & FIELD_KEYED || field->kind == FIELD_CONDITIONS) {
        line(y, "x-kubernetes-list-type: map");
        line(y, "x-kubernetes-list-map-keys:");
        line(y, "- %.*s", STR_ARG(field->of->rows[0].json));
    } else {
        line(y, "x-kubernetes-list-type: atomic");
    }
    put_bounds(y, field, "Items");
    line(y, "items:");
    describe(&in, field->of->help);
    in.in_list = true;
    put_table(&in, field->of);
}

static void put_default(const struct yaml *y, const struct field *field)
{
    struct strbuf text = { .arena = y->out->arena };
    struct str rest = field->default_;
    struct str name;

    if (!rest.len || y->in_list)
        return;
    switch (field->kind) {
    case FIELD_BOOL:
    case FIELD_INT:
    case FIELD_RATIO:
        line(y, "default: %.*s", STR_ARG(rest));
        return;
    case FIELD_STRINGS:
        line(y, "default:");
        while (str_split(&rest, ',', &name))
            line(y, "- %.*s", STR_ARG(name));
        return;
    default:
        json_quote(&text, rest);
        line(y, "default: %.*s", STR_ARG(strbuf_str(&text)));
        return;
    }
}

static void put_kind(const struct yaml *y, const struct field *field)
{
    switch (field->kind) {
    case FIELD_STRING:
        line(y, "type: string");
        put_bounds(y, field, "Length");
        if (field->pattern)
            line(y, "pattern: '%s'", field->pattern);
        return;
    case FIELD_DURATION:
        line(y, "type: string");
        line(y, "maxLength: 64");
        return;
    case FIELD_BOOL:
    case FIELD_TRUTH:
        line(y, "type: boolean");
        return;
    case FIELD_INT:
        line(y, "type: integer");
        line(y, "format: int64");
        line(y, "minimum: %" PRId64, field->min);
        line(y, "maximum: %" PRId64, field->max);
        return;
    case FIELD_RATIO:
        line(y, "type: number");
        line(y, "minimum: %" PRId64, field->min);
        line(y, "maximum: %" PRId64, field->max);
        return;
    case FIELD_AMOUNT:
        line(y, "x-kubernetes-int-or-string: true");
        line(y, "maxLength: %" PRId64, field->max);
        return;
    case FIELD_WORD:
        put_words(y, field);
        return;
    case FIELD_STRINGS:
        put_strings(y, field);
        return;
    case FIELD_LABELS:
        put_labels(y, field);
        return;
    case FIELD_OBJECT:
        line(y, "type: object");
        line(y, "x-kubernetes-preserve-unknown-fields: true");
        return;
    case FIELD_STRUCT:
        put_table(y, field->of);
        if (field->flags & FIELD_UNPRUNED)
            line(y, "x-kubernetes-preserve-unknown-fields: true");
        return;
    case FIELD_STRUCTS:
    case FIELD_CONDITIONS:
        put_structs(y, field);
        return;
    case FIELD_COUNT:
    case FIELD_COUNT64:
        line(y, "type: integer");
        line(y, "format: int64");
        return;
    case FIELD_COUNTS:
        put_counts(y);
        return;
    case FIELD_TIME:
    case FIELD_MICRO_TIME:
        line(y, "type: string");
        line(y, "format: date-time");
        return;
    }
}

static void put_required(const struct yaml *y, const struct field_table *table)
{
    bool any = false;

    for (uint32_t i = 0; i < table->count; i++) {
        if (!(table->rows[i].flags & FIELD_REQUIRED))
            continue;
        if (!any)
            line(y, "required:");
        any = true;
        line(y, "- %.*s", STR_ARG(table->rows[i].json));
    }
}

static const struct crd_rule rules[] = {
#define CRD_RULE(table, rule, message, field_path, rule_id)                                        \
    { &fields_of_##table, rule, message, field_path, RULE_##rule_id },
#include "stack/model/crd_rules.def"
#undef CRD_RULE
};

const struct crd_rule *crd_rules(uint32_t *ret_count)
{
    *ret_count = sizeof(rules) / sizeof(rules[0]);
    return rules;
}

static void put_rules(const struct yaml *y, const struct field_table *table)
{
    struct yaml in = deeper(y);
    bool any = false;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i].table != table)
            continue;
        if (!any)
            line(y, "x-kubernetes-validations:");
        any = true;
        quoted(y, "- rule", rules[i].rule);
        quoted(&in, "message", rules[i].message);
        if (rules[i].field_path[0])
            line(&in, "fieldPath: %s", rules[i].field_path);
    }
}

/* With the default that the schema itself does not say. */
static const char *help_of(const struct yaml *y, const struct field *field)
{
    if (!y->in_list || !field->default_.len)
        return field->help;
    return str_fmt(y->out->arena, "%s Defaults to %.*s.", field->help, STR_ARG(field->default_)).at;
}

static void put_table(const struct yaml *y, const struct field_table *table)
{
    struct yaml names = deeper(y);
    struct yaml in = deeper(&names);

    line(y, "type: object");
    put_rules(y, table);
    put_required(y, table);
    line(y, "properties:");
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->rows[i];

        line(&names, "%.*s:", STR_ARG(field->json));
        describe(&in, help_of(y, field));
        put_kind(&in, field);
        put_default(&in, field);
    }
}

/* --- the whole --- */

static void put_columns(const struct yaml *y, const struct crd *crd)
{
    struct yaml in = deeper(y);

    if (!crd->columns)
        return;
    line(y, "additionalPrinterColumns:");
    for (const struct crd_column *column = crd->columns; column->name; column++) {
        line(y, "- name: %s", column->name);
        line(&in, "type: %s", column->type);
        line(&in, "jsonPath: %s", column->path);
        if (column->help[0])
            line(&in, "description: %s", column->help);
        if (column->priority)
            line(&in, "priority: %d", column->priority);
    }
}

static void put_member(const struct yaml *y, const char *name, const struct field_table *table)
{
    struct yaml in = deeper(y);

    line(y, "%s:", name);
    describe(&in, table->help);
    put_table(&in, table);
}

static void put_status(const struct yaml *y, const struct crd *crd)
{
    struct yaml in = deeper(y);

    line(y, "status:");
    describe(&in, crd->status->help);
    if (crd->status_default)
        line(&in, "default: %s", crd->status_default);
    put_table(&in, crd->status);
}

static void put_schema(const struct yaml *y, const struct crd *crd)
{
    struct yaml names = deeper(y);
    struct yaml in = deeper(&names);

    describe(y, crd->help);
    line(y, "type: object");
    if (crd->spec) {
        line(y, "required:");
        line(y, "- spec");
    }
    line(y, "properties:");
    line(&names, "apiVersion:");
    line(&in, "description: \"Always %s/%s.\"", crd->group, crd->version);
    line(&in, "type: string");
    line(&names, "kind:");
    line(&in, "description: \"Always %s.\"", crd->kind);
    line(&in, "type: string");
    line(&names, "metadata:");
    line(&in, "type: object");
    if (crd->spec)
        put_member(&names, "spec", crd->spec);
    if (crd->status)
        put_status(&names, crd);
    if (crd->report)
        put_member(&names, "report", crd->report);
}

static void put_version(const struct yaml *y, const struct crd *crd)
{
    struct yaml in = deeper(y);
    struct yaml schema = deeper(&in);
    struct yaml root = deeper(&schema);

    line(y, "- name: %s", crd->version);
    line(&in, "served: true");
    line(&in, "storage: true");
    if (crd->status) {
        line(&in, "subresources:");
        line(&schema, "status: {}");
    }
    if (crd->scale) {
        struct yaml scale = deeper(&schema);

        line(&schema, "scale:");
        line(&scale, "specReplicasPath: .spec.replicas");
        line(&scale, "statusReplicasPath: .status.replicas");
        line(&scale, "labelSelectorPath: .status.selector");
    }
    put_columns(&in, crd);
    line(&in, "schema:");
    line(&schema, "openAPIV3Schema:");
    put_schema(&root, crd);
}

void crd_write(const struct crd *crd, struct strbuf *out)
{
    struct yaml top = { out, 0, false };
    struct yaml spec = deeper(&top);
    struct yaml names = deeper(&spec);

    line(&top, "# Made from %s by `make crds`; a test compares them.", crd->made_from);
    line(&top, "apiVersion: apiextensions.k8s.io/v1");
    line(&top, "kind: CustomResourceDefinition");
    line(&top, "metadata:");
    line(&spec, "name: %s.%s", crd->plural, crd->group);
    line(&top, "spec:");
    line(&spec, "group: %s", crd->group);
    line(&spec, "scope: %s", crd->namespaced ? "Namespaced" : "Cluster");
    line(&spec, "names:");
    line(&names, "kind: %s", crd->kind);
    line(&names, "listKind: %sList", crd->kind);
    line(&names, "plural: %s", crd->plural);
    line(&names, "singular: %s", crd->singular);
    if (crd->short_names)
        line(&names, "shortNames: [%s]", crd->short_names);
    line(&names, "categories: [herd]");
    line(&spec, "versions:");
    put_version(&spec, crd);
}
