/* SPDX-License-Identifier: Apache-2.0 */
/* rule_store.h: rules of one kind of the simulated NeuVector, by id in a ConfigMap of its
 * namespace, where they can be read and changed; entries with other keys are settings. */
#ifndef HERD_LAB_NEUVECTOR_RULE_STORE_H
#define HERD_LAB_NEUVECTOR_RULE_STORE_H

#include "lab/neuvector/request.h"

/* From there on, ids are those of custom resources. */
enum { NV_CUSTOM_RESOURCES = 110000 };

struct nv_rule_store {
    struct str name;  /* of the ConfigMap */
    int64_t first_id; /* of those that NeuVector gives */
};

/* The ConfigMap's data. */
struct json nv_stored_rules(struct nv *nv, const struct nv_rule_store *store);
/* `json` "" removes the rule. */
void nv_store_rule(struct nv *nv, const struct nv_rule_store *store, int64_t id, struct str json);
bool nv_is_rule_id(struct str key, int64_t *ret_id);
/* Absent if there is none. */
struct json nv_find_rule(struct nv *nv, const struct nv_rule_store *store, int64_t id);
bool nv_rule_exists(struct nv *nv, const struct nv_rule_store *store, int64_t id);
int64_t nv_next_rule_id(struct nv *nv, const struct nv_rule_store *store);
/* Answers with all of them. */
void nv_list_rules(struct nv *nv, const struct nv_rule_store *store);

#endif
