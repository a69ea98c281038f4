/* SPDX-License-Identifier: Apache-2.0 */
/* serving_certificate.h: a CA of one's own for webhooks: which one write comes next.
 *
 * Three kinds of objects must agree, and no two of them change at one moment:
 *   the CA Secret      current, which signs; next, which is being made known; previous, which is
 *                      not forgotten yet
 *   the leaf Secret    what the servers show: signed by current
 *   configurations     caBundle: whom the API servers believe
 * So the order is the safety. A CA signs only when every caBundle holds it; it takes over from a
 * working one only when that has been so for `settle_ms`; a CA leaves caBundle only when its
 * successor has signed the leaf for `settle_ms`, the time in which every API server hears of a
 * caBundle, and every server of its files. What stands in caBundle beside ours is kept for as long,
 * because what a server shows may be signed by it.
 *
 * Pure. All that survives a restart is in the objects; what is remembered here only makes it wait,
 * by a clock that nobody sets. Certificates are facts: reading and signing them is the shell's. */
#ifndef HERD_KUBE_SERVING_CERTIFICATE_H
#define HERD_KUBE_SERVING_CERTIFICATE_H

#include "base/list.h"

/* A CA certificate as it was found. */
struct serving_ca {
    struct str pem;        /* one block as OpenSSL would write it; "" = none that can be read */
    int64_t not_before_ms; /* wall */
    int64_t not_after_ms;
    bool can_sign; /* it is a CA's, and the key beside it fits */
};

LIST_DEFINE(serving_cas, struct serving_ca)

/* The CA Secret; slots that are empty or unreadable have no pem. */
struct serving_slots {
    struct serving_ca current;
    struct serving_ca next;
    struct serving_ca previous;
};

/* The leaf Secret. */
struct serving_leaf {
    bool usable; /* both parts can be read and fit, and it has all the names that are wanted */
    int64_t not_before_ms;
    int64_t not_after_ms;
    struct str issuer; /* PEM of whom it verifies against, of all CAs that were found; "" = none */
};

/* caBundle of one configuration. */
struct serving_bundle {
    bool exists;
    bool even; /* `text` is what each of its webhooks has */
    struct str text;
    struct serving_cas cas; /* that stand in any of its webhooks */
};

struct serving_facts {
    struct serving_slots ca;
    struct serving_leaf leaf;
    const struct serving_bundle *bundles;
    uint32_t bundle_count;
    int64_t now_wall_ms;
    int64_t now_ms; /* monotonic */
};

struct serving_policy {
    int64_t leaf_lifetime_ms;
    int64_t leaf_renew_before_ms;
    int64_t ca_lifetime_ms;
    int64_t ca_renew_before_ms;
    int64_t settle_ms;
};

/* Since when something is so, as far as this process saw it. */
struct serving_since {
    char digest[65]; /* of a CA's PEM; "" = nothing */
    int64_t since_ms;
};

struct serving_memory {              /* zeroed at first */
    struct serving_since trusted[2]; /* every caBundle holds current; next */
    struct serving_since leaf;       /* the leaf is signed by this CA */
};

enum serving_action {
    SERVING_REST,
    SERVING_ISSUE_CA,     /* as current; what was current becomes previous */
    SERVING_ISSUE_NEXT,   /* as next */
    SERVING_PROMOTE,      /* next becomes current, current previous */
    SERVING_FORGET,       /* previous */
    SERVING_WRITE_BUNDLE, /* `text` into `bundle` */
    SERVING_ISSUE_LEAF,   /* signed by current */
};

struct serving_step {
    enum serving_action action;
    const char *why;
    uint32_t bundle; /* of WRITE_BUNDLE: index */
    struct str text;
    int64_t not_before_ms; /* of ISSUE_* */
    int64_t not_after_ms;
    int64_t look_again_ms; /* after the write, or from now; never long: a wall clock may jump */
};

/* At most one write. After it, gather anew and ask again. */
struct serving_step serving_step(struct serving_memory *memory, const struct serving_facts *facts,
                                 const struct serving_policy *policy, struct arena *arena);

const char *serving_action_name(enum serving_action action);

#endif
