/* SPDX-License-Identifier: Apache-2.0 */
/* traces.h: where a cluster's pods send traces, the Instrumentations that tell them so, and whether
 * traces arrive. Pure (docs/protocols/observability.md, section 11).
 *
 * In a round that looks: does the cluster serve Instrumentation (the OpenTelemetry operator)? If
 * so, its Services are listed, one page after the other: they show what takes OTLP, and Jaeger.
 * Then Herd's Instrumentations are compared with those that Stacks want. If there is a Jaeger, it
 * is asked which services it knows, and pods are listed, to see which of them opted in by an
 * annotation and by which name each reports. What could not be read is not decided. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_TRACES_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_TRACES_H

#include "controller/backends/observability/upkeep.h"

/* A release of which pods opted in. */
struct traced_release {
    struct str release; /* namespace/name */
    bool arrives;       /* Jaeger knows the service of each of its workloads that opted in */
};
LIST_DEFINE(traced_releases, struct traced_release)

struct traces_found {
    bool has_operator;
    bool lacks_endpoint; /* it is known that nothing takes traces */
    bool counted;        /* it is known which opted in, and which arrive: */
    struct traced_releases releases;
};
struct traces_found traces_found_new(struct arena *arena);
struct traces_found traces_found_dup(struct arena *arena, const struct traces_found *of);
bool traces_found_equal(const struct traces_found *a, const struct traces_found *b);

struct traces;

/* For the releases of `upkeep`, which it borrows and to which it adds Instrumentations. */
struct traces *traces_new(struct arena *arena, struct upkeep *upkeep);

/* What to ask next; "" = nothing more. */
struct str traces_next_path(struct traces *traces, struct arena *arena);
/* About what. */
enum traces_question {
    TRACES_NOTHING,
    TRACES_CLUSTER, /* what there is */
    TRACES_OBJECTS, /* of Herd's own */
    TRACES_JAEGER,  /* which answers itself, through the cluster's proxy */
};
enum traces_question traces_question(const struct traces *traces);
/* Read the answer, with its HTTP status, which is 200 or 404; what is to be changed is added. */
int traces_read(struct traces *traces, int status, struct str body, struct upkeep_changes *changes,
                struct error *err);
/* There was no answer to be read. */
void traces_skip(struct traces *traces);

struct traces_found traces_conclude(const struct traces *traces);

#endif
