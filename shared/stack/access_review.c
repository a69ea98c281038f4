/* access_review.c: questions as SubjectAccessReviews.
 * Source: k8s.io/api/authorization/v1/types.go. */
#include "stack/access.h"

#include "stack/receipt.h"
#include "text/json_write.h"

const struct kube_resource access_review_resource = KUBE_RESOURCE_INIT(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false);

/* --- who --- */

/* Members without the braces. */
static struct str members_of(struct strbuf *object)
{
    struct str whole = strbuf_str(object);

    return str_slice(whole, 1, whole.len - 1);
}

struct access_user access_user_of(struct arena *arena, struct str username, struct str uid,
                                  struct json groups, struct json extra)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "user", username);
    if (uid.len)
        json_field_str(&w, "uid", uid);
    if (json_is(groups, JSON_ARRAY))
        json_field_raw(&w, "groups", json_raw(groups));
    if (json_is(extra, JSON_OBJECT))
        json_field_raw(&w, "extra", json_raw(extra));
    json_close_object(&w);
    return (struct access_user){ username, members_of(&out) };
}

struct access_user access_user_recorded(struct arena *arena, const struct receipt *receipt)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "user", receipt->by);
    json_put_key(&w, STR("groups"));
    json_open_array(&w);
    for (uint32_t i = 0; i < receipt->groups.count; i++)
        json_put_str(&w, receipt->groups.items[i]);
    json_close_array(&w);
    json_close_object(&w);
    return (struct access_user){ receipt->by, members_of(&out) };
}

/* --- what --- */

static void put_attributes(struct json_writer *w, const struct access_question *question)
{
    struct strbuf name = strbuf_new(w->out->arena, 64);
    bool whole = question->namespace_.len == 0;

    strbuf_put(&name, question->cluster);
    if (!whole)
        strbuf_fmt(&name, ":%.*s", STR_ARG(question->namespace_));
    json_open_object(w);
    json_field_str(w, "group", whole ? STR("management.cattle.io") : STR(STACK_GROUP));
    json_field_str(w, "resource", whole ? STR("clusters") : STR("releases"));
    json_field_str(w, "verb", STR("deploy"));
    if (name.len)
        json_field_str(w, "name", strbuf_str(&name));
    json_close_object(w);
}

void access_review_write(const struct access_user *user, const struct access_question *question,
                         struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("authorization.k8s.io/v1"));
    json_field_str(&w, "kind", access_review_resource.kind);
    json_put_key(&w, STR("spec"));
    json_open_object(&w);
    json_put_key(&w, STR("resourceAttributes"));
    put_attributes(&w, question);
    strbuf_char(out, ',');
    strbuf_put(out, user->members);
    json_close_object(&w);
    json_close_object(&w);
}

bool access_review_allows(struct json review)
{
    struct json status = json_get(review, STR("status"));

    return json_bool(json_get(status, STR("allowed"))) &&
           !json_bool(json_get(status, STR("denied")));
}
