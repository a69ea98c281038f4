/* SPDX-License-Identifier: Apache-2.0 */
/* reflector.c: what to do next to stay equal to the server's list.
 *
 * Lists carry no resourceVersion: they are consistent reads, so nothing older than what was acted
 * on comes back, and a second 410 in a row needs no other kind of list. Only a watch has a version.
 *
 * Failures of a list and of a watch share one backoff. It is forgotten when a watch brought
 * something or stood for a while, not when a list succeeded: a server whose watches fail at once
 * would else be listed again and again. */
#include "kube/reflector.h"

#include "base/limits.h"
#include "base/memory.h"
#include "kube/limits.h"

/* Closed earlier than that, a watch was not closed in good order, whatever the server says. */
enum { WATCH_SHORT_MS = 1000, WATCH_STOOD_MS = 30000, EXPIRED_AT_ONCE = 2 };

struct reflector reflector_new(void)
{
    return (struct reflector){
        .state = REFLECTOR_IDLE,
        .backoff = backoff_new(LIMIT_RETRY_FIRST, LIMIT_RETRY_MAX / 10),
    };
}

static bool copy_text(char *into, size_t room, struct str text)
{
    if (text.len >= room)
        return false;
    memcpy(into, text.at ? text.at : "", text.len);
    into[text.len] = '\0';
    return true;
}

void reflector_free(struct reflector *r)
{
    mem_free(TAKE(r->continue_));
}

/* False: it cannot be followed, because it does not move, which would go on for ever, or is absurd.
 */
static bool take_token(struct reflector *r, struct str token)
{
    if (token.len > REFLECTOR_TOKEN_BYTES_MAX ||
        (r->continue_ && token.len && str_eq(str_of(r->continue_), token)))
        return false;
    mem_free(TAKE(r->continue_));
    if (token.len)
        r->continue_ = mem_copy(token.at, token.len);
    return true;
}

static struct reflector_output begin_list(struct reflector *r)
{
    r->state = REFLECTOR_LISTING;
    take_token(r, STR(""));
    r->list_version[0] = '\0';
    return (struct reflector_output){ .effect = REFLECTOR_DO_LIST, .list_begins = true };
}

static struct reflector_output begin_watch(struct reflector *r, struct rng *rng)
{
    int64_t spread = LIMIT_WATCH_TIME_MAX - LIMIT_WATCH_TIME_MIN;

    r->state = REFLECTOR_WATCHING;
    return (struct reflector_output){
        .effect = REFLECTOR_DO_WATCH,
        .watch_ms = LIMIT_WATCH_TIME_MIN + (int64_t)rng_below(rng, (uint64_t)spread + 1),
    };
}

static struct reflector_output begin_wait(struct reflector *r, bool relist, int64_t retry_after_ms,
                                          struct rng *rng)
{
    r->state = REFLECTOR_WAITING;
    r->relist = relist;
    return (struct reflector_output){
        .effect = REFLECTOR_DO_WAIT,
        .wait_ms = backoff_next(&r->backoff, retry_after_ms, rng),
    };
}

/* A tenth more or less, so that the lists of a thousand clusters do not come together. */
static struct reflector_output begin_interval(struct reflector *r, struct rng *rng)
{
    int64_t spread = r->interval_ms / 5;

    r->state = REFLECTOR_WAITING;
    r->relist = true;
    r->expired_in_a_row = 0;
    backoff_reset(&r->backoff);
    return (struct reflector_output){
        .effect = REFLECTOR_DO_WAIT,
        .wait_ms = r->interval_ms - spread / 2 + (int64_t)rng_below(rng, (uint64_t)spread + 1),
    };
}

/* 410: the version or the page's token is too old, and a fresh list fixes it. At once the first
 * times, because a gap is open; by backoff when it comes again and again. */
static struct reflector_output expired(struct reflector *r, struct rng *rng)
{
    r->resource_version[0] = '\0';
    if (++r->expired_in_a_row > EXPIRED_AT_ONCE)
        return begin_wait(r, true, -1, rng);
    return begin_list(r);
}

static struct reflector_output on_page(struct reflector *r, const struct reflector_input *input,
                                       struct rng *rng)
{
    bool fits = true;

    /* The first page's version: a watch from there misses nothing of later pages. */
    if (r->list_version[0] == '\0')
        fits = input->resource_version.len > 0 &&
               copy_text(r->list_version, sizeof(r->list_version), input->resource_version);
    if (!fits || !take_token(r, input->continue_))
        return begin_wait(r, true, -1, rng);
    if (input->continue_.len)
        return (struct reflector_output){ .effect = REFLECTOR_DO_LIST };

    memcpy(r->resource_version, r->list_version, sizeof(r->resource_version));
    r->synced = true;

    struct reflector_output out = r->interval_ms ? begin_interval(r, rng) : begin_watch(r, rng);

    out.list_ends = true;
    return out;
}

static struct reflector_output on_list_failed(struct reflector *r,
                                              const struct reflector_input *input, struct rng *rng)
{
    if (input->error == ERROR_EXPIRED)
        return expired(r, rng);
    return begin_wait(r, true, input->retry_after_ms, rng);
}

static struct reflector_output on_change(struct reflector *r, const struct reflector_input *input)
{
    if (input->resource_version.len)
        (void)copy_text(r->resource_version, sizeof(r->resource_version), input->resource_version);
    backoff_reset(&r->backoff);
    r->expired_in_a_row = 0;
    return (struct reflector_output){ .effect = REFLECTOR_DO_NOTHING };
}

static void forget_failures_if_it_stood(struct reflector *r, int64_t lasted_ms)
{
    if (lasted_ms < WATCH_STOOD_MS)
        return;
    backoff_reset(&r->backoff);
    r->expired_in_a_row = 0;
}

/* Whether the same watch, from the same version, may work later. Else the version itself may be
 * what is wrong: too large for a server that was set back, unknown to one that was replaced. */
static bool watch_may_go_on(enum error_code error)
{
    switch (error) {
    case ERROR_CONNECT:
    case ERROR_LOST:
    case ERROR_CANCELLED:
    case ERROR_TLS:
    case ERROR_UNAUTHORIZED:
    case ERROR_FORBIDDEN:
    case ERROR_TOO_MANY:
    case ERROR_UNAVAILABLE:
        return true;
    default:
        return false;
    }
}

static struct reflector_output on_watch_over(struct reflector *r,
                                             const struct reflector_input *input, struct rng *rng)
{
    forget_failures_if_it_stood(r, input->lasted_ms);
    if (r->interval_ms) /* since a moment ago */
        return begin_list(r);
    if (input->event == REFLECTOR_WATCH_ENDED) {
        if (input->lasted_ms < WATCH_SHORT_MS)
            return begin_wait(r, false, -1, rng);
        return begin_watch(r, rng);
    }
    if (input->error == ERROR_EXPIRED)
        return expired(r, rng);
    return begin_wait(r, !watch_may_go_on(input->error), input->retry_after_ms, rng);
}

static struct reflector_output nothing(void)
{
    return (struct reflector_output){ .effect = REFLECTOR_DO_NOTHING };
}

/* What does not fit the state comes from a request that was given up: it changes nothing. */
struct reflector_output reflector_step(struct reflector *reflector,
                                       const struct reflector_input *input, struct rng *rng)
{
    enum reflector_state state = reflector->state;

    switch (input->event) {
    case REFLECTOR_START:
        return state == REFLECTOR_IDLE ? begin_list(reflector) : nothing();
    case REFLECTOR_PAGE:
        return state == REFLECTOR_LISTING ? on_page(reflector, input, rng) : nothing();
    case REFLECTOR_LIST_FAILED:
        return state == REFLECTOR_LISTING ? on_list_failed(reflector, input, rng) : nothing();
    case REFLECTOR_CHANGE:
        return state == REFLECTOR_WATCHING ? on_change(reflector, input) : nothing();
    case REFLECTOR_WATCH_ENDED:
    case REFLECTOR_WATCH_FAILED:
        return state == REFLECTOR_WATCHING ? on_watch_over(reflector, input, rng) : nothing();
    case REFLECTOR_TIMER:
        if (state != REFLECTOR_WAITING)
            return nothing();
        return reflector->relist || reflector->interval_ms || reflector->resource_version[0] == '\0'
                   ? begin_list(reflector)
                   : begin_watch(reflector, rng);
    }
    return nothing();
}
