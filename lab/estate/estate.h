/* estate.h: the simulated Rancher estate: clusters, charts, Helm operations behind Rancher's port.
 *
 * All it knows lives as objects in the API (lab/apiserver/api.h), so it goes on where it stopped
 * after kill -9. Wire facts: Rancher v2.14 (its Apps v2, steve, norman and cluster proxy). */
#ifndef HERD_LAB_ESTATE_ESTATE_H
#define HERD_LAB_ESTATE_ESTATE_H

#include "io/log.h"
#include "lab/apiserver/api.h"

struct estate;

struct estate_options {
    struct api *api;
    const struct clock *clock;
    struct log *log;
    const char *estate_file; /* YAML; "" = the built-in estate */
    double time_scale;       /* 1 = as in life, 0.01 = for tests, 0 = everything at once */
    uint64_t seed;
    struct str downstream_kubeconfigs; /* ID=FILE,...: clusters that are real; "" = none */
    const char *helm;                  /* the program that works on those */
    const char *helm_folder;           /* of its files */
    struct str ca_pem; /* of the Rancher port's certificate, for /cacerts; "" = as a public CA */
};

/* Borrows all that the options name. Makes clusters and the admin token where they are not yet
 * there. NULL: the estate file cannot be read, or the store cannot be written. */
struct estate *estate_create(const struct estate_options *options, struct error *err);
/* Start the thread that carries on what was begun. */
int estate_start(struct estate *estate, struct error *err);
/* End the thread; what is not done yet goes on at the next start. Idempotent. */
void estate_stop(struct estate *estate);
void estate_free(struct estate *estate);
AUTO_DEFINE(estate_free, struct estate *)

/* Answer any request on the Rancher port. May block for as long as Rancher would. */
void estate_handle(struct estate *estate, struct http_exchange *exchange);

/* The admin's API token, "token-xxxxx:secret". Borrowed. */
struct str estate_token(const struct estate *estate);

#endif
