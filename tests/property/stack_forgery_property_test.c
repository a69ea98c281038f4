/* SPDX-License-Identifier: Apache-2.0 */
/* stack_forgery_property_test.c: whoever may write a Stack's status may write anything there. Status
 * says where to look and what was asked for, never what is ours: no release is touched that does not
 * carry the Stack's mark or stamp, and once the forging ends, all becomes as wanted. A failure prints
 * the seed; HERD_SEED=N runs that one alone, HERD_CASES=N so many. */
#include "support/rows.h"

#include "support/fleet.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIVES = 40, FORGED_STEPS = 30, CALM_STEPS = 300 };
#define CENTURY_MS (3155760000LL * 1000)

struct life {
    char row[64];
    bool traces;
    struct fleet f;
    uint32_t notes;
};

static uint32_t below(struct life *l, uint32_t bound)
{
    return (uint32_t)rng_below(&l->f.rng, bound);
}

/* Releases of others */

static struct observed_release victim(struct life *l, uint32_t k, const char *name)
{
    return (struct observed_release){
        .uid = str_fmt(l->f.scene.arena, "victim-%s-%u", name, k),
        .namespace_ = STR("victims"),
        .name = str_of(name),
        .phase = (enum release_phase)(RELEASE_DEPLOYED + below(l, 4)),
        .revision = 1 + below(l, 3),
    };
}

static void put_victims(struct life *l, uint32_t k)
{
    struct observed_release bare = victim(l, k, "bare");
    struct observed_release other = victim(l, k, "other");
    struct observed_release taken = victim(l, k, "taken");
    struct observed_release former = victim(l, k, "former");
    struct observed_releases *to = &l->f.clusters[k].releases;

    other.stack = STR("team/other");
    other.stack_uid = STR("uid-2");
    other.stamped_revision = other.revision;
    taken.stack = STR("team/shop");
    taken.stack_uid = STR("uid-1");
    taken.marked_uid = STR("uid-2");
    former.namespace_ = STR("cattle-system");
    former.stack = STR("team/shop");
    former.stack_uid = STR("uid-0");
    observed_releases_push(to, bare);
    observed_releases_push(to, other);
    observed_releases_push(to, taken);
    observed_releases_push(to, former);
}

/* In the place of chart 0: on the cluster that runs Rancher it stays. */
static void put_in_the_way(struct life *l, uint32_t k)
{
    struct observed_release former = victim(l, k, "former");

    l->f.clusters[k].local = true;
    former.namespace_ = fleet_namespace(&l->f, 0);
    former.name = fleet_release_name(&l->f, 0);
    former.stack = STR("team/shop");
    former.stack_uid = STR("uid-0");
    observed_releases_push(&l->f.clusters[k].releases, former);
}

/* Somebody makes way, so that all can become as wanted. */
static void make_way(struct life *l, uint32_t k)
{
    struct observed_releases *all = &l->f.clusters[k].releases;

    for (uint32_t i = 0; i < all->count; i++)
        if (str_starts(all->items[i].namespace_, STR("n")) && !fleet_owns(&all->items[i]))
            all->items[i--] = all->items[--all->count];
}

/* Forgery */

static int64_t forged_time(struct life *l)
{
    int64_t now_ms = l->f.scene.observed.now_ms;

    switch (below(l, 4)) {
    case 0: return 0;
    case 1: return now_ms / 1000 * 1000 - below(l, 100) * 1000;
    case 2: return now_ms / 1000 * 1000 + CENTURY_MS;
    default: return 1000;
    }
}

static struct str forged_id(struct life *l)
{
    return str_fmt(l->f.scene.arena, "k%u", below(l, FLEET_CLUSTERS + 1));
}

static struct str forged_word(struct life *l)
{
    static const char *const words[] = { "", "ReleasePending", "RemovingLock", "Uninstalling",
                                         "OperationEnded", "UpgradeFailed", "op-3", "sha256:x" };

    return str_of(words[below(l, sizeof(words) / sizeof(words[0]))]);
}

static uint32_t forged_number(struct life *l)
{
    static const uint32_t numbers[] = { 0, 1, 2, 7, UINT32_MAX };

    return numbers[below(l, sizeof(numbers) / sizeof(numbers[0]))];
}

static void forge_names(struct life *l, struct release_state *r)
{
    static const char *const victims[] = { "bare", "other", "taken", "former" };
    uint32_t chart = below(l, FLEET_CHARTS);
    uint32_t which = below(l, 8);

    r->cluster_id = forged_id(l);
    r->chart_name = fleet_chart_name(&l->f, chart);
    r->namespace_ = which < 3 ? STR("victims") : which == 3 ? STR("cattle-system")
                                                            : fleet_namespace(&l->f, chart);
    r->release_name = which < 4 ? str_of(victims[which]) : fleet_release_name(&l->f, chart);
}

static void forge_facts(struct life *l, struct release_state *r)
{
    const struct fleet_wanted *wanted =
        &l->f.clusters[below(l, FLEET_CLUSTERS)].wanted[below(l, FLEET_CHARTS)];

    r->state = (enum deployment_state)below(l, DEPLOYMENT_REMOVED);
    r->last_known = (enum deployment_state)below(l, DEPLOYMENT_REMOVED);
    r->reason = forged_word(l);
    r->digest = fleet_chance(&l->f, 50) ? wanted->digest : forged_word(l);
    r->operation = forged_word(l);
    r->revision = forged_number(l);
    r->attempts = forged_number(l);
    r->requested_ms = forged_time(l);
    r->last_updated_ms = forged_time(l);
    r->terminal = fleet_chance(&l->f, 30);
    r->installed = fleet_chance(&l->f, 50);
}

static void forge_entries(struct life *l, struct release_states *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (fleet_chance(&l->f, 20))
            forge_facts(l, &all->items[i]);
    if (all->count && fleet_chance(&l->f, 30))
        all->items[below(l, all->count)] = all->items[all->count - 1];
    if (fleet_chance(&l->f, 20))
        all->count = 0;
    for (uint32_t i = below(l, 6); i > 0; i--) {
        struct release_state r = { 0 };

        forge_names(l, &r);
        forge_facts(l, &r);
        release_states_push(all, r);
    }
}

static void forge_ids(struct life *l, struct str_list *ids)
{
    *ids = str_list_new(l->f.scene.arena, FLEET_CLUSTERS);
    for (uint32_t k = 0; k <= FLEET_CLUSTERS; k++)
        if (fleet_chance(&l->f, 50))
            str_list_push(ids, str_fmt(l->f.scene.arena, "k%u", k));
}

static void forge_removal(struct life *l, struct removal_state *removal)
{
    struct removal_delay delay = { forged_time(l), str_list_new(l->f.scene.arena, 1) };

    removal->releases = forged_number(l);
    removal->of = forged_number(l);
    removal->first_seen_ms = forged_time(l);
    removal->accounted = forged_number(l);
    removal->token = forged_word(l);
    forge_ids(l, &delay.clusters);
    removal_delays_push(&removal->delays, delay);
}

static void forge_waves(struct life *l, struct stack_status *status)
{
    if (fleet_chance(&l->f, 30))
        status->change = forged_word(l);
    for (uint32_t i = 0; i < status->waves.count; i++) {
        if (fleet_chance(&l->f, 30))
            status->waves.items[i].completed_ms = forged_time(l);
        if (fleet_chance(&l->f, 20))
            status->waves.items[i].change = forged_word(l);
    }
    if (fleet_chance(&l->f, 20))
        status->targets_hash = forged_word(l);
    if (fleet_chance(&l->f, 20))
        status->charts_hash = forged_word(l);
    if (fleet_chance(&l->f, 20))
        status->waiting_since_ms = forged_time(l);
}

static void forge(struct life *l)
{
    struct stack_status *status = &l->f.scene.before;
    struct str_list *const lists[] = { &status->held_clusters, &status->target_clusters,
                                       &status->pending_clusters, &status->started_clusters,
                                       &status->failed_clusters, &status->lost_clusters };

    if (fleet_chance(&l->f, 10)) {
        l->f.scene.written.len = 0; /* all of it is removed */
        return;
    }
    if (fleet_chance(&l->f, 60))
        forge_entries(l, &status->deployments);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (fleet_chance(&l->f, 20))
            forge_ids(l, lists[i]);
    if (fleet_chance(&l->f, 20))
        forge_removal(l, &status->removal);
    if (fleet_chance(&l->f, 20))
        status->observed_generation = forged_number(l);
    if (fleet_chance(&l->f, 20))
        status->phase = (enum stack_phase)below(l, PHASE_DELETING + 1);
    forge_waves(l, status);
}

/* The law */

static void check_action(const struct life *l, const struct action *a)
{
    uint32_t k = l->f.seen[a->cluster];
    const struct observed_release *app = fleet_app(&l->f, k, a->namespace_, a->release_name);
    bool reads = a->kind == ACTION_READ_LOG || a->kind == ACTION_READ_PODS;

    if (!app || reads || fleet_owns(app))
        return;
    if (l->traces)
        print_error("%s %.*s/%.*s on k%u\n", action_name(a->kind), STR_ARG(a->namespace_),
                    STR_ARG(a->release_name), k);
    /* What a namesake of before left behind is taken over. */
    rows_expect(l->row, a->kind == ACTION_UPGRADE && str_eq(app->stack, STR("team/shop")) &&
                !app->marked_uid.len && !l->f.clusters[k].local &&
                !str_starts(app->namespace_, STR("cattle-")), "what is another's is not touched");
}

static void step(struct life *l)
{
    fleet_move(&l->f);
    fleet_plan(&l->f);
    if (l->traces)
        print_message("%lld [%.*s]\n   %.*s\n", (long long)(l->f.scene.observed.now_ms / 1000 % 100000),
                      STR_ARG(scene_actions(&l->f.scene)), STR_ARG(scene_states(&l->f.scene)));
    for (uint32_t i = 0; i < l->f.scene.plan.actions.count; i++)
        check_action(l, &l->f.scene.plan.actions.items[i]);
    fleet_send(&l->f);
}

static bool is_reached(const struct life *l)
{
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        if (l->f.clusters[k].targeted && !fleet_is_done(&l->f, k))
            return false;
    return true;
}

static void help(struct life *l)
{
    struct str note = str_fmt(l->f.scene.arena, "%u", ++l->notes);
    const struct stack_status *status = &l->f.scene.status;

    fleet_annotate(&l->f, "approve", str_fmt(l->f.scene.arena, "w0@%.*s,w1@%.*s",
                                             STR_ARG(scene_change_of(status, STR("w0"))),
                                             STR_ARG(scene_change_of(status, STR("w1")))));
    fleet_annotate(&l->f, "confirm-removal", l->f.scene.before.removal.token);
    if (l->notes % 20 == 0) {
        fleet_annotate(&l->f, "resume", note);
        fleet_annotate(&l->f, "retry", note);
    }
}

static void check_life(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct life *l = arena_new(arena, struct life);
    static const enum fleet_edit edits[] = { EDIT_VERSION, EDIT_RENAME, EDIT_REPLACE, EDIT_REMOVE,
                                             EDIT_ADD, EDIT_SKIP, EDIT_FLAKY };

    (void)snprintf(l->row, sizeof(l->row), "HERD_SEED=%llu", (unsigned long long)seed);
    l->traces = getenv("HERD_SEED") != NULL;
    fleet_make(&l->f, arena, seed);
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        put_victims(l, k);
    if (fleet_chance(&l->f, 50))
        put_in_the_way(l, 1);
    l->f.storms = true;
    for (uint32_t i = 0; i < FORGED_STEPS; i++) {
        if (fleet_chance(&l->f, 10)) {
            (void)fleet_edit(&l->f, edits[below(l, sizeof(edits) / sizeof(edits[0]))]);
            fleet_change(&l->f, true);
        }
        step(l);
        help(l);
        if (fleet_chance(&l->f, 30))
            forge(l);
    }
    l->f.storms = false;
    make_way(l, 1);
    for (uint32_t i = 0; i < CALM_STEPS && !is_reached(l); i++) {
        step(l);
        help(l);
    }
    if (!is_reached(l))
        print_error("%.*s: %.*s\n%.*s\n", STR_ARG(l->f.scene.plan.reason),
                    STR_ARG(l->f.scene.plan.message), STR_ARG(l->f.scene.written));
    rows_expect(l->row, is_reached(l), "all is as wanted in the end");
    step(l);
    rows_expect_int(l->row, l->f.scene.before.observed_generation,
                    l->f.scene.stack->meta.generation);
}

static void forged_status_takes_nothing_from_others(void **state)
{
    const char *one = getenv("HERD_SEED");
    const char *cases = getenv("HERD_CASES");
    uint64_t seed = 0, count = LIVES;

    (void)state;
    if (one && str_to_u64(str_of(one), &seed)) {
        check_life(seed);
        return;
    }
    if (cases)
        (void)str_to_u64(str_of(cases), &count);
    for (seed = 0; seed < count; seed++)
        check_life(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forged_status_takes_nothing_from_others),
    };

    return cmocka_run_group_tests_name("property/stack_forgery", tests, NULL, NULL);
}
