/* SPDX-License-Identifier: Apache-2.0 */
/* validate_annotations.c: annotations with Herd's prefix. Whoever writes one means it, and a slip
 * in it would have no effect and no answer. */
#include "stack/model/annotations.h"
#include "base/set.h"
#include "stack/model/status.h"
#include "stack/rules/validate_areas.h"

#include "base/map.h"
#include "kube/names.h"
#include "text/trace.h"

/* Looking for a near id walks all clusters, so only the first few slips get one. */
enum { NEAREST_MAX = 8 };

static const struct stack_annotation annotations[] = {
#define ANNOTATION(key, check, help) { STR_INIT(key), ANNOTATION_##check, help },
#include "stack/model/annotations.def"
#undef ANNOTATION
};
enum { ANNOTATION_COUNT = sizeof(annotations) / sizeof(annotations[0]) };

const struct stack_annotation *stack_annotations(uint32_t *ret_count)
{
    *ret_count = ANNOTATION_COUNT;
    return annotations;
}

/* --- clusters --- */

/* Ids by which something of the Stack, or Rancher, knows a cluster. */
static struct str_list known_ids(const struct stack *stack, const struct facts *facts,
                                 struct arena *arena)
{
    struct stack_status status = stack_status_read(arena, stack->status_json);
    const struct str_list *lists[] = { &stack->spec.targets.cluster_ids, &status.target_clusters,
                                       &status.held_clusters };
    struct str_list ids = str_list_new(arena, facts->clusters.count);

    for (uint32_t i = 0; i < facts->clusters.count; i++)
        str_list_push(&ids, facts->clusters.items[i].id);
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
        for (uint32_t i = 0; i < lists[k]->count; i++)
            str_list_push(&ids, lists[k]->items[i]);
    return ids;
}

static struct str nearest_id(const struct facts *facts, const struct str_list *ids, struct str id)
{
    struct str_nearest nearest = { .name = id };
    struct str known = facts_nearest_cluster(facts, id); /* also by the name that people see */

    for (uint32_t i = 0; !known.len && i < ids->count; i++)
        str_nearest_try(&nearest, ids->items[i]);
    return known.len ? known : nearest.found;
}

static void blame_syntax(struct str id, const char *wrong, const struct path *at,
                         struct findings *findings)
{
    finding_add(findings, RULE_SHAPE_ANNOTATION, CAUSE_VALUE_INVALID, at,
                STR("write the ids of clusters between commas, e.g. c-m-gpu01,c-m-gpu02, or *; or "
                    "remove the annotation"),
                "\"%.*s\": a cluster id %s", STR_ARG(finding_shown(findings, id)), wrong);
}

static void blame_unknown(const struct facts *facts, const struct str_list *ids, struct str id,
                          const struct path *at, struct findings *findings)
{
    struct str nearest = STR("");

    if (findings->of[RULE_TARGETS_ABANDONED] < NEAREST_MAX)
        nearest = nearest_id(facts, ids, id);
    finding_add(findings, RULE_TARGETS_ABANDONED, CAUSE_VALUE_NOT_FOUND, at, STR(""),
                "\"%.*s\": neither this Stack nor Rancher has a cluster with that id%.*s",
                STR_ARG(finding_shown(findings, id)),
                STR_ARG(finding_did_you_mean(findings, nearest)));
}

/* Ends with the first that is not listed any more: an annotation has room for 100,000 of them. */
static void check_clusters(struct str value, const struct stack *stack, const struct facts *facts,
                           const struct path *at, struct findings *findings)
{
    struct str_list ids = known_ids(stack, facts, findings->arena);
    struct set known = set_of(findings->arena, &ids);
    uint32_t blamed = 0;
    struct str part;

    set_add(known, STR("*"));
    while (blamed <= FINDINGS_PER_RULE_MAX && str_split(&value, ',', &part)) {
        struct str id = str_trim(part);
        const char *wrong = kube_not_dns1123_subdomain(id);

        if (set_has(known, id) || (!wrong && !facts->clusters_known))
            continue;
        if (wrong)
            blame_syntax(id, wrong, at, findings);
        else
            blame_unknown(facts, &ids, id, at, findings);
        blamed++;
    }
}

/* --- releases --- */

static const struct chart *chart_of(const struct map *charts, struct str release)
{
    ptrdiff_t colon = str_find_char(release, ':', 0);

    return map_get(charts,
                   colon < 0 ? release : str_slice(release, (size_t)colon + 1, release.len));
}

/* Each must be one that the Stack has a chart for, and that is nobody's who runs the platform. */
static void check_releases(struct str value, const struct stack *stack, const struct path *at,
                           struct findings *findings)
{
    const struct charts *all = &stack->spec.charts;
    struct map *charts = map_new(findings->arena, all->count);
    uint32_t blamed = 0;
    struct str part;

    for (uint32_t i = 0; i < all->count; i++)
        map_put(charts,
                kube_key(findings->arena, all->items[i].namespace_, all->items[i].release_name),
                &all->items[i]);
    while (blamed <= FINDINGS_PER_RULE_MAX && str_split(&value, ',', &part)) {
        struct str release = str_trim(part);
        const struct chart *chart = chart_of(charts, release);

        if (chart && !stack_is_protected_namespace(chart->namespace_))
            continue;
        blamed++;
        finding_add(findings, RULE_SHAPE_ANNOTATION,
                    chart ? CAUSE_FORBIDDEN : CAUSE_VALUE_NOT_FOUND, at,
                    STR("write NAMESPACE/RELEASE or CLUSTER:NAMESPACE/RELEASE of charts of this "
                        "Stack between commas, or remove the annotation"),
                    "\"%.*s\": %s", STR_ARG(finding_shown(findings, release)),
                    chart ? "a release of the platform itself cannot be adopted"
                          : "no chart of this Stack has that release");
    }
}

/* --- approvals --- */

/* One of a wave or change of before is left alone: it approves nothing any more. */
static void check_approvals(struct str value, const struct path *at, struct findings *findings)
{
    uint32_t blamed = 0;
    struct str part;

    while (blamed <= FINDINGS_PER_RULE_MAX && str_split(&value, ',', &part)) {
        struct str approval = str_trim(part);
        ptrdiff_t between = str_find_char(approval, '@', 0);

        if (between > 0 && (size_t)between + 1 < approval.len)
            continue;
        blamed++;
        finding_add(findings, RULE_SHAPE_ANNOTATION, CAUSE_VALUE_INVALID, at,
                    STR("status.message shows the value to write while a wave waits for its "
                        "approval; or remove the annotation"),
                    "\"%.*s\": must be WAVE@CHANGE, several between commas",
                    STR_ARG(finding_shown(findings, approval)));
    }
}

/* --- tokens --- */

static void check_token(struct str value, const struct path *at, struct findings *findings)
{
    bool hex = value.len == STACK_TOKEN_LEN;

    for (size_t i = 0; i < value.len && hex; i++)
        hex = (value.at[i] >= '0' && value.at[i] <= '9') ||
              (value.at[i] >= 'a' && value.at[i] <= 'f');
    if (!hex)
        finding_add(findings, RULE_SHAPE_ANNOTATION, CAUSE_VALUE_INVALID, at,
                    STR("status.message shows the command while a removal waits for its "
                        "confirmation; or remove the annotation"),
                    "\"%.*s\": must be the token of a removal, %d hexadecimal "
                    "digits",
                    STR_ARG(finding_shown(findings, value)), STACK_TOKEN_LEN);
}

static void check_traceparent(struct str value, const struct path *at, struct findings *findings)
{
    struct trace_context ignored;

    if (!traceparent_read(value, &ignored))
        finding_add(findings, RULE_SHAPE_ANNOTATION, CAUSE_VALUE_INVALID, at,
                    STR("write the traceparent of the span that changes the Stack, or remove the "
                        "annotation: admission writes one itself where tracing is on"),
                    "\"%.*s\": must be 00-TRACE-SPAN-FLAGS, of 32, 16 and 2 lower-case "
                    "hexadecimal digits",
                    STR_ARG(finding_shown(findings, value)));
}

static void check_value(enum annotation_check check, struct str value, const struct stack *stack,
                        const struct facts *facts, const struct path *at, struct findings *findings)
{
    switch (check) {
    case ANNOTATION_ANY:
        break;
    case ANNOTATION_CLUSTERS:
        check_clusters(value, stack, facts, at, findings);
        break;
    case ANNOTATION_RELEASES:
        check_releases(value, stack, at, findings);
        break;
    case ANNOTATION_APPROVALS:
        check_approvals(value, at, findings);
        break;
    case ANNOTATION_TOKEN:
        check_token(value, at, findings);
        break;
    case ANNOTATION_TRACEPARENT:
        check_traceparent(value, at, findings);
        break;
    }
}

/* --- each annotation --- */

static const struct stack_annotation *find(struct str key)
{
    for (int i = 0; i < ANNOTATION_COUNT; i++)
        if (str_eq(annotations[i].key, key))
            return &annotations[i];
    return NULL;
}

static void blame_key(struct str key, const struct path *at, struct findings *findings)
{
    struct str_nearest nearest = { .name = key };

    for (int i = 0; i < ANNOTATION_COUNT; i++)
        str_nearest_try(&nearest, annotations[i].key);
    finding_add(findings, RULE_SHAPE_ANNOTATION, CAUSE_VALUE_NOT_SUPPORTED, at, STR(""),
                "\"%.*s\": Herd has no annotation with that name%.*s",
                STR_ARG(finding_shown(findings, key)),
                STR_ARG(finding_did_you_mean(findings, nearest.found)));
}

void validate_annotations(const struct stack *stack, const struct facts *facts,
                          struct findings *findings)
{
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path up = path_field(&metadata, STR("annotations"));
    struct json_iter it = json_iter(stack->meta.annotations);

    while (json_next(&it)) {
        struct path at = path_key(&up, it.key);
        const struct stack_annotation *annotation;

        if (!str_starts(it.key, STR(STACK_ANNOTATION_PREFIX)) ||
            !json_is(stack->meta.annotations, JSON_OBJECT))
            continue;
        annotation = find(it.key);
        if (!annotation)
            blame_key(it.key, &at, findings);
        else if (json_is(it.value, JSON_STRING))
            check_value(annotation->check, json_str(it.value), stack, facts, &at, findings);
    }
}
