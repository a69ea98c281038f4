/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: the flags of `herd-webhook serve`, read and checked: all that can be rejected without
 * touching the world is rejected here, before anything starts. */
#ifndef HERD_WEBHOOK_OPTIONS_H
#define HERD_WEBHOOK_OPTIONS_H

#include "io/program.h"
#include "runtime/kubeconfig.h"
#include "runtime/span_exporter.h"
#include "stack/model/configuration.h"
#include "webhook/sandbox.h"

extern const struct program webhook_program;

struct webhook_options {
    bool version; /* print it and end; nothing else is read then */
    const char *listen_host;
    uint16_t listen_port;
    const char *listen_from; /* whom to blame for the address, if it cannot be listened at */
    const char *metrics_host;
    uint16_t metrics_port;
    const char *metrics_from;
    const char *certificate_file;
    const char *key_file;
    const char *client_ca_file;   /* "" = none */
    struct kube_config_flags api; /* none given: nothing is watched */
    bool check_access;
    uint32_t event_threads;
    const char *config_file;                  /* may not exist */
    struct configuration_layer configuration; /* what flags say */
    int64_t drain_ms;
    enum sandbox_mode seccomp;
    struct span_target spans;
};

/* `processors` is how many this machine has. -1: one line that says which flag, what is wrong with
 * it and how to fix it. Texts live in the arena. */
int webhook_options_read(struct arena *arena, const struct flag_values *flags, uint32_t processors,
                         struct webhook_options *ret_options, struct error *err);

#endif
