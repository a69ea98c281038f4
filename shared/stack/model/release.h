/* SPDX-License-Identifier: Apache-2.0 */
/* release.h: what one chart of a Stack is to be on one cluster, and the stamp
 * that says so there. */
#ifndef HERD_STACK_RELEASE_H
#define HERD_STACK_RELEASE_H

#include "stack/model/limits.h"
#include "stack/model/stack.h"
#include "stack/model/template.h"

/* The stamp: annotations that Rancher writes into the packaged chart's metadata and gives back as
 * App.spec.chart.metadata.annotations (docs/protocols/rancher.md 5.2). It tells who made the newest
 * revision: one that somebody made by hand has none.
 *
 * The mark: annotations of the App itself, written once a release is deployed. Rancher keeps what
 * others annotate when it brings an App up to date (rancher pkg/controllers/dashboard/helm/apps.go
 * applies three-way, wrangler pkg/apply/desiredset_compare.go), so a mark tells whose the release
 * is through whatever others do to it, and goes with it. A release is the Stack's that its mark
 * names; while it has none, the Stack's that its stamp names; and nobody else's. */
#define STAMP_STACK "herd.suse.com/stack" /* namespace/name */
#define STAMP_STACK_UID "herd.suse.com/stack-uid"
#define STAMP_CHART "herd.suse.com/chart"           /* charts[].name */
#define STAMP_DIGEST "herd.suse.com/spec-hash"      /* of what was asked for: see below */
#define STAMP_DEPENDS_ON "herd.suse.com/depends-on" /* names, by ',': for teardown in order */
#define STAMP_REVISION "herd.suse.com/revision"     /* that it was to make: no rollback has it */
#define STAMP_REPLACES "herd.suse.com/replaces"     /* namespace/name of the one before */
/* Of the mark, beside all of these but STAMP_REVISION: */
#define MARK_CORRECTIONS "herd.suse.com/corrections" /* of drift, in a row */
#define MARK_REVISION "herd.suse.com/marked-revision"
#define MARK_TIME "herd.suse.com/marked-at"

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

struct releases;
struct release_form;

/* A chart as it is to be on a cluster, made by releases.h. */
struct desired_release {
    uint32_t chart;        /* index in spec.charts */
    struct str chart_name; /* charts[].name */
    struct str chart_in_repo;
    struct str repo;    /* without trailing slash */
    struct str version; /* as asked, overrides applied */
    struct str namespace_;
    struct str release_name;
    struct str values; /* "": the cluster's own; releases_values makes them */
    struct str digest;
    struct str secret_versions; /* "NAME/KEY=UID/RESOURCEVERSION\n" of each Secret; "": none */
    struct str depends_on;      /* for the stamp */
    int64_t timeout_ms;
    bool wait;
    /* What the values are made of. */
    struct releases *releases;
    struct release_form *form;
    struct template_facts cluster;
};

/* Which overrides apply to a cluster: indexes into spec.overrides, in order. */
struct override_matcher;
struct override_matcher *override_matcher_new(struct arena *arena, const struct stack *stack);
struct u32_list override_matcher_on(const struct override_matcher *matcher, struct arena *arena,
                                    struct str cluster_id, struct json cluster_labels);
/* What the stamp and the mark say of a chart's dependsOn. */
struct str release_depends_on(struct arena *arena, const struct chart *chart);

/* A repository's URL as it is compared: without trailing slashes. */
struct str release_repo_url(struct str repo);

/* Name of the ClusterRepo for a repository: "herd-" and 10 hex digits, equal for equal URLs. */
struct str release_repo_name(struct arena *arena, struct str repo_url);
/* Whether a ClusterRepo has such a name. */
bool release_repo_is_ours(struct str name);

#endif
