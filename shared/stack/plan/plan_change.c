/* SPDX-License-Identifier: Apache-2.0 */
/* plan_change.c: the name of what is rolled out, and what the status remembers of it.
 *
 * A change is named by its content, not by the text of the spec: the digests of all releases that
 * the clusters of a wave are to run, each once. So values of single clusters are part of it, a
 * cluster that joins and runs the same as the others is not another change, and neither is an edit
 * that changes no release. Releases whose values are missing (ConfigMapNotFound, ...) are not
 * counted: nothing of them can be rolled out, and when they appear the content is another one.
 *
 * While values are being read the content is not known. Then the former name and everything that
 * is remembered of it are carried on, but nothing is allowed by them: no approval counts, and a
 * cluster that had begun waits for its turn again. */
#include "stack/plan/plan_parts.h"

#include "base/set.h"
#include "stack/plan/rollout.h"
#include "text/digest.h"

enum { NAME_LEN = 8, HASHED_DIGITS = 16 };

static struct str short_hash(struct arena *arena, struct str text)
{
    return str_slice(digest_sha256_hex(arena, text), 0, NAME_LEN);
}

static struct str hash_of_members(struct arena *arena, const struct stack *stack,
                                  const char *const *names, size_t count)
{
    struct strbuf all = strbuf_new(arena, 1024);

    for (size_t i = 0; i < count; i++) {
        strbuf_put(&all, json_raw(json_get(stack->spec_json, str_of(names[i]))));
        strbuf_char(&all, '\n');
    }
    return short_hash(arena, strbuf_str(&all));
}

struct str plan_targets_hash(struct arena *arena, const struct stack *stack)
{
    static const char *const members[] = { "targets" };

    return hash_of_members(arena, stack, members, 1);
}

struct str plan_charts_hash(struct arena *arena, const struct stack *stack)
{
    static const char *const members[] = { "charts", "overrides", "retry", "onFailure" };

    return hash_of_members(arena, stack, members, sizeof(members) / sizeof(members[0]));
}

/* The digests of some clusters, each once: their sum does not depend on an order. */
struct content {
    struct set digests;
    const struct cluster_part *last; /* that was added */
    uint64_t sum;
    bool unknown;
};

static uint64_t number_of(struct str digest)
{
    uint64_t number = 0;

    for (size_t i = digest.len > HASHED_DIGITS ? digest.len - HASHED_DIGITS : 0; i < digest.len;
         i++)
        number = number << 4 |
                 (uint64_t)(digest.at[i] <= '9' ? digest.at[i] - '0' : digest.at[i] - 'a' + 10);
    return number;
}

static void add_digest(struct content *content, struct str digest)
{
    if (set_add(content->digests, digest))
        content->sum += number_of(digest);
}

static bool is_unknown(const struct slot *s)
{
    return !s->desired && (str_eq(s->values_reason, REASON(VALUES_NOT_SYNCED)) ||
                           str_eq(s->values_reason, REASON(VALUES_UNREADABLE)));
}

/* Most clusters run the very same as the one before. */
static bool is_added(const struct planner *p, const struct content *content, uint32_t i,
                     const struct slot *s)
{
    const struct cluster_part *last = content->last;

    return last && i < last->slots.count &&
           p->slots.items[last->slots.items[i]].desired == s->desired;
}

static void add_cluster(const struct planner *p, const struct cluster_part *c, struct content *wave,
                        struct content *all)
{
    for (uint32_t i = 0; i < c->slots.count; i++) {
        const struct slot *s = &p->slots.items[c->slots.items[i]];

        if (s->chart == NONE)
            continue;
        if (s->desired && is_added(p, wave, i, s))
            continue;
        if (s->desired) {
            add_digest(wave, s->desired->digest);
            add_digest(all, s->desired->digest);
        } else if (is_unknown(s)) {
            wave->unknown = all->unknown = true;
        }
    }
    wave->last = c;
}

struct str plan_wave_name(const struct planner *p, uint32_t wave)
{
    const struct waves *waves = &p->stack->spec.rollout.waves;

    return wave < waves->count ? waves->items[wave].name : STR("*");
}

const struct wave_state *plan_wave_before(const struct planner *p, uint32_t wave)
{
    const struct stack_status *before = p->observed->before;
    struct str name = plan_wave_name(p, wave);

    for (uint32_t i = 0; before && i < before->waves.count; i++)
        if (str_eq(before->waves.items[i].name, name))
            return &before->waves.items[i];
    return NULL;
}

static struct str name_of(const struct planner *p, const struct content *content,
                          struct str name_before)
{
    if (content->unknown && name_before.len)
        return name_before;
    return short_hash(p->arena, str_fmt(p->arena, "%llu", (unsigned long long)content->sum));
}

void plan_name_changes(struct planner *p)
{
    const struct stack_status *before = p->observed->before;
    uint32_t count = p->stack->spec.rollout.waves.count + 1;
    struct content *contents = arena_array(p->arena, struct content, count);
    struct content all = { .digests = set_new(p->arena, 16) };
    struct rollout_waves waves = rollout_waves_new(p->arena, &p->stack->spec.rollout);

    p->wave_changes = arena_array(p->arena, struct wave_change, count);
    for (uint32_t wave = 0; wave < count; wave++)
        contents[wave] = (struct content){ .digests = set_new(p->arena, 16) };
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        struct cluster_part *c = &p->clusters[i];

        c->standing.wave = rollout_wave_of(&waves, NULL, c->observed->labels);
        add_cluster(p, c, &contents[c->standing.wave], &all);
    }
    p->change = name_of(p, &all, before ? before->change : STR(""));
    for (uint32_t wave = 0; wave < count; wave++) {
        const struct wave_state *was = plan_wave_before(p, wave);
        /* Of a rollout without waves the status lists none. */
        struct str name_before = was                    ? was->change
                                 : before && count == 1 ? before->change
                                                        : STR("");
        struct wave_change *change = &p->wave_changes[wave];

        change->name = name_of(p, &contents[wave], name_before);
        change->unknown = contents[wave].unknown;
        change->same = str_eq(change->name, name_before);
        /* Where only the waves were edited, all clusters together tell. */
        change->remembered = change->same || change->unknown ||
                             (!all.unknown && before && str_eq(before->change, p->change));
    }
}
