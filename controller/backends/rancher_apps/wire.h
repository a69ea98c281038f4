/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: Rancher on the wire, both ways, as pure functions.
 *
 * Apps v2 (catalog.cattle.io/v1: ClusterRepo, App, Operation), and its actions and links through
 * steve, as Rancher v2.10 to v2.15 speak. Everything read here was
 * written by somebody else: what is missing reads as nothing, and texts for people are made fit to
 * show. Results borrow from the JSON they were read from, and from the arena. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_WIRE_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_WIRE_H

#include "stack/model/observed.h"
#include "text/json.h"

extern const struct kube_resource rancher_apps; /* catalog.cattle.io/v1 */
extern const struct kube_resource rancher_operations;
extern const struct kube_resource rancher_cluster_repos;

/* Bodies. */

struct wire_upgrade {
    struct str stack; /* namespace/name */
    struct str stack_uid;
    struct str repo_name; /* of the ClusterRepo, for Rancher's own UI */
    struct str version;   /* exact */
    uint32_t revision;    /* of the release as it was seen; 0 = there was none */
    struct str replaces;  /* namespace/name of the release that it follows, or "" */
    const struct desired_release *desired;
};

/* The mark of a release: stack/release.h. */
struct wire_mark {
    struct str uid; /* of the App: a namesake is not marked */
    struct str stack;
    struct str stack_uid;
    struct str chart_name;
    struct str depends_on;
    struct str replaces; /* namespace/name of the release that it follows, or "" */
    struct str digest;
    uint32_t corrections;
    uint32_t revision;
    int64_t now_ms; /* wall */
};

/* ChartUpgradeAction, for ?action=upgrade: helm upgrade --install with all values given anew. */
struct str wire_upgrade_body(struct arena *arena, const struct wire_upgrade *upgrade);
/* ChartUninstallAction, with the stamp of the Stack (namespace/name) that asks. */
struct str wire_uninstall_body(struct arena *arena, struct str stack, struct str stack_uid);
/* A merge patch of the App, with its uid as precondition. */
struct str wire_mark_body(struct arena *arena, const struct wire_mark *mark);
/* A ClusterRepo for a repository. */
struct str wire_repo_body(struct arena *arena, struct str name, struct str url);

/* A merge patch of a ClusterRepo that has its index downloaded anew. */
struct str wire_refresh_body(struct arena *arena, int64_t now_wall_ms);

/* Objects. */

void wire_app_read(struct json app, struct observed_release *ret_release);
/* False while it does not say which release it is for. */
bool wire_operation_read(struct arena *arena, struct json operation,
                         struct observed_operation *ret_operation);

struct wire_repo {
    struct str name;
    struct str url; /* without trailing slash */
    enum repo_state state;
    struct str message;
    struct str index_version; /* changes with the index */
    struct str downloaded;    /* when it was fetched last */
    bool managed;             /* Herd made it */
};
/* False for one that serves no URL (git). One that is disabled is UNUSABLE. */
bool wire_repo_read(struct arena *arena, struct json repo, struct wire_repo *ret_repo);

/* Answers. */

/* ?link=info: the chart's exact version. -1: this is no such answer. */
int wire_info_read(struct json info, struct str *ret_version, struct error *err);
/* Whether `given` is what `asked` means. Rancher reads a version that it does not have as a range,
 * and silently gives the newest that fits. */
bool wire_version_fits(struct str asked, struct str given);
/* Of an action: the Operation's name. -1: this is no such answer. */
int wire_output_read(struct json output, struct str *ret_operation, struct error *err);
/* The line of an operation's log that says why Helm failed; "" if none does. */
struct str wire_log_cause(struct arena *arena, struct str log);
/* Of the pods of a namespace: why those of a release are not ready, the worst first; "" if they
 * are. A pod is of the release if its label app.kubernetes.io/instance says so, or, where there is
 * none, if its name begins with the release's. */
struct str wire_pods_cause(struct arena *arena, struct json pods, struct str release);

#endif
