/* doubts.c: a round over what is doubted, one request under way. */
#include "controller/estate/rancher/doubts.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "controller/estate/rancher/wire.h"
#include "kube/backoff.h"
#include "kube/names.h"
#include "text/json.h"

enum {
    ASK_AGAIN_MS = 30000, /* of one that is there: the list should have it soon */
    NAME_BYTES_MAX = 253, /* of a DNS subdomain */
};

struct doubt {
    bool gone;
    int64_t ask_at_ms; /* monotonic */
    char message[256];
};

struct doubts {
    struct doubts_options options;
    struct dict *all; /* id -> struct doubt */
    struct loop_timer *timer;
    struct backoff backoff;
    struct rng rng;
    int64_t not_before_ms; /* after a failure nothing is asked until then */
    struct kube_call *call;
    char asked[NAME_BYTES_MAX + 1]; /* whom it asks for; "" if that is not doubted any more */
};

static int64_t now_ms(const struct doubts *doubts)
{
    return loop_now_ms(kube_client_loop(doubts->options.api));
}

static void say(struct doubt *doubt, struct str text)
{
    size_t len = text.len < sizeof(doubt->message) ? text.len : sizeof(doubt->message) - 1;

    memcpy(doubt->message, text.at, len);
    doubt->message[len] = '\0';
}

/* Look again when the next one is due. */
static void plan_next(struct doubts *doubts)
{
    int64_t due_ms = INT64_MAX;
    struct str id;
    void *value;

    for (size_t cursor = 0; dict_next(doubts->all, &cursor, &id, &value);) {
        const struct doubt *doubt = value;

        if (!doubt->gone && doubt->ask_at_ms < due_ms)
            due_ms = doubt->ask_at_ms;
    }
    if (doubts->call || due_ms == INT64_MAX)
        return;
    if (due_ms < doubts->not_before_ms)
        due_ms = doubts->not_before_ms;
    loop_timer_set(doubts->timer, due_ms > now_ms(doubts) ? due_ms - now_ms(doubts) : 0);
}

/* Its own 404, and not one of a server that does not serve clusters at present. */
static bool proves_gone(const struct kube_answer *answer, const char *asked)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;

    return answer->status == 404 &&
           json_read(arena, str_dup(arena, answer->body), &json_limits_default, &root,
                     &ignored) == 0 &&
           str_eq(json_str(json_get(root, STR("reason"))), STR("NotFound")) &&
           str_eq(json_str(json_walk(root, "details", "name", NULL)), str_of(asked));
}

static void take_answer(struct doubts *doubts, struct doubt *doubt,
                        const struct kube_answer *answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (proves_gone(answer, doubts->asked)) {
        doubt->gone = true;
        say(doubt, STR(""));
    } else if (answer->error.code == ERROR_NONE) {
        doubt->ask_at_ms = now_ms(doubts) + ASK_AGAIN_MS;
        say(doubt, STR("Rancher has it, but its list of clusters lacks it"));
    } else {
        int64_t wait_ms = backoff_next(&doubts->backoff, answer->retry_after_ms, &doubts->rng);

        doubts->not_before_ms = now_ms(doubts) + wait_ms;
        doubt->ask_at_ms = now_ms(doubts) + 2 * wait_ms; /* behind the others */
        say(doubt, str_fmt(arena, "whether it is gone is not known: %s", answer->error.text));
        return;
    }
    backoff_reset(&doubts->backoff);
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct doubts *doubts = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str id = str_dup(arena, str_of(doubts->asked));
    struct doubt *doubt = dict_get(doubts->all, id);

    doubts->call = NULL;
    if (doubt && id.len)
        take_answer(doubts, doubt, answer);
    plan_next(doubts);
    if (doubt && id.len)
        doubts->options.settled(doubts->options.context, id);
}

static void ask(void *context)
{
    struct doubts *doubts = context;
    struct str id;
    void *value;

    for (size_t cursor = 0; !doubts->call && dict_next(doubts->all, &cursor, &id, &value);) {
        const struct doubt *doubt = value;

        if (doubt->gone || doubt->ask_at_ms > now_ms(doubts))
            continue;

        const struct kube_request get = {
            .verb = KUBE_GET, .resource = rancher_clusters, .name = id
        };

        memcpy(doubts->asked, id.at, id.len);
        doubts->asked[id.len] = '\0';
        doubts->call = kube_client_call(doubts->options.api, &get, on_answer, doubts);
    }
    plan_next(doubts);
}

struct doubts *doubts_create(const struct doubts_options *options)
{
    struct doubts *doubts = mem_new(struct doubts);

    doubts->options = *options;
    doubts->all = dict_create();
    doubts->timer = loop_timer_create(kube_client_loop(options->api), ask, doubts);
    doubts->backoff = backoff_new(LIMIT_RETRY_FIRST, LIMIT_RETRY_MAX);
    doubts->rng = rng_from_seed(options->seed);
    return doubts;
}

void doubts_free(struct doubts *doubts)
{
    struct str id;
    void *value;

    if (!doubts)
        return;
    kube_call_cancel(doubts->call);
    loop_timer_free(doubts->timer);
    for (size_t cursor = 0; dict_next(doubts->all, &cursor, &id, &value);)
        mem_free(value);
    dict_free(doubts->all);
    mem_free(doubts);
}

void doubts_add(struct doubts *doubts, struct str id)
{
    struct doubt *doubt;

    if (dict_get(doubts->all, id))
        return;
    doubt = mem_new(struct doubt);
    say(doubt, STR("Rancher's list lacks it; asking whether it is gone"));
    /* What can be no cluster's name is never put into a path. */
    doubt->gone = kube_not_dns1123_subdomain(id) != NULL;
    doubt->ask_at_ms = now_ms(doubts);
    dict_set(doubts->all, id, doubt);
    plan_next(doubts);
}

void doubts_drop(struct doubts *doubts, struct str id)
{
    /* An answer that is under way is about what was: nobody takes it. */
    if (str_eq(id, str_of(doubts->asked)))
        doubts->asked[0] = '\0';
    mem_free(dict_remove(doubts->all, id));
}

bool doubts_is_gone(const struct doubts *doubts, struct str id)
{
    const struct doubt *doubt = dict_get(doubts->all, id);

    return doubt && doubt->gone;
}

struct str doubts_message(const struct doubts *doubts, struct str id)
{
    const struct doubt *doubt = dict_get(doubts->all, id);

    return doubt ? str_of(doubt->message) : STR("");
}
