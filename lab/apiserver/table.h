/* SPDX-License-Identifier: Apache-2.0 */
/* table.h: meta.k8s.io/v1 Tables: what `kubectl get` prints. */
#ifndef HERD_LAB_APISERVER_TABLE_H
#define HERD_LAB_APISERVER_TABLE_H

#include "lab/apiserver/kind.h"

/* What stands in each row beside the cells. */
enum table_object { TABLE_METADATA, TABLE_NONE, TABLE_OBJECT };

/* Begin: kind, list metadata (JSON), and the column definitions unless it is a later event of a
 * watch. Rows follow, then table_end. */
void table_begin(const struct kind *kind, struct str list_meta, bool with_columns,
                 struct json_writer *w);
void table_row(const struct kind *kind, struct str object, struct json view,
               enum table_object include, int64_t now_ms, struct arena *arena,
               struct json_writer *w);
void table_end(struct json_writer *w);

/* {"kind":"PartialObjectMetadata",...} of an object. */
void partial_metadata(struct json object, struct json_writer *w);

#endif
