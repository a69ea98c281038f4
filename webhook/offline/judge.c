/* judge.c: one Stack after the other; of each verdict the findings are kept, with their places. */
#include "webhook/offline/judge.h"

#include "base/limits.h"

struct facts offline_facts(const struct offline_config *config, struct offline_stacks *stacks,
                           uint32_t number)
{
    return (struct facts){
        .stacks = offline_stacks_facts(stacks, number),
        .plain_http_allowed = config->plain_http_allowed,
    };
}

/* --- findings --- */

static void count(struct report *report, enum severity severity)
{
    report->denied += severity == SEVERITY_DENY;
    report->warned += severity == SEVERITY_WARN;
    report->audited += severity == SEVERITY_AUDIT;
}

/* False if it is one too many to be listed. */
static bool take(struct report *report, enum severity severity)
{
    count(report, severity);
    if (report->findings.count < LIMIT_OFFLINE_FINDINGS)
        return true;
    report->omitted++;
    return false;
}

static void add_bad(struct report *report, const struct bad_document *bad)
{
    if (!take(report, SEVERITY_DENY))
        return;
    report_findings_push(&report->findings, (struct report_finding){
        .file = bad->file,
        .stack = REPORT_NO_STACK,
        .at = bad->at,
        .problem = { .rule = STR(REPORT_RULE_YAML),
                     .message = bad->what,
                     .way_out = STR("correct the document"),
                     .severity = SEVERITY_DENY,
                     .cause = CAUSE_VALUE_INVALID },
    });
}

/* A verdict's texts go with its arena. */
static struct problem kept(struct arena *arena, const struct problem *problem)
{
    struct problem copy = *problem;

    copy.rule = str_dup(arena, problem->rule);
    copy.field = str_dup(arena, problem->field);
    copy.message = str_dup(arena, problem->message);
    copy.way_out = str_dup(arena, problem->way_out);
    return copy;
}

static void add_finding(struct report *report, const struct object *object, uint32_t stack,
                        const struct problem *problem)
{
    if (!take(report, problem->severity))
        return;
    report_findings_push(&report->findings, (struct report_finding){
        .file = object->file,
        .stack = stack,
        .at = object_field_place(object, problem->field),
        .problem = kept(report->findings.arena, problem),
    });
}

/* --- Stacks --- */

static void add_stack(struct report *report, const struct object *object, struct json json,
                      const struct verdict *verdict)
{
    struct arena *arena = report->stacks.arena;
    uint32_t number = report->stacks.count;
    struct json metadata = json_get(json, STR("metadata"));
    struct report_stack stack = {
        .file = object->file,
        .at = object_place(object),
        .namespace_ = str_dup(arena, json_str(json_get(metadata, STR("namespace")))),
        .name = str_dup(arena, json_str(json_get(metadata, STR("name")))),
        .allowed = verdict->allowed,
    };

    if (report->findings.count < LIMIT_OFFLINE_FINDINGS)
        stack.message = str_dup(arena, verdict->message);
    for (uint32_t i = 0; i < verdict->problems.list.count; i++) {
        const struct problem *problem = &verdict->problems.list.items[i];

        stack.denied += problem->severity == SEVERITY_DENY;
        stack.warned += problem->severity == SEVERITY_WARN;
        add_finding(report, object, number, problem);
    }
    report_stacks_push(&report->stacks, stack);
}

static void judge_stack(struct report *report, const struct offline_config *config,
                        struct arena *scratch, const struct object *object,
                        struct offline_stacks *stacks, uint32_t number)
{
    struct facts facts = offline_facts(config, stacks, number);
    struct json json = offline_stack_json(stacks, number);
    struct verdict verdict = stack_judge(scratch, json, (struct json){ NULL, 0 }, &facts,
                                         &config->severities);

    add_stack(report, object, json, &verdict);
    arena_reset(scratch);
}

/* --- files --- */

static void read_files(struct report *report, const struct input_files *files,
                       struct objects *objects)
{
    for (uint32_t i = 0; i < files->count; i++) {
        const struct input_file *file = &files->items[i];

        report_files_push(&report->files, (struct report_file){ file->name, file->failure });
        if (file->failure.len)
            report->unreadable++;
        else
            objects_read(objects, i, file->bytes);
    }
}

static bool is_before(const struct bad_document *bad, const struct object *object)
{
    return bad->file < object->file ||
           (bad->file == object->file && bad->at.line < object_place(object).line);
}

struct report offline_review(struct arena *arena, const struct input_files *files,
                             const struct offline_config *config)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct objects objects = objects_new(arena, 1 << OBJECT_STACK);
    struct report report = { .files = report_files_new(arena, files->count),
                             .stacks = report_stacks_new(arena, 0),
                             .findings = report_findings_new(arena, 0) };
    uint32_t bad = 0;

    read_files(&report, files, &objects);

    struct offline_stacks *stacks =
        offline_stacks_new(arena, &objects.of[OBJECT_STACK], files, config->namespace_);

    for (uint32_t i = 0; i < objects.of[OBJECT_STACK].count; i++) {
        const struct object *object = &objects.of[OBJECT_STACK].items[i];

        for (; bad < objects.bad.count && is_before(&objects.bad.items[bad], object); bad++)
            add_bad(&report, &objects.bad.items[bad]);
        judge_stack(&report, config, scratch, object, stacks, i);
    }
    for (; bad < objects.bad.count; bad++)
        add_bad(&report, &objects.bad.items[bad]);
    report.others = objects.others;
    return report;
}
