/* spec_change.c: one comparison tells, nearly always.
 *
 * An update either leaves the spec's bytes as they were, or gives a field another value. The old
 * object is decoded only where fields came or went, because only then defaults may be all the
 * difference. */
#include "stack/spec_change.h"

#include "stack/decode.h"
#include "stack/default.h"
#include "text/patch.h"

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

bool spec_changed(struct arena *arena, struct json object, struct str patch,
                  struct json old_object)
{
    struct json spec = json_get(object, STR("spec"));
    struct json before = json_get(old_object, STR("spec"));
    struct problems ignored = problems_new(arena);
    struct str old_patch;

    if (str_eq(json_raw(spec), json_raw(before)) || json_equal(spec, before))
        return false;
    if (!agree(spec, before))
        return true;
    stack_default(arena, stack_decode(arena, old_object, &ignored), &old_patch);
    if (!patch.len && !old_patch.len)
        return true;

    const struct value *now = defaulted_spec(arena, object, patch);
    const struct value *then = defaulted_spec(arena, old_object, old_patch);

    return !now || !then || !value_equal(now, then);
}
