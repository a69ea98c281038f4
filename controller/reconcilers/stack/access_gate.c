/* SPDX-License-Identifier: Apache-2.0 */
/* access_gate.c: the rounds of stack/access/access_rounds.h, by what the cache knows so far. */
#include "controller/reconcilers/stack/access_gate.h"

#include "stack/model/reasons.h"

LIST_DEFINE(clusters, struct observed_cluster *)

struct work {
    const struct access_gate *of;
    struct access_user user;
    struct access_references references;
    int64_t look_again_ms;
    bool peeks; /* nothing is asked */
};

static bool is_open(const struct observed_cluster *cluster)
{
    return cluster->targeted && cluster->state == CLUSTER_READ;
}

static bool holds_some(const struct access_gate *of, const struct observed_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->releases.count; i++)
        if (observed_release_is_of(&cluster->releases.items[i], of->stack->meta.uid))
            return true;
    return false;
}

static void block(struct observed_cluster *cluster, struct str reason, struct str message)
{
    cluster->access_reason = reason;
    cluster->access_message = message;
}

/* Missing, or too old to begin anything by. */
static bool is_old(const struct work *work, const struct access_found *found)
{
    return found->answer == ACCESS_UNKNOWN || found->until_ms <= work->of->now_ms;
}

static struct access_found get(struct work *work, const struct access_question *question)
{
    struct access_found found =
        work->peeks
            ? access_cache_peek(work->of->access_cache, work->of->arena, &work->user, question)
            : access_cache_get(work->of->access_cache, work->of->arena, &work->user, question,
                               work->of->key);

    if (work->peeks && found.until_ms <= work->of->now_ms)
        return found;

    /* A yes is not looked at again: once something is there, nobody asks. */
    if (found.answer != ACCESS_YES && found.until_ms >= 0 &&
        (work->look_again_ms < 0 || found.until_ms < work->look_again_ms))
        work->look_again_ms = found.until_ms;
    return found;
}

/* As far as the cache knows. */
static void run_rounds(struct work *work, struct access_rounds *rounds)
{
    struct access_questions questions;
    struct access_found *found = NULL;

    while (access_rounds_step(rounds, found, &questions)) {
        found = arena_array(work->of->arena, struct access_found, questions.count);
        for (uint32_t i = 0; i < questions.count; i++)
            found[i] = work->of->asks_clusters
                           ? get(work, &questions.items[i])
                           : (struct access_found){ .answer = ACCESS_YES, .until_ms = INT64_MAX };
    }
}

static void block_not_synced(struct work *work, struct observed_cluster *cluster,
                             struct str trouble)
{
    if (!work->peeks)
        block(cluster, REASON(ACCESS_NOT_SYNCED),
              str_fmt(work->of->arena,
                      "asking the API server whether %.*s may deploy to %.*s%s%.*s",
                      STR_ARG(str_shown(work->of->arena, work->user.name, 128)),
                      STR_ARG(cluster->id), trouble.len ? ": " : "", STR_ARG(trouble)));
}

static void block_denied(struct work *work, struct observed_cluster *cluster, struct str namespace_)
{
    block(cluster, REASON(ACCESS_DENIED),
          str_fmt(work->of->arena,
                  "%.*s, who applied this Stack, may not deploy to %.*s%s%.*s; give that right "
                  "(docs/access.md), or let somebody apply the Stack who has it",
                  STR_ARG(str_shown(work->of->arena, work->user.name, 128)), STR_ARG(cluster->id),
                  namespace_.len ? ", namespace " : "", STR_ARG(namespace_)));
}

static void check_deploy(struct work *work, const struct access_target *target,
                         struct observed_cluster *cluster)
{
    if (target->found.answer == ACCESS_UNKNOWN)
        block_not_synced(work, cluster, target->found.trouble);
    else if (target->found.answer == ACCESS_NO)
        block_denied(work, cluster, target->denied.count ? target->denied.items[0] : STR(""));
}

/* The values there, which the author must be allowed to read. Whether an answer was old. */
static bool check_references(struct work *work, struct observed_cluster *cluster)
{
    bool old = false;

    for (uint32_t i = 0; i < work->references.count && !cluster->access_reason.len; i++) {
        const struct access_reference *reference = &work->references.items[i];
        struct access_question question = access_question_about(
            work->of->arena, work->of->stack->meta.namespace_, reference, cluster->id);
        struct access_found found = get(work, &question);

        old = old || is_old(work, &found);
        if (found.answer == ACCESS_UNKNOWN)
            block_not_synced(work, cluster, found.trouble);
        else if (found.answer == ACCESS_NO)
            block(
                cluster, REASON(ACCESS_DENIED),
                str_fmt(work->of->arena,
                        "%.*s, who applied this Stack, may not get %s %.*s, which it takes values "
                        "from; give that right, or let somebody apply the Stack who has it",
                        STR_ARG(str_shown(work->of->arena, work->user.name, 128)),
                        reference->secret ? "Secret" : "ConfigMap", STR_ARG(question.name)));
    }
    return old;
}

/* Where an answer that is there counts, and nobody is asked yet. */
static void leave_unasked(struct work *work, struct observed_cluster *cluster)
{
    cluster->unasked_message =
        str_fmt(work->of->arena, "asking the API server whether %.*s may deploy here",
                STR_ARG(str_shown(work->of->arena, work->user.name, 128)));
}

static void check(struct work *work, const struct clusters *clusters)
{
    struct access_rounds rounds = access_rounds_new(work->of->arena, work->of->stack);

    rounds.all_first = work->peeks;
    for (uint32_t i = 0; i < clusters->count; i++)
        access_rounds_add(&rounds, clusters->items[i]->id);
    run_rounds(work, &rounds);
    for (uint32_t i = 0; i < clusters->count; i++) {
        const struct access_target *target = &rounds.targets.items[i];
        bool old = is_old(work, &target->found);

        check_deploy(work, target, clusters->items[i]);
        old = check_references(work, clusters->items[i]) || old;
        if (work->peeks && old)
            leave_unasked(work, clusters->items[i]);
    }
}

/* Those where something is held, or where nothing is. */
static struct clusters select_clusters(const struct access_gate *of,
                                       struct observed_clusters *clusters, bool held)
{
    struct clusters some = clusters_new(of->arena, clusters->count);

    for (uint32_t i = 0; i < clusters->count; i++)
        if (is_open(&clusters->items[i]) && holds_some(of, &clusters->items[i]) == held)
            clusters_push(&some, &clusters->items[i]);
    return some;
}

static bool begin(struct work *work, const struct access_gate *gate)
{
    struct author author = author_of(gate->arena, &gate->stack->meta);
    struct path spec = path_field(NULL, STR("spec"));

    *work = (struct work){ .of = gate, .look_again_ms = -1 };
    if (!author.name.len)
        return false;
    work->user = access_user_recorded(gate->arena, &author);
    work->references = gate->asks_references ? access_references_of(gate->arena, gate->stack, &spec)
                                             : access_references_new(gate->arena, 0);
    return true;
}

int64_t access_gate_check(const struct access_gate *gate, struct observed_clusters *clusters)
{
    struct clusters new = select_clusters(gate, clusters, false);
    struct clusters held = select_clusters(gate, clusters, true);
    struct work work;

    if (!clusters->count || !begin(&work, gate))
        return -1;
    check(&work, &new);
    work.peeks = true;
    check(&work, &held);
    return work.look_again_ms;
}

int64_t access_gate_ask(const struct access_gate *gate, const struct str_list *ids)
{
    struct clusters clusters = clusters_new(gate->arena, ids->count);
    struct work work;

    if (!ids->count || !begin(&work, gate))
        return -1;
    for (uint32_t i = 0; i < ids->count; i++) {
        struct observed_cluster *cluster = arena_new(gate->arena, struct observed_cluster);

        cluster->id = ids->items[i];
        clusters_push(&clusters, cluster);
    }
    check(&work, &clusters);
    return work.look_again_ms;
}
