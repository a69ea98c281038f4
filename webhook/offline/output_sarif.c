/* output_sarif.c: SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), for code
 * scanning.
 *
 * One run. Every rule that found something is described, with its help from rules.def, and findings
 * point at it by index. Files within the working folder are relative to %SRCROOT%. Columns count
 * characters (section 3.14.17). */
#include "base/map.h"
#include "stack/validate.h"
#include "text/json_write.h"
#include "webhook/offline/output.h"

#include <ctype.h>

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

struct sarif {
    const struct report *report;
    const struct output_style *style;
    struct arena *arena;
    struct json_writer w;
    struct map *rules;  /* name -> place among those that are described, from 1 */
    uint32_t described; /* how many are */
};

/* --- rules --- */

static void put_text(struct sarif *s, const char *key, struct str text)
{
    json_put_key(&s->w, str_of(key));
    json_open_object(&s->w);
    json_field_str(&s->w, "text", text);
    json_close_object(&s->w);
}

static void put_rule(struct sarif *s, struct str id, struct str sentence, struct str way_out,
                     enum severity severity)
{
    json_open_object(&s->w);
    json_field_str(&s->w, "id", id);
    put_text(s, "shortDescription", sentence);
    put_text(s, "help", way_out);
    json_put_key(&s->w, STR("defaultConfiguration"));
    json_open_object(&s->w);
    json_field_str(&s->w, "level", str_of(output_level(severity)));
    json_close_object(&s->w);
    json_close_object(&s->w);
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
    struct str part;

    str_split(&policy, '/', &part);
    if (str_eq(part, STR("policy")) && str_split(&policy, '/', &part))
        sentence = str_fmt(s->arena, "The rule %.*s of the StackPolicy %.*s.", STR_ARG(policy),
                           STR_ARG(part));
    put_rule(s, problem->rule, sentence, problem->way_out.len ? problem->way_out : problem->message,
             problem->severity);
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
    put_rule(s, problem->rule, str_of(rule->sentence), str_of(rule->way_out), rule->severity);
}

static void put_rules(struct sarif *s)
{
    json_put_key(&s->w, STR("rules"));
    json_open_array(&s->w);
    for (uint32_t i = 0; i < s->report->findings.count; i++) {
        const struct problem *problem = &s->report->findings.items[i].problem;

        if (output_shows(s->style, problem) && index_of(s, problem->rule) == s->described) {
            put_rule_of(s, problem);
            s->described++;
        }
    }
    json_close_array(&s->w);
}

static void put_tool(struct sarif *s)
{
    json_put_key(&s->w, STR("tool"));
    json_open_object(&s->w);
    json_put_key(&s->w, STR("driver"));
    json_open_object(&s->w);
    json_field_str(&s->w, "name", STR("herd-webhook"));
    json_field_str(&s->w, "version", STR(HERD_VERSION));
    json_field_str(&s->w, "semanticVersion", STR(HERD_VERSION));
    put_rules(s);
    json_close_object(&s->w);
    json_close_object(&s->w);
}

/* --- places --- */

/* RFC 3986: what is not unreserved, and no '/', is percent-encoded; so a ':' makes no scheme. */
static struct str as_uri(struct sarif *s, struct str name)
{
    struct strbuf uri = strbuf_new(s->arena, name.len);

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];

        if (isalnum(c) || strchr("-._~/", c))
            strbuf_char(&uri, (char)c);
        else
            strbuf_fmt(&uri, "%%%02X", c);
    }
    return strbuf_str(&uri);
}

static void put_artifact(struct sarif *s, uint32_t file)
{
    struct str name = output_name(s->report->files.items[file].name, s->style, s->arena);
    bool absolute = str_starts(name, STR("/"));
    struct str uri = str_eq(name, STR("-")) ? STR("stdin") : as_uri(s, name);

    json_put_key(&s->w, STR("artifactLocation"));
    json_open_object(&s->w);
    json_field_str(&s->w, "uri",
                   absolute ? str_fmt(s->arena, "file://%.*s", STR_ARG(uri)) : uri);
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
    json_field_str(&s->w, "fullyQualifiedName",
                   str_fmt(s->arena, "%.*s/%.*s", STR_ARG(object),
                           STR_ARG(finding->problem.field)));
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
    put_text(s, "message", output_sentence(problem, s->arena));
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
    put_text(s, "message", s->report->files.items[file].failure);
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

void output_sarif(const struct report *report, const struct output_style *style,
                  struct strbuf *out)
{
    struct sarif s = { .report = report,
                       .style = style,
                       .arena = out->arena,
                       .w = json_writer(out),
                       .rules = map_new(out->arena, 32) };

    json_open_object(&s.w);
    json_field_str(&s.w, "$schema", STR(SCHEMA));
    json_field_str(&s.w, "version", STR("2.1.0"));
    json_put_key(&s.w, STR("runs"));
    json_open_array(&s.w);
    json_open_object(&s.w);
    put_tool(&s);
    put_invocation(&s);
    json_field_str(&s.w, "columnKind", STR("unicodeCodePoints"));
    json_put_key(&s.w, STR("results"));
    json_open_array(&s.w);
    for (uint32_t i = 0; i < report->findings.count; i++)
        if (output_shows(style, &report->findings.items[i].problem))
            put_result(&s, &report->findings.items[i]);
    json_close_array(&s.w);
    json_close_object(&s.w);
    json_close_array(&s.w);
    json_close_object(&s.w);
    strbuf_char(out, '\n');
}
