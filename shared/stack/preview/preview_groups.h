/* SPDX-License-Identifier: Apache-2.0 */
/* preview_groups.h: the clusters of a preview, and those among them that are alike: they have the
 * same releases in the same state, and the same overrides apply to them, before and now. Internal
 * to the preview. */
#ifndef HERD_STACK_PREVIEW_GROUPS_H
#define HERD_STACK_PREVIEW_GROUPS_H

#include "stack/preview/preview_parts.h"

struct group {
    struct u32_list before; /* overrides that applied, */
    struct u32_list after;  /* and that apply now */
    struct u32_list clusters;
    struct u32_list entries; /* of the status, on the first of the clusters: what is there */
    bool unlisted;           /* more may be there, which the status leaves out */
};
LIST_DEFINE(groups, struct group)

/* Fills in preview.clusters, from what is chosen and what the status says. */
void preview_find_clusters(struct preview *p);
/* Of the status, by cluster: the entries of what is there. */
struct u32_list *preview_sort_entries(const struct preview *p);
/* Of the clusters that stay; if the Stack is nowhere yet, of all. */
struct groups preview_group_clusters(struct preview *p, const struct u32_list *entries);

#endif
