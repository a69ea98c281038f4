/* estate.h: the simulated Rancher and its downstream clusters, on top of the API server.
 *
 * The estate owns what happens by itself: Helm operations that take their time, clusters that
 * connect and disconnect. Everything it shows lives as objects in the API server's store, so a
 * restart goes on where the last run was killed. */
#ifndef HERD_LAB_ESTATE_ESTATE_H
#define HERD_LAB_ESTATE_ESTATE_H

#include "io/http_server.h"
#include "io/log.h"
#include "lab/apiserver/api.h"

struct estate;

struct estate_options {
    struct api *api; /* outlives the estate */
    const struct clock *clock;
    struct log *log;
    const char *estate_file; /* which clusters, charts and faults there are; "" = those built in */
    double time_scale;       /* 1 = as slow as the real thing, 0.01 = a hundred times as fast */
    uint64_t seed;
};

/* Registers its kinds and makes the clusters. NULL and what is wrong with the estate file. */
struct estate *estate_create(const struct estate_options *options, struct error *err);
/* Begin to work, in threads of its own; what was under way at the last end is resumed. */
int estate_start(struct estate *estate, struct error *err);
/* End the threads. What is under way stays in the store. Idempotent. */
void estate_stop(struct estate *estate);
void estate_free(struct estate *estate);
AUTO_DEFINE(estate_free, struct estate *)

/* Answer one request of the Rancher port; it authenticates Rancher's tokens itself. */
void estate_handle(struct estate *estate, struct http_exchange *exchange);
/* A token of Rancher's administrator, "name:secret". Lives as long as the estate. */
struct str estate_token(const struct estate *estate);

#endif
