/* SPDX-License-Identifier: Apache-2.0 */
/* values.c: each reference's text becomes a map, and the maps of all layers become one. */
#include "stack/model/values.h"

#include "base/limits.h"
#include "stack/model/reasons.h"
#include "stack/model/rules.h"
#include "text/yaml.h"

/* A reference, and what its text means. */
struct known {
    const struct observed_reference *observed;
    struct value *value; /* NULL: not looked at yet */
};

struct values_references {
    struct arena *arena;
    struct str namespace_;
    bool seen;
    struct map *known; /* kind, name and key -> struct known */
};

struct str values_key(const struct name_ref *ref)
{
    return ref->key.len ? ref->key : STR("values.yaml");
}

struct str values_object(struct arena *arena, struct str name, struct str cluster_id)
{
    const struct template_facts facts = { .id = cluster_id };
    const struct template_use use = { .id = true };
    struct strbuf out;

    if (!template_is_one(name))
        return name;
    out = strbuf_new(arena, name.len + cluster_id.len);
    template_expand(name, &use, &facts, SIZE_MAX, &out);
    return strbuf_str(&out);
}

static bool are_per_cluster(const struct name_refs *refs)
{
    for (uint32_t i = 0; i < refs->count; i++)
        if (template_is_one(refs->items[i].name))
            return true;
    return false;
}

bool values_are_per_cluster(const struct chart_values *values)
{
    return are_per_cluster(&values->config_map_refs) || are_per_cluster(&values->secret_refs);
}

static struct str key_of(struct arena *arena, bool secret, struct str name, struct str key)
{
    return str_fmt(arena, "%c%.*s\n%.*s", secret ? 'S' : 'C', STR_ARG(name), STR_ARG(key));
}

struct values_references *values_references_new(struct arena *arena, struct str namespace_,
                                                const struct observed_references *observed)
{
    struct values_references *references = arena_new(arena, struct values_references);
    uint32_t count = observed ? observed->count : 0;
    struct known *known = arena_array(arena, struct known, count);

    *references = (struct values_references){ .arena = arena,
                                              .namespace_ = namespace_,
                                              .seen = observed != NULL,
                                              .known = map_new(arena, count) };
    for (uint32_t i = 0; i < count; i++) {
        const struct observed_reference *one = &observed->items[i];

        known[i].observed = one;
        map_put(references->known, key_of(arena, one->secret, one->name, one->key), &known[i]);
    }
    return references;
}

/* --- one text --- */

/* Values of one reference at work. */
struct source {
    struct arena *arena;
    const struct observed_reference *observed;
    struct str shown; /* "ConfigMap default/gpu-operator-values" */
    struct error *err;
};

/* Why a text cannot be read. A parser quotes what it stumbles over: of a Secret only the place is
 * told ("line 3, column 7"). */
static int blame_syntax(const struct source *s)
{
    ptrdiff_t colon = str_find_char(str_of(s->err->text), ':', 0);
    char place[64] = "";

    s->err->code = ERROR_INVALID;
    if (!s->observed->secret)
        return error_wrap(s->err, "%.*s", STR_ARG(s->shown));
    if (str_starts(str_of(s->err->text), STR("line ")) && colon > 0 &&
        colon < (ptrdiff_t)sizeof(place))
        memcpy(place, s->err->text, (size_t)colon);
    return error_set(s->err, ERROR_INVALID,
                     "%.*s%s%s is not a YAML or JSON document; its text is not shown, because it "
                     "is secret",
                     STR_ARG(s->shown), place[0] ? ": " : "", place);
}

static void blame_placeholder(void *context, const struct path *at, struct str placeholder)
{
    const struct source *s = context;

    if (s->err->code == ERROR_NONE)
        error_set(s->err, ERROR_INVALID, "%.*s: %.*s: '%.*s' is not a placeholder; %s",
                  STR_ARG(s->shown), STR_ARG(str_shown(s->arena, path_render(at, s->arena), 200)),
                  STR_ARG(str_shown(s->arena, placeholder, 80)),
                  rule_of(RULE_SHAPE_PLACEHOLDER)->remedy);
}

static struct str quote(void *context, struct str text)
{
    return template_quote(context, text);
}

static int read_json(struct source *s, struct json json, struct value **ret_value)
{
    enum json_kind kind = json_kind(json);

    if (kind != JSON_OBJECT && kind != JSON_NULL)
        return error_set(s->err, ERROR_INVALID,
                         "%.*s holds %s %s; values must be a map of names to values",
                         STR_ARG(s->shown), kind == JSON_ARRAY ? "an" : "a", json_kind_name(kind));
    if (!s->observed->secret)
        template_find_unknown(json, NULL, blame_placeholder, s);
    if (s->err->code != ERROR_NONE)
        return -1;
    *ret_value = kind == JSON_NULL ? value_object(s->arena) : value_of(s->arena, json);
    if (s->observed->secret)
        *ret_value = value_map_strings(s->arena, *ret_value, quote, s->arena);
    return 0;
}

/* A reference's text as a map. An empty document is an empty map, as Helm has it. */
static int read_source(struct source *s, struct value **ret_value)
{
    struct yaml_documents documents;
    struct json_limits limits = json_limits_default;
    struct json json;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    if (yaml_read(s->arena, s->observed->text, &documents, s->err) < 0)
        return blame_syntax(s);
    if (documents.count > 1)
        return error_set(s->err, ERROR_INVALID,
                         "%.*s holds %u YAML documents; values are one map in one document",
                         STR_ARG(s->shown), documents.count);
    if (documents.count == 0) {
        *ret_value = value_object(s->arena);
        return 0;
    }
    if (json_read(s->arena, documents.items[0].json, &limits, &json, s->err) < 0)
        return blame_syntax(s);
    return read_json(s, json, ret_value);
}

/* --- layers --- */

/* Layers being merged. */
struct merging {
    struct arena *arena;
    struct values_references *references;
    struct str cluster_id;
    struct merged_values *to;
    struct values_part *part;
    bool secrets; /* the parts will be asked for */
};

static bool lack(struct merging *m, struct str reason, struct str message)
{
    m->to->reason = reason;
    m->to->message = message;
    m->to->values = NULL;
    return false;
}

static void lay_over(struct merging *m, const struct observed_reference *observed,
                     const struct value *value)
{
    m->to->values = value_merge(m->arena, m->to->values, value);
    if (observed->secret)
        m->part->secret_versions =
            str_fmt(m->arena, "%.*s%.*s/%.*s=%.*s\n", STR_ARG(m->part->secret_versions),
                    STR_ARG(observed->name), STR_ARG(observed->key), STR_ARG(observed->version));
    else if (m->secrets)
        m->part->config = value_merge(m->arena, m->part->config, value);
}

/* What one cluster alone has is not kept beyond the merging. */
static bool take_text(struct merging *m, struct known *known, struct str shown, bool is_own)
{
    struct error err = { .code = ERROR_NONE };
    struct source source = { .arena = is_own ? m->arena : m->references->arena,
                             .observed = known->observed,
                             .shown = shown,
                             .err = &err };
    struct value *value = known->value;

    if (!value && read_source(&source, &value) < 0)
        return lack(m, REASON(VALUES_INVALID), str_dup(m->references->arena, str_of(err.text)));
    if (!is_own)
        known->value = value;
    lay_over(m, known->observed, value);
    return true;
}

static bool lack_key(struct merging *m, const struct observed_reference *observed, struct str shown)
{
    struct arena *arena = m->references->arena;

    if (observed->secret)
        return lack(m, REASON(VALUES_INVALID),
                    str_fmt(arena,
                            "%.*s has no key %.*s; name one that it has in the reference's "
                            "key",
                            STR_ARG(shown), STR_ARG(observed->key)));
    return lack(m, REASON(VALUES_INVALID),
                str_fmt(arena, "%.*s has no key %.*s; it has: %.*s", STR_ARG(shown),
                        STR_ARG(observed->key),
                        STR_ARG(observed->text.len ? observed->text : STR("none"))));
}

static bool lack_object(struct merging *m, bool secret, struct str shown)
{
    return lack(m, secret ? REASON(SECRET_NOT_FOUND) : REASON(CONFIG_MAP_NOT_FOUND),
                str_fmt(m->references->arena,
                        "%.*s does not exist; create it, or mark the reference optional",
                        STR_ARG(shown)));
}

static bool lack_text(struct merging *m, const struct observed_reference *observed,
                      struct str shown)
{
    struct arena *arena = m->references->arena;

    if (observed->state == REFERENCE_BROKEN)
        return lack(m, REASON(VALUES_INVALID),
                    str_fmt(arena, "%.*s: its key %.*s cannot be decoded", STR_ARG(shown),
                            STR_ARG(observed->key)));
    if (observed->text.len == 0)
        return lack(m, REASON(VALUES_NOT_SYNCED),
                    str_fmt(arena, "%.*s is being read", STR_ARG(shown)));
    return lack(
        m, REASON(VALUES_UNREADABLE),
        str_fmt(arena, "%.*s cannot be read: %.*s", STR_ARG(shown), STR_ARG(observed->text)));
}

/* False: the values cannot be had. */
static bool take_reference(struct merging *m, bool secret, const struct name_ref *ref)
{
    struct arena *arena = m->references->arena;
    struct str name = values_object(m->arena, ref->name, m->cluster_id);
    struct str shown = str_fmt(m->arena, "%s %.*s/%.*s", secret ? "Secret" : "ConfigMap",
                               STR_ARG(m->references->namespace_), STR_ARG(name));
    struct known *known =
        map_get(m->references->known, key_of(m->arena, secret, name, values_key(ref)));

    if (!known)
        return lack(m, REASON(VALUES_NOT_SYNCED),
                    str_fmt(arena, "%.*s is being read", STR_ARG(shown)));
    switch (known->observed->state) {
    case REFERENCE_READ:
        return take_text(m, known, shown, template_is_one(ref->name));
    case REFERENCE_ABSENT:
        return ref->optional || lack_object(m, secret, shown);
    case REFERENCE_NO_KEY:
        return ref->optional || lack_key(m, known->observed, shown);
    case REFERENCE_BROKEN:
    case REFERENCE_NOT_SYNCED:
        break;
    }
    return lack_text(m, known->observed, shown);
}

static bool take_references(struct merging *m, bool secret, const struct name_refs *refs)
{
    for (uint32_t i = 0; m->references->seen && i < refs->count; i++)
        if (!take_reference(m, secret, &refs->items[i]))
            return false;
    return true;
}

static bool take_layer(struct merging *m, const struct chart_values *layer)
{
    struct values_part part = { .config = value_object(m->arena), .secret_versions = STR("") };

    m->part = values_parts_push(&m->to->parts, part);
    if (!take_references(m, false, &layer->config_map_refs) ||
        !take_references(m, true, &layer->secret_refs))
        return false;
    if (json_is(layer->inline_, JSON_OBJECT)) {
        m->part->inline_ = value_of(m->arena, layer->inline_);
        m->to->values = value_merge(m->arena, m->to->values, m->part->inline_);
    }
    return true;
}

static void use_strings(struct arena *arena, struct template_use *use, const struct value *value)
{
    if (value_kind(value) == JSON_STRING)
        template_use_add(arena, use, value_text(value));
    for (const struct value *m = value_first(value); m; m = value_next(m))
        use_strings(arena, use, m);
}

struct merged_values values_merge(struct arena *arena, struct values_references *references,
                                  const struct chart_values *const *layers, uint32_t count,
                                  struct str cluster_id)
{
    struct merged_values merged = { .values = value_object(arena),
                                    .parts = values_parts_new(arena, count),
                                    .reason = STR(""),
                                    .message = STR("") };
    struct merging m = {
        .arena = arena, .references = references, .cluster_id = cluster_id, .to = &merged
    };
    struct strbuf versions = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < count; i++)
        m.secrets = m.secrets || layers[i]->secret_refs.count;
    for (uint32_t i = 0; i < count; i++)
        if (!take_layer(&m, layers[i]))
            return merged;
    for (uint32_t i = 0; i < count; i++)
        strbuf_put(&versions, merged.parts.items[i].secret_versions);
    merged.secret_versions = strbuf_str(&versions);
    use_strings(arena, &merged.use, merged.values);
    return merged;
}

/* --- placeholders --- */

struct expanding {
    struct arena *arena;
    const struct template_use *use;
    const struct template_facts *facts;
    size_t left;
    bool too_long;
};

static struct str expand(void *context, struct str text)
{
    struct expanding *e = context;
    struct strbuf out = strbuf_new(e->arena, text.len + 64);

    if (e->too_long || !template_expand(text, e->use, e->facts, e->left, &out)) {
        e->too_long = true;
        return STR("");
    }
    e->left -= out.len;
    return strbuf_str(&out);
}

struct value *values_expand(struct arena *arena, const struct value *values,
                            const struct template_use *use, const struct template_facts *facts,
                            size_t bytes_max)
{
    struct expanding e = { .arena = arena, .use = use, .facts = facts, .left = bytes_max };
    struct value *expanded = value_map_strings(arena, values, expand, &e);

    return e.too_long ? NULL : expanded;
}
