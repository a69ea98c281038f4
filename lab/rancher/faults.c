/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c: rules of the form "fault=slow cluster=c-m-gpu01 times=3". */
#include "lab/rancher/faults.h"

#include <stdlib.h>

enum {
    NAME_SHOWN_MAX = 40,
    WORDS_MAX = 8, /* as many as there are */
};

#define ON_REQUEST FAULT_ON_REQUEST
#define ON_TUNNEL FAULT_ON_TUNNEL
#define ON_REPO FAULT_ON_REPO
#define ON_POST FAULT_ON_POST
#define ON_TASK FAULT_ON_TASK
#define ON_NEUVECTOR FAULT_ON_NEUVECTOR
#define ON_SUSE_OBSERVABILITY FAULT_ON_SUSE_OBSERVABILITY
#define BEFORE FAULT_BEFORE
#define AFTER FAULT_AFTER
#define STUCK FAULT_STUCK_PENDING
#define STALLED FAULT_STALLED
#define NEVER FAULT_NEVER
#define KILLED FAULT_KILLED
static const struct fault_row rows[FAULT_ID_COUNT] = {
    [FAULT_NONE] = { STR_INIT(""), FAULT_ON_REQUEST, FAULT_ALL, FAULT_BEFORE, FAULT_STALLED, 0,
                     STR_INIT(""), "" },
#define FAULT(id, name, stage, runs, release, end, exit_code, text, help)                          \
    [FAULT_##id] = { STR_INIT(name), stage,          FAULT_##runs, release, end,                   \
                     exit_code,      STR_INIT(text), help },
#include "lab/rancher/faults.def"
#undef FAULT
};
#undef ON_REQUEST
#undef ON_TUNNEL
#undef ON_REPO
#undef ON_POST
#undef ON_TASK
#undef ON_NEUVECTOR
#undef ON_SUSE_OBSERVABILITY
#undef BEFORE
#undef AFTER
#undef STUCK
#undef STALLED
#undef NEVER
#undef KILLED

const struct fault_row *fault_row(enum fault_id id)
{
    return &rows[id];
}

enum fault_id fault_from(struct str name)
{
    for (int id = FAULT_NONE + 1; id < FAULT_ID_COUNT; id++)
        if (str_eq(rows[id].name, name))
            return (enum fault_id)id;
    return FAULT_NONE;
}

/* All names, for a word that is near none of them. */
static int no_such_fault(struct str name, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf names = strbuf_new(arena, 768);

    for (int id = FAULT_NONE + 1; id < FAULT_ID_COUNT; id++)
        strbuf_fmt(&names, "%s%.*s", id == FAULT_NONE + 1 ? "" : ", ", STR_ARG(rows[id].name));
    return error_set(err, ERROR_INVALID, "there is no fault \"%.*s\"; use one of %.*s",
                     STR_ARG(str_slice(name, 0, NAME_SHOWN_MAX)), STR_ARG(strbuf_str(&names)));
}

static int unknown_fault(struct str name, struct error *err)
{
    struct str_nearest nearest = { .name = name };

    for (int id = FAULT_NONE + 1; id < FAULT_ID_COUNT; id++)
        str_nearest_try(&nearest, rows[id].name);
    if (nearest.found.len == 0)
        return no_such_fault(name, err);
    return error_set(err, ERROR_INVALID, "there is no fault \"%.*s\"; did you mean \"%.*s\"?",
                     STR_ARG(name), STR_ARG(nearest.found));
}

static bool number_of(struct str text, double *ret_number)
{
    char copy[32];
    char *end = NULL;

    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = 0;
    *ret_number = strtod(copy, &end);
    return *end == 0 && *ret_number >= 0 && *ret_number <= 1e12;
}

/* One "word=value". */
static int take_word(struct str word, struct str value, struct fault_rule *rule, struct error *err)
{
    struct {
        struct str name;
        struct str *text;
    } const texts[] = {
        { STR("cluster"), &rule->cluster },
        { STR("release"), &rule->release },
        { STR("chart"), &rule->chart },
        { STR("repo"), &rule->repo },
    };
    double number = 0;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (str_eq(word, texts[i].name)) {
            *texts[i].text = str_eq(value, STR("*")) ? STR("") : value;
            return 0;
        }
    }
    if (str_eq(word, STR("fault"))) {
        rule->id = fault_from(value);
        return rule->id == FAULT_NONE ? unknown_fault(value, err) : 0;
    }
    if (!str_eq(word, STR("times")) && !str_eq(word, STR("probability")) &&
        !str_eq(word, STR("ms")))
        return error_set(err, ERROR_INVALID,
                         "\"%.*s\" is not one of fault, cluster, release, chart, repo, times, "
                         "probability and ms",
                         STR_ARG(word));
    if (!number_of(value, &number))
        return error_set(err, ERROR_INVALID, "%.*s=%.*s is not a number", STR_ARG(word),
                         STR_ARG(value));
    if (str_eq(word, STR("times")))
        rule->left = (int64_t)number;
    else if (str_eq(word, STR("ms")))
        rule->ms = (int64_t)number;
    else if (number > 1)
        return error_set(err, ERROR_INVALID, "probability=%.*s is more than 1, which is always",
                         STR_ARG(value));
    else
        rule->probability = number;
    return 0;
}

/* A second cluster in one rule would silently win. */
static bool is_new_word(struct str seen[WORDS_MAX], struct str word)
{
    for (int i = 0; i < WORDS_MAX; i++) {
        if (seen[i].len == 0) {
            seen[i] = word;
            return true;
        }
        if (str_eq(seen[i], word))
            return false;
    }
    return false;
}

int fault_rule_read(struct str key, struct str text, struct fault_rule *ret_rule, struct error *err)
{
    struct fault_rule rule = { .key = key, .left = -1, .probability = 1, .ms = 5000 };
    struct str seen[WORDS_MAX] = { 0 };
    struct str rest = str_trim(text);
    struct str part;

    if (str_find_char(rest, '\n', 0) >= 0)
        return error_set(err, ERROR_INVALID, "a rule is one line; give each rule its own key");
    while (rest.len && str_split(&rest, ' ', &part)) {
        part = str_trim(part);
        if (part.len == 0)
            continue;

        ptrdiff_t equals = str_find_char(part, '=', 0);

        if (equals < 0)
            return error_set(err, ERROR_INVALID, "\"%.*s\" is not word=value", STR_ARG(part));

        struct str word = str_slice(part, 0, (size_t)equals);

        if (take_word(word, str_slice(part, (size_t)equals + 1, part.len), &rule, err) != 0)
            return -1;
        if (!is_new_word(seen, word))
            return error_set(err, ERROR_INVALID, "%.*s is given twice; give each rule its own key",
                             STR_ARG(word));
    }
    if (rule.id == FAULT_NONE)
        return error_set(err, ERROR_INVALID, "it names no fault: write fault=<name> cluster=<id>");
    *ret_rule = rule;
    return 0;
}

static bool fits(struct str want, struct str got)
{
    return want.len == 0 || str_eq(want, got);
}

static bool rule_fits(const struct fault_rule *rule, const struct fault_place *place)
{
    return rule->left != 0 && fits(rule->cluster, place->cluster) &&
           (place->run == 0 || (rows[rule->id].runs & place->run)) &&
           fits(rule->release, place->release) && fits(rule->chart, place->chart) &&
           fits(rule->repo, place->repo);
}

static bool strikes(struct fault_rule *rule, struct rng *rng)
{
    if (rule->probability < 1 && (double)rng_below(rng, 1000000) >= rule->probability * 1000000)
        return false;
    rule->hits++;
    if (rule->left > 0)
        rule->left--;
    return true;
}

struct fault_rule *fault_meet(struct fault_rules *rules, enum fault_id id,
                              const struct fault_place *place, struct rng *rng)
{
    for (uint32_t i = 0; i < rules->count; i++) {
        struct fault_rule *rule = &rules->items[i];

        if (rule->id == id && rule_fits(rule, place) && strikes(rule, rng))
            return rule;
    }
    return NULL;
}

struct fault_rule *fault_meet_stage(struct fault_rules *rules, enum fault_stage stage,
                                    const struct fault_place *place, struct rng *rng)
{
    for (uint32_t i = 0; i < rules->count; i++) {
        struct fault_rule *rule = &rules->items[i];

        if (rows[rule->id].stage == stage && rule_fits(rule, place) && strikes(rule, rng))
            return rule;
    }
    return NULL;
}

bool fault_stands(const struct fault_rules *rules, enum fault_id id, struct str cluster)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (rules->items[i].id == id && rules->items[i].left != 0 &&
            fits(rules->items[i].cluster, cluster))
            return true;
    return false;
}

struct str fault_text(struct arena *arena, struct str text, const struct str *pairs,
                      uint32_t pair_count)
{
    struct strbuf out = strbuf_new(arena, text.len + 64);
    size_t at = 0;

    while (at < text.len) {
        ptrdiff_t open = str_find_char(text, '{', at);
        ptrdiff_t close = open < 0 ? -1 : str_find_char(text, '}', (size_t)open);

        if (close < 0)
            break;
        strbuf_put(&out, str_slice(text, at, (size_t)open));

        struct str word = str_slice(text, (size_t)open + 1, (size_t)close);

        for (uint32_t i = 0; i + 1 < pair_count; i += 2)
            if (str_eq(pairs[i], word))
                strbuf_put(&out, pairs[i + 1]);
        at = (size_t)close + 1;
    }
    strbuf_put(&out, str_slice(text, at, text.len));
    return strbuf_str(&out);
}
