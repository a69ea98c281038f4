/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c: each rule with the mark of a Stack is right, to be corrected, or to go; what is missing
 * then is made. */
#include "controller/backends/neuvector/rules.h"

#include "base/map.h"

#include <inttypes.h>

#define MARK "herd:"

const struct rules_row *const rules_rows[RULES_KINDS] = {
    [RULES_ADMISSION] = &rules_admission, [RULES_RESPONSE] = &rules_response
};

/* A Stack, and which of its rules are there. */
struct owner {
    const struct rules_wish *wish;
    struct rules_desired_list desired;
    struct set met; /* keys */
};

struct comparing {
    struct arena *arena;
    const struct rules_row *row;
    struct map *owners; /* comment -> struct owner */
    struct rules_comparison *result;
};

struct str rules_mark(struct arena *arena, const struct rules_wish *wish)
{
    return str_fmt(arena, MARK "%.*s", STR_ARG(wish->uid));
}

bool rules_are_wanted(enum rules_kind kind, const struct rules_wish *wish)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rules_desired_list desired = rules_desired_list_new(arena, 4);

    rules_rows[kind]->desire(arena, wish, &desired);
    return desired.count > 0;
}

static void change(struct comparing *c, const struct owner *owner, struct rules_change one)
{
    one.uid = owner->wish->uid;
    rules_changes_push(&c->result->changes, one);
}

static const struct rules_desired *find(const struct owner *owner, struct str key)
{
    for (uint32_t i = 0; i < owner->desired.count; i++)
        if (str_eq(owner->desired.items[i].key, key))
            return &owner->desired.items[i];
    return NULL;
}

static void compare_rule(struct comparing *c, struct owner *owner, struct json rule, int64_t id)
{
    struct str key = c->row->key_of(c->arena, rule);
    const struct rules_desired *desired = find(owner, key);

    if (!desired || !set_add(owner->met, key)) {
        change(c, owner,
               (struct rules_change){
                   .method = "DELETE",
                   .path = str_fmt(c->arena, "%.*s/%" PRId64, STR_ARG(c->row->rule), id),
                   .body = STR("") });
        return;
    }
    if (!c->row->is_right(c->arena, rule, desired))
        change(c, owner, c->row->correct(c->arena, desired, id));
    if (c->row->stays_disabled && json_bool(json_get(rule, STR("disable"))))
        set_add(c->result->disabled, owner->wish->uid);
}

static void add_missing(struct comparing *c, const struct owner *owner)
{
    for (uint32_t i = 0; i < owner->desired.count; i++) {
        const struct rules_desired *desired = &owner->desired.items[i];

        if (desired->waits || set_has(owner->met, desired->key))
            continue;
        set_add(c->result->marked, owner->wish->uid);
        change(c, owner, c->row->create(c->arena, desired));
    }
}

static void add_owner(struct comparing *c, const struct rules_wish *wish)
{
    struct owner *owner = arena_new(c->arena, struct owner);

    owner->wish = wish;
    owner->desired = rules_desired_list_new(c->arena, 4);
    owner->met = set_new(c->arena, 4);
    c->row->desire(c->arena, wish, &owner->desired);
    map_put(c->owners, rules_mark(c->arena, wish), owner);
}

/* A rule of a custom resource is not Herd's, whatever its comment says. */
static void look_at(struct comparing *c, struct json rule)
{
    struct str comment = json_str(json_get(rule, STR("comment")));
    struct owner *owner;
    int64_t id;

    if (!str_starts(comment, STR(MARK)) ||
        !str_eq(json_str(json_get(rule, STR("cfg_type"))), STR("user_created")) ||
        !json_int64(json_get(rule, STR("id")), &id))
        return;
    set_add(c->result->marked, str_dup(c->arena, str_slice(comment, STR(MARK).len, comment.len)));
    owner = map_get(c->owners, comment);
    if (owner)
        compare_rule(c, owner, rule, id);
}

int rules_compare(struct arena *arena, enum rules_kind kind, struct json rules,
                  const struct rules_wishes *wishes, struct rules_comparison *ret_comparison,
                  struct error *err)
{
    struct json list = json_get(rules, STR("rules"));
    struct json_iter it = json_iter(list);
    struct rules_comparison result = { rules_changes_new(arena, 4), set_new(arena, wishes->count),
                                       set_new(arena, 0) };
    struct comparing c = { arena, rules_rows[kind], map_new(arena, wishes->count), &result };

    if (!json_is(list, JSON_ARRAY))
        return error_set(err, ERROR_INVALID, "the response has no list of %s", c.row->name);
    for (uint32_t i = 0; i < wishes->count; i++)
        if (wishes->items[i].due[kind])
            add_owner(&c, &wishes->items[i]);
    while (json_next(&it))
        look_at(&c, it.value);
    for (uint32_t i = 0; i < map_count(c.owners); i++)
        add_missing(&c, map_value(c.owners, i));
    *ret_comparison = result;
    return 0;
}
