/* SPDX-License-Identifier: Apache-2.0 */
/* known.c: copies and comparisons. */
#include "controller/backends/observability/known.h"

#include "base/memory.h"
#include "controller/backends/observability/wish.h"

struct known *known_create(void)
{
    struct known *known = mem_new(struct known);

    known->arena = arena_create(0);
    known->rules = wire_rules_new(known->arena);
    known->dashboards = str_list_new(known->arena, 0);
    known->monitors = monitor_findings_new(known->arena, 0);
    known->unselected = rule_findings_new(known->arena, 0);
    known->refusals = complaints_new(known->arena, 0);
    known->traces = traces_found_new(known->arena);
    return known;
}

void known_free(struct known *known)
{
    if (!known)
        return;
    arena_free(known->arena);
    mem_free(known);
}

static bool same_list(const struct str_list *a, const struct str_list *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!str_eq(a->items[i], b->items[i]))
            return false;
    return true;
}

static bool same_complaint(const struct complaint *a, const struct complaint *b)
{
    return str_eq(a->about, b->about) && str_eq(a->text, b->text) && a->again == b->again;
}

static bool same_complaints(const struct complaints *a, const struct complaints *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!same_complaint(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static bool same_findings(const struct known *a, const struct known *b)
{
    bool same =
        a->monitors.count == b->monitors.count && a->unselected.count == b->unselected.count;

    for (uint32_t i = 0; same && i < a->monitors.count; i++)
        same = str_eq(a->monitors.items[i].release, b->monitors.items[i].release) &&
               a->monitors.items[i].state == b->monitors.items[i].state &&
               str_eq(a->monitors.items[i].message, b->monitors.items[i].message);
    for (uint32_t i = 0; same && i < a->unselected.count; i++)
        same = str_eq(a->unselected.items[i].stack, b->unselected.items[i].stack) &&
               str_eq(a->unselected.items[i].message, b->unselected.items[i].message);
    return same;
}

bool known_equal(const struct known *a, const struct known *b)
{
    return a->found == b->found && a->backends == b->backends &&
           str_eq(a->suse_name, b->suse_name) && a->counts_alerts == b->counts_alerts &&
           a->counts_dashboards == b->counts_dashboards &&
           same_complaint(&a->trouble, &b->trouble) &&
           same_complaints(&a->refusals, &b->refusals) &&
           same_list(&a->rules.stacks, &b->rules.stacks) &&
           same_list(&a->rules.releases, &b->rules.releases) &&
           same_complaint(&a->traces_trouble, &b->traces_trouble) &&
           traces_found_equal(&a->traces, &b->traces) &&
           same_list(&a->dashboards, &b->dashboards) && same_findings(a, b);
}

bool known_is_in_doubt(const struct known *known)
{
    for (uint32_t i = 0; i < known->refusals.count; i++)
        if (!known->refusals.items[i].again)
            return true;
    return known->traces_trouble.text.len && !known->traces_trouble.again;
}

static bool concerns(const struct complaint *refusal, const struct wish *wish, struct str stack)
{
    if (refusal->dashboard.len)
        return wish_knows_dashboard(wish, refusal->dashboard);
    return !refusal->stack.len || str_eq(refusal->stack, stack);
}

bool known_refuses(const struct known *known, const struct wish *wish, struct str stack)
{
    for (uint32_t i = 0; i < known->refusals.count; i++)
        if (concerns(&known->refusals.items[i], wish, stack))
            return true;
    return false;
}

struct str known_trouble_of(const struct known *known, const struct wish *wish, struct str stack)
{
    if (known->trouble.text.len)
        return known->trouble.text;
    for (uint32_t i = 0; i < known->refusals.count; i++)
        if (known->refusals.items[i].again && concerns(&known->refusals.items[i], wish, stack))
            return known->refusals.items[i].text;
    return STR("");
}

const struct complaint *known_complaint(const struct known *before, const struct complaint *now)
{
    if (str_eq(before->trouble.about, now->about))
        return &before->trouble;
    if (str_eq(before->traces_trouble.about, now->about))
        return &before->traces_trouble;
    for (uint32_t i = 0; i < before->refusals.count; i++)
        if (str_eq(before->refusals.items[i].about, now->about))
            return &before->refusals.items[i];
    return NULL;
}

static struct complaint complaint_dup(struct arena *arena, const struct complaint *of)
{
    struct complaint copy = *of;

    copy.about = str_dup(arena, of->about);
    copy.text = str_dup(arena, of->text);
    copy.stack = str_dup(arena, of->stack);
    copy.dashboard = str_dup(arena, of->dashboard);
    return copy;
}

struct complaint known_complaint_after(const struct known *before, struct arena *arena,
                                       const struct complaint *now)
{
    struct complaint complaint = *now;
    const struct complaint *first = known_complaint(before, now);

    complaint.again = first != NULL;
    if (first && first->status == now->status && first->code == now->code)
        complaint.text = first->text;
    return complaint_dup(arena, &complaint);
}

void known_keep_dashboards(struct known *known, const struct known *before)
{
    known->counts_dashboards = before->counts_dashboards;
    for (uint32_t i = 0; i < before->dashboards.count; i++)
        str_list_push(&known->dashboards, str_dup(known->arena, before->dashboards.items[i]));
}

void known_set_prometheus(struct known *known, const struct wire_prometheus *prometheus)
{
    known->prometheus = (struct wire_prometheus){
        .namespace_ = str_dup(known->arena, prometheus->namespace_),
        .name = str_dup(known->arena, prometheus->name),
        .rules = selection_dup(known->arena, &prometheus->rules),
        .monitors = { selection_dup(known->arena, &prometheus->monitors[MONITOR_SERVICE]),
                      selection_dup(known->arena, &prometheus->monitors[MONITOR_POD]) },
    };
}

void known_keep_findings(struct known *known, const struct monitor_findings *monitors,
                         const struct rule_findings *unselected)
{
    struct arena *arena = known->arena;

    known->monitors = monitor_findings_new(arena, monitors->count);
    known->unselected = rule_findings_new(arena, unselected->count);
    for (uint32_t i = 0; i < monitors->count; i++) {
        const struct monitor_finding *one = &monitors->items[i];

        monitor_findings_push(&known->monitors,
                              (struct monitor_finding){ str_dup(arena, one->release), one->state,
                                                        str_dup(arena, one->message) });
    }
    for (uint32_t i = 0; i < unselected->count; i++)
        rule_findings_push(&known->unselected,
                           (struct rule_finding){ str_dup(arena, unselected->items[i].stack),
                                                  str_dup(arena, unselected->items[i].message) });
}

struct known *known_from(const struct known *before, bool looks)
{
    struct known *known = known_create();

    known->found = before->found;
    known->backends = before->backends;
    known->suse_name = str_dup(known->arena, before->suse_name);
    known_set_prometheus(known, &before->prometheus);
    known_keep_findings(known, &before->monitors, &before->unselected);
    if (looks)
        return known;
    known_keep_dashboards(known, before);
    known->traces = traces_found_dup(known->arena, &before->traces);
    known->traces_trouble = complaint_dup(known->arena, &before->traces_trouble);
    for (uint32_t i = 0; i < before->refusals.count; i++)
        complaints_push(&known->refusals, complaint_dup(known->arena, &before->refusals.items[i]));
    return known;
}
