/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.c: which groups, versions and kinds there are: /version, /api, /apis and below, in both
 * forms: one document for each level, and aggregated (apidiscovery.k8s.io/v2). */
#include "lab/apiserver/http.h"

/* Groups in the order in which they were met, each with its versions. */
struct group {
    struct str name;
    struct str_list versions;
};

LIST_DEFINE(groups, struct group)

static struct groups find_groups(struct request *rq)
{
    struct groups found = groups_new(rq->arena, 16);

    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++) {
        const struct kind *kind = catalog_at(rq->catalog, i);
        struct group *group = NULL;

        for (uint32_t k = 0; k < found.count; k++)
            if (str_eq(found.items[k].name, kind->group))
                group = &found.items[k];
        if (!group)
            group = groups_push(&found, (struct group){ kind->group, str_list_new(rq->arena, 2) });
        if (!str_list_has(&group->versions, kind->version))
            str_list_push(&group->versions, kind->version);
    }
    return found;
}

static void put_strings(struct json_writer *w, struct str key, const struct str_list *list)
{
    if (list->count == 0)
        return;
    json_put_key(w, key);
    json_open_array(w);
    for (uint32_t i = 0; i < list->count; i++)
        json_put_str(w, list->items[i]);
    json_close_array(w);
}

static void put_verbs(struct json_writer *w, const struct kind *kind, bool is_status)
{
    json_field_raw(w, "verbs",
                   kind_has(kind, KIND_QUESTION) ? STR("[\"create\"]")
                   : is_status                   ? STR("[\"get\",\"patch\",\"update\"]")
                               : STR("[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\","
                                     "\"patch\",\"update\",\"watch\"]"));
}

static void put_resource(struct request *rq, struct json_writer *w, const struct kind *kind,
                         bool is_status)
{
    json_open_object(w);
    json_field_str(w, "name",
                   is_status ? str_fmt(rq->arena, "%.*s/status", STR_ARG(kind->plural))
                             : kind->plural);
    json_field_str(w, "singularName", is_status ? STR("") : kind->singular);
    json_field_bool(w, "namespaced", kind->namespaced);
    json_field_str(w, "kind", kind->kind);
    put_verbs(w, kind, is_status);
    if (!is_status) {
        put_strings(w, STR("shortNames"), &kind->short_names);
        put_strings(w, STR("categories"), &kind->categories);
    }
    json_close_object(w);
}

/* Subresources that are objects of another kind. */
static const struct subresource {
    unsigned trait;
    const char *name, *group, *kind, *verbs;
} subresources[] = {
    { KIND_SCALE, "scale", "autoscaling", "Scale", "[\"get\",\"patch\",\"update\"]" },
    { KIND_TOKEN, "token", "authentication.k8s.io", "TokenRequest", "[\"create\"]" },
};

static void put_subresources(struct request *rq, struct json_writer *w, const struct kind *kind)
{
    for (size_t i = 0; i < sizeof(subresources) / sizeof(subresources[0]); i++) {
        const struct subresource *sub = &subresources[i];

        if (!kind_has(kind, sub->trait))
            continue;
        json_open_object(w);
        json_field_str(w, "name", str_fmt(rq->arena, "%.*s/%s", STR_ARG(kind->plural), sub->name));
        json_field_str(w, "singularName", STR(""));
        json_field_bool(w, "namespaced", kind->namespaced);
        json_field_str(w, "group", str_of(sub->group));
        json_field_str(w, "version", STR("v1"));
        json_field_str(w, "kind", str_of(sub->kind));
        json_field_raw(w, "verbs", str_of(sub->verbs));
        json_close_object(w);
    }
}

static void put_resource_list(struct request *rq, struct json_writer *w, struct str group,
                              struct str version)
{
    json_open_object(w);
    json_field_str(w, "kind", STR("APIResourceList"));
    json_field_str(w, "apiVersion", STR("v1"));
    json_field_str(w, "groupVersion",
                   group.len ? str_fmt(rq->arena, "%.*s/%.*s", STR_ARG(group), STR_ARG(version))
                             : version);
    json_put_key(w, STR("resources"));
    json_open_array(w);
    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++) {
        const struct kind *kind = catalog_at(rq->catalog, i);

        if (!str_eq(kind->group, group) || !str_eq(kind->version, version))
            continue;
        put_resource(rq, w, kind, false);
        if (kind_has(kind, KIND_STATUS))
            put_resource(rq, w, kind, true);
        put_subresources(rq, w, kind);
    }
    json_close_array(w);
    json_close_object(w);
}

static void put_group_version(struct request *rq, struct json_writer *w, struct str group,
                              struct str version)
{
    json_open_object(w);
    json_field_str(w, "groupVersion",
                   str_fmt(rq->arena, "%.*s/%.*s", STR_ARG(group), STR_ARG(version)));
    json_field_str(w, "version", version);
    json_close_object(w);
}

static void put_group(struct request *rq, struct json_writer *w, const struct group *group,
                      bool alone)
{
    json_open_object(w);
    if (alone) {
        json_field_str(w, "kind", STR("APIGroup"));
        json_field_str(w, "apiVersion", STR("v1"));
    }
    json_field_str(w, "name", group->name);
    json_put_key(w, STR("versions"));
    json_open_array(w);
    for (uint32_t i = 0; i < group->versions.count; i++)
        put_group_version(rq, w, group->name, group->versions.items[i]);
    json_close_array(w);
    json_put_key(w, STR("preferredVersion"));
    put_group_version(rq, w, group->name, group->versions.items[0]);
    json_close_object(w);
}

static void put_aggregated_subresource(struct json_writer *w, struct str name, struct str group,
                                       struct str version, struct str kind, struct str verbs)
{
    json_open_object(w);
    json_field_str(w, "subresource", name);
    json_put_key(w, STR("responseKind"));
    json_open_object(w);
    json_field_str(w, "group", group);
    json_field_str(w, "version", version);
    json_field_str(w, "kind", kind);
    json_close_object(w);
    json_field_raw(w, "verbs", verbs);
    json_close_object(w);
}

static void put_aggregated_subresources(struct json_writer *w, const struct kind *kind)
{
    json_put_key(w, STR("subresources"));
    json_open_array(w);
    if (kind_has(kind, KIND_STATUS))
        put_aggregated_subresource(w, STR("status"), kind->group, kind->version, kind->kind,
                                   STR("[\"get\",\"patch\",\"update\"]"));
    for (size_t i = 0; i < sizeof(subresources) / sizeof(subresources[0]); i++)
        if (kind_has(kind, subresources[i].trait))
            put_aggregated_subresource(w, str_of(subresources[i].name),
                                       str_of(subresources[i].group), STR("v1"),
                                       str_of(subresources[i].kind), str_of(subresources[i].verbs));
    json_close_array(w);
}

/* apidiscovery.k8s.io/v2 APIResourceDiscovery */
static void put_aggregated(struct json_writer *w, const struct kind *kind)
{
    json_open_object(w);
    json_field_str(w, "resource", kind->plural);
    json_put_key(w, STR("responseKind"));
    json_open_object(w);
    json_field_str(w, "group", kind->group);
    json_field_str(w, "version", kind->version);
    json_field_str(w, "kind", kind->kind);
    json_close_object(w);
    json_field_str(w, "scope", kind->namespaced ? STR("Namespaced") : STR("Cluster"));
    json_field_str(w, "singularResource", kind->singular);
    put_verbs(w, kind, false);
    put_strings(w, STR("shortNames"), &kind->short_names);
    put_strings(w, STR("categories"), &kind->categories);
    if (kind_has(kind, KIND_STATUS | KIND_SCALE | KIND_TOKEN))
        put_aggregated_subresources(w, kind);
    json_close_object(w);
}

static void put_aggregated_group(struct request *rq, struct json_writer *w,
                                 const struct group *group)
{
    json_open_object(w);
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    if (group->name.len)
        json_field_str(w, "name", group->name);
    json_field_raw(w, "creationTimestamp", STR("null"));
    json_close_object(w);
    json_put_key(w, STR("versions"));
    json_open_array(w);
    for (uint32_t v = 0; v < group->versions.count; v++) {
        json_open_object(w);
        json_field_str(w, "version", group->versions.items[v]);
        json_put_key(w, STR("resources"));
        json_open_array(w);
        for (uint32_t i = 0; i < catalog_count(rq->catalog); i++) {
            const struct kind *kind = catalog_at(rq->catalog, i);

            if (str_eq(kind->group, group->name) && str_eq(kind->version, group->versions.items[v]))
                put_aggregated(w, kind);
        }
        json_close_array(w);
        json_field_str(w, "freshness", STR("Current"));
        json_close_object(w);
    }
    json_close_array(w);
    json_close_object(w);
}

/* "v2" or "v2beta1" if the client takes the aggregated form, else "". */
static struct str aggregated_version(struct http_request_of_api *h)
{
    if (str_find(h->accept, STR("as=APIGroupDiscoveryList"), 0) < 0)
        return STR("");
    if (str_find(h->accept, STR("v=v2;"), 0) >= 0 || str_find(h->accept, STR("v=v2,"), 0) >= 0 ||
        str_ends(h->accept, STR("v=v2")))
        return STR("v2");
    return str_find(h->accept, STR("v=v2beta1"), 0) >= 0 ? STR("v2beta1") : STR("");
}

static void answer_aggregated(struct http_request_of_api *h, bool core, struct str version)
{
    struct request *rq = h->rq;
    struct strbuf out = strbuf_new(rq->arena, 16384);
    struct json_writer w = json_writer(&out);
    struct groups groups = find_groups(rq);

    json_open_object(&w);
    json_field_str(&w, "kind", STR("APIGroupDiscoveryList"));
    json_field_str(&w, "apiVersion",
                   str_fmt(rq->arena, "apidiscovery.k8s.io/%.*s", STR_ARG(version)));
    json_field_raw(&w, "metadata", STR("{}"));
    json_put_key(&w, STR("items"));
    json_open_array(&w);
    for (uint32_t i = 0; i < groups.count; i++)
        if ((groups.items[i].name.len == 0) == core)
            put_aggregated_group(rq, &w, &groups.items[i]);
    json_close_array(&w);
    json_close_object(&w);
    http_answer_header(h->exchange, "Vary", STR("Accept"));
    http_answer(h->exchange, 200,
                str_z(rq->arena, str_fmt(rq->arena,
                                         "application/json;g=apidiscovery.k8s.io;v=%.*s;"
                                         "as=APIGroupDiscoveryList",
                                         STR_ARG(version))),
                strbuf_str(&out));
}

static void answer_groups(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct strbuf out = strbuf_new(rq->arena, 4096);
    struct json_writer w = json_writer(&out);
    struct groups groups = find_groups(rq);

    json_open_object(&w);
    json_field_str(&w, "kind", STR("APIGroupList"));
    json_field_str(&w, "apiVersion", STR("v1"));
    json_put_key(&w, STR("groups"));
    json_open_array(&w);
    for (uint32_t i = 0; i < groups.count; i++)
        if (groups.items[i].name.len)
            put_group(rq, &w, &groups.items[i], false);
    json_close_array(&w);
    json_close_object(&w);
    answer_json(h, 200, strbuf_str(&out));
}

static bool answer_group(struct http_request_of_api *h, struct str name, struct str version)
{
    struct request *rq = h->rq;
    struct strbuf out = strbuf_new(rq->arena, 4096);
    struct json_writer w = json_writer(&out);
    struct groups groups = find_groups(rq);

    for (uint32_t i = 0; i < groups.count; i++) {
        if (!str_eq(groups.items[i].name, name))
            continue;
        if (version.len == 0)
            put_group(rq, &w, &groups.items[i], true);
        else if (str_list_has(&groups.items[i].versions, version))
            put_resource_list(rq, &w, name, version);
        else
            return false;
        answer_json(h, 200, strbuf_str(&out));
        return true;
    }
    return false;
}

#define VERSION                                                                                    \
    "{\"major\":\"1\",\"minor\":\"32\",\"gitVersion\":\"v1.32.4+herd-lab\",\"gitCommit\":\"\","    \
    "\"gitTreeState\":\"clean\",\"buildDate\":\"2025-04-22T16:00:00Z\",\"goVersion\":\"none\","    \
    "\"compiler\":\"gcc\",\"platform\":\"linux/amd64\"}"

bool handle_discovery(struct http_request_of_api *h)
{
    const struct str_list *p = &h->parts;
    struct str method = http_view(h->exchange)->method;
    struct str first = p->count ? p->items[0] : STR("");
    struct str aggregated = aggregated_version(h);

    if (!str_eq(method, STR("GET")) && !str_eq(method, STR("HEAD")))
        return false;
    if (p->count == 0) {
        answer_json(h, 200,
                    STR("{\"paths\":[\"/api\",\"/api/v1\",\"/apis\",\"/healthz\","
                        "\"/livez\",\"/metrics\",\"/openapi/v2\",\"/openapi/v3\","
                        "\"/readyz\",\"/version\"]}"));
        return true;
    }
    if (p->count == 1 && str_eq(first, STR("version"))) {
        answer_json(h, 200, STR(VERSION));
        return true;
    }
    if (p->count == 1 && (str_eq(first, STR("api")) || str_eq(first, STR("apis"))) &&
        aggregated.len) {
        answer_aggregated(h, str_eq(first, STR("api")), aggregated);
        return true;
    }
    if (p->count == 1 && str_eq(first, STR("api"))) {
        answer_json(h, 200,
                    STR("{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                        "\"serverAddressByClientCIDRs\":[]}"));
        return true;
    }
    if (p->count == 1 && str_eq(first, STR("apis"))) {
        answer_groups(h);
        return true;
    }
    if (p->count == 2 && str_eq(first, STR("api")))
        return answer_group(h, STR(""), p->items[1]);
    if (str_eq(first, STR("apis")) && (p->count == 2 || p->count == 3))
        return answer_group(h, p->items[1], p->count == 3 ? p->items[2] : STR(""));
    return false;
}
