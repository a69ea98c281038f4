/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c: labels are added as the selector asks for them, and then it is tried. */
#include "controller/backends/observability/selection.h"

#include "base/map.h"
#include "kube/selector.h"
#include "text/json_write.h"

enum { SHOWN_MAX = 200 };

static struct str object_of(struct arena *arena, struct json spec, const char *prefix,
                            const char *suffix)
{
    struct json value = json_get(spec, str_fmt(arena, "%s%s", prefix, suffix));

    return json_is(value, JSON_OBJECT) ? json_raw(value) : STR("");
}

struct selection selection_of(struct arena *arena, struct json spec, const char *prefix)
{
    return (struct selection){ object_of(arena, spec, prefix, "Selector"),
                               object_of(arena, spec, prefix, "NamespaceSelector") };
}

struct selection selection_dup(struct arena *arena, const struct selection *selection)
{
    return (struct selection){ str_dup(arena, selection->objects),
                               str_dup(arena, selection->namespaces) };
}

static int read_selector(struct arena *arena, struct str text, struct selector *ret_selector,
                         struct error *err)
{
    struct json json;

    if (json_read(arena, text, &json_limits_default, &json, err) < 0)
        return -1;
    return selector_read(arena, json, ret_selector, err);
}

/* What is wanted of a label is met by its first value; where any will do, by "true". */
static struct json labels_for(struct arena *arena, const struct selector *selector, struct json own)
{
    struct map *labels = map_new(arena, 4);
    struct strbuf out = strbuf_new(arena, 128);
    struct json_writer w = json_writer(&out);
    struct json json = { NULL, 0 };
    struct error ignored;

    json_open_object(&w);
    for (struct json_iter it = json_iter(own); json_next(&it);) {
        map_put(labels, it.key, labels);
        json_put_key(&w, it.key);
        json_put_str(&w, json_str(it.value));
    }
    for (uint32_t i = 0; i < selector->all.count; i++) {
        const struct selector_requirement *one = &selector->all.items[i];

        if ((one->op != SELECTOR_IN && one->op != SELECTOR_EXISTS) ||
            !map_put(labels, one->key, labels))
            continue;
        json_put_key(&w, one->key);
        json_put_str(&w, one->op == SELECTOR_IN ? one->values.items[0] : STR("true"));
    }
    json_close_object(&w);
    (void)json_read(arena, strbuf_str(&out), &json_limits_default, &json, &ignored);
    return json;
}

struct selection_fit selection_fit(struct arena *arena, const struct selection *selection,
                                   const char *prefix, struct json own)
{
    struct selection_fit fit = { .labels = own };
    struct selector selector;
    struct error err = { .code = ERROR_NONE };

    if (!selection->objects.len) {
        fit.trouble =
            str_fmt(arena, "its spec.%sSelector is not set; set it to {} to select all", prefix);
        return fit;
    }
    if (read_selector(arena, selection->objects, &selector, &err) < 0) {
        fit.trouble = str_fmt(arena, "its spec.%sSelector cannot be read: %s", prefix, err.text);
        return fit;
    }
    fit.labels = labels_for(arena, &selector, own);
    if (!selector_matches(arena, &selector, fit.labels))
        fit.trouble =
            str_fmt(arena, "its spec.%sSelector (%.*s) cannot be met: Herd tried the labels %.*s",
                    prefix, STR_ARG(str_shown(arena, selector_text(arena, &selector), SHOWN_MAX)),
                    STR_ARG(str_shown(arena, json_raw(fit.labels), SHOWN_MAX)));
    return fit;
}

bool selection_asks_namespaces(const struct selection *selection)
{
    return selection->namespaces.len && !str_eq(selection->namespaces, STR("{}"));
}

struct str selection_namespace_trouble(struct arena *arena, const struct selection *selection,
                                       const char *prefix, struct str namespace_, bool home,
                                       struct json labels)
{
    struct selector selector;
    struct error err = { .code = ERROR_NONE };
    struct str wanted;

    if (!selection->namespaces.len)
        return home ? STR("")
                    : str_fmt(arena,
                              "its spec.%sNamespaceSelector is not set, so that it selects nothing "
                              "in namespace %.*s; set it to {} to select in all",
                              prefix, STR_ARG(namespace_));
    if (!json_is(labels, JSON_OBJECT))
        return STR("");
    if (read_selector(arena, selection->namespaces, &selector, &err) < 0)
        return str_fmt(arena, "its spec.%sNamespaceSelector cannot be read: %s", prefix, err.text);
    if (selector_matches(arena, &selector, labels))
        return STR("");
    wanted = str_shown(arena, selector_text(arena, &selector), SHOWN_MAX);
    return str_fmt(arena,
                   "its spec.%sNamespaceSelector leaves namespace %.*s out; label that so that it "
                   "meets %.*s",
                   prefix, STR_ARG(namespace_), STR_ARG(wanted));
}
