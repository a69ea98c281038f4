/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig.h: where the API server is and who we are: from a kubeconfig or from within a cluster.
 * Formats: k8s.io/client-go/tools/clientcmd/api/v1; in-cluster:
 * k8s.io/client-go/rest InClusterConfig. */
#ifndef HERD_RUNTIME_KUBECONFIG_H
#define HERD_RUNTIME_KUBECONFIG_H

#include "base/error.h"
#include "base/str.h"

struct kube_config {
    struct str server; /* https://host:port[/path], without a trailing slash */
    struct str ca_pem; /* "" = the system's */
    struct str certificate_pem;
    struct str key_pem;
    struct str token;      /* "" = none, or token_file */
    struct str token_file; /* re-read as it changes */
    struct str tls_server_name;
    struct str namespace_; /* of the context; "" = "default" */
    bool insecure;
};

/* `file` NULL or "": $KUBECONFIG's files, then ~/.kube/config; `context` NULL or "": the current
 * one. exec and auth-provider plugins are rejected by name. Errors name file, context and field. */
int kube_config_load(struct arena *arena, const char *file, const char *context,
                     struct kube_config *ret_config, struct error *err);
/* From KUBERNETES_SERVICE_HOST and the mounted service account.
 * ERROR_NOT_FOUND outside a cluster. */
int kube_config_in_cluster(struct arena *arena, struct kube_config *ret_config, struct error *err);

/* What the flags --kubeconfig, --context and --in-cluster of a program say. */
struct kube_config_flags {
    const char *file; /* "" = not given */
    const char *context;
    bool in_cluster;
};
static inline bool kube_config_flags_given(const struct kube_config_flags *flags)
{
    return flags->in_cluster || *flags->file || *flags->context;
}
/* -1: they exclude one another. */
int kube_config_flags_check(const struct kube_config_flags *flags, struct error *err);
/* As they say; without any: $KUBECONFIG, then the pod's service account, then ~/.kube/config, which
 * is the order of Kubernetes' own controllers. */
int kube_config_from_flags(struct arena *arena, const struct kube_config_flags *flags,
                           struct kube_config *ret_config, struct error *err);

#endif
