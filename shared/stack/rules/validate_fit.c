/* SPDX-License-Identifier: Apache-2.0 */
/* validate_fit.c: does what a Stack asks for fit the clusters that it goes to, and what a workload
 * asks for its own?
 *
 * Asked of clusters whose inventory is known (inventory.h); an unknown one is a third answer, told
 * once for the Stack. More than a cluster has is rejected: no pod of it can ever start there. What
 * it has but does not have left today is only warned about, with the Stacks that it is reserved
 * to; the Stack's own reservation is not in its own way. Where no node offers anything of a vendor,
 * validate_provider.c tells.
 *
 * Clusters to which the same overrides apply are asked for the same, so the demand is summed up
 * once for each such group. Linear in values and clusters. */
#include "stack/rules/gpu_survey.h"

#include "text/enumerate.h"

struct fit {
    struct arena *arena;
    struct findings *findings;
    const struct facts *facts;
    struct str namespace_; /* of the Stack */
    struct str self;       /* namespace/name; "" of a workload, for which nothing is reserved */
    const char *who;       /* asks, and whom */
    const struct gpu_chart *charts;
    struct str field; /* where it is asked for; "" = the charts know */
    uint32_t given;   /* vendors that other Stacks may bring */
    struct enumeration unknown;
    const struct gpu_ask *unknown_ask; /* the first there */
};

/* --- one resource on one cluster --- */

/* What it offers of the same vendor instead: "8 nvidia.com/gpu", or "none". */
static struct str offered_instead(const struct fit *f, const struct inventory *inventory,
                                  struct str resource)
{
    uint32_t vendor = gpu_of_resource(resource);
    struct enumeration others = enumeration_new(f->arena, GPU_NAMED_MAX);

    for (uint32_t i = 0; i < inventory->figures.count; i++) {
        const struct inventory_figures *figures = &inventory->figures.items[i];

        if (figures->allocatable > 0 && gpu_of_resource(figures->resource) == vendor)
            enumeration_add(&others,
                            str_fmt(f->arena, "%lld %.*s", (long long)figures->allocatable,
                                    STR_ARG(finding_shown(f->findings, figures->resource))));
    }
    return enumeration_text(&others);
}

static struct str namespace_of(struct str stack)
{
    ptrdiff_t slash = str_find_char(stack, '/', 0);

    return str_slice(stack, 0, slash < 0 ? 0 : (size_t)slash);
}

/* "default/rag, default/ner and 2 Stacks of other namespaces" */
static struct str reserved_to(const struct fit *f, const struct inventory *inventory,
                              struct str resource)
{
    struct enumeration stacks = enumeration_new(f->arena, GPU_NAMED_MAX);
    uint32_t apart = 0;

    for (uint32_t i = 0; i < inventory->reservations.count; i++) {
        struct str stack = inventory->reservations.items[i].stack;

        if (str_eq(stack, f->self) || inventory_reserved_to(inventory, stack, resource) <= 0)
            continue;
        if (facts_may_name(f->facts, f->namespace_, namespace_of(stack)))
            enumeration_add(&stacks, finding_shown(f->findings, stack));
        else
            apart++;
    }
    if (!apart)
        return enumeration_text(&stacks);
    return str_fmt(f->arena, "%.*s%s%u %s", STR_ARG(enumeration_text(&stacks)),
                   stacks.count ? " and " : "", apart,
                   apart == 1 ? "Stack of another namespace" : "Stacks of other namespaces");
}

/* "6 reserved for default/rag, 2 on nodes that take no pods now" */
static struct str why_busy(const struct fit *f, const struct inventory *inventory,
                           const struct inventory_figures *figures, int64_t reserved)
{
    struct strbuf out = strbuf_new(f->arena, 64);
    int64_t closed = figures->allocatable - figures->schedulable;

    if (reserved)
        strbuf_fmt(&out, "%lld reserved for %.*s", (long long)reserved,
                   STR_ARG(reserved_to(f, inventory, figures->resource)));
    if (closed > 0)
        strbuf_fmt(&out, "%s%lld on nodes that take no pods now", out.len ? ", " : "",
                   (long long)closed);
    return strbuf_str(&out);
}

/* Of others, as far as they are listed: what is not listed may be the Stack's own. */
static int64_t reserved_to_others(const struct fit *f, const struct inventory *inventory,
                                  const struct inventory_figures *figures)
{
    int64_t others = figures->reserved;

    if (!inventory->reservations_omitted)
        return others - inventory_reserved_to(inventory, f->self, figures->resource);
    others = 0;
    for (uint32_t i = 0; i < inventory->reservations.count; i++)
        if (!str_eq(inventory->reservations.items[i].stack, f->self))
            others += inventory_reserved_to(inventory, inventory->reservations.items[i].stack,
                                            figures->resource);
    return others;
}

struct fit_tellings {
    struct enumeration total; /* clusters that have too few */
    struct enumeration pod;   /* clusters whose nodes do */
    struct enumeration busy;
};

static void validate_absent(struct fit *f, const struct gpu_ask *ask, uint32_t provides,
                            const struct fact_cluster *cluster, struct str id,
                            struct fit_tellings *tell)
{
    const struct inventory *inventory = gpu_inventory(cluster);
    uint32_t vendor = gpu_of_resource(ask->resource);

    if (!(provides & vendor) && gpu_offered(inventory) & vendor)
        enumeration_add(&tell->total,
                        str_fmt(f->arena, "%.*s has none (but %.*s)", STR_ARG(id),
                                STR_ARG(offered_instead(f, inventory, ask->resource))));
}

static void validate_on(struct fit *f, const struct gpu_ask *ask, uint32_t provides,
                        const struct fact_cluster *cluster, struct fit_tellings *tell)
{
    const struct inventory *inventory = gpu_inventory(cluster);
    const struct inventory_figures *figures = inventory_find(inventory, ask->resource);
    struct str id = finding_shown(f->findings, cluster->id);
    int64_t reserved;

    if (!figures || figures->allocatable == 0) {
        validate_absent(f, ask, provides, cluster, id, tell);
        return;
    }
    reserved = reserved_to_others(f, inventory, figures);
    if (ask->total > figures->allocatable)
        enumeration_add(&tell->total, str_fmt(f->arena, "%.*s has %lld", STR_ARG(id),
                                              (long long)figures->allocatable));
    else if (ask->pod > figures->largest_node)
        enumeration_add(&tell->pod, str_fmt(f->arena, "of %.*s has more than %lld", STR_ARG(id),
                                            (long long)figures->largest_node));
    else if (ask->total > figures->schedulable - reserved)
        enumeration_add(&tell->busy, str_fmt(f->arena, "%.*s has %lld: %.*s", STR_ARG(id),
                                             (long long)figures->allocatable,
                                             STR_ARG(why_busy(f, inventory, figures, reserved))));
}

/* --- findings --- */

static void add(struct fit *f, enum rule_id rule, uint32_t chart, struct str resource,
                struct str message)
{
    /* The place is rendered already: a path of one link carries it as it is. */
    struct path at = path_field(
        NULL, f->field.len ? f->field : gpu_requests_field(&f->charts[chart].asks, resource));

    finding_add(f->findings, rule, CAUSE_VALUE_INVALID, &at, STR(""), "%.*s", STR_ARG(message));
}

static void tell_ask(struct fit *f, const struct gpu_ask *ask, struct fit_tellings *tell)
{
    struct str resource = finding_shown(f->findings, ask->resource);

    if (tell->total.count)
        add(f, RULE_GPU_FIT, ask->chart, ask->resource,
            str_fmt(f->arena, "%s for %lld %.*s; %.*s", f->who, (long long)ask->total,
                    STR_ARG(resource), STR_ARG(enumeration_text(&tell->total))));
    if (tell->pod.count)
        add(f, RULE_GPU_FIT, ask->pod_chart, ask->resource,
            str_fmt(f->arena, "one pod asks for %lld %.*s, and no node %.*s", (long long)ask->pod,
                    STR_ARG(resource), STR_ARG(enumeration_text(&tell->pod))));
    if (tell->busy.count)
        add(f, RULE_GPU_BUSY, ask->chart, ask->resource,
            str_fmt(f->arena, "%s for %lld %.*s; %.*s", f->who, (long long)ask->total,
                    STR_ARG(resource), STR_ARG(enumeration_text(&tell->busy))));
}

static void note_unknown(struct fit *f, const struct gpu_asks *asks,
                         const struct fact_cluster *cluster)
{
    struct str why = cluster->inventory ? cluster->inventory->reason : STR("");
    struct str id = finding_shown(f->findings, cluster->id);

    if (!f->unknown.count)
        f->unknown_ask = &asks->items[0];
    enumeration_add(&f->unknown, why.len ? str_fmt(f->arena, "%.*s (%.*s)", STR_ARG(id),
                                                   STR_ARG(finding_shown(f->findings, why)))
                                         : id);
}

static void validate_group(struct fit *f, const struct gpu_group *group,
                           const struct fact_clusters *clusters)
{
    const struct gpu_asks *asks = &group->asks;

    for (uint32_t i = 0; i < asks->count; i++) {
        struct fit_tellings tell = { enumeration_new(f->arena, GPU_NAMED_MAX),
                                     enumeration_new(f->arena, GPU_NAMED_MAX),
                                     enumeration_new(f->arena, GPU_NAMED_MAX) };

        for (uint32_t k = 0; k < group->clusters.count; k++) {
            const struct fact_cluster *cluster = &clusters->items[group->clusters.items[k]];

            if (gpu_inventory(cluster))
                validate_on(f, &asks->items[i], group->provides | f->given, cluster, &tell);
            else if (i == 0)
                note_unknown(f, asks, cluster);
        }
        tell_ask(f, &asks->items[i], &tell);
    }
}

static void validate_groups(struct fit *f, const struct gpu_groups *groups,
                            const struct fact_clusters *clusters)
{
    for (uint32_t i = 0; i < groups->count; i++)
        validate_group(f, &groups->items[i], clusters);
    if (f->unknown.count)
        add(f, RULE_GPU_UNKNOWN, f->unknown_ask->chart, f->unknown_ask->resource,
            str_fmt(f->arena, "what GPUs there are is not known today of %.*s",
                    STR_ARG(enumeration_text(&f->unknown))));
}

void validate_fit_workload(const struct gpu_asks *asks, struct str field, struct str namespace_,
                           const struct fact_cluster *cluster, const struct facts *facts,
                           struct findings *findings)
{
    struct arena *arena = findings->arena;
    struct fact_clusters clusters = fact_clusters_new(arena, 1);
    struct gpu_groups groups = gpu_groups_new(arena, 1);
    struct fit f = { .arena = arena,
                     .findings = findings,
                     .facts = facts,
                     .namespace_ = namespace_,
                     .who = "all pods together ask",
                     .field = field,
                     .unknown = enumeration_new(arena, GPU_NAMED_MAX) };

    fact_clusters_push(&clusters, *cluster);
    gpu_groups_push(&groups,
                    (struct gpu_group){ .asks = *asks, .clusters = u32_list_new(arena, 1) });
    u32_list_push(&groups.items[0].clusters, 0);
    validate_groups(&f, &groups, &clusters);
}

void validate_fit(const struct gpu_survey *survey, struct findings *findings)
{
    const struct stack *stack = survey->stack;
    struct fit f = { .arena = findings->arena,
                     .findings = findings,
                     .facts = survey->facts,
                     .charts = survey->charts,
                     .namespace_ = stack->meta.namespace_,
                     .self = str_fmt(findings->arena, "%.*s/%.*s", STR_ARG(stack->meta.namespace_),
                                     STR_ARG(stack->meta.name)),
                     .who = "the Stack asks each cluster",
                     .given = survey->given.unknown.len ? UINT32_MAX : survey->given.vendors,
                     .unknown = enumeration_new(findings->arena, GPU_NAMED_MAX) };

    validate_groups(&f, survey->groups, survey->clusters);
}
