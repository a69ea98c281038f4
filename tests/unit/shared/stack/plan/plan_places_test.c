/* SPDX-License-Identifier: Apache-2.0 */
/* plan_places_test.c: the law of places: whatever stops one cluster, all others get the change, one
 * cluster at a time. A row for each cause; together they show every reason that a release can have. */
#include "support/rows.h"

#include "base/set.h"
#include "stack/model/limits.h"
#include "support/observed_builder.h"

enum { STEPS = 120, STEP_MS = 70000 };

#define ONE_AT_A_TIME(more)                                                                        \
    "\"rollout\":{\"maxConcurrentClusters\":1,\"maxUnavailable\":\"3\"," more                      \
    "\"removalDelay\":\"168h\"}"
#define NEW_VALUES                                                                                 \
    ",\"overrides\":[{\"clusterIds\":[\"a\",\"b\",\"c\"],\"charts\":[{\"name\":\"db\",\"values\":" \
    "{\"inline\":{\"n\":2}}}]}]"

struct cause {
    const char *row;
    const char *words;   /* what is so on cluster a */
    const char *members; /* of the spec, before and after the change; NULL: as usual */
    const char *more;    /* of the spec after it; NULL: as usual */
    bool fails;          /* each upgrade there does */
};

static const struct cause causes[] = {
    { "its operation never ends", "", NULL, NULL, false },
    { "its pod never begins", "op web@a o9 running Insufficient nvidia.com/gpu", NULL, NULL, false },
    { "every upgrade fails", "", NULL, NULL, true },
    { "every installation fails", "gone db@a", NULL, NULL, true },
    { "an upgrade fails for good", "", "\"onFailure\":\"Stop\"," ONE_AT_A_TIME(""), NULL, true },
    { "somebody's operation runs", "stranger db@a o1 running", NULL, NULL, false },
    { "somebody's Helm is at work", "app db@a pending 2 foreign", NULL, NULL, false },
    { "a release was left pending", "app db@a pending 2 old", NULL, NULL, false },
    { "a first revision was left pending", "app db@a pending 1 old", NULL, NULL, false },
    { "operations of others take all slots",
      "stranger x@a o1 running; stranger y@a o2 running; stranger z@a o3 running", NULL, NULL, false },
    { "another Stack's release is in the way", "app db@a deployed 1 other taken", NULL, NULL, false },
    { "somebody undoes each correction", "app web@a deployed 9 foreign corrected 5",
      "\"drift\":\"Correct\"," ONE_AT_A_TIME(""), NULL, false },
    { "somebody changed a release", "app web@a deployed 9 foreign", NULL, NULL, false },
    { "the version is missing", "version db@a missing", NULL, NULL, false },
    { "another version came", "app web@a deployed 1 version 9.9.9", NULL, NULL, false },
    { "nobody says whether the version is there", "version db@a not_synced", NULL, NULL, false },
    { "the repository does not answer", "version db@a failed", NULL, NULL, false },
    { "the index is old", "version db@a stale", NULL, NULL, false },
    { "the repository is not there", "repo a absent", NULL, NULL, false },
    { "the repository is being downloaded", "repo a downloading", NULL, NULL, false },
    { "the repository cannot be read", "repo a failed", NULL, NULL, false },
    { "the repository is disabled", "repo a unusable", NULL, NULL, false },
    { "Rancher is busy there", "backoff a TooManyRequests", NULL, NULL, false },
    { "its operations are not listed", "unlisted a", NULL, NULL, false },
    { "a workload is not ready", "app web@a deployed 1 unready no", NULL, NULL, false },
    { "a workload will not become ready", "app web@a deployed 1 broken no", NULL, NULL, false },
    { "its label was taken away", "cluster a untargeted", NULL, NULL, false },
    { "a removal waits for a confirmation", "cluster a untargeted",
      "\"rollout\":{\"maxConcurrentClusters\":1,\"maxUnavailable\":\"3\",\"removalDelay\":\"0s\","
      "\"maxRemovals\":\"0\"}", NULL, false },
    { "a removal waits for what depends on it", "app old@a deployed 1; cluster a; app web@a deployed 1 old unready no",
      NULL, NULL, false },
    { "a release is being adopted by another Stack", "app old@a deployed 1 adopted", NULL, NULL, false },
    { "it lacks a label that the values name", "", NULL,
      ",\"overrides\":[{\"clusterIds\":[\"a\",\"b\",\"c\"],\"charts\":[{\"name\":\"db\",\"values\":"
      "{\"inline\":{\"n\":\"${cluster.labels.zone}\"}}}]}]", false },
    { "the author may not deploy there", "shut a AccessDenied no", NULL, NULL, false },
    { "nobody says whether the author may", "unasked a", NULL, NULL, false },
    { "another Stack is not deployed there", "stack base waiting on a,b,c pending a", NULL, NULL, false },
    { "it is disconnected", "cluster a disconnected", NULL, NULL, false },
    { "nothing is heard of it", "cluster a stale", NULL, NULL, false },
    { "it is not read", "cluster a not_synced", NULL, NULL, false },
};

/* Reasons that stop no single cluster. */
static const enum reason elsewhere[] = {
    /* What goes well. */
    REASON_DEPLOYED, REASON_WORKLOADS_STARTING, REASON_INSTALLING, REASON_UPGRADING,
    REASON_UNINSTALLING, REASON_REMOVED, REASON_REMOVING_LOCK, REASON_FREEING_RELEASE,
    REASON_OPERATION_ENDED, REASON_ADOPTING, REASON_CLUSTER_BACK, REASON_REPO_REQUESTED,
    REASON_UNINSTALL_FAILED, REASON_OPERATION_FAILED, REASON_OPERATION_NOT_STARTED,
    /* The same on every cluster: a ConfigMap of the Stack, the rollout, Rancher, other systems. */
    REASON_CONFIG_MAP_NOT_FOUND, REASON_SECRET_NOT_FOUND, REASON_VALUES_NOT_SYNCED,
    REASON_VALUES_UNREADABLE, REASON_VALUES_INVALID, REASON_VALUES_TOO_LARGE, REASON_WAITING,
    REASON_RANCHER_UNAVAILABLE, REASON_REMOVING_ADMISSION_RULES, REASON_REMOVING_MONITORING,
    REASON_REMOVING_REPO, REASON_WAITING_FOR_WAVE, REASON_WAITING_FOR_APPROVAL,
    REASON_WAITING_FOR_SCANS, REASON_WAITING_FOR_ROLLOUT, REASON_ROLLOUT_STOPPED,
    REASON_STACK_NEEDED, REASON_WAITING_FOR_SUCCESSOR, REASON_WAITING_FOR_DEPENDENTS,
};

static void finish_upgrade(struct scene *s, const struct action *a)
{
    struct observed_cluster *c = &s->observed.clusters.items[a->cluster];

    scene_play(s, str_fmt(s->arena, "app %.*s@%.*s deployed %u", STR_ARG(a->chart_name),
                          STR_ARG(c->id), a->revision + 1).at);
    for (uint32_t i = 0; i < c->releases.count; i++)
        if (str_eq(c->releases.items[i].name, a->release_name))
            c->releases.items[i].digest = a->desired->digest;
}

static void fail_upgrade(struct scene *s, const struct action *a, uint32_t step)
{
    scene_play(s, str_fmt(s->arena, "op %.*s@a f%u failed; log %.*s@a f%u no",
                          STR_ARG(a->chart_name), step, STR_ARG(a->chart_name), step).at);
}

static void step(struct scene *s, const struct cause *cause, uint32_t at, struct set shown)
{
    struct actions actions;
    struct set begun = set_new(s->arena, 3);

    s->observed.now_ms += STEP_MS;
    scene_plan(s);
    for (uint32_t i = 0; i < s->plan.releases.count; i++)
        if (str_eq(s->plan.releases.items[i].cluster_id, STR("a")) &&
            reason_find(s->plan.releases.items[i].reason))
            set_add(shown, reason_find(s->plan.releases.items[i].reason)->name);
    actions = s->plan.actions;
    for (uint32_t i = 0; i < actions.count; i++) {
        const struct action *a = &actions.items[i];
        bool of_a = str_eq(s->observed.clusters.items[a->cluster].id, STR("a"));

        if (action_changes(a->kind) && a->kind != ACTION_ENSURE_REPO)
            set_add(begun, s->observed.clusters.items[a->cluster].id);
        if (a->kind == ACTION_UPGRADE && !of_a)
            finish_upgrade(s, a);
        else if (a->kind == ACTION_UPGRADE && cause->fails)
            fail_upgrade(s, a, at);
        else if (a->kind == ACTION_REMOVE_LOCK)
            scene_play(s, str_fmt(s->arena, "app %.*s@a deployed 1 old", STR_ARG(a->chart_name)).at);
        else if (a->kind == ACTION_UNINSTALL)
            scene_play(s, str_fmt(s->arena, "gone %.*s@a", STR_ARG(a->chart_name)).at);
        else if (a->kind == ACTION_UPGRADE)
            scene_play(s, str_fmt(s->arena, "op %.*s@a o-%u running", STR_ARG(a->chart_name), at).at);
    }
    rows_expect(cause->row, map_count(begun.strings) <= 1, "one cluster at a time");
}

/* The label zone, to all but the first. */
static void give_zones(struct scene *s)
{
    struct error ignored = { 0 };

    for (uint32_t i = 1; i < s->observed.clusters.count; i++)
        (void)json_read(s->arena, STR("{\"zone\":\"z\"}"), &json_limits_default,
                        &s->observed.clusters.items[i].labels, &ignored);
}

static void check(const struct cause *cause, struct set shown)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *members = cause->members ? cause->members : ONE_AT_A_TIME("");
    struct scene s = a_scene(arena, "db web<db", members);

    s.next_members = str_fmt(arena, "%s%s", members, cause->more ? cause->more : NEW_VALUES).at;
    scene_play(&s, "cluster a; cluster b; cluster c; app db@a deployed 1; app web@a deployed 1;"
                   "app db@b deployed 1; app web@b deployed 1; app db@c deployed 1;"
                   "app web@c deployed 1; plan; change");
    give_zones(&s);
    scene_play(&s, cause->words);
    for (uint32_t i = 0; i < STEPS; i++)
        step(&s, cause, i, shown);
    for (uint32_t i = 0; i < s.plan.releases.count; i++) {
        const struct release_state *r = &s.plan.releases.items[i];

        if (str_eq(r->cluster_id, STR("a")))
            continue;
        if (r->state != DEPLOYMENT_DEPLOYED)
            print_error("%.*s\n", STR_ARG(scene_states(&s)));
        rows_expect(cause->row, r->state == DEPLOYMENT_DEPLOYED, "the other clusters are deployed");
    }
}

static void what_stops_one_cluster_stops_no_other(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct set shown = set_new(arena, REASON_COUNT);

    (void)state;
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        set_add(shown, reason_rows[elsewhere[i]].name);
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        check(&causes[i], shown);
    for (int r = 0; r < REASON_COUNT; r++)
        if (reason_rows[r].where == WHERE_RELEASE && !set_has(shown, reason_rows[r].name))
            rows_expect(reason_rows[r].name.at, false, "a row shows the reason");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stops_one_cluster_stops_no_other),
    };

    return cmocka_run_group_tests_name("unit/shared/stack/plan/plan_places", tests, NULL, NULL);
}
