/* preview_parts.c: which clusters come, stay and go, and what changes on those that stay.
 *
 * Clusters to which the same overrides apply, before and now, are one group; charts are compared
 * once for each group. A release is known by its namespace and name, as on the cluster: a chart
 * that was renamed is still it, and one whose release was renamed goes and comes anew: it moves. */
#include "stack/preview_parts.h"

#include "base/limits.h"
#include "base/map.h"
#include "stack/chosen.h"
#include "stack/release.h"

/* --- clusters --- */

/* Where the clusters are not known, those are meant that are named. */
static struct fact_clusters clusters_of(const struct preview *p, const struct chosen *chosen)
{
    struct fact_clusters named = fact_clusters_new(p->arena, 0);

    if (!chosen || p->facts->clusters_known)
        return chosen ? chosen->clusters : named;
    for (uint32_t i = 0; i < chosen->claims.targets.ids.count; i++)
        fact_clusters_push(&named,
                           (struct fact_cluster){ .id = chosen->claims.targets.ids.items[i] });
    return named;
}

/* Both are in the order of their ids, and so is what becomes of them. */
static void choose(struct preview *p, const struct chosen *old, const struct chosen *new)
{
    struct fact_clusters before = clusters_of(p, old);
    struct fact_clusters after = clusters_of(p, new);
    uint32_t b = 0, a = 0;

    p->clusters = preview_clusters_new(p->arena, 0);
    p->blind = !p->facts->clusters_known &&
               ((old && old->claims.targets.by_selector) || new->claims.targets.by_selector);
    while (b < before.count || a < after.count) {
        int order = b == before.count  ? 1
                    : a == after.count ? -1
                                       : str_cmp(before.items[b].id, after.items[a].id);

        preview_clusters_push(&p->clusters,
                              (struct preview_cluster){
                                  order <= 0 ? before.items[b] : after.items[a], order <= 0,
                                  order >= 0 });
        b += order <= 0;
        a += order >= 0;
    }
}

/* --- groups of clusters --- */

struct group {
    struct u32_list before; /* overrides that applied, */
    struct u32_list after;  /* and that apply now */
    struct u32_list clusters;
    bool old; /* something of the Stack may be there already */
};
LIST_DEFINE(groups, struct group)

static void put_key(struct strbuf *key, const struct u32_list *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        strbuf_fmt(key, "%u,", numbers->items[i]);
    strbuf_char(key, ';');
}

/* Of clusters that stay; of a new Stack, of all. */
static struct groups group_clusters(struct preview *p)
{
    struct override_matcher *after = override_matcher_new(p->arena, p->stack);
    struct override_matcher *before = p->old ? override_matcher_new(p->arena, p->old) : NULL;
    struct map *numbers = map_new(p->arena, 4);
    struct groups all = groups_new(p->arena, 4);

    for (uint32_t i = 0; i < p->clusters.count; i++) {
        const struct preview_cluster *c = &p->clusters.items[i];
        struct group group = { .old = p->old != NULL,
                               .before = u32_list_new(p->arena, 0),
                               .after = override_matcher_on(after, p->arena, c->cluster.id,
                                                            c->cluster.labels),
                               .clusters = u32_list_new(p->arena, 0) };
        struct strbuf key = strbuf_new(p->arena, 8);

        if (!c->after || (p->old && !c->before))
            continue;
        if (before)
            group.before =
                override_matcher_on(before, p->arena, c->cluster.id, c->cluster.labels);
        put_key(&key, &group.before);
        put_key(&key, &group.after);

        uintptr_t number = (uintptr_t)map_get(numbers, strbuf_str(&key));

        if (!number) {
            groups_push(&all, group);
            number = all.count;
            map_put(numbers, strbuf_str(&key), (void *)number);
        }
        u32_list_push(&all.items[number - 1].clusters, i);
    }
    /* Charts are compared although nobody knows where. */
    if (p->blind && !all.count)
        groups_push(&all, (struct group){ .old = p->old != NULL });
    return all;
}

/* --- charts --- */

static const struct chart_override *said_of(const struct stack *stack, uint32_t override,
                                            struct str chart)
{
    const struct chart_overrides *charts = &stack->spec.overrides.items[override].charts;

    for (uint32_t i = 0; i < charts->count; i++)
        if (str_eq(charts->items[i].name, chart))
            return &charts->items[i];
    return NULL;
}

/* A chart as it is where some overrides apply. */
struct side {
    const struct chart *chart;
    struct str version;
    bool there;
    struct json values[8]; /* of overrides, in order; more count as changed */
    uint32_t value_count;
};

static struct side side_of(const struct stack *stack, const struct chart *chart,
                           const struct u32_list *overrides)
{
    struct side side = { .chart = chart, .version = chart->version, .there = true };

    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct chart_override *said = said_of(stack, overrides->items[i], chart->name);

        if (!said)
            continue;
        if (said->version.len)
            side.version = said->version;
        if (said->skip)
            side.there = false;
        if (!json_is(said->values, JSON_OBJECT))
            continue;
        if (side.value_count < sizeof(side.values) / sizeof(side.values[0]))
            side.values[side.value_count] = said->values;
        side.value_count++;
    }
    return side;
}

static bool same_refs(const struct name_refs *a, const struct name_refs *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!str_eq(a->items[i].name, b->items[i].name) ||
            !str_eq(a->items[i].key, b->items[i].key))
            return false;
    return true;
}

/* As they are written: what ConfigMaps and Secrets hold is not seen here. */
static bool same_values(const struct side *a, const struct side *b)
{
    const struct chart_values *left = &a->chart->values, *right = &b->chart->values;

    if (!json_equal(left->inline_, right->inline_) || a->value_count != b->value_count ||
        a->value_count > sizeof(a->values) / sizeof(a->values[0]) ||
        !same_refs(&left->config_map_refs, &right->config_map_refs) ||
        !same_refs(&left->secret_refs, &right->secret_refs))
        return false;
    for (uint32_t i = 0; i < a->value_count; i++)
        if (!json_equal(a->values[i], b->values[i]))
            return false;
    return true;
}

static struct str shown(struct arena *arena, struct str foreign)
{
    return str_shown(arena, foreign, 60);
}

static void put_reason(struct strbuf *text, uint32_t *count, bool is_so, const char *reason)
{
    if (is_so)
        strbuf_fmt(text, "%s%s", (*count)++ ? ", " : " (", reason);
}

static void put_versions(struct strbuf *text, struct arena *arena, const struct side *old,
                         const struct side *new)
{
    if (!str_eq(old->version, new->version))
        strbuf_fmt(text, " %.*s ->", STR_ARG(shown(arena, old->version)));
    strbuf_fmt(text, " %.*s", STR_ARG(shown(arena, new->version)));
}

/* "qdrant 0.7.4 -> 0.8.0 (values)", by all that makes another release (release.h); "" if none. */
static struct str upgrade_text(struct arena *arena, const struct side *old, const struct side *new)
{
    struct strbuf text = strbuf_new(arena, 64);
    bool version = !str_eq(old->version, new->version);
    uint32_t reasons = 0;

    strbuf_put(&text, shown(arena, new->chart->name));
    if (version)
        put_versions(&text, arena, old, new);
    put_reason(&text, &reasons, !same_values(old, new), "values");
    put_reason(&text, &reasons,
               !str_eq(release_repo_url(old->chart->repo), release_repo_url(new->chart->repo)),
               "repository");
    put_reason(&text, &reasons, !str_eq(chart_in_repo(old->chart), chart_in_repo(new->chart)),
               "chart");
    put_reason(&text, &reasons, old->chart->wait != new->chart->wait, "wait");
    if (reasons)
        strbuf_char(&text, ')');
    return version || reasons ? strbuf_str(&text) : STR("");
}

/* --- what changes --- */

/* One sentence part, and the groups that it is true of. */
struct row {
    enum preview_kind kind;
    struct str text;
    struct strbuf groups; /* "0,3," */
    struct u32_list clusters;
};
LIST_DEFINE(rows, struct row)

struct comparison {
    struct preview *p;
    struct map *old_charts; /* by release */
    struct map *new_charts;
    struct map *old_names; /* and by name, those whose release is no chart's any more */
    struct map *new_names; /* or was none's before */
    struct map *numbers; /* kind and text -> row + 1 */
    struct rows rows;
};

static void note(struct comparison *c, enum preview_kind kind, struct str text, uint32_t number,
                 const struct group *group)
{
    struct str key = str_fmt(c->p->arena, "%d %.*s", kind, STR_ARG(text));
    uintptr_t row = (uintptr_t)map_get(c->numbers, key);

    if (!row) {
        rows_push(&c->rows, (struct row){ kind, text, strbuf_new(c->p->arena, 8),
                                          u32_list_new(c->p->arena, group->clusters.count) });
        row = c->rows.count;
        map_put(c->numbers, key, (void *)row);
    }
    strbuf_fmt(&c->rows.items[row - 1].groups, "%u,", number);
    for (uint32_t i = 0; i < group->clusters.count; i++)
        u32_list_push(&c->rows.items[row - 1].clusters, group->clusters.items[i]);
}

static struct str release_of(struct arena *arena, const struct chart *chart)
{
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(chart->namespace_), STR_ARG(chart->release_name));
}

static struct map *charts_by_release(struct arena *arena, const struct stack *stack)
{
    uint32_t count = stack ? stack->spec.charts.count : 0;
    struct map *charts = map_new(arena, count);

    for (uint32_t i = 0; i < count; i++)
        map_put(charts, release_of(arena, &stack->spec.charts.items[i]),
                &stack->spec.charts.items[i]);
    return charts;
}

/* Those of `charts` whose release is in `others` not. */
static struct map *alone_by_name(struct arena *arena, const struct stack *stack,
                                 const struct map *others)
{
    uint32_t count = stack ? stack->spec.charts.count : 0;
    struct map *charts = map_new(arena, count);

    for (uint32_t i = 0; i < count; i++) {
        struct chart *chart = &stack->spec.charts.items[i];

        if (!map_get(others, release_of(arena, chart)))
            map_put(charts, chart->name, chart);
    }
    return charts;
}

/* What was there by that name, under a release that is no more. */
static struct side former_side(const struct comparison *c, const struct chart *chart,
                               const struct group *group)
{
    const struct chart *former = map_get(c->old_names, chart->name);

    if (!group->old || !former || map_get(c->new_names, chart->name) != chart)
        return (struct side){ .there = false };
    return side_of(c->p->old, former, &group->before);
}

/* "qdrant 0.7.4 from one/qdrant to two/qdrant" */
static struct str move_text(struct arena *arena, const struct side *old, const struct side *new)
{
    struct strbuf text = strbuf_new(arena, 64);

    strbuf_put(&text, shown(arena, new->chart->name));
    put_versions(&text, arena, old, new);
    strbuf_fmt(&text, " from %.*s to %.*s", STR_ARG(shown(arena, release_of(arena, old->chart))),
               STR_ARG(shown(arena, release_of(arena, new->chart))));
    return strbuf_str(&text);
}

/* It was not there under this release. */
static void compare_new(struct comparison *c, uint32_t chart, const struct side *new,
                        uint32_t number, const struct group *group)
{
    struct arena *arena = c->p->arena;
    struct side former = former_side(c, new->chart, group);
    struct strbuf text = strbuf_new(arena, 64);

    if (former.there) {
        strbuf_put(&text, move_text(arena, &former, new));
    } else {
        strbuf_put(&text, shown(arena, new->chart->name));
        put_versions(&text, arena, new, new);
    }
    if (c->p->chosen->contested[chart])
        strbuf_lit(&text, " (if its release is free)");
    c->p->chart_changes[chart] = true;
    note(c, former.there ? PREVIEW_MOVE : PREVIEW_INSTALL, strbuf_str(&text), number, group);
}

static void compare_chart(struct comparison *c, uint32_t chart, uint32_t number,
                          const struct group *group)
{
    struct arena *arena = c->p->arena;
    const struct stack *stack = c->p->stack;
    struct side new = side_of(stack, &stack->spec.charts.items[chart], &group->after);
    const struct chart *held = map_get(c->old_charts, release_of(arena, new.chart));
    struct side old = { .there = false };
    struct str upgrade;

    if (held && group->old)
        old = side_of(c->p->old, held, &group->before);
    if (!new.there) {
        if (old.there)
            note(c, PREVIEW_UNINSTALL, shown(arena, new.chart->name), number, group);
        return;
    }
    if (!old.there) {
        compare_new(c, chart, &new, number, group);
        return;
    }
    upgrade = upgrade_text(arena, &old, &new);
    if (upgrade.len) {
        c->p->chart_changes[chart] = true;
        note(c, PREVIEW_UPGRADE, upgrade, number, group);
    }
}

/* It comes anew under another release. */
static bool comes_anew(const struct comparison *c, const struct chart *old,
                       const struct group *group)
{
    const struct chart *new = map_get(c->new_names, old->name);

    return new && side_of(c->p->stack, new, &group->after).there;
}

static void compare_gone(struct comparison *c, uint32_t number, const struct group *group)
{
    const struct stack *old = c->p->old;

    for (uint32_t i = 0; group->old && i < old->spec.charts.count; i++) {
        const struct chart *chart = &old->spec.charts.items[i];

        if (!map_get(c->new_charts, release_of(c->p->arena, chart)) &&
            side_of(old, chart, &group->before).there && !comes_anew(c, chart, group))
            note(c, PREVIEW_UNINSTALL, shown(c->p->arena, chart->name), number, group);
    }
}

/* Rows of one kind and the same groups are one change. */
static void bundle(struct comparison *c)
{
    struct preview *p = c->p;
    struct map *numbers = map_new(p->arena, c->rows.count);

    p->kept = preview_changes_new(p->arena, 4);
    for (enum preview_kind kind = 0; kind < PREVIEW_KIND_COUNT; kind++)
        for (uint32_t i = 0; i < c->rows.count; i++) {
            struct row *row = &c->rows.items[i];
            struct str key = str_fmt(p->arena, "%d %.*s", kind, STR_ARG(strbuf_str(&row->groups)));
            uintptr_t number = (uintptr_t)map_get(numbers, key);

            if (row->kind != kind)
                continue;
            if (!number) {
                preview_changes_push(&p->kept, (struct preview_change){
                                                   kind, str_list_new(p->arena, 4),
                                                   row->clusters });
                number = p->kept.count;
                map_put(numbers, key, (void *)number);
            }
            str_list_push(&p->kept.items[number - 1].charts, row->text);
        }
}

static uint64_t named_by(const struct stack *stack, const struct u32_list *overrides)
{
    uint64_t charts = 0;

    for (uint32_t i = 0; i < overrides->count; i++)
        charts += stack->spec.overrides.items[overrides->items[i]].charts.count;
    return charts;
}

/* What comparing will cost, so that it is not begun in vain. */
static uint64_t steps_of(const struct preview *p, const struct groups *groups)
{
    enum { COMPARISON = 16 };
    uint64_t charts = p->stack->spec.charts.count + (p->old ? p->old->spec.charts.count : 0);
    uint64_t steps = 0;

    for (uint32_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->items[i];

        steps += charts * (COMPARISON + named_by(p->stack, &group->after) +
                           (p->old ? named_by(p->old, &group->before) : 0));
    }
    return steps;
}

struct preview preview_of(struct arena *arena, const struct stack *stack,
                          const struct chosen *chosen, const struct stack *old,
                          const struct facts *facts)
{
    struct preview p = {
        .arena = arena, .stack = stack, .chosen = chosen, .old = old, .facts = facts
    };
    uint32_t charts = stack->spec.charts.count;

    p.chart_changes = arena_array(arena, bool, charts);
    choose(&p, old ? chosen_of(arena, old, facts) : NULL, chosen);

    struct groups groups = group_clusters(&p);
    struct comparison c = { .p = &p,
                            .old_charts = charts_by_release(arena, old),
                            .new_charts = charts_by_release(arena, stack),
                            .numbers = map_new(arena, charts),
                            .rows = rows_new(arena, charts) };

    c.old_names = alone_by_name(arena, old, c.new_charts);
    c.new_names = alone_by_name(arena, stack, c.old_charts);

    p.too_much = steps_of(&p, &groups) > LIMIT_PREVIEW_STEPS;
    for (uint32_t i = 0; i < groups.count && !p.too_much; i++) {
        for (uint32_t k = 0; k < charts; k++)
            compare_chart(&c, k, i, &groups.items[i]);
        compare_gone(&c, i, &groups.items[i]);
    }
    bundle(&c);
    return p;
}
