/* receipt_test.c: of which Stack a receipt is one. */
#include "support/rows.h"

#include "base/limits.h"
#include "stack/decode.h"
#include "stack/default.h"
#include "stack/receipt.h"
#include "support/stack_builder.h"
#include "text/json_write.h"

#define KEY STR("0123456789abcdef0123456789abcdef")

#define META(name) "\"namespace\":\"team\"," name
#define NAMED META("\"name\":\"rag\"")
#define SPEC_OF(chart, rest)                                                                       \
    "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-1\"]},\"charts\":[{\"name\":\"db\","        \
    "\"repo\":\"https://x.io\",\"version\":\"1.0.0\"" chart "}]" rest "}"
#define SPEC SPEC_OF("", "")
#define INLINE(json) SPEC_OF(",\"values\":{\"inline\":" json "}", "")

static const struct {
    const char *says;
    const char *metadata, *spec;             /* as it is judged, by ann of the group dev */
    const char *metadata_then, *spec_then;   /* as it is looked at */
    bool holds;
} rows[] = {
    { "the Stack as it was judged", NAMED, SPEC, NAMED, SPEC, true },
    { "with another label", NAMED, SPEC, NAMED ",\"labels\":{\"a\":\"b\"}", SPEC, true },
    { "with its defaults spelled out", NAMED, SPEC, NAMED,
      SPEC_OF(",\"namespace\":\"db\",\"releaseName\":\"db\",\"wait\":true,\"timeout\":\"10m\"",
              ",\"security\":\"disabled\",\"observability\":\"disabled\",\"drift\":\"Detect\","
              "\"paused\":false,\"rollout\":{\"maxFailures\":-1,\"waves\":[]},\"overrides\":[]"),
      true },
    { "with a null where nothing was", NAMED, SPEC, NAMED, SPEC_OF(",\"timeout\":null", ""), true },
    { "with a field that no Stack has, before an API server prunes it", NAMED, SPEC, NAMED,
      SPEC_OF("", ",\"zzz\":1"), true },
    { "members in another order", NAMED, INLINE("{\"a\":1,\"b\":[{\"c\":2,\"d\":3}]}"), NAMED,
      INLINE("{\"b\":[{\"d\":3,\"c\":2}],\"a\":1}"), true },
    { "numbers written otherwise", NAMED, INLINE("{\"a\":1,\"b\":0.25,\"c\":0,\"d\":-300}"), NAMED,
      INLINE("{\"a\":1.0,\"b\":25e-2,\"c\":0.0,\"d\":-3e2}"), true },
    { "strings escaped otherwise", NAMED, INLINE("{\"a\":\"\\u00e9/\"}"), NAMED,
      INLINE("{\"a\":\"\xc3\xa9\\/\"}"), true },
    { "another name", NAMED, SPEC, META("\"name\":\"rag2\""), SPEC, false },
    { "another namespace", NAMED, SPEC, "\"namespace\":\"other\",\"name\":\"rag\"", SPEC, false },
    { "another release name", NAMED, SPEC, NAMED, SPEC_OF(",\"releaseName\":\"x\"", ""), false },
    { "a default that is no default any more", NAMED, SPEC, NAMED, SPEC_OF("", ",\"paused\":true"),
      false },
    { "an empty list where the default is none", NAMED,
      SPEC_OF("", ",\"observabilityProfile\":{\"tracing\":{\"enabled\":true}}"), NAMED,
      SPEC_OF("", ",\"observabilityProfile\":{\"dashboards\":[]}"), false },
    { "a number instead of a string", NAMED, INLINE("{\"a\":1}"), NAMED, INLINE("{\"a\":\"1\"}"),
      false },
    { "a null that deletes a chart's value", NAMED, INLINE("{\"a\":1}"), NAMED,
      INLINE("{\"a\":1,\"b\":null}"), false },
    { "a list in another order", NAMED, INLINE("{\"a\":[1,2]}"), NAMED, INLINE("{\"a\":[2,1]}"),
      false },
    { "a name that was made of generateName", META("\"generateName\":\"rag-\""), SPEC,
      META("\"generateName\":\"rag-\",\"name\":\"rag-x7k2p\""), SPEC, true },
    { "a name that was not", META("\"generateName\":\"rag-\""), SPEC,
      META("\"generateName\":\"rag-\",\"name\":\"other\""), SPEC, false },
    { "a prefix that is a whole name elsewhere", META("\"name\":\"rag-\""), SPEC,
      META("\"generateName\":\"rag-\",\"name\":\"rag-x7k2p\""), SPEC, false },
};

static const struct stack *stack_of(struct arena *arena, const char *metadata, const char *by,
                                    struct str receipt, const char *spec)
{
    struct strbuf text = strbuf_new(arena, 1024);
    struct problems problems = problems_new(arena);

    strbuf_fmt(&text,
               "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{%s,"
               "\"annotations\":{\"" STACK_LAST_APPLIED_BY "\":\"%s\",\"" STACK_RECEIPT "\":",
               metadata, by);
    json_quote(&text, receipt);
    strbuf_fmt(&text, "}},\"spec\":%s}", spec);
    return stack_default(arena, stack_decode(arena, test_json(arena, strbuf_str(&text)), &problems),
                         NULL);
}

static struct receipt ann(struct arena *arena)
{
    struct receipt receipt = { .by = STR("ann"), .policies = STR("feed") };

    receipt_take_groups(arena, test_json(arena, STR("[\"dev\",\"ops\"]")), &receipt);
    return receipt;
}

static void a_receipt_holds_for_what_was_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct receipt receipt = ann(arena);
        struct receipt found = { .groups_left_out = 0 };
        const struct stack *judged = stack_of(arena, rows[i].metadata, "ann", STR(""), rows[i].spec);
        struct str text = receipt_write(arena, KEY, judged, STR(""), &receipt);
        const struct stack *then =
            stack_of(arena, rows[i].metadata_then, "ann", text, rows[i].spec_then);

        rows_expect_int(rows[i].says, receipt_check(arena, KEY, then, STR(""), &found),
                        rows[i].holds ? RECEIPT_VALID : RECEIPT_WRONG);
        if (!rows[i].holds)
            continue;
        rows_expect_str(rows[i].says, found.by, STR("ann"));
        rows_expect_int(rows[i].says, found.groups.count, 2);
        rows_expect_str(rows[i].says, found.groups.items[1], STR("ops"));
        rows_expect_str(rows[i].says, found.policies, STR("feed"));
    }
}

static const struct {
    const char *says, *by, *from, *to; /* of the text one part is replaced */
} forgeries[] = {
    { "another author", "ann", "\"by\":\"ann\"", "\"by\":\"eve\"" },
    { "another author, with the annotation", "eve", "\"by\":\"ann\"", "\"by\":\"eve\"" },
    { "another author in the annotation alone", "eve", "", "" },
    { "another group", "ann", "\"dev\"", "\"system:masters\"" },
    { "a group more", "ann", "[\"dev\"", "[\"dev\",\"x\"" },
    { "a group less", "ann", "\"dev\",", "" },
    { "groups that had no room", "ann", "],", "],\"more\":1," },
    { "another policy", "ann", "feed", "food" },
    { "a member more", "ann", "{", "{\"x\":1," },
    { "a space more", "ann", "{", "{ " },
    { "half of it", "ann", "\"mac\"", "" },
    { "a list", "ann", "{", "[" },
};

static struct str replaced(struct arena *arena, struct str text, struct str from, struct str to)
{
    ptrdiff_t at = str_find(text, from, 0);
    struct str before = str_slice(text, 0, (size_t)at);
    struct str behind = str_slice(text, (size_t)at + from.len, text.len);

    return str_fmt(arena, "%.*s%.*s%.*s", STR_ARG(before), STR_ARG(to), STR_ARG(behind));
}

static void a_receipt_cannot_be_changed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct receipt receipt = ann(arena);
    struct str text = receipt_write(arena, KEY, stack_of(arena, NAMED, "ann", STR(""), SPEC),
                                    STR(""), &receipt);

    (void)state;
    for (size_t i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
        struct str forged = replaced(arena, text, str_of(forgeries[i].from),
                                     str_of(forgeries[i].to));

        rows_expect_int(forgeries[i].says,
                        receipt_check(arena, KEY,
                                      stack_of(arena, NAMED, forgeries[i].by, forged, SPEC), STR(""), NULL),
                        RECEIPT_WRONG);
    }

    const struct stack *good = stack_of(arena, NAMED, "ann", text, SPEC);

    rows_expect_int("as it is", receipt_check(arena, KEY, good, STR(""), NULL), RECEIPT_VALID);
    rows_expect_int("with another key", receipt_check(arena, STR("other"), good, STR(""), NULL),
                    RECEIPT_WRONG);
    rows_expect_int("without a key", receipt_check(arena, STR(""), good, STR(""), NULL), RECEIPT_WRONG);
    rows_expect_int("none", receipt_check(arena, KEY, stack_of(arena, NAMED, "ann", STR(""), SPEC), STR(""),
                                          NULL),
                    RECEIPT_MISSING);
}

static void groups_without_room_are_counted(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf list = strbuf_new(arena, 65536);
    struct receipt receipt = ann(arena);
    size_t bytes = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        strbuf_fmt(&list, "%s\"activedirectory_group://CN=%04d,OU=AI,DC=example,DC=org\"",
                   i ? "," : "[", i);
    strbuf_lit(&list, "]");
    receipt_take_groups(arena, test_json(arena, strbuf_str(&list)), &receipt);
    for (uint32_t i = 0; i < receipt.groups.count; i++)
        bytes += receipt.groups.items[i].len;
    rows_expect("they are bounded", bytes <= LIMIT_RECEIPT_GROUPS, "bytes");
    rows_expect_int("none is lost", receipt.groups.count + receipt.groups_left_out, 1000);

    struct str text = receipt_write(arena, KEY, stack_of(arena, NAMED, "ann", STR(""), SPEC),
                                    STR(""), &receipt);

    rows_expect_int("and it says how many",
                    receipt_check(arena, KEY, stack_of(arena, NAMED, "ann", text, SPEC), STR(""), &receipt),
                    RECEIPT_VALID);
    rows_expect("some were left out", receipt.groups_left_out > 100, "more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receipt_holds_for_what_was_judged),
        cmocka_unit_test(a_receipt_cannot_be_changed),
        cmocka_unit_test(groups_without_room_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
