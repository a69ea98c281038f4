/* SPDX-License-Identifier: Apache-2.0 */
/* action.h: the bodies of ?action=install, upgrade and uninstall. Pure.
 *
 * Rancher decodes them with Go's encoding/json (rancher v2.14 pkg/api/steve/catalog/types/rest.go):
 * unknown fields are ignored, wrong types rejected in Go's words. */
#ifndef HERD_LAB_RANCHER_ACTION_H
#define HERD_LAB_RANCHER_ACTION_H

#include "lab/rancher/step.h"

struct action_chart {
    struct str chart;
    struct str version;
    struct str release;
    struct str description;
    struct str values;      /* JSON object or "" */
    struct str annotations; /* JSON object of strings or "" */
    bool reset_values;
    bool force;
};

LIST_DEFINE(action_charts, struct action_chart)

struct action {
    enum task_action which;
    struct str namespace_; /* "default" if none was given; of an uninstall: the path's */
    struct str project_id;
    struct str description; /* of an uninstall */
    int64_t timeout_ms;     /* 0 = none was given */
    int64_t history_max;
    bool wait, no_hooks, disable_openapi_validation, force, take_ownership, cleanup_on_fail;
    bool keep_history, dry_run;
    struct action_charts charts;
};

/* -1 with the text of Go's error. */
int action_read(struct arena *arena, enum task_action which, struct str body,
                struct action *ret_action, struct error *err);

/* The helm command line of one chart, as status.command shows it: a JSON array. `chart` NULL for an
 * uninstall, whose release is `release`. */
struct str action_command(struct arena *arena, const struct action *action,
                          const struct action_chart *chart, struct str release, struct str version,
                          struct str repo);

#endif
