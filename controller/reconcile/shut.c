/* shut.c: the rounds of stack/access.c, one cluster at a time, by what is known so far. */
#include "controller/reconcile/shut.h"

#include "base/map.h"
#include "base/plant.h"
#include "stack/reasons.h"

#include <stdlib.h>

/* From so many new clusters on, the right on all of them is asked for first. */
enum { MANY_CLUSTERS = 5 };

struct work {
    const struct shutting *of;
    struct access_user user;
    struct str_list namespaces;
    int64_t look_again_ms;
};

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool is_new(const struct shutting *of, const struct observed_cluster *cluster)
{
    const struct str_list *held = of->held;

    return cluster->targeted && cluster->state == CLUSTER_READ &&
           !(held->count && bsearch(&cluster->id, held->items, held->count, sizeof(cluster->id),
                                    compare_ids));
}

static uint32_t count_new(const struct shutting *of, const struct observed_clusters *clusters)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < clusters->count; i++)
        count += is_new(of, &clusters->items[i]);
    return count;
}

static void shut(struct observed_cluster *cluster, struct str reason, struct str message)
{
    cluster->shut_reason = reason;
    cluster->shut_message = message;
}

static struct access_found get(struct work *work, struct str cluster, struct str namespace_)
{
    const struct access_question question = { cluster, namespace_ };
    struct access_found found = accesses_get(work->of->accesses, work->of->arena, &work->user,
                                             &question, work->of->key);

    /* A yes is not looked at again: once something is there, nobody asks. */
    if (found.answer != ACCESS_YES && found.until_ms >= 0 &&
        (work->look_again_ms < 0 || found.until_ms < work->look_again_ms))
        work->look_again_ms = found.until_ms;
    return found;
}

static void shut_unread(struct work *work, struct observed_cluster *cluster, struct str trouble)
{
    shut(cluster, REASON(ACCESS_UNREAD),
         str_fmt(work->of->arena, "the API server is asked whether %.*s may deploy to %.*s%s%.*s",
                 STR_ARG(str_shown(work->of->arena, work->user.name, 128)), STR_ARG(cluster->id),
                 trouble.len ? ": " : "", STR_ARG(trouble)));
}

static void shut_denied(struct work *work, struct observed_cluster *cluster, struct str namespace_)
{
    shut(cluster, REASON(ACCESS_DENIED),
         str_fmt(work->of->arena,
                 "%.*s, who applied this Stack, may not deploy to %.*s%s%.*s; give that right "
                 "(docs/access.md), or let somebody apply the Stack who has it",
                 STR_ARG(str_shown(work->of->arena, work->user.name, 128)), STR_ARG(cluster->id),
                 namespace_.len ? ", namespace " : "", STR_ARG(namespace_)));
}

static void check(struct work *work, struct observed_cluster *cluster)
{
    struct access_found whole = get(work, cluster->id, STR(""));
    struct str denied = STR("");

    if (whole.answer == ACCESS_UNKNOWN)
        shut_unread(work, cluster, whole.trouble);
    for (uint32_t i = 0; whole.answer == ACCESS_NO && i < work->namespaces.count; i++) {
        struct access_found part = get(work, cluster->id, work->namespaces.items[i]);

        if (part.answer == ACCESS_UNKNOWN)
            shut_unread(work, cluster, part.trouble);
        else if (part.answer == ACCESS_NO && !denied.len)
            denied = work->namespaces.items[i];
    }
    if (denied.len || (whole.answer == ACCESS_NO && !work->namespaces.count))
        shut_denied(work, cluster, denied);
}

static struct str_list namespaces_of(const struct shutting *of)
{
    const struct charts *charts = &of->stack->spec.charts;
    struct str_list names = str_list_new(of->arena, charts->count);
    struct map *seen = map_new(of->arena, charts->count);

    for (uint32_t i = 0; i < charts->count; i++)
        if (map_put(seen, charts->items[i].namespace_, seen))
            str_list_push(&names, charts->items[i].namespace_);
    return names;
}

int64_t shut_clusters(const struct shutting *shutting, struct observed_clusters *clusters)
{
    struct work work = { .of = shutting, .look_again_ms = -1 };
    uint32_t new = count_new(shutting, clusters);

    if (!new || !shutting->admitted->judged || PLANTED(ASKED_ONCE))
        return -1;
    work.user = access_user_recorded(shutting->arena, &shutting->admitted->receipt);
    work.namespaces = namespaces_of(shutting);
    if (new >= MANY_CLUSTERS) {
        struct access_found all = get(&work, STR(""), STR(""));
        bool waits = all.answer == ACCESS_UNKNOWN && !all.trouble.len;

        for (uint32_t i = 0; waits && i < clusters->count; i++)
            if (is_new(shutting, &clusters->items[i]))
                shut_unread(&work, &clusters->items[i], all.trouble);
        if (waits || all.answer == ACCESS_YES)
            return work.look_again_ms;
    }
    for (uint32_t i = 0; i < clusters->count; i++)
        if (is_new(shutting, &clusters->items[i]))
            check(&work, &clusters->items[i]);
    return work.look_again_ms;
}
