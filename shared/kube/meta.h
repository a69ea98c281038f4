/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h: an object's metadata, as a view of its JSON. */
#ifndef HERD_KUBE_META_H
#define HERD_KUBE_META_H

#include "text/json.h"

struct kube_meta {
    struct str name;
    struct str generate_name;
    struct str namespace_;
    struct str uid;
    struct str resource_version;
    struct str creation_timestamp;
    struct str deletion_timestamp; /* "" while it lives */
    int64_t generation;
    struct json labels;
    struct json annotations;
    struct json finalizers;
    struct json owner_references;
};

/* Of `object`.metadata; members of a wrong type read as absent. */
void kube_meta_read(struct json object, struct kube_meta *ret_meta);
struct str kube_label(const struct kube_meta *meta, struct str key);      /* "" if absent */
struct str kube_annotation(const struct kube_meta *meta, struct str key); /* "" if absent */
bool kube_has_finalizer(const struct kube_meta *meta, struct str finalizer);

#endif
