/* validate_fit.c: does what a Stack asks for fit the clusters that it goes to?
 *
 * Asked of clusters whose inventory is known (inventory.h); an unknown one is a third answer, told
 * once for the Stack. More than a cluster has is refused: no pod of it can ever start there. What
 * it has but does not have left today is only warned about, with the Stacks that it is promised
 * to; the Stack's own promise is not in its own way. Where no node offers anything of a vendor
 * there may be no device plugin yet, which is gpu.no-provider's to tell, or the Stack's own chart
 * to bring. A chart that an override skips brings nothing there, inventories or not.
 *
 * Clusters to which the same overrides apply are asked for the same, so the demand is summed up
 * once for each such group. Linear in values and clusters. */
#include "stack/gpu_offer.h"

#include "base/limits.h"
#include "stack/gpu_demand.h"

/* Where overrides skip the charts that bring GPUs of one vendor. */
struct unprovided {
    const struct gpu_ask *ask;  /* the first that misses them; NULL = none does */
    struct gpu_telling without; /* clusters whose nodes offer none either, */
    struct gpu_telling unknown; /* and those of which nobody knows */
};

struct fit {
    struct arena *arena;
    struct findings *findings;
    const struct facts *facts;
    struct str namespace_; /* of the Stack */
    struct str self;       /* namespace/name */
    uint32_t provides; /* by charts of the Stack, wherever they are skipped */
    struct unprovided unprovided[GPU_VENDOR_COUNT];
    gpu_field_of *field_of;
    void *context;
    struct gpu_telling unknown;
    const struct gpu_ask *unknown_ask; /* the first there */
};

/* --- one resource on one cluster --- */

/* What it offers of the same vendor instead: "8 nvidia.com/gpu", or "none". */
static struct str offered_instead(const struct fit *f, const struct inventory *inventory,
                                  struct str resource)
{
    uint32_t vendor = gpu_of_resource(resource);
    struct gpu_telling others = gpu_telling_new(f->arena);

    for (uint32_t i = 0; i < inventory->figures.count; i++) {
        const struct inventory_figures *figures = &inventory->figures.items[i];

        if (figures->allocatable > 0 && gpu_of_resource(figures->resource) == vendor)
            gpu_tell(&others, str_fmt(f->arena, "%lld %.*s", (long long)figures->allocatable,
                                      STR_ARG(finding_shown(f->findings, figures->resource))));
    }
    return gpu_told(&others);
}

static struct str namespace_of(struct str stack)
{
    ptrdiff_t slash = str_find_char(stack, '/', 0);

    return str_slice(stack, 0, slash < 0 ? 0 : (size_t)slash);
}

/* "default/rag, default/ner and 2 Stacks of other namespaces" */
static struct str promised_to(const struct fit *f, const struct inventory *inventory,
                              struct str resource)
{
    struct gpu_telling stacks = gpu_telling_new(f->arena);
    uint32_t apart = 0;

    for (uint32_t i = 0; i < inventory->promises.count; i++) {
        struct str stack = inventory->promises.items[i].stack;

        if (str_eq(stack, f->self) || inventory_promised_to(inventory, stack, resource) <= 0)
            continue;
        if (facts_may_name(f->facts, f->namespace_, namespace_of(stack)))
            gpu_tell(&stacks, finding_shown(f->findings, stack));
        else
            apart++;
    }
    if (!apart)
        return gpu_told(&stacks);
    return str_fmt(f->arena, "%.*s%s%u %s", STR_ARG(gpu_told(&stacks)),
                   stacks.count ? " and " : "", apart,
                   apart == 1 ? "Stack of another namespace" : "Stacks of other namespaces");
}

/* "6 promised to default/rag, 2 on nodes that take no pods now" */
static struct str why_busy(const struct fit *f, const struct inventory *inventory,
                           const struct inventory_figures *figures, int64_t promised)
{
    struct strbuf out = strbuf_new(f->arena, 64);
    int64_t closed = figures->allocatable - figures->schedulable;

    if (promised)
        strbuf_fmt(&out, "%lld promised to %.*s", (long long)promised,
                   STR_ARG(promised_to(f, inventory, figures->resource)));
    if (closed > 0)
        strbuf_fmt(&out, "%s%lld on nodes that take no pods now", out.len ? ", " : "",
                   (long long)closed);
    return strbuf_str(&out);
}

/* Of others, as far as they are listed: what is not listed may be the Stack's own. */
static int64_t promised_to_others(const struct fit *f, const struct inventory *inventory,
                                  const struct inventory_figures *figures)
{
    int64_t others = figures->promised;

    if (!inventory->promises_omitted)
        return others - inventory_promised_to(inventory, f->self, figures->resource);
    others = 0;
    for (uint32_t i = 0; i < inventory->promises.count; i++)
        if (!str_eq(inventory->promises.items[i].stack, f->self))
            others += inventory_promised_to(inventory, inventory->promises.items[i].stack,
                                            figures->resource);
    return others;
}

struct fit_tellings {
    struct gpu_telling total; /* clusters that have too few */
    struct gpu_telling pod;   /* clusters whose nodes do */
    struct gpu_telling busy;
};

static void judge_absent(struct fit *f, const struct gpu_ask *ask, uint32_t provides,
                         const struct fact_cluster *cluster, struct str id,
                         struct fit_tellings *tell)
{
    const struct inventory *inventory = gpu_inventory(cluster);
    uint32_t vendor = gpu_of_resource(ask->resource);

    if (!(provides & vendor) && gpu_offered(inventory) & vendor)
        gpu_tell(&tell->total,
                 str_fmt(f->arena, "%.*s has none (but %.*s)", STR_ARG(id),
                         STR_ARG(offered_instead(f, inventory, ask->resource))));
}

static void judge_on(struct fit *f, const struct gpu_ask *ask, uint32_t provides,
                     const struct fact_cluster *cluster, struct fit_tellings *tell)
{
    const struct inventory *inventory = gpu_inventory(cluster);
    const struct inventory_figures *figures = inventory_find(inventory, ask->resource);
    struct str id = finding_shown(f->findings, cluster->id);
    int64_t promised;

    if (!figures || figures->allocatable == 0) {
        judge_absent(f, ask, provides, cluster, id, tell);
        return;
    }
    promised = promised_to_others(f, inventory, figures);
    if (ask->total > figures->allocatable)
        gpu_tell(&tell->total, str_fmt(f->arena, "%.*s has %lld", STR_ARG(id),
                                       (long long)figures->allocatable));
    else if (ask->pod > figures->largest_node)
        gpu_tell(&tell->pod, str_fmt(f->arena, "of %.*s has more than %lld", STR_ARG(id),
                                     (long long)figures->largest_node));
    else if (ask->total > figures->schedulable - promised)
        gpu_tell(&tell->busy, str_fmt(f->arena, "%.*s has %lld: %.*s", STR_ARG(id),
                                      (long long)figures->allocatable,
                                      STR_ARG(why_busy(f, inventory, figures, promised))));
}

/* --- findings --- */

static void add(struct fit *f, enum rule_id rule, uint32_t chart, struct str resource,
                struct str message)
{
    /* The place is rendered already: a path of one link carries it as it is. */
    struct path at = path_field(NULL, f->field_of(f->context, chart, resource));

    finding_add(f->findings, rule, CAUSE_VALUE_INVALID, &at, STR(""), "%.*s", STR_ARG(message));
}

static void tell_ask(struct fit *f, const struct gpu_ask *ask, struct fit_tellings *tell)
{
    struct str resource = finding_shown(f->findings, ask->resource);

    if (tell->total.count)
        add(f, RULE_GPU_FIT, ask->chart, ask->resource,
            str_fmt(f->arena, "the Stack asks each cluster for %lld %.*s; %.*s",
                    (long long)ask->total, STR_ARG(resource), STR_ARG(gpu_told(&tell->total))));
    if (tell->pod.count)
        add(f, RULE_GPU_FIT, ask->pod_chart, ask->resource,
            str_fmt(f->arena, "one pod asks for %lld %.*s, and no node %.*s", (long long)ask->pod,
                    STR_ARG(resource), STR_ARG(gpu_told(&tell->pod))));
    if (tell->busy.count)
        add(f, RULE_GPU_BUSY, ask->chart, ask->resource,
            str_fmt(f->arena, "the Stack asks each cluster for %lld %.*s; %.*s",
                    (long long)ask->total, STR_ARG(resource), STR_ARG(gpu_told(&tell->busy))));
}

static void note_unknown(struct fit *f, const struct gpu_asks *asks,
                         const struct fact_cluster *cluster)
{
    struct str why = cluster->inventory ? cluster->inventory->reason : STR("");
    struct str id = finding_shown(f->findings, cluster->id);

    if (!f->unknown.count)
        f->unknown_ask = &asks->items[0];
    gpu_tell(&f->unknown, why.len ? str_fmt(f->arena, "%.*s (%.*s)", STR_ARG(id),
                                            STR_ARG(finding_shown(f->findings, why)))
                                  : id);
}

static void judge_group(struct fit *f, const struct gpu_group *group,
                        const struct fact_clusters *clusters)
{
    const struct gpu_asks *asks = &group->asks;

    for (uint32_t i = 0; i < asks->count; i++) {
        struct fit_tellings tell = { gpu_telling_new(f->arena), gpu_telling_new(f->arena),
                                     gpu_telling_new(f->arena) };

        for (uint32_t k = 0; k < group->clusters.count; k++) {
            const struct fact_cluster *cluster = &clusters->items[group->clusters.items[k]];

            if (gpu_inventory(cluster))
                judge_on(f, &asks->items[i], group->provides, cluster, &tell);
            else if (i == 0)
                note_unknown(f, asks, cluster);
        }
        tell_ask(f, &asks->items[i], &tell);
    }
}

/* --- charts that bring GPUs, and are skipped --- */

static const struct gpu_ask *first_of(const struct gpu_asks *asks, uint32_t vendor)
{
    for (uint32_t i = 0; i < asks->count; i++)
        if (gpu_of_resource(asks->items[i].resource) & vendor)
            return &asks->items[i];
    return NULL;
}

static void look_for_provider(struct fit *f, const struct gpu_group *group, int vendor,
                              const struct fact_clusters *clusters)
{
    struct unprovided *u = &f->unprovided[vendor];
    const struct gpu_ask *ask = first_of(&group->asks, 1U << vendor);

    if (!ask || !(f->provides & ~group->provides & 1U << vendor))
        return;
    if (!u->ask)
        *u = (struct unprovided){ ask, gpu_telling_new(f->arena), gpu_telling_new(f->arena) };
    for (uint32_t i = 0; i < group->clusters.count; i++) {
        const struct fact_cluster *cluster = &clusters->items[group->clusters.items[i]];
        const struct inventory *inventory = gpu_inventory(cluster);

        if (!inventory)
            gpu_tell(&u->unknown, finding_shown(f->findings, cluster->id));
        else if (!(gpu_offered(inventory) >> vendor & 1))
            gpu_tell(&u->without, finding_shown(f->findings, cluster->id));
    }
}

static void tell_unprovided(struct fit *f, enum gpu_vendor vendor, const struct charts *charts)
{
    struct unprovided *u = &f->unprovided[vendor];
    bool known = u->without.count > 0;
    struct gpu_telling *where = known ? &u->without : &u->unknown;

    if (u->ask && where->count)
        add(f, RULE_GPU_NO_PROVIDER, u->ask->chart, u->ask->resource,
            str_fmt(f->arena, "'%.*s' needs %s GPUs, %s on %.*s",
                    STR_ARG(finding_shown(f->findings, charts->items[u->ask->chart].name)),
                    gpu_vendor_name(vendor),
                    known ? "an override skips what provides them, and no node offers any today"
                          : "and an override skips what provides them",
                    STR_ARG(gpu_told(where))));
}

static void judge_providers(struct fit *f, const struct gpu_groups *groups,
                            const struct fact_clusters *clusters, const struct charts *charts)
{
    for (int vendor = 0; vendor < GPU_VENDOR_COUNT; vendor++) {
        for (uint32_t i = 0; i < groups->count; i++)
            look_for_provider(f, &groups->items[i], vendor, clusters);
        tell_unprovided(f, (enum gpu_vendor)vendor, charts);
    }
}

static void tell_uncounted(struct fit *f)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path at = path_field(&spec, STR("overrides"));

    finding_add(f->findings, RULE_GPU_UNKNOWN, CAUSE_VALUE_INVALID, &at,
                STR("have fewer overrides, or smaller ones"),
                "what the Stack asks of GPUs was not counted: its charts differ from cluster to "
                "cluster in too much for that");
}

void validate_fit(const struct stack *stack, const struct facts *facts,
                  const struct fact_clusters *clusters, uint32_t provides, gpu_field_of *field_of,
                  void *context, struct findings *findings)
{
    struct fit f = { .arena = findings->arena,
                     .findings = findings,
                     .facts = facts,
                     .namespace_ = stack->meta.namespace_,
                     .self = str_fmt(findings->arena, "%.*s/%.*s", STR_ARG(stack->meta.namespace_),
                                     STR_ARG(stack->meta.name)),
                     .provides = provides,
                     .field_of = field_of,
                     .context = context,
                     .unknown = gpu_telling_new(findings->arena) };
    struct gpu_counter *counter;
    struct gpu_groups groups;

    if (!facts->inventories_kept && !(provides && stack->spec.overrides.count))
        return;
    counter = gpu_counter_new(f.arena, stack, LIMIT_GPU_STEPS);
    groups = gpu_demand_on(counter, clusters);
    if (gpu_counter_gave_up(counter)) {
        tell_uncounted(&f);
        return;
    }
    judge_providers(&f, &groups, clusters, &stack->spec.charts);
    for (uint32_t i = 0; facts->inventories_kept && i < groups.count; i++)
        judge_group(&f, &groups.items[i], clusters);
    if (f.unknown.count)
        add(&f, RULE_GPU_UNKNOWN, f.unknown_ask->chart, f.unknown_ask->resource,
            str_fmt(f.arena, "what GPUs there are is not known today of %.*s",
                    STR_ARG(gpu_told(&f.unknown))));
}
