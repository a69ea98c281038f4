/* SPDX-License-Identifier: Apache-2.0 */
/* column_cells.h: functions for columns.def: each puts one cell. */
#ifndef HERD_LAB_APISERVER_COLUMN_CELLS_H
#define HERD_LAB_APISERVER_COLUMN_CELLS_H

#include "lab/apiserver/columns.h"

void cell_age(struct cells *c, struct json object);
void cell_data_count(struct cells *c, struct json object);
void cell_secret_count(struct cells *c, struct json object);
void cell_webhook_count(struct cells *c, struct json object);
void cell_event_first_seen(struct cells *c, struct json object);
void cell_event_last_seen(struct cells *c, struct json object);
void cell_event_object(struct cells *c, struct json object);
void cell_event_source(struct cells *c, struct json object);
void cell_event_count(struct cells *c, struct json object);
void cell_node_status(struct cells *c, struct json object);
void cell_node_roles(struct cells *c, struct json object);
void cell_node_internal(struct cells *c, struct json object);
void cell_node_external(struct cells *c, struct json object);
void cell_pod_ready(struct cells *c, struct json object);
void cell_pod_status(struct cells *c, struct json object);
void cell_pod_restarts(struct cells *c, struct json object);
void cell_service_ports(struct cells *c, struct json object);
void cell_service_external(struct cells *c, struct json object);
void cell_selector(struct cells *c, struct json object);
void cell_deployment_selector(struct cells *c, struct json object);
void cell_deployment_ready(struct cells *c, struct json object);
void cell_deployment_updated(struct cells *c, struct json object);
void cell_deployment_available(struct cells *c, struct json object);
void cell_containers(struct cells *c, struct json object);
void cell_images(struct cells *c, struct json object);
void cell_role(struct cells *c, struct json object);
void cell_false(struct cells *c, struct json object);
void cell_node_selector(struct cells *c, struct json object);
void cell_pod_selector(struct cells *c, struct json object);
void cell_missing_level(struct cells *c, struct json object);
void cell_validation_count(struct cells *c, struct json object);
void cell_param_kind(struct cells *c, struct json object);
void cell_param_ref(struct cells *c, struct json object);

#endif
