/* SPDX-License-Identifier: Apache-2.0 */
/* validate_values.c: what holds a chart's values, and which placeholders stand in them. */
#include "stack/rules/validate_areas.h"

#include "base/set.h"
#include "kube/names.h"
#include "stack/model/limits.h"
#include "stack/model/releases.h"

static void blame_placeholder(void *context, const struct path *at, struct str placeholder)
{
    struct findings *findings = context;

    finding_add(findings, RULE_SHAPE_PLACEHOLDER, CAUSE_VALUE_NOT_SUPPORTED, at, STR(""),
                "\"%.*s\": supported values: \"${cluster.id}\", \"${cluster.name}\", "
                "\"${cluster.labels.KEY}\"",
                STR_ARG(finding_shown(findings, placeholder)));
}

/* --- references --- */

/* Any id is a part of a name like another one. */
static const char *not_a_name(struct str name, struct arena *arena)
{
    return kube_not_dns1123_subdomain(values_object(arena, name, STR("c-m-00000")));
}

static bool has_other_placeholder(struct str name)
{
    struct template_iter it = { .text = name };
    struct template_part part;

    while (template_next(&it, &part))
        if (part.kind != TEMPLATE_TEXT && part.kind != TEMPLATE_ID)
            return true;
    return false;
}

static void check_ref(const struct name_ref *ref, const struct path *up, struct findings *findings)
{
    struct path name_at = path_field(up, STR("name"));
    struct path key_at = path_field(up, STR("key"));
    const char *wrong = ref->name.len ? not_a_name(ref->name, findings->arena) : NULL;

    if (has_other_placeholder(ref->name))
        finding_add(findings, RULE_SHAPE_PLACEHOLDER, CAUSE_VALUE_INVALID, &name_at,
                    STR("use ${cluster.id}, the only placeholder that is always a part of a name"),
                    "\"%.*s\": must not have a placeholder other than ${cluster.id}",
                    STR_ARG(finding_shown(findings, ref->name)));
    else if (wrong)
        finding_add(findings, RULE_SHAPE_REFERENCE, CAUSE_VALUE_INVALID, &name_at, STR(""),
                    "\"%.*s\": %s", STR_ARG(finding_shown(findings, ref->name)), wrong);
    if (!is_file_name(ref->key))
        finding_add(findings, RULE_SHAPE_REFERENCE, CAUSE_VALUE_INVALID, &key_at,
                    STR("write a key of the object's data"),
                    "\"%.*s\": a valid config key must consist of letters, digits, '-', '_' or '.'",
                    STR_ARG(finding_shown(findings, ref->key)));
}

static void check_refs(const struct name_refs *refs, struct str field, const struct path *values,
                       struct findings *findings)
{
    struct path list = path_field(values, field);

    for (uint32_t i = 0; i < refs->count; i++) {
        struct path up = path_index(&list, i);

        check_ref(&refs->items[i], &up, findings);
    }
}

/* --- inline --- */

/* Inline values alone that no action can carry. What references add is known to the controller. */
static void check_size(struct json inline_, const struct path *at, struct findings *findings)
{
    struct strbuf text;

    if (json_raw(inline_).len <= RELEASE_VALUES_BYTES_MAX)
        return;
    text = strbuf_new(findings->arena, json_raw(inline_).len); /* it may have blanks */
    value_write(value_of(findings->arena, inline_), true, &text);
    if (text.len > RELEASE_VALUES_BYTES_MAX)
        finding_add(findings, RULE_SHAPE_BOUNDS, CAUSE_TOO_LONG, at,
                    STR("make them smaller, or let the chart read a ConfigMap of its own"),
                    "must have at most %d bytes of JSON, not %zu, because Rancher accepts no more",
                    RELEASE_VALUES_BYTES_MAX, text.len);
}

void validate_values(const struct chart_values *values, const struct path *at,
                     struct findings *findings)
{
    struct path inline_at = path_field(at, STR("inline"));

    check_size(values->inline_, &inline_at, findings);
    check_refs(&values->config_map_refs, STR("configMapRefs"), at, findings);
    check_refs(&values->secret_refs, STR("secretRefs"), at, findings);
    template_find_unknown(values->inline_, &inline_at, blame_placeholder, findings);
}

/* --- labels --- */

/* A label that a chart uses and some clusters lack. */
struct lacking {
    struct str label;
    struct str first; /* of these clusters */
    uint32_t count;
};
LIST_DEFINE(lackings, struct lacking)

static bool uses_labels(struct json values)
{
    bool text = json_is(values, JSON_STRING);
    struct template_iter parts = { .text = text ? json_str(values) : STR("") };
    struct template_part part;
    struct json_iter it = json_iter(values);

    while (template_next(&parts, &part))
        if (part.kind == TEMPLATE_LABEL)
            return true;
    while (json_next(&it))
        if (uses_labels(it.value))
            return true;
    return false;
}

/* Charts whose values, or what an override says of them, use a label. */
static struct u32_list charts_that_use_labels(const struct stack *stack, struct arena *arena)
{
    const struct charts *charts = &stack->spec.charts;
    struct u32_list using = u32_list_new(arena, 0);
    struct set names = set_new(arena, 0);

    for (uint32_t i = 0; i < stack->spec.overrides.count; i++) {
        const struct chart_overrides *said = &stack->spec.overrides.items[i].charts;

        for (uint32_t k = 0; k < said->count; k++)
            if (uses_labels(said->items[k].values.inline_))
                set_add(names, said->items[k].name);
    }
    for (uint32_t i = 0; i < charts->count; i++)
        if (uses_labels(charts->items[i].values.inline_) || set_has(names, charts->items[i].name))
            u32_list_push(&using, i);
    return using;
}

static void note(struct lackings *lackings, struct str label, struct str cluster_id)
{
    for (uint32_t i = 0; i < lackings->count; i++)
        if (str_eq(lackings->items[i].label, label)) {
            lackings->items[i].count++;
            return;
        }
    lackings_push(lackings, (struct lacking){ label, cluster_id, 1 });
}

static void tell_lacking(uint32_t chart, const struct lackings *lackings, struct findings *findings)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path charts = path_field(&spec, STR("charts"));
    struct path up = path_index(&charts, chart);
    struct path values = path_field(&up, STR("values"));
    struct path at = path_field(&values, STR("inline"));

    for (uint32_t i = 0; i < lackings->count; i++) {
        const struct lacking *one = &lackings->items[i];
        struct str more =
            one->count > 1 ? str_fmt(findings->arena, " and %u more", one->count - 1) : STR("");

        finding_add(findings, RULE_TARGETS_LABEL_USED, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                    "uses the label \"%.*s\", which %.*s%.*s %s today", STR_ARG(one->label),
                    STR_ARG(finding_shown(findings, one->first)), STR_ARG(more),
                    one->count > 1 ? "do not have" : "does not have");
    }
}

/* One label of each cluster is enough: whoever adds it learns of the next. */
void validate_labels_used(const struct stack *stack, const struct resolved_targets *chosen,
                          struct findings *findings)
{
    struct u32_list charts = charts_that_use_labels(stack, findings->arena);
    uint64_t steps = (uint64_t)charts.count * chosen->clusters.count;
    struct releases *releases;
    struct lackings *lackings;

    if (steps == 0 || steps > LIMIT_LABEL_STEPS)
        return;
    releases = releases_new(findings->arena, stack, NULL);
    lackings = arena_array(findings->arena, struct lackings, charts.count);
    for (uint32_t k = 0; k < charts.count; k++)
        lackings[k] = lackings_new(findings->arena, 0);
    for (uint32_t i = 0; i < chosen->clusters.count; i++) {
        const struct fact_cluster *cluster = &chosen->clusters.items[i];
        const struct template_facts facts = { cluster->id, cluster->display_name, cluster->labels };
        struct u32_list on = releases_overrides(releases, &facts);

        for (uint32_t k = 0; k < charts.count; k++) {
            struct str label = releases_missing_label(releases, charts.items[k], &on, &facts);

            if (label.len)
                note(&lackings[k], label, cluster->id);
            if (releases_merged_bytes(releases) > LIMIT_LABEL_BYTES)
                return;
        }
    }
    for (uint32_t k = 0; k < charts.count; k++)
        tell_lacking(charts.items[k], &lackings[k], findings);
}
