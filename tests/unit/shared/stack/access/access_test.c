/* SPDX-License-Identifier: Apache-2.0 */
/* access_test.c: what is asked about a user, and what the answers mean. */
#include "support/rows.h"

#include "stack/access/access.h"
#include "stack/model/limits.h"
#include "support/stack_builder.h"

#define CHART(name, ns)                                                                            \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\",\"namespace\":\"" ns "\"}"
#define IDS(ids) "{\"clusterIds\":[" ids "]}"
#define GPU "{\"selector\":{\"matchLabels\":{\"gpu\":\"true\"}}}"
#define SIX "\"c-1\",\"c-2\",\"c-3\",\"c-4\",\"c-5\",\"c-6\""

static const struct {
    const char *says;
    const char *targets; /* of a Stack with charts in the namespaces db, app and db again */
    const char *may;     /* ' ' around each name that is granted: CLUSTER, CLUSTER:NAMESPACE, * */
    const char *silent;  /* the same, of those that nobody answers */
    const char *asked;   /* in turn, with '|' between the rounds */
    const char *found;
} rows[] = {
    { "one cluster, granted", IDS("\"c-1\""), " c-1 ", "", "c-1", "" },
    { "rejected, and both namespaces, too", IDS("\"c-1\""), "", "", "c-1|c-1:db c-1:app",
      "!who.access spec.targets.clusterIds[0]" },
    { "the namespaces are enough", IDS("\"c-1\""), " c-1:db c-1:app ", "", "c-1|c-1:db c-1:app",
      "" },
    { "one of them is not", IDS("\"c-1\""), " c-1:db ", "", "c-1|c-1:db c-1:app",
      "!who.access spec.targets.clusterIds[0]" },
    { "nor is one of another cluster", IDS("\"c-1\""), " c-2:db c-2:app c-2 ", "",
      "c-1|c-1:db c-1:app", "!who.access spec.targets.clusterIds[0]" },
    { "each cluster counts", IDS("\"c-1\",\"c-2\""), " c-1 ", "", "c-1 c-2|c-2:db c-2:app",
      "!who.access spec.targets.clusterIds[1]" },
    { "a duplicate is asked about once", IDS("\"c-1\",\"c-1\""), " c-1 ", "", "c-1",
      "targets.repeated spec.targets.clusterIds[1]" },
    { "what is no id is not asked about", IDS("\"c-1/x?y\""), "", "", "",
      "!targets.cluster-id spec.targets.clusterIds[0]" },
    { "of a few clusters nobody asks for all", IDS("\"c-1\",\"c-2\""), " * c-1 c-2 ", "",
      "c-1 c-2", "" },
    { "of many the right on all comes first", IDS(SIX), " * ", "", "*", "" },
    { "and then each", IDS(SIX), " c-1 c-2 c-3 c-4 c-5 c-6 ", "",
      "*|c-1 c-2 c-3 c-4 c-5 c-6", "" },
    { "a selector means those that match", GPU, " c-gpu1 c-gpu2 ", "", "c-gpu1 c-gpu2", "" },
    { "and each of them counts", GPU, " c-gpu1 ", "", "c-gpu1 c-gpu2|c-gpu2:db c-gpu2:app",
      "!who.access spec.targets.selector" },
    { "no answer is no yes", IDS("\"c-1\""), "", " c-1 ", "c-1",
      "!who.access-unknown spec.targets" },
    { "nor is one of a namespace", IDS("\"c-1\""), " c-1:db ", " c-1:app ", "c-1|c-1:db c-1:app",
      "!who.access-unknown spec.targets" },
    { "a rejection is told before what is not known", IDS("\"c-1\""), "", " c-1:app ",
      "c-1|c-1:db c-1:app", "!who.access spec.targets.clusterIds[0]" },
    { "what is not known is one finding", IDS("\"c-1\",\"c-2\",\"c-3\""), "", " c-1 c-2 c-3 ",
      "c-1 c-2 c-3", "!who.access-unknown spec.targets" },
    { "and stands beside a rejection", IDS("\"c-1\",\"c-2\""), "", " c-1 ",
      "c-1 c-2|c-2:db c-2:app",
      "!who.access-unknown spec.targets; !who.access spec.targets.clusterIds[1]" },
    { "of many, no answer about all leaves each", IDS(SIX), " c-1 c-2 c-3 c-4 c-5 c-6 ", " * ",
      "*|c-1 c-2 c-3 c-4 c-5 c-6", "" },
};

struct world {
    struct strbuf asked;
    const char *may, *silent;
};

static bool stands_in(struct arena *arena, const char *list, struct str name)
{
    return str_find(str_of(list), str_fmt(arena, " %.*s ", STR_ARG(name)), 0) >= 0;
}

static void answer(void *context, struct arena *arena, const struct access_user *user,
                   const struct access_questions *questions, enum access_answer *ret_answers,
                   struct str *ret_why)
{
    struct world *world = context;

    rows_expect_str("the user", user->name, STR("ann"));
    if (world->asked.len)
        strbuf_char(&world->asked, '|');
    for (uint32_t i = 0; i < questions->count; i++) {
        const struct access_question *q = &questions->items[i];
        struct str name = q->verb != ACCESS_DEPLOY
                              ? str_fmt(arena, "%s/%.*s", q->verb == ACCESS_GET_SECRET ? "secrets" : "configmaps",
                                        STR_ARG(q->name))
                          : q->namespace_.len
                              ? str_fmt(arena, "%.*s:%.*s", STR_ARG(q->cluster),
                                        STR_ARG(q->namespace_))
                          : q->cluster.len ? q->cluster
                                           : STR("*");
        bool silent = stands_in(arena, world->silent, name);

        strbuf_fmt(&world->asked, "%s%.*s", i ? " " : "", STR_ARG(name));
        ret_answers[i] = silent                                ? ACCESS_UNKNOWN
                         : stands_in(arena, world->may, name) ? ACCESS_YES
                                                               : ACCESS_NO;
        if (silent)
            *ret_why = STR("no answer in 1 s");
    }
}

static struct facts facts_with(struct arena *arena, struct world *world)
{
    struct facts facts = { .clusters_known = true,
                           .clusters = fact_clusters_new(arena, 4),
                           .access = { answer, world } };
    static const char *const ids[] = { "c-1", "c-2", "c-3", "c-4", "c-5", "c-6", "c-gpu1",
                                       "c-gpu2", "local" };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        bool gpu = strncmp(ids[i], "c-gpu", 5) == 0 || strcmp(ids[i], "local") == 0;

        fact_clusters_push(&facts.clusters,
                           (struct fact_cluster){
                               .id = str_of(ids[i]),
                               .labels = test_json(arena, gpu ? STR("{\"gpu\":\"true\"}")
                                                              : STR("{}")),
                               .ready = true,
                               .internal = strcmp(ids[i], "local") == 0 });
    }
    return facts;
}

static struct json stack_to(struct arena *arena, const char *targets)
{
    struct stack_builder b = a_stack(arena);

    with_targets(&b, targets);
    with_raw_chart(&b, CHART("db", "db"));
    with_raw_chart(&b, CHART("app", "app"));
    with_raw_chart(&b, "{\"name\":\"more\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\","
                       "\"namespace\":\"db\",\"values\":{\"inline\":{\"resources\":{\"limits\":{"
                       "\"nvidia.com/gpu\":1}}}}}");
    return stack_json(&b);
}

/* Ann writes a Stack. */
struct scene {
    struct arena *arena;
    struct world world;
    struct facts facts;
    struct admission_request request;
    struct json old_object;
    bool changes;
};

static struct scene *a_scene(struct arena *arena, const char *targets, const char *may, const char *silent)
{
    struct scene *scene = arena_new(arena, struct scene);

    *scene = (struct scene){
        .arena = arena,
        .world = { strbuf_new(arena, 256), may, silent },
        .facts = facts_with(arena, &scene->world),
        .request = { .object = stack_to(arena, targets), .username = STR("ann"),
                     .namespace_ = STR("team") },
    };
    return scene;
}

static struct verdict validated(struct scene *scene)
{
    struct arena *arena = scene->arena;
    const struct admission_request *request = &scene->request;
    struct rule_severities severities = rule_severities_default();
    struct json none = { NULL, 0 };
    struct access_user user = access_user_of(arena, request->username, STR(""), none, none);
    struct verdict verdict;

    severities.of[RULE_GPU_NO_PROVIDER] = SEVERITY_OFF;
    verdict = stack_admit(arena, request->object, scene->old_object, &scene->facts, &severities);
    scene->changes = author_changes(arena, request, scene->old_object, &verdict);
    if (scene->changes)
        access_validate(arena, &scene->facts, &user, request->namespace_, &severities, &verdict);
    return verdict;
}

static struct str asked(struct scene *scene)
{
    return strbuf_str(&scene->world.asked);
}

static void each_target_is_asked_about(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene *scene = a_scene(arena, rows[i].targets, rows[i].may, rows[i].silent);
        struct verdict verdict = validated(scene);

        rows_expect_str(rows[i].says, asked(scene), str_of(rows[i].asked));
        rows_expect_str(rows[i].says, findings_text(arena, &verdict.problems),
                        str_of(rows[i].found));
    }
}

static void the_words_say_where_and_why(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = validated(a_scene(arena, IDS("\"c-1\",\"c-2\",\"c-3\""), " c-1 ", " c-3 "));

    (void)state;
    rows_expect("the rejection",
                str_find(verdict.message,
                         STR("spec.targets.clusterIds[1]: Forbidden: 'ann' may not deploy to cluster c-2, "
                             "namespace db, app; ask whoever manages the cluster"), 0) >= 0,
                "says where");
    rows_expect("what is not known",
                str_find(verdict.message,
                         STR("spec.targets: Forbidden: whether 'ann' may deploy to c-3 is not known: no "
                             "answer in 1 s"), 0) >= 0,
                "says why");
}

static void while_clusters_are_unknown_a_selector_means_all(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene *scene = a_scene(arena, GPU, "", "");

    (void)state;
    scene->facts.clusters_known = false;
    rows_expect("without the right on all", !validated(scene).allowed, "rejected");
    scene->world.may = " * ";
    rows_expect("with it", validated(scene).allowed, "allowed");
    rows_expect_str("one question each", asked(scene), STR("*|*"));
}

/* The user may nothing: whom does that stop? */
static void only_who_changes_the_spec_is_asked_about(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene *scene = a_scene(arena, IDS("\"c-1\""), "", "");

    (void)state;
    scene->old_object = scene->request.object;
    rows_expect("who changes a label", validated(scene).allowed, "is allowed");
    rows_expect_str("and nobody is asked", asked(scene), STR(""));
    scene->old_object = stack_to(arena, IDS("\"c-2\""));
    rows_expect("who changes the spec", !validated(scene).allowed, "is rejected, whatever the old one says");
    scene->facts.access.ask = NULL;
    rows_expect("where nobody can be asked", validated(scene).allowed, "everybody is allowed");
}

#define REFS(kind, name) ",\"values\":{\"" kind "Refs\":[{\"name\":\"" name "\"}]}}"

static void values_must_be_readable(void **state)
{
    static const struct {
        const char *says, *chart, *may, *asked, *found;
    } of[] = {
        { "a Secret", REFS("secret", "keys"), " c-1 secrets/keys ", "c-1|secrets/keys", "" },
        { "that the user may not get", REFS("secret", "keys"), " c-1 configmaps/keys ", "c-1|secrets/keys",
          "!who.references spec.charts[3].values.secretRefs[0]" },
        { "a ConfigMap", REFS("configMap", "base"), " c-1 secrets/base ", "c-1|configmaps/base",
          "!who.references spec.charts[3].values.configMapRefs[0]" },
        { "one for each cluster", REFS("secret", "keys-${cluster.id}"), " c-1 secrets/keys-c-1 ",
          "c-1|secrets/keys-c-1", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene *scene = a_scene(arena, IDS("\"c-1\""), of[i].may, "");
        struct str text = json_raw(scene->request.object);
        ptrdiff_t end = (ptrdiff_t)text.len - 3; /* ]}} */

        scene->request.object = test_json(arena, str_fmt(
            arena, "%.*s,{\"name\":\"v\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"%s%.*s",
            STR_ARG(str_slice(text, 0, (size_t)end)), of[i].chart,
            STR_ARG(str_slice(text, (size_t)end, text.len))));
        struct verdict verdict = validated(scene);

        rows_expect_str(of[i].says, asked(scene), str_of(of[i].asked));
        rows_expect_str(of[i].says, findings_text(arena, &verdict.problems), str_of(of[i].found));
    }
}

static void questions_are_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf targets = strbuf_new(arena, 65536);
    struct scene *scene;

    (void)state;
    strbuf_lit(&targets, "{\"clusterIds\":[");
    for (int i = 0; i < LIMIT_ACCESS_QUESTIONS; i++)
        strbuf_fmt(&targets, "%s\"c-%d\"", i ? "," : "", i);
    strbuf_lit(&targets, "]}");
    scene = a_scene(arena, strbuf_str(&targets).at, "", "");
    rows_expect("beyond the bound", !validated(scene).allowed, "rejected");
    rows_expect_str("only one was asked", asked(scene), STR("*"));
    scene->world.may = " * ";
    rows_expect("with the right on all", validated(scene).allowed, "allowed");
}

static void reviews_are_those_of_kubernetes(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct access_user user = access_user_of(arena, STR("a\"b"), STR("u-1"),
                                             test_json(arena, STR("[\"dev\"]")),
                                             test_json(arena, STR("{\"k\":[\"v\"]}")));
    struct author author = { STR("ann"), str_list_new(arena, 1) };
    struct access_user recorded;
    struct strbuf whole = strbuf_new(arena, 256), part = strbuf_new(arena, 256);
    struct strbuf all = strbuf_new(arena, 256), secret = strbuf_new(arena, 256);

    (void)state;
    access_review_write(&user, &(struct access_question){ .cluster = STR("c-1") }, &whole);
    rows_expect_str("a cluster", strbuf_str(&whole),
                    STR("{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview"
                        "\",\"spec\":{\"resourceAttributes\":{\"group\":\"management.cattle.io\","
                        "\"resource\":\"clusters\",\"verb\":\"deploy\",\"name\":\"c-1\"},\"user\":"
                        "\"a\\\"b\",\"uid\":\"u-1\",\"groups\":[\"dev\"],\"extra\":{\"k\":[\"v\"]}"
                        "}}"));
    str_list_push(&author.groups, STR("dev"));
    recorded = access_user_recorded(arena, &author);
    access_review_write(&recorded, &(struct access_question){ .cluster = STR("c-1"), .namespace_ = STR("db") }, &part);
    rows_expect_str("a namespace", strbuf_str(&part),
                    STR("{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview"
                        "\",\"spec\":{\"resourceAttributes\":{\"group\":\"herd.suse.com\","
                        "\"resource\":\"releases\",\"verb\":\"deploy\",\"name\":\"c-1:db\"},"
                        "\"user\":\"ann\",\"groups\":[\"dev\"]}}"));
    access_review_write(&recorded, &(struct access_question){ .verb = ACCESS_DEPLOY }, &all);
    rows_expect("all clusters", str_find(strbuf_str(&all), STR("\"name\""), 0) < 0, "no name");
    access_review_write(&recorded, &(struct access_question){ .namespace_ = STR("ml"), .name = STR("keys"),
                                                              .verb = ACCESS_GET_SECRET }, &secret);
    rows_expect_str("a Secret", strbuf_str(&secret),
                    STR("{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview"
                        "\",\"spec\":{\"resourceAttributes\":{\"resource\":\"secrets\",\"namespace\":"
                        "\"ml\",\"verb\":\"get\",\"name\":\"keys\"},\"user\":\"ann\",\"groups\":"
                        "[\"dev\"]}}"));
}

static void only_a_plain_yes_is_one(void **state)
{
    static const struct {
        const char *says, *answer;
        bool allows;
    } answers[] = {
        { "allowed", "{\"status\":{\"allowed\":true}}", true },
        { "allowed and denied", "{\"status\":{\"allowed\":true,\"denied\":true}}", false },
        { "not allowed", "{\"status\":{\"allowed\":false}}", false },
        { "half an answer", "{}", false },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        rows_expect_int(answers[i].says, access_review_allows(test_json(arena, str_of(answers[i].answer))),
                        answers[i].allows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_target_is_asked_about),
        cmocka_unit_test(the_words_say_where_and_why),
        cmocka_unit_test(while_clusters_are_unknown_a_selector_means_all),
        cmocka_unit_test(only_who_changes_the_spec_is_asked_about),
        cmocka_unit_test(values_must_be_readable),
        cmocka_unit_test(questions_are_bounded),
        cmocka_unit_test(reviews_are_those_of_kubernetes),
        cmocka_unit_test(only_a_plain_yes_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
