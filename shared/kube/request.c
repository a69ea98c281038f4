/* SPDX-License-Identifier: Apache-2.0 */
/* request.c: URLs, verbs and content types.
 * Source: Kubernetes API conventions and "API concepts"; a core resource lives below /api/v1, all
 * others below /apis/GROUP/VERSION. */
#include "kube/request.h"

#include "text/json_write.h"

static const struct verb_row {
    const char *name;
    const char *method;
} verbs[] = {
    [KUBE_GET] = { "get", "GET" },          [KUBE_LIST] = { "list", "GET" },
    [KUBE_WATCH] = { "watch", "GET" },      [KUBE_CREATE] = { "create", "POST" },
    [KUBE_UPDATE] = { "update", "PUT" },    [KUBE_PATCH] = { "patch", "PATCH" },
    [KUBE_DELETE] = { "delete", "DELETE" },
};

static const char *const patch_types[] = {
    [KUBE_PATCH_JSON] = "application/json-patch+json",
    [KUBE_PATCH_MERGE] = "application/merge-patch+json",
    [KUBE_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
    [KUBE_PATCH_APPLY] = "application/apply-patch+yaml",
};

const char *kube_verb_name(enum kube_verb verb)
{
    return verbs[verb].name;
}

enum kube_verb kube_verb_of_method(const char *method)
{
    for (size_t verb = KUBE_CREATE; verb < sizeof(verbs) / sizeof(verbs[0]); verb++)
        if (strcmp(verbs[verb].method, method) == 0)
            return (enum kube_verb)verb;
    return KUBE_GET; /* HEAD, too */
}

const char *kube_request_method(const struct kube_request *request)
{
    return verbs[request->verb].method;
}

const char *kube_request_content_type(const struct kube_request *request)
{
    return request->verb == KUBE_PATCH ? patch_types[request->patch_type] : "application/json";
}

/* A server that has no metadata alone is not asked for whole objects instead: whoever reads only
 * metadata may not want the rest in memory. Source: API concepts, "Metadata-only fetches". */
struct str kube_request_accept(const struct kube_request *request)
{
    if (!request->metadata_only)
        return STR("application/json");
    return request->verb == KUBE_LIST
               ? STR("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
               : STR("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
}

void kube_percent_encode(struct strbuf *out, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '.' || c == '_' || c == '~') {
            strbuf_char(out, (char)c);
        } else {
            strbuf_char(out, '%');
            strbuf_char(out, hex[c >> 4]);
            strbuf_char(out, hex[c & 15]);
        }
    }
}

void kube_put_segment(struct strbuf *out, struct str segment)
{
    strbuf_char(out, '/');
    if (str_eq(segment, STR(".")))
        strbuf_lit(out, "%2E");
    else if (str_eq(segment, STR("..")))
        strbuf_lit(out, "%2E%2E");
    else
        kube_percent_encode(out, segment);
}

static void put_path(struct strbuf *out, const struct kube_request *request)
{
    const struct kube_resource *resource = &request->resource;
    /* Who creates names the object in the body; a subresource is created below an object. */
    bool collection = request->verb == KUBE_LIST || request->verb == KUBE_WATCH ||
                      (request->verb == KUBE_CREATE && request->sub_resource.len == 0);

    strbuf_put(out, request->prefix);
    if (resource->group.len) {
        strbuf_lit(out, "/apis");
        kube_put_segment(out, resource->group);
    } else {
        strbuf_lit(out, "/api");
    }
    kube_put_segment(out, resource->version);
    if (request->namespace_.len) {
        strbuf_lit(out, "/namespaces");
        kube_put_segment(out, request->namespace_);
    }
    kube_put_segment(out, resource->plural);
    if (!collection && request->name.len)
        kube_put_segment(out, request->name);
    if (!collection && request->sub_resource.len)
        kube_put_segment(out, request->sub_resource);
}

static void put_query(struct strbuf *out, char *separator, struct str key, struct str value)
{
    if (value.len == 0)
        return;
    strbuf_char(out, *separator);
    *separator = '&';
    strbuf_put(out, key);
    strbuf_char(out, '=');
    kube_percent_encode(out, value);
}

static void put_number(struct strbuf *out, char *separator, struct str key, int64_t number)
{
    if (number > 0)
        put_query(out, separator, key, str_fmt(out->arena, "%lld", (long long)number));
}

static void put_flag(struct strbuf *out, char *separator, struct str key, bool on)
{
    if (on)
        put_query(out, separator, key, STR("true"));
}

static void put_read_query(struct strbuf *out, char *separator, const struct kube_request *request)
{
    put_flag(out, separator, STR("watch"), request->verb == KUBE_WATCH);
    if (request->verb == KUBE_WATCH) {
        put_flag(out, separator, STR("allowWatchBookmarks"), request->bookmarks);
        put_flag(out, separator, STR("sendInitialEvents"), request->send_initial_events);
        put_number(out, separator, STR("timeoutSeconds"), request->timeout_s);
    }
    put_query(out, separator, STR("labelSelector"), request->label_selector);
    put_query(out, separator, STR("fieldSelector"), request->field_selector);
    put_query(out, separator, STR("resourceVersion"), request->resource_version);
    put_query(out, separator, STR("resourceVersionMatch"), request->resource_version_match);
    put_number(out, separator, STR("limit"), request->limit);
    put_query(out, separator, STR("continue"), request->continue_);
}

struct str kube_request_path(struct arena *arena, const struct kube_request *request)
{
    struct strbuf out = strbuf_new(arena, 192);
    char separator = '?';

    put_path(&out, request);
    switch (request->verb) {
    case KUBE_GET:
    case KUBE_LIST:
    case KUBE_WATCH:
        put_read_query(&out, &separator, request);
        break;
    case KUBE_DELETE:
        put_query(&out, &separator, STR("propagationPolicy"), request->propagation_policy);
        break;
    case KUBE_CREATE:
    case KUBE_UPDATE:
    case KUBE_PATCH:
        put_query(&out, &separator, STR("fieldManager"), request->field_manager);
        put_flag(&out, &separator, STR("force"),
                 request->verb == KUBE_PATCH && request->patch_type == KUBE_PATCH_APPLY &&
                     request->force);
        break;
    }
    if (request->dry_run && request->verb >= KUBE_CREATE)
        put_query(&out, &separator, STR("dryRun"), STR("All"));
    return strbuf_str(&out);
}

struct str kube_delete_body(struct arena *arena, struct str uid, struct str resource_version)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_str(&w, "kind", STR("DeleteOptions"));
    json_field_str(&w, "propagationPolicy", STR("Background"));
    json_put_key(&w, STR("preconditions"));
    json_open_object(&w);
    json_field_str(&w, "uid", uid);
    if (resource_version.len)
        json_field_str(&w, "resourceVersion", resource_version);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}
