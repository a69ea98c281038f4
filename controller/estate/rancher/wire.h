/* wire.h: Rancher on the wire, both ways, as pure functions.
 *
 * Apps v2 (catalog.cattle.io/v1: ClusterRepo, App, Operation), its actions and links through steve,
 * and management.cattle.io/v3 Clusters, as Rancher v2.10 to v2.15 speak. Everything read here was
 * written by somebody else: what is missing reads as nothing, and texts for people are made fit to
 * show. Results borrow from the JSON they were read from, and from the arena. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_WIRE_H
#define HERD_CONTROLLER_ESTATE_RANCHER_WIRE_H

#include "stack/observed.h"
#include "text/json.h"

extern const struct kube_resource rancher_clusters;     /* management.cattle.io/v3 */
extern const struct kube_resource rancher_apps;         /* catalog.cattle.io/v1 */
extern const struct kube_resource rancher_operations;
extern const struct kube_resource rancher_cluster_repos;

/* Bodies. */

struct wire_upgrade {
    struct str stack;     /* namespace/name */
    struct str stack_uid;
    struct str repo_name; /* of the ClusterRepo, for Rancher's own UI */
    struct str version;   /* exact */
    const struct desired_release *desired;
};

/* ChartUpgradeAction, for ?action=upgrade: helm upgrade --install with all values given anew. */
struct str wire_upgrade_body(struct arena *arena, const struct wire_upgrade *upgrade);
/* ChartUninstallAction, with the stamp of the Stack (namespace/name) that asks. */
struct str wire_uninstall_body(struct arena *arena, struct str stack, struct str stack_uid);
/* DeleteOptions: this very object, as it was read. */
struct str wire_delete_body(struct arena *arena, struct str uid, struct str resource_version);
/* A ClusterRepo for a repository. */
struct str wire_repo_body(struct arena *arena, struct str name, struct str url);

/* Objects. */

void wire_app_read(struct json app, struct observed_release *ret_release);
/* False while it does not say which release it is for. */
bool wire_operation_read(struct arena *arena, struct json operation,
                         struct observed_operation *ret_operation);

struct wire_repo {
    struct str name;
    struct str url;           /* without trailing slash */
    enum repo_state state;
    struct str message;
    struct str index_version; /* changes with the index */
    struct str downloaded;    /* when it was fetched last */
};
/* False for one that serves no URL (git) or is switched off. */
bool wire_repo_read(struct arena *arena, struct json repo, struct wire_repo *ret_repo);

struct wire_cluster {
    struct str id;
    struct str display_name;
    struct json labels;
    bool internal;     /* Rancher's own */
    bool disconnected; /* Connected is False: it is not to be called */
    bool usable;       /* Ready is True, and not disconnected */
    struct str message; /* of one that is not usable: why */
};
void wire_cluster_read(struct arena *arena, struct json cluster, struct wire_cluster *ret_cluster);

/* Answers. */

/* ?link=info: the chart's exact version. -1: this is no such answer. */
int wire_info_read(struct json info, struct str *ret_version, struct error *err);
/* Whether `given` is what `asked` means. Rancher reads a version that it does not have as a range,
 * and silently gives the newest that fits. */
bool wire_version_fits(struct str asked, struct str given);
/* A collection of norman's (/v3), whatever is in it. -1: this is none, so it is not Rancher's. */
int wire_collection_read(struct json answer, struct error *err);
/* Of an action: the Operation's name. -1: this is no such answer. */
int wire_output_read(struct json output, struct str *ret_operation, struct error *err);
/* The line of an operation's log that says why Helm failed; "" if none does. */
struct str wire_log_cause(struct arena *arena, struct str log);
/* Of the pods of a namespace: why those of a release are not ready, the worst first; "" if they
 * are. A pod is of the release if its label app.kubernetes.io/instance says so, or, where there is
 * none, if its name begins with the release's. */
struct str wire_pods_cause(struct arena *arena, struct json pods, struct str release);

/* An answer that is not 2xx, in any of the six shapes that Rancher's parts use (steve, norman,
 * Kubernetes, login filter, cluster router, plain text or nothing at all). */
void wire_error_read(struct arena *arena, int http_status, struct str body,
                     struct error *ret_error);
/* Whether that answer proves that what was asked for was not begun. Gateways that gave up waiting
 * prove nothing. */
bool wire_error_is_refusal(int http_status, struct str body);

#endif
