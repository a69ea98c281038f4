/* SPDX-License-Identifier: Apache-2.0 */
/* charts.c: downloads, and the look-up in what was downloaded. */
#include "lab/downstream/charts.h"

#include "base/memory.h"
#include "lab/downstream/fetch.h"
#include "text/semver.h"
#include "text/yaml.h"

enum { INDEX_BYTES_MAX = 4 * 1024 * 1024, CHART_BYTES_MAX = 8 * 1024 * 1024, DOWNLOAD_MS = 30000 };

struct charts {
    struct loop *loop;
    struct http_client *strict, *insecure;
};

struct charts *charts_create(struct loop *loop, struct error *err)
{
    AUTO(charts_free) struct charts *charts = mem_new(struct charts);
    struct http_client_options options = { .user_agent = "herd-lab", .plain_allowed = true };

    charts->loop = loop;
    charts->strict = http_client_create(loop, &options, err);
    options.insecure = true;
    charts->insecure = charts->strict ? http_client_create(loop, &options, err) : NULL;
    return charts->insecure ? TAKE(charts) : NULL;
}

void charts_free(struct charts *charts)
{
    if (!charts)
        return;
    http_client_free(charts->strict);
    http_client_free(charts->insecure);
    mem_free(charts);
}

/* Whatever the status: Rancher does not look at it (rancher v2.14
 * pkg/catalogv2/http/download.go). */
static int download(struct charts *charts, struct arena *arena, struct str url, bool insecure,
                    size_t bytes_max, struct str *ret_bytes, struct error *err)
{
    struct fetched answer = fetch(charts->loop, insecure ? charts->insecure : charts->strict, arena,
                                  &(struct fetch){ .method = "GET",
                                                   .url = url,
                                                   .timeout_ms = DOWNLOAD_MS,
                                                   .answer_bytes_max = bytes_max });

    if (answer.status == 0)
        return error_set(err, ERROR_CONNECT, "Get \"%.*s\": %s", STR_ARG(url), answer.error.text);
    *ret_bytes = answer.body;
    return 0;
}

static struct str without_slash(struct str url)
{
    while (str_ends(url, STR("/")))
        url.len--;
    return url;
}

int charts_index(struct charts *charts, struct arena *arena, struct str url, bool insecure,
                 struct str *ret_index, struct error *err)
{
    struct str address = str_fmt(arena, "%.*s/index.yaml", STR_ARG(without_slash(url)));
    struct str text = STR("");
    struct yaml_documents documents;
    struct error why = { 0 };
    struct json index;

    if (str_starts(url, STR("oci://")))
        return error_set(err, ERROR_INVALID,
                         "the lab has no OCI registries for real clusters; serve the charts over "
                         "HTTP");
    if (download(charts, arena, address, insecure, INDEX_BYTES_MAX, &text, err) != 0)
        return -1;
    if (yaml_read(arena, text, &documents, &why) != 0 || !documents.count ||
        json_read(arena, documents.items[0].json, &json_limits_default, &index, &why) != 0)
        return error_set(err, ERROR_SYNTAX, "failed to parse response from %.*s", STR_ARG(address));
    if (!json_is(json_get(index, STR("apiVersion")), JSON_STRING))
        return error_set(err, ERROR_SYNTAX, "no API version specified");
    *ret_index = documents.items[0].json;
    return 0;
}

int charts_download(struct charts *charts, struct arena *arena, struct str url, bool insecure,
                    struct str *ret_tarball, struct error *err)
{
    return download(charts, arena, url, insecure, CHART_BYTES_MAX, ret_tarball, err);
}

int charts_find(struct arena *arena, struct json index, struct str chart, struct str version,
                struct json *ret_entry, struct error *err)
{
    struct json versions = json_get(json_get(index, STR("entries")), chart);
    struct json_iter it = json_iter(versions);
    struct semver_range *range = NULL;
    struct semver best = { 0 };
    bool found = false;
    struct error ignored;

    if (!json_count(versions))
        return error_set(err, ERROR_NOT_FOUND, "no chart name found");
    while (version.len && json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("version"))), version)) {
            *ret_entry = it.value;
            return 0;
        }
    if (semver_range_parse(arena, version.len ? version : STR(">=0.0.0"), &range, &ignored) != 0)
        return error_set(err, ERROR_INVALID, "improper constraint: %.*s", STR_ARG(version));
    for (it = json_iter(versions); json_next(&it);) {
        struct semver one;

        if (semver_parse(json_str(json_get(it.value, STR("version"))), &one, &ignored) != 0 ||
            !semver_range_has(range, &one) || (found && semver_cmp(&one, &best) <= 0))
            continue;
        found = true;
        best = one;
        *ret_entry = it.value;
    }
    return found ? 0
                 : error_set(err, ERROR_NOT_FOUND, "no chart version found for %.*s-%.*s",
                             STR_ARG(chart), STR_ARG(version));
}

struct str charts_url(struct arena *arena, struct str repo_url, struct json entry)
{
    struct json_iter it = json_iter(json_get(entry, STR("urls")));
    struct str url = json_next(&it) ? json_str(it.value) : STR("");

    if (str_find(url, STR("://"), 0) >= 0)
        return url;
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(without_slash(repo_url)), STR_ARG(url));
}
