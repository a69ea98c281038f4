/* SPDX-License-Identifier: Apache-2.0 */
/* crd.h: a CustomResourceDefinition, made from the tables of its kind. */
#ifndef HERD_STACK_CRD_H
#define HERD_STACK_CRD_H

#include "stack/model/fields.h"
#include "stack/model/rules.h"

/* What `kubectl get` shows; those of priority 1 with -o wide only. */
struct crd_column {
    const char *name, *type, *path, *help; /* name NULL behind the last */
    int priority;
};

/* What the API server itself rejects (crd_rules.def). */
struct crd_rule {
    const struct field_table *table;
    const char *rule, *message, *field_path;
    enum rule_id says; /* the same, by the webhook */
};
const struct crd_rule *crd_rules(uint32_t *ret_count);

struct crd {
    const char *group, *version;
    const char *kind, *plural, *singular, *short_names;
    bool namespaced;
    const char *made_from; /* the tables, for the file's first line */
    const char *help;
    const struct field_table *spec;   /* NULL: it has none */
    const struct field_table *status; /* NULL: it has none */
    const struct field_table *report; /* what its controller writes where there is no spec: a member
                                         like any other, no subresource; NULL: it has none */
    const char *status_default;       /* YAML; NULL = none */
    const struct crd_column *columns; /* NULL: it has none */
    bool scale;    /* `kubectl scale` sets spec.replicas; status has replicas and selector */
    bool workload; /* one of manifests/workloads, which only those install who want its kind */
};

/* The status that runtime/kind.h writes, for kinds that are reconciled by it. */
extern const struct field_table fields_of_kind_status;

/* All of Herd's kinds, the Stack first; `kind` is NULL behind the last. */
extern const struct crd crds[];

/* manifests/crds/GROUP_PLURAL.yaml. Equal tables give equal bytes. */
void crd_write(const struct crd *crd, struct strbuf *out);
/* docs/fields.md. */
void fields_doc_write(struct strbuf *out);

#endif
