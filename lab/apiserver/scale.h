/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h: autoscaling/v1 Scale as a view of an object that has replicas, pure.
 * Source: k8s.io/api/autoscaling/v1; apiextensions-apiserver
 * pkg/registry/customresource/etcd.go. */
#ifndef HERD_LAB_APISERVER_SCALE_H
#define HERD_LAB_APISERVER_SCALE_H

#include "lab/apiserver/kind.h"

/* The Scale of an object; -1 and why it has none. */
int scale_of(struct arena *arena, const struct kind *kind, const struct value *object,
             struct value **ret_scale, struct error *err);
/* Set the Scale's replicas in `object`. -1: it says no whole number from 0 on. */
int scale_put(struct arena *arena, const struct kind *kind, const struct value *scale,
              struct value *object, struct error *err);

#endif
