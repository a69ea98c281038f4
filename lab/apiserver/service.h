/* SPDX-License-Identifier: Apache-2.0 */
/* service.h: the addresses that the API server gives to Services.
 * Source: k8s.io/kubernetes/pkg/registry/core/service (strategy.go, storage/alloc.go). */
#ifndef HERD_LAB_APISERVER_SERVICE_H
#define HERD_LAB_APISERVER_SERVICE_H

#include "lab/apiserver/object.h"

/* 10.43.0.0/16, as on RKE2 and K3s. The first 256 are left for those who choose one themselves. */
bool service_is_given(struct str address); /* is it of that range? Nothing listens there. */
struct str service_address_at(struct arena *arena, uint32_t index);
enum { SERVICE_ADDRESSES = 65536 - 256 - 1 };

/* Does its type take an address, and has it none? */
bool service_wants_address(const struct value *service);
/* Set clusterIP and what goes with it; "None" and an address of the user's own stay. */
void service_put_address(struct arena *arena, struct value *service, struct str address);
/* What an update leaves out is kept; an address cannot change. */
void service_keep_address(struct arena *arena, const struct value *old, struct value *service);
void service_validate(struct arena *arena, const struct value *old, const struct value *service,
                      struct findings *found);

#endif
