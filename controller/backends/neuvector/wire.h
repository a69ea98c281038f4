/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: NeuVector's API as values: what answers mean, what is read from them (docs/protocols/
 * neuvector.md). Pure.
 *
 * What NeuVector says is checked, because some of it is easily misread: filters that it does not
 * know are ignored, and counters are zero while a scan is queued. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_WIRE_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_WIRE_H

#include "stack/model/observed.h"

/* Who answered a request through the API server's proxy, and what. */
enum wire_answer {
    WIRE_OK,
    WIRE_NO_SERVICE,      /* the API server: no such Service, port or pod */
    WIRE_NOT_READY,       /* the API server: nothing behind it answers */
    WIRE_PROXY_FORBIDDEN, /* the API server, or Rancher: the user may not */
    WIRE_UNAUTHORIZED,    /* NeuVector: these credentials, or this session, are not accepted */
    WIRE_PASSWORD,        /* NeuVector: the password must be changed */
    WIRE_DENIED,          /* NeuVector: the role may not */
    WIRE_NOT_FOUND,       /* NeuVector: no such object or path */
    WIRE_REFUSED,         /* NeuVector: not this request */
    WIRE_FAILED,          /* NeuVector: not at present */
    WIRE_ELSEWHERE,       /* it did not come as far: Rancher's answer, or none */
};

/* `ret_message`: the words of who answered; "" if there are none. */
enum wire_answer wire_answer_of(struct arena *arena, int http_status, struct str body,
                                struct str *ret_message);
/* For people: the role may not do `what`; `right` is NeuVector's name of the permission. */
struct str wire_denied_message(struct arena *arena, struct str cluster_id, const char *what,
                               const char *right);
/* A body that is to be JSON; its bounds are those of a large namespace. */
int wire_read(struct arena *arena, struct str body, struct json *ret_json, struct error *err);

/* Where NeuVector is looked for, in this order: in other namespaces anyone may have given a pod the
 * label of its controller, to be sent the credentials. */
enum { WIRE_NAMESPACES = 2 };
extern const struct str wire_namespaces[WIRE_NAMESPACES];
/* The path of the list of a namespace's pods with that label. */
struct str wire_controllers_path(struct arena *arena, struct str namespace_);
/* Of such a list the first pod that is ready. The number of pods in the list; those that are not
 * ready give an empty `ret_pod`. */
uint32_t wire_controllers_read(struct json pods, struct str *ret_pod);

/* Sessions. */

struct str wire_login_body(struct arena *arena, struct str username, struct str password);
/* The session's token; "" if the password must be changed first. */
int wire_login_read(struct json login, struct str *ret_token, struct error *err);

/* Scans. */

/* Of /v1/system/summary. */
int wire_scanners_read(struct json summary, int64_t *ret_scanners, struct error *err);

enum wire_scan { WIRE_SCAN_IDLE, WIRE_SCAN_UNDER_WAY, WIRE_SCAN_FINISHED, WIRE_SCAN_FAILED };

/* A container as NeuVector knows it. */
struct wire_workload {
    struct str id;       /* of the container */
    struct str image_id; /* digest of the image's configuration */
    struct str image;
    struct str service; /* NAME.NAMESPACE: its policies are those of the service */
    struct str policy_mode, profile_mode;
    enum wire_scan scan;
    struct str result; /* of FAILED */
    /* Of FINISHED. Before 5.4.0 critical ones count as high, and the report tells them apart. */
    bool tells_critical;
    uint32_t critical, high, medium;
    int64_t scanned_ms;
};
LIST_DEFINE(wire_workloads, struct wire_workload)

/* The path of a namespace's, with the query. */
struct str wire_workloads_path(struct arena *arena, struct str namespace_);
/* Those of the namespace, whatever else the list has. -1: not a list of workloads. */
int wire_workloads_read(struct json answer, struct str namespace_, struct wire_workloads *to,
                        struct error *err);
/* /v1/scan/workload/ID: GET gives the report (report.h), POST requests a scan. */
struct str wire_scan_path(struct arena *arena, struct str id);

/* Policy modes. */

/* Discover, Monitor and Protect are 0, 1 and 2; -1 for what is none of them. */
int wire_mode_rank(struct str mode);
struct str wire_mode_name(enum policy_mode mode);
/* A service has a mode for its network rules and one for its processes and files. */
enum { WIRE_POLICY_MODE = 1, WIRE_PROFILE_MODE = 2, WIRE_BOTH_MODES = 3 };
/* For PATCH /v1/service/config: what is not among `parts` stays. */
struct str wire_mode_body(struct arena *arena, const struct str_list *services, struct str mode,
                          unsigned parts);

#endif
