/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h: a child of a workload while it is written. Internal to shared/workload: workload.c has
 * the children, draft.c what they have in common, and their pods. */
#ifndef HERD_WORKLOAD_DRAFT_H
#define HERD_WORKLOAD_DRAFT_H

#include "workload/workload.h"

/* What is rendered, and where to. */
struct rendering {
    struct arena *arena;
    const struct workload *workload;
    const struct kind_observation *seen;
    struct kube_children *children;
};

struct draft {
    struct strbuf text;
    struct json_writer w;
};

void draft_key(struct draft *d, const char *name);
void draft_open(struct draft *d, const char *name); /* a member that is an object */
void draft_close(struct draft *d);
void draft_field(struct draft *d, const char *name, struct str text);
void draft_number(struct draft *d, const char *name, int64_t value);

/* The labels of a pod that never change: selectors are immutable. */
void draft_selector(struct draft *d, const struct rendering *r);
/* "labels": of all objects. */
void draft_labels(struct draft *d, const struct rendering *r);
/* "template": of the pods. */
void draft_pod_template(struct draft *d, const struct rendering *r);

bool workload_has_config(const struct workload *workload);

#endif
