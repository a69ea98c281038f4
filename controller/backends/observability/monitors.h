/* SPDX-License-Identifier: Apache-2.0 */
/* monitors.h: which releases nothing scrapes, where their metrics are, and the ServiceMonitors and
 * PodMonitors that Herd makes of it. Pure.
 *
 * In a round that looks, the releases of all Stacks are added. Those whose pods are targets without
 * Herd, or whose chart made a monitor, need none. Of the others the Services and pods are read: a
 * Service with a port that has one of the usual names makes a ServiceMonitor; else the annotations
 * prometheus.io/scrape and port of a pod, or a port of that name, a PodMonitor. What could not be
 * read is not decided, and the monitors that are there stay. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_MONITORS_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_MONITORS_H

#include "controller/backends/observability/upkeep.h"
#include "controller/backends/observability/wire.h"

enum monitor_state {
    MONITOR_UNDECIDED, /* not all of it could be read, or nothing runs */
    MONITOR_OTHERS,    /* it needs none of Herd's */
    MONITOR_NOTHING,   /* nothing of it says where its metrics are; the message has why */
    MONITOR_MADE,      /* it is to be there; the message has why Prometheus does not select it */
    MONITOR_REFUSED,   /* it cannot be made; the message has why */
};
struct monitor_finding {
    struct str release; /* namespace/name */
    enum monitor_state state;
    struct str message;
};
LIST_DEFINE(monitor_findings, struct monitor_finding)

/* Rules that Prometheus does not select. */
struct rule_finding {
    struct str stack; /* namespace/name */
    struct str message;
};
LIST_DEFINE(rule_findings, struct rule_finding)

struct monitors;

/* For the releases of `upkeep`, which it borrows, as `prometheus` and what it scrapes. */
struct monitors *monitors_new(struct arena *arena, struct upkeep *upkeep,
                              const struct wire_prometheus *prometheus,
                              const struct sample_index *samples);

/* What to list of all namespaces, and what such a list says; it is kept. */
struct str monitors_path(struct arena *arena, enum monitor_kind kind);
int monitors_read(struct monitors *monitors, enum monitor_kind kind, struct str body,
                  struct error *err);
bool monitors_ask_namespaces(const struct monitors *monitors);
extern const struct str monitors_namespaces_path;
int monitors_read_namespaces(struct monitors *monitors, struct str body, struct error *err);

/* The next list of Services or pods to read; "" = none is left. */
struct str monitors_next_path(struct monitors *monitors, struct arena *arena);
int monitors_read_next(struct monitors *monitors, struct str body, struct error *err);
/* It could not be read: what is in that namespace stays undecided. */
void monitors_skip(struct monitors *monitors);

/* Add what is to be changed; needs both lists. */
int monitors_decide(struct monitors *monitors, struct upkeep_changes *changes,
                    struct monitor_findings *ret_findings, struct error *err);
/* Of the rules that are wanted. */
struct rule_findings monitors_unselected_rules(const struct monitors *monitors);

#endif
