/* SPDX-License-Identifier: Apache-2.0 */
/* rules_response.c: what NeuVector does once something happens in a group of containers
 * (docs/protocols/neuvector.md, section 9.3).
 *
 * A rule needs a condition, and the conditions of one rule all have to match, so each level of
 * events and each threshold is a rule of its own. The group is the one that NeuVector has learned
 * of a workload, so no rule concerns other containers in the namespaces. */
#include "controller/backends/neuvector/rules.h"

#include "text/json_write.h"

#include <inttypes.h>

#define RULE "/v1/response/rule"

/* NeuVector says Critical of what it blocks and of attacks, Warning of what it reports only. */
static const struct response_case {
    const char *event, *condition;
    const char *level; /* NULL: one more than a threshold */
    bool high;         /* which one */
    bool quarantines;
} cases[] = {
    { "security-event", "level", "Critical", false, true },
    { "security-event", "level", "Error", false, false },
    { "security-event", "level", "Warning", false, false },
    { "cve-report", "cve-critical", NULL, false, true },
    { "cve-report", "cve-high-only", NULL, true, true },
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static int64_t most_of(const struct rules_wish *wish, const struct response_case *c)
{
    return c->high ? wish->high : wish->critical;
}

/* --- what is wanted --- */

static bool is_wanted(const struct rules_wish *wish, const struct response_case *c)
{
    return (wish->webhooks.count || (wish->quarantine && c->quarantines)) &&
           (c->level || most_of(wish, c) >= 0);
}

/* There is one of each kind of event and condition, but for levels. */
static struct str key(struct arena *arena, struct str group, struct str event, struct str condition,
                      struct str level)
{
    return str_fmt(arena, "%.*s %.*s %.*s %.*s", STR_ARG(group), STR_ARG(event), STR_ARG(condition),
                   STR_ARG(level));
}

static void desire_group(struct arena *arena, const struct rules_wish *wish, struct str group,
                         bool waits, struct rules_desired_list *to)
{
    for (unsigned i = 0; i < CASES; i++)
        if (is_wanted(wish, &cases[i]))
            rules_desired_list_push(
                to, (struct rules_desired){
                        .wish = wish,
                        .key = key(arena, group, str_of(cases[i].event), str_of(cases[i].condition),
                                   cases[i].level ? str_of(cases[i].level) : STR("")),
                        .which = i,
                        .group = group,
                        .waits = waits });
}

/* NeuVector names a group after the workload, in general. While none of its containers runs, the
 * group's rules stay. */
static void desire(struct arena *arena, const struct rules_wish *wish,
                   struct rules_desired_list *to)
{
    struct str rest = wish->workloads, one, kind, namespace_;

    for (uint32_t i = 0; i < wish->groups.count; i++)
        desire_group(arena, wish, wish->groups.items[i], false, to);
    while (str_split(&rest, ' ', &one))
        if (str_split(&one, '/', &kind) && str_split(&one, '/', &namespace_)) {
            struct str group = str_fmt(arena, "nv.%.*s.%.*s", STR_ARG(one), STR_ARG(namespace_));

            if (!str_list_has(&wish->groups, group))
                desire_group(arena, wish, group, true, to);
        }
}

/* --- what is there --- */

static struct str text(struct json rule, const char *name)
{
    return json_str(json_get(rule, str_of(name)));
}

static struct json first_condition(struct json rule)
{
    struct json_iter it = json_iter(json_get(rule, STR("conditions")));

    return json_next(&it) ? it.value : (struct json){ NULL, 0 };
}

static struct str key_of(struct arena *arena, struct json rule)
{
    struct json condition = first_condition(rule);
    struct str type = text(condition, "type");

    return key(arena, text(rule, "group"), text(rule, "event"), type,
               str_eq(type, STR("level")) ? text(condition, "value") : STR(""));
}

static struct str value_of(struct arena *arena, const struct rules_desired *desired)
{
    const struct response_case *c = &cases[desired->which];

    return c->level ? str_of(c->level) : str_fmt(arena, "%" PRId64, most_of(desired->wish, c) + 1);
}

static struct str_list actions_of(struct arena *arena, const struct rules_desired *desired)
{
    struct str_list actions = str_list_new(arena, 2);

    if (desired->wish->webhooks.count)
        str_list_push(&actions, STR("webhook"));
    if (desired->wish->quarantine && cases[desired->which].quarantines)
        str_list_push(&actions, STR("quarantine"));
    return actions;
}

/* In any order. */
static bool has_just(struct json array, const struct str_list *names)
{
    struct json_iter it = json_iter(array);

    if (json_count(array) != names->count)
        return false;
    while (json_next(&it))
        if (!str_list_has(names, json_str(it.value)))
            return false;
    return true;
}

static bool is_right(struct arena *arena, struct json rule, const struct rules_desired *desired)
{
    struct str_list actions = actions_of(arena, desired);

    return json_count(json_get(rule, STR("conditions"))) == 1 &&
           str_eq(text(first_condition(rule), "value"), value_of(arena, desired)) &&
           has_just(json_get(rule, STR("actions")), &actions) &&
           has_just(json_get(rule, STR("webhooks")), &desired->wish->webhooks);
}

/* --- changes --- */

static void put_strings(struct json_writer *w, const char *name, const struct str_list *strings)
{
    json_put_key(w, str_of(name));
    json_open_array(w);
    for (uint32_t i = 0; i < strings->count; i++)
        json_put_str(w, strings->items[i]);
    json_close_array(w);
}

/* `disable` is not among them: a rule that somebody disabled stays so. */
static void put_rule(struct arena *arena, struct json_writer *w,
                     const struct rules_desired *desired, int64_t id)
{
    const struct response_case *c = &cases[desired->which];
    struct str_list actions = actions_of(arena, desired);

    json_open_object(w);
    json_field_int(w, "id", id);
    json_field_str(w, "event", str_of(c->event));
    json_field_str(w, "group", desired->group);
    json_field_str(w, "comment", rules_mark(arena, desired->wish));
    json_put_key(w, STR("conditions"));
    json_open_array(w);
    json_open_object(w);
    json_field_str(w, "type", str_of(c->condition));
    json_field_str(w, "value", value_of(arena, desired));
    json_close_object(w);
    json_close_array(w);
    put_strings(w, "actions", &actions);
    put_strings(w, "webhooks", &desired->wish->webhooks);
    json_field_str(w, "cfg_type", STR("user_created"));
    json_close_object(w);
}

/* Without `after` it becomes the last one: of the rules that match an event, NeuVector takes each
 * action from the first, and those of others come first. Id 0: NeuVector gives one. */
static struct rules_change create(struct arena *arena, const struct rules_desired *desired)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("insert"));
    json_open_object(&w);
    json_put_key(&w, STR("rules"));
    json_open_array(&w);
    put_rule(arena, &w, desired, 0);
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);
    return (struct rules_change){ .method = "PATCH", .path = STR(RULE), .body = strbuf_str(&out) };
}

static struct rules_change correct(struct arena *arena, const struct rules_desired *desired,
                                   int64_t id)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("config"));
    put_rule(arena, &w, desired, id);
    json_close_object(&w);
    return (struct rules_change){ .method = "PATCH",
                                  .path = str_fmt(arena, RULE "/%" PRId64, id),
                                  .body = strbuf_str(&out) };
}

const struct rules_row rules_response = {
    .name = "response rules",
    .read_right = "rt_policy (read)",
    .write_right = "rt_policy (write)",
    .list = STR_INIT(RULE),
    .rule = STR_INIT(RULE),
    .stays_disabled = true,
    .desire = desire,
    .key_of = key_of,
    .is_right = is_right,
    .create = create,
    .correct = correct,
};
