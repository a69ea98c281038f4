/* SPDX-License-Identifier: Apache-2.0 */
/* access.c: https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/
 * self-subject-access-review-v1/. */
#include "controller/console/access.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/limits.h"
#include "text/digest.h"
#include "text/json.h"
#include "text/json_write.h"

#include <pthread.h>

struct decision {
    bool pending;       /* somebody asks; wait */
    int64_t until_ms;   /* monotonic */
    struct error error; /* ERROR_NONE: allowed */
};

struct console_access {
    struct caller_requests *requests;
    pthread_mutex_t lock;
    pthread_cond_t decided;
    struct dict *decisions; /* by digest of the token, and question */
};

/* --- one question --- */

void access_question_write(const struct access_question *question, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("authorization.k8s.io/v1"));
    json_field_str(&w, "kind", STR("SelfSubjectAccessReview"));
    json_put_key(&w, STR("spec"));
    json_open_object(&w);
    json_put_key(&w, STR("resourceAttributes"));
    json_open_object(&w);
    json_field_str(&w, "verb", str_of(question->verb));
    json_field_str(&w, "group", question->resource->group);
    json_field_str(&w, "version", question->resource->version);
    json_field_str(&w, "resource", question->resource->plural);
    if (question->namespace_.len)
        json_field_str(&w, "namespace", question->namespace_);
    if (question->name.len)
        json_field_str(&w, "name", question->name);
    json_close_object(&w);
    json_close_object(&w);
    json_close_object(&w);
}

/* As the API server words it, but for the user's name, which it does not tell. */
static int forbid(struct arena *arena, const struct access_question *question, struct error *err)
{
    const struct kube_resource *resource = question->resource;
    struct str name = str_shown(arena, question->name, 100);
    struct str namespace_ = str_shown(arena, question->namespace_, 100);

    return error_set(
        err, ERROR_FORBIDDEN,
        "%.*s.%.*s%s%.*s%s is forbidden: the caller cannot %s resource \"%.*s\" in API "
        "group \"%.*s\" %s%.*s%s",
        STR_ARG(resource->plural), STR_ARG(resource->group), name.len ? " \"" : "", STR_ARG(name),
        name.len ? "\"" : "", question->verb, STR_ARG(resource->plural), STR_ARG(resource->group),
        namespace_.len ? "in the namespace \"" : "at the cluster scope", STR_ARG(namespace_),
        namespace_.len ? "\"" : "");
}

int access_answer_read(struct arena *arena, struct str body, const struct access_question *question,
                       struct error *err)
{
    struct json root, allowed;

    if (json_read(arena, body, &json_limits_default, &root, err) < 0)
        return error_wrap(err, "SelfSubjectAccessReview");
    allowed = json_walk(root, "status", "allowed", NULL);
    if (!json_is(allowed, JSON_BOOL))
        return error_set(err, ERROR_INTERNAL,
                         "the answer to a SelfSubjectAccessReview has no status.allowed: %.*s",
                         STR_ARG(str_shown(arena, body, 200)));
    return json_bool(allowed) ? 0 : forbid(arena, question, err);
}

static void ask(struct console_access *access, struct arena *arena, struct str token,
                const struct access_question *question, struct error *ret_error)
{
    struct strbuf body = strbuf_new(arena, 512);
    struct caller_answer answer;

    access_question_write(question, &body);
    answer = caller_ask(access->requests, arena,
                        &(struct caller_request){
                            .token = token,
                            .method = "POST",
                            .path = STR("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
                            .content_type = STR("application/json"),
                            .body = strbuf_str(&body),
                        });
    *ret_error = answer.error;
    if (answer.error.code == ERROR_NONE)
        (void)access_answer_read(arena, answer.body, question, ret_error);
}

/* --- what is known --- */

/* How long a decision holds; what could not be asked is asked again soon, but not by everybody. */
static int64_t holds_ms(enum error_code code)
{
    bool decided = code == ERROR_NONE || code == ERROR_FORBIDDEN || code == ERROR_UNAUTHORIZED;

    return decided ? LIMIT_CONSOLE_ACCESS_TIME : LIMIT_CONSOLE_ACCESS_RETRY;
}

/* Under the lock. All are asked for again soon, so nothing but time is lost. */
static void make_room(struct console_access *access)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    if (dict_count(access->decisions) < LIMIT_CONSOLE_ACCESS)
        return;
    while (dict_next(access->decisions, &cursor, &key, &value))
        if (!((const struct decision *)value)->pending) {
            dict_remove(access->decisions, key);
            mem_free(value);
        }
}

/* Under the lock: true with the decision in ret_error; or false, and this thread is to ask. Who
 * waits looks anew each time: another's decision may be gone again. */
static bool recall(struct console_access *access, struct str key, struct error *ret_error)
{
    struct decision *decision;

    while ((decision = dict_get(access->decisions, key)) && decision->pending)
        pthread_cond_wait(&access->decided, &access->lock);
    if (decision && clock_monotonic_ms(system_clock()) < decision->until_ms) {
        *ret_error = decision->error;
        return true;
    }
    if (!decision) {
        make_room(access);
        decision = mem_new(struct decision);
        dict_set(access->decisions, key, decision);
    }
    decision->pending = true;
    return false;
}

static void decide(struct console_access *access, struct str key, const struct error *error)
{
    struct decision *decision = dict_get(access->decisions, key);

    decision->error = *error;
    decision->pending = false;
    decision->until_ms = clock_monotonic_ms(system_clock()) + holds_ms(error->code);
    pthread_cond_broadcast(&access->decided);
}

int console_access_check(struct console_access *access, struct arena *arena, struct str token,
                         const struct access_question *question, struct error *err)
{
    struct error error = { .code = ERROR_NONE };
    bool known;

    if (token.len == 0)
        return 0;

    struct str key = str_fmt(
        arena, "%.*s %s %.*s.%.*s %.*s/%.*s", STR_ARG(digest_sha256_hex(arena, token)),
        question->verb, STR_ARG(question->resource->plural), STR_ARG(question->resource->group),
        STR_ARG(question->namespace_), STR_ARG(question->name));

    pthread_mutex_lock(&access->lock);
    known = recall(access, key, &error);
    pthread_mutex_unlock(&access->lock);
    if (!known) {
        ask(access, arena, token, question, &error);
        pthread_mutex_lock(&access->lock);
        decide(access, key, &error);
        pthread_mutex_unlock(&access->lock);
    }
    if (error.code == ERROR_NONE)
        return 0;
    *err = error;
    return -1;
}

/* --- life --- */

struct console_access *console_access_create(struct caller_requests *requests)
{
    struct console_access *access = mem_new(struct console_access);

    access->requests = requests;
    access->decisions = dict_create();
    pthread_mutex_init(&access->lock, NULL);
    pthread_cond_init(&access->decided, NULL);
    return access;
}

void console_access_free(struct console_access *access)
{
    size_t cursor = 0;
    struct str key;
    void *value;

    if (!access)
        return;
    while (dict_next(access->decisions, &cursor, &key, &value))
        mem_free(value);
    dict_free(access->decisions);
    pthread_cond_destroy(&access->decided);
    pthread_mutex_destroy(&access->lock);
    mem_free(access);
}
