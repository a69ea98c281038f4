/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c: who may act, decided from what was seen and when it was seen.
 *
 *   FOLLOWING --our write was taken--> LEADING --deadline, or somebody else holds it--> LOST
 *                                         `--release--> RELEASED
 *
 * Why never two act: the holder counts its deadline (10 s) from when it *sent* the renewal that
 * succeeded; others count a whole duration (15 s) from when they *saw* the record change, which is
 * later. A lease that vanished, or whose holder was blanked by hand, says nothing about whether the
 * one who held it knows: it is waited out as if it still stood. Only a lease that was given up in
 * good order (no holder, duration 1 s) or that nobody ever held may be taken at once.
 *
 * That it changed is told by its resourceVersion: texts may come back, versions do not. Each of our
 * writes moves renewTime, also while the wall clock stands still or goes back, or the server would
 * see nothing to store, and others no life. */
#include "kube/lease.h"

#include "kube/meta.h"
#include "text/json_write.h"
#include "text/time.h"

/* A lease may ask for longer than ours, but an edit must not lock us out for ever. */
enum { OBSERVED_DURATION_MAX = 120000, RELEASED_DURATION_S = 1 };

struct lease lease_new(struct str identity, int64_t duration_ms, int64_t renew_deadline_ms,
                       int64_t retry_ms)
{
    struct lease lease = {
        .state = LEASE_FOLLOWING,
        .duration_ms = duration_ms,
        .renew_deadline_ms = renew_deadline_ms,
        .retry_ms = retry_ms,
        .renew_sent_ms = -1,
        .renewed_ms = -1,
        .absent_since_ms = -1,
    };
    size_t len = identity.len < sizeof(lease.identity) ? identity.len : sizeof(lease.identity) - 1;

    memcpy(lease.identity, identity.at, len);
    return lease;
}

static void copy_text(char *into, size_t room, struct str text)
{
    size_t len = text.len < room ? text.len : room - 1;

    memcpy(into, text.at ? text.at : "", len);
    into[len] = '\0';
}

static bool is_mine(const struct lease *lease)
{
    return lease->holder[0] && strcmp(lease->holder, lease->identity) == 0;
}

/* Take over what the object says; note when its record changed. */
static void observe(struct lease *lease, struct json object, int64_t now_ms)
{
    struct json spec = json_get(object, STR("spec"));
    struct str holder = json_str(json_get(spec, STR("holderIdentity")));
    struct str record = json_str(json_get(spec, STR("renewTime")));
    struct kube_meta meta;
    int64_t duration_s = 0;

    kube_meta_read(object, &meta);
    lease->absent_since_ms = -1;
    if (!lease->seen || !str_eq(meta.resource_version, str_of(lease->resource_version)))
        lease->record_seen_ms = now_ms;
    copy_text(lease->resource_version, sizeof(lease->resource_version), meta.resource_version);
    copy_text(lease->holder, sizeof(lease->holder), holder);
    lease->seen = true;
    lease->ever_held = lease->ever_held || holder.len > 0 || record.len > 0;
    (void)json_int64(json_get(spec, STR("leaseDurationSeconds")), &duration_s);
    lease->released = holder.len == 0 && duration_s == RELEASED_DURATION_S;
    lease->observed_ms =
        duration_s > 0 && duration_s <= OBSERVED_DURATION_MAX / 1000 ? duration_s * 1000 : 0;
    if (!json_int64(json_get(spec, STR("leaseTransitions")), &lease->transitions) ||
        lease->transitions < 0)
        lease->transitions = 0;
    copy_text(lease->acquired, sizeof(lease->acquired),
              json_str(json_get(spec, STR("acquireTime"))));
}

static int64_t free_at_ms(const struct lease *lease)
{
    int64_t wait_ms =
        lease->observed_ms > lease->duration_ms ? lease->observed_ms : lease->duration_ms;

    return lease->record_seen_ms + wait_ms;
}

/* The Lease as we want it: ours, or nobody's when we give it up. */
static struct str write_body(struct lease *lease, bool update, int64_t now_wall_ms, struct str name,
                             struct str namespace_, struct arena *arena)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);
    bool again = is_mine(lease) && lease->acquired[0];

    lease->renew_wall_ms =
        now_wall_ms > lease->renew_wall_ms ? now_wall_ms : lease->renew_wall_ms + 1;

    struct str now = time_rfc3339_micro(arena, lease->renew_wall_ms);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("coordination.k8s.io/v1"));
    json_field_str(&w, "kind", STR("Lease"));
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "name", name);
    json_field_str(&w, "namespace", namespace_);
    if (update)
        json_field_str(&w, "resourceVersion", str_of(lease->resource_version));
    json_close_object(&w);
    json_put_key(&w, STR("spec"));
    json_open_object(&w);
    json_field_str(&w, "holderIdentity", lease->releasing ? STR("") : str_of(lease->identity));
    json_field_int(&w, "leaseDurationSeconds",
                   lease->releasing ? RELEASED_DURATION_S : (lease->duration_ms + 999) / 1000);
    json_field_str(&w, "acquireTime", again ? str_of(lease->acquired) : now);
    json_field_str(&w, "renewTime", now);
    json_field_int(&w, "leaseTransitions", lease->transitions + (is_mine(lease) ? 0 : 1));
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

/* What a step needs to make its output. */
struct step {
    struct lease *lease;
    const struct lease_input *input;
    struct str name, namespace_;
    struct arena *arena;
    struct rng *rng;
};

static int64_t deadline_left(const struct lease *lease, int64_t now_ms)
{
    int64_t left = lease->renewed_ms + lease->renew_deadline_ms - now_ms;

    return left > 0 ? left : 0;
}

/* While it leads, the timer is never later than the deadline. */
static int64_t timer_for(const struct step *s, int64_t wanted_ms)
{
    int64_t left;

    if (s->lease->state != LEASE_LEADING || s->lease->releasing)
        return wanted_ms;
    left = deadline_left(s->lease, s->input->now_ms);
    return wanted_ms < 0 || left < wanted_ms ? left : wanted_ms;
}

static struct lease_output do_nothing(const struct step *s, int64_t timer_ms)
{
    return (struct lease_output){ .effect = LEASE_DO_NOTHING, .timer_ms = timer_for(s, timer_ms) };
}

static struct lease_output do_get(const struct step *s)
{
    return (struct lease_output){ .effect = LEASE_DO_GET, .timer_ms = timer_for(s, -1) };
}

static struct lease_output do_write(const struct step *s, bool update)
{
    struct lease *lease = s->lease;

    lease->renew_sent_ms = s->input->now_ms;
    return (struct lease_output){
        .effect = update ? LEASE_DO_UPDATE : LEASE_DO_CREATE,
        .body = write_body(lease, update, s->input->now_wall_ms, s->name, s->namespace_, s->arena),
        .timer_ms = timer_for(s, -1),
    };
}

/* Followers look a little more often than the holder renews, and not all at once. */
static int64_t follow_ms(const struct step *s)
{
    int64_t part = s->lease->retry_ms / 8;

    return s->lease->retry_ms - part - (int64_t)rng_below(s->rng, (uint64_t)(part * 3) + 1);
}

static struct lease_output lose(struct lease *lease)
{
    lease->state = LEASE_LOST;
    lease->renew_sent_ms = -1;
    return (
        struct lease_output){ .effect = LEASE_DO_NOTHING, .timer_ms = -1, .stopped_leading = true };
}

static struct lease_output end_release(struct lease *lease)
{
    lease->state = LEASE_RELEASED;
    lease->renew_sent_ms = -1;
    return (
        struct lease_output){ .effect = LEASE_DO_NOTHING, .timer_ms = -1, .stopped_leading = true };
}

static struct lease_output on_timer(const struct step *s)
{
    struct lease *lease = s->lease;

    if (lease->state == LEASE_FOLLOWING)
        return do_get(s);
    if (lease->releasing)
        return do_nothing(s, -1);
    if (lease->renew_sent_ms >= 0)
        return do_nothing(s, -1); /* a renewal is under way: the deadline is what counts */
    return do_write(s, true);
}

/* There is no lease. Who has known one waits a whole duration from when it was missed, whatever is
 * remembered of its last record: it may have been renewed since. Who never knew one waits for a
 * retry only, within which a holder that lives makes its lease anew; so a process that begins just
 * after somebody deleted the lease of a holder that is paused could be a second actor. An empty
 * Lease among the manifests makes the first start immediate. */
static struct lease_output on_absent(const struct step *s)
{
    struct lease *lease = s->lease;
    int64_t now_ms = s->input->now_ms;

    lease->resource_version[0] = '\0';
    if (lease->state == LEASE_LEADING)
        return lease->releasing ? end_release(lease) : do_write(s, false);
    /* Looks that are far apart, or failed in between, may have missed a whole reign. */
    if (lease->absent_since_ms < 0 || now_ms - lease->absent_seen_ms > 2 * lease->retry_ms)
        lease->absent_since_ms = now_ms;
    lease->absent_seen_ms = now_ms;
    if (now_ms - lease->absent_since_ms >=
        (lease->ever_held ? lease->duration_ms : lease->retry_ms))
        return do_write(s, false);
    return do_nothing(s, follow_ms(s));
}

static struct lease_output on_read(const struct step *s)
{
    struct lease *lease = s->lease;

    if (!json_is(s->input->lease, JSON_OBJECT))
        return on_absent(s);
    observe(lease, s->input->lease, s->input->now_ms);
    if (is_mine(lease))
        return do_write(s, true); /* a write of ours was taken though its answer was lost */
    if (lease->state == LEASE_LEADING)
        return lease->releasing ? end_release(lease) : lose(lease);
    if (lease->released || !lease->ever_held || s->input->now_ms >= free_at_ms(lease))
        return do_write(s, true);
    return do_nothing(s, follow_ms(s));
}

static struct lease_output on_written(const struct step *s)
{
    struct lease *lease = s->lease;
    int64_t sent_ms = lease->renew_sent_ms;

    lease->renew_sent_ms = -1;
    observe(lease, s->input->lease, s->input->now_ms);
    if (lease->releasing)
        return end_release(lease);
    if (!is_mine(lease) || sent_ms < 0)
        return lease->state == LEASE_LEADING ? lose(lease) : do_nothing(s, follow_ms(s));
    if (sent_ms + lease->renew_deadline_ms <= s->input->now_ms)
        return lease->state == LEASE_LEADING ? lose(lease) : do_get(s); /* it came too late */
    lease->renewed_ms = sent_ms;

    bool begins = lease->state == LEASE_FOLLOWING;

    lease->state = LEASE_LEADING;

    struct lease_output out = do_nothing(s, lease->retry_ms);

    out.began_leading = begins;
    return out;
}

static struct lease_output on_failed(const struct step *s)
{
    struct lease *lease = s->lease;
    enum error_code error = s->input->error;
    bool wrote = lease->renew_sent_ms >= 0;

    lease->renew_sent_ms = -1;
    if (lease->state == LEASE_FOLLOWING)
        return do_nothing(s, follow_ms(s));
    if (error == ERROR_CONFLICT || error == ERROR_ALREADY_EXISTS)
        return do_get(s);
    if (lease->releasing)
        return end_release(lease); /* it runs out by itself */
    if (wrote && error == ERROR_NOT_FOUND)
        return do_write(s, false);
    return do_nothing(s, lease->retry_ms / 2);
}

static struct lease_output on_release(const struct step *s)
{
    if (s->lease->state != LEASE_LEADING) {
        s->lease->state = LEASE_RELEASED;
        return do_nothing(s, -1);
    }
    if (s->lease->releasing)
        return do_nothing(s, -1);
    s->lease->releasing = true;
    return do_write(s, true);
}

struct lease_output lease_step(struct lease *lease, const struct lease_input *input,
                               struct str lease_name, struct str lease_namespace,
                               struct arena *arena, struct rng *rng)
{
    const struct step s = { lease, input, lease_name, lease_namespace, arena, rng };

    if (lease->state == LEASE_LOST || lease->state == LEASE_RELEASED)
        return (struct lease_output){ .effect = LEASE_DO_NOTHING, .timer_ms = -1 };
    /* A renewal that was taken, heard of after the deadline, still counts from when it was sent. */
    if (lease->state == LEASE_LEADING && !lease->releasing && input->event != LEASE_WRITTEN &&
        input->event != LEASE_RELEASE && deadline_left(lease, input->now_ms) == 0)
        return lose(lease);
    switch (input->event) {
    case LEASE_TIMER:
        return on_timer(&s);
    case LEASE_READ:
        return on_read(&s);
    case LEASE_WRITTEN:
        return on_written(&s);
    case LEASE_FAILED:
        return on_failed(&s);
    case LEASE_RELEASE:
        return on_release(&s);
    }
    return do_nothing(&s, -1);
}

bool lease_may_act(const struct lease *lease, int64_t now_ms)
{
    return lease->state == LEASE_LEADING && !lease->releasing && deadline_left(lease, now_ms) > 0;
}
