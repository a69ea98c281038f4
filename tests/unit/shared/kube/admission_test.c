/* SPDX-License-Identifier: Apache-2.0 */
/* admission_test.c: reviews in, answers out, byte for byte. */
#include "support/rows.h"

#include "kube/admission.h"
#include "kube/apistatus.h"
#include "text/base64.h"

#include <stdlib.h>

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

static void rejects_what_is_no_review(void **state)
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
        { REVIEW("{\"uid\":\"u\",\"uid\":\"v\"," RESOURCE ",\"operation\":\"CREATE\"}"), "request" },
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

#define TEN(text) text text text text text text text text text text
#define WHO "\"uid\":\"u-1\"," RESOURCE ",\"name\":\"s\",\"namespace\":\"n\",\"operation\":\"CREATE\"," \
    "\"userInfo\":{\"username\":\"ann\"}"

static void identifies_what_it_cannot_read(void **state)
{
    static const struct {
        const char *row, *body, *want; /* "uid plural namespace/name operation user"; "": not */
    } rows[] = {
        { "nesting", REVIEW("{" WHO ",\"object\":" TEN(TEN("[")) TEN(TEN("]")) "}"), "u-1 stacks n/s CREATE ann" },
        { "what is cut off within the object", REVIEW("{" WHO ",\"object\":{\"a\":["), "u-1 stacks n/s CREATE ann" },
        { "an object before the uid", REVIEW("{\"object\":{\"a\":[1,\"}]\\\"\"],\"uid\":\"x\"}," WHO "}"),
          "u-1 stacks n/s CREATE ann" },
        { "bytes that are not UTF-8", REVIEW("{" WHO ",\"object\":\"\xff\"}"), "u-1 stacks n/s CREATE ann" },
        { "space wherever it may be", " {\n\"kind\" : \"AdmissionReview\" , \"apiVersion\":\"admission.k8s.io/v1\"\t,"
          "\"request\" :\r\n{ \"uid\" : \"u\" } }", "u  /  " },
        { "bytes behind it", REVIEW("{" WHO "}") "x", "u-1 stacks n/s CREATE ann" },
        { "the last of two counts", REVIEW("{\"uid\":\"u\",\"uid\":\"v\"}"), "v  /  " },
        { "a member of another type", REVIEW("{\"uid\":\"u\",\"operation\":7,\"userInfo\":[]}"), "u  /  " },
        { "names with escapes are left out", REVIEW("{\"uid\":\"u\",\"name\":\"a\\u0062\"}"), "u  /  " },
        { "no uid", REVIEW("{" RESOURCE "}"), "" },
        { "an empty uid", REVIEW("{\"uid\":\"\"}"), "" },
        { "a uid with an escape", REVIEW("{\"uid\":\"a\\u0062\"}"), "" },
        { "a uid with a control character", REVIEW("{\"uid\":\"a\nb\"}"), "" },
        { "a uid that is cut off", REVIEW("{\"uid\":\"abc"), "" },
        { "a uid of 260 bytes", REVIEW("{\"uid\":\"" TEN(TEN("ab")) TEN("abcdef") "\"}"), "" },
        { "a uid of the object alone", REVIEW("{\"object\":{\"uid\":\"u\"}}"), "" },
        { "a uid outside the request", "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"uid\":\"u\"}", "" },
        { "another version", "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\",\"request\":{\"uid\":\"u\"}}", "" },
        { "another kind", "{\"kind\":\"Status\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":\"u\"}}", "" },
        { "no JSON", "nonsense", "" },
        { "a list", "[{\"uid\":\"u\"}]", "" },
        { "a quote alone", "\"", "" },
        { "a brace alone", "{", "" },
        { "nothing", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        /* On the heap with nothing behind, so that a read too far is seen. */
        size_t bytes = strlen(rows[i].body);
        char *exact = malloc(bytes ? bytes : 1);
        struct admission_request r;
        struct str got = STR("");

        memcpy(exact, rows[i].body, bytes);
        if (admission_identify(str_make(exact, bytes), &r))
            got = str_fmt(arena, "%.*s %.*s %.*s/%.*s %.*s %.*s", STR_ARG(r.uid),
                          STR_ARG(r.resource.plural), STR_ARG(r.namespace_), STR_ARG(r.name),
                          STR_ARG(r.operation_name), STR_ARG(r.username));
        free(exact);
        rows_expect_str(rows[i].row, got, str_of(rows[i].want));
    }
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
                                              .remedy = STR("do b"), .severity = SEVERITY_DENY });
    problems_add(&problems, (struct problem){ .field = STR("spec.w"), .message = STR("hm"),
                                              .severity = SEVERITY_WARN });
    answer = (struct admission_answer){ .uid = STR("u"), .code = 422, .reason = STR("Invalid"),
                                        .message = STR("no"), .causes = &problems,
                                        .resource = { .group = STR("g"), .kind = STR("Stack") },
                                        .name = STR("n"), .patch = STR("[1]") };
    rows_expect_str("rejected, and never with a patch", written(arena, &answer),
                    ANSWER("{\"uid\":\"u\",\"allowed\":false,\"status\":{\"kind\":\"Status\","
                           "\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                           "\"message\":\"no\",\"reason\":\"Invalid\",\"details\":{\"name\":\"n\","
                           "\"group\":\"g\",\"kind\":\"Stack\",\"causes\":[{\"reason\":"
                           "\"FieldValueInvalid\",\"message\":\"bad; do b\",\"field\":\"spec.a\"}]}"
                           ",\"code\":422}}"));
    answer = (struct admission_answer){ .uid = STR("u"), .code = 200 };
    rows_expect("a rejection never carries a good code",
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
        cmocka_unit_test(rejects_what_is_no_review),
        cmocka_unit_test(identifies_what_it_cannot_read),
        cmocka_unit_test(writes_answers),
        cmocka_unit_test(warnings_stay_within_what_is_shown),
        cmocka_unit_test(notes_take_what_room_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
