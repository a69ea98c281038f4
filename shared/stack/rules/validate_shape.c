/* SPDX-License-Identifier: Apache-2.0 */
/* validate_shape.c: each field for itself, and what must be unique. Wrong types, missing fields,
 * unsupported values and bounds are found by decode.c; one chart is validated in
 * validate_chart.c. */
#include "stack/rules/validate_areas.h"

#include "base/map.h"
#include "kube/names.h"
#include "stack/model/fields.h"
#include "stack/model/share.h"

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
                        STR(""), "\"%.*s\"", STR_ARG(finding_shown(findings, chart->name)));
            continue; /* its release may well be the same: one finding is enough */
        }
        map_put(names, chart->name, chart);
        if (chart->release_name.len == 0 || chart->namespace_.len == 0)
            continue;

        struct str key = kube_key(findings->arena, chart->namespace_, chart->release_name);
        const struct chart *other = map_get(releases, key);

        if (other)
            finding_add(findings, RULE_SHAPE_DUPLICATE_RELEASE, CAUSE_VALUE_DUPLICATE, &release_at,
                        STR(""), "\"%.*s\": the charts %.*s and %.*s have the same release",
                        STR_ARG(finding_shown(findings, key)),
                        STR_ARG(finding_shown(findings, other->name)),
                        STR_ARG(finding_shown(findings, chart->name)));
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

/* A near name is looked for only for the first few. */
static void blame_chart(struct str name, const struct charts *charts, const struct path *at,
                        struct findings *findings)
{
    struct str nearest =
        findings->of[RULE_SHAPE_OVERRIDE_CHART] < 8 ? nearest_chart(charts, name) : STR("");

    finding_add(findings, RULE_SHAPE_OVERRIDE_CHART, CAUSE_VALUE_NOT_FOUND, at, STR(""),
                "\"%.*s\": no chart of this Stack has that name%.*s",
                STR_ARG(finding_shown(findings, name)),
                STR_ARG(finding_did_you_mean(findings, nearest)));
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
        struct path values = path_field(&item, STR("values"));
        struct str shown = finding_shown(findings, one->name);

        validate_version(one->version, &item, findings);
        validate_values(&one->values, &values, findings);
        if (one->name.len == 0)
            continue;
        if (!map_get(names, one->name))
            blame_chart(one->name, charts, &at, findings);
        else if (!map_put(seen, one->name, one))
            finding_add(findings, RULE_SHAPE_OVERRIDE_CHART, CAUSE_VALUE_DUPLICATE, &at,
                        STR("remove one of the two"), "\"%.*s\"", STR_ARG(shown));
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
            finding_add(findings, RULE_SHAPE_WAVE, CAUSE_VALUE_INVALID, &at, STR(""),
                        "\"%.*s\": %s", STR_ARG(finding_shown(findings, name)), wrong);
        else if (name.len && str_list_has(&seen, name))
            finding_add(findings, RULE_SHAPE_WAVE, CAUSE_VALUE_DUPLICATE, &at, STR(""), "\"%.*s\"",
                        STR_ARG(finding_shown(findings, name)));
        str_list_push(&seen, name);
    }
}

static void check_scans(const struct stack_spec *spec, const struct path *at,
                        struct findings *findings)
{
    struct path rollout = path_field(at, STR("rollout"));
    struct path list = path_field(&rollout, STR("waves"));

    for (uint32_t i = 0; i < spec->rollout.waves.count; i++) {
        struct path up = path_index(&list, i);
        struct path scans = path_field(&up, STR("scans"));

        if (spec->rollout.waves.items[i].scans == WAVE_SCANS_REQUIRED &&
            spec->security != TOGGLE_ENABLED)
            finding_add(findings, RULE_SHAPE_SCANS, CAUSE_VALUE_INVALID, &scans, STR(""),
                        "\"Required\": requires spec.security to be enabled");
    }
}

static void check_share(struct str share, const char *field, const struct path *rollout,
                        struct findings *findings)
{
    struct path at = path_field(rollout, str_of(field));

    if (share.len && !share_is_valid(share))
        finding_add(findings, RULE_SHAPE_SHARE, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": must be a number of at most 1000000 or a percentage such as 50%%",
                    STR_ARG(finding_shown(findings, share)));
}

static void check_shares(const struct rollout *rollout, const struct path *spec,
                         struct findings *findings)
{
    struct path at = path_field(spec, STR("rollout"));

    check_share(rollout->max_unavailable, "maxUnavailable", &at, findings);
    check_share(rollout->max_removals, "maxRemovals", &at, findings);
}

static void check_known_dashboard(struct str uid, const struct path *at, struct findings *findings)
{
    const struct field_words *known = &words_of_dashboard;

    if (field_word_value(known, uid) == DASHBOARD_NONE)
        finding_add(findings, RULE_SHAPE_UNKNOWN_DASHBOARD, CAUSE_VALUE_NOT_FOUND, at,
                    str_fmt(findings->arena, "use %.*s, or remove the entry",
                            STR_ARG(field_words_shown(findings->arena, known))),
                    "\"%.*s\": Herd has no dashboard of that uid%.*s",
                    STR_ARG(finding_shown(findings, uid)),
                    STR_ARG(finding_did_you_mean(findings, field_word_nearest(known, uid))));
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
                        good ? STR("remove one of the two") : STR(""), "\"%.*s\"%s",
                        STR_ARG(finding_shown(findings, uid)),
                        good ? "" : ": must have at most 40 letters, digits, '-' or '_'");
        else if (uid.len)
            check_known_dashboard(uid, &at, findings);
        str_list_push(&seen, uid);
    }
}

static void check_env(const struct stack *stack, const struct path *spec, struct findings *findings)
{
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path labels = path_field(&metadata, STR("labels"));
    struct path label_at = path_key(&labels, STR("herd.suse.com/env"));
    struct path at = path_field(spec, STR("env"));
    struct str env = stack->spec.env;
    struct str label = kube_label(&stack->meta, STR("herd.suse.com/env"));
    const char *wrong = kube_not_label_value(env);

    if (wrong)
        finding_add(findings, RULE_SHAPE_ENV, CAUSE_VALUE_INVALID, &at, STR(""), "\"%.*s\": %s",
                    STR_ARG(finding_shown(findings, env)), wrong);
    else if (env.len && label.len && !str_eq(env, label))
        finding_add(findings, RULE_SHAPE_ENV_LABEL, CAUSE_VALUE_INVALID, &label_at, STR(""),
                    "\"%.*s\": must be equal to spec.env, which is \"%.*s\"",
                    STR_ARG(finding_shown(findings, label)), STR_ARG(env));
}

void validate_shape(const struct stack *stack, const struct facts *facts, struct findings *findings)
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
    check_scans(spec, &at, findings);
    check_shares(&spec->rollout, &at, findings);
    check_dashboards(&spec->observability_profile.dashboards, &at, findings);
}
