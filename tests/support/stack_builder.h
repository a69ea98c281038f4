/* SPDX-License-Identifier: Apache-2.0 */
/* stack_builder.h: Stacks for tests, as JSON text that is then read as the webhook reads it.
 *
 *     struct stack_builder b = a_stack(arena);
 *     with_chart(&b, "db", "");
 *     with_chart(&b, "app", "db");
 *     struct json object = stack_json(&b);
 *
 * Whatever is not said is valid: env dev, one cluster id, versions, repositories. */
#ifndef HERD_TESTS_SUPPORT_STACK_BUILDER_H
#define HERD_TESTS_SUPPORT_STACK_BUILDER_H

#include "stack/model/decode.h"
#include "stack/rules/validate.h"

struct stack_builder {
    struct arena *arena;
    struct str name;
    struct str targets; /* JSON */
    struct strbuf charts;
    struct strbuf spec; /* further members, each with a comma before it */
};

struct stack_builder a_stack(struct arena *arena);
/* `depends_on`: names with ',' between them, "" for none. */
void with_chart(struct stack_builder *b, const char *name, const char *depends_on);
/* A chart as JSON. */
void with_raw_chart(struct stack_builder *b, const char *json);
/* Further members of spec, as JSON: "\"paused\":true". */
void with_spec(struct stack_builder *b, const char *members);
void with_targets(struct stack_builder *b, const char *json);

/* The document's text, and it read; the test fails if it is no JSON. */
struct str stack_text(struct stack_builder *b);
struct json stack_json(struct stack_builder *b);

struct json test_json(struct arena *arena, struct str text);
/* Validated with default severities, no facts and no old object. */
struct verdict validate_json(struct arena *arena, struct json object);
/* "rule field; rule field; ...", denied ones with '!' in front: what rows compare. */
struct str findings_text(struct arena *arena, const struct problems *problems);

#endif
