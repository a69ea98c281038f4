/* admission_test.c: reviews in, answers out, byte for byte. */
#include "support/rows.h"

#include "kube/admission.h"
#include "kube/apistatus.h"
#include "text/base64.h"

#define REVIEW(request)                                                                            \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":" request "}"
#define RESOURCE "\"resource\":{\"group\":\"g\",\"version\":\"v1\",\"resource\":\"stacks\"}"

static void reads_a_review(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct admission_request r;
    struct error err;
    struct str body = STR(REVIEW(
        "{\"uid\":\"u1\",\"kind\":{\"group\":\"g\",\"version\":\"v1\",\"kind\":\"Stack\"}," RESOURCE
        ",\"subResource\":\"status\",\"name\":\"a\",\"namespace\":\"n\",\"operation\":\"UPDATE\","
        "\"userInfo\":{\"username\":\"me\",\"uid\":\"x\",\"groups\":[\"dev\"]},"
        "\"object\":{\"a\":1},\"oldObject\":null,\"dryRun\":true,\"later\":{}}"));

    assert_int_equal(admission_read(arena, body, &r, &err), 0);
    rows_expect_str("uid", r.uid, STR("u1"));
    rows_expect_str("kind", r.resource.kind, STR("Stack"));
    rows_expect_str("plural", r.resource.plural, STR("stacks"));
    rows_expect_str("sub", r.sub_resource, STR("status"));
    rows_expect_str("user", r.username, STR("me"));
    rows_expect_int("groups", json_count(r.groups), 1);
    rows_expect_int("operation", r.operation, ADMISSION_UPDATE);
    rows_expect_str("object", json_raw(r.object), STR("{\"a\":1}"));
    rows_expect_int("old", json_kind(r.old_object), JSON_NULL);
    assert_true(r.dry_run);
    (void)state;
}

static void refuses_what_is_no_review(void **state)
{
    static const struct {
        const char *body;
        const char *field;
    } rows[] = {
        { "", "" },
        { "{}", "" },
        { "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\"}", "" },
        { REVIEW("1"), "request" },
        { REVIEW("{" RESOURCE ",\"operation\":\"CREATE\"}"), "request.uid" },
        { REVIEW("{\"uid\":\"u\",\"operation\":\"CREATE\"}"), "request.resource" },
        { REVIEW("{\"uid\":\"u\"," RESOURCE ",\"operation\":\"create\"}"), "request.operation" },
        { REVIEW("{\"uid\":7," RESOURCE ",\"operation\":\"CREATE\"}"), "request.uid" },
        { REVIEW("{\"uid\":\"u\",\"resource\":[],\"operation\":\"CREATE\"}"), "request.resource" },
        { REVIEW("{\"uid\":\"u\"," RESOURCE ",\"operation\":\"CREATE\",\"dryRun\":\"no\"}"), "request.dryRun" },
        { REVIEW("{\"uid\":\"u\"," RESOURCE ",\"operation\":\"CREATE\",\"userInfo\":{\"username\":7}}"),
          "request.userInfo.username" },
        { REVIEW("{\"uid\":\"u\"," RESOURCE ",\"operation\":\"CREATE\",\"userInfo\":{\"groups\":[\"a\",7]}}"),
          "request.userInfo.groups" },
        { REVIEW("{\"uid\":\"u\"," RESOURCE ",\"operation\":\"CREATE\",\"userInfo\":{\"extra\":{\"a\":\"b\"}}}"),
          "request.userInfo.extra" },
        { REVIEW("{\"uid\":\"u\",\"uid\":\"v\"," RESOURCE ",\"operation\":\"CREATE\"}"), "" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct admission_request r;
        struct error err = { 0 };

        rows_expect_int(rows[i].body, admission_read(arena, str_of(rows[i].body), &r, &err), -1);
        rows_expect_str(rows[i].body, str_of(err.field), str_of(rows[i].field));
    }
    (void)state;
}

static struct str written(struct arena *arena, const struct admission_answer *answer)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json root;
    struct error err;

    admission_write(answer, &out);
    if (json_read(arena, strbuf_str(&out), &json_limits_default, &root, &err) < 0)
        fail_msg("no JSON: %s: %s", strbuf_str(&out).at, err.text);
    return strbuf_str(&out);
}

#define ANSWER(response)                                                                           \
    STR("{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"response\":"       \
        response "}")

static void writes_answers(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct admission_answer answer = { .uid = STR("u"), .allowed = true, .patch = STR("[]") };

    rows_expect_str("allowed", written(arena, &answer),
                    ANSWER("{\"uid\":\"u\",\"allowed\":true}"));
    answer.patch = STR("[1]");
    answer.audit = str_list_new(arena, 2);
    str_list_push(&answer.audit, STR("k"));
    str_list_push(&answer.audit, STR("v"));
    admission_warn(&answer, arena, STR("mind\nthis"));
    rows_expect_str("with a patch", written(arena, &answer),
                    ANSWER("{\"uid\":\"u\",\"allowed\":true,\"patch\":\"WzFd\",\"patchType\":"
                           "\"JSONPatch\",\"warnings\":[\"mind\\\\x0athis\"],"
                           "\"auditAnnotations\":{\"k\":\"v\"}}"));
    problems_add(&problems, (struct problem){ .field = STR("spec.a"), .message = STR("bad"),
                                              .way_out = STR("do b"), .severity = SEVERITY_DENY });
    problems_add(&problems, (struct problem){ .field = STR("spec.w"), .message = STR("hm"),
                                              .severity = SEVERITY_WARN });
    answer = (struct admission_answer){ .uid = STR("u"), .code = 422, .reason = STR("Invalid"),
                                        .message = STR("no"), .causes = &problems,
                                        .resource = { .group = STR("g"), .kind = STR("Stack") },
                                        .name = STR("n"), .patch = STR("[1]") };
    rows_expect_str("refused, and never with a patch", written(arena, &answer),
                    ANSWER("{\"uid\":\"u\",\"allowed\":false,\"status\":{\"kind\":\"Status\","
                           "\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                           "\"message\":\"no\",\"reason\":\"Invalid\",\"details\":{\"name\":\"n\","
                           "\"group\":\"g\",\"kind\":\"Stack\",\"causes\":[{\"reason\":"
                           "\"FieldValueInvalid\",\"message\":\"bad; do b\",\"field\":\"spec.a\"}]}"
                           ",\"code\":422}}"));
    answer = (struct admission_answer){ .uid = STR("u"), .code = 200 };
    rows_expect("a refusal never carries a good code",
                str_find(written(arena, &answer), STR("\"code\":403"), 0) > 0, "403");
    (void)state;
}

static void warnings_stay_within_what_is_shown(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct admission_answer answer = { .allowed = true };
    char text[1000];
    size_t bytes = 0;

    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 100; i++)
        admission_warn(&answer, arena, str_make(text, sizeof(text)));
    for (uint32_t i = 0; i < answer.warnings.count; i++) {
        assert_true(answer.warnings.items[i].len <= 256);
        bytes += answer.warnings.items[i].len;
    }
    assert_true(bytes <= 4096);
    rows_expect_str("the last counts the rest", answer.warnings.items[answer.warnings.count - 1],
                    str_fmt(arena, "and %u more warnings", 101 - answer.warnings.count));
    (void)state;
}

/* "w2 n1": two warnings and a note; "+" and the last line where that counts. */
static struct str noted(struct arena *arena, int warnings, int notes, size_t bytes)
{
    struct admission_answer answer = { .allowed = true };
    struct str_list list = str_list_new(arena, 0);
    struct strbuf text = strbuf_new(arena, 256);
    uint32_t count[2] = { 0, 0 };

    for (size_t i = 0; i < bytes - 1; i++)
        strbuf_char(&text, 'x');
    for (int i = 0; i < warnings; i++)
        admission_warn(&answer, arena, str_fmt(arena, "w%s", strbuf_str(&text).at));
    for (int i = 0; i < notes; i++)
        str_list_push(&list, str_fmt(arena, "n%s", strbuf_str(&text).at));
    admission_note(&answer, arena, &list);

    struct str last = answer.warnings.count ? answer.warnings.items[answer.warnings.count - 1]
                                            : STR("");

    for (uint32_t i = 0; i < answer.warnings.count; i++) {
        bytes += answer.warnings.items[i].len;
        if (!str_starts(answer.warnings.items[i], STR("and ")))
            count[answer.warnings.items[i].at[0] == 'n']++;
    }
    assert_true(bytes <= 4096 + 256);
    return str_fmt(arena, "w%u n%u%s%.*s", count[0], count[1],
                   str_starts(last, STR("and ")) ? " + " : "",
                   str_starts(last, STR("and ")) ? (int)last.len : 0, last.at);
}

static void notes_take_what_room_is_left(void **state)
{
    static const struct {
        const char *says;
        int warnings, notes;
        const char *want;
    } rows[] = {
        { "nothing", 0, 0, "w0 n0" },
        { "all fit", 3, 2, "w3 n2" },
        { "warnings are all told, notes as far as they go", 18, 5, "w18 n2 + and 3 more lines" },
        { "no room for a note", 20, 1, "w20 n0 + and 1 more line" },
        { "where a warning was left out no note is told", 30, 5, "w20 n0 + and 10 more warnings" },
        { "notes alone", 0, 30, "w0 n20 + and 10 more lines" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_str(rows[i].says, noted(arena, rows[i].warnings, rows[i].notes, 200),
                        str_of(rows[i].want));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_review),
        cmocka_unit_test(refuses_what_is_no_review),
        cmocka_unit_test(writes_answers),
        cmocka_unit_test(warnings_stay_within_what_is_shown),
        cmocka_unit_test(notes_take_what_room_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
