/* SPDX-License-Identifier: Apache-2.0 */
/* validate_provider.c: does anything provide the GPUs that a chart asks for?
 *
 * On a cluster they are provided if its nodes offer GPUs of that vendor, if a chart of the Stack
 * that brings them is not skipped there, or if a Stack that this one depends on has such a chart.
 * (That the chart waits for the provider in its own Stack is gpu.not-awaited's to tell.)
 *
 * A cluster that the Stack names is rejected if its inventory is known and none of these holds. Of
 * a selector's clusters one with GPUs is enough, and the others are named in a warning. What is not
 * known (an inventory, what a Stack brings) only warns. Linear in charts and clusters. */
#include "stack/rules/gpu_survey.h"

#include "text/enumerate.h"

/* What became of one chart's need of one vendor. */
struct outcome {
    struct str resource;        /* "" = no cluster that is known is asked for it */
    struct enumeration without; /* clusters that have none, and were not rejected */
    struct enumeration unknown; /* clusters of which nobody knows */
    bool provided;              /* on some cluster */
    bool rejected;              /* on some cluster */
    bool skipped;               /* on some cluster an override skips what provides it */
};

struct providers {
    const struct gpu_survey *survey;
    struct findings *findings;
    struct outcome *outcomes; /* by chart and vendor */
    uint32_t *offered;        /* by cluster: vendors; ALL where nobody knows */
    bool by_selector;
};

#define ALL UINT32_MAX

static struct outcome *outcome_of(const struct providers *p, uint32_t chart, int vendor)
{
    return &p->outcomes[chart * GPU_VENDOR_COUNT + (uint32_t)vendor];
}

/* The first Stack of which nobody knows whether it provides them; "" = there is none. */
static struct str maybe_given(const struct providers *p)
{
    return finding_shown(p->findings, p->survey->given.unknown);
}

static const char *why_not(bool skipped)
{
    return skipped ? "an override skips what provides them"
                   : "no chart of this Stack provides them";
}

/* The place is rendered already: a path of one link carries it as it is. */
static struct path place_of(const struct providers *p, uint32_t chart, struct str resource)
{
    return path_field(NULL, gpu_requests_field(&p->survey->charts[chart].asks, resource));
}

/* --- cluster by cluster --- */

static void reject(struct providers *p, const struct gpu_need *need, int vendor, bool skipped,
                   struct str cluster)
{
    struct path at = place_of(p, need->chart, need->resource);
    bool listed = finding_is_listed(p->findings, RULE_GPU_NOT_OFFERED);

    finding_add(p->findings, RULE_GPU_NOT_OFFERED, CAUSE_VALUE_INVALID, &at, STR(""),
                "\"%.*s\": cluster %.*s has no %s GPUs, and %s", STR_ARG(need->resource),
                STR_ARG(listed ? finding_shown(p->findings, cluster) : STR("")),
                gpu_vendor_name((enum gpu_vendor)vendor), why_not(skipped));
}

/* What a group of clusters has of one vendor. */
struct offer {
    bool some;
    struct u32_list without;
    struct u32_list unknown;
};

static struct offer offer_on(const struct providers *p, const struct gpu_group *group, int vendor)
{
    struct arena *arena = p->findings->arena;
    struct offer offer = { .without = u32_list_new(arena, 0), .unknown = u32_list_new(arena, 0) };

    if ((group->provides | p->survey->given.vendors) >> vendor & 1) {
        offer.some = true;
        return offer;
    }
    for (uint32_t i = 0; i < group->clusters.count; i++) {
        uint32_t cluster = group->clusters.items[i];

        if (p->offered[cluster] == ALL)
            u32_list_push(&offer.unknown, cluster);
        else if (p->offered[cluster] >> vendor & 1)
            offer.some = true;
        else
            u32_list_push(&offer.without, cluster);
    }
    return offer;
}

static void tell_clusters(struct providers *p, struct enumeration *names,
                          const struct u32_list *clusters)
{
    uint32_t told = 0;

    while (told < clusters->count && names->count < names->most) {
        struct str id = p->survey->clusters->items[clusters->items[told++]].id;

        enumeration_add(names, finding_shown(p->findings, id));
    }
    names->count += clusters->count - told;
}

/* Of more than are listed, one: it counts as all others. */
static void reject_all(struct providers *p, const struct gpu_need *need, int vendor, bool skipped,
                       const struct u32_list *clusters)
{
    bool listed = true;

    for (uint32_t i = 0; i < clusters->count && listed; i++) {
        listed = finding_is_listed(p->findings, RULE_GPU_NOT_OFFERED);
        reject(p, need, vendor, skipped, p->survey->clusters->items[clusters->items[i]].id);
    }
}

static void look(struct providers *p, const struct gpu_need *need, int vendor, bool skipped,
                 const struct offer *offer)
{
    struct outcome *outcome = outcome_of(p, need->chart, vendor);

    if (!outcome->resource.len) {
        outcome->resource = need->resource;
        outcome->without = enumeration_new(p->findings->arena, GPU_NAMED_MAX);
        outcome->unknown = enumeration_new(p->findings->arena, GPU_NAMED_MAX);
    }
    outcome->provided |= offer->some;
    outcome->skipped |= skipped && offer->without.count + offer->unknown.count;
    tell_clusters(p, &outcome->unknown, &offer->unknown);
    if (p->by_selector || p->survey->given.unknown.len) {
        tell_clusters(p, &outcome->without, &offer->without);
    } else {
        outcome->rejected |= offer->without.count > 0;
        reject_all(p, need, vendor, skipped, &offer->without);
    }
}

static void look_at(struct providers *p, const struct gpu_group *group)
{
    struct offer offers[GPU_VENDOR_COUNT];

    for (int vendor = 0; group->needs.count && vendor < GPU_VENDOR_COUNT; vendor++)
        offers[vendor] = offer_on(p, group, vendor);
    for (uint32_t i = 0; i < group->needs.count; i++) {
        int vendor = __builtin_ctz(gpu_of_resource(group->needs.items[i].resource));
        bool skipped = (p->survey->provides & ~group->provides) >> vendor & 1;

        look(p, &group->needs.items[i], vendor, skipped, &offers[vendor]);
    }
}

/* --- all of them together --- */

/* A warning has room for little (ADMISSION_WARNING_BYTES). */
static void warn(struct providers *p, uint32_t chart, int vendor, struct str field,
                 struct str where, struct str remedy)
{
    struct path at = path_field(NULL, field);
    struct str name = p->survey->stack->spec.charts.items[chart].name;

    finding_add(p->findings, RULE_GPU_NO_PROVIDER, CAUSE_VALUE_NOT_FOUND, &at, remedy,
                "%s GPUs for \"%.*s\": %.*s", gpu_vendor_name((enum gpu_vendor)vendor),
                STR_ARG(finding_shown(p->findings, name)), STR_ARG(where));
}

static void tell_without(struct providers *p, uint32_t chart, int vendor, struct outcome *outcome)
{
    struct arena *arena = p->findings->arena;
    struct path at = place_of(p, chart, outcome->resource);
    struct str clusters = enumeration_text(&outcome->without);
    struct str maybe = maybe_given(p);
    bool some = outcome->provided || outcome->unknown.count || maybe.len;

    if (!some)
        finding_add(p->findings, RULE_GPU_NOT_OFFERED, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": of the clusters that spec.targets.selector matches, "
                    "none has %s GPUs (%.*s), and %s",
                    STR_ARG(outcome->resource), gpu_vendor_name((enum gpu_vendor)vendor),
                    STR_ARG(clusters), why_not(outcome->skipped));
    else if (maybe.len)
        warn(p, chart, vendor, at.name,
             str_fmt(arena,
                     "none are on %.*s, and it is not known whether the Stack '%.*s' "
                     "provides them",
                     STR_ARG(clusters), STR_ARG(maybe)),
             str_fmt(arena, "see that '%.*s' has a GPU operator", STR_ARG(maybe)));
    else
        warn(p, chart, vendor, at.name,
             str_fmt(arena, "%s, and no node offers any today on %.*s", why_not(outcome->skipped),
                     STR_ARG(clusters)),
             STR(""));
}

/* Nothing is known of what the clusters have. */
static void tell_unknown(struct providers *p, uint32_t chart, int vendor, struct outcome *outcome)
{
    struct arena *arena = p->findings->arena;
    struct str clusters = enumeration_text(&outcome->unknown);

    warn(p, chart, vendor, place_of(p, chart, outcome->resource).name,
         str_fmt(arena, "%s%s%.*s", why_not(outcome->skipped), outcome->skipped ? " on " : "",
                 STR_ARG(outcome->skipped ? clusters : STR(""))),
         STR(""));
}

static void tell(struct providers *p, uint32_t chart, int vendor)
{
    const struct gpu_chart *about = &p->survey->charts[chart];
    struct outcome *outcome = outcome_of(p, chart, vendor);
    uint32_t open = about->asks.vendors & ~(p->survey->provides | p->survey->given.vendors);
    bool known = p->survey->groups && p->survey->clusters->count;

    if (outcome->without.count)
        tell_without(p, chart, vendor, outcome);
    else if (outcome->unknown.count && !outcome->rejected)
        tell_unknown(p, chart, vendor, outcome);
    else if (!known && open >> vendor & 1)
        warn(p, chart, vendor, about->asks.field_of[vendor],
             STR("no chart of this Stack provides them"), STR(""));
}

static uint32_t *vendors_offered(struct arena *arena, const struct fact_clusters *clusters)
{
    uint32_t *offered = arena_array(arena, uint32_t, clusters->count);

    for (uint32_t i = 0; i < clusters->count; i++) {
        const struct inventory *inventory = gpu_inventory(&clusters->items[i]);

        offered[i] = inventory ? gpu_offered(inventory) : ALL;
    }
    return offered;
}

void validate_providers(const struct gpu_survey *survey, struct findings *findings)
{
    uint32_t charts = survey->stack->spec.charts.count;
    struct providers p = {
        .survey = survey,
        .findings = findings,
        .outcomes = arena_array(findings->arena, struct outcome, charts * GPU_VENDOR_COUNT),
        .offered = vendors_offered(findings->arena, survey->clusters),
        .by_selector = survey->stack->spec.targets.cluster_ids.count == 0,
    };

    for (uint32_t i = 0; survey->groups && i < survey->groups->count; i++)
        look_at(&p, &survey->groups->items[i]);
    for (uint32_t chart = 0; chart < charts; chart++)
        for (int vendor = 0; vendor < GPU_VENDOR_COUNT; vendor++)
            tell(&p, chart, vendor);
}
