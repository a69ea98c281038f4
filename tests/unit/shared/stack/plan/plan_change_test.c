/* SPDX-License-Identifier: Apache-2.0 */
/* plan_change_test.c: lives in which a change went wrong once, as the property tests found them
 * (tests/property/stack_change_property_test.c, stack_forgery_property_test.c), in few words. */
#include "support/rows.h"

#include "support/observed_builder.h"

#define ONE_AT_A_TIME "\"rollout\":{\"maxConcurrentClusters\":1}"
#define NEW_DB(id)                                                                                 \
    ",\"overrides\":[{\"clusterIds\":[\"" id "\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"n\":2}}}]}]"

#define NOT_DB_ON_A                                                                                \
    "\"overrides\":[{\"selector\":{\"matchLabels\":{\"id\":\"a\"}},\"charts\":[{\"name\":\"db\",\"skip\":true}]}]"

#define NEW_WEB(id)                                                                                \
    ",\"overrides\":[{\"clusterIds\":[\"" id "\"],\"charts\":[{\"name\":\"web\",\"values\":{\"inline\":{\"n\":2}}}]}]"
#define FIRST(more)                                                                                \
    "\"rollout\":{\"waves\":[{\"name\":\"w\",\"selector\":{\"matchLabels\":{\"id\":\"a\"}}" more "}]}"
#define APPROVED_FIRST FIRST(",\"approval\":\"Manual\"")
#define PAUSED_FIRST FIRST(",\"pause\":\"1h\"")

#define NONE_MAY_FAIL "\"rollout\":{\"maxFailures\":0}"

#define BOTH(id) "app db@" id " deployed 1; app web@" id " deployed 1; "
#define TWO_CHARTS(wait)                                                                           \
    "\"charts\":[{\"name\":\"db\",\"repo\":\"https://charts.example.com\",\"version\":\"1.2.3\"" wait "},"  \
    "{\"name\":\"web\",\"repo\":\"https://charts.example.com\",\"version\":\"1.2.3\",\"dependsOn\":[\"db\"]}]"

struct change_row {
    const char *row;
    const char *charts, *members, *next_charts, *next_members;
    const char *words;
    const char *actions;
};

static void changes_that_went_wrong_once(void **state)
{
    static const struct change_row rows[] = {
        { "a cluster that is left keeps its place between two uninstalls", "db web<db",
          ONE_AT_A_TIME, "db web<db", ONE_AT_A_TIME NEW_DB("b"),
          "cluster a; app db@a deployed 1; app web@a deployed 1; cluster b; app db@b deployed 1;"
          "app web@b deployed 1; plan; cluster a untargeted; change; plan;"
          "uninstall web@a u1 failed; log web@a u1 no; plan", "" },
        { "a release whose repository was asked for waits for another's operation", "db", "", "db", "",
          "cluster a; repo a absent; plan; repo a ready; stranger db@a o1 running; plan", "" },
        { "a release stays while another's is in the place of its successor", "db x y", "",
          "api x y", "",
          "cluster a; app db@a deployed 1; app x@a deployed 1; app y@a deployed 1; plan;"
          "app api@a deployed 1 foreign; change; plan", "" },
        { "and when somebody changed its successor before that was deployed", "db x y", "",
          "api x y", "",
          "cluster a; app db@a deployed 1; app x@a deployed 1; app y@a deployed 1; plan; change;"
          "plan; app api@a failed 1 follows db; op api@a o1 failed; log api@a o1 no; plan;"
          "app api@a deployed 2 foreign; plan", "" },
        { "a confirmed removal goes on after its cluster was out of sight", "db web x", "", "x", "",
          "cluster a; app db@a deployed 1; app web@a deployed 1; app x@a deployed 1; plan; change;"
          "plan; confirm; cluster a not_synced; +1s; plan; cluster a read; +1s; plan",
          "uninstall:db@a uninstall:web@a" },
        { "so does a delay", "db x y", "", "db x y", NOT_DB_ON_A,
          "cluster a; app db@a deployed 1; app x@a deployed 1; app y@a deployed 1; plan; change;"
          "plan; +4m; cluster a disconnected; plan; cluster a read; +61s; plan", "uninstall:db@a" },
        { "failures of what was wanted before do not count against what is wanted now", "db",
          "\"rollout\":{\"maxFailures\":0}", "db", "\"rollout\":{\"maxFailures\":0}" NEW_DB("a"),
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; +10m; plan; change; +1s; plan;"
          "+40s; plan; cluster b; plan", "upgrade:db@b" },
        { "a cluster that is tried again by hand takes its place again", "db",
          "\"onFailure\":\"Stop\"," ONE_AT_A_TIME, "db", "\"onFailure\":\"Stop\"," ONE_AT_A_TIME,
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; cluster b; annotate retry 1; plan",
          "upgrade:db@a" },
        { "the approval of one spec is none of the next, also while values are being read",
          "db web", APPROVED_FIRST, "db web", APPROVED_FIRST NEW_WEB("a"),
          "cluster a; plan; approve w; plan; app db@a deployed 1; app web@a deployed 1; plan;"
          "change; values db not_synced; plan", "" },
        { "a cluster that waits for values gives its place away", "db web<db",
          ONE_AT_A_TIME, "db web<db", ONE_AT_A_TIME NEW_DB("a\",\"b"),
          "cluster a; cluster b; app db@a deployed 1; app web@a deployed 1; app db@b deployed 1;"
          "app web@b deployed 1; plan; change; values web ConfigMapNotFound; plan;"
          "app db@a deployed 2; plan", "upgrade:db@b" },
        { "so does one where nothing may be upgraded any more", "db web<db",
          ONE_AT_A_TIME, "db web<db", ONE_AT_A_TIME NEW_DB("a\",\"b"),
          "cluster a; cluster b; app db@a deployed 1; app web@a deployed 1; app db@b deployed 1;"
          "app web@b deployed 1; plan; change; plan; app db@a deployed 2; shut a AccessDenied no; plan",
          "upgrade:db@b" },
        { "a pause does not begin anew because a cluster is read again", "db", PAUSED_FIRST, "db",
          PAUSED_FIRST, "cluster a; cluster b; plan; app db@a deployed 1; plan; +30m;"
          "cluster a not_synced; plan; cluster a read; plan; +31m; plan", "upgrade:db@b" },
        { "nor because it was away", "db", PAUSED_FIRST, "db", PAUSED_FIRST,
          "cluster a; cluster b; plan; app db@a deployed 1; plan; +30m; cluster a disconnected;"
          "plan; cluster a read; plan; +31m; plan", "upgrade:db@b" },
        { "another change has a pause of its own", "db", PAUSED_FIRST, "db",
          PAUSED_FIRST NEW_DB("a\",\"b"),
          "cluster a; cluster b; plan; app db@a deployed 1; plan; +61m; plan; app db@b deployed 1;"
          "plan; change; plan; app db@a deployed 2; plan; +59m; plan", "" },
        { "what was asked for of drift that persists waits with it", "db",
          "\"drift\":\"Correct\"", "db", "",
          "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign corrected 5;"
          "plan; annotate retry 1; repo a downloading; plan; repo a ready; plan", "upgrade:db@a" },
        { "a failure that an edit forgave does not count as one of the new change", "db", NONE_MAY_FAIL,
          "db", NONE_MAY_FAIL ",\"retry\":{\"backoff\":\"40s\"}",
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; change;"
          "repo a not_synced; plan; repo a ready; plan", "upgrade:db@a" },
        { "nor one that was resumed from", "db", NONE_MAY_FAIL, "db", NONE_MAY_FAIL,
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan;"
          "annotate resume 1; repo a not_synced; plan; repo a ready; plan", "upgrade:db@a" },
        { "nor while the cluster is out of sight", "db", NONE_MAY_FAIL,
          "db", NONE_MAY_FAIL ",\"retry\":{\"backoff\":\"40s\"}",
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; change;"
          "cluster a disconnected; plan; cluster a read; plan", "upgrade:db@a" },
        { "the next failure counts again", "db", NONE_MAY_FAIL,
          "db", NONE_MAY_FAIL ",\"retry\":{\"backoff\":\"40s\"}",
          "cluster a; plan; app db@a failed 1; op db@a o1 failed; log db@a o1 no; plan; change;"
          "repo a not_synced; plan; repo a ready; plan; app db@a failed 2; op db@a o2 failed; log db@a o2 no;"
          "plan; cluster b; plan", "" },
        { "what goes waits for its wave, also where another Stack is awaited", "db web", FIRST(""), "db",
          FIRST(""),
          "cluster a; cluster b; " BOTH("a") BOTH("b") "plan; change; stack base waiting on a,b pending a,b;"
          "plan", "uninstall:web@a" },
        { "other charts make up for none that go", "db web", "", "api x", "",
          "cluster a; " BOTH("a") "plan; change; plan; app api@a deployed 1 follows db;"
          "app x@a deployed 1 follows web; plan", "" },
        { "which go when that is confirmed", "db web", "", "api x", "",
          "cluster a; " BOTH("a") "plan; change; plan; app api@a deployed 1 follows db;"
          "app x@a deployed 1 follows web; plan; confirm; plan", "uninstall:db@a uninstall:web@a" },
        { "a lost right removes nothing", "db web", "", "db", "",
          "cluster a; cluster b; " BOTH("a") BOTH("b") "plan; change; shut a AccessDenied no; shut b AccessDenied no;"
          "plan", "" },
        { "a right that is not known yet removes nothing", "db web", "", "db", "",
          "cluster a; cluster b; " BOTH("a") BOTH("b") "plan; change; unasked a; unasked b; plan", "" },
        { "a removal is delayed though retry is edited before a plan sees the label", "db", "", "db",
          "\"retry\":{\"limit\":4}",
          "cluster a; cluster b; cluster c; app db@a deployed 1; app db@b deployed 1; app db@c deployed 1;"
          "plan; cluster c untargeted; change; plan", "" },
        { "but not if spec.targets was edited", "db", "", "db",
          "\"targets\":{\"selector\":{\"matchLabels\":{\"x\":\"z\"}}}",
          "cluster a; cluster b; cluster c; app db@a deployed 1; app db@b deployed 1; app db@c deployed 1;"
          "plan; cluster c untargeted; change; plan", "uninstall:db@c" },
        { "an edit of what no release depends on forgives no failure", "db",
          "\"onFailure\":\"Stop\"", "db",
          "\"onFailure\":\"Stop\",\"observabilityProfile\":{\"scrapeInterval\":\"45s\"}",
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; change; plan", "" },
        { "a cluster whose workloads failed stops the rollout", "db",
          "\"rollout\":{\"maxFailures\":0,\"maxConcurrentClusters\":1}", "db",
          "\"rollout\":{\"maxFailures\":0,\"maxConcurrentClusters\":1}" NEW_DB("a\",\"b"),
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; change; plan;"
          "app db@a deployed 2 broken no; plan", "" },
        { "also one that is looked at after the one that waits", "db",
          "\"rollout\":{\"maxFailures\":0,\"maxConcurrentClusters\":1}", "db",
          "\"rollout\":{\"maxFailures\":0,\"maxConcurrentClusters\":1}" NEW_DB("a\",\"b"),
          "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; cluster a disconnected;"
          "change; plan; app db@b deployed 2 broken no; cluster a read; plan", "" },
        { "but not one that failed before the change", "db",
          "\"rollout\":{\"maxFailures\":0}", "db", "\"rollout\":{\"maxFailures\":0}" NEW_DB("a\",\"b"),
          "cluster a; cluster b; app db@a deployed 1 broken no; app db@b deployed 1; plan; change; plan",
          "upgrade:db@a upgrade:db@b" },
        { "without wait a chart begins before what it needs is ready", NULL,
          TWO_CHARTS(",\"wait\":false"), NULL, "", "cluster a; app db@a deployed 1 unready no; plan",
          "upgrade:web@a" },
        { "also if that fails", NULL, TWO_CHARTS(",\"wait\":false"), NULL, "",
          "cluster a; app db@a deployed 1 broken no; plan", "upgrade:web@a" },
        { "with wait it does not", NULL, TWO_CHARTS(""), NULL, "",
          "cluster a; app db@a deployed 1 unready no; plan", "" },
        { "Helm that somebody runs elsewhere has its time", "db", "\"drift\":\"Correct\"", "db", "",
          "cluster a; app db@a deployed 1; plan; app db@a pending 2 foreign; plan; +49m; plan", "" },
        { "and not more", "db", "\"drift\":\"Correct\"", "db", "",
          "cluster a; app db@a deployed 1; plan; app db@a pending 2 foreign; plan; +51m; plan",
          "remove-lock:db@a" },
        { "also where it is to go", "db", "", "db", "",
          "cluster a; app db@a deployed 1; plan; app db@a pending 2 foreign; delete; plan; +10m; plan", "" },
        { "a retry that is asked for while its cluster is away is not used up", "db",
          "\"onFailure\":\"Stop\"", "db", "",
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; cluster a disconnected; plan;"
          "annotate retry 1; plan; plan; cluster a read; plan", "upgrade:db@a" },
        { "nor while it is not read", "db", "\"onFailure\":\"Stop\"", "db", "",
          "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan; cluster a not_synced;"
          "annotate retry 1; plan; plan; cluster a read; plan", "upgrade:db@a" },
        { "a release that somebody's Helm is at work on is not adopted", "db", "", "db", "",
          "cluster a; app db@a pending 1 foreign; annotate adopt db/db; plan; plan; +10m; plan; +10m;"
          "plan", "" },
        { "it is adopted when that has ended", "db", "", "db", "",
          "cluster a; app db@a pending 1 foreign; annotate adopt db/db; plan; plan; +10m; plan;"
          "app db@a deployed 1 foreign; plan; plan", "upgrade:db@a" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct scene s = a_scene(arena, rows[i].charts, rows[i].members);

        s.next_charts = rows[i].next_charts;
        s.next_members = rows[i].next_members;
        scene_play(&s, rows[i].words);
        if (!str_eq(scene_actions(&s), str_of(rows[i].actions)))
            print_error("%.*s\n", STR_ARG(scene_states(&s)));
        rows_expect_str(rows[i].row, scene_actions(&s), str_of(rows[i].actions));
    }
}

static void corrections_of_other_clocks_and_hands_hold_nothing_up(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "\"drift\":\"Correct\"");
    struct observed_release *app;

    (void)state;
    scene_play(&s, "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign");
    app = &s.observed.clusters.items[0].releases.items[0];
    app->corrections = 1;
    app->marked_ms = s.observed.now_ms + 3600000;
    scene_play(&s, "plan");
    rows_expect_str("a mark that is to come", scene_actions(&s), STR("upgrade:db@a"));

    s = a_scene(arena, "db", "\"drift\":\"Correct\"");
    scene_play(&s, "cluster a; app db@a deployed 1; plan; app db@a deployed 2 foreign");
    app = &s.observed.clusters.items[0].releases.items[0];
    app->corrections = UINT32_MAX;
    scene_play(&s, "plan");
    rows_expect_str("more than there can be", scene_states(&s), STR("db@a=Failed/DriftPersists"));
}

/* A spec that was compared with nothing is not said to be deployed. */
static void a_spec_that_nobody_looked_at_is_not_observed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "");
    const struct kube_condition *ready;

    (void)state;
    s.next_members = "\"overrides\":[]" NEW_DB("a") + sizeof("\"overrides\":[]");
    scene_play(&s, "cluster a; app db@a deployed 1; plan; change; clusters unknown; plan");
    ready = kube_condition_find(&s.status.conditions, STR("Ready"));
    rows_expect_int("the generation", s.status.observed_generation, 1);
    rows_expect_int("of Ready, too", ready->observed_generation, 1);
    scene_play(&s, "clusters known; cluster a untargeted; plan");
    rows_expect_int("and then it is", s.status.observed_generation, 2);
}

static void a_restart_keeps_the_time_of_the_next_retry(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene(arena, "db", "");
    int64_t at;

    (void)state;
    scene_play(&s, "cluster a; plan; op db@a o1 failed; log db@a o1 no; plan");
    at = scene_state(&s, "db@a")->retry_ms;
    rows_expect("there is one", at > 0, "a time");
    scene_play(&s, "cluster a not_synced; plan");
    rows_expect_int("it stands", scene_state(&s, "db@a")->retry_ms, at);
}

#define OWN_VALUES                                                                                 \
    "\"charts\":[{\"name\":\"db\",\"repo\":\"https://charts.example.com\",\"version\":\"1.2.3\","               \
    "\"values\":{\"configMapRefs\":[{\"name\":\"of-${cluster.id}\"}]}}],"

/* The ConfigMap of one cluster alone. */
static void set_values(struct scene *s, uint32_t cluster, enum reference_state state, const char *text)
{
    s->observed.references.items[cluster].state = state;
    s->observed.references.items[cluster].text = str_of(text);
}

static struct scene a_scene_of_own_values(struct arena *arena, const char *members)
{
    struct scene s = a_scene(arena, NULL, members);

    s.observed.references = observed_references_new(arena, 2);
    for (uint32_t i = 0; i < 2; i++) {
        observed_references_push(&s.observed.references, (struct observed_reference){
            .name = i ? STR("of-b") : STR("of-a"), .key = STR("values.yaml") });
        set_values(&s, i, REFERENCE_READ, "{\"n\":1}");
    }
    return s;
}

/* A change is what the releases are to be, also where only values of single clusters say so. */
static void values_of_single_clusters_make_a_change(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene_of_own_values(arena, OWN_VALUES PAUSED_FIRST);

    (void)state;
    scene_play(&s, "cluster a; cluster b; app db@a deployed 1; app db@b deployed 1; plan; +2h; plan");
    set_values(&s, 0, REFERENCE_READ, "{\"n\":2}");
    set_values(&s, 1, REFERENCE_READ, "{\"n\":2}");
    scene_play(&s, "plan");
    rows_expect_str("the first wave gets it", scene_actions(&s), STR("upgrade:db@a"));
    scene_play(&s, "app db@a deployed 2; plan; +59m; plan");
    rows_expect_str("and pauses", scene_actions(&s), STR(""));
    scene_play(&s, "+2m; plan");
    rows_expect_str("before the next one", scene_actions(&s), STR("upgrade:db@b"));
}

static void an_approval_is_of_the_values_of_its_clusters(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene_of_own_values(arena, OWN_VALUES APPROVED_FIRST);

    (void)state;
    scene_play(&s, "cluster a; cluster b; plan; approve w; plan; app db@a deployed 1; plan; app db@b deployed 1;"
                   "plan");
    set_values(&s, 0, REFERENCE_READ, "{\"n\":2}");
    scene_play(&s, "plan");
    rows_expect_str("of others it is none", scene_actions(&s), STR(""));
    scene_play(&s, "approve w; plan");
    rows_expect_str("of these it is", scene_actions(&s), STR("upgrade:db@a"));
    scene_play(&s, "app db@a deployed 2; plan");
    set_values(&s, 1, REFERENCE_READ, "{\"n\":3}");
    scene_play(&s, "plan");
    rows_expect_str("another wave's values concern it not", scene_actions(&s), STR("upgrade:db@b"));
}

static void what_is_not_known_is_not_unchanged(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scene s = a_scene_of_own_values(
        arena, OWN_VALUES "\"rollout\":{\"waves\":[{\"name\":\"w\",\"approval\":\"Manual\",\"selector\":"
                          "{\"matchExpressions\":[{\"key\":\"id\",\"operator\":\"Exists\"}]}}]}");

    (void)state;
    scene_play(&s, "cluster a; cluster b; plan; approve w; plan; app db@a deployed 1; app db@b deployed 1; plan");
    set_values(&s, 0, REFERENCE_READ, "{\"n\":2}");
    set_values(&s, 1, REFERENCE_NOT_SYNCED, "");
    scene_play(&s, "plan");
    rows_expect_str("the former approval counts for nothing", scene_actions(&s), STR(""));
    rows_expect_str("the reason", scene_state(&s, "db@a")->reason, REASON(WAITING_FOR_APPROVAL));
    set_values(&s, 1, REFERENCE_READ, "{\"n\":1}");
    scene_play(&s, "plan; approve w; plan");
    rows_expect_str("and a new one does", scene_actions(&s), STR("upgrade:db@a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_that_went_wrong_once),
        cmocka_unit_test(corrections_of_other_clocks_and_hands_hold_nothing_up),
        cmocka_unit_test(a_spec_that_nobody_looked_at_is_not_observed),
        cmocka_unit_test(a_restart_keeps_the_time_of_the_next_retry),
        cmocka_unit_test(values_of_single_clusters_make_a_change),
        cmocka_unit_test(an_approval_is_of_the_values_of_its_clusters),
        cmocka_unit_test(what_is_not_known_is_not_unchanged),
    };

    return cmocka_run_group_tests_name("unit/shared/stack/plan/plan_change", tests, NULL, NULL);
}
