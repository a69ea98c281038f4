/* record_test.c: who is recorded, whatever the author writes, and that both routes agree. */
#include "support/rows.h"

#include "support/stack_builder.h"

#include "base/limits.h"
#include "stack/decode.h"
#include "stack/default.h"
#include "stack/receipt.h"
#include "stack/record.h"
#include "text/json_write.h"
#include "text/patch.h"

#define KEY "\"herd.suse.com/last-applied-by\""
#define BY(name) "\"annotations\":{\"a\":\"b\"," KEY ":\"" name "\"}"
#define CHART "\"name\":\"db\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\""
#define REST                                                                                       \
    "\"targets\":{\"clusterIds\":[\"c-1\"]},\"security\":\"disabled\",\"observability\":\"disabled\"," \
    "\"deletionPolicy\":\"Delete\",\"drift\":\"Detect\",\"onFailure\":\"Retry\",\"paused\":false"
#define FULL(version)                                                                              \
    "{\"env\":\"dev\"," REST ",\"charts\":[{\"name\":\"db\",\"repo\":\"https://x.io\",\"version\":\"" version \
    "\",\"namespace\":\"db\",\"releaseName\":\"db\",\"wait\":true,\"timeout\":\"10m\"}]}"
#define SHORT                                                                                      \
    "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-1\"]},\"charts\":[{" CHART "}]}"
/* Members in the order of their names, as the API server writes them. */
#define SORTED(name)                                                                              \
    "{\"charts\":[{\"name\":\"db\",\"releaseName\":" name ",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"}]," \
    "\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-1\"]}}"
#define SHORTER_BY_ENV                                                                             \
    "{\"targets\":{\"clusterIds\":[\"c-1\"]},\"charts\":[{" CHART "}]}"

struct side {
    const char *metadata, *spec; /* NULL: there is no such object */
};

static const struct {
    const char *says;
    struct side old, now;
    const char *user, *recorded; /* by whom, and who stands there in the end; "" = nobody */
} changes[] = {
    { "a new Stack gets its author", { NULL, NULL }, { "", SHORT }, "ann", "ann" },
    { "also beside other annotations", { NULL, NULL }, { "\"annotations\":{\"a\":\"b\"}", SHORT },
      "ann", "ann" },
    { "also where annotations are null", { NULL, NULL }, { "\"annotations\":null", SHORT }, "ann",
      "ann" },
    { "whoever it says it is by", { NULL, NULL }, { BY("bob"), SHORT }, "ann", "ann" },
    { "whatever stands in its place", { NULL, NULL },
      { "\"annotations\":{" KEY ":null}", SHORT }, "ann", "ann" },
    { "of nobody nothing is said", { NULL, NULL }, { BY("bob"), SHORT }, "", "" },
    { "a changed spec gets the user who changed it", { BY("bob"), FULL("1.0.0") },
      { BY("bob"), FULL("1.0.1") }, "ann", "ann" },
    { "whoever else it names", { BY("bob"), FULL("1.0.0") }, { BY("eve"), FULL("1.0.1") }, "ann",
      "ann" },
    { "a label keeps the author", { BY("bob"), FULL("1.0.0") },
      { "\"labels\":{\"x\":\"y\"}," BY("bob"), FULL("1.0.0") }, "ann", "bob" },
    { "an edit of the annotation is undone", { BY("bob"), FULL("1.0.0") },
      { BY("ann"), FULL("1.0.0") }, "ann", "bob" },
    { "so is its removal", { BY("bob"), FULL("1.0.0") },
      { "\"annotations\":{\"a\":\"b\"}", FULL("1.0.0") }, "ann", "bob" },
    { "and that of all annotations", { BY("bob"), FULL("1.0.0") }, { "", FULL("1.0.0") }, "ann",
      "bob" },
    { "one that nobody recorded cannot be added", { "", FULL("1.0.0") },
      { BY("ann"), FULL("1.0.0") }, "ann", "" },
    { "a spec without its defaults is the same spec", { BY("bob"), FULL("1.0.0") },
      { BY("bob"), SHORT }, "ann", "bob" },
    { "and so is a stored one that had none", { BY("bob"), SHORT }, { BY("bob"), FULL("1.0.0") },
      "ann", "bob" },
    { "or has none yet", { BY("bob"), SHORT }, { BY("bob"), SHORT }, "ann", "bob" },
    { "a null where the default comes is the same spec", { BY("bob"), SORTED("null") },
      { BY("bob"), SORTED("\"db\"") }, "ann", "bob" },
    { "also where it came before", { BY("bob"), SORTED("\"db\"") }, { BY("bob"), SORTED("null") },
      "ann", "bob" },
    { "a null where another value was is a change", { BY("bob"), SORTED("\"x\"") },
      { BY("bob"), SORTED("null") }, "ann", "ann" },
    { "a default that was another value is a change", { BY("bob"), FULL("1.0.1") },
      { BY("bob"), SHORT }, "ann", "ann" },
    { "a field less is a change where it has no default", { BY("bob"), SHORT },
      { BY("bob"), SHORTER_BY_ENV }, "ann", "ann" },
    { "an old object that is none makes the Stack a new one", { NULL, "[]" }, { BY("bob"), SHORT },
      "ann", "ann" },
};

static struct json object_of(struct arena *arena, const struct side *side)
{
    if (!side->spec)
        return (struct json){ NULL, 0 };
    if (!side->metadata)
        return test_json(arena, str_of(side->spec));
    return test_json(arena,
                     str_fmt(arena,
                             "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{"
                             "\"name\":\"a\"%s%s},\"spec\":%s}",
                             *side->metadata ? "," : "", side->metadata, side->spec));
}

enum route { MUTATE, VALIDATE };

static struct verdict asked(struct arena *arena, struct recording of, enum route route)
{
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct verdict verdict = stack_judge(arena, of.object, of.old_object, &facts, &severities);
    struct record record = record_begin(arena, &of, &verdict);

    if (route == MUTATE)
        record_write(arena, &record, &severities, &verdict);
    else
        record_check(arena, &record, &severities, &verdict);
    return verdict;
}

static struct json patched(struct arena *arena, const char *row, struct json object,
                           struct str patch)
{
    struct value *result;
    struct error err;

    if (!patch.len)
        return object;
    if (patch_apply(arena, value_of(arena, object), patch, &result, &err) < 0)
        fail_msg("%s: %s\n%.*s", row, err.text, STR_ARG(patch));
    return test_json(arena, value_json(arena, result));
}

static struct str recorded_in(struct json object)
{
    return json_str(json_walk(object, "metadata", "annotations", STACK_LAST_APPLIED_BY, NULL));
}

static void both_routes_agree_on_who_it_was(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const char *row = changes[i].says;
        struct recording change = { .object = object_of(arena, &changes[i].now),
                                    .old_object = object_of(arena, &changes[i].old),
                                    .username = str_of(changes[i].user) };
        bool true_before = str_eq(recorded_in(change.object), str_of(changes[i].recorded));
        struct verdict unasked = asked(arena, change, VALIDATE);
        struct verdict verdict = asked(arena, change, MUTATE);

        rows_expect(row, unasked.allowed == true_before, "refused unless it says so already");
        rows_expect(row, verdict.allowed, "allowed");
        change.object = patched(arena, row, change.object, verdict.patch);
        rows_expect_str(row, recorded_in(change.object), str_of(changes[i].recorded));
        rows_expect_str(row, asked(arena, change, MUTATE).patch, STR(""));
        rows_expect(row, asked(arena, change, VALIDATE).allowed, "allowed in the end");
    }
}

static void a_forged_author_is_refused_in_words(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct side now = { BY("bob"), FULL("1.0.1") };
    struct side old = { BY("ann"), FULL("1.0.1") };
    struct recording change = { .object = object_of(arena, &now),
                                .old_object = object_of(arena, &old),
                                .username = STR("bob") };
    struct verdict verdict = asked(arena, change, VALIDATE);

    (void)state;
    rows_expect_str("the finding", findings_text(arena, &verdict.problems),
                    STR("!who.applied metadata.annotations[herd.suse.com/last-applied-by]"));
    rows_expect("its words",
                str_find(verdict.message,
                         STR("it says that 'bob' changed the spec last, and that was 'ann'"), 0) >= 0,
                "name both");
    change.object = object_of(arena, &(struct side){ "", FULL("1.0.1") });
    verdict = asked(arena, change, VALIDATE);
    rows_expect("and of one that is gone",
                str_find(verdict.message, STR("it says that nobody changed the spec last"), 0) >= 0,
                "it says so");
}

/* --- receipts --- */

#define RECEIPTS STR("0123456789abcdef0123456789abcdef")
#define FAULTY FULL("no.version")
#define FAULTY_TOO                                                                                 \
    "{\"env\":\"prod\"," REST ",\"charts\":[{\"name\":\"db\",\"repo\":\"https://x.io\",\"version\":"  \
    "\"no.version\"}]}"

enum proof { NONE, VALID, FORGED, OLD };

static const struct {
    const char *says;
    const char *old;          /* its spec; NULL: the Stack is new */
    enum proof had;         /* VALID: judged when bob applied it */
    const char *now;          /* the spec that is asked for, by ann */
    enum proof shown;       /* what stands in the annotation; OLD: what stood there before */
    bool lacks_rights;        /* of ann is known that she may not */
    enum proof gets;        /* VALID: a new one, for ann */
    const char *by;           /* who is recorded in the end; NULL: the update is refused */
    bool warned;              /* that there is none */
} judged[] = {
    { "a new Stack gets one", NULL, NONE, SHORT, NONE, false, VALID, "ann", false },
    { "whatever stands there", NULL, NONE, SHORT, FORGED, false, VALID, "ann", false },
    { "another spec gets another", FULL("1.0.0"), VALID, FULL("1.0.1"), OLD, false, VALID, "ann",
      false },
    { "the same spec keeps it", FULL("1.0.0"), VALID, FULL("1.0.0"), OLD, false, OLD, "bob",
      false },
    { "also without its defaults", FULL("1.0.0"), VALID, SHORT, OLD, false, OLD, "bob", false },
    { "it cannot be changed", FULL("1.0.0"), VALID, FULL("1.0.0"), FORGED, false, OLD, "bob",
      false },
    { "nor removed", FULL("1.0.0"), VALID, FULL("1.0.0"), NONE, false, OLD, "bob", false },
    { "also by who lacks the rights", FULL("1.0.0"), VALID, FULL("1.0.0"), NONE, true, OLD, "bob",
      false },
    { "one that nobody judged is judged when it is asked for", FULL("1.0.0"), NONE, FULL("1.0.0"),
      FORGED, false, VALID, "ann", false },
    { "but not for who lacks the rights", FULL("1.0.0"), NONE, FULL("1.0.0"), FORGED, true, NONE,
      NULL, false },
    { "nor with a fault", FAULTY, NONE, FAULTY, FORGED, false, NONE, NULL, false },
    { "who does not ask for it does not vouch for it", FULL("1.0.0"), NONE, FULL("1.0.0"), NONE,
      false, NONE, "bob", false },
    { "nor for one that was forged", FULL("1.0.0"), FORGED, FULL("1.0.0"), OLD, false, OLD, "bob",
      false },
    { "and is not kept from it by a fault", FAULTY, NONE, FAULTY, NONE, false, NONE, "bob", false },
    { "nor by missing rights", FULL("1.0.0"), NONE, FULL("1.0.0"), NONE, true, NONE, "bob", false },
    { "another spec is let pass with a fault of before, without a receipt", FAULTY, NONE,
      FAULTY_TOO, NONE, false, NONE, "ann", true },
    { "with one, where the fault came after the judgement", FAULTY, VALID, FAULTY_TOO, OLD, false,
      VALID, "ann", false },
    { "it does where it was judged: the rule came later", FAULTY, VALID, FAULTY, OLD, false, OLD,
      "bob", false },
};

static struct json with_receipt(struct arena *arena, const char *spec, const char *by,
                                struct str receipt)
{
    struct strbuf text = strbuf_new(arena, 1024);

    if (!spec)
        return (struct json){ NULL, 0 };
    strbuf_fmt(&text,
               "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
               "\"a\",\"namespace\":\"team\",\"annotations\":{" KEY ":\"%s\"",
               by);
    if (receipt.len) {
        strbuf_lit(&text, ",\"" STACK_RECEIPT "\":");
        json_quote(&text, receipt);
    }
    strbuf_fmt(&text, "}},\"spec\":%s}", spec);
    return test_json(arena, strbuf_str(&text));
}

static struct str receipt_of(struct arena *arena, enum proof which, const char *spec,
                             struct str before)
{
    struct receipt receipt = { .by = STR("bob"), .policies = STR("") };
    struct problems ignored = problems_new(arena);

    if (which == NONE || which == OLD)
        return which == OLD ? before : STR("");
    if (which == FORGED)
        return STR("wanted");

    struct json object = with_receipt(arena, spec, "bob", STR(""));

    return receipt_write(arena, RECEIPTS,
                         stack_default(arena, stack_decode(arena, object, &ignored), NULL), STR(""),
                         &receipt);
}

static struct verdict asked_with_key(struct arena *arena, const struct recording *of,
                                     bool lacks_rights, enum route route)
{
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct verdict verdict = stack_judge(arena, of->object, of->old_object, &facts, &severities);
    struct record record = record_begin(arena, of, &verdict);

    if (record_needs_user(&record) && lacks_rights)
        record.in_the_way = STR("ann may not");
    if (route == MUTATE)
        record_write(arena, &record, &severities, &verdict);
    else
        record_check(arena, &record, &severities, &verdict);
    return verdict;
}

static enum proof kind_of(struct arena *arena, const struct recording *of, struct json object,
                            struct str before)
{
    struct str text = json_str(json_walk(object, "metadata", "annotations", STACK_RECEIPT, NULL));
    struct problems ignored = problems_new(arena);
    const struct stack *stack = stack_default(arena, stack_decode(arena, object, &ignored), NULL);
    struct receipt receipt;

    if (text.len && str_eq(text, before))
        return OLD;
    if (receipt_check(arena, of->receipt_key, stack, STR(""), &receipt) != RECEIPT_VALID)
        return text.len ? FORGED : NONE;
    return str_eq(receipt.by, STR("ann")) && receipt.groups.count == 1 ? VALID : FORGED;
}

static struct json annotations_of(struct json object)
{
    return json_walk(object, "metadata", "annotations", NULL);
}

static void receipts_are_given_and_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(judged) / sizeof(judged[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const char *row = judged[i].says;
        struct str before = receipt_of(arena, judged[i].had, judged[i].old, STR(""));
        struct str shown = receipt_of(arena, judged[i].shown, judged[i].now, before);
        struct recording of = { .object = with_receipt(arena, judged[i].now, "bob", shown),
                                .old_object = with_receipt(arena, judged[i].old, "bob", before),
                                .username = STR("ann"),
                                .groups = test_json(arena, STR("[\"dev\"]")),
                                .receipt_key = RECEIPTS };
        bool lacks = judged[i].lacks_rights;
        struct verdict unasked = asked_with_key(arena, &of, lacks, VALIDATE);
        struct verdict verdict = asked_with_key(arena, &of, lacks, MUTATE);
        struct json asked_for = of.object;

        rows_expect(row, verdict.allowed == (judged[i].by != NULL), "allowed or refused");
        if (!judged[i].by) {
            rows_expect(row, !unasked.allowed, "refused by both");
            continue;
        }
        of.object = patched(arena, row, of.object, verdict.patch);

        bool true_before = json_equal(annotations_of(asked_for), annotations_of(of.object));

        rows_expect_int(row, kind_of(arena, &of, of.object, before), judged[i].gets);
        rows_expect_str(row, recorded_in(of.object), str_of(judged[i].by));
        rows_expect_str(row, asked_with_key(arena, &of, lacks, MUTATE).patch, STR(""));
        rows_expect(row, unasked.allowed == true_before, "refused unless it says so already");
        verdict = asked_with_key(arena, &of, lacks, VALIDATE);
        rows_expect(row, verdict.allowed, "allowed in the end");
        rows_expect(row,
                    (str_find(findings_text(arena, &verdict.problems), STR("who.unjudged"), 0) >=
                     0) == judged[i].warned,
                    "warned that there is no receipt, or not");
    }
}

/* Two servers may know different things: what one of them gave, the other takes. */
static void a_receipt_of_another_server_is_taken(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct recording of = { .object = with_receipt(arena, SHORT, "bob", STR("wanted")),
                            .old_object = with_receipt(arena, SHORT, "bob", STR("")),
                            .username = STR("ann"),
                            .groups = test_json(arena, STR("[\"dev\"]")),
                            .receipt_key = RECEIPTS };
    struct verdict verdict = asked_with_key(arena, &of, false, MUTATE);
    struct json object = of.object;

    (void)state;
    of.object = patched(arena, "mutated", object, verdict.patch);
    verdict = asked_with_key(arena, &of, true, VALIDATE);
    rows_expect("given, though the other would not have", verdict.allowed, "allowed");
    of.username = STR("eve");
    verdict = asked_with_key(arena, &of, false, VALIDATE);
    rows_expect("to another user", !verdict.allowed, "refused");
    of.username = STR("ann");
    of.object = object;
    of.receipt_key = STR("another key");
    of.object = patched(arena, "mutated", object,
                        asked_with_key(arena, &of, false, MUTATE).patch);
    of.receipt_key = RECEIPTS;
    verdict = asked_with_key(arena, &of, false, VALIDATE);
    rows_expect_str("of another key", findings_text(arena, &verdict.problems),
                    STR("!who.receipt metadata.annotations[herd.suse.com/receipt]"));
}

static const struct {
    const char *says, *username, *name;
} names[] = {
    { "a service account", "system:serviceaccount:a:b", "system:serviceaccount:a:b" },
    { "a domain's user", "CORP\\ann", "CORP\\ann" },
    { "UTF-8", "Andr\xc3\xa9", "Andr\xc3\xa9" },
    { "control characters", "a\nb\x1b[1m\x7f\xc2\x9b", "a\\x0ab\\x1b[1m\\x7f\\x9b" },
    { "what looks like an escape is told from one", "a\\x0ab", "a\\x5cx0ab" },
    { "and what looks like a cut", "a\\...", "a\\x5c..." },
};

static void a_name_is_escaped_so_that_no_two_are_one(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    char *longest = arena_bytes(arena, 5000);
    struct str cut;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        rows_expect_str(names[i].says, record_name(arena, str_of(names[i].username)),
                        str_of(names[i].name));
    memset(longest, 'x', 4999);
    cut = record_name(arena, str_make(longest, 4999));
    rows_expect("a very long name is cut", cut.len <= LIMIT_USERNAME_BYTES + 4, "to the bound");
    rows_expect("as no whole name ends", str_ends(cut, STR("x\\...")), "with a mark");
    for (size_t i = 0; i < 4998; i += 2)
        memcpy(longest + i, "\xc3\xa9", 2);
    cut = record_name(arena, str_make(longest, 4998));
    rows_expect("between characters", str_ends(cut, STR("\xc3\xa9\\...")), "not within one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_routes_agree_on_who_it_was),
        cmocka_unit_test(a_forged_author_is_refused_in_words),
        cmocka_unit_test(receipts_are_given_and_kept),
        cmocka_unit_test(a_receipt_of_another_server_is_taken),
        cmocka_unit_test(a_name_is_escaped_so_that_no_two_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
