/* SPDX-License-Identifier: Apache-2.0 */
/* admission.h: the rules of the simulated NeuVector's admission control, by id in the ConfigMap
 * neuvector-admission of its namespace, where they can be read and changed; its key `enabled` says
 * whether admission control is switched on ("true"), and it is not at first. */
#ifndef HERD_LAB_NEUVECTOR_ADMISSION_H
#define HERD_LAB_NEUVECTOR_ADMISSION_H

#include "lab/neuvector/request.h"

/* False: the path is not of admission control. */
bool nv_handle_admission(struct nv *nv);

#endif
