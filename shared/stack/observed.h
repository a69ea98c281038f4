/* observed.h: everything that a plan may know, as one value: the Stack's world at one moment.
 *
 * Made by the controller's gather from caches only, by builders in tests and by the simulator.
 * Whatever was not read is said to be unread; nothing is concluded from it. */
#ifndef HERD_STACK_OBSERVED_H
#define HERD_STACK_OBSERVED_H

#include "stack/admitted.h"
#include "stack/release.h"
#include "stack/status.h"

enum release_phase {
    RELEASE_ABSENT,
    RELEASE_DEPLOYED,
    RELEASE_FAILED,
    RELEASE_PENDING,      /* pending-install, pending-upgrade, pending-rollback */
    RELEASE_UNINSTALLING,
    RELEASE_OTHER,        /* superseded, uninstalled, unknown */
};

/* An App of a cluster: one of ours, or one that stands where ours should. */
struct observed_release {
    struct str namespace_;
    struct str name;
    struct str uid; /* of the App: a namesake made since is another one */
    enum release_phase phase;
    uint32_t revision;
    struct str chart_version;
    struct str description; /* Helm's words, shown */
    struct str stack;       /* of the stamp; "" = somebody else's release */
    struct str stack_uid;
    struct str chart_name;
    struct str digest;
    struct str depends_on;
};
LIST_DEFINE(observed_releases, struct observed_release)

enum operation_state {
    OPERATION_RUNNING,
    OPERATION_SUCCEEDED, /* its container ended well, or the pod vanished: the App decides */
    OPERATION_FAILED,
};

struct observed_operation {
    struct str namespace_; /* of the release, too */
    struct str name;
    struct str release_name;
    struct str stack_uid; /* of the stamp: the Stack that asked for it; "" = somebody else */
    bool uninstall;
    enum operation_state state;
    int64_t created_ms;  /* wall, by that cluster's clock: only for order among themselves */
    struct str message;  /* of a failure: from its log where that was read, else the condition's;
                          * of a running one: why it has not begun, "" if it has */
    bool log_read;       /* or it was tried in vain: it is not asked for again */
    bool proven;         /* of SUCCEEDED: its pod is there with a log: its container ended well */
    struct str pods;     /* which pods of the release are not ready, and why; "" = none is known */
    bool pods_read;      /* since it failed, or while it runs; or it was tried in vain */
};
LIST_DEFINE(observed_operations, struct observed_operation)

enum repo_state { REPO_UNREAD, REPO_ABSENT, REPO_DOWNLOADING, REPO_READY, REPO_FAILED };
struct observed_repo {
    struct str url;  /* without trailing slash */
    struct str name; /* of the ClusterRepo that serves it */
    enum repo_state state;
    struct str message;
};
LIST_DEFINE(observed_repos, struct observed_repo)

/* Whether a repository has a chart in a version: asked before acting, because Rancher silently
 * takes another one (contracts/rancher.md 4.4). The plan asks whenever it is UNREAD; whoever reads
 * makes it UNREAD again when it is time to look anew: the index changed, or after FAILED some time
 * passed. */
enum version_state { VERSION_UNREAD, VERSION_FOUND, VERSION_MISSING, VERSION_FAILED };
struct observed_version {
    struct str repo;
    struct str chart;
    struct str version;  /* as asked */
    enum version_state state;
    struct str resolved; /* exact */
    struct str message;
};
LIST_DEFINE(observed_versions, struct observed_version)

enum cluster_state {
    CLUSTER_GONE,         /* Rancher has no such cluster: known, not merely unseen */
    CLUSTER_DISCONNECTED, /* Connected is False, or Ready is not True */
    CLUSTER_UNREAD,       /* connected, but its Apps and Operations were not listed yet */
    CLUSTER_READ,
    CLUSTER_STALE,        /* was read, but has not been heard of for too long to act on it */
};

struct observed_cluster {
    struct str id;
    struct str display_name;
    struct json labels;
    bool targeted; /* else it only still holds, or may hold, releases of this Stack */
    enum cluster_state state;
    struct str message; /* of all but READ: why */
    struct str shut_reason; /* nothing may begin there, if nothing of the Stack is; "" = it may */
    struct str shut_message;
    struct str nearest; /* of GONE: the id that was perhaps meant; "" if none is near */
    struct observed_releases releases;
    struct observed_operations operations;
    struct observed_repos repos;
    struct observed_versions versions;
};
LIST_DEFINE(observed_clusters, struct observed_cluster)

/* Values of one chart, by index in spec.charts. */
struct observed_values {
    bool ready;
    struct str json;    /* these three as in struct base_values */
    struct str config_json;
    struct str secret_versions;
    struct str reason;  /* why not ready: ConfigMapNotFound, ValuesInvalid, ValuesUnread, ... */
    struct str message;
};

/* Another Stack of the namespace that this one waits for, or that those wait for. */
struct observed_stack {
    struct str name;
    bool exists;
    bool ready;
    bool distant;               /* this one waits for it only through others */
    struct str_list depends_on; /* not ready: names of the Stacks that it waits for */
};
LIST_DEFINE(observed_stacks, struct observed_stack)

struct observed {
    int64_t now_ms; /* wall */
    bool clusters_known; /* the list of clusters was read; else targets are unknown */
    struct observed_clusters clusters; /* by id */
    struct observed_values *values;    /* one for each chart */
    struct observed_stacks stacks;
    const struct stack_status *before; /* the status as stored: attempts, requests under way */
    const struct problems *problems;   /* what is wrong with the stored Stack; denied > 0: hold */
    const struct admitted *admitted;   /* its receipt; NULL: nobody looks at receipts */
    int64_t settle_ms; /* how long a request whose answer was lost may still take effect */
    uint32_t cluster_operations_max;
};

#endif
