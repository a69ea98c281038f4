/* SPDX-License-Identifier: Apache-2.0 */
/* faults_live.h: the rules in force: those of the simulation file, and ConfigMap herd-lab-faults in
 * namespace default of the management cluster, whose every key is one rule. */
#ifndef HERD_LAB_RANCHER_FAULTS_LIVE_H
#define HERD_LAB_RANCHER_FAULTS_LIVE_H

#include "kube/resource.h"
#include "lab/apiserver/finding.h"
#include "lab/rancher/faults.h"

struct simulation;

/* Is that the ConfigMap? */
bool faults_are_of(struct str cluster, const struct kube_resource *resource, struct str namespace_,
                   struct str name);
/* For api_on_check: of that ConfigMap, each rule that cannot be read. */
void faults_check(void *context, struct str cluster, const struct kube_resource *resource,
                  const struct value *object, struct findings *found);
/* Read all rules anew. */
void faults_load(struct simulation *simulation);

/* A copy of the rule that strikes, or false. */
bool faults_strike(struct simulation *simulation, enum fault_id id, const struct fault_place *place,
                   struct fault_rule *ret_rule);
bool faults_strike_stage(struct simulation *simulation, enum fault_stage stage,
                         const struct fault_place *place, struct fault_rule *ret_rule);
bool faults_stand(struct simulation *simulation, enum fault_id id, struct str cluster);

#endif
