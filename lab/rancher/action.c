/* SPDX-License-Identifier: Apache-2.0 */
/* action.c: decode as Go would, and show the command as Rancher renders it. */
#include "lab/rancher/action.h"

#include "base/duration.h"
#include "text/json_write.h"

static const struct str go_types[] = { STR_INIT("types.ChartInstallAction"),
                                       STR_INIT("types.ChartUpgradeAction"),
                                       STR_INIT("types.ChartUninstallAction") };

static int mismatch(struct json value, const char *struct_name, const char *field, const char *type,
                    struct error *err)
{
    const char *kind = json_kind_name(json_kind(value));

    return error_set(err, ERROR_INTERNAL,
                     "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                     strcmp(kind, "boolean") == 0 ? "bool" : kind, struct_name, field, type);
}

/* One row for each field that is read. `null` leaves a field as it is, as in Go. */
enum field_type { FIELD_STRING, FIELD_BOOL, FIELD_INT, FIELD_OBJECT };

struct field {
    const char *name;
    enum field_type type;
    void *at;
};

static int read_field(struct json object, const struct field *field, const char *struct_name,
                      struct error *err)
{
    struct json value = json_get(object, str_of(field->name));
    enum json_kind kind = json_kind(value);

    if (kind == JSON_ABSENT || kind == JSON_NULL)
        return 0;
    switch (field->type) {
    case FIELD_STRING:
        if (kind != JSON_STRING)
            return mismatch(value, struct_name, field->name, "string", err);
        *(struct str *)field->at = json_str(value);
        return 0;
    case FIELD_BOOL:
        if (kind != JSON_BOOL)
            return mismatch(value, struct_name, field->name, "bool", err);
        *(bool *)field->at = json_bool(value);
        return 0;
    case FIELD_INT:
        if (kind != JSON_NUMBER || !json_int64(value, field->at))
            return mismatch(value, struct_name, field->name, "int", err);
        return 0;
    case FIELD_OBJECT:
        if (kind != JSON_OBJECT)
            return mismatch(value, struct_name, field->name, "map[string]interface {}", err);
        *(struct str *)field->at = json_raw(value);
        return 0;
    }
    return 0;
}

static int read_fields(struct json object, const struct field *fields, size_t count,
                       const char *struct_name, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (read_field(object, &fields[i], struct_name, err) != 0)
            return -1;
    return 0;
}

/* metav1.Duration: a string that time.ParseDuration takes. */
static int read_timeout(struct json value, int64_t *ret_ms, struct error *err)
{
    enum json_kind kind = json_kind(value);

    if (kind == JSON_ABSENT || kind == JSON_NULL)
        return 0;
    if (kind != JSON_STRING)
        return error_set(err, ERROR_INTERNAL,
                         "json: cannot unmarshal %s into Go value of type string",
                         kind == JSON_BOOL ? "bool" : json_kind_name(kind));
    if (!duration_parse(json_str(value), ret_ms))
        return error_set(err, ERROR_INTERNAL, "time: invalid duration \"%.*s\"",
                         STR_ARG(json_str(value)));
    return 0;
}

/* What encoding/json says about bytes that are no JSON. */
static int syntax_error(struct str body, const char *why, struct error *err)
{
    if (body.len == 0)
        return error_set(err, ERROR_INTERNAL, "EOF");
    if (body.at[0] != '{' && body.at[0] != '[')
        return error_set(err, ERROR_INTERNAL,
                         "invalid character '%c' looking for beginning of value",
                         body.at[0] >= ' ' && body.at[0] < 127 ? body.at[0] : '?');
    if (body.at[body.len - 1] != '}' && body.at[body.len - 1] != ']')
        return error_set(err, ERROR_INTERNAL, "unexpected EOF");
    return error_set(err, ERROR_INTERNAL, "invalid character in the body: %s", why);
}

static int read_chart(struct json json, const char *struct_name, struct action_chart *chart,
                      struct error *err)
{
    const struct field fields[] = {
        { "chartName", FIELD_STRING, &chart->chart },
        { "version", FIELD_STRING, &chart->version },
        { "releaseName", FIELD_STRING, &chart->release },
        { "description", FIELD_STRING, &chart->description },
        { "values", FIELD_OBJECT, &chart->values },
        { "annotations", FIELD_OBJECT, &chart->annotations },
        { "resetValues", FIELD_BOOL, &chart->reset_values },
        { "force", FIELD_BOOL, &chart->force },
    };

    if (!json_is(json, JSON_OBJECT))
        return mismatch(json, struct_name, "charts", "types.ChartUpgrade", err);
    if (read_fields(json, fields, sizeof(fields) / sizeof(fields[0]), struct_name, err) != 0)
        return -1;

    struct json_iter it = json_iter(json_get(json, STR("annotations")));

    while (json_next(&it))
        if (!json_is(it.value, JSON_STRING))
            return mismatch(it.value, struct_name, "charts.annotations", "string", err);
    return 0;
}

static int read_body(struct json root, struct action *action, struct error *err)
{
    const char *struct_name = go_types[action->which].at + 6; /* behind "types." */
    const struct field fields[] = {
        { "namespace", FIELD_STRING, &action->namespace_ },
        { "projectId", FIELD_STRING, &action->project_id },
        { "description", FIELD_STRING, &action->description },
        { "historyMax", FIELD_INT, &action->history_max },
        { "wait", FIELD_BOOL, &action->wait },
        { "noHooks", FIELD_BOOL, &action->no_hooks },
        { "disableOpenAPIValidation", FIELD_BOOL, &action->disable_openapi_validation },
        { "force", FIELD_BOOL, &action->force },
        { "takeOwnership", FIELD_BOOL, &action->take_ownership },
        { "cleanupOnFail", FIELD_BOOL, &action->cleanup_on_fail },
        { "keepHistory", FIELD_BOOL, &action->keep_history },
        { "dryRun", FIELD_BOOL, &action->dry_run },
    };

    if (read_timeout(json_get(root, STR("timeout")), &action->timeout_ms, err) != 0 ||
        read_fields(root, fields, sizeof(fields) / sizeof(fields[0]), struct_name, err) != 0)
        return -1;

    struct json charts = json_get(root, STR("charts"));

    if (!json_is(charts, JSON_ARRAY) && !json_is(charts, JSON_ABSENT) &&
        !json_is(charts, JSON_NULL))
        return mismatch(charts, struct_name, "charts", "[]types.ChartUpgrade", err);

    struct json_iter it = json_iter(charts);

    while (json_next(&it))
        if (read_chart(it.value, struct_name,
                       action_charts_push(&action->charts, (struct action_chart){ 0 }), err) != 0)
            return -1;
    return 0;
}

int action_read(struct arena *arena, enum task_action which, struct str body,
                struct action *ret_action, struct error *err)
{
    struct action action = { .which = which, .charts = action_charts_new(arena, 1) };
    struct error syntax = { 0 };
    struct json root;

    if (json_read(arena, body, &json_limits_default, &root, &syntax) != 0)
        return syntax_error(str_trim(body), syntax.text, err);
    if (!json_is(root, JSON_OBJECT) && !json_is(root, JSON_NULL))
        return error_set(err, ERROR_INTERNAL, "json: cannot unmarshal %s into Go value of type %s",
                         json_kind_name(json_kind(root)), go_types[which].at);
    if (read_body(root, &action, err) != 0)
        return -1;
    if (!action.namespace_.len)
        action.namespace_ = STR("default");
    if (action.history_max <= 0)
        action.history_max = 5;
    *ret_action = action;
    return 0;
}

/* ---- the command line ------------------------------------------------------------------------ */

static void put_option(struct json_writer *w, struct arena *arena, const char *name,
                       struct str value)
{
    json_put_str(w, str_fmt(arena, "--%s=%.*s", name, STR_ARG(value)));
}

static void put_switch(struct json_writer *w, struct arena *arena, const char *name, bool is_on)
{
    if (is_on)
        put_option(w, arena, name, STR("true"));
}

/* Characters outside [-.0-9a-zA-Z] become '-' in the names of files. */
static struct str file_version(struct arena *arena, struct str version)
{
    struct strbuf out = strbuf_new(arena, version.len + 1);

    for (size_t i = 0; i < version.len; i++) {
        char c = version.at[i];
        bool stays = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '-' || c == '.';

        strbuf_char(&out, stays ? c : '-');
    }
    return strbuf_str(&out);
}

/* In the order of their names, false and empty ones left out. */
static void put_options(struct json_writer *w, struct arena *arena, const struct action *action,
                        const struct action_chart *chart, struct str version, struct str repo)
{
    bool upgrade = action->which == TASK_UPGRADE;
    struct str file = file_version(arena, version);

    put_switch(w, arena, "cleanup-on-fail", upgrade && action->cleanup_on_fail);
    if (chart->description.len)
        put_option(w, arena, "description", chart->description);
    put_switch(w, arena, "disable-openapi-validation", action->disable_openapi_validation);
    put_switch(w, arena, "force", upgrade && (action->force || chart->force));
    if (upgrade)
        put_option(w, arena, "history-max", str_fmt(arena, "%lld", (long long)action->history_max));
    put_switch(w, arena, "install", upgrade);
    put_option(w, arena, "labels",
               str_fmt(arena, "catalog.cattle.io/cluster-repo-name=%.*s", STR_ARG(repo)));
    put_option(w, arena, "namespace", action->namespace_);
    put_switch(w, arena, "no-hooks", action->no_hooks);
    put_switch(w, arena, "reset-values", upgrade && chart->reset_values);
    put_switch(w, arena, "take-ownership", upgrade && action->take_ownership);
    if (action->timeout_ms)
        put_option(w, arena, "timeout", duration_text(arena, action->timeout_ms));
    if (chart->values.len > 2)
        put_option(w, arena, "values",
                   str_fmt(arena, "/home/shell/helm/values-%.*s-%.*s.yaml", STR_ARG(chart->chart),
                           STR_ARG(file)));
    put_option(w, arena, "version", version);
    put_switch(w, arena, "wait", action->wait);
    json_put_str(w, chart->release);
    json_put_str(
        w, str_fmt(arena, "/home/shell/helm/%.*s-%.*s.tgz", STR_ARG(chart->chart), STR_ARG(file)));
}

struct str action_command(struct arena *arena, const struct action *action,
                          const struct action_chart *chart, struct str release, struct str version,
                          struct str repo)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_array(&w);
    json_put_str(&w, STR("helm"));
    json_put_str(&w, task_action_name(action->which));
    if (chart) {
        put_options(&w, arena, action, chart, version, repo);
    } else {
        if (action->description.len)
            put_option(&w, arena, "description", action->description);
        put_switch(&w, arena, "dry-run", action->dry_run);
        put_switch(&w, arena, "keep-history", action->keep_history);
        put_option(&w, arena, "namespace", action->namespace_);
        put_switch(&w, arena, "no-hooks", action->no_hooks);
        if (action->timeout_ms)
            put_option(&w, arena, "timeout", duration_text(arena, action->timeout_ms));
        json_put_str(&w, release);
    }
    json_close_array(&w);
    return strbuf_str(&out);
}
