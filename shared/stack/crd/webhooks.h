/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.h: how API servers call the webhook for workloads, from the table of their kinds. */
#ifndef HERD_STACK_CRD_WEBHOOKS_H
#define HERD_STACK_CRD_WEBHOOKS_H

#include "base/str.h"

/* manifests/workloads/webhook/configuration.yaml. A kind whose definition is not installed is in it
 * too, and does nothing there. */
void webhooks_write(struct strbuf *out);

#endif
