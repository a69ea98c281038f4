/* holds.c: a short list for each Stack that has any; what is over is dropped when it is read. */
#include "controller/reconcile/holds.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/pack.h"

struct hold {
    struct hold *next;
    int64_t until_ms;
    struct str cluster_id; /* these stand behind the struct */
    struct str chart_name;
};

struct holds {
    struct dict *first_of; /* key -> struct hold */
};

struct holds *holds_create(void)
{
    struct holds *holds = mem_new(struct holds);

    holds->first_of = dict_create();
    return holds;
}

static void free_chain(struct hold *hold)
{
    while (hold) {
        struct hold *next = hold->next;

        mem_free(hold);
        hold = next;
    }
}

void holds_free(struct holds *holds)
{
    struct str key;
    void *first;

    if (!holds)
        return;
    for (size_t cursor = 0; dict_next(holds->first_of, &cursor, &key, &first);)
        free_chain(first);
    dict_free(holds->first_of);
    mem_free(holds);
}

/* Takes the Stack's list without what is over. */
static struct hold *take_standing(struct holds *holds, struct str key, int64_t now_ms)
{
    struct hold *hold = dict_remove(holds->first_of, key);
    struct hold *standing = NULL;

    while (hold) {
        struct hold *next = hold->next;

        if (hold->until_ms > now_ms) {
            hold->next = standing;
            standing = hold;
        } else {
            mem_free(hold);
        }
        hold = next;
    }
    return standing;
}

void holds_add(struct holds *holds, struct str key, struct str cluster_id, struct str chart_name,
               int64_t retry_after_ms, int64_t now_ms)
{
    struct hold *hold;
    char *at;

    if (retry_after_ms <= 0)
        return;
    hold = mem_alloc(sizeof(*hold) + cluster_id.len + chart_name.len);
    at = (char *)(hold + 1);
    if (retry_after_ms > LIMIT_RETRY_AFTER_MAX)
        retry_after_ms = LIMIT_RETRY_AFTER_MAX;
    *hold = (struct hold){
        .next = take_standing(holds, key, now_ms),
        .until_ms = now_ms + retry_after_ms,
        .cluster_id = pack_str(&at, cluster_id),
        .chart_name = pack_str(&at, chart_name),
    };
    dict_set(holds->first_of, key, hold);
}

static void shift(const struct hold *hold, int64_t until_wall_ms,
                  struct release_state *state, struct shifted_failures *shifted)
{
    if (state->state != DEPLOYMENT_FAILED || state->last_updated_ms >= until_wall_ms ||
        !str_eq(state->cluster_id, hold->cluster_id) ||
        !str_eq(state->chart_name, hold->chart_name))
        return;
    shifted_failures_push(shifted, (struct shifted_failure){
                                       .cluster_id = state->cluster_id,
                                       .chart_name = state->chart_name,
                                       .release_name = state->release_name,
                                       .really_ms = state->last_updated_ms,
                                       .instead_ms = until_wall_ms,
                                   });
    state->last_updated_ms = until_wall_ms;
}

struct shifted_failures holds_apply(struct holds *holds, struct arena *arena, struct str key,
                                    int64_t now_ms, int64_t now_wall_ms,
                                    struct stack_status *before)
{
    struct shifted_failures shifted = shifted_failures_new(arena, 0);
    struct hold *first = take_standing(holds, key, now_ms);

    if (first)
        dict_set(holds->first_of, key, first);
    for (const struct hold *hold = first; hold; hold = hold->next)
        for (uint32_t i = 0; i < before->deployments.count; i++)
            shift(hold, now_wall_ms + hold->until_ms - now_ms,
                  &before->deployments.items[i], &shifted);
    return shifted;
}

void holds_restore(const struct shifted_failures *shifted, struct release_states *planned)
{
    /* Backwards: a release that was shifted twice gets its first time last. */
    for (uint32_t n = shifted->count; n-- > 0;) {
        const struct shifted_failure *was = &shifted->items[n];

        for (uint32_t i = 0; i < planned->count; i++) {
            struct release_state *state = &planned->items[i];

            if (state->last_updated_ms == was->instead_ms &&
                str_eq(state->cluster_id, was->cluster_id) &&
                str_eq(state->chart_name, was->chart_name) &&
                str_eq(state->release_name, was->release_name))
                state->last_updated_ms = was->really_ms;
        }
    }
}

void holds_forget(struct holds *holds, struct str key)
{
    free_chain(dict_remove(holds->first_of, key));
}
