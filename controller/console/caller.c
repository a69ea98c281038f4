/* SPDX-License-Identifier: Apache-2.0 */
/* caller.c: an errand is made by the thread that waits, carried out on the loop, and freed by that
 * thread; or, when the process ends before it is done, with all others. */
#include "controller/console/caller.h"

#include "base/linked.h"
#include "base/memory.h"
#include "controller/limits.h"

#include <pthread.h>

struct errand {
    struct caller_requests *of;
    struct errand *next, *previous;
    struct arena *arena;
    struct caller_request request; /* copied */
    struct kube_call *call;        /* the loop's */
    pthread_cond_t answered;
    bool done; /* under the lock; what follows is set before */
    struct caller_answer answer;
};
LINKED_DEFINE(errand, struct errand)

struct caller_requests {
    struct loop *loop;
    struct kube_client *as_caller; /* has no credentials of its own */
    struct kube_client *as_self;   /* NULL: nobody may */
    pthread_mutex_t lock;
    struct errand *errands;
    uint32_t count;
    bool ended;
};

static void free_errand(struct errand *errand)
{
    pthread_cond_destroy(&errand->answered);
    arena_free(errand->arena);
    mem_free(errand);
}

/* --- on the loop --- */

static void on_done(void *context, const struct kube_answer *answer)
{
    struct errand *errand = context;

    errand->call = NULL;
    errand->answer = (struct caller_answer){ .status = answer->status,
                                             .body = str_dup(errand->arena, answer->body),
                                             .warnings = str_dup(errand->arena, answer->warnings),
                                             .error = answer->error };
    pthread_mutex_lock(&errand->of->lock);
    errand->done = true;
    pthread_cond_signal(&errand->answered);
    pthread_mutex_unlock(&errand->of->lock);
}

static void begin(void *context)
{
    struct errand *errand = context;
    const struct caller_request *request = &errand->request;
    const struct http_header authorization = {
        STR("Authorization"), str_fmt(errand->arena, "Bearer %.*s", STR_ARG(request->token))
    };
    const struct kube_raw raw = {
        .method = request->method,
        .path = request->path,
        .content_type = request->content_type.at,
        .body = request->body,
        .headers = &authorization,
        .header_count = request->token.len ? 1 : 0,
        .timeout_ms = LIMIT_CONSOLE_ANSWER_TIME,
    };

    errand->call = kube_client_send(
        request->token.len ? errand->of->as_caller : errand->of->as_self, &raw, on_done, errand);
}

/* --- on a thread that waits --- */

static struct errand *errand_create(struct caller_requests *requests,
                                    const struct caller_request *request)
{
    struct errand *errand = mem_new(struct errand);

    errand->of = requests;
    errand->arena = arena_create(0);
    arena_keep_secret(errand->arena); /* the token */
    pthread_cond_init(&errand->answered, NULL);
    errand->request = (struct caller_request){
        .token = str_dup(errand->arena, request->token),
        .method = request->method,
        .path = str_dup(errand->arena, request->path),
        .content_type = str_dup(errand->arena, request->content_type),
        .body = str_dup(errand->arena, request->body),
    };
    return errand;
}

static struct caller_answer cancelled(void)
{
    struct caller_answer answer = { .body = STR("") };

    error_set(&answer.error, ERROR_CANCELLED, "the controller is stopping; try again");
    return answer;
}

struct caller_answer caller_ask(struct caller_requests *requests, struct arena *arena,
                                const struct caller_request *request)
{
    struct errand *errand = errand_create(requests, request);
    struct caller_answer answer = cancelled();
    bool done;

    pthread_mutex_lock(&requests->lock);
    errand_link(&requests->errands, errand);
    requests->count++;
    if (!requests->ended)
        loop_post(requests->loop, begin, errand);
    while (!errand->done && !requests->ended)
        pthread_cond_wait(&errand->answered, &requests->lock);
    requests->count--;
    done = errand->done;
    if (done)
        errand_unlink(&requests->errands, errand);
    pthread_mutex_unlock(&requests->lock);
    /* The loop may still be at work on one that is not done. */
    if (!done)
        return answer;
    answer = errand->answer;
    answer.body = str_dup(arena, answer.body);
    answer.warnings = str_dup(arena, answer.warnings);
    free_errand(errand);
    return answer;
}

/* --- life --- */

struct caller_requests *caller_requests_create(const struct caller_options *options,
                                               struct error *err)
{
    AUTO(caller_requests_free) struct caller_requests *requests = mem_new(struct caller_requests);
    struct kube_config nobody = *options->api;
    /* kube-apiserver ends the HTTP/2 connection of whom it does not know (its feature
     * UnauthenticatedHTTP2DOSMitigation), and with it what others ask on it. */
    struct kube_client_options client = {
        .loop = options->loop,
        .http1 = true,
        .config = &nobody,
        .user_agent = "herd-console/" HERD_VERSION,
        .on_request = options->on_request,
        .on_request_context = options->on_request_context,
    };

    requests->loop = options->loop;
    pthread_mutex_init(&requests->lock, NULL);
    nobody.certificate_pem = nobody.key_pem = nobody.token = nobody.token_file = STR("");
    requests->as_caller = kube_client_create(&client, err);
    client.config = options->api;
    if (options->serves_anonymous)
        requests->as_self = kube_client_create(&client, err);
    if (!requests->as_caller || (options->serves_anonymous && !requests->as_self))
        return NULL;
    return TAKE(requests);
}

void caller_requests_end(struct caller_requests *requests)
{
    pthread_mutex_lock(&requests->lock);
    requests->ended = true;
    for (struct errand *errand = requests->errands; errand; errand = errand->next)
        pthread_cond_signal(&errand->answered);
    pthread_mutex_unlock(&requests->lock);
}

uint32_t caller_requests_count(struct caller_requests *requests)
{
    uint32_t count;

    pthread_mutex_lock(&requests->lock);
    count = requests->count;
    pthread_mutex_unlock(&requests->lock);
    return count;
}

void caller_requests_free(struct caller_requests *requests)
{
    if (!requests)
        return;
    /* Their calls first: what is under way ends without calling back. */
    kube_client_free(requests->as_caller);
    kube_client_free(requests->as_self);
    while (requests->errands) {
        struct errand *errand = requests->errands;

        errand_unlink(&requests->errands, errand);
        free_errand(errand);
    }
    pthread_mutex_destroy(&requests->lock);
    mem_free(requests);
}
