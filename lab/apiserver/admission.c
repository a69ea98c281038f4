/* SPDX-License-Identifier: Apache-2.0 */
/* admission.c: from configurations to calls, and from answers to changes, rejections and warnings.
 */
#include "lab/apiserver/admission.h"

#include "lab/apiserver/policy.h"
#include "lab/apiserver/service.h"
#include "text/base64.h"
#include "text/json_write.h"
#include "text/patch.h"

/* One webhook that is to be asked. */
struct hook {
    struct str name;
    struct json json;
    struct webhook_call call;
    struct str shown_url; /* as messages show it */
    struct str uid;       /* of the review */
    bool ignores_failure;
    bool may_repeat; /* reinvocationPolicy IfNeeded */
};

LIST_DEFINE(hooks, struct hook)

static int failed(struct request *rq, const struct hook *hook, struct str why)
{
    if (hook->ignores_failure) {
        log_warn(rq->api->log, "webhook failed, ignored by its failurePolicy",
                 LOG_STR("webhook", hook->name), LOG_STR("error", why));
        return 0;
    }
    return fail_internal(&rq->failure, str_fmt(rq->arena, "failed calling webhook \"%.*s\": %.*s",
                                               STR_ARG(hook->name), STR_ARG(why)));
}

/* Where `--service` says that the service listens; "" if it says nothing. */
static struct str address_by_flag(struct request *rq, struct str namespace_, struct str name)
{
    struct str key = str_fmt(rq->arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
    const char *address;

    /* What a service once had as its address lives as long as the api. */
    pthread_mutex_lock(&rq->api->lock);
    address = dict_get(rq->api->services, key);
    pthread_mutex_unlock(&rq->api->lock);
    return str_of(address ? address : "");
}

/* Like an API server with no overlay network in between: the Service's own cluster IP, if somebody
 * chose one that can be reached. */
static struct str service_address(struct request *rq, struct str namespace_, struct str name,
                                  int64_t port)
{
    static const struct kube_resource services =
        KUBE_RESOURCE_INIT("", "v1", "services", "Service", true);
    struct str by_flag = address_by_flag(rq, namespace_, name);
    struct str text;
    struct json service;
    struct error err;

    if (by_flag.len)
        return by_flag;
    if (api_get(rq->api, rq->arena, rq->cluster, &services, namespace_, name, &text, &err) < 0 ||
        json_read(rq->arena, text, &json_limits_default, &service, &err) < 0)
        return by_flag;

    struct str ip = json_str(json_walk(service, "spec", "clusterIP", NULL));

    if (ip.len == 0 || str_eq(ip, STR("None")) || service_is_given(ip))
        return by_flag;
    return str_fmt(rq->arena, "%.*s:%lld", STR_ARG(ip), (long long)port);
}

/* Fill in url and certificate checks; false: a service that nobody gave an address. */
static bool address_call(struct request *rq, struct hook *hook)
{
    struct json config = json_get(hook->json, STR("clientConfig"));
    struct json service = json_get(config, STR("service"));
    struct str url = json_str(json_get(config, STR("url")));
    struct str query =
        str_fmt(rq->arena, "timeout=%llds", (long long)(hook->call.timeout_ms / 1000));
    struct str name = json_str(json_get(service, STR("name")));
    struct str namespace_ = json_str(json_get(service, STR("namespace")));
    struct str path = json_str(json_get(service, STR("path")));
    struct str address;
    int64_t port = 443;

    if (url.len) {
        hook->call.url = str_fmt(rq->arena, "%.*s%c%.*s", STR_ARG(url),
                                 str_find_char(url, '?', 0) < 0 ? '?' : '&', STR_ARG(query));
        hook->shown_url = hook->call.url;
        return true;
    }
    json_int64(json_get(service, STR("port")), &port);
    address = service_address(rq, namespace_, name, port);
    hook->call.server_name =
        str_fmt(rq->arena, "%.*s.%.*s.svc", STR_ARG(name), STR_ARG(namespace_));
    hook->call.url = str_fmt(rq->arena, "https://%.*s%s%.*s?%.*s", STR_ARG(address),
                             str_starts(path, STR("/")) ? "" : "/", STR_ARG(path), STR_ARG(query));
    hook->shown_url = str_fmt(rq->arena, "https://%.*s:%lld%s%.*s?%.*s",
                              STR_ARG(hook->call.server_name), (long long)port,
                              str_starts(path, STR("/")) ? "" : "/", STR_ARG(path), STR_ARG(query));
    return address.len > 0;
}

static struct hook hook_of(struct request *rq, struct json json)
{
    struct hook hook = { .name = str_dup(rq->arena, json_str(json_get(json, STR("name")))),
                         .json = json };
    int64_t seconds = 10;
    struct str bundle = json_str(json_walk(json, "clientConfig", "caBundle", NULL));
    struct error err;

    json_int64(json_get(json, STR("timeoutSeconds")), &seconds);
    hook.call.timeout_ms = seconds * 1000;
    hook.call.server_name = STR("");
    hook.ignores_failure = str_eq(json_str(json_get(json, STR("failurePolicy"))), STR("Ignore"));
    hook.may_repeat = str_eq(json_str(json_get(json, STR("reinvocationPolicy"))), STR("IfNeeded"));
    if (base64_decode(rq->arena, bundle, &hook.call.ca_pem, &err) != 0)
        hook.call.ca_pem = STR("");
    return hook;
}

/* The webhooks of all configurations of a kind, by name of configuration, then in their order. */
static int load_hooks(struct request *rq, const char *plural, struct hooks *ret_hooks)
{
    struct collection of = { rq->cluster, STR("admissionregistration.k8s.io"), str_of(plural),
                             STR("") };
    struct store_page page;
    struct error err;

    *ret_hooks = hooks_new(rq->arena, 4);
    if (store_list(rq->api->store, rq->arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE)
        return request_store_failed(rq, &err);
    for (uint32_t i = 0; i < page.rows.count; i++) {
        struct json config;
        struct json_iter it;

        if (json_read(rq->arena, page.rows.items[i].object, &json_limits_default, &config, &err) !=
            0)
            continue;
        it = json_iter(json_get(config, STR("webhooks")));
        while (json_next(&it))
            hooks_push(ret_hooks, hook_of(rq, it.value));
    }
    return 0;
}

/* Webhooks are not asked about webhooks, so that a broken one can be taken away. */
static bool is_exempt(const struct request *rq)
{
    return str_eq(rq->kind->group, STR("admissionregistration.k8s.io"));
}

static struct admission_facts facts_of(struct request *rq, const struct value *old,
                                       const struct value *object)
{
    return (struct admission_facts){ rq,
                                     !object ? "DELETE"
                                     : old   ? "UPDATE"
                                             : "CREATE",
                                     old, object };
}

static int prepare(const struct admission_facts *facts, struct hook *hook, bool *ret_ask)
{
    struct request *rq = facts->rq;
    struct str effects = json_str(json_get(hook->json, STR("sideEffects")));
    struct failure_subject subject = request_subject(rq);
    struct str why;
    bool matches;

    *ret_ask = false;
    if (admission_matches(facts, hook->json, &matches, &why) != 0)
        return hook->ignores_failure ? 0 : fail_forbidden(&rq->failure, &subject, why);
    if (!matches)
        return 0;
    if (rq->dry_run && !str_eq(effects, STR("None")) && !str_eq(effects, STR("NoneOnDryRun")))
        return fail_bad_request(
            &rq->failure, str_fmt(rq->arena, "admission webhook \"%.*s\" does not support dry run",
                                  STR_ARG(hook->name)));
    if (!address_call(rq, hook))
        return failed(rq, hook,
                      str_fmt(rq->arena,
                              "failed to call webhook: Post \"%.*s\": service has no address: give "
                              "the Service a clusterIP, or start herd-lab with --service "
                              "namespace/name=host:port",
                              STR_ARG(hook->shown_url)));
    hook->uid = object_uid(rq->arena, request_rng(rq));
    hook->call.body = review_write(facts, hook->uid);
    *ret_ask = true;
    return 0;
}

/* What Go's client would have said. */
static struct str transport_text(struct request *rq, const struct hook *hook)
{
    const struct webhook_call *call = &hook->call;

    if (call->status == 0) {
        const char *why =
            call->error.code == ERROR_TIMEOUT ? "context deadline exceeded" : call->error.text;

        return str_fmt(rq->arena, "failed to call webhook: Post \"%.*s\": %s",
                       STR_ARG(hook->shown_url), why);
    }
    return str_fmt(
        rq->arena, "failed to call webhook: %.*s",
        STR_ARG(review_http_error(rq->arena, call->status, call->content_type, call->answer)));
}

/* The rejection as the webhook worded it, behind its name; its details and code go along. */
static int denied(struct request *rq, const struct hook *hook, struct json status)
{
    struct strbuf out = strbuf_new(rq->arena, 512);
    struct json_writer w = json_writer(&out);
    struct str message = json_str(json_get(status, STR("message")));
    struct str reason = json_str(json_get(status, STR("reason")));
    struct json details = json_get(status, STR("details"));
    struct str text;
    int64_t code = 0;

    json_int64(json_get(status, STR("code")), &code);
    if (code < 400 || code > 599)
        code = 400;
    if (message.len == 0)
        message = reason;
    text =
        str_fmt(rq->arena, "admission webhook \"%.*s\" denied the request%s%.*s",
                STR_ARG(hook->name), message.len ? ": " : " without explanation", STR_ARG(message));
    fail(&rq->failure, (int)code, str_z(rq->arena, reason), "%.*s", STR_ARG(text));
    json_open_object(&w);
    json_field_str(&w, "kind", STR("Status"));
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_raw(&w, "metadata", STR("{}"));
    json_field_str(&w, "status", STR("Failure"));
    json_field_str(&w, "message", text);
    if (reason.len)
        json_field_str(&w, "reason", reason);
    if (json_is(details, JSON_OBJECT))
        json_field_raw(&w, "details", json_raw(details));
    json_field_int(&w, "code", code);
    json_close_object(&w);
    rq->failure.status = strbuf_str(&out);
    return -1;
}

/* An answer to what it means: -1 rejected or failed. *ret_patch is "" if nothing changes. */
static int validate(struct request *rq, const struct hook *hook, struct str *ret_patch)
{
    struct review_answer answer;
    struct error err;

    *ret_patch = STR("");
    if (hook->call.status != 200)
        return failed(rq, hook, transport_text(rq, hook));
    if (review_read(rq->arena, hook->call.answer, hook->uid, &answer, &err) != 0)
        return failed(rq, hook, str_dup(rq->arena, str_of(err.text)));
    for (uint32_t i = 0; i < answer.warnings.count; i++)
        request_warn(rq, answer.warnings.items[i]);
    if (!answer.allowed)
        return denied(rq, hook, answer.status);
    *ret_patch = answer.patch;
    return 0;
}

static int apply(struct request *rq, const struct hook *hook, struct str patch,
                 struct value **object, bool *ret_changed)
{
    struct value *result;
    struct error err;

    *ret_changed = false;
    if (patch.len == 0 || str_eq(str_trim(patch), STR("[]")))
        return 0;
    if (patch_apply(rq->arena, *object, patch, &result, &err) != 0)
        return failed(rq, hook, str_dup(rq->arena, str_of(err.text)));
    *ret_changed = !value_equal(result, *object);
    *object = result;
    /* Unknown fields that a webhook added are its own affair: they are dropped, not reported. */
    return body_shape(rq, result, false);
}

static int mutate_by(struct request *rq, const struct value *old, struct hook *hook,
                     struct value **object, bool *ret_changed)
{
    struct admission_facts facts = facts_of(rq, old, *object);
    struct str patch;
    bool ask;

    *ret_changed = false;
    if (prepare(&facts, hook, &ask) != 0)
        return -1;
    if (!ask)
        return 0;
    webhook_call_all(rq->api->caller, rq->arena, &hook->call, 1);
    if (validate(rq, hook, &patch) != 0)
        return -1;
    return *object ? apply(rq, hook, patch, object, ret_changed) : 0;
}

int admission_mutate(struct request *rq, const struct value *old, struct value **object)
{
    struct hooks hooks;
    uint32_t last_change = 0;

    if (is_exempt(rq))
        return 0;
    if (load_hooks(rq, "mutatingwebhookconfigurations", &hooks) != 0)
        return -1;
    for (uint32_t i = 0; i < hooks.count; i++) {
        bool changed;

        if (mutate_by(rq, old, &hooks.items[i], object, &changed) != 0)
            return -1;
        if (changed)
            last_change = i;
    }
    /* Those who asked for it see once more what later ones changed. */
    for (uint32_t i = 0; i < last_change; i++) {
        bool changed;

        if (hooks.items[i].may_repeat && mutate_by(rq, old, &hooks.items[i], object, &changed) != 0)
            return -1;
    }
    return 0;
}

int admission_validate(struct request *rq, const struct value *old, const struct value *object)
{
    struct admission_facts facts = facts_of(rq, old, object);
    struct hooks hooks, asked = hooks_new(rq->arena, 4);
    struct webhook_call *calls;

    if (is_exempt(rq))
        return 0;
    if (policies_validate(&facts) != 0 ||
        load_hooks(rq, "validatingwebhookconfigurations", &hooks) != 0)
        return -1;
    for (uint32_t i = 0; i < hooks.count; i++) {
        bool ask;

        if (prepare(&facts, &hooks.items[i], &ask) != 0)
            return -1;
        if (ask)
            hooks_push(&asked, hooks.items[i]);
    }
    if (asked.count == 0)
        return 0;
    calls = arena_array(rq->arena, struct webhook_call, asked.count);
    for (uint32_t i = 0; i < asked.count; i++)
        calls[i] = asked.items[i].call;
    webhook_call_all(rq->api->caller, rq->arena, calls, asked.count);
    for (uint32_t i = 0; i < asked.count; i++) {
        struct str ignored;

        asked.items[i].call = calls[i];
        if (validate(rq, &asked.items[i], &ignored) != 0)
            return -1;
    }
    return 0;
}
