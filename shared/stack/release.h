/* release.h: what one chart of a Stack is to be on one cluster, and the stamp
 * that says so there. */
#ifndef HERD_STACK_RELEASE_H
#define HERD_STACK_RELEASE_H

#include "base/limits.h"
#include "stack/stack.h"

/* The stamp: annotations that Rancher writes into the packaged chart's metadata and gives back as
 * App.spec.chart.metadata.annotations (contracts/rancher.md 5.2). */
#define STAMP_STACK "herd.suse.com/stack"           /* namespace/name */
#define STAMP_STACK_UID "herd.suse.com/stack-uid"
#define STAMP_CHART "herd.suse.com/chart"           /* charts[].name */
#define STAMP_DIGEST "herd.suse.com/spec-hash"      /* of what was asked for: see below */
#define STAMP_DEPENDS_ON "herd.suse.com/depends-on" /* names, by ',': for teardown in order */

/* The stamp of a Helm operation: `helm --description`, which its Operation shows in status.command
 * and `helm history` beside the revision that it made. */
struct str release_description(struct arena *arena, struct str stack, struct str stack_uid);
/* The Stack's uid in such a description; "" in any other. */
struct str release_description_uid(struct str description);

/* A release's digest, "sha256:" and 64 hex digits, tells "as asked for" from all else.
 *
 * Who may read a release's annotations need not be allowed to read Secrets, and a hash over a short
 * password is found by trying. So no content of a Secret goes into a digest, but its version: uid
 * and resourceVersion, which change whenever the content does. Such a digest begins with
 * DIGEST_OF_SECRETS. It needs no key to be kept, and a restart finds it again. The price: a change
 * of a Secret that is none of its content (a label, a restore from a backup) upgrades the releases
 * that use it once, to the same values. */
#define DIGEST_OF_SECRETS "sha256-refs:"

/* What a release's values may be at the most, in bytes of JSON; the rest of an action's body is for
 * what stands around them. */
enum { RELEASE_VALUES_BYTES_MAX = LIMIT_ACTION_BODY - 2048 };

/* A chart's values before overrides. */
struct base_values {
    struct str json;            /* all merged: references in order, then inline */
    struct str config_json;     /* what its ConfigMaps alone give; needed if there are Secrets */
    struct str secret_versions; /* which Secrets in which versions; "" = none are part of it */
};

struct desired_release {
    uint32_t chart;          /* index in spec.charts */
    struct str chart_name;   /* charts[].name */
    struct str chart_in_repo;
    struct str repo;         /* without trailing slash */
    struct str version;      /* as asked, overrides applied */
    struct str namespace_;
    struct str release_name;
    struct str values;       /* compact JSON, keys sorted, overrides applied; "{}" if none */
    struct str digest;
    struct str secret_versions; /* as in struct base_values */
    struct str depends_on;   /* for the stamp */
    int64_t timeout_ms;
    bool wait;
    bool skip;               /* an override leaves it out on this cluster */
};

/* What `chart` is to be on a cluster with `labels` and id `cluster`: overrides laid over in order.
 * -1: a values text that cannot be read, or ERROR_TOO_LARGE: more than Rancher takes. */
int release_desire(struct arena *arena, const struct stack *stack, uint32_t chart,
                   struct str cluster_id, struct json cluster_labels,
                   const struct base_values *base, struct desired_release *ret_desired,
                   struct error *err);

/* The same in two steps, for a plan over many clusters: which overrides apply to a cluster (indexes
 * into spec.overrides, in order), and what a chart is to be where just those apply. */
struct override_matcher;
struct override_matcher *override_matcher_new(struct arena *arena, const struct stack *stack);
struct u32_list override_matcher_on(const struct override_matcher *matcher, struct arena *arena,
                                    struct str cluster_id, struct json cluster_labels);
/* Whether any of these overrides says something about the chart. */
bool release_is_overridden(const struct stack *stack, uint32_t chart,
                           const struct u32_list *overrides);
int release_desire_with(struct arena *arena, const struct stack *stack, uint32_t chart,
                        const struct u32_list *overrides, const struct base_values *base,
                        struct desired_release *ret_desired, struct error *err);

/* A repository's URL as it is compared: without trailing slashes. */
struct str release_repo_url(struct str repo);

/* The chart's values before overrides: the references' texts (YAML or JSON maps, in order) and then
 * inline, by Helm's rule. -1: ERROR_INVALID naming the reference whose text is not a map. */
struct values_source {
    struct str name; /* for the message: "ConfigMap default/gpu-operator-values" */
    struct str text;
    bool secret;     /* messages tell nothing of the text but where it is wrong */
};
int release_values(struct arena *arena, const struct values_source *sources, uint32_t count,
                   struct json inline_values, struct str *ret_values, struct error *err);

/* Name of the ClusterRepo for a repository: "herd-" and 10 hex digits, equal for equal URLs. */
struct str release_repo_name(struct arena *arena, struct str repo_url);

#endif
