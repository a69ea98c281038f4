/* SPDX-License-Identifier: Apache-2.0 */
/* review_builder.c: the checks of an answer are those of the API server:
 * k8s.io/apiserver/pkg/admission/plugin/webhook/request/admissionreview.go. */
#include "support/rows.h"

#include "support/review_builder.h"
#include "support/stack_builder.h"
#include "text/value.h"

struct str a_review(struct arena *arena, const char *uid, const char *operation, struct str object,
                    struct str old_object)
{
    return a_review_by(arena, uid, operation, STR("\"ann\""), object, old_object);
}

/* Of Stacks and StackPolicies alike. */
static struct str review_of(struct arena *arena, const char *kind, const char *plural, const char *namespace_,
                            const char *uid, const char *operation, struct str username, struct str object,
                            struct str old_object)
{
    return str_fmt(
        arena,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":"
        "\"%s\",\"kind\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"kind\":\"%s\"},"
        "\"resource\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"resource\":\"%s\"},"
        "\"requestKind\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"kind\":\"%s\"},"
        "\"requestResource\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"resource\":"
        "\"%s\"},\"name\":\"s\",%s\"operation\":\"%s\",\"userInfo\":"
        "{\"username\":%.*s,\"groups\":[\"system:authenticated\"]},\"object\":%.*s,"
        "\"oldObject\":%.*s,\"dryRun\":false,\"options\":{\"kind\":\"CreateOptions\","
        "\"apiVersion\":\"meta.k8s.io/v1\"}}}",
        uid, kind, plural, kind, plural, namespace_, operation, STR_ARG(username), STR_ARG(object),
        STR_ARG(old_object));
}

struct str a_review_by(struct arena *arena, const char *uid, const char *operation,
                       struct str username, struct str object, struct str old_object)
{
    return review_of(arena, "Stack", "stacks", "\"namespace\":\"default\",", uid, operation, username, object, old_object);
}

struct str a_policy_review(struct arena *arena, const char *uid, const char *operation, struct str username,
                           struct str object, struct str old_object)
{
    return review_of(arena, "StackPolicy", "stackpolicies", "", uid, operation, username, object, old_object);
}

struct json review_response(struct arena *arena, const char *row, struct str answer,
                            const char *uid)
{
    struct json review = test_json(arena, answer);
    struct json response = json_get(review, STR("response"));
    bool has_patch = json_is(json_get(response, STR("patch")), JSON_STRING);
    struct str patch_type = json_str(json_get(response, STR("patchType")));

    rows_expect_str(row, json_str(json_get(review, STR("kind"))), STR("AdmissionReview"));
    rows_expect_str(row, json_str(json_get(review, STR("apiVersion"))), STR("admission.k8s.io/v1"));
    rows_expect_str(row, json_str(json_get(response, STR("uid"))), str_of(uid));
    rows_expect(row, json_is(json_get(response, STR("allowed")), JSON_BOOL), "a verdict");
    rows_expect_str(row, patch_type, has_patch ? STR("JSONPatch") : STR(""));
    if (!json_bool(json_get(response, STR("allowed")))) {
        int64_t code = 0;

        rows_expect(row, json_int64(json_walk(response, "status", "code", NULL), &code), "a code");
        rows_expect(row, code >= 400 && code < 600, "an error's code");
        rows_expect(row, !has_patch, "no patch with a rejection");
        rows_expect(row, json_str(json_walk(response, "status", "message", NULL)).len, "a message");
    }
    return response;
}

bool review_is_preview(struct str warning)
{
    return str_starts(warning, STR("preview: ")) ||
           (str_starts(warning, STR("and ")) &&
            (str_ends(warning, STR(" more line")) || str_ends(warning, STR(" more lines"))));
}

struct str review_without_preview(struct arena *arena, struct str answer)
{
    struct value *review = value_of(arena, test_json(arena, answer));
    struct value *response = value_get(review, STR("response"));
    struct value *kept = value_array(arena);
    const struct value *warnings = value_get(response, STR("warnings"));

    for (const struct value *w = value_first(warnings); w; w = value_next(w))
        if (!review_is_preview(value_text(w)))
            value_append(kept, value_str(arena, value_text(w)));
    value_set(arena, response, STR("warnings"), kept);
    return value_json(arena, review);
}
