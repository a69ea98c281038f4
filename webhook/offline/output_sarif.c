/* SPDX-License-Identifier: Apache-2.0 */
/* output_sarif.c: SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), for code
 * scanning.
 *
 * One run. Every rule that found something is described, with its help from rules.def and a link to
 * its row of the docs, and findings point at it by index. Files within the working folder are
 * relative to %SRCROOT%. Columns count characters (section 3.14.17). */
#include "base/map.h"
#include "stack/rules/validate.h"
#include "text/sarif.h"
#include "webhook/offline/output.h"

/* docs/rules.md has an anchor for each rule. */
#define DOCS STACK_HOMEPAGE "/docs/"

struct sarif {
    const struct report *report;
    const struct output_style *style;
    struct arena *arena;
    struct json_writer w;
    struct map *rules;  /* name -> place among those that are described, from 1 */
    uint32_t described; /* how many are */
};

/* --- rules --- */

/* `help_uri` is the page of the docs, and the place on it. */
static void put_rule(struct sarif *s, struct str id, struct str sentence, struct str remedy,
                     enum severity severity, struct str help_uri)
{
    sarif_put_rule(&s->w, &(struct sarif_rule){
                              .id = id,
                              .short_description = sentence,
                              .full_description = str_fmt(s->arena, "%.*s To fix it: %.*s.",
                                                          STR_ARG(sentence), STR_ARG(remedy)),
                              .help = remedy,
                              .help_uri = help_uri,
                              .level = str_of(output_level(severity)),
                          });
}

/* Where a rule stands among those that are described; a new one is the last. */
static uint32_t index_of(struct sarif *s, struct str rule)
{
    uintptr_t known = (uintptr_t)map_get(s->rules, rule);

    if (known)
        return (uint32_t)(known - 1);
    map_put(s->rules, rule, (void *)(uintptr_t)(map_count(s->rules) + 1));
    return map_count(s->rules) - 1;
}

/* What no table describes: a policy's rule, or that a document is no YAML. */
static void put_other_rule(struct sarif *s, const struct problem *problem)
{
    struct str policy = problem->rule;
    struct str sentence = STR(REPORT_RULE_YAML_SENTENCE);
    struct str help_uri = STR(DOCS "review.md");
    struct str part;

    str_split(&policy, '/', &part);
    if (str_eq(part, STR("policy")) && str_split(&policy, '/', &part)) {
        sentence = str_fmt(s->arena, "The rule %.*s of the StackPolicy %.*s.", STR_ARG(policy),
                           STR_ARG(part));
        help_uri = STR(DOCS "policies.md");
    }
    put_rule(s, problem->rule, sentence, problem->remedy.len ? problem->remedy : problem->message,
             problem->severity, help_uri);
}

static void put_rule_of(struct sarif *s, const struct problem *problem)
{
    const struct rule *rule;
    enum rule_id id;

    if (!rule_from(problem->rule, &id)) {
        put_other_rule(s, problem);
        return;
    }
    rule = rule_of(id);
    put_rule(s, problem->rule, str_of(rule->sentence), str_of(rule->remedy), rule->severity,
             str_fmt(s->arena, DOCS "rules.md#%s", rule->name));
}

static void put_rules(struct sarif *s)
{
    for (uint32_t i = 0; i < s->report->findings.count; i++) {
        const struct problem *problem = &s->report->findings.items[i].problem;

        if (output_shows(s->style, problem) && index_of(s, problem->rule) == s->described) {
            put_rule_of(s, problem);
            s->described++;
        }
    }
}

/* --- places --- */

static void put_artifact(struct sarif *s, uint32_t file)
{
    struct str name = output_name(s->report->files.items[file].name, s->style, s->arena);
    bool absolute = str_starts(name, STR("/"));
    struct str uri = str_eq(name, STR("-")) ? STR("stdin") : sarif_uri(s->arena, name);

    json_put_key(&s->w, STR("artifactLocation"));
    json_open_object(&s->w);
    json_field_str(&s->w, "uri", absolute ? str_fmt(s->arena, "file://%.*s", STR_ARG(uri)) : uri);
    if (!absolute)
        json_field_str(&s->w, "uriBaseId", STR("%SRCROOT%"));
    json_close_object(&s->w);
}

/* `at` {0, 0}: the file as a whole. */
static void put_physical(struct sarif *s, uint32_t file, struct place at)
{
    json_put_key(&s->w, STR("physicalLocation"));
    json_open_object(&s->w);
    put_artifact(s, file);
    if (at.line) {
        json_put_key(&s->w, STR("region"));
        json_open_object(&s->w);
        json_field_int(&s->w, "startLine", at.line);
        json_field_int(&s->w, "startColumn", at.column);
        json_close_object(&s->w);
    }
    json_close_object(&s->w);
}

static void put_logical(struct sarif *s, const struct report_finding *finding)
{
    struct str object = output_object(&s->report->objects.items[finding->object], s->arena);

    json_put_key(&s->w, STR("logicalLocations"));
    json_open_array(&s->w);
    json_open_object(&s->w);
    json_field_str(&s->w, "name", finding->problem.field);
    json_field_str(
        &s->w, "fullyQualifiedName",
        str_fmt(s->arena, "%.*s/%.*s", STR_ARG(object), STR_ARG(finding->problem.field)));
    json_field_str(&s->w, "kind", STR("member"));
    json_close_object(&s->w);
    json_close_array(&s->w);
}

/* --- results --- */

static void put_result(struct sarif *s, const struct report_finding *finding)
{
    const struct problem *problem = &finding->problem;

    json_open_object(&s->w);
    json_field_str(&s->w, "ruleId", problem->rule);
    json_field_int(&s->w, "ruleIndex", index_of(s, problem->rule));
    json_field_str(&s->w, "level", str_of(output_level(problem->severity)));
    sarif_put_text(&s->w, "message", output_sentence(problem, s->arena));
    json_put_key(&s->w, STR("locations"));
    json_open_array(&s->w);
    json_open_object(&s->w);
    put_physical(s, finding->file, finding->at);
    if (finding->object != REPORT_NO_OBJECT)
        put_logical(s, finding);
    json_close_object(&s->w);
    json_close_array(&s->w);
    json_close_object(&s->w);
}

static void put_notification(struct sarif *s, uint32_t file)
{
    json_open_object(&s->w);
    json_field_str(&s->w, "level", STR("error"));
    sarif_put_text(&s->w, "message", s->report->files.items[file].failure);
    json_put_key(&s->w, STR("locations"));
    json_open_array(&s->w);
    json_open_object(&s->w);
    put_physical(s, file, (struct place){ 0, 0 });
    json_close_object(&s->w);
    json_close_array(&s->w);
    json_close_object(&s->w);
}

static void put_invocation(struct sarif *s)
{
    json_put_key(&s->w, STR("invocations"));
    json_open_array(&s->w);
    json_open_object(&s->w);
    json_field_bool(&s->w, "executionSuccessful", s->report->unreadable == 0);
    json_put_key(&s->w, STR("toolExecutionNotifications"));
    json_open_array(&s->w);
    for (uint32_t i = 0; i < s->report->files.count; i++)
        if (s->report->files.items[i].failure.len)
            put_notification(s, i);
    json_close_array(&s->w);
    json_close_object(&s->w);
    json_close_array(&s->w);
}

void output_sarif(const struct report *report, const struct output_style *style, struct strbuf *out)
{
    struct sarif s = { .report = report,
                       .style = style,
                       .arena = out->arena,
                       .w = json_writer(out),
                       .rules = map_new(out->arena, 32) };

    sarif_open(&s.w,
               &(struct sarif_tool){ STR("herd-webhook"), STR(HERD_VERSION), STR(STACK_HOMEPAGE) });
    put_rules(&s);
    sarif_close_rules(&s.w);
    put_invocation(&s);
    sarif_open_results(&s.w);
    for (uint32_t i = 0; i < report->findings.count; i++)
        if (output_shows(style, &report->findings.items[i].problem))
            put_result(&s, &report->findings.items[i]);
    sarif_close(&s.w);
}
