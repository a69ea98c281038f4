/* SPDX-License-Identifier: Apache-2.0 */
/* children.h: the objects that another object, their owner, is made into: what is applied for each,
 * whether that is necessary, and what became of all. Pure; runtime/children.h does it. */
#ifndef HERD_KUBE_CHILDREN_H
#define HERD_KUBE_CHILDREN_H

#include "base/error.h"
#include "kube/condition.h"
#include "kube/object_status.h"
#include "kube/resource.h"

/* Reasons of the conditions Accepted and Applied, whose words are in child_reasons.def. */
enum child_reason {
#define CHILD_REASON(id, name, condition, warning, sentence, remedy) CHILD_REASON_##id,
#include "kube/child_reasons.def"
#undef CHILD_REASON
};
struct str kube_child_reason_name(enum child_reason reason);

struct kube_owner {
    struct kube_resource resource;
    struct str namespace_; /* "" where the kind has none */
    struct str name;
    struct str uid;
};

/* A child as it should be. */
struct kube_child {
    const struct kube_resource *resource;
    struct str namespace_; /* "" = the owner's */
    struct str name;
    /* JSON: the fields that we manage, e.g. {"spec":{...}}, and no others; metadata may hold labels
     * and annotations. */
    struct str object;
    /* Only these fields, of an object that was seen and is of a kind that is watched: it stays
     * whose it is. */
    bool partial;
    bool needed; /* those behind it in the list use it: while it is not ours they are left alone */
    /* JSON: fields with their live values, which `object` leaves out so that others set them; ""
     * = none. A field that nobody owns goes when its last owner leaves it out: these are applied
     * first, by the field manager "MANAGER-handover" and without force. A conflict says that
     * another manager owns them already, and is none (Kubernetes docs, "Server-Side Apply",
     * transferring ownership). */
    struct str handover;
};
LIST_DEFINE(kube_children, struct kube_child)

/* The value of the label that names the owner: its name, or of a name that is too long for a label
 * its beginning and a digest. */
struct str kube_owner_label(struct arena *arena, struct str owner_name);

/* The body of a server-side apply: the child with apiVersion, kind, name and namespace, and if it
 * is not partial `label` and a controlling ownerReference. -1: `object` is no JSON object, which is
 * a bug of the render. */
int kube_child_body(struct arena *arena, const struct kube_owner *owner, struct str label,
                    const struct kube_child *child, struct str *ret_body, struct error *err);

/* What a cache keeps of a child. */
struct kept_child {
    struct str owner_uid;  /* who controls it; "" = nobody */
    struct str owner_name; /* by that reference; of what an owner of another kind controls, such as
                              a pod, or nobody does, by the label */
    struct str digest;     /* of all that a person could change: not of status, nor of what the API
                              server counts by itself */
    struct str health;     /* for kube_child_health */
};
/* `owner` is the kind of the owners, `label` the key of the label that names them, `field_manager`
 * who applies the children. */
void kube_child_keep(struct json object, const struct kube_resource *owner, struct str label,
                     struct str field_manager, struct strbuf *kept);
struct kept_child kube_child_kept(struct str kept);

/* How a child fares, as its own status says. */
struct child_health {
    enum object_state state;
    struct str message; /* why it is not current */
    struct str cause;   /* of a pod, why it does not become ready; of what makes pods, why it cannot
                           make them, such as a quota; "" = it does not say */
    int64_t replicas;   /* of its spec, of an autoscaler the most; -1 = it has none */
    struct str replicas_manager; /* a field manager that owns spec.replicas and is not the one that
                                    applies the children; "" = none */
    struct str storage; /* that a claim asks for, or the first template of claims; "" = none */
    struct str storage_class; /* of that one; "" = it names none */
    struct json limits; /* of its containers, or its template's: an array of what each limits */
    struct json status; /* what its status says in numbers, words and truths of its own */
    bool lacks_pods;    /* and its status does not say why (kube/pod_shortage.h) */
};
/* Of what was kept. In the arena. */
struct child_health kube_child_health(struct arena *arena, const struct kept_child *kept);

struct seen_child {
    const struct kube_resource *resource;
    struct str name;
    struct child_health health;
};
LIST_DEFINE(seen_children, struct seen_child)

enum child_outcome {
    CHILD_APPLIED,      /* it is as desired, whether or not that took a request */
    CHILD_PRUNED,       /* it was not desired any more, and was deleted */
    CHILD_KIND_MISSING, /* the API server has no such kind today */
    CHILD_HELD_BACK,    /* what it needs is not there, or not ours */
    CHILD_NOT_OURS,     /* an object of that name exists, and the owner does not control it */
    CHILD_FAILED,       /* `error` says why; a conflict names the other field manager */
};

struct child_result {
    struct str kind;
    struct str name;
    bool desired; /* false: it was to be pruned */
    enum child_outcome outcome;
    struct error error; /* of FAILED */
};
LIST_DEFINE(child_results, struct child_result)

struct children_count {
    uint32_t desired;
    uint32_t applied;
    uint32_t missing; /* of a kind that is missing */
    uint32_t failed;
};
struct children_count kube_children_count(const struct child_results *results);

/* The condition "Applied": True with reason Applied, or KindMissing if some are of a kind that the
 * API server lacks; False with reason ApplyFailed and what failed first, and why. In the arena. */
struct kube_condition kube_children_condition(struct arena *arena,
                                              const struct child_results *results,
                                              int64_t generation);

#endif
