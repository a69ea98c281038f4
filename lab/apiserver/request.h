/* SPDX-License-Identifier: Apache-2.0 */
/* request.h: one request on its way through the API server, and the parts that all steps share.
 * Inside of lab/apiserver only. */
#ifndef HERD_LAB_APISERVER_REQUEST_H
#define HERD_LAB_APISERVER_REQUEST_H

#include "base/rng.h"
#include "io/log.h"
#include "kube/selector.h"
#include "lab/apiserver/api.h"
#include "lab/apiserver/failure.h"
#include "lab/apiserver/managers.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/store.h"

#include <pthread.h>

struct webhook_caller;
struct namespace_controller;
struct garbage_collector;
struct roles;

struct api {
    struct store *store;
    struct registry *registry;
    struct arena *arena; /* of what lives as long as the api; under `lock` */
    struct builtin *builtin;
    const struct clock *clock;
    struct log *log;
    pthread_mutex_t lock; /* of rng, services and closing */
    struct rng rng;
    struct dict *services; /* "namespace/name" -> "host:port", in `arena` */
    struct webhook_caller *caller;
    void (*changed)(void *context, struct str cluster, const struct kube_resource *resource,
                    struct str namespace_, struct str name);
    void *changed_context;
    void (*check)(void *context, struct str cluster, const struct kube_resource *resource,
                  const struct value *object, struct findings *found);
    void *check_context;
    struct namespace_controller *namespace_controller;
    struct garbage_collector *garbage_collector;
    struct roles *roles;
    pthread_mutex_t aggregation; /* of roles, one at a time */
    struct str token_key;        /* signs tokens of ServiceAccounts */
    struct str admin_token;      /* the administrator's, "" = none */
};

enum verb {
    VERB_GET,
    VERB_LIST,
    VERB_WATCH,
    VERB_CREATE,
    VERB_UPDATE,
    VERB_PATCH,
    VERB_DELETE,
    VERB_DELETE_COLLECTION,
};

enum field_validation { VALIDATION_IGNORE, VALIDATION_WARN, VALIDATION_STRICT };

enum output { OUTPUT_OBJECT, OUTPUT_TABLE, OUTPUT_METADATA };

struct request {
    struct api *api;
    struct arena *arena;
    struct catalog *catalog;
    struct str cluster;
    const struct api_caller *caller;
    enum verb verb;
    const struct kind *kind;
    struct str namespace_, name, sub_resource;
    bool aggregates; /* brings aggregated roles up to date: causes no further such work */
    bool internal;   /* from the lab itself: no admission, a status may come with a creation */
    bool dry_run;
    enum field_validation validation;
    struct str field_manager;
    bool applies; /* server-side apply: managed_fields is what metadata.managedFields becomes */
    const struct value *managed_fields;
    struct str content_type, body;
    int64_t now_ms;
    struct str_list warnings;
    struct failure failure; /* filled by whoever returns -1 */
};

/* The catalog of a cluster, held as long as the arena; NULL: no such cluster. */
struct catalog *request_catalog(struct api *api, struct arena *arena, struct str cluster);
/* A request of the lab itself, as the kind of a resource; NOT_FOUND if it is not served. */
int request_begin(struct api *api, struct arena *arena, struct str cluster,
                  const struct kube_resource *resource, struct request *ret_request,
                  struct error *err);

/* Who is asked for, for texts of failures. */
struct failure_subject request_subject(const struct request *rq);
struct collection request_collection(const struct request *rq, const struct kind *kind,
                                     struct str namespace_);
struct store_key request_key(const struct request *rq, const struct kind *kind,
                             struct str namespace_, struct str name);
void request_warn(struct request *rq, struct str text);
struct str request_time(struct request *rq);
/* Random numbers of the request's own, drawn from the api's. */
struct rng request_rng(struct request *rq);
/* The store's own failure as 500. Always -1. */
int request_store_failed(struct request *rq, const struct error *err);

/* An object as stored, as a tree; NOT_FOUND if it is not there. */
int request_load(struct request *rq, const struct kind *kind, struct str namespace_,
                 struct str name, struct value **ret_object, uint64_t *ret_version);
/* Bytes of a stored object in the version that was asked for. */
struct str request_present(struct request *rq, const struct kind *kind, struct str stored);

/* The verbs; each gives the object as it is now, as JSON. */
int do_get(struct request *rq, struct str *ret_object);
int do_create(struct request *rq, struct value *object, struct str *ret_object);
/* `edit` makes the new object from the current one; it is called again when somebody else was
 * faster and the request did not insist on a version. */
struct edit {
    int (*make)(struct request *rq, void *context, const struct value *now,
                struct value **ret_object);
    void *context;
};
int do_update(struct request *rq, const struct edit *edit, struct str *ret_object);
/* Server-side apply of `config`; *ret_created tells a creation. */
int do_apply(struct request *rq, struct value *config, bool force, struct str *ret_object,
             bool *ret_created);
struct delete_options {
    struct str uid, version; /* preconditions; "" = any */
    struct str propagation;
};
/* *ret_gone tells a removed object from one that waits for its finalizers. */
int do_delete(struct request *rq, const struct delete_options *options, struct str *ret_object,
              bool *ret_gone);

/* Body to tree, by content type: JSON, YAML or protobuf. */
int body_read(struct request *rq, struct str content_type, struct str body,
              struct value **ret_value);
/* The request's body as what is to be merged: an object in JSON. */
int body_read_merge(struct request *rq, struct value **ret_body);
/* apiVersion, kind, name and namespace of the body against the URL; the types of built-in kinds. */
int body_check(struct request *rq, struct value *object);
/* Defaults and pruning, with unknown fields told as the request asks. */
int body_shape(struct request *rq, struct value *object, bool report);

/* Steps of writing (write_steps.c). */
/* What only the server can give: a Service's address. `old` NULL: a creation. */
int write_allocate(struct request *rq, const struct value *old, struct value *object);
struct field_writer write_manager(struct request *rq);
int write_validate(struct request *rq, const struct value *old, struct value *object);
void write_manage_fields(struct request *rq, const struct value *old, struct value *object);
int write_commit(struct request *rq, enum change_type type, const struct value *object,
                 uint64_t expected, struct str *ret_object, enum store_answer *ret_answer);

/* After a commit: definitions begin and cease to be served. */
void after_write(struct request *rq, enum change_type type, struct str object);
/* Checks of a CustomResourceDefinition on its way in. */
int definition_admit(struct request *rq, struct value *crd, const struct value *old);

/* Selectors of a list or watch. */
struct selection {
    struct selector labels;
    struct field_terms *fields;
    bool selects; /* anything at all */
};
int selection_read(struct request *rq, struct str label_selector, struct str field_selector,
                   struct selection *ret_selection);
bool selection_holds(struct request *rq, const struct selection *selection, struct str object);
/* A single object that the field selector names (metadata.name=x); "" if none. */
struct str selection_name(const struct selection *selection);

#endif
