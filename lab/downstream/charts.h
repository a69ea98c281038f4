/* SPDX-License-Identifier: Apache-2.0 */
/* charts.h: chart repositories as Rancher's agent reads them: index.yaml and
 * tarballs, over HTTP. */
#ifndef HERD_LAB_DOWNSTREAM_CHARTS_H
#define HERD_LAB_DOWNSTREAM_CHARTS_H

#include "io/loop.h"
#include "text/json.h"

struct charts;

/* Create and free belong to the loop's thread; the rest to any other. */
struct charts *charts_create(struct loop *loop, struct error *err);
void charts_free(struct charts *charts);
AUTO_DEFINE(charts_free, struct charts *)

/* The index of a repository, as JSON. -1 with what Rancher shows of it. */
int charts_index(struct charts *charts, struct arena *arena, struct str url, bool insecure,
                 struct str *ret_index, struct error *err);
/* A chart's tarball. */
int charts_download(struct charts *charts, struct arena *arena, struct str url, bool insecure,
                    struct str *ret_tarball, struct error *err);

/* Pure: Helm's look-up in an index (helm v3.20 pkg/repo/index.go, IndexFile.Get): the exact text
 * first, else the newest version that it is a constraint for. -1 with Rancher's words. */
int charts_find(struct arena *arena, struct json index, struct str chart, struct str version,
                struct json *ret_entry, struct error *err);
/* Where an entry's tarball is; relative addresses begin at the repository's. */
struct str charts_url(struct arena *arena, struct str repo_url, struct json entry);

#endif
