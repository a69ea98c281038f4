/* receipt_secret.c: get; if there is none, create; and again after a while. */
#include "controller/reconcile/receipt_secret.h"

#include "base/limits.h"
#include "base/memory.h"
#include "kube/backoff.h"
#include "stack/receipt.h"
#include "text/base64.h"
#include "text/json_write.h"

#include <sys/random.h>

static const struct kube_resource secrets = KUBE_RESOURCE_INIT("", "v1", "secrets", "Secret", true);

enum { LOOK_MS = 60000 };

struct receipt_secret {
    struct receipt_secret_options options;
    struct loop_timer *timer;
    struct backoff backoff;
    struct rng rng;
    struct kube_call *call;
    bool paused;
    bool told; /* that it holds no key */
};

static void rest(struct receipt_secret *secret)
{
    backoff_reset(&secret->backoff);
    loop_timer_set(secret->timer, LOOK_MS);
}

static void fail(struct receipt_secret *secret, const struct kube_answer *answer)
{
    log_warn(secret->options.log, "the key of receipts cannot be made; there are none until it is",
             LOG_STR("secret", secret->options.name), LOG_Z("error", answer->error.text));
    loop_timer_set(secret->timer,
                   backoff_next(&secret->backoff, answer->retry_after_ms, &secret->rng));
}

/* Who else made it meanwhile made it for both. */
static void on_created(void *context, const struct kube_answer *answer)
{
    struct receipt_secret *secret = context;

    secret->call = NULL;
    if (answer->error.code != ERROR_NONE && answer->error.code != ERROR_ALREADY_EXISTS) {
        fail(secret, answer);
        return;
    }
    if (answer->error.code == ERROR_NONE)
        log_info(secret->options.log, "the key of receipts was made",
                 LOG_STR("namespace", secret->options.namespace_),
                 LOG_STR("secret", secret->options.name));
    rest(secret);
}

static struct str secret_body(struct arena *arena, const struct receipt_secret_options *options,
                              struct str key)
{
    struct strbuf body = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&body);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_str(&w, "kind", STR("Secret"));
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "name", options->name);
    json_field_str(&w, "namespace", options->namespace_);
    json_field_raw(&w, "labels", STR("{\"app.kubernetes.io/part-of\":\"herd\"}"));
    json_close_object(&w);
    json_put_key(&w, STR("data"));
    json_open_object(&w);
    json_field_str(&w, "key", base64_encode(arena, key));
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&body);
}

static void create(struct receipt_secret *secret)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    char *key;

    arena_keep_secret(arena);
    key = arena_bytes(arena, RECEIPT_KEY_BYTES);
    /* So few bytes come whole, or the kernel has no randomness to give. */
    if (getrandom(key, RECEIPT_KEY_BYTES, 0) != RECEIPT_KEY_BYTES)
        mem_exhausted("randomness");

    const struct kube_request request = {
        .verb = KUBE_CREATE,
        .resource = secrets,
        .namespace_ = secret->options.namespace_,
        .body = secret_body(arena, &secret->options, str_make(key, RECEIPT_KEY_BYTES)),
    };

    secret->call = kube_client_call(secret->options.api, &request, on_created, secret);
}

static bool holds_key(struct str object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err;
    struct json root;
    struct str key;

    arena_keep_secret(arena);
    return json_read(arena, object, &json_limits_default, &root, &err) == 0 &&
           base64_decode(arena, json_str(json_walk(root, "data", "key", NULL)), &key, &err) == 0 &&
           receipt_key_of(key).len;
}

static void on_read(void *context, const struct kube_answer *answer)
{
    struct receipt_secret *secret = context;

    secret->call = NULL;
    if (answer->error.code == ERROR_NOT_FOUND) {
        create(secret);
        return;
    }
    if (answer->error.code != ERROR_NONE) {
        fail(secret, answer);
        return;
    }

    bool is_key = holds_key(answer->body);

    if (!is_key && !secret->told)
        log_warn(secret->options.log,
                 "the Secret holds no key of receipts, 32 bytes under 'key', so there are none; "
                 "delete it, and another one is made",
                 LOG_STR("namespace", secret->options.namespace_),
                 LOG_STR("secret", secret->options.name));
    secret->told = !is_key;
    rest(secret);
}

static void look(void *context)
{
    struct receipt_secret *secret = context;
    const struct kube_request request = {
        .verb = KUBE_GET,
        .resource = secrets,
        .namespace_ = secret->options.namespace_,
        .name = secret->options.name,
    };

    secret->call = kube_client_call(secret->options.api, &request, on_read, secret);
}

struct receipt_secret *receipt_secret_create(const struct receipt_secret_options *options)
{
    struct receipt_secret *secret = mem_new(struct receipt_secret);

    secret->options = *options;
    secret->paused = true;
    secret->backoff = backoff_new(LIMIT_RETRY_FIRST, LIMIT_RETRY_MAX);
    secret->rng = rng_from_seed(options->seed);
    secret->timer = loop_timer_create(options->loop, look, secret);
    return secret;
}

void receipt_secret_free(struct receipt_secret *secret)
{
    if (!secret)
        return;
    if (secret->call)
        kube_call_cancel(secret->call);
    loop_timer_free(secret->timer);
    mem_free(secret);
}

void receipt_secret_pause(struct receipt_secret *secret, bool paused)
{
    if (!secret || secret->paused == paused)
        return;
    secret->paused = paused;
    if (!paused) {
        loop_timer_set(secret->timer, 0);
        return;
    }
    loop_timer_clear(secret->timer);
    if (secret->call)
        kube_call_cancel(TAKE(secret->call));
}
