/* SPDX-License-Identifier: Apache-2.0 */
/* sanitize.h: JSON of an API server, made fit for the strict reader.
 *
 * Kubernetes stores "\u0000" in texts (a ConfigMap's value may hold it), the strict reader rejects
 * it. One such object, put there by anybody, must not blind an informer to all the others. */
#ifndef HERD_KUBE_SANITIZE_H
#define HERD_KUBE_SANITIZE_H

#include "text/json.h"

/* json_read; if that fails and there are escaped NULs, once more with U+FFFD in their place, in a
 * copy in the arena. */
int kube_json_read(struct arena *arena, struct str bytes, const struct json_limits *limits,
                   struct json *ret_root, struct error *err);

#endif
