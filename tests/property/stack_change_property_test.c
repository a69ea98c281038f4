/* SPDX-License-Identifier: Apache-2.0 */
/* stack_change_property_test.c: laws of one edit of a settled Stack, for every pair of things that an
 * edit can do. What may happen is told here from what is there and from what was asked for, not from
 * the plan's marks. A failure prints the seed: HERD_SEED=N runs that one alone and tells each step;
 * HERD_CASES=N runs so many in all, and each pair once at least. */
#include "support/rows.h"

#include "stack/model/limits.h"
#include "stack/model/share.h"
#include "support/fleet.h"

#include <stdio.h>
#include <stdlib.h>

enum { STORM_STEPS = 25, CALM_STEPS = 400, PAIRS = EDIT_COUNT * (EDIT_COUNT + 1) / 2 };

struct life {
    char row[96];
    bool traces;
    struct fleet f;
    enum fleet_edit edits[2];
    bool begun[FLEET_CLUSTERS];      /* something was asked for with this change */
    bool was_new[FLEET_CLUSTERS][FLEET_CHARTS]; /* not there when the spec changed */
    uint32_t had_gone[FLEET_CLUSTERS]; /* releases of charts that it took away */
    bool asked_bad[FLEET_CLUSTERS];
    bool bad_is_counted;
    bool away;                       /* some cluster was out of sight since */
    int64_t complete_ms[FLEET_WAVES + 1];
    int64_t left_ms[FLEET_CLUSTERS]; /* when a plan first saw that it left by itself; 0 = it did not */
    int64_t skipped_ms;              /* the same of what an override skips by labels */
    struct str approved[FLEET_WAVES]; /* the change that each wave is approved for */
    struct map *confirmed;           /* "cluster/namespace/name" of what was to go then */
    struct str changes[FLEET_WAVES + 1]; /* of each wave, at the last plan */
    struct str paused_changes[FLEET_WAVES + 1]; /* of when `complete_ms` was noted last */
    uint32_t notes;
};

/* What is known */

static uint32_t view_of(const struct life *l, uint32_t k)
{
    for (uint32_t i = 0; i < l->f.scene.observed.clusters.count; i++)
        if (l->f.seen[i] == k)
            return i;
    return FLEET_NONE;
}

static struct str id_of(const struct life *l, uint32_t k)
{
    return str_fmt(l->f.scene.arena, "k%u", k);
}

static const struct release_state *entry_of(const struct life *l, const struct action *a)
{
    const struct release_states *all = &l->f.scene.plan.releases;
    struct str id = id_of(l, l->f.seen[a->cluster]);

    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].cluster_id, id) &&
            str_eq(all->items[i].release_name, a->release_name) &&
            str_eq(all->items[i].namespace_, a->namespace_))
            return &all->items[i];
    fail_msg("%s: an action without an entry", l->row);
    return NULL;
}

/* Whether the entry is of a chart as it is wanted there. */
static bool is_of_wanted(const struct life *l, uint32_t k, const struct release_state *r)
{
    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        if (l->f.clusters[k].wanted[i].wanted &&
            str_eq(r->release_name, fleet_release_name(&l->f, i)) &&
            str_eq(r->namespace_, fleet_namespace(&l->f, i)))
            return str_eq(r->digest, l->f.clusters[k].wanted[i].digest);
    return false;
}

static bool is_failed(const struct life *l, uint32_t k, bool for_good)
{
    const struct release_states *all = &l->f.scene.plan.releases;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct release_state *r = &all->items[i];

        if (str_eq(r->cluster_id, id_of(l, k)) && is_of_wanted(l, k, r) &&
            (for_good ? r->terminal : r->attempts > 0))
            return true;
    }
    return false;
}

static bool is_busy(const struct life *l, uint32_t k)
{
    const struct release_states *all = &l->f.scene.plan.releases;

    for (uint32_t i = 0; i < l->f.works.count; i++)
        if (l->f.works.items[i].cluster == k)
            return true;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].requested_ms && str_eq(all->items[i].cluster_id, id_of(l, k)))
            return true;
    return false;
}

/* It waits for something that may last, so it keeps no other cluster waiting. */
static bool only_waits(const struct life *l, uint32_t k)
{
    const struct release_states *all = &l->f.scene.plan.releases;

    const struct observed_releases *apps = &l->f.clusters[k].releases;

    if (l->f.clusters[k].block)
        return true;
    for (uint32_t i = 0; i < apps->count; i++)
        if (apps->items[i].health.message.len)
            return true;
    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].cluster_id, id_of(l, k)) &&
            (all->items[i].attempts >= LIMIT_ATTEMPTS_STALLED ||
             str_eq(all->items[i].reason, REASON(REMOVAL_DELAYED)) ||
             str_eq(all->items[i].reason, REASON(WAITING_FOR_CONFIRMATION)) ||
             str_eq(all->items[i].reason, REASON(DRIFT_PERSISTS))))
            return true;
    return false;
}

static bool is_out_of_sight(const struct life *l, uint32_t k)
{
    uint32_t at = view_of(l, k);

    return at != FLEET_NONE && l->f.scene.observed.clusters.items[at].state != CLUSTER_READ;
}

static bool counts(const struct life *l, uint32_t k)
{
    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        if (l->f.clusters[k].wanted[i].wanted)
            return true;
    return false;
}

/* Seen to be. */
static bool is_done(const struct life *l, uint32_t k)
{
    return !is_out_of_sight(l, k) && fleet_is_done(&l->f, k);
}

static uint32_t wave_of(const struct life *l, uint32_t k)
{
    uint32_t wave = l->f.spec.wave_of[k];

    return wave < l->f.spec.waves ? wave : l->f.spec.waves;
}

/* The name of what the wave's clusters are to run. */
static struct str change_of(const struct life *l, uint32_t wave)
{
    return scene_change_of(&l->f.scene.status, wave < l->f.spec.waves
                                                   ? str_fmt(l->f.scene.arena, "w%u", wave)
                                                   : STR("*"));
}

/* The laws of who may begin */

static void expect(const struct life *l, uint32_t k, bool holds, const char *what)
{
    if (!holds)
        print_error("cluster k%u\n", k);
    rows_expect(l->row, holds, what);
}

/* `*unreachable` of it and of all waves before. */
static bool is_complete(const struct life *l, uint32_t wave, uint32_t *unreachable)
{
    uint32_t here = 0, lost = 0;
    uint32_t tolerated = l->f.spec.failures_max > 0 ? (uint32_t)l->f.spec.failures_max : 0;

    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++) {
        if (wave_of(l, k) != wave || !counts(l, k) || is_done(l, k))
            continue;
        if (is_failed(l, k, true))
            lost++;
        else if (is_out_of_sight(l, k))
            here++;
        else
            return false;
    }
    *unreachable += here;
    return lost <= tolerated && (!here || *unreachable <= l->f.spec.unavailable);
}

static void check_waves(const struct life *l, uint32_t k)
{
    uint32_t unreachable = 0;
    uint32_t wave = wave_of(l, k);

    for (uint32_t w = 0; w < wave; w++) {
        expect(l, k, is_complete(l, w, &unreachable), "earlier waves are complete");
        expect(l, k, !l->complete_ms[w] || l->f.scene.observed.now_ms >=
               l->complete_ms[w] / 1000 * 1000 + l->f.spec.pause_ms, "and paused");
    }
    expect(l, k, wave >= l->f.spec.waves || !l->f.spec.manual[wave] ||
           str_eq(l->approved[wave], change_of(l, wave)), "its wave is approved");
}

static void check_bounds(const struct life *l, uint32_t begins)
{
    uint32_t at_work = 0, failed = 0, unreachable = 0;

    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        unreachable += counts(l, k) && is_out_of_sight(l, k);
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++) {
        bool skipped = is_out_of_sight(l, k) && unreachable <= l->f.spec.unavailable;

        if (k == begins)
            continue;
        failed += is_failed(l, k, false);
        at_work += !skipped && (is_busy(l, k) ||
                                (l->begun[k] && !is_done(l, k) && !is_failed(l, k, true) &&
                                 !only_waits(l, k)));
    }
    expect(l, begins, !l->f.spec.concurrent || at_work < l->f.spec.concurrent,
           "no more than maxConcurrentClusters are at work");
    expect(l, begins, l->f.spec.failures_max < 0 || failed <= l->f.spec.failures_max,
           "nothing begins when more than maxFailures clusters failed");
}

static bool is_empty(const struct life *l, uint32_t wave)
{
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        if (wave_of(l, k) == wave && counts(l, k))
            return false;
    return true;
}

/* A failure, or another change, has the pause begin anew. */
static bool begins_anew(const struct life *l, uint32_t wave)
{
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        if (wave_of(l, k) == wave && is_failed(l, k, false))
            return true;
    return !str_eq(l->paused_changes[wave], change_of(l, wave));
}

static void note_waves(struct life *l)
{
    uint32_t unreachable = 0;

    for (uint32_t w = 0; w <= l->f.spec.waves; w++) {
        bool complete = is_complete(l, w, &unreachable) && !is_empty(l, w);

        if (!complete && (is_empty(l, w) || begins_anew(l, w)))
            l->complete_ms[w] = 0;
        else if (complete && !l->complete_ms[w])
            l->complete_ms[w] = l->f.scene.observed.now_ms;
        l->paused_changes[w] = change_of(l, w);
    }
}

/* The laws of removals */

static struct str going_key(const struct life *l, uint32_t k, struct str namespace_, struct str name)
{
    return str_fmt(l->f.scene.arena, "k%u/%.*s/%.*s", k, STR_ARG(namespace_), STR_ARG(name));
}

static bool is_going(const struct life *l, uint32_t k, const struct observed_release *app)
{
    return fleet_owns(app) && !fleet_is_wanted(&l->f, k, app);
}

/* The chart of the spec that a release is of by its stamp, or FLEET_NONE. */
static uint32_t chart_of(const struct life *l, const struct observed_release *app)
{
    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        if (l->f.spec.charts[i].there && str_eq(fleet_chart_name(&l->f, i), app->chart_name))
            return i;
    return FLEET_NONE;
}

/* Releases that are to go and whose chart the spec does not have any more. */
static uint32_t count_leftover(const struct life *l, uint32_t k)
{
    const struct observed_releases *all = &l->f.clusters[k].releases;
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++)
        count += is_going(l, k, &all->items[i]) && chart_of(l, &all->items[i]) == FLEET_NONE;
    return count;
}

static void check_successor(const struct life *l, uint32_t k, const struct observed_release *app)
{
    uint32_t own = chart_of(l, app);
    uint32_t new = 0, deployed = 0, alone;

    if (own != FLEET_NONE) {
        expect(l, k, !l->f.clusters[k].wanted[own].wanted || fleet_is_deployed(&l->f, k, own),
               "a release goes when its chart is deployed under its other name");
        return;
    }
    /* What somebody took away comes again, and may be taken for what takes its place. */
    if (!l->f.clusters[k].targeted || l->f.clusters[k].robbed)
        return;
    for (uint32_t i = 0; i < FLEET_CHARTS; i++) {
        bool comes = l->f.clusters[k].wanted[i].wanted && l->was_new[k][i];

        new += comes;
        deployed += comes && fleet_is_deployed(&l->f, k, i);
    }
    alone = l->had_gone[k] > new ? l->had_gone[k] - new : 0;
    expect(l, k, l->had_gone[k] - count_leftover(l, k) < alone + deployed,
           "a release goes when what takes its place is deployed");
}

static void check_delay(const struct life *l, uint32_t k, const struct observed_release *app)
{
    int64_t now_ms = l->f.scene.observed.now_ms;
    uint32_t chart = chart_of(l, app);

    expect(l, k, l->f.clusters[k].targeted || !l->left_ms[k] ||
           now_ms >= l->left_ms[k] + FLEET_REMOVAL_DELAY_MS, "a cluster that left by itself waits");
    if (!l->f.spec.skip_by_labels || l->f.spec.skip_chart != chart || chart == FLEET_NONE ||
        !l->f.clusters[k].targeted || !str_eq(app->name, fleet_release_name(&l->f, chart)) ||
        !str_eq(app->namespace_, fleet_namespace(&l->f, chart)))
        return;
    expect(l, k, now_ms >= l->skipped_ms + FLEET_REMOVAL_DELAY_MS,
           "what is skipped by labels waits");
}

/* Its chart is wanted there under another name: no other chart makes up for one that goes. */
static bool is_moved(const struct life *l, uint32_t k, const struct observed_release *app)
{
    uint32_t own = chart_of(l, app);

    return l->f.clusters[k].targeted && own != FLEET_NONE && l->f.clusters[k].wanted[own].wanted;
}

/* Where all is in sight and known. */
static void check_confirmed(const struct life *l, uint32_t k, const struct observed_release *app)
{
    uint32_t goes = 0, has = 0;

    if (is_moved(l, k, app))
        return;
    for (uint32_t n = 0; n < FLEET_CLUSTERS; n++) {
        const struct observed_releases *all = &l->f.clusters[n].releases;

        if (is_out_of_sight(l, n) || is_busy(l, n))
            return;
        for (uint32_t i = 0; i < all->count; i++) {
            has += fleet_owns(&all->items[i]);
            goes += is_going(l, n, &all->items[i]) && !is_moved(l, n, &all->items[i]);
        }
    }
    if (goes <= share_of(l->f.scene.stack->spec.rollout.max_removals, has))
        return;
    expect(l, k, l->confirmed && map_get(l->confirmed, going_key(l, k, app->namespace_, app->name)),
           "no more than maxRemovals go unconfirmed");
}

static void check_removal(const struct life *l, uint32_t k, const struct action *a)
{
    const struct observed_release *app = fleet_app(&l->f, k, a->namespace_, a->release_name);

    if (!app)
        return;
    expect(l, k, is_going(l, k, app), "what is wanted stays");
    check_successor(l, k, app);
    check_delay(l, k, app);
    check_confirmed(l, k, app);
}

static void note_leaving(struct life *l)
{
    const struct stack_status *before = &l->f.scene.before;

    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++) {
        if (l->f.clusters[k].targeted)
            l->left_ms[k] = 0;
        else if (l->left_ms[k] < 0)
            l->left_ms[k] = l->f.scene.observed.now_ms;
    }
    if (!l->skipped_ms && l->f.spec.skip_by_labels)
        l->skipped_ms = l->f.scene.observed.now_ms;
    if (!before->removal.first_seen_ms)
        l->confirmed = NULL;
}

/* The law of a version that fails */

static void check_bad(struct life *l, uint32_t k, const struct action *a)
{
    uint32_t asked = 0;

    if (a->kind != ACTION_UPGRADE || !str_ends(a->version, STR("-bad")))
        return;
    l->asked_bad[k] = true;
    for (uint32_t i = 0; i < FLEET_CLUSTERS; i++)
        asked += l->asked_bad[i];
    if (!l->bad_is_counted || l->away || !l->f.spec.concurrent || l->f.spec.failures_max < 0)
        return;
    expect(l, k, asked <= l->f.spec.concurrent + l->f.spec.failures_max,
           "few clusters see what fails");
}

/* Each plan */

static void trace(const struct life *l)
{
    const struct scene *s = &l->f.scene;

    if (!l->traces)
        return;
    print_message("%lld change %.*s do [%.*s]\n   %.*s\n", (long long)(s->observed.now_ms / 1000 % 100000),
                  STR_ARG(s->plan.change), STR_ARG(scene_actions(s)), STR_ARG(scene_states(s)));
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        print_message("   k%u%s%s%s%s%s w%u", k, l->f.clusters[k].targeted ? "" : " no-target",
                      l->f.clusters[k].connected ? "" : " away", l->begun[k] ? " begun" : "",
                      is_busy(l, k) ? " busy" : "", is_done(l, k) ? " done" : "", wave_of(l, k));
    print_message("\n   removal %u of %u token %.*s\n", s->plan.removal.releases, s->plan.removal.of,
                  STR_ARG(s->plan.removal.token));
}

static void check_action(struct life *l, const struct action *a)
{
    uint32_t k = l->f.seen[a->cluster];

    if (a->kind != ACTION_UPGRADE && a->kind != ACTION_UNINSTALL)
        return;
    expect(l, k, !l->f.spec.paused, "a paused Stack asks for nothing");
    expect(l, k, l->f.clusters[k].block != BLOCK_DENIED, "a lost right changes nothing");
    expect(l, k, a->kind == ACTION_UNINSTALL || !l->f.clusters[k].block,
           "nothing is installed or upgraded where it may not be");
    if (a->kind == ACTION_UNINSTALL)
        check_removal(l, k, a);
    check_bad(l, k, a);
    if (l->begun[k] || (a->kind == ACTION_UPGRADE && entry_of(l, a)->attempts > 0))
        return;
    check_waves(l, k);
    check_bounds(l, k);
    l->begun[k] = true;
}

static void check_plan(struct life *l)
{
    const struct actions *all = &l->f.scene.plan.actions;

    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        if (!str_eq(l->changes[wave_of(l, k)], change_of(l, wave_of(l, k))))
            l->begun[k] = l->asked_bad[k] = false;
    for (uint32_t w = 0; w <= FLEET_WAVES; w++)
        l->changes[w] = change_of(l, w);
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++) {
        l->away = l->away || !l->f.clusters[k].connected;
        if (is_done(l, k))
            l->begun[k] = false;
    }
    note_waves(l);
    note_leaving(l);
    trace(l);
    for (uint32_t i = 0; i < all->count; i++)
        check_action(l, &all->items[i]);
}

static void step(struct life *l)
{
    struct stack_status before = l->f.scene.before;
    struct str written = l->f.scene.written;

    fleet_move(&l->f);
    fleet_plan(&l->f);
    if (l->f.storms && fleet_chance(&l->f, 4)) {
        l->f.scene.before = before; /* it was not written, so nothing is sent */
        l->f.scene.written = written;
        return;
    }
    check_plan(l);
    fleet_send(&l->f);
}

/* Somebody who helps */

static bool waits_for(const struct life *l, struct str reason)
{
    for (uint32_t i = 0; i < l->f.scene.plan.releases.count; i++)
        if (str_eq(l->f.scene.plan.releases.items[i].reason, reason))
            return true;
    return false;
}

static void approve(struct life *l)
{
    struct strbuf all = strbuf_new(l->f.scene.arena, 64);

    for (uint32_t w = 0; w < l->f.spec.waves; w++) {
        l->approved[w] = change_of(l, w);
        strbuf_fmt(&all, "%sw%u@%.*s", w ? "," : "", w, STR_ARG(l->approved[w]));
    }
    fleet_annotate(&l->f, "approve", strbuf_str(&all));
}

static void confirm(struct life *l)
{
    l->confirmed = map_new(l->f.scene.arena, 8);
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        for (uint32_t i = 0; i < l->f.clusters[k].releases.count; i++) {
            const struct observed_release *app = &l->f.clusters[k].releases.items[i];

            if (is_going(l, k, app))
                map_put(l->confirmed, going_key(l, k, app->namespace_, app->name), l);
        }
    fleet_annotate(&l->f, "confirm-removal", l->f.scene.before.removal.token);
}

static bool is_reached(const struct life *l)
{
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        if (!is_done(l, k) || is_busy(l, k))
            return false;
    return true;
}

static void help(struct life *l)
{
    struct str note = str_fmt(l->f.scene.arena, "%u", ++l->notes);

    if (waits_for(l, REASON(WAITING_FOR_APPROVAL)))
        approve(l);
    if (waits_for(l, REASON(WAITING_FOR_CONFIRMATION)))
        confirm(l);
    if (waits_for(l, REASON(ROLLOUT_STOPPED))) {
        fleet_annotate(&l->f, "resume", note);
        l->bad_is_counted = false;
    }
    for (uint32_t i = 0; i < l->f.scene.plan.releases.count; i++)
        if (l->f.scene.plan.releases.items[i].terminal) {
            fleet_annotate(&l->f, "retry", note);
            return;
        }
}

static bool has_chart(const struct life *l, uint32_t k, uint32_t chart)
{
    const struct observed_releases *all = &l->f.clusters[k].releases;

    for (uint32_t i = 0; i < all->count; i++)
        if (chart_of(l, &all->items[i]) == chart)
            return true;
    return false;
}

static void change(struct life *l, bool of_spec)
{
    fleet_change(&l->f, of_spec);
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++) {
        l->had_gone[k] = count_leftover(l, k);
        for (uint32_t i = 0; i < FLEET_CHARTS; i++)
            l->was_new[k][i] = l->f.spec.charts[i].there && !has_chart(l, k, i);
    }
    l->bad_is_counted = l->bad_is_counted || of_spec;
    l->away = false;
}

/* Everything wanted is deployed, all else is gone, and that is all. */
static void settle(struct life *l)
{
    struct str written;

    l->f.storms = false;
    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        if (l->f.spec.paused || str_eq(str_of(l->f.spec.charts[i].quality), STR("-bad"))) {
            l->f.spec.charts[i].quality = "";
            l->f.spec.paused = false;
            change(l, true);
        }
    for (uint32_t i = 0; i < CALM_STEPS && !is_reached(l); i++) {
        step(l);
        help(l);
    }
    if (!is_reached(l))
        print_error("%.*s: %.*s\n", STR_ARG(l->f.scene.plan.reason), STR_ARG(l->f.scene.plan.message));
    rows_expect(l->row, is_reached(l), "all is as wanted in the end");
    step(l);
    step(l);
    written = l->f.scene.written;
    step(l);
    rows_expect_str(l->row, scene_actions(&l->f.scene), STR(""));
    rows_expect_str(l->row, l->f.scene.written, written);
    rows_expect(l->row, l->f.scene.status.phase == PHASE_DEPLOYED || !l->f.scene.plan.wanted,
                "and the phase is Deployed");
}

static void edit(struct life *l)
{
    bool of_spec = false;

    for (uint32_t i = 0; i < 2; i++) {
        of_spec = of_spec || l->edits[i] != EDIT_LABELS;
        if (l->edits[i] == EDIT_SKIP)
            l->skipped_ms = 0;
        (void)fleet_edit(&l->f, l->edits[i]);
    }
    for (uint32_t k = 0; k < FLEET_CLUSTERS && !of_spec; k++)
        if (!l->f.clusters[k].targeted && !l->left_ms[k])
            l->left_ms[k] = -1; /* from the next plan on */
    change(l, of_spec);
}

static struct life *make_life(struct arena *arena, uint64_t seed)
{
    struct life *l = arena_new(arena, struct life);
    uint32_t second = (uint32_t)(seed % PAIRS);
    uint32_t first = 0;

    while (second >= EDIT_COUNT - first)
        second -= EDIT_COUNT - first++;
    l->edits[0] = (enum fleet_edit)first;
    l->edits[1] = (enum fleet_edit)(first + second);
    l->traces = getenv("HERD_SEED") != NULL;
    (void)snprintf(l->row, sizeof(l->row), "HERD_SEED=%llu (%s and %s)", (unsigned long long)seed,
                   fleet_edit_name(l->edits[0]), fleet_edit_name(l->edits[1]));
    fleet_make(&l->f, arena, seed);
    return l;
}

static void check_life(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct life *l = make_life(arena, seed);

    settle(l);
    edit(l);
    l->f.storms = fleet_chance(&l->f, 50);
    for (uint32_t i = 0; i < STORM_STEPS; i++) {
        step(l);
        if (fleet_chance(&l->f, 20))
            approve(l);
        if (fleet_chance(&l->f, 10) && l->f.scene.before.removal.token.len)
            confirm(l);
    }
    settle(l);
}

/* The same life under three budgets: what the status shows to people decides nothing. */
static void check_budgets(uint64_t seed)
{
    static const uint32_t shown[] = { UINT32_MAX, 3, 0 };
    enum { BUDGETS = 3 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct life *lives[BUDGETS];

    for (uint32_t b = 0; b < BUDGETS; b++) {
        lives[b] = make_life(arena, seed);
        lives[b]->f.scene.shown_max = shown[b] + 1;
        lives[b]->f.storms = true;
    }
    for (uint32_t i = 0; i < 3 * STORM_STEPS; i++)
        for (uint32_t b = 0; b < BUDGETS; b++) {
            struct life *l = lives[b];

            if (i == STORM_STEPS)
                edit(l);
            fleet_move(&l->f);
            fleet_plan(&l->f);
            trace(l);
            rows_expect_str(l->row, scene_actions(&l->f.scene), scene_actions(&lives[0]->f.scene));
            fleet_send(&l->f);
            if (i % 5 == 0)
                approve(l);
            if (i % 7 == 0 && l->f.scene.before.removal.token.len)
                confirm(l);
            if (i % 11 == 0)
                fleet_annotate(&l->f, "resume", str_fmt(arena, "%u", i));
        }
}

static void for_seeds(void (*check)(uint64_t seed), uint64_t count, uint64_t apart)
{
    const char *one = getenv("HERD_SEED");
    const char *cases = getenv("HERD_CASES");
    uint64_t seed = 0, lives = 0;

    if (one && str_to_u64(str_of(one), &seed)) {
        check(seed);
        return;
    }
    if (cases)
        (void)str_to_u64(str_of(cases), &lives);
    for (seed = 0; seed < count || seed < lives * count / PAIRS; seed++)
        check(seed * apart);
}

static void changes_keep_their_bounds(void **state)
{
    (void)state;
    for_seeds(check_life, PAIRS, 1);
}

static void the_budget_of_the_status_decides_nothing(void **state)
{
    (void)state;
    for_seeds(check_budgets, PAIRS / 16, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_keep_their_bounds),
        cmocka_unit_test(the_budget_of_the_status_decides_nothing),
    };

    return cmocka_run_group_tests_name("property/stack_change", tests, NULL, NULL);
}
