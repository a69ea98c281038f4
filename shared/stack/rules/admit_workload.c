/* SPDX-License-Identifier: Apache-2.0 */
/* admit_workload.c: read, validate, put policies to it; then the words. */
#include "stack/rules/admit_workload.h"

#include "stack/model/checks.h"
#include "stack/policy/policy_set.h"
#include "stack/rules/finding_severities.h"
#include "stack/rules/validate_workload.h"

static const struct workload_object *find_all(struct arena *arena, const struct workload_kind *kind,
                                              struct json object, const struct facts *facts,
                                              const struct rule_severities *severities,
                                              struct problems *problems, struct str *ret_patch)
{
    const struct workload_object *read =
        workload_object_read(arena, kind, object, problems, ret_patch);
    struct problems found = problems_new(arena);
    struct findings findings = findings_new(&found);

    validate_metadata(&read->meta, &findings);
    validate_workload(read, problems, facts, &findings);
    if (facts->policies)
        policy_set_evaluate_workload(facts->policies, read, &found);
    findings_set_severities(&found, severities);
    for (uint32_t i = 0; i < found.list.count; i++)
        problems_add(problems, found.list.items[i]);
    return read;
}

static struct finding_subject subject_of(const struct workload_object *object)
{
    return (struct finding_subject){ &object->meta, object->spec, NULL };
}

/* What stands in `old_object`, too, only warns. */
static void excuse(struct arena *arena, const struct workload_object *object,
                   struct json old_object, const struct facts *facts,
                   const struct rule_severities *severities, struct problems *problems)
{
    struct problems old_problems = problems_new(arena);
    const struct workload_object *old =
        find_all(arena, object->kind, old_object, facts, severities, &old_problems, NULL);
    struct finding_subject now = subject_of(object), then = subject_of(old);

    findings_excuse(&now, &then, &old_problems, problems);
}

struct verdict workload_admit(struct arena *arena, const struct workload_kind *kind,
                              struct json object, struct json old_object, const struct facts *facts,
                              const struct rule_severities *severities)
{
    struct verdict verdict = { .problems = problems_new(arena), .patch = STR("") };

    verdict.workload =
        find_all(arena, kind, object, facts, severities, &verdict.problems, &verdict.patch);
    if (verdict.problems.denied && json_is(old_object, JSON_OBJECT))
        excuse(arena, verdict.workload, old_object, facts, severities, &verdict.problems);
    /* Only who changes the spec is told its defaults, as with Stacks. */
    if (json_equal(verdict.workload->spec.json, json_get(old_object, STR("spec"))))
        verdict.patch = STR("");
    problems_sort(&verdict.problems);
    verdict_word(arena, &verdict);
    return verdict;
}
