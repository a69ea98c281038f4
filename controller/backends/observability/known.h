/* SPDX-License-Identifier: Apache-2.0 */
/* known.h: what monitors a cluster, as the last round found it, and what went wrong. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_KNOWN_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_KNOWN_H

#include "controller/backends/observability/monitors.h"
#include "controller/backends/observability/traces.h"
#include "controller/backends/observability/wire.h"

struct wish;

/* What went wrong. While it is of the same kind, its text stays the first one: what others say may
 * have a number that is new each time. */
struct complaint {
    struct str about;
    int status; /* HTTP; 0 = nothing answered */
    enum error_code code;
    struct str text;      /* what is told; "" = nothing went wrong */
    struct str stack;     /* of a rule or monitor: whose it is */
    struct str dashboard; /* name of one; "" and no Stack = all are concerned */
    bool again;           /* of a refusal: the time before, too */
};
LIST_DEFINE(complaints, struct complaint)

struct known {
    struct arena *arena;  /* of all below */
    bool found;           /* it is known which back ends there are */
    uint32_t backends;    /* bits of enum monitoring_backend */
    struct str suse_name; /* what the agent calls the cluster; "" = not said, or no agent */
    struct wire_prometheus prometheus;
    bool counts_alerts;
    struct wire_rules rules; /* that are loaded */
    bool counts_dashboards;
    struct str_list dashboards; /* names of those that are there as they should be */
    bool amiss; /* in a round that does not look: dashboards are gone, so the next one is to look */
    struct monitor_findings monitors;
    struct rule_findings unselected; /* rules that Prometheus does not select */
    struct traces_found traces;
    struct complaint traces_trouble; /* why it is not known whether traces arrive */
    bool kept_up;                    /* in this round all objects were looked at, and tried */
    struct complaint trouble;        /* why something could not be found out */
    struct complaints refusals;      /* why objects could not be set right */
};

struct known *known_create(void);
void known_free(struct known *known);
AUTO_DEFINE(known_free, struct known *)
/* What a round begins with: in one that does not look, what was found before stands. */
struct known *known_from(const struct known *before, bool looks);
void known_set_prometheus(struct known *known, const struct wire_prometheus *prometheus);
void known_keep_dashboards(struct known *known, const struct known *before);
/* What was found about monitors and rules; copied. */
void known_keep_findings(struct known *known, const struct monitor_findings *monitors,
                         const struct rule_findings *unselected);
bool known_equal(const struct known *a, const struct known *b);
/* Whether something was refused for the first time, which may be of the moment. */
bool known_is_in_doubt(const struct known *known);
/* Whether an object of that Stack was refused, or a list of all. */
bool known_refuses(const struct known *known, const struct wish *wish, struct str stack);
/* What that Stack is told; "" = nothing went wrong, or for the first time. */
struct str known_trouble_of(const struct known *known, const struct wish *wish, struct str stack);
/* What of that kind was complained of before; NULL if nothing was. */
const struct complaint *known_complaint(const struct known *before, const struct complaint *now);
/* `now`, in the first words of its kind. In the arena. */
struct complaint known_complaint_after(const struct known *before, struct arena *arena,
                                       const struct complaint *now);

#endif
