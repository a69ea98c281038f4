/* SPDX-License-Identifier: Apache-2.0 */
/* review_laws.c: a table of laws over one trial.
 *
 * The checks of an answer are those of the API server:
 * k8s.io/apiserver/pkg/admission/plugin/webhook/request/admissionreview.go. */
#include "support/review_laws.h"

#include "support/review_builder.h"

#include "kube/meta.h"
#include "stack/rules/admit_workload.h"
#include "stack/rules/validate.h"
#include "text/base64.h"
#include "text/patch.h"

/* One body, its answer, and both read. What is no JSON is absent. */
struct trial {
    const struct review_world *world;
    struct arena *arena;
    enum review_route route;
    struct str body;
    struct str kept; /* the body as it was sent */
    struct review_attempt attempt;
    struct json request;
    struct json response;
    struct str patch;   /* RFC 6902 text */
    struct str patched; /* the object after it; "" if it does not apply */
};

static struct json read_json(struct arena *arena, struct str text)
{
    struct json root = { NULL, 0 };
    struct error err;

    if (json_read(arena, text, &json_limits_default, &root, &err) < 0)
        return (struct json){ NULL, 0 };
    return root;
}

static struct str text_at(struct json of, const char *member)
{
    return json_str(json_get(of, str_of(member)));
}

static bool has_patch(struct json response)
{
    return json_kind(json_get(response, STR("patch"))) != JSON_ABSENT;
}

static struct str decoded_patch(struct arena *arena, struct json response)
{
    struct str patch;
    struct error err;

    return base64_decode(arena, text_at(response, "patch"), &patch, &err) == 0 ? patch : STR("");
}

/* `patch` "" leaves the object as it is. */
static struct str apply(struct arena *arena, struct json object, struct str patch)
{
    struct value *document = value_of(arena, object);
    struct value *result = document;
    struct error err;

    if (!document || (patch.len && patch_apply(arena, document, patch, &result, &err) < 0))
        return STR("");
    return value_json(arena, result);
}

struct str review_patched(struct arena *arena, struct str body, struct str answer)
{
    struct json request = json_get(read_json(arena, body), STR("request"));
    struct json response = json_get(read_json(arena, answer), STR("response"));

    return apply(arena, json_get(request, STR("object")), decoded_patch(arena, response));
}

static struct trial try(const struct review_world *world, struct arena *arena, enum review_route route,
                        struct str body)
{
    struct trial trial = { .world = world, .arena = arena, .route = route, .body = body };

    trial.kept = str_dup(arena, body);
    trial.attempt = review_attempt(world, arena, route, body);
    trial.request = json_get(read_json(arena, body), STR("request"));
    if (trial.attempt.result != 0)
        return trial;
    trial.response = json_get(read_json(arena, trial.attempt.outcome.answer), STR("response"));
    trial.patch = decoded_patch(arena, trial.response);
    trial.patched = apply(arena, json_get(trial.request, STR("object")), trial.patch);
    return trial;
}

static bool answered(const struct trial *t)
{
    return t->attempt.result == 0;
}

static bool allowed(const struct trial *t)
{
    return answered(t) && json_bool(json_get(t->response, STR("allowed")));
}

static bool patches(const struct trial *t)
{
    return answered(t) && has_patch(t->response);
}

/* --- the answer --- */

static bool ends_with_an_answer_or_an_error(const struct trial *t)
{
    return t->attempt.result == 0 || t->attempt.result == -1;
}

static bool an_error_gives_no_answer(const struct trial *t)
{
    return answered(t) || (t->attempt.err.text[0] && error_http_status(t->attempt.err.code) >= 400 &&
                           t->attempt.outcome.answer.len == 0 && !t->attempt.outcome.allowed);
}

static bool the_body_is_left_alone(const struct trial *t)
{
    return str_eq(t->body, t->kept);
}

static bool is_a_review_for_the_uid(const struct trial *t)
{
    struct json review = answered(t) ? read_json(t->arena, t->attempt.outcome.answer) : t->response;
    struct str uid = text_at(t->response, "uid");

    if (!answered(t))
        return true;
    return str_eq(text_at(review, "kind"), STR("AdmissionReview")) &&
           str_eq(text_at(review, "apiVersion"), STR("admission.k8s.io/v1")) &&
           (json_is(t->request, JSON_ABSENT) ? uid.len && str_find(t->body, uid, 0) >= 0
                                             : str_eq(uid, text_at(t->request, "uid")));
}

/* By the strict reader; another one finds the uid in what that does not take. */
static bool can_be_decoded(const struct trial *t)
{
    struct admission_request request;
    struct error err;

    return admission_read(t->arena, t->body, &request, &err) == 0;
}

static bool what_cannot_be_decoded_is_not_allowed(const struct trial *t)
{
    return !allowed(t) || can_be_decoded(t);
}

static bool the_verdict_is_counted(const struct trial *t)
{
    struct json verdict = json_get(t->response, STR("allowed"));

    return !answered(t) || (json_is(verdict, JSON_BOOL) && json_bool(verdict) == t->attempt.outcome.allowed);
}

static bool a_rejection_has_code_and_message(const struct trial *t)
{
    struct json status = json_get(t->response, STR("status"));
    int64_t code = 0;

    if (!answered(t) || allowed(t))
        return true;
    return json_int64(json_get(status, STR("code")), &code) && code >= 400 && code < 600 &&
           text_at(status, "message").len > 0 && text_at(status, "reason").len > 0 && !patches(t);
}

static bool patch_and_type_come_together(const struct trial *t)
{
    return !answered(t) || str_eq(text_at(t->response, "patchType"), patches(t) ? STR("JSONPatch") : STR(""));
}

static bool only_mutate_patches(const struct trial *t)
{
    return t->route == REVIEW_MUTATE || !patches(t);
}

/* --- the verdict --- */

/* What the API server asks about and may reject: the webhook lets all else pass. */
static bool is_validated(const struct trial *t)
{
    struct str operation = text_at(t->request, "operation");
    struct kube_meta stored;

    kube_meta_read(json_get(t->request, STR("oldObject")), &stored);
    if (text_at(t->request, "subResource").len)
        return false;
    return str_eq(operation, STR("CREATE")) ||
           (str_eq(operation, STR("UPDATE")) && stored.deletion_timestamp.len == 0);
}

static bool validate_allows(const struct trial *t, struct json old)
{
    struct str plural = json_str(json_walk(t->request, "resource", "resource", NULL));

    if (str_eq(plural, policy_resource.plural))
        return policy_admit(t->arena, json_get(t->request, STR("object")), old).allowed;
    for (int i = 0; i < WORKLOAD_KIND_COUNT; i++)
        if (str_eq(plural, workload_kinds[i]->kind.resource.plural))
            return workload_admit(t->arena, workload_kinds[i], json_get(t->request, STR("object")),
                                  old, &t->world->facts, &t->world->severities)
                .allowed;
    return stack_admit(t->arena, json_get(t->request, STR("object")), old, &t->world->facts,
                       &t->world->severities)
        .allowed;
}

static struct json old_of(const struct trial *t)
{
    bool update = str_eq(text_at(t->request, "operation"), STR("UPDATE"));

    return update ? json_get(t->request, STR("oldObject")) : (struct json){ NULL, 0 };
}

static bool what_the_validate_rejects_is_rejected(const struct trial *t)
{
    return !allowed(t) || !is_validated(t) || validate_allows(t, old_of(t));
}

static bool an_unreadable_old_object_excuses_nothing(const struct trial *t)
{
    if (!allowed(t) || !is_validated(t) || json_is(old_of(t), JSON_OBJECT))
        return true;
    return validate_allows(t, (struct json){ NULL, 0 });
}

static bool nothing_else_is_rejected(const struct trial *t)
{
    return !answered(t) || allowed(t) || is_validated(t) || !can_be_decoded(t);
}

/* --- asked again --- */

static bool same_as(const struct trial *t, struct str body)
{
    struct review_attempt again = review_attempt(t->world, t->arena, t->route, body);

    return again.result == t->attempt.result && str_eq(again.outcome.answer, t->attempt.outcome.answer);
}

static bool asking_again_changes_nothing(const struct trial *t)
{
    return same_as(t, t->body);
}

/* But for what it will do, of which a dry run is told more. */
static bool a_dry_run_is_answered_alike(const struct trial *t)
{
    struct review_attempt again;
    struct json dry = json_get(t->request, STR("dryRun"));
    struct strbuf other = strbuf_new(t->arena, t->body.len + 8);

    if (!answered(t) || !json_is(dry, JSON_BOOL))
        return true;
    strbuf_put(&other, str_slice(t->body, 0, json_offset(dry)));
    strbuf_put(&other, json_bool(dry) ? STR("false") : STR("true"));
    strbuf_put(&other, str_slice(t->body, json_offset(dry) + json_raw(dry).len, t->body.len));
    again = review_attempt(t->world, t->arena, t->route, strbuf_str(&other));
    return again.result == 0 &&
           str_eq(review_without_preview(t->arena, again.outcome.answer),
                  review_without_preview(t->arena, t->attempt.outcome.answer));
}

/* --- the patch --- */

static bool the_patch_applies(const struct trial *t)
{
    return !patches(t) || (t->patch.len > 2 && t->patched.len > 0);
}

/* Defaults of the spec and of its label, and who applied it. */
static bool the_patch_keeps_to_its_places(const struct trial *t)
{
    static const struct str places[] = { STR_INIT("/spec"), STR_INIT("/metadata/labels"),
                                         STR_INIT("/metadata/annotations") };
    struct json_iter it = json_iter(read_json(t->arena, t->patch));

    while (patches(t) && json_next(&it)) {
        struct str path = text_at(it.value, "path");
        bool fits = false;

        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
            fits = fits || (str_starts(path, places[i]) &&
                            (path.len == places[i].len || path.at[places[i].len] == '/'));
        if (!fits)
            return false;
    }
    return true;
}

/* Only a patch is gone on with, and an API server lets no update change a name: what it never sends is answered,
 * but not twice alike. */
static bool goes_on(const struct trial *t)
{
    struct json old = old_of(t);
    struct kube_meta meta;
    struct kube_meta stored;

    kube_meta_read(json_get(t->request, STR("object")), &meta);
    kube_meta_read(old, &stored);
    return patches(t) && (!json_is(old, JSON_OBJECT) || str_eq(meta.name, stored.name));
}

/* The same request with another object, as the API server asks when it reinvokes. */
static struct str reinvoked(const struct trial *t, struct str object)
{
    struct value *request = value_of(t->arena, t->request);

    value_set(t->arena, request, STR("uid"), value_str(t->arena, STR("u-2")));
    value_set(t->arena, request, STR("object"), value_of(t->arena, read_json(t->arena, object)));
    return str_fmt(t->arena,
                   "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":%.*s}",
                   STR_ARG(value_json(t->arena, request)));
}

static bool a_second_patch_is_empty(const struct trial *t)
{
    struct trial second;

    if (!goes_on(t))
        return true;
    second = try(t->world, t->arena, REVIEW_MUTATE, reinvoked(t, t->patched));
    return allowed(&second) && !patches(&second);
}

static bool what_mutate_made_is_what_validate_takes(const struct trial *t)
{
    struct trial second;

    if (!goes_on(t))
        return true;
    second = try(t->world, t->arena, REVIEW_VALIDATE, reinvoked(t, t->patched));
    return allowed(&second) && !patches(&second);
}

/* Another webhook undid the last thing that ours did: the reinvocation does it again, and no more. */
static bool a_reinvocation_mends_what_was_undone(const struct trial *t)
{
    struct json operations = read_json(t->arena, t->patch);
    struct strbuf fewer = strbuf_new(t->arena, t->patch.len);
    struct json_iter it = json_iter(operations);
    struct trial second;

    if (!goes_on(t) || json_count(operations) < 2)
        return true;
    strbuf_char(&fewer, '[');
    while (json_next(&it) && it.position + 1 < json_count(operations)) {
        strbuf_put(&fewer, it.position ? STR(",") : STR(""));
        strbuf_put(&fewer, json_raw(it.value));
    }
    strbuf_char(&fewer, ']');
    second = try(t->world, t->arena, REVIEW_MUTATE,
                 reinvoked(t, apply(t->arena, json_get(t->request, STR("object")), strbuf_str(&fewer))));
    return allowed(&second) &&
           json_equal(read_json(t->arena, second.patched), read_json(t->arena, t->patched));
}

/* --- the table --- */

static const struct law {
    const char *sentence;
    bool (*holds)(const struct trial *trial);
} laws[] = {
    { "a review ends with an answer or an error", ends_with_an_answer_or_an_error },
    { "an error says why, has an error's status and comes without an answer", an_error_gives_no_answer },
    { "the body is as it was", the_body_is_left_alone },
    { "the answer is an AdmissionReview v1 for the request's uid", is_a_review_for_the_uid },
    { "what cannot be decoded is not allowed", what_cannot_be_decoded_is_not_allowed },
    { "the verdict is the one that is counted", the_verdict_is_counted },
    { "a rejection has an error's code, reason and message, and no patch", a_rejection_has_code_and_message },
    { "patch and patchType come together", patch_and_type_come_together },
    { "only mutate patches", only_mutate_patches },
    { "what validation rejects is rejected", what_the_validate_rejects_is_rejected },
    { "an old object that cannot be read excuses nothing", an_unreadable_old_object_excuses_nothing },
    { "what is not validated, but can be decoded, is not rejected", nothing_else_is_rejected },
    { "asking again gets the same answer", asking_again_changes_nothing },
    { "a dry run gets the same answer", a_dry_run_is_answered_alike },
    { "the patch applies and is not empty", the_patch_applies },
    { "the patch writes defaults and who applied, and nothing else", the_patch_keeps_to_its_places },
    { "a second patch is empty", a_second_patch_is_empty },
    { "what mutate made of it is what validate takes", what_mutate_made_is_what_validate_takes },
    { "a reinvocation fixes what was undone, and no more", a_reinvocation_mends_what_was_undone },
};

static void count(const struct trial *t, struct review_tally *tally)
{
    tally->errors += !answered(t);
    tally->allowed += allowed(t);
    tally->denied += answered(t) && !allowed(t);
    tally->patched += patches(t);
}

const char *review_laws_broken(const struct review_world *world, struct arena *arena, enum review_route route,
                               struct str body, struct review_tally *tally)
{
    struct trial trial = try(world, arena, route, body);

    if (tally)
        count(&trial, tally);
    for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++)
        if (!laws[i].holds(&trial))
            return laws[i].sentence;
    return NULL;
}
