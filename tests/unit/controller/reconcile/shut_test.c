/* shut_test.c: on which clusters something may begin, by what an API server says in the background. */
#include "support/rows.h"

#include "support/loopback.h"
#include "support/observed_builder.h"
#include "support/scripted_api.h"
#include "support/stack_builder.h"

#include "base/limits.h"
#include "controller/reconcile/shut.h"

#define REVIEWS "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define YES "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":true}}"
#define NO "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":false}}"

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct accesses *accesses;
    struct admitted admitted;
    const struct stack *stack;
    struct str_list held;
    bool woken;
};

static void again(void *context, struct str key)
{
    struct fixture *f = context;

    rows_expect_str("the Stack that asked", key, STR("team/shop"));
    f->woken = true;
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0), .api = scripted_api_create(),
                           .loop = loop_create() };
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->accesses = accesses_create(&(struct accesses_options){
        .api = f->client, .again = again, .context = f });
    f->admitted = (struct admitted){ .judged = true, .receipt = { .by = STR("ann") } };
    f->stack = scene_stack(f->arena, "db api", "", "");
    f->held = str_list_new(f->arena, 1);
}

static void tear_down(struct fixture *f)
{
    accesses_free(f->accesses);
    kube_client_free(f->client);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

/* Until an answer woke the Stack. */
static void run(struct fixture *f)
{
    f->woken = false;
    loopback_run_until(f->loop, &f->woken);
}

/* "c-1=Reason c-2=": why nothing may begin on so many clusters. */
static struct str shut(struct fixture *f, uint32_t count, int64_t *ret_look_again_ms)
{
    struct observed_clusters clusters = observed_clusters_new(f->arena, count);
    struct strbuf text = strbuf_new(f->arena, 64);
    const struct shutting shutting = { .arena = f->arena, .accesses = f->accesses,
                                       .admitted = &f->admitted, .stack = f->stack,
                                       .key = STR("team/shop"), .held = &f->held };

    for (uint32_t i = 0; i < count; i++)
        observed_clusters_push(&clusters, (struct observed_cluster){
                                              .id = str_fmt(f->arena, "c-%u", i + 1),
                                              .targeted = true, .state = CLUSTER_READ });
    *ret_look_again_ms = shut_clusters(&shutting, &clusters);
    for (uint32_t i = 0; i < count; i++)
        strbuf_fmt(&text, "%sc-%u=%.*s", i ? " " : "", i + 1,
                   STR_ARG(clusters.items[i].shut_reason));
    return strbuf_str(&text);
}

static void a_cluster_opens_with_a_yes(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    rows_expect_str("at first", shut(&f, 1, &look), STR("c-1=AccessUnread"));
    run(&f);
    rows_expect_str("then", shut(&f, 1, &look), STR("c-1="));
    rows_expect_int("nobody looks again", look, -1);
    rows_expect_int("one question", scripted_api_count(f.api, "POST", REVIEWS), 1);
    tear_down(&f);
}

static void a_no_stays_shut_and_is_looked_at_again(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    rows_expect_str("at first", shut(&f, 1, &look), STR("c-1=AccessUnread"));
    run(&f);
    rows_expect_str("then its namespaces are asked about", shut(&f, 1, &look),
                    STR("c-1=AccessUnread"));
    /* The cluster, and both namespaces; one that is denied is enough. */
    scripted_api_run_until(f.api, f.loop, "POST", REVIEWS, 3);
    while (str_eq(shut(&f, 1, &look), STR("c-1=AccessUnread")))
        run(&f);
    rows_expect_str("then", shut(&f, 1, &look), STR("c-1=AccessDenied"));
    rows_expect("it is looked at again", look > loop_now_ms(f.loop), "later");
    tear_down(&f);
}

static void trouble_is_no_yes(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 403, "{}");
    shut(&f, 1, &look);
    run(&f);
    rows_expect_str("it waits", shut(&f, 1, &look), STR("c-1=AccessUnread"));
    rows_expect("and tries again", look > loop_now_ms(f.loop), "later");
    tear_down(&f);
}

static void of_many_the_right_on_all_comes_first(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    shut(&f, 6, &look);
    run(&f);
    rows_expect_str("then", shut(&f, 6, &look), STR("c-1= c-2= c-3= c-4= c-5= c-6="));
    rows_expect_int("one question", scripted_api_count(f.api, "POST", REVIEWS), 1);
    tear_down(&f);
}

static void many_questions_take_turns(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    shut(&f, LIMIT_ACCESS_IN_BACKGROUND, &look);
    run(&f);
    shut(&f, LIMIT_ACCESS_IN_BACKGROUND, &look);
    rows_expect("all under way", look > loop_now_ms(f.loop) + 1000, "only the right on all, again");
    run(&f);
    shut(&f, 2 * LIMIT_ACCESS_IN_BACKGROUND + 1, &look);
    rows_expect("more than may be", look >= 0 && look <= loop_now_ms(f.loop) + 1000, "a moment");
    tear_down(&f);
}

static void only_new_clusters_are_asked_about(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    str_list_push(&f.held, STR("c-1"));
    rows_expect_str("where something is", shut(&f, 1, &look), STR("c-1="));
    f.admitted = (struct admitted){ .judged = false };
    rows_expect_str("where receipts are not looked at", shut(&f, 2, &look), STR("c-1= c-2="));
    f.admitted = (struct admitted){ .doubt = STR("nobody judged it") };
    rows_expect_str("of a Stack from before", shut(&f, 2, &look), STR("c-1= c-2="));
    /* What was asked before goes out before. */
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    f.admitted = (struct admitted){ .judged = true, .receipt = { .by = STR("ann") } };
    rows_expect_str("of another one", shut(&f, 2, &look), STR("c-1= c-2=AccessUnread"));
    run(&f);
    rows_expect_int("nothing else was asked", scripted_api_count(f.api, "POST", REVIEWS), 1);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_opens_with_a_yes),
        cmocka_unit_test(a_no_stays_shut_and_is_looked_at_again),
        cmocka_unit_test(trouble_is_no_yes),
        cmocka_unit_test(of_many_the_right_on_all_comes_first),
        cmocka_unit_test(many_questions_take_turns),
        cmocka_unit_test(only_new_clusters_are_asked_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
