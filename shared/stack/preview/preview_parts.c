/* SPDX-License-Identifier: Apache-2.0 */
/* preview_parts.c: what changes on the clusters that stay.
 *
 * Charts are compared once for each group of clusters that are alike. A release is known by its
 * namespace and name, as on the cluster: a chart that was renamed is still it, and one whose
 * release was renamed goes and comes anew: it moves. */
#include "stack/preview/preview_parts.h"

#include "base/map.h"
#include "stack/model/limits.h"
#include "stack/preview/preview_groups.h"
#include "stack/model/release.h"

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
    const struct chart_values *values[8]; /* of overrides, in order; more count as changed */
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
        if (!chart_values_given(&said->values))
            continue;
        if (side.value_count < sizeof(side.values) / sizeof(side.values[0]))
            side.values[side.value_count] = &said->values;
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

static bool same_layer(const struct chart_values *a, const struct chart_values *b)
{
    return json_equal(a->inline_, b->inline_) &&
           same_refs(&a->config_map_refs, &b->config_map_refs) &&
           same_refs(&a->secret_refs, &b->secret_refs);
}

/* As they are written: what ConfigMaps and Secrets hold is not seen here. */
static bool same_values(const struct side *a, const struct side *b)
{
    if (!same_layer(&a->chart->values, &b->chart->values) || a->value_count != b->value_count ||
        a->value_count > sizeof(a->values) / sizeof(a->values[0]))
        return false;
    for (uint32_t i = 0; i < a->value_count; i++)
        if (!same_layer(a->values[i], b->values[i]))
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

/* What is there of a release, and what the spec before made of it, if it had it. */
struct former {
    const struct release_state *entry;
    struct side side;
};

static bool is_deployed(const struct former *old)
{
    return old->entry->state == DEPLOYMENT_DEPLOYED;
}

static bool other_version(const struct former *old, const struct side *new)
{
    if (old->side.there && str_eq(old->side.version, new->version))
        return false;
    return !is_deployed(old) || !str_eq(old->entry->version, new->version);
}

/* " 0.7.4 -> 0.8.0", or where nobody knows which version runs " to 0.8.0". */
static void put_versions(struct strbuf *text, struct arena *arena, const struct former *old,
                         const struct side *new)
{
    struct str was = old->entry->version;

    if (!is_deployed(old) || !was.len)
        strbuf_fmt(text, " to %.*s", STR_ARG(shown(arena, new->version)));
    else if (str_eq(was, new->version))
        strbuf_fmt(text, " %.*s", STR_ARG(shown(arena, new->version)));
    else
        strbuf_fmt(text, " %.*s -> %.*s", STR_ARG(shown(arena, was)),
                   STR_ARG(shown(arena, new->version)));
}

/* "qdrant 0.7.4 -> 0.8.0 (values)", by all that makes another release (release.h); "" if none. */
static struct str upgrade_text(struct arena *arena, const struct former *old,
                               const struct side *new)
{
    const struct side *was = old->side.there ? &old->side : new;
    struct strbuf text = strbuf_new(arena, 64);
    bool version = other_version(old, new);
    uint32_t reasons = 0;

    strbuf_put(&text, shown(arena, new->chart->name));
    if (version)
        put_versions(&text, arena, old, new);
    put_reason(&text, &reasons, !same_values(was, new), "values");
    put_reason(&text, &reasons,
               !str_eq(release_repo_url(was->chart->repo), release_repo_url(new->chart->repo)),
               "repository");
    put_reason(&text, &reasons, !str_eq(chart_in_repo(was->chart), chart_in_repo(new->chart)),
               "chart");
    put_reason(&text, &reasons, was->chart->wait != new->chart->wait, "wait");
    if (!version && !reasons)
        return STR("");
    if (!is_deployed(old))
        put_reason(&text, &reasons, true,
                   str_fmt(arena, "%s now", deployment_state_name(old->entry->state)).at);
    if (reasons)
        strbuf_char(&text, ')');
    return strbuf_str(&text);
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
    struct map *old_charts; /* by release: those of the spec before, */
    struct map *new_charts; /* of this one */
    struct map *new_names;  /* and by name */
    struct map *numbers;    /* kind and text -> row + 1 */
    struct rows rows;
    const struct group *group; /* the one that is compared, */
    uint32_t number;
    struct map *there;    /* what is there, by release, */
    struct map *leftover; /* and by chart, if no chart has that release now */
    uint32_t gone, come;  /* releases that go, and that this edit brings */
};

static void note(struct comparison *c, enum preview_kind kind, struct str text)
{
    const struct group *group = c->group;
    struct str key = str_fmt(c->p->arena, "%d %.*s", kind, STR_ARG(text));
    uintptr_t row = (uintptr_t)map_get(c->numbers, key);

    if (!row) {
        rows_push(&c->rows, (struct row){ kind, text, strbuf_new(c->p->arena, 8),
                                          u32_list_new(c->p->arena, group->clusters.count) });
        row = c->rows.count;
        map_put(c->numbers, key, (void *)row);
    }
    strbuf_fmt(&c->rows.items[row - 1].groups, "%u,", c->number);
    for (uint32_t i = 0; i < group->clusters.count; i++)
        u32_list_push(&c->rows.items[row - 1].clusters, group->clusters.items[i]);
}

static struct str release_key(struct arena *arena, struct str namespace_, struct str name)
{
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));
}

static struct str release_of(struct arena *arena, const struct chart *chart)
{
    return release_key(arena, chart->namespace_, chart->release_name);
}

static struct str release_there(struct arena *arena, const struct release_state *entry)
{
    return release_key(arena, entry->namespace_, entry->release_name);
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

static struct map *charts_by_name(struct arena *arena, const struct stack *stack)
{
    struct map *charts = map_new(arena, stack->spec.charts.count);

    for (uint32_t i = 0; i < stack->spec.charts.count; i++)
        map_put(charts, stack->spec.charts.items[i].name, &stack->spec.charts.items[i]);
    return charts;
}

static const struct release_state *entry_at(const struct comparison *c, uint32_t i)
{
    return &c->p->status.deployments.items[c->group->entries.items[i]];
}

static void begin_group(struct comparison *c, const struct group *group, uint32_t number)
{
    struct arena *arena = c->p->arena;

    c->group = group;
    c->number = number;
    c->there = map_new(arena, group->entries.count);
    c->leftover = map_new(arena, 0);
    c->gone = c->come = 0;
    for (uint32_t i = 0; i < group->entries.count; i++) {
        const struct release_state *entry = entry_at(c, i);
        struct str release = release_there(arena, entry);

        map_put(c->there, release, (void *)(uintptr_t)entry);
        if (!map_get(c->new_charts, release))
            map_put(c->leftover, entry->chart_name, (void *)(uintptr_t)entry);
    }
}

static struct side new_side(const struct comparison *c, const struct chart *chart)
{
    return side_of(c->p->stack, chart, &c->group->after);
}

/* What the spec before made of the release of a chart, where it had it. */
static struct side old_side(const struct comparison *c, const struct chart *chart)
{
    const struct chart *old = map_get(c->old_charts, release_of(c->p->arena, chart));

    return old ? side_of(c->p->old, old, &c->group->before) : (struct side){ .there = false };
}

/* "qdrant 0.7.4 from one/qdrant to two/qdrant" */
static struct str move_text(struct arena *arena, const struct release_state *entry,
                            const struct side *new)
{
    struct former old = { .entry = entry };
    struct strbuf text = strbuf_new(arena, 64);

    strbuf_put(&text, shown(arena, new->chart->name));
    put_versions(&text, arena, &old, new);
    strbuf_fmt(&text, " from %.*s to %.*s", STR_ARG(shown(arena, release_there(arena, entry))),
               STR_ARG(shown(arena, release_of(arena, new->chart))));
    return strbuf_str(&text);
}

/* It is not there under this release. */
static void compare_new(struct comparison *c, uint32_t chart, const struct side *new)
{
    struct arena *arena = c->p->arena;
    const struct release_state *entry = map_get(c->leftover, new->chart->name);
    struct strbuf text;

    c->come += entry || !old_side(c, new->chart).there;
    if (!entry && !c->p->full)
        return;
    text = strbuf_new(arena, 64);
    if (entry)
        strbuf_put(&text, move_text(arena, entry, new));
    else
        strbuf_fmt(&text, "%.*s %.*s", STR_ARG(shown(arena, new->chart->name)),
                   STR_ARG(shown(arena, new->version)));
    if (c->p->chosen->contested[chart])
        strbuf_lit(&text, " (if its release is free)");
    c->p->chart_changes[chart] = true;
    note(c, entry ? PREVIEW_MOVE : PREVIEW_INSTALL, strbuf_str(&text));
}

static void compare_chart(struct comparison *c, uint32_t chart)
{
    struct arena *arena = c->p->arena;
    struct side new = new_side(c, &c->p->stack->spec.charts.items[chart]);
    struct former old = { .entry = map_get(c->there, release_of(arena, new.chart)) };
    struct str upgrade;

    if (!new.there)
        return; /* what is there of it goes: compare_gone */
    if (!old.entry && c->group->unlisted) {
        c->p->unlisted = true;
        return;
    }
    if (!old.entry) {
        compare_new(c, chart, &new);
        return;
    }
    if (!c->p->full)
        return;
    old.side = old_side(c, new.chart);
    upgrade = upgrade_text(arena, &old, &new);
    if (upgrade.len) {
        c->p->chart_changes[chart] = true;
        note(c, PREVIEW_UPGRADE, upgrade);
    }
}

/* It comes anew under another release: compare_new told it. */
static bool moves(const struct comparison *c, const struct release_state *entry)
{
    const struct chart *new = map_get(c->new_names, entry->chart_name);

    return new &&map_get(c->leftover, entry->chart_name) == entry &&new_side(c, new).there &&
           !map_get(c->there, release_of(c->p->arena, new)) && !c->group->unlisted;
}

static bool stays(const struct comparison *c, const struct release_state *entry)
{
    const struct chart *heir = map_get(c->new_charts, release_there(c->p->arena, entry));

    return heir && new_side(c, heir).there;
}

static void compare_gone(struct comparison *c)
{
    for (uint32_t i = 0; i < c->group->entries.count; i++)
        c->gone += !stays(c, entry_at(c, i));
    for (uint32_t i = 0; i < c->group->entries.count; i++) {
        struct str name = shown(c->p->arena, entry_at(c, i)->chart_name);

        if (stays(c, entry_at(c, i)) || moves(c, entry_at(c, i)))
            continue;
        /* Where not all of them have one, it is the controller that pairs them. */
        if (c->gone <= c->come)
            name =
                str_fmt(c->p->arena, "%.*s (once what takes its place is deployed)", STR_ARG(name));
        note(c, PREVIEW_UNINSTALL, name);
    }
}

static void compare_group(struct comparison *c, const struct group *group, uint32_t number)
{
    begin_group(c, group, number);
    for (uint32_t i = 0; i < c->p->stack->spec.charts.count; i++)
        compare_chart(c, i);
    compare_gone(c);
    if (c->gone > c->come)
        c->p->removed += (c->gone - c->come) * group->clusters.count;
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
                preview_changes_push(
                    &p->kept,
                    (struct preview_change){ kind, str_list_new(p->arena, 4), row->clusters });
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
    uint64_t steps = 0;

    for (uint32_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->items[i];
        uint64_t charts = p->stack->spec.charts.count + group->entries.count;

        steps += charts * (COMPARISON + named_by(p->stack, &group->after) +
                           (p->old ? named_by(p->old, &group->before) : 0));
    }
    return steps;
}

/* Of clusters that it leaves; those that stay are compared. */
static void count_lost(struct preview *p, const struct u32_list *entries)
{
    for (uint32_t i = 0; i < p->clusters.count; i++) {
        const struct preview_cluster *c = &p->clusters.items[i];

        p->had += entries[i].count;
        if (c->holds && !c->after) {
            p->removed += entries[i].count;
            p->unlisted = p->unlisted || p->status.deployments_omitted;
        }
    }
    p->had += p->status.deployments_omitted;
}

struct preview preview_of(struct arena *arena, const struct stack *stack,
                          const struct resolved_targets *chosen, const struct stack *old,
                          const struct facts *facts, bool full)
{
    struct preview p = {
        .arena = arena, .stack = stack, .chosen = chosen, .old = old, .facts = facts, .full = full
    };
    struct json none = { NULL, 0 };

    p.status = stack_status_read(arena, old ? old->status_json : none);
    p.untouched = !old || stack_status_is_blank(&p.status);
    p.behind = !p.untouched && p.status.observed_generation < old->meta.generation;
    p.chart_changes = arena_array(arena, bool, stack->spec.charts.count);
    preview_find_clusters(&p);

    const struct u32_list *entries = preview_sort_entries(&p);
    struct groups groups = preview_group_clusters(&p, entries);
    struct comparison c = { .p = &p,
                            .old_charts = charts_by_release(arena, old),
                            .new_charts = charts_by_release(arena, stack),
                            .new_names = charts_by_name(arena, stack),
                            .numbers = map_new(arena, stack->spec.charts.count),
                            .rows = rows_new(arena, stack->spec.charts.count) };

    count_lost(&p, entries);
    p.too_much = steps_of(&p, &groups) > LIMIT_PREVIEW_STEPS;
    for (uint32_t i = 0; i < groups.count && !p.too_much; i++)
        compare_group(&c, &groups.items[i], i);
    bundle(&c);
    return p;
}
