/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h: the life of a serving webhook: start, follow the certificate, drain, end. */
#ifndef HERD_WEBHOOK_SERVE_H
#define HERD_WEBHOOK_SERVE_H

#include "io/log.h"
#include "webhook/options.h"

/* Serve until a signal ends it (signal_setup was called) and what was in flight is answered. 0; or
 * -1 if it could not begin: what the flags name cannot be used. */
int webhook_serve(const struct webhook_options *options, struct log *log, struct error *err);

#endif
