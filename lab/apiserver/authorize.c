/* SPDX-License-Identifier: Apache-2.0 */
/* authorize.c: what a request is about, by its method and path alone, and whether its caller may.
 * Whether there is such a resource does not matter yet: who may not ask is not told. Source:
 * k8s.io/apiserver/pkg/endpoints/request/requestinfo.go, handlers/responsewriters/errors.go. */
#include "lab/apiserver/http.h"

static const struct method {
    const char *method, *verb;
} methods[] = {
    { "GET", "get" },    { "HEAD", "get" },    { "POST", "create" },
    { "PUT", "update" }, { "PATCH", "patch" }, { "DELETE", "delete" },
};

static struct str lower(struct arena *arena, struct str text)
{
    struct strbuf out = strbuf_new(arena, text.len);

    for (size_t i = 0; i < text.len; i++)
        strbuf_char(&out,
                    text.at[i] >= 'A' && text.at[i] <= 'Z' ? (char)(text.at[i] + 32) : text.at[i]);
    return strbuf_str(&out);
}

static struct str verb_of(struct str method)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (str_eq(method, str_of(methods[i].method)))
            return str_of(methods[i].verb);
    return STR("");
}

/* A list of one object by its name is about that object. */
static struct str selected_name(struct http_request_of_api *h)
{
    struct str rest = query_of(h, "fieldSelector");
    struct str prefix = STR("metadata.name=");
    struct str term, name = STR("");

    while (rest.len && str_split(&rest, ',', &term))
        if (str_starts(term, prefix))
            name = str_slice(term, prefix.len, term.len);
    return str_starts(name, STR("=")) ? str_slice(name, 1, name.len) : name;
}

static void of_collection(struct http_request_of_api *h, struct access *access)
{
    if (str_eq(access->verb, STR("get"))) {
        access->verb = query_true(h, "watch") ? STR("watch") : STR("list");
        access->name = selected_name(h);
    } else if (str_eq(access->verb, STR("delete"))) {
        access->verb = STR("deletecollection");
    }
}

/* namespaces/<namespace>/<resource>...; but status and finalize are of the namespace itself. */
static uint32_t skip_namespace(const struct str_list *p, uint32_t at, struct access *access)
{
    if (!str_eq(p->items[at], STR("namespaces")) || p->count <= at + 1)
        return at;
    access->namespace_ = p->items[at + 1];
    if (p->count <= at + 2 || str_eq(p->items[at + 2], STR("status")) ||
        str_eq(p->items[at + 2], STR("finalize")))
        return at;
    return at + 2;
}

static struct access of_path(struct http_request_of_api *h)
{
    const struct str_list *p = &h->parts;
    struct str method = http_view(h->exchange)->method;
    bool core = p->count > 2 && str_eq(p->items[0], STR("api"));
    bool grouped = p->count > 3 && str_eq(p->items[0], STR("apis"));
    struct access access = { .path = h->path, .verb = lower(h->rq->arena, method) };
    uint32_t at = core ? 2 : 3;

    if (!core && !grouped)
        return access;
    access = (struct access){
        .verb = verb_of(method),
        .group = core ? STR("") : p->items[1],
        .version = p->items[at - 1],
    };
    at = skip_namespace(p, at, &access);
    access.resource = p->items[at];
    if (p->count > at + 1)
        access.name = p->items[at + 1];
    if (p->count > at + 2)
        access.sub_resource = p->items[at + 2];
    if (access.name.len == 0)
        of_collection(h, &access);
    return access;
}

static struct str sentence(struct request *rq, const struct access *access, struct str why)
{
    struct strbuf text = strbuf_new(rq->arena, 256);

    strbuf_lit(&text, "User ");
    finding_quote(&text, rq->caller->user);
    strbuf_fmt(&text, " cannot %.*s ", STR_ARG(access->verb));
    if (access->path.len) {
        strbuf_lit(&text, "path ");
        finding_quote(&text, access->path);
    } else {
        strbuf_lit(&text, "resource ");
        finding_quote(&text, access->sub_resource.len
                                 ? str_fmt(rq->arena, "%.*s/%.*s", STR_ARG(access->resource),
                                           STR_ARG(access->sub_resource))
                                 : access->resource);
        strbuf_lit(&text, " in API group ");
        finding_quote(&text, access->group);
        if (access->namespace_.len) {
            strbuf_lit(&text, " in the namespace ");
            finding_quote(&text, access->namespace_);
        } else {
            strbuf_lit(&text, " at the cluster scope");
        }
    }
    if (why.len)
        strbuf_fmt(&text, ": %.*s", STR_ARG(why));
    return strbuf_str(&text);
}

int fail_access(struct request *rq, const struct access *access, struct str why)
{
    struct failure_subject subject = { access->group, access->resource, access->resource,
                                       access->name };

    /* The store's own failure was said already. */
    if (rq->failure.code)
        return -1;
    return fail_forbidden(&rq->failure, &subject, sentence(rq, access, why));
}

int authorize(struct http_request_of_api *h)
{
    struct access access = of_path(h);
    struct str why;

    return roles_allow(h->rq, h->rq->caller, &access, &why) ? 0 : fail_access(h->rq, &access, why);
}
