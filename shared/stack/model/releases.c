/* SPDX-License-Identifier: Apache-2.0 */
/* releases.c: one form for each chart and each set of overrides that say something of it; one
 * release for each form and each set of facts that its placeholders use.
 *
 * In the digest is what makes another release: chart, repository, version as asked, namespace,
 * name, values, and whether it waits for readiness. Not in it: timeout and dependsOn, which say how
 * to get there and change nothing that runs. Where Secrets are part of the values, the layers
 * stand in it unmerged (what ConfigMaps give, inline), with the Secrets' versions in place of their
 * content. */
#include "stack/model/releases.h"

#include "base/duration.h"
#include "stack/model/reasons.h"
#include "text/digest.h"
#include "text/json_write.h"

/* What an override says of a chart. */
struct said {
    uint32_t override;
    const struct chart_override *of_chart;
};
LIST_DEFINE(saids, struct said)

struct release_form {
    uint32_t chart;
    struct str key;
    struct str version;
    bool skip;
    bool per_cluster; /* each cluster has references of its own: merged for each */
    const struct chart_values **layers;
    uint32_t layer_count;
    struct merged_values *merged; /* if not per_cluster; NULL: not asked for yet */
};

struct releases {
    struct arena *arena;
    struct arena *scratch; /* for what is made of one cluster, looked at and forgotten */
    const struct stack *stack;
    struct override_matcher *matcher;
    struct values_references *references;
    bool seen;          /* what references hold */
    struct saids *said; /* by chart, in the order of overrides */
    struct map *forms;  /* chart and overrides -> struct release_form */
    struct map *made;   /* form and facts -> struct wanted_release */
    size_t merged_bytes;
};

static struct saids *collect_said(struct arena *arena, const struct stack *stack)
{
    const struct charts *charts = &stack->spec.charts;
    struct saids *said = arena_array(arena, struct saids, charts->count);
    struct map *by_name = map_new(arena, charts->count);

    for (uint32_t i = 0; i < charts->count; i++) {
        said[i] = saids_new(arena, 0);
        map_put(by_name, charts->items[i].name, &said[i]);
    }
    for (uint32_t i = 0; i < stack->spec.overrides.count; i++) {
        const struct chart_overrides *of = &stack->spec.overrides.items[i].charts;

        for (uint32_t k = 0; k < of->count; k++) {
            struct saids *to = map_get(by_name, of->items[k].name);

            /* Of two entries for one chart, which validation rejects, the first counts. */
            if (to && (to->count == 0 || to->items[to->count - 1].override != i))
                saids_push(to, (struct said){ i, &of->items[k] });
        }
    }
    return said;
}

static bool has_secret(const struct observed_references *observed)
{
    for (uint32_t i = 0; observed && i < observed->count; i++)
        if (observed->items[i].secret)
            return true;
    return false;
}

struct releases *releases_new(struct arena *arena, const struct stack *stack,
                              const struct observed_references *observed)
{
    struct releases *releases = arena_new(arena, struct releases);

    *releases = (struct releases){
        .arena = arena,
        .scratch = arena_beside(arena),
        .stack = stack,
        .matcher = override_matcher_new(arena, stack),
        .references = values_references_new(arena, stack->meta.namespace_, observed),
        .seen = observed != NULL,
        .said = collect_said(arena, stack),
        .forms = map_new(arena, stack->spec.charts.count),
        .made = map_new(arena, stack->spec.charts.count),
    };
    if (has_secret(observed))
        arena_keep_secret(releases->scratch);
    return releases;
}

struct u32_list releases_overrides(const struct releases *releases,
                                   const struct template_facts *cluster)
{
    return override_matcher_on(releases->matcher, releases->arena, cluster->id, cluster->labels);
}

/* --- forms --- */

/* What the overrides say of the chart, in order: both lists are sorted. */
static struct saids said_by(const struct releases *releases, struct arena *arena, uint32_t chart,
                            const struct u32_list *overrides)
{
    const struct saids *all = &releases->said[chart];
    struct saids by = saids_new(arena, all->count);
    uint32_t k = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        while (k < overrides->count && overrides->items[k] < all->items[i].override)
            k++;
        if (k < overrides->count && overrides->items[k] == all->items[i].override)
            saids_push(&by, all->items[i]);
    }
    return by;
}

static void add_layer(struct releases *releases, struct release_form *form,
                      const struct chart_values *layer)
{
    form->layers[form->layer_count++] = layer;
    form->per_cluster = form->per_cluster || (releases->seen && values_are_per_cluster(layer));
}

static struct release_form *make_form(struct releases *releases, uint32_t chart, struct str key,
                                      const struct saids *said)
{
    const struct chart *of = &releases->stack->spec.charts.items[chart];
    struct release_form *form = arena_new(releases->arena, struct release_form);

    *form = (struct release_form){ .chart = chart, .key = key, .version = of->version };
    form->layers = arena_array(releases->arena, const struct chart_values *, said->count + 1);
    add_layer(releases, form, &of->values);
    for (uint32_t i = 0; i < said->count; i++) {
        const struct chart_override *over = said->items[i].of_chart;

        form->version = over->version.len ? over->version : form->version;
        form->skip = form->skip || over->skip;
        if (chart_values_given(&over->values))
            add_layer(releases, form, &over->values);
    }
    return form;
}

static struct release_form *form_of(struct releases *releases, uint32_t chart,
                                    const struct u32_list *overrides)
{
    struct saids said = said_by(releases, releases->scratch, chart, overrides);
    struct strbuf key = strbuf_new(releases->scratch, 16);
    struct release_form *form;

    strbuf_u64(&key, chart);
    for (uint32_t i = 0; i < said.count; i++)
        strbuf_fmt(&key, ",%u", said.items[i].override);
    form = map_get(releases->forms, strbuf_str(&key));
    if (!form) {
        struct str kept = str_dup(releases->arena, strbuf_str(&key));

        form = make_form(releases, chart, kept, &said);
        map_put(releases->forms, kept, form);
    }
    return form;
}

static struct merged_values merged_on(struct releases *releases, struct arena *arena,
                                      struct release_form *form,
                                      const struct template_facts *cluster)
{
    if (form->per_cluster)
        return values_merge(arena, releases->references, form->layers, form->layer_count,
                            cluster->id);
    if (!form->merged) {
        form->merged = arena_new(releases->arena, struct merged_values);
        *form->merged = values_merge(releases->arena, releases->references, form->layers,
                                     form->layer_count, STR(""));
        for (uint32_t i = 0; i < form->layer_count; i++)
            releases->merged_bytes += json_raw(form->layers[i]->inline_).len;
    }
    return *form->merged;
}

/* --- values and digest --- */

static struct str text_of(struct arena *arena, const struct value *value)
{
    struct strbuf text = strbuf_new(arena, 256);

    value_write(value, true, &text);
    return strbuf_str(&text);
}

/* A release being made, in the scratch arena. */
struct making {
    struct releases *releases;
    const struct merged_values *merged;
    const struct template_facts *cluster;
};

static void put_expanded(struct json_writer *w, const struct making *m, const struct value *value)
{
    struct arena *arena = m->releases->scratch;
    const struct value *expanded =
        values_expand(arena, value, &m->merged->use, m->cluster, SIZE_MAX);

    json_put_raw(w, text_of(arena, expanded));
}

static void put_part(struct json_writer *w, const struct making *m, const struct values_part *part)
{
    json_put_key(w, STR("configMaps"));
    put_expanded(w, m, part->config);
    json_field_str(w, "secrets", part->secret_versions);
    if (!part->inline_)
        return;
    json_put_key(w, STR("inline"));
    put_expanded(w, m, part->inline_);
}

/* All that the values are made of, but what stands in Secrets. */
static void put_parts(struct json_writer *w, const struct making *m)
{
    const struct values_parts *parts = &m->merged->parts;

    put_part(w, m, &parts->items[0]);
    json_put_key(w, STR("overrides"));
    json_open_array(w);
    for (uint32_t i = 1; i < parts->count; i++) {
        json_open_object(w);
        put_part(w, m, &parts->items[i]);
        json_close_object(w);
    }
    json_close_array(w);
}

static struct str digest_of(const struct making *m, const struct desired_release *d,
                            struct str values)
{
    bool secret = m->merged->secret_versions.len > 0;
    struct strbuf text = strbuf_new(m->releases->scratch, values.len + 256);
    struct json_writer w = json_writer(&text);

    json_open_object(&w);
    json_field_str(&w, "chart", d->chart_in_repo);
    json_field_str(&w, "repo", d->repo);
    json_field_str(&w, "version", d->version);
    json_field_str(&w, "namespace", d->namespace_);
    json_field_str(&w, "release", d->release_name);
    json_field_bool(&w, "wait", d->wait);
    if (secret)
        put_parts(&w, m);
    else
        json_field_raw(&w, "values", values);
    json_close_object(&w);
    return str_fmt(m->releases->arena, "%s%s", secret ? DIGEST_OF_SECRETS : "sha256:",
                   digest_sha256_hex(m->releases->scratch, strbuf_str(&text)).at);
}

/* All but its values. */
static struct desired_release outline(struct releases *releases, struct release_form *form,
                                      const struct template_facts *cluster)
{
    const struct chart *c = &releases->stack->spec.charts.items[form->chart];
    struct desired_release d = {
        .chart = form->chart,
        .chart_name = c->name,
        .chart_in_repo = chart_in_repo(c),
        .repo = release_repo_url(c->repo),
        .version = form->version,
        .namespace_ = c->namespace_,
        .release_name = c->release_name,
        .depends_on = release_depends_on(releases->arena, c),
        .wait = c->wait,
        .releases = releases,
        .form = form,
        .cluster = *cluster,
    };

    if (!duration_parse(c->timeout, &d.timeout_ms))
        d.timeout_ms = 0; /* validate says so; Helm's own default then counts */
    return d;
}

/* --- releases --- */

static bool is_used(const struct template_use *use)
{
    return use->id || use->name || use->labels;
}

static struct wanted_release not_known(struct str reason, struct str message)
{
    return (struct wanted_release){ .reason = reason, .message = message };
}

static struct wanted_release lacks_label(struct releases *releases, const struct chart *chart,
                                         struct str label, const struct template_facts *cluster)
{
    struct arena *arena = releases->arena;

    return not_known(REASON(VALUES_INVALID),
                     str_fmt(arena,
                             "values of chart %.*s use ${cluster.labels.%.*s}, and cluster "
                             "%.*s (%.*s) has no such label; add the label to the cluster in "
                             "Rancher, or set these values in an override for the cluster",
                             STR_ARG(chart->name), STR_ARG(label), STR_ARG(cluster->id),
                             STR_ARG(str_shown(arena, cluster->name, 60))));
}

static struct wanted_release too_large(struct releases *releases, const struct chart *chart,
                                       const char *exceeds, size_t bytes)
{
    return not_known(REASON(VALUES_TOO_LARGE),
                     str_fmt(releases->arena,
                             "values of chart %.*s are %s%zu bytes of JSON, and "
                             "Rancher takes no more than %d; make them smaller, or let the chart "
                             "read a ConfigMap of its own",
                             STR_ARG(chart->name), exceeds, bytes, RELEASE_VALUES_BYTES_MAX));
}

/* Its values are known and expand. */
static struct wanted_release make(const struct making *m, struct release_form *form)
{
    struct releases *releases = m->releases;
    const struct chart *chart = &releases->stack->spec.charts.items[form->chart];
    bool own = form->per_cluster || is_used(&m->merged->use);
    const struct value *values =
        values_expand(releases->scratch, m->merged->values, &m->merged->use, m->cluster,
                      RELEASE_VALUES_BYTES_MAX);
    struct desired_release *desired;
    struct str text;

    if (!values)
        return too_large(releases, chart, "more than ", RELEASE_VALUES_BYTES_MAX);
    text = text_of(own ? releases->scratch : releases->arena, values);
    if (text.len > RELEASE_VALUES_BYTES_MAX)
        return too_large(releases, chart, "", text.len);
    desired = arena_new(releases->arena, struct desired_release);
    *desired = outline(releases, form, m->cluster);
    desired->digest = digest_of(m, desired, text);
    desired->values = own ? STR("") : text;
    desired->secret_versions = str_dup(releases->arena, m->merged->secret_versions);
    return (struct wanted_release){ .desired = desired };
}

/* Where the facts in use are equal, so are the releases. */
static struct wanted_release made_once(const struct making *m, struct release_form *form)
{
    struct releases *releases = m->releases;
    struct strbuf key = strbuf_new(releases->scratch, 64);
    struct wanted_release *held;

    if (form->per_cluster)
        return make(m, form);
    strbuf_fmt(&key, "%.*s;", STR_ARG(form->key));
    template_put_facts(&m->merged->use, m->cluster, &key);
    held = map_get(releases->made, strbuf_str(&key));
    if (!held) {
        held = arena_new(releases->arena, struct wanted_release);
        *held = make(m, form);
        map_put(releases->made, str_dup(releases->arena, strbuf_str(&key)), held);
    }
    return *held;
}

struct wanted_release releases_wanted(struct releases *releases, uint32_t chart,
                                      const struct u32_list *overrides,
                                      const struct template_facts *cluster)
{
    struct release_form *form;
    struct merged_values merged;
    struct str label;

    arena_reset(releases->scratch);
    form = form_of(releases, chart, overrides);
    if (form->skip)
        return (struct wanted_release){ .skip = true };
    merged = merged_on(releases, releases->scratch, form, cluster);
    if (!merged.values)
        return not_known(merged.reason, merged.message);
    label = template_missing_label(&merged.use, cluster);
    if (label.len)
        return lacks_label(releases, &releases->stack->spec.charts.items[chart], label, cluster);
    return made_once(&(struct making){ releases, &merged, cluster }, form);
}

struct str releases_values(struct arena *arena, const struct desired_release *desired)
{
    struct merged_values merged;

    if (desired->values.len || !desired->form)
        return desired->values.len ? desired->values : STR("{}");
    merged = merged_on(desired->releases, arena, desired->form, &desired->cluster);
    return text_of(arena, values_expand(arena, merged.values, &merged.use, &desired->cluster,
                                        RELEASE_VALUES_BYTES_MAX));
}

/* --- what they are made of --- */

static void add_references(struct releases *releases, struct observed_references *to, bool secret,
                           const struct name_refs *refs, struct str cluster_id)
{
    for (uint32_t i = 0; i < refs->count; i++)
        observed_references_push(
            to, (struct observed_reference){
                    .secret = secret,
                    .name = values_object(releases->arena, refs->items[i].name, cluster_id),
                    .key = values_key(&refs->items[i]),
                    .optional = refs->items[i].optional });
}

struct observed_references releases_references(struct releases *releases,
                                               const struct u32_list *overrides,
                                               const struct template_facts *cluster)
{
    struct observed_references references = observed_references_new(releases->arena, 0);

    arena_reset(releases->scratch);
    for (uint32_t i = 0; i < releases->stack->spec.charts.count; i++) {
        const struct release_form *form = form_of(releases, i, overrides);

        for (uint32_t k = 0; !form->skip && k < form->layer_count; k++) {
            add_references(releases, &references, false, &form->layers[k]->config_map_refs,
                           cluster->id);
            add_references(releases, &references, true, &form->layers[k]->secret_refs, cluster->id);
        }
    }
    return references;
}

struct str releases_missing_label(struct releases *releases, uint32_t chart,
                                  const struct u32_list *overrides,
                                  const struct template_facts *cluster)
{
    struct release_form *form;
    struct merged_values merged;

    arena_reset(releases->scratch);
    form = form_of(releases, chart, overrides);
    if (form->skip)
        return STR("");
    merged = merged_on(releases, releases->scratch, form, cluster);
    return merged.values ? template_missing_label(&merged.use, cluster) : STR("");
}

size_t releases_merged_bytes(const struct releases *releases)
{
    return releases->merged_bytes;
}
