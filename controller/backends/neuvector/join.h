/* SPDX-License-Identifier: Apache-2.0 */
/* join.h: the containers of releases and the workloads of NeuVector, brought together by the
 * runtime's id of the container; and what is still to be asked after that. Pure, but for the memory
 * of images.h. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_JOIN_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_JOIN_H

#include "base/map.h"
#include "controller/backends/neuvector/compliance.h"
#include "controller/backends/neuvector/images.h"
#include "controller/backends/neuvector/wire.h"
#include "controller/backends/release_pods.h"

/* A release whose scans a Stack wants to know. */
struct wanted_scans {
    struct str release; /* namespace/name */
    uint32_t revision;
    bool deployed;        /* that revision is, and not on its way */
    struct str workloads; /* as observed_release.workloads */
    enum policy_mode mode;
    bool compliance; /* the failed checks of its containers, too */
};
LIST_DEFINE(wanted_scan_list, struct wanted_scans)

/* Whether some wanted release has the workload. */
bool join_is_wanted(const struct wanted_scan_list *wanted, struct str workload);

struct joined {
    struct arena *arena;
    struct map *workloads; /* container id -> struct wire_workload */
    struct map *images;    /* digest -> struct joined_image, of all wanted releases */
};

/* An image that wanted releases run. */
struct joined_image {
    struct str digest;
    const struct wire_workload *newest;  /* finished; NULL = none is */
    const struct wire_workload *waiting; /* idle or failed; NULL = none is */
    bool under_way;
};

struct joined join(struct arena *arena, const struct release_containers *containers,
                   const struct wire_workloads *workloads, const struct wanted_scan_list *wanted);

/* Put what the newest finished scans counted into the memory; the ids of the workloads whose report
 * is to be read, because it tells what counters do not; last those that could not be read before.
 */
struct str_list join_findings(const struct joined *joined, struct images *images);
/* The report of one of those. */
void join_report(const struct joined *joined, struct str workload_id,
                 const struct scan_findings *report, struct images *images);
/* There was none that can be read. */
void join_unreadable(const struct joined *joined, struct str workload_id, struct images *images);
/* Ids of the workloads, one of each image, of which a scan is to be requested: none was since then.
 */
struct str_list join_unscanned(const struct joined *joined, const struct images *images,
                               int64_t since_ms);
/* One of those was requested. */
void join_requested(const struct joined *joined, struct str workload_id, struct images *images,
                    int64_t now_ms);
/* The services of wanted releases that are to be set to this mode in exactly these parts (wire.h):
 * there it is stricter than theirs, and none is stricter that is wanted. */
struct str_list join_services(const struct joined *joined,
                              const struct release_containers *containers,
                              const struct wanted_scan_list *wanted, enum policy_mode mode,
                              unsigned parts);
/* NeuVector's groups of those workloads, by the containers that run. */
struct str_list join_groups(const struct joined *joined,
                            const struct release_containers *containers, struct str workloads);
/* Ids of the containers whose compliance checks are to be asked for: none was since then. Those
 * that were asked for longest ago, or never, come first. */
struct str_list join_unchecked(const struct joined *joined,
                               const struct release_containers *containers,
                               const struct wanted_scan_list *wanted,
                               const struct compliance *compliance, int64_t since_ms);
/* Put what containers fail into the memory of images, each check once for an image, and forget
 * containers that are gone. While some container's are not known, those known of its image before
 * stand. `in_vain`: NeuVector does not tell. */
void join_checks(const struct joined *joined, const struct release_containers *containers,
                 const struct wanted_scan_list *wanted, struct compliance *compliance, bool in_vain,
                 struct images *images);
/* What is known of a release now. */
struct observed_scans join_scans(const struct joined *joined,
                                 const struct release_containers *containers,
                                 const struct wanted_scans *wanted, const struct images *images);

#endif
