/* SPDX-License-Identifier: Apache-2.0 */
/* rbac_missing.c: nobody gives what they do not have. Rules are broken down to single rights, each
 * is looked for among what is held, and what is missing is put together again to be shown. Source:
 * k8s.io/component-helpers/auth/rbac/validation/policy_comparator.go, policy_compact.go. */
#include "lab/apiserver/rbac.h"

#include "lab/apiserver/finding.h"

#include <stdlib.h>

/* Of one rule, more than anybody writes. What stands behind them counts as everything. */
enum { RIGHTS_MAX = 4096 };

struct right {
    struct str verb, group, resource, name, path;
    bool named;
};

LIST_DEFINE(rights, struct right)

static void add(struct rights *rights, struct right right)
{
    if (rights->count < RIGHTS_MAX)
        rights_push(rights, right);
    else if (rights->count == RIGHTS_MAX)
        rights_push(rights,
                    (struct right){ STR("*"), STR("*"), STR("*"), STR(""), STR(""), false });
}

static void add_named(struct rights *rights, const struct rbac_rule *rule, struct right right)
{
    if (rule->names.count == 0)
        add(rights, right);
    right.named = true;
    for (uint32_t i = 0; i < rule->names.count; i++) {
        right.name = rule->names.items[i];
        add(rights, right);
    }
}

static struct rights break_down(struct arena *arena, const struct rbac_rule *rule)
{
    struct rights rights = rights_new(arena, 16);

    for (uint32_t g = 0; g < rule->groups.count; g++)
        for (uint32_t r = 0; r < rule->resources.count; r++)
            for (uint32_t v = 0; v < rule->verbs.count; v++)
                add_named(&rights, rule,
                          (struct right){ .verb = rule->verbs.items[v],
                                          .group = rule->groups.items[g],
                                          .resource = rule->resources.items[r] });
    for (uint32_t p = 0; p < rule->paths.count; p++)
        for (uint32_t v = 0; v < rule->verbs.count; v++)
            add(&rights,
                (struct right){ .verb = rule->verbs.items[v], .path = rule->paths.items[p] });
    return rights;
}

static bool has(const struct str_list *list, struct str one)
{
    return str_list_has(list, STR("*")) || str_list_has(list, one);
}

/* "pods/log" is covered by itself and by a star before the slash, or alone. */
static bool covers_resource(const struct str_list *held, struct str wanted)
{
    ptrdiff_t slash = str_find_char(wanted, '/', 0);

    if (has(held, wanted))
        return true;
    for (uint32_t i = 0; slash >= 0 && i < held->count; i++)
        if (str_starts(held->items[i], STR("*/")) &&
            str_eq(str_slice(held->items[i], 1, held->items[i].len),
                   str_slice(wanted, (size_t)slash, wanted.len)))
            return true;
    return false;
}

static bool covers_path(const struct str_list *held, struct str wanted)
{
    for (uint32_t i = 0; i < held->count; i++) {
        struct str one = held->items[i];

        if (str_eq(one, wanted) ||
            (str_ends(one, STR("*")) && str_starts(wanted, str_slice(one, 0, one.len - 1))))
            return true;
    }
    return false;
}

static bool covers(const struct rbac_rule *held, const struct right *wanted)
{
    if (!has(&held->verbs, wanted->verb))
        return false;
    if (wanted->path.len)
        return covers_path(&held->paths, wanted->path);
    return has(&held->groups, wanted->group) &&
           covers_resource(&held->resources, wanted->resource) &&
           (held->names.count == 0 || (wanted->named && str_list_has(&held->names, wanted->name)));
}

static bool is_held(const struct rbac_rules *held, const struct right *wanted)
{
    for (uint32_t i = 0; i < held->count; i++)
        if (covers(&held->items[i], wanted))
            return true;
    return false;
}

/* What differs in its verbs only is shown once. Rights on paths stay by themselves. */
static struct right *find_same(struct rights *groups, const struct right *right)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        struct right *g = &groups->items[i];

        if (!right->path.len && !g->path.len && str_eq(g->group, right->group) &&
            str_eq(g->resource, right->resource) && g->named == right->named &&
            str_eq(g->name, right->name))
            return g;
    }
    return NULL;
}

static void put_list(struct strbuf *out, const char *name, struct str one)
{
    if (out->len > 1)
        strbuf_lit(out, ", ");
    strbuf_fmt(out, "%s:[", name);
    finding_quote(out, one);
    strbuf_char(out, ']');
}

/* `verbs` are quoted already. */
static struct str show(struct arena *arena, const struct right *right, struct str verbs)
{
    struct strbuf out = strbuf_new(arena, 128);

    strbuf_char(&out, '{');
    if (right->path.len) {
        put_list(&out, "NonResourceURLs", right->path);
    } else {
        put_list(&out, "APIGroups", right->group);
        put_list(&out, "Resources", right->resource);
    }
    if (right->named)
        put_list(&out, "ResourceNames", right->name);
    strbuf_fmt(&out, ", Verbs:[%.*s]}", STR_ARG(verbs));
    return strbuf_str(&out);
}

static struct str quoted(struct arena *arena, struct str text)
{
    struct strbuf out = strbuf_new(arena, text.len + 2);

    finding_quote(&out, text);
    return strbuf_str(&out);
}

static int compare(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* In `groups` the verb of a group holds all its verbs, quoted. */
static void group_missing(struct arena *arena, const struct rbac_rules *held,
                          const struct rbac_rule *rule, struct rights *groups)
{
    struct rights rights = break_down(arena, rule);

    for (uint32_t i = 0; i < rights.count; i++) {
        struct right *right = &rights.items[i], *same;

        if (is_held(held, right))
            continue;
        same = find_same(groups, right);
        if (same) {
            same->verb = str_fmt(arena, "%.*s %.*s", STR_ARG(same->verb),
                                 STR_ARG(quoted(arena, right->verb)));
            continue;
        }
        right->verb = quoted(arena, right->verb);
        rights_push(groups, *right);
    }
}

struct str_list rbac_missing(struct arena *arena, const struct rbac_rules *held,
                             const struct rbac_rules *wanted)
{
    struct rights groups = rights_new(arena, 8);
    struct str_list lines = str_list_new(arena, 8);

    for (uint32_t i = 0; i < wanted->count; i++)
        group_missing(arena, held, &wanted->items[i], &groups);
    for (uint32_t i = 0; i < groups.count; i++) {
        struct str line = show(arena, &groups.items[i], groups.items[i].verb);

        if (!str_list_has(&lines, line))
            str_list_push(&lines, line);
    }
    if (lines.count)
        qsort(lines.items, lines.count, sizeof(lines.items[0]), compare);
    return lines;
}
