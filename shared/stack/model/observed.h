/* SPDX-License-Identifier: Apache-2.0 */
/* observed.h: everything that a plan may know, as one value: the Stack's world at one moment.
 *
 * Made by the controller's gather from caches only, by builders in tests and by the simulator.
 * Whatever was not read is said to be not_synced; nothing is concluded from it. */
#ifndef HERD_STACK_OBSERVED_H
#define HERD_STACK_OBSERVED_H

#include "stack/model/check.h"
#include "stack/model/releases.h"
#include "stack/model/status.h"
#include "stack/model/vulnerability.h"

enum release_phase {
    RELEASE_ABSENT,
    RELEASE_DEPLOYED,
    RELEASE_FAILED,
    RELEASE_PENDING, /* pending-install, pending-upgrade, pending-rollback */
    RELEASE_UNINSTALLING,
    RELEASE_OTHER, /* superseded, uninstalled, unknown */
};

/* What runs of a release, as its workloads say: Deployments, StatefulSets, DaemonSets. */
struct observed_health {
    struct str message; /* why it is not ready, with the workload's kind and name; "" = it is, as
                         * far as known */
    bool failed;        /* it will not become ready by itself */
    bool missing;       /* a workload that its manifest names does not exist */
    struct str pods;    /* which pods are not ready, and why; "" = none is known */
    bool pods_read;     /* a short while ago, or it was tried in vain */
};

/* Whether the list of findings is that of the newest finished scan. */
enum report_state {
    REPORT_COMPLETE,   /* it is, or there is nothing to list */
    REPORT_PENDING,    /* the report of that scan is still to be read */
    REPORT_UNREADABLE, /* it was asked for in vain; once more at the next look */
};

/* What the newest finished scan found in one image. */
struct scan_findings {
    uint32_t critical, high, medium;
    int64_t scanned_ms; /* wall: when it finished */
    enum report_state report;
    /* The worst of them; while the report is not read, of a scan before, or NULL. Borrowed. */
    struct vulnerabilities *worst;
};

enum image_scan {
    IMAGE_UNCOVERED, /* the scanner does not know the container that runs it */
    IMAGE_QUEUED,    /* no scan of it has finished yet */
    IMAGE_FAILED,    /* none has, and the last one failed */
    IMAGE_SCANNED,   /* one has; whatever became of later ones */
};

/* An image that containers of a release run. */
struct observed_image {
    struct str digest; /* tells images apart, on all clusters alike */
    struct str name;   /* as the pod's spec has it */
    enum image_scan scan;
    struct str failure;            /* of FAILED: the scanner's word for it */
    struct scan_findings findings; /* of SCANNED */
    /* What its containers fail; NULL = not known, or nobody wants to. Borrowed. */
    struct checks *failed_checks;
    bool checks_pending; /* they are not known, because nobody has asked yet */
};
LIST_DEFINE(observed_images, struct observed_image)

/* What security scans say of a release on one cluster. */
struct observed_scans {
    bool known;                    /* what runs of it, and so all of the images */
    bool settled;                  /* that was read after this revision was deployed */
    struct observed_images images; /* each digest once */
};

enum metrics_state {
    METRICS_NOT_ASKED, /* what the status says stands */
    METRICS_UNKNOWN,   /* nothing answered */
    METRICS_PENDING,   /* nothing collects them, and may begin to soon */
    METRICS_INACTIVE,
    METRICS_ACTIVE,
};

/* Whether metrics of a release are collected, and what they say. */
struct observed_metrics {
    enum metrics_state state;
    struct str message; /* of INACTIVE: what is missing */
    bool has_gpus;      /* else nothing reported how busy they are */
    double gpu_percent;
    struct str reason; /* of INACTIVE and UNKNOWN, where the usual one does not say it; "" = none */
};

/* An App of a cluster: one of ours, or one that stands where ours should. */
struct observed_release {
    struct str namespace_;
    struct str name;
    struct str uid; /* of the App: a namesake made since is another one */
    enum release_phase phase;
    uint32_t revision;
    struct str chart_version;
    struct str repo_name;   /* the ClusterRepo that it came from; "" = not said */
    struct str description; /* Helm's words, shown */
    int64_t
        began_ms; /* wall, by that cluster's clock: when the revision was begun; 0 = not known */
    /* The stamp, which tells of the newest revision; "" and 0 = there is none (release.h). */
    struct str stack;
    struct str stack_uid;
    struct str digest;
    uint32_t stamped_revision;
    struct str chart_name; /* these of the stamp, else of the mark */
    struct str depends_on;
    struct str replaces; /* namespace/name of the release that it follows; "" = of none */
    /* The mark, which tells of the release whoever made the newest revision (release.h). */
    struct str marked_stack;
    struct str marked_uid;
    struct str marked_digest;
    uint32_t corrections;
    int64_t marked_ms;       /* wall */
    struct str mark_trouble; /* why writing it was rejected a moment ago; "" = it was not */
    uint32_t marked_revision;
    bool owner_wants;   /* of another Stack's: that Stack is there, and still wants it here */
    struct str adopter; /* of ours: the Stack that adopts it; "" = none */
    struct observed_health health;
    /* Its workloads, as KIND/NAMESPACE/NAME with a blank behind each, e.g. "Deployment/shop/web ":
     * all that its manifest names, within a bound, and those of them that are seen to be its own.
     */
    struct str manifest_workloads;
    struct str workloads;
    struct observed_scans scans;
    struct observed_metrics metrics;
};
LIST_DEFINE(observed_releases, struct observed_release)

/* Whose a release is stands on the cluster alone: in its mark, or else in its stamp. */
static inline bool observed_release_is_of(const struct observed_release *release, struct str uid)
{
    struct str owner = release->marked_uid.len ? release->marked_uid : release->stack_uid;

    return owner.len && str_eq(owner, uid);
}

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
    int64_t created_ms; /* wall, by that cluster's clock: only for order among themselves */
    struct str message; /* of a failure: from its log where that was read, else the condition's;
                         * of a running one: why it has not begun, "" if it has */
    bool log_read;      /* or it was tried in vain: it is not asked for again */
    bool proven;        /* of SUCCEEDED: its pod is there with a log: its container ended well */
    struct str pods;    /* which pods of the release are not ready, and why; "" = none is known */
    bool pods_read;     /* since it failed, or while it runs; or it was tried in vain */
};
LIST_DEFINE(observed_operations, struct observed_operation)

enum repo_state {
    REPO_NOT_SYNCED,
    REPO_ABSENT,
    REPO_DOWNLOADING,
    REPO_READY,
    REPO_FAILED,
    REPO_UNUSABLE, /* disabled, or edited: somebody must act, and the message says how */
};
struct observed_repo {
    struct str url;  /* without trailing slash */
    struct str name; /* of the ClusterRepo that serves it */
    enum repo_state state;
    struct str message;
    struct str downloaded; /* when its index was downloaded last, in its cluster's words */
};
LIST_DEFINE(observed_repos, struct observed_repo)

/* A ClusterRepo that Herd made and that no Stack and no release on the cluster uses. */
struct observed_leftover {
    struct str name;
    struct str url;
    struct str uid;
    struct str resource_version;
};
LIST_DEFINE(observed_leftovers, struct observed_leftover)

/* Whether a repository has a chart in a version: asked before acting, because Rancher silently
 * takes another one (docs/protocols/rancher.md 4.4). The plan asks whenever it is NOT_SYNCED;
 * whoever reads makes it NOT_SYNCED again when it is time to look anew: the index changed, or after
 * FAILED some time passed. */
enum version_state {
    VERSION_NOT_SYNCED,
    VERSION_FOUND,
    VERSION_MISSING,
    VERSION_FAILED,
    VERSION_STALE,      /* missing from an index that may be old: it is refreshed first */
    VERSION_REFRESHING, /* that was asked for, and the index was not downloaded since */
};
struct observed_version {
    struct str repo;
    struct str chart;
    struct str version; /* as asked */
    enum version_state state;
    struct str resolved; /* exact */
    struct str message;
};
LIST_DEFINE(observed_versions, struct observed_version)

enum monitoring_backend { MONITORING_SUSE = 1, MONITORING_PROMETHEUS = 2 };

/* What monitors a cluster, as far as this Stack is concerned. */
struct observed_monitoring {
    bool asked;                /* else nothing is known yet, and what the status says stands */
    bool found;                /* it is known which there are: */
    uint32_t backends;         /* bits of enum monitoring_backend */
    struct str trouble;        /* why something is not known, for people; "" = it is */
    struct str trouble_reason; /* of that; "" = MonitoringUnreadable */
    struct str rules_trouble;  /* why alert rules are not loaded; "" = they are, or not known */
    bool counts_alerts;        /* Prometheus said which rules it has: */
    uint32_t alerts;           /* those of this Stack */
    bool counts_dashboards;
    uint32_t dashboards;       /* those that are there as they should be */
    struct str traces_trouble; /* why nothing takes its traces; "" = something does, or not known */
    struct str traces_unknown; /* why it is not known whether they arrive; "" = it is */
    bool counts_traces;        /* it is known of which of its releases: */
    uint32_t traced;           /* those with pods that opted in */
    uint32_t arriving;         /* and of those, whose traces arrive */
    struct str untraced;       /* the first of those whose traces do not, by its release's name */
};

enum cluster_state {
    CLUSTER_GONE,         /* Rancher has no such cluster: known, not merely unseen */
    CLUSTER_DISCONNECTED, /* Connected is False, or Ready is not True */
    CLUSTER_NOT_SYNCED,   /* connected, but its Apps and Operations were not listed yet */
    CLUSTER_READ,
    CLUSTER_STALE, /* was read, but has not been heard of for too long to act on it */
};

struct observed_cluster {
    struct str id;
    struct str display_name;
    struct json labels;
    bool targeted; /* else it only still holds, or may hold, releases of this Stack */
    bool local;    /* the cluster that runs Rancher */
    enum cluster_state state;
    struct str message;       /* of all but READ: why */
    int64_t resumed_ms;       /* of READ: what happened before may not show yet; 0 = it shows */
    struct str access_reason; /* nothing may be installed or upgraded there; "" = it may */
    struct str access_message;
    struct str unasked_message;  /* whether it may has to be asked for first; "" = that is known */
    bool listing_briefly;        /* they are in a moment: that is waited for, and not told */
    struct str unlisted_message; /* nothing may be changed there before its operations and
                                  * repositories are listed; "" = they are, or nothing needs them */
    struct str nearest;          /* of GONE: the id that was perhaps meant; "" if none is near */
    struct str backoff_reason; /* Rancher took no request for it, and gets none now; "" = it may */
    struct str backoff_message;
    bool scans_starting;      /* the scanner was not asked yet since this process runs */
    bool scanner_answers;     /* it did when it was asked last */
    struct str scan_reason;   /* why it cannot tell of its scans at present; "" = it can */
    struct str scan_message;  /* the same in words, with the cluster */
    struct str checks_reason; /* the same two of compliance checks alone */
    struct str checks_message;
    struct str rules_reason; /* the same two of rules in NeuVector, if the Stack wants some */
    struct str rules_message;
    struct str left_reason; /* what was made for the Stack there is being deleted; "" = none is */
    struct str left_message;
    struct observed_releases releases;
    struct observed_operations operations;
    struct observed_repos repos;
    struct observed_versions versions;
    struct observed_monitoring monitoring;
    struct observed_leftovers leftovers; /* looked for only where the Stack leaves */
};
LIST_DEFINE(observed_clusters, struct observed_cluster)

/* Another Stack of the namespace: that this one waits for, that those wait for, or that depends on
 * this one. */
struct observed_stack {
    struct str name;
    bool exists;
    bool deleting;
    bool current;               /* its status is about its present spec */
    bool ready;                 /* on all of its clusters */
    bool distant;               /* this one waits for it only through others */
    struct str_list targets;    /* ids of its clusters, sorted, */
    struct str_list pending;    /* those of them where not all of it is as wanted, */
    struct str_list held;       /* and those where something of it is, or may be */
    struct str_list depends_on; /* not ready: names of the Stacks that it waits for */
};
LIST_DEFINE(observed_stacks, struct observed_stack)

struct observed {
    int64_t now_ms;                    /* wall */
    bool clusters_known;               /* the list of clusters was read; else targets are unknown */
    struct observed_clusters clusters; /* by id */
    struct observed_references references; /* that the releases on these clusters read */
    struct observed_stacks stacks;         /* that this one waits for, and further ones */
    struct observed_stacks dependents;  /* of one that is being deleted: those that depend on it */
    const struct stack_status *before;  /* the status as stored: attempts, requests under way */
    const struct problems *problems;    /* what is wrong with the stored Stack; denied > 0: hold */
    struct str rancher_trouble_reason;  /* why Rancher gets no request until somebody helps; */
    struct str rancher_trouble_message; /* "" = it gets them */
    int64_t settle_ms; /* how long a request may take to show in a cluster that is watched */
    uint32_t cluster_operations_max;
};

#endif
