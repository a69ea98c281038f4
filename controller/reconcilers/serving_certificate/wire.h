/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: the objects of serving certificates as facts, and the writes to them as bodies. Pure, but
 * for the keys, which are drawn here. */
#ifndef HERD_CONTROLLER_RECONCILERS_SERVING_CERTIFICATE_WIRE_H
#define HERD_CONTROLLER_RECONCILERS_SERVING_CERTIFICATE_WIRE_H

#include "io/tls.h"
#include "kube/meta.h"
#include "kube/request.h"
#include "kube/serving_certificate.h"

enum certificate_object {
    CERTIFICATE_CA_SECRET,
    CERTIFICATE_LEAF_SECRET,
    CERTIFICATE_MUTATING,
    CERTIFICATE_VALIDATING,
    CERTIFICATE_WORKLOADS_MUTATING, /* both of these: only where the workload kinds are installed */
    CERTIFICATE_WORKLOADS_VALIDATING,
    CERTIFICATE_OBJECTS,
};
enum { CERTIFICATE_CONFIGURATIONS = CERTIFICATE_OBJECTS - CERTIFICATE_MUTATING };

/* What is served where: strings borrowed. */
struct certificate_names {
    struct str namespace_; /* of both Secrets */
    struct str ca_secret;
    struct str leaf_secret;
    struct str
        configuration; /* those of Stacks have this name, those of workloads NAME-workloads */
    struct str workloads;
    struct str_list dns_names;
    struct str_list addresses;
};

/* All objects as they were read. */
struct certificate_state {
    struct json objects[CERTIFICATE_OBJECTS]; /* absent: there is none */
    struct kube_meta metas[CERTIFICATE_OBJECTS];
    struct serving_bundle bundles[CERTIFICATE_CONFIGURATIONS];
    struct serving_facts facts; /* of these; without times */
    struct tls_pair current;    /* "" where it cannot sign */
    struct tls_pair next;
    uint32_t webhook_counts[CERTIFICATE_CONFIGURATIONS];
};

const struct kube_resource *certificate_resource(enum certificate_object object);
struct str certificate_object_name(const struct certificate_names *names,
                                   enum certificate_object object);

/* `objects` is filled by the caller; the rest follows from it. */
void certificate_state_read(struct arena *arena, const struct certificate_names *names,
                            struct certificate_state *state);

struct certificate_write {
    enum certificate_object object;
    struct kube_request request; /* names the version that it was planned on */
    struct str serial;           /* of what was issued, else "" */
    int64_t not_after_ms;
};

/* The one write that a step asks for. -1: it could not be signed. */
int certificate_write(struct arena *arena, const struct certificate_names *names,
                      const struct certificate_state *state, const struct serving_step *step,
                      struct certificate_write *ret_write, struct error *err);

#endif
