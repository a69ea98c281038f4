/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c: a parameter that is misspelled must not show everything. */
#include "controller/console/filter.h"

#include "controller/limits.h"
#include "io/http_server.h"

enum { SHOWN_BYTES = 100 };

static int read_kind(struct arena *arena, const struct console_kinds *kinds, struct str value,
                     struct console_filter *filter, struct error *err)
{
    struct strbuf all = strbuf_new(arena, 128);

    filter->kind = console_kinds_find(kinds, value);
    if (filter->kind)
        return 0;
    for (uint32_t i = 0; i < kinds->count; i++)
        strbuf_fmt(&all, "%s%s", i ? ", " : "", kinds->items[i].crd->plural);
    return error_set(err, ERROR_BAD_REQUEST,
                     "kind: Unsupported value: \"%.*s\": supported values: %.*s",
                     STR_ARG(str_shown(arena, value, SHOWN_BYTES)), STR_ARG(strbuf_str(&all)));
}

static int read_type(struct arena *arena, struct str value, struct console_filter *filter,
                     struct error *err)
{
    filter->has_type = change_type_from(value, &filter->type);
    if (filter->has_type)
        return 0;
    return error_set(err, ERROR_BAD_REQUEST,
                     "type: Unsupported value: \"%.*s\": supported values: ADDED, MODIFIED, "
                     "DELETED",
                     STR_ARG(str_shown(arena, value, SHOWN_BYTES)));
}

static int read_limit(struct arena *arena, struct str value, uint32_t limit_max,
                      struct console_filter *filter, struct error *err)
{
    uint64_t limit;

    if (!str_to_u64(value, &limit) || limit == 0 || limit > limit_max)
        return error_set(err, ERROR_BAD_REQUEST,
                         "limit: Invalid value: \"%.*s\": must be a number from 1 to %u",
                         STR_ARG(str_shown(arena, value, SHOWN_BYTES)), limit_max);
    filter->limit = (uint32_t)limit;
    return 0;
}

int console_filter_read(struct arena *arena, const struct console_kinds *kinds, struct str query,
                        uint32_t limit_max, struct console_filter *ret_filter, struct error *err)
{
    struct console_filter filter = { .limit = LIMIT_CONSOLE_EVENTS_SHOWN };
    struct str name, value;

    while (http_query_next(arena, &query, &name, &value)) {
        int failed = 0;

        if (str_eq(name, STR("kind")))
            failed = read_kind(arena, kinds, value, &filter, err);
        else if (str_eq(name, STR("type")))
            failed = read_type(arena, value, &filter, err);
        else if (str_eq(name, STR("namespace")))
            filter.namespace_ = value;
        else if (str_eq(name, STR("name")))
            filter.name = value;
        else if (limit_max && str_eq(name, STR("limit")))
            failed = read_limit(arena, value, limit_max, &filter, err);
        else
            failed = error_set(err, ERROR_BAD_REQUEST,
                               "%.*s: unknown parameter; supported are kind, namespace, name, "
                               "type%s",
                               STR_ARG(str_shown(arena, name, SHOWN_BYTES)),
                               limit_max ? " and limit" : "");
        if (failed)
            return -1;
    }
    *ret_filter = filter;
    return 0;
}

bool console_filter_takes(const struct console_filter *filter, const struct change *change)
{
    return (!filter->kind || &filter->kind->resource == change->resource) &&
           (!filter->namespace_.len || str_eq(filter->namespace_, change->namespace_)) &&
           (!filter->name.len || str_eq(filter->name, change->name)) &&
           (!filter->has_type || filter->type == change->type);
}
