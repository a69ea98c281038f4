/* SPDX-License-Identifier: Apache-2.0 */
/* leader.c: the lease's shell: one timer and at most one request.
 *
 * A request may take half the renew deadline, so that a second one still fits; while leading it may
 * not outlive the deadline at all. Should it hang nevertheless, the timer ends the leadership. */
#include "runtime/leader.h"

#include "base/memory.h"
#include "kube/lease.h"
#include "kube/limits.h"

enum { RELEASE_TIME_MS = 2000 };

struct leader {
    struct leader_options options;
    struct arena *arena; /* of the options' strings */
    struct lease lease;
    struct rng rng;
    struct loop_timer *timer;
    struct loop_timer *release_timer;
    struct kube_call *call;
    enum lease_effect asked;
    void (*released)(void *context);
    void *released_context;
};

static const struct kube_resource leases =
    KUBE_RESOURCE_INIT("coordination.k8s.io", "v1", "leases", "Lease", true);

static void step(struct leader *leader, enum lease_event event, struct json object,
                 enum error_code error);

static int64_t now_ms(const struct leader *leader)
{
    return clock_monotonic_ms(loop_clock(kube_client_loop(leader->options.client)));
}

/* Only the API server's own Status says that there is no lease; a proxy's page does not. */
static bool says_absent(struct arena *arena, const struct kube_answer *answer)
{
    struct json root;
    struct error ignored;

    return answer->error.code == ERROR_NOT_FOUND && answer->status == 404 &&
           json_read(arena, answer->body, &json_limits_default, &root, &ignored) == 0 &&
           str_eq(json_str(json_get(root, STR("kind"))), STR("Status"));
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct leader *leader = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json object = { NULL, 0 };
    struct error err = answer->error;
    enum lease_effect asked = leader->asked;

    leader->call = NULL;
    leader->asked = LEASE_DO_NOTHING;
    if (err.code == ERROR_NONE)
        (void)json_read(arena, answer->body, &json_limits_default, &object, &err);
    if (err.code == ERROR_NONE && !str_eq(json_str(json_get(object, STR("kind"))), STR("Lease")))
        err.code = ERROR_INTERNAL; /* a login page, or some other peer's idea of an answer */
    if (err.code == ERROR_NONE)
        step(leader, asked == LEASE_DO_GET ? LEASE_READ : LEASE_WRITTEN, object, ERROR_NONE);
    else if (asked == LEASE_DO_GET && says_absent(arena, answer))
        step(leader, LEASE_READ, (struct json){ NULL, 0 }, ERROR_NONE);
    else
        step(leader, LEASE_FAILED, (struct json){ NULL, 0 }, err.code);
}

static void send(struct leader *leader, const struct lease_output *out)
{
    /* An update is a merge patch that names the version it knows: as safe as a PUT, and the labels
     * and annotations that others gave the Lease stay. */
    static const struct {
        const char *method, *content_type;
        enum kube_verb verb;
    } ways[] = {
        [LEASE_DO_GET] = { "GET", NULL, KUBE_GET },
        [LEASE_DO_CREATE] = { "POST", "application/json", KUBE_CREATE },
        [LEASE_DO_UPDATE] = { "PATCH", "application/merge-patch+json", KUBE_PATCH },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_request request = {
        .verb = ways[out->effect].verb,
        .resource = leases,
        .namespace_ = leader->options.namespace_,
        .name = leader->options.name,
    };
    int64_t timeout_ms = leader->lease.renew_deadline_ms / 2;

    if (leader->lease.state == LEASE_LEADING && !leader->lease.releasing) {
        int64_t left_ms =
            leader->lease.renewed_ms + leader->lease.renew_deadline_ms - now_ms(leader);

        timeout_ms = left_ms < timeout_ms ? left_ms : timeout_ms;
    }
    leader->asked = out->effect;
    leader->call =
        kube_client_raw(leader->options.client, ways[out->effect].method,
                        kube_request_path(arena, &request), ways[out->effect].content_type,
                        out->body, timeout_ms > 1 ? timeout_ms : 1, on_answer, leader);
}

static void give_up_call(struct leader *leader)
{
    kube_call_cancel(TAKE(leader->call));
    leader->asked = LEASE_DO_NOTHING;
}

/* The last thing that is done to `leader` here: the callback may free it. */
static void finish_release(struct leader *leader)
{
    void (*released)(void *context) = TAKE(leader->released);

    loop_timer_clear(leader->release_timer);
    loop_timer_clear(leader->timer);
    if (released)
        released(leader->released_context);
}

static void step(struct leader *leader, enum lease_event event, struct json object,
                 enum error_code error)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct lease_input input = {
        .event = event,
        .lease = object,
        .error = error,
        .now_ms = now_ms(leader),
        .now_wall_ms = clock_wall_ms(loop_clock(kube_client_loop(leader->options.client))),
    };
    struct lease_output out = lease_step(&leader->lease, &input, leader->options.name,
                                         leader->options.namespace_, arena, &leader->rng);

    if (out.timer_ms >= 0)
        loop_timer_set(leader->timer, out.timer_ms);
    if (out.effect != LEASE_DO_NOTHING) {
        give_up_call(leader);
        send(leader, &out);
    }
    if (leader->lease.state == LEASE_LOST) {
        give_up_call(leader);
        loop_timer_clear(leader->timer);
    }
    if (leader->lease.state == LEASE_RELEASED)
        finish_release(leader);
    else if (out.began_leading && leader->options.began)
        leader->options.began(leader->options.context);
    else if (out.stopped_leading && leader->lease.state == LEASE_LOST) {
        if (leader->released) /* it was to be given up anyway */
            finish_release(leader);
        else if (leader->options.lost)
            leader->options.lost(leader->options.context);
    }
}

static void on_timer(void *context)
{
    step(context, LEASE_TIMER, (struct json){ NULL, 0 }, ERROR_NONE);
}

/* The lease could not be given up in time: it runs out by itself. */
static void on_release_timer(void *context)
{
    struct leader *leader = context;

    give_up_call(leader);
    leader->lease.state = LEASE_RELEASED;
    finish_release(leader);
}

struct leader *leader_create(const struct leader_options *options)
{
    struct leader *leader = mem_new(struct leader);
    struct loop *loop = kube_client_loop(options->client);

    leader->arena = arena_create(0);
    leader->options = *options;
    leader->options.namespace_ = str_dup(leader->arena, options->namespace_);
    leader->options.name = str_dup(leader->arena, options->name);
    leader->lease = lease_new(
        options->identity, options->duration_ms ? options->duration_ms : LIMIT_LEASE_TIME,
        options->renew_deadline_ms ? options->renew_deadline_ms : LIMIT_LEASE_RENEW_DEADLINE,
        options->retry_ms ? options->retry_ms : LIMIT_LEASE_RETRY);
    leader->rng = rng_from_seed(options->seed);
    leader->timer = loop_timer_create(loop, on_timer, leader);
    leader->release_timer = loop_timer_create(loop, on_release_timer, leader);
    loop_timer_set(leader->timer, 0);
    return leader;
}

void leader_free(struct leader *leader)
{
    if (!leader)
        return;
    give_up_call(leader);
    loop_timer_free(leader->timer);
    loop_timer_free(leader->release_timer);
    arena_free(leader->arena);
    mem_free(leader);
}

void leader_release(struct leader *leader, void (*released)(void *context), void *context)
{
    leader->released = released;
    leader->released_context = context;
    give_up_call(leader);
    loop_timer_set(leader->release_timer, RELEASE_TIME_MS);
    /* Lost before, or released before: there is nothing left to send. */
    if (leader->lease.state == LEASE_LOST || leader->lease.state == LEASE_RELEASED)
        finish_release(leader);
    else
        step(leader, LEASE_RELEASE, (struct json){ NULL, 0 }, ERROR_NONE);
}

bool leader_is_leading(const struct leader *leader)
{
    return lease_may_act(&leader->lease, now_ms(leader));
}

bool leader_may_write(void *leader)
{
    return leader_is_leading(leader);
}
