/* SPDX-License-Identifier: Apache-2.0 */
/* preview.c: what changes, as lines. */
#include "stack/preview/preview.h"

#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/limits.h"
#include "stack/plan/rollout.h"
#include "stack/targets/chart_graph.h"
#include "stack/preview/preview_parts.h"
#include "stack/model/spec_change.h"
#include "text/enumerate.h"

/* How many names of a list are told. */
enum { SHORT_CLUSTERS = 3, FULL_CLUSTERS = 8 };
enum { SHORT_CHARTS = 4, FULL_CHARTS = 6, MOVED_CHARTS = 2, WAVES_TOLD = 6 };

struct telling {
    struct preview *p;
    struct str_list lines;
    bool full;
};

static void say(struct telling *t, struct strbuf *line)
{
    str_list_push(&t->lines, str_fmt(t->p->arena, "preview: %.*s", STR_ARG(strbuf_str(line))));
}

static void put_names(struct strbuf *out, const struct str_list *all, uint32_t most)
{
    struct enumeration names = enumeration_new(out->arena, most);

    names.joins_last = true;
    for (uint32_t i = 0; i < all->count; i++)
        enumeration_add(&names, all->items[i]);
    strbuf_put(out, enumeration_text(&names));
}

/* "2 clusters: c-1 and c-2" */
static void put_clusters(struct telling *t, struct strbuf *out, const struct u32_list *clusters)
{
    struct str_list names = str_list_new(t->p->arena, clusters->count);

    for (uint32_t i = 0; i < clusters->count; i++)
        str_list_push(&names, t->p->clusters.items[clusters->items[i]].cluster.id);
    strbuf_fmt(out, "%u %s: ", names.count, names.count == 1 ? "cluster" : "clusters");
    put_names(out, &names, t->full ? FULL_CLUSTERS : SHORT_CLUSTERS);
}

/* --- clusters that come and go --- */

/* Those that it leaves hold something; a target where nothing was done yet is not lost. */
static struct u32_list lost_clusters(const struct preview *p)
{
    struct u32_list list = u32_list_new(p->arena, 0);

    for (uint32_t i = 0; i < p->clusters.count; i++)
        if (p->clusters.items[i].holds && !p->clusters.items[i].after)
            u32_list_push(&list, i);
    return list;
}

/* Of a Stack that is nowhere yet no cluster is told by itself: all of it is new. */
static bool is_gained(const struct preview *p, uint32_t cluster)
{
    return !p->untouched && p->clusters.items[cluster].after && !p->clusters.items[cluster].before;
}

static struct u32_list gained_clusters(const struct preview *p)
{
    struct u32_list list = u32_list_new(p->arena, 0);

    for (uint32_t i = 0; i < p->clusters.count; i++)
        if (is_gained(p, i))
            u32_list_push(&list, i);
    return list;
}

/* That deletionPolicy has no say in it surprises those who set Orphan. */
static void put_lost(struct telling *t, struct strbuf *line, const struct u32_list *lost)
{
    strbuf_lit(line, "leaves ");
    put_clusters(t, line, lost);
    strbuf_lit(line, ", and its releases are uninstalled there");
    if (t->full && t->p->stack->spec.deletion_policy == DELETION_ORPHAN)
        strbuf_lit(line, " (deletionPolicy Orphan is for the Stack's own deletion)");
}

static void put_gained(struct telling *t, struct strbuf *line, const struct u32_list *gained)
{
    uint32_t charts = t->p->stack->spec.charts.count;
    bool contested = false;

    for (uint32_t i = 0; i < charts; i++)
        contested = contested || t->p->chosen->contested[i];
    strbuf_fmt(line, "installs %u %s on ", charts, charts == 1 ? "chart" : "charts");
    put_clusters(t, line, gained);
    if (contested)
        strbuf_lit(line, " (what another Stack has there stays its own)");
}

static void tell_clusters(struct telling *t)
{
    struct strbuf line = strbuf_new(t->p->arena, 128);
    struct u32_list lost = lost_clusters(t->p);
    struct u32_list gained = gained_clusters(t->p);

    if (lost.count) {
        put_lost(t, &line, &lost);
        say(t, &line);
    }
    if (gained.count && t->full) {
        line = strbuf_new(t->p->arena, 128);
        put_gained(t, &line, &gained);
        say(t, &line);
    }
}

/* --- charts --- */

static void put_change(struct telling *t, struct strbuf *line, const struct preview_change *change)
{
    static const struct {
        const char *verb, *where, *after;
        uint32_t short_charts, full_charts;
    } kinds[] = {
        [PREVIEW_UNINSTALL] = { "uninstalls", "from", "", SHORT_CHARTS, FULL_CHARTS },
        [PREVIEW_MOVE] = { "moves", "on",
                           " (installed there first, then uninstalled under the former name)",
                           MOVED_CHARTS, MOVED_CHARTS },
        [PREVIEW_UPGRADE] = { "upgrades", "on", "", SHORT_CHARTS, FULL_CHARTS },
        [PREVIEW_INSTALL] = { "installs", "on", "", SHORT_CHARTS, FULL_CHARTS },
    };
    enum preview_kind kind = change->kind;

    strbuf_fmt(line, "%s ", kinds[kind].verb);
    put_names(line, &change->charts, t->full ? kinds[kind].full_charts : kinds[kind].short_charts);
    if (change->clusters.count) {
        strbuf_fmt(line, " %s ", kinds[kind].where);
        put_clusters(t, line, &change->clusters);
    }
    strbuf_put(line, str_of(kinds[kind].after));
}

static bool is_removal(enum preview_kind kind)
{
    return kind == PREVIEW_UNINSTALL || kind == PREVIEW_MOVE;
}

static void tell_charts(struct telling *t)
{
    const struct preview_changes *kept = &t->p->kept;

    for (uint32_t i = 0; i < kept->count; i++) {
        struct strbuf line = strbuf_new(t->p->arena, 256);

        if (!t->full && !is_removal(kept->items[i].kind))
            continue;
        put_change(t, &line, &kept->items[i]);
        say(t, &line);
    }
}

/* --- removals that wait to be confirmed --- */

static void tell_confirmation(struct telling *t)
{
    const struct preview *p = t->p;
    struct strbuf line = strbuf_new(p->arena, 256);

    if (!rollout_needs_confirmation(&p->stack->spec.rollout, p->removed, p->had))
        return;
    strbuf_fmt(&line,
               "removes %u of %u releases, which is more than spec.rollout.maxRemovals (%.*s): the "
               "controller waits for the annotation " STACK_CONFIRM_REMOVAL
               "; status.message then shows the command",
               p->removed, p->had, STR_ARG(p->stack->spec.rollout.max_removals));
    say(t, &line);
}

/* --- in which order --- */

/* Of each chart, how many others come before it at the most; -1 for one that does not change. */
static int64_t *levels_of(const struct preview *p, bool all, int64_t *ret_last)
{
    const struct charts *charts = &p->stack->spec.charts;
    struct graph *graph = chart_graph_new(p->arena, charts, NULL);
    int64_t *levels = arena_array(p->arena, int64_t, charts->count);
    struct u32_list order;

    *ret_last = 0;
    if (graph_order(graph, p->arena, &order) < 0)
        return levels; /* reported by validation */
    for (uint32_t i = 0; i < order.count; i++) {
        uint32_t node = order.items[i];
        const struct u32_list *needs = graph_needs(graph, node);
        bool counts = all || p->chart_changes[node];
        int64_t behind = 0;

        for (uint32_t k = 0; k < needs->count; k++) {
            int64_t level = levels[needs->items[k]];
            int64_t after = level < 0 ? -level - 1 : level + 1;

            behind = after > behind ? after : behind;
        }
        levels[node] = counts ? behind : -behind - 1;
        if (counts && behind > *ret_last)
            *ret_last = behind;
    }
    return levels;
}

static void tell_order(struct telling *t, bool all)
{
    const struct charts *charts = &t->p->stack->spec.charts;
    struct strbuf line = strbuf_new(t->p->arena, 128);
    int64_t last;
    const int64_t *levels = levels_of(t->p, all, &last);

    strbuf_lit(&line, "on each cluster ");
    for (int64_t level = 0; level <= last; level++) {
        struct str_list names = str_list_new(t->p->arena, 4);

        for (uint32_t i = 0; i < charts->count; i++)
            if (levels[i] == level)
                str_list_push(&names, str_shown(t->p->arena, charts->items[i].name, 60));
        if (level)
            strbuf_lit(&line, ", then ");
        put_names(&line, &names, FULL_CHARTS);
    }
    if (last > 0)
        say(t, &line);
}

/* --- in which waves --- */

/* Clusters where something is installed or upgraded. */
static bool *touched_clusters(const struct preview *p, uint32_t *ret_count)
{
    bool *touched = arena_array(p->arena, bool, p->clusters.count);

    *ret_count = 0;
    for (uint32_t i = 0; i < p->clusters.count; i++)
        touched[i] = is_gained(p, i);
    for (uint32_t i = 0; i < p->kept.count; i++)
        for (uint32_t k = 0;
             p->kept.items[i].kind != PREVIEW_UNINSTALL && k < p->kept.items[i].clusters.count; k++)
            touched[p->kept.items[i].clusters.items[k]] = true;
    for (uint32_t i = 0; i < p->clusters.count; i++)
        *ret_count += touched[i];
    return touched;
}

/* The touched clusters of each wave; of the last, those that no wave has. */
static struct u32_list *sort_into_waves(const struct preview *p, const bool *touched)
{
    struct rollout_waves waves = rollout_waves_new(p->arena, &p->stack->spec.rollout);
    struct u32_list *sorted = arena_array(p->arena, struct u32_list, waves.count + 1);

    for (uint32_t i = 0; i <= waves.count; i++)
        sorted[i] = u32_list_new(p->arena, 0);
    for (uint32_t i = 0; i < p->clusters.count; i++)
        if (touched[i])
            u32_list_push(
                &sorted[rollout_wave_of(&waves, p->arena, p->clusters.items[i].cluster.labels)], i);
    return sorted;
}

static void put_waves(struct telling *t, struct strbuf *line, const bool *touched)
{
    const struct waves *waves = &t->p->stack->spec.rollout.waves;
    struct u32_list *sorted = sort_into_waves(t->p, touched);

    for (uint32_t i = 0; i < waves->count && i < WAVES_TOLD; i++) {
        const struct wave *wave = &waves->items[i];

        strbuf_put(line, i ? STR(", then") : STR(""));
        if (wave->approval == APPROVAL_MANUAL)
            strbuf_put(line, i ? STR(", once approved,") : STR("once approved,"));
        strbuf_fmt(line, "%swave %.*s on ", line->len ? " " : "",
                   STR_ARG(str_shown(t->p->arena, wave->name, 60)));
        if (sorted[i].count)
            put_clusters(t, line, &sorted[i]);
        else
            strbuf_lit(line, "no cluster today");
        if (rollout_pause_ms(wave) > 0)
            strbuf_fmt(line, ", then %.*s of pause",
                       STR_ARG(str_shown(t->p->arena, wave->pause, 20)));
        if (wave->scans == WAVE_SCANS_REQUIRED)
            strbuf_lit(line, ", then its scans");
    }
    if (waves->count > WAVES_TOLD)
        strbuf_fmt(line, ", then %u more waves", waves->count - WAVES_TOLD);
    if (sorted[waves->count].count) {
        strbuf_lit(line, ", then ");
        put_clusters(t, line, &sorted[waves->count]);
    }
}

static void tell_rollout(struct telling *t)
{
    const struct rollout *rollout = &t->p->stack->spec.rollout;
    struct strbuf line = strbuf_new(t->p->arena, 128);
    uint32_t count;
    const bool *touched = touched_clusters(t->p, &count);
    bool some_at_a_time =
        rollout->max_concurrent_clusters > 0 && rollout->max_concurrent_clusters < (int64_t)count;

    if (count == 0)
        return;
    if (rollout->waves.count)
        put_waves(t, &line, touched);
    if (some_at_a_time)
        strbuf_fmt(&line, "%sat most %lld %s at a time", line.len ? "; " : "",
                   (long long)rollout->max_concurrent_clusters,
                   rollout->max_concurrent_clusters == 1 ? "cluster" : "clusters");
    if (line.len)
        say(t, &line);
}

/* --- when, and what is not known --- */

static void tell_waiting(struct telling *t)
{
    const struct name_refs *others = &t->p->stack->spec.depends_on;
    struct str_list names = str_list_new(t->p->arena, others->count);
    struct strbuf line = strbuf_new(t->p->arena, 64);

    for (uint32_t i = 0; i < others->count; i++)
        str_list_push(&names, str_shown(t->p->arena, others->items[i].name, 60));
    if (names.count == 0)
        return;
    strbuf_fmt(&line, "not before the %s ", names.count == 1 ? "Stack" : "Stacks");
    put_names(&line, &names, FULL_CHARTS);
    strbuf_put(&line, names.count == 1 ? STR(" is Ready") : STR(" are Ready"));
    say(t, &line);
}

static void tell_text(struct telling *t, struct str text)
{
    struct strbuf line = strbuf_new(t->p->arena, text.len);

    strbuf_put(&line, text);
    say(t, &line);
}

/* A default that followed from env is the Stack's own value since, and stays it. */
static void tell_kept_toggle(struct telling *t, const char *field, enum toggle before,
                             enum toggle after)
{
    const struct stack_spec *spec = &t->p->stack->spec;

    if (before == TOGGLE_DISABLED && after == TOGGLE_DISABLED)
        tell_text(t, str_fmt(t->p->arena,
                             "spec.%s stays disabled, though a new Stack in %.*s has it enabled; "
                             "write %s: enabled into the Stack",
                             field, STR_ARG(str_shown(t->p->arena, spec->env, 63)), field));
}

static void tell_kept_toggles(struct telling *t)
{
    const struct stack_spec *now = &t->p->stack->spec;
    const struct stack_spec *old = t->p->old ? &t->p->old->spec : NULL;

    if (!old || env_is_guarded(old->env) || !env_is_guarded(now->env))
        return;
    tell_kept_toggle(t, "security", old->security, now->security);
    tell_kept_toggle(t, "observability", old->observability, now->observability);
}

static bool goes_on(const struct preview *p)
{
    return p->old && p->old->spec.paused && !p->stack->spec.paused;
}

static void tell_pause(struct telling *t, bool changes)
{
    if (changes && t->p->stack->spec.paused)
        tell_text(t, STR("nothing of this is done while spec.paused is true"));
    if (t->full && goes_on(t->p))
        tell_text(t, STR("what was changed while spec.paused was true is done now, too"));
}

/* What the webhook cannot see, and so did not compare. */
static void tell_unknown(struct telling *t)
{
    const struct preview *p = t->p;
    uint32_t omitted = p->status.deployments_omitted;

    if (p->too_much)
        tell_text(t, STR("the changes of charts are not listed, because overrides make them differ "
                         "too much from cluster to cluster"));
    if (p->unlisted)
        tell_text(t,
                  str_fmt(p->arena, "the status leaves out %u %s; what happens to %s is not known",
                          omitted, omitted == 1 ? "release" : "releases",
                          omitted == 1 ? "it" : "them"));
    if (p->behind && t->full)
        tell_text(t, STR("the controller has not seen the spec before this one: what that changed "
                         "is done, too"));
}

static void tell_all(struct telling *t)
{
    uint32_t told;

    tell_clusters(t);
    tell_charts(t);
    told = t->lines.count;
    tell_confirmation(t);
    if (t->full && told && !t->p->too_much) {
        tell_order(t, gained_clusters(t->p).count > 0);
        tell_rollout(t);
        tell_waiting(t);
    }
    if (t->full)
        tell_kept_toggles(t);
    tell_pause(t, told > 0);
    if (told || t->full)
        tell_unknown(t);
    if (t->full && !t->p->facts->clusters_known)
        tell_text(t, STR("the clusters are not known to the webhook"));
    else if (t->full && !told && t->p->old && !goes_on(t->p))
        tell_text(t, STR("no release changes"));
}

static const struct stack *stored_stack(struct arena *arena, struct json old_object)
{
    struct problems ignored = problems_new(arena);

    if (!json_is(old_object, JSON_OBJECT))
        return NULL;
    return stack_default(arena, stack_decode(arena, old_object, &ignored), NULL);
}

struct previewing {
    struct arena *arena;
    const struct stack *stack;
    const struct resolved_targets *chosen;
    const struct stack *old;
    const struct facts *facts;
    bool full;
    struct str_list lines;
};

static void preview_all(void *context)
{
    struct previewing *all = context;
    struct preview p =
        preview_of(all->arena, all->stack, all->chosen, all->old, all->facts, all->full);
    struct telling t = { .p = &p, .lines = str_list_new(all->arena, 0), .full = all->full };

    tell_all(&t);
    all->lines = t.lines;
}

struct str_list stack_preview(struct arena *arena, const struct stack *stack,
                              const struct resolved_targets *chosen, struct json old_object,
                              const struct facts *facts, bool full)
{
    const struct stack *old = stored_stack(arena, old_object);
    struct previewing all = { arena, stack, chosen, old, facts, full, str_list_new(arena, 0) };

    if (old && !spec_changed(arena, stack, old))
        return all.lines;
    if (!arena_run_within(arena, LIMIT_REVIEW_WORK, preview_all, &all))
        str_list_push(&all.lines, STR("preview: not available, because comparing the Stack with "
                                      "the clusters takes too much work"));
    return all.lines;
}
