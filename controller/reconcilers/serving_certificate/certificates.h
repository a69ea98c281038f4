/* SPDX-License-Identifier: Apache-2.0 */
/* certificates.h: Herd's own CA in motion: reads four objects, asks kube/serving_certificate.h,
 * writes at most one of them, and looks again. For clusters without cert-manager. */
#ifndef HERD_CONTROLLER_RECONCILERS_SERVING_CERTIFICATE_CERTIFICATES_H
#define HERD_CONTROLLER_RECONCILERS_SERVING_CERTIFICATE_CERTIFICATES_H

#include "base/metric.h"
#include "controller/reconcilers/serving_certificate/wire.h"
#include "io/log.h"
#include "runtime/recorder.h"

struct certificates;

/* All borrowed. */
struct certificates_options {
    struct loop *loop;
    const struct clock *clock;
    struct kube_client *api; /* sends no change unless the Lease is held */
    struct recorder *recorder;
    struct log *log;
    struct metrics *metrics;
    struct certificate_names names;
    struct serving_policy policy;
    uint64_t seed;
};

/* Paused at first: only one may write. */
struct certificates *certificates_create(const struct certificates_options *options);
/* Before the client and the recorder. */
void certificates_free(struct certificates *certificates);
AUTO_DEFINE(certificates_free, struct certificates *)

/* A pause forgets what was remembered: while it lasted, somebody else may have written. */
void certificates_pause(struct certificates *certificates, bool paused);

#endif
