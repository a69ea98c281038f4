/* SPDX-License-Identifier: Apache-2.0 */
/* request.h: what to ask an API server, as a value: the URL's path and query,
 * the verb, the body. */
#ifndef HERD_KUBE_REQUEST_H
#define HERD_KUBE_REQUEST_H

#include "kube/resource.h"

enum kube_verb {
    KUBE_GET,
    KUBE_LIST,
    KUBE_WATCH,
    KUBE_CREATE,
    KUBE_UPDATE,
    KUBE_PATCH,
    KUBE_DELETE,
};

enum kube_patch_type {
    KUBE_PATCH_JSON,      /* application/json-patch+json */
    KUBE_PATCH_MERGE,     /* application/merge-patch+json */
    KUBE_PATCH_STRATEGIC, /* application/strategic-merge-patch+json */
    KUBE_PATCH_APPLY,     /* application/apply-patch+yaml */
};

struct kube_request {
    enum kube_verb verb;
    /* Before /api or /apis: "" for the API server itself, "/k8s/clusters/c-m-1" through Rancher. */
    struct str prefix;
    struct kube_resource resource;
    struct str namespace_; /* "" = cluster scope or all namespaces */
    struct str name;
    struct str sub_resource;
    struct str label_selector;
    struct str field_selector;
    struct str resource_version;
    struct str resource_version_match; /* "", "Exact", "NotOlderThan" */
    struct str continue_;
    uint32_t limit;
    int64_t timeout_s; /* of a watch */
    bool bookmarks;
    bool metadata_only; /* of a list or watch: PartialObjectMetadata, or an error */
    bool send_initial_events;
    enum kube_patch_type patch_type;
    struct str field_manager;
    bool force; /* of an apply patch */
    bool dry_run;
    struct str propagation_policy; /* of a delete, by query */
    struct str body;
};

/* DeleteOptions, for `body`: delete that object alone, and in the background what depends on it;
 * only as it was at `resource_version` ("" = however it is now). */
struct str kube_delete_body(struct arena *arena, struct str uid, struct str resource_version);

/* "/apis/herd.suse.com/v1/namespaces/a/stacks/b/status?fieldManager=...", percent-encoded. */
struct str kube_request_path(struct arena *arena, const struct kube_request *request);
const char *kube_request_method(const struct kube_request *request);
const char *kube_request_content_type(const struct kube_request *request);
/* The Accept header. */
struct str kube_request_accept(const struct kube_request *request);
/* Percent-encode what is not unreserved (RFC 3986 2.3). */
void kube_percent_encode(struct strbuf *out, struct str text);
/* "/" and `segment`, encoded; also where it is "." or "..", which servers would take for
 * steps in the tree. */
void kube_put_segment(struct strbuf *out, struct str segment);
/* "get", "list", ... as RBAC and metrics say. */
const char *kube_verb_name(enum kube_verb verb);
/* The verb of a request that is known by its method only, as audit has it: GET is "get". */
enum kube_verb kube_verb_of_method(const char *method);

#endif
