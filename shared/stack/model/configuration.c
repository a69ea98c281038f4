/* SPDX-License-Identifier: Apache-2.0 */
/* configuration.c: layers, and the two forms in which they are written. */
#include "stack/model/configuration.h"

#include "stack/model/checks.h"
#include "stack/model/limits.h"
#include "text/yaml.h"

enum { SHOWN_NAME = 200, SHOWN_TEXT = 80 };

struct configuration configuration_default(void)
{
    return (struct configuration){ .severities = rule_severities_default() };
}

void configuration_lay(struct configuration *configuration, const struct configuration_layer *layer)
{
    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        if (layer->rule_given[id])
            configuration->severities.of[id] = layer->severities.of[id];
    if (layer->plain_http_given)
        configuration->plain_http_allowed = layer->plain_http_allowed;
    if (layer->repo_hosts_given)
        configuration->repo_hosts = layer->repo_hosts;
}

uint32_t configuration_layer_count(const struct configuration_layer *layer)
{
    uint32_t count = (uint32_t)layer->plain_http_given + layer->repo_hosts_given;

    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        count += layer->rule_given[id];
    return count;
}

/* --- one rule --- */

static int unknown_rule(struct str name, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str shown = str_shown(arena, name, SHOWN_TEXT);
    struct str_nearest nearest = { .name = name };

    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        str_nearest_try(&nearest, str_of(rule_of(id)->name));
    if (nearest.found.len)
        return error_set(err, ERROR_BAD_REQUEST,
                         "Not found: \"%.*s\": no rule has that name (did you mean \"%.*s\"?)",
                         STR_ARG(shown), STR_ARG(nearest.found));
    return error_set(err, ERROR_BAD_REQUEST,
                     "Not found: \"%.*s\": no rule has that name; docs/rules.md lists the rules",
                     STR_ARG(shown));
}

static int bad_severity(struct str name, struct str word, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    return error_set(err, ERROR_BAD_REQUEST,
                     "%.*s: Unsupported value: \"%.*s\": supported values: \"deny\", \"warn\", "
                     "\"audit\", \"off\"",
                     STR_ARG(name), STR_ARG(str_shown(arena, word, SHOWN_TEXT)));
}

static int set_rule(struct configuration_layer *layer, struct str name, struct str word,
                    struct error *err)
{
    enum severity severity;
    enum rule_id rule;

    if (!rule_from(name, &rule))
        return unknown_rule(name, err);
    if (layer->rule_given[rule])
        return error_set(err, ERROR_BAD_REQUEST, "Duplicate value: \"%.*s\"; remove one of the two",
                         STR_ARG(name));
    if (!severity_from(word, &severity))
        return bad_severity(name, word, err);
    if (rule_fixed_why(rule) && severity != SEVERITY_DENY)
        return error_set(err, ERROR_BAD_REQUEST, "Forbidden: %.*s can only deny: %s; leave it out",
                         STR_ARG(name), rule_fixed_why(rule));
    layer->rule_given[rule] = true;
    layer->severities.of[rule] = severity;
    return 0;
}

/* --- flags --- */

/* "rule=severity" */
static int read_part(struct str part, struct configuration_layer *layer, struct error *err)
{
    AUTO(arena_free) struct arena *arena = NULL;
    ptrdiff_t equals = str_find_char(part, '=', 0);

    if (equals >= 0)
        return set_rule(layer, str_trim(str_slice(part, 0, (size_t)equals)),
                        str_trim(str_slice(part, (size_t)equals + 1, part.len)), err);
    arena = arena_create(0);
    return error_set(err, ERROR_BAD_REQUEST,
                     "Invalid value: \"%.*s\": must be rule=severity, e.g. gpu.no-provider=deny",
                     STR_ARG(str_shown(arena, part, SHOWN_TEXT)));
}

int configuration_read_flags(const struct flag_value *severities,
                             const struct flag_value *plain_http,
                             struct configuration_layer *ret_layer, struct error *err)
{
    struct configuration_layer layer = { .plain_http_given = plain_http->given,
                                         .plain_http_allowed = plain_http->number != 0 };
    struct str list = severities->text;
    struct str part;

    while (list.len && str_split(&list, ',', &part))
        if (read_part(str_trim(part), &layer, err) < 0)
            return error_wrap(err, "%s", severities->from);
    *ret_layer = layer;
    return 0;
}

/* --- a file --- */

struct reading {
    struct arena *arena;
    const char *name;
    const struct yaml_document *document;
    struct configuration_layer layer;
    struct error first;
    uint32_t wrong;
};

/* The first is reported; the others are counted. */
static void blame(struct reading *r, struct json value, const struct path *at,
                  const struct error *what)
{
    size_t offset = json_offset(value);
    struct yaml_position place = at && at->kind != PATH_INDEX
                                     ? yaml_key_position_of(r->document, offset)
                                     : yaml_position_of(r->document, offset);
    struct str field = str_shown(r->arena, path_render(at, r->arena), SHOWN_TEXT);

    if (r->wrong++)
        return;
    error_set(&r->first, ERROR_BAD_REQUEST, "%.*s:%u:%u: %.*s%s%s", SHOWN_NAME, r->name, place.line,
              place.column, STR_ARG(field), field.len ? ": " : "", what->text);
}

/* YAML makes a boolean of the word off. */
static struct str severity_word(struct json value)
{
    if (json_is(value, JSON_STRING))
        return json_str(value);
    if (json_is(value, JSON_BOOL) && !json_bool(value))
        return str_of(severity_name(SEVERITY_OFF));
    return json_raw(value);
}

static void read_rules(struct reading *r, struct json rules, const struct path *at)
{
    struct json_iter it = json_iter(rules);
    struct error err;

    if (!json_is(rules, JSON_OBJECT)) {
        error_set(&err, ERROR_BAD_REQUEST,
                  "Invalid value: must be an object of rules and their severities, not %s; write "
                  "lines such as gpu.no-provider: deny",
                  json_kind_name(json_kind(rules)));
        blame(r, rules, at, &err);
        return;
    }
    while (json_next(&it))
        if (set_rule(&r->layer, it.key, severity_word(it.value), &err) < 0)
            blame(r, it.value, at, &err);
}

static void read_plain_http(struct reading *r, struct json value, const struct path *at)
{
    struct error err;

    if (json_is(value, JSON_BOOL)) {
        r->layer.plain_http_given = true;
        r->layer.plain_http_allowed = json_bool(value);
        return;
    }
    error_set(&err, ERROR_BAD_REQUEST,
              "Invalid value: must be a boolean, not %s; write true or false without quotes",
              json_kind_name(json_kind(value)));
    blame(r, value, at, &err);
}

/* A name that could be in DNS, or an address. */
static bool is_host(struct str host)
{
    for (size_t i = 0; i < host.len && !repo_host_is_ip6(host); i++)
        if (!is_word_char(host.at[i]) && host.at[i] != '.')
            return false;
    return host.len > 0 && host.at[0] != '.';
}

static void read_repo_host(struct reading *r, struct json value, const struct path *at)
{
    struct str host = json_str(value);
    struct error err;

    if (!is_host(host))
        error_set(&err, ERROR_BAD_REQUEST,
                  "Invalid value: %.*s: must be a host alone, such as localhost or 127.0.0.1; "
                  "leave out scheme, port and path",
                  STR_ARG(str_shown(r->arena, json_raw(value), SHOWN_TEXT)));
    else if (!repo_host_reserved(host))
        error_set(&err, ERROR_BAD_REQUEST,
                  "Invalid value: %.*s: is allowed anyway; only loopback, link-local and metadata "
                  "hosts need to be named; leave it out",
                  STR_ARG(str_shown(r->arena, json_raw(value), SHOWN_TEXT)));
    else if (!repo_hosts_add(&r->layer.repo_hosts, host))
        error_set(&err, ERROR_BAD_REQUEST,
                  "Too long: must have at most %d bytes in all; name fewer hosts",
                  LIMIT_REPO_HOSTS);
    else
        return;
    blame(r, value, at, &err);
}

static void read_repo_hosts(struct reading *r, struct json value, const struct path *at)
{
    struct json_iter it = json_iter(value);
    struct error err;

    if (!json_is(value, JSON_ARRAY)) {
        error_set(&err, ERROR_BAD_REQUEST,
                  "Invalid value: must be a list of hosts such as [localhost], not %s",
                  json_kind_name(json_kind(value)));
        blame(r, value, at, &err);
        return;
    }
    r->layer.repo_hosts_given = true;
    while (json_next(&it)) {
        struct path each = path_index(at, it.position);

        read_repo_host(r, it.value, &each);
    }
}

static const struct setting {
    struct str name;
    void (*read)(struct reading *r, struct json value, const struct path *at);
} settings[] = {
    { STR_INIT("rules"), read_rules },
    { STR_INIT("allowPlainHttpRepos"), read_plain_http },
    { STR_INIT("allowRepoHosts"), read_repo_hosts },
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void blame_unknown(struct reading *r, struct str name, struct json value)
{
    struct str_nearest nearest = { .name = name };
    struct path at = path_field(NULL, name);
    struct error err;

    for (size_t i = 0; i < SETTINGS; i++)
        str_nearest_try(&nearest, settings[i].name);
    if (nearest.found.len)
        error_set(&err, ERROR_BAD_REQUEST,
                  "Unsupported value: unknown field (did you mean \"%.*s\"?)",
                  STR_ARG(nearest.found));
    else
        error_set(&err, ERROR_BAD_REQUEST,
                  "Unsupported value: unknown field; docs/configuration.md lists the fields");
    blame(r, value, &at, &err);
}

/* null is as good as absent. */
static void read_setting(struct reading *r, struct str name, struct json value)
{
    struct path at = path_field(NULL, name);

    for (size_t i = 0; i < SETTINGS; i++) {
        if (!str_eq(name, settings[i].name))
            continue;
        if (!json_is(value, JSON_NULL))
            settings[i].read(r, value, &at);
        return;
    }
    blame_unknown(r, name, value);
}

static void read_object(struct reading *r, struct json object)
{
    struct json_iter it = json_iter(object);
    struct error err;

    if (json_is(object, JSON_NULL))
        return;
    if (!json_is(object, JSON_OBJECT)) {
        error_set(&err, ERROR_BAD_REQUEST,
                  "Invalid value: must be an object, not %s; write rules: and below it "
                  "lines such as gpu.no-provider: deny",
                  json_kind_name(json_kind(object)));
        blame(r, object, NULL, &err);
        return;
    }
    while (json_next(&it))
        read_setting(r, it.key, it.value);
}

static int unreadable(const char *name, const struct error *why, struct error *err)
{
    struct error told = *why;
    struct yaml_position at;
    struct str what;

    if (!yaml_error_place(why, &at, &what))
        return error_set(err, told.code, "%.*s: %s", SHOWN_NAME, name, told.text);
    return error_set(err, told.code, "%.*s:%u:%u: %.*s", SHOWN_NAME, name, at.line, at.column,
                     STR_ARG(what));
}

int configuration_read(const char *name, struct str text, struct configuration_layer *ret_layer,
                       struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct reading r = { .arena = arena, .name = name };
    struct yaml_documents documents;
    struct json object;
    struct error why;

    if (yaml_read(arena, text, &documents, &why) < 0)
        return unreadable(name, &why, err);
    for (uint32_t i = 0; i < documents.count; i++) {
        r.document = &documents.items[i];
        if (json_read(arena, r.document->json, &json_limits_default, &object, &why) < 0)
            return unreadable(name, &why, err);
        if (i > 0 && !json_is(object, JSON_NULL))
            return error_set(
                err, ERROR_BAD_REQUEST,
                "%.*s:%u:1: must be one document; put the settings of the second into the first",
                SHOWN_NAME, name, r.document->positions[0].line);
        read_object(&r, object);
    }
    if (r.wrong > 1)
        return error_set(err, ERROR_BAD_REQUEST, "%s (and %u more)", r.first.text, r.wrong - 1);
    if (r.wrong)
        return error_set(err, ERROR_BAD_REQUEST, "%s", r.first.text);
    *ret_layer = r.layer;
    return 0;
}
