/* SPDX-License-Identifier: Apache-2.0 */
/* jsonpath.h: the part of kubectl's JSON paths that printer columns use:
 * .a.b, .a['b.c'], .list[0], .list[-1], .list[*].name, .conditions[?(@.type=="Ready")].status */
#ifndef HERD_LAB_APISERVER_JSONPATH_H
#define HERD_LAB_APISERVER_JSONPATH_H

#include "base/error.h"
#include "base/list.h"
#include "text/json.h"

struct jsonpath;
LIST_DEFINE(json_list, struct json)

/* NULL and why it is not one. Copied into the arena. */
struct jsonpath *jsonpath_compile(struct arena *arena, struct str text, struct error *err);
/* All values found, in order. */
void jsonpath_find(const struct jsonpath *path, struct json root, struct json_list *ret_found);

#endif
