/* SPDX-License-Identifier: Apache-2.0 */
/* tarball.h: a chart as Helm packages it: a gzipped tar of one folder. Pure. */
#ifndef HERD_LAB_DOWNSTREAM_TARBALL_H
#define HERD_LAB_DOWNSTREAM_TARBALL_H

#include "base/error.h"
#include "base/str.h"

enum { TARBALL_BYTES_MAX = 20 * 1024 * 1024 }; /* unpacked */

/* A file of the chart's own folder, such as "values.yaml"; "" if there is none. */
int tarball_file(struct arena *arena, struct str tarball, struct str name, struct str *ret_bytes,
                 struct error *err);
/* The same chart with other bytes in a file that it has. */
int tarball_replace(struct arena *arena, struct str tarball, struct str name, struct str bytes,
                    struct str *ret_tarball, struct error *err);
/* Chart.yaml as JSON, and the same with `annotations` ("" or an object) added to its own. */
int tarball_metadata(struct arena *arena, struct str tarball, struct str annotations,
                     struct str *ret_metadata, struct error *err);

#endif
