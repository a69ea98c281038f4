/* SPDX-License-Identifier: Apache-2.0 */
/* validate_overlap.c: releases that another Stack claims as well.
 *
 * Two Stacks cannot both have "namespace/releaseName" on one cluster: whoever is first gets it, and
 * the controller holds the other with ReleaseConflict. What is claimed may change any day, by the
 * other Stack, too, and of Stacks that are applied together either may come first: so this is not
 * valid yet rather than never, and only warned about unless the configuration says otherwise.
 *
 * Looked for are clusters that both choose now (overlap.today); where there is none, clusters that
 * both could choose once they are there or have other labels: two selectors that some labels
 * satisfy, or one id that both name and Rancher does not know (overlap.possible). Of a cluster that
 * one names by id only today's labels count: else every selector would meet every id.
 *
 * A Stack of another namespace is not named (facts_may_name); that the release is taken, and on
 * which of the own clusters, is what the author needs to choose another one.
 *
 * The cost is that of the Stack's own releases and clusters, and of those few Stacks that claim the
 * same releases; it is bounded by LIMIT_CLAIMANTS and LIMIT_OVERLAP_WORK. Beyond it a warning says
 * that not all were compared: what others claim is no reason to reject a Stack. */
#include "stack/rules/validate_areas.h"

#include "base/map.h"
#include "stack/model/limits.h"
#include "text/enumerate.h"

#include <stdlib.h>

enum {
    OTHERS_TOLD = 3,   /* of each rule and chart; the rest is counted */
    CLUSTERS_TOLD = 3, /* of each pair of Stacks */
    COMPARISON = 64,   /* steps for each other Stack */
};

struct overlap {
    const struct stack *stack;
    const struct facts *facts;
    struct findings *findings;
    struct resolved_targets *chosen;
    const struct claims *own;             /* of `chosen` */
    const struct fact_clusters *clusters; /* likewise */
    struct str_list unknown;              /* ids that it names and Rancher does not know */
    struct str_list ids;                  /* of all of these */
    struct arena *listing;                /* for the claimants of one release after the other, */
    struct arena *scratch; /* and for one comparison after the other; all work is charged to it */
};

/* --- the Stack's own clusters --- */

static void choose(struct overlap *o)
{
    const struct str_list *named = &o->own->targets.ids;

    o->ids = str_list_new(o->findings->arena, o->clusters->count);
    o->unknown = str_list_new(o->findings->arena, 0);
    for (uint32_t i = 0; i < o->clusters->count; i++)
        str_list_push(&o->ids, o->clusters->items[i].id);
    for (uint32_t i = 0; i < named->count; i++)
        if (!resolved_targets_have(o->chosen, named->items[i])) {
            str_list_push(&o->ids, named->items[i]);
            str_list_push(&o->unknown, named->items[i]);
        }
}

/* --- one other Stack --- */

/* The clusters on which both claim a release; the first few are named. */
struct meeting {
    struct str names[CLUSTERS_TOLD];
    uint32_t count;
};

static void note(struct meeting *meeting, struct str id)
{
    if (meeting->count < CLUSTERS_TOLD)
        meeting->names[meeting->count] = id;
    meeting->count++;
}

static struct meeting meet_today(struct overlap *o, uint32_t chart, const struct claims *other,
                                 uint32_t release)
{
    struct meeting meeting = { .count = 0 };

    arena_work(o->scratch, o->clusters->count);
    for (uint32_t i = 0; i < o->clusters->count; i++)
        if (claims_on(o->scratch, o->own, chart, &o->clusters->items[i]) &&
            claims_on(o->scratch, other, release, &o->clusters->items[i]))
            note(&meeting, o->clusters->items[i].id);
    return meeting;
}

static struct meeting meet_by_id(struct overlap *o, uint32_t chart, const struct claims *other,
                                 uint32_t release)
{
    struct meeting meeting = { .count = 0 };

    arena_work(o->scratch, o->unknown.count);
    for (uint32_t i = 0; i < o->unknown.count; i++)
        if (claims_by_id(o->scratch, o->own, chart, o->unknown.items[i]) &&
            claims_by_id(o->scratch, other, release, o->unknown.items[i]))
            note(&meeting, o->unknown.items[i]);
    return meeting;
}

static struct str clusters_told(const struct findings *findings, const struct meeting *meeting)
{
    struct enumeration names = enumeration_new(findings->arena, CLUSTERS_TOLD);

    names.joins_last = true;
    for (uint32_t i = 0; i < meeting->count && i < CLUSTERS_TOLD; i++)
        enumeration_add(&names, finding_shown(findings, meeting->names[i]));
    names.count = meeting->count;
    return enumeration_text(&names);
}

/* --- one chart --- */

struct tally {
    uint32_t today;
    uint32_t possible;
};

static void tell(struct overlap *o, enum rule_id rule, uint32_t chart, struct str remedy,
                 struct str message)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path charts = path_field(&spec, STR("charts"));
    struct path up = path_index(&charts, chart);
    struct path at = path_field(&up, STR("releaseName"));

    finding_add(o->findings, rule, CAUSE_VALUE_DUPLICATE, &at, remedy, "%.*s", STR_ARG(message));
}

static struct str release_told(const struct overlap *o, uint32_t chart)
{
    return finding_shown(o->findings, o->own->releases.items[chart]);
}

static struct str other_told(const struct overlap *o, const struct fact_claimant *other)
{
    if (!facts_may_name(o->facts, o->stack->meta.namespace_, other->namespace_))
        return STR("a Stack of another namespace");
    return str_fmt(o->findings->arena, "the Stack %.*s/%.*s",
                   STR_ARG(finding_shown(o->findings, other->namespace_)),
                   STR_ARG(finding_shown(o->findings, other->name)));
}

static void tell_other(struct overlap *o, enum rule_id rule, uint32_t chart,
                       const struct fact_claimant *other, bool deleting, struct str where)
{
    tell(o, rule, chart,
         deleting ? STR("wait until that Stack is gone, or choose another releaseName or namespace")
                  : STR(""),
         str_fmt(o->findings->arena, "%.*s%s claims the release %.*s too%.*s",
                 STR_ARG(other_told(o, other)), deleting ? ", which is being deleted," : "",
                 STR_ARG(release_told(o, chart)), STR_ARG(where)));
}

/* One comparison with what it finds. */
struct comparison {
    struct overlap *o;
    const struct fact_claimant *claimant;
    uint32_t chart;
    bool deleting;
    struct meeting today, named;
    bool possible; /* that they meet although they do not yet */
};

static void compare(void *context)
{
    struct comparison *c = context;
    struct overlap *o = c->o;

    arena_work(o->scratch, COMPARISON + c->claimant->packed.len);

    struct claims other = claims_read(o->scratch, c->claimant->packed);
    int64_t release = claims_find(&other, o->own->releases.items[c->chart]);

    if (release < 0)
        return;
    c->deleting = other.deleting;
    c->today = meet_today(o, c->chart, &other, (uint32_t)release);
    c->named = meet_by_id(o, c->chart, &other, (uint32_t)release);
    c->possible = !c->today.count && !c->named.count &&
                  claims_can_meet(o->scratch, o->own, c->chart, &other, (uint32_t)release);
}

static void tell_comparison(const struct comparison *c, struct tally *tally)
{
    struct overlap *o = c->o;
    struct arena *arena = o->findings->arena;

    if (c->today.count || c->named.count)
        o->chosen->contested[c->chart] = true;
    if (c->today.count) {
        if (tally->today++ < OTHERS_TOLD)
            tell_other(o, RULE_OVERLAP_TODAY, c->chart, c->claimant, c->deleting,
                       str_fmt(arena, ", on %.*s", STR_ARG(clusters_told(o->findings, &c->today))));
    } else if (c->named.count) {
        if (tally->possible++ < OTHERS_TOLD)
            tell_other(
                o, RULE_OVERLAP_POSSIBLE, c->chart, c->claimant, c->deleting,
                str_fmt(arena, "; both name %.*s%s", STR_ARG(clusters_told(o->findings, &c->named)),
                        o->facts->clusters_known ? ", which Rancher does not know today" : ""));
    } else if (c->possible) {
        if (tally->possible++ < OTHERS_TOLD)
            tell_other(o, RULE_OVERLAP_POSSIBLE, c->chart, c->claimant, c->deleting,
                       o->facts->clusters_known
                           ? STR("; no cluster matches both selectors today, but one could")
                           : STR("; a cluster could match both selectors"));
    }
}

static int compare_claimants(const void *left, const void *right)
{
    const struct fact_claimant *a = left, *b = right;
    int by_namespace = str_cmp(a->namespace_, b->namespace_);

    return by_namespace ? by_namespace : str_cmp(a->name, b->name);
}

/* Sorted, so that the text is the same on every run; a Stack may come twice, and so may this one.
 * False: there was no time for all of them. */
static bool compare_all(struct overlap *o, uint32_t chart, struct fact_claimants *others,
                        struct tally *tally)
{
    struct fact_claimant self = { .namespace_ = o->stack->meta.namespace_,
                                  .name = o->stack->meta.name };

    if (others->count == 0)
        return true;
    qsort(others->items, others->count, sizeof(struct fact_claimant), compare_claimants);
    for (uint32_t i = 0; i < others->count; i++) {
        if (compare_claimants(&others->items[i], &self) == 0 ||
            (i && compare_claimants(&others->items[i], &others->items[i - 1]) == 0))
            continue;

        struct comparison comparison = { .o = o, .claimant = &others->items[i], .chart = chart };

        if (arena_run(o->scratch, compare, &comparison) < 0)
            return false;
        tell_comparison(&comparison, tally);
        arena_reset(o->scratch);
    }
    return true;
}

static void tell_rest(struct overlap *o, enum rule_id rule, uint32_t chart, uint32_t count)
{
    if (count > OTHERS_TOLD)
        tell(o, rule, chart, STR(""),
             str_fmt(o->findings->arena, "%u more %s the release %.*s too", count - OTHERS_TOLD,
                     count - OTHERS_TOLD == 1 ? "Stack claims" : "Stacks claim",
                     STR_ARG(release_told(o, chart))));
}

static void check_chart(struct overlap *o, uint32_t chart)
{
    const struct fact_stacks *stacks = &o->facts->stacks;
    struct fact_claimants others;
    struct tally tally = { 0 };
    bool whole = stacks->claimants(stacks->context, o->listing, o->own->releases.items[chart],
                                   &o->ids, &others);

    whole = compare_all(o, chart, &others, &tally) && whole;
    tell_rest(o, RULE_OVERLAP_TODAY, chart, tally.today);
    tell_rest(o, RULE_OVERLAP_POSSIBLE, chart, tally.possible);
    if (!whole)
        tell(o, RULE_OVERLAP_POSSIBLE, chart, STR(""),
             str_fmt(o->findings->arena,
                     "so many Stacks claim the release %.*s that not all were compared",
                     STR_ARG(release_told(o, chart))));
    arena_reset(o->listing);
}

void validate_overlap(const struct stack *stack, const struct facts *facts,
                      struct resolved_targets *chosen, struct findings *findings)
{
    struct overlap o = { .stack = stack,
                         .facts = facts,
                         .findings = findings,
                         .chosen = chosen,
                         .own = &chosen->claims,
                         .clusters = &chosen->clusters };

    if (!facts->stacks.claimants || chosen->claims.releases.count == 0)
        return;
    o.listing = arena_beside(findings->arena);
    o.scratch = arena_beside(findings->arena);
    arena_bound_work(o.scratch, LIMIT_OVERLAP_WORK);
    choose(&o);
    for (uint32_t i = 0; i < chosen->claims.releases.count; i++)
        check_chart(&o, i);
}
