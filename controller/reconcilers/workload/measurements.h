/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.h: the load of model servers, asked from Prometheus at intervals: one query for all
 * of them. An answer counts until three questions in a row were not answered. */
#ifndef HERD_CONTROLLER_WORKLOAD_MEASUREMENTS_H
#define HERD_CONTROLLER_WORKLOAD_MEASUREMENTS_H

#include "io/log.h"
#include "io/loop.h"
#include "text/json.h"

struct measurements;

/* All borrowed. */
struct measurements_options {
    struct loop *loop;
    struct log *log;
    struct str url; /* http[s]://host[:port], without a slash at the end */
    struct str ca_pem;
    struct str matcher; /* of the series of this cluster (measurements_wire.h); "" = all are */
    int64_t interval_ms;
    void (*told)(void *context); /* there is an answer, or there is none any more */
    void *context;
};

struct measurements *measurements_create(const struct measurements_options *options,
                                         struct error *err);
void measurements_free(struct measurements *measurements);

/* Of the object NAMESPACE/NAME, as workload/model_server.h says of kind_observation.measured. In
 * the arena. */
struct json measurements_of(const struct measurements *measurements, struct arena *arena,
                            struct str key);

#endif
