/* validate_shape.c: each field for itself, and what must be unique. Wrong types, missing fields,
 * words and bounds were told by decode.c; what stands in one chart: validate_chart.c. */
#include "stack/validate_areas.h"

#include "base/map.h"
#include "kube/names.h"

/* --- what must be unique, and what must exist --- */

static void check_unique(const struct charts *charts, const struct path *list,
                         struct findings *findings)
{
    struct map *names = map_new(findings->arena, charts->count);
    struct map *releases = map_new(findings->arena, charts->count);

    for (uint32_t i = 0; i < charts->count; i++) {
        struct chart *chart = &charts->items[i];
        struct path up = path_index(list, i);
        struct path name_at = path_field(&up, STR("name"));
        struct path release_at = path_field(&up, STR("releaseName"));

        if (chart->name.len == 0)
            continue;
        if (map_get(names, chart->name)) {
            finding_add(findings, RULE_SHAPE_DUPLICATE_CHART, CAUSE_VALUE_DUPLICATE, &name_at,
                        STR(""), "'%.*s' is the name of another chart too",
                        STR_ARG(finding_shown(findings, chart->name)));
            continue; /* its release may well be the same: one finding is enough */
        }
        map_put(names, chart->name, chart);
        if (chart->release_name.len == 0 || chart->namespace_.len == 0)
            continue;

        struct str key = kube_key(findings->arena, chart->namespace_, chart->release_name);
        const struct chart *other = map_get(releases, key);

        if (other)
            finding_add(findings, RULE_SHAPE_DUPLICATE_RELEASE, CAUSE_VALUE_DUPLICATE, &release_at,
                        STR(""), "the charts %.*s and %.*s are both the release %.*s",
                        STR_ARG(finding_shown(findings, other->name)),
                        STR_ARG(finding_shown(findings, chart->name)),
                        STR_ARG(finding_shown(findings, key)));
        map_put(releases, key, chart);
    }
}

static struct str nearest_chart(const struct charts *charts, struct str name)
{
    struct str_nearest nearest = { .name = name };

    for (uint32_t i = 0; i < charts->count; i++)
        str_nearest_try(&nearest, charts->items[i].name);
    return nearest.found;
}

static void check_override(const struct stack_override *override, const struct charts *charts,
                           const struct map *names, const struct path *up,
                           struct findings *findings)
{
    struct path list = path_field(up, STR("charts"));
    struct map *seen = map_new(findings->arena, override->charts.count);

    for (uint32_t i = 0; i < override->charts.count; i++) {
        struct chart_override *one = &override->charts.items[i];
        struct path item = path_index(&list, i);
        struct path at = path_field(&item, STR("name"));
        struct str shown = finding_shown(findings, one->name);

        validate_version(one->version, &item, findings);
        if (one->name.len == 0)
            continue;
        if (!map_get(names, one->name))
            /* A near name is looked for only while the rule is still told. */
            finding_add(findings, RULE_SHAPE_OVERRIDE_CHART, CAUSE_VALUE_NOT_FOUND, &at,
                        findings->of[RULE_SHAPE_OVERRIDE_CHART] < 8
                            ? finding_did_you_mean(findings, nearest_chart(charts, one->name))
                            : STR(""),
                        "there is no chart '%.*s' in this Stack", STR_ARG(shown));
        else if (!map_put(seen, one->name, one))
            finding_add(findings, RULE_SHAPE_OVERRIDE_CHART, CAUSE_VALUE_DUPLICATE, &at,
                        STR("remove one of the two"), "'%.*s' stands twice in this override",
                        STR_ARG(shown));
    }
}

static void check_overrides(const struct stack_spec *spec, const struct path *at,
                            struct findings *findings)
{
    struct path list = path_field(at, STR("overrides"));

    if (spec->overrides.count == 0)
        return;

    struct map *names = map_new(findings->arena, spec->charts.count);

    for (uint32_t i = 0; i < spec->charts.count; i++)
        map_put(names, spec->charts.items[i].name, &spec->charts.items[i]);
    for (uint32_t i = 0; i < spec->overrides.count; i++) {
        struct path up = path_index(&list, i);

        check_override(&spec->overrides.items[i], &spec->charts, names, &up, findings);
    }
}

static void check_waves(const struct waves *waves, const struct path *spec,
                        struct findings *findings)
{
    struct path rollout = path_field(spec, STR("rollout"));
    struct path list = path_field(&rollout, STR("waves"));
    struct str_list seen = str_list_new(findings->arena, waves->count);

    for (uint32_t i = 0; i < waves->count; i++) {
        struct str name = waves->items[i].name;
        struct path up = path_index(&list, i);
        struct path at = path_field(&up, STR("name"));
        const char *wrong = name.len ? kube_not_dns1123_label(name) : NULL;

        if (wrong)
            finding_add(findings, RULE_SHAPE_WAVE, CAUSE_VALUE_INVALID, &at, STR(""), "'%.*s' %s",
                        STR_ARG(finding_shown(findings, name)), wrong);
        else if (name.len && str_list_has(&seen, name))
            finding_add(findings, RULE_SHAPE_WAVE, CAUSE_VALUE_DUPLICATE, &at, STR(""),
                        "'%.*s' stands twice", STR_ARG(finding_shown(findings, name)));
        str_list_push(&seen, name);
    }
}

static void check_dashboards(const struct str_list *dashboards, const struct path *spec,
                             struct findings *findings)
{
    enum { UID_MAX = 40 }; /* grafana pkg/util/shortid_generator.go */
    struct path profile = path_field(spec, STR("observabilityProfile"));
    struct path list = path_field(&profile, STR("dashboards"));
    struct str_list seen = str_list_new(findings->arena, dashboards->count);

    for (uint32_t i = 0; i < dashboards->count; i++) {
        struct str uid = dashboards->items[i];
        struct path at = path_index(&list, i);
        bool good = uid.len <= UID_MAX;

        for (size_t k = 0; k < uid.len; k++)
            good = good && is_word_char(uid.at[k]);
        if (!good || (uid.len && str_list_has(&seen, uid)))
            finding_add(findings, RULE_SHAPE_DASHBOARD,
                        good ? CAUSE_VALUE_DUPLICATE : CAUSE_VALUE_INVALID, &at,
                        good ? STR("remove one of the two") : STR(""), "'%.*s' %s",
                        STR_ARG(finding_shown(findings, uid)),
                        good ? "stands twice" : "is no dashboard's uid");
        str_list_push(&seen, uid);
    }
}

static void check_env(const struct stack *stack, const struct path *spec,
                      struct findings *findings)
{
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path labels = path_field(&metadata, STR("labels"));
    struct path label_at = path_key(&labels, STR("herd.suse.com/env"));
    struct path at = path_field(spec, STR("env"));
    struct str env = stack->spec.env;
    struct str label = kube_label(&stack->meta, STR("herd.suse.com/env"));
    const char *wrong = kube_not_label_value(env);

    if (wrong)
        finding_add(findings, RULE_SHAPE_ENV, CAUSE_VALUE_INVALID, &at, STR(""), "'%.*s' %s",
                    STR_ARG(finding_shown(findings, env)), wrong);
    else if (env.len && label.len && !str_eq(env, label))
        finding_add(findings, RULE_SHAPE_ENV_LABEL, CAUSE_VALUE_INVALID, &label_at, STR(""),
                    "says '%.*s', but spec.env is '%.*s'", STR_ARG(finding_shown(findings, label)),
                    STR_ARG(env));
}

void validate_shape(const struct stack *stack, const struct facts *facts,
                    struct findings *findings)
{
    const struct stack_spec *spec = &stack->spec;
    struct path at = path_field(NULL, STR("spec"));
    struct path charts = path_field(&at, STR("charts"));

    check_env(stack, &at, findings);
    for (uint32_t i = 0; i < spec->charts.count; i++) {
        struct path chart_at = path_index(&charts, i);

        validate_chart(&spec->charts.items[i], facts, &chart_at, findings);
    }
    check_unique(&spec->charts, &charts, findings);
    check_overrides(spec, &at, findings);
    check_waves(&spec->rollout.waves, &at, findings);
    check_dashboards(&spec->observability_profile.dashboards, &at, findings);
}
