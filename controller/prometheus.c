/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus.c: see prometheus.h. */
#include "controller/prometheus.h"

#include "base/limits.h"
#include "controller/limits.h"
#include "text/limits.h"

#include <math.h>
#include <stdlib.h>

int prometheus_data_read(struct arena *arena, struct str body, const char *who,
                         struct json *ret_data, struct error *err)
{
    struct json_limits limits = json_limits_default;
    struct json root;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.nodes_max = 10 * LIMIT_JSON_NODES;
    if (json_read(arena, body, &limits, &root, err) < 0)
        return error_wrap(err, "%s answered with what is not JSON", who);
    if (!str_eq(json_str(json_get(root, STR("status"))), STR("success")))
        return error_set(err, ERROR_INTERNAL, "%s says: %.*s", who,
                         STR_ARG(json_str(json_get(root, STR("error")))));
    *ret_data = json_get(root, STR("data"));
    return 0;
}

bool prometheus_value_read(struct arena *arena, struct json pair, double *ret_value)
{
    struct json_iter it = json_iter(pair);

    if (!json_next(&it) || !json_next(&it) || !json_str(it.value).len)
        return false;
    *ret_value = strtod(str_z(arena, json_str(it.value)), NULL);
    return isfinite(*ret_value);
}
