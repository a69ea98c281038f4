/* SPDX-License-Identifier: Apache-2.0 */
/* response.h: the response rules of the simulated NeuVector, in the ConfigMap neuvector-response of
 * its namespace; its key `webhooks` has the names of the webhooks that are defined, with ','
 * between them. */
#ifndef HERD_LAB_NEUVECTOR_RESPONSE_H
#define HERD_LAB_NEUVECTOR_RESPONSE_H

#include "lab/neuvector/request.h"

/* False: the path is not of response rules. */
bool nv_handle_response(struct nv *nv);

#endif
