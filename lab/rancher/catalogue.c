/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue.c: Helm's look-up (helm v3.20 pkg/repo/index.go, IndexFile.Get) over the tables. */
#include "lab/rancher/catalogue.h"

#include "lab/rancher/jsonf.h"
#include "text/digest.h"
#include "text/semver.h"

static const struct catalogue_repo repos[] = {
#define CATALOGUE_REPO(id, url, answer) { STR_INIT(#id), STR_INIT(url), answer, false },
#define CATALOGUE_CHART(...)
#include "lab/rancher/catalogue.def"
#undef CATALOGUE_REPO
#undef CATALOGUE_CHART
};

static const struct catalogue_chart charts[] = {
#define CATALOGUE_REPO(...)
#define CATALOGUE_CHART(repo, name, version, app_version, image, key, replicas, install_s, fault)  \
    { STR_INIT(#repo), STR_INIT(name), STR_INIT(version), STR_INIT(app_version), STR_INIT(image),  \
      STR_INIT(key),   replicas,       (install_s)*1000,  STR_INIT(fault) },
#include "lab/rancher/catalogue.def"
#undef CATALOGUE_REPO
#undef CATALOGUE_CHART
};

enum {
    REPO_COUNT = sizeof(repos) / sizeof(repos[0]),
    CHART_COUNT = sizeof(charts) / sizeof(charts[0]),
};

const struct catalogue_repo *catalogue_repo_of(struct str url)
{
    while (str_ends(url, STR("/")))
        url.len--;
    for (uint32_t i = 0; i < REPO_COUNT; i++)
        if (str_eq(repos[i].url, url))
            return &repos[i];
    return NULL;
}

uint32_t catalogue_chart_count(void)
{
    return CHART_COUNT;
}

const struct catalogue_chart *catalogue_chart_at(uint32_t index)
{
    return index < CHART_COUNT ? &charts[index] : NULL;
}

/* The last row of a chart is its newest version. */
static bool is_newest(const struct catalogue_chart *chart)
{
    const struct catalogue_chart *next = chart + 1;

    return next == charts + CHART_COUNT || !str_eq(next->repo, chart->repo) ||
           !str_eq(next->name, chart->name);
}

static bool is_of(const struct catalogue_chart *chart, const struct catalogue_repo *repo,
                  struct str name)
{
    return str_eq(chart->repo, repo->id) && str_eq(chart->name, name) &&
           !(repo->old && is_newest(chart));
}

/* The newest version that `range` has. */
static const struct catalogue_chart *newest(const struct catalogue_repo *repo, struct str name,
                                            const struct semver_range *range)
{
    const struct catalogue_chart *best = NULL;
    struct semver best_version = { 0 };
    struct error ignored;

    for (uint32_t i = 0; i < CHART_COUNT; i++) {
        struct semver version;

        if (!is_of(&charts[i], repo, name) ||
            semver_parse(charts[i].version, &version, &ignored) != 0 ||
            !semver_range_has(range, &version))
            continue;
        if (!best || semver_cmp(&version, &best_version) > 0) {
            best = &charts[i];
            best_version = version;
        }
    }
    return best;
}

int catalogue_find(struct arena *arena, const struct catalogue_repo *repo, struct str chart,
                   struct str version, const struct catalogue_chart **ret_chart, struct error *err)
{
    bool known = false;

    for (uint32_t i = 0; i < CHART_COUNT; i++) {
        if (!is_of(&charts[i], repo, chart))
            continue;
        known = true;
        if (version.len && str_eq(charts[i].version, version)) {
            *ret_chart = &charts[i];
            return 0;
        }
    }
    if (!known)
        return error_set(err, ERROR_NOT_FOUND, "no chart name found");

    /* Not the text of any version, so it is read as a constraint; "" stands for all releases. */
    struct semver_range *range = NULL;
    struct error ignored;

    if (semver_range_parse(arena, version.len ? version : STR(">=0.0.0"), &range, &ignored) != 0)
        return error_set(err, ERROR_INVALID, "improper constraint: %.*s", STR_ARG(version));

    const struct catalogue_chart *found = newest(repo, chart, range);

    if (!found)
        return error_set(err, ERROR_NOT_FOUND, "no chart version found for %.*s-%.*s",
                         STR_ARG(chart), STR_ARG(version));
    *ret_chart = found;
    return 0;
}

struct str catalogue_metadata(struct arena *arena, const struct catalogue_chart *chart,
                              struct str annotations)
{
    return jsonf(arena,
                 "{'name':%s,'version':%s,'description':%s,'apiVersion':'v2','appVersion':%s,"
                 "'type':'application'%r}",
                 chart->name, chart->version,
                 str_fmt(arena, "The %.*s chart of the lab's catalogue", STR_ARG(chart->name)),
                 chart->app_version,
                 annotations.len ? str_fmt(arena, ",\"annotations\":%.*s", STR_ARG(annotations))
                                 : STR(" "));
}

struct str catalogue_values(struct arena *arena, const struct catalogue_chart *chart)
{
    struct str image = chart->image;
    ptrdiff_t colon = -1;

    for (ptrdiff_t at = str_find_char(image, ':', 0); at >= 0;
         at = str_find_char(image, ':', (size_t)at + 1))
        colon = at;
    if (colon < 0)
        return STR("{}");
    return jsonf(
        arena, "{%r'image':{'repository':%s,'tag':%s},'resources':{}}",
        chart->replicas_key.len ? jsonf(arena, "%s:%d,", chart->replicas_key, chart->replicas)
                                : STR(" "),
        str_slice(image, 0, (size_t)colon), str_slice(image, (size_t)colon + 1, image.len));
}

/* All versions of one chart, newest first as `helm repo index` sorts. */
static void put_versions(struct strbuf *out, const struct catalogue_repo *repo, struct str name)
{
    bool more = false;

    for (uint32_t i = CHART_COUNT; i-- > 0;) {
        const struct catalogue_chart *chart = &charts[i];

        if (!is_of(chart, repo, name))
            continue;

        struct str file =
            str_fmt(out->arena, "%.*s-%.*s.tgz", STR_ARG(chart->name), STR_ARG(chart->version));

        jsonf_put(out,
                  "%r{'apiVersion':'v2','name':%s,'version':%s,'appVersion':%s,"
                  "'type':'application','created':'2024-01-15T10:00:00Z','digest':%s,'urls':[%s]}",
                  more ? STR(",") : STR(" "), chart->name, chart->version, chart->app_version,
                  digest_sha256_hex(out->arena, file),
                  str_fmt(out->arena, "%.*s/%.*s", STR_ARG(repo->url), STR_ARG(file)));
        more = true;
    }
}

struct str catalogue_index(struct arena *arena, const struct catalogue_repo *repo)
{
    struct strbuf out = strbuf_new(arena, 4096);
    bool more = false;

    jsonf_put(&out, "{'apiVersion':'v1','generated':'2024-01-15T10:00:00Z','entries':{");
    for (uint32_t i = 0; i < CHART_COUNT; i++) {
        if (!str_eq(charts[i].repo, repo->id) ||
            (i > 0 && is_of(&charts[i - 1], repo, charts[i].name)))
            continue;
        jsonf_put(&out, "%r%s:[", more ? STR(",") : STR(" "), charts[i].name);
        put_versions(&out, repo, charts[i].name);
        strbuf_char(&out, ']');
        more = true;
    }
    strbuf_lit(&out, "}}");
    return strbuf_str(&out);
}

/* What is fetched first: the index of a plain repository; of a registry the tags of the repository
 * that the URL may name, or its list of repositories (rancher v2.14 pkg/catalogv2/oci/oci.go). */
static struct str asked_url(struct arena *arena, struct str url, struct str *ret_host)
{
    ptrdiff_t scheme = str_find(url, STR("://"), 0);
    struct str rest = str_slice(url, scheme < 0 ? 0 : (size_t)scheme + 3, url.len);
    struct str host;

    while (str_ends(rest, STR("/")))
        rest.len--;
    url.len = (size_t)(rest.at - url.at) + rest.len;
    if (!str_split(&rest, '/', &host))
        host = rest;
    *ret_host = host;
    if (!str_starts(url, STR("oci://")))
        return str_fmt(arena, "%.*s/index.yaml", STR_ARG(url));
    if (rest.len == 0)
        return str_fmt(arena, "https://%.*s/v2/_catalog", STR_ARG(host));
    return str_fmt(arena, "https://%.*s/v2/%.*s/tags/list", STR_ARG(host), STR_ARG(rest));
}

struct str catalogue_repo_failure(struct arena *arena, enum repo_answer answer, struct str url)
{
    struct str host;
    struct str asked = asked_url(arena, url, &host);

    switch (answer) {
    case REPO_INDEX:
        return STR("");
    case REPO_HTML:
        if (str_starts(url, STR("oci://")))
            return str_fmt(arena,
                           "GET \"%.*s\": failed to decode response: invalid character '<' "
                           "looking for beginning of value",
                           STR_ARG(asked));
        return str_fmt(arena, "failed to parse response from %.*s", STR_ARG(asked));
    case REPO_EMPTY:
        return STR("there are no helm charts in the repository specified");
    case REPO_DENIED:
        return STR("error 401: Unauthorized");
    case REPO_DOWN:
        break;
    }
    return str_fmt(arena, "Get \"%.*s\": dial tcp: lookup %.*s on 10.43.0.10:53: no such host",
                   STR_ARG(asked), STR_ARG(host));
}
