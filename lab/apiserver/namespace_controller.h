/* SPDX-License-Identifier: Apache-2.0 */
/* namespace_controller.h: what the API server does by itself: empty terminating namespaces, remove
 * the objects of a CRD that is deleted, forget old Events and old changes. One thread. */
#ifndef HERD_LAB_APISERVER_NAMESPACE_CONTROLLER_H
#define HERD_LAB_APISERVER_NAMESPACE_CONTROLLER_H

#include "lab/apiserver/request.h"

#define CUSTOM_RESOURCE_CLEANUP_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/* Looks through all clusters for what the last run left unfinished. */
struct namespace_controller *namespace_controller_create(struct api *api);
void namespace_controller_free(struct namespace_controller *controller);
/* This object changed and may be terminating. Cheap for kinds that do not concern the controller;
 * does nothing if it is NULL. */
void namespace_controller_check(struct namespace_controller *controller, struct str cluster,
                                const struct kind *kind, struct str name);
/* There is work for the garbage collector, which runs in this controller's thread. Does nothing if
 * it is NULL. */
void namespace_controller_wake(struct namespace_controller *controller);

#endif
