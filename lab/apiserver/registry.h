/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h: which kinds each cluster serves now.
 *
 * A `struct catalog` is a snapshot: the built-in kinds and the definitions of one cluster. A
 * request holds one while it lasts; a definition that changes meanwhile makes a new catalog. */
#ifndef HERD_LAB_APISERVER_REGISTRY_H
#define HERD_LAB_APISERVER_REGISTRY_H

#include "lab/apiserver/definition.h"

struct registry;
struct catalog;

struct registry *registry_create(const struct builtin *builtin);
void registry_free(struct registry *registry);
AUTO_DEFINE(registry_free, struct registry *)

/* Begin to serve a cluster; false if it was served already. */
bool registry_add_cluster(struct registry *registry, struct str cluster);
/* Take over one reference of a definition, in place of one for the same group and plural. */
void registry_put(struct registry *registry, struct str cluster, struct definition *definition);
void registry_remove(struct registry *registry, struct str cluster, struct str group,
                     struct str plural);
/* A definition that some cluster was given from the same text, to share it; NULL if none was. */
struct definition *registry_shared(struct registry *registry, struct str text);
void registry_share(struct registry *registry, struct str text, struct definition *definition);

/* A reference, or NULL if the cluster is not served. */
struct catalog *registry_catalog(struct registry *registry, struct str cluster);
void catalog_unref(struct catalog *catalog);
AUTO_DEFINE(catalog_unref, struct catalog *)

/* All kinds, built-in ones first. */
uint32_t catalog_count(const struct catalog *catalog);
const struct kind *catalog_at(const struct catalog *catalog, uint32_t index);
/* By plural, in a version ("" = any); NULL if not served. */
const struct kind *catalog_find(const struct catalog *catalog, struct str group, struct str version,
                                struct str plural);
/* By kind. */
const struct kind *catalog_find_kind(const struct catalog *catalog, struct str group,
                                     struct str version, struct str kind);
/* Grows with each change of the cluster's definitions: for cache keys of discovery. */
uint64_t catalog_generation(const struct catalog *catalog);

#endif
