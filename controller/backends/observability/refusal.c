/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.c: the object, what was tried, and the cluster's words. */
#include "controller/backends/observability/refusal.h"

bool refusal_is_of_monitor(const struct kube_request *request)
{
    return str_eq(request->resource.kind, upkeep_monitors_resources[MONITOR_SERVICE].kind) ||
           str_eq(request->resource.kind, upkeep_monitors_resources[MONITOR_POD].kind);
}

bool refusal_is_of_dashboard(const struct kube_request *request)
{
    return str_eq(request->resource.kind, upkeep_dashboards_resource.kind);
}

static const char *done_by(enum kube_verb verb)
{
    return verb == KUBE_CREATE ? "created" : verb == KUBE_PATCH ? "changed" : "removed";
}

/* Of a create, 409 is about the name: what has Herd's label was in the list. */
static struct str refusal_text(struct arena *arena, struct str object, struct str about,
                               const struct kube_request *request, int status,
                               const struct error *error)
{
    if (request->verb == KUBE_CREATE && status == 409)
        return str_fmt(arena,
                       "%.*s is there already and lacks the label " MONITORING_SELECTOR
                       ", so it is not Herd's to change: rename or remove it",
                       STR_ARG(object));
    return str_fmt(arena, "%.*s: %s", STR_ARG(about), error->text);
}

struct complaint refusal_of(struct arena *arena, const struct upkeep_change *change, int status,
                            const struct error *error)
{
    const struct kube_request *request = &change->request;
    struct str object = str_fmt(arena, "%.*s %.*s/%.*s", STR_ARG(request->resource.kind),
                                STR_ARG(request->namespace_), STR_ARG(request->name));
    struct str about = str_fmt(arena, "%.*s cannot be %s", STR_ARG(object), done_by(request->verb));

    return (struct complaint){
        .about = about,
        .status = status,
        .code = error->code,
        .text = refusal_text(arena, object, about, request, status, error),
        .stack = change->stack,
        .dashboard = refusal_is_of_dashboard(request) ? request->name : STR(""),
    };
}
