/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: results to rows, rows to JSON, and the same rows out of a stored report.
 *
 * Source of the fields: the definition of policyreports.wgpolicyk8s.io, v1alpha2. */
#include "controller/reconcilers/policy_report/report.h"

#include "controller/limits.h"
#include "stack/model/stack.h"
#include "text/digest.h"
#include "text/json_write.h"

#include <inttypes.h>

enum { NAME_MAX = 253, DIGEST_SHOWN = 10, MESSAGE_BYTES_MAX = 1024 };

const struct kube_resource report_resource =
    KUBE_RESOURCE_INIT("wgpolicyk8s.io", "v1alpha2", "policyreports", "PolicyReport", true);

#define SOURCE "herd"

const char *report_result_name(enum report_result result)
{
    static const char *const names[REPORT_RESULTS] = {
        [REPORT_PASS] = "pass",
        [REPORT_FAIL] = "fail",
        [REPORT_WARN] = "warn",
    };

    return names[result];
}

enum report_result report_result_of(enum policy_action action, uint32_t findings)
{
    if (!findings)
        return REPORT_PASS;
    return action == POLICY_ACTION_WARN ? REPORT_WARN : REPORT_FAIL;
}

static const char *severity_of(enum policy_action action)
{
    return action == POLICY_ACTION_AUDIT ? "low" : action == POLICY_ACTION_WARN ? "medium" : "high";
}

struct str report_name(struct arena *arena, struct str stack_name)
{
    struct str name = str_fmt(arena, "stack-%.*s", STR_ARG(stack_name));

    if (name.len <= NAME_MAX)
        return name;

    struct str digest = str_slice(digest_sha256_hex(arena, stack_name), 0, DIGEST_SHOWN);
    struct str head = str_slice(name, 0, NAME_MAX - DIGEST_SHOWN - 1);

    /* A name ends its parts with a letter or digit. */
    while (head.at[head.len - 1] == '.' || head.at[head.len - 1] == '-')
        head.len--;
    return str_fmt(arena, "%.*s-%.*s", STR_ARG(head), STR_ARG(digest));
}

/* --- rows: one result --- */

struct row {
    struct str policy;
    struct str rule;
    struct str result;
    struct str severity;
    struct str message;
};
LIST_DEFINE(rows, struct row)

/* The first finding, and how many more there are. */
static struct str message_of(struct arena *arena, const struct policy_result *result)
{
    const struct problem *first = result->first;
    struct strbuf out = strbuf_new(arena, 256);

    if (!first)
        return STR("");
    strbuf_fmt(&out, "%.*s: %.*s", STR_ARG(first->field), STR_ARG(first->message));
    if (first->remedy.len)
        strbuf_fmt(&out, "; %.*s", STR_ARG(first->remedy));
    if (result->findings > 1)
        strbuf_fmt(&out, " (and %u more)", result->findings - 1);
    return str_shown(arena, strbuf_str(&out), MESSAGE_BYTES_MAX);
}

static struct row row_of(struct arena *arena, const struct policy_set *set,
                         const struct policy_result *result)
{
    enum policy_action action = policy_set_action(set, result->policy);

    return (struct row){
        .policy = policy_set_name(set, result->policy),
        .rule = policy_set_rule_name(set, result->policy, result->rule),
        .result = str_of(report_result_name(report_result_of(action, result->findings))),
        .severity = str_of(severity_of(action)),
        .message = message_of(arena, result),
    };
}

static void add_rows(struct rows *rows, const struct policy_set *set,
                     const struct policy_results *results, bool broken)
{
    for (uint32_t i = 0; i < results->count && rows->count < LIMIT_REPORT_RESULTS; i++)
        if ((results->items[i].findings > 0) == broken)
            rows_push(rows, row_of(rows->arena, set, &results->items[i]));
}

static struct rows rows_of(struct arena *arena, const struct policy_set *set,
                           const struct policy_results *results)
{
    struct rows rows = rows_new(arena, results->count);

    add_rows(&rows, set, results, true);
    add_rows(&rows, set, results, false);
    return rows;
}

static struct row row_read(struct json result)
{
    return (struct row){
        .policy = json_str(json_get(result, STR("policy"))),
        .rule = json_str(json_get(result, STR("rule"))),
        .result = json_str(json_get(result, STR("result"))),
        .severity = json_str(json_get(result, STR("severity"))),
        .message = json_str(json_get(result, STR("message"))),
    };
}

/* By which a result is known again. */
static struct str identity(struct arena *arena, const struct row *row)
{
    return str_fmt(arena, "%.*s/%.*s/%.*s", STR_ARG(row->policy), STR_ARG(row->rule),
                   STR_ARG(row->result));
}

static void put_row(struct strbuf *out, const struct row *row)
{
    strbuf_fmt(out, "%.*s\n%.*s\n%.*s\n%.*s\n", STR_ARG(row->policy), STR_ARG(row->rule),
               STR_ARG(row->result), STR_ARG(row->severity));
    json_quote(out, row->message);
    strbuf_char(out, '\n');
}

/* All that a report says, but for its times. */
static struct str digest_of(struct arena *arena, struct str owner, const uint32_t *summary,
                            const struct rows *rows)
{
    struct strbuf all = strbuf_new(arena, 4096);

    strbuf_fmt(&all, "%.*s\n", STR_ARG(owner));
    for (int i = 0; i < REPORT_RESULTS; i++)
        strbuf_fmt(&all, "%u\n", summary[i]);
    for (uint32_t i = 0; i < rows->count; i++)
        put_row(&all, &rows->items[i]);
    return digest_sha256_hex(arena, strbuf_str(&all));
}

/* --- what is remembered --- */

static struct str owner_of(struct json object)
{
    struct json_iter owners = json_iter(json_walk(object, "metadata", "ownerReferences", NULL));

    return json_next(&owners) ? json_str(json_get(owners.value, STR("uid"))) : STR("");
}

static struct str stored_digest(struct arena *arena, struct json object)
{
    struct json_iter it = json_iter(json_get(object, STR("results")));
    struct rows rows = rows_new(arena, 16);
    uint32_t summary[REPORT_RESULTS] = { 0 };

    for (int i = 0; i < REPORT_RESULTS; i++) {
        struct str name = str_of(report_result_name((enum report_result)i));
        int64_t count = 0;

        json_int64(json_get(json_get(object, STR("summary")), name), &count);
        summary[i] = (uint32_t)count;
    }
    while (json_next(&it))
        rows_push(&rows, row_read(it.value));
    return digest_of(arena, owner_of(object), summary, &rows);
}

bool report_keep(void *context, struct json object, struct strbuf *kept)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json_iter it = json_iter(json_get(object, STR("results")));
    struct json scope = json_get(object, STR("scope"));
    struct json_writer w = json_writer(kept);

    (void)context;
    json_open_object(&w);
    json_field_str(&w, "namespace", json_str(json_walk(object, "metadata", "namespace", NULL)));
    json_field_str(&w, "name", json_str(json_get(scope, STR("name"))));
    json_field_str(&w, "digest", stored_digest(arena, object));
    json_put_key(&w, STR("since"));
    json_open_object(&w);
    while (json_next(&it)) {
        struct row row = row_read(it.value);
        int64_t seconds;

        if (!json_int64(json_walk(it.value, "timestamp", "seconds", NULL), &seconds))
            continue;
        json_put_key(&w, identity(arena, &row));
        json_put_int(&w, seconds);
    }
    json_close_object(&w);
    json_close_object(&w);
    return true;
}

static struct json kept_json(struct arena *arena, struct str kept)
{
    struct json json = { NULL, 0 };
    struct error ignored = { .code = ERROR_NONE };

    /* Our own bytes, written by report_keep: they read back. */
    if (kept.len)
        (void)json_read(arena, kept, &json_limits_default, &json, &ignored);
    return json;
}

struct str report_stack_key(struct arena *arena, struct str kept)
{
    struct json json = kept_json(arena, kept);

    return str_fmt(arena, "%.*s/%.*s", STR_ARG(json_str(json_get(json, STR("namespace")))),
                   STR_ARG(json_str(json_get(json, STR("name")))));
}

/* --- JSON --- */

static void put_reference(struct json_writer *w, const struct report_stack *stack)
{
    json_field_str(w, "apiVersion", STR(STACK_GROUP "/" STACK_VERSION));
    json_field_str(w, "kind", stack_resource.kind);
    json_field_str(w, "name", stack->name);
    json_field_str(w, "uid", stack->uid);
}

static void put_metadata(struct json_writer *w, const struct report_stack *stack,
                         struct arena *arena)
{
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    json_field_str(w, "name", report_name(arena, stack->name));
    json_field_str(w, "namespace", stack->namespace_);
    json_put_key(w, STR("labels"));
    json_open_object(w);
    json_field_str(w, "app.kubernetes.io/managed-by", STR("herd"));
    json_close_object(w);
    json_put_key(w, STR("ownerReferences"));
    json_open_array(w);
    json_open_object(w);
    put_reference(w, stack);
    json_close_object(w);
    json_close_array(w);
    json_close_object(w);
    json_put_key(w, STR("scope"));
    json_open_object(w);
    put_reference(w, stack);
    json_field_str(w, "namespace", stack->namespace_);
    json_close_object(w);
}

static void put_summary(struct json_writer *w, const uint32_t *summary)
{
    json_put_key(w, STR("summary"));
    json_open_object(w);
    for (int i = 0; i < REPORT_RESULTS; i++) {
        json_put_key(w, str_of(report_result_name((enum report_result)i)));
        json_put_int(w, summary[i]);
    }
    json_field_int(w, "error", 0);
    json_field_int(w, "skip", 0);
    json_close_object(w);
}

static void put_result(struct json_writer *w, const struct row *row, int64_t since_s)
{
    json_open_object(w);
    json_field_str(w, "source", STR(SOURCE));
    json_field_str(w, "policy", row->policy);
    json_field_str(w, "rule", row->rule);
    json_field_str(w, "result", row->result);
    json_field_str(w, "severity", row->severity);
    json_field_bool(w, "scored", true);
    if (row->message.len)
        json_field_str(w, "message", row->message);
    json_put_key(w, STR("timestamp"));
    json_open_object(w);
    json_field_int(w, "seconds", since_s);
    json_field_int(w, "nanos", 0);
    json_close_object(w);
    json_close_object(w);
}

struct str report_write(struct arena *arena, const struct report_stack *stack,
                        const struct policy_set *set, const struct policy_results *results,
                        struct str kept, int64_t now_s)
{
    struct rows rows = rows_of(arena, set, results);
    struct json stored = kept_json(arena, kept);
    struct json since = json_get(stored, STR("since"));
    struct strbuf out = strbuf_new(arena, 4096);
    struct json_writer w = json_writer(&out);
    uint32_t summary[REPORT_RESULTS] = { 0 };

    for (uint32_t i = 0; i < results->count; i++)
        summary[report_result_of(policy_set_action(set, results->items[i].policy),
                                 results->items[i].findings)]++;
    if (str_eq(json_str(json_get(stored, STR("digest"))),
               digest_of(arena, stack->uid, summary, &rows)))
        return STR("");
    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("wgpolicyk8s.io/v1alpha2"));
    json_field_str(&w, "kind", report_resource.kind);
    put_metadata(&w, stack, arena);
    put_summary(&w, summary);
    json_put_key(&w, STR("results"));
    json_open_array(&w);
    for (uint32_t i = 0; i < rows.count; i++) {
        int64_t since_s = now_s;

        json_int64(json_get(since, identity(arena, &rows.items[i])), &since_s);
        put_result(&w, &rows.items[i], since_s);
    }
    json_close_array(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}
