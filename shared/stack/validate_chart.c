/* validate_chart.c: one chart: its names, its repository, version and time, and what holds its
 * values. */
#include "stack/validate_areas.h"

#include "base/limits.h"
#include "kube/names.h"
#include "stack/default.h"
#include "stack/release.h"
#include "text/semver.h"
#include "text/value.h"

#include <inttypes.h>

enum { RELEASE_NAME_MAX = 53 }; /* helm.sh/helm/v3/pkg/chartutil/validate_name.go */

/* Namespaces of the platform itself: what runs there can take the cluster. Prefixes end in '-'. */
static const struct str protected_namespaces[] = {
    STR_INIT("kube-system"), STR_INIT("kube-public"), STR_INIT("kube-node-lease"),
    STR_INIT("cattle-"),     STR_INIT("fleet-"),      STR_INIT("cluster-fleet-"),
    STR_INIT("rancher-"),    STR_INIT("herd-system"),
};

static bool is_protected(struct str namespace_)
{
    for (uint32_t i = 0; i < sizeof(protected_namespaces) / sizeof(struct str); i++) {
        struct str one = protected_namespaces[i];

        if (str_ends(one, STR("-")) ? str_starts(namespace_, one) : str_eq(namespace_, one))
            return true;
    }
    return false;
}

/* Letters, digits, '-', '_', and '.' but not in front: no way out of a directory or an URL. */
static bool is_file_name(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_word_char(text.at[i]) && !(text.at[i] == '.' && i > 0))
            return false;
    return true;
}

/* --- repositories --- */

/* What stands after "scheme://" up to the path. */
static struct str url_authority(struct str rest)
{
    ptrdiff_t slash = str_find_char(rest, '/', 0);

    return slash < 0 ? rest : str_slice(rest, 0, (size_t)slash);
}

/* "host", "host:5000", "[::1]:5000". */
static bool is_host(struct str authority)
{
    bool bracketed = authority.len && authority.at[0] == '[';
    ptrdiff_t close = bracketed ? str_find_char(authority, ']', 0) : -1;
    ptrdiff_t colon = str_find_char(authority, ':', close > 0 ? (size_t)close : 0);
    size_t host_end = colon < 0 ? authority.len : (size_t)colon;
    struct str host = str_slice(authority, 0, host_end);
    struct str port = str_slice(authority, host_end + 1, authority.len);
    uint64_t number = 0;

    if (colon >= 0 && (!str_to_u64(port, &number) || number == 0 || number > 65535))
        return false;
    if (bracketed)
        return close > 1 && (size_t)close + 1 == host.len;
    for (size_t i = 0; i < host.len; i++)
        if ((!is_word_char(host.at[i]) && host.at[i] != '.') || host.at[i] == '_')
            return false;
    return host.len && host.at[0] != '-' && host.at[0] != '.';
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

static void blame_repo(struct str repo, const struct path *at, struct str way_out,
                       struct findings *findings, const char *why)
{
    finding_add(findings, RULE_SHAPE_REPO, CAUSE_VALUE_INVALID, at, way_out, "'%.*s' %s",
                STR_ARG(finding_shown(findings, repo)), why);
}

static void check_repo(struct str repo, bool plain_http, const struct path *up,
                       struct findings *findings)
{
    struct path at = path_field(up, STR("repo"));

    if (repo.len == 0)
        return;

    ptrdiff_t scheme_end = str_find(repo, STR("://"), 0);
    struct str scheme = str_slice(repo, 0, scheme_end < 0 ? 0 : (size_t)scheme_end);
    struct str rest = str_slice(repo, scheme_end < 0 ? 0 : (size_t)scheme_end + 3, repo.len);
    bool http = str_eq(scheme, STR("http"));

    /* First, and without showing the URL: it may be a password. */
    if (str_find_char(url_authority(rest), '@', 0) >= 0)
        finding_add(findings, RULE_SHAPE_REPO_CREDENTIALS, CAUSE_FORBIDDEN, &at, STR(""),
                    "carries a user name or password, which everybody who may read the Stack would "
                    "see");
    else if (str_find_char(repo, '?', 0) >= 0 || str_find_char(repo, '#', 0) >= 0)
        finding_add(findings, RULE_SHAPE_REPO, CAUSE_VALUE_INVALID, &at,
                    STR("write the repository's address without what begins at '?' or '#'"),
                    "has a query or fragment, which no chart repository takes");
    else if (http && !plain_http)
        blame_repo(repo, &at, STR("write https://; an administrator may allow plain http://"),
                   findings, "is not encrypted, so anybody on the way could change the charts");
    else if (!http && !str_eq(scheme, STR("https")) && !str_eq(scheme, STR("oci")))
        blame_repo(repo, &at, STR(""), findings, "does not begin with https:// or oci://");
    else if (!is_host(url_authority(rest)) || !is_url_text(rest))
        blame_repo(repo, &at, STR(""), findings,
                   "is no URL: a host, an optional port and a path must follow the scheme");
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
                    "'%.*s' is neither an exact version nor a range",
                    STR_ARG(finding_shown(findings, version)));
    else if (semver_range_is_empty(range))
        finding_add(findings, RULE_SHAPE_EMPTY_RANGE, CAUSE_VALUE_INVALID, &at, STR(""),
                    "no version can be in '%.*s': its parts exclude one another",
                    STR_ARG(finding_shown(findings, version)));
}

static bool check_name(const struct chart *chart, const struct path *up,
                       struct findings *findings)
{
    struct path name_at = path_field(up, STR("name"));
    struct path chart_at = path_field(up, STR("chart"));
    const char *wrong = chart->name.len ? kube_not_dns1123_label(chart->name) : NULL;

    if (wrong)
        finding_add(findings, RULE_SHAPE_CHART_NAME, CAUSE_VALUE_INVALID, &name_at, STR(""),
                    "'%.*s' %s", STR_ARG(finding_shown(findings, chart->name)), wrong);
    if (!is_file_name(chart->chart))
        finding_add(findings, RULE_SHAPE_CHART_NAME, CAUSE_VALUE_INVALID, &chart_at,
                    STR("write the chart's name alone; the rest of the address belongs into repo"),
                    "'%.*s' is no chart's name",
                    STR_ARG(finding_shown(findings, chart->chart)));
    return !wrong && chart->name.len;
}

static void check_namespace(struct str namespace_, const struct path *up,
                            struct findings *findings)
{
    struct path at = path_field(up, STR("namespace"));
    const char *wrong = namespace_.len ? kube_not_dns1123_label(namespace_) : NULL;

    if (wrong)
        finding_add(findings, RULE_SHAPE_NAMESPACE, CAUSE_VALUE_INVALID, &at, STR(""), "'%.*s' %s",
                    STR_ARG(finding_shown(findings, namespace_)), wrong);
    else if (is_protected(namespace_))
        finding_add(findings, RULE_SHAPE_PROTECTED_NAMESPACE, CAUSE_FORBIDDEN, &at, STR(""),
                    "'%.*s' belongs to the platform itself, and what runs there can take the "
                    "cluster", STR_ARG(namespace_));
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
                    "'%.*s' %s", STR_ARG(shown), wrong);
    else if (name.len > RELEASE_NAME_MAX)
        finding_add(findings, RULE_SHAPE_RELEASE_NAME, CAUSE_TOO_LONG, &at, STR(""),
                    "'%.*s' (from the chart's name) has %zu characters; Helm takes at most %d",
                    STR_ARG(shown), name.len, RELEASE_NAME_MAX);
}

static void check_timeout(const struct chart *chart, const struct path *up,
                          struct findings *findings)
{
    struct path at = path_field(up, STR("timeout"));

    int64_t ms = chart_timeout_ms(chart);

    /* Above the most that can be, decode has refused it. */
    if (ms > LIMIT_OPERATION_TIMEOUT_MAX && ms <= LIMIT_CHART_TIMEOUT_MAX)
        finding_add(findings, RULE_SHAPE_LONG_TIMEOUT, CAUSE_VALUE_INVALID, &at, STR(""),
                    "%.*s is longer than %dm: the rights that Rancher gives a Helm operation end "
                    "after an hour", STR_ARG(finding_shown(findings, chart->timeout)),
                    LIMIT_OPERATION_TIMEOUT_MAX / 60000);
}

static void check_refs(const struct name_refs *refs, struct str field, const struct path *values,
                       struct findings *findings)
{
    struct path list = path_field(values, field);

    for (uint32_t i = 0; i < refs->count; i++) {
        const struct name_ref *ref = &refs->items[i];
        struct path up = path_index(&list, i);
        struct path name_at = path_field(&up, STR("name"));
        struct path key_at = path_field(&up, STR("key"));
        const char *wrong = ref->name.len ? kube_not_dns1123_subdomain(ref->name) : NULL;

        if (wrong)
            finding_add(findings, RULE_SHAPE_REFERENCE, CAUSE_VALUE_INVALID, &name_at, STR(""),
                        "'%.*s' %s", STR_ARG(finding_shown(findings, ref->name)), wrong);
        if (!is_file_name(ref->key))
            finding_add(findings, RULE_SHAPE_REFERENCE, CAUSE_VALUE_INVALID, &key_at,
                        STR("use letters, digits, '-', '_' and '.'"), "'%.*s' is no data key",
                        STR_ARG(finding_shown(findings, ref->key)));
    }
}

/* Inline values alone that no action can carry. What references add is known to the controller. */
static void check_size(const struct chart *chart, const struct path *values,
                       struct findings *findings)
{
    struct path at = path_field(values, STR("inline"));
    struct json inline_ = chart->values.inline_;
    struct strbuf text;

    if (json_raw(inline_).len <= RELEASE_VALUES_BYTES_MAX)
        return;
    text = strbuf_new(findings->arena, json_raw(inline_).len); /* it may have blanks */
    value_write(value_of(findings->arena, inline_), true, &text);
    if (text.len > RELEASE_VALUES_BYTES_MAX)
        finding_add(findings, RULE_SHAPE_BOUNDS, CAUSE_TOO_LONG, &at,
                    STR("make them smaller, or let the chart read a ConfigMap of its own"),
                    "is %zu bytes of JSON, and Rancher takes no more than %d", text.len,
                    RELEASE_VALUES_BYTES_MAX);
}

void validate_chart(const struct chart *chart, const struct facts *facts, const struct path *at,
                    struct findings *findings)
{
    struct path values = path_field(at, STR("values"));
    bool name_good = check_name(chart, at, findings);

    check_repo(chart->repo, facts->plain_http_allowed, at, findings);
    validate_version(chart->version, at, findings);
    /* What only follows from a bad name is not told again. */
    if (name_good || !str_eq(chart->namespace_, chart->name))
        check_namespace(chart->namespace_, at, findings);
    if (name_good || !str_eq(chart->release_name, chart->name))
        check_release_name(chart, at, findings);
    check_timeout(chart, at, findings);
    check_size(chart, &values, findings);
    check_refs(&chart->values.config_map_refs, STR("configMapRefs"), &values, findings);
    check_refs(&chart->values.secret_refs, STR("secretRefs"), &values, findings);
}
