/* SPDX-License-Identifier: Apache-2.0 */
/* repos_real.c: repositories over HTTP, for clusters that are real. What Rancher's agent downloads
 * in the cluster, the lab downloads for it. */
#include "lab/rancher/inside.h"

#include "lab/downstream/tarball.h"
#include "text/base64.h"
#include "text/yaml.h"
#include "text/zip.h"

enum { INDEX_BYTES_MAX = 16 * 1024 * 1024 };

static bool is_insecure(struct json repo)
{
    return json_bool(json_walk(repo, "spec", "insecureSkipTLSVerify", NULL));
}

static struct str url_of(struct json repo)
{
    return json_str(json_walk(repo, "spec", "url", NULL));
}

int repos_real_index(struct simulation *simulation, struct arena *arena, struct json repo,
                     struct str *ret_index, struct error *err)
{
    return charts_index(downstream_charts(simulation->downstream), arena, url_of(repo),
                        is_insecure(repo), ret_index, err);
}

int repos_real_kept_index(struct simulation *simulation, struct arena *arena, struct str cluster,
                          struct json repo, struct str *ret_index, struct error *err)
{
    struct str map = json_str(json_walk(repo, "status", "indexConfigMapName", NULL));
    struct str object = STR("");
    struct str packed = STR("");
    struct json root;

    if (world_get(simulation, arena, cluster, &res_configmaps, SYSTEM_NAMESPACE, map, &object,
                  err) != 0 ||
        json_read(arena, object, &json_limits_default, &root, err) != 0 ||
        base64_decode(arena, json_str(json_walk(root, "binaryData", "content", NULL)), &packed,
                      err) != 0)
        return -1;
    return gzip_unpack(arena, packed, INDEX_BYTES_MAX, ret_index, err);
}

/* The chart's own values, {} if it has none. */
static int read_values(struct arena *arena, struct str tarball, struct str *ret_values,
                       struct error *err)
{
    struct yaml_documents documents;
    struct str text = STR("");

    if (tarball_file(arena, tarball, STR("values.yaml"), &text, err) != 0 ||
        yaml_read(arena, text, &documents, err) != 0)
        return -1;
    *ret_values = documents.count && str_starts(documents.items[0].json, STR("{"))
                      ? documents.items[0].json
                      : STR("{}");
    return 0;
}

static int read_chart(struct arena *arena, struct json entry, struct str tarball,
                      struct str annotations, struct real_chart *ret_chart, struct error *err)
{
    struct real_chart chart = {
        .row = {
            .name = json_str(json_get(entry, STR("name"))),
            .version = json_str(json_get(entry, STR("version"))),
            .app_version = json_str(json_get(entry, STR("appVersion"))),
            .fault = STR_INIT(""),
        },
    };

    if (tarball_metadata(arena, tarball, annotations, &chart.metadata, err) != 0 ||
        read_values(arena, tarball, &chart.values, err) != 0 ||
        tarball_replace(arena, tarball, STR("Chart.yaml"), chart.metadata, &chart.tarball, err) !=
            0)
        return -1;
    *ret_chart = chart;
    return 0;
}

int repos_real_chart(struct simulation *simulation, struct arena *arena, struct str cluster,
                     struct json repo, const struct action_chart *wanted,
                     struct real_chart *ret_chart, struct error *err)
{
    struct str text = STR("");
    struct str tarball = STR("");
    struct json index;
    struct json entry;

    if (repos_real_kept_index(simulation, arena, cluster, repo, &text, err) != 0 ||
        json_read(arena, text, &json_limits_default, &index, err) != 0 ||
        charts_find(arena, index, wanted->chart, wanted->version, &entry, err) != 0 ||
        charts_download(downstream_charts(simulation->downstream), arena,
                        charts_url(arena, url_of(repo), entry), is_insecure(repo), &tarball,
                        err) != 0)
        return -1;
    return read_chart(arena, entry, tarball, wanted->annotations, ret_chart, err);
}
