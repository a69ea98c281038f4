/* SPDX-License-Identifier: Apache-2.0 */
/* server_wire.h: what the server of SUSE Observability is asked, and what its answers say. Pure
 * (docs/protocols/observability.md 2 to 4).
 *
 * Every query is limited to clusters by the names that their agents have for them. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_WIRE_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_WIRE_H

#include "controller/backends/observability/wire.h"

extern const struct str server_info_path;
/* Whether it is what SUSE Observability answers there. */
int server_info_read(struct arena *arena, struct str body, struct error *err);

extern const struct str server_stackpacks_path;
/* The names of all clusters that its StackPack for Kubernetes has an instance of. */
int server_clusters_read(struct arena *arena, struct str body, struct str_list *ret_names,
                         struct error *err);

/* Whether a query can name that cluster: letters, digits, dots, dashes and underscores. */
bool server_can_name(struct str cluster);
/* The query for the pods of these clusters, all of which can be named, in these namespaces: whether
 * their targets are up, or how many series there are of what is no target. */
struct str server_samples_path(struct arena *arena, const struct str_list *clusters,
                               const struct str_list *namespaces);
/* The query for how busy the GPUs of these clusters are. */
struct str server_gpus_path(struct arena *arena, const struct str_list *clusters);
/* Add the answer to either to lists that stand in the map, name of a cluster -> struct samples;
 * what is of other clusters is left out. */
int server_samples_read(struct arena *arena, struct str body, struct map *ret_samples,
                        struct error *err);
int server_gpus_read(struct arena *arena, struct str body, struct map *ret_samples,
                     struct error *err);

#endif
