/* SPDX-License-Identifier: Apache-2.0 */
/* rancher_apps.h: releases delivered by Rancher's Apps v2, which runs Helm in a pod on the cluster.
 *
 * The first of the back ends (backend.h). What it asks of a cluster that is no change (versions,
 * logs, repositories) is shared by all Stacks that use the cluster: lookups.h. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_RANCHER_APPS_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_RANCHER_APPS_H

#include "controller/backends/backend.h"

struct rancher_apps;

struct rancher_apps *rancher_apps_create(uint64_t seed);
/* After the connections and whoever acts through it. */
void rancher_apps_free(struct rancher_apps *apps);
AUTO_DEFINE(rancher_apps_free, struct rancher_apps *)
/* Lives as long. */
const struct backend *rancher_apps_backend(const struct rancher_apps *apps);

#endif
