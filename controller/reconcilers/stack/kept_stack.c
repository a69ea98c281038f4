/* SPDX-License-Identifier: Apache-2.0 */
/* kept_stack.c: eight hex digits (the length of the targets), the targets, the object, packed.
 *
 * A Stack of three charts on two clusters, with its status, is 5 KiB of JSON whose every member
 * name is known in advance: packed with a dictionary of them it takes a fifth of that. */
#include "controller/reconcilers/stack/kept_stack.h"

#include "kube/meta.h"
#include "kube/selector.h"
#include "stack/model/stack.h"
#include "text/json_write.h"
#include "text/limits.h"
#include "text/zip.h"

#include <stdio.h>
#include <stdlib.h>

enum { LENGTH_DIGITS = 8 };

/* Text as Stacks have it; deflate finds its pieces again. Changing it needs nothing else: what is
 * packed lives no longer than the process. */
static const struct str dictionary = STR_INIT(
    "\"securityProfile\":{\"compliance\":\"enabled\",\"policyMode\":\""
    "Discover\",\"thresholds\":{\"critical\":0,\"high\":-1}},\"observabilityProfile\":{\"alerts\":"
    "\"enabled\",\"dashboards\":[\""
    "ai-workloads\"],\"scrapeInterval\":\"30s\",\"tracing\":{\"enabled\":true,\"samplingRatio\":0.1"
    "}},\"deletionPolicy\":\"Delete\",\"drift\":\"Detect\",\"onFailure\":\"Retry\",\"paused\":false"
    ",\"targets\":{\"selector\":{\"matchLabels\":{\"env\":\"prod\",\"gpu\":\"true\"}},\"clusterIds"
    "\":[\"c-m-\"security\":\"enabled\",\"observability\":\"enabled\",\"values\":{\"configMapRefs\""
    ":[{\"name\":\"\"inline\":{\"replicaCount\":1,\"persistence\":{\"enabled\":true,\"size\":\"100G"
    "i\"},\"resources\":{\"requests\":{\"nvidia.com/gpu\":1,\"memory\":\"16Gi\",\"cpu\":\"2\"},\"li"
    "mits\":{\"memory\":\"\"charts\":[{\"name\":\"gpu-operator\",\"repo\":\"https://\",\"version\":"
    "\"\",\"dependsOn\":[\"\"timeout\":\"10m\",\"wait\":true},{\"finalizers\":[\"herd.suse.com/tear"
    "down\"],\"labels\":{\"herd.suse.com/env\":\"prod\"},\"annotations\":{}},\"spec\":{\"env\":\"pr"
    "od\",\"namespace\":\"default\",\"status\":{\"phase\":\"Deployed\",\"message\":\"all releases a"
    "re deployed on clusters\",\"observedGeneration\":1,\"clusters\":2,\"charts\":3,\"ready\":\"6/6"
    "\",\"summary\":{\"Deployed\":6},\"conditions\":[{\"type\":\"Accepted\",\"status\":\"True\",\"r"
    "eason\":\"Valid\",\"message\":\"\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-01-0"
    "1T00:00:00Z\"},{\"type\":\"Ready\",\"reason\":\"DeploymentSucceeded\",\"type\":\"Reconciling\""
    ",\"status\":\"False\",\"type\":\"Stalled\",\"type\":\"SecurityScanned\",\"status\":\"Unknown\""
    ",\"reason\":\"NotObserved\",\"type\":\"ObservabilityConfigured\",\"targetClusters\":[\"c-m-\"]"
    ",\"deployments\":[{\"chartName\":\"\",\"clusterId\":\"c-m-\",\"namespace\":\"\",\"releaseName"
    "\":\"\",\"status\":\"Deployed\",\"reason\":\"Deployed\",\"version\":\"1.0.0\",\"digest\":\"sha"
    "256:\",\"revision\":1,\"lastUpdated\":\"2026-01-01T00:00:00Z\",\"operation\":\"helm-operation-"
    "\",\"attempts\":0}]}");

/* kubectl's copy of the whole object, which nobody reads here. */
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* Labels and annotations: policies may ask for any. */
static void put_map(struct json_writer *w, struct str name, struct json map)
{
    struct json_iter it = json_iter(map);

    json_put_key(w, name);
    json_open_object(w);
    while (json_next(&it)) {
        if (str_eq(it.key, STR(LAST_APPLIED)))
            continue;
        json_put_key(w, it.key);
        json_put_raw(w, json_raw(it.value));
    }
    json_close_object(w);
}

static void put_text(struct json_writer *w, struct str name, struct str text)
{
    if (text.len == 0)
        return;
    json_put_key(w, name);
    json_put_str(w, text);
}

static void put_metadata(struct json_writer *w, struct json object)
{
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    put_text(w, STR("name"), meta.name);
    put_text(w, STR("generateName"), meta.generate_name);
    put_text(w, STR("namespace"), meta.namespace_);
    put_text(w, STR("uid"), meta.uid);
    put_text(w, STR("deletionTimestamp"), meta.deletion_timestamp);
    json_field_int(w, "generation", meta.generation);
    if (json_is(meta.finalizers, JSON_ARRAY))
        json_field_raw(w, "finalizers", json_raw(meta.finalizers));
    put_map(w, STR("labels"), meta.labels);
    put_map(w, STR("annotations"), meta.annotations);
    json_close_object(w);
}

bool keep_stack(void *context, struct json object, struct strbuf *kept)
{
    struct json targets = json_walk(object, "spec", "targets", NULL);
    struct str targets_text = json_is(targets, JSON_OBJECT) ? json_raw(targets) : STR("{}");
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf whole = strbuf_new(arena, 8192);
    struct json_writer w = json_writer(&whole);

    (void)context;
    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR(STACK_GROUP "/" STACK_VERSION));
    json_field_str(&w, "kind", STR("Stack"));
    put_metadata(&w, object);
    if (json_get(object, STR("spec")).index)
        json_field_raw(&w, "spec", json_raw(json_get(object, STR("spec"))));
    if (json_get(object, STR("status")).index)
        json_field_raw(&w, "status", json_raw(json_get(object, STR("status"))));
    json_close_object(&w);
    strbuf_fmt(kept, "%08x", (unsigned)targets_text.len);
    strbuf_put(kept, targets_text);
    strbuf_put(kept, zip_pack(arena, strbuf_str(&whole), dictionary));
    return true;
}

static size_t targets_length(struct str kept)
{
    char digits[LENGTH_DIGITS + 1] = "";

    if (kept.len < LENGTH_DIGITS)
        return 0;
    memcpy(digits, kept.at, LENGTH_DIGITS);
    return (size_t)strtoul(digits, NULL, 16);
}

struct str kept_stack_targets(struct str kept)
{
    return str_slice(kept, LENGTH_DIGITS, LENGTH_DIGITS + targets_length(kept));
}

int kept_stack_read(struct arena *arena, struct str kept, struct json *ret_stack, struct error *err)
{
    struct str packed = str_slice(kept, LENGTH_DIGITS + targets_length(kept), kept.len);
    struct str whole;

    if (zip_unpack(arena, packed, dictionary, LIMIT_REVIEW_BODY, &whole, err) < 0)
        return -1;
    return json_read(arena, whole, &json_limits_default, ret_stack, err);
}

bool kept_targets_pick(struct arena *arena, struct str targets, struct str cluster_id,
                       bool internal, const struct label *labels, uint32_t label_count)
{
    struct error ignored = { .code = ERROR_NONE };
    struct selector selector;
    struct json root;

    if (json_read(arena, targets, &json_limits_default, &root, &ignored) < 0)
        return false;

    struct json ids = json_get(root, STR("clusterIds"));
    struct json_iter it = json_iter(ids);

    while (json_next(&it))
        if (str_eq(json_str(it.value), cluster_id))
            return true;
    if (internal || selector_read(arena, json_get(root, STR("selector")), &selector, &ignored) < 0)
        return false;
    return selector.all.count && selector_matches_labels(&selector, labels, label_count);
}
