/* SPDX-License-Identifier: Apache-2.0 */
/* selector.c: label selectors as values: built, read from a spec, matched, compared.
 * The text form is selector_text.c. Source: k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go and
 * pkg/labels/selector.go. */
#include "kube/selector.h"

#include "base/map.h"
#include "kube/names.h"

#include <stdlib.h>

static const char *const operator_names[] = {
    [SELECTOR_IN] = "In",
    [SELECTOR_NOT_IN] = "NotIn",
    [SELECTOR_EXISTS] = "Exists",
    [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist",
};

const char *selector_operator_name(enum selector_operator op)
{
    return operator_names[op];
}

bool selector_operator_from(struct str name, enum selector_operator *ret_op)
{
    for (enum selector_operator op = SELECTOR_IN; op <= SELECTOR_DOES_NOT_EXIST; op++)
        if (str_eq(name, str_of(operator_names[op]))) {
            *ret_op = op;
            return true;
        }
    return false;
}

struct selector selector_new(struct arena *arena)
{
    return (struct selector){ selector_requirements_new(arena, 0) };
}

void selector_add(struct selector *selector, struct str key, enum selector_operator op,
                  struct str_list values)
{
    selector_requirements_push(&selector->all, (struct selector_requirement){ key, op, values });
}

/* What is foreign in a message: short, and without control bytes. */
#define SHOWN(arena, s) STR_ARG(str_shown((arena), (s), 100))

static int read_match_labels(struct arena *arena, struct json labels, struct selector *selector,
                             struct error *err)
{
    struct path at = path_field(NULL, STR("matchLabels"));
    struct json_iter it = json_iter(labels);

    if (json_kind(labels) > JSON_NULL && !json_is(labels, JSON_OBJECT))
        return error_at(err, ERROR_INVALID, &at, "Invalid value: must be a map of labels, not %s",
                        json_kind_name(json_kind(labels)));
    while (json_next(&it)) {
        struct path here = path_key(&at, it.key);
        const char *wrong = kube_not_label_key(it.key);
        struct str_list values = str_list_new(arena, 1);

        if (wrong)
            return error_at(err, ERROR_INVALID, &here, "Invalid value: \"%.*s\": the label key %s",
                            SHOWN(arena, it.key), wrong);
        if (!json_is(it.value, JSON_STRING))
            return error_at(err, ERROR_INVALID, &here,
                            "Invalid value: must be a string, not %s; write it in quotes",
                            json_kind_name(json_kind(it.value)));
        wrong = kube_not_label_value(json_str(it.value));
        if (wrong)
            return error_at(err, ERROR_INVALID, &here,
                            "Invalid value: \"%.*s\": the label value %s",
                            SHOWN(arena, json_str(it.value)), wrong);
        str_list_push(&values, json_str(it.value));
        selector_add(selector, it.key, SELECTOR_IN, values);
    }
    return 0;
}

static int read_values(struct arena *arena, struct json values, const struct path *at,
                       struct str_list *ret_list, struct error *err)
{
    struct str_list list = str_list_new(arena, json_count(values));
    struct json_iter it = json_iter(values);

    if (json_kind(values) > JSON_NULL && !json_is(values, JSON_ARRAY))
        return error_at(err, ERROR_INVALID, at, "Invalid value: must be a list of strings, not %s",
                        json_kind_name(json_kind(values)));
    while (json_next(&it)) {
        struct path here = path_index(at, it.position);
        const char *wrong = kube_not_label_value(json_str(it.value));

        if (!json_is(it.value, JSON_STRING))
            return error_at(err, ERROR_INVALID, &here,
                            "Invalid value: must be a string, not %s; write it in quotes",
                            json_kind_name(json_kind(it.value)));
        if (wrong)
            return error_at(err, ERROR_INVALID, &here,
                            "Invalid value: \"%.*s\": the label value %s",
                            SHOWN(arena, json_str(it.value)), wrong);
        str_list_push(&list, json_str(it.value));
    }
    *ret_list = list;
    return 0;
}

static int read_expression(struct arena *arena, struct json expression, const struct path *at,
                           struct selector *selector, struct error *err)
{
    struct path key_at = path_field(at, STR("key"));
    struct path op_at = path_field(at, STR("operator"));
    struct path values_at = path_field(at, STR("values"));
    struct str key = json_str(json_get(expression, STR("key")));
    struct str op_name = json_str(json_get(expression, STR("operator")));
    const char *wrong = kube_not_label_key(key);
    enum selector_operator op;
    struct str_list values = { .count = 0 };

    if (!json_is(expression, JSON_OBJECT))
        return error_at(err, ERROR_INVALID, at,
                        "Invalid value: must be a map with key, operator and values, not %s",
                        json_kind_name(json_kind(expression)));
    if (wrong)
        return error_at(err, ERROR_INVALID, &key_at, "Invalid value: \"%.*s\": the label key %s",
                        SHOWN(arena, key), wrong);
    if (!selector_operator_from(op_name, &op))
        return error_at(err, ERROR_INVALID, &op_at,
                        "Unsupported value: \"%.*s\": " SELECTOR_OPERATORS_SUPPORTED,
                        SHOWN(arena, op_name));
    if (read_values(arena, json_get(expression, STR("values")), &values_at, &values, err) < 0)
        return -1;
    if ((op == SELECTOR_IN || op == SELECTOR_NOT_IN) != (values.count > 0))
        return error_at(err, ERROR_INVALID, &values_at,
                        op == SELECTOR_IN || op == SELECTOR_NOT_IN
                            ? "Required value: must be specified when operator is %s"
                            : "Forbidden: may not be specified when operator is %s",
                        operator_names[op]);
    selector_add(selector, key, op, values);
    return 0;
}

int selector_read(struct arena *arena, struct json json, struct selector *ret_selector,
                  struct error *err)
{
    struct selector selector = selector_new(arena);
    struct json expressions = json_get(json, STR("matchExpressions"));
    struct path at = path_field(NULL, STR("matchExpressions"));
    struct json_iter it = json_iter(expressions);

    if (json_kind(json) > JSON_NULL && !json_is(json, JSON_OBJECT))
        return error_set(
            err, ERROR_INVALID,
            "Invalid value: a selector must be a map with matchLabels or matchExpressions, not %s",
            json_kind_name(json_kind(json)));
    if (json_kind(expressions) > JSON_NULL && !json_is(expressions, JSON_ARRAY))
        return error_at(err, ERROR_INVALID, &at, "Invalid value: must be a list, not %s",
                        json_kind_name(json_kind(expressions)));
    if (read_match_labels(arena, json_get(json, STR("matchLabels")), &selector, err) < 0)
        return -1;
    while (json_next(&it)) {
        struct path here = path_index(&at, it.position);

        if (read_expression(arena, it.value, &here, &selector, err) < 0)
            return -1;
    }
    *ret_selector = selector;
    return 0;
}

/* `found`: the label is there, with `value`. */
static bool requirement_holds(const struct selector_requirement *requirement, bool found,
                              struct str value)
{
    switch (requirement->op) {
    case SELECTOR_IN:
        return found && str_list_has(&requirement->values, value);
    case SELECTOR_NOT_IN:
        return !found || !str_list_has(&requirement->values, value);
    case SELECTOR_EXISTS:
        return found;
    case SELECTOR_DOES_NOT_EXIST:
        return !found;
    }
    return false;
}

bool selector_matches(struct arena *arena, const struct selector *selector, struct json labels)
{
    for (uint32_t i = 0; i < selector->all.count; i++) {
        const struct selector_requirement *requirement = &selector->all.items[i];
        struct json value = json_get(labels, requirement->key);

        if (arena)
            arena_work(arena, 1 + (json_is(value, JSON_STRING) ? requirement->values.count : 0));
        if (!requirement_holds(requirement, json_is(value, JSON_STRING), json_str(value)))
            return false;
    }
    return true;
}

bool selector_matches_labels(const struct selector *selector, const struct label *labels,
                             uint32_t count)
{
    for (uint32_t i = 0; i < selector->all.count; i++) {
        const struct selector_requirement *requirement = &selector->all.items[i];
        uint32_t k = 0;

        while (k < count && !str_eq(labels[k].key, requirement->key))
            k++;
        if (!requirement_holds(requirement, k < count, k < count ? labels[k].value : STR("")))
            return false;
    }
    return true;
}

/* --- whether two can be satisfied together --- */

static int by_key(const void *a, const void *b)
{
    const struct selector_requirement *const *left = a;
    const struct selector_requirement *const *right = b;

    return str_cmp((*left)->key, (*right)->key);
}

enum {
    STEPS_SORTED = 16,  /* a requirement among others, */
    STEPS_COUNTED = 20, /* and a value in a map */
};

/* Whether some value is in each In and in no NotIn. Of each value it is counted in how many of the
 * Ins it is, one after the other, so a duplicate in a list counts once. */
static bool has_value(struct arena *arena, const struct selector_requirement **of, uint32_t count)
{
    struct map *seen = map_new(arena, 16);
    uintptr_t ins = 0;
    const struct selector_requirement *last = NULL;
    uint64_t values = 0;

    for (uint32_t i = 0; i < count; i++)
        values += of[i]->values.count;
    arena_work(arena, STEPS_COUNTED * values);
    for (uint32_t i = 0; i < count; i++) {
        if (of[i]->op != SELECTOR_IN)
            continue;
        for (uint32_t v = 0; v < of[i]->values.count; v++)
            if ((uintptr_t)map_get(seen, of[i]->values.items[v]) == ins)
                map_put(seen, of[i]->values.items[v], (void *)(ins + 1));
        ins++;
        last = of[i];
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t v = 0; of[i]->op == SELECTOR_NOT_IN && v < of[i]->values.count; v++)
            map_put(seen, of[i]->values.items[v], NULL);
    for (uint32_t v = 0; last && v < last->values.count; v++)
        if ((uintptr_t)map_get(seen, last->values.items[v]) == ins)
            return true;
    return !last; /* any value that nobody names */
}

/* Whether one key can satisfy all requirements on it. */
static bool key_satisfiable(struct arena *arena, const struct selector_requirement **of,
                            uint32_t count)
{
    bool present = false;
    bool absent = false;

    for (uint32_t i = 0; i < count; i++) {
        present = present || of[i]->op == SELECTOR_IN || of[i]->op == SELECTOR_EXISTS;
        absent = absent || of[i]->op == SELECTOR_DOES_NOT_EXIST;
    }
    return present ? !absent && has_value(arena, of, count) : true;
}

/* Keys do not touch each other, so two selectors meet if each key alone can be satisfied. */
bool selector_intersects(struct arena *arena, const struct selector *a, const struct selector *b)
{
    const struct selector *const both[2] = { a, b };
    uint32_t count = 0, begin = 0;
    const struct selector_requirement **all =
        arena_array(arena, const struct selector_requirement *, a->all.count + b->all.count + 1);

    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < both[s]->all.count; i++)
            all[count++] = &both[s]->all.items[i];
    arena_work(arena, STEPS_SORTED * count);
    if (count)
        qsort(all, count, sizeof(*all), by_key);
    for (uint32_t end = 1; end <= count; end++) {
        if (end < count && str_eq(all[end]->key, all[begin]->key))
            continue;
        if (!key_satisfiable(arena, &all[begin], end - begin))
            return false;
        begin = end;
    }
    return true;
}

bool selector_allows_key(struct arena *arena, const struct selector *selector, struct str key)
{
    const struct selector_requirement **of =
        arena_array(arena, const struct selector_requirement *, selector->all.count + 1);
    uint32_t count = 0;

    arena_work(arena, selector->all.count);
    for (uint32_t i = 0; i < selector->all.count; i++)
        if (str_eq(selector->all.items[i].key, key))
            of[count++] = &selector->all.items[i];
    return key_satisfiable(arena, of, count);
}
