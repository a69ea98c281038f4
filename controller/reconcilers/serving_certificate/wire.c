/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: Secrets and webhook configurations, read with suspicion and written with preconditions.
 *
 * The CA Secret: tls.crt and tls.key sign; next.crt and next.key are being made known; previous.crt
 * is still believed. A Secret of cert-manager's that stands there is taken over as it is. */
#include "controller/reconcilers/serving_certificate/wire.h"

#include "kube/limits.h"
#include "text/base64.h"
#include "text/json_write.h"
#include "text/time.h"

enum { WEBHOOKS_MAX = 64 };

static const struct kube_resource resources[CERTIFICATE_OBJECTS] = {
    [CERTIFICATE_CA_SECRET] = KUBE_RESOURCE_INIT("", "v1", "secrets", "Secret", true),
    [CERTIFICATE_LEAF_SECRET] = KUBE_RESOURCE_INIT("", "v1", "secrets", "Secret", true),
    [CERTIFICATE_MUTATING] =
        KUBE_RESOURCE_INIT("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                           "MutatingWebhookConfiguration", false),
    [CERTIFICATE_VALIDATING] =
        KUBE_RESOURCE_INIT("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                           "ValidatingWebhookConfiguration", false),
    [CERTIFICATE_WORKLOADS_MUTATING] =
        KUBE_RESOURCE_INIT("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                           "MutatingWebhookConfiguration", false),
    [CERTIFICATE_WORKLOADS_VALIDATING] =
        KUBE_RESOURCE_INIT("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                           "ValidatingWebhookConfiguration", false),
};

const struct kube_resource *certificate_resource(enum certificate_object object)
{
    return &resources[object];
}

struct str certificate_object_name(const struct certificate_names *names,
                                   enum certificate_object object)
{
    if (object == CERTIFICATE_CA_SECRET)
        return names->ca_secret;
    if (object == CERTIFICATE_LEAF_SECRET)
        return names->leaf_secret;
    return object < CERTIFICATE_WORKLOADS_MUTATING ? names->configuration : names->workloads;
}

/* Reading. */

/* "" where it is absent or no base64. */
static struct str decoded(struct arena *arena, struct json text)
{
    struct str bytes = STR("");
    struct error ignored;

    (void)base64_decode(arena, json_str(text), &bytes, &ignored);
    return bytes;
}

static struct str secret_part(struct arena *arena, struct json secret, struct str key)
{
    return decoded(arena, json_get(json_get(secret, STR("data")), key));
}

static struct serving_ca as_ca(const struct tls_certificate *certificate, bool can_sign)
{
    return (struct serving_ca){ certificate->pem, certificate->facts.not_before_ms,
                                certificate->facts.not_after_ms, can_sign };
}

/* One slot; `ret_pair` only if it can sign. */
static struct serving_ca read_slot(struct arena *arena, struct json secret, struct str certificate,
                                   struct str key, struct tls_pair *ret_pair)
{
    struct tls_certificates found = tls_split(arena, secret_part(arena, secret, certificate), 1);
    struct tls_pair pair = { STR(""), key.len ? secret_part(arena, secret, key) : STR("") };
    struct error ignored;

    if (found.count == 0)
        return (struct serving_ca){ 0 };
    pair.certificate_pem = found.items[0].pem;

    bool can_sign = key.len && found.items[0].facts.is_ca && tls_check_pair(&pair, &ignored) == 0;

    if (can_sign)
        *ret_pair = pair;
    return as_ca(&found.items[0], can_sign);
}

static void read_bundle(struct arena *arena, struct json configuration,
                        struct serving_bundle *ret_bundle, uint32_t *ret_webhooks)
{
    struct json_iter it = json_iter(json_get(configuration, STR("webhooks")));
    struct serving_bundle bundle = { .even = true, .cas = serving_cas_new(arena, 4) };

    *ret_webhooks = 0;
    while (*ret_webhooks < WEBHOOKS_MAX && json_next(&it)) {
        struct str text =
            decoded(arena, json_walk(it.value, "clientConfig", "caBundle", (char *)NULL));
        struct tls_certificates found = tls_split(arena, text, LIMIT_CERTIFICATE_BUNDLE);

        if ((*ret_webhooks)++ == 0)
            bundle.text = text;
        else if (!str_eq(text, bundle.text))
            bundle.even = false;
        for (uint32_t i = 0; i < found.count; i++)
            serving_cas_push(&bundle.cas, as_ca(&found.items[i], false));
    }
    bundle.exists = *ret_webhooks > 0;
    *ret_bundle = bundle;
}

static bool signed_by(struct str chain, const struct serving_ca *ca, struct str *ret_issuer)
{
    if (ca->pem.len == 0 || !tls_verifies(chain, ca->pem))
        return false;
    *ret_issuer = ca->pem;
    return true;
}

/* Ours come first. The Secret itself may know: `ca.crt` is beside what it signed. */
static struct str find_issuer(struct arena *arena, const struct certificate_state *state,
                              struct str chain)
{
    const struct serving_slots *ours = &state->facts.ca;
    struct serving_ca beside =
        read_slot(arena, state->objects[CERTIFICATE_LEAF_SECRET], STR("ca.crt"), STR(""), NULL);
    struct str issuer = STR("");

    if (signed_by(chain, &ours->current, &issuer) || signed_by(chain, &ours->next, &issuer) ||
        signed_by(chain, &ours->previous, &issuer))
        return issuer;
    for (uint32_t i = 0; i < CERTIFICATE_CONFIGURATIONS; i++)
        for (uint32_t k = 0; k < state->bundles[i].cas.count; k++)
            if (signed_by(chain, &state->bundles[i].cas.items[k], &issuer))
                return issuer;
    (void)signed_by(chain, &beside, &issuer);
    return issuer;
}

static struct serving_leaf read_leaf(struct arena *arena, const struct certificate_names *names,
                                     const struct certificate_state *state)
{
    struct json secret = state->objects[CERTIFICATE_LEAF_SECRET];
    struct tls_pair pair = { secret_part(arena, secret, STR("tls.crt")),
                             secret_part(arena, secret, STR("tls.key")) };
    struct tls_facts facts;
    struct error ignored;

    if (tls_inspect(arena, pair.certificate_pem, &facts, &ignored) < 0)
        return (struct serving_leaf){ 0 };
    return (struct serving_leaf){
        .usable = tls_check_pair(&pair, &ignored) == 0 &&
                  tls_serves(arena, pair.certificate_pem, &names->dns_names, &names->addresses),
        .not_before_ms = facts.not_before_ms,
        .not_after_ms = facts.not_after_ms,
        .issuer = find_issuer(arena, state, pair.certificate_pem),
    };
}

void certificate_state_read(struct arena *arena, const struct certificate_names *names,
                            struct certificate_state *state)
{
    struct json ca = state->objects[CERTIFICATE_CA_SECRET];

    for (int i = 0; i < CERTIFICATE_OBJECTS; i++)
        kube_meta_read(state->objects[i], &state->metas[i]);
    for (int i = 0; i < CERTIFICATE_CONFIGURATIONS; i++)
        read_bundle(arena, state->objects[CERTIFICATE_MUTATING + i], &state->bundles[i],
                    &state->webhook_counts[i]);
    state->facts.ca.current = read_slot(arena, ca, STR("tls.crt"), STR("tls.key"), &state->current);
    state->facts.ca.next = read_slot(arena, ca, STR("next.crt"), STR("next.key"), &state->next);
    state->facts.ca.previous = read_slot(arena, ca, STR("previous.crt"), STR(""), NULL);
    state->facts.leaf = read_leaf(arena, names, state);
    state->facts.bundles = state->bundles;
    state->facts.bundle_count = CERTIFICATE_CONFIGURATIONS;
}

/* Writing. */

/* What a Secret's data becomes: text, or gone. */
struct part {
    struct str key;
    struct str text; /* .at NULL: the key goes */
};

static void put_parts(struct json_writer *w, struct arena *arena, const struct part *parts,
                      uint32_t count, bool creates)
{
    json_put_key(w, STR("data"));
    json_open_object(w);
    for (uint32_t i = 0; i < count; i++) {
        if (!parts[i].text.at && creates)
            continue;
        json_put_key(w, parts[i].key);
        if (parts[i].text.at)
            json_put_str(w, base64_encode(arena, parts[i].text));
        else
            json_put_null(w);
    }
    json_close_object(w);
}

static void put_new_secret(struct json_writer *w, const struct certificate_names *names,
                           enum certificate_object object)
{
    json_field_str(w, "apiVersion", STR("v1"));
    json_field_str(w, "kind", STR("Secret"));
    json_field_str(w, "type", STR("kubernetes.io/tls")); /* cert-manager could take it over */
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    json_field_str(w, "name", certificate_object_name(names, object));
    json_field_str(w, "namespace", names->namespace_);
    json_put_key(w, STR("labels"));
    json_open_object(w);
    json_field_str(w, "app.kubernetes.io/name", STR("herd-webhook"));
    json_field_str(w, "app.kubernetes.io/part-of", STR("herd"));
    json_field_str(w, "app.kubernetes.io/managed-by", STR("herd-controller"));
    json_close_object(w);
    json_close_object(w);
}

static struct kube_request request_for(const struct certificate_names *names,
                                       enum certificate_object object)
{
    return (struct kube_request){
        .verb = KUBE_PATCH,
        .resource = resources[object],
        .namespace_ = resources[object].namespaced ? names->namespace_ : STR(""),
        .name = certificate_object_name(names, object),
        .field_manager = STR("herd-controller"),
    };
}

/* Create it, or a merge patch that only the version it was planned on takes. */
static struct kube_request write_secret(struct arena *arena, const struct certificate_names *names,
                                        const struct certificate_state *state,
                                        enum certificate_object object, const struct part *parts,
                                        uint32_t count)
{
    struct kube_request request = request_for(names, object);
    struct strbuf body = strbuf_new(arena, 4096);
    struct json_writer w = json_writer(&body);
    bool creates = json_is(state->objects[object], JSON_ABSENT);

    json_open_object(&w);
    if (creates) {
        put_new_secret(&w, names, object);
        request.verb = KUBE_CREATE;
        request.name = STR("");
    } else {
        json_put_key(&w, STR("metadata"));
        json_open_object(&w);
        json_field_str(&w, "uid", state->metas[object].uid);
        json_field_str(&w, "resourceVersion", state->metas[object].resource_version);
        json_close_object(&w);
        request.patch_type = KUBE_PATCH_MERGE;
    }
    put_parts(&w, arena, parts, count, creates);
    json_close_object(&w);
    request.body = strbuf_str(&body);
    return request;
}

static struct kube_request write_bundle(struct arena *arena, const struct certificate_names *names,
                                        const struct certificate_state *state,
                                        const struct serving_step *step)
{
    enum certificate_object object = (enum certificate_object)(CERTIFICATE_MUTATING + step->bundle);
    struct kube_request request = request_for(names, object);
    struct strbuf body = strbuf_new(arena, 8192);
    struct json_writer w = json_writer(&body);
    struct str text = base64_encode(arena, step->text);

    json_open_array(&w);
    json_open_object(&w);
    json_field_str(&w, "op", STR("test"));
    json_field_str(&w, "path", STR("/metadata/resourceVersion"));
    json_field_str(&w, "value", state->metas[object].resource_version);
    json_close_object(&w);
    for (uint32_t i = 0; i < state->webhook_counts[step->bundle]; i++) {
        json_open_object(&w);
        json_field_str(&w, "op", STR("add"));
        json_field_str(&w, "path", str_fmt(arena, "/webhooks/%u/clientConfig/caBundle", i));
        json_field_str(&w, "value", text);
        json_close_object(&w);
    }
    json_close_array(&w);
    request.patch_type = KUBE_PATCH_JSON;
    request.body = strbuf_str(&body);
    return request;
}

static int issue_ca(struct arena *arena, const struct serving_step *step, struct tls_pair *ret_pair,
                    struct error *err)
{
    /* Names tell the CAs of one bundle apart, for people; programs go by their keys. */
    struct str since = time_rfc3339(arena, step->not_before_ms + LIMIT_CERTIFICATE_BACKDATE);
    const struct tls_request request = {
        .common_name = str_fmt(arena, "herd-webhook-ca %.*s", STR_ARG(since)),
        .organization = STR("herd"),
        .not_before_ms = step->not_before_ms,
        .not_after_ms = step->not_after_ms,
        .is_ca = true,
    };

    return tls_issue(arena, &request, NULL, ret_pair, err);
}

static int issue_leaf(struct arena *arena, const struct certificate_names *names,
                      const struct tls_pair *ca, const struct serving_step *step,
                      struct tls_pair *ret_pair, struct error *err)
{
    const struct tls_request request = {
        .common_name = STR("herd-webhook"),
        .dns_names = names->dns_names,
        .addresses = names->addresses,
        .not_before_ms = step->not_before_ms,
        .not_after_ms = step->not_after_ms,
    };

    return tls_issue(arena, &request, ca, ret_pair, err);
}

/* An unreadable predecessor leaves previous.crt as it is. */
static uint32_t hand_over(const struct certificate_state *state, const struct tls_pair *successor,
                          struct part *parts)
{
    const struct part changed[] = {
        { STR("tls.crt"), successor->certificate_pem },
        { STR("tls.key"), successor->key_pem },
        { STR("next.crt"), { 0 } },
        { STR("next.key"), { 0 } },
        { STR("previous.crt"), state->facts.ca.current.pem },
    };

    memcpy(parts, changed, sizeof(changed));
    return state->facts.ca.current.pem.len ? 5 : 4;
}

static int note_issued(struct arena *arena, const struct tls_pair *pair,
                       struct certificate_write *write, struct error *err)
{
    struct tls_facts facts;

    if (tls_inspect(arena, pair->certificate_pem, &facts, err) < 0)
        return -1;
    write->serial = facts.serial;
    write->not_after_ms = facts.not_after_ms;
    return 0;
}

int certificate_write(struct arena *arena, const struct certificate_names *names,
                      const struct certificate_state *state, const struct serving_step *step,
                      struct certificate_write *ret_write, struct error *err)
{
    struct certificate_write write = { .object = CERTIFICATE_CA_SECRET, .serial = STR("") };
    struct tls_pair pair = { STR(""), STR("") };
    struct part parts[5];
    uint32_t count = 0;

    switch (step->action) {
    case SERVING_REST:
        return error_set(err, ERROR_INTERNAL, "there is nothing to write");
    case SERVING_WRITE_BUNDLE:
        write.object = (enum certificate_object)(CERTIFICATE_MUTATING + step->bundle);
        write.request = write_bundle(arena, names, state, step);
        *ret_write = write;
        return 0;
    case SERVING_ISSUE_CA:
        if (issue_ca(arena, step, &pair, err) < 0)
            return -1;
        count = hand_over(state, &pair, parts);
        break;
    case SERVING_PROMOTE:
        pair = state->next;
        count = hand_over(state, &pair, parts);
        break;
    case SERVING_ISSUE_NEXT:
        if (issue_ca(arena, step, &pair, err) < 0)
            return -1;
        parts[count++] = (struct part){ STR("next.crt"), pair.certificate_pem };
        parts[count++] = (struct part){ STR("next.key"), pair.key_pem };
        break;
    case SERVING_FORGET:
        parts[count++] = (struct part){ STR("previous.crt"), { 0 } };
        break;
    case SERVING_ISSUE_LEAF:
        if (issue_leaf(arena, names, &state->current, step, &pair, err) < 0)
            return -1;
        write.object = CERTIFICATE_LEAF_SECRET;
        parts[count++] = (struct part){ STR("tls.crt"), pair.certificate_pem };
        parts[count++] = (struct part){ STR("tls.key"), pair.key_pem };
        parts[count++] = (struct part){ STR("ca.crt"), state->current.certificate_pem };
        break;
    }
    if (pair.certificate_pem.len && note_issued(arena, &pair, &write, err) < 0)
        return -1;
    write.request = write_secret(arena, names, state, write.object, parts, count);
    *ret_write = write;
    return 0;
}
