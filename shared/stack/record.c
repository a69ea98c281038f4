/* record.c: one question, "what must the annotations say?", for both routes. */
#include "stack/record.h"

#include "base/limits.h"
#include "base/plant.h"
#include "stack/decode.h"
#include "stack/default.h"
#include "stack/finding.h"
#include "stack/policy_set.h"
#include "stack/receipt.h"
#include "stack/settle.h"
#include "stack/spec_change.h"
#include "text/json_write.h"

static bool is_control(struct str text, size_t i)
{
    unsigned char c = (unsigned char)text.at[i];

    return c < 0x20 || c == 0x7f ||
           (c == 0xc2 && i + 1 < text.len && (unsigned char)text.at[i + 1] < 0xa0);
}

/* A backslash stands for itself unless that could be read as an escape. */
static bool starts_escape(struct str text, size_t i)
{
    return text.at[i] == '\\' && i + 1 < text.len &&
           (text.at[i + 1] == 'x' || text.at[i + 1] == '.');
}

struct str record_name(struct arena *arena, struct str username)
{
    struct strbuf name = strbuf_new(arena, username.len < LIMIT_USERNAME_BYTES
                                               ? username.len
                                               : LIMIT_USERNAME_BYTES);

    for (size_t i = 0; i < username.len; i++) {
        unsigned char c = (unsigned char)username.at[i];
        bool begins = (c & 0xc0) != 0x80; /* a cut comes between characters */

        if (begins && name.len + 4 > LIMIT_USERNAME_BYTES) {
            strbuf_lit(&name, "\\...");
            break;
        }
        if (is_control(username, i) || starts_escape(username, i))
            strbuf_fmt(&name, "\\x%02x", c == 0xc2 ? (unsigned char)username.at[++i] : c);
        else
            strbuf_char(&name, (char)c);
    }
    return strbuf_str(&name);
}

/* --- what it is about --- */

static struct str recorded(struct json object, const char *key)
{
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    return kube_annotation(&meta, str_of(key));
}

static bool was_judged(struct arena *arena, const struct recording *of)
{
    struct problems ignored = problems_new(arena);
    const struct stack *old;

    if (!of->receipt_key.len || !json_is(of->old_object, JSON_OBJECT))
        return false;
    old = stack_default(arena, stack_decode(arena, of->old_object, &ignored), NULL);
    return receipt_check(arena, of->receipt_key, old, of->namespace_, NULL) == RECEIPT_VALID;
}

/* The first of what denied, if nothing had been there before, is a warning now. */
static struct str first_fault(struct arena *arena, const struct verdict *verdict)
{
    for (uint32_t i = 0; i < verdict->problems.list.count; i++) {
        const struct problem *problem = &verdict->problems.list.items[i];

        if (problem->excused)
            return str_fmt(arena, "%.*s: %.*s", STR_ARG(problem->field),
                           STR_ARG(problem->message));
    }
    return STR("");
}

static bool is_wish(const struct recording *of)
{
    struct str receipt = recorded(of->object, STACK_RECEIPT);

    return receipt.len && !str_eq(receipt, recorded(of->old_object, STACK_RECEIPT));
}

struct record record_begin(struct arena *arena, const struct recording *of,
                           const struct verdict *verdict)
{
    bool is_new = !json_is(of->old_object, JSON_OBJECT);
    bool judged = was_judged(arena, of);
    struct record record = {
        .of = of,
        .fresh = is_new || spec_changed(arena, of->object, verdict->patch, of->old_object),
        .in_the_way = STR(""),
    };

    record.kept = judged && !record.fresh;
    record.wished = of->receipt_key.len && !record.kept && !record.fresh && is_wish(of);
    if (!of->username.len)
        record.in_the_way = STR("the request names no user");
    else if (!judged)
        record.in_the_way = first_fault(arena, verdict);
    return record;
}

bool record_needs_user(const struct record *record)
{
    return record->fresh || record->wished;
}

/* --- what they must say --- */

/* "" = there must be none. */
struct annotations {
    struct str last_applied_by;
    struct str receipt;
};

static bool is_due(const struct record *record)
{
    return record->of->receipt_key.len && !record->in_the_way.len;
}

static struct str author(struct arena *arena, const struct record *record)
{
    return record_name(arena, record->of->username);
}

static struct str new_receipt(struct arena *arena, const struct record *record,
                              const struct stack *stack)
{
    const struct recording *of = record->of;
    struct receipt receipt = {
        .by = author(arena, record),
        .policies = of->policies ? policy_set_digest(of->policies) : STR(""),
    };

    receipt_take_groups(arena, of->groups, &receipt);
    return receipt_write(arena, of->receipt_key, stack, of->namespace_, &receipt);
}

static struct annotations wanted(struct arena *arena, const struct record *record,
                                 const struct stack *stack)
{
    const struct recording *of = record->of;
    struct annotations wanted = {
        .last_applied_by = record_needs_user(record)
                               ? author(arena, record)
                               : recorded(of->old_object, STACK_LAST_APPLIED_BY),
        .receipt = recorded(of->object, STACK_RECEIPT),
    };

    if (record->kept)
        wanted.receipt = recorded(of->old_object, STACK_RECEIPT);
    else if (of->receipt_key.len && record_needs_user(record))
        wanted.receipt = is_due(record) ? new_receipt(arena, record, stack) : STR("");
    return wanted;
}

static struct path annotations_at(const struct path *metadata)
{
    return path_field(metadata, STR("annotations"));
}

static void refuse_wish(struct arena *arena, const struct record *record,
                        const struct rule_severities *severities, struct verdict *verdict)
{
    struct problems found = problems_new(arena);
    struct findings findings = findings_new(&found);
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path annotations = annotations_at(&metadata);
    struct path at = path_key(&annotations, STR(STACK_RECEIPT));

    finding_add(&findings, RULE_WHO_RECEIPT, CAUSE_FORBIDDEN, &at,
                STR("mend that, and ask for it again; all else of the Stack may be changed without "
                    "a receipt"),
                "there can be no receipt: %.*s",
                STR_ARG(str_shown(arena, record->in_the_way, 300)));
    verdict_add(arena, &found, severities, verdict);
}

/* --- write them --- */

struct row {
    const char *key;
    struct str is, wanted;
};

static struct json_writer begin_operation(struct strbuf *out, bool add, struct str pointer)
{
    if (out->len)
        strbuf_char(out, ',');

    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "op", add ? STR("add") : STR("remove"));
    json_field_str(&w, "path", pointer);
    return w;
}

/* There are no annotations: all at once. */
static void add_all(struct strbuf *out, const struct row *rows, size_t count, struct str pointer)
{
    struct json_writer w = begin_operation(out, true, pointer);

    json_put_key(&w, STR("value"));
    json_open_object(&w);
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].wanted.len)
            continue;
        json_put_key(&w, str_of(rows[i].key));
        json_put_str(&w, rows[i].wanted);
    }
    json_close_object(&w);
    json_close_object(&w);
}

static void put_one(struct strbuf *out, const struct row *row, struct str pointer)
{
    struct json_writer w = begin_operation(out, row->wanted.len > 0, pointer);

    if (row->wanted.len)
        json_field_str(&w, "value", row->wanted);
    json_close_object(&w);
}

static struct str operations(struct arena *arena, const struct kube_meta *meta,
                             const struct row *rows, size_t count)
{
    struct strbuf out = strbuf_new(arena, 1024);
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path annotations = annotations_at(&metadata);
    bool differs = false;

    for (size_t i = 0; i < count; i++) {
        struct path at = path_key(&annotations, str_of(rows[i].key));

        if (str_eq(rows[i].is, rows[i].wanted) && !PLANTED(PATCH_TWICE))
            continue;
        differs = true;
        if (json_is(meta->annotations, JSON_OBJECT))
            put_one(&out, &rows[i], path_pointer(&at, arena));
    }
    if (differs && !out.len)
        add_all(&out, rows, count, path_pointer(&annotations, arena));
    return strbuf_str(&out);
}

void record_write(struct arena *arena, const struct record *record,
                  const struct rule_severities *severities, struct verdict *verdict)
{
    const struct kube_meta *meta = &verdict->stack->meta;

    if (verdict->allowed && record->wished && !is_due(record))
        refuse_wish(arena, record, severities, verdict);
    /* Without metadata there is nothing to write into: the API server refuses that by itself. */
    if (!verdict->allowed ||
        !json_is(json_get(record->of->object, STR("metadata")), JSON_OBJECT))
        return;

    struct annotations want = wanted(arena, record, verdict->stack);
    const struct row rows[] = {
        { STACK_LAST_APPLIED_BY, kube_annotation(meta, STR(STACK_LAST_APPLIED_BY)),
          want.last_applied_by },
        { STACK_RECEIPT, kube_annotation(meta, STR(STACK_RECEIPT)), want.receipt },
    };
    struct str added = operations(arena, meta, rows, sizeof(rows) / sizeof(rows[0]));
    struct str defaults = verdict->patch;

    if (!added.len)
        return;

    struct str begun = str_slice(defaults, 0, defaults.len ? defaults.len - 1 : 0); /* no ']' */

    verdict->patch = defaults.len
                         ? str_fmt(arena, "%.*s,%.*s]", STR_ARG(begun), STR_ARG(added))
                         : str_fmt(arena, "[%.*s]", STR_ARG(added));
}

/* --- refuse what is not so --- */

static struct str said(const struct findings *findings, struct str name)
{
    return name.len ? str_fmt(findings->arena, "'%.*s'", STR_ARG(finding_shown(findings, name)))
                    : STR("nobody");
}

static void blame_author(struct findings *findings, const struct path *annotations, struct str is,
                         struct str wanted)
{
    struct path at = path_key(annotations, STR(STACK_LAST_APPLIED_BY));

    finding_add(findings, RULE_WHO_APPLIED, CAUSE_FORBIDDEN, &at, STR(""),
                "it says that %.*s changed the spec last, and that was %.*s",
                STR_ARG(said(findings, is)), STR_ARG(said(findings, wanted)));
}

static bool has_groups_of(struct arena *arena, const struct receipt *receipt, struct json groups)
{
    struct receipt asked = { .groups_left_out = 0 };

    receipt_take_groups(arena, groups, &asked);
    if (asked.groups.count != receipt->groups.count ||
        asked.groups_left_out != receipt->groups_left_out)
        return false;
    for (uint32_t i = 0; i < asked.groups.count; i++)
        if (!str_eq(asked.groups.items[i], receipt->groups.items[i]))
            return false;
    return true;
}

/* Whether the receipt is one that the mutating route gave to this user. It need not be the one that
 * would be written here and now: the policies may have changed since. */
static bool is_given(struct arena *arena, const struct record *record, const struct stack *stack)
{
    struct receipt receipt;

    return receipt_check(arena, record->of->receipt_key, stack, record->of->namespace_,
                         &receipt) == RECEIPT_VALID &&
           str_eq(receipt.by, author(arena, record)) &&
           has_groups_of(arena, &receipt, record->of->groups);
}

static void blame_receipt(struct findings *findings, const struct record *record,
                          const struct path *annotations, struct str is)
{
    struct path at = path_key(annotations, STR(STACK_RECEIPT));

    if (record->kept)
        finding_add(findings, RULE_WHO_RECEIPT, CAUSE_FORBIDDEN, &at, STR(""),
                    "it is not the receipt that the Stack had, although its spec is the same");
    else if (is.len)
        finding_add(findings, RULE_WHO_RECEIPT, CAUSE_FORBIDDEN, &at, STR(""),
                    "it is no receipt of this Stack, by this user");
    else
        finding_add(findings, RULE_WHO_UNJUDGED, CAUSE_VALUE_REQUIRED, &at, STR(""),
                    "there is no receipt%s%.*s", record->in_the_way.len ? ": " : "",
                    STR_ARG(str_shown(findings->arena, record->in_the_way, 300)));
}

/* The two routes may be answered by two servers, of which one knows better than the other whether a
 * receipt is due: what one of them gave is taken. */
static void check_receipt(struct arena *arena, const struct record *record,
                          const struct stack *stack, struct str wanted,
                          const struct path *annotations, struct findings *findings)
{
    struct str receipt = recorded(record->of->object, STACK_RECEIPT);
    bool true_ = record->kept ? str_eq(receipt, wanted)
                              : !record_needs_user(record) || is_given(arena, record, stack);

    if (record->of->receipt_key.len && !true_)
        blame_receipt(findings, record, annotations, receipt);
}

void record_check(struct arena *arena, const struct record *record,
                  const struct rule_severities *severities, struct verdict *verdict)
{
    struct problems found = problems_new(arena);
    struct findings findings = findings_new(&found);
    struct path metadata = path_field(NULL, STR("metadata"));
    struct path annotations = annotations_at(&metadata);
    struct str by = recorded(record->of->object, STACK_LAST_APPLIED_BY);

    if (!verdict->allowed)
        return;

    struct annotations want = wanted(arena, record, verdict->stack);

    if (!str_eq(by, want.last_applied_by))
        blame_author(&findings, &annotations, by, want.last_applied_by);
    if (record->wished && !is_due(record) && !is_given(arena, record, verdict->stack))
        refuse_wish(arena, record, severities, verdict);
    else
        check_receipt(arena, record, verdict->stack, want.receipt, &annotations, &findings);
    verdict_add(arena, &found, severities, verdict);
}
