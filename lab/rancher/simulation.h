/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.h: the simulated Rancher simulation: clusters, charts, Helm operations behind
 * Rancher's port.
 *
 * All it knows lives as objects in the API (lab/apiserver/api.h), so it goes on where it stopped
 * after kill -9. Wire facts: Rancher v2.14 (its Apps v2, steve, norman and cluster proxy). */
#ifndef HERD_LAB_RANCHER_SIMULATION_H
#define HERD_LAB_RANCHER_SIMULATION_H

#include "io/log.h"
#include "lab/apiserver/api.h"

struct simulation;

struct simulation_options {
    struct api *api;
    const struct clock *clock;
    struct log *log;
    const char *simulation_file; /* YAML; "" = the built-in simulation */
    double time_scale;           /* 1 = as in life, 0.01 = for tests, 0 = everything at once */
    uint64_t seed;
    bool runs_workloads; /* the management cluster has what makes pods and runs them */
    struct str downstream_kubeconfigs; /* ID=FILE,...: clusters that are real; "" = none */
    const char *helm;                  /* the program that works on those */
    const char *helm_folder;           /* of its files */
    struct str ca_pem; /* of the Rancher port's certificate, for /cacerts; "" = as a public CA */
};

/* Borrows all that the options name. Makes clusters and the admin token where they are not yet
 * there. NULL: the simulation file cannot be read, or the store cannot be written. */
struct simulation *simulation_create(const struct simulation_options *options, struct error *err);
/* Start the thread that carries on what was begun. */
int simulation_start(struct simulation *simulation, struct error *err);
/* End the thread; what is not done yet goes on at the next start. Idempotent. */
void simulation_stop(struct simulation *simulation);
void simulation_free(struct simulation *simulation);
AUTO_DEFINE(simulation_free, struct simulation *)

/* Answer any request on the Rancher port. May block for as long as Rancher would. */
void simulation_handle(struct simulation *simulation, struct http_exchange *exchange);

/* The admin's API token, "token-xxxxx:secret". Borrowed. */
struct str simulation_token(const struct simulation *simulation);

#endif
