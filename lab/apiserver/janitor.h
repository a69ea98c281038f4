/* janitor.h: what the API server does by itself: empty terminating namespaces, remove the objects
 * of a definition that goes, forget old Events and old changes. One thread. */
#ifndef HERD_LAB_APISERVER_JANITOR_H
#define HERD_LAB_APISERVER_JANITOR_H

#include "lab/apiserver/request.h"

#define JANITOR_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/* Looks through all clusters for what the last run left unfinished. */
struct janitor *janitor_create(struct api *api);
void janitor_free(struct janitor *janitor);
/* This object changed and may be terminating. Cheap for kinds that are none of the janitor's; NULL
 * is no janitor. */
void janitor_look(struct janitor *janitor, struct str cluster, const struct kind *kind,
                  struct str name);
/* There is work for the collector, which the janitor's thread does. NULL is no janitor. */
void janitor_wake(struct janitor *janitor);

#endif
