/* applied_by.c: one question, "what must the annotation say?", for both routes.
 *
 * Nearly every update either leaves the spec's bytes as they were, or gives a field another value:
 * one comparison tells, and the old object is decoded only where fields came or went, because only
 * then defaults may be all the difference. */
#include "stack/applied_by.h"

#include "base/limits.h"
#include "base/plant.h"
#include "stack/decode.h"
#include "stack/default.h"
#include "stack/finding.h"
#include "stack/settle.h"
#include "text/json_write.h"
#include "text/patch.h"

static bool is_control(struct str text, size_t i)
{
    unsigned char c = (unsigned char)text.at[i];

    return c < 0x20 || c == 0x7f ||
           (c == 0xc2 && i + 1 < text.len && (unsigned char)text.at[i + 1] < 0xa0);
}

/* A backslash stands for itself unless that could be read as an escape. */
static bool starts_escape(struct str text, size_t i)
{
    return text.at[i] == '\\' && i + 1 < text.len &&
           (text.at[i + 1] == 'x' || text.at[i + 1] == '.');
}

struct str applied_by_name(struct arena *arena, struct str username)
{
    struct strbuf name = strbuf_new(arena, username.len < LIMIT_USERNAME_BYTES
                                               ? username.len
                                               : LIMIT_USERNAME_BYTES);

    for (size_t i = 0; i < username.len; i++) {
        unsigned char c = (unsigned char)username.at[i];
        bool begins = (c & 0xc0) != 0x80; /* a cut comes between characters */

        if (begins && name.len + 4 > LIMIT_USERNAME_BYTES) {
            strbuf_lit(&name, "\\...");
            break;
        }
        if (is_control(username, i) || starts_escape(username, i))
            strbuf_fmt(&name, "\\x%02x", c == 0xc2 ? (unsigned char)username.at[++i] : c);
        else
            strbuf_char(&name, (char)c);
    }
    return strbuf_str(&name);
}

/* --- did the spec change? --- */

/* False only if something that both have differs. Defaults add members to objects, also in place of
 * a null, and nothing else, so two that disagree differ however they are defaulted. Members are met
 * in the order of their names, as the API server writes them; out of order some are missed, and the
 * answer is true. */
static bool agree(struct json a, struct json b);

static bool members_agree(struct json a, struct json b)
{
    struct json_iter x = json_iter(a);
    struct json_iter y = json_iter(b);
    bool more = json_next(&x) && json_next(&y);

    while (more) {
        int order = str_cmp(x.key, y.key);

        if (order == 0 && !agree(x.value, y.value))
            return false;
        more = (order > 0 || json_next(&x)) && (order < 0 || json_next(&y));
    }
    return true;
}

static bool agree(struct json a, struct json b)
{
    struct json_iter x = json_iter(a);
    struct json_iter y = json_iter(b);
    bool same = json_count(a) == json_count(b);

    if (json_is(a, JSON_NULL) || json_is(b, JSON_NULL))
        return true;
    if (json_is(a, JSON_OBJECT) && json_is(b, JSON_OBJECT))
        return members_agree(a, b);
    if (!json_is(a, JSON_ARRAY) || !json_is(b, JSON_ARRAY))
        return json_equal(a, b);
    while (same && json_next(&x) && json_next(&y))
        same = agree(x.value, y.value);
    return same;
}

/* The spec of the object with its defaults filled in; NULL if they cannot be. */
static const struct value *defaulted_spec(struct arena *arena, struct json object, struct str patch)
{
    struct value *whole = value_of(arena, object);
    struct value *defaulted = whole;
    struct error err;

    if (patch.len && patch_apply(arena, whole, patch, &defaulted, &err) < 0)
        return NULL;
    return value_get(defaulted, STR("spec"));
}

/* `patch` holds the object's defaults. */
static bool spec_changed(struct arena *arena, const struct stack_change *change, struct str patch)
{
    struct json spec = json_get(change->object, STR("spec"));
    struct json before = json_get(change->old_object, STR("spec"));
    struct problems ignored = problems_new(arena);
    struct str old_patch;

    if (str_eq(json_raw(spec), json_raw(before)) || json_equal(spec, before))
        return false;
    if (!agree(spec, before))
        return true;
    stack_default(arena, stack_decode(arena, change->old_object, &ignored), &old_patch);
    if (!patch.len && !old_patch.len)
        return true;

    const struct value *now = defaulted_spec(arena, change->object, patch);
    const struct value *then = defaulted_spec(arena, change->old_object, old_patch);

    return !now || !then || !value_equal(now, then);
}

static struct str recorded(struct json object)
{
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    return kube_annotation(&meta, STR(STACK_LAST_APPLIED_BY));
}

/* "" = there must be none. */
static struct str wanted(struct arena *arena, const struct stack_change *change,
                         const struct verdict *verdict)
{
    if (json_is(change->old_object, JSON_OBJECT) && !spec_changed(arena, change, verdict->patch))
        return recorded(change->old_object);
    return applied_by_name(arena, change->username);
}

/* --- write it --- */

static struct path annotations_at(const struct path *metadata)
{
    return path_field(metadata, STR("annotations"));
}

static struct str operation(struct arena *arena, const struct kube_meta *meta, struct str name)
{
    struct strbuf text = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&text);
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path annotations = annotations_at(&metadata);
    struct path own = path_key(&annotations, STR(STACK_LAST_APPLIED_BY));
    bool has_some = json_is(meta->annotations, JSON_OBJECT);

    json_open_object(&w);
    json_field_str(&w, "op", name.len ? STR("add") : STR("remove"));
    json_field_str(&w, "path", path_pointer(has_some ? &own : &annotations, arena));
    if (name.len && has_some) {
        json_field_str(&w, "value", name);
    } else if (name.len) {
        json_put_key(&w, STR("value"));
        json_open_object(&w);
        json_field_str(&w, STACK_LAST_APPLIED_BY, name);
        json_close_object(&w);
    }
    json_close_object(&w);
    return strbuf_str(&text);
}

void applied_by_write(struct arena *arena, const struct stack_change *change,
                      struct verdict *verdict)
{
    const struct kube_meta *meta = &verdict->stack->meta;

    /* Without metadata there is nothing to write into: the API server refuses that by itself. */
    if (!verdict->allowed || !json_is(json_get(change->object, STR("metadata")), JSON_OBJECT))
        return;

    struct str name = wanted(arena, change, verdict);

    if (str_eq(name, kube_annotation(meta, STR(STACK_LAST_APPLIED_BY))) && !PLANTED(PATCH_TWICE))
        return;

    struct str added = operation(arena, meta, name);
    struct str defaults = verdict->patch;

    struct str begun = str_slice(defaults, 0, defaults.len ? defaults.len - 1 : 0); /* no ']' */

    verdict->patch = defaults.len
                         ? str_fmt(arena, "%.*s,%.*s]", STR_ARG(begun), STR_ARG(added))
                         : str_fmt(arena, "[%.*s]", STR_ARG(added));
}

/* --- refuse what is not so --- */

static struct str said(const struct findings *findings, struct str name)
{
    return name.len ? str_fmt(findings->arena, "'%.*s'", STR_ARG(finding_shown(findings, name)))
                    : STR("nobody");
}

void applied_by_check(struct arena *arena, const struct stack_change *change,
                      struct verdict *verdict)
{
    if (!verdict->allowed)
        return;

    struct str name = wanted(arena, change, verdict);
    struct str is = recorded(change->object);

    if (str_eq(name, is))
        return;

    struct findings findings = findings_new(&verdict->problems);
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path annotations = annotations_at(&metadata);
    struct path at = path_key(&annotations, STR(STACK_LAST_APPLIED_BY));

    finding_add(&findings, RULE_WHO_APPLIED, CAUSE_FORBIDDEN, &at, STR(""),
                "it says that %.*s changed the spec last, and that was %.*s",
                STR_ARG(said(&findings, is)), STR_ARG(said(&findings, name)));
    problems_sort(&verdict->problems);
    verdict_word(arena, verdict);
}
