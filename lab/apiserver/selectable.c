/* SPDX-License-Identifier: Apache-2.0 */
/* selectable.c: the fields of the built-in kinds that a field selector may name. */
#include "lab/apiserver/columns.h"

static const struct selectable_row {
    const char *plural;
    const char *name;
    const char *path;
} selectable_rows[] = {
    { "events", "involvedObject.kind", ".involvedObject.kind" },
    { "events", "involvedObject.namespace", ".involvedObject.namespace" },
    { "events", "involvedObject.name", ".involvedObject.name" },
    { "events", "involvedObject.uid", ".involvedObject.uid" },
    { "events", "involvedObject.apiVersion", ".involvedObject.apiVersion" },
    { "events", "involvedObject.resourceVersion", ".involvedObject.resourceVersion" },
    { "events", "involvedObject.fieldPath", ".involvedObject.fieldPath" },
    { "events", "reason", ".reason" },
    { "events", "reportingComponent", ".reportingComponent" },
    { "events", "source", ".source.component" },
    { "events", "type", ".type" },
    { "secrets", "type", ".type" },
    { "namespaces", "status.phase", ".status.phase" },
    { "pods", "spec.nodeName", ".spec.nodeName" },
    { "pods", "spec.restartPolicy", ".spec.restartPolicy" },
    { "pods", "spec.serviceAccountName", ".spec.serviceAccountName" },
    { "pods", "status.phase", ".status.phase" },
    { "pods", "status.podIP", ".status.podIP" },
    { "nodes", "spec.unschedulable", ".spec.unschedulable" },
};

void selectables_builtin(struct arena *arena, struct kind *kind)
{
    struct error err;

    kind->selectable = selectables_new(arena, 4);
    for (size_t i = 0; i < sizeof(selectable_rows) / sizeof(selectable_rows[0]); i++) {
        const struct selectable_row *row = &selectable_rows[i];

        if (str_eq(kind->plural, str_of(row->plural)))
            selectables_push(
                &kind->selectable,
                (struct selectable){ str_of(row->name),
                                     jsonpath_compile(arena, str_of(row->path), &err) });
    }
}
