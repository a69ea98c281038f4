/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_webhooks.c: rows for the words that a webhook may say, functions for the rest. */
#include "lab/apiserver/builtin_webhooks.h"

#include "base/map.h"
#include "kube/names.h"

static bool has(const struct value *list, const char *text)
{
    for (const struct value *m = value_first(list); m; m = value_next(m))
        if (str_eq(value_text(m), str_of(text)))
            return true;
    return false;
}

void webhook_validate_word(const struct value *value, const struct path *at, const char *words,
                           struct findings *found)
{
    struct str_list list = str_list_new(found->arena, 4);
    struct str rest = str_of(words), word;

    while (rest.len && str_split(&rest, ' ', &word))
        str_list_push(&list, word);
    if (value && !str_list_has(&list, value_text(value)))
        finding_not_supported(found, at, value, &list);
}

static const struct choice {
    const char *field, *words;
} choices[] = {
    { "failurePolicy", "Fail Ignore" },
    { "matchPolicy", "Equivalent Exact" },
    { "sideEffects", "None NoneOnDryRun" },
    { "reinvocationPolicy", "IfNeeded Never" },
};

static void check_choices(const struct value *hook, const struct path *at, struct findings *found)
{
    struct path effects = path_field(at, STR("sideEffects"));

    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        struct path here = path_field(at, str_of(choices[i].field));

        webhook_validate_word(value_get(hook, str_of(choices[i].field)), &here, choices[i].words,
                              found);
    }
    if (!value_get(hook, STR("sideEffects")))
        finding_required(found, &effects, STR("must specify one of None, NoneOnDryRun"));
}

static void check_name(const struct value *hook, const struct path *at, struct findings *found)
{
    struct path here = path_field(at, STR("name"));
    const struct value *value = value_get(hook, STR("name"));
    struct str name = value_text(value);
    ptrdiff_t dot = str_find_char(name, '.', 0);

    if (name.len == 0)
        finding_required(found, &here, STR(""));
    else if (kube_not_dns1123_subdomain(name))
        finding_invalid(found, &here, value, str_of(kube_not_dns1123_subdomain(name)));
    else if (dot < 0 || str_find_char(name, '.', (size_t)dot + 1) < 0)
        finding_invalid(found, &here, value,
                        STR("should be a domain with at least three segments "
                            "separated by dots"));
}

static void check_versions(const struct value *hook, const struct path *at, struct findings *found)
{
    struct path here = path_field(at, STR("admissionReviewVersions"));
    const struct value *versions = value_get(hook, STR("admissionReviewVersions"));

    if (value_count(versions) == 0)
        finding_required(found, &here, STR("must specify one of v1, v1beta1"));
    else if (!has(versions, "v1") && !has(versions, "v1beta1"))
        finding_invalid(found, &here, versions, STR("must include at least one of v1, v1beta1"));
}

static void check_timeout(const struct value *hook, const struct path *at, struct findings *found)
{
    struct path here = path_field(at, STR("timeoutSeconds"));
    const struct value *value = value_get(hook, STR("timeoutSeconds"));
    int64_t seconds;

    if (value_int64(value, &seconds) && (seconds < 1 || seconds > 30))
        finding_invalid(found, &here, value,
                        STR("the timeout value must be between 1 and 30 seconds"));
}

static void check_url(const struct value *url, const struct path *at, struct findings *found)
{
    struct path here = path_field(at, STR("url"));
    struct str address = value_text(url), scheme = STR("");
    ptrdiff_t end = str_find(address, STR("://"), 0);

    if (end > 0)
        scheme = str_slice(address, 0, (size_t)end);
    if (!str_eq(scheme, STR("https")))
        finding_invalid(found, &here, value_str(found->arena, scheme),
                        STR("'https' is the only allowed URL scheme; desired format: "
                            "https://host[/path]"));
}

static void check_client(const struct value *hook, const struct path *at, struct findings *found)
{
    static const char *const needed[] = { "name", "namespace" };
    struct path config = path_field(at, STR("clientConfig"));
    struct path at_service = path_field(&config, STR("service"));
    const struct value *url = value_walk(hook, "clientConfig", "url", NULL);
    const struct value *service = value_walk(hook, "clientConfig", "service", NULL);

    if (!url == !service)
        finding_required(found, &config, STR("exactly one of url or service is required"));
    else if (url)
        check_url(url, &config, found);
    for (size_t i = 0; service && i < 2; i++) {
        struct path here = path_field(&at_service, str_of(needed[i]));

        if (value_text(value_get(service, str_of(needed[i]))).len == 0)
            finding_required(found, &here, STR(""));
    }
}

/* Lists that a rule needs; "*" stands alone, if it stands for all others. */
static const struct rule_list {
    const char *field, *others;
} rule_lists[] = {
    { "operations", "if '*' is present, must not specify other operations" },
    { "apiGroups", "if '*' is present, must not specify other API groups" },
    { "apiVersions", "if '*' is present, must not specify other API versions" },
    { "resources", NULL },
};

/* "pods", "pods/status", "pods" followed by "/" and "*", "*", ...: nothing is to be said twice. */
static void check_resource(const struct value *resource, const struct path *at, struct map *whole,
                           struct findings *found)
{
    struct str text = value_text(resource);
    ptrdiff_t slash = str_find_char(text, '/', 0);
    struct str any_sub, any_of;

    if (text.len == 0)
        finding_required(found, at, STR(""));
    if (slash < 0)
        return;
    any_sub = str_fmt(found->arena, "%.*s/*", (int)slash, text.at);
    any_of = str_fmt(found->arena, "*%.*s", (int)(text.len - (size_t)slash), text.at + slash);
    for (size_t i = 0; i < 2; i++) {
        struct str said = i ? any_of : any_sub;

        if (map_get(whole, said))
            finding_invalid(found, at, resource,
                            str_fmt(found->arena, "if '%.*s' is present, must not specify %.*s",
                                    STR_ARG(said), STR_ARG(text)));
    }
    if (str_eq(text, any_sub) || str_eq(text, any_of))
        map_put(whole, text, whole);
}

static void check_resources(const struct value *resources, const struct path *at,
                            struct findings *found)
{
    struct map *whole = map_new(found->arena, 4);
    bool bare = false;
    uint32_t i = 0;

    for (const struct value *m = value_first(resources); m; m = value_next(m), i++) {
        struct path here = path_index(at, i);

        check_resource(m, &here, whole, found);
        if (str_find_char(value_text(m), '/', 0) < 0)
            bare = !str_eq(value_text(m), STR("*"));
    }
    if (i > 1 && has(resources, "*/*"))
        finding_invalid(found, at, resources,
                        STR("if '*/*' is present, must not specify other resources"));
    if (bare && has(resources, "*"))
        finding_invalid(found, at, resources,
                        STR("if '*' is present, must not specify other resources without "
                            "subresources"));
}

void webhook_validate_rule(const struct value *rule, const struct path *at, struct findings *found)
{
    struct path operations = path_field(at, STR("operations"));
    struct path scope = path_field(at, STR("scope"));
    struct path resources = path_field(at, STR("resources"));
    const struct value *operation = value_first(value_get(rule, STR("operations")));

    for (size_t i = 0; i < sizeof(rule_lists) / sizeof(rule_lists[0]); i++) {
        struct path here = path_field(at, str_of(rule_lists[i].field));
        const struct value *list = value_get(rule, str_of(rule_lists[i].field));

        if (value_count(list) == 0)
            finding_required(found, &here, STR(""));
        else if (rule_lists[i].others && value_count(list) > 1 && has(list, "*"))
            finding_invalid(found, &here, list, str_of(rule_lists[i].others));
    }
    for (uint32_t i = 0; operation; operation = value_next(operation), i++) {
        struct path here = path_index(&operations, i);

        webhook_validate_word(operation, &here, "* CONNECT CREATE DELETE UPDATE", found);
    }
    check_resources(value_get(rule, STR("resources")), &resources, found);
    webhook_validate_word(value_get(rule, STR("scope")), &scope, "* Cluster Namespaced", found);
}

void webhook_validate(const struct value *hook, const struct path *at, struct findings *found)
{
    struct path rules = path_field(at, STR("rules"));
    const struct value *rule = value_first(value_get(hook, STR("rules")));

    check_name(hook, at, found);
    check_choices(hook, at, found);
    check_versions(hook, at, found);
    check_timeout(hook, at, found);
    check_client(hook, at, found);
    for (uint32_t i = 0; rule; rule = value_next(rule), i++) {
        struct path here = path_index(&rules, i);

        webhook_validate_rule(rule, &here, found);
    }
}
