/* SPDX-License-Identifier: Apache-2.0 */
/* spec_change.c: one comparison tells, nearly always.
 *
 * An update either leaves the spec's bytes as they were, or gives a field another value. The
 * canonical forms are compared only where fields came or went, because only then defaults may be
 * all the difference. */
#include "stack/model/spec_change.h"

#include "stack/model/fields_canonical.h"

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

static struct str canonical(struct arena *arena, const struct spec_form *form)
{
    struct strbuf text = strbuf_new(arena, 4096);

    fields_canonical(form->table, form->spec, &text);
    return strbuf_str(&text);
}

bool spec_form_changed(struct arena *arena, const struct spec_form *form,
                       const struct spec_form *old)
{
    if (str_eq(json_raw(form->json), json_raw(old->json)) || json_equal(form->json, old->json))
        return false;
    return !agree(form->json, old->json) || !str_eq(canonical(arena, form), canonical(arena, old));
}

struct spec_form spec_form_of(const struct stack *stack)
{
    return (struct spec_form){ stack->spec_json, &fields_of_stack_spec, &stack->spec };
}

bool spec_changed(struct arena *arena, const struct stack *stack, const struct stack *old)
{
    struct spec_form form = spec_form_of(stack), before = spec_form_of(old);

    return spec_form_changed(arena, &form, &before);
}
