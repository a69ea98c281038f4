/* SPDX-License-Identifier: Apache-2.0 */
/* schema_rules_run.c: rules on what is written. What they cost all together is bounded for each
 * object; the texts are those of k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel. */
#include "lab/apiserver/schema_cel.h"

#include "lab/limits.h"

struct rules_run {
    struct arena *arena;
    struct findings *found;
    struct str_list *warnings;
    uint64_t budget;
    bool over; /* no further rule is evaluated */
};

/* A value, what stood there before, and whether failing there is no news: nothing has changed. */
struct place {
    const struct schema *typed;
    const struct value *value, *old;
    bool unchanged;
    const struct path *at;
};

static void run(struct rules_run *r, const struct schema *schema, const struct place *place);

static const char *type_text(const struct schema *s)
{
    return schema_type_name(s->type);
}

/* What is wrong with the evaluation, not with the object. */
static void failed(struct rules_run *r, const struct place *place, struct str why)
{
    finding_invalid(r->found, place->at,
                    value_str(r->arena, str_of(place->at ? type_text(place->typed) : "object")),
                    why);
}

static void out_of_budget(struct rules_run *r, const struct place *place)
{
    failed(r, place,
           STR("validation failed due to running out of cost budget, no further validation rules "
               "will be run"));
    r->over = true;
}

static struct str rule_name(const struct schema_rule *rule)
{
    return rule->message.len ? str_trim(rule->message) : str_trim(rule->rule);
}

static void tell_error(struct rules_run *r, const struct place *place,
                       const struct schema_rule *rule, struct str error)
{
    struct str name = rule_name(rule);

    if (str_starts(error, STR("no such overload"))) {
        failed(r, place,
               str_fmt(r->arena,
                       "'%.*s': call arguments did not match a supported operator, function or "
                       "macro signature for rule: %.*s",
                       STR_ARG(error), STR_ARG(name)));
    } else if (str_starts(error, STR(CEL_COST_EXCEEDED))) {
        failed(r, place,
               str_fmt(r->arena,
                       "'%.*s': no further validation rules will be run due to call cost exceeds "
                       "limit for rule: %.*s",
                       STR_ARG(error), STR_ARG(name)));
        r->over = true;
    } else {
        failed(r, place,
               str_fmt(r->arena, "%.*s evaluating rule: %.*s", STR_ARG(error), STR_ARG(name)));
    }
}

/* False: the budget does not suffice. */
static bool evaluate(struct rules_run *r, const struct cel_program *program,
                     const struct cel_value *values, struct cel_value *ret_value)
{
    uint64_t cost = 0;

    *ret_value = cel_evaluate(program, r->arena, values, LIMIT_CEL_CALL_COST, &cost);
    if (cost > r->budget)
        return false;
    r->budget -= cost;
    return true;
}

/* The message's own expression; false: it gave nothing that could be shown. */
static bool message_of(struct rules_run *r, const struct place *place,
                       const struct schema_rule *rule, const struct cel_value *values,
                       struct str *ret_text)
{
    struct cel_value value;
    struct str text;

    if (!evaluate(r, rule->message_program, values, &value)) {
        failed(r, place,
               STR("messageExpression evaluation failed due to running out of cost budget, no "
                   "further validation rules will be run"));
        r->over = true;
        return false;
    }
    if (cel_is_error(&value) && str_starts(value.text, STR(CEL_COST_EXCEEDED))) {
        struct strbuf quoted = strbuf_new(r->arena, 64);

        finding_quote(&quoted, rule->message_expression);
        failed(r, place,
               str_fmt(r->arena,
                       "no further validation rules will be run due to call cost exceeds limit for "
                       "messageExpression: %.*s",
                       STR_ARG(strbuf_str(&quoted))));
        r->over = true;
        return false;
    }
    text = str_trim(value.kind == CEL_STRING ? value.text : STR(""));
    *ret_text = text;
    return text.len && text.len <= LIMIT_CEL_MESSAGE && str_find_char(text, '\n', 0) < 0;
}

static void reject(struct rules_run *r, const struct place *place, const struct schema_rule *rule,
                   struct str detail)
{
    struct path below = path_field(place->at, rule->field_path);
    const struct path *at = rule->field_path.len ? &below : place->at;
    bool whole =
        place->typed->type == SCHEMA_OBJECT || place->typed->type == SCHEMA_ARRAY || !place->at;
    struct findings one = findings_new(r->arena, 1);
    bool no_news = place->unchanged && !rule->reads_old;
    struct findings *found = no_news ? &one : r->found;

    if (str_eq(rule->reason, STR("FieldValueForbidden")))
        finding_forbidden(found, at, detail);
    else if (str_eq(rule->reason, STR("FieldValueRequired")))
        finding_required(found, at, detail);
    else if (str_eq(rule->reason, STR("FieldValueDuplicate")))
        finding_duplicate(found, at, whole ? NULL : place->value);
    else if (whole)
        finding_invalid_as_a_whole(found, at, detail);
    else
        finding_invalid(found, at, place->value, detail);
    if (no_news)
        str_list_push(r->warnings, finding_text(r->arena, &one.items[0]));
}

static void run_rule(struct rules_run *r, const struct place *place, const struct schema_rule *rule,
                     const struct cel_value *self, const struct cel_value *old)
{
    struct cel_value values[2] = { *self, *old };
    struct cel_value answer;
    struct str detail;

    if (rule->reads_old && !place->old && !rule->optional_old)
        return;
    if (rule->optional_old)
        values[1] = place->old ? cel_some(r->arena, *old) : cel_none();
    if (!evaluate(r, rule->program, values, &answer)) {
        out_of_budget(r, place);
        return;
    }
    if (answer.kind == CEL_BOOL && answer.truth)
        return;
    if (cel_is_error(&answer)) {
        tell_error(r, place, rule, answer.text);
        return;
    }
    if (!rule->message_program || !message_of(r, place, rule, values, &detail)) {
        if (r->over)
            return;
        detail = rule->message.len
                     ? str_trim(rule->message)
                     : str_fmt(r->arena, "failed rule: %.*s", STR_ARG(str_trim(rule->rule)));
    }
    reject(r, place, rule, detail);
}

static void run_rules(struct rules_run *r, const struct schema_rules *rules,
                      const struct place *place)
{
    struct cel_value self, old = cel_null();

    if (r->budget == 0) {
        out_of_budget(r, place);
        return;
    }
    self = cel_from_json(r->arena, place->value, rules->self);
    if (place->old)
        old = cel_from_json(r->arena, place->old, rules->self);
    for (uint32_t i = 0; i < rules->list.count && !r->over; i++)
        run_rule(r, place, &rules->list.items[i], &self, &old);
}

/* Members and elements. What stood there before is known of a member by its name. */
static void run_below(struct rules_run *r, const struct schema *part, const struct schema *typed,
                      const struct place *up, const struct value *value, const struct value *old,
                      const struct path *at)
{
    struct place place = { typed, value, old, up->unchanged, at };

    /* Null was checked by the schema, and rules do not see it. */
    if (!part || !typed || !part->rules_within || value_kind(value) == JSON_NULL)
        return;
    if (value_kind(old) == JSON_NULL)
        place.old = NULL;
    place.unchanged = old ? value_equal(old, value) : up->unchanged;
    run(r, part, &place);
}

/* The old element with the same keys; NULL = none. */
static const struct value *peer(const struct schema *list, const struct value *old,
                                const struct value *element)
{
    const struct value *m = list->list == SCHEMA_LIST_MAP ? value_first(old) : NULL;

    for (; m; m = value_next(m)) {
        bool same = true;

        for (uint32_t k = 0; same && k < list->list_keys.count; k++)
            same = value_equal(value_get(m, list->list_keys.items[k]),
                               value_get(element, list->list_keys.items[k]));
        if (same)
            return m;
    }
    return NULL;
}

static void run_elements(struct rules_run *r, const struct schema *schema,
                         const struct place *place)
{
    const struct value *old = value_kind(place->old) == JSON_ARRAY ? place->old : NULL;
    uint32_t index = 0;

    for (const struct value *m = value_first(place->value); m && !r->over; m = value_next(m)) {
        struct path here = path_index(place->at, index++);

        run_below(r, schema->items, place->typed->items, place, m, peer(place->typed, old, m),
                  &here);
    }
}

static void run_members(struct rules_run *r, const struct schema *schema, const struct place *place)
{
    const struct value *m = value_first(place->value);

    for (; m && !r->over; m = value_next(m)) {
        const struct schema *of = schema_property(schema, value_key(m));
        const struct schema *typed = schema_property(place->typed, value_key(m));
        struct path here =
            of ? path_field(place->at, value_key(m)) : path_key(place->at, value_key(m));

        run_below(r, of ? of : schema->additional, typed ? typed : place->typed->additional, place,
                  m, value_get(place->old, value_key(m)), &here);
    }
}

static void run(struct rules_run *r, const struct schema *schema, const struct place *place)
{
    struct place all = *place;

    if (schema->rules)
        run_rules(r, schema->rules, place);
    all.unchanged = false;
    for (uint32_t i = 0; i < schema->all_of.count && !r->over; i++)
        if (schema->all_of.items[i]->rules_within)
            run(r, schema->all_of.items[i], &all);
    if (r->over)
        return;
    if (value_kind(place->value) == JSON_ARRAY)
        run_elements(r, schema, place);
    else if (value_kind(place->value) == JSON_OBJECT)
        run_members(r, schema, place);
}

void schema_cel_validate(const struct schema *schema, const struct value *value,
                         const struct value *old, struct findings *found, struct str_list *warnings)
{
    struct rules_run r = { found->arena, found, warnings, LIMIT_CEL_OBJECT_COST, false };
    struct place root = { schema, value, old, old && value_equal(old, value), NULL };

    if (schema->rules_within)
        run(&r, schema, &root);
}
