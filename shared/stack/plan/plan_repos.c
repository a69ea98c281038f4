/* SPDX-License-Identifier: Apache-2.0 */
/* plan_repos.c: a ClusterRepo that Herd made goes with the last release that came from it.
 *
 * Whoever observes names those that no Stack and no release on the cluster uses. They are deleted
 * once nothing of this Stack is left there, and before the Stack lets go of the cluster: afterwards
 * nobody would look. */
#include "stack/plan/plan_parts.h"

static void remove_repo(struct planner *p, const struct cluster_part *c,
                        const struct observed_leftover *repo)
{
    actions_push(&p->actions, (struct action){
                                  .kind = ACTION_REMOVE_REPO,
                                  .cluster = (uint32_t)(c - p->clusters),
                                  .repo_name = repo->name,
                                  .repo_uid = repo->uid,
                                  .repo_resource_version = repo->resource_version,
                              });
}

void plan_repos(struct planner *p)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        struct cluster_part *c = &p->clusters[i];
        const struct observed_leftovers *leftovers = &c->observed->leftovers;

        if (c->left_out || c->observed->state != CLUSTER_READ || plan_cluster_holds(p, c))
            continue;
        c->removes_repos = leftovers->count != 0;
        for (uint32_t k = 0; k < leftovers->count; k++)
            if (!p->hold_reason.len && !c->observed->backoff_reason.len)
                remove_repo(p, c, &leftovers->items[k]);
    }
}

bool plan_awaits_repos(const struct planner *p, struct str *ret_message)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct observed_cluster *c = p->clusters[i].observed;

        if (!p->clusters[i].removes_repos)
            continue;
        *ret_message =
            str_fmt(p->arena, "deleting ClusterRepo %.*s on %.*s, which nothing uses%s%.*s",
                    STR_ARG(c->leftovers.items[0].name), STR_ARG(c->id),
                    c->backoff_message.len ? ": " : "", STR_ARG(c->backoff_message));
        return true;
    }
    return false;
}
