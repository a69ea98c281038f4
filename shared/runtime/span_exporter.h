/* SPDX-License-Identifier: Apache-2.0 */
/* span_exporter.h: spans to an OpenTelemetry collector (OTLP/HTTP, JSON), in batches.
 *
 * Whoever adds one never waits: what the collector does not take in time is dropped and counted. */
#ifndef HERD_RUNTIME_SPAN_EXPORTER_H
#define HERD_RUNTIME_SPAN_EXPORTER_H

#include "base/flag.h"
#include "base/metric.h"
#include "io/log.h"
#include "io/loop.h"
#include "text/otlp.h"

struct span_exporter;

/* Where to, as flags say. */
struct span_target {
    struct str url; /* of the traces; "" = nowhere, and nothing of tracing happens */
    struct str ca_pem;
    const char *headers_file; /* "" = none */
};

/* From --otlp-endpoint, --otlp-ca-file and --otlp-headers-file; texts live in the arena. -1: which
 * of them, what is wrong with it, and how to fix it; never a header's value. */
int span_target_read(struct arena *arena, const struct flag_value *endpoint,
                     const struct flag_value *ca_file, const struct flag_value *headers_file,
                     struct span_target *ret_target, struct error *err);

/* All borrowed. */
struct span_exporter_options {
    struct loop *loop;
    const struct span_target *target;
    struct otlp_source source;
    struct log *log;
    struct metrics *metrics;
    uint32_t spans; /* id of a counter by outcome: exported, rejected, dropped */
    uint64_t seed;
};

/* NULL without an error: the target is nowhere. NULL and an error: it cannot be used. */
struct span_exporter *span_exporter_create(const struct span_exporter_options *options,
                                           struct error *err);
void span_exporter_free(struct span_exporter *exporter);
AUTO_DEFINE(span_exporter_free, struct span_exporter *)

/* From any thread; the span is copied. One that is not sampled, or an exporter of NULL: nothing. */
void span_exporter_add(struct span_exporter *exporter, const struct otlp_span *span);

/* Run the loop until all is sent, a try fails, LIMIT_SPAN_DRAIN has passed, or somebody stops the
 * loop. For a program's end, when nobody adds any more. */
void span_exporter_drain(struct span_exporter *exporter);

#endif
