/* SPDX-License-Identifier: Apache-2.0 */
/* access_gate_test.c: on which clusters something may begin, by what an API server says in the background. */
#include "support/rows.h"

#include "support/loopback.h"
#include "support/observed_builder.h"
#include "support/scripted_api.h"
#include "support/stack_builder.h"

#include "controller/limits.h"
#include "controller/reconcilers/stack/access_gate.h"

#define REVIEWS "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define YES "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":true}}"
#define NO "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":false}}"

#define CHART(name, more)                                                                          \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"" more "}"
#define CHARTS(more) "\"charts\":[" CHART("db", more) "," CHART("api", "") "]"

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct access_cache *access_cache;
    const struct stack *stack;
    bool spares_clusters, spares_references; /* the configuration denies nothing by these */
    uint32_t held; /* so many of the first clusters hold something of the Stack */
    struct observed_clusters clusters;
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
    f->access_cache = access_cache_create(&(struct access_cache_options){
        .api = f->client, .again = again, .context = f });
    f->stack = scene_stack(f->arena, NULL, CHARTS(""), "");
}

static void tear_down(struct fixture *f)
{
    access_cache_free(f->access_cache);
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
static struct str reasons(struct fixture *f, uint32_t count, int64_t *ret_look_again_ms)
{
    struct observed_clusters clusters = observed_clusters_new(f->arena, count);
    struct strbuf text = strbuf_new(f->arena, 64);
    const struct access_gate gate = { .arena = f->arena, .access_cache = f->access_cache,
                                       .stack = f->stack, .key = STR("team/shop"),
                                       .asks_clusters = !f->spares_clusters,
                                       .asks_references = !f->spares_references,
                                       .now_ms = loop_now_ms(f->loop) };

    for (uint32_t i = 0; i < count; i++) {
        struct observed_cluster cluster = { .id = str_fmt(f->arena, "c-%u", i + 1),
                                            .targeted = true, .state = CLUSTER_READ };

        cluster.releases = observed_releases_new(f->arena, 1);
        if (i < f->held)
            observed_releases_push(&cluster.releases, (struct observed_release){
                                       .name = STR("db"), .marked_uid = f->stack->meta.uid });
        observed_clusters_push(&clusters, cluster);
    }
    *ret_look_again_ms = access_gate_check(&gate, &clusters);
    for (uint32_t i = 0; i < count; i++)
        strbuf_fmt(&text, "%sc-%u=%.*s%s", i ? " " : "", i + 1,
                   STR_ARG(clusters.items[i].access_reason),
                   clusters.items[i].unasked_message.len ? "?" : "");
    f->clusters = clusters;
    return strbuf_str(&text);
}

static void a_cluster_opens_with_a_yes(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    rows_expect_str("at first", reasons(&f, 1, &look), STR("c-1=AccessNotSynced"));
    run(&f);
    rows_expect_str("then", reasons(&f, 1, &look), STR("c-1="));
    rows_expect_int("nobody looks again", look, -1);
    rows_expect_int("one question", scripted_api_count(f.api, "POST", REVIEWS), 1);
    tear_down(&f);
}

static void a_denial_is_kept_and_checked_again(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    rows_expect_str("at first", reasons(&f, 1, &look), STR("c-1=AccessNotSynced"));
    run(&f);
    rows_expect_str("then its namespaces are asked about", reasons(&f, 1, &look),
                    STR("c-1=AccessNotSynced"));
    /* The cluster, and both namespaces; one that is denied is enough. */
    scripted_api_run_until(f.api, f.loop, "POST", REVIEWS, 3);
    while (str_eq(reasons(&f, 1, &look), STR("c-1=AccessNotSynced")))
        run(&f);
    rows_expect_str("then", reasons(&f, 1, &look), STR("c-1=AccessDenied"));
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
    reasons(&f, 1, &look);
    run(&f);
    rows_expect_str("it waits", reasons(&f, 1, &look), STR("c-1=AccessNotSynced"));
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
    reasons(&f, 6, &look);
    run(&f);
    rows_expect_str("then", reasons(&f, 6, &look), STR("c-1= c-2= c-3= c-4= c-5= c-6="));
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
    reasons(&f, LIMIT_ACCESS_IN_BACKGROUND, &look);
    run(&f);
    reasons(&f, LIMIT_ACCESS_IN_BACKGROUND, &look);
    rows_expect("all under way", look > loop_now_ms(f.loop) + 1000, "only the right on all, again");
    run(&f);
    reasons(&f, 2 * LIMIT_ACCESS_IN_BACKGROUND + 1, &look);
    rows_expect("more than may be", look >= 0 && look <= loop_now_ms(f.loop) + 1000, "a moment");
    tear_down(&f);
}

/* As the planner does for those where it has something to do. */
static void ask(struct fixture *f, uint32_t count)
{
    const struct access_gate gate = { .arena = f->arena, .access_cache = f->access_cache,
                                       .stack = f->stack, .key = STR("team/shop"),
                                       .asks_clusters = !f->spares_clusters,
                                       .asks_references = !f->spares_references,
                                       .now_ms = loop_now_ms(f->loop) };
    struct str_list ids = str_list_new(f->arena, count);

    for (uint32_t i = 0; i < count; i++)
        str_list_push(&ids, str_fmt(f->arena, "c-%u", i + 1));
    (void)access_gate_ask(&gate, &ids);
}

static void only_new_clusters_are_asked_about_at_once(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    f.held = 1;
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    rows_expect_str("where something is", reasons(&f, 1, &look), STR("c-1=?"));
    rows_expect_str("and where nothing is", reasons(&f, 2, &look), STR("c-1=? c-2=AccessNotSynced"));
    run(&f);
    rows_expect_int("nothing else was asked", scripted_api_count(f.api, "POST", REVIEWS), 1);
    tear_down(&f);
}

/* A status that says where something is does not open a cluster: what is there does. */
static void of_the_others_when_there_is_something_to_do(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    f.held = 2;
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    rows_expect_str("not yet", reasons(&f, 2, &look), STR("c-1=? c-2=?"));
    ask(&f, 1);
    run(&f);
    rows_expect_str("one was asked about", reasons(&f, 2, &look), STR("c-1= c-2=?"));
    rows_expect_int("only that", scripted_api_count(f.api, "POST", REVIEWS), 1);
    tear_down(&f);
}

static void where_something_is_a_no_counts_too(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    f.held = 1;
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    ask(&f, 1);
    run(&f);
    rows_expect_str("the whole cluster, not its namespaces", reasons(&f, 1, &look), STR("c-1=?"));
    ask(&f, 1);
    scripted_api_run_until(f.api, f.loop, "POST", REVIEWS, 3);
    for (reasons(&f, 1, &look); !f.clusters.items[0].access_reason.len; reasons(&f, 1, &look))
        run(&f);
    rows_expect_str("denied", f.clusters.items[0].access_reason, STR("AccessDenied"));
    rows_expect("it is looked at again", look > loop_now_ms(f.loop), "later");
    tear_down(&f);
}

static void of_many_that_hold_something_the_right_on_all_comes_first(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    f.held = 6;
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    ask(&f, 6);
    run(&f);
    rows_expect_str("then", reasons(&f, 6, &look), STR("c-1= c-2= c-3= c-4= c-5= c-6="));
    rows_expect_int("one question", scripted_api_count(f.api, "POST", REVIEWS), 1);
    tear_down(&f);
}

static void values_are_asked_about_where_the_cluster_is_open(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    f.stack = scene_stack(f.arena, NULL,
                          CHARTS(",\"values\":{\"secretRefs\":[{\"name\":\"keys-${cluster.id}\"}]}"), "");
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    rows_expect_str("first the cluster", reasons(&f, 1, &look), STR("c-1=AccessNotSynced"));
    run(&f);
    for (reasons(&f, 1, &look); !str_eq(f.clusters.items[0].access_reason, STR("AccessDenied"));
         reasons(&f, 1, &look))
        run(&f);
    rows_expect("then its Secret", str_find(f.clusters.items[0].access_message,
                STR("ann, who applied this Stack, may not get Secret keys-c-1, which it takes values from"), 0) >= 0,
                f.clusters.items[0].access_message.at);
    rows_expect("it is looked at again", look > loop_now_ms(f.loop), "later");
    tear_down(&f);
}

/* What the configuration lets pass at admission must pass here, too. */
static void what_does_not_deny_is_not_asked(void **state)
{
    struct fixture f;
    int64_t look;

    (void)state;
    set_up(&f);
    f.stack = scene_stack(f.arena, NULL,
                          CHARTS(",\"values\":{\"secretRefs\":[{\"name\":\"keys\"}]}"), "");
    f.spares_clusters = f.spares_references = true;
    rows_expect_str("nothing", reasons(&f, 7, &look), STR("c-1= c-2= c-3= c-4= c-5= c-6= c-7="));
    rows_expect_int("so nobody is asked", scripted_api_count(f.api, "POST", REVIEWS), 0);
    f.spares_references = false;
    scripted_api_say(f.api, "POST", REVIEWS, 201, NO);
    rows_expect_str("only values", reasons(&f, 1, &look), STR("c-1=AccessNotSynced"));
    run(&f);
    rows_expect_str("are denied", reasons(&f, 1, &look), STR("c-1=AccessDenied"));
    rows_expect_int("by one question", scripted_api_count(f.api, "POST", REVIEWS), 1);
    f.spares_references = true;
    f.spares_clusters = false;
    scripted_api_say(f.api, "POST", REVIEWS, 201, YES);
    reasons(&f, 1, &look);
    run(&f);
    rows_expect_str("only clusters", reasons(&f, 1, &look), STR("c-1="));
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_opens_with_a_yes),
        cmocka_unit_test(a_denial_is_kept_and_checked_again),
        cmocka_unit_test(trouble_is_no_yes),
        cmocka_unit_test(of_many_the_right_on_all_comes_first),
        cmocka_unit_test(many_questions_take_turns),
        cmocka_unit_test(only_new_clusters_are_asked_about_at_once),
        cmocka_unit_test(of_the_others_when_there_is_something_to_do),
        cmocka_unit_test(where_something_is_a_no_counts_too),
        cmocka_unit_test(of_many_that_hold_something_the_right_on_all_comes_first),
        cmocka_unit_test(values_are_asked_about_where_the_cluster_is_open),
        cmocka_unit_test(what_does_not_deny_is_not_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
