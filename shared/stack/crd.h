/* crd.h: a CustomResourceDefinition, made from the tables of its kind. */
#ifndef HERD_STACK_CRD_H
#define HERD_STACK_CRD_H

#include "base/str.h"
#include "stack/fields.h"
#include "stack/validate.h"

/* A field of a status, which only the controller writes (status_fields.def says what a row is). */
struct status_row {
    int depth;
    const char *name; /* NULL behind the last row */
    enum status_kind {
        STATUS_STRING,
        STATUS_TIME,
        STATUS_INTEGER,
        STATUS_BOOLEAN,
        STATUS_STRINGS,
        STATUS_COUNTS,
        STATUS_LABELS,
        STATUS_OBJECT,
        STATUS_LIST,
        STATUS_CONDITIONS,
    } kind;
    const char *help;
};

/* What `kubectl get` shows; those of priority 1 with -o wide only. */
struct crd_column {
    const char *name, *type, *path, *help; /* name NULL behind the last */
    int priority;
};

/* What the API server itself refuses (crd_rules.def). */
struct crd_rule {
    const struct field_table *table;
    const char *rule, *message, *field_path;
    enum rule_id says; /* the same, by the webhook */
};
const struct crd_rule *crd_rules(uint32_t *ret_count);

struct crd {
    const char *kind, *plural, *singular, *short_names;
    bool namespaced;
    const char *made_from; /* the tables, for the file's first line */
    const char *help;
    const struct field_table *spec;  /* NULL: it has none */
    const struct status_row *status; /* NULL: it has none */
    const char *status_help;
    const struct crd_column *columns;
};

/* All of Herd's kinds, the Stack first; `kind` is NULL behind the last. */
extern const struct crd crds[];

/* manifests/crds/herd.suse.com_PLURAL.yaml. Equal tables give equal bytes. */
void crd_write(const struct crd *crd, struct strbuf *out);

#endif
