/* SPDX-License-Identifier: Apache-2.0 */
/* release.h: Helm's releases as Kubernetes keeps them, and Rancher's Apps derived from them. Pure.
 *
 * A revision is the Secret sh.helm.release.v1.<name>.v<revision>: base64 of base64 of gzip of JSON
 * (helm v3.20 pkg/storage/driver). The App of a release shows its newest revision and is owned by
 * that Secret (rancher v2.14 pkg/controllers/dashboard/helm/apps.go). */
#ifndef HERD_LAB_RANCHER_RELEASE_H
#define HERD_LAB_RANCHER_RELEASE_H

#include "text/json.h"

enum release_status {
    RELEASE_UNKNOWN,
    RELEASE_DEPLOYED,
    RELEASE_FAILED,
    RELEASE_PENDING_INSTALL,
    RELEASE_PENDING_UPGRADE,
    RELEASE_PENDING_ROLLBACK,
    RELEASE_UNINSTALLING,
    RELEASE_UNINSTALLED,
    RELEASE_SUPERSEDED,
    RELEASE_STATUS_COUNT
};

struct str release_status_name(enum release_status status);
enum release_status release_status_from(struct str name);
static inline bool release_is_pending(enum release_status status)
{
    return status >= RELEASE_PENDING_INSTALL && status <= RELEASE_PENDING_ROLLBACK;
}

struct release {
    struct str name;
    struct str namespace_;
    int64_t revision;
    enum release_status status;
    int64_t first_deployed_ms;
    int64_t last_deployed_ms;
    int64_t deleted_ms; /* 0 = it is not */
    struct str description;
    struct str notes;
    struct str metadata;     /* Chart.yaml as JSON */
    struct str chart_values; /* values.yaml as JSON */
    struct str config;       /* what the user gave, as JSON */
    struct str manifest;     /* YAML */
    /* Of the Secret. */
    struct str repo;      /* label catalog.cattle.io/cluster-repo-name; may be "" */
    struct str operation; /* annotation of the lab: the Operation that made this revision */
    struct str uid;       /* once stored */
};

#define RELEASE_OPERATION_ANNOTATION "lab.herd.suse.com/operation"
#define RELEASE_REPO_LABEL "catalog.cattle.io/cluster-repo-name"

struct str release_secret_name(struct arena *arena, struct str release, int64_t revision);
/* Back; false if it is not the name of a release's Secret. */
bool release_secret_name_read(struct str secret, struct str *ret_release, int64_t *ret_revision);

/* The JSON that Helm stores. */
struct str release_json(struct arena *arena, const struct release *release);
/* The whole Secret. `now_ms` goes into label createdAt. */
struct str release_secret(struct arena *arena, const struct release *release, int64_t now_ms);
/* A merge patch that brings a stored Secret to what `release` says: data, status, modifiedAt. */
struct str release_secret_patch(struct arena *arena, const struct release *release, int64_t now_ms);
/* Read a Secret back. -1: it holds no release. */
int release_read(struct arena *arena, struct str secret, struct release *ret_release,
                 struct error *err);
/* data.release of a Secret, decoded to JSON. */
int release_data_read(struct arena *arena, struct str data, struct str *ret_json,
                      struct error *err);

/* The App of a release's newest revision, and its status as a merge patch. `stored` is the App that
 * it replaces, absent if there is none. Annotations of others on that stay: Rancher brings its Apps
 * up to date with a three-way apply (pkg/controllers/dashboard/helm/apps.go, wrangler's apply). */
struct str release_app(struct arena *arena, const struct release *release, struct json stored);
struct str release_app_status(struct arena *arena, const struct release *release,
                              int64_t generation);

#endif
