/* SPDX-License-Identifier: Apache-2.0 */
/* validate_chart.c: one chart: its names, its repository, version and time. */
#include "stack/rules/validate_areas.h"

#include "kube/names.h"
#include "stack/model/default.h"
#include "stack/model/limits.h"
#include "stack/model/repo_host.h"
#include "text/semver.h"

#include <inttypes.h>

enum { RELEASE_NAME_MAX = 53 }; /* helm.sh/helm/v3/pkg/chartutil/validate_name.go */

/* --- repositories --- */

/* What stands after "scheme://" up to the path. */
static struct str url_authority(struct str rest)
{
    ptrdiff_t slash = str_find_char(rest, '/', 0);

    return slash < 0 ? rest : str_slice(rest, 0, (size_t)slash);
}

/* "host" of "host", "host:5000", "[::1]:5000"; "" if it is none of these. */
static struct str host_of(struct str authority)
{
    bool bracketed = authority.len && authority.at[0] == '[';
    ptrdiff_t close = bracketed ? str_find_char(authority, ']', 0) : -1;
    ptrdiff_t colon = str_find_char(authority, ':', close > 0 ? (size_t)close : 0);
    size_t host_end = colon < 0 ? authority.len : (size_t)colon;
    struct str host = str_slice(authority, 0, host_end);
    struct str port = str_slice(authority, host_end + 1, authority.len);
    uint64_t number = 0;

    if (colon >= 0 && (!str_to_u64(port, &number) || number == 0 || number > 65535))
        return STR("");
    if (bracketed)
        return (size_t)close + 1 == host.len && repo_host_is_ip6(host) ? host : STR("");
    for (size_t i = 0; i < host.len; i++)
        if ((!is_word_char(host.at[i]) && host.at[i] != '.') || host.at[i] == '_')
            return STR("");
    return host.len && host.at[0] != '-' && host.at[0] != '.' ? host : STR("");
}

/* Printable ASCII without what separates or hides things in an URL. */
static bool is_url_text(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_word_char(text.at[i]) &&
            (text.at[i] <= ' ' || text.at[i] >= 0x7f || strchr("\"<>\\^`{}|", text.at[i])))
            return false;
    return true;
}

static void blame_repo(struct str repo, const struct path *at, struct str remedy,
                       struct findings *findings, const char *why)
{
    finding_add(findings, RULE_SHAPE_REPO, CAUSE_VALUE_INVALID, at, remedy, "\"%.*s\": %s",
                STR_ARG(finding_shown(findings, repo)), why);
}

static void check_host(struct str host, const struct facts *facts, const struct path *at,
                       struct findings *findings)
{
    const char *reserved = repo_host_reserved(host);

    if (reserved && !repo_hosts_have(facts->repo_hosts_allowed, host))
        finding_add(findings, RULE_SHAPE_REPO_HOST, CAUSE_FORBIDDEN, at, STR(""), "\"%.*s\" is %s",
                    STR_ARG(finding_shown(findings, host)), reserved);
}

/* "user:password@" in front of a host, with the '@'; 0: none. */
static size_t credentials_len(struct str authority)
{
    size_t len = authority.len;

    while (len && authority.at[len - 1] != '@')
        len--;
    return len;
}

static void check_repo(struct str repo, const struct facts *facts, const struct path *up,
                       struct findings *findings)
{
    struct path at = path_field(up, STR("repo"));

    if (repo.len == 0)
        return;

    ptrdiff_t scheme_end = str_find(repo, STR("://"), 0);
    struct str scheme = str_slice(repo, 0, scheme_end < 0 ? 0 : (size_t)scheme_end);
    struct str rest = str_slice(repo, scheme_end < 0 ? 0 : (size_t)scheme_end + 3, repo.len);
    struct str authority = url_authority(rest);
    size_t credentials = credentials_len(authority);
    struct str host = host_of(str_slice(authority, credentials, authority.len));
    bool http = str_eq(scheme, STR("http"));

    /* First, and without showing the URL: it may be a password. */
    if (credentials)
        finding_add(findings, RULE_SHAPE_REPO_CREDENTIALS, CAUSE_FORBIDDEN, &at, STR(""),
                    "must not contain a user name or password, which everybody who may read the "
                    "Stack would see");
    else if (str_find_char(repo, '?', 0) >= 0 || str_find_char(repo, '#', 0) >= 0)
        finding_add(findings, RULE_SHAPE_REPO, CAUSE_VALUE_INVALID, &at,
                    STR("remove '?' or '#' and what follows it"),
                    "must not have a query or fragment, which chart repositories do not support");
    else if (http && !facts->plain_http_allowed)
        blame_repo(repo, &at, STR("write https://; an administrator may allow plain http://"),
                   findings,
                   "must begin with https:// or oci://, because http:// is not encrypted");
    else if (!http && !str_eq(scheme, STR("https")) && !str_eq(scheme, STR("oci")))
        blame_repo(repo, &at, STR(""), findings, "must begin with https:// or oci://");
    else if (!host.len || !is_url_text(rest))
        blame_repo(repo, &at, STR(""), findings,
                   "must be a URL with a host, an optional port and a path after the scheme");
    check_host(host, facts, &at, findings);
}

/* --- the rest of it --- */

void validate_version(struct str version, const struct path *up, struct findings *findings)
{
    struct path at = path_field(up, STR("version"));
    struct semver exact;
    struct semver_range *range;
    struct error err;

    if (version.len == 0 || semver_parse(version, &exact, &err) == 0)
        return;
    if (semver_range_parse(findings->arena, version, &range, &err) < 0)
        finding_add(findings, RULE_SHAPE_VERSION, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": must be an exact version or a range",
                    STR_ARG(finding_shown(findings, version)));
    else if (semver_range_is_empty(range))
        finding_add(
            findings, RULE_SHAPE_EMPTY_RANGE, CAUSE_VALUE_INVALID, &at, STR(""),
            "\"%.*s\": must include at least one version, but its parts exclude one another",
            STR_ARG(finding_shown(findings, version)));
}

static bool check_name(const struct chart *chart, const struct path *up, struct findings *findings)
{
    struct path name_at = path_field(up, STR("name"));
    struct path chart_at = path_field(up, STR("chart"));
    const char *wrong = chart->name.len ? kube_not_dns1123_label(chart->name) : NULL;

    if (wrong)
        finding_add(findings, RULE_SHAPE_CHART_NAME, CAUSE_VALUE_INVALID, &name_at, STR(""),
                    "\"%.*s\": %s", STR_ARG(finding_shown(findings, chart->name)), wrong);
    if (!is_file_name(chart->chart))
        finding_add(findings, RULE_SHAPE_CHART_NAME, CAUSE_VALUE_INVALID, &chart_at,
                    STR("write the chart's name alone; the rest of the address belongs in repo"),
                    "\"%.*s\": must consist of letters, digits, '-', '_' or '.'",
                    STR_ARG(finding_shown(findings, chart->chart)));
    return !wrong && chart->name.len;
}

static void check_namespace(struct str namespace_, const struct path *up, struct findings *findings)
{
    struct path at = path_field(up, STR("namespace"));
    const char *wrong = namespace_.len ? kube_not_dns1123_label(namespace_) : NULL;

    if (wrong)
        finding_add(findings, RULE_SHAPE_NAMESPACE, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": %s", STR_ARG(finding_shown(findings, namespace_)), wrong);
    else if (stack_is_protected_namespace(namespace_))
        finding_add(findings, RULE_SHAPE_PROTECTED_NAMESPACE, CAUSE_FORBIDDEN, &at, STR(""),
                    "\"%.*s\" belongs to the platform itself, and what runs there can take the "
                    "cluster",
                    STR_ARG(namespace_));
}

static void check_release_name(const struct chart *chart, const struct path *up,
                               struct findings *findings)
{
    struct path at = path_field(up, STR("releaseName"));
    struct str name = chart->release_name;
    const char *wrong = name.len ? kube_not_dns1123_subdomain(name) : NULL;
    struct str shown = wrong ? finding_shown(findings, name) : name;

    if (wrong)
        finding_add(findings, RULE_SHAPE_RELEASE_NAME, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": %s", STR_ARG(shown), wrong);
    else if (name.len > RELEASE_NAME_MAX)
        finding_add(
            findings, RULE_SHAPE_RELEASE_NAME, CAUSE_TOO_LONG, &at, STR(""),
            "\"%.*s\": must have at most %d bytes, not %zu (Helm's limit; the default is the "
            "chart's name)",
            STR_ARG(shown), RELEASE_NAME_MAX, name.len);
}

static void check_timeout(const struct chart *chart, const struct path *up,
                          struct findings *findings)
{
    struct path at = path_field(up, STR("timeout"));

    int64_t ms = chart_timeout_ms(chart);

    /* Above the most that can be, decode has rejected it. */
    if (ms > LIMIT_OPERATION_TIMEOUT_MAX && ms <= LIMIT_CHART_TIMEOUT_MAX)
        finding_add(findings, RULE_SHAPE_LONG_TIMEOUT, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": must be at most %dm, because Rancher revokes the rights of a Helm "
                    "operation after an hour",
                    STR_ARG(finding_shown(findings, chart->timeout)),
                    LIMIT_OPERATION_TIMEOUT_MAX / 60000);
}

void validate_chart(const struct chart *chart, const struct facts *facts, const struct path *at,
                    struct findings *findings)
{
    struct path values = path_field(at, STR("values"));
    bool name_good = check_name(chart, at, findings);

    check_repo(chart->repo, facts, at, findings);
    validate_version(chart->version, at, findings);
    /* What only follows from an invalid name is not reported again. */
    if (name_good || !str_eq(chart->namespace_, chart->name))
        check_namespace(chart->namespace_, at, findings);
    if (name_good || !str_eq(chart->release_name, chart->name))
        check_release_name(chart, at, findings);
    check_timeout(chart, at, findings);
    validate_values(&chart->values, &values, findings);
}
