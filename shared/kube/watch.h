/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h: one line of a watch. */
#ifndef HERD_KUBE_WATCH_H
#define HERD_KUBE_WATCH_H

#include "text/json.h"

enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

struct watch_event {
    enum watch_type type;
    struct json object;
    struct str resource_version;
    bool initial_events_end; /* a bookmark annotated k8s.io/initial-events-end */
    int code;                /* of an ERROR: 410, ... */
    struct str message;      /* of an ERROR */
};

int watch_read(struct arena *arena, struct str line, struct watch_event *ret_event,
               struct error *err);

/* Cuts a stream of pieces into lines of at most `line_max` bytes. Heap-backed: watches last. */
struct watch_lines;
struct watch_lines *watch_lines_create(size_t line_max);
void watch_lines_free(struct watch_lines *lines);
/* -1 if a line is longer than line_max. */
int watch_lines_put(struct watch_lines *lines, struct str piece, struct error *err);
/* The next whole line, borrowed until the next call of either. */
bool watch_lines_next(struct watch_lines *lines, struct str *ret_line);

#endif
