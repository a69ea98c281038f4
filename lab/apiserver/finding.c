/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c: texts of field errors (k8s.io/apimachinery field/errors.go). */
#include "lab/apiserver/finding.h"

static const struct word {
    const char *reason;
    const char *text;
} words[] = {
    [FINDING_NOT_FOUND] = { "FieldValueNotFound", "Not found" },
    [FINDING_REQUIRED] = { "FieldValueRequired", "Required value" },
    [FINDING_DUPLICATE] = { "FieldValueDuplicate", "Duplicate value" },
    [FINDING_INVALID] = { "FieldValueInvalid", "Invalid value" },
    [FINDING_NOT_SUPPORTED] = { "FieldValueNotSupported", "Unsupported value" },
    [FINDING_FORBIDDEN] = { "FieldValueForbidden", "Forbidden" },
    [FINDING_TOO_LONG] = { "FieldValueTooLong", "Too long" },
    [FINDING_TOO_MANY] = { "FieldValueTooMany", "Too many" },
    [FINDING_TYPE_INVALID] = { "FieldValueTypeInvalid", "Invalid value" },
    [FINDING_INTERNAL] = { "InternalError", "Internal error" },
    [FINDING_MANAGER_CONFLICT] = { "FieldManagerConflict", "" },
};

const char *finding_reason(enum finding_kind kind)
{
    return words[kind].reason;
}

bool finding_blocks_rules(enum finding_kind kind)
{
    return kind == FINDING_NOT_SUPPORTED || kind == FINDING_REQUIRED || kind == FINDING_TOO_LONG ||
           kind == FINDING_TOO_MANY || kind == FINDING_TYPE_INVALID;
}

void finding_quote(struct strbuf *out, struct str text)
{
    strbuf_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];

        if (c == '"' || c == '\\')
            strbuf_fmt(out, "\\%c", c);
        else if (c == '\n')
            strbuf_lit(out, "\\n");
        else if (c == '\t')
            strbuf_lit(out, "\\t");
        else if (c == '\r')
            strbuf_lit(out, "\\r");
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            strbuf_fmt(out, "\\x%02x", (unsigned char)c);
        else
            strbuf_char(out, c);
    }
    strbuf_char(out, '"');
}

/* A text as Go's %q, all else as JSON, which is how the API server shows it since 1.34. */
static void put_shown(struct strbuf *out, const struct value *value)
{
    if (value_kind(value) == JSON_STRING)
        finding_quote(out, value_text(value));
    else
        value_write(value, true, out);
}

static void put(struct findings *found, enum finding_kind kind, const struct path *at,
                const struct value *value, bool has_value, struct str detail)
{
    struct strbuf body = strbuf_new(found->arena, 64);

    strbuf_put(&body, str_of(words[kind].text));
    if (has_value) {
        strbuf_lit(&body, ": ");
        if (value)
            put_shown(&body, value);
        else
            strbuf_lit(&body, "null");
    }
    if (detail.len) {
        strbuf_lit(&body, ": ");
        strbuf_put(&body, detail);
    }

    struct str field = path_render(at, found->arena);

    findings_push(found,
                  (struct finding){ kind, field.len ? field : STR("<nil>"), strbuf_str(&body) });
}

void finding_required(struct findings *found, const struct path *at, struct str detail)
{
    put(found, FINDING_REQUIRED, at, NULL, false, detail);
}

void finding_invalid(struct findings *found, const struct path *at, const struct value *value,
                     struct str detail)
{
    put(found, FINDING_INVALID, at, value, true, detail);
}

void finding_invalid_shown(struct findings *found, const struct path *at, struct str shown,
                           struct str detail)
{
    put(found, FINDING_INVALID, at, NULL, false,
        str_fmt(found->arena, "%.*s: %.*s", STR_ARG(shown), STR_ARG(detail)));
}

void finding_invalid_as_a_whole(struct findings *found, const struct path *at, struct str detail)
{
    put(found, FINDING_INVALID, at, NULL, false, detail);
}

void finding_internal(struct findings *found, const struct path *at, struct str detail)
{
    put(found, FINDING_INTERNAL, at, NULL, false, detail);
}

void finding_type_invalid(struct findings *found, const struct path *at, struct str type,
                          struct str detail)
{
    put(found, FINDING_TYPE_INVALID, at, value_str(found->arena, type), true, detail);
}

void finding_duplicate(struct findings *found, const struct path *at, const struct value *value)
{
    put(found, FINDING_DUPLICATE, at, value, value != NULL, STR(""));
}

void finding_not_found(struct findings *found, const struct path *at, const struct value *value)
{
    put(found, FINDING_NOT_FOUND, at, value, true, STR(""));
}

void finding_forbidden(struct findings *found, const struct path *at, struct str detail)
{
    put(found, FINDING_FORBIDDEN, at, NULL, false, detail);
}

void finding_not_supported(struct findings *found, const struct path *at, const struct value *value,
                           const struct str_list *supported)
{
    struct strbuf detail = strbuf_new(found->arena, 64);

    if (supported->count)
        strbuf_lit(&detail, "supported values: ");
    for (uint32_t i = 0; i < supported->count; i++) {
        if (i)
            strbuf_lit(&detail, ", ");
        finding_quote(&detail, supported->items[i]);
    }
    put(found, FINDING_NOT_SUPPORTED, at, value, true, strbuf_str(&detail));
}

void finding_too_long(struct findings *found, const struct path *at, int64_t max)
{
    put(found, FINDING_TOO_LONG, at, NULL, false,
        str_fmt(found->arena, "may not be more than %lld bytes", (long long)max));
}

void finding_too_many(struct findings *found, const struct path *at, int64_t actual, int64_t max)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);

    put(found, FINDING_TOO_MANY, at, value_int(scratch, actual), true,
        str_fmt(found->arena, "must have at most %lld items", (long long)max));
}

struct str finding_text(struct arena *arena, const struct finding *finding)
{
    return str_fmt(arena, "%.*s: %.*s", STR_ARG(finding->field), STR_ARG(finding->body));
}

struct str findings_join(struct arena *arena, const struct findings *found)
{
    struct strbuf text = strbuf_new(arena, 256);
    uint32_t shown = 0;

    for (uint32_t i = 0; i < found->count; i++) {
        const struct finding *f = &found->items[i];
        bool seen = false;

        for (uint32_t k = 0; k < i && !seen; k++)
            seen = str_eq(found->items[k].field, f->field) && str_eq(found->items[k].body, f->body);
        if (seen)
            continue;
        if (shown++)
            strbuf_lit(&text, ", ");
        strbuf_fmt(&text, "%.*s: ", STR_ARG(f->field));
        strbuf_put(&text, f->body);
    }
    if (shown < 2)
        return strbuf_str(&text);
    return str_fmt(arena, "[%.*s]", STR_ARG(strbuf_str(&text)));
}
