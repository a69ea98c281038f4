/* SPDX-License-Identifier: Apache-2.0 */
/* informer_keep.h: what an informer keeps of an object when nobody says. Internal to runtime/. */
#ifndef HERD_RUNTIME_INFORMER_KEEP_H
#define HERD_RUNTIME_INFORMER_KEEP_H

#include "kube/resource.h"
#include "text/json.h"

/* The object without metadata.managedFields and the last-applied annotation, which are half of many
 * objects and of use to nobody who reads. Items of a list name no apiVersion and kind: they are
 * written in, so that an object reads the same whichever way it came. Always true. */
bool informer_keep_default(const struct kube_resource *resource, struct json object,
                           struct strbuf *kept);

#endif
