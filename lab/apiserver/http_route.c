/* SPDX-License-Identifier: Apache-2.0 */
/* http_route.c: from path and method to a kind, a name and a verb, and what is said where there is
 * none. Built-in groups and definitions are served by two parts of an API server, which reject in
 * ways of their own; what neither of them knows is no path at all. Source:
 * k8s.io/apiserver/pkg/server/handler.go, k8s.io/apiextensions-apiserver/pkg/apiserver/
 * customresource_handler.go. */
#include "lab/apiserver/http.h"

#define BIT(verb) (1u << VERB_##verb)
#define OF_ONE (BIT(GET) | BIT(UPDATE) | BIT(PATCH) | BIT(DELETE))
#define OF_ALL (BIT(LIST) | BIT(WATCH) | BIT(CREATE) | BIT(DELETE_COLLECTION))
#define ACROSS (BIT(LIST) | BIT(WATCH)) /* all namespaces at once */

static const struct method {
    const char *method;
    enum verb one, all;
    const char *action; /* the verb, in texts */
} methods[] = {
    { "GET", VERB_GET, VERB_LIST, "get" },
    { "HEAD", VERB_GET, VERB_LIST, "get" },
    { "POST", VERB_CREATE, VERB_CREATE, "create" },
    { "PUT", VERB_UPDATE, VERB_UPDATE, "update" },
    { "PATCH", VERB_PATCH, VERB_PATCH, "patch" },
    { "DELETE", VERB_DELETE, VERB_DELETE_COLLECTION, "delete" },
};

static const struct sub_resource {
    const char *name;
    unsigned trait;     /* kinds that have it, or */
    const char *plural; /* the only one that does */
    unsigned verbs;
} sub_resources[] = {
    { "status", KIND_STATUS, "", BIT(GET) | BIT(UPDATE) | BIT(PATCH) },
    { "scale", KIND_SCALE, "", BIT(GET) | BIT(UPDATE) | BIT(PATCH) },
    { "token", KIND_TOKEN, "", BIT(CREATE) },
    { "finalize", 0, "namespaces", BIT(UPDATE) },
};

/* Verbs of the subresource that is asked for; 0: the kind has no such thing. */
static unsigned sub_verbs(const struct request *rq)
{
    for (size_t i = 0; i < sizeof(sub_resources) / sizeof(sub_resources[0]); i++) {
        const struct sub_resource *sub = &sub_resources[i];

        if (str_eq(rq->sub_resource, str_of(sub->name)) &&
            (kind_has(rq->kind, sub->trait) || str_eq(rq->kind->plural, str_of(sub->plural))))
            return sub->verbs;
    }
    return 0;
}

static bool is_built_in(const struct request *rq, struct str group)
{
    const struct kinds *kinds = &rq->api->builtin->kinds;

    for (uint32_t i = 0; i < kinds->count; i++)
        if (str_eq(kinds->items[i]->group, group))
            return true;
    return false;
}

static int fail_no_path(struct http_request_of_api *h)
{
    const struct str_list *p = &h->parts;

    if ((p->count > 1 && str_eq(p->items[0], STR("api"))) ||
        (p->count > 2 && str_eq(p->items[0], STR("apis")) && is_built_in(h->rq, p->items[1])))
        return fail_generic(&h->rq->failure, 404);
    return fail_text(&h->rq->failure, 404, STR("404 page not found\n"));
}

/* /api/v1/... or /apis/<group>/<version>/..., from the segment behind the version on. */
static bool find_kind(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    const struct str_list *p = &h->parts;
    bool core = p->count > 2 && str_eq(p->items[0], STR("api"));
    bool grouped = p->count > 3 && str_eq(p->items[0], STR("apis"));
    uint32_t at = core ? 2 : 3;

    if (!core && !grouped)
        return false;
    /* namespaces/<ns>/<plural>...; but namespaces/<ns>, .../status and .../finalize are the
     * namespace. */
    if (str_eq(p->items[at], STR("namespaces")) && p->count > at + 2 &&
        !(core &&
          (str_eq(p->items[at + 2], STR("status")) || str_eq(p->items[at + 2], STR("finalize"))))) {
        rq->namespace_ = p->items[at + 1];
        at += 2;
    }
    rq->kind = catalog_find(rq->catalog, core ? STR("") : p->items[1], p->items[core ? 1 : 2],
                            p->items[at]);
    if (p->count > at + 1)
        rq->name = p->items[at + 1];
    if (p->count > at + 2)
        rq->sub_resource = p->items[at + 2];
    return rq->kind && p->count <= at + 3 && (rq->kind->namespaced || rq->namespace_.len == 0);
}

static const struct method *find_method(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct str name = http_view(h->exchange)->method;

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (str_eq(name, str_of(methods[i].method))) {
            rq->verb = rq->name.len ? methods[i].one : methods[i].all;
            if (rq->verb == VERB_LIST && query_true(h, "watch"))
                rq->verb = VERB_WATCH;
            return &methods[i];
        }
    return NULL;
}

static bool has_verb(const struct request *rq, unsigned verbs)
{
    return (verbs & 1u << rq->verb) != 0;
}

/* What a definition serves takes any verb, and stumbles over a name that is missing. */
static int route_custom(struct http_request_of_api *h, const struct method *method)
{
    struct request *rq = h->rq;
    struct failure_subject subject = request_subject(rq);

    if (rq->kind->namespaced && rq->namespace_.len == 0 && !(method && has_verb(rq, ACROSS)))
        return fail_no_path(h);
    if (rq->sub_resource.len && sub_verbs(rq) == 0)
        return fail_not_found(&rq->failure, &subject);
    if (!method || (rq->sub_resource.len && !has_verb(rq, sub_verbs(rq))))
        return fail_not_supported(&rq->failure, &subject, method ? method->action : "");
    if (rq->name.len == 0 && has_verb(rq, OF_ONE))
        return fail_bad_request(&rq->failure, STR("name must be provided"));
    /* A creation is named by its object, whatever the path says. */
    if (rq->verb == VERB_CREATE)
        rq->name = STR("");
    return 0;
}

/* Verbs that the path of a built-in kind has; 0: there is no such path. */
static unsigned built_in_verbs(const struct request *rq)
{
    bool question = kind_has(rq->kind, KIND_QUESTION);

    if (rq->kind->namespaced && rq->namespace_.len == 0)
        return rq->name.len || question ? 0 : ACROSS;
    if (rq->sub_resource.len)
        return sub_verbs(rq);
    if (question)
        return rq->name.len ? 0 : BIT(CREATE);
    return rq->name.len ? OF_ONE : OF_ALL;
}

int find_route(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    const struct method *method;
    unsigned verbs;

    if (!find_kind(h))
        return fail_no_path(h);
    method = find_method(h);
    if (kind_has(rq->kind, KIND_CUSTOM))
        return route_custom(h, method);
    verbs = built_in_verbs(rq);
    if (verbs == 0)
        return fail_no_path(h);
    return method && has_verb(rq, verbs) ? 0 : fail_generic(&rq->failure, 405);
}
