/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c: one object after the other; of each verdict the findings are kept, with their places.
 */
#include "webhook/offline/validate.h"

#include "stack/rules/admit_workload.h"
#include "stack/rules/validate.h"
#include "webhook/limits.h"

struct facts offline_facts(const struct offline_config *config, struct offline_stacks *stacks,
                           uint32_t number)
{
    return (struct facts){
        .clusters_known = config->clusters_known,
        .clusters = config->clusters,
        .inventories_kept = config->clusters_known,
        .stacks = offline_stacks_facts(stacks, number),
        .policies = config->policies,
        .names_all_stacks = true, /* they stand in the files */
        .plain_http_allowed = config->configuration.plain_http_allowed,
        .repo_hosts_allowed = &config->configuration.repo_hosts,
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
                                                .object = REPORT_NO_OBJECT,
                                                .at = bad->at,
                                                .problem = { .rule = STR(REPORT_RULE_YAML),
                                                             .message = bad->what,
                                                             .remedy = bad->remedy,
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
    copy.remedy = str_dup(arena, problem->remedy);
    return copy;
}

static void add_finding(struct report *report, const struct object *object, uint32_t number,
                        const struct problem *problem)
{
    if (!take(report, problem->severity))
        return;
    report_findings_push(&report->findings, (struct report_finding){
                                                .file = object->file,
                                                .object = number,
                                                .at = object_field_place(object, problem->field),
                                                .problem = kept(report->findings.arena, problem),
                                            });
}

/* --- one object --- */

struct validating {
    const struct offline_config *config;
    struct offline_stacks *stacks;
    struct arena *scratch; /* of one verdict */
    struct report report;
};

static struct verdict validate_stack(struct validating *j, const struct object *object,
                                     uint32_t number)
{
    struct facts facts = offline_facts(j->config, j->stacks, number);

    (void)object;
    return stack_admit(j->scratch, offline_stack_json(j->stacks, number), (struct json){ NULL, 0 },
                       &facts, &j->config->configuration.severities);
}

static struct verdict validate_policy(struct validating *j, const struct object *object,
                                      uint32_t number)
{
    (void)number;
    return policy_admit(j->scratch, object->json, (struct json){ NULL, 0 });
}

static struct verdict validate_workload(struct validating *j, const struct object *object,
                                        uint32_t number)
{
    struct facts facts = offline_facts(j->config, j->stacks, number);

    return workload_admit(j->scratch, object_workload_kind(object->kind),
                          offline_stack_json(j->stacks, number), (struct json){ NULL, 0 }, &facts,
                          &j->config->configuration.severities);
}

typedef struct verdict validate_one(struct validating *j, const struct object *object,
                                    uint32_t number);

/* NULL: the kind is not looked for. */
static validate_one *validate_of(enum object_kind kind)
{
    if (kind == OBJECT_STACK)
        return validate_stack;
    if (kind == OBJECT_POLICY)
        return validate_policy;
    return object_workload_kind(kind) ? validate_workload : NULL;
}

static unsigned validated_kinds(void)
{
    unsigned kinds = 0;

    for (enum object_kind kind = 0; kind < OBJECT_KIND_COUNT; kind++)
        kinds |= validate_of(kind) ? 1U << kind : 0;
    return kinds;
}

static void validate_object(struct validating *j, const struct object *object, uint32_t number)
{
    struct report *report = &j->report;
    struct arena *arena = report->objects.arena;
    struct verdict verdict = validate_of(object->kind)(j, object, number);
    struct json metadata = json_get(object->json, STR("metadata"));
    struct str name = json_str(json_get(metadata, STR("name")));
    struct report_object validated = {
        .kind = object->kind,
        .file = object->file,
        .at = object_place(object),
        .namespace_ = str_dup(arena, offline_stack_namespace(j->stacks, number)),
        .name = str_dup(arena, name),
        .allowed = verdict.allowed,
    };

    if (report->findings.count < LIMIT_OFFLINE_FINDINGS)
        validated.message = str_dup(arena, verdict.message);
    for (uint32_t i = 0; i < verdict.problems.list.count; i++) {
        const struct problem *problem = &verdict.problems.list.items[i];

        validated.denied += problem->severity == SEVERITY_DENY;
        validated.warned += problem->severity == SEVERITY_WARN;
        add_finding(report, object, number, problem);
    }
    report->count_of[object->kind]++;
    report->workloads += object_workload_kind(object->kind) != NULL;
    report_objects_push(&report->objects, validated);
    arena_reset(j->scratch);
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
            objects_read(objects, i, file->bytes, file->found);
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
    struct objects objects = objects_new(arena, validated_kinds());
    struct validating j = { .config = config,
                            .scratch = scratch,
                            .report = { .files = report_files_new(arena, files->count),
                                        .objects = report_objects_new(arena, 0),
                                        .findings = report_findings_new(arena, 0) } };
    uint32_t bad = 0;

    read_files(&j.report, files, &objects);
    j.stacks = offline_stacks_new(arena, &objects.list, files, config->namespace_);
    for (uint32_t i = 0; i < objects.list.count; i++) {
        const struct object *object = &objects.list.items[i];

        for (; bad < objects.bad.count && is_before(&objects.bad.items[bad], object); bad++)
            add_bad(&j.report, &objects.bad.items[bad]);
        validate_object(&j, object, i);
    }
    for (; bad < objects.bad.count; bad++)
        add_bad(&j.report, &objects.bad.items[bad]);
    j.report.others = objects.others;
    return j.report;
}
