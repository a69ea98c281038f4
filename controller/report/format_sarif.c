/* SPDX-License-Identifier: Apache-2.0 */
/* format_sarif.c: rules in the order of the findings, so the worst come first. A result stands at
 * its image: there is no file, and code scanning wants a place in one, so it is the first line. */
#include "controller/report/formats.h"

#include "base/map.h"
#include "base/set.h"
#include "text/enumerate.h"
#include "text/sarif.h"

enum { NAMED_MAX = 10 }; /* packages of a rule */

struct sarif {
    const struct reported_stack *stack;
    struct arena *arena;
    struct json_writer w;
    struct map *rules; /* CVE -> place among the rules, from 1 */
};

static const char *level_of(struct str severity)
{
    return str_eq(severity, STR("Critical")) || str_eq(severity, STR("High")) ? "error" : "warning";
}

static struct str fix_of(struct sarif *s, const struct scan_finding *finding)
{
    if (!finding->fixed.len)
        return str_fmt(s->arena, "no fixed version of %.*s is known", STR_ARG(finding->package));
    return str_fmt(s->arena, "update %.*s to %.*s", STR_ARG(finding->package),
                   STR_ARG(finding->fixed));
}

static struct str sentence(struct sarif *s, struct str text)
{
    return str_ends(text, STR(".")) ? text : str_fmt(s->arena, "%.*s.", STR_ARG(text));
}

/* A vulnerability: the first finding is the worst, the packages and fixes are those of all. */
struct vulnerable {
    const struct scan_finding *finding;
    struct enumeration packages, fixes;
};
LIST_DEFINE(vulnerable_list, struct vulnerable)

static void put_rule(struct sarif *s, struct vulnerable *found)
{
    const struct scan_finding *finding = found->finding;
    struct str in =
        str_fmt(s->arena, "%.*s vulnerability %.*s in %.*s.", STR_ARG(finding->severity),
                STR_ARG(finding->cve), STR_ARG(enumeration_text(&found->packages)));
    struct str help =
        str_fmt(s->arena, "To fix it: %.*s.", STR_ARG(enumeration_text(&found->fixes)));

    sarif_put_rule(
        &s->w, &(struct sarif_rule){
                   .id = finding->cve,
                   .short_description = in,
                   .full_description = str_fmt(s->arena, "%.*s %.*s", STR_ARG(in), STR_ARG(help)),
                   .help = help,
                   .help_uri = report_source_of(s->arena, finding->cve).page,
                   .level = str_of(level_of(finding->severity)),
                   .security_severity = finding->score,
               });
}

/* Once for each name. */
static void add_name(struct sarif *s, struct set seen, const struct scan_finding *finding,
                     struct enumeration *to, struct str name)
{
    struct str key = str_fmt(s->arena, "%.*s\n%.*s", STR_ARG(finding->cve), STR_ARG(name));

    if (set_add(seen, key))
        enumeration_add(to, name);
}

static struct vulnerable_list vulnerable_of(struct sarif *s)
{
    const struct scan_findings_list *findings = &s->stack->report.findings;
    struct vulnerable_list list = vulnerable_list_new(s->arena, findings->count);
    struct set packages = set_new(s->arena, findings->count);
    struct set fixes = set_new(s->arena, findings->count);

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct scan_finding *finding = &findings->items[i];
        struct vulnerable *one;

        if (!map_get(s->rules, finding->cve)) {
            vulnerable_list_push(&list,
                                 (struct vulnerable){ finding, enumeration_new(s->arena, NAMED_MAX),
                                                      enumeration_new(s->arena, NAMED_MAX) });
            map_put(s->rules, finding->cve, (void *)(uintptr_t)list.count);
        }
        one = &list.items[(uintptr_t)map_get(s->rules, finding->cve) - 1];
        add_name(s, packages, finding, &one->packages, finding->package);
        add_name(s, fixes, finding, &one->fixes, fix_of(s, finding));
    }
    return list;
}

static void put_rules(struct sarif *s)
{
    struct vulnerable_list list = vulnerable_of(s);

    for (uint32_t i = 0; i < list.count; i++)
        put_rule(s, &list.items[i]);
}

/* Of compliance checks, behind those of vulnerabilities; tests have other names than CVEs. */
static const char *level_of_check(const struct scan_check *check)
{
    return str_eq(check->level, STR("WARN")) ? "warning" : "error";
}

static struct str or_number(const struct scan_check *check, struct str text)
{
    return text.len ? text : check->number;
}

static void put_check_rule(struct sarif *s, const struct scan_check *check)
{
    struct str text =
        sentence(s, str_fmt(s->arena, "Compliance check %.*s: %.*s", STR_ARG(check->number),
                            STR_ARG(or_number(check, check->description))));
    struct str help = sentence(s, or_number(check, check->remediation));

    sarif_put_rule(&s->w, &(struct sarif_rule){ .id = check->number,
                                                .short_description = text,
                                                .full_description = text,
                                                .help = help,
                                                .help_uri = STR(STACK_HOMEPAGE),
                                                .level = str_of(level_of_check(check)),
                                                .security_severity = STR("") });
}

static void put_check_rules(struct sarif *s)
{
    const struct scan_checks *checks = &s->stack->report.checks;

    for (uint32_t i = 0; i < checks->count; i++) {
        const struct scan_check *check = &checks->items[i];

        if (map_get(s->rules, check->number))
            continue;
        map_put(s->rules, check->number, (void *)(uintptr_t)(map_count(s->rules) + 1));
        put_check_rule(s, check);
    }
}

/* What the report does not name is told by its digest. */
static struct str image_of(const struct sarif *s, struct str digest)
{
    const struct scan_image *image = scan_report_image(&s->stack->report, digest);

    return image && image->name.len ? image->name : digest;
}

/* The image. */
static void put_physical(struct sarif *s, struct str digest)
{
    json_put_key(&s->w, STR("physicalLocation"));
    json_open_object(&s->w);
    json_put_key(&s->w, STR("artifactLocation"));
    json_open_object(&s->w);
    json_field_str(&s->w, "uri", sarif_uri(s->arena, image_of(s, digest)));
    json_field_str(&s->w, "uriBaseId", STR("IMAGES"));
    json_close_object(&s->w);
    json_put_key(&s->w, STR("region"));
    json_open_object(&s->w);
    json_field_int(&s->w, "startLine", 1);
    json_close_object(&s->w);
    json_close_object(&s->w);
}

static void put_location(struct sarif *s, const struct scan_finding *finding)
{
    json_open_object(&s->w);
    put_physical(s, finding->digest);
    json_put_key(&s->w, STR("logicalLocations"));
    json_open_array(&s->w);
    json_open_object(&s->w);
    json_field_str(&s->w, "name", finding->package);
    json_field_str(
        &s->w, "fullyQualifiedName",
        str_fmt(s->arena, "%.*s/%.*s", STR_ARG(finding->digest), STR_ARG(finding->package)));
    json_field_str(&s->w, "kind", STR("module"));
    json_close_object(&s->w);
    json_close_array(&s->w);
    json_close_object(&s->w);
}

static void put_result(struct sarif *s, const struct scan_finding *finding)
{
    json_open_object(&s->w);
    json_field_str(&s->w, "ruleId", finding->cve);
    json_field_int(&s->w, "ruleIndex", (int64_t)(uintptr_t)map_get(s->rules, finding->cve) - 1);
    json_field_str(&s->w, "level", str_of(level_of(finding->severity)));
    sarif_put_text(&s->w, "message",
                   str_fmt(s->arena, "%.*s %.*s in image %.*s has %.*s (%.*s): %.*s.",
                           STR_ARG(finding->package), STR_ARG(finding->version),
                           STR_ARG(image_of(s, finding->digest)), STR_ARG(finding->cve),
                           STR_ARG(finding->severity), STR_ARG(fix_of(s, finding))));
    json_put_key(&s->w, STR("locations"));
    json_open_array(&s->w);
    put_location(s, finding);
    json_close_array(&s->w);
    json_close_object(&s->w);
}

static void put_check_result(struct sarif *s, const struct scan_check *check)
{
    json_open_object(&s->w);
    json_field_str(&s->w, "ruleId", check->number);
    json_field_int(&s->w, "ruleIndex", (int64_t)(uintptr_t)map_get(s->rules, check->number) - 1);
    json_field_str(&s->w, "level", str_of(level_of_check(check)));
    sarif_put_text(&s->w, "message",
                   sentence(s, str_fmt(s->arena, "Image %.*s fails compliance check %.*s: %.*s",
                                       STR_ARG(image_of(s, check->digest)), STR_ARG(check->number),
                                       STR_ARG(or_number(check, check->description)))));
    json_put_key(&s->w, STR("locations"));
    json_open_array(&s->w);
    json_open_object(&s->w);
    put_physical(s, check->digest);
    json_close_object(&s->w);
    json_close_array(&s->w);
    json_close_object(&s->w);
}

/* What the results do not cover: no result for an image that nobody scanned is no good news. */
static void put_invocation(struct sarif *s)
{
    struct str_list gaps = report_gaps(s->arena, &s->stack->report);

    json_put_key(&s->w, STR("invocations"));
    json_open_array(&s->w);
    json_open_object(&s->w);
    json_field_bool(&s->w, "executionSuccessful", true);
    json_put_key(&s->w, STR("toolExecutionNotifications"));
    json_open_array(&s->w);
    for (uint32_t i = 0; i < gaps.count; i++) {
        json_open_object(&s->w);
        json_field_str(&s->w, "level", STR("warning"));
        sarif_put_text(&s->w, "message", gaps.items[i]);
        json_close_object(&s->w);
    }
    json_close_array(&s->w);
    json_close_object(&s->w);
    json_close_array(&s->w);
}

/* What the images' names are relative to. */
static void put_bases(struct sarif *s)
{
    json_put_key(&s->w, STR("originalUriBaseIds"));
    json_open_object(&s->w);
    json_put_key(&s->w, STR("IMAGES"));
    json_open_object(&s->w);
    sarif_put_text(&s->w, "description", STR("The registries that the images come from."));
    json_close_object(&s->w);
    json_close_object(&s->w);
}

void format_sarif(const struct reported_stack *stack, struct strbuf *out)
{
    const struct scan_findings_list *findings = &stack->report.findings;
    const struct scan_checks *checks = &stack->report.checks;
    struct sarif s = { .stack = stack,
                       .arena = out->arena,
                       .w = json_writer(out),
                       .rules = map_new(out->arena, findings->count + checks->count) };

    sarif_open(&s.w, &(struct sarif_tool){ STR("herd-controller"), STR(HERD_VERSION),
                                           STR(STACK_HOMEPAGE) });
    put_rules(&s);
    put_check_rules(&s);
    sarif_close_rules(&s.w);
    put_invocation(&s);
    put_bases(&s);
    sarif_open_results(&s.w);
    for (uint32_t i = 0; i < findings->count; i++)
        put_result(&s, &findings->items[i]);
    for (uint32_t i = 0; i < checks->count; i++)
        put_check_result(&s, &checks->items[i]);
    sarif_close(&s.w);
}
