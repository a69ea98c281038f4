/* SPDX-License-Identifier: Apache-2.0 */
/* access_test.c: asking an API server about users, against a scripted one: what it answers, what is
 * remembered, and that nobody waits for long. */
#include "support/rows.h"

#include "support/loopback.h"
#include "support/scripted_api.h"

#include "io/loop.h"
#include "stack/access/access.h"
#include "webhook/access.h"
#include "webhook/limits.h"
#include "webhook/metrics.h"

#include <pthread.h>

#define REVIEWS "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define ANSWER(status)                                                                             \
    "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"status\":"     \
    status "}"
#define YES ANSWER("{\"allowed\":true}")
#define NO ANSWER("{\"allowed\":false}")
#define FORBIDDEN                                                                                  \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"Forbidden\","  \
    "\"message\":\"herd-webhook cannot create subjectaccessreviews\",\"code\":403}"

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct metrics *metrics;
    struct access_source *source;
};

static void set_up(struct fixture *f)
{
    struct error err;

    *f = (struct fixture){ .arena = arena_create(0), .api = scripted_api_create(),
                           .metrics = webhook_metrics_create() };

    struct kube_config config = scripted_api_config(f->api);

    f->source = access_source_create(&config, f->metrics, &err);
    if (!f->source)
        fail_msg("%s", err.text);
}

static void tear_down(struct fixture *f)
{
    access_source_free(f->source);
    metrics_free(f->metrics);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

struct asked {
    enum access_answer answers[4];
    struct str why;
    int64_t took_ms;
};

/* As a review of its own: about so many clusters c-1, c-2 ... */
static struct asked ask(struct fixture *f, const char *username, uint32_t count)
{
    struct json none = { NULL, 0 };
    struct access_user user = access_user_of(f->arena, str_of(username), STR(""), none, none);
    struct access_questions questions = access_questions_new(f->arena, count);
    struct fact_access access = access_source_take(f->source, f->arena);
    int64_t began_ms = clock_monotonic_ms(system_clock());
    struct asked asked = { .why = STR("") };

    for (uint32_t i = 0; i < count; i++)
        access_questions_push(&questions, (struct access_question){
                                              .cluster = str_fmt(f->arena, "c-%u", i + 1) });
    access.ask(access.context, f->arena, &user, &questions, asked.answers, &asked.why);
    asked.took_ms = clock_monotonic_ms(system_clock()) - began_ms;
    return asked;
}

static uint32_t count(struct fixture *f)
{
    return scripted_api_count(f->api, "POST", REVIEWS);
}

static void answers_are_remembered(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    rows_expect_int("a yes", ask(&f, "ann", 2).answers[1], ACCESS_YES);
    rows_expect_int("two questions", count(&f), 2);
    rows_expect_int("again", ask(&f, "ann", 2).answers[0], ACCESS_YES);
    rows_expect_int("none more", count(&f), 2);
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    rows_expect_int("of somebody else", ask(&f, "bob", 1).answers[0], ACCESS_NO);
    rows_expect_int("one more", count(&f), 3);
    rows_expect_int("a no, too", ask(&f, "bob", 1).answers[0], ACCESS_NO);
    rows_expect_int("is remembered", count(&f), 3);

    struct asked both = ask(&f, "ann", 3);

    rows_expect_int("what is known", both.answers[0], ACCESS_YES);
    rows_expect_int("beside what is not", both.answers[2], ACCESS_NO);
    rows_expect_int("only that is asked", count(&f), 4);

    struct str body = scripted_api_last(f.api, f.arena, "POST", REVIEWS);

    rows_expect("with who and where",
                str_find(body, STR("\"name\":\"c-3\"},\"user\":\"ann\""), 0) >= 0, "in the body");
    tear_down(&f);
}

static const struct {
    const char *says;
    int status;
    const char *body;
    const char *why;
} strange[] = {
    { "it may not ask", 403, FORBIDDEN, "herd-webhook cannot create subjectaccessreviews" },
    { "the server is in trouble", 500, "oops", "500" },
    { "half an answer", 201, "{\"kind\":\"SubjectAccessReview\",\"sta", "line 1" },
    { "no answer but HTML", 200, "<html>", "line 1" },
};

static void what_is_no_answer_is_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        struct fixture f;
        struct asked asked;

        set_up(&f);
        scripted_api_say(f.api, "POST", REVIEWS, strange[i].status, strange[i].body);
        asked = ask(&f, "ann", 2);
        rows_expect_int(strange[i].says, asked.answers[0], ACCESS_UNKNOWN);
        rows_expect_int(strange[i].says, asked.answers[1], ACCESS_UNKNOWN);
        rows_expect(strange[i].says, str_find(asked.why, str_of(strange[i].why), 0) >= 0,
                    "says why");
        scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
        rows_expect_int("it is not remembered", ask(&f, "ann", 1).answers[0], ACCESS_YES);
        tear_down(&f);
    }
}

static void an_answer_without_a_yes_is_a_no(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, "{}");
    rows_expect_int("an empty one", ask(&f, "ann", 1).answers[0], ACCESS_NO);
    scripted_api_say(f.api, "POST", REVIEWS, 201, ANSWER("{\"allowed\":true,\"denied\":true}"));
    rows_expect_int("one that says both", ask(&f, "bob", 1).answers[0], ACCESS_NO);
    tear_down(&f);
}

static void nobody_waits_beyond_the_deadline(void **state)
{
    struct fixture f;
    struct asked asked;

    (void)state;
    set_up(&f);
    scripted_api_hang(f.api, "POST", REVIEWS);
    asked = ask(&f, "ann", 1);
    rows_expect_int("no answer", asked.answers[0], ACCESS_UNKNOWN);
    rows_expect("it was waited for", asked.took_ms >= LIMIT_ACCESS_TIME - 5, "as long as may be");
    rows_expect_str("and it says so", asked.why,
                    STR("the API server did not answer within 1000 ms"));
    asked = ask(&f, "bob", 1);
    rows_expect_int("the next review", asked.answers[0], ACCESS_UNKNOWN);
    rows_expect_str("does not wait in turn", asked.why,
                    STR("the API server has not answered for a while"));
    tear_down(&f);
}

/* One that comes late is there for whoever tries again. */
static void the_time_is_of_the_whole_review(void **state)
{
    struct fixture f;
    struct json none = { NULL, 0 };
    struct access_user user;
    struct access_questions questions;
    enum access_answer answer;
    struct fact_access access;
    int64_t began_ms;
    struct str why;

    (void)state;
    set_up(&f);
    user = access_user_of(f.arena, STR("ann"), STR(""), none, none);
    questions = access_questions_new(f.arena, 1);
    access_questions_push(&questions, (struct access_question){ .cluster = STR("c-1") });
    access = access_source_take(f.source, f.arena);
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    began_ms = clock_monotonic_ms(system_clock());
    access.ask(access.context, f.arena, &user, &questions, &answer, &why);
    rows_expect_int("the first round", answer, ACCESS_NO);
    scripted_api_hang(f.api, "POST", REVIEWS);
    questions.items[0].namespace_ = STR("db");
    access.ask(access.context, f.arena, &user, &questions, &answer, &why);
    rows_expect_int("the second", answer, ACCESS_UNKNOWN);
    rows_expect("both together", clock_monotonic_ms(system_clock()) - began_ms <
                                     2 * LIMIT_ACCESS_TIME,
                "have the time of one");
    tear_down(&f);
}

struct crowd {
    struct fixture *f;
    const char *username;
    struct asked asked;
};

static void *ask_in_thread(void *context)
{
    struct crowd *one = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct fixture own = *one->f;

    own.arena = arena;
    one->asked = ask(&own, one->username, 4);
    one->asked.why = STR("");
    return NULL;
}

static void many_ask_at_once(void **state)
{
    static const char *const users[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    enum { USERS = sizeof(users) / sizeof(users[0]) };
    struct fixture f;
    struct crowd crowd[USERS];
    pthread_t threads[USERS];

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    for (int i = 0; i < USERS; i++) {
        crowd[i] = (struct crowd){ &f, users[i], { .answers = { 0 } } };
        pthread_create(&threads[i], NULL, ask_in_thread, &crowd[i]);
    }
    for (int i = 0; i < USERS; i++) {
        pthread_join(threads[i], NULL);
        for (int k = 0; k < 4; k++)
            rows_expect_int(users[i], crowd[i].asked.answers[k], ACCESS_YES);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_remembered),
        cmocka_unit_test(what_is_no_answer_is_unknown),
        cmocka_unit_test(an_answer_without_a_yes_is_a_no),
        cmocka_unit_test(nobody_waits_beyond_the_deadline),
        cmocka_unit_test(the_time_is_of_the_whole_review),
        cmocka_unit_test(many_ask_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
