/* release.c: what one chart is to be on one cluster: overrides laid over the chart, and the digest
 * that tells "as asked for" from all else.
 *
 * In the digest is what makes another release: chart, repository, version as asked, namespace,
 * name, values, and whether it waits for readiness. Not in it: timeout and dependsOn, which say how
 * to get there and change nothing that runs. Where Secrets are part of the values, these
 * stand in it unmerged (what ConfigMaps give, inline, overrides), with the Secrets' versions
 * in place of their content. */
#include "stack/release.h"

#include "base/flag.h"
#include "base/limits.h"
#include "base/map.h"
#include "text/digest.h"
#include "text/json_write.h"
#include "text/value.h"
#include "text/yaml.h"

/* One override, made ready to be asked. */
struct override_test {
    bool everywhere; /* it names no clusters at all */
    bool by_selector;
    struct selector selector;
    struct map *ids;
};

struct override_matcher {
    uint32_t count;
    struct override_test *tests;
};

struct override_matcher *override_matcher_new(struct arena *arena, const struct stack *stack)
{
    const struct stack_overrides *overrides = &stack->spec.overrides;
    struct override_matcher *matcher = arena_new(arena, struct override_matcher);

    matcher->count = overrides->count;
    matcher->tests = arena_array(arena, struct override_test, overrides->count);
    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct stack_override *o = &overrides->items[i];
        struct override_test *test = &matcher->tests[i];

        test->by_selector = !label_selector_is_empty(&o->selector);
        test->everywhere = !test->by_selector && o->cluster_ids.count == 0;
        if (test->by_selector)
            test->selector = label_selector_compile(arena, &o->selector);
        test->ids = map_new(arena, o->cluster_ids.count);
        for (uint32_t k = 0; k < o->cluster_ids.count; k++)
            map_put(test->ids, o->cluster_ids.items[k], matcher);
    }
    return matcher;
}

struct u32_list override_matcher_on(const struct override_matcher *matcher, struct arena *arena,
                                    struct str cluster_id, struct json cluster_labels)
{
    struct u32_list on = u32_list_new(arena, 0);

    for (uint32_t i = 0; i < matcher->count; i++) {
        const struct override_test *test = &matcher->tests[i];

        if (test->everywhere || map_get(test->ids, cluster_id) ||
            (test->by_selector && selector_matches(&test->selector, cluster_labels)))
            u32_list_push(&on, i);
    }
    return on;
}

/* What override `index` says of the chart, or NULL. */
static const struct chart_override *said_of(const struct stack *stack, uint32_t index,
                                            struct str chart_name)
{
    const struct chart_overrides *charts = &stack->spec.overrides.items[index].charts;

    for (uint32_t i = 0; i < charts->count; i++)
        if (str_eq(charts->items[i].name, chart_name))
            return &charts->items[i];
    return NULL;
}

bool release_is_overridden(const struct stack *stack, uint32_t chart,
                           const struct u32_list *overrides)
{
    for (uint32_t i = 0; i < overrides->count; i++)
        if (said_of(stack, overrides->items[i], stack->spec.charts.items[chart].name))
            return true;
    return false;
}

struct str release_repo_url(struct str repo)
{
    while (repo.len && repo.at[repo.len - 1] == '/')
        repo.len--;
    return repo;
}

struct str release_repo_name(struct arena *arena, struct str repo_url)
{
    struct str hex = digest_sha256_hex(arena, release_repo_url(repo_url));

    return str_fmt(arena, "herd-%.10s", hex.at);
}

static void put_sorted(struct json_writer *w, struct arena *arena, struct json values)
{
    struct strbuf text = strbuf_new(arena, 256);

    value_write(value_of(arena, values), true, &text);
    json_put_raw(w, strbuf_str(&text));
}

/* All that the values are made of, but what stands in Secrets. */
static void put_parts(struct json_writer *w, struct arena *arena, const struct stack *stack,
                      const struct u32_list *overrides, const struct base_values *base,
                      const struct desired_release *d)
{
    struct json inline_values = stack->spec.charts.items[d->chart].values.inline_;

    json_field_raw(w, "configMaps", base->config_json.len ? base->config_json : STR("{}"));
    json_field_str(w, "secrets", base->secret_versions);
    if (json_is(inline_values, JSON_OBJECT)) {
        json_put_key(w, STR("inline"));
        put_sorted(w, arena, inline_values);
    }
    json_put_key(w, STR("overrides"));
    json_open_array(w);
    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct chart_override *o = said_of(stack, overrides->items[i], d->chart_name);

        if (o && json_is(o->values, JSON_OBJECT))
            put_sorted(w, arena, o->values);
    }
    json_close_array(w);
}

static struct str digest_of(struct arena *arena, const struct stack *stack,
                            const struct u32_list *overrides, const struct base_values *base,
                            const struct desired_release *d)
{
    bool secret = base->secret_versions.len > 0;
    struct strbuf text = strbuf_new(arena, d->values.len + 256);
    struct json_writer w = json_writer(&text);

    json_open_object(&w);
    json_field_str(&w, "chart", d->chart_in_repo);
    json_field_str(&w, "repo", d->repo);
    json_field_str(&w, "version", d->version);
    json_field_str(&w, "namespace", d->namespace_);
    json_field_str(&w, "release", d->release_name);
    json_field_bool(&w, "wait", d->wait);
    if (secret)
        put_parts(&w, arena, stack, overrides, base, d);
    else
        json_field_raw(&w, "values", d->values);
    json_close_object(&w);
    return str_fmt(arena, "%s%s", secret ? DIGEST_OF_SECRETS : "sha256:",
                   digest_sha256_hex(arena, strbuf_str(&text)).at);
}

static struct str joined(struct arena *arena, const struct str_list *names)
{
    struct strbuf text = strbuf_new(arena, 16 * (size_t)names->count);

    for (uint32_t i = 0; i < names->count; i++) {
        if (i)
            strbuf_char(&text, ',');
        strbuf_put(&text, names->items[i]);
    }
    return strbuf_str(&text);
}

static struct json_limits values_limits(void)
{
    struct json_limits limits = json_limits_default;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    return limits;
}

/* Lay version, values and skip of the overrides over the chart, in order. */
static int apply_overrides(struct arena *arena, const struct stack *stack,
                           const struct u32_list *overrides, struct str base_values,
                           struct desired_release *d, struct error *err)
{
    struct json_limits limits = values_limits();
    struct value *values;

    if (value_read(arena, base_values.len ? base_values : STR("{}"), &limits, &values, err) < 0)
        return error_wrap(err, "values of chart %.*s", STR_ARG(d->chart_name));
    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct chart_override *o = said_of(stack, overrides->items[i], d->chart_name);

        if (!o)
            continue;
        if (o->version.len)
            d->version = o->version;
        d->skip = d->skip || o->skip;
        if (json_is(o->values, JSON_OBJECT))
            values = value_merge(arena, values, value_of(arena, o->values));
    }
    if (value_kind(values) != JSON_OBJECT)
        return error_set(err, ERROR_INVALID, "values of chart %.*s are a %s; they must be a map",
                         STR_ARG(d->chart_name), json_kind_name(value_kind(values)));

    struct strbuf text = strbuf_new(arena, base_values.len + 16);

    value_write(values, true, &text);
    d->values = strbuf_str(&text);
    if (!d->skip && d->values.len > RELEASE_VALUES_BYTES_MAX)
        return error_set(err, ERROR_TOO_LARGE,
                         "values of chart %.*s are %zu bytes of JSON, and Rancher takes no more "
                         "than %d; make them smaller, or let the chart read a ConfigMap of its own",
                         STR_ARG(d->chart_name), d->values.len,
                         RELEASE_VALUES_BYTES_MAX);
    return 0;
}

int release_desire_with(struct arena *arena, const struct stack *stack, uint32_t chart,
                        const struct u32_list *overrides, const struct base_values *base,
                        struct desired_release *ret_desired, struct error *err)
{
    const struct chart *c = &stack->spec.charts.items[chart];
    struct desired_release d = {
        .chart = chart,
        .chart_name = c->name,
        .chart_in_repo = chart_in_repo(c),
        .repo = release_repo_url(c->repo),
        .version = c->version,
        .namespace_ = c->namespace_,
        .release_name = c->release_name,
        .depends_on = joined(arena, &c->depends_on),
        .wait = c->wait,
        .secret_versions = base->secret_versions,
    };

    if (!duration_parse(c->timeout, &d.timeout_ms))
        d.timeout_ms = 0; /* validate says so; Helm's own default then counts */
    if (apply_overrides(arena, stack, overrides, base->json, &d, err) < 0)
        return -1;
    d.digest = digest_of(arena, stack, overrides, base, &d);
    *ret_desired = d;
    return 0;
}

int release_desire(struct arena *arena, const struct stack *stack, uint32_t chart,
                   struct str cluster_id, struct json cluster_labels,
                   const struct base_values *base, struct desired_release *ret_desired,
                   struct error *err)
{
    struct override_matcher *matcher = override_matcher_new(arena, stack);
    struct u32_list on = override_matcher_on(matcher, arena, cluster_id, cluster_labels);

    return release_desire_with(arena, stack, chart, &on, base, ret_desired, err);
}

/* Why a text cannot be read. A parser quotes what it stumbles over: of a Secret only the place is
 * told ("line 3, column 7"). */
static int blame_source(const struct values_source *source, struct error *err)
{
    ptrdiff_t colon = str_find_char(str_of(err->text), ':', 0);
    char place[64] = "";

    if (!source->secret)
        return error_wrap(err, "%.*s", STR_ARG(source->name));
    if (str_starts(str_of(err->text), STR("line ")) && colon > 0 &&
        colon < (ptrdiff_t)sizeof(place))
        memcpy(place, err->text, (size_t)colon);
    return error_set(err, ERROR_INVALID,
                     "%.*s%s%s is not a YAML or JSON document; what stands there is not shown, "
                     "because it is secret",
                     STR_ARG(source->name), place[0] ? ": " : "", place);
}

/* One reference's text as a map. An empty document is an empty map, as Helm has it. */
static int source_value(struct arena *arena, const struct values_source *source,
                        struct value **ret_value, struct error *err)
{
    struct yaml_documents documents;
    struct json_limits limits = values_limits();
    struct value *value = NULL;

    if (yaml_read(arena, source->text, &documents, err) < 0)
        return blame_source(source, err);
    if (documents.count > 1)
        return error_set(err, ERROR_INVALID,
                         "%.*s holds %u YAML documents; values are one map in one document",
                         STR_ARG(source->name), documents.count);
    if (documents.count == 1 &&
        value_read(arena, documents.items[0].json, &limits, &value, err) < 0)
        return blame_source(source, err);
    if (value_kind(value) == JSON_ABSENT || value_kind(value) == JSON_NULL)
        value = value_object(arena);
    if (value_kind(value) != JSON_OBJECT)
        return error_set(err, ERROR_INVALID,
                         "%.*s holds %s %s; values must be a map of names to values",
                         STR_ARG(source->name),
                         value_kind(value) == JSON_ARRAY ? "an" : "a",
                         json_kind_name(value_kind(value)));
    *ret_value = value;
    return 0;
}

int release_values(struct arena *arena, const struct values_source *sources, uint32_t count,
                   struct json inline_values, struct str *ret_values, struct error *err)
{
    struct value *values = value_object(arena);

    for (uint32_t i = 0; i < count; i++) {
        struct value *over = NULL;

        if (source_value(arena, &sources[i], &over, err) < 0) {
            err->code = ERROR_INVALID;
            return -1;
        }
        values = value_merge(arena, values, over);
    }
    if (json_is(inline_values, JSON_OBJECT))
        values = value_merge(arena, values, value_of(arena, inline_values));

    struct strbuf text = strbuf_new(arena, 256);

    value_write(values, true, &text);
    *ret_values = strbuf_str(&text);
    return 0;
}

static const struct str description_begins = STR_INIT("Stack ");
static const struct str description_uid = STR_INIT(", uid ");

struct str release_description(struct arena *arena, struct str stack, struct str stack_uid)
{
    return str_fmt(arena, "%.*s%.*s%.*s%.*s", STR_ARG(description_begins), STR_ARG(stack),
                   STR_ARG(description_uid), STR_ARG(stack_uid));
}

struct str release_description_uid(struct str description)
{
    ptrdiff_t at = str_find(description, description_uid, 0);

    if (at < 0 || !str_starts(description, description_begins))
        return STR("");
    return str_slice(description, (size_t)at + description_uid.len, description.len);
}
