/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: what is sent, and what objects say.
 * Sources: rancher/rancher v2.14 pkg/api/steve/catalog/types/rest.go,
 * pkg/apis/catalog.cattle.io/v1. */
#include "controller/backends/rancher_apps/wire.h"

#include "base/duration.h"
#include "stack/model/limits.h"
#include "text/json_write.h"
#include "text/semver.h"
#include "text/time.h"

const struct kube_resource rancher_apps =
    KUBE_RESOURCE_INIT("catalog.cattle.io", "v1", "apps", "App", true);
const struct kube_resource rancher_operations =
    KUBE_RESOURCE_INIT("catalog.cattle.io", "v1", "operations", "Operation", true);
const struct kube_resource rancher_cluster_repos =
    KUBE_RESOURCE_INIT("catalog.cattle.io", "v1", "clusterrepos", "ClusterRepo", false);

#define REPO_MANAGED "herd.suse.com/managed"           /* label of a ClusterRepo that Herd made */
#define APP_REPO "catalog.cattle.io/cluster-repo-name" /* label of an App: where it came from */

enum {
    HISTORY_MAX = 5,           /* revisions that Helm keeps; Rancher's own default */
    SHOWN_BYTES_MAX = 400,     /* of somebody else's words in a status */
    LOG_CAUSE_BYTES_MAX = 512, /* of Helm's error, all of its lines */
};

static void put_annotations(struct json_writer *w, struct arena *arena,
                            const struct wire_upgrade *upgrade)
{
    const struct desired_release *desired = upgrade->desired;

    json_put_key(w, STR("annotations"));
    json_open_object(w);
    json_field_str(w, "catalog.cattle.io/ui-source-repo-type", STR("cluster"));
    json_field_str(w, "catalog.cattle.io/ui-source-repo", upgrade->repo_name);
    json_field_str(w, STAMP_STACK, upgrade->stack);
    json_field_str(w, STAMP_STACK_UID, upgrade->stack_uid);
    json_field_str(w, STAMP_CHART, desired->chart_name);
    json_field_str(w, STAMP_DIGEST, desired->digest);
    json_field_str(w, STAMP_DEPENDS_ON, desired->depends_on);
    json_field_str(w, STAMP_REVISION, str_fmt(arena, "%u", upgrade->revision + 1));
    if (upgrade->replaces.len)
        json_field_str(w, STAMP_REPLACES, upgrade->replaces);
    json_close_object(w);
}

struct str wire_upgrade_body(struct arena *arena, const struct wire_upgrade *upgrade)
{
    const struct desired_release *desired = upgrade->desired;
    int64_t timeout_ms = desired->timeout_ms < LIMIT_OPERATION_TIMEOUT_MAX
                             ? desired->timeout_ms
                             : LIMIT_OPERATION_TIMEOUT_MAX;
    struct str values = releases_values(arena, desired);
    struct strbuf out = strbuf_new(arena, values.len + 1024);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    /* A string: a number is rejected with 500. */
    json_field_str(&w, "timeout", duration_text(arena, timeout_ms));
    json_field_bool(&w, "wait", desired->wait);
    json_field_str(&w, "namespace", desired->namespace_);
    json_field_int(&w, "historyMax", HISTORY_MAX);
    json_field_bool(&w, "cleanupOnFail", false);
    json_field_bool(&w, "automaticCPTolerations", true);
    json_put_key(&w, STR("charts"));
    json_open_array(&w);
    json_open_object(&w);
    json_field_str(&w, "chartName", desired->chart_in_repo);
    json_field_str(&w, "version", upgrade->version);
    json_field_str(&w, "releaseName", desired->release_name);
    json_field_str(&w, "description",
                   release_description(arena, upgrade->stack, upgrade->stack_uid));
    /* Else Helm silently keeps the values of the revision before. */
    json_field_bool(&w, "resetValues", true);
    json_field_raw(&w, "values", values);
    put_annotations(&w, arena, upgrade);
    json_close_object(&w);
    json_close_array(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

struct str wire_uninstall_body(struct arena *arena, struct str stack, struct str stack_uid)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "timeout", duration_text(arena, LIMIT_UNINSTALL_TIMEOUT));
    json_field_str(&w, "description", release_description(arena, stack, stack_uid));
    json_field_bool(&w, "automaticCPTolerations", true);
    json_close_object(&w);
    return strbuf_str(&out);
}

struct str wire_mark_body(struct arena *arena, const struct wire_mark *mark)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "uid", mark->uid);
    json_put_key(&w, STR("annotations"));
    json_open_object(&w);
    json_field_str(&w, STAMP_STACK, mark->stack);
    json_field_str(&w, STAMP_STACK_UID, mark->stack_uid);
    json_field_str(&w, STAMP_CHART, mark->chart_name);
    json_field_str(&w, STAMP_DEPENDS_ON, mark->depends_on);
    json_field_str(&w, STAMP_REPLACES, mark->replaces);
    json_field_str(&w, STAMP_DIGEST, mark->digest);
    json_field_str(&w, MARK_CORRECTIONS, str_fmt(arena, "%u", mark->corrections));
    json_field_str(&w, MARK_REVISION, str_fmt(arena, "%u", mark->revision));
    json_field_str(&w, MARK_TIME, time_rfc3339(arena, mark->now_ms));
    json_close_object(&w);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

struct str wire_refresh_body(struct arena *arena, int64_t now_wall_ms)
{
    return str_fmt(arena, "{\"spec\":{\"forceUpdate\":\"%.*s\"}}",
                   STR_ARG(time_rfc3339(arena, now_wall_ms)));
}

struct str wire_repo_body(struct arena *arena, struct str name, struct str url)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("catalog.cattle.io/v1"));
    json_field_str(&w, "kind", STR("ClusterRepo"));
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "name", name);
    json_put_key(&w, STR("labels"));
    json_open_object(&w);
    json_field_str(&w, REPO_MANAGED, STR("true"));
    json_close_object(&w);
    json_put_key(&w, STR("annotations"));
    json_open_object(&w);
    json_field_str(&w, "herd.suse.com/repo-url", url);
    json_close_object(&w);
    json_close_object(&w);
    json_put_key(&w, STR("spec"));
    json_open_object(&w);
    json_field_str(&w, "url", url);
    /* Said, so that nobody's default makes it otherwise. */
    json_field_bool(&w, "insecureSkipTLSVerify", false);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

static enum release_phase release_phase_of(struct str status)
{
    static const struct {
        struct str status;
        enum release_phase phase;
    } rows[] = {
        { STR_INIT("deployed"), RELEASE_DEPLOYED },
        { STR_INIT("failed"), RELEASE_FAILED },
        { STR_INIT("pending-install"), RELEASE_PENDING },
        { STR_INIT("pending-upgrade"), RELEASE_PENDING },
        { STR_INIT("pending-rollback"), RELEASE_PENDING },
        { STR_INIT("uninstalling"), RELEASE_UNINSTALLING },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(status, rows[i].status))
            return rows[i].phase;
    return RELEASE_OTHER;
}

/* A number in an annotation; 0 for anything else. */
static uint32_t count_of(struct json annotations, const char *name)
{
    uint64_t number = 0;

    (void)str_to_u64(json_str(json_get(annotations, str_of(name))), &number);
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

void wire_app_read(struct json app, struct observed_release *ret_release)
{
    struct json spec = json_get(app, STR("spec"));
    struct json info = json_get(spec, STR("info"));
    struct json metadata = json_walk(spec, "chart", "metadata", NULL);
    struct json annotations = json_get(metadata, STR("annotations"));
    struct json marks = json_walk(app, "metadata", "annotations", NULL);
    bool stamped = json_str(json_get(annotations, STR(STAMP_STACK_UID))).len > 0;
    struct json names = stamped ? annotations : marks;
    struct error ignored = { .code = ERROR_NONE };
    int64_t revision = 0;

    json_int64(json_get(spec, STR("version")), &revision);
    *ret_release = (struct observed_release){
        .namespace_ = json_str(json_walk(app, "metadata", "namespace", NULL)),
        .name = json_str(json_walk(app, "metadata", "name", NULL)),
        .phase = release_phase_of(json_str(json_get(info, STR("status")))),
        .revision = revision > 0 && revision <= UINT32_MAX ? (uint32_t)revision : 0,
        .chart_version = json_str(json_get(metadata, STR("version"))),
        .description = json_str(json_get(info, STR("description"))),
        .repo_name = json_str(json_get(json_walk(app, "metadata", "labels", NULL), STR(APP_REPO))),
        .stack = json_str(json_get(annotations, STR(STAMP_STACK))),
        .stack_uid = json_str(json_get(annotations, STR(STAMP_STACK_UID))),
        .digest = json_str(json_get(annotations, STR(STAMP_DIGEST))),
        .stamped_revision = count_of(annotations, STAMP_REVISION),
        .chart_name = json_str(json_get(names, STR(STAMP_CHART))),
        .depends_on = json_str(json_get(names, STR(STAMP_DEPENDS_ON))),
        .replaces = json_str(json_get(names, STR(STAMP_REPLACES))),
        .marked_stack = json_str(json_get(marks, STR(STAMP_STACK))),
        .marked_uid = json_str(json_get(marks, STR(STAMP_STACK_UID))),
        .marked_digest = json_str(json_get(marks, STR(STAMP_DIGEST))),
        .corrections = count_of(marks, MARK_CORRECTIONS),
        .marked_revision = count_of(marks, MARK_REVISION),
    };
    (void)time_parse_rfc3339(json_str(json_get(marks, STR(MARK_TIME))), &ret_release->marked_ms,
                             &ignored);
    (void)time_parse_rfc3339(json_str(json_get(info, STR("lastDeployed"))), &ret_release->began_ms,
                             &ignored);
}

/* The entry of `conditions` with that type; absent if there is none. */
static struct json condition_of(struct json status, const char *type)
{
    struct json_iter it = json_iter(json_get(status, STR("conditions")));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), str_of(type)))
            return it.value;
    return (struct json){ NULL, 0 };
}

static bool condition_is(struct json condition, const char *status)
{
    return str_eq(json_str(json_get(condition, STR("status"))), str_of(status));
}

static struct str condition_text(struct arena *arena, struct json condition)
{
    struct str message = str_trim(json_str(json_get(condition, STR("message"))));

    if (message.len == 0)
        message = json_str(json_get(condition, STR("reason")));
    return str_shown(arena, message, SHOWN_BYTES_MAX);
}

/* Of the Stack that asked, by helm's --description; "" if none did. */
static struct str asked_by(struct json command)
{
    static const struct str option = STR_INIT("--description=");
    struct json_iter it = json_iter(command);

    while (json_next(&it)) {
        struct str argument = json_str(it.value);

        if (str_starts(argument, option))
            return release_description_uid(str_slice(argument, option.len, argument.len));
    }
    return STR("");
}

bool wire_operation_read(struct arena *arena, struct json operation,
                         struct observed_operation *ret_operation)
{
    struct json metadata = json_get(operation, STR("metadata"));
    struct json status = json_get(operation, STR("status"));
    struct json reconciling = condition_of(status, "Reconciling");
    struct json stalled = condition_of(status, "Stalled");
    struct error ignored = { .code = ERROR_NONE };
    struct observed_operation read = {
        .namespace_ = json_str(json_get(metadata, STR("namespace"))),
        .name = json_str(json_get(metadata, STR("name"))),
        .release_name = json_str(json_get(status, STR("releaseName"))),
        .stack_uid = asked_by(json_get(status, STR("command"))),
        .uninstall = str_eq(json_str(json_get(status, STR("action"))), STR("uninstall")),
        /* No conditions: just created, or its pod cannot start. */
        .state = OPERATION_RUNNING,
    };

    if (read.release_name.len == 0)
        return false;
    if (condition_is(stalled, "True")) {
        read.state = OPERATION_FAILED;
        read.message = condition_text(arena, stalled);
    } else if (condition_is(reconciling, "False")) {
        read.state = OPERATION_SUCCEEDED;
    } else if (!condition_is(reconciling, "True")) {
        read.message = STR("its pod has no container yet");
    } else if (str_starts(json_str(json_get(reconciling, STR("message"))), STR("waiting"))) {
        read.message = str_fmt(arena, "its pod is pending (%.*s)",
                               STR_ARG(condition_text(arena, reconciling)));
    }
    time_parse_rfc3339(json_str(json_get(metadata, STR("creationTimestamp"))), &read.created_ms,
                       &ignored);
    *ret_operation = read;
    return true;
}

bool wire_repo_read(struct arena *arena, struct json repo, struct wire_repo *ret_repo)
{
    struct json metadata = json_get(repo, STR("metadata"));
    struct json spec = json_get(repo, STR("spec"));
    struct json status = json_get(repo, STR("status"));
    struct str url = json_str(json_get(spec, STR("url")));
    struct json enabled = json_get(spec, STR("enabled"));
    /* Repositories over OCI have a condition of their own. */
    struct json downloaded =
        condition_of(status, str_starts(url, STR("oci://")) ? "OCIDownloaded" : "Downloaded");
    int64_t generation = 0;
    int64_t observed = -1;

    struct json labels = json_get(metadata, STR("labels"));

    if (url.len == 0)
        return false;
    json_int64(json_get(metadata, STR("generation")), &generation);
    json_int64(json_get(status, STR("observedGeneration")), &observed);
    *ret_repo = (struct wire_repo){
        .name = json_str(json_get(metadata, STR("name"))),
        .url = release_repo_url(url),
        .state = REPO_DOWNLOADING,
        .index_version = json_str(json_get(status, STR("indexConfigMapResourceVersion"))),
        .downloaded = json_str(json_get(status, STR("downloadTime"))),
        .managed = str_eq(json_str(json_get(labels, STR(REPO_MANAGED))), STR("true")),
    };
    if (json_is(enabled, JSON_BOOL) && !json_bool(enabled)) {
        ret_repo->state = REPO_UNUSABLE;
        ret_repo->message = STR("is disabled (spec.enabled: false); enable it");
    } else if (condition_is(downloaded, "False")) {
        ret_repo->state = REPO_FAILED;
        ret_repo->message = condition_text(arena, downloaded);
    } else if (condition_is(downloaded, "True") && observed == generation &&
               json_str(json_get(status, STR("indexConfigMapName"))).len) {
        ret_repo->state = REPO_READY;
    }
    return true;
}

int wire_info_read(struct json info, struct str *ret_version, struct error *err)
{
    struct str version = json_str(json_walk(info, "chart", "version", NULL));

    if (version.len == 0)
        return error_set(err, ERROR_INTERNAL,
                         "Rancher described the chart without saying its version");
    *ret_version = version;
    return 0;
}

bool wire_version_fits(struct str asked, struct str given)
{
    struct error ignored = { .code = ERROR_NONE };
    struct semver want;
    struct semver got;

    if (str_eq(asked, given) || semver_parse(asked, &want, &ignored) < 0)
        return true; /* a range: Rancher chose within it */
    return semver_parse(given, &got, &ignored) == 0 && semver_cmp(&want, &got) == 0 &&
           (want.build.len == 0 || str_eq(want.build, got.build));
}

int wire_output_read(struct json output, struct str *ret_operation, struct error *err)
{
    struct str name = json_str(json_get(output, STR("operationName")));

    if (name.len == 0)
        return error_set(err, ERROR_INTERNAL,
                         "Rancher took the request without naming the operation it began");
    *ret_operation = name;
    return 0;
}

/* A line that is no part of Helm's error although it stands behind it: the script's own. */
static bool ends_cause(struct str line)
{
    static const struct str ends[] = { STR_INIT("helm.go:"), STR_INIT("SUCCESS:"),
                                       STR_INIT("---------") };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (str_starts(line, ends[i]))
            return true;
    return false;
}

/* Helm lists what is wrong on lines of their own, below one that ends in a colon. */
static void add_line(struct strbuf *cause, struct str line)
{
    if (cause->len)
        strbuf_put(cause, cause->at[cause->len - 1] == ':' ? STR(" ") : STR("; "));
    strbuf_put(cause, line);
}

struct str wire_log_cause(struct arena *arena, struct str log)
{
    static const struct str no_api = STR_INIT("Timeout waiting for kubernetes");
    struct strbuf cause = strbuf_new(arena, SHOWN_BYTES_MAX);
    bool inside = false;
    struct str line;

    while (str_split(&log, '\n', &line)) {
        line = str_trim(line);
        /* Helm's own line, or that of the script that waits for the API before it: the last such
         * and all that follows it. */
        if (str_starts(line, STR("Error:")) || str_starts(line, no_api)) {
            cause.len = 0;
            inside = true;
        }
        if (inside && ends_cause(line))
            inside = false;
        /* One byte more than is shown tells that there is more. */
        if (inside && line.len && cause.len <= LOG_CAUSE_BYTES_MAX)
            add_line(&cause, line);
    }
    return str_shown(arena, strbuf_str(&cause), LOG_CAUSE_BYTES_MAX);
}
