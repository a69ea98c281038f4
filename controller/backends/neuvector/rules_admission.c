/* SPDX-License-Identifier: Apache-2.0 */
/* rules_admission.c: at most two rules for each Stack, told apart by what they count: a threshold
 * is a rule of its own, because the criteria of one rule all have to match. */
#include "controller/backends/neuvector/rules.h"

#include "text/json_write.h"

#include <inttypes.h>

#define RULE "/v1/admission/rule"

enum { COUNTERS = 2 };

/* cveHighCount would count critical ones, too. */
static const struct str counters[COUNTERS] = { STR_INIT("cveCriticalCount"),
                                               STR_INIT("cveHighCountNoCritical") };

static int64_t most_of(const struct rules_wish *wish, unsigned counter)
{
    return counter == 0 ? wish->critical : wish->high;
}

static void desire(struct arena *arena, const struct rules_wish *wish,
                   struct rules_desired_list *to)
{
    bool on =
        wish->admission == ADMISSION_MODE_MONITOR || wish->admission == ADMISSION_MODE_PROTECT;

    (void)arena;
    for (unsigned i = 0; i < COUNTERS; i++)
        if (on && wish->namespaces.len && most_of(wish, i) >= 0)
            rules_desired_list_push(
                to, (struct rules_desired){ .wish = wish, .key = counters[i], .which = i });
}

static struct str mode_of(const struct rules_wish *wish)
{
    return wish->admission == ADMISSION_MODE_PROTECT ? STR("protect") : STR("monitor");
}

/* One more than is allowed. */
static struct str limit_of(struct arena *arena, const struct rules_desired *desired)
{
    return str_fmt(arena, "%" PRId64, most_of(desired->wish, desired->which) + 1);
}

/* --- what is there --- */

static struct str text(struct json rule, const char *key)
{
    return json_str(json_get(rule, str_of(key)));
}

/* "" = neither of Herd's two. */
static struct str key_of(struct arena *arena, struct json rule)
{
    struct json_iter it = json_iter(json_get(rule, STR("criteria")));

    (void)arena;
    while (json_next(&it))
        for (int i = 0; i < COUNTERS; i++)
            if (str_eq(text(it.value, "name"), counters[i]))
                return counters[i];
    return STR("");
}

static bool is_criterion(struct json criterion, struct str name, const char *op, struct str value)
{
    return str_eq(text(criterion, "name"), name) && str_eq(text(criterion, "op"), str_of(op)) &&
           str_eq(text(criterion, "value"), value);
}

/* NeuVector says more of a rule than Herd sets, and older releases say less: without modes of
 * rules, that of the cluster holds. */
static bool is_right(struct arena *arena, struct json rule, const struct rules_desired *desired)
{
    const struct rules_wish *wish = desired->wish;
    struct json criteria = json_get(rule, STR("criteria"));
    struct json_iter it = json_iter(criteria);
    struct json mode = json_get(rule, STR("rule_mode"));
    struct str limit = limit_of(arena, desired);

    if (json_count(criteria) != 2 || json_bool(json_get(rule, STR("disable"))) ||
        !str_eq(text(rule, "rule_type"), STR("deny")) ||
        (json_is(mode, JSON_STRING) && !str_eq(json_str(mode), mode_of(wish))))
        return false;
    while (json_next(&it))
        if (!is_criterion(it.value, STR("namespace"), "containsAny", wish->namespaces) &&
            !is_criterion(it.value, desired->key, ">=", limit))
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
static struct str body_of(struct arena *arena, const struct rules_desired *desired, int64_t id)
{
    const struct rules_wish *wish = desired->wish;
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
    json_field_str(&w, "comment", rules_mark(arena, wish));
    json_field_bool(&w, "disable", false);
    json_put_key(&w, STR("criteria"));
    json_open_array(&w);
    put_criterion(&w, STR("namespace"), "containsAny", wish->namespaces);
    put_criterion(&w, desired->key, ">=", limit_of(arena, desired));
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

static struct rules_change create(struct arena *arena, const struct rules_desired *desired)
{
    return (struct rules_change){ .method = "POST",
                                  .path = STR(RULE),
                                  .body = body_of(arena, desired, 0) };
}

static struct rules_change correct(struct arena *arena, const struct rules_desired *desired,
                                   int64_t id)
{
    return (struct rules_change){ .method = "PATCH",
                                  .path = STR(RULE),
                                  .body = body_of(arena, desired, id) };
}

const struct rules_row rules_admission = {
    .name = "admission rules",
    .read_right = "admctrl (read)",
    .write_right = "admctrl (write)",
    .list = STR_INIT("/v1/admission/rules"),
    .rule = STR_INIT(RULE),
    .desire = desire,
    .key_of = key_of,
    .is_right = is_right,
    .create = create,
    .correct = correct,
};

int rules_admission_state_read(struct json state, bool *ret_enabled, struct error *err)
{
    struct json enable = json_walk(state, "state", "enable", NULL);

    if (!json_is(enable, JSON_BOOL))
        return error_set(err, ERROR_INVALID,
                         "the response does not say whether admission control is enabled");
    *ret_enabled = json_bool(enable);
    return 0;
}
