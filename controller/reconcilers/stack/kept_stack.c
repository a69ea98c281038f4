/* SPDX-License-Identifier: Apache-2.0 */
/* kept_stack.c: four lengths of eight hex digits, then what they tell of: the targets, the tally,
 * the object without its status, packed; and the status, packed. A small one is packed whole, which
 * is shorter.
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

enum {
    LENGTH_DIGITS = 8,
    STATUS_BYTES_APART = 16384, /* the status stands apart from there on */
};

enum part { PART_TARGETS, PART_TALLY, PART_OBJECT, PART_STATUS, PARTS };

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

static struct str raw_or(struct json value, struct str other)
{
    return value.index ? json_raw(value) : other;
}

/* Also where that is no object: somebody may have written it. */
static struct str tally_of(struct arena *arena, struct json status)
{
    struct strbuf tally = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&tally);

    json_open_object(&w);
    json_field_str(&w, "phase", json_str(json_get(status, STR("phase"))));
    json_field_str(&w, "scans", json_str(json_walk(status, "security", "scanStatus", NULL)));
    json_field_raw(&w, "summary", raw_or(json_get(status, STR("summary")), STR("{}")));
    json_close_object(&w);
    return strbuf_str(&tally);
}

/* Without its end, which is another brace. */
static struct str object_of(struct arena *arena, struct json object, struct str status)
{
    struct strbuf out = strbuf_new(arena, 8192);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR(STACK_GROUP "/" STACK_VERSION));
    json_field_str(&w, "kind", STR("Stack"));
    put_metadata(&w, object);
    if (json_get(object, STR("spec")).index)
        json_field_raw(&w, "spec", json_raw(json_get(object, STR("spec"))));
    if (status.len && status.len < STATUS_BYTES_APART)
        json_field_raw(&w, "status", status);
    return strbuf_str(&out);
}

bool keep_stack(void *context, struct json object, struct strbuf *kept)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json targets = json_walk(object, "spec", "targets", NULL);
    struct json status = json_get(object, STR("status"));
    struct str status_text = raw_or(status, STR(""));
    const struct str parts[PARTS] = {
        [PART_TARGETS] = json_is(targets, JSON_OBJECT) ? json_raw(targets) : STR("{}"),
        [PART_TALLY] = tally_of(arena, status),
        [PART_OBJECT] = zip_pack(arena, object_of(arena, object, status_text), dictionary),
        [PART_STATUS] = status_text.len < STATUS_BYTES_APART
                            ? STR("")
                            : zip_pack(arena, status_text, dictionary),
    };

    (void)context;
    for (int i = 0; i < PARTS; i++)
        strbuf_fmt(kept, "%08x", (unsigned)parts[i].len);
    for (int i = 0; i < PARTS; i++)
        strbuf_put(kept, parts[i]);
    return true;
}

static size_t length_of(struct str kept, int part)
{
    struct str digits =
        str_slice(kept, (size_t)part * LENGTH_DIGITS, ((size_t)part + 1) * LENGTH_DIGITS);
    char text[LENGTH_DIGITS + 1] = "";

    if (digits.len)
        memcpy(text, digits.at, digits.len);
    return (size_t)strtoul(text, NULL, 16);
}

static struct str part_of(struct str kept, enum part part)
{
    size_t from = (size_t)PARTS * LENGTH_DIGITS;

    for (int i = 0; i < (int)part; i++)
        from += length_of(kept, i);
    return str_slice(kept, from, from + length_of(kept, part));
}

struct str kept_stack_targets(struct str kept)
{
    return part_of(kept, PART_TARGETS);
}

struct str kept_stack_tally(struct str kept)
{
    return part_of(kept, PART_TALLY);
}

static int read_object(struct arena *arena, struct str kept, struct str status,
                       struct json *ret_stack, struct error *err)
{
    struct str object;

    if (zip_unpack(arena, part_of(kept, PART_OBJECT), dictionary, LIMIT_REVIEW_BODY, &object, err) <
        0)
        return -1;
    return json_read(arena,
                     str_fmt(arena, "%.*s%s%.*s}", STR_ARG(object),
                             status.len ? ",\"status\":" : "", STR_ARG(status)),
                     &json_limits_default, ret_stack, err);
}

int kept_stack_read_spec(struct arena *arena, struct str kept, struct json *ret_stack,
                         struct error *err)
{
    return read_object(arena, kept, STR(""), ret_stack, err);
}

int kept_stack_read(struct arena *arena, struct str kept, struct json *ret_stack, struct error *err)
{
    struct str packed = part_of(kept, PART_STATUS);
    struct str status = STR("");

    if (length_of(kept, PART_STATUS) &&
        zip_unpack(arena, packed, dictionary, LIMIT_REVIEW_BODY, &status, err) < 0)
        return -1;
    return read_object(arena, kept, status, ret_stack, err);
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
