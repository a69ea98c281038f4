/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h: what runs on one cluster for one object: a controller of pods and all that goes with
 * it, as a value.
 *
 * Each kind (abi_instance.h, application.h) reads its spec into one, and everything after that is
 * the same for all kinds: which objects it is rendered to, here, and how it fares
 * (workload_status.h). Pure. */
#ifndef HERD_WORKLOAD_H
#define HERD_WORKLOAD_H

#include "kube/kind.h"

/* Pods have the name of their controller in labels, behind it ten characters for the revision. */
#define WORKLOAD_NAME_MAX 52

/* Where memory is that the processes of a container share. */
#define WORKLOAD_SHARED_MEMORY "/dev/shm"

/* The kinds of objects that it can be rendered to; each kind of workload names those that it uses
 * (workload_child_resources). PODS are followed only, and CLAIMS of volumes made to grow. */
enum workload_resource {
    WORKLOAD_DEPLOYMENTS,
    WORKLOAD_STATEFUL_SETS,
    WORKLOAD_JOBS,
    WORKLOAD_SERVICES,
    WORKLOAD_CONFIG_MAPS,
    WORKLOAD_AUTOSCALERS,
    WORKLOAD_DISRUPTION_BUDGETS,
    WORKLOAD_SERVICE_MONITORS,
    WORKLOAD_CLAIMS,
    WORKLOAD_PODS,
    WORKLOAD_RESOURCES
};
extern const struct kube_resource workload_child_resources[WORKLOAD_RESOURCES];

struct workload_env {
    struct str name;
    struct str value;
    struct str secret, key; /* from this key of this Secret instead; "" = the value */
};
LIST_DEFINE(workload_envs, struct workload_env)

/* A port of the container; each has a Service of its own if `service` is not "". */
struct workload_port {
    struct str name;
    int64_t number;
    struct str service; /* name of the Service */
};
LIST_DEFINE(workload_ports, struct workload_port)

enum anti_affinity { ANTI_AFFINITY_NONE, ANTI_AFFINITY_SOFT, ANTI_AFFINITY_HARD };

struct workload {
    struct str name;               /* of its controller, and the beginning of all other names */
    struct str app;                /* app.kubernetes.io/name: what it is, e.g. "abi" */
    struct str label, label_value; /* names the owner; for pods, which the owner does not control */
    enum workload_resource controller; /* DEPLOYMENTS, STATEFUL_SETS or JOBS */
    int64_t replicas;
    bool recreate;    /* all old pods end before new ones begin */
    bool recreatable; /* the author may want that later */
    struct str image, pull_policy, version;
    struct str_list args;
    struct str_list pull_secrets;
    struct json resources; /* as a container has them; absent = none */
    struct str gpu_resource;
    int64_t gpus;                 /* of `gpu_resource`, for each replica */
    struct str gpu_label;         /* of nodes; "" = any node will do */
    struct str_list gpu_products; /* its values that will do */
    struct workload_envs env;
    struct json config; /* an object of strings: a ConfigMap, and variables of the container */
    struct workload_ports ports;
    struct str service_type;
    struct str health_path;  /* "" = no probes; asked at the first port */
    int64_t startup_seconds; /* until it has to be healthy; 0 = 600 */
    bool shared_memory;      /* more than the 64 MiB that containers have: processes share models */
    struct str volume_size, storage_class, mount_path; /* "" size = no volume */
    enum anti_affinity anti_affinity;
    struct str min_available, max_unavailable; /* of a PodDisruptionBudget; both "" = none */
    int64_t replicas_min, replicas_max;        /* of an autoscaler; max 0 = none */
    int64_t target_cpu, target_memory;         /* percent; 0 = none */
    struct str metrics_port;                   /* "" = no ServiceMonitor */
};

/* Its objects, for kube_kind.render. With an autoscaler, replicas are the workload's until `seen`
 * has what they are set on; then they are left out, and handed over if nobody but Herd owns them.
 * In the arena. */
void workload_render(struct arena *arena, const struct workload *workload,
                     const struct kind_observation *seen, struct kube_children *children);

/* The name of what controls its pods. In the arena. */
struct str workload_controller_name(struct arena *arena, const struct workload *workload);

/* The pods, as `kubectl get -l` takes it. In the arena. */
struct str workload_selector(struct arena *arena, const struct workload *workload);

/* A finding that is denied. */
void workload_deny(struct problems *problems, const char *field, struct str message,
                   const char *remedy);
/* Adds what is wrong with a size that is less than the volumes have, and with what cannot change of
 * those that a StatefulSet was made with. */
void workload_check_volumes(struct arena *arena, const struct workload *workload,
                            const struct kind_observation *seen, struct problems *problems);

/* Adds what is in one list of its pods twice, where Kubernetes takes it once. */
void workload_check_repeated(struct arena *arena, const struct workload *workload,
                             struct problems *problems);

/* Adds what is wrong with a name that all objects of a workload are to have. */
void workload_check_name(struct arena *arena, struct str name, struct problems *problems);

#endif
