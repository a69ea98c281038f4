/* values.c: each reference's text, or the reason why it cannot be had. */
#include "controller/reconcile/values.h"

#include "stack/reasons.h"

struct source_kind {
    enum topic_kind kind;
    const char *name;      /* for messages */
    enum reason not_found;
};

static const struct source_kind from_config_map = { TOPIC_CONFIG_MAP, "ConfigMap",
                                                    REASON_CONFIG_MAP_NOT_FOUND };
static const struct source_kind from_secret = { TOPIC_SECRET, "Secret", REASON_SECRET_NOT_FOUND };

/* The values of one chart at work. */
struct reading {
    struct values_reader *reader;
    struct values_source *sources;
    uint32_t count;
    struct strbuf secret_versions;
    struct observed_values values; /* says why they cannot be had */
};

static struct str key_of(const struct name_ref *ref)
{
    return ref->key.len ? ref->key : STR("values.yaml");
}

static struct reference_found find(const struct values_reader *reader, enum topic_kind kind,
                                   const struct name_ref *ref)
{
    return references_read(reader->references, reader->arena, kind,
                           kube_key(reader->arena, reader->stack->meta.namespace_, ref->name),
                           key_of(ref));
}

static bool add_source(struct reading *r, const struct source_kind *kind,
                       const struct name_ref *ref, const struct reference_found *found,
                       struct str shown)
{
    bool secret = kind->kind == TOPIC_SECRET;

    r->sources[r->count++] = (struct values_source){ shown, found->text, secret };
    if (secret)
        strbuf_fmt(&r->secret_versions, "%.*s/%.*s=%.*s\n", STR_ARG(ref->name),
                   STR_ARG(key_of(ref)), STR_ARG(found->version));
    return true;
}

static bool lack(struct reading *r, struct str reason, struct str message)
{
    r->values.reason = reason;
    r->values.message = message;
    return false;
}

/* False: the values cannot be had. */
static bool take_reference(struct reading *r, const struct source_kind *kind,
                           const struct name_ref *ref)
{
    struct arena *arena = r->reader->arena;
    struct reference_found found = find(r->reader, kind->kind, ref);
    struct str shown = str_fmt(arena, "%s %.*s/%.*s", kind->name,
                               STR_ARG(r->reader->stack->meta.namespace_), STR_ARG(ref->name));
    struct str key = key_of(ref);

    switch (found.state) {
    case REFERENCE_READ:
        return add_source(r, kind, ref, &found, shown);
    case REFERENCE_ABSENT:
        return ref->optional ||
               lack(r, reason_rows[kind->not_found].name,
                    str_fmt(arena, "%.*s does not exist; create it, or mark the reference optional",
                            STR_ARG(shown)));
    case REFERENCE_NO_KEY:
        return ref->optional ||
               lack(r, REASON(VALUES_INVALID),
                    str_fmt(arena, "%.*s has no key %.*s%s%.*s", STR_ARG(shown), STR_ARG(key),
                            kind->kind == TOPIC_SECRET
                                ? "; name one that it has in the reference's key"
                                : "; it has: ",
                            STR_ARG(kind->kind == TOPIC_SECRET ? STR("")
                                    : found.text.len           ? found.text
                                                               : STR("none"))));
    case REFERENCE_BROKEN:
        return lack(r, REASON(VALUES_INVALID),
                    str_fmt(arena, "%.*s: its key %.*s cannot be decoded", STR_ARG(shown),
                            STR_ARG(key)));
    case REFERENCE_UNREAD:
        r->reader->settling = r->reader->settling || found.text.len == 0;
        return lack(r, found.text.len ? REASON(VALUES_UNREADABLE) : REASON(VALUES_UNREAD),
                    found.text.len ? str_fmt(arena, "%.*s cannot be read: %.*s", STR_ARG(shown),
                                             STR_ARG(found.text))
                                   : str_fmt(arena, "%.*s is being read", STR_ARG(shown)));
    }
    return false;
}

static bool take_references(struct reading *r, const struct source_kind *kind,
                            const struct name_refs *refs)
{
    for (uint32_t i = 0; i < refs->count; i++)
        if (!take_reference(r, kind, &refs->items[i]))
            return false;
    return true;
}

static int merge(struct reading *r, struct json inline_values, uint32_t config_count,
                 struct error *err)
{
    struct arena *arena = r->reader->arena;
    struct json none = { NULL, 0 };

    r->values.secret_versions = strbuf_str(&r->secret_versions);
    if (release_values(arena, r->sources, r->count, inline_values, &r->values.json, err) < 0)
        return -1;
    return r->values.secret_versions.len
               ? release_values(arena, r->sources, config_count, none, &r->values.config_json, err)
               : 0;
}

struct observed_values values_read(struct values_reader *reader, const struct chart *chart)
{
    const struct chart_values *wanted = &chart->values;
    struct reading r = {
        .reader = reader,
        .sources = arena_array(reader->arena, struct values_source,
                               wanted->config_map_refs.count + wanted->secret_refs.count + 1),
        .secret_versions = strbuf_new(reader->arena, 64),
        .values = { .json = STR("{}"), .reason = STR(""), .message = STR("") },
    };
    struct error err = { .code = ERROR_NONE };
    uint32_t config_count;

    if (!take_references(&r, &from_config_map, &wanted->config_map_refs))
        return r.values;
    config_count = r.count;
    if (!take_references(&r, &from_secret, &wanted->secret_refs))
        return r.values;
    if (merge(&r, wanted->inline_, config_count, &err) < 0) {
        lack(&r, REASON(VALUES_INVALID), str_dup(reader->arena, str_of(err.text)));
        return r.values;
    }
    r.values.ready = true;
    return r.values;
}

static void hide(const struct values_reader *reader, struct mask *mask, const struct name_ref *ref)
{
    struct reference_found found = find(reader, TOPIC_SECRET, ref);

    switch (found.state) {
    case REFERENCE_READ:
        words_hide_text(mask, reader->arena, found.text);
        return;
    case REFERENCE_ABSENT:
    case REFERENCE_NO_KEY:
        if (ref->optional)
            return;
        break;
    case REFERENCE_BROKEN:
    case REFERENCE_UNREAD:
        break;
    }
    mask_withhold(mask, STR(WORDS_WITHHELD));
}

struct mask *values_mask(const struct values_reader *reader)
{
    struct mask *mask = mask_new(reader->arena);
    const struct charts *charts = &reader->stack->spec.charts;

    for (uint32_t i = 0; i < charts->count; i++) {
        const struct name_refs *refs = &charts->items[i].values.secret_refs;

        for (uint32_t k = 0; k < refs->count; k++)
            hide(reader, mask, &refs->items[k]);
    }
    return mask;
}

struct str values_shown(struct values_reader *reader, struct str chart_name,
                        struct str secret_versions, struct str words)
{
    const struct charts *charts = &reader->stack->spec.charts;

    for (uint32_t i = 0; i < charts->count; i++)
        if (str_eq(charts->items[i].name, chart_name) &&
            str_eq(values_read(reader, &charts->items[i]).secret_versions, secret_versions))
            return mask_apply(values_mask(reader), reader->arena, words);
    return STR(WORDS_WITHHELD);
}
