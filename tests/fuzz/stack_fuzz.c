/* SPDX-License-Identifier: Apache-2.0 */
/* stack_fuzz.c: any object is a Stack and findings; defaulting it twice, or its patched document, is defaulting it once;
 * what is said about it is fit to show. */
#include "fuzz.h"

#include "stack/model/decode.h"
#include "stack/rules/validate.h"
#include "stack/model/default.h"
#include "support/any_review.h"
#include "text/patch.h"

/* Nothing that moves a cursor or begins a line of a log. */
static void must_be_showable(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        MUST((unsigned char)text.at[i] >= ' ' && text.at[i] != 0x7f);
}

static void check_findings(const struct verdict *verdict)
{
    const struct problem_list *found = &verdict->problems.list;
    uint32_t denied = 0;

    for (uint32_t i = 0; i < found->count; i++) {
        const struct problem *problem = &found->items[i];
        enum rule_id rule;

        MUST(rule_from(problem->rule, &rule) || str_starts(problem->rule, STR("policy/")));
        MUST(problem->message.len);
        must_be_showable(problem->field);
        must_be_showable(problem->message);
        must_be_showable(problem->remedy);
        denied += problem->severity == SEVERITY_DENY;
    }
    MUST(verdict->problems.denied == denied);
    MUST(verdict->allowed == (denied == 0));
    MUST(verdict->allowed == (verdict->message.len == 0));
    MUST(verdict->allowed || verdict->patch.len == 0);
}

static void check_defaults(struct arena *arena, struct json object)
{
    struct problems problems = problems_new(arena);
    struct value *document = value_of(arena, object);
    struct value *patched;
    struct str patch;
    struct str second;
    struct json again;
    struct error err = { 0 };
    const struct stack *once = stack_default(arena, stack_decode(arena, object, &problems), &patch);

    stack_default(arena, once, &second);
    MUST(second.len == 0);
    if (!patch.len)
        return;
    MUST(patch_apply(arena, document, patch, &patched, &err) == 0);
    if (json_read(arena, value_json(arena, patched), &json_limits_default, &again, &err) < 0) {
        MUST(err.code == ERROR_TOO_LARGE);
        return;
    }
    stack_default(arena, stack_decode(arena, again, &problems), &second);
    MUST(second.len == 0);
}

/* Two lines: an object, and what it was before. Without the second it is new. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str rest = str_make((const char *)data, size);
    struct review_world world;
    struct error err;
    struct json object;
    struct json old = { NULL, 0 };
    struct str first;

    if (!str_split(&rest, '\n', &first) || json_read(arena, first, &json_limits_default, &object, &err) < 0)
        return 0;
    if (rest.at && json_read(arena, rest, &json_limits_default, &old, &err) < 0)
        old = (struct json){ NULL, 0 };
    review_world_begin(&world, arena);

    struct verdict verdict = stack_admit(arena, object, old, &world.facts, &world.severities);
    struct verdict again = stack_admit(arena, object, old, &world.facts, &world.severities);

    check_findings(&verdict);
    check_defaults(arena, object);
    MUST(str_eq(verdict.message, again.message) && str_eq(verdict.patch, again.patch));
    review_world_end(&world);
    return 0;
}
