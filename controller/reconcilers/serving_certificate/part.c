/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: the row of the webhook's own CA and certificate. */
#include "controller/parts.h"
#include "controller/reconcilers/serving_certificate/certificates.h"

static void *start(void *context, uint64_t seed)
{
    const struct controller *controller = context;
    const struct options *options = controller->options;

    if (!options->own_certificates)
        return NULL;
    return certificates_create(&(struct certificates_options){
        .loop = controller->loop,
        .clock = system_clock(),
        .api = controller->connections.api,
        .recorder = controller->connections.recorder,
        .log = controller->log,
        .metrics = controller->metrics,
        .names = options->certificate_names,
        .policy = options->certificate_policy,
        .seed = seed,
    });
}

static void free_certificates(void *certificates)
{
    certificates_free(certificates);
}

static void pause_certificates(void *certificates, bool paused)
{
    certificates_pause(certificates, paused);
}

const struct manager_part serving_certificate_part = {
    .name = "serving_certificate",
    .start = start,
    .free = free_certificates,
    .pause = pause_certificates,
};
