/* SPDX-License-Identifier: Apache-2.0 */
/* keep.h: what is kept of a cluster's objects: the members that a plan reads, one behind the other.
 *
 * There is one App for each release of each cluster, so these bytes are most of what a controller
 * holds in memory. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_KEEP_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_KEEP_H

#include "controller/backends/rancher_apps/wire.h"

/* For informer_options.keep; the context is not used. */
bool keep_app(void *context, struct json app, struct strbuf *kept);
bool keep_operation(void *context, struct json operation, struct strbuf *kept);
bool keep_repo(void *context, struct json repo, struct strbuf *kept);

/* Back from those bytes; strings borrow from them. Namespace and name are not among them: the
 * caller has them from the object's key. */
void kept_app(struct str kept, struct observed_release *ret_release);
void kept_operation(struct str kept, struct observed_operation *ret_operation);
void kept_repo(struct str kept, struct wire_repo *ret_repo);

#endif
