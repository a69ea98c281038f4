/* SPDX-License-Identifier: Apache-2.0 */
/* plan_scans.c: a wave with scans: Required lets later ones begin once the images that it runs were
 * scanned and are within the thresholds. What was read before a release was deployed is about the
 * images of before. */
#include "stack/plan/plan_parts.h"

static struct release_verdict pending(struct planner *p, const struct slot *s)
{
    const struct observed_cluster *cluster = plan_cluster(p, s);

    if (cluster->scan_reason.len)
        return (struct release_verdict){ SCAN_UNKNOWN, true, RANK_PENDING, cluster->scan_reason,
                                         cluster->scan_message };
    return (struct release_verdict){
        SCAN_UNKNOWN, true, RANK_PENDING, REASON(SCAN_PENDING),
        str_fmt(p->arena, "NeuVector has not been asked about %.*s on %.*s since it was deployed",
                STR_ARG(s->now.chart_name), STR_ARG(cluster->id))
    };
}

static struct release_verdict verdict_of(struct planner *p, const struct slot *s)
{
    if (s->app && s->app->workloads.len && !s->app->scans.settled)
        return pending(p, s);
    return scan_verdict_of(p->arena, &p->stack->spec.security_profile.thresholds, &s->now,
                           plan_cluster(p, s), s->app);
}

bool plan_scans_need_help(struct str reason)
{
    static const enum reason lasting[] = {
        REASON_NEUVECTOR_NOT_FOUND,           REASON_NEUVECTOR_PROXY_FORBIDDEN,
        REASON_NEUVECTOR_CREDENTIALS_MISSING, REASON_NEUVECTOR_CREDENTIALS_REJECTED,
        REASON_NEUVECTOR_PERMISSION_DENIED,   REASON_NEUVECTOR_PASSWORD_CHANGE_REQUIRED,
        REASON_NEUVECTOR_NO_SCANNER,
    };

    for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
        if (str_eq(reason, reason_rows[lasting[i]].name))
            return true;
    return false;
}

/* The worst of one cluster's releases. */
static void find_worst(struct planner *p, const struct cluster_part *c,
                       struct release_verdict *worst)
{
    for (uint32_t i = 0; i < c->slots.count; i++) {
        const struct slot *s = &p->slots.items[c->slots.items[i]];
        struct release_verdict verdict;

        if (s->chart == NONE)
            continue;
        verdict = verdict_of(p, s);
        if (verdict.rank < worst->rank)
            *worst = verdict;
    }
}

struct release_verdict plan_wave_scans(struct planner *p, uint32_t wave)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;
    struct release_verdict worst = { .verdict = SCAN_PASSED, .rank = RANK_NONE };

    if (wave >= waves->count || waves->items[wave].scans != WAVE_SCANS_REQUIRED)
        return worst;
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];

        if (c->standing.wave == wave && c->standing.counts && c->standing.done)
            find_worst(p, c, &worst);
    }
    return worst;
}
