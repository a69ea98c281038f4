/* SPDX-License-Identifier: Apache-2.0 */
/* clusters.h: the clusters that the ClusterInventories of files tell of. Pure. */
#ifndef HERD_WEBHOOK_OFFLINE_CLUSTERS_H
#define HERD_WEBHOOK_OFFLINE_CLUSTERS_H

#include "stack/model/facts.h"
#include "webhook/offline/input.h"

/* All of them and Rancher's own, `local`, in the arena; or -1, and in `ret_wrong` a line for each
 * thing that is wrong with the files, with its place first. Objects of other kinds are passed
 * over. */
int clusters_load(struct arena *arena, const struct input_files *files,
                  struct fact_clusters *ret_clusters, struct str_list *ret_wrong);

#endif
