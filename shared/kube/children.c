/* SPDX-License-Identifier: Apache-2.0 */
/* children.c: bodies for server-side apply (Kubernetes docs, "Server-Side Apply"), and their sum.
 */
#include "kube/children.h"

#include "kube/meta.h"
#include "kube/pod.h"
#include "kube/pod_shortage.h"
#include "text/digest.h"
#include "text/json_write.h"
#include "text/value.h"

enum { LABEL_VALUE_MAX = 63, DIGEST_SHOWN = 10, MESSAGE_ERROR_MAX = 1024 };

struct str kube_child_reason_name(enum child_reason reason)
{
    static const struct str names[] = {
#define CHILD_REASON(id, name, condition, warning, sentence, remedy) STR_INIT(name),
#include "kube/child_reasons.def"
#undef CHILD_REASON
    };

    return names[reason];
}

struct str kube_owner_label(struct arena *arena, struct str owner_name)
{
    struct str digest;

    if (owner_name.len <= LABEL_VALUE_MAX)
        return owner_name;
    digest = str_slice(digest_sha256_hex(arena, owner_name), 0, DIGEST_SHOWN);
    return str_fmt(arena, "%.*s-%.*s",
                   STR_ARG(str_slice(owner_name, 0, LABEL_VALUE_MAX - DIGEST_SHOWN - 1)),
                   STR_ARG(digest));
}

static struct value *owner_reference(struct arena *arena, const struct kube_owner *owner)
{
    struct value *reference = value_object(arena);

    value_set(arena, reference, STR("apiVersion"),
              value_str(arena, kube_api_version(arena, &owner->resource)));
    value_set(arena, reference, STR("kind"), value_str(arena, owner->resource.kind));
    value_set(arena, reference, STR("name"), value_str(arena, owner->name));
    value_set(arena, reference, STR("uid"), value_str(arena, owner->uid));
    value_set(arena, reference, STR("controller"), value_bool(arena, true));
    value_set(arena, reference, STR("blockOwnerDeletion"), value_bool(arena, true));
    return reference;
}

int kube_child_body(struct arena *arena, const struct kube_owner *owner, struct str label,
                    const struct kube_child *child, struct str *ret_body, struct error *err)
{
    struct value *references = value_array(arena);
    struct value *object, *meta, *labels;

    if (value_read(arena, child->object, &json_limits_default, &object, err) < 0)
        return -1;
    meta =
        value_kind(object) == JSON_OBJECT ? value_object_at(arena, object, STR("metadata")) : NULL;
    labels = meta ? value_object_at(arena, meta, STR("labels")) : NULL;
    if (!labels)
        return error_set(err, ERROR_INTERNAL, "%.*s %.*s was not rendered as an object",
                         STR_ARG(child->resource->kind), STR_ARG(child->name));
    value_set(arena, object, STR("apiVersion"),
              value_str(arena, kube_api_version(arena, child->resource)));
    value_set(arena, object, STR("kind"), value_str(arena, child->resource->kind));
    value_set(arena, meta, STR("name"), value_str(arena, child->name));
    if (child->resource->namespaced)
        value_set(arena, meta, STR("namespace"),
                  value_str(arena, child->namespace_.len ? child->namespace_ : owner->namespace_));
    if (child->partial) {
        value_remove(meta, STR("labels"));
        *ret_body = value_json(arena, object);
        return 0;
    }
    value_set(arena, labels, label, value_str(arena, kube_owner_label(arena, owner->name)));
    value_append(references, owner_reference(arena, owner));
    value_set(arena, meta, STR("ownerReferences"), references);
    *ret_body = value_json(arena, object);
    return 0;
}

/* --- what is kept --- */

static void forget(struct value *object, const struct str *members, size_t count)
{
    for (size_t i = 0; object && i < count; i++)
        value_remove(object, members[i]);
}

/* What the API server writes by itself, or others by rights; and what items of a list lack. */
static void forget_volatile(struct value *object)
{
    static const struct str top[] = { STR_INIT("apiVersion"), STR_INIT("kind"),
                                      STR_INIT("status") };
    static const struct str meta[] = { STR_INIT("resourceVersion"), STR_INIT("generation"),
                                       STR_INIT("managedFields"), STR_INIT("creationTimestamp") };

    forget(object, top, sizeof(top) / sizeof(top[0]));
    forget(value_get(object, STR("metadata")), meta, sizeof(meta) / sizeof(meta[0]));
}

/* The reference of who controls it. */
static struct json controller_of(struct json object)
{
    struct json_iter it = json_iter(json_walk(object, "metadata", "ownerReferences", NULL));

    while (json_next(&it))
        if (json_bool(json_get(it.value, STR("controller"))))
            return it.value;
    return (struct json){ 0 };
}

static struct str owner_name_of(struct json object, struct json controller,
                                const struct kube_resource *owner, struct str label)
{
    if (str_eq(json_str(json_get(controller, STR("kind"))), owner->kind))
        return json_str(json_get(controller, STR("name")));
    return json_str(json_get(json_walk(object, "metadata", "labels", NULL), label));
}

/* Numbers, words and truths; lists and objects are for those who know the kind. */
static void write_scalars(struct json_writer *w, struct json object)
{
    struct json_iter it = json_iter(object);

    json_open_object(w);
    while (json_is(object, JSON_OBJECT) && json_next(&it)) {
        if (json_is(it.value, JSON_OBJECT) || json_is(it.value, JSON_ARRAY))
            continue;
        json_put_key(w, it.key);
        json_put_raw(w, json_raw(it.value));
    }
    json_close_object(w);
}

/* A pod's own; or that a Deployment, a ReplicaSet or such cannot make its pods (apps/v1). */
static struct str cause_of(struct arena *arena, struct json object)
{
    struct kube_conditions conditions =
        kube_conditions_read(arena, json_walk(object, "status", "conditions", NULL));
    const struct kube_condition *failure = kube_condition_find(&conditions, STR("ReplicaFailure"));

    if (failure && failure->status == CONDITION_TRUE)
        return failure->message;
    return pod_cause(arena, object);
}

static void write_limits(struct json_writer *w, struct json object)
{
    struct json template = json_walk(object, "spec", "template", NULL);
    struct json_iter it = json_iter(
        json_walk(json_is(template, JSON_OBJECT) ? template : object, "spec", "containers", NULL));

    json_put_key(w, STR("limits"));
    json_open_array(w);
    while (json_next(&it))
        write_scalars(w, json_walk(it.value, "resources", "limits", NULL));
    json_close_array(w);
}

/* A claim, or the first template of claims. */
static struct json claim_of(struct json object)
{
    struct json_iter it = json_iter(json_walk(object, "spec", "volumeClaimTemplates", NULL));

    return json_next(&it) ? it.value : object;
}

static void write_storage(struct json_writer *w, struct json object)
{
    struct json spec = json_get(claim_of(object), STR("spec"));
    struct str class = json_str(json_get(spec, STR("storageClassName")));

    json_field_str(w, "storage",
                   json_str(json_walk(spec, "resources", "requests", "storage", NULL)));
    if (class.len)
        json_field_str(w, "storageClass", class);
}

/* Beside `field_manager`: metadata.managedFields (Kubernetes docs, "Server-Side Apply"). */
static struct str replicas_manager(struct json object, struct str field_manager)
{
    struct json_iter it = json_iter(json_walk(object, "metadata", "managedFields", NULL));

    while (json_next(&it)) {
        struct str manager = json_str(json_get(it.value, STR("manager")));

        if (!str_eq(manager, field_manager) &&
            json_is(json_walk(it.value, "fieldsV1", "f:spec", "f:replicas", NULL), JSON_OBJECT))
            return manager;
    }
    return STR("");
}

static void write_health(struct arena *arena, struct json object, struct str field_manager,
                         struct strbuf *out)
{
    struct object_status status = object_status_of(arena, object);
    struct json_writer w = json_writer(out);
    int64_t replicas = -1;

    if (!json_int64(json_walk(object, "spec", "replicas", NULL), &replicas))
        json_int64(json_walk(object, "spec", "maxReplicas", NULL), &replicas);
    json_open_object(&w);
    json_field_int(&w, "state", status.state);
    json_field_str(&w, "message", status.message);
    json_field_str(&w, "cause", cause_of(arena, object));
    json_field_int(&w, "replicas", replicas);
    json_field_str(&w, "replicasManager", replicas_manager(object, field_manager));
    if (status.state != OBJECT_FAILED && status.state != OBJECT_TERMINATING &&
        kube_lacks_pods(object))
        json_field_bool(&w, "lacksPods", true);
    write_storage(&w, object);
    write_limits(&w, object);
    json_put_key(&w, STR("status"));
    write_scalars(&w, json_get(object, STR("status")));
    json_close_object(&w);
}

void kube_child_keep(struct json object, const struct kube_resource *owner, struct str label,
                     struct str field_manager, struct strbuf *kept)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct value *seen = value_of(arena, object);
    struct strbuf text = strbuf_new(arena, 1024);
    struct json controller = controller_of(object);

    forget_volatile(seen);
    value_write(seen, true, &text);
    strbuf_fmt(kept, "%.*s\n%.*s\n%.*s\n", STR_ARG(json_str(json_get(controller, STR("uid")))),
               STR_ARG(owner_name_of(object, controller, owner, label)),
               STR_ARG(digest_sha256_hex(arena, strbuf_str(&text))));
    write_health(arena, object, field_manager, kept);
}

struct kept_child kube_child_kept(struct str kept)
{
    struct kept_child child = { .health = kept };

    str_split(&child.health, '\n', &child.owner_uid);
    str_split(&child.health, '\n', &child.owner_name);
    str_split(&child.health, '\n', &child.digest);
    return child;
}

struct child_health kube_child_health(struct arena *arena, const struct kept_child *kept)
{
    struct child_health health = { .state = OBJECT_IN_PROGRESS, .replicas = -1 };
    struct error ignored;
    struct json json;
    int64_t state = 0;

    /* Our own bytes: they read back. */
    if (json_read(arena, str_dup(arena, kept->health), &json_limits_default, &json, &ignored) < 0)
        return health;
    json_int64(json_get(json, STR("state")), &state);
    health.state = (enum object_state)state;
    health.message = json_str(json_get(json, STR("message")));
    health.cause = json_str(json_get(json, STR("cause")));
    json_int64(json_get(json, STR("replicas")), &health.replicas);
    health.replicas_manager = json_str(json_get(json, STR("replicasManager")));
    health.storage = json_str(json_get(json, STR("storage")));
    health.storage_class = json_str(json_get(json, STR("storageClass")));
    health.limits = json_get(json, STR("limits"));
    health.status = json_get(json, STR("status"));
    health.lacks_pods = json_bool(json_get(json, STR("lacksPods")));
    return health;
}

/* --- the sum --- */

struct children_count kube_children_count(const struct child_results *results)
{
    struct children_count count = { 0 };

    for (uint32_t i = 0; i < results->count; i++) {
        enum child_outcome outcome = results->items[i].outcome;

        count.desired += results->items[i].desired;
        count.applied += outcome == CHILD_APPLIED;
        count.missing += outcome == CHILD_KIND_MISSING;
        count.failed += outcome == CHILD_NOT_OURS || outcome == CHILD_FAILED;
    }
    return count;
}

static struct str words_of(struct arena *arena, const struct child_result *result)
{
    switch (result->outcome) {
    case CHILD_KIND_MISSING:
        return STR("the API server has no such kind");
    case CHILD_NOT_OURS:
        return STR(
            "an object of that name exists already and is not controlled by this one; rename "
            "or delete one of the two");
    case CHILD_FAILED:
        return str_shown(arena, str_of(result->error.text), MESSAGE_ERROR_MAX);
    case CHILD_APPLIED:
    case CHILD_PRUNED:
    case CHILD_HELD_BACK:
        break;
    }
    return STR("");
}

/* What failed before what is missing: that needs somebody. */
static const struct child_result *worst_of(const struct child_results *results)
{
    const struct child_result *worst = NULL;

    for (uint32_t i = 0; i < results->count; i++) {
        const struct child_result *result = &results->items[i];

        if (result->outcome >= CHILD_NOT_OURS)
            return result;
        if (result->outcome == CHILD_KIND_MISSING && !worst)
            worst = result;
    }
    return worst;
}

struct kube_condition kube_children_condition(struct arena *arena,
                                              const struct child_results *results,
                                              int64_t generation)
{
    struct children_count count = kube_children_count(results);
    const struct child_result *worst = worst_of(results);
    struct strbuf message = strbuf_new(arena, 128);

    strbuf_fmt(&message, "%u of %u objects applied", count.applied, count.desired);
    if (worst)
        strbuf_fmt(&message, "; %.*s %.*s: %.*s", STR_ARG(worst->kind), STR_ARG(worst->name),
                   STR_ARG(words_of(arena, worst)));
    return (struct kube_condition){
        .type = STR("Applied"),
        .status = count.failed ? CONDITION_FALSE : CONDITION_TRUE,
        .reason = kube_child_reason_name(worst && worst->outcome == CHILD_NOT_OURS
                                             ? CHILD_REASON_CHILD_CONFLICT
                                         : count.failed  ? CHILD_REASON_APPLY_FAILED
                                         : count.missing ? CHILD_REASON_KIND_MISSING
                                                         : CHILD_REASON_APPLIED),
        .message = strbuf_str(&message),
        .observed_generation = generation,
    };
}
