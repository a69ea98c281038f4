/* SPDX-License-Identifier: Apache-2.0 */
/* missing_clusters.c: one after the other, with one request under way. */
#include "controller/clusters/missing_clusters.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "controller/clusters/management_cluster.h"
#include "kube/backoff.h"
#include "kube/names.h"
#include "text/json.h"

enum {
    ASK_AGAIN_MS = 30000, /* of one that is there: the list should have it soon */
    NAME_BYTES_MAX = 253, /* of a DNS subdomain */
};

struct missing {
    bool gone;
    int64_t ask_at_ms; /* monotonic */
    char message[256];
};

struct missing_clusters {
    struct missing_clusters_options options;
    struct dict *all; /* id -> struct missing */
    struct loop_timer *timer;
    struct backoff backoff;
    struct rng rng;
    int64_t not_before_ms; /* after a failure nothing is asked until then */
    struct kube_call *call;
    char asked[NAME_BYTES_MAX + 1]; /* whom it asks for; "" if it is not missing any more */
};

static int64_t now_ms(const struct missing_clusters *missing)
{
    return loop_now_ms(kube_client_loop(missing->options.api));
}

static void say(struct missing *one, struct str text)
{
    size_t len = text.len < sizeof(one->message) ? text.len : sizeof(one->message) - 1;

    memcpy(one->message, text.at, len);
    one->message[len] = '\0';
}

/* Look again when the next one is due. */
static void plan_next(struct missing_clusters *missing)
{
    int64_t due_ms = INT64_MAX;
    struct str id;
    void *value;

    for (size_t cursor = 0; dict_next(missing->all, &cursor, &id, &value);) {
        const struct missing *one = value;

        if (!one->gone && one->ask_at_ms < due_ms)
            due_ms = one->ask_at_ms;
    }
    if (missing->call || due_ms == INT64_MAX)
        return;
    if (due_ms < missing->not_before_ms)
        due_ms = missing->not_before_ms;
    loop_timer_set(missing->timer, due_ms > now_ms(missing) ? due_ms - now_ms(missing) : 0);
}

/* Its own 404, and not one of a server that does not serve clusters at present. */
static bool proves_gone(const struct kube_answer *answer, const char *asked)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;

    return answer->status == 404 &&
           json_read(arena, str_dup(arena, answer->body), &json_limits_default, &root, &ignored) ==
               0 &&
           str_eq(json_str(json_get(root, STR("reason"))), STR("NotFound")) &&
           str_eq(json_str(json_walk(root, "details", "name", NULL)), str_of(asked));
}

static void take_answer(struct missing_clusters *missing, struct missing *one,
                        const struct kube_answer *answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (proves_gone(answer, missing->asked)) {
        one->gone = true;
        say(one, STR(""));
    } else if (answer->error.code == ERROR_NONE) {
        one->ask_at_ms = now_ms(missing) + ASK_AGAIN_MS;
        say(one, STR("Rancher has it, but its list of clusters lacks it"));
    } else {
        int64_t wait_ms = backoff_next(&missing->backoff, answer->retry_after_ms, &missing->rng);

        missing->not_before_ms = now_ms(missing) + wait_ms;
        one->ask_at_ms = now_ms(missing) + 2 * wait_ms; /* behind the others */
        say(one, str_fmt(arena, "whether it is gone is not known: %s", answer->error.text));
        return;
    }
    backoff_reset(&missing->backoff);
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct missing_clusters *missing = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str id = str_dup(arena, str_of(missing->asked));
    struct missing *one = dict_get(missing->all, id);

    missing->call = NULL;
    if (one && id.len)
        take_answer(missing, one, answer);
    plan_next(missing);
    if (one && id.len)
        missing->options.settled(missing->options.context, id);
}

static void ask(void *context)
{
    struct missing_clusters *missing = context;
    struct str id;
    void *value;

    for (size_t cursor = 0; !missing->call && dict_next(missing->all, &cursor, &id, &value);) {
        const struct missing *one = value;

        if (one->gone || one->ask_at_ms > now_ms(missing))
            continue;

        const struct kube_request get = { .verb = KUBE_GET,
                                          .resource = management_cluster_resource,
                                          .name = id };

        memcpy(missing->asked, id.at, id.len);
        missing->asked[id.len] = '\0';
        missing->call = kube_client_call(missing->options.api, &get, on_answer, missing);
    }
    plan_next(missing);
}

struct missing_clusters *missing_clusters_create(const struct missing_clusters_options *options)
{
    struct missing_clusters *missing = mem_new(struct missing_clusters);

    missing->options = *options;
    missing->all = dict_create();
    missing->timer = loop_timer_create(kube_client_loop(options->api), ask, missing);
    missing->backoff = backoff_new(LIMIT_RETRY_FIRST, LIMIT_RETRY_MAX);
    missing->rng = rng_from_seed(options->seed);
    return missing;
}

void missing_clusters_free(struct missing_clusters *missing)
{
    struct str id;
    void *value;

    if (!missing)
        return;
    kube_call_cancel(missing->call);
    loop_timer_free(missing->timer);
    for (size_t cursor = 0; dict_next(missing->all, &cursor, &id, &value);)
        mem_free(value);
    dict_free(missing->all);
    mem_free(missing);
}

void missing_clusters_add(struct missing_clusters *missing, struct str id)
{
    struct missing *one;

    if (dict_get(missing->all, id))
        return;
    one = mem_new(struct missing);
    say(one, STR("Rancher's list lacks it; asking whether it is gone"));
    /* What can be no cluster's name is never put into a path. */
    one->gone = kube_not_dns1123_subdomain(id) != NULL;
    one->ask_at_ms = now_ms(missing);
    dict_set(missing->all, id, one);
    plan_next(missing);
}

void missing_clusters_remove(struct missing_clusters *missing, struct str id)
{
    /* An answer that is under way is about what was: nobody takes it. */
    if (str_eq(id, str_of(missing->asked)))
        missing->asked[0] = '\0';
    mem_free(dict_remove(missing->all, id));
}

bool missing_clusters_is_gone(const struct missing_clusters *missing, struct str id)
{
    const struct missing *one = dict_get(missing->all, id);

    return one && one->gone;
}

struct str missing_clusters_message(const struct missing_clusters *missing, struct str id)
{
    const struct missing *one = dict_get(missing->all, id);

    return one ? str_of(one->message) : STR("");
}
