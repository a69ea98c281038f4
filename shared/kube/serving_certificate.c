/* SPDX-License-Identifier: Apache-2.0 */
/* serving_certificate.c: the order of the writes, as a list of questions: the first that is
 * answered with a write gets it. What a later one takes for granted, an earlier one saw to. */
#include "kube/serving_certificate.h"

#include "base/clock.h"
#include "kube/limits.h"
#include "text/digest.h"

const char *serving_action_name(enum serving_action action)
{
    static const char *const names[] = {
        [SERVING_REST] = "rest",
        [SERVING_ISSUE_CA] = "issue CA",
        [SERVING_ISSUE_NEXT] = "issue next CA",
        [SERVING_PROMOTE] = "promote CA",
        [SERVING_FORGET] = "forget CA",
        [SERVING_WRITE_BUNDLE] = "write caBundle",
        [SERVING_ISSUE_LEAF] = "issue certificate",
    };

    return names[action];
}

static bool in_date(int64_t not_before_ms, int64_t not_after_ms, int64_t now_wall_ms)
{
    return not_before_ms <= now_wall_ms && now_wall_ms < not_after_ms;
}

static bool usable(const struct serving_ca *ca, int64_t now_wall_ms)
{
    return ca->pem.len && ca->can_sign && in_date(ca->not_before_ms, ca->not_after_ms, now_wall_ms);
}

static bool holds(const struct serving_cas *cas, struct str pem)
{
    for (uint32_t i = 0; i < cas->count; i++)
        if (str_eq(cas->items[i].pem, pem))
            return true;
    return false;
}

/* What is remembered. */

static void remember(struct serving_since *since, struct str digest, int64_t since_ms)
{
    memcpy(since->digest, digest.at, digest.len);
    since->digest[digest.len] = '\0';
    since->since_ms = since_ms;
}

static struct str digest_of(struct arena *arena, struct str pem)
{
    return pem.len ? digest_sha256_hex(arena, pem) : STR("");
}

static bool trusted_everywhere(const struct serving_facts *facts, struct str pem)
{
    for (uint32_t i = 0; i < facts->bundle_count; i++) {
        const struct serving_bundle *bundle = &facts->bundles[i];

        if (bundle->exists && !(bundle->even && holds(&bundle->cas, pem)))
            return false;
    }
    return pem.len > 0;
}

/* A CA keeps its time when it moves from next to current. */
static void note_trusted(struct serving_memory *memory, const struct serving_facts *facts,
                         struct arena *arena)
{
    struct serving_since before[2] = { memory->trusted[0], memory->trusted[1] };
    const struct str pems[2] = { facts->ca.current.pem, facts->ca.next.pem };

    for (int i = 0; i < 2; i++) {
        struct str digest =
            trusted_everywhere(facts, pems[i]) ? digest_of(arena, pems[i]) : STR("");
        int64_t since_ms = facts->now_ms;

        for (int k = 0; k < 2; k++)
            if (digest.len && str_eq(str_of(before[k].digest), digest))
                since_ms = before[k].since_ms;
        remember(&memory->trusted[i], digest, since_ms);
    }
}

static void note_leaf(struct serving_memory *memory, const struct serving_facts *facts,
                      struct arena *arena)
{
    struct str digest = facts->leaf.usable ? digest_of(arena, facts->leaf.issuer) : STR("");

    if (!str_eq(str_of(memory->leaf.digest), digest))
        remember(&memory->leaf, digest, facts->now_ms);
}

/* How much longer until `since` has lasted for settle_ms; 0 = it has; -1 = it is not so. */
static int64_t settles_in_ms(const struct serving_since *since, const struct serving_facts *facts,
                             const struct serving_policy *policy)
{
    int64_t left_ms = since->since_ms + policy->settle_ms - facts->now_ms;

    if (!since->digest[0])
        return -1;
    return left_ms > 0 ? left_ms : 0;
}

/* The leaf has been signed by current for long enough: nobody shows an older one. */
static int64_t leaf_settles_in_ms(const struct serving_memory *memory,
                                  const struct serving_facts *facts,
                                  const struct serving_policy *policy)
{
    if (!facts->leaf.usable || !str_eq(facts->leaf.issuer, facts->ca.current.pem))
        return -1;
    return settles_in_ms(&memory->leaf, facts, policy);
}

/* Steps. */

static struct serving_step issue(enum serving_action action, const char *why, int64_t now_wall_ms,
                                 int64_t lifetime_ms)
{
    return (struct serving_step){
        .action = action,
        .why = why,
        .not_before_ms = now_wall_ms - LIMIT_CERTIFICATE_BACKDATE,
        .not_after_ms = now_wall_ms + lifetime_ms,
    };
}

static struct serving_step act(enum serving_action action, const char *why)
{
    return (struct serving_step){ .action = action, .why = why };
}

static struct serving_step ask_ca(const struct serving_facts *facts,
                                  const struct serving_policy *policy)
{
    const struct serving_ca *current = &facts->ca.current;
    int64_t now_ms = facts->now_wall_ms;
    bool has_next = usable(&facts->ca.next, now_ms);

    if (!usable(current, now_ms)) {
        if (has_next)
            return act(SERVING_PROMOTE, "the CA cannot sign any more");
        return issue(SERVING_ISSUE_CA,
                     current->pem.len ? "the CA cannot sign any more" : "there is no CA", now_ms,
                     policy->ca_lifetime_ms);
    }
    if (!has_next && now_ms >= current->not_after_ms - policy->ca_renew_before_ms)
        return issue(SERVING_ISSUE_NEXT, "the CA ends before long", now_ms, policy->ca_lifetime_ms);
    return act(SERVING_REST, "");
}

static void believe(struct serving_cas *wanted, const struct serving_ca *ca)
{
    if (ca->pem.len && wanted->count < LIMIT_CERTIFICATE_BUNDLE && !holds(wanted, ca->pem))
        serving_cas_push(wanted, *ca);
}

/* Ours, then who signed the leaf, then, until the leaf has settled, what stands there already. */
static struct str wanted_bundle(const struct serving_facts *facts, bool settled,
                                struct arena *arena)
{
    struct serving_cas wanted = serving_cas_new(arena, LIMIT_CERTIFICATE_BUNDLE);
    struct strbuf text = strbuf_new(arena, 4096);

    believe(&wanted, &facts->ca.current);
    if (usable(&facts->ca.next, facts->now_wall_ms))
        believe(&wanted, &facts->ca.next);
    believe(&wanted, &facts->ca.previous);
    believe(&wanted, &(struct serving_ca){ .pem = facts->leaf.issuer });
    for (uint32_t i = 0; i < facts->bundle_count && !settled; i++)
        for (uint32_t k = 0; k < facts->bundles[i].cas.count; k++)
            believe(&wanted, &facts->bundles[i].cas.items[k]);
    for (uint32_t i = 0; i < wanted.count; i++)
        strbuf_put(&text, wanted.items[i].pem);
    return strbuf_str(&text);
}

static struct serving_step ask_bundles(const struct serving_facts *facts, bool settled,
                                       struct arena *arena)
{
    struct str wanted = wanted_bundle(facts, settled, arena);

    for (uint32_t i = 0; i < facts->bundle_count; i++) {
        const struct serving_bundle *bundle = &facts->bundles[i];
        struct serving_step step =
            act(SERVING_WRITE_BUNDLE, "caBundle differs from what it is to be");

        if (!bundle->exists || (bundle->even && str_eq(bundle->text, wanted)))
            continue;
        step.bundle = i;
        step.text = wanted;
        return step;
    }
    return act(SERVING_REST, "");
}

/* A leaf that cannot be used harms now, and one more that somebody may not believe yet cannot make
 * it worse; so that is not waited for. */
static const char *why_leaf_now(const struct serving_facts *facts,
                                const struct serving_policy *policy, int64_t not_after_ms)
{
    const struct serving_leaf *leaf = &facts->leaf;
    int64_t now_ms = facts->now_wall_ms;

    if (!leaf->usable)
        return "there is no certificate that can be used";
    if (!in_date(leaf->not_before_ms, leaf->not_after_ms, now_ms))
        return "the certificate's dates do not hold today";
    if (leaf->issuer.len == 0)
        return "the certificate was signed by a stranger";
    if (now_ms < leaf->not_after_ms - policy->leaf_renew_before_ms)
        return NULL;
    /* A new one would end with its CA, as the old one does: nothing would be won. */
    if (str_eq(leaf->issuer, facts->ca.current.pem))
        return not_after_ms > leaf->not_after_ms ? "the certificate ends before long" : NULL;
    return now_ms >= leaf->not_after_ms - policy->settle_ms ? "the certificate ends at once" : NULL;
}

static struct serving_step ask_leaf(const struct serving_memory *memory,
                                    const struct serving_facts *facts,
                                    const struct serving_policy *policy)
{
    const struct serving_ca *ca = &facts->ca.current;
    struct serving_step step =
        issue(SERVING_ISSUE_LEAF, NULL, facts->now_wall_ms, policy->leaf_lifetime_ms);

    if (step.not_before_ms < ca->not_before_ms)
        step.not_before_ms = ca->not_before_ms;
    if (step.not_after_ms > ca->not_after_ms)
        step.not_after_ms = ca->not_after_ms;
    step.why = why_leaf_now(facts, policy, step.not_after_ms);
    if (!step.why && !str_eq(facts->leaf.issuer, ca->pem) &&
        settles_in_ms(&memory->trusted[0], facts, policy) == 0)
        step.why = "another CA signs now";
    return step.why ? step : act(SERVING_REST, "");
}

static struct serving_step ask_rotation(const struct serving_memory *memory,
                                        const struct serving_facts *facts,
                                        const struct serving_policy *policy, bool settled)
{
    if (facts->ca.previous.pem.len)
        return settled ? act(SERVING_FORGET, "no certificate of the previous CA is shown any more")
                       : act(SERVING_REST, "");
    if (usable(&facts->ca.next, facts->now_wall_ms) &&
        settles_in_ms(&memory->trusted[1], facts, policy) == 0)
        return act(SERVING_PROMOTE, "every API server believes the next CA by now");
    return act(SERVING_REST, "");
}

/* Nothing to write. When may that change without anybody's doing? */
static int64_t look_again_ms(const struct serving_memory *memory, const struct serving_facts *facts,
                             const struct serving_policy *policy)
{
    const int64_t waits_ms[] = {
        settles_in_ms(&memory->trusted[0], facts, policy),
        settles_in_ms(&memory->trusted[1], facts, policy),
        leaf_settles_in_ms(memory, facts, policy),
        facts->leaf.not_after_ms - policy->leaf_renew_before_ms - facts->now_wall_ms,
        facts->ca.current.not_after_ms - policy->ca_renew_before_ms - facts->now_wall_ms,
    };
    int64_t wait_ms = LIMIT_CERTIFICATE_LOOK;

    for (size_t i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++)
        if (waits_ms[i] > 0)
            wait_ms = clock_sooner_ms(wait_ms, waits_ms[i]);
    return wait_ms;
}

struct serving_step serving_step(struct serving_memory *memory, const struct serving_facts *facts,
                                 const struct serving_policy *policy, struct arena *arena)
{
    note_trusted(memory, facts, arena);
    note_leaf(memory, facts, arena);

    bool settled = leaf_settles_in_ms(memory, facts, policy) == 0;
    struct serving_step step = ask_ca(facts, policy);

    if (step.action == SERVING_REST)
        step = ask_bundles(facts, settled, arena);
    if (step.action == SERVING_REST)
        step = ask_leaf(memory, facts, policy);
    if (step.action == SERVING_REST)
        step = ask_rotation(memory, facts, policy, settled);
    if (step.action == SERVING_REST)
        step.look_again_ms = look_again_ms(memory, facts, policy);
    return step;
}
