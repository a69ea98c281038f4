/* SPDX-License-Identifier: Apache-2.0 */
/* remote_parts.h: what remote.c and remote_forward.c share. */
#ifndef HERD_LAB_DOWNSTREAM_REMOTE_PARTS_H
#define HERD_LAB_DOWNSTREAM_REMOTE_PARTS_H

#include "lab/downstream/remote.h"
#include "runtime/informer.h"
#include "runtime/kubeconfig.h"

enum { REMOTE_FOLLOWED = 3 };

/* A collection that is followed. */
struct followed {
    struct remote *remote;
    const struct kube_resource *resource;
    struct informer *informer;
};

struct remote {
    struct remote_options options;
    struct arena *arena;
    struct str cluster;
    struct kube_config config;
    struct file_cache *token;
    struct http_client *http;
    struct kube_client *watches;
    struct followed followed[REMOTE_FOLLOWED];
};

#endif
