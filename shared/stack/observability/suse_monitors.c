/* SPDX-License-Identifier: Apache-2.0 */
/* suse_monitors.c: a table, with the pods of a release put in. */
#include "stack/observability/suse_monitors.h"

#include "text/digest.h"
#include "text/json_write.h"

#include <stdlib.h>

#define PREFIX "urn:custom:monitor:herd-"
#define FUNCTION "{{ get \"urn:stackpack:common:monitor-function:threshold\" }}"

enum { OWNER_HASH = 16, RELEASE_HASH = 8, INTERVAL_S = 60, DEPTH_MAX = 8 };

struct suse_monitor_row {
    struct str slug, name, unit, comparator, threshold, state, query, hint;
};

static const struct suse_monitor_row rows[] = {
#define SUSE_MONITOR(slug_, name_, unit_, comparator_, threshold_, state_, query_, hint_)          \
    { STR_INIT(slug_),      STR_INIT(name_),  STR_INIT(unit_),  STR_INIT(comparator_),             \
      STR_INIT(threshold_), STR_INIT(state_), STR_INIT(query_), STR_INIT(hint_) },
#include "stack/observability/suse_monitors.def"
#undef SUSE_MONITOR
};
_Static_assert(sizeof(rows) / sizeof(*rows) == SUSE_MONITORS_OF_RELEASE, "as the header says");

static struct str hash_of(struct arena *arena, struct str a, struct str b, size_t length)
{
    struct str hash =
        digest_sha256_hex(arena, str_fmt(arena, "%.*s\n%.*s", STR_ARG(a), STR_ARG(b)));

    return str_slice(hash, 0, length);
}

struct str suse_monitors_prefix(struct arena *arena, struct str cluster, struct str stack)
{
    return str_fmt(arena, PREFIX "%.*s-", STR_ARG(hash_of(arena, cluster, stack, OWNER_HASH)));
}

/* The query of a row, with @S and @B filled in. */
static struct str query_of(struct arena *arena, const struct suse_monitor_row *row,
                           struct str selected)
{
    struct strbuf out = strbuf_new(arena, 512);

    for (size_t i = 0; i < row->query.len; i++) {
        char next = i + 1 < row->query.len ? row->query.at[i + 1] : 0;

        if (row->query.at[i] != '@') {
            strbuf_char(&out, row->query.at[i]);
            continue;
        }
        strbuf_put(&out, next == 'S' ? selected
                                     : STR("k8s_cluster_name,k8s_namespace_name,k8s_pod_name"));
        i++;
    }
    return strbuf_str(&out);
}

void suse_monitors_add(struct suse_monitors *monitors, struct str cluster,
                       const struct monitored_release *release)
{
    struct arena *arena = monitors->arena;
    struct str prefix = suse_monitors_prefix(arena, cluster, release->stack);
    struct str hash = hash_of(arena, release->namespace_, release->name, RELEASE_HASH);
    struct str selected = str_fmt(
        arena, "k8s_cluster_name=\"%.*s\",k8s_namespace_name=~\"%.*s\",k8s_pod_name=~\"%.*s\"",
        STR_ARG(cluster), STR_ARG(monitoring_namespaces_pattern(arena, release)),
        STR_ARG(monitoring_pods_pattern(arena, release->workloads)));

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        suse_monitors_push(
            monitors,
            (struct suse_monitor){
                .identifier = str_fmt(arena, "%.*s%.*s-%.*s", STR_ARG(prefix), STR_ARG(hash),
                                      STR_ARG(rows[i].slug)),
                .name = str_fmt(arena, "%.*s: %.*s on %.*s", STR_ARG(rows[i].name),
                                STR_ARG(release->name), STR_ARG(cluster)),
                .description = str_fmt(
                    arena, "Herd has added this monitor for release %.*s/%.*s of Stack %.*s.",
                    STR_ARG(release->namespace_), STR_ARG(release->name), STR_ARG(release->stack)),
                .query = query_of(arena, &rows[i], selected),
                .row = &rows[i],
            });
}

/* --- what is sent --- */

static void put_arguments(struct json_writer *w, const struct suse_monitor *monitor)
{
    const struct suse_monitor_row *row = monitor->row;

    json_put_key(w, STR("arguments"));
    json_open_object(w);
    json_field_str(w, "comparator", row->comparator);
    json_field_raw(w, "threshold", row->threshold);
    json_field_str(w, "failureState", row->state);
    json_put_key(w, STR("metric"));
    json_open_object(w);
    json_field_str(w, "query", monitor->query);
    json_field_str(w, "unit", row->unit);
    json_field_str(w, "aliasTemplate", STR("${k8s_pod_name}"));
    json_close_object(w);
    json_field_str(w, "titleTemplate", monitor->name);
    json_field_str(w, "urnTemplate",
                   STR("urn:kubernetes:/${k8s_cluster_name}:${k8s_namespace_name}:pod/"
                       "${k8s_pod_name}"));
    json_close_object(w);
}

static void put_monitor(struct json_writer *w, const struct suse_monitor *monitor)
{
    json_open_object(w);
    json_field_str(w, "_type", STR("Monitor"));
    json_field_str(w, "identifier", monitor->identifier);
    json_field_str(w, "name", monitor->name);
    json_field_str(w, "description", monitor->description);
    json_field_str(w, "status", STR("ENABLED"));
    json_field_int(w, "intervalSeconds", INTERVAL_S);
    json_field_raw(w, "function", STR(FUNCTION));
    put_arguments(w, monitor);
    json_field_str(w, "remediationHint", monitor->row->hint);
    json_field_raw(w, "tags", STR("[\"herd\"]"));
    json_close_object(w);
}

struct str suse_monitors_document(struct arena *arena, const struct suse_monitor *monitors,
                                  uint32_t count)
{
    struct strbuf out = strbuf_new(arena, 1024);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("nodes"));
    json_open_array(&w);
    for (uint32_t i = 0; i < count; i++)
        put_monitor(&w, &monitors[i]);
    json_close_array(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

/* --- what is there --- */

/* Arguments are listed by the ids of their parameters, not by name: a value is looked for. */
static bool holds_text(struct json json, struct str text, uint32_t depth)
{
    if (json_is(json, JSON_STRING))
        return str_eq(json_str(json), text);
    if (depth == DEPTH_MAX || (!json_is(json, JSON_ARRAY) && !json_is(json, JSON_OBJECT)))
        return false;
    for (struct json_iter it = json_iter(json); json_next(&it);)
        if (holds_text(it.value, text, depth + 1))
            return true;
    return false;
}

static bool holds_number(struct json arguments, struct str number)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    double wanted = strtod(str_z(arena, number), NULL);

    for (struct json_iter it = json_iter(arguments); json_next(&it);) {
        struct json value = json_get(it.value, STR("value"));

        if (json_is(value, JSON_NUMBER) &&
            !(strtod(str_z(arena, json_raw(value)), NULL) < wanted) &&
            !(strtod(str_z(arena, json_raw(value)), NULL) > wanted))
            return true;
    }
    return false;
}

bool suse_monitor_is_as_wanted(struct json stored, const struct suse_monitor *wanted)
{
    struct json arguments = json_get(stored, STR("arguments"));
    int64_t interval = 0;

    json_int64(json_get(stored, STR("intervalSeconds")), &interval);
    return interval == INTERVAL_S &&
           str_eq(json_str(json_get(stored, STR("name"))), wanted->name) &&
           str_eq(json_str(json_get(stored, STR("description"))), wanted->description) &&
           str_eq(json_str(json_get(stored, STR("remediationHint"))), wanted->row->hint) &&
           str_eq(json_str(json_get(stored, STR("status"))), STR("ENABLED")) &&
           holds_text(arguments, wanted->query, 0) &&
           holds_text(arguments, wanted->row->comparator, 0) &&
           holds_text(arguments, wanted->row->state, 0) &&
           holds_number(arguments, wanted->row->threshold);
}

bool suse_monitor_works(struct json stored)
{
    return str_eq(json_str(json_get(stored, STR("status"))), STR("ENABLED")) &&
           !str_eq(json_str(json_get(stored, STR("runtimeStatus"))), STR("ERROR"));
}
