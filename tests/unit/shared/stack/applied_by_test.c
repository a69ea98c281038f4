/* applied_by_test.c: who is recorded, whatever the author writes, and that both routes agree. */
#include "support/rows.h"

#include "support/stack_builder.h"

#include "base/limits.h"
#include "stack/applied_by.h"
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
      { "\"annotations\":{" KEY ":7}", SHORT }, "ann", "ann" },
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

static struct verdict asked(struct arena *arena, struct stack_change change,
                            void (*route)(struct arena *, const struct stack_change *,
                                          struct verdict *))
{
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct verdict verdict =
        stack_judge(arena, change.object, change.old_object, &facts, &severities);

    route(arena, &change, &verdict);
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
        struct stack_change change = { object_of(arena, &changes[i].now),
                                       object_of(arena, &changes[i].old), str_of(changes[i].user) };
        bool true_before = str_eq(recorded_in(change.object), str_of(changes[i].recorded));
        struct verdict unasked = asked(arena, change, applied_by_check);
        struct verdict verdict = asked(arena, change, applied_by_write);

        rows_expect(row, unasked.allowed == true_before, "refused unless it says so already");
        rows_expect(row, verdict.allowed, "allowed");
        change.object = patched(arena, row, change.object, verdict.patch);
        rows_expect_str(row, recorded_in(change.object), str_of(changes[i].recorded));
        rows_expect_str(row, asked(arena, change, applied_by_write).patch, STR(""));
        rows_expect(row, asked(arena, change, applied_by_check).allowed, "allowed in the end");
    }
}

static void a_forged_author_is_refused_in_words(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct side now = { BY("bob"), FULL("1.0.1") };
    struct side old = { BY("ann"), FULL("1.0.1") };
    struct stack_change change = { object_of(arena, &now), object_of(arena, &old), STR("bob") };
    struct verdict verdict = asked(arena, change, applied_by_check);

    (void)state;
    rows_expect_str("the finding", findings_text(arena, &verdict.problems),
                    STR("!who.applied metadata.annotations[herd.suse.com/last-applied-by]"));
    rows_expect("its words",
                str_find(verdict.message,
                         STR("it says that 'bob' changed the spec last, and that was 'ann'"), 0) >= 0,
                "name both");
    change.object = object_of(arena, &(struct side){ "", FULL("1.0.1") });
    verdict = asked(arena, change, applied_by_check);
    rows_expect("and of one that is gone",
                str_find(verdict.message, STR("it says that nobody changed the spec last"), 0) >= 0,
                "it says so");
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
        rows_expect_str(names[i].says, applied_by_name(arena, str_of(names[i].username)),
                        str_of(names[i].name));
    memset(longest, 'x', 4999);
    cut = applied_by_name(arena, str_make(longest, 4999));
    rows_expect("a very long name is cut", cut.len <= LIMIT_USERNAME_BYTES + 4, "to the bound");
    rows_expect("as no whole name ends", str_ends(cut, STR("x\\...")), "with a mark");
    for (size_t i = 0; i < 4998; i += 2)
        memcpy(longest + i, "\xc3\xa9", 2);
    cut = applied_by_name(arena, str_make(longest, 4998));
    rows_expect("between characters", str_ends(cut, STR("\xc3\xa9\\...")), "not within one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_routes_agree_on_who_it_was),
        cmocka_unit_test(a_forged_author_is_refused_in_words),
        cmocka_unit_test(a_name_is_escaped_so_that_no_two_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
