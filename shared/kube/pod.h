/* SPDX-License-Identifier: Apache-2.0 */
/* pod.h: what pods tell of themselves. Pure. */
#ifndef HERD_KUBE_POD_H
#define HERD_KUBE_POD_H

#include "text/json.h"

/* Why it does not become ready, such as "ImagePullBackOff: Back-off pulling image \"x\""; "" = it
 * does not say. Not shortened. In the arena, or of the pod. */
struct str pod_cause(struct arena *arena, struct json pod);

#endif
