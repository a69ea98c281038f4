/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c: along the paths that a kind declares: .spec.replicas,
 * .status.replicas and a selector. */
#include "lab/apiserver/scale.h"

#include "lab/apiserver/object.h"

static struct value *at_path(const struct value *object, struct str path)
{
    struct value *at = (struct value *)(uintptr_t)object;
    struct str rest = path, part;

    while (at && rest.len && str_split(&rest, '.', &part))
        if (part.len)
            at = value_get(at, part);
    return at;
}

/* A label selector as text: "app=web,tier in (a,b)". */
static struct str selector_text(struct arena *arena, const struct value *selector)
{
    struct strbuf out = strbuf_new(arena, 64);

    if (value_kind(selector) == JSON_STRING)
        return value_text(selector);
    for (struct value *m = value_first(value_get(selector, STR("matchLabels"))); m;
         m = value_next(m))
        strbuf_fmt(&out, "%s%.*s=%.*s", out.len ? "," : "", STR_ARG(value_key(m)),
                   STR_ARG(value_text(m)));
    for (struct value *m = value_first(value_get(selector, STR("matchExpressions"))); m;
         m = value_next(m)) {
        struct str key = value_text(value_get(m, STR("key")));
        struct str operator= value_text(value_get(m, STR("operator")));
        bool in = str_eq(operator, STR("In"));

        strbuf_fmt(&out, "%s%s%.*s", out.len ? "," : "",
                   str_eq(operator, STR("DoesNotExist")) ? "!" : "", STR_ARG(key));
        if (!in && !str_eq(operator, STR("NotIn")))
            continue;
        strbuf_fmt(&out, " %s (", in ? "in" : "notin");
        for (struct value *v = value_first(value_get(m, STR("values"))); v; v = value_next(v))
            strbuf_fmt(&out, "%s%.*s", v == value_first(value_get(m, STR("values"))) ? "" : ",",
                       STR_ARG(value_text(v)));
        strbuf_char(&out, ')');
    }
    return strbuf_str(&out);
}

static struct value *replicas(struct arena *arena, const struct value *object, struct str path)
{
    struct value *counts = value_object(arena);
    int64_t number = 0;

    value_int64(at_path(object, path), &number);
    value_set(arena, counts, STR("replicas"), value_int(arena, number));
    return counts;
}

int scale_of(struct arena *arena, const struct kind *kind, const struct value *object,
             struct value **ret_scale, struct error *err)
{
    static const char *const kept[] = { "name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp" };
    struct value *scale = value_object(arena);
    struct value *status = replicas(arena, object, kind->scale.status);
    struct str selector = selector_text(arena, at_path(object, kind->scale.selector));

    if (!at_path(object, kind->scale.spec))
        return error_set(err, ERROR_INTERNAL, "the spec replicas field \"%.*s\" does not exist",
                         STR_ARG(kind->scale.spec));
    value_set(arena, scale, STR("kind"), value_str(arena, STR("Scale")));
    value_set(arena, scale, STR("apiVersion"), value_str(arena, STR("autoscaling/v1")));
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        meta_set_text(arena, scale, kept[i], meta_text(object, kept[i]));
    value_set(arena, scale, STR("spec"), replicas(arena, object, kind->scale.spec));
    if (kind->scale.selector.len && selector.len)
        value_set(arena, status, STR("selector"), value_str(arena, selector));
    value_set(arena, scale, STR("status"), status);
    *ret_scale = scale;
    return 0;
}

int scale_put(struct arena *arena, const struct kind *kind, const struct value *scale,
              struct value *object, struct error *err)
{
    const struct value *said = value_walk(scale, "spec", "replicas", NULL);
    struct str rest = kind->scale.spec, part;
    int64_t number = 0;

    if (said && value_kind(said) != JSON_NULL && !value_int64(said, &number))
        return error_set(err, ERROR_BAD_REQUEST, "spec.replicas must be a whole number");
    if (number < 0 || number > INT32_MAX)
        return error_set(err, ERROR_INVALID,
                         "spec.replicas: Invalid value: %lld: must be greater than or equal to 0",
                         (long long)number);
    while (rest.len && str_split(&rest, '.', &part)) {
        if (part.len == 0)
            continue;
        if (rest.len == 0) {
            value_set(arena, object, part, value_int(arena, number));
            break;
        }
        object = value_object_at(arena, object, part);
        if (!object)
            return error_set(err, ERROR_BAD_REQUEST, "%.*s leads through what is no object",
                             STR_ARG(kind->scale.spec));
    }
    return 0;
}
