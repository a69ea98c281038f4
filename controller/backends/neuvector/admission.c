/* SPDX-License-Identifier: Apache-2.0 */
/* admission.c: at most two rules for each Stack, told apart by what they count. */
#include "controller/backends/neuvector/admission.h"

#include "base/map.h"
#include "text/json_write.h"

#include <inttypes.h>

#define RULE "/v1/admission/rule"
#define MARK "herd:"

enum { RULES_OF_ONE = 2 };

/* cveHighCount would count critical ones, too. */
static const struct str counters[RULES_OF_ONE] = { STR_INIT("cveCriticalCount"),
                                                   STR_INIT("cveHighCountNoCritical") };

/* A wish, and which of its rules are there. */
struct owner {
    const struct admission_wish *wish;
    bool met[RULES_OF_ONE];
};

struct comparison {
    struct arena *arena;
    struct map *owners; /* comment -> struct owner */
    struct admission_changes *changes;
    struct set marked;
};

static int64_t most_of(const struct admission_wish *wish, int rule)
{
    return rule == 0 ? wish->critical : wish->high;
}

static bool wants(const struct admission_wish *wish, int rule)
{
    bool on = wish->mode == ADMISSION_MODE_MONITOR || wish->mode == ADMISSION_MODE_PROTECT;

    return on && wish->namespaces.len && most_of(wish, rule) >= 0;
}

bool admission_wants_rules(const struct admission_wish *wish)
{
    return wants(wish, 0) || wants(wish, 1);
}

static struct str mode_of(const struct admission_wish *wish)
{
    return wish->mode == ADMISSION_MODE_PROTECT ? STR("protect") : STR("monitor");
}

/* One more than is allowed. */
static struct str limit_of(struct arena *arena, const struct admission_wish *wish, int rule)
{
    return str_fmt(arena, "%" PRId64, most_of(wish, rule) + 1);
}

/* --- what is there --- */

static struct str text(struct json rule, const char *key)
{
    return json_str(json_get(rule, str_of(key)));
}

/* Which of Herd's two it is; -1: neither. */
static int which(struct json rule)
{
    struct json_iter it = json_iter(json_get(rule, STR("criteria")));

    while (json_next(&it))
        for (int i = 0; i < RULES_OF_ONE; i++)
            if (str_eq(text(it.value, "name"), counters[i]))
                return i;
    return -1;
}

static bool is_criterion(struct json criterion, struct str name, const char *op, struct str value)
{
    return str_eq(text(criterion, "name"), name) && str_eq(text(criterion, "op"), str_of(op)) &&
           str_eq(text(criterion, "value"), value);
}

/* NeuVector says more of a rule than Herd sets, and older releases say less: without modes of
 * rules, that of the cluster holds. */
static bool is_right(struct arena *arena, struct json rule, const struct admission_wish *wish,
                     int which_rule)
{
    struct json criteria = json_get(rule, STR("criteria"));
    struct json_iter it = json_iter(criteria);
    struct json mode = json_get(rule, STR("rule_mode"));
    struct str limit = limit_of(arena, wish, which_rule);

    if (json_count(criteria) != 2 || json_bool(json_get(rule, STR("disable"))) ||
        !str_eq(text(rule, "rule_type"), STR("deny")) ||
        (json_is(mode, JSON_STRING) && !str_eq(json_str(mode), mode_of(wish))))
        return false;
    while (json_next(&it))
        if (!is_criterion(it.value, STR("namespace"), "containsAny", wish->namespaces) &&
            !is_criterion(it.value, counters[which_rule], ">=", limit))
            return false;
    return true;
}

/* --- changes --- */

static void put_criterion(struct json_writer *w, struct str name, const char *op, struct str value)
{
    json_open_object(w);
    json_field_str(w, "name", name);
    json_field_str(w, "op", str_of(op));
    json_field_str(w, "value", value);
    json_close_object(w);
}

/* `id` 0: NeuVector gives one. */
static struct str body_of(struct arena *arena, const struct admission_wish *wish, int rule,
                          int64_t id)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("config"));
    json_open_object(&w);
    if (id)
        json_field_int(&w, "id", id);
    json_field_str(&w, "category", STR("Kubernetes"));
    json_field_str(&w, "cfg_type", STR("user_created"));
    json_field_str(&w, "rule_type", STR("deny"));
    json_field_str(&w, "rule_mode", mode_of(wish));
    json_field_str(&w, "comment", str_fmt(arena, MARK "%.*s", STR_ARG(wish->uid)));
    json_field_bool(&w, "disable", false);
    json_put_key(&w, STR("criteria"));
    json_open_array(&w);
    put_criterion(&w, STR("namespace"), "containsAny", wish->namespaces);
    put_criterion(&w, counters[rule], ">=", limit_of(arena, wish, rule));
    json_close_array(&w);
    json_put_key(&w, STR("containers"));
    json_open_array(&w);
    json_put_str(&w, STR("containers"));
    json_put_str(&w, STR("init_containers"));
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

static void change(struct comparison *c, const char *method, struct str path, struct str body)
{
    admission_changes_push(c->changes, (struct admission_change){ method, path, body });
}

/* One of Herd's: right, to be corrected, or to go. */
static void compare_rule(struct comparison *c, struct owner *owner, struct json rule, int64_t id)
{
    int is = which(rule);

    set_add(c->marked, owner->wish->uid);
    if (is < 0 || !wants(owner->wish, is) || owner->met[is]) {
        change(c, "DELETE", str_fmt(c->arena, RULE "/%" PRId64, id), STR(""));
        return;
    }
    owner->met[is] = true;
    if (!is_right(c->arena, rule, owner->wish, is))
        change(c, "PATCH", STR(RULE), body_of(c->arena, owner->wish, is, id));
}

static void add_missing(struct comparison *c, const struct owner *owner)
{
    for (int i = 0; i < RULES_OF_ONE; i++)
        if (wants(owner->wish, i) && !owner->met[i]) {
            set_add(c->marked, owner->wish->uid);
            change(c, "POST", STR(RULE), body_of(c->arena, owner->wish, i, 0));
        }
}

int admission_state_read(struct json state, bool *ret_enabled, struct error *err)
{
    struct json enable = json_walk(state, "state", "enable", NULL);

    if (!json_is(enable, JSON_BOOL))
        return error_set(err, ERROR_INVALID,
                         "the response does not say whether admission control is enabled");
    *ret_enabled = json_bool(enable);
    return 0;
}

int admission_compare(struct arena *arena, struct json rules, const struct admission_wishes *wishes,
                      struct admission_changes *ret_changes, struct set marked, struct error *err)
{
    struct json list = json_get(rules, STR("rules"));
    struct json_iter it = json_iter(list);
    struct comparison c = { arena, map_new(arena, wishes->count), ret_changes, marked };

    if (!json_is(list, JSON_ARRAY))
        return error_set(err, ERROR_INVALID, "the response has no list of admission rules");
    for (uint32_t i = 0; i < wishes->count; i++) {
        struct owner *owner = arena_new(arena, struct owner);

        owner->wish = &wishes->items[i];
        map_put(c.owners, str_fmt(arena, MARK "%.*s", STR_ARG(owner->wish->uid)), owner);
    }
    while (json_next(&it)) {
        struct owner *owner = map_get(c.owners, text(it.value, "comment"));
        int64_t id;

        /* A rule of a custom resource is not Herd's, whatever its comment says. */
        if (owner && str_eq(text(it.value, "cfg_type"), STR("user_created")) &&
            json_int64(json_get(it.value, STR("id")), &id))
            compare_rule(&c, owner, it.value, id);
    }
    for (uint32_t i = 0; i < map_count(c.owners); i++)
        add_missing(&c, map_value(c.owners, i));
    return 0;
}
