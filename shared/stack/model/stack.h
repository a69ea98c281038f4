/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h: a Stack (herd.suse.com/v1) as a value.
 *
 * Decoded from JSON by stack/decode.h through the table fields.def. All strings and JSON views
 * borrow from the decoded document and its arena. A Stack is never changed in place: defaulting
 * gives a new one. `given` has one bit for each row of the struct's field table: set if the
 * document has that field (bit i = i-th row of that struct in fields.def). */
#ifndef HERD_STACK_STACK_H
#define HERD_STACK_STACK_H

#include "base/list.h"
#include "kube/meta.h"
#include "kube/resource.h"
#include "kube/selector.h"
#include "text/json.h"
#include "text/trace.h"

#define STACK_GROUP "herd.suse.com"
/* Where the docs of this version are, below /docs/. */
#define STACK_HOMEPAGE "https://herd.suse.com"
#define STACK_VERSION "v1"
#define STACK_FINALIZER "herd.suse.com/teardown"
/* Who changed the spec last, as admission records it (author.h). */
#define STACK_LAST_APPLIED_BY "herd.suse.com/last-applied-by"
#define STACK_LAST_APPLIED_BY_GROUPS "herd.suse.com/last-applied-by-groups"
/* The trace that the last change of the spec belongs to, as W3C's traceparent; admission writes it
 * where tracing is on. */
#define STACK_TRACEPARENT "herd.suse.com/traceparent"
/* Of Events about a Stack: the trace. */
#define STACK_TRACE_ID "herd.suse.com/trace-id"
/* Clusters that a Stack must forget, ids between commas or "*": nothing is removed there, and
 * nothing is waited for. The way to release a Stack that waits for a cluster that stays away. */
#define STACK_ABANDON_CLUSTERS "herd.suse.com/abandon-clusters"
/* The token that the status shows while a large removal is held back. */
#define STACK_CONFIRM_REMOVAL "herd.suse.com/confirm-removal"
#define STACK_TOKEN_LEN 16 /* of its value: hexadecimal digits */
/* "WAVE@CHANGE", several between commas: that wave of that change (status.rollout) may begin. */
#define STACK_APPROVE "herd.suse.com/approve"
/* Any new value: the failures so far count no more; what failed is tried again now. */
#define STACK_RESUME "herd.suse.com/resume"
#define STACK_RETRY "herd.suse.com/retry"
/* "NAMESPACE/RELEASE" or "CLUSTER:NAMESPACE/RELEASE", several between commas: a release that is
 * there already, and that the Stack names too, becomes the Stack's. */
#define STACK_ADOPT "herd.suse.com/adopt"
/* Whether such an annotation names a release on a cluster; linear in its length. */
bool stack_adopts(const struct kube_meta *meta, struct str cluster_id, struct str namespace_,
                  struct str release_name);
extern const struct kube_resource stack_resource;

/* Unset stays apart from both, so that a default can be told from a choice. */
enum toggle { TOGGLE_UNSET, TOGGLE_ENABLED, TOGGLE_DISABLED };
enum policy_mode {
    POLICY_MODE_UNSET,
    POLICY_MODE_DISCOVER,
    POLICY_MODE_MONITOR,
    POLICY_MODE_PROTECT
};
enum admission_mode {
    ADMISSION_MODE_UNSET, /* of a Stack that is older than the field: as disabled */
    ADMISSION_MODE_DISABLED,
    ADMISSION_MODE_MONITOR,
    ADMISSION_MODE_PROTECT
};
enum drift_mode { DRIFT_UNSET, DRIFT_DETECT, DRIFT_CORRECT, DRIFT_IGNORE };
enum on_failure { ON_FAILURE_UNSET, ON_FAILURE_RETRY, ON_FAILURE_STOP };
enum approval { APPROVAL_UNSET, APPROVAL_AUTOMATIC, APPROVAL_MANUAL };
enum wave_scans { WAVE_SCANS_UNSET, WAVE_SCANS_IGNORED, WAVE_SCANS_REQUIRED };
enum deletion_policy { DELETION_UNSET, DELETION_DELETE, DELETION_ORPHAN };

struct name_ref {
    uint64_t given;
    struct str name;
    struct str key; /* which data key holds the values; "" = values.yaml */
    bool optional;  /* absent is fine */
};
LIST_DEFINE(name_refs, struct name_ref)

struct match_expression {
    uint64_t given;
    struct str key;
    struct str op; /* In, NotIn, Exists, DoesNotExist */
    struct str_list values;
};
LIST_DEFINE(match_expressions, struct match_expression)

struct label_selector {
    uint64_t given;
    struct json match_labels; /* object of strings */
    struct match_expressions match_expressions;
};

struct stack_targets {
    uint64_t given;
    struct label_selector selector;
    struct str_list cluster_ids;
};

struct chart_values {
    uint64_t given;
    struct name_refs config_map_refs;
    struct name_refs secret_refs;
    struct json inline_; /* object, or absent */
};

struct chart {
    uint64_t given;
    struct str name;
    struct str chart; /* in its repo; "" = name */
    struct str repo;
    struct str version;
    struct str namespace_;   /* "" until defaulted */
    struct str release_name; /* "" until defaulted */
    struct chart_values values;
    struct str_list depends_on;
    bool wait;
    struct str timeout; /* Go duration */
};
LIST_DEFINE(charts, struct chart)

struct chart_override {
    uint64_t given;
    struct str name;            /* of a chart of this Stack */
    struct str version;         /* "" = the chart's */
    struct chart_values values; /* laid over the chart's */
    bool skip;
};
LIST_DEFINE(chart_overrides, struct chart_override)

struct stack_override {
    uint64_t given;
    struct label_selector selector;
    struct str_list cluster_ids;
    struct chart_overrides charts;
};
LIST_DEFINE(stack_overrides, struct stack_override)

struct thresholds {
    uint64_t given;
    int64_t critical; /* most allowed; -1 = no limit */
    int64_t high;
};

/* What NeuVector does about security events and vulnerabilities. */
struct security_response {
    uint64_t given;
    struct str_list webhooks; /* NeuVector's names; none = nobody is notified */
    enum toggle quarantine;   /* unset: as disabled */
};

struct security_profile {
    uint64_t given;
    enum policy_mode policy_mode;
    struct thresholds thresholds;
    enum toggle compliance;
    enum admission_mode admission;
    struct security_response response;
};

/* A dashboard that Herd has; 0 = it has none of that uid. */
enum dashboard {
    DASHBOARD_NONE,
    DASHBOARD_AI_WORKLOADS,
    DASHBOARD_GPU,
    DASHBOARD_INFERENCE,
    DASHBOARD_PLATFORM,
    DASHBOARD_VECTOR_DB,
    DASHBOARDS
};

struct tracing {
    uint64_t given;
    bool enabled;
    struct str sampling_ratio; /* decimal text, 0 to 1 */
};

struct observability_profile {
    uint64_t given;
    struct str scrape_interval; /* Go duration */
    struct tracing tracing;
    struct str_list dashboards;
    enum toggle alerts;
};

struct wave {
    uint64_t given;
    struct str name;
    struct label_selector selector;
    struct str pause; /* Go duration after the wave is Deployed */
    enum approval approval;
    enum wave_scans scans; /* whether later waves wait for them */
};
LIST_DEFINE(waves, struct wave)

struct rollout {
    uint64_t given;
    int64_t max_concurrent_clusters; /* 0 = all */
    int64_t max_failures;            /* clusters; -1 = no limit */
    struct str max_unavailable;      /* stack/share.h: of the target clusters */
    struct str removal_delay;        /* Go duration */
    struct str max_removals;         /* stack/share.h: of the Stack's releases */
    struct waves waves;
};

struct retry {
    uint64_t given;
    int64_t limit;      /* tries after the first; -1 = no limit */
    struct str backoff; /* Go duration of the first wait */
};

struct stack_spec {
    uint64_t given;
    struct str env;
    enum toggle security;
    enum toggle observability;
    struct security_profile security_profile;
    struct observability_profile observability_profile;
    struct stack_targets targets;
    struct charts charts;
    struct name_refs depends_on; /* Stacks of the same namespace */
    struct stack_overrides overrides;
    struct rollout rollout;
    enum drift_mode drift;
    struct retry retry;
    enum on_failure on_failure;
    enum deletion_policy deletion_policy;
    bool paused;
};

struct stack {
    struct kube_meta meta;
    struct stack_spec spec;
    struct json spec_json;   /* as it came */
    bool spec_is_stored;     /* as it is stored: no default is added to the document */
    struct json status_json; /* as it came, or absent */
};

/* Whether row `row` of the struct's field table stood in the document. */
#define STACK_GIVEN(of, row) (((of)->given >> (row)) & 1)

/* Whether anything is said in `values`. */
static inline bool chart_values_given(const struct chart_values *values)
{
    return values->config_map_refs.count || values->secret_refs.count ||
           json_is(values->inline_, JSON_OBJECT);
}

/* The chart's name in its repo. */
static inline struct str chart_in_repo(const struct chart *chart)
{
    return chart->chart.len ? chart->chart : chart->name;
}

/* The selector as kube/selector.h matches it. Parts that are not valid are
 * left out: validate says so. */
struct selector label_selector_compile(struct arena *arena, const struct label_selector *selector);
bool label_selector_is_empty(const struct label_selector *selector);

/* What STACK_TRACEPARENT says; false: nothing, or nothing that can be read. */
bool stack_trace(const struct kube_meta *meta, struct trace_context *ret_context);

/* Namespaces of Kubernetes, Rancher and Herd itself. */
bool stack_is_protected_namespace(struct str namespace_);

#endif
