/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue.h: which charts there are in the simulated world, and which of them a request means.
 * Pure; the tables are catalogue.def. */
#ifndef HERD_LAB_RANCHER_CATALOGUE_H
#define HERD_LAB_RANCHER_CATALOGUE_H

#include "base/error.h"

enum repo_answer { REPO_INDEX, REPO_HTML, REPO_DOWN, REPO_EMPTY, REPO_DENIED };

struct catalogue_repo {
    struct str id;
    struct str url;
    enum repo_answer answer;
    bool old; /* its index is one of before each chart's newest version was published */
};

struct catalogue_chart {
    struct str repo;
    struct str name;
    struct str version;
    struct str app_version;
    struct str image;
    struct str replicas_key;
    int64_t replicas;
    int64_t install_ms;
    struct str fault;
};

/* By spec.url of a ClusterRepo, a trailing slash aside; NULL: no such host in this world. */
const struct catalogue_repo *catalogue_repo_of(struct str url);
uint32_t catalogue_chart_count(void);
const struct catalogue_chart *catalogue_chart_at(uint32_t index);

/* As Helm finds a chart in an index: the exact text first, else the newest that the version meets
 * as a constraint, "" the newest release. -1 with the text that Rancher shows. */
int catalogue_find(struct arena *arena, const struct catalogue_repo *repo, struct str chart,
                   struct str version, const struct catalogue_chart **ret_chart, struct error *err);

/* The repository's index as JSON, with `created` times that do not change. */
struct str catalogue_index(struct arena *arena, const struct catalogue_repo *repo);
/* Chart.yaml as JSON: metadata of releases, Apps and ?link=info. `annotations` "" or an object. */
struct str catalogue_metadata(struct arena *arena, const struct catalogue_chart *chart,
                              struct str annotations);
/* The chart's own values.yaml as JSON. */
struct str catalogue_values(struct arena *arena, const struct catalogue_chart *chart);

/* In Rancher's words, why a repository with such an answer has no index; "" for REPO_INDEX. */
struct str catalogue_repo_failure(struct arena *arena, enum repo_answer answer, struct str url);

#endif
