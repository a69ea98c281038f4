/* SPDX-License-Identifier: Apache-2.0 */
/* plan_unseen.c: releases of a cluster that cannot be looked at: what was known of them stands in
 * the status, and comes back with the cluster. */
#include "stack/plan/plan_parts.h"

static const struct str last_known_mark = STR_INIT(STATUS_LAST_KNOWN);

/* A cluster that is only not read yet, as all are when a controller starts: what the status says
 * stands, so that a restart writes nothing. Unless it says deployed of what is not wanted so. */
static bool keep_not_synced(const struct planner *p, struct slot *s)
{
    const struct release_state *b = s->before;

    if (plan_cluster(p, s)->state != CLUSTER_NOT_SYNCED || !b || b->state == DEPLOYMENT_UNKNOWN ||
        (p->retried && b->state == DEPLOYMENT_FAILED) ||
        (b->state == DEPLOYMENT_DEPLOYED &&
         (!s->desired || !str_eq(b->digest, s->desired->digest))))
        return false;
    s->now.retry_ms = b->retry_ms;
    plan_set(s, b->state, b->reason, b->message);
    return true;
}

static void say_unseen(struct planner *p, struct slot *s)
{
    const struct observed_cluster *c = plan_cluster(p, s);
    enum deployment_state known = plan_last_known(s->before);
    struct strbuf text = strbuf_new(p->arena, 128);
    bool not_synced = c->state == CLUSTER_NOT_SYNCED;

    strbuf_put(&text, c->message.len ? c->message
                      : not_synced   ? STR("its releases have not been read yet")
                                     : STR("the cluster is not connected"));
    if (s->chart == NONE && !not_synced)
        strbuf_fmt(&text, "; abandon it with the annotation " STACK_ABANDON_CLUSTERS ": \"%.*s\"",
                   STR_ARG(c->id));
    if (s->before && s->before->state == DEPLOYMENT_UNKNOWN) {
        ptrdiff_t at = str_find(s->before->message, last_known_mark, 0);

        if (at >= 0)
            strbuf_put(&text, str_slice(s->before->message, (size_t)at, s->before->message.len));
    } else if (s->before) {
        strbuf_put(&text, last_known_mark);
        strbuf_fmt(&text, "%s", deployment_state_name(s->before->state));
        if (s->before->message.len)
            strbuf_fmt(&text, ": %.*s", STR_ARG(s->before->message));
    }
    s->now.last_known = known == DEPLOYMENT_FAILED && (p->retried || plan_is_forgiven(p, s))
                            ? DEPLOYMENT_PENDING
                            : known;
    plan_set(s, DEPLOYMENT_UNKNOWN, plan_unseen_reason(c), strbuf_str(&text));
}

void plan_follow_unseen(struct planner *p, struct slot *s)
{
    if (!keep_not_synced(p, s))
        say_unseen(p, s);
}

/* A cluster came back: what stood in the status before it went is what counts again. */
void plan_see_again(struct planner *p, struct slot *s)
{
    struct release_state *before = arena_new(p->arena, struct release_state);
    ptrdiff_t at = str_find(s->before->message, last_known_mark, 0);
    struct str rest = { "", 0 };

    if (at >= 0)
        rest =
            str_slice(s->before->message, (size_t)at + last_known_mark.len, s->before->message.len);

    ptrdiff_t colon = str_find(rest, STR(": "), 0);

    *before = *s->before;
    before->state = s->before->last_known;
    before->message = colon >= 0 ? str_slice(rest, (size_t)colon + 2, rest.len)
                                 : STR("its cluster is connected again");
    before->reason = before->state == DEPLOYMENT_FAILED ? plan_reason_of_failure(before->message)
                                                        : REASON(CLUSTER_BACK);
    s->before = before;
    s->now.state = before->state;
}
