/* SPDX-License-Identifier: Apache-2.0 */
/* lease.h: leader election on a coordination.k8s.io/v1 Lease, as a step function.
 *
 * Everybody observes the lease; its holder renews it; when it did not change for a whole lease
 * duration *on the observer's own clock* it may be taken. Clocks of two machines are never
 * compared. The holder stops acting LIMIT_LEASE_RENEW_DEADLINE after the last renewal that it
 * *sent* and that succeeded, which is before anybody else may begin.
 * Source: k8s.io/client-go/tools/leaderelection. */
#ifndef HERD_KUBE_LEASE_H
#define HERD_KUBE_LEASE_H

#include "base/error.h"
#include "base/rng.h"
#include "text/json.h"

enum lease_state { LEASE_FOLLOWING, LEASE_LEADING, LEASE_LOST, LEASE_RELEASED };

enum lease_event {
    LEASE_TIMER,   /* time to look or renew */
    LEASE_READ,    /* a GET answered: `lease` is the object; absent = there is none */
    LEASE_WRITTEN, /* our write was taken: `lease` is the object */
    LEASE_FAILED,  /* a request failed: `error` (CONFLICT: somebody wrote before us) */
    LEASE_RELEASE, /* shut down in good order */
};

enum lease_effect { LEASE_DO_NOTHING, LEASE_DO_GET, LEASE_DO_CREATE, LEASE_DO_UPDATE };

enum { LEASE_IDENTITY_BYTES = 128, LEASE_VERSION_BYTES = 64 };

struct lease {
    enum lease_state state;
    char identity[LEASE_IDENTITY_BYTES];
    int64_t duration_ms, renew_deadline_ms, retry_ms;
    char holder[LEASE_IDENTITY_BYTES];          /* as last observed; "" = nobody */
    char resource_version[LEASE_VERSION_BYTES]; /* as last observed; "" = there was none */
    int64_t record_seen_ms; /* monotonic: when that last changed under our eyes */
    int64_t renew_sent_ms;  /* monotonic: when the renewal under way was sent */
    int64_t renewed_ms;     /* monotonic: sending time of the last renewal that succeeded */
    int64_t transitions;
    char acquired[LEASE_VERSION_BYTES]; /* acquireTime as last observed */
    int64_t observed_ms;     /* the duration that the record asks for; 0 = none, or absurd */
    int64_t absent_since_ms; /* monotonic: no lease at all since then; -1 = there is one */
    int64_t absent_seen_ms;  /* monotonic: when that was seen last */
    int64_t renew_wall_ms;   /* renewTime as last written: each is later than the one before */
    bool releasing;
    bool seen;      /* a lease was read at least once */
    bool ever_held; /* and it named a holder or a time */
    bool released;  /* its holder gave it up in good order */
};

struct lease_input {
    enum lease_event event;
    struct json lease;
    enum error_code error;
    int64_t now_ms;      /* monotonic */
    int64_t now_wall_ms; /* only to be written into renewTime */
};

struct lease_output {
    enum lease_effect effect;
    struct str body;  /* of CREATE and UPDATE, in the arena given */
    int64_t timer_ms; /* set the timer so far ahead; -1 = leave it */
    bool began_leading;
    bool stopped_leading;
};

struct lease lease_new(struct str identity, int64_t duration_ms, int64_t renew_deadline_ms,
                       int64_t retry_ms);
struct lease_output lease_step(struct lease *lease, const struct lease_input *input,
                               struct str lease_name, struct str lease_namespace,
                               struct arena *arena, struct rng *rng);

/* Fencing: may a request that changes something be sent at `now_ms`? */
bool lease_may_act(const struct lease *lease, int64_t now_ms);

#endif
